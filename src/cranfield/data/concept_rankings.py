"""Annotations read as rankings: every concept is a topic, its items ordered by confidence.

Studies of rankings (pools, growing collections) thus take annotations as well. Concepts that no
item has are left out, as their average precision would be. A run without confidences orders
items by its labels, and those it treats alike by their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cranfield.data import Judgements, Run
from cranfield.data.labels import LabelMatrix, dense
from cranfield.errors import InputError


def concept_judgements(truth: LabelMatrix) -> Judgements:
    """Every item judged for every concept that some item has."""
    labels = dense(truth.labels)
    column_mask = labels.any(axis=0)
    if not column_mask.any():
        raise InputError.single(truth.where, "no item has a concept: there is nothing to rank")
    return Judgements.from_rows(*_rows(truth, labels.astype(np.float64), column_mask))


def concept_ranking(run: LabelMatrix) -> Run:
    """Every item under every concept, by confidence, or else by label."""
    scores = dense(run.labels if run.confidences is None else run.confidences)
    column_mask = np.ones(len(run.concepts), dtype=bool)
    return Run.from_rows(*_rows(run, scores.astype(np.float64), column_mask)).named(run.name)


def concept_rankings(runs: Sequence[LabelMatrix]) -> list[Run]:
    """Several runs over the same concepts; one without names takes those of one that has them."""
    run_with_names = next((run for run in runs if run.named), None)
    alike = [
        run if run.named or run_with_names is None else run.renamed(run_with_names.concepts)
        for run in runs
    ]
    return [concept_ranking(run) for run in alike]


def _rows(matrix: LabelMatrix, values: Any, column_mask: Any) -> tuple[Any, Any, Any]:
    concepts = np.array(matrix.concepts)[column_mask]
    topics = np.repeat(concepts, len(matrix.items))
    items = np.tile(np.array(matrix.items), len(concepts))
    return topics.tolist(), items.tolist(), values[:, column_mask].T.ravel()
