import json

from attention_table.cells import CELLS
from attention_table.limit import best_rates
from attention_table.printing import as_json, closing, header, line


def test_a_line_stands_under_its_heads(records):
    head = header("float32")
    text = line(records.of("float32")[0], best_rates(records.rates)) + " "
    assert text.startswith("(8, 8, 128, 64) ")
    for name, value in {"torch": "2.00+", "looking": "1.25 ", "flex": "8.00 "}.items():
        end = head.index(name) + len(name)
        assert text[:end].endswith(value), name
    assert "0.50!" in text


def test_a_decoding_line_counts_bytes(records):
    text = next(
        line(r, best_rates(records.rates)) for r in records.of("float32") if "decode" in r["cell"]
    )
    assert "GB/s" in text
    assert "1.50" in text


def test_a_wrong_result_of_ours_is_said(records):
    record = {**records.of("float32")[0], "peers": {"ours": {"wrong": "off by 1"}}}
    assert line(record, {}).endswith("ours: off by 1")


def test_the_end_tells_means_misses_and_who_is_absent(records):
    text = closing(records)
    assert "float32: geometric means (of so many cells)  torch 2.00 (25)" in text
    assert "(8, 8, 128, 64): others 0.50, floor 1.00" in text
    assert "hf not timed: sdpa is off by 1e+00" in text
    assert "openvino: pip install openvino" in text
    assert "products at most float32 400 GF/s, bfloat16 800 GF/s; exponentials 20.0 G/s" in text


def test_without_a_limit_the_reason_is_said(records):
    records.rates = [{"missing": "found no C++ compiler"}]
    assert "no limit: found no C++ compiler" in closing(records)
    assert "–" in line(records.of("float32")[0], {})


def test_json_has_ratios_of_medians_and_of_minima_and_the_share(records):
    found = json.loads(json.dumps(as_json(records)))
    assert len(found["cells"]) == 2 * len(CELLS)
    first = found["cells"][0]
    assert first["ratios"]["torch"] == {"median": 2.0, "min": 2.0}
    assert first["shape"] == [8, 8, 128, 64]
    assert first["share"] > 0
    assert {"of": "torch", "floor": 1.4, "value": 2.0, "is": "beyond"} in first["goals"]
    assert found["means"]["float32"]["torch"][1] == 25
