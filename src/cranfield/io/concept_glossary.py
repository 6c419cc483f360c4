"""What concepts mean, for people who annotate: CSV with a column `concept` and some others."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass

from cranfield.errors import InputError
from cranfield.io.files import FileForm, describe, open_text
from cranfield.ontologies import meanings_text

COLUMNS = ("title", "question", "definition", "example")
# Items that show a concept, which a collection may list beside them.
OTHER = ("concept", "examples")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What people see of a concept, the question it opens, how it is defined, and an example."""

    title: str = ""
    question: str = ""
    definition: str = ""
    example: str = ""


def read_meanings(path: FileForm) -> dict[str, Meaning]:
    """Definitions of concepts from a file."""
    with open_text(path) as stream:
        return _parse_meanings(csv.DictReader(stream), describe(path))


def built_in_meanings() -> Mapping[str, Meaning]:
    """The definitions of the concepts of the Photo Tagging Ontology, in our own words."""
    return _parse_meanings(csv.DictReader(meanings_text().splitlines()), "meanings-pto.csv")


def _parse_meanings(rows: csv.DictReader[str], source_name: str) -> dict[str, Meaning]:
    names = [name.strip() for name in rows.fieldnames or ()]
    if "concept" not in names or not set(names) <= {*OTHER, *COLUMNS}:
        raise InputError.single(
            source_name,
            f"expected a header: concept,{','.join(COLUMNS)} (all but concept optional)",
            1,
        )
    rows.fieldnames = names
    meanings: dict[str, Meaning] = {}
    for row in rows:
        concept = (row["concept"] or "").strip()
        if not concept or concept in meanings or None in row:
            message = "a row without a concept" if not concept else f"{concept!r} stands here twice"
            message = "more fields than the header" if None in row else message
            raise InputError.single(source_name, message, rows.line_num)
        meanings[concept] = Meaning(**{n: (row.get(n) or "").strip() for n in COLUMNS})
    return meanings
