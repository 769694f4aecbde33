"""The sizes of a model, and files that do not hold them."""

import dataclasses
import json

import pytest

from clearhead.errors import ModelError
from clearhead.model.config import TranslationConfig


def test_what_is_written_is_read(tmp_path):
    config = TranslationConfig(vocabulary=99, width=8, heads=2, guided=((3, 1),))
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config.to_dict()))
    assert TranslationConfig.read(path) == config


def test_a_missing_file_says_what_the_folder_is_not(tmp_path):
    with pytest.raises(ModelError, match=r"holds no config.json: it is no model folder"):
        TranslationConfig.read(tmp_path / "config.json")


@pytest.mark.parametrize("text", ["", "{", "\x00", "[" * 100_000, "é"])
def test_a_file_that_is_no_json_is_named(tmp_path, text):
    path = tmp_path / "config.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ModelError, match=r"config.json cannot be read as JSON"):
        TranslationConfig.read(path)


@pytest.mark.parametrize("held", [[], 7, {}, {"model_type": "bert"}, None])
def test_another_kind_of_model_is_refused(held):
    with pytest.raises(ModelError, match="is not the config of a clearhead translation model"):
        TranslationConfig.from_dict(held)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": "384"}, "width: found '384'; wanted a whole number from 1 to"),
        ({"width": 10**12}, "width: found 1000000000000; wanted"),
        ({"width": -2}, "width: found -2; wanted"),
        ({"width": 7, "heads": 7}, "must be even and a multiple of the heads"),
        ({"heads": 5}, "must be even and a multiple of the heads"),
        ({"heads": True}, "heads: found True; wanted"),
        ({"encoder_layers": 10**9}, "encoder_layers: found 1000000000; wanted"),
        ({"decoder_layers": 1.5}, "decoder_layers: found 1.5; wanted"),
        ({"vocabulary": None}, "vocabulary: found None; wanted"),
        ({"inner": -1}, "inner: found -1; wanted"),
        ({"inner": []}, r"inner: found \[\]; wanted"),
        ({"inner": None}, "inner: found None; wanted"),
        ({"inner": False}, "inner: found False; wanted"),
        ({"activation": "swish"}, "wanted 'relu' or 'gelu'"),
        ({"languages": []}, "wanted at least one tag"),
        ({"languages": [7]}, "wanted at least one tag"),
        ({"languages": "fr"}, "languages: found 'fr'"),
        ({"guided": [[9, 0]]}, "guided names head 0 of layer 9; the encoder has 4 layers"),
        ({"guided": 7}, "cannot be used"),
        ({"guided": [[1.5, 0]]}, "cannot be used"),
        ({"guided": [["1", 0]]}, "cannot be used"),
        ({"colour": 1}, r"entries this version does not know: \['colour'\]"),
    ],
)
def test_sizes_that_cannot_be_meant_are_refused_by_name(change, message):
    held = {**TranslationConfig(vocabulary=99).to_dict(), **change}
    with pytest.raises(ModelError, match=message):
        TranslationConfig.from_dict(held, "config.json")


def test_a_config_does_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        TranslationConfig(vocabulary=9).width = 3
