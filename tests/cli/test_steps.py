import json

from clearhead.record.tracing import trace

SENTENCE = "The animal didn't cross the street because it was too tired."


def test_every_step_is_printed(command, folder):
    found = command("steps", SENTENCE, "--word", "it", "--model", folder)
    assert (found.status, found.err) == (0, "")
    for name in ("queries", "scores", "scaled_scores", "weights", "weighted_values", "output"):
        assert name in found.out
    assert "layer 1 · head 0 (guided)" in found.out


def test_word_and_head_can_be_chosen_or_are_picked(command, folder):
    place = ["--layer", 0, "--head", 1]
    assert "“cross” looks, in layer 0 · head 1" in " ".join(
        command("steps", SENTENCE, "--word", "cross", *place, "--model", folder).out.split()
    )
    assert command("steps", SENTENCE, "--model", folder).status == 0


def test_json_is_what_a_trace_says(command, folder):
    found = command("steps", SENTENCE, "--word", "it", "--json", "--model", folder)
    assert json.loads(found.out) == json.loads(
        json.dumps(trace(SENTENCE, "it", model=folder).to_dict())
    )
