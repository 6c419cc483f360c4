"""`cranfield lab`: studies of the measures themselves."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from cranfield import lab
from cranfield.cli._common import Parser, add, common, executor, measures, outputs, positive
from cranfield.cli._inputs import label_options, with_folder
from cranfield.cli._lab_votes import answer_votes, votes_parser
from cranfield.lab import choices

DESCRIPTION = """Evaluate the measures themselves: which of them agree, stay stable, and tell
real systems from random ones."""
# Studies of measures alone.
ALONE = ("curves", "requirements")


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.lab.api import run_study

    study, view = arguments.pop("study"), {}
    arguments = with_folder("lab", arguments, "files")
    if study == "votes":
        output.show(answer_votes(arguments))
        return 0
    if "all_runs" in arguments:
        view["all_runs"] = arguments.pop("all_runs")
    with output.working(study) as progress:
        arguments["progress"] = progress
        if study == "simulate":
            simulation = with_folder("lab simulate", arguments, "truth")
            answer: Any = lab.simulate_runs(**simulation)
        else:
            arguments["plan"] = lab.Plan(
                *(arguments.pop(n) for n in ("executor", "jobs", "folder"))
            )
            answer = (
                getattr(lab, study)(**arguments)
                if study in ALONE
                else run_study(study, **arguments)
            )
    output.show(answer, **view)
    return 0


def make_parser() -> Parser:
    parser = Parser.of("lab", DESCRIPTION)
    step = parser.steps("study", "STUDY")
    study = step("correlate", "which measures rank runs alike")
    _runs(study)
    help_text = "bootstrap samples of the units for the interval of tau"
    add(study, "--resamples N", help_text, positive, 1000)
    _side_by_side(study)
    _work(study)
    _stability(step("stability", "how much truth and topics may change before the ranking does"))
    study = step("comparable", "annotation: does the ranking rest on scales of confidences")
    _runs(study)
    add(study, "--folds N", "parts of the items, each calibrated on the others", positive, 5)
    _work(study)
    study = step("random", "random and over-eager runs beside the real ones")
    _runs(study)
    help_text = "label densities of random and over-annotating runs (default: 10,30,50,70,90)"
    add(study, "--densities PERCENTS", help_text, shares, choices.DENSITIES)
    add(study, "--count N", "random rankings", positive, 5)
    add(study, "--per-density N", "random annotations of each density", positive, 1)
    help_text = "no runs with chance labels added to real ones"
    study.add_argument("--no-over", action="store_false", dest="over", help=help_text)
    add(study, "--all-runs", "also a table of every run", bool)
    _work(study)
    study = step("generality", "the same topics in growing collections")
    _rankings(study, choices.GENERALITY, "; none with --simulate")
    help_text = "shares of the collection (default: a third, two thirds, all of it)"
    add(study, "--shares PERCENTS", help_text, shares, choices.SHARES)
    help_text = "instead of runs, simulated ones in collections such as 1000,10000,100000"
    add(study, "--simulate SIZES", help_text, whole_numbers)
    _work(study)
    _curves(step("curves", "values of measures for relevant items at every rank"))
    study = step("requirements", "which requirements on a metric hold, with counter-examples")
    add(study, "measures NAMES", "measures of rankings or of annotation")
    common(study, "ontology", "rules", "costmap")
    _work(study, seed=False)
    help_text = "what people choose, beside what measures say"
    votes_parser(
        step(
            "votes",
            help_text,
            f"W{help_text[1:]}: a questionnaire, its answers, or a table of votes.",
        )
    )
    study = step("pool", "what a pool without a run would mean for it")
    _rankings(study)
    add(study, "--depth N", "depth of the pool", positive, 100)
    _work(study, seed=False)
    study = step("simulate", "make up runs of graded quality from a truth")
    add(study, "truth QRELS", "judgements, or a truth with --labels")
    add(study, "folder DIR", "where the runs go")
    add(study, "--labels", "annotations instead of rankings", bool)
    add(study, "--count N", "how many runs", positive, 24)
    common(study, "seed")
    outputs(study)
    return parser


def _stability(parser: Parser) -> None:
    _runs(parser)
    help_text = f"some of {', '.join(choices.PARTS)} (default: all)"
    add(parser, "--parts NAMES", help_text, lambda text: tuple(text.split(",")), choices.PARTS)
    help_text = "shares of the truth to flip (default: 1,2,5,10)"
    add(parser, "--noise PERCENTS", help_text, shares, choices.NOISE)
    help_text = "shares of judgements and of topics to take away (default: 10,30,50,70,90)"
    add(parser, "--dropped PERCENTS", help_text, shares, choices.DROPPED)
    add(parser, "--repeats N", "repetitions", positive, 5)
    add(parser, "--trials N", "splits into halves for the swap rate", positive, 100)
    add(parser, "--resamples N", "bootstrap samples for discriminative power", positive, 1000)
    add(parser, "--level A", "level of the test behind discriminative power", float, 0.05)
    _side_by_side(parser)
    _work(parser)


def _side_by_side(parser: Parser) -> None:
    help_text = "each --costmap (and the --ontology) in a complete measure, OS, and by itself, HS"
    add(parser, "--both", help_text, bool)
    add(parser, "--ranked-only", "leave out annotations without confidences", bool)


def _curves(parser: Parser) -> None:
    measures(parser, "measures of rankings, or of annotation by confidences", "AP NMRR MNRO")
    add(parser, "--size N", "items in the collection", positive, 20)
    parser.add_argument(
        "--relevant", type=int, default=1, choices=(1, 2), help="relevant items (default: 1)"
    )
    add(parser, "--ranks RANKS", "only these ranks, such as 1,10,100", whole_numbers)
    help_text = "largest number of relevant items, for NMRR (default: so large that its K is 4 NG)"
    add(parser, "--gmt N", help_text, positive)
    _work(parser, seed=False)


def _runs(parser: Parser) -> None:
    """The files of a study, its measures, and what they need."""
    add(parser, "files FILE+", "judgements, then runs; with --truth: runs")
    measures(
        parser,
        f"measures or sets of them (default: {choices.RANKED}; with --truth: {choices.LABELS})",
    )
    common(parser, "collection-size")
    add(parser, "--truth FILE", "the true concepts of items: the runs are annotations")
    label_options(parser)


def _rankings(parser: Parser, names: str = choices.RANKED, none: str = "") -> None:
    """The same for studies that read annotations as rankings by concept."""
    add(
        parser,
        f"files FILE{'*' if none else '+'}",
        f"judgements, then runs; with --truth: runs{none}",
    )
    measures(parser, "measures or sets of them", names)
    common(parser, "collection-size")
    help_text = """the true concepts of items: the runs are annotations, read as rankings of the
    items for each concept"""
    add(parser, "--truth FILE", help_text)
    add(parser, "--concepts FILE", "with --truth: names of the concepts")


def _work(parser: Parser, *, seed: bool = True) -> None:
    group = parser.add_argument_group("how the work is done")
    executor(group, "the numbers are the same")
    help_text = "keep finished pieces here; a study that was stopped goes on when it is given again"
    add(group, "--folder DIR", help_text)
    common(parser, "jobs", *(("seed",) if seed else ()))
    outputs(parser)


def shares(text: str) -> tuple[float, ...]:
    """An argparse type: percentages such as 1,2,5,10."""
    try:
        values = tuple(float(part) / 100 for part in text.split(","))
    except ValueError:
        values = ()
    if not values or not all(0 < s <= 1 for s in values):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of percentages such as 1,2,5,10")
    return values


def whole_numbers(text: str) -> tuple[int, ...]:
    """An argparse type: whole numbers such as 1,10,100."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers") from None
