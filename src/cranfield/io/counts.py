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
from pathlib import Path

from cranfield.data.counts import Snapshot, term_of
from cranfield.errors import InputError, Problem
from cranfield.io.files import describe, read_text, write_whole

_HEADER = ["term", "with", "count"]
_FACTS = ("total", "source", "date")


def read_counts(path: str | Path) -> Snapshot:
    """Hit counts; every problem is reported with its line."""
    where = describe(path)
    facts: dict[str, str] = {}
    body: list[tuple[int, str]] = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.startswith("#"):
            key, _, value = line[1:].partition(":")
            facts[key.strip().lower()] = value.strip()
        elif line.strip():
            body.append((number, line))
    if not body or next(csv.reader([body[0][1]])) != _HEADER:
        raise InputError.single(
            where, "not hit counts (expected the header term,with,count)", body[0][0] if body else 0
        )
    total = facts.get("total", "").replace(",", "").replace("_", "")
    if not total.isdigit() or int(total) == 0:
        raise InputError.single(
            where, "the size of the corpus is missing (expected a line such as '# total: 4300000')"
        )
    single: dict[str, int] = {}
    joint: dict[frozenset[str], int] = {}
    problems: list[Problem] = []
    for number, line in body[1:]:
        message = _take(next(csv.reader([line])), single, joint)
        if message:
            problems.append(Problem(number, message))
    if not problems:
        problems = _contradictions(single, joint, int(total))
    if problems:
        raise InputError(where, problems)
    return Snapshot(
        int(total), single, joint, facts.get("source", ""), facts.get("date", ""), where
    )


def _take(row: list[str], single: dict[str, int], joint: dict[frozenset[str], int]) -> str:
    if len(row) != len(_HEADER):
        return f"{len(row)} columns, expected term,with,count"
    term, other, text = term_of(row[0]), term_of(row[1]), row[2].strip()
    if not term:
        return "no term, expected term,with,count"
    if not text.isdigit():
        return f"count {text!r} is not a whole number"
    if other:
        pair = frozenset((term, other))
        if len(pair) == 1:
            return f"{term!r} together with itself"
        if pair in joint:
            return f"{term!r} with {other!r} counted twice"
        joint[pair] = int(text)
    elif term in single:
        return f"{term!r} counted twice"
    else:
        single[term] = int(text)
    return ""


def _contradictions(
    single: dict[str, int], joint: dict[frozenset[str], int], total: int
) -> list[Problem]:
    problems = [
        Problem(0, f"{term!r} occurs {count} times in a corpus of {total}")
        for term, count in single.items()
        if count > total
    ]
    problems += [
        Problem(0, f"{term!r} is counted with other terms but not alone")
        for term in dict.fromkeys(t for pair in joint for t in sorted(pair))
        if term not in single
    ]
    return problems


def write_counts(snapshot: Snapshot, path: str | Path) -> None:
    """Write hit counts with what they were counted on."""
    out = io.StringIO()
    for fact in _FACTS:
        value = getattr(snapshot, fact)
        if value:
            out.write(f"# {fact}: {value}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_HEADER)
    writer.writerows((term, "", count) for term, count in snapshot.single.items())
    writer.writerows((*sorted(pair), count) for pair, count in snapshot.joint.items())
    write_whole(Path(path), out.getvalue().encode())
