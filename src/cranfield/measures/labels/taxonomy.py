"""Matrices over pairs of concepts that hierarchical measures look values up in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cranfield.data.labels import Bools, Floats
from cranfield.data.ontology import Ontology


def shared_parent(ontology: Ontology) -> Bools:
    """[a, b] is True when two concepts have a parent in common; the root is a parent too."""
    above = [
        frozenset(ontology.parents[node]) or frozenset({-1})
        for node in ontology.concept_nodes.values()
    ]
    return np.array([[bool(a & b) for b in above] for a in above], dtype=bool)


def balanced_distance(ontology: Ontology) -> Floats:
    """[key, response]: BDM of Maynard et al. (2006), 1 for equal concepts.

    BDM = BR CP/n1 / (BR CP/n1 + DPK/n2 + DPR/n3), where CP, DPK, DPR count the links from the
    root to the most specific common ancestor and from there to key and response; n1, n2, n3
    are mean lengths of the chains from the root to a leaf that hold either, the key, the
    response; BR is the branching of the common ancestor relative to the mean of inner nodes.
    """
    nodes = list(ontology.concept_nodes.values())
    depths = np.array(ontology.depths, dtype=float)
    branching = np.array([len(below) for below in ontology.children], dtype=float)
    mean_branching = float(np.append(branching[branching > 0], len(ontology.top)).mean())
    meet = _deepest_common(ontology, nodes)
    to_meet = np.where(meet >= 0, depths[meet], 0.0)
    lengths, either = _chain_lengths(ontology, nodes)
    closeness = branching[meet] / mean_branching * to_meet / either
    distance = (depths[nodes][:, None] - to_meet) / lengths[:, None]
    distance = distance + distance.T
    with np.errstate(invalid="ignore"):
        similarity: Floats = np.where(meet >= 0, closeness / (closeness + distance), 0.0)
    np.fill_diagonal(similarity, 1.0)
    return similarity


def _deepest_common(ontology: Ontology, nodes: list[int]) -> NDArray[np.intp]:
    """[a, b]: the deepest node that is above or equal to two concepts; -1 for the root."""
    holds = np.zeros((len(ontology.nodes), len(nodes)), dtype=bool)
    for column, node in enumerate(nodes):
        holds[[node, *ontology.nodes_above[node]], column] = True
    meet = np.full((len(nodes), len(nodes)), -1)
    for node in sorted(range(len(ontology.nodes)), key=ontology.depths.__getitem__):
        below = np.flatnonzero(holds[node])
        meet[np.ix_(below, below)] = node
    return meet


def _chain_lengths(ontology: Ontology, nodes: list[int]) -> tuple[Floats, Floats]:
    """Mean length of the chains through each concept, and of those through either of two."""
    leaves = [n for n, below in enumerate(ontology.children) if not below]
    ends = np.array(
        [[leaf == n or n in ontology.nodes_above[leaf] for leaf in leaves] for n in nodes],
        dtype=float,
    )
    lengths = np.array([ontology.depths[leaf] for leaf in leaves], dtype=float)
    count, total = ends.sum(axis=1), ends @ lengths
    shared, shared_total = ends @ ends.T, (ends * lengths) @ ends.T
    either = (total[:, None] + total - shared_total) / (count[:, None] + count - shared)
    return total / count, either
