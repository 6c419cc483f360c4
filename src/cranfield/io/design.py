"""How units were sampled: CSV with the columns unit,cluster,stratum,probability.

How people grouped or tagged items: CSV subject,item,group[,kind] or subject,item,tag[,kind].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from cranfield.data.collection import Design
from cranfield.data.columns import HEADERS
from cranfield.errors import InputError, Problem, UsageError, suggest
from cranfield.io.fast_csv import number_or_nan
from cranfield.io.files import (
    FileForm,
    Input,
    csv_rows,
    describe,
    inner_suffix,
    open_text,
    read_text,
)
from cranfield.io.sniff import separator_of
from cranfield.validation import describe_value

COLUMNS = ("unit", "cluster", "stratum", "probability")
# A design, its file, or {unit: cluster}.
DesignForm: TypeAlias = "Design | Mapping[str, str] | str | Path | Input"


def coerce_design(design: DesignForm) -> Design:
    """A design in any accepted form."""
    if isinstance(design, Design):
        return design
    if isinstance(design, Mapping):
        names = tuple(map(str, design))
        if not names:
            raise UsageError(f"design={describe_value(design)} has no units")
        clusters = tuple(map(str, design.values()))
        return Design(names, clusters, ("",) * len(names), (1.0,) * len(names))
    return read_design(design)


def read_design(path: FileForm) -> Design:
    """The design of a file; an InputError lists all that is wrong.

    Units are topics, or items of annotations. Every column but `unit` may be missing; an empty
    cluster is one of that unit alone, and an empty probability is 1.
    """
    source_name = describe(path)
    problems: list[Problem] = []
    rows: dict[str, tuple[str, str, float]] = {}
    with open_text(path) as stream:
        lines = csv_rows(stream, source_name, "\t" if inner_suffix(path) == ".tsv" else ",")
        header = [name.strip().lower() for name in next(lines, (0, []))[1]]
        problems += [
            Problem(
                1,
                f"unknown column {name!r} (expected: {', '.join(COLUMNS)})."
                f"{suggest(name, COLUMNS)}",
            )
            for name in header
            if name not in COLUMNS
        ]
        if "unit" not in header:
            problems.append(Problem(1, f"the header {','.join(header)!r} has no column 'unit'"))
        if problems:
            raise InputError(source_name, problems)
        for line, cells in lines:
            row = {n: c.strip() for n, c in zip(header, cells, strict=False)}
            if not any(row.values()):
                continue
            unit, text = row.get("unit", ""), row.get("probability", "")
            probability = number_or_nan(text) if text else 1.0
            if not unit:
                problems.append(Problem(line, "the row names no unit"))
            elif unit in rows:
                problems.append(Problem(line, f"the unit {unit!r} stands twice"))
            if not 0 < probability <= 1:
                message = f"probability is {text!r} (expected: a number above 0, at most 1)"
                problems.append(Problem(line, message))
            rows.setdefault(unit, (row.get("cluster", ""), row.get("stratum", ""), probability))
    if not rows and not problems:
        problems.append(Problem(1, "names no unit"))
    if problems:
        raise InputError(source_name, problems)
    clusters, strata, probabilities = zip(*rows.values(), strict=True)
    return Design(tuple(rows), clusters, strata, probabilities, source_name)


_BETWEEN = "/"
_UNITS = ("topic", "item", "concept")


@dataclass(frozen=True)
class Groupings:
    """Where each person put each item: the path of its group, or its tags.

    `kinds` has the kind of reason of a person's group, or of a tag on an item, where it is given.
    """

    places: Mapping[str, Mapping[str, tuple[str, ...]]]
    kinds: Mapping[tuple[str, tuple[str, ...]], str]
    tags: bool = False

    @property
    def subjects(self) -> tuple[str, ...]:
        return tuple(self.places)

    @property
    def items(self) -> tuple[str, ...]:
        """All items of any subject, in the order of their first mention."""
        return tuple(dict.fromkeys(i for placed in self.places.values() for i in placed))


def read_groupings(path: str | Path) -> Groupings:
    """The groups or tags of a file."""
    source_name = describe(path)
    delimiter = "\t" if inner_suffix(path) == ".tsv" else ","
    with open_text(path) as stream:
        rows = list(csv_rows(stream, source_name, delimiter))
    header = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    tags = header[:3] == ["subject", "item", "tag"]
    if not tags and header[:3] != ["subject", "item", "group"]:
        raise InputError.single(
            source_name, "expected a header subject,item,group[,kind] or subject,item,tag[,kind]", 1
        )
    places: dict[str, dict[str, tuple[str, ...]]] = {}
    kinds: dict[tuple[str, tuple[str, ...]], str] = {}
    problems: list[Problem] = []
    for line, row in rows[1:]:
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if len(cells) != len(header) or not all(cells[:3]):
            problems.append(Problem(line, f"expected {','.join(header)}, each with something"))
            continue
        subject, item, label = cells[:3]
        item_groups = places.setdefault(subject, {})
        if tags:
            item_groups[item] = (*item_groups.get(item, ()), label)
        elif item in item_groups:
            problems.append(Problem(line, f"subject {subject!r} groups item {item!r} twice"))
            continue
        else:
            item_groups[item] = tuple(part.strip() for part in label.split(_BETWEEN))
        if len(cells) > 3 and cells[3]:
            kinds[subject, (item, label) if tags else item_groups[item]] = cells[3]
    if not places and not problems:
        problems.append(Problem(0, "holds no group"))
    if problems:
        raise InputError(source_name, problems)
    return Groupings(places, kinds, tags)


def read_unit_groups(path: FileForm) -> tuple[str, dict[str, tuple[str, ...]]]:
    """Groups of topics, items or concepts, from CSV topic,group (item,group; concept,group).

    Gives the kind of unit that the header names and the groups of each unit, which may be several.
    """
    source_name = describe(path)
    text = read_text(path)
    rows = list(csv_rows(text.splitlines(keepends=True), source_name, separator_of(text)))
    header = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    kinds = {name: kind for kind in _UNITS for name in (kind, *HEADERS.get(kind, ()))}
    if len(header) != 2 or header[0] not in kinds:
        raise InputError.single(
            source_name, "expected a header topic,group (or item,group; concept,group)", 1
        )
    groups: dict[str, tuple[str, ...]] = {}
    problems = []
    for line, row in rows[1:]:
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if len(cells) != 2 or not all(cells):
            problems.append(Problem(line, f"expected {','.join(header)}, each with something"))
            continue
        groups[cells[0]] = tuple(dict.fromkeys((*groups.get(cells[0], ()), cells[1])))
    if problems:
        raise InputError(source_name, problems)
    if not groups:
        raise InputError.single(source_name, "has no rows below its header")
    return kinds[header[0]], groups
