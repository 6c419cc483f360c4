"""Published worked examples of agreement, each named where it stands."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cranfield.agreement.aggregation import aggregate_judgements
from cranfield.agreement.agreement import assess_agreement
from cranfield.agreement.coefficients import (
    UnitCounts,
    accuracy,
    fleiss,
    free_marginal,
    gwet,
    krippendorff,
    unit_counts,
)
from cranfield.agreement.majority import accuracy_to_majority, majority_agreement, vote
from cranfield.agreement.pairwise import pairwise
from cranfield.data.judgement_log import JudgementLog, judgement_log
from cranfield.io.judgement_log import read_judgement_log

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C: four observers,
# twelve units, missing data. Gwet, Handbook of Inter-Rater Reliability (2014), Table 2.12.
FOUR_OBSERVERS = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)


def from_rows(rows: tuple[str, ...]) -> JudgementLog:
    cells = [
        (f"o{a}", f"u{u:02d}", v)
        for a, row in enumerate(rows)
        for u, v in enumerate(row.split())
        if v != "."
    ]
    who, what, said = zip(*cells, strict=True)
    return judgement_log(who, what, said)


def test_krippendorff_2011_section_c() -> None:
    tallies = unit_counts(from_rows(FOUR_OBSERVERS)).tallies()
    assert round(krippendorff(tallies), 3) == 0.743
    assert round(krippendorff(tallies, "ordinal"), 3) == 0.815
    assert round(krippendorff(tallies, "interval"), 3) == 0.849


def test_gwet_2014_four_raters() -> None:
    """AC1 0.775, Fleiss 0.761, Brennan-Prediger 0.773 on the same ratings."""
    tallies = unit_counts(from_rows(FOUR_OBSERVERS)).tallies()
    assert round(accuracy(tallies), 5) == 0.81818
    assert round(gwet(tallies), 5) == 0.77544
    assert round(fleiss(tallies), 5) == 0.76117
    assert round(free_marginal(tallies), 5) == 0.77273


def test_fleiss_1971_style_table_of_14_raters() -> None:
    """The table of ten subjects and five categories in the article on Fleiss' kappa: 0.210."""
    table = np.array(
        [
            [0, 0, 0, 0, 14],
            [0, 2, 6, 4, 2],
            [0, 0, 3, 5, 6],
            [0, 3, 9, 2, 0],
            [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0],
            [3, 2, 6, 3, 0],
            [2, 5, 3, 2, 2],
            [6, 5, 2, 1, 0],
            [0, 2, 2, 3, 7],
        ],
        dtype=float,
    )
    tallies = UnitCounts(table, np.arange(10), None).tallies()
    assert round(fleiss(tallies), 3) == 0.210
    assert round(accuracy(tallies), 3) == 0.378


def test_cohen_1960_grant_proposals() -> None:
    """50 proposals, both yes 20, both no 15, 5 and 10 apart: kappa 0.40."""
    first = ["y"] * 25 + ["n"] * 25
    second = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    items = [f"p{i}" for i in range(50)]
    log = judgement_log(["a"] * 50 + ["b"] * 50, items * 2, first + second)
    pairs = pairwise(log)
    assert pairs.accuracy[0] == pytest.approx(0.7)
    assert pairs.cohen[0] == pytest.approx(0.4)
    assert pairs.mean_cohen == pytest.approx(0.4)


def test_perfect_and_systematic_disagreement() -> None:
    """Complementary answers of two annotators with even marginals: every kappa is -1."""
    items = [f"i{k}" for k in range(10)]
    truth = [k % 2 for k in range(10)]
    apart = judgement_log(["a"] * 10 + ["b"] * 10, items * 2, truth + [1 - t for t in truth])
    tallies = unit_counts(apart).tallies()
    assert (fleiss(tallies), free_marginal(tallies), gwet(tallies)) == (-1, -1, -1)
    assert pairwise(apart).cohen[0] == -1
    assert pairwise(apart).scott[0] == -1
    assert krippendorff(tallies) == pytest.approx(1 - 19 / 10)
    alike = judgement_log(["a"] * 10 + ["b"] * 10, items * 2, truth * 2)
    tallies = unit_counts(alike).tallies()
    assert (fleiss(tallies), free_marginal(tallies), gwet(tallies)) == (1, 1, 1)
    assert krippendorff(tallies) == 1


def test_fleiss_below_its_bound_is_told() -> None:
    """One unit in dispute among many that were judged once: -10.5 by the formula."""
    who, items, values = (
        ["a"] * 11 + ["b"],
        [f"i{k}" for k in range(11)] + ["i0"],
        ["0"] * 11 + ["1"],
    )
    log = judgement_log(who, items, values, concepts=["c"] * 12)
    assert fleiss(unit_counts(log).tallies()) == pytest.approx(-221 / 21)
    found = assess_agreement(log)
    assert "Fleiss' kappa is below -1 overall" in " ".join(found.notes)
    rng = np.random.default_rng(3)
    for _ in range(300):
        rows = rng.integers(0, 2, (int(rng.integers(2, 6)), int(rng.integers(2, 4))))
        table = np.stack([(rows == v).sum(axis=1) for v in (0, 1)], axis=1).astype(float)
        whole = UnitCounts(table, np.arange(len(table)), None)
        value = fleiss(whole.tallies())
        assert math.isnan(value) or value >= -1


def test_one_annotator_and_one_category() -> None:
    one = unit_counts(judgement_log(["a"] * 3, ["x", "y", "z"], [0, 1, 1])).tallies()
    for coefficient in (accuracy, fleiss, free_marginal, gwet, krippendorff):
        assert math.isnan(coefficient(one))
    # The concept Snow of thesis 6.4.3: nobody saw it, everybody agrees.
    snow = judgement_log(
        ["a", "b", "a", "b"], ["x", "x", "y", "y"], [0, 0, 0, 0], concepts=["Snow"] * 4
    )
    tallies = unit_counts(snow).tallies()
    assert (accuracy(tallies), free_marginal(tallies), gwet(tallies)) == (1, 1, 1)
    assert math.isnan(fleiss(tallies))
    assert math.isnan(krippendorff(tallies))


def test_thesis_table_6_2_overall_accuracy_includes_the_merged_column() -> None:
    """The printed 0.912 is the mean of all 66 cells; the mean of the 55 pairs is 0.906."""
    rows = """
    .900 .877 .905 .892 .914 .912 .890 .894 .900 .916 .929
    .885 .913 .905 .916 .915 .903 .911 .909 .925 .939
    .900 .873 .902 .884 .878 .886 .892 .904 .918
    .897 .926 .918 .899 .914 .915 .932 .947
    .900 .917 .902 .901 .900 .911 .928
    .925 .902 .918 .925 .932 .952
    .900 .916 .918 .929 .945
    .887 .892 .909 .920
    .918 .918 .941
    .919 .941
    .958"""
    cells = [[float(x) for x in row.split()] for row in rows.strip().splitlines()]
    pairs = [x for row in cells for x in row[:-1]]
    everything = [x for row in cells for x in row]
    assert (len(pairs), len(everything)) == (55, 66)
    assert sum(everything) / 66 == pytest.approx(0.912, abs=6e-4)
    assert sum(pairs) / 55 == pytest.approx(0.906, abs=6e-4)


def test_thesis_figure_6_4_ways_of_counting() -> None:
    """Thesis 6.4.1: 9 of 11 against a concept is an agreement of 82 %; an item in which nobody
    chose it counts as 100 % or not at all."""
    people = [f"a{k}" for k in range(11)]
    log = judgement_log(
        people * 2, ["x"] * 11 + ["y"] * 11, [1, 1] + [0] * 9 + [0] * 11, concepts=["C"] * 22
    )
    found = majority_agreement(log)
    assert found.concepts[0].selected == pytest.approx(9 / 11)
    assert found.concepts[0].every == pytest.approx((9 / 11 + 1) / 2)
    assert math.isnan(found.items[1].selected)
    share, judged = accuracy_to_majority(log, vote(log))
    assert share[0] == 0.5
    assert judged[0] == 2


def test_dawid_skene_1979_anaesthetists(outside: Callable[[str, str], Path]) -> None:
    """Dawid and Skene (1979), Table 4: class probabilities 0.40, 0.42, 0.11, 0.07."""
    ratings = outside("crowd/rater_anesthesia.csv", "the anaesthetists' ratings")
    log = read_judgement_log(ratings, duplicates="all")
    found = aggregate_judgements(log, "dawid-skene", prior=0, tolerance=1e-9)
    prior = found.tables[0].prior
    assert np.round(prior, 2).tolist() == [0.40, 0.42, 0.11, 0.07]
