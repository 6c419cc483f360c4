"""`cranfield report table`: one of the result tables that a campaign publishes."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.campaign.result_tables import TABLES
from cranfield.cli._common import AppendNames, NamedValues, Parser, add, common, outputs, positive
from cranfield.data.collection import KINDS

DESCRIPTION = "A result table of a collection, of scores or of printed figures."


def make_parser() -> Parser:
    tables = "; ".join(f"{table.name}: {table.title}" for table in TABLES.values())
    parser = Parser.of("report table", DESCRIPTION, f"{tables}.")
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
        add(parser, f"--{unit} FILE", f"only these {unit}, one per line or in a column of CSV")
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


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.campaign.results import campaign_results

    arguments["compare"] = not arguments.pop("no_compare")
    with output.working("scoring") as progress:
        answer = campaign_results(progress=progress, **arguments)
    output.show(answer)
    return 0
