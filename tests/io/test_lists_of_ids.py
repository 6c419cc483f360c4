"""Judgements and runs as {topic: [ids]}, as those have them who fetch passages for a model."""

from __future__ import annotations

import pytest

import cranfield as cf

RELEVANT = {"q1": ["d1", "d2"], "q2": {"d7"}}
FOUND = {"q1": ["d2", "d9", "d8", "d1"], "q2": ["d3"]}


def test_lists_are_judgements_and_rankings() -> None:
    nested = (
        {"q1": {"d1": 1, "d2": 1}, "q2": {"d7": 1}},
        {"q1": {"d2": 4.0, "d9": 3.0, "d8": 2.0, "d1": 1.0}, "q2": {"d3": 1.0}},
    )
    names = "SetP SetR SetF AP nDCG@3 RR"
    listed = cf.evaluate(RELEVANT, FOUND, names)
    assert listed.mean() == cf.evaluate(nested[0], nested[1], names).mean()
    assert cf.evaluate(RELEVANT, {"mine": FOUND}, names).mean()["mine"] == listed.mean()["run"]
    assert cf.evaluate(RELEVANT, [FOUND, FOUND], names).runs == ("run1", "run2")


def test_context_precision_and_recall_by_ids() -> None:
    """As ragas has its measures by ids: shares of the fetched and of the wanted ids."""
    found = cf.evaluate(RELEVANT, FOUND, "ContextPrecision ContextRecall").per_topic()
    assert [(row["SetP"], row["SetR"]) for row in found] == [(0.5, 1.0), (0.0, 0.0)]


def test_a_set_has_no_order() -> None:
    scores = cf.evaluate({"q": ["a"]}, {"q": {"a", "b", "c"}}, "P@1", ties="average")
    assert scores.mean()["run"]["P@1"] == pytest.approx(1 / 3)


def test_an_id_twice_is_an_error() -> None:
    with pytest.raises(cf.InputError, match="item 'a' is listed twice for topic 'q'"):
        cf.evaluate({"q": ["a"]}, {"q": ["a", "b", "a"]}, "AP")
