"""A small model in a folder, and the command as a call in this process or as one of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from clearhead.cli.manners import run
from clearhead.model.weights import save_model
from support.models import small_translator


@dataclass
class Result:
    status: int
    out: str
    err: str


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    translator = small_translator()
    path = tmp_path_factory.mktemp("models") / "small"
    save_model(path, translator.config, translator.vocabulary, translator.weights)
    return path


@pytest.fixture
def command(capsysbinary, monkeypatch):
    """Runs ``clearhead`` in this process; ``stdin`` is what stands on its standard input."""

    def call(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = run([str(each) for each in arguments])
        found = capsysbinary.readouterr()
        return Result(status, found.out.decode(), found.err.decode())

    return call


@pytest.fixture(scope="session")
def process():
    """Runs ``clearhead`` as a process of its own, and returns what ``subprocess.run`` does."""

    def call(*arguments, **options):
        environment = {**os.environ, **options.pop("env", {})}
        options = {"capture_output": True, "timeout": 60, "env": environment} | options
        return subprocess.run([sys.executable, "-m", "clearhead", *arguments], **options)

    return call
