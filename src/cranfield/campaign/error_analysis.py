"""Error analysis: where runs fail, where they disagree, what they gain and lose, what they mix up.

Everything is said of the topics, items or concepts that a measure speaks of.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield.campaign.results.results_data import Cell, Link, ResultColumn, ResultPart
from cranfield.campaign.scoring import only_kind, score_collection, scored_truth, task_options
from cranfield.campaign.views import View, count, text
from cranfield.data.collection import Kind
from cranfield.errors import NeedsError, check_counts
from cranfield.evaluation.explanations import BINS, Mistakes, score_with_mistakes
from cranfield.evaluation.inputs import LABEL_OPTIONS, EvaluationInput
from cranfield.evaluation.losses import BROKEN, KINDS, MISSED, WRONG, LossPart, RunLoss
from cranfield.evaluation.scores import Scores, hardest
from cranfield.io.collection import read_collection
from cranfield.measures import Measure
from cranfield.notes import Progress, with_progress
from cranfield.validation import validate_params

if TYPE_CHECKING:
    from cranfield.notes import Watcher

SHOWN = 10


@dataclass(frozen=True, repr=False, eq=False)
class ErrorAnalysis(View):
    """Where runs fail: a table per question."""

    command: ClassVar[str] = "errors"
    table_maker: ClassVar[str] = "cranfield.report.tables.campaign:results_document"


@validate_params
def analyse_errors(
    scores: Scores,
    *,
    measure: Measure | str | None = None,
    baseline: str | None = None,
    shown: int | None = SHOWN,
    mistakes: Mistakes | None = None,
    items: bool = True,
) -> ErrorAnalysis:
    """The hardest topics, those where runs disagree, and gains and losses against a baseline.

    With `mistakes` also the concepts that are confused most, wrong labels by confidence, and what
    the loss of each run is made of under measures with costs or a hierarchy: broken rules, wrong
    and missed labels, pairs of concepts. Single items are named only with `items`. `shown` is the
    length of every table, None for all.

    >>> from cranfield import evaluate
    >>> truth = {"t1": {"a": 1}, "t2": {"b": 1}}
    >>> runs = {"x": {"t1": {"a": 1.0}, "t2": {"c": 1.0}}, "y": {"t1": {"a": 1.0}}}
    >>> analyse_errors(evaluate(truth, runs, "AP")).part("hardest").column("topic")
    ['t2', 't1']
    """
    check_counts(shown=shown)
    scored_measure = scores.measures[0] if measure is None else scores.measure_named(str(measure))
    if scored_measure not in scores.values or scores.unit_of[scored_measure] == "whole":
        raise NeedsError(f"{scored_measure} has no values of single topics, items or concepts here")
    table = _Table(scores, scored_measure, shown)
    parts = [table.hardest(), *table.disagreement()]
    if baseline is not None:
        parts += table.changes(baseline)
    if mistakes is not None:
        losses = [loss for loss in mistakes.losses if loss.run in scores.runs]
        parts += _lost(losses, shown)
        parts += _mistaken(mistakes, shown, items=items)
    return ErrorAnalysis(
        name="errors",
        title=f"Where runs fail, by {scored_measure}",
        source="",
        parts=tuple(parts),
        facts={
            "measure": str(scored_measure),
            "unit": scores.unit_of[scored_measure],
            "runs": len(scores.runs),
            "baseline": baseline,
        },
        verdict=tuple(_verdict(scores, scored_measure, parts)),
        notes=scores.notes,
    )


@validate_params
@with_progress
def find_errors(
    files: Sequence[Any],
    truth: Any = None,
    *,
    kind: Kind | None = None,
    measures: Any = None,
    baseline: str | None = None,
    shown: int | None = SHOWN,
    jobs: int | None = None,
    progress: Watcher | None = None,
    **options: Any,
) -> ErrorAnalysis:
    """The error analysis of runs of either kind, of saved scores, or of a collection's folder.

    `files` are the judgements and runs, with `truth` the runs alone, or one folder, whose runs
    are those of `kind`, or of the kind that the measures have. `options` are those of `evaluate`
    and `evaluate_labels`. The first measure counts.
    """
    execution: dict[str, Any] = {"jobs": jobs, "progress": progress}
    mistakes = None
    if len(files) == 1 and truth is None and Path(str(files[0])).is_dir():
        collection = read_collection(files[0])
        task = only_kind(collection, kind, measures)
        part = collection.part(task)
        baseline = baseline or part.baseline or None
        if task == "labels":
            label_options = {k: v for k, v in options.items() if k in LABEL_OPTIONS and v}
            settings = task_options(collection, task) | label_options
            measure_names = measures or list(part.measures) or None
            place = scored_truth(collection, "labels")
            scores, mistakes = score_with_mistakes(
                place, part.runs, measure_names, **execution, **settings
            )
        else:
            scores = score_collection(collection, task, measures=measures, **execution)
    else:
        subject = EvaluationInput.of(files, truth, **options)
        if subject.kind == "labels":
            arguments = dict(subject.options)
            place, runs = arguments.pop("truth"), arguments.pop("runs")
            scores, mistakes = score_with_mistakes(place, runs, measures, **execution, **arguments)
        else:
            scores = subject.scores(measures, jobs or 1, Progress.of(progress))
    return analyse_errors(scores, baseline=baseline, shown=shown, mistakes=mistakes)


class _Table:
    """The values of a measure, and listings of its units."""

    def __init__(self, scores: Scores, measure: Measure, limit: int | None) -> None:
        self.scores, self.measure, self.shown = scores, measure, limit
        self.unit: Link = scores.unit_of[measure]  # type: ignore[assignment]
        self.names = scores.units[self.unit]
        self.values: NDArray[np.float64] = np.asarray(scores.values[measure], dtype=np.float64)
        self.sign = -1.0 if measure.higher_is_better is False else 1.0
        self.places = 0 if measure.averaging == "sum" else 4
        self.known = np.flatnonzero(~np.isnan(self.values).all(axis=0))

    def hardest(self) -> ResultPart:
        """Units by the best value that any run reaches there, the worst first."""
        best, mean, run_at = self._ends(1.0), self._mean(), self._holder(1.0)
        worst = self._ends(-1.0)
        order = sorted(
            self.known.tolist(),
            key=lambda j: (self.sign * best[j], self.sign * mean[j], j),
        )
        rows: list[tuple[Cell, ...]] = [
            (self.names[j], float(best[j]), run_at[j], float(mean[j]), float(worst[j]))
            for j in order[: self.shown]
        ]
        columns = (
            text(self.unit, link=self.unit),
            self._number("best", f"best {self.measure}"),
            text("best_run", "by", "run"),
            self._number("mean", "mean of runs"),
            self._number("worst"),
        )
        note = f"{self.unit}s by the best value of any run, the worst first"
        return ResultPart("hardest", f"Hardest {self.unit}s", columns, tuple(rows), (note,))

    def disagreement(self) -> Iterator[ResultPart]:
        """Units on which the values of runs lie furthest apart."""
        if len(self.scores.runs) < 2:
            return
        spread = np.full(len(self.names), np.nan)
        filled = np.sum(~np.isnan(self.values), axis=0)
        several = np.flatnonzero(filled > 1)
        spread[several] = np.nanstd(self.values[:, several], axis=0)
        order = sorted(several.tolist(), key=lambda j: (-spread[j], j))
        high, low = self._holder(1.0), self._holder(-1.0)
        best, worst = self._ends(1.0), self._ends(-1.0)
        rows: list[tuple[Cell, ...]] = [
            (self.names[j], float(spread[j]), float(best[j]), high[j], float(worst[j]), low[j])
            for j in order[: self.shown]
        ]
        columns = (
            text(self.unit, link=self.unit),
            self._number("spread", "std. dev."),
            self._number("best"),
            text("best_run", "by", "run"),
            self._number("worst"),
            text("worst_run", "by", "run"),
        )
        note = f"std. dev.: of {self.measure} over the runs"
        title = f"{self.unit.capitalize()}s where runs disagree"
        yield ResultPart("disagreement", title, columns, tuple(rows), (note,))

    def changes(self, baseline: str) -> Iterator[ResultPart]:
        """The largest gains and losses of any run against a baseline."""
        at = self.scores.index_of(baseline)
        gap = self.values - self.values[at]
        gap[at] = np.nan
        better = np.where(np.isnan(gap), 0.0, self.sign * gap)
        for name, title, turn in (
            ("gains", "Largest gains against", 1.0),
            ("losses", "Largest losses against", -1.0),
        ):
            flat = turn * better.ravel()
            order = np.argsort(-flat, kind="stable")
            order = order[flat[order] > 0][: self.shown]
            rows: list[tuple[Cell, ...]] = []
            for k in order.tolist():
                i, j = divmod(k, len(self.names))
                values = float(self.values[i, j]), float(self.values[at, j])
                rows.append((self.scores.runs[i], self.names[j], *values, float(gap[i, j])))
            columns = (
                text("run", link="run"),
                text(self.unit, link=self.unit),
                self._number("value", str(self.measure)),
                self._number("baseline"),
                self._number("difference"),
            )
            yield ResultPart(name, f"{title} {baseline}", columns, tuple(rows))

    def _number(self, name: str, heading: str = "") -> ResultColumn:
        return ResultColumn(name, heading, places=self.places)

    def _filled(self, turn: float) -> NDArray[np.float64]:
        """Values such that the greatest is the best (turn 1) or the worst (turn -1)."""
        return np.where(np.isnan(self.values), -np.inf, turn * self.sign * self.values)

    def _ends(self, turn: float) -> NDArray[np.float64]:
        ends = self._filled(turn).max(axis=0)
        extremes: NDArray[np.float64] = (
            np.where(np.isinf(ends), np.nan, turn * self.sign * ends) + 0.0
        )
        return extremes

    def _holder(self, turn: float) -> list[str]:
        """Who has the best (worst) value of each unit; how many, where they are several."""
        filled = self._filled(turn)
        top = filled.max(axis=0)
        counts = (filled == top).sum(axis=0)
        first = filled.argmax(axis=0)
        return [
            self.scores.runs[i] if n == 1 else f"{n} runs"
            for i, n in zip(first.tolist(), counts.tolist(), strict=True)
        ]

    def _mean(self) -> NDArray[np.float64]:
        defined = ~np.isnan(self.values)
        total = np.where(defined, self.values, 0.0).sum(axis=0)
        counts = defined.sum(axis=0)
        means: NDArray[np.float64] = np.where(counts > 0, total / np.maximum(counts, 1), np.nan)
        return means


PAIRS_OF_RUN = 3
MADE_OF = (
    "loss: how far the value is from that of a perfect run, divided among the labels at fault; "
    "SRP: a concept that is ranked too high stands in the place of a true one, which is missed"
)


def _lost(losses: Sequence[RunLoss], limit: int | None) -> Iterator[ResultPart]:
    """What the loss of each run is made of, which rules it breaks, and which pairs cost most."""
    if not losses:
        return
    rows: list[tuple[Cell, ...]] = [
        (loss.run, loss.measure, loss.value, loss.loss, *(loss.of(kind) for kind in KINDS))
        for loss in losses
    ]
    columns = (
        text("run", link="run"),
        text("measure"),
        ResultColumn("value"),
        ResultColumn("loss"),
        ResultColumn(BROKEN, "by broken rules"),
        ResultColumn(WRONG, "by wrong labels"),
        ResultColumn(MISSED, "by missed labels"),
    )
    yield ResultPart("loss_parts", "Where the loss comes from", columns, tuple(rows), (MADE_OF,))
    single = len({(loss.run, loss.measure) for loss in losses}) == 1
    each = limit if single or limit is None else min(limit, PAIRS_OF_RUN)
    if any(part.rule for loss in losses for part in loss.parts):
        yield _broken_rules(losses, each)
    yield _costly_pairs(losses, each)


def _broken_rules(losses: Sequence[RunLoss], each: int | None) -> ResultPart:
    rows: list[tuple[Cell, ...]] = []
    for loss in losses:
        of_rule: dict[str, list[LossPart]] = {}
        for part in loss.parts:
            if part.rule:
                of_rule.setdefault(part.rule, []).append(part)
        rules = [
            (math.fsum(p.loss for p in broken), rule, max(p.items for p in broken))
            for rule, broken in of_rule.items()
        ]
        rules.sort(key=lambda rule: (-rule[0], rule[1]))
        rows += [(loss.run, loss.measure, rule, items, cost) for cost, rule, items in rules[:each]]
    columns = (
        text("run", link="run"),
        text("measure"),
        text("rule"),
        count("items", "in items"),
        ResultColumn("loss"),
    )
    note = "a label that breaks several rules is counted to each in equal parts"
    return ResultPart("rules", "Rules that are broken", columns, tuple(rows), (note,))


def _costly_pairs(losses: Sequence[RunLoss], each: int | None) -> ResultPart:
    rows: list[tuple[Cell, ...]] = []
    for loss in losses:
        of_pair: dict[tuple[str, str], list[LossPart]] = {}
        for part in loss.parts:
            if not part.rule:
                of_pair.setdefault((part.true, part.assigned), []).append(part)
        pairs = [
            (math.fsum(p.loss for p in parts), *pair, math.fsum(p.times for p in parts))
            for pair, parts in of_pair.items()
        ]
        pairs.sort(key=lambda pair: (-pair[0], pair[1], pair[2]))
        rows += [
            (loss.run, loss.measure, true, assigned, times, cost)
            for cost, true, assigned, times in pairs[:each]
        ]
    columns = (
        text("run", link="run"),
        text("measure"),
        text("true", link="concept"),
        text("assigned", "assigned instead", "concept"),
        ResultColumn("times", places=1),
        ResultColumn("loss"),
    )
    note = (
        "times: labels that were matched so, in parts where several are equally near; a "
        "concept alone was missed, or wrongly assigned, for nothing in particular"
    )
    return ResultPart("costs", "Concepts that cost most", columns, tuple(rows), (note,))


def _mistaken(mistakes: Mistakes, limit: int | None, *, items: bool) -> Iterator[ResultPart]:
    """Concepts confused most, and wrong labels by confidence."""
    concepts = mistakes.concepts
    flat = mistakes.confused.ravel()
    order = np.argsort(-flat, kind="stable")
    rows: list[tuple[Cell, ...]] = []
    for k in order[flat[order] > 0][:limit].tolist():
        i, j = divmod(k, len(concepts))
        share = 100 * int(flat[k]) / int(mistakes.missed[i])
        rows.append((concepts[i], concepts[j], int(flat[k]), share))
    columns = (
        text("missed", "missed", "concept"),
        text("assigned", "assigned instead", "concept"),
        count("times"),
        ResultColumn("share", "% of its misses", places=1),
    )
    note = (
        "in one item a concept is missed and another one wrongly assigned, counted over the items "
        f"of {mistakes.runs} runs"
    )
    yield ResultPart("confused", "Concepts confused most", columns, tuple(rows), (note,))
    if mistakes.assigned.any():
        yield _by_confidence(mistakes)
    if items and mistakes.worst:
        columns = (
            text("item", link="item"),
            text("concept", link="concept"),
            ResultColumn("confidence"),
            text("run", link="run"),
        )
        surest = [(w.item, w.concept, w.confidence, w.run) for w in mistakes.worst[:limit]]
        yield ResultPart("surest", "Wrong labels of which runs were surest", columns, tuple(surest))


def _by_confidence(mistakes: Mistakes) -> ResultPart:
    rows: list[tuple[Cell, ...]] = []
    for k, (assigned, wrong) in enumerate(
        zip(mistakes.assigned.tolist(), mistakes.wrong.tolist(), strict=True)
    ):
        if assigned:
            ends = k / BINS, (k + 1) / BINS
            rows.append(
                (f"{ends[0]:.1f} to {ends[1]:.1f}", assigned, wrong, 100 * wrong / assigned)
            )
    columns = (
        text("confidence"),
        count("assigned", "labels assigned"),
        count("wrong"),
        ResultColumn("share", "% wrong", places=1),
    )
    return ResultPart("by_confidence", "False positives by confidence", columns, tuple(rows))


def _verdict(scores: Scores, measure: Measure, parts: list[ResultPart]) -> Iterator[str]:
    part_of = {part.name: part for part in parts}
    sentence = hardest(scores, measure)
    if sentence:
        yield sentence
    apart = part_of.get("disagreement")
    if apart is not None and apart.rows and not math.isclose(float(apart.rows[0][1] or 0), 0.0):
        unit, _, best, best_run, worst, worst_run = apart.rows[0]
        yield (
            f"Runs disagree most on {apart.columns[0].name} {unit}: "
            f"from {worst:.4f} ({worst_run}) to {best:.4f} ({best_run})."
        )
    mixed = part_of.get("confused")
    if mixed is not None and mixed.rows:
        missed, assigned, times, _ = mixed.rows[0]
        yield f"Most often {missed} is missed while {assigned} is wrongly assigned: {times} times."
