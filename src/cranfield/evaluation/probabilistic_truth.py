"""Runs under a truth with probabilities: exact expectations, and draws of the whole truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield.data import Judgements, Run
from cranfield.data.labels import Bools, LabelMatrix
from cranfield.data.tables import cumulative_chances
from cranfield.errors import UsageError
from cranfield.evaluation.category_votes import Distribution, poisson_binomial
from cranfield.evaluation.kernel_plan import KernelPlan, RunValues
from cranfield.evaluation.scores import SMALLEST_FOR_GEOMETRIC_MEAN, Scores
from cranfield.evaluation.truth_uncertainty import MOST_NAMED, UNCHECKED, Doubt, ItemDoubt
from cranfield.io.coerce import LabelsForm, is_file
from cranfield.io.files import FileForm
from cranfield.io.labels import read_labels, resolve_unlisted
from cranfield.io.soft import CATEGORIES, CONCEPTS, is_soft, read_soft_truth
from cranfield.measures.base import Measure
from cranfield.measures.labels.blocks import (
    MOST_SORTED,
    PerRankedConcept,
    SortedRun,
    item_blocks,
)
from cranfield.measures.ranked.kernel_calls import KernelCall
from cranfield.notes import Progress

if TYPE_CHECKING:
    from cranfield.evaluation.kernel_plan import Settings
    from cranfield.evaluation.labels import LabelTask
    from cranfield.evaluation.ranked import RankedTask

Floats = NDArray[np.float64]
DEFAULT_DRAWS = 1000
# Kernels to which every retrieved item adds by itself.
LINEAR = ("precision_at", "dcg", "rbp", "num_rel_ret", "set_precision", "num_nonrel_judged_ret")
# Those of recall: the relevant items within a rank, out of all that are relevant.
RECALL = ("recall_at", "set_recall")
# Beyond so many rankings the exact distribution of recall takes longer than the draws.
MOST_EXACT = 1000


def is_sure(judgements: Judgements) -> bool:
    """Whether every probability of a truth is 0 or 1."""
    return judgements.chances is None or bool((judgements.chances.max(axis=1) == 1.0).all())


def _entries(judgements: Judgements) -> Judgements:
    """The same items, each with its position among those of its topic for a grade."""
    offsets = np.asarray(judgements.offsets)
    within = np.arange(len(judgements)) - np.repeat(offsets[:-1], np.diff(offsets))
    return replace(judgements, values=within.astype(np.float64), levels=None, chances=None)


def _ranks(entries: Judgements, run: Run, settings: Settings, jobs: int) -> _core.RunArrays:
    return _core.judged_ranks(
        entries.index,
        list(run.topics),
        *run.buffers,
        settings.ties,
        settings.judged_only,
        settings.max_items,
        jobs,
        False,
    )


def entry_ranks(judgements: Judgements, run: Run, settings: Settings, jobs: int) -> _core.RunArrays:
    """Where the judged items of each topic stand in a run, by their position in the topic."""
    return _ranks(_entries(judgements), run, settings, jobs)


@dataclass(frozen=True, slots=True)
class _Truth:
    """The columns of a truth with probabilities as the core takes them."""

    judgements: Judgements
    entries: Judgements
    offsets: NDArray[np.int64]
    levels: Floats
    chances: Floats
    upto: Floats

    @classmethod
    def of(cls, judgements: Judgements) -> _Truth:
        if judgements.chances is None or judgements.levels is None:
            raise UsageError("the truth has no probabilities")
        offsets = np.ascontiguousarray(judgements.offsets, dtype=np.int64)
        entries = _entries(judgements)
        levels, chances = np.ascontiguousarray(judgements.levels), judgements.chances
        return cls(judgements, entries, offsets, levels, chances, cumulative_chances(chances))

    def ranks(self, run: Run, settings: Settings, jobs: int) -> _core.RunArrays:
        """Where the judged items stand in a run."""
        return _ranks(self.entries, run, settings, jobs)

    def at_least(self, level: float) -> Floats:
        """The probability of each row that its grade reaches a level."""
        reached: Floats = self.chances[:, self.levels >= level].sum(axis=1)
        return reached


def check_task(settings: Settings, kernel_plan: KernelPlan) -> None:
    """A UsageError for what draws of a truth cannot do."""
    if settings.ties not in ("id", "file"):
        raise UsageError(
            f"ties={settings.ties!r} and a truth with probabilities do not go together"
        )
    for need in ("strata", "subtopics"):
        if columns := kernel_plan.columns_of(need):
            names = ", ".join(
                str(m) for m in kernel_plan.measures if kernel_plan.column[m] in columns
            )
            raise UsageError(f"{names}: judgements with probabilities have no {need}")


def score_sampled_truths(
    task: RankedTask,
    runs: Sequence[Run],
    results: Sequence[RunValues],
    scores: Scores,
    *,
    draws: int,
    seed: int,
    jobs: int,
    progress: Progress,
) -> Scores:
    """Scores with the expected values in place of those of the most probable truth."""
    check_task(task.settings, task.kernel_plan)
    if is_sure(task.judgements):
        return replace(scores, doubt=_none(scores, draws, seed))
    truth = _Truth.of(task.judgements)
    counter = _core.Progress()
    progress.watch(counter)
    arrays: list[_core.RunArrays] = []
    for run, values in zip(runs, results, strict=True):
        offsets, ranks, entries, retrieved, _ = truth.ranks(run, task.settings, jobs)
        counted = np.frombuffer(task.counted(values), dtype=np.uint8)
        arrays.append((offsets, ranks, entries, retrieved, counted))
    sample = progress.during(lambda: _TruthSamples(task, truth, arrays, draws, seed, jobs, counter))
    progress(1.0)
    return sample.scores(scores, results)


def _none(scores: Scores, draws: int, seed: int) -> Doubt:
    """The doubt of a truth that has none."""
    runs = len(scores.runs)
    return Doubt(
        draws,
        seed,
        {m: np.asarray(scores.overall[m])[:, None] for m in scores.measures},
        {m: np.zeros(runs) for m in scores.measures},
        {m: np.where(np.isnan(v := scores.values[m]), v, 0.0) for m in scores.measures},
        tuple(map(str, scores.measures)),
    )


class _TruthSamples:
    """The draws of a truth and what every run scores under them."""

    def __init__(
        self,
        task: RankedTask,
        truth: _Truth,
        runs: list[_core.RunArrays],
        draws: int,
        seed: int,
        jobs: int,
        counter: _core.Progress,
    ) -> None:
        self.task, self.truth, self.runs = task, truth, runs
        self.draws, self.seed = draws, seed
        kernel_plan = task.kernel_plan
        self.calls = [(call.name, list(call.params)) for call in kernel_plan.calls]
        self.watched = [kernel_plan.column[m] for m in kernel_plan.measures]
        arrays_drawn = _core.draw_scores(
            truth.offsets,
            truth.levels,
            truth.upto,
            runs,
            self.calls,
            list(kernel_plan.guards.items()),
            self.watched,
            task.order,
            seed % 2**64,
            0,
            draws,
            SMALLEST_FOR_GEOMETRIC_MEAN,
            [(c, *part) for c, call in enumerate(kernel_plan.calls) for part in call.largest],
            jobs,
            counter,
        )
        self.sums, self.logarithms, self.defined, self.first = arrays_drawn[:4]
        self.topic_sums, self.topic_squares, self.topic_defined = arrays_drawn[4:7]
        self.effect_counts, self.effect_sums = arrays_drawn[7:]

    def scores(self, scores: Scores, results: Sequence[RunValues]) -> Scores:
        values, variances = self._topics()
        exact = self._exact(values, variances)
        means = {m: self._means(m) for m in scores.measures}
        expected = [
            r._replace(buffer=np.ascontiguousarray(v)) for r, v in zip(results, values, strict=True)
        ]
        expected_scores = self.task.scored(expected)
        overall, spread, units = {}, {}, {}
        for m in scores.measures:
            at = self.task.kernel_plan.column[m]
            run_means = means[m]
            overall[m] = np.asarray(expected_scores.overall[m])
            middle, spread[m] = _moments(run_means)
            units[m] = np.sqrt(variances[:, :, at])
            is_complete = (self.topic_defined[:, :, at] % self.draws == 0).all()
            if m.averaging not in ("mean", "sum") or not is_complete:
                overall[m] = middle
            elif str(m) in exact:
                defined = np.maximum((~np.isnan(values[:, :, at])).sum(axis=1), 1)
                defined = np.ones_like(defined) if m.averaging == "sum" else defined
                spread[m] = np.sqrt(np.nansum(variances[:, :, at], axis=1)) / defined
        doubt = Doubt(self.draws, self.seed, means, spread, units, exact, self._items())
        notes = (*scores.notes, UNCHECKED)
        return replace(
            scores, values=expected_scores.values, overall=overall, doubt=doubt, notes=notes
        )

    def _topics(self) -> tuple[Floats, Floats]:
        """The expected value of each run and topic (and column), and its variance."""
        count = self.topic_defined
        shift = np.where(np.isnan(self.first), 0.0, self.first)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = self.topic_sums / count
            values = np.where(count > 0, shift + mean, np.nan)
            variances = np.where(count > 0, self.topic_squares / count - mean**2, np.nan)
        # Topics that do not count for a run were not drawn; their columns say what they are.
        values = np.where(count > 0, values, self.first)
        return values, np.maximum(variances, 0.0)

    def _exact(self, values: Floats, variances: Floats) -> tuple[str, ...]:
        """Put exact expectations and variances where they are known; for which measures."""
        unsure = np.add.reduceat(
            (self.truth.chances.max(axis=1) < 1.0).astype(int), self.truth.offsets[:-1]
        )
        unsure[np.diff(self.truth.offsets) == 0] = 0
        places = np.flatnonzero(unsure > 0)
        names = []
        kernel_plan = self.task.kernel_plan
        linear = [m for m in kernel_plan.measures if self._call(m).name in LINEAR]
        recall = [m for m in kernel_plan.measures if self._call(m).name in RECALL]
        if len(self.runs) * len(places) > MOST_EXACT:
            recall = []
        for i, run in enumerate(self.runs):
            if linear:
                calls = [self.calls[kernel_plan.column[m]] for m in linear]
                mean, spread = _core.expected_sums(
                    self.truth.offsets, self.truth.levels, self.truth.upto, run, calls
                )
                for k, m in enumerate(linear):
                    at = kernel_plan.column[m]
                    defined = places[~np.isnan(values[i, places, at])]
                    values[i, defined, at] = mean[defined, k]
                    variances[i, defined, at] = spread[defined, k]
            for m in recall:
                at = kernel_plan.column[m]
                for t in places:
                    if not np.isnan(values[i, t, at]):
                        distribution = _recall(self.truth, run, int(t), self._call(m))
                        values[i, t, at], variances[i, t, at] = (
                            distribution.mean,
                            distribution.variance,
                        )
        names = [str(m) for m in kernel_plan.measures if m in linear or m in recall]
        return tuple(names)

    def _call(self, measure: Measure) -> KernelCall:
        return self.task.kernel_plan.calls[self.task.kernel_plan.column[measure]]

    def _means(self, measure: Measure) -> Floats:
        """The value over topics of each run in each draw."""
        at = self.task.kernel_plan.column[measure]
        total, count = self.sums[:, :, at], self.defined[:, :, at]
        with np.errstate(invalid="ignore", divide="ignore"):
            if measure.averaging == "micro":
                below = self.sums[:, :, at + 2]
                return np.where(below > 0, self.sums[:, :, at + 1] / below, np.nan)
            if measure.averaging == "sum":
                return np.array(total)
            if measure.averaging == "geometric":
                return np.where(count > 0, np.exp(self.logarithms[:, :, at] / count), np.nan)
            return np.where(count > 0, total / count, np.nan)

    def _items(self) -> tuple[ItemDoubt, ...]:
        """The items whose grades move the measures most, from the draws that gave them each."""
        counts = self.effect_counts[:, :, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(counts > 0, self.effect_sums / counts, 0.0)
        share = counts / self.draws
        centre = (share * mean).sum(axis=1, keepdims=True)
        between = (share * (mean - centre) ** 2).sum(axis=1)
        # Means of few draws differ by chance alone: what that gives is taken off.
        within = self._within()
        levels = (self.effect_counts > 0).sum(axis=1) - 1
        rows = np.searchsorted(self.truth.offsets, np.arange(len(between)), side="right") - 1
        between = np.maximum(
            between - np.maximum(levels, 0)[:, None] * within[rows] / self.draws, 0
        )
        item_doubts = []
        table = self.truth.judgements
        for k, m in enumerate(self.task.kernel_plan.measures):
            total = float(within[:, k].sum())
            for row in np.argsort(-between[:, k], kind="stable")[:MOST_NAMED]:
                if total > 0 and between[row, k] > 0:
                    part = min(float(between[row, k]) / total, 1.0)
                    item_doubts.append(
                        ItemDoubt(str(m), table.topics[rows[row]], table.item(int(row)), part)
                    )
        return tuple(item_doubts)

    def _within(self) -> Floats:
        """The variance of the mean over runs of each topic, of each measure: topics x measures."""
        variances = np.zeros((len(self.truth.offsets) - 1, len(self.watched)))
        offsets = self.truth.offsets
        for t in range(len(offsets) - 1):
            rows = slice(int(offsets[t]), int(offsets[t + 1]))
            unsure = np.flatnonzero(self.effect_counts[rows].sum(axis=1) > 0)
            if not len(unsure):
                continue
            # Every draw gave each unsure item one level: any of them has the sum of all draws.
            at = self.watched
            spread = self.topic_squares[:, t, at] / self.draws
            spread = spread - (self.topic_sums[:, t, at] / self.draws) ** 2
            variances[t] = np.maximum(spread, 0.0).mean(axis=0)
        return variances


def _moments(samples: Floats) -> tuple[Floats, Floats]:
    """The mean and standard deviation of rows over the draws that have a value; equal values
    have themselves for their mean, to the last bit."""
    defined = ~np.isnan(samples)
    count = np.maximum(defined.sum(axis=1), 1)
    first = np.where(defined, samples, -np.inf).max(axis=1)
    first = np.where(defined.any(axis=1), first, np.nan)
    less = np.where(defined, samples - first[:, None], 0.0)
    mean = less.sum(axis=1) / count
    variance = (less**2).sum(axis=1) / count - mean**2
    return first + mean, np.sqrt(np.maximum(variance, 0.0))


def _recall(truth: _Truth, run: _core.RunArrays, topic: int, call: KernelCall) -> Distribution:
    """The exact distribution of the share of relevant items that a ranking has within a rank."""
    level = call.params[0]
    depth = call.params[1] if len(call.params) > 1 else np.inf
    chance = truth.at_least(level)[truth.offsets[topic] : truth.offsets[topic + 1]]
    hits = slice(int(run[0][topic]), int(run[0][topic + 1]))
    retrieved = run[2][hits][run[1][hits] <= depth]
    inside = poisson_binomial(chance[retrieved])
    outside = poisson_binomial(np.delete(chance, retrieved))
    ours, others = np.arange(len(inside))[:, None], np.arange(len(outside))[None, :]
    share = ours / np.maximum(ours + others, 1)
    values, at = np.unique(share.ravel(), return_inverse=True)
    mass = np.bincount(at, weights=(inside[:, None] * outside[None, :]).ravel())
    return Distribution(values, mass.astype(np.float64))


def exact_distribution(
    judgements: Any, run: Any, measure: str, *, ties: str = "id"
) -> dict[str, Distribution]:
    """The exact distribution of P@k, R@k, SetP or SetR of every topic, under a truth with
    probabilities: relevant items are a sum of independent chances.

    >>> truth = {"t": {"a": {0: 0.5, 1: 0.5}, "b": {1: 1.0}}}
    >>> chances = exact_distribution(truth, {"t": {"a": 2.0, "b": 1.0}}, "P@2")["t"]
    >>> chances.values.tolist(), chances.mass.tolist()
    ([0.0, 0.5, 1.0], [0.0, 0.5, 0.5])
    """
    from cranfield.evaluation.kernel_plan import Settings
    from cranfield.evaluation.ranked import RankedTask
    from cranfield.io.coerce import coerce_run

    task = RankedTask(judgements, measure)
    truth = _Truth.of(task.judgements)
    call = task.kernel_plan.calls[task.kernel_plan.column[task.measures[0]]]
    if call.name not in (*RECALL, "precision_at", "set_precision"):
        raise UsageError(f"{measure} has no exact distribution; P@k, R@k, SetP and SetR have")
    arrays = truth.ranks(coerce_run(run, "run"), Settings(ties), 1)  # type: ignore[arg-type]
    distributions = {}
    for t, topic in enumerate(task.judgements.topics):
        if call.name in RECALL:
            distributions[topic] = _recall(truth, arrays, t, call)
            continue
        chance = truth.at_least(call.params[0])[truth.offsets[t] : truth.offsets[t + 1]]
        hits = slice(int(arrays[0][t]), int(arrays[0][t + 1]))
        seen = float(arrays[3][t]) if call.name == "set_precision" else call.params[1]
        inside = arrays[2][hits][arrays[1][hits] <= seen]
        mass = poisson_binomial(chance[inside])
        distributions[topic] = Distribution(np.arange(len(mass)) / max(seen, 1.0), mass)
    return distributions


LABEL_DRAWS = 200
# The measure that is a sum over labels, each by itself.
HAMMING_LOSS = "HammingLoss"


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


def likely_truth(source: FileForm, unlisted: str | None = None) -> LabelMatrix:
    """The labels of a file, the most probable ones where it has probabilities."""
    truth, exclusive = soft_file(source)
    if exclusive is None:
        return resolve_unlisted(read_labels(source, unjudged=True), unlisted)
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
        exact = [m for m in scores.measures if m.name == HAMMING_LOSS]
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
