"""Annotations under a truth with probabilities: draws of the labels of all items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from cranfield import _core
from cranfield.data.labels import Bools, Floats, LabelMatrix
from cranfield.evaluation.scores import Scores
from cranfield.evaluation.truth_uncertainty import UNCHECKED, Doubt
from cranfield.io.coerce import LabelsForm, is_file
from cranfield.io.files import FileForm
from cranfield.io.labels import read_labels
from cranfield.io.soft import CATEGORIES, CONCEPTS, is_soft, read_soft_truth
from cranfield.measures.base import Measure
from cranfield.measures.labels.blocks import (
    MOST_SORTED,
    PerRankedConcept,
    SortedRun,
    item_blocks,
)
from cranfield.notes import Progress

if TYPE_CHECKING:
    from cranfield.evaluation.labels import LabelTask

DEFAULT_DRAWS = 200
# The measure that is a sum over labels, each by itself.
LINEAR = "HammingLoss"


@dataclass(frozen=True, eq=False)
class SoftLabels:
    """The probability of every concept of every item.

    Concepts are independent of one another, or of `exclusive` ones each item has exactly one.
    """

    matrix: LabelMatrix
    exclusive: bool = False

    @property
    def chances(self) -> Floats:
        """Items x concepts."""
        cells: Any = self.matrix.confidences
        if cells is None:
            cells = self.matrix.labels
        return np.asarray(cells.toarray() if hasattr(cells, "toarray") else cells, dtype=np.float64)

    def likely(self) -> LabelMatrix:
        """The most probable truth."""
        chances = self.chances
        if self.exclusive:
            labels = np.zeros(chances.shape, dtype=bool)
            labels[np.arange(len(chances)), chances.argmax(axis=1)] = True
        else:
            labels = chances > 0.5
        return replace(self.matrix, labels=labels, confidences=None)

    def drawn(self, seed: int, draw: int, jobs: int = 1) -> Bools:
        """One truth; it depends on nothing but the seed, its number and the probabilities."""
        return next(self.draws(seed, range(draw, draw + 1), jobs))

    def draws(self, seed: int, numbers: Iterable[int], jobs: int = 1) -> Iterator[Bools]:
        """Truths, one after the other."""
        chances = np.ascontiguousarray(self.chances)
        for draw in numbers:
            yield _core.draw_labels(chances, self.exclusive, seed, draw, jobs).view(np.bool_)

    def of(self, truth: LabelMatrix) -> SoftLabels:
        """The same probabilities over the items and concepts of a truth, in its order."""
        if (truth.items, truth.concepts) == (self.matrix.items, self.matrix.concepts):
            return self
        rows = {item: i for i, item in enumerate(self.matrix.items)}
        columns = {concept: i for i, concept in enumerate(self.matrix.concepts)}
        chances = np.zeros(truth.shape)
        for j, concept in enumerate(truth.concepts):
            if concept in columns:
                column = self.chances[:, columns[concept]]
                chances[:, j] = column[[rows[item] for item in truth.items]]
        return SoftLabels(replace(truth, labels=None, confidences=chances), self.exclusive)


def soft_file(truth: LabelsForm) -> tuple[LabelsForm, bool | None]:
    """A file of probabilities read, and whether its concepts exclude each other; else None."""
    if is_file(truth) and is_soft(truth, CONCEPTS, CATEGORIES):
        return read_soft_truth(truth)
    return truth, None


def likely_truth(source: FileForm) -> LabelMatrix:
    """The labels of a file, the most probable ones where it has probabilities."""
    truth, exclusive = soft_file(source)
    if exclusive is None:
        return read_labels(source)
    return SoftLabels(LabelMatrix.of(truth, name="truth"), exclusive).likely()


def score_sampled_labels(
    task: LabelTask,
    runs: Sequence[LabelMatrix],
    scores: Scores,
    *,
    draws: int,
    seed: int,
    jobs: int,
    progress: Progress,
) -> Scores:
    """The expected scores of aligned runs, and how far they are sure."""
    soft = task.chances
    if soft is None:
        raise ValueError("the truth of this task has no probabilities")
    chances = soft.chances
    certain = bool(((chances == 0) | (chances == 1)).all())
    scores = expected_scores(
        task,
        soft,
        runs,
        scores,
        draws=1 if certain else draws,
        seed=seed,
        jobs=jobs,
        progress=progress,
    )
    return scores if certain else replace(scores, notes=(*scores.notes, UNCHECKED))


class DrawnTruths(Protocol):
    """Whole truths that what is known allows, by the seed and their numbers."""

    def draws(self, seed: int, numbers: Iterable[int], jobs: int = 1) -> Iterator[Bools]: ...


def expected_scores(
    task: LabelTask,
    truths: DrawnTruths,
    runs: Sequence[LabelMatrix],
    scores: Scores,
    *,
    draws: int,
    seed: int,
    jobs: int,
    progress: Progress,
) -> Scores:
    """Means of the scores of aligned runs over draws of the truth, with their spread."""
    tallies = {m: _Tally(len(runs), draws) for m in scores.measures}
    for first, last in _together(task, runs):
        step = progress.part(first / len(runs), last / len(runs))
        drawn = truths.draws(seed, range(draws), jobs)
        _score_draws(task, drawn, runs, (first, last), tallies, draws, jobs, step)
    progress(1.0)
    values = {m: tally.expected() for m, tally in tallies.items()}
    spreads = {m: tally.unit_spread() for m, tally in tallies.items()}
    exact: list[Measure] = []
    if isinstance(truths, SoftLabels):
        exact = [m for m in scores.measures if m.name == LINEAR]
        for m in exact:
            for r, run in enumerate(runs):
                values[m][r], spreads[m][r] = _hamming(task, truths, run, jobs)
    overall, spread = _over_items(scores, tallies, values, spreads, exact)
    doubt = Doubt(
        draws,
        seed,
        {m: tally.whole for m, tally in tallies.items()},
        spread,
        spreads,
        tuple(map(str, exact)),
    )
    left_out = {m: tuple(np.isnan(v).sum(axis=1).tolist()) for m, v in values.items()}
    return replace(
        scores,
        values=values,
        overall=overall,
        doubt=doubt,
        left=left_out,
        run_facts=_with_left_out(scores, left_out),
    )


def _with_left_out(
    scores: Scores, left_out: Mapping[Measure, tuple[int, ...]]
) -> tuple[Mapping[str, Any], ...]:
    """What is said of each run, with the concepts that have no value under any draw."""
    run_facts = []
    for r, facts in enumerate(scores.run_facts):
        concept_facts = dict(facts["concepts"])
        concept_facts["left_out"] = {
            str(m): n[r] for m, n in left_out.items() if str(m) in concept_facts["left_out"]
        }
        run_facts.append({**facts, "concepts": concept_facts})
    return tuple(run_facts)


def _together(task: LabelTask, runs: Sequence[LabelMatrix]) -> Iterator[tuple[int, int]]:
    """Runs that are scored under all draws together: what is kept of them to sort each only once
    has its limit, and the same truths are drawn again for the next ones."""
    if not _sorts(task):
        yield 0, len(runs)
        return
    first, cells = 0, 0
    for r, run in enumerate(runs):
        size = run.shape[0] * run.shape[1]
        if r > first and cells + size > MOST_SORTED:
            yield first, r
            first, cells = r, 0
        cells += size
    yield first, len(runs)


def _sorts(task: LabelTask) -> bool:
    return any(isinstance(plan, PerRankedConcept) for plan in task.plans.values())


def _score_draws(
    task: LabelTask,
    truths: Iterable[Bools],
    runs: Sequence[LabelMatrix],
    between: tuple[int, int],
    tallies: Mapping[Measure, _Tally],
    draws: int,
    jobs: int,
    progress: Progress,
) -> None:
    """Some of the runs under every draw; what of a run does not change with the truth is sorted
    once."""
    from cranfield.evaluation.labels import score_run

    run_numbers = range(*between)
    presorted = {r: SortedRun(runs[r]) if _sorts(task) else None for r in run_numbers}
    for d, labels in enumerate(truths):
        progress(d / draws)
        truth = replace(task.truth, labels=labels, confidences=None)
        for r in run_numbers:
            results = score_run(task.plans, truth, runs[r], task.knowledge, jobs, presorted[r])
            for m, (by_unit, overall) in results.items():
                tallies[m].add(r, d, by_unit, overall)


def _over_items(
    scores: Scores,
    tallies: Mapping[Measure, _Tally],
    values: Mapping[Measure, Floats],
    spreads: Mapping[Measure, Floats],
    exact: Sequence[Measure],
) -> tuple[dict[Measure, Floats], dict[Measure, Floats]]:
    """The expected value of every run, and its spread."""
    overall, spread = {}, {}
    for m in scores.measures:
        overall[m], spread[m] = tallies[m].over_draws()
        if m in exact:
            overall[m] = values[m].mean(axis=1)
            spread[m] = np.sqrt((spreads[m] ** 2).sum(axis=1)) / values[m].shape[1]
    return overall, spread


def _hamming(
    task: LabelTask, soft: SoftLabels, run: LabelMatrix, jobs: int
) -> tuple[Floats, Floats]:
    """The expected part of wrong labels of each item, and its standard deviation."""
    parts = [np.asarray(b.labels) for b in item_blocks(task.truth, run, task.knowledge, jobs)]
    predicted, chances = np.concatenate(parts), soft.chances
    wrong = np.where(predicted, 1.0 - chances, chances)
    if soft.exclusive:
        # The one that is true adds a mistake where it was not said, and else takes one away.
        change = np.where(predicted, -1.0, 1.0)
        variance = chances.sum(axis=1) - (chances * change).sum(axis=1) ** 2
    else:
        variance = (chances * (1.0 - chances)).sum(axis=1)
    spread: Floats = np.sqrt(np.maximum(variance, 0.0)) / chances.shape[1]
    return wrong.mean(axis=1), spread


class _Tally:
    """The values of one measure over draws, added up less those of the first draw."""

    def __init__(self, runs: int, draws: int) -> None:
        self.whole = np.full((runs, draws), np.nan)
        self._first: list[Floats] = [np.empty(0)] * runs
        self._sums: list[Floats] = [np.empty(0)] * runs
        self._squares: list[Floats] = [np.empty(0)] * runs
        self._counts: list[Floats] = [np.empty(0)] * runs

    def add(self, run: int, draw: int, values: Floats, overall: float) -> None:
        self.whole[run, draw] = overall
        if draw == 0:
            self._first[run] = np.nan_to_num(values)
            for table in (self._sums, self._squares, self._counts):
                table[run] = np.zeros(len(values))
        defined = ~np.isnan(values)
        less = np.where(defined, values - self._first[run], 0.0)
        self._sums[run] += less
        self._squares[run] += less**2
        self._counts[run] += defined

    def over_draws(self) -> tuple[Floats, Floats]:
        """The mean of every run and its spread, over the draws under which it has a value."""
        overall = self.whole
        defined = ~np.isnan(overall)
        if defined.all():
            return overall[:, 0] + (overall - overall[:, :1]).mean(axis=1), overall.std(axis=1)
        count = defined.sum(axis=1)
        first = np.where(defined, overall, -np.inf).max(axis=1)
        first = np.where(count > 0, first, np.nan)
        less = np.where(defined, overall - first[:, None], 0.0)
        mean = less.sum(axis=1) / np.maximum(count, 1)
        away = np.where(defined, less - mean[:, None], 0.0)
        spread = np.sqrt((away**2).sum(axis=1) / np.maximum(count, 1))
        return first + mean, np.where(count > 0, spread, np.nan)

    def expected(self) -> Floats:
        count = np.stack(self._counts)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.stack(self._first) + np.stack(self._sums) / count
        return np.where(count > 0, mean, np.nan)

    def unit_spread(self) -> Floats:
        count = np.stack(self._counts)
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = np.stack(self._squares) / count - (np.stack(self._sums) / count) ** 2
        return np.where(count > 0, np.sqrt(np.maximum(variance, 0.0)), np.nan)
