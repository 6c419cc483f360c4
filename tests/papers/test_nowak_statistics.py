"""Nowak 2011: analysis of variance in 10.8, rank correlation in 4.6.1, 7.2 and 8.4.2."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

from cranfield.stats import (
    kendall,
    kolmogorov_smirnov,
    one_way,
    t_test,
    two_way,
    win_tie_loss,
)

PUBLISHED = Path(__file__).parent / "published"


def columns(name):
    with (PUBLISHED / name).open() as source:
        rows = list(csv.DictReader(source))
    return {key: [row[key] for row in rows] for key in rows[0]}


def test_table_10_11_wins_by_concept():
    """10.8.2: for 16 concepts in EER and 17 in AUC the ICPR runs were better, for 32 the 2010
    runs, in both."""
    table = {
        k: np.array(v, dtype=float)
        for k, v in columns("table-10.11-icpr-2010.csv").items()
        if k != "concept"
    }
    (eer,) = win_tie_loss(table["eer_icpr"] - table["eer_2010"])
    (auc,) = win_tie_loss(table["auc_2010"] - table["auc_icpr"])
    assert (eer.wins, auc.wins) == (32, 32)
    assert (eer.losses, auc.losses) == (16, 17)


def test_table_10_11_one_way_analysis_of_variance_is_not_significant():
    """10.8.2: the results are not significant in a one-way analysis of variance."""
    table = columns("table-10.11-icpr-2010.csv")
    for measure in ("eer", "auc"):
        groups = [np.array(table[f"{measure}_{cycle}"], dtype=float) for cycle in ("icpr", "2010")]
        result = one_way(groups)
        assert result.p > 0.05
        assert (result.df_between, result.df_within) == (1, 102)


def test_table_10_4_one_way_analysis_of_variance_is_not_significant():
    """10.8.1: nor are the improvements from 2009 to ICPR 2010."""
    table = columns("table-10.4-best-per-concept.csv")
    for measure in ("eer", "auc"):
        groups = [np.array(table[f"{measure}_{year}"], dtype=float) for year in ("2009", "icpr")]
        assert one_way(groups).p > 0.05


def test_table_7_2_kendall_by_its_definition():
    """Equation 4.3 on the 19 systems of Table 7.2; EER is better when low, OS when high."""
    table = columns("table-7.2-eer-os.csv")
    eer = -np.array(table["eer"], dtype=float)
    os = np.array(table["os"], dtype=float)
    product = np.sign(np.subtract.outer(eer, eer)) * np.sign(np.subtract.outer(os, os))
    concordant, discordant = (product > 0).sum() / 2, (product < 0).sum() / 2
    ours = kendall(eer, os)
    if ours.name == "tau":
        assert ours.value == pytest.approx((concordant - discordant) / (concordant + discordant))
    assert ours.value == pytest.approx(kendalltau(eer, os).statistic)


def test_two_identical_rankings_and_their_inverse():
    """4.6.1: identical rankings give +1, inverse rankings -1."""
    x = np.arange(10.0)
    assert kendall(x, x).value == pytest.approx(1)
    assert kendall(x, x[::-1]).value == pytest.approx(-1)
    assert kolmogorov_smirnov(x, x).value == 0
    assert kolmogorov_smirnov(x, x[::-1]).value == pytest.approx(0.9)


WWW_G = (1, 2, 3, 7, 9, 4, 5, 12, 6, 10, 14, 8, 11, 15, 13, 17, 18, 16, 19, 32)
WWW_Y = (1, 2, 3, 4, 5, 8, 6, 7, 9, 10, 11, 12, 15, 13, 16, 14, 17, 19, 18, 20)


@pytest.mark.parametrize("order, discordant", [(WWW_G, True), (WWW_Y, False)])
def test_8_4_2_kolmogorov_smirnov_tells_the_two_orders_apart(order, discordant):
    """8.4.2: Kendall calls both alike (0.947, 0.992 over all 73 runs), Kolmogorov-Smirnov only
    www_Y; the first 20 places are printed. The others keep their order here."""
    runs = 73
    rest = [i for i in range(1, runs + 1) if i not in order]
    ranking = [*order, *rest]
    new_rank = np.empty(runs)
    new_rank[np.array(ranking) - 1] = np.arange(1, runs + 1)
    original = np.arange(1, runs + 1)
    assert kendall(-original, -new_rank).value > 0.94
    result = kolmogorov_smirnov(-original, -new_rank)
    assert (result.p < 0.05) is discordant


def test_table_10_11_paired_by_concept_the_improvement_is_significant():
    """What one-way analysis cannot see: the same 52 concepts make the data paired (SciPy's
    ttest_rel gives 0.00139 and 0.01005)."""
    table = columns("table-10.11-icpr-2010.csv")
    found = []
    for measure in ("eer", "auc"):
        old, new = (np.array(table[f"{measure}_{c}"], dtype=float) for c in ("icpr", "2010"))
        result = two_way(np.vstack([old, new]))
        assert result.p_runs == pytest.approx(t_test(old - new).p[0])
        found.append(result.p_runs)
    assert found == pytest.approx([0.00139, 0.01005], abs=5e-6)
