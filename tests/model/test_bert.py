"""The BERT-type encoder against transformers, on the real all-MiniLM-L6-v2."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
import transformers
from ml_dtypes import bfloat16
from safetensors.numpy import load_file, save_file

import clearhead as ch
from clearhead.errors import ModelError, TextError
from clearhead.model.bert import BertConfig, bert_states
from clearhead.model.bert_encoder import load_encoder
from support.bert import MINILM as FOLDER
from support.bert import small_folder

TEXTS = [
    "The animal didn't cross the street because it was too tired.",
    "Yes.",
    "",
    "Łódź costs 49 € 🙂, said the unbelievably antidisestablishmentarian hyperparameterisation!",
    "When the rain had stopped at last, the two old friends walked down to the harbour, where the "
    "fishing boats lay side by side; one of them was painted in red and white, and its owner, who "
    "had once been a teacher of mathematics, told them that he would never again go out alone at "
    "night, because the sea, he said, remembers everything and forgives nothing at all.",
]


@pytest.fixture(scope="module")
def encoder():
    return load_encoder(FOLDER)


@pytest.fixture(scope="module")
def eager():
    model = transformers.AutoModel.from_pretrained(FOLDER, attn_implementation="eager")
    tokenizer = transformers.AutoTokenizer.from_pretrained(FOLDER)
    batch = tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.no_grad():
        out = model.eval()(**batch, output_hidden_states=True, output_attentions=True)
    return batch, out


def test_pieces_are_those_of_transformers(encoder, eager):
    batch, _ = eager
    for text, ids, mask in zip(TEXTS, batch["input_ids"], batch["attention_mask"], strict=True):
        assert encoder.tokens(text).ids == ids[mask.bool()].tolist()


def test_hidden_states_of_every_layer_are_those_of_transformers(encoder, eager):
    _, out = eager
    ours = encoder(TEXTS)
    assert len(ours.layers) == len(out.hidden_states) == 7
    for mine, theirs in zip(ours.layers, out.hidden_states, strict=True):
        for b, length in enumerate(ours.lengths):
            difference = np.abs(mine[b, :length] - theirs[b, :length].numpy())
            assert difference.max() <= 1e-5


def test_attention_rows_are_those_of_transformers(encoder, eager):
    _, out = eager
    ours = encoder.encode(TEXTS, observe=ch.Observe(weights=True))
    assert len(ours.seen) == len(out.attentions) == 6
    for mine, theirs in zip(ours.seen, out.attentions, strict=True):
        for b, length in enumerate(ours.lengths):
            difference = mine.weights[b, :, :length] - theirs[b, :, :length].numpy()
            assert np.abs(difference).max() <= 1e-5


def test_asking_changes_nothing(encoder):
    plain = encoder(TEXTS[:2])
    asked = encoder(TEXTS[:2], observe=ch.Observe(top=3))
    assert plain.seen is None
    assert np.array_equal(plain.last, asked.last)


def test_a_sentence_alone_is_as_in_a_batch(encoder):
    together, alone = encoder(TEXTS), encoder(TEXTS[0])
    assert np.abs(together.last[0, : alone.lengths[0]] - alone.last[0]).max() < 1e-5


def test_neither_torch_nor_transformers_is_needed(encoder):
    code = f"""if True:
        import sys
        sys.modules["torch"] = sys.modules["transformers"] = None
        from clearhead.model.bert_encoder import load_encoder
        print(load_encoder({str(FOLDER)!r})({TEXTS[0]!r}).last.sum())
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(run.stdout) == pytest.approx(encoder(TEXTS[0]).last.sum(), abs=1e-2)


def test_no_sentences_give_no_states(encoder):
    assert encoder([]).last.shape == (0, 0, 384)


def test_torch_runs_the_same_lines(encoder):
    def tensors(tree):
        if isinstance(tree, dict):
            return {name: tensors(item) for name, item in tree.items()}
        return [tensors(i) for i in tree] if isinstance(tree, list) else torch.tensor(tree)

    tokens = encoder.tokens(TEXTS[0])
    weights = tensors(encoder.weights)
    found = bert_states(weights, encoder.config, torch.tensor([tokens.ids]))
    assert np.abs(found[-1].numpy() - encoder(TEXTS[0]).last).max() < 1e-5


def test_spans_join_pieces_to_words_and_special_ones_are_known(encoder):
    text = "An unbelievably tall tree."
    tokens = encoder.tokens(text)
    assert tokens.special == [True, *[False] * (len(tokens) - 2), True]
    assert (tokens.pieces[0], tokens.pieces[-1]) == ("[CLS]", "[SEP]")
    assert [text[a:b].lower() for a, b in tokens.spans[1:-1]] == [
        piece.removeprefix("##") for piece in tokens.pieces[1:-1]
    ]


def test_observe_gives_one_observation_a_layer(encoder):
    seen = encoder.observe(TEXTS[0], ch.Observe(top=2))
    n = len(encoder.tokens(TEXTS[0]))
    assert [found.top_keys.shape for found in seen] == [(1, 12, n, 2)] * 6


def test_a_sentence_longer_than_the_positions_is_refused(encoder):
    assert encoder("a " * 510).last.shape[1] == 512
    with pytest.raises(TextError, match="513 pieces; this model reads at most 512"):
        encoder("a " * 511)


def test_a_lone_surrogate_is_refused(encoder):
    with pytest.raises(TextError, match="lone surrogate"):
        encoder("half \ud800 a character")


# A folder of our own, small enough to be bent in every way.


@pytest.mark.parametrize("prefix", ["", "bert."])
@pytest.mark.parametrize("old_names", [False, True])
def test_names_with_and_without_prefix_and_of_old_checkpoints(tmp_path, prefix, old_names):
    plain = load_encoder(small_folder(tmp_path / "plain"))
    other = load_encoder(small_folder(tmp_path / "other", prefix=prefix, old_names=old_names))
    assert np.array_equal(plain("A tree.").last, other("A tree.").last)


@pytest.mark.parametrize("kind", [np.float16, bfloat16])
def test_half_kinds_are_read_as_float32(tmp_path, kind):
    encoder = load_encoder(small_folder(tmp_path / "half", kind=kind))
    full = load_encoder(small_folder(tmp_path / "full")).weights["words"]
    assert encoder.weights["words"].dtype == np.float32
    assert np.array_equal(encoder.weights["words"], full.astype(kind).astype(np.float32))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "roberta"}, "found model_type 'roberta'; wanted 'bert'"),
        ({"model_type": None}, "found model_type None"),
        ({"position_embedding_type": "relative_key"}, "relative positions"),
        ({"is_decoder": True}, "describes a decoder"),
        ({"hidden_act": "gelu_new"}, "found hidden_act 'gelu_new'; wanted 'gelu' or 'relu'"),
        ({"hidden_size": 10**12}, "found hidden_size 1000000000000; wanted a whole number"),
        ({"hidden_size": -8}, "found hidden_size -8"),
        ({"hidden_size": "8"}, "found hidden_size '8'"),
        ({"hidden_size": None}, "found hidden_size None"),
        ({"num_attention_heads": 3}, "num_attention_heads is 3; wanted a multiple"),
        ({"num_hidden_layers": 900}, "holds no tensor 'encoder.layer.1.attention.self.query"),
        ({"vocab_size": 40_000}, r"has shape \(30522, 8\); wanted \(40000, 8\)"),
        ({"layer_norm_eps": -1}, "found layer_norm_eps -1"),
    ],
)
def test_a_config_that_cannot_be_is_refused(tmp_path, changes, message):
    with pytest.raises(ModelError, match=message):
        load_encoder(small_folder(tmp_path / "bent", **changes))


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_folder_without_one_of_its_files_is_refused(tmp_path, missing):
    folder = small_folder(tmp_path / "part")
    (folder / missing).unlink()
    with pytest.raises(ModelError, match=missing):
        load_encoder(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"\xff" * 64, b"[" * 100_000, b"[]"])
def test_a_damaged_file_is_refused(tmp_path, name, content):
    folder = small_folder(tmp_path / "damaged")
    (folder / name).write_bytes(content)
    with pytest.raises(ModelError, match=name):
        load_encoder(folder)


def test_no_folder_and_a_file_are_refused(tmp_path):
    (tmp_path / "file").write_text("no model")
    for path in (tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(ModelError, match="is no folder"):
            load_encoder(path)


def test_tensors_of_whole_numbers_are_refused(tmp_path):
    folder = small_folder(tmp_path / "ints")
    tensors = load_file(folder / "model.safetensors")
    tensors["embeddings.LayerNorm.weight"] = np.ones(8, np.int32)
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(ModelError, match="is of kind int32; wanted float32"):
        load_encoder(folder)


def test_a_tokenizer_with_more_pieces_than_the_model_is_refused(tmp_path):
    folder = small_folder(tmp_path / "few", vocab_size=100)
    tensors = load_file(folder / "model.safetensors")
    name = "embeddings.word_embeddings.weight"
    tensors[name] = np.ascontiguousarray(tensors[name][:100])
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(ModelError, match="the model has 100 pieces"):
        load_encoder(folder)


def test_an_unused_config_entry_is_passed_over():
    entries = json.loads((FOLDER / "config.json").read_text()) | {"something_new": 1}
    assert BertConfig.from_dict(entries).width == 384
