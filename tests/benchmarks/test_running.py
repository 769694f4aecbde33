"""The command as a whole, on the two smallest cells; no figure it prints decides."""

import json

import pytest

import attention
from attention_table import running

RATES = {"fma_float32": 4e11, "exp_degree_5": 2e10, "exp_degree_4": 2e10, "read": {}}
SMALL = ["--cells", "8x16x64", "32x8x32x64-causal", "--seconds", "0.001", "--rounds", "1"]


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """No probe, no change of this process beyond the test."""
    import torch

    import clearhead as ch

    threads = torch.get_num_threads()
    for name in ("OPENBLAS_NUM_THREADS", "OPENBLAS_THREAD_TIMEOUT", "NPROC"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setattr(running, "measured", lambda *_: RATES)
    yield
    torch.set_num_threads(threads)
    ch.set_threads(None)


def run(*options):
    return attention.main([*SMALL, "--threads", "1", "--peers", "numpy", *options])


def test_the_table_is_printed(capsys):
    assert run() == 0
    out = capsys.readouterr().out
    assert "(32, 8, 32, 64), causal" in out
    assert "(1, 8, 16, 64)" in out
    assert "float32: geometric means" in out


def test_json_alone_is_on_stdout(capsys):
    assert run("--json", "--kind", "float32", "bfloat16") == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert [(c["cell"], c["kind"]) for c in found["cells"]] == [
        ("32x8x32x64-causal", "float32"), ("1x8x16x64", "float32"),
        ("32x8x32x64-causal", "bfloat16"), ("1x8x16x64", "bfloat16"),
    ]  # fmt: skip
    assert "geometric means" in err


def test_what_is_done_is_not_measured_again(tmp_path, capsys, monkeypatch):
    path = tmp_path / "speed.jsonl"
    assert run("--out", str(path)) == 0
    kept = path.read_text()

    def never(*_):
        raise AssertionError("measured again")

    monkeypatch.setattr(running, "measure", never)
    assert run("--out", str(path)) == 0
    assert path.read_text() == kept
    assert capsys.readouterr().out.count("(32, 8, 32, 64), causal") >= 2


def test_ctrl_c_loses_only_the_cell_in_progress(tmp_path, capsys, monkeypatch):
    path = tmp_path / "speed.jsonl"
    real, calls = running.measure, []

    def stopped(*given):
        calls.append(given[0].name)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(running, "measure", stopped)
    assert run("--out", str(path)) == 130
    assert f"Stopped; {path} keeps what is done." in capsys.readouterr().out
    assert run("--out", str(path)) == 0
    assert calls == ["32x8x32x64-causal", "1x8x16x64", "1x8x16x64"]


def test_a_wrong_result_of_ours_is_a_failure(monkeypatch):
    def wrong(cell, kind, *_):
        return {"cell": cell.name, "kind": kind, "peers": {"ours": {"wrong": "off"}}}

    monkeypatch.setattr(running, "measure", wrong)
    assert run() == 1


def test_a_picture_and_the_names(tmp_path, capsys):
    assert run("--picture", str(tmp_path / "speed.svg")) == 0
    assert (tmp_path / "speed.svg").exists()
    assert attention.main(["--list"]) == 0
    assert "decode-4096" in capsys.readouterr().out


def test_documents_need_the_file_of_a_run():
    with pytest.raises(SystemExit, match="found no cells; name the file of a run by --out"):
        attention.main(["--write-docs"])
