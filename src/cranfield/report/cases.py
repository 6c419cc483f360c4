"""The data of a page about runs; every input is read once.

A case holds all that the page shows: scores, their comparison, curves, and what stands behind
the numbers. The sections of the page are then made of data in hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from cranfield._system import usable_cpus
from cranfield.comparison.answer import Comparison
from cranfield.data.labels import LabelMatrix
from cranfield.data.regions import Regions
from cranfield.errors import UsageError
from cranfield.evaluation.explanations import ItemExplanation, explain_item
from cranfield.evaluation.inputs import EvaluationInput, with_baseline
from cranfield.evaluation.labels import LabelTask
from cranfield.evaluation.precision_recall import RECALL_MEASURES, Roc, roc_curves
from cranfield.evaluation.ranked import DEFAULT_MEASURES, RankedTask
from cranfield.evaluation.regions import (
    BoxKinds,
    PlacedBoxes,
    RegionCurves,
    classify_boxes,
    evaluate_regions,
    named_regions,
    placed_boxes,
    region_curves,
    true_regions,
)
from cranfield.evaluation.scores import Scores
from cranfield.io.coerce import JudgementsForm, LabelsForm, RunsForm, coerce_run, name_runs
from cranfield.io.regions import RegionsForm, coerce_regions
from cranfield.measures import parse_measures
from cranfield.measures.parse import listed_measures
from cranfield.measures.regions import wants_masks
from cranfield.notes import Notes, Progress
from cranfield.report.charts.annotation import truth_frequency
from cranfield.report.drilldown import MOST_EXPLAINED, Rankings
from cranfield.report.methods import label_settings, ranked_settings

if TYPE_CHECKING:
    from cranfield.notes import Watcher

MOST_COMPARED = 40
# From which confidence on boxes are drawn.
DRAWN_FROM = 0.5
UNTESTED = "Differences of runs were not tested"
# Options of `evaluate` that say which part of a ranking counts, and in which order.
RANKING_OPTIONS = ("ties", "judged_only", "max_items")


@dataclass(frozen=True)
class ComparedScores:
    """Scores with the comparison that a page shows, or why there is none."""

    scores: Scores
    comparison: Comparison | None
    settings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class RankedCase(ComparedScores):
    """Ranked runs: also precision at levels of recall, and the first items of every topic."""

    curve: Scores | None = None
    rankings: Rankings | None = None


@dataclass(frozen=True)
class LabelCase(ComparedScores):
    """Annotation: also frequencies of concepts, ROC curves, and how each item fares."""

    frequency: Mapping[str, float] | None = None
    curves: Mapping[str, Roc] | None = None
    items: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    explained: tuple[tuple[ItemExplanation, ...], ...] = ()


@dataclass(frozen=True)
class RegionCase(ComparedScores):
    """Boxes: also curves over recall and confidence, and what each box is, for some items."""

    truth: Regions | None = None
    curves: tuple[RegionCurves, ...] = ()
    # The boxes of each run as the truth numbers their items and concepts, and what they are.
    placed: tuple[tuple[PlacedBoxes, BoxKinds], ...] = ()
    least: float = DRAWN_FROM


def case_of(
    subject: EvaluationInput,
    measures: str | None = None,
    *,
    compare: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    progress: Watcher | None = None,
) -> ComparedScores:
    """The case of runs of either kind, or of scores that were saved."""
    if subject.kind == "saved":
        scores, tracker = subject.scores(measures), Progress.of(progress)
        comparison, left_out = compare_for_report(scores, compare, jobs or usable_cpus(), tracker)
        return ComparedScores(scores, comparison, (), left_out)
    common_options: dict[str, Any] = {"compare": compare, "jobs": jobs, "progress": progress}
    make: Any = {"ranked": ranked_case, "labels": label_case, "regions": region_case}[subject.kind]
    case: ComparedScores = make(
        measures=subject.wanted(measures), **common_options, **subject.options
    )
    return case


def ranked_case(
    judgements: JudgementsForm,
    runs: RunsForm,
    measures: Any = DEFAULT_MEASURES,
    *,
    compare: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    progress: Watcher | None = None,
    **options: Any,
) -> RankedCase:
    """The case of ranked runs.

    `options` are those of `evaluate`, `compare` those of a comparison; without the latter all
    pairs are compared where that is possible and the runs are not too many.
    """
    tracker = Progress.of(progress)
    options.pop("executor", None)  # a page is made where its runs are read
    requested = parse_measures(measures)
    # Asked for together, so that each run is read once.
    task = RankedTask(judgements, [*listed_measures(measures), RECALL_MEASURES], **options)
    shown = [m for m in task.measures if m in requested]
    if not shown:  # a task of these measures alone says why
        shown = list(RankedTask(task.judgements, measures, **options).measures)
    named_runs = name_runs(runs)
    ranking_options = {k: v for k, v in options.items() if k in RANKING_OPTIONS}
    rankings = Rankings(task.judgements, len(named_runs), **ranking_options)
    threads = jobs or usable_cpus()
    parts = []
    for i, (name, source) in enumerate(named_runs):
        run = coerce_run(source, name)
        parts.append(task.evaluate({name: run}, jobs=threads))
        rankings.add(task.cut(run))
        tracker(0.7 * (i + 1) / len(named_runs))
    all_scores = Scores.concat(parts)
    scores = all_scores.select(shown)
    comparison, left_out = compare_for_report(scores, compare, threads, tracker.part(0.7, 1.0))
    return RankedCase(
        scores,
        comparison,
        tuple(ranked_settings(options)),
        left_out,
        all_scores.select(parse_measures(RECALL_MEASURES)),
        rankings,
    )


def label_case(
    truth: LabelsForm,
    runs: Iterable[Any] | Mapping[str, Any],
    measures: Any = None,
    *,
    compare: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    progress: Watcher | None = None,
    **options: Any,
) -> LabelCase:
    """The case of annotation; `options` are those of `evaluate_labels`."""
    tracker = Progress.of(progress)
    options.pop("executor", None)  # as for ranked runs
    task = LabelTask(truth, measures, **options)
    task.check_complete("a page with explanations and curves")
    run_list = runs if isinstance(runs, Sequence | Mapping) else list(runs)
    threads = jobs or usable_cpus()
    fitting = max(1, MOST_EXPLAINED // max(len(run_list), 1))
    explained_items = task.truth.items[:fitting]
    parts, curves, explained = [], {}, []
    for i, run in enumerate(task.runs(run_list)):
        # One by one, not as a whole set: thresholds of the others are not strange here.
        parts.append(task.evaluate(iter([run]), jobs=threads))
        aligned = task.aligned(run, Notes()).run
        curves.update(_curve(task.truth, aligned))
        explain = partial(
            explain_item,
            truth=task.truth,
            run=aligned,
            measures=task.measures,
            knowledge=task.knowledge,
        )
        explained.append(tuple(explain(item) for item in explained_items))
        tracker(0.7 * (i + 1) / len(run_list))
    scores = Scores.concat(parts)
    comparison, left_out = compare_for_report(scores, compare, threads, tracker.part(0.7, 1.0))
    thresholds = [options[k] for k in ("threshold",) if options.get(k) is not None]
    thresholds += [f"{run}={t}" for run, t in (options.get("thresholds") or {}).items()]
    if fitting < len(task.truth.items):
        left_out += (
            f"Labels are shown for the first {fitting} of {len(task.truth.items)} items; "
            "the explanation of an item shows any other.",
        )
    return LabelCase(
        scores,
        comparison,
        tuple(label_settings(task.truth, task.knowledge, [str(g) for g in thresholds])),
        left_out,
        truth_frequency(task.truth),
        curves,
        explained_items,
        task.truth.concepts,
        tuple(explained),
    )


def region_case(
    truth: RegionsForm,
    runs: Any,
    measures: Any = None,
    *,
    compare: Mapping[str, Any] | None = None,
    errors: float | None = None,
    jobs: int | None = None,
    progress: Watcher | None = None,
    **options: Any,
) -> RegionCase:
    """The case of boxes; `options` are those of `evaluate_regions`.

    Boxes that are at least as sure as `errors`, 0.5 unless told, are drawn and counted.
    """
    tracker = Progress.of(progress)
    least = DRAWN_FROM if errors is None else errors
    masks = measures is not None and wants_masks(measures)
    wanted, threads = true_regions(truth, masks=masks), jobs or usable_cpus()
    loaded = {name: coerce_regions(run, name, masks=masks) for name, run in named_regions(runs)}
    scores = evaluate_regions(
        wanted,
        loaded,
        measures,
        errors=least,
        jobs=threads,
        progress=tracker.part(0.0, 0.7),
        **options,
    )
    placed = []
    for run in loaded.values():
        boxes = placed_boxes(wanted, run, Notes())
        placed.append((boxes, classify_boxes(wanted, boxes, least, threads)))
    comparison, left_out = compare_for_report(scores, compare, threads, tracker.part(0.7, 1.0))
    objects = bool((wanted.flags == 0).any())
    curves = region_curves(wanted, loaded, jobs=threads) if objects else []
    return RegionCase(scores, comparison, (), left_out, wanted, tuple(curves), tuple(placed), least)


def _curve(truth: LabelMatrix, run: LabelMatrix) -> dict[str, Roc]:
    """The ROC curve of a run that has one."""
    labels = truth.rows(0, len(truth.items))[0]
    mixed = labels is not None and labels.any() and not labels.all()
    return roc_curves(truth, [run]) if mixed and not run.is_binary else {}


def compare_for_report(
    scores: Scores, options: Mapping[str, Any] | None, jobs: int, progress: Progress
) -> tuple[Comparison | None, tuple[str, ...]]:
    """The comparison with the given options, or the default one, and notes on what is left out.

    Options that hold a seed alone mean the default comparison.
    """
    if options is not None and options.keys() != {"rng"}:
        if options.get("baseline") is not None:
            scores, name = with_baseline(scores, options["baseline"])
            options = {**options, "baseline": name}
        return scores.compare(**{"jobs": jobs, **options, "progress": progress}), ()
    tested = [
        str(m)
        for m in scores.measures
        if m in scores.values and m.averaging != "sum" and scores.sampled(m) is not None
    ]
    if len(scores.runs) < 2 or not tested:
        return None, ()
    if len(scores.runs) > MOST_COMPARED:
        note = (
            f"{UNTESTED}: {len(scores.runs)} runs are more than {MOST_COMPARED}. "
            "A comparison of their own tests any number of them."
        )
        return None, (note,)
    try:
        comparison = scores.compare(
            measures=tested, jobs=jobs, progress=progress, **(options or {})
        )
    except UsageError as error:
        return None, (f"{UNTESTED}: {error}.",)
    return comparison, ()
