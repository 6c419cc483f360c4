"""What is counted of a corpus: its tags item by item, its links, and hit counts of its terms.

Hit counts, with the corpus's size, source and date, are CSV `term,with,count`:

    # total: 4300000000
    # source: Flickr, tags
    # date: 2009-11-15
    term,with,count
    sea,,11034511
    sea,beach,2201118

Tag corpora as CSV and TSV come in three forms, told apart by the header: `item,tags[,text]` with
the tags of an item separated by bars, semicolons or blanks; `item,tag` or `item,concept,value`,
one row for each, the rows of an item one after the other; and one column per concept, with 0 and
1. Any other file is text without a header: an item and one number per concept, whose names must
be given.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from cranfield.data.counts import Snapshot, TaggedItem, normalise_term
from cranfield.data.toml import parse_toml
from cranfield.errors import InputError, Problem, first_duplicate
from cranfield.io.files import (
    NAME_CSV,
    FileForm,
    csv_rows,
    describe,
    filled_rows,
    inner_suffix,
    input_lines,
    number,
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
    for place, line in enumerate(io.StringIO(read_text(path), newline=None), 1):
        if line.startswith("#"):
            key, _, value = line[1:].partition(":")
            if facts.setdefault(key.strip().lower(), value.strip()) != value.strip():
                raise InputError.single(source_name, f"{key.strip()} is given twice", place)
        # A fact leaves an empty line behind, so that rows keep their numbers.
        body.append("\n" if line.startswith("#") else line)
    rows = [(place, row) for place, row in csv_rows(body, source_name) if any(map(str.strip, row))]
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
    for place, row in rows[1:]:
        message = _add_count(place, row, tally)
        if message:
            problems.append(Problem(place, message))
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


_PRESENT_FROM = 0.5

Rows = Iterator[tuple[int, list[str]]]
Items = Iterator[tuple[int, TaggedItem]]


def read_tagged_items(
    path: str | Path,
    *,
    concepts: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
) -> Iterator[TaggedItem]:
    """The items of a tag corpus, one after the other; the file is never held whole.

    `concepts` names the columns of a file that has no names.
    """
    source_name = describe(path)
    suffix = inner_suffix(path)
    lines = input_lines(path, progress=progress)
    if suffix in (".csv", ".tsv") or str(path) == "-":
        items = _from_csv(lines, source_name, "\t" if suffix == ".tsv" else ",")
    else:
        items = _from_text(lines, source_name, [normalise_term(name) for name in concepts])
    seen: set[str] = set()
    for line, item in items:
        # An item that were counted twice would make its tags look closer than they are.
        if item.item in seen:
            raise InputError.single(
                source_name,
                f"item {item.item!r} comes back; an item has one row, or rows that follow "
                "each other",
                line,
            )
        seen.add(item.item)
        yield item
    if not seen:
        raise InputError.single(source_name, "holds no item")


def _from_csv(lines: Iterator[str], source_name: str, delimiter: str) -> Items:
    rows = csv_rows(lines, source_name, delimiter, long_fields=True)
    header = [cell.strip() for cell in next(rows, (0, []))[1]]
    if len(header) < 2 or header[0] != "item":
        raise InputError.single(
            source_name,
            "not a tag corpus (expected a header item,tags or item,tags,text or item,tag "
            "or item,concept,value or item and one column per concept)",
            1,
        )
    rows = _check_rows(rows, source_name, len(header))
    if header in (["item", "tags"], ["item", "tags", "text"]):
        yield from ((line, _packed_item(row)) for line, row in rows)
    elif header in (["item", "tag"], ["item", "concept", "value"]):
        yield from _long_items(rows, source_name)
    else:
        names = [normalise_term(name) for name in header[1:]]
        twice = first_duplicate(names)
        if twice is not None or not all(names):
            fault = f"column {twice!r} is there twice" if all(names) else "a column has no name"
            raise InputError.single(source_name, f"{fault}, expected one per concept", 1)
        yield from ((line, _wide_item(line, row, names, source_name)) for line, row in rows)


def _from_text(lines: Iterator[str], source_name: str, names: list[str]) -> Items:
    for line, row in enumerate(lines, 1):
        cells = row.split()
        if not cells:
            continue
        if len(cells) != len(names) + 1:
            raise InputError.single(
                source_name,
                f"an item and {len(cells) - 1} numbers, but {len(names)} concepts "
                "(name the columns of a file without a header with columns=)",
                line,
            )
        yield line, _wide_item(line, cells, names, source_name)


def _check_rows(rows: Rows, source_name: str, width: int) -> Rows:
    for line, row in rows:
        if not row:
            continue
        if len(row) != width:
            raise InputError.single(source_name, f"{len(row)} columns, expected {width}", line)
        yield line, row


def _packed_item(row: list[str]) -> TaggedItem:
    tags = row[1]
    separator = "|" if "|" in tags else ";" if ";" in tags else None
    tag_set = frozenset(normalise_term(tag) for tag in tags.split(separator) if tag.strip())
    return TaggedItem(row[0], tag_set, row[2] if len(row) > 2 else "")


def _long_items(rows: Rows, source_name: str) -> Items:
    for item, group in groupby(rows, key=lambda entry: entry[1][0]):
        first, tags = 0, set()
        for line, row in group:
            first = first or line
            if len(row) == 2 or _is_present(row[2], line, source_name):
                tags.add(normalise_term(row[1]))
        yield first, TaggedItem(item, frozenset(tags))


def _wide_item(line: int, row: list[str], names: list[str], source_name: str) -> TaggedItem:
    present_names = [
        name
        for name, cell in zip(names, row[1:], strict=True)
        if _is_present(cell, line, source_name)
    ]
    return TaggedItem(row[0], frozenset(present_names))


def _is_present(cell: str, line: int, source_name: str) -> bool:
    try:
        value = number(cell)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise InputError.single(source_name, f"value {cell!r} is not a number", line)
    if not 0 <= value <= 1:
        raise InputError.single(
            source_name,
            f"value {cell!r} is not in [0, 1], where 1 means that the item has it",
            line,
        )
    return value >= _PRESENT_FROM


@validate_params
def read_tags(path: FileForm) -> dict[str, tuple[str, ...]]:
    """The items of each tag, from CSV item,tag."""
    source_name = describe(path)
    rows = filled_rows(path)
    header = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    if header != ["item", "tag"]:
        raise InputError.single(
            source_name, f"the header is {','.join(header)!r}, expected item,tag", 1
        )
    tags: dict[str, dict[str, int]] = {}
    problems: list[Problem] = []
    for line, row in rows[1:]:
        if len(row) != 2 or not row[0].strip() or not row[1].strip():
            problems.append(Problem(line, "expected an item and a tag"))
            continue
        item, tag = row[0].strip(), row[1].strip()
        first = tags.setdefault(tag, {}).setdefault(item, line)
        if first != line:
            problems.append(Problem(line, f"item {item!r} with tag {tag!r} again (line {first})"))
    if problems:
        raise InputError(source_name, problems)
    if not tags:
        raise InputError.single(source_name, "has a header but no tags")
    return {tag: tuple(items) for tag, items in tags.items()}
