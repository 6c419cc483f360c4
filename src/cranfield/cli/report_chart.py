"""`cranfield report chart`: runs as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cranfield.cli._common import Parser, add, common, measures, positive
from cranfield.cli._inputs import subject_options, with_folder
from cranfield.io.files import write_atomic
from cranfield.options import CHARTS, RELIABILITY_BINS, kind_of_runs

EXAMPLES = """examples:
  cranfield report chart leaderboard qrels.txt *.run -m nDCG@10 -o leaderboard.svg
  cranfield report chart differences qrels.txt a.run b.run -m AP --baseline a -o gains.pdf
  cranfield report chart roc --truth truth.csv a.csv b.csv --concept Sky -o roc.png
  cranfield report chart behaviour -m "AP RR nDCG" -o behaviour.svg
  cranfield report chart generality qrels.txt a.run --collection-size 1120 -o generality.svg
  cranfield report chart surface -m MNRO --collection-size 20 -o figure-8.svg
"""
MEASURES = """what to draw: the first measure, the first two for scatter, units and
rank-changes, all for behaviour and placements; none for curves"""
RELEVANT = """behaviour: relevant items, of which one is retrieved (default: 1); the collection has
--collection-size items (default: 100)"""


def make_parser() -> Parser:
    width = max(map(len, CHARTS))
    chart_list = "\n".join(f"  {name:<{width}}  {help_text}" for name, help_text in CHARTS.items())
    parser = Parser.of("report chart", f"Draw runs. The charts:\n{chart_list}", EXAMPLES, raw=True)
    add(parser, "chart CHART", "one of those above", CHARTS)
    file_help = ".svg, .png, .pdf, or .json: the Vega-Lite specification"
    add(parser, "-o --output FILE", file_help, required=True, dest="path")
    measures(parser, MEASURES)
    add(parser, "--title TEXT", "another title")
    add(parser, "--width PIXELS", "of the whole picture", positive)
    add(parser, "--height PIXELS", "of the whole picture", positive)
    help_text = "of .png, .pdf and .json; .svg has both"
    add(parser, "--theme", help_text, ("light", "dark"), "light")
    add(parser, "--run RUN", "the run to draw (default: the best)")
    add(parser, "--baseline RUN", "the run that differences are to")
    add(parser, "--concept NAME", "roc, box-recall, box-errors: one concept (default: all)")
    add(parser, "--relevant N", RELEVANT, positive, 1)
    _graph_options(parser)
    subject_options(parser, "*")
    common(parser, "jobs", "seed", "quiet")
    return parser


def _graph_options(parser: Parser) -> None:
    help_text = "effectiveness, operating: the mean of topics, or of all their counts together"
    add(parser, "--mean", help_text, ("macro", "micro"), "macro")
    add(parser, "--cutoff K", "joint: the cutoff", positive, 10)
    help_text = "generality: look at X times as many items as are relevant (default: 1)"
    add(parser, "--scope X", help_text, float, 1.0)
    add(parser, "--against", "gain", ("rank", "recall"), "rank")
    add(
        parser,
        "--sizes N,N",
        "placements, generality-sizes: collections of several sizes",
        positive_list,
        (),
    )
    add(parser, "--bins N", "reliability", positive, RELIABILITY_BINS)


def positive_list(text: str) -> tuple[int, ...]:
    """Whole numbers between commas."""
    return tuple(positive(part) for part in text.split(","))


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.report import charts
    from cranfield.report.charts.registry import request_chart

    runs = kind_of_runs(arguments["chart"])
    arguments = with_folder("report chart", arguments | {"kind": runs}, "files")
    arguments.pop("kind", None)
    look = {name: arguments.pop(name) for name in ("title", "width", "height")}
    theme, path = arguments.pop("theme"), str(output.path)
    kind, chart = charts.kind_of(path), request_chart(**arguments)
    with output.working("drawing"):
        picture = charts.draw(chart.build().sized(**look), kind, theme=theme)
    output.warn(chart.notes.lines())
    write_atomic(Path(path), picture)
    return 0
