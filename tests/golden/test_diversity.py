"""Novelty and diversity equal ndeval; `make_diversity.py` made the values with pyndeval."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cranfield as cf

CASES = json.loads((Path(__file__).parent / "diversity.json").read_text())
NAMES = {
    "ERR-IA": "ERR_IA",
    "nERR-IA": "nERR_IA",
    "alpha-DCG": "alpha_DCG",
    "alpha-nDCG": "alpha_nDCG",
    "NRBP": "NRBP",
    "nNRBP": "nNRBP",
    "MAP-IA": "AP_IA",
    "P-IA": "P_IA",
    "strec": "StRecall",
}


def named(theirs: str, case: dict) -> cf.Measure:
    name, _, at = theirs.partition("@")
    ours = cf.measure(NAMES[name] + (f"@{at}" if at else ""))
    return ours.bind(**{p: case[p] for p in ("alpha", "beta") if p in ours.params})


@pytest.mark.parametrize("number", range(len(CASES)))
def test_values_of_ndeval(number: int) -> None:
    case = CASES[number]
    judgements = cf.Judgements.from_subtopics({"t": case["judged"]})
    measures = {theirs: named(theirs, case) for theirs in case["values"]}
    found = cf.evaluate(judgements, {"t": case["run"]}, list(measures.values())).mean()["run"]
    for theirs, ours in measures.items():
        assert found[str(ours)] == pytest.approx(case["values"][theirs], rel=0, abs=1e-9), theirs


def test_there_are_cases() -> None:
    assert len(CASES) > 100
