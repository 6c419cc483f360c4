"""Thresholds chosen on some items, and runs evaluated with them on the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.data.labels import LabelMatrix
from cranfield.errors import InputError, UsageError, plural, suggest
from cranfield.evaluation.label_inputs import coerce_concepts, coerce_truth
from cranfield.evaluation.labels import LabelTask, evaluate_labels
from cranfield.evaluation.scores import Scores
from cranfield.io.coerce import LabelsForm
from cranfield.io.collection import read_items
from cranfield.measures import POOLED
from cranfield.measures.base import Measure
from cranfield.measures.labels.registry import parse_label_measures
from cranfield.notes import Progress, with_progress
from cranfield.registry import split_names
from cranfield.validation import validate_params

if TYPE_CHECKING:
    from cranfield.notes import Watcher

# Thresholds that are tried, at most: beyond them the quantiles of the confidences.
_TRIED = 200
PER = ("run", "concept")


@validate_params
@with_progress
def evaluate_tuned(
    truth: LabelsForm,
    runs: Iterable[Any] | Mapping[str, Any],
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    tune: str | Measure,
    on: str | Path | Sequence[str],
    per: str = "run",
    keep: bool = True,
    jobs: int | None = None,
    progress: Watcher | None = None,
    **options: Any,
) -> Scores:
    """Scores of runs on all items but those of `on`, with thresholds that are the best on these.

    `tune` is the measure to be made best, for one threshold `per` run or one per concept (then
    the measure is one of concepts, such as F.concept). What was tuned on is never reported.
    `options` are those of `evaluate_labels`. The thresholds stand in the notes; runs that bring
    labels of their own keep them.

    >>> truth = {"a": {"Sky"}, "b": set(), "c": {"Sky"}, "d": set()}
    >>> run = {"a": {"Sky": 0.4}, "b": {"Sky": 0.2}, "c": {"Sky": 0.4}, "d": {"Sky": 0.1}}
    >>> evaluate_tuned(truth, {"mine": run}, "F.concept", tune="F.concept", on=["a", "b"]).mean()
    {'mine': {'F.concept': 1.0}}
    """
    goal = _goal(tune, per)
    report_progress = Progress.of(progress)
    matrix, _ = coerce_truth(truth, coerce_concepts(options.get("concepts")))
    tuning_items = _chosen_items(on, matrix)
    tried = LabelTask(_part(matrix, tuning_items.__contains__), [goal], **options)
    tried.check_complete("the choice of a threshold")
    final = LabelTask(_part(matrix, lambda item: item not in tuning_items), measures, **options)
    texts: list[str] = []

    def tuned() -> Iterator[LabelMatrix]:
        for k, run in enumerate(tried.runs(runs)):
            report_progress(k / len(runs) if isinstance(runs, Sized) else 0.0)
            labelled = run
            if run.labels is None:
                threshold, text = _best(
                    tried, _part(run, tuning_items.__contains__), goal, per, jobs
                )
                texts.append(f"{run.name} {text}")
                labelled = run.with_threshold(threshold)
            yield _part(labelled, lambda item: item not in tuning_items)

    scores = final.evaluate(tuned(), keep=keep, jobs=jobs)
    report_progress.finish()
    note = (
        f"thresholds were chosen for {goal} on {plural(len(tuning_items), 'item')}, which are not "
        f"among those evaluated: {'; '.join(texts) or 'none, all runs bring their labels'}"
    )
    return replace(scores, notes=(*scores.notes, note))


def _goal(tune: str | Measure, per: str) -> Measure:
    if per not in PER:
        raise UsageError(f"per={per!r} is not one of {', '.join(PER)}")
    goals = parse_label_measures(tune)
    if len(goals) != 1:
        raise UsageError("thresholds are tuned for one measure")
    goal = goals[0]
    plan = goal.plan(goal)
    if plan.ranked:
        raise UsageError(f"{goal} is a measure of order: no threshold changes it")
    if per == "concept" and plan.unit != "concept":
        raise UsageError(
            f"{goal} has no value per concept; tune one threshold per run, or for a measure such "
            "as F.concept"
        )
    return goal


def _chosen_items(on: str | Path | Sequence[str], truth: LabelMatrix) -> frozenset[str]:
    items = read_items(on) if isinstance(on, str | Path) else tuple(map(str, on))
    truth_items = set(truth.items)
    unknown = next((item for item in items if item not in truth_items), None)
    if unknown is not None:
        raise InputError.single(
            truth.where, f"has no item {unknown!r} to tune on.{suggest(unknown, truth.items)}"
        )
    if not 0 < len(set(items)) < len(truth_items):
        raise UsageError(
            f"thresholds are tuned on some items and runs evaluated on the others: "
            f"{len(set(items))} of {len(truth_items)} leave none"
        )
    return frozenset(items)


def _part(matrix: LabelMatrix, is_member: Callable[[str], bool]) -> LabelMatrix:
    """The rows of some items."""
    rows = [i for i, item in enumerate(matrix.items) if is_member(item)]
    if not rows:
        raise InputError.single(matrix.where, "has none of the items that are asked for")
    return matrix.map(lambda m: m[rows], items=tuple(matrix.items[i] for i in rows))


def _best(
    task: LabelTask, run: LabelMatrix, goal: Measure, per: str, jobs: int | None
) -> tuple[float | dict[str, float], str]:
    """The best threshold or thresholds, and words for them."""
    values = _candidates(run)
    trials = {repr(t): replace(run, name=repr(t)).with_threshold(t) for t in values}
    scores = task.evaluate(trials, jobs=jobs)
    sign = 1.0 if goal.higher_is_better else -1.0
    if per == "run":
        means = np.array([scores.mean()[name][str(goal)] for name in trials], dtype=float)
        best = values[_middle_best(sign * means)]
        return best, f"{best:.6g}"
    table = np.array([scores.values[goal][i] for i in range(len(values))])
    # Concepts that no item shows have no value: any threshold is as good.
    picked = [values[_middle_best(sign * column)] for column in table.T]
    names = dict(zip(task.truth.concepts, picked, strict=True))
    return (
        {c: names.get(c, 0.5) for c in run.concepts},
        f"{min(picked):.6g} to {max(picked):.6g}",
    )


def _middle_best(values: Any) -> int:
    """The middle of the best, so that the threshold stands as far as it can from worse ones."""
    top = np.nanmax(values) if not np.isnan(values).all() else np.nan
    if np.isnan(top):
        return len(values) // 2
    best = np.flatnonzero(values == top)
    return int(best[len(best) // 2])


def _candidates(run: LabelMatrix) -> list[float]:
    """Thresholds between the confidences of a run, and one above all of them."""
    cells: Any = run.confidences
    values = np.unique(cells if isinstance(cells, np.ndarray) else cells.data)
    if len(values) > _TRIED:
        places = np.linspace(0, len(values) - 1, _TRIED).round().astype(int)
        values = values[places]
    between = (values[1:] + values[:-1]) / 2
    # Not 0: it would label every cell of a sparse matrix.
    lowest = [values[0]] if values[0] > 0 else []
    return [float(t) for t in np.unique([*lowest, *between, 1.0])]


_WHERE, _CHANCE = ("executor",), ("draws", "rng")
_KNOWLEDGE = ("ontology", "rules", "costmap", "agreement", "concepts", "threshold", "thresholds")


def label_evaluator(options: dict[str, Any], *, keep: bool) -> tuple[Callable[..., Scores], bool]:
    """The function that answers what is asked, and whether a report can be made of it.

    `options` are those of `evaluate_labels` with `tune`, `on` and `tune_per` of `evaluate_tuned`;
    what the way taken has no use for is taken out of them.
    """
    tune, on, per = (options.pop(name) for name in ("tune", "on", "tune_per"))
    names = split_names(options["measures"] or "")
    if any(map(_is_pooled, names)):
        _only_pooled(options, names)
        from cranfield.evaluation.partly_judged import evaluate_pooled_labels

        return evaluate_pooled_labels, False
    if tune is None:
        return partial(evaluate_labels, keep=keep), True
    if on is None:
        raise UsageError("tune_threshold= needs the items to choose on: on=")

    for name in (*_WHERE, *_CHANCE):
        del options[name]
    return partial(evaluate_tuned, tune=tune, on=on, per=per, keep=keep), False


def _is_pooled(name: str) -> bool:
    """Whether a measure is of truths in which some cells were judged (No 3.3.3)."""
    return name.partition("(")[0] in POOLED


def _only_pooled(options: dict[str, Any], names: list[str]) -> None:
    others = [name for name in names if not _is_pooled(name)]
    if others:
        raise UsageError(
            f"{others[0]} needs every cell of the truth, measures such as infAP.concept those that "
            "were judged: ask for them in two calls"
        )
    if options.pop("unlisted", None) == "absent":
        raise UsageError(f"{names[0]} takes cells that are not listed as not judged")
    for name in (*_WHERE, *_CHANCE, *_KNOWLEDGE):
        if options.pop(name, None) and name in _KNOWLEDGE:
            raise UsageError(f"{name}= has no say in measures of judged cells ({names[0]})")
