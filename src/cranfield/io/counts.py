"""Hit counts of a corpus, with the corpus's size, source and date: CSV `term,with,count`.

# total: 4300000000
# source: Flickr, tags
# date: 2009-11-15
term,with,count
sea,,11034511
sea,beach,2201118
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cranfield.data.counts import Snapshot, normalise_term
from cranfield.data.toml import parse_toml
from cranfield.errors import InputError, Problem
from cranfield.io.files import (
    NAME_CSV,
    csv_rows,
    describe,
    inner_suffix,
    input_lines,
    read_text,
    write_atomic,
)
from cranfield.notes import Progress
from cranfield.validation import validate_params

_HEADER = ["term", "with", "count"]
_FACTS = ("total", "source", "date")
_MOST_DIGITS = 300  # more than any corpus has documents, and few enough to be a float


@dataclass
class _Tally:
    """The counts read so far, and the first line of each term."""

    single: dict[str, int] = field(default_factory=dict)
    joint: dict[frozenset[str], int] = field(default_factory=dict)
    line_of: dict[str, int] = field(default_factory=dict)


@validate_params
def read_counts(path: str | Path) -> Snapshot:
    """Hit counts; every problem is reported with its line."""
    source_name = describe(path)
    facts: dict[str, str] = {}
    body: list[str] = []
    for number, line in enumerate(io.StringIO(read_text(path), newline=None), 1):
        if line.startswith("#"):
            key, _, value = line[1:].partition(":")
            if facts.setdefault(key.strip().lower(), value.strip()) != value.strip():
                raise InputError.single(source_name, f"{key.strip()} is given twice", number)
        # A fact leaves an empty line behind, so that rows keep their numbers.
        body.append("\n" if line.startswith("#") else line)
    rows = [
        (number, row) for number, row in csv_rows(body, source_name) if any(map(str.strip, row))
    ]
    if not rows or rows[0][1] != _HEADER:
        raise InputError.single(
            source_name,
            "not hit counts (expected the header term,with,count)",
            rows[0][0] if rows else 0,
        )
    total = _parse_whole(facts.get("total", "").replace(",", "").replace("_", ""))
    if not total:
        raise InputError.single(
            source_name,
            "the size of the corpus is missing (expected a line such as '# total: 4300000')",
        )
    tally = _Tally()
    problems: list[Problem] = []
    for number, row in rows[1:]:
        message = _add_count(number, row, tally)
        if message:
            problems.append(Problem(number, message))
    problems = problems or _contradictions(tally, total)
    if problems:
        raise InputError(source_name, problems)
    return Snapshot(
        total,
        tally.single,
        tally.joint,
        facts.get("source", ""),
        facts.get("date", ""),
        source_name,
    )


def _parse_whole(text: str) -> int | None:
    """A whole number in plain digits, or None."""
    return int(text) if re.fullmatch("[0-9]+", text) and len(text) <= _MOST_DIGITS else None


def _add_count(number: int, row: list[str], tally: _Tally) -> str:
    if len(row) != len(_HEADER):
        return f"{len(row)} columns, expected term,with,count"
    term, second_term, count = (
        normalise_term(row[0]),
        normalise_term(row[1]),
        _parse_whole(row[2].strip()),
    )
    if not term:
        return "no term, expected term,with,count"
    if count is None:
        return f"count {row[2].strip()[:40]!r} is not a whole number"
    if second_term:
        pair = frozenset((term, second_term))
        if len(pair) == 1:
            return f"{term!r} together with itself"
        if pair in tally.joint:
            return f"{term!r} with {second_term!r} counted twice"
        tally.joint[pair] = count
    elif term in tally.single:
        return f"{term!r} counted twice"
    else:
        tally.single[term] = count
    tally.line_of.setdefault(term, number)
    tally.line_of.setdefault(second_term, number)
    return ""


def _contradictions(tally: _Tally, total: int) -> list[Problem]:
    problems = [
        Problem(tally.line_of[term], f"{term!r} occurs {count} times in a corpus of {total}")
        for term, count in tally.single.items()
        if count > total
    ]
    problems += [
        Problem(tally.line_of[term], f"{term!r} is counted with other terms but not alone")
        for term in dict.fromkeys(t for pair in tally.joint for t in sorted(pair))
        if term not in tally.single
    ]
    return problems


def write_counts(snapshot: Snapshot, path: str | Path) -> None:
    """Write hit counts with what they were counted on."""
    NAME_CSV.check(str(path), "the term", snapshot.single)
    out = io.StringIO()
    for fact in _FACTS:
        value = " ".join(str(getattr(snapshot, fact)).split())
        if value:
            out.write(f"# {fact}: {value}\n")
    # A term such as #sunset would begin a line as a fact does.
    marked = any(term.startswith("#") for term in snapshot.single)
    writer = csv.writer(
        out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC if marked else csv.QUOTE_MINIMAL
    )
    writer.writerow(_HEADER)
    writer.writerows((term, "", count) for term, count in snapshot.single.items())
    writer.writerows((*sorted(pair), count) for pair, count in snapshot.joint.items())
    write_atomic(Path(path), out.getvalue().encode())


def read_link_pairs(
    path: str | Path, *, progress: Progress | None = None
) -> Iterator[tuple[str, str]]:
    """The links of a table one after the other; the file is never held whole."""
    source_name = describe(path)
    delimiter = "\t" if inner_suffix(path) in (".tsv", ".txt") else ","
    source, target = 0, 1
    some = False
    for line, row in csv_rows(input_lines(path, progress=progress), source_name, delimiter):
        if line == 1 and sorted(row) == ["source", "target"]:
            source, target = row.index("source"), row.index("target")
        elif len(row) == 2 and row[0].strip() and row[1].strip():
            some = True
            yield row[source], row[target]
        elif row:
            fault = f"{len(row)} columns" if len(row) != 2 else "an empty name"
            raise InputError.single(source_name, f"{fault}, expected: source,target", line)
    if not some:
        raise InputError.single(source_name, "holds no link, expected: source,target")


_KEYS = {"name": str, "url": str, "count": str, "total": int}
_OPTIONAL = ("join", "seconds")


@dataclass(frozen=True, kw_only=True)
class ProviderSettings:
    """How a service is asked for a number of hits.

    `url` has {query} where the terms go; `count` is the way to the number in the answer, such as
    photos.total; terms are joined by `join`; `seconds` lie between two questions.
    """

    name: str
    url: str
    count: str
    total: int
    join: str = " "
    seconds: float = 1.0


def read_provider(path: str | Path) -> ProviderSettings:
    """The settings of a provider from its TOML file."""
    source_name = describe(path)
    settings = parse_toml(read_text(path), source_name)
    problem = _setting_problem(settings)
    if problem:
        raise InputError.single(source_name, problem)
    return ProviderSettings(**settings)


def _setting_problem(settings: dict[str, Any]) -> str:
    """What is wrong with the settings of a provider, or the empty string."""
    for key, kind in _KEYS.items():
        if not isinstance(settings.get(key), kind) or settings[key] is True:
            expected = "text" if kind is str else "a whole number"
            return (
                f"{key} is missing or not {expected} "
                "(expected: name, url with {query}, count, total)"
            )
    if "{query}" not in settings["url"]:
        return "url has no {query}, where the words go"
    unknown = set(settings) - set(_KEYS) - set(_OPTIONAL)
    if unknown:
        return f"unknown setting {', '.join(sorted(unknown))}"
    if not settings["url"].startswith(("http://", "https://")):
        return "url is no web address (expected http:// or https://)"
    if not isinstance(settings.get("join", " "), str):
        return "join is not text"
    seconds = settings.get("seconds", 1.0)
    if not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
        return "seconds is not a number from 0 on"
    if settings["total"] < 1:
        return "total is the size of the corpus, expected 1 or more"
    return ""
