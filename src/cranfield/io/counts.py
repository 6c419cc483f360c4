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
import re
from dataclasses import dataclass, field
from pathlib import Path

from cranfield.data.counts import Snapshot, normalise_term
from cranfield.errors import InputError, Problem
from cranfield.io.files import csv_rows, describe, read_text, write_atomic
from cranfield.io.ids import NAME_CSV
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
