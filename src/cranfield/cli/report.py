"""`cranfield report`: a page, a site, a table or the errors of results."""

from __future__ import annotations

from dataclasses import replace

from cranfield.campaign.result_tables import TABLES
from cranfield.cli._common import (
    AppendNames,
    Arguments,
    NamedValues,
    Output,
    Parser,
    add,
    common,
    measures,
    outputs,
    positive,
    target,
)
from cranfield.cli._inputs import subject_options, truth_files
from cranfield.data.collection import KINDS

PAGE_DESCRIPTION = """Write one page with everything about a collection: leaderboards, comparisons,
every topic and item, annotators. It needs no network and opens from disk."""


SITE_DESCRIPTION = """Write the results of a collection as a site of plain files, readable without a
script: leaderboards with intervals and groups, a page for every run, team, topic and concept,
comparisons, method, files; each also as JSON and CSV. The truth stays sealed unless it is
released."""


def page_parser() -> Parser:
    parser = Parser.of("report page", PAGE_DESCRIPTION)
    add(parser, "collection DIR", "a folder with a collection.toml")
    add(parser, "-o --output FILE", "the page to write", dest="path", required=True)
    help_text = "leave out what tells the truth of single items, and the annotators"
    add(parser, "--public", help_text, bool)
    common(parser, "title", "pictures")
    add(parser, "--kind", "only the runs of this kind", KINDS)
    truth_files(parser, "folder's truth")
    add(parser, "--baseline RUN", "the run that others are compared with")
    common(parser, "jobs", "quiet")
    return parser


def page(arguments: Arguments, output: Output) -> int:
    from cranfield.report.collection import collection_report

    kind, head = arguments.pop("kind"), output.head(arguments["public"])
    with output.working("reporting") as progress:
        page = collection_report(kinds=kind and (kind,), progress=progress, **arguments, **head)
    output.write(str(output.path), page)
    return 0


def site_parser() -> Parser:
    parser = Parser.of("report site", SITE_DESCRIPTION)
    add(parser, "collection DIR", "a folder with a collection.toml")
    help_text = "also show the truth: judgements, relevant items, true labels, and its files"
    add(parser, "--release-truth", help_text, bool)
    add(parser, "--with-runs", "also copy the files of the runs", bool)
    add(parser, "--kind", "only the runs of this kind", KINDS)
    truth_files(parser, "folder's truth")
    add(parser, "--resamples N", "random draws of the tests", positive, 10_000)
    common(parser, "jobs")
    folder_help = (
        "SITE!: the folder to write, whole or not at all; a site that is there is replaced"
    )
    target(parser, folder_help, "table")
    return parser


def site(arguments: Arguments, output: Output) -> int:
    from cranfield.site.publish import publish

    kind, place = arguments.pop("kind"), str(output.path)
    with output.working("publishing") as progress:
        answer = publish(target=place, kinds=kind and (kind,), progress=progress, **arguments)
    replace(output, path=None).show(answer)
    return 0


TABLE_DESCRIPTION = "A result table of a collection, of scores or of printed figures."


def table_parser() -> Parser:
    tables = "; ".join(f"{table.name}: {table.title}" for table in TABLES.values())
    parser = Parser.of("report table", TABLE_DESCRIPTION, f"{tables}.")
    help_text = """a collection's folder, scores that were saved or printed as JSON, or CSV of
    printed figures: a column per measure beside run, team, configuration and concept, item or
    topic"""
    add(parser, "source DIR|SCORES", help_text)
    add(parser, "--table NAME", "which table, as listed below", tuple(TABLES), "runs")
    add(parser, "--kind", "which runs of a collection that has both", KINDS)
    add(
        parser,
        "-m --measures NAMES",
        "measures of the table (default: the collection's)",
        AppendNames,
    )
    for unit in ("concepts", "items", "topics"):
        help_text = f"only these {unit}, one per line in a column of CSV, or a collection's"
        add(parser, f"--{unit} FILE|DIR", help_text)
    for help_text in ("configurations", "teams"):
        add(parser, f"--{help_text} A,B", f"only runs of these {help_text}")
    help_text = "side-by-side: concepts (or topics) of a file under a name; repeatable"
    add(parser, "--set NAME=FILE", help_text, NamedValues, dest="sets")
    help_text = (
        "an earlier year: a folder, scores or figures (default: the collection's); repeatable"
    )
    add(parser, "--year NAME=SOURCE", help_text, NamedValues, dest="years")
    help_text = "runs: headed as SHREC 2006 names its means, and of these unless -m names others"
    add(parser, "--as", help_text, ("shrec",), dest="named")
    add(parser, "--count N", "how many items or runs are listed", positive)
    add(parser, "--per-group", "rank-changes: one run of each group", bool)
    add(parser, "--no-compare", "no ranks by tests", bool)
    common(parser, "jobs")
    outputs(parser)
    return parser


def table(arguments: Arguments, output: Output) -> int:
    from cranfield.campaign.results import campaign_results

    arguments["compare"] = not arguments.pop("no_compare")
    with output.working("scoring") as progress:
        answer = campaign_results(progress=progress, **arguments)
    output.show(answer)
    return 0


ERRORS_DESCRIPTION = """\
Where runs fail: the hardest topics, those where runs disagree, the largest gains
and losses against a baseline; for annotations also the concepts that are confused most, wrong
labels by confidence, and where the loss comes from under measures with costs or a hierarchy."""


ERRORS_EXAMPLES = """examples:
  cranfield report errors qrels.txt bm25.run dense.run -m AP --baseline bm25
  cranfield report errors --truth truth.csv a.csv b.csv -m AP.concept
  cranfield report errors DIR --kind labels   (a collection's folder)
"""


def errors_parser() -> Parser:
    parser = Parser.of("report errors", ERRORS_DESCRIPTION, ERRORS_EXAMPLES, raw=True)
    measures(parser, "the first one counts (default: that of eval or label)")
    add(parser, "--baseline RUN", "also gains and losses against this run")
    add(parser, "--kind", "which runs of a collection that has both", KINDS)
    add(parser, "--count N", "rows of each table", positive, 10, dest="shown")
    subject_options(parser)
    common(parser, "jobs")
    outputs(parser)
    return parser


def errors(arguments: Arguments, output: Output) -> int:
    from cranfield.campaign.error_analysis import find_errors

    with output.working("looking for errors") as progress:
        answer = find_errors(progress=progress, **arguments)
    output.show(answer)
    return 0


COMMANDS = {
    "page": (page_parser, page),
    "site": (site_parser, site),
    "table": (table_parser, table),
    "errors": (errors_parser, errors),
}
