"""NMRR under a truth with probabilities: the number of relevant items is that of each draw."""

from __future__ import annotations

from itertools import product

import pytest

import cranfield as cf

CHANCES = {
    "a": {"d1": 0.3, "d2": 0.6, "d3": 0.2, "d4": 0.5},
    "b": {"d1": 0.9, "d5": 0.1},
}
RUN = {
    "a": {"d3": 5.0, "d9": 4.0, "d1": 3.0, "d8": 2.0, "d2": 1.5, "d4": 1.0},
    "b": {"d9": 3.0, "d1": 2.0, "d5": 1.0},
}


def expected(measure: str) -> float:
    """The mean over all truths there can be, each with a topic that has something relevant."""
    cells = [(t, i, p) for t, items in CHANCES.items() for i, p in items.items()]
    total = weight = 0.0
    for grades in product((0, 1), repeat=len(cells)):
        chance = 1.0
        truth: dict[str, dict[str, int]] = {"a": {}, "b": {}}
        for (topic, item, p), grade in zip(cells, grades, strict=True):
            chance *= p if grade else 1 - p
            truth[topic][item] = grade
        if not any(grades):
            continue
        value = cf.evaluate(truth, {"r": RUN}, measure).mean()["r"][measure]
        if value is not None:
            total, weight = total + chance * value, weight + chance
    return total / weight


@pytest.mark.parametrize("measure", ["NMRR", "GradedNMRR"])
def test_every_draw_has_its_own_largest_topic(measure: str) -> None:
    truth = {t: {i: {0: 1 - p, 1: p} for i, p in items.items()} for t, items in CHANCES.items()}
    found = cf.evaluate(truth, {"r": RUN}, measure, draws=20_000, rng=3).mean()["r"][measure]
    assert found == pytest.approx(expected(measure), abs=0.006)
