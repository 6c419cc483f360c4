"""`cranfield chart`: runs as a picture."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from cranfield.errors import UsageError
from cranfield.evaluation.curves import RECALL_MEASURES
from cranfield.evaluation.labels import LabelTask
from cranfield.evaluation.ranked import DEFAULT_MEASURES
from cranfield.evaluation.scores import Scores
from cranfield.io.files import write_whole
from cranfield.notes import Notes
from cranfield.report import charts
from cranfield.report.charts.model import Chart
from cranfield.report.charts.parts import best_first, measure_of

EXAMPLES = """examples:
  cranfield chart leaderboard qrels.txt *.run -m nDCG@10 -o leaderboard.svg
  cranfield chart differences qrels.txt a.run b.run -m AP --baseline a -o gains.pdf
  cranfield chart roc --truth truth.csv a.csv b.csv --concept Sky -o roc.png
  cranfield chart behaviour -m "AP RR nDCG" -o behaviour.svg
"""


PLAIN = ("chart", "run", "baseline", "concept", "relevant", "seed", "jobs")


@dataclass(frozen=True)
class Asked:
    """What is to be drawn, and of what."""

    chart: str
    subject: Subject | None
    measures: str | None
    run: str | None
    baseline: str | None
    concept: str | None
    size: int | None
    relevant: int
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
        "what to draw: the first measure, the first two for scatter, all for behaviour; none for "
        "precision-recall and roc",
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
    add_subject_options(parser, nargs="*")
    add_jobs_option(parser)
    add_seed_option(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress and no warnings")
    return parser


def main(argv: Sequence[str]) -> int:
    given = make_parser().read(argv)
    output = Output("table", given.pop("output"), given.pop("quiet"))
    kind = charts.kind_of(str(output.path))
    asked = _asked(given)
    with working("drawing", output):
        picture = charts.draw(CHARTS[asked.chart][0](asked), kind)
    if not output.quiet:
        for note in asked.notes.lines():
            sys.stderr.write(f"warning: {in_options(note)}\n")
    write_whole(Path(str(output.path)), picture)
    return 0


def _asked(given: dict[str, Any]) -> Asked:
    size, has_files = given["collection_size"], bool(given["paths"] or given["truth"])
    if given["chart"] == "behaviour" and has_files:
        raise UsageError("behaviour is of measures alone; it takes no files")
    command = f"chart {given['chart']}"
    return Asked(
        subject=take_subject(given, least=1, command=command) if has_files else None,
        measures=take_measures(given),
        size=size,
        notes=Notes(),
        **{
            k: given[k] for k in ("chart", "run", "baseline", "concept", "relevant", "seed", "jobs")
        },
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
    if len(scores.runs) < 2:
        raise UsageError("differences need two runs or more")
    others = [scores.runs[i] for i in best_first(scores, scores.measures[0])]
    baseline = asked.baseline or next(r for r in scores.runs if r != asked.run)
    run = asked.run or next(r for r in others if r != baseline)
    return charts.differences(scores, run, baseline)


def _scatter(asked: Asked) -> Chart:
    scores = asked.scores()
    if len(scores.measures) < 2:
        raise UsageError("scatter needs two measures, such as -m 'AP nDCG@10'")
    first, second = map(str, scores.measures[:2])
    return charts.measures(scores, first, second)


def _precision_recall(asked: Asked) -> Chart:
    if asked.measures or (asked.subject and asked.subject.kind == "labels"):
        raise UsageError(
            "precision-recall is of ranked runs and has its own measures: leave out --truth and -m"
        )
    return charts.precision_recall(asked.scores(RECALL_MEASURES))


def _roc(asked: Asked) -> Chart:
    if asked.measures:
        raise UsageError("roc is of confidences, not of a measure: leave out -m")
    task, paths = asked.annotation()
    aligned = (task.aligned(run, asked.notes).run for run in task.runs(paths))
    return charts.roc(task.truth, aligned, asked.concept)


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
}
