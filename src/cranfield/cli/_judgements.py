"""What the commands on judgement logs share: reading, rules, progress."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cranfield.agreement.exclusive import Forms, Groups, check_forms
from cranfield.cli._common import Watch
from cranfield.data.judgement_log import JudgementLog
from cranfield.errors import UsageError
from cranfield.io.files import write_whole
from cranfield.io.judgement_log import read_judgement_log
from cranfield.report.document import Document, Table
from cranfield.report.render import render

READING_PART = 0.4


class Progress:
    """A fraction of the work that is done, for the progress line."""

    def __init__(self) -> None:
        self.fraction = 0.0

    def part(self, start: float, end: float) -> Callable[[float], None]:
        """A report of a step that takes the whole from `start` to `end`."""

        def report(done: float) -> None:
            self.fraction = start + (end - start) * done

        return report


@contextmanager
def watched(label: str, args: argparse.Namespace) -> Any:
    """A progress line around the work, and the warnings it collects."""
    progress = Progress()
    with Watch(label, lambda: progress.fraction, quiet=args.quiet) as watch:
        yield progress, watch


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
        help="TOML with [[exactly_one]] groups; forms that break them are left out",
    )
    parser.add_argument(
        "--ontology", metavar="NAME|FILE", help="more groups, from a built-in ontology or a file"
    )


def read_groups(args: argparse.Namespace) -> Groups:
    """The exclusive groups of --rules and --ontology, under names made of their members."""
    if args.rules is None and args.ontology is None:
        return {}
    from cranfield.io.ontology import read_ontology, read_rules

    found = read_rules(args.rules).exactly_one if args.rules else ()
    if args.rules and not found:
        raise UsageError(f"{args.rules}: has no [[exactly_one]] group")
    if args.ontology:
        found += read_ontology(args.ontology).rules.exactly_one
    return {"/".join(members): members for members in found}


def read_log(
    args: argparse.Namespace, groups: Groups, progress: Progress
) -> tuple[JudgementLog, Forms | None]:
    """The log without the forms that break a group, and what was found about forms."""
    log = read_judgement_log(
        args.judgements,
        values=args.values,
        groups=groups or None,
        duplicates=args.duplicates,
        progress=progress.part(0.0, READING_PART),
    )
    if not groups:
        return log, None
    forms = check_forms(log, groups)
    if not len(forms.kept):
        raise UsageError(
            f"{log.source}: every form breaks a rule, nothing is left "
            f"(the first: {forms.broken[0].annotator!r} on {forms.broken[0].item!r}, "
            f"{forms.broken[0].reason})"
        )
    return forms.kept, forms


def log_facts(log: JudgementLog) -> dict[str, int]:
    """The size of a log, for the head of an answer."""
    facts = {
        "judgements": len(log),
        "annotators": len(set(log.annotator.tolist())),
        "items": len(set(log.item.tolist())),
    }
    if log.kind == "concept" or log.allowed is not None:
        facts["concepts"] = len(set(log.concept.tolist()))
    return facts


def log_warnings(log: JudgementLog, forms: Forms | None) -> list[str]:
    """What a user should know about a log that is still usable."""
    import numpy as np

    said = []
    if forms is not None and forms.rejected:
        said.append(
            f"{forms.rejected} of {forms.total} forms break a rule and are left out "
            f"(such as {forms.broken[0].annotator!r} on {forms.broken[0].item!r}: "
            f"{forms.broken[0].reason})"
        )
    judged = np.bincount(log.annotator, minlength=len(log.annotators))
    lonely = np.flatnonzero(judged == 1)
    if lonely.size:
        said.append(
            f"{lonely.size} annotator{'s' * (lonely.size > 1)} with a single judgement, "
            f"such as {log.annotators[lonely[0]]!r}"
        )
    unit = log.item.astype(np.int64) * len(log.concepts) + log.concept
    _, votes = np.unique(unit, return_counts=True)
    single = int(np.count_nonzero(votes == 1))
    if single:
        said.append(f"{single} of {votes.size} units have a single judgement: no pair to agree")
    return said


def write_tables(tables: Mapping[str, Table]) -> None:
    """Side files of a command as CSV; called when nothing else can go wrong any more."""
    for path, table in tables.items():
        write_whole(Path(path), render(Document({}, [table]), "csv").encode())
