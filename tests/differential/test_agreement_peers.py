"""Agreement against statsmodels, scikit-learn, krippendorff and irrCAC."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from cranfield.agreement.coefficients import (
    Level,
    Weights,
    fleiss,
    free_marginal,
    gwet,
    krippendorff,
    unit_counts,
)
from cranfield.agreement.pairwise import pairwise
from cranfield.data.judgement_log import JudgementLog, judgement_log

EXACT = 1e-10


def made(
    seed: int, people: int, items: int, q: int, missing: float, noise: float = 0.4
) -> tuple[np.ndarray[Any, Any], JudgementLog]:
    """A table annotators x items with NaN for missing cells, and the same as a log."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, q, items)
    guess = rng.integers(0, q, (people, items))
    table = np.where(rng.random((people, items)) < noise, guess, truth).astype(float)
    table[rng.random(table.shape) < missing] = np.nan
    who, what = np.nonzero(~np.isnan(table))
    log = judgement_log(
        [f"a{a:02d}" for a in who], [f"i{i:03d}" for i in what], table[who, what].tolist()
    )
    return table, log


CASES = list(itertools.product((0, 1, 2), ((2, 40, 2), (5, 60, 3), (7, 50, 5))))


@pytest.mark.parametrize("seed, shape", CASES)
def test_fleiss_and_randolph_equal_statsmodels(seed: int, shape: tuple[int, int, int]) -> None:
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    table, log = made(seed, *shape, missing=0.0)
    counts, _ = aggregate_raters(table.T)
    tallies = unit_counts(log).tallies()
    assert fleiss(tallies) == pytest.approx(fleiss_kappa(counts, "fleiss"), abs=EXACT)
    assert free_marginal(tallies) == pytest.approx(fleiss_kappa(counts, "randolph"), abs=EXACT)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed, shape", CASES)
def test_pairs_equal_scikit_learn(seed: int, shape: tuple[int, int, int], missing: float) -> None:
    from sklearn.metrics import accuracy_score, cohen_kappa_score
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    table, log = made(seed, *shape, missing=missing)
    pairs = pairwise(log)
    for p in range(len(pairs)):
        a, b = (int(log.annotators[i][1:]) for i in (pairs.first[p], pairs.second[p]))
        both = ~np.isnan(table[a]) & ~np.isnan(table[b])
        x, y = table[a, both].astype(int), table[b, both].astype(int)
        assert pairs.units[p] == x.size
        assert pairs.accuracy[p] == pytest.approx(accuracy_score(x, y), abs=EXACT)
        assert pairs.cohen[p] == pytest.approx(cohen_kappa_score(x, y), abs=EXACT)
        # Scott's pi is Fleiss' kappa of two annotators.
        counts, _ = aggregate_raters(np.stack([x, y], axis=1))
        assert pairs.scott[p] == pytest.approx(fleiss_kappa(counts), abs=EXACT)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("seed, shape", CASES)
def test_alpha_equals_krippendorff(
    seed: int, shape: tuple[int, int, int], missing: float, level: Level
) -> None:
    outside = pytest.importorskip("krippendorff", reason="the package krippendorff is a witness")
    table, log = made(seed, *shape, missing=missing)
    with np.errstate(invalid="ignore"):
        expected = outside.alpha(reliability_data=table, level_of_measurement=level)
    found = krippendorff(unit_counts(log).tallies(), level)
    assert found == pytest.approx(expected, abs=EXACT, nan_ok=True)


@pytest.mark.filterwarnings(r"ignore:\s*A value is trying to be set on a copy")
@pytest.mark.parametrize("weights", ["identity", "linear", "quadratic", "ordinal"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed, shape", CASES)
def test_gwet_fleiss_and_brennan_prediger_equal_irrcac(
    seed: int, shape: tuple[int, int, int], missing: float, weights: Weights
) -> None:
    outside = pytest.importorskip("irrCAC.raw", reason="the package irrCAC is a witness")
    import pandas as pd

    table, log = made(seed, *shape, missing=missing)
    cac = outside.CAC(pd.DataFrame(table.T).copy(), weights=weights, digits=15)
    tallies = unit_counts(log).tallies()

    def value(name: str) -> float:
        return float(getattr(cac, name)()["est"]["coefficient_value"])

    assert gwet(tallies, weights) == pytest.approx(value("gwet"), abs=EXACT)
    if weights == "identity":
        assert fleiss(tallies) == pytest.approx(value("fleiss"), abs=EXACT)
        assert free_marginal(tallies) == pytest.approx(value("bp"), abs=EXACT)
        assert krippendorff(tallies) == pytest.approx(value("krippendorff"), abs=EXACT)
