"""Checkpoints are whole or not there, whatever happens to the disk."""

import errno

import pytest
import torch

from clearhead.errors import TrainingError
from clearhead.training import checkpoint


def state(step):
    return {"step": step, "weights": {"w": torch.full((1000,), float(step))}}


def test_what_is_written_comes_back(tmp_path):
    path = checkpoint.write(tmp_path, state(3))
    assert path.name == "checkpoint-0000003.pt"
    assert checkpoint.newest(tmp_path) == path
    assert checkpoint.read(path)["weights"]["w"][0] == 3


def test_the_newest_two_are_kept_and_leftovers_of_a_kill_swept(tmp_path):
    (tmp_path / "checkpoint-0000001.part").write_bytes(b"half")
    for step in (5, 10, 20):
        checkpoint.write(tmp_path, state(step))
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "checkpoint-0000010.pt", "checkpoint-0000020.pt"
    ]  # fmt: skip


def test_an_empty_folder_has_no_newest(tmp_path):
    assert checkpoint.newest(tmp_path) is None


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), RuntimeError("torch")])
def test_a_full_disk_leaves_the_last_one_whole(tmp_path, monkeypatch, error):
    before = checkpoint.write(tmp_path, state(1))

    def full(held, file):
        file.write(b"half a checkpoint")
        raise error

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(TrainingError, match=r"cannot be written .* the last one is whole"):
        checkpoint.write(tmp_path, state(2))
    assert list(tmp_path.iterdir()) == [before]
    assert checkpoint.read(before)["step"] == 1


def test_a_folder_that_is_gone_is_told(tmp_path):
    with pytest.raises(TrainingError, match="cannot be written"):
        checkpoint.write(tmp_path / "gone", state(1))


@pytest.mark.parametrize("content", [b"", b"junk", None])
def test_a_damaged_checkpoint_is_named(tmp_path, content):
    path = checkpoint.write(tmp_path, state(1))
    path.write_bytes(path.read_bytes()[:-200] if content is None else content)
    with pytest.raises(TrainingError, match=r"checkpoint-0000001\.pt cannot be read"):
        checkpoint.read(path)


class Harmful:
    def __reduce__(self):
        return (print, ("ran",))


def test_a_checkpoint_that_would_run_code_is_refused(tmp_path, capsys):
    path = tmp_path / "checkpoint-0000001.pt"
    torch.save({"step": 1, "weights": Harmful()}, path)
    with pytest.raises(TrainingError, match="cannot be read"):
        checkpoint.read(path)
    assert capsys.readouterr().out == ""


def test_the_best_stays_when_newer_ones_come(tmp_path):
    assert checkpoint.best(tmp_path) is None
    kept = checkpoint.keep_best(checkpoint.write(tmp_path, state(1)))
    for step in (2, 3, 4):
        checkpoint.write(tmp_path, state(step))
    assert checkpoint.best(tmp_path) == kept
    assert checkpoint.read(kept)["step"] == 1
    assert checkpoint.read(checkpoint.newest(tmp_path))["step"] == 4
    checkpoint.keep_best(checkpoint.newest(tmp_path))
    assert checkpoint.read(kept)["step"] == 4


def test_a_disk_without_links_gets_a_copy(tmp_path, monkeypatch):
    def refuse(*names):
        raise OSError(errno.EPERM, "no links here")

    path = checkpoint.write(tmp_path, state(1))
    monkeypatch.setattr("os.link", refuse)
    assert checkpoint.read(checkpoint.keep_best(path))["step"] == 1
    path.unlink()
    with pytest.raises(TrainingError, match=r"best\.pt cannot be written"):
        checkpoint.keep_best(path)
