"""`cranfield lab`: studies of the measures themselves."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from cranfield import lab
from cranfield.answers import Answer
from cranfield.campaign.surveys import OF_RANKINGS, WITH_COSTS, WITHOUT_COSTS
from cranfield.cli._common import (
    Parser,
    add,
    common,
    executor,
    from_zero,
    measures,
    outputs,
    positive,
    share,
)
from cranfield.cli._inputs import label_options, with_folder
from cranfield.errors import UsageError
from cranfield.options import (
    COLLECTION_SHARES,
    CORRECTIONS,
    DROPPED_SHARES,
    JUDGING_METHODS,
    LAB_GENERALITY,
    LAB_LABELS,
    LAB_RANKED,
    LABEL_DENSITIES,
    NOISE_SHARES,
    OVERLAP_METHODS,
    PEOPLE,
    QUESTIONNAIRE_LISTS,
    STABILITY_PARTS,
    TESTS,
)


def votes_parser(parser: Parser) -> None:
    step = parser.steps("step", "STEP")
    count = step("count", "count the votes of a table")
    help_text = (
        "question,MEASURE,... with votes; or question,votes_a,votes_b,votes_both,M_a,M_b,..."
    )
    add(count, "votes VOTES.csv", help_text)
    make = step("make", "make a blind questionnaire")
    add(make, "folder DIR", "where survey.html, questions.json and key.json go")
    help_text = "ask about concept sets of two runs, not about made-up ranked lists"
    add(make, "--truth FILE", help_text)
    help_text = "with --truth: the two annotations to choose between"
    add(make, "--between RUN", help_text, default=(), nargs=2)
    help_text = f"""the measures to choose between (default: {OF_RANKINGS}; with --truth:
    {WITH_COSTS}, or without costs {WITHOUT_COSTS})"""
    measures(make, help_text)
    help_text = "with --truth: measures that must score both sets alike, such as Rprec.example"
    make.add_argument("--alike", metavar="NAMES", default="", help=help_text)
    label_options(make)
    add(make, "--questions N", "questions", positive, 10)
    for name, (value, help_text) in QUESTIONNAIRE_LISTS.items():
        add(make, f"--{name} N", f"ranked lists: {help_text} (default: {value})", positive)
    common(make, "seed")
    tally = step("tally", "count the answers to a questionnaire")
    add(tally, "key KEY.json", "the key.json of the questionnaire")
    add(tally, "answers ANSWERS.json+", "saved answers")
    for subparser in (count, make, tally):
        outputs(subparser)


def answer_votes(arguments: dict[str, Any]) -> Answer:
    """What a step answers."""
    step = arguments.pop("step")
    if step == "count":
        return lab.count_votes(arguments["votes"])
    if step == "tally":
        return lab.tally(arguments["key"], arguments["answers"])
    from cranfield.lab.study_runner import ask_people
    from cranfield.site.work_pages import write_survey

    folder = arguments.pop("folder")
    return write_survey(ask_people(**arguments), folder)


DESCRIPTION = """Evaluate the measures themselves: which of them agree, stay stable, and tell
real systems from random ones."""
# Studies of measures alone.
ALONE = ("curves", "requirements")


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.lab.study_runner import run_study

    study, view = arguments.pop("study"), {}
    arguments = with_folder("lab", arguments, "files")
    if study == "replay":
        with output.working(study) as progress:
            output.show(_replay_files(arguments, progress))
        return 0
    if study == "votes":
        output.show(answer_votes(arguments))
        return 0
    if "all_runs" in arguments:
        view["all_runs"] = arguments.pop("all_runs")
    with output.working(study) as progress:
        arguments["progress"] = progress
        if study == "plan":
            answer: Any = _plan_campaign(arguments)
        elif study == "simulate":
            simulation = with_folder("lab simulate", arguments, "truth")
            answer = lab.simulate_runs(**simulation)
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
    add(study, "--densities PERCENTS", help_text, shares, LABEL_DENSITIES)
    add(study, "--count N", "random rankings", positive, 5)
    add(study, "--per-density N", "random annotations of each density", positive, 1)
    help_text = "no runs with chance labels added to real ones"
    study.add_argument("--no-over", action="store_false", dest="over", help=help_text)
    add(study, "--all-runs", "also a table of every run", bool)
    _work(study)
    study = step("generality", "the same topics in growing collections")
    _rankings(study, LAB_GENERALITY, "; none with --simulate")
    help_text = "shares of the collection (default: a third, two thirds, all of it)"
    add(study, "--shares PERCENTS", help_text, shares, COLLECTION_SHARES)
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
    _plan(step("plan", "how many topics a difference needs, and what they cost"))
    _replay(step("replay", "what fewer judgements, or opinions, would have told"))
    study = step("pool", "what a pool without a run would mean for it")
    _rankings(study)
    add(study, "--depth N", "depth of the pool", positive, 100)
    _work(study, seed=False)
    study = step("unjudged", "how far runs can be ordered without judgements")
    _rankings(study)
    add(study, "--depth N", "how many items of each run make the pool", positive, 100)
    help_text = "items of each run that are taken for relevant where its first ones are"
    add(study, "--top N", help_text, positive, 10)
    add(study, "--trials N", "random judgements", positive, 50)
    _work(study)
    study = step("simulate", "make up runs of graded quality from a truth")
    add(study, "truth QRELS", "judgements, or a truth with --labels")
    add(study, "folder DIR", "where the runs go")
    add(study, "--labels", "annotations instead of rankings", bool)
    add(study, "--count N", "how many runs", positive, 24)
    common(study, "seed")
    outputs(study)
    return parser


def _plan_campaign(arguments: dict[str, Any]) -> Any:
    """The plan from the files of a pilot, which are those of `cranfield compare`."""
    from cranfield.evaluation.inputs import SUBJECT_OPTIONS, EvaluationInput

    progress, names, jobs = (arguments.pop(n) for n in ("progress", "measures", "jobs"))
    inputs = {name: arguments.pop(name) for name in SUBJECT_OPTIONS if name in arguments}
    subject = EvaluationInput.of(arguments.pop("files"), arguments.pop("truth"), **inputs)
    scores = subject.scores(names, jobs, progress.part(0.0, 0.2))
    return lab.plan_campaign(scores, **arguments, progress=progress.part(0.2, 1.0))


def _plan(parser: Parser) -> None:
    add(parser, "files FILE+", "the pilot: judgements, then runs; with --truth: runs; or scores")
    measures(parser, "measures or sets of them (default: those of eval; with --truth, of label)")
    common(parser, "collection-size")
    add(parser, "--truth FILE", "the true concepts of items: the runs are annotations")
    label_options(parser)
    add(parser, "--difference X", "the difference of two means that is to be seen", float, 0.05)
    add(parser, "--power P", "the share of such differences that is to be found", share, 0.8)
    add(parser, "--alpha A", "level of the test", share, 0.05)
    add(parser, "--baseline RUN", "only its pairs count (default: all pairs)")
    add(parser, "--test", "the test of the comparison", TESTS, "bootstrap")
    help_text = "over all pairs (default: romano-wolf for tests by resampling, holm for others)"
    add(parser, "--correction", help_text, CORRECTIONS)
    add(parser, "--simulations N", "simulated campaigns of each size", positive, 200)
    add(parser, "--resamples N", "of the test in each of them", positive, 400)
    group = parser.group("cost")
    add(group, "--judgements-per-topic N", "items to judge for each topic", from_zero)
    add(group, "--assessors N", "people who judge each of them", positive, 1)
    add(group, "--seconds S", "time of one judgement", from_zero)
    add(group, "--hourly X", "pay of one hour", from_zero)
    group = parser.group("a model judge beside people")
    help_text = "correlation of its differences between runs with people's, over topics"
    add(group, "--judge-correlation R", help_text, float)
    help_text = "topics that it judges (default: four times those needed)"
    add(group, "--judge-topics N", help_text, positive)
    common(parser, "jobs", "seed")
    outputs(parser)


# What a replay takes with judgements and runs; all else is for a log.
_OF_POOLS = ("designs", "judge", "budget", "batch", "depth", "replays", "alpha")


def _replay_files(arguments: dict[str, Any], progress: Any) -> Any:
    """The replay of a log, or with runs that of complete judgements."""
    log, *runs = arguments.pop("files")
    settings = {name: value for name, value in arguments.items() if value is not None}
    wrong = [n for n in settings if n not in ("rng", "measures") and (n in _OF_POOLS) != bool(runs)]
    if wrong:
        needed = "a log alone" if runs else "judgements and runs"
        raise UsageError(f"{wrong[0]}= is for a replay of {needed}")
    if not runs:
        return lab.replay_overlap(log, **settings, progress=progress)
    if "measures" in settings:
        settings["measure"] = settings.pop("measures")
    return lab.replay_designs(log, runs, **settings, progress=progress)


def _replay(parser: Parser) -> None:
    help_text = """complete judgements and two runs or more; or a log of opinions alone (CSV
    annotator,item,concept,value or annotator,item,category)"""
    add(parser, "files FILE+", help_text)
    group = parser.group("judgements of a pool")
    help_text = f"some of {', '.join(JUDGING_METHODS)} (default: all but the last)"
    add(group, "--designs NAMES", help_text, lambda text: tuple(text.split(",")))
    help_text = "judgements of a model: the drawn designs are replayed beside it as well"
    add(group, "--judge QRELS", help_text)
    add(group, "--budget P", "share of the pool that may be judged (default: 0.3)", share)
    add(group, "--batch N", "items of each round (default: 100)", positive)
    add(group, "--depth K", "depth of the pool (default: 100)", positive)
    add(group, "--replays N", "replays of each design (default: 20)", positive)
    add(group, "--alpha A", "level of tests, intervals and claims (default: 0.05)", share)
    group = parser.group("opinions of a log")
    add(group, "--gold FILE", "known answers (item,concept,value or item,category)")
    add(group, "--fixed N", "opinions per item to compare with (default: 5)", positive)
    add(group, "--most N", "opinions that an item gets at most (default: 10)", positive)
    help_text = """items that --fixed people judge first, to learn who is reliable (default:
    0.1)"""
    add(group, "--pilot X", help_text, share)
    help_text = "how sure of an item to be, all tried (default: 50,60,65,70,75,80,85,90,95)"
    add(group, "--sure PERCENTS", help_text, shares)
    help_text = """who is asked next: the most reliable with an opinion on the item, or any
    (default: best)"""
    add(group, "--people", help_text, PEOPLE)
    help_text = "the model that says what the answers are (default: dawid-skene)"
    add(group, "--method", help_text, OVERLAP_METHODS)
    add(group, "--repeats N", "how often opinions are drawn (default: 10)", positive)
    add(group, "--systems RUN", "annotation runs to rank by every truth", nargs="+")
    help_text = "the answers that can be given, low to high; any other is an error"
    add(group, "--values", help_text, str.split, metavar='"A B ..."')
    help_text = "a second judgement of the same annotator on the same cell (default: error)"
    add(group, "--duplicates", help_text, ("error", "first", "last"))
    help_text = "the measure: P@K or RBP (default: P@10), or of --systems (default: F.example)"
    measures(parser, help_text)
    common(parser, "seed")
    outputs(parser)


def _stability(parser: Parser) -> None:
    _runs(parser)
    help_text = f"some of {', '.join(STABILITY_PARTS)} (default: all)"
    add(parser, "--parts NAMES", help_text, lambda text: tuple(text.split(",")), STABILITY_PARTS)
    help_text = "shares of the truth to flip (default: 1,2,5,10)"
    add(parser, "--noise PERCENTS", help_text, shares, NOISE_SHARES)
    help_text = "shares of judgements and of topics to take away (default: 10,30,50,70,90)"
    add(parser, "--dropped PERCENTS", help_text, shares, DROPPED_SHARES)
    add(parser, "--repeats N", "repetitions", positive, 5)
    add(parser, "--trials N", "splits into halves for the swap rate", positive, 100)
    add(parser, "--resamples N", "bootstrap samples for discriminative power", positive, 1000)
    add(parser, "--level A", "level of the test behind discriminative power", float, 0.05)
    common(parser, "design")
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
        f"measures or sets of them (default: {LAB_RANKED}; with --truth: {LAB_LABELS})",
    )
    common(parser, "collection-size")
    add(parser, "--truth FILE", "the true concepts of items: the runs are annotations")
    label_options(parser)


def _rankings(parser: Parser, names: str = LAB_RANKED, none: str = "") -> None:
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
    group = parser.group("how the work is done")
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
