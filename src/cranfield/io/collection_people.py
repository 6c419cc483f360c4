"""Teams and facts of runs: tables of `collection.toml`, or CSV files of the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cranfield.data.collection import RunFacts, Team
from cranfield.errors import InputError, Problem, suggest
from cranfield.io.collection_keys import RUN_KEYS, TEAM_KEYS
from cranfield.io.files import csv_rows, describe, inner_suffix, open_text

_YES, _NO = ("1", "true", "yes"), ("", "0", "false", "no")


def read_teams(path: Path) -> tuple[Team, ...]:
    """Teams from CSV; an InputError lists all that is wrong."""
    records = _records(path, TEAM_KEYS, "acronym")
    return tuple(Team(**values) for _, values in records)


def read_run_facts(path: Path) -> tuple[RunFacts, ...]:
    """Facts of runs from CSV; an InputError lists all that is wrong."""
    found, problems = [], []
    for line, values in _records(path, RUN_KEYS, "run"):
        said = str(values.pop("baseline", "")).lower()
        if said not in (*_YES, *_NO):
            problems.append(Problem(line, f"baseline is {said!r} (expected: yes or no)"))
        found.append(RunFacts(**values, baseline=said in _YES))
    if problems:
        raise InputError(describe(path), problems)
    return tuple(found)


def _records(path: Path, known: Sequence[str], required: str) -> list[tuple[int, dict[str, Any]]]:
    where = describe(path)
    with open_text(path) as stream:
        rows = csv_rows(stream, where, "\t" if inner_suffix(path) == ".tsv" else ",")
        header = [name.strip() for name in next(rows, (0, []))[1]]
        problems = [
            Problem(1, f"unknown column {name!r}.{suggest(name, known)}")
            for name in header
            if name not in known
        ]
        if required not in header:
            problems.append(Problem(1, f"the header has no column {required!r}"))
        if problems:
            raise InputError(where, problems)
        found = list(_filled(rows, header))
    seen: dict[str, int] = {}
    for line, values in found:
        name = values.get(required, "")
        if not name:
            problems.append(Problem(line, f"the row has no {required}"))
        elif name in seen:
            said = f"{required} {name!r} is given twice, first on line {seen[name]}"
            problems.append(Problem(line, said))
        seen.setdefault(name, line)
    if problems:
        raise InputError(where, problems)
    return found


def _filled(
    rows: Iterator[tuple[int, list[str]]], header: Sequence[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, row in rows:
        if any(cell.strip() for cell in row):
            yield line, {name: cell.strip() for name, cell in zip(header, row, strict=False)}
