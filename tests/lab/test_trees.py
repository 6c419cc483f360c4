"""Trees of measures, against SciPy's average linkage."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from cranfield.lab.measure_correlation import correlate, correlate_scores


def heights(square):
    gaps = 1 - square
    np.fill_diagonal(gaps, 0)
    return linkage(squareform(gaps, checks=False), "average")[:, 2]


def test_both_trees_are_average_linkage(ranked):
    found = correlate(ranked, resamples=5)
    for tree, coefficient in ((found.tree, "kendall"), (found.within_tree, "within")):
        assert [j.distance for j in tree] == pytest.approx(heights(found.matrix(coefficient)))
    last = found.within_tree[-1]
    assert {*last.left, *last.right} == set(found.measures)


def test_one_measure_without_a_tau_does_not_fell_the_tree():
    scores = np.array([[1.0, 1, 5, 2], [2, 3, 5, 1], [3, 2, 5, 3], [4, 4, 5, 4]])
    found = correlate_scores(tuple("ABCD"), tuple("wxyz"), scores, np.ones(4))
    joined = {m for j in found.tree for m in (*j.left, *j.right)}
    assert joined == {"A", "B", "D"}  # C gives all runs the same score
    assert found.within_tree == ()
