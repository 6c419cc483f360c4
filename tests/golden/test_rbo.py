"""Rank-biased overlap equals the package rbo 0.1.3 (rbo_ext) on random pairs of rankings.

rbo.json was made by: RankingSimilarity(a, b).rbo_ext(p=p) for seeded samples of 3 to 25 objects.
"""

import json
from pathlib import Path

import pytest

from cranfield.stats import rank_biased_overlap

CASES = json.loads((Path(__file__).parent / "rbo.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=map(str, range(len(CASES))))
def test_values_of_the_package(case):
    ours = rank_biased_overlap(case["a"], case["b"], p=case["p"])
    assert ours == pytest.approx(case["ext"], rel=0, abs=1e-9)
