"""Lists of concepts, and mappings from concepts to the words of another source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from cranfield.errors import InputError, Problem, suggest
from cranfield.io.files import csv_rows, describe, inner_suffix, open_text
from cranfield.ontologies import BUILT_IN, MAPPINGS, built_in, mapping_file

_HEADERS = (["concept", "word"], ["word", "concept"])


def read_mapping(
    source: str | Path, *, to: Literal["words", "concepts"] = "words"
) -> dict[str, str]:
    """A mapping file: CSV `concept,word` or `word,concept`; the second stands for the first.

    One that is built in has both: words of WordNet for concepts, or concepts for words.
    """
    if str(source) in MAPPINGS:
        with mapping_file(str(source), to) as path:
            return read_mapping(path)
    check_name(source, MAPPINGS, "mapping")
    mapping: dict[str, str] = {}
    problems: list[Problem] = []
    for line, row in _rows(source):
        if len(row) != 2:
            problems.append(Problem(line, f"{len(row)} columns, expected: concept,word"))
        elif row[0] in mapping:
            problems.append(Problem(line, f"concept {row[0]!r} given twice"))
        elif mapping or [cell.lower() for cell in row] not in _HEADERS:
            mapping[row[0]] = row[1]
    if problems:
        raise InputError(describe(source), problems)
    return mapping


def read_concepts(source: str | Path) -> tuple[str, ...]:
    """Names of concepts: of a built-in ontology, the column `concept` of a CSV, or one a line."""
    if str(source) in BUILT_IN:
        return built_in(str(source)).concepts
    check_name(source, BUILT_IN, "list of concepts")
    rows = _rows(source)
    column, start = 0, 0
    header = [cell.lower() for cell in rows[0][1]] if rows else []
    if "concept" in header:
        column, start = header.index("concept"), 1
    elif any(len(row) > 1 for _, row in rows):
        raise InputError.single(
            describe(source), "several columns but none named 'concept' in the first line", 1
        )
    seen: dict[str, int] = {}
    problems: list[Problem] = []
    for line, row in rows[start:]:
        name = row[column] if column < len(row) else ""
        if not name:
            problems.append(Problem(line, "no name in the column 'concept'"))
        elif name in seen:
            problems.append(Problem(line, f"concept {name!r} is already on line {seen[name]}"))
        else:
            seen[name] = line
    if not seen and not problems:
        problems.append(Problem(0, "holds no concept"))
    if problems:
        raise InputError(describe(source), problems)
    return tuple(seen)


def check_name(source: str | Path, built_in_names: Sequence[str], kind: str) -> None:
    """An InputError for a name without ending that is neither a file nor built in."""
    if not Path(source).suffix and str(source) != "-" and not Path(source).exists():
        raise InputError.single(
            str(source),
            f"no such file, and no built-in {kind} of that name."
            f"{suggest(str(source), built_in_names)}",
        )


def _rows(source: str | Path) -> list[tuple[int, list[str]]]:
    """The rows that hold anything, with their lines; lines that start with # are remarks."""
    delimiter = "\t" if inner_suffix(source) == ".tsv" else ","
    with open_text(source) as stream:
        return [
            (line, [cell.strip() for cell in row])
            for line, row in csv_rows(stream, describe(source), delimiter)
            if any(cell.strip() for cell in row) and not row[0].startswith("# ")
        ]
