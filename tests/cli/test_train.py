"""``clearhead train`` as a person uses it: bars, signals, full disks, and what it leaves behind."""

import json
import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from clearhead.cli.manners import run
from clearhead.model.translator import load_translator
from clearhead.training import checkpoint

SMALL = {
    "vocabulary": 320, "width": 16, "heads": 2, "encoder_layers": 1, "decoder_layers": 1,
    "steps": 4, "tokens": 60, "warmup": 2, "slots": 0.0, "precision": "float32",
}  # fmt: skip


@pytest.fixture
def recipe(tmp_path):
    """Writes a recipe over twenty sentences; keywords change its entries."""
    lines = [f"The cat sees {n} dogs.\tLe chat voit {n} chiens." for n in range(20)]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines) + "\n")
    header = "en\tfr\tother_references\n"
    (tmp_path / "dev.tsv").write_text(header + "".join(f"{line}\t\n" for line in lines))

    def make(**changes):
        entries = SMALL | {"pairs": {"fr": [str(tmp_path / "pairs.tsv")]}} | changes
        path = tmp_path / "recipe.json"
        path.write_text(json.dumps(entries))
        return str(path)

    return make


def train(*arguments):
    return run(["train", "--threads", "1", *map(str, arguments)])


def start(*arguments, limit=None):
    """The command in a process of its own; ``limit`` is the largest file it may write."""

    def before():
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.Popen(
        [sys.executable, "-m", "clearhead", "train", "--threads", "1", *map(str, arguments)],
        stderr=subprocess.PIPE, text=True, preexec_fn=before,
    )  # fmt: skip


def wait_for(folder, pattern, seconds=60):
    end = time.monotonic() + seconds
    while not list(folder.glob(pattern)):
        assert time.monotonic() < end, f"no {pattern} in {folder}"
        time.sleep(0.05)


def test_a_run_ends_with_a_model_that_translates(recipe, tmp_path, capsys):
    assert train("--recipe", recipe(), "--run", tmp_path / "run") == 0
    told = capsys.readouterr().err
    assert "20 pairs read" in told
    assert "step 4 of 4  loss" in told
    assert "tokens/s" in told
    assert "model of checkpoint-0000004.pt written to" in told
    model = load_translator(tmp_path / "run" / "model")
    assert [found.source for found in model.translations(["The cat."])] == ["The cat."]


def test_a_finished_run_is_not_trained_again_but_goes_on_with_more_steps(recipe, tmp_path):
    folder = tmp_path / "run"
    for steps, last in ((2, 2), (2, 2), (3, 3)):
        assert train("--recipe", recipe(), "--run", folder, "--steps", steps) == 0
        assert checkpoint.read(checkpoint.newest(folder))["step"] == last


def test_dev_scores_come_after_checkpoints(recipe, tmp_path, capsys):
    path = recipe(dev={"fr": str(tmp_path / "dev.tsv")}, steps=2)
    assert (
        train("--recipe", path, "--run", tmp_path / "run", "--every", 1e-9, "--dev-lines", 3) == 2
    )
    assert "--every" in capsys.readouterr().err
    changed = recipe(dev={"fr": str(tmp_path / "dev.tsv")}, steps=40_000)
    with start(
        "--recipe", changed, "--run", tmp_path / "run", "--every", 1, "--dev-lines", 3
    ) as one:
        end = time.monotonic() + 60
        while '"dev"' not in (text := _log(tmp_path / "run")) and time.monotonic() < end:
            time.sleep(0.1)
        one.send_signal(signal.SIGINT)
        told = one.communicate()[1]
    row = next(json.loads(line) for line in text.splitlines() if '"dev"' in line)
    assert set(row["dev"]["fr"]) == {"bleu", "chrf", "lines"}
    assert row["dev"]["fr"]["lines"] == 3
    assert "fr BLEU" in told


def _log(folder):
    path = folder / "log.jsonl"
    return path.read_text() if path.exists() else ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_the_same_command_goes_on(recipe, tmp_path, capsys, number):
    folder, path = tmp_path / "run", recipe(steps=1_000_000)
    with start("--recipe", path, "--run", folder, "--every", 1) as process:
        wait_for(folder, "checkpoint-*.pt")
        process.send_signal(signal.SIGSTOP)  # a pause in between harms nothing
        process.send_signal(signal.SIGCONT)
        process.send_signal(number)
        told = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    step = checkpoint.read(checkpoint.newest(folder))["step"]
    assert f"stopped after step {step:,} of 1,000,000, which is saved in {folder}" in told
    assert "Traceback" not in told
    assert not list(folder.glob("*.part"))
    assert train("--recipe", path, "--run", folder, "--steps", step) == 0
    assert f"goes on after step {step:,}" in capsys.readouterr().err


def test_a_full_disk_ends_with_status_1_and_a_whole_checkpoint(recipe, tmp_path):
    folder = tmp_path / "run"
    path = recipe(steps=2)
    assert train("--recipe", path, "--run", folder) == 0
    before = checkpoint.newest(folder).read_bytes()
    with start("--recipe", path, "--run", folder, "--steps", 4, limit=len(before) // 2) as process:
        told = process.communicate(timeout=120)[1]
    assert process.returncode == 1
    assert "cannot be written" in told
    assert "Traceback" not in told
    assert checkpoint.newest(folder).read_bytes() == before
    assert checkpoint.read(checkpoint.newest(folder))["step"] == 2


def test_a_run_folder_that_cannot_be_made_ends_with_status_1(recipe, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert train("--recipe", recipe(), "--run", tmp_path / "file" / "run") == 1
    assert "give another one with --run" in capsys.readouterr().err


def test_pack_writes_the_newest_checkpoint_as_a_model(recipe, tmp_path, capsys):
    path, folder = recipe(steps=2), tmp_path / "run"
    assert train("--recipe", path, "--run", folder) == 0
    assert train("--recipe", path, "--run", folder, "--pack", tmp_path / "model") == 0
    assert sorted(p.name for p in (tmp_path / "model").iterdir()) == [
        "config.json", "model.safetensors", "vocabulary.json"
    ]  # fmt: skip
    (tmp_path / "file").write_text("")
    assert train("--recipe", path, "--run", folder, "--pack", tmp_path / "file" / "model") == 1
    capsys.readouterr()
    assert train("--recipe", path, "--run", tmp_path / "none", "--pack", tmp_path / "model") == 2
    assert "holds no checkpoint" in capsys.readouterr().err


def test_a_run_ends_early_and_its_best_checkpoint_is_packed(recipe, tmp_path, capsys, monkeypatch):
    from clearhead.training import development
    from clearhead.training.train import Trainer

    given = iter([5.0, 9.0, 8.0, 9.0])

    def scores(trainer, vocabulary, lines):
        return {"fr": {"bleu": next(given), "chrf": 1.0, "lines": lines}}

    monkeypatch.setattr(development, "development_scores", scores)
    run_of = Trainer.run  # a checkpoint after each step
    monkeypatch.setattr(Trainer, "run", lambda self, **how: run_of(self, **how | {"every": 0.0}))
    folder = tmp_path / "run"
    path = recipe(steps=50, patience=2, dev={"fr": str(tmp_path / "dev.tsv")})
    assert train("--recipe", path, "--run", folder) == 0
    told = capsys.readouterr().err
    assert "no better score in 2 checkpoints since step 2 (mean BLEU 9.0): ends early" in told
    assert "model of best.pt, which had the best scores, written to" in told
    assert checkpoint.read(folder / "best.pt")["step"] == 2
    assert checkpoint.read(checkpoint.newest(folder))["step"] == 4
    assert train("--recipe", path, "--run", folder) == 0  # it has ended, and knows it
    assert checkpoint.read(checkpoint.newest(folder))["step"] == 4


def test_patience_needs_scores(recipe, tmp_path, capsys):
    path = recipe(patience=2, dev={"fr": str(tmp_path / "dev.tsv")})
    assert train("--recipe", path, "--run", tmp_path / "run", "--dev-lines", 0) == 2
    assert "--dev-lines 0 scores none" in capsys.readouterr().err
    assert train("--recipe", recipe(patience=2), "--run", tmp_path / "run") == 2
    assert "patience is 2; wanted 0 where dev names no files" in capsys.readouterr().err


def test_the_average_is_packed_unless_told_otherwise(recipe, tmp_path, capsys):
    path, folder = recipe(steps=3, average=3), tmp_path / "run"
    assert train("--recipe", path, "--run", folder) == 0
    assert train("--run", folder, "--recipe", path, "--pack", tmp_path / "m", "--unaveraged") == 0
    models = [(folder / "model", True), (tmp_path / "m", False)]
    one, two = ((where / "model.safetensors").read_bytes() for where, _ in models)
    assert one != two
    capsys.readouterr()
    assert train("--recipe", path, "--run", folder, "--unaveraged") == 2
    assert "give --pack too" in capsys.readouterr().err


def test_a_device_that_is_not_there_is_wrong_use(recipe, tmp_path, capsys, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert train("--recipe", recipe(), "--run", tmp_path / "run", "--device", "cuda") == 2
    assert "torch finds 0 CUDA devices here" in capsys.readouterr().err


def test_a_table_with_named_columns_is_trained_on(recipe, tmp_path, capsys):
    rows = [f"Le chat voit {n} chiens.\tThe cat sees {n} dogs.\n" for n in range(20)]
    (tmp_path / "table.tsv").write_text("fr\ten\n" + "".join(rows))
    place = f"{tmp_path / 'table.tsv'}#en,fr"
    changed = recipe(pairs={"fr": [place]}, dev={"fr": place})
    assert train("--recipe", changed, "--run", tmp_path / "run") == 0
    assert "20 pairs read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": -1}, "steps is -1"),
        ({"pairs": {"fr": ["nowhere.tsv"]}}, "nowhere.tsv is not there"),
        ({"width": 15}, "width is 15 and its heads are 2; wanted an even width"),
        ({"width": 16, "heads": 3, "pairs": {"fr": ["nowhere.tsv"]}}, "width is 16 and its heads"),
        ({"dev": {"fr": "gone.tsv"}}, "gone.tsv is not there"),
    ],
)
def test_a_recipe_that_cannot_be_meant_is_wrong_use(recipe, tmp_path, capsys, changes, message):
    assert train("--recipe", recipe(**changes), "--run", tmp_path / "run") == 2
    told = capsys.readouterr().err
    assert message in told
    assert len(told.splitlines()[-1:]) == 1


def test_options_that_cannot_be_meant_are_wrong_use(recipe, tmp_path, capsys):
    assert train("--recipe", tmp_path / "none.json") == 2
    assert train("--recipe", recipe(), "--run", tmp_path / "run", "--warm") == 2
    assert "--warm: " in capsys.readouterr().err
    assert train("--recipe", recipe(), "--fresh", "--from", tmp_path) == 2
    assert "--from starts from a model, --fresh from none" in capsys.readouterr().err
    assert train("--recipe", recipe(), "--warm", "--from", tmp_path) == 2
    assert "--from starts from a model, --warm from the bundled" in capsys.readouterr().err
    assert train("--recipe", recipe(), "--run", tmp_path / "run", "--from", tmp_path) == 2
    assert f"--from {tmp_path}: " in capsys.readouterr().err


def test_a_run_starts_from_the_model_of_another_run(recipe, tmp_path, capsys):
    first, second = tmp_path / "first", tmp_path / "second"
    assert train("--recipe", recipe(steps=2), "--run", first, "--dev-lines", "0") == 0
    model = first / "model"
    made = recipe(steps=1, rate=0.0)
    assert train("--recipe", made, "--run", second, "--dev-lines", "0", "--from", model) == 0
    assert "starts from the weights of" in capsys.readouterr().err
    one, other = load_translator(model), load_translator(second / "model")
    assert one.score("The cat sees 3 dogs.", "Le chat", "fr") == pytest.approx(
        other.score("The cat sees 3 dogs.", "Le chat", "fr"), abs=1e-3
    )
    for gone in ("--from", first / "model"), ("--warm",):  # needless once there is a checkpoint
        (model / "config.json").unlink(missing_ok=True)
        again = train("--recipe", made, "--run", second, "--dev-lines", "0", *gone)
        assert again == 0, capsys.readouterr().err
    assert "starts from the weights of" not in capsys.readouterr().err
    model = second / "model"
    bigger = recipe(width=32)
    assert train("--recipe", bigger, "--run", tmp_path / "third", "--from", model) == 2
    assert "other sizes or languages than the recipe" in capsys.readouterr().err


def test_a_missing_torch_names_the_pip_command(recipe, tmp_path):
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from clearhead.cli.manners import run\n"
        f"sys.exit(run(['train', '--recipe', {recipe()!r}, '--run', {str(tmp_path / 'run')!r}]))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 2
    assert "pip install 'clearhead[train]'" in found.stderr
    assert len(found.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["recipe-first.json", "recipe.json"])
def test_the_recipes_of_the_bundled_model_can_be_read(name):
    from pathlib import Path

    from clearhead.training.recipe import Recipe

    root = Path(__file__).parents[2]
    recipe = Recipe.read(root / "corpus" / name)
    files = [path for paths in recipe.pairs.values() for path in paths]
    for path in [*files, *recipe.dev.values(), recipe.antecedents]:
        assert (root / path).is_file()
    assert not any("eval" in path for path in files)
    assert os.sep not in recipe.precision
    Recipe.read(root / "corpus" / "multi30k.json")  # its text is not in the repository
    small = Recipe.read(root / "corpus" / "small.json")
    assert all((root / path).is_file() for path in small.pairs["fr"])
