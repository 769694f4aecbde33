"""Whatever a sentence holds, all of each word's weight is accounted for."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clearhead.core.observation import Observe
from clearhead.record.census import census
from clearhead.record.reading import reader_of
from clearhead.record.record import Record
from clearhead.record.sight import Sight
from clearhead.record.words import Words

characters = st.characters(exclude_categories=["Cs"]) | st.sampled_from("aeit 'n-.,\n\u2028\x00🙂é")
sentences = st.text(characters, min_size=1, max_size=40).filter(str.strip)


@given(text=sentences)
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_words_special_pieces_and_blanks_add_up(translator, text):
    reader = reader_of(translator)
    ids, pieces = reader.checked(text)
    said = Words(text, pieces)
    sight = Sight("encoder", said, said, reader.observations(ids, Observe(weights=True)))
    whole = sight.weights.sum(-1) + sight.special + sight.blank
    has_pieces = np.array([bool(said.of(i)) for i in range(len(said))])
    np.testing.assert_allclose(whole[..., has_pieces], 1, atol=1e-4)
    assert has_pieces.all(), "every word was read"
    for piece in pieces[:-1]:
        assert 0 <= piece.span[0] <= piece.span[1] <= len(text)
    record = Record(sight)
    for link in record.links():
        assert link["from_index"] != link["to_index"]
        assert text[slice(*said.spans[link["to_index"]])] == link["to"]
    for head in census(record):
        assert abs(sum(head.shares.values()) - 1) < 1e-6
