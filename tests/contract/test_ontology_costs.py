"""Costs of random hierarchies against an independent way to add up the links."""

from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield.data.ontology import Ontology
from cranfield.measures.labels.hierarchy import balanced_distance


@st.composite
def trees(draw):
    """Dotted paths of a random tree; every node is a concept."""
    paths = ["n0"]
    for k in range(1, draw(st.integers(2, 14))):
        above = draw(st.sampled_from(["", *paths]))
        paths.append(f"{above}.n{k}" if above else f"n{k}")
    return paths


@given(trees())
@settings(max_examples=80, deadline=None)
def test_cost_is_the_sum_of_links_through_the_common_ancestor(paths):
    ontology = Ontology.from_paths((p, p) for p in paths).checked()
    deepest = max(p.count(".") + 1 for p in paths)
    unit = 2 ** (deepest + 1) - 2

    def up(path, stop):
        """Links from a path up to a depth: the one above depth d costs 2^(L-d)."""
        return sum(2 ** (deepest - d) for d in range(stop + 1, path.count(".") + 2))

    for a in paths:
        for b in paths:
            one, other = a.split("."), b.split(".")
            common = 0
            while common < min(len(one), len(other)) and one[common] == other[common]:
                common += 1
            assert ontology.cost_map.cost(a, b) == (up(a, common) + up(b, common)) / unit


@given(st.integers(0, 10**6), st.integers(2, 10))
@settings(max_examples=60, deadline=None)
def test_costs_of_a_graph_are_a_metric_within_0_and_1(seed, size):
    rng = np.random.default_rng(seed)
    parents = tuple(
        tuple(sorted(rng.choice(k, size=rng.integers(0, min(k, 3) + 1), replace=False).tolist()))
        if k
        else ()
        for k in range(size)
    )
    names = tuple(f"n{k}" for k in range(size))
    own = MappingProxyType({n: k for k, n in enumerate(names)})
    costs = Ontology(names, parents, own).checked().cost_map.costs
    assert np.all((costs >= 0) & (costs <= 1))
    assert np.all(costs == costs.T)
    through = costs[:, :, None] + costs[None, :, :]
    assert np.all(costs[:, None, :] <= through + 1e-12)


@given(trees())
@settings(max_examples=60, deadline=None)
def test_balanced_distance_is_symmetric_and_bounded(paths):
    ontology = Ontology.from_paths((p, p) for p in paths)
    table = balanced_distance(ontology)
    assert np.all((table >= 0) & (table <= 1))
    assert table == pytest.approx(table.T)
    for i, a in enumerate(paths):
        for j, b in enumerate(paths):
            apart = a.split(".")[0] != b.split(".")[0]
            assert (table[i, j] == 0) == apart
            assert (table[i, j] == 1) == (i == j)
