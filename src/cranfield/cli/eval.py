"""`cranfield eval`, and `eval votes`, `displacement` and `index`: rankings against a truth."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._commands import commands_of
from cranfield.cli._common import (
    Arguments,
    Output,
    Parser,
    add,
    common,
    executor,
    gate_floors,
    measures,
    outputs,
    positive,
)
from cranfield.cli._inputs import (
    has_truths,
    ranked_options,
    scores_and_page,
    show_powered,
    truth_options,
    with_folder,
)
from cranfield.errors import UsageError
from cranfield.evaluation.inputs import select_readable_runs, with_notes
from cranfield.evaluation.ranked import DEFAULT_MEASURES, evaluate
from cranfield.io import read_qrels
from cranfield.io.coerce import read_runs
from cranfield.measures import SETS
from cranfield.options import DISPLACEMENT, INDEX_QUALITY

RANKED_FILES = """\
Files: TREC format, or .json, .csv, .tsv, .parquet; each may be .gz or .zst, and '-' is
standard input. Other evaluations are commands of their own:"""


def ranked_parser() -> Parser:
    others = "; ".join(f"cranfield eval {name}" for name in commands_of("eval") if name != "ranked")
    parser = Parser.of(
        "eval", "Evaluate ranked runs against judgements.", f"{RANKED_FILES} {others}."
    )
    add(parser, "judgements QRELS|DIR", "judgements, or a collection's folder")
    add(parser, "runs RUN*", "one or more runs; NAME=FILE gives one another name")
    measures(parser, f"measures or sets of them: {', '.join(SETS)} (default: {DEFAULT_MEASURES})")
    ranked_options(parser)
    truth_options(parser)
    common(parser, "design")
    add(parser, "--tie-range", "also tell how far ties can move each mean", bool)
    common(parser, "per-topic", "ranks", "by")
    common(parser, "third", "keep-going", "fail-under", "junit", "summary")
    common(parser, "public", "title", "pictures")
    executor(parser, "each run is evaluated there")
    common(parser, "jobs", "seed")
    outputs(parser)
    return parser


def ranked(arguments: Arguments, output: Output) -> int:
    arguments = with_folder("eval", arguments, "judgements", "runs")
    if has_truths(arguments):
        files = [arguments.pop("judgements"), *arguments.pop("runs")]
        return show_powered(ranked_parser(), arguments, files, output)
    bad: tuple[str, ...] = ()
    if arguments.pop("keep_going"):
        arguments["runs"], bad = select_readable_runs(arguments["runs"])
    checks = [arguments.pop(n) for n in ("fail_under", "junit", "summary")]
    measure_names = DEFAULT_MEASURES if arguments["measures"] is None else arguments["measures"]
    arguments["measures"] = " ".join([measure_names, *(name for name, _ in checks[0])])
    # The report has every topic anyway.
    per: Sequence[str] = ["topic"] if arguments.pop("per_topic") and output.form != "html" else []
    groups, design = arguments.pop("by"), arguments.pop("design")
    ranks = arguments.pop("ranks")
    if ranks and groups is not None:
        raise UsageError("--ranks and --by cannot be combined: slices have means and differences")
    scores, page, per = scores_and_page(
        output, arguments, evaluate, "" if groups else "ranked_case", per
    )
    if design is not None:
        scores = scores.with_design(design)
    if groups is not None:
        output.show(with_notes(scores, bad).by(groups, rng=arguments["rng"]))
        return gate_floors(scores, checks, output) or bool(bad)
    output.show(with_notes(scores, bad) if bad else scores, page=page, per=per, ranks=ranks)
    return gate_floors(scores, checks, output) or bool(bad)


VOTES_DESCRIPTION = """Precision and recall as distributions: people vote for the category of each
item, and a topic is an item (or a category) whose like is searched."""


VOTES_FILES = """\
VOTES: subject,item,category. TREE: category,parent (the root's parent is empty;
several rows of one category make an acyclic graph)."""


def votes_parser() -> Parser:
    parser = Parser.of("eval votes", VOTES_DESCRIPTION, VOTES_FILES)
    add(parser, "votes VOTES|DIR", "CSV subject,item,category, or a collection's folder")
    add(parser, "tree TREE?", "CSV category,parent; not with a folder")
    add(parser, "runs RUN*", "one or more runs")
    help_text = (
        "VOTES is item,category,probability, as `cranfield truth aggregate --soft` writes it"
    )
    add(parser, "--soft", help_text, bool)
    add(parser, "-k K", "look at the first K items, or at `all` that a run has", _depth, 10)
    help_text = "also the means at these depths, with bands"
    add(parser, "--bands", help_text, _depths, (), metavar='"K K ..."')
    help_text = "CSV topic,query: the item or category behind a topic of another name"
    add(parser, "--queries FILE", help_text)
    help_text = """a query is of each category with its share of votes, or as the paper prints it,
    where categories above count too"""
    add(parser, "--mixing", help_text, ("votes", "printed"), "votes")
    help_text = "a subject who did not vote on an item: an error, or one vote fewer"
    add(parser, "--skipped", help_text, ("error", "abstain"), "error")
    help_text = "a retrieved item without votes: an error, or of no category"
    add(parser, "--unvoted", help_text, ("error", "zero"), "error")
    help_text = """a query that is an item: it counts as an item of its category, or is left out of
    rankings and categories"""
    add(parser, "--query", help_text, ("counts", "left out"), "counts")
    common(parser, "seed", "jobs")
    outputs(parser)
    return parser


def _depth(text: str) -> int | None:
    """An argparse type: a whole number from 1 on, or all."""
    return None if text == "all" else positive(text)


def _depths(text: str) -> tuple[int, ...]:
    """An argparse type: whole numbers from 1 on."""
    return tuple(positive(part) for part in text.replace(",", " ").split())


def votes(arguments: Arguments, output: Output) -> int:
    from cranfield.evaluation.category_votes import evaluate_opinions

    arguments = with_folder("eval votes", arguments, "votes", "runs")
    with output.working("evaluating") as progress:
        answer = evaluate_opinions(progress=progress, **arguments)
    output.show(answer)
    return 0


DISPLACEMENT_DESCRIPTION = "How far rankings of systems are from ranked lists that people made."


DISPLACEMENT_FILES = """\
SUBJECTS: subject,topic,item,significance, with significances in [0, 1]; a list is
ordered by significance, equal ones as in the file."""


def displacement_parser() -> Parser:
    parser = Parser.of("eval displacement", DISPLACEMENT_DESCRIPTION, DISPLACEMENT_FILES)
    help_text = "CSV subject,topic,item,significance, or a collection's folder"
    add(parser, "subjects SUBJECTS|DIR", help_text)
    add(parser, "runs RUN*", "one or more runs")
    measures(parser, "measures of displacement", DISPLACEMENT)
    common(parser, "collection-size")
    help_text = "also the displacement with items that were not retrieved next, in the middle, last"
    add(parser, "--hypotheses", help_text, bool)
    help_text = (
        "equally significant items of a subject: as in the file, or the mean over their orders"
    )
    add(parser, "--ties", help_text, ("file", "average"), "file")
    add(parser, "--per-subject", "also the mean of each subject", bool)
    add(parser, "--per-topic", "also every subject and topic", bool)
    common(parser, "seed", "jobs")
    outputs(parser)
    return parser


def displacement(arguments: Arguments, output: Output) -> int:
    from cranfield.evaluation.displacement import evaluate_displacement
    from cranfield.io.votes import read_subject_rankings

    arguments = with_folder("eval displacement", arguments, "subjects", "runs")
    per = [unit for unit in ("subject", "topic") if arguments.pop(f"per_{unit}")]
    with output.working("comparing") as progress:
        rankings = read_subject_rankings(arguments.pop("subjects"))
        runs = read_runs(arguments.pop("runs"), jobs=arguments.pop("jobs"))
        answer = evaluate_displacement(rankings, runs, progress=progress, **arguments)
    output.show(answer, per=per)
    return 0


INDEX_DESCRIPTION = """\
Rank the collection with each topic's optimal query (Rocchio): the mean of the
relevant vectors minus the mean of the others, by cosine. It is optimal for the difference of
mean cosines; --best also looks for the vector that ranks best."""


INDEX_FILES = """\
VECTORS: .npy (a row per item; ids from --items, or row numbers from 0), .npz (arrays
items, vectors) or .parquet (item, and vector or one column per dimension)."""


def index_parser() -> Parser:
    parser = Parser.of("eval index", INDEX_DESCRIPTION, INDEX_FILES)
    add(parser, "vectors VECTORS", "vectors of all items of the collection")
    add(parser, "qrels QRELS|DIR", "judgements, or a collection's folder")
    add(parser, "runs RUN*", "runs to hold against it")
    measures(parser, "measures or sets of them", INDEX_QUALITY)
    add(parser, "--items FILE", "ids of the rows of .npy, one per line")
    help_text = "the grade from which items are relevant when queries are formed (default: 1)"
    add(parser, "--rel G", help_text, float, 1.0)
    add(parser, "--raw", "means of the vectors as they are, not of unit length", bool)
    add(parser, "--best", "also the query that ranks best, by descent on a loss", bool)
    common(parser, "per-topic", "jobs")
    outputs(parser)
    return parser


def index(arguments: Arguments, output: Output) -> int:
    from cranfield.evaluation.index_quality import evaluate_index
    from cranfield.io.arrays import read_item_vectors

    arguments = with_folder("eval index", arguments, "qrels")
    per = ("topic",) if arguments.pop("per_topic") else ()
    with output.working("ranking") as progress:
        vectors = read_item_vectors(arguments.pop("vectors"), arguments.pop("items"))
        judged = read_qrels(arguments.pop("qrels"), jobs=arguments["jobs"])
        runs = read_runs(arguments.pop("runs"), jobs=arguments["jobs"])
        answer = evaluate_index(vectors, judged, runs, progress=progress, **arguments)
    output.show(answer, per=per)
    return 0


COMMANDS = {
    "ranked": (ranked_parser, ranked),
    "votes": (votes_parser, votes),
    "displacement": (displacement_parser, displacement),
    "index": (index_parser, index),
}
