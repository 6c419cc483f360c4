"""What confidences become when one knows more: the rules of an ontology, or co-occurrence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cranfield.data.ontology import Ontology

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
# How much of a confidence is what the other concepts let expect.
EXPECTED_SHARE = 0.3


def by_rules(confidences: Floats, concepts: tuple[str, ...], ontology: Ontology) -> Floats:
    """Confidences that agree with the ontology.

    Of a group that allows one label, the confidences are divided by their sum where it exceeds 1;
    a concept is as certain as the most certain of those it requires at most; a category is as
    certain as the most certain concept below it at least.
    """
    found = confidences.copy()
    column = {concept: i for i, concept in enumerate(concepts)}
    for _, group in ontology.exclusive:
        members = [[column[c] for c in member if c in column] for member in group]
        members = [m for m in members if m]
        if len(members) < 2:
            continue
        total = sum(found[:, m].max(axis=1) for m in members)
        scale = np.maximum(total, 1.0)[:, None]
        for m in members:
            found[:, m] /= scale
    for _, need in ontology.requirements:
        options = [column[c] for c in need.any_of if c in column]
        if need.concept in column and options:
            place = column[need.concept]
            found[:, place] = np.minimum(found[:, place], found[:, options].max(axis=1))
    for concept, place in column.items():
        if concept in ontology.concepts:
            for above in ontology.ancestors(concept):
                if above in column:
                    higher = column[above]
                    found[:, higher] = np.maximum(found[:, higher], found[:, place])
    return found


def by_cooccurrence(confidences: Floats, labels: Bools) -> Floats:
    """Confidences moved towards what the other concepts let expect, as in training."""
    counts = labels.T.astype(np.float64) @ labels
    given = counts / np.maximum(np.diag(counts), 1.0)[:, None]
    np.fill_diagonal(given, 0.0)
    total = confidences.sum(axis=1, keepdims=True) - confidences
    expected = (confidences @ given) / np.where(total > 0, total, 1.0)
    return np.asarray((1 - EXPECTED_SHARE) * confidences + EXPECTED_SHARE * expected)
