"""The running mean: plain at first, exponential from then on, and in a checkpoint."""

import numpy as np
import pytest
import torch

from clearhead.model.tree import flatten
from clearhead.training import checkpoint
from clearhead.training.average import RunningAverage
from clearhead.training.packing import checkpoint_weights
from clearhead.training.session import open_run


@pytest.mark.parametrize("over", [1, 3, 50])
def test_it_is_the_mean_of_the_first_steps_then_exponential(over):
    weight, values = torch.zeros(2), np.random.default_rng(0).standard_normal((20, 2))
    average, wanted = RunningAverage({"w": weight}, over), np.zeros(2)
    for i, value in enumerate(values, 1):
        weight.copy_(torch.from_numpy(value))
        average.add()
        wanted += (value - wanted) / min(i, over)
    np.testing.assert_allclose(average.weights["w"], wanted, rtol=1e-5)
    if over == 50:
        np.testing.assert_allclose(wanted, values.mean(0))


def test_a_run_that_goes_on_has_the_average_it_would_have_had(small_recipe, tmp_path):
    recipe = small_recipe(average=3)
    whole, _ = open_run(recipe, tmp_path / "whole")
    for _ in range(6):
        whole.one_step()
    first, _ = open_run(recipe, tmp_path / "parts")
    first.one_step()
    first.one_step()
    first.save()
    second, _ = open_run(recipe, tmp_path / "parts")
    for _ in range(4):
        second.one_step()
    ours, theirs = (flatten(t.weights(averaged=True)) for t in (second, whole))
    assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)
    plain = flatten(whole.weights())
    assert not np.array_equal(plain["embedding"], theirs["embedding"])


def test_a_checkpoint_gives_the_average_or_the_last_step_s_weights(small_recipe, tmp_path):
    trainer, _ = open_run(small_recipe(average=5), tmp_path)
    trainer.run()
    path = checkpoint.newest(tmp_path)
    for averaged in (True, False):
        found = flatten(checkpoint_weights(path, averaged=averaged)[1])
        wanted = flatten(trainer.weights(averaged=averaged))
        assert all(np.array_equal(found[name], wanted[name]) for name in wanted)


def test_an_average_may_be_begun_later_and_given_up(small_recipe, tmp_path):
    trainer, _ = open_run(small_recipe(steps=2), tmp_path)
    trainer.run()
    later, _ = open_run(small_recipe(steps=4, average=10), tmp_path)
    ours, begun = flatten(later.weights(averaged=True)), flatten(trainer.weights())
    assert all(np.array_equal(ours[name], begun[name]) for name in begun)
    later.run()
    without, _ = open_run(small_recipe(steps=5), tmp_path)
    assert without.average is None
    without.run()
    assert "average" not in checkpoint.read(checkpoint.newest(tmp_path))
