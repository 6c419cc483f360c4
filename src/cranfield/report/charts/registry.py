"""Charts by name: the data that each one needs, and the function that builds it.

`cranfield.report.charts` has the builders, which draw answers in hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError, suggest
from cranfield.evaluation.inputs import SUBJECT_OPTIONS, EvaluationInput
from cranfield.evaluation.labels import LabelTask, evaluate_labels
from cranfield.evaluation.precision_recall import (
    RECALL_MEASURES,
    CutoffCounts,
    Mean,
    above_score,
    count_at_cutoffs,
    gain_curves,
    threshold_curves,
)
from cranfield.evaluation.ranked import DEFAULT_MEASURES
from cranfield.evaluation.regions import RegionCurves, region_curves
from cranfield.evaluation.scores import Scores
from cranfield.lab.growing_collections import generality
from cranfield.lab.rank_curves import Curves, curves
from cranfield.lab.study_input import StudyInput
from cranfield.notes import Notes
from cranfield.options import CHARTS, CHARTS_OF_MEASURES, COLLECTION_SHARES, RELIABILITY_BINS
from cranfield.report import charts
from cranfield.report.charts.curves import measure_of
from cranfield.report.charts.model import Chart

Against: TypeAlias = Literal["rank", "recall"]


@dataclass(frozen=True)
class ChartRequest:
    """A chart by name, its data and its options."""

    chart: str
    subject: EvaluationInput | None = None
    measures: str | None = None
    collection_size: int | None = None
    run: str | None = None
    baseline: str | None = None
    concept: str | None = None
    relevant: int = 1
    mean: Mean = "macro"
    cutoff: int = 10
    scope: float = 1.0
    against: Against = "rank"
    sizes: Sequence[int] = ()
    bins: int = RELIABILITY_BINS
    rng: int = 0
    jobs: int = 1
    notes: Notes = field(default_factory=Notes)

    def build(self) -> Chart:
        """The chart; what was noticed on the way is in `notes`."""
        return _BUILDERS[self.chart](self)

    def scores(self, measures: str | None = None) -> Scores:
        """The scores of the runs under the measures asked for."""
        if self.subject is None:
            raise UsageError(
                f"the chart {self.chart} needs judgements and runs, or truth= and runs"
            )
        answer = self.subject.scores(measures or self.measures, self.jobs)
        self.notes.extend(answer.notes)
        return answer

    def rankings(self) -> dict[str, Any]:
        """Judgements, runs and options of ranked runs, for charts that have their own measures."""
        if self.measures and self.chart not in ("gain", "generality-sizes"):
            raise UsageError(f"{self.chart} has its own measures: leave out measures=")
        if self.subject is None or self.subject.kind != "ranked":
            raise UsageError(f"the chart {self.chart} needs judgements and ranked runs")
        return dict(self.subject.options)

    def counts(self) -> CutoffCounts:
        """What ranked runs have found at every cutoff."""
        options = self.rankings()
        return count_at_cutoffs(**options, jobs=self.jobs)

    def two_measures(self) -> tuple[Scores, str, str]:
        """Scores under two measures, and their names."""
        scores = self.scores()
        if len(scores.measures) < 2:
            raise UsageError(f"{self.chart} needs two measures, such as measures='AP nDCG@10'")
        first, second = map(str, scores.measures[:2])
        return scores, first, second

    def pair(self, scores: Scores) -> tuple[str, str]:
        """The run and the baseline asked for, or the best run and the first other one."""
        if len(scores.runs) < 2:
            raise UsageError(f"{self.chart} need two runs or more")
        others = [scores.runs[i] for i in scores.best_first(scores.measures[0])]
        baseline = self.baseline or next(r for r in scores.runs if r != self.run)
        return self.run or next(r for r in others if r != baseline), baseline

    def aligned(self) -> tuple[LabelMatrix, list[LabelMatrix]]:
        """The truth and the runs of an annotation, item by item."""
        if self.measures:
            raise UsageError(
                f"{self.chart} is of confidences, not of a measure: leave out measures="
            )
        task, paths = self.annotation()
        return task.truth, [task.aligned(run, self.notes).run for run in task.runs(paths)]

    def annotation(self) -> tuple[LabelTask, Sequence[str]]:
        """The truth of an annotation, ready for runs, and the runs."""
        if self.subject is None or self.subject.kind != "labels":
            raise UsageError(f"the chart {self.chart} is of annotation: name the truth with truth=")
        options = dict(self.subject.options)
        runs = options.pop("runs")
        task = LabelTask(measures=self.measures, **options)
        task.check_complete(f"the chart {self.chart}")
        return task, runs


def _of_comparison(draw: Callable[..., Chart]) -> Callable[[ChartRequest], Chart]:
    def make(request: ChartRequest) -> Chart:
        scores = request.scores()
        first = str(scores.measures[0])
        comparison = scores.compare(
            baseline=request.baseline, measures=[first], rng=request.rng, jobs=request.jobs
        )
        return draw(comparison, first)

    return make


def _differences(request: ChartRequest) -> Chart:
    scores = request.scores()
    return charts.differences(scores, *request.pair(scores))


def _against(request: ChartRequest) -> Chart:
    scores = request.scores()
    return charts.against(scores, *request.pair(scores))


def _scatter(request: ChartRequest) -> Chart:
    return charts.measures(*request.two_measures())


def _rank_changes(request: ChartRequest) -> Chart:
    return charts.rank_changes(*request.two_measures())


def _units(request: ChartRequest) -> Chart:
    scores, first, second = request.two_measures()
    best = scores.runs[scores.best_first(scores.measures[0])[0]]
    return charts.units(scores, first, second, [request.run or best])


def _generality_sizes(request: ChartRequest) -> Chart:
    options = request.rankings()
    size = options.pop("collection_size", None)
    names = f"Generality {request.measures or 'Rprec'}"
    material = StudyInput.ranked(options.pop("judgements"), options.pop("runs"), names)
    shares = COLLECTION_SHARES
    if request.sizes and size:
        shares = tuple(part / size for part in request.sizes)
    study = generality(material, collection_size=size, shares=shares, rng=request.rng)
    return charts.generality_sizes(study)


def _gain(request: ChartRequest) -> Chart:
    gain: Any = request.measures or "CG"
    curves = gain_curves(
        gain=gain, against=request.against, jobs=request.jobs, **request.rankings()
    )
    return charts.gains(curves, gain=gain, against=request.against)


def _thresholds(request: ChartRequest) -> Chart:
    return charts.thresholds(*threshold_curves(jobs=request.jobs, **request.rankings()))


def _placements(request: ChartRequest, relevant: int) -> list[Curves]:
    sizes = request.sizes or (request.collection_size or 20,)
    names = request.measures or "AP NMRR MNRO"
    return [curves(names, size=size, relevant=relevant) for size in sizes]


def _concept_curves(request: ChartRequest) -> Chart:
    truth, runs = request.aligned()
    graded_runs = [run for run in runs if not run.is_binary and request.run in (None, run.name)]
    if not graded_runs:
        raise UsageError(
            "no run with confidences" + (f" named {request.run!r}" if request.run else "")
        )
    if len(graded_runs) == 1:
        return charts.concept_precision_recall(truth, graded_runs[0])
    scores = evaluate_labels(truth, graded_runs, "AP.concept", keep=False, jobs=request.jobs)
    return charts.concept_precision_recall(truth, graded_runs[scores.best_first()[0]])


def _precision_recall(request: ChartRequest) -> Chart:
    if request.measures or (request.subject and request.subject.kind == "labels"):
        raise UsageError(
            "precision-recall is of ranked runs and has its own measures: "
            "leave out truth= and measures="
        )
    return charts.precision_recall(request.scores(RECALL_MEASURES))


def _roc(request: ChartRequest) -> Chart:
    return charts.roc(*request.aligned(), request.concept)


def _concepts(request: ChartRequest) -> Chart:
    truth = request.annotation()[0].truth
    scores = request.scores(request.measures or "AP.concept")
    return charts.concepts(scores, truth, request.run, str(measure_of(scores, None)))


def _box_curves(request: ChartRequest) -> list[RegionCurves]:
    if request.subject is None or request.subject.kind != "regions":
        raise UsageError(f"the chart {request.chart} is of boxes: name their truth with truth=")
    if request.measures:
        raise UsageError(f"{request.chart} has its own measures: leave out measures=")
    options = request.subject.options
    return region_curves(
        options["truth"],
        options["runs"],
        concept=request.concept,
        jobs=request.jobs,
        notes=request.notes,
    )


def _box_recall(request: ChartRequest) -> Chart:
    return charts.box_recall(_box_curves(request), concept=request.concept or "")


def _box_errors(request: ChartRequest) -> Chart:
    curves = _box_curves(request)
    names = [curve.run for curve in curves]
    if request.run is not None and request.run not in names:
        raise UsageError(f"no run {request.run!r}.{suggest(request.run, names)}")
    return charts.box_errors(curves, concept=request.concept or "", run=request.run)


def _density(request: ChartRequest) -> Chart:
    request.annotation()
    return charts.density(request.scores())


def _behaviour(request: ChartRequest) -> Chart:
    return charts.behaviour(
        request.measures or DEFAULT_MEASURES,
        size=request.collection_size or 100,
        relevant=request.relevant,
    )


# The builder of each chart; `CHARTS` describes what it shows.
_BUILDERS: dict[str, Callable[[ChartRequest], Chart]] = {
    "leaderboard": _of_comparison(charts.leaderboard),
    "significance": _of_comparison(charts.significance),
    "heatmap": lambda request: charts.heatmap(request.scores()),
    "differences": _differences,
    "precision-recall": _precision_recall,
    "roc": _roc,
    "scatter": _scatter,
    "density": _density,
    "concepts": _concepts,
    "behaviour": _behaviour,
    "effectiveness": lambda request: charts.effectiveness(request.counts(), mean=request.mean),
    "topics": lambda request: charts.topics(request.counts(), request.run),
    "cutoffs": lambda request: charts.cutoffs(request.counts()),
    "thresholds": _thresholds,
    "joint": lambda request: charts.joint(request.counts(), request.cutoff, request.run),
    "operating": lambda request: charts.operating(request.counts(), mean=request.mean),
    "detections": lambda request: charts.detections(request.counts()),
    "generality": lambda request: charts.generality(
        request.counts(), request.run, scope=request.scope
    ),
    "generality-sizes": _generality_sizes,
    "gain": _gain,
    "placements": lambda request: charts.one_relevant(_placements(request, 1)),
    "combined-ranks": lambda request: charts.combined_ranks(_placements(request, 2)[0]),
    "surface": lambda request: charts.surface(_placements(request, 2)[0]),
    "perspective": lambda request: charts.perspective(_placements(request, 2)[0]),
    "surface-edges": lambda request: charts.surface_edges(_placements(request, 2)[0]),
    "envelope": lambda request: charts.envelope(_placements(request, 2)[0]),
    "rank-changes": _rank_changes,
    "critical-difference": lambda request: charts.critical_difference(request.scores()),
    "against": _against,
    "units": _units,
    "concept-curves": _concept_curves,
    "box-recall": _box_recall,
    "box-errors": _box_errors,
    "reliability": lambda request: charts.reliability(*request.aligned(), bins=request.bins),
}


def request_chart(
    chart: str,
    files: Sequence[Any] = (),
    truth: Any = None,
    *,
    min_score: str | None = None,
    **options: Any,
) -> ChartRequest:
    """A chart of runs, or of measures alone, ready to be drawn.

    `files`, `truth` and the options of evaluation are arguments of `EvaluationInput.of`; the other
    options are the fields of `ChartRequest`. `min_score` keeps the items of ranked runs whose
    score is at least that, or a share such as '50%' of the way from the lowest to the highest of
    the topic.
    """
    if chart not in CHARTS:
        raise UsageError(f"no chart {chart!r}.{suggest(chart, CHARTS)}")
    subject_options = {name: value for name, value in options.items() if name in SUBJECT_OPTIONS}
    chart_options = {name: value for name, value in options.items() if name not in subject_options}
    chart_options["collection_size"] = options.get("collection_size")
    subject = None
    if files or truth is not None:
        if chart in CHARTS_OF_MEASURES:
            raise UsageError(f"{chart} is of measures alone; it takes no files")
        subject = EvaluationInput.of(files, truth, **subject_options)
    if min_score is not None:
        if subject is None or subject.kind != "ranked":
            raise UsageError("min_score= is for ranked runs")
        runs = above_score(subject.options["runs"], min_score)
        subject = replace(subject, options={**subject.options, "runs": runs})
    return ChartRequest(chart, subject, **chart_options)
