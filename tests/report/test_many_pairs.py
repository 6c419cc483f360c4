"""The pairs of very many runs as JSON: folded, said so, and all of them where asked for."""

import json

import pytest

import cranfield as cf
from cranfield.comparison.answer import FOLDED
from cranfield.report.render import render
from cranfield.report.tables.comparison import FOLDED_PAIRS, PARTS, SUMMARY, comparison_document

RUNS = 146  # just over so many pairs


@pytest.fixture(scope="module")
def comparison():
    topics = [f"t{t}" for t in range(3)]
    qrels = {t: {f"d{i}": i % 2 for i in range(12)} for t in topics}
    runs = {
        f"r{r:03d}": {
            t: {f"d{i}": (i * (r + 7) + k) % 13 for i in range(12)} for k, t in enumerate(topics)
        }
        for r in range(RUNS)
    }
    return cf.evaluate(qrels, runs, "AP").compare(resamples=30)


def test_many_pairs_are_folded_and_it_is_said(comparison):
    assert len(comparison.pairs) > FOLDED_PAIRS
    text = render(comparison_document(comparison, parts=PARTS), "json")
    found = json.loads(text)
    assert [tuple(row) for row in found["pairs"]] == [FOLDED] * len(comparison.pairs)
    assert f"{len(comparison.pairs):,} pairs" in found["pairs_folded"]
    whole = comparison.to_dict()
    assert "pairs_folded" not in whole
    assert found["pairs"] == [{k: row[k] for k in FOLDED} for row in whole["pairs"]]
    # A line for each pair.
    assert text.count("\n") < 1.5 * len(comparison.pairs)
    assert {k: v for k, v in found.items() if not k.startswith("pairs")} == {
        k: v for k, v in whole.items() if k != "pairs"
    }


def test_all_tables_have_all_there_is(comparison):
    found = json.loads(render(comparison_document(comparison, parts=(SUMMARY, *PARTS)), "json"))
    assert found == comparison.to_dict()


def test_csv_has_all_pairs(comparison):
    text = render(comparison_document(comparison, parts=PARTS), "csv")
    assert text.count("\n") == len(comparison.pairs) + 1
    assert "cliffs_delta" in text.splitlines()[0]
