"""`cranfield chart`: runs as a picture."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from cranfield.cli._common import (
    Output,
    Parser,
    add_jobs_option,
    add_measures_option,
    add_seed_option,
    positive,
    take_measures,
    working,
)
from cranfield.cli._subject import Subject, add_subject_options, take_subject
from cranfield.cli._words import in_options
from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError
from cranfield.evaluation.calibration import BINS
from cranfield.evaluation.curves import RECALL_MEASURES
from cranfield.evaluation.cutoffs import CutoffCounts, Mean, above_score, count_at_cutoffs
from cranfield.evaluation.gains import gain_curves
from cranfield.evaluation.labels import LabelTask
from cranfield.evaluation.ranked import DEFAULT_MEASURES
from cranfield.evaluation.scores import Scores
from cranfield.io.files import write_whole
from cranfield.lab.material import Material
from cranfield.lab.studies.curves import Curves, curves
from cranfield.lab.studies.generality import generality
from cranfield.notes import Notes
from cranfield.report import charts
from cranfield.report.charts.model import Chart
from cranfield.report.charts.parts import best_first, measure_of

Against: TypeAlias = Literal["rank", "recall"]
EXAMPLES = """examples:
  cranfield chart leaderboard qrels.txt *.run -m nDCG@10 -o leaderboard.svg
  cranfield chart differences qrels.txt a.run b.run -m AP --baseline a -o gains.pdf
  cranfield chart roc --truth truth.csv a.csv b.csv --concept Sky -o roc.png
  cranfield chart behaviour -m "AP RR nDCG" -o behaviour.svg
  cranfield chart generality qrels.txt a.run --collection-size 1120 -o generality.svg
  cranfield chart surface -m MNRO --collection-size 20 -o figure-8.svg
"""

# Options that say how a chart is drawn and reach it as they are.
PLAIN: tuple[str, ...] = ("run", "baseline", "concept", "relevant", "mean", "cutoff", "scope")
PLAIN += ("against", "sizes", "bins", "seed", "jobs")
# Charts of measures alone: they take no files.
OF_MEASURES = ("behaviour", "placements", "combined-ranks", "surface", "surface-edges")


@dataclass(frozen=True)
class Asked:
    """What is to be drawn, and of what."""

    chart: str
    subject: Subject | None
    measures: str | None
    size: int | None
    run: str | None
    baseline: str | None
    concept: str | None
    relevant: int
    mean: Mean
    cutoff: int
    scope: float
    against: Against
    sizes: tuple[int, ...]
    bins: int
    seed: int
    jobs: int
    notes: Notes

    def scores(self, measures: str | None = None) -> Scores:
        """The scores of the runs under the measures asked for."""
        if self.subject is None:
            raise UsageError(
                f"the chart {self.chart} needs judgements and runs, or --truth and runs. See: "
                "cranfield chart --help"
            )
        found = self.subject.scores(measures or self.measures, self.jobs)
        self.notes.extend(found.notes)
        return found

    def rankings(self) -> dict[str, Any]:
        """Judgements, runs and options of ranked runs, for charts that have their own measures."""
        if self.measures and self.chart not in ("gain", "generality-sizes"):
            raise UsageError(f"{self.chart} has its own measures: leave out -m")
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
            raise UsageError(f"{self.chart} needs two measures, such as -m 'AP nDCG@10'")
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
            raise UsageError(f"{self.chart} is of confidences, not of a measure: leave out -m")
        task, paths = self.annotation()
        return task.truth, [task.aligned(run, self.notes).run for run in task.runs(paths)]

    def annotation(self) -> tuple[LabelTask, Sequence[str]]:
        """The truth of an annotation, ready for runs, and the runs."""
        if self.subject is None or self.subject.kind != "labels":
            raise UsageError(
                f"the chart {self.chart} is of annotation: name the truth with --truth"
            )
        options = dict(self.subject.options)
        runs = options.pop("runs")
        return LabelTask(measures=self.measures, **options), runs


def make_parser() -> Parser:
    width = max(map(len, CHARTS))
    listed = "\n".join(f"  {name:<{width}}  {what}" for name, (_, what) in CHARTS.items())
    parser = Parser(
        prog="cranfield chart",
        description=f"Draw runs. The charts:\n{listed}",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("chart", choices=CHARTS, metavar="CHART", help="one of those above")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        help=".svg, .png, .pdf, or .json: the Vega-Lite specification",
    )
    add_measures_option(
        parser,
        "what to draw: the first measure, the first two for scatter, units and rank-changes, all "
        "for behaviour and placements; none for curves",
    )
    parser.add_argument("--title", metavar="TEXT", help="another title")
    parser.add_argument("--width", type=positive, metavar="PIXELS", help="of the whole picture")
    parser.add_argument("--height", type=positive, metavar="PIXELS", help="of the whole picture")
    parser.add_argument(
        "--theme",
        choices=("light", "dark"),
        default="light",
        help="of .png, .pdf and .json; .svg has both (default: light)",
    )
    parser.add_argument("--run", metavar="RUN", help="the run to draw (default: the best)")
    parser.add_argument("--baseline", metavar="RUN", help="the run that differences are to")
    parser.add_argument("--concept", metavar="NAME", help="roc: one concept (default: all pooled)")
    parser.add_argument(
        "--relevant",
        type=positive,
        default=1,
        metavar="N",
        help="behaviour: relevant items, of which one is retrieved (default: 1); the collection "
        "has --collection-size items (default: 100)",
    )
    _add_graph_options(parser)
    add_subject_options(parser, nargs="*")
    add_jobs_option(parser)
    add_seed_option(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress and no warnings")
    return parser


def _add_graph_options(parser: Parser) -> None:
    parser.add_argument(
        "--min-score",
        metavar="S",
        help="ranked runs: only items whose score is at least S, or S%% of the way from the "
        "lowest to the highest of the topic",
    )
    parser.add_argument(
        "--mean",
        choices=("macro", "micro"),
        default="macro",
        help="effectiveness, operating: the mean of topics, or of all their counts together "
        "(default: macro)",
    )
    parser.add_argument(
        "--cutoff", type=positive, default=10, metavar="K", help="joint: the cutoff (default: 10)"
    )
    parser.add_argument(
        "--scope",
        type=float,
        default=1.0,
        metavar="X",
        help="generality: look at X times as many items as are relevant (default: 1)",
    )
    parser.add_argument(
        "--against", choices=("rank", "recall"), default="rank", help="gain (default: rank)"
    )
    parser.add_argument(
        "--sizes",
        type=positive_list,
        default=(),
        metavar="N,N",
        help="placements: collections of several sizes",
    )
    parser.add_argument(
        "--bins", type=positive, default=BINS, metavar="N", help="reliability (default: 10)"
    )


def positive_list(text: str) -> tuple[int, ...]:
    """Whole numbers between commas."""
    return tuple(positive(part) for part in text.split(","))


def main(argv: Sequence[str]) -> int:
    given = make_parser().read(argv)
    output = Output("table", given.pop("output"), given.pop("quiet"))
    look = {name: given.pop(name) for name in ("title", "width", "height")}
    theme, kind = given.pop("theme"), charts.kind_of(str(output.path))
    asked = _asked(given)
    with working("drawing", output):
        drawn = CHARTS[asked.chart][0](asked).sized(**look)
        picture = charts.draw(drawn, kind, theme=theme)
    if not output.quiet:
        for note in asked.notes.lines():
            sys.stderr.write(f"warning: {in_options(note)}\n")
    write_whole(Path(str(output.path)), picture)
    return 0


def _asked(given: dict[str, Any]) -> Asked:
    size, has_files = given["collection_size"], bool(given["paths"] or given["truth"])
    chart, min_score = given["chart"], given.pop("min_score")
    if chart in OF_MEASURES and has_files:
        raise UsageError(f"{chart} is of measures alone; it takes no files")
    subject = take_subject(given, least=1, command=f"chart {chart}") if has_files else None
    if min_score is not None:
        if subject is None or subject.kind != "ranked":
            raise UsageError("--min-score is for ranked runs")
        runs = above_score(subject.options["runs"], min_score)
        subject = replace(subject, options=subject.options | {"runs": runs})
    return Asked(
        chart=chart,
        subject=subject,
        measures=take_measures(given),
        size=size,
        notes=Notes(),
        **{name: given[name] for name in PLAIN},
    )


def _of_comparison(draw: Callable[..., Chart]) -> Callable[[Asked], Chart]:
    def make(asked: Asked) -> Chart:
        scores = asked.scores()
        first = str(scores.measures[0])
        found = scores.compare(
            baseline=asked.baseline, measures=[first], rng=asked.seed, jobs=asked.jobs
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
    return charts.generality_sizes(generality(material, collection_size=size, rng=asked.seed))


def _gain(asked: Asked) -> Chart:
    gain: Any = asked.measures or "CG"
    curves = gain_curves(gain=gain, against=asked.against, jobs=asked.jobs, **asked.rankings())
    return charts.gains(curves, gain=gain, against=asked.against)


def _placements(asked: Asked, relevant: int) -> list[Curves]:
    sizes = asked.sizes or (asked.size or 20,)
    names = asked.measures or "AP NMRR MNRO"
    return [curves(names, size=size, relevant=relevant) for size in sizes]


def _concept_curves(asked: Asked) -> Chart:
    truth, runs = asked.aligned()
    sure = [run for run in runs if not run.is_binary and asked.run in (None, run.name)]
    if not sure:
        raise UsageError("no run with confidences" + (f" named {asked.run!r}" if asked.run else ""))
    return charts.concept_precision_recall(truth, sure[0])


def _precision_recall(asked: Asked) -> Chart:
    if asked.measures or (asked.subject and asked.subject.kind == "labels"):
        raise UsageError(
            "precision-recall is of ranked runs and has its own measures: leave out --truth and -m"
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
        asked.measures or DEFAULT_MEASURES, size=asked.size or 100, relevant=asked.relevant
    )


CHARTS: dict[str, tuple[Callable[[Asked], Chart], str]] = {
    "leaderboard": (
        _of_comparison(charts.leaderboard),
        "means with intervals, and runs that cannot be told apart",
    ),
    "significance": (_of_comparison(charts.significance), "every pair of runs, with stars"),
    "heatmap": (lambda asked: charts.heatmap(asked.scores()), "runs by topics (items, concepts)"),
    "differences": (_differences, "a run minus a baseline, topic by topic"),
    "precision-recall": (_precision_recall, "precision at eleven levels of recall, with bands"),
    "roc": (_roc, "annotation: ROC with points of equal error"),
    "scatter": (_scatter, "runs under two measures"),
    "density": (_density, "annotation: a score against label density"),
    "concepts": (_concepts, "annotation: values of concepts, with their frequency"),
    "behaviour": (_behaviour, "measures when one relevant item moves over the ranks"),
    "effectiveness": (
        lambda asked: charts.effectiveness(asked.counts(), mean=asked.mean),
        "precision against recall over all cutoffs, not interpolated",
    ),
    "topics": (
        lambda asked: charts.topics(asked.counts(), asked.run),
        "precision against recall of every topic of a run",
    ),
    "cutoffs": (lambda asked: charts.cutoffs(asked.counts()), "precision and recall by cutoff"),
    "joint": (
        lambda asked: charts.joint(asked.counts(), asked.cutoff, asked.run),
        "precision and recall of every topic at a cutoff",
    ),
    "operating": (
        lambda asked: charts.operating(asked.counts(), mean=asked.mean),
        "ROC of rankings: recall against fallout, with areas",
    ),
    "detections": (
        lambda asked: charts.detections(asked.counts()),
        "ROC of rankings in counts: detections against false alarms",
    ),
    "generality": (
        lambda asked: charts.generality(asked.counts(), asked.run, scope=asked.scope),
        "precision and recall of topics against their generality",
    ),
    "generality-sizes": (_generality_sizes, "a measure against generality in growing collections"),
    "gain": (_gain, "average (discounted) cumulated gain against rank or recall"),
    "placements": (
        lambda asked: charts.one_relevant(_placements(asked, 1)),
        "measures at every rank of one relevant item, low is good",
    ),
    "combined-ranks": (
        lambda asked: charts.combined_ranks(_placements(asked, 2)[0]),
        "measures at every placement of two relevant items",
    ),
    "surface": (
        lambda asked: charts.surface(_placements(asked, 2)[0]),
        "a measure at both ranks of two relevant items, as colour",
    ),
    "surface-edges": (
        lambda asked: charts.surface_edges(_placements(asked, 2)[0]),
        "the best and worst case of two relevant items",
    ),
    "rank-changes": (_rank_changes, "how the ranking of runs changes between two measures"),
    "critical-difference": (
        lambda asked: charts.critical_difference(asked.scores()),
        "mean ranks, and runs that cannot be told apart",
    ),
    "against": (_against, "a run against a baseline, a dot for each topic"),
    "units": (_units, "topics, items or concepts of a run under two measures"),
    "concept-curves": (_concept_curves, "annotation: precision against recall of every concept"),
    "reliability": (
        lambda asked: charts.reliability(*asked.aligned(), bins=asked.bins),
        "annotation: how often confidences are right",
    ),
}
