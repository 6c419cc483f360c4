"""What each item adds to the value of a run, under measures that are no means over items.

A mean over concepts, a pooled value or a ratio is a function of how often each item counts. Its
derivative by the weight of an item says what that item adds (the infinitesimal jackknife): runs are
tested over items by these parts as they are by the values of items elsewhere, with the concepts as
they are. To first order the parts move as the measure itself does when items are drawn anew.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cranfield.data.labels import Floats, LabelMatrix
from cranfield.data.ontology import Knowledge
from cranfield.errors import NeedsError
from cranfield.measures.base import Measure
from cranfield.measures.labels.blocks import (
    ConceptBlock,
    ItemBlock,
    LabelPlan,
    PerConcept,
    PerItem,
    PerRankedConcept,
    concept_blocks,
    item_blocks,
)
from cranfield.measures.labels.concept import weighted_mean

# By how much an item counts more where derivatives are differences, and as a part of a sum.
_STEP, _RELATIVE_STEP = 1e-4, 1e-6
# Cells whose sums are held one by one.
_CELLS_AT_ONCE = 1 << 19


def item_influence(
    plans: Mapping[Measure, LabelPlan],
    truth: LabelMatrix,
    run: LabelMatrix,
    knowledge: Knowledge,
    values: Mapping[Measure, Floats],
    jobs: int,
) -> dict[Measure, Floats]:
    """For each measure that has it, a number per item: so much the item pulls the value of the run
    away from what it is; their mean is 0. `values` are those of the run per unit.

    Measures that are means over items need none, and some of graded truths have none.
    """
    summed = {
        m: plan
        for m, plan in plans.items()
        if isinstance(plan, PerConcept) or (isinstance(plan, PerItem) and plan.total is not None)
    }
    ranked = {
        m: plan
        for m, plan in plans.items()
        if isinstance(plan, PerRankedConcept)
        and (plan.column is not None or plan.cutoff is not None)
    }
    influence = _of_sums(summed, truth, run, knowledge, jobs) if summed else {}
    if ranked:
        influence |= _of_rankings(ranked, truth, run, values, jobs)
    return {m: parts - parts.mean() for m, parts in influence.items()}


def _of_sums(
    plans: Mapping[Measure, PerConcept | PerItem],
    truth: LabelMatrix,
    run: LabelMatrix,
    knowledge: Knowledge,
    jobs: int,
) -> dict[Measure, Floats]:
    items = len(truth.items)
    sums: dict[Measure, Floats] = {}
    for block in item_blocks(truth, run, knowledge, jobs):
        for m, plan in plans.items():
            sums[m] = sums.get(m, np.zeros(1)) + _block_sums(plan, block)
    slopes = {m: _slopes(plan, sums[m]) for m, plan in plans.items() if plan.total is not None}
    parts: dict[Measure, list[Floats]] = {m: [] for m in plans}
    for block in item_blocks(truth, run, knowledge, jobs, _CELLS_AT_ONCE):
        for m, plan in plans.items():
            rows = _item_sums(plan, block)
            if m in slopes:
                parts[m].append(rows.reshape(len(rows), -1) @ slopes[m].ravel())
            elif isinstance(plan, PerConcept):
                parts[m].append(_mean_changes(plan, sums[m], rows, items))
    return {m: items * np.concatenate(chunks) for m, chunks in parts.items()}


def _block_sums(plan: PerConcept | PerItem, block: ItemBlock) -> Floats:
    if isinstance(plan, PerConcept):
        return plan.sums(block)
    return np.zeros(1) if plan.counts is None else plan.counts(block).sum(axis=1)


def _item_sums(plan: PerConcept | PerItem, block: ItemBlock) -> Floats:
    """What each item adds to the sums: a row per item, each of the shape of the sums."""
    count = len(block.truth)
    if isinstance(plan, PerItem):
        return np.zeros((count, 1)) if plan.counts is None else plan.counts(block).T
    if not plan.by_cell:
        return np.array([plan.sums(block.item(row)) for row in range(count)])
    cells = plan.sums(block.by_cell())
    return np.moveaxis(cells.reshape(*cells.shape[:-1], count, -1), -2, 0)


def _mean_changes(plan: PerConcept, sums: Floats, rows: Floats, items: int) -> Floats:
    """The derivative of the mean over concepts by the weight of each item."""
    before = plan.finish(sums, items)
    defined = ~np.isnan(before)
    if not defined.any():
        return np.zeros(len(rows))
    heavier = sums[..., None, :] + _STEP * np.moveaxis(rows, 0, -2)
    changes = (plan.finish(heavier, items + _STEP) - before)[:, defined] / _STEP
    mean: Floats = changes.mean(axis=1)
    return mean


def _slopes(plan: PerConcept | PerItem, sums: Floats) -> Floats:
    """The derivative of a pooled value by each of the sums."""
    slopes = np.zeros(sums.shape)
    if plan.total is None:
        return slopes
    before = plan.total(sums)
    # No item adds to a sum that is 0, so nothing depends on its slope.
    for at in zip(*np.nonzero(sums), strict=True):
        step = max(_STEP, _RELATIVE_STEP * abs(float(sums[at])))
        heavier = sums.copy()
        heavier[at] += step
        slopes[at] = (plan.total(heavier) - before) / step
    return np.nan_to_num(slopes)


def _of_rankings(
    plans: Mapping[Measure, PerRankedConcept],
    truth: LabelMatrix,
    run: LabelMatrix,
    values: Mapping[Measure, Floats],
    jobs: int,
) -> dict[Measure, Floats]:
    items = len(truth.items)
    cutoffs = tuple(sorted({plan.cutoff for plan in plans.values() if plan.cutoff is not None}))
    by_average: dict[str, dict[Measure, PerRankedConcept]] = {}
    for m, plan in plans.items():
        by_average.setdefault(plan.average, {})[m] = plan
    pooled = by_average.pop("micro", {})
    influence = {m: np.zeros(items) for m in plans}
    frequency = concept_frequency(truth)
    shares = {m: _shares(plan, values[m], frequency) for m, plan in plans.items()}
    start, blocks = 0, []
    for block in concept_blocks(truth, run, cutoffs, jobs):
        at = slice(start, start + block.truth.shape[1])
        start = at.stop
        if pooled:
            blocks.append(block)
        for alike in by_average.values():
            parts = _block_influence(block, alike, {m: shares[m][at] for m in alike})
            for m in alike:
                influence[m] += parts[m]
        for m in by_average.get("weighted", ()):
            # An item that has a concept also makes the concept count more.
            influence[m] += block.truth @ _heavier(values[m], frequency)[at]
    if pooled:
        # Of one ranking of all cells: an item adds what its cells add.
        together = ConceptBlock.joined(blocks)
        parts = _block_influence(together.pooled(), pooled, {m: np.ones(1) for m in pooled})
        for m in pooled:
            influence[m] += parts[m].reshape(together.truth.shape).sum(axis=1)
    return {m: items * parts for m, parts in influence.items()}


def concept_frequency(truth: LabelMatrix) -> Floats:
    """How many items have each concept."""
    if truth.labels is None:
        raise NeedsError("the truth has confidences, not labels")
    return np.asarray(truth.labels.sum(axis=0), dtype=np.float64).ravel()


def _shares(plan: PerRankedConcept, values: Floats, frequency: Floats) -> Floats:
    """How much the value of each concept counts in that of the run."""
    counted = np.where(np.isnan(values), 0.0, frequency if plan.average == "weighted" else 1.0)
    return counted / max(float(counted.sum()), 1.0)


def _block_influence(
    block: ConceptBlock, plans: Mapping[Measure, PerRankedConcept], shares: Mapping[Measure, Floats]
) -> dict[Measure, Floats]:
    """The derivatives of the parts that a block has in the values of the run, sorted once."""
    columns = {m: block.column_of(plan) for m, plan in plans.items()}
    weights = np.zeros((block.truth.shape[1], block.width))
    for m, column in columns.items():
        weights[:, column] = shares[m]
    derivatives = block.influence(weights)
    return {m: derivatives[column] for m, column in columns.items()}


def _heavier(values: Floats, frequency: Floats) -> Floats:
    """The derivative of a mean by frequencies by the frequency of each concept."""
    defined = ~np.isnan(values)
    away = np.where(defined, values - weighted_mean(values, frequency), 0.0)
    return away / max(float(frequency[defined].sum()), 1.0)
