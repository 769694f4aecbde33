"""The loop: it learns, guides its head, and an interruption changes no number."""

import os
import signal
from dataclasses import replace

import numpy as np
import pytest
import torch

from clearhead.core import steps, torch_bridge
from clearhead.errors import TrainingError
from clearhead.layer.heads import split_heads
from clearhead.layer.norm import layer_norm
from clearhead.model import translation
from clearhead.model.tree import flatten
from clearhead.training import checkpoint
from clearhead.training.session import open_run


def arrays(trainer):
    return flatten(trainer.weights())


def same(one, two):
    assert list(one) == list(two)
    return all(np.array_equal(one[name], two[name]) for name in one)


def test_it_learns(small_recipe, tmp_path):
    trainer, _ = open_run(small_recipe(steps=60, rate=1e-2), tmp_path / "run")
    losses = [trainer.one_step()["loss"] for _ in range(60)]
    assert np.mean(losses[-5:]) < 0.6 * np.mean(losses[:5])


def test_an_interruption_changes_no_number(small_recipe, tmp_path):
    """Six steps at once, against three, a new start from the checkpoint, and three; over epochs."""
    recipe = small_recipe(steps=6, tokens=400)
    whole, _ = open_run(recipe, tmp_path / "whole")
    straight = [whole.one_step() for _ in range(6)]
    assert straight[-1]["epoch"] >= 1

    first, _ = open_run(recipe, tmp_path / "parts")
    apart = [first.one_step() for _ in range(3)]
    first.save()
    second, _ = open_run(recipe, tmp_path / "parts")
    apart += [second.one_step() for _ in range(3)]

    assert same(arrays(whole), arrays(second))
    for one, two in zip(straight, apart, strict=True):
        assert (one["loss"], one["norm"], one["rate"]) == (two["loss"], two["norm"], two["rate"])


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_scores_in_bfloat16_may_round(small_recipe, tmp_path, monkeypatch, kind):
    """Asked for, or attention in training would take its products in float32, half as fast."""
    trainer, _ = open_run(small_recipe(), tmp_path)
    trainer.kind = kind
    asked = []

    def noted(*arguments, **options):
        asked.append(torch.is_autocast_enabled("cpu"))
        return attention(*arguments, **options)

    attention = torch_bridge.differentiable_attention
    monkeypatch.setattr(torch_bridge, "differentiable_attention", noted)
    trainer.one_step()
    assert set(asked) == {kind == torch.bfloat16}


def test_bfloat16_too_goes_on_with_the_same_numbers_and_the_same_kind(small_recipe, tmp_path):
    recipe = small_recipe(precision="auto")
    first, _ = open_run(recipe, tmp_path)
    first.kind = torch.bfloat16  # as if the timing had said so
    first.one_step()
    first.save()
    second, _ = open_run(recipe, tmp_path)
    assert second.kind == torch.bfloat16
    assert first.one_step()["loss"] == second.one_step()["loss"]
    assert same(arrays(first), arrays(second))


def test_more_steps_may_be_asked_for_later(small_recipe, tmp_path):
    first, _ = open_run(small_recipe(steps=2), tmp_path)
    first.run()
    second, _ = open_run(small_recipe(steps=4), tmp_path)
    second.run()
    assert (second.step, checkpoint.read(checkpoint.newest(tmp_path))["step"]) == (4, 4)


def test_the_guide_pulls_its_head_alone(small_recipe, tmp_path):
    """The loss is that of the model's own weights, and it falls; no other head is told anything."""
    trainer, _ = open_run(small_recipe(steps=80, rate=1e-2, guided=[-1, 1]), tmp_path)
    assert trainer.config.guided == ((1, 1),)
    found = [trainer.one_step() for _ in range(80)]
    guides = [row["guide"] for row in found if not np.isnan(row["guide"])]
    assert np.mean(guides[-5:]) < 0.2 < np.mean(guides[:5])


def test_the_guided_weights_are_those_of_the_model(small_recipe, tmp_path):
    trainer, _ = open_run(small_recipe(), tmp_path)
    trainer.one_step()
    batch = trainer._next_batch()
    while (batch.guide < 0).all():
        batch = trainer._next_batch()
    _, pull = trainer.losses(batch)
    weights, config = trainer.weights(), trainer.config
    states = translation.encode_states(weights, config, batch.source, batch.source_lengths)
    layer = weights["encoder"][1]
    x = layer_norm(states[1], layer["norm_attention"])
    total, count = 0.0, 0
    for row, (it, first, last) in enumerate(batch.guide):
        if it < 0:
            continue
        own = x[row, : batch.source_lengths[row]]
        q, k = (split_heads(own @ layer["attention"][n], config.heads)[0] for n in ("w_q", "w_k"))
        shares = steps.weights(steps.scaled_scores(steps.scores(q, k), 8**-0.5))
        total, count = total - np.log(shares[it, first:last].sum()), count + 1
    assert trainer.objective.counts(batch).guided == count
    assert pull.item() == pytest.approx(total, rel=1e-4)


def test_without_a_guide_no_head_is_said_to_be_guided(small_recipe, tmp_path):
    trainer, _ = open_run(small_recipe(guide=0.0), tmp_path)
    assert trainer.config.guided == ()
    assert np.isnan(trainer.one_step()["guide"])


def test_the_loss_of_a_batch_is_the_plain_one(small_recipe, tmp_path):
    """Cross-entropy over the whole logits, counted where the target is real."""
    trainer, _ = open_run(small_recipe(smoothing=0.1), tmp_path)
    trainer.one_step()
    batch = trainer._next_batch()
    weights, config = trainer.weights(), trainer.config
    memory = translation.encode(weights, config, batch.source, batch.source_lengths)
    hidden = translation.decode(weights, config, batch.target[:, :-1], memory, batch.source_lengths)
    scores = torch.from_numpy(np.asarray(translation.logits(weights, hidden)))
    wanted = torch.from_numpy(batch.target[:, 1:]).clone()
    for row, length in zip(wanted, batch.target_lengths, strict=True):
        row[int(length) :] = -100
    right = torch.nn.functional.cross_entropy(
        scores.flatten(0, 1), wanted.flatten(), reduction="sum", label_smoothing=0.1
    )
    assert trainer.losses(batch)[0].item() == pytest.approx(right.item(), rel=1e-4)


def test_what_stands_in_the_padding_moves_no_loss_and_no_gradient(small_recipe, tmp_path):
    trainer, _ = open_run(small_recipe(tokens=1000), tmp_path)
    batch = trainer._next_batch()

    def filled(ids, lengths):
        past = np.arange(ids.shape[1]) >= np.asarray(lengths)[:, None]
        assert past.any()
        return np.where(past, 7, ids).astype(ids.dtype)

    source = filled(batch.source, batch.source_lengths)
    target = filled(batch.target, batch.target_lengths + 1)  # the tag stands before what counts
    found = []
    for one in (batch, replace(batch, source=source, target=target)):
        loss, pull = trainer.losses(one)
        gradients = torch.autograd.grad(loss + pull, list(trainer.parameters.values()))
        found.append([loss, pull, *gradients])
    for mine, theirs in zip(*found, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_after_its_step_and_saves(small_recipe, tmp_path, number):
    trainer, _ = open_run(small_recipe(steps=50), tmp_path)

    def report(found):
        if found["step"] == 2:
            os.kill(os.getpid(), number)

    before = signal.getsignal(number)
    trainer.run(report=report)
    assert (trainer.stopped, trainer.step) == (True, 2)
    assert checkpoint.read(checkpoint.newest(tmp_path))["step"] == 2
    assert signal.getsignal(number) is before


def test_a_checkpoint_now_and_then_and_something_after_it(small_recipe, tmp_path):
    trainer, _ = open_run(small_recipe(steps=3), tmp_path)
    seen = []
    trainer.run(every=0.0, after_checkpoint=lambda: seen.append(trainer.step))
    assert seen == [1, 2, 3]


def test_a_pause_is_not_counted_as_training(small_recipe, tmp_path):
    trainer, _ = open_run(small_recipe(), tmp_path)
    trainer.one_step()
    usual = trainer._usual
    trainer.interrupts.note_pause(signal.SIGCONT)
    trainer._usual = 1e-9
    before = trainer.seconds
    trainer.one_step()
    assert trainer.seconds == pytest.approx(before + 1e-9)
    assert usual > 0


def test_a_loss_that_is_no_number_ends_the_run(small_recipe, tmp_path):
    trainer, _ = open_run(small_recipe(), tmp_path)
    with torch.no_grad():
        trainer.parameters["embedding"].fill_(float("nan"))
    with pytest.raises(TrainingError, match=r"the loss is nan at step 1.*lower rate"):
        trainer.run()
    assert checkpoint.newest(tmp_path) is None
