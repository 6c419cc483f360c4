"""`cranfield campaign results`: the result tables of a campaign."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from cranfield.campaign.results import TABLES, campaign_results
from cranfield.cli._common import (
    Output,
    add_jobs_option,
    add_measures_option,
    add_output_options,
    positive,
    show,
    take_measures,
    working,
)
from cranfield.data.collection import KINDS
from cranfield.errors import UsageError
from cranfield.io.collection import read_items

UNITS = ("concepts", "items", "topics")
NAMED = ("configurations", "teams")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "; ".join(f"{table.name}: {table.title}" for table in TABLES.values())
    parser.add_argument(
        "source",
        metavar="DIR|SCORES",
        help="a collection's folder, scores that were saved or printed as JSON, or CSV of printed "
        "figures: a column per measure beside run, team, configuration and concept, item or topic",
    )
    parser.add_argument(
        "--table", choices=TABLES, default="runs", metavar="NAME", help="default: runs"
    )
    parser.add_argument("--kind", choices=KINDS, help="which runs of a collection that has both")
    add_measures_option(parser, "measures of the table (default: the collection's)")
    for unit in UNITS:
        parser.add_argument(
            f"--{unit}", metavar="FILE", help=f"only these {unit}: a column or a line each"
        )
    for what in NAMED:
        parser.add_argument(f"--{what}", metavar="A,B", help=f"only runs of these {what}")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="sets",
        metavar="NAME=FILE",
        help="side-by-side: concepts (or topics) under a name; repeatable",
    )
    parser.add_argument(
        "--year",
        action="append",
        default=[],
        dest="years",
        metavar="NAME=SOURCE",
        help="an earlier year: a folder, scores or figures (default: the collection's); repeatable",
    )
    parser.add_argument("--count", type=positive, metavar="N", help="rows of items or runs")
    parser.add_argument(
        "--per-group", action="store_true", help="rank-changes: one run of each group"
    )
    parser.add_argument(
        "--no-compare", action="store_false", dest="compare", help="no ranks by tests"
    )
    add_jobs_option(parser)
    add_output_options(parser)


def run(given: dict[str, Any]) -> int:
    output = Output.take(given)
    measures = take_measures(given)
    for unit in UNITS:
        given[unit] = None if given[unit] is None else _ids(given[unit], unit)
    for what in NAMED:
        given[what] = given[what].split(",") if given[what] else None
    kept = "topics" if given["kind"] == "ranked" else "concepts"
    given["sets"] = {n: _ids(file, kept) for n, file in _named(given["sets"], "set")} or None
    given["years"] = dict(_named(given["years"], "year")) or None
    with working("scoring", output) as progress:
        answer = campaign_results(
            **given, measures=measures.split() if measures else None, progress=progress
        )
    show(answer, output)
    return 0


def _ids(file: str, unit: str) -> tuple[str, ...]:
    return read_items(file, column=unit.removesuffix("s"))


def _named(texts: Sequence[str], option: str) -> list[tuple[str, str]]:
    pairs = [text.partition("=") for text in texts]
    for name, _, value in pairs:
        if not name or not value:
            raise UsageError(f"--{option} takes NAME=FILE, not {name + value!r}")
    return [(name, value) for name, _, value in pairs]
