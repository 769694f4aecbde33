import os
from pathlib import Path

import pytest

from clearhead.errors import KindError, ModelError
from clearhead.model.bert_encoder import load_encoder
from clearhead.model.files import folder_path, read_json, regular_file
from clearhead.model.translator import load_translator


def test_a_path_is_text_or_a_path():
    assert folder_path("a/b") == folder_path(Path("a/b")) == Path("a/b")


@pytest.mark.parametrize("load", [folder_path, load_translator, load_encoder])
@pytest.mark.parametrize("folder", [5, b"/tmp", ["/tmp"]])
def test_what_is_no_path_is_refused(load, folder):
    with pytest.raises(KindError, match=f"folder: found {type(folder).__name__}; wanted the path"):
        load(folder)


def test_what_is_no_regular_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "pipe", tmp_path / "folder", Path("/dev/zero")):
        with pytest.raises(ModelError, match=f"{path.name} is no regular file"):
            read_json(path)
    with pytest.raises(ModelError, match=r"holds no x\.json: it is no model folder"):
        regular_file(tmp_path / "x.json")
    with pytest.raises(ModelError, match="cannot be read: "):
        regular_file(tmp_path / ("x" * 5_000))


def test_json_is_read_through_a_link(tmp_path):
    (tmp_path / "real.json").write_text("[1]")
    (tmp_path / "link.json").symlink_to("real.json")
    assert read_json(tmp_path / "link.json") == [1]
    (tmp_path / "real.json").write_text("[")
    with pytest.raises(ModelError, match=r"link\.json cannot be read as JSON"):
        read_json(tmp_path / "link.json")
