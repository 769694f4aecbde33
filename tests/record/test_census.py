import numpy as np
import pytest

from clearhead.core.observation import Observation
from clearhead.record.census import census, telling, telling_links
from clearhead.record.choice import Choice
from clearhead.record.looking import look
from clearhead.record.record import Record
from clearhead.record.sight import Sight
from clearhead.record.words import Piece, Words

N = 8


def record_of(*heads, guided=(), word="w"):
    """A record of one layer; each head is a (N, N) matrix of words, the rest goes to the end."""
    text = " ".join([word, *["w"] * (N - 1)])
    pieces = tuple(Piece("w", (a, b)) for a, b in Words(text, ()).spans)
    weights = np.zeros((len(heads), N + 1, N + 1))
    weights[:, :N, :N] = heads
    weights[..., N] = 1 - weights.sum(-1)
    said = Words(text, (*pieces, Piece("</s>")))
    seen = Observation(visible=np.ones((len(heads), N + 1), bool), weights=weights)
    return Record(Sight("encoder", said, said, (seen,)), guided)


PREVIOUS, NEXT, ITSELF = np.eye(N, k=-1), np.eye(N, k=1), np.eye(N)
SINK = np.repeat(np.eye(N)[:1], N, 0)
CONTENT = np.eye(N)[[5, 3, 0, 6, 1, 7, 2, 4]]  # each word at another, at ever another distance


@pytest.mark.parametrize(
    ("head", "mostly"),
    [
        (PREVIOUS, "the previous word"),
        (NEXT, "the next word"),
        (ITSELF, "itself"),
        (np.zeros((N, N)), "special pieces"),
        (CONTENT, "other words"),
        (np.full((N, N), 1 / N), "other words"),
    ],
)
def test_what_a_head_mostly_does_is_measured(head, mostly):
    found = census(record_of(head))[0]
    assert found.mostly == mostly
    assert sum(found.shares.values()) == pytest.approx(1)


@pytest.mark.parametrize("habit", [PREVIOUS, NEXT, ITSELF, SINK, np.full((N, N), 1 / N)])
def test_a_habit_is_less_telling_than_a_choice(habit):
    ranked = census(record_of(habit, CONTENT))
    assert [head.head for head in ranked] == [1, 0]
    assert ranked[0].telling > 0.7
    assert ranked[1].telling < 0.35


def test_a_link_is_telling_by_its_own_weight_and_what_the_others_do():
    head = np.zeros((N, N))
    head[0, 5], head[1, 5], head[2, 7] = 0.8, 0.4, 0.6  # 2 → 7 is as far as 0 → 5
    told = telling(record_of(head).encoder)[0, 0]
    assert told[0, 5] == pytest.approx(0.8 * (1 - 0.6 / 3))  # the distance 5 occurs three times
    assert told[1, 5] == pytest.approx(0.4 * (1 - 0.8 / N))
    assert (told[np.arange(N), np.arange(N)] == 0).all()


def test_links_come_with_what_they_tell():
    links = telling_links(record_of(PREVIOUS, CONTENT), Choice(3))
    assert [link["head"] for link in links] == [1, 0]
    assert links[0]["telling"] > links[1]["telling"]
    assert not any(link["guided"] for link in links)


def test_a_guided_head_comes_first_for_the_word_it_was_guided_on():
    record = record_of(CONTENT, SINK[::-1] * 0.2 + PREVIOUS.T * 0.3, guided=((0, 1),), word="It")
    first = telling_links(record, Choice("It"))[0]
    assert (first["guided"], first["head"]) == (True, 1)
    other = telling_links(record, Choice(3))[0]
    assert (other["guided"], other["head"]) == (False, 0)


def test_one_word_and_cross_links_have_a_census(translator):
    alone = look("Yes", translator)
    assert {head.telling for head in census(alone)} == {0.0}
    crossed = look("The cat sat.", translator, cross=True).cross
    told = telling(crossed)
    assert told.shape == crossed.weights.shape
    assert ((told >= 0) & (told <= crossed.weights + 1e-9)).all()
