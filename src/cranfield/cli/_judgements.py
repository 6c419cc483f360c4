"""What the commands on judgement logs share: the log, its rules, and files beside the answer."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cranfield.cli._common import write_file
from cranfield.data.judgement_log import JudgementLog
from cranfield.data.ontology import Ontology, Rules
from cranfield.data.rulebook import exclusive_groups
from cranfield.io.judgement_log import Duplicates, read_judgement_log
from cranfield.io.ontology import read_rules_of
from cranfield.notes import Progress
from cranfield.report.document import Document, Table
from cranfield.report.render import render

READING_PART = 0.4


def add_log_options(parser: argparse.ArgumentParser, duplicates: Iterable[str]) -> None:
    parser.add_argument(
        "judgements",
        metavar="JUDGEMENTS",
        help="CSV annotator,item,concept,value[,seconds] or annotator,item,category",
    )
    parser.add_argument(
        "--values",
        metavar='"A B ..."',
        type=str.split,
        help="the answers that can be given, low to high; any other is an error",
    )
    parser.add_argument(
        "--duplicates",
        choices=tuple(duplicates),
        default="error",
        help="a second judgement of the same annotator on the same cell (default: error)",
    )
    parser.add_argument(
        "--rules",
        metavar="FILE",
        help="TOML with [[exactly_one]] groups, which are one question each (and more rules); "
        "forms that break them are left out",
    )
    parser.add_argument(
        "--ontology", metavar="NAME|FILE", help="more rules, from a built-in ontology or a file"
    )


@dataclass(frozen=True, slots=True)
class LogInput:
    """A judgement log and what is said about how to read it."""

    path: str
    values: list[str] | None
    duplicates: Duplicates
    rules: str | None
    ontology: str | None

    @classmethod
    def of(cls, args: argparse.Namespace) -> LogInput:
        return cls(args.judgements, args.values, args.duplicates, args.rules, args.ontology)

    def read(self, progress: Progress) -> tuple[JudgementLog, Ontology | Rules | None]:
        """The log, and the rules that its forms keep."""
        rules = read_rules_of(rules=self.rules, ontology=self.ontology)
        log = read_judgement_log(
            self.path,
            values=self.values,
            groups=None if rules is None else exclusive_groups(rules),
            duplicates=self.duplicates,
            progress=progress.part(0.0, READING_PART),
        )
        return log, rules


def write_tables(tables: Mapping[str, Table], *, quiet: bool) -> None:
    """Side files of a command as CSV; called when nothing else can go wrong any more."""
    for path, table in tables.items():
        write_file(path, render(Document({}, [table]), "csv"), quiet=quiet)
