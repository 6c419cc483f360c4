"""Charts by name: which data each one needs, how they are asked for, and drawn.

`cranfield.report.charts` has the builders, which draw answers in hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError, suggest
from cranfield.evaluation.choices import BINS
from cranfield.evaluation.curves import RECALL_MEASURES
from cranfield.evaluation.gain_curves import gain_curves
from cranfield.evaluation.inputs import SUBJECT_OPTIONS, Subject
from cranfield.evaluation.labels import LabelTask, evaluate_labels
from cranfield.evaluation.precision_recall import CutoffCounts, Mean, above_score, count_at_cutoffs
from cranfield.evaluation.ranked import DEFAULT_MEASURES
from cranfield.evaluation.scores import Scores
from cranfield.lab.choices import SHARES
from cranfield.lab.studies.generality import generality
from cranfield.lab.studies.rank_curves import Curves, curves
from cranfield.lab.study_input import Material
from cranfield.notes import Notes
from cranfield.report import charts
from cranfield.report.chart_names import CHARTS, OF_MEASURES
from cranfield.report.charts.model import Chart
from cranfield.report.charts.parts import best_first, measure_of

Against: TypeAlias = Literal["rank", "recall"]


@dataclass(frozen=True)
class Asked:
    """What is to be drawn, and of what."""

    chart: str
    subject: Subject | None = None
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
    bins: int = BINS
    rng: int = 0
    jobs: int = 1
    notes: Notes = field(default_factory=Notes)

    def drawn(self) -> Chart:
        """The chart; what was noticed on the way is in `notes`."""
        return _DRAWN[self.chart](self)

    def scores(self, measures: str | None = None) -> Scores:
        """The scores of the runs under the measures asked for."""
        if self.subject is None:
            raise UsageError(
                f"the chart {self.chart} needs judgements and runs, or truth= and runs"
            )
        found = self.subject.scores(measures or self.measures, self.jobs)
        self.notes.extend(found.notes)
        return found

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
        others = [scores.runs[i] for i in best_first(scores, scores.measures[0])]
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
        return LabelTask(measures=self.measures, **options), runs


def _of_comparison(draw: Callable[..., Chart]) -> Callable[[Asked], Chart]:
    def make(asked: Asked) -> Chart:
        scores = asked.scores()
        first = str(scores.measures[0])
        found = scores.compare(
            baseline=asked.baseline, measures=[first], rng=asked.rng, jobs=asked.jobs
        )
        return draw(found, first)

    return make


def _differences(asked: Asked) -> Chart:
    scores = asked.scores()
    return charts.differences(scores, *asked.pair(scores))


def _against(asked: Asked) -> Chart:
    scores = asked.scores()
    return charts.against(scores, *asked.pair(scores))


def _scatter(asked: Asked) -> Chart:
    return charts.measures(*asked.two_measures())


def _rank_changes(asked: Asked) -> Chart:
    return charts.rank_changes(*asked.two_measures())


def _units(asked: Asked) -> Chart:
    scores, first, second = asked.two_measures()
    best = scores.runs[best_first(scores, scores.measures[0])[0]]
    return charts.units(scores, first, second, [asked.run or best])


def _generality_sizes(asked: Asked) -> Chart:
    options = asked.rankings()
    size = options.pop("collection_size", None)
    names = f"Generality {asked.measures or 'Rprec'}"
    material = Material.ranked(options.pop("judgements"), options.pop("runs"), names)
    shares = SHARES
    if asked.sizes and size:
        shares = tuple(part / size for part in asked.sizes)
    study = generality(material, collection_size=size, shares=shares, rng=asked.rng)
    return charts.generality_sizes(study)


def _gain(asked: Asked) -> Chart:
    gain: Any = asked.measures or "CG"
    curves = gain_curves(gain=gain, against=asked.against, jobs=asked.jobs, **asked.rankings())
    return charts.gains(curves, gain=gain, against=asked.against)


def _placements(asked: Asked, relevant: int) -> list[Curves]:
    sizes = asked.sizes or (asked.collection_size or 20,)
    names = asked.measures or "AP NMRR MNRO"
    return [curves(names, size=size, relevant=relevant) for size in sizes]


def _concept_curves(asked: Asked) -> Chart:
    truth, runs = asked.aligned()
    sure = [run for run in runs if not run.is_binary and asked.run in (None, run.name)]
    if not sure:
        raise UsageError("no run with confidences" + (f" named {asked.run!r}" if asked.run else ""))
    if len(sure) == 1:
        return charts.concept_precision_recall(truth, sure[0])
    found = evaluate_labels(truth, sure, "AP.concept", keep=False, jobs=asked.jobs)
    return charts.concept_precision_recall(truth, sure[found.best_first()[0]])


def _precision_recall(asked: Asked) -> Chart:
    if asked.measures or (asked.subject and asked.subject.kind == "labels"):
        raise UsageError(
            "precision-recall is of ranked runs and has its own measures: "
            "leave out truth= and measures="
        )
    return charts.precision_recall(asked.scores(RECALL_MEASURES))


def _roc(asked: Asked) -> Chart:
    return charts.roc(*asked.aligned(), asked.concept)


def _concepts(asked: Asked) -> Chart:
    truth = asked.annotation()[0].truth
    scores = asked.scores(asked.measures or "AP.concept")
    return charts.concepts(scores, truth, asked.run, str(measure_of(scores, None)))


def _density(asked: Asked) -> Chart:
    asked.annotation()
    return charts.density(asked.scores())


def _behaviour(asked: Asked) -> Chart:
    return charts.behaviour(
        asked.measures or DEFAULT_MEASURES,
        size=asked.collection_size or 100,
        relevant=asked.relevant,
    )


# How each is drawn; what it shows is in `CHARTS`.
_DRAWN: dict[str, Callable[[Asked], Chart]] = {
    "leaderboard": _of_comparison(charts.leaderboard),
    "significance": _of_comparison(charts.significance),
    "heatmap": lambda asked: charts.heatmap(asked.scores()),
    "differences": _differences,
    "precision-recall": _precision_recall,
    "roc": _roc,
    "scatter": _scatter,
    "density": _density,
    "concepts": _concepts,
    "behaviour": _behaviour,
    "effectiveness": lambda asked: charts.effectiveness(asked.counts(), mean=asked.mean),
    "topics": lambda asked: charts.topics(asked.counts(), asked.run),
    "cutoffs": lambda asked: charts.cutoffs(asked.counts()),
    "joint": lambda asked: charts.joint(asked.counts(), asked.cutoff, asked.run),
    "operating": lambda asked: charts.operating(asked.counts(), mean=asked.mean),
    "detections": lambda asked: charts.detections(asked.counts()),
    "generality": lambda asked: charts.generality(asked.counts(), asked.run, scope=asked.scope),
    "generality-sizes": _generality_sizes,
    "gain": _gain,
    "placements": lambda asked: charts.one_relevant(_placements(asked, 1)),
    "combined-ranks": lambda asked: charts.combined_ranks(_placements(asked, 2)[0]),
    "surface": lambda asked: charts.surface(_placements(asked, 2)[0]),
    "surface-edges": lambda asked: charts.surface_edges(_placements(asked, 2)[0]),
    "envelope": lambda asked: charts.envelope(_placements(asked, 2)[0]),
    "rank-changes": _rank_changes,
    "critical-difference": lambda asked: charts.critical_difference(asked.scores()),
    "against": _against,
    "units": _units,
    "concept-curves": _concept_curves,
    "reliability": lambda asked: charts.reliability(*asked.aligned(), bins=asked.bins),
}


def ask_chart(
    chart: str,
    files: Sequence[Any] = (),
    truth: Any = None,
    *,
    min_score: str | None = None,
    **options: Any,
) -> Asked:
    """A chart of runs, or of measures alone, ready to be drawn.

    `files` and `truth` are what `Subject.of` takes, as are the options of evaluation; the other
    options are the fields of `Asked`. `min_score` keeps the items of ranked runs whose score is
    at least that, or a share such as '50%' of the way from the lowest to the highest of the topic.
    """
    if chart not in CHARTS:
        raise UsageError(f"no chart {chart!r}.{suggest(chart, CHARTS)}")
    known = {name: value for name, value in options.items() if name in SUBJECT_OPTIONS}
    own = {name: value for name, value in options.items() if name not in known}
    own["collection_size"] = options.get("collection_size")
    subject = None
    if files or truth is not None:
        if chart in OF_MEASURES:
            raise UsageError(f"{chart} is of measures alone; it takes no files")
        subject = Subject.of(files, truth, **known)
    if min_score is not None:
        if subject is None or subject.kind != "ranked":
            raise UsageError("min_score= is for ranked runs")
        runs = above_score(subject.options["runs"], min_score)
        subject = replace(subject, options={**subject.options, "runs": runs})
    return Asked(chart, subject, **own)
