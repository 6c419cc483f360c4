"""Rank-biased overlap equals the package rbo 0.1.3 (rbo_ext) on random pairs of rankings.

rbo.json was made by: RankingSimilarity(a, b).rbo_ext(p=p) for seeded samples of 3 to 25 objects.
"""

import json
from pathlib import Path

import pytest

import cranfield as cf
from cranfield.stats import rank_biased_overlap

CASES = json.loads((Path(__file__).parent / "rbo.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=map(str, range(len(CASES))))
def test_values_of_the_package(case):
    ours = rank_biased_overlap(case["a"], case["b"], p=case["p"])
    assert ours == pytest.approx(case["ext"], rel=0, abs=1e-9)


def test_runs_against_a_run():
    """Each case is a topic: the mean over topics is that of the package's values."""
    same = [case for case in CASES if case["p"] == 0.9]
    first, second = ({str(i): case[side] for i, case in enumerate(same)} for side in "ab")
    scores = cf.overlap_of_runs(first, {"other": second, "same": first}, "RBO(p=0.9) RBO@1")
    assert scores.mean()["same"] == {"RBO": pytest.approx(1.0), "RBO@1": pytest.approx(1.0)}
    theirs = sum(case["ext"] for case in same) / len(same)
    assert scores.mean()["other"]["RBO"] == pytest.approx(theirs, rel=0, abs=1e-9)
    del second["0"]
    again = cf.overlap_of_runs(first, {"other": second}, "RBO")
    assert again.missing == (1,)
    assert "other: misses 1 of" in again.notes[0]
    with pytest.raises(cf.NeedsError, match="compares runs with another run, not with judgements"):
        cf.evaluate({"t": {"a": 1}}, {"t": {"a": 1.0}}, "RBO")
