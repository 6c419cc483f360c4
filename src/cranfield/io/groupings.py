"""How people grouped or tagged items: CSV subject,item,group[,kind] or subject,item,tag[,kind]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cranfield.errors import InputError, Problem
from cranfield.io.files import csv_rows, describe, inner_suffix, open_text

_BETWEEN = "/"


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
