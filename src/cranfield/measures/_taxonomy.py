"""Matrices over pairs of concepts that hierarchical measures look values up in."""

from __future__ import annotations

import numpy as np

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
    branching = [len(below) for below in ontology.children]
    inner = [b for b in branching if b] + [len(ontology.top)]
    mean_branching = sum(inner) / len(inner)
    leaves = _leaves_below(ontology)
    nodes = list(ontology.concept_nodes.values())
    found = np.ones((len(nodes), len(nodes)))
    for i, key in enumerate(nodes):
        for j, response in enumerate(nodes[:i]):
            common = (ontology.nodes_above[key] | {key}) & (
                ontology.nodes_above[response] | {response}
            )
            if not common:
                found[i, j] = found[j, i] = 0.0
                continue
            meet = max(common, key=ontology.depths.__getitem__)
            depth = ontology.depths[meet]
            chains = [leaves[key] | leaves[response], leaves[key], leaves[response]]
            n1, n2, n3 = (float(np.mean([ontology.depths[x] for x in c])) for c in chains)
            near = branching[meet] / mean_branching * depth / n1
            far = (ontology.depths[key] - depth) / n2 + (ontology.depths[response] - depth) / n3
            found[i, j] = found[j, i] = near / (near + far)
    return found


def _leaves_below(ontology: Ontology) -> list[frozenset[int]]:
    below: list[frozenset[int]] = [frozenset()] * len(ontology.nodes)
    for node in sorted(range(len(ontology.nodes)), key=ontology.depths.__getitem__, reverse=True):
        children = ontology.children[node]
        below[node] = (
            frozenset().union(*(below[c] for c in children)) if children else frozenset({node})
        )
    return below
