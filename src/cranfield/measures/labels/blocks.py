"""What a measure of annotation sees: blocks of the matrices, and what is known of the concepts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield._lazy import cached_property
from cranfield.data.labels import Bools, Floats, LabelMatrix
from cranfield.data.ontology import Knowledge
from cranfield.errors import NeedsError
from cranfield.options import DEFAULT_THRESHOLD

T = TypeVar("T")

BLOCK_CELLS = 1 << 22
RANKED_BLOCK_CELLS = 1 << 24
# Columns of `ConceptBlock.ranked` before those of precision at a cutoff.
RANKED_COLUMNS = 5
# Cells of a run whose order is kept for many truths: twelve bytes each.
MOST_SORTED = 1 << 24


@dataclass(frozen=True, slots=True)
class Matching:
    """How label sets are matched (No 7.1): a cost map, and which plug-ins take part."""

    cost: str
    rules: bool = True
    agreement: bool = True


class ItemBlock:
    """Some items with all concepts; what several measures ask for is worked out once."""

    def __init__(
        self,
        truth: Bools,
        labels: Bools | None,
        confidences: Floats | None,
        knowledge: Knowledge,
        jobs: int = 1,
        grades: Floats | None = None,
        highest: float = 1.0,
    ) -> None:
        self.truth, self.knowledge, self.jobs = truth, knowledge, jobs
        # The highest grade of the whole truth.
        self._grades, self.highest = grades, highest
        self._labels, self._confidences = labels, confidences
        self._cache: dict[Any, Any] = {}

    @cached_property
    def labels(self) -> Bools:
        """The run's decisions; from the default threshold where it has confidences only."""
        if self._labels is not None:
            return self._labels
        return self.confidences >= DEFAULT_THRESHOLD

    @cached_property
    def confidences(self) -> Floats:
        if self._confidences is not None:
            return self._confidences
        return self.labels.astype(np.float64)

    @cached_property
    def grades(self) -> Floats:
        """The grade of every cell: 0 and 1 where the truth has no others."""
        return self.truth.astype(np.float64) if self._grades is None else self._grades

    @property
    def width(self) -> int:
        return int(self.truth.shape[1])

    @cached_property
    def both(self) -> Bools:
        return self.truth & self.labels

    @cached_property
    def tp(self) -> Floats:
        return _row_sums(self.both)

    @cached_property
    def true(self) -> Floats:
        return _row_sums(self.truth)

    @cached_property
    def predicted(self) -> Floats:
        return _row_sums(self.labels)

    @cached_property
    def concept_counts(self) -> Floats:
        """Rows: true and predicted, predicted, true; one column per concept."""
        return np.array([m.sum(axis=0) for m in (self.both, self.labels, self.truth)], dtype=float)

    @cached_property
    def ranked(self) -> Floats:
        """Columns: OneError, Coverage, RankingLoss, AP, the best concept."""
        return _core.item_ranked(self.truth, self.confidences, self.jobs)

    def match_cost(self, matching: Matching) -> Floats:
        """The cost of each item's prediction (No 7.1)."""
        return self.once(
            ("match", self.knowledge.cost_name(matching.cost), matching.rules, matching.agreement),
            lambda: _core.match_costs(*self._matched(matching), self.jobs),
        )

    def match_parts(
        self, matching: Matching, item: int
    ) -> list[tuple[int, str, float, float, list[int]]]:
        """What each label of an item adds to that cost: (concept, role, cost, agreement, to)."""
        return _core.match_parts(*self._matched(matching), item)

    def _matched(self, matching: Matching) -> tuple[Bools, Bools, Bools, Floats, Floats]:
        knowledge = self.knowledge
        return (
            self.truth,
            self.labels,
            self.broken if matching.rules else self.nothing,
            knowledge.costs(matching.cost),
            knowledge.factors if matching.agreement else knowledge.full_agreement,
        )

    @cached_property
    def broken(self) -> Bools:
        return self.knowledge.rules.broken(self.labels)

    @cached_property
    def nothing(self) -> Bools:
        return np.zeros(self.truth.shape, dtype=bool)

    def expanded(self, kind: str) -> tuple[Bools, Bools]:
        """Truth and prediction with what `Knowledge.closure` adds to them."""
        links = self.knowledge.closure(kind)
        return self.once(
            ("expanded", kind), lambda: (reached(self.truth, links), reached(self.labels, links))
        )

    def by_cell(self) -> ItemBlock:
        """The same cells as one item whose concepts they are: its sums are the cells'."""

        def flat(matrix: NDArray[Any] | None) -> Any:
            return None if matrix is None else np.ascontiguousarray(matrix).reshape(1, -1)

        return self.once(
            "cells",
            lambda: ItemBlock(
                flat(self.truth),
                flat(self._labels),
                flat(self._confidences),
                self.knowledge,
                self.jobs,
                flat(self._grades),
                self.highest,
            ),
        )

    def item(self, row: int) -> ItemBlock:
        """One of the items alone."""
        at = slice(row, row + 1)
        return ItemBlock(
            self.truth[at],
            None if self._labels is None else self._labels[at],
            None if self._confidences is None else self._confidences[at],
            self.knowledge,
            self.jobs,
            None if self._grades is None else self._grades[at],
            self.highest,
        )

    def once(self, key: Any, work: Callable[[], T]) -> T:
        """A value that several measures share, worked out by the first that asks."""
        if key not in self._cache:
            self._cache[key] = work()
        cached: T = self._cache[key]
        return cached


def reached(flags: Bools, links: NDArray[np.float32]) -> Bools:
    """[n, b] is True when a concept that n has is linked to b."""
    return (flags.astype(np.float32) @ links) > 0


def _row_sums(flags: Bools) -> Floats:
    return np.asarray(flags.sum(axis=1, dtype=np.int32), dtype=np.float64)


class ConceptBlock:
    """Some concepts with all items."""

    def __init__(
        self,
        truth: Bools,
        confidences: Floats,
        order: NDArray[np.int64],
        cutoffs: tuple[int, ...],
        jobs: int = 1,
        ranked: _core.ConceptOrder | None = None,
        grades: Floats | None = None,
    ) -> None:
        self.truth, self.confidences = truth, confidences
        self._grades = grades
        self._order, self._cutoffs, self._jobs, self._sorted = order, cutoffs, jobs, ranked

    @cached_property
    def ranked(self) -> Floats:
        """Columns: AUC, EER, AP, iAP, Rprec, then P at each cutoff."""
        return _core.concept_ranked(
            self.truth,
            self.confidences,
            self._order,
            list(self._cutoffs),
            self._jobs,
            self._sorted,
        )

    @cached_property
    def grades(self) -> Floats:
        """The grade of every cell: 0 and 1 where the truth has no others."""
        return self.truth.astype(np.float64) if self._grades is None else self._grades

    def pooled(self) -> ConceptBlock:
        """All cells as the items of one concept, for a mean that pools concepts."""
        cells = self.truth.size
        return ConceptBlock(
            np.ascontiguousarray(self.truth).reshape(cells, 1),
            np.ascontiguousarray(self.confidences).reshape(cells, 1),
            np.arange(cells),
            self._cutoffs,
            self._jobs,
        )

    @staticmethod
    def joined(blocks: Sequence[ConceptBlock]) -> ConceptBlock:
        """Blocks of concepts side by side."""
        if len(blocks) == 1:
            return blocks[0]
        first = blocks[0]
        return ConceptBlock(
            np.concatenate([block.truth for block in blocks], axis=1),
            np.concatenate([block.confidences for block in blocks], axis=1),
            first._order,
            first._cutoffs,
            first._jobs,
        )

    def influence(self, weights: Floats) -> Floats:
        """A row per column of `ranked`: how the sum of its values by `weights` (a row per concept)
        changes with the weight of each item."""
        return _core.concept_influence(
            self.truth, self.confidences, self._order, list(self._cutoffs), weights, self._jobs
        )

    @property
    def width(self) -> int:
        """How many columns `ranked` has."""
        return RANKED_COLUMNS + len(self._cutoffs)

    def column_of(self, plan: PerRankedConcept) -> int:
        """The column of `ranked` that a plan takes its values from."""
        if plan.cutoff is not None:
            return RANKED_COLUMNS + self._cutoffs.index(plan.cutoff)
        if plan.column is None:
            raise NeedsError("the measure is none of rankings")
        return plan.column

    def precision_at(self, cutoff: int) -> Floats:
        values: Floats = self.ranked[:, RANKED_COLUMNS + self._cutoffs.index(cutoff)]
        return values


@dataclass(frozen=True)
class PerItem:
    """One value per item; the run's value is their mean, or `total` of the sums of `counts`, which
    has a column per item."""

    values: Callable[[ItemBlock], Floats]
    ranked: bool = False
    counts: Callable[[ItemBlock], Floats] | None = None
    total: Callable[[Floats], float] | None = None
    unit = "item"


@dataclass(frozen=True)
class PerConcept:
    """One value per concept, from sums over items: `finish(sums, number of items)`.

    `finish` takes sums of any shape whose last axis are concepts, after what is summed. Unless
    `by_cell` is false, an item adds to the sums of a concept by its own cell alone.
    """

    sums: Callable[[ItemBlock], Floats]
    finish: Callable[[Floats, float], Floats]
    total: Callable[[Floats], float] | None = None
    by_cell: bool = True
    ranked = False
    unit = "concept"


@dataclass(frozen=True)
class PerRankedConcept:
    """One value per concept, from the ranking of all items.

    `average` is how concepts are averaged: "macro", pooled in one ranking ("micro"), or each by the
    items that have it ("weighted"). `column` is that of `ConceptBlock.ranked` or, for precision at
    a `cutoff`, None; measures with neither have no derivative by the items.
    """

    values: Callable[[ConceptBlock], Floats]
    average: str = "macro"
    column: int | None = None
    cutoff: int | None = None
    ranked = True
    unit = "concept"


LabelPlan: TypeAlias = PerItem | PerConcept | PerRankedConcept


def item_blocks(
    truth: LabelMatrix,
    run: LabelMatrix,
    knowledge: Knowledge,
    jobs: int,
    cells: int | None = None,
) -> Iterator[ItemBlock]:
    """The matrices, some items at a time, so that what is worked out stays small."""
    height = max(1, (cells or BLOCK_CELLS) // truth.shape[1])
    highest = 1.0 if truth.grades is None else float(truth.grades.max())
    for start in range(0, truth.shape[0], height):
        true, _ = truth.rows(start, start + height)
        if true is None:
            raise NeedsError("the truth has confidences, not labels")
        grades = None if truth.grades is None else truth.grades[start : start + height]
        yield ItemBlock(true, *run.rows(start, start + height), knowledge, jobs, grades, highest)


class SortedRun:
    """What of a run's ranking by concepts stays the same under every truth of its items."""

    def __init__(self, run: LabelMatrix) -> None:
        self.order = _tie_order(run.items)
        scores = run.labels if run.is_binary else run.confidences
        self.concepts: _core.ConceptOrder | None = None
        # Where it is sparse, or so large that it would not be held as well, each truth sorts it.
        if isinstance(scores, np.ndarray) and scores.size <= MOST_SORTED:
            self.concepts = _core.ConceptOrder(np.asarray(scores, dtype=np.float64), 1)


def _tie_order(items: Sequence[str]) -> NDArray[np.int64]:
    """trec_eval's order among equals: the larger id first."""
    return np.array(sorted(range(len(items)), key=items.__getitem__, reverse=True))


def concept_blocks(
    truth: LabelMatrix,
    run: LabelMatrix,
    cutoffs: tuple[int, ...],
    jobs: int,
    presorted: SortedRun | None = None,
) -> Iterator[ConceptBlock]:
    """All items, some concepts at a time when the matrices are sparse."""
    order = presorted.order if presorted else _tie_order(truth.items)
    ranked = presorted.concepts if presorted else None
    matrices = [truth.labels, run.labels if run.is_binary else run.confidences]
    dense = all(isinstance(m, np.ndarray) for m in matrices)
    width = truth.shape[1] if dense else max(1, RANKED_BLOCK_CELLS // truth.shape[0])
    if not dense:
        truth, run = (
            m.map(lambda x: x if isinstance(x, np.ndarray) else x.tocsc()) for m in (truth, run)
        )
    for start in range(0, truth.shape[1], width):
        true, _ = truth.columns(start, start + width)
        labels, confidences = run.columns(start, start + width)
        if true is None:
            raise NeedsError("the truth has confidences, not labels")
        scores = labels if confidences is None else confidences
        if scores is None:
            raise NeedsError("the run has neither labels nor confidences")
        values = np.asarray(scores, dtype=np.float64)
        grades = None if truth.grades is None else truth.grades[:, start : start + width]
        yield ConceptBlock(true, values, order, cutoffs, jobs, ranked if dense else None, grades)
