import pytest

from attention_table import ratios
from attention_table.cells import CELLS
from attention_table.limit import best_rates, limit


@pytest.fixture
def record(records):
    return records.of("float32")[0]


def test_a_ratio_is_their_time_over_ours(record):
    assert ratios.ratio(record, "torch") == pytest.approx(2)
    assert ratios.ratio(record, "looking") == pytest.approx(1.25)
    assert ratios.ratio(record, "torch", "looking") == pytest.approx(1.6)
    assert ratios.ratio(record, "flex", what="min") == pytest.approx(8)
    assert ratios.ratio(record, "hf") is None
    assert ratios.ratio(record, "numpy") is None


def test_the_share_is_the_limit_over_our_median(records, record):
    rates = best_rates(records.rates)
    assert ratios.share(record, rates) == pytest.approx(limit(CELLS[0], "float32", rates) / 1e-3)
    assert ratios.share(record, {}) is None


def test_verdicts_of_a_cell(records, record):
    found = {
        goal.of: (value, is_) for goal, value, is_ in ratios.verdicts(record, records.rates[0])
    }
    assert found["torch"] == (pytest.approx(2), "beyond")
    assert found["looking"] == (pytest.approx(1.25), "floor")
    assert found["others"] == (pytest.approx(0.5), "miss")


def test_what_was_not_measured_is_unknown(record):
    record = {**record, "peers": {"ours": record["peers"]["ours"]}}
    assert {verdict for _, _, verdict in ratios.verdicts(record, {})} == {"unknown"}


def test_means_are_geometric_and_say_of_how_many(records):
    found = ratios.means(records.of("float32"))
    assert found["torch"] == (pytest.approx(2), 25)
    assert found["flex"] == (pytest.approx(8), 25)
    assert "hf" not in found
    assert ratios.geometric_mean([2.0, 8.0, None]) == pytest.approx(4)
    assert ratios.geometric_mean([None]) is None
