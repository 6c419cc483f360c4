"""Lists of concepts, queries over them, their meanings, and their words in another source."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cranfield.data.concept_query import Expression, parse_expression
from cranfield.errors import InputError, Problem, UsageError, suggest
from cranfield.io.files import FileForm, csv_rows, describe, inner_suffix, open_text
from cranfield.ontologies import BUILT_IN, MAPPINGS, built_in, mapping_file, meanings_text

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


def read_concept_queries(path: str | Path) -> dict[str, Expression]:
    """The queries of a file by topic."""
    source_name = describe(path)
    queries: dict[str, Expression] = {}
    problems: list[Problem] = []
    for line, topic, text in _query_rows(path, source_name):
        if topic in queries:
            problems.append(Problem(line, f"topic {topic!r} given twice"))
            continue
        try:
            queries[topic] = parse_expression(text)
        except UsageError as error:
            problems.append(Problem(line, str(error)))
    if not queries and not problems:
        problems.append(Problem(0, "holds no query"))
    if problems:
        raise InputError(source_name, problems)
    return queries


def _query_rows(path: str | Path, source_name: str) -> Iterator[tuple[int, str, str]]:
    suffix = inner_suffix(path)
    with open_text(path) as stream:
        if suffix not in (".csv", ".tsv"):
            for line, text in enumerate(stream, 1):
                parts = text.split(None, 1)
                if parts and not parts[0].startswith("#"):
                    yield line, parts[0], parts[1] if len(parts) > 1 else ""
            return
        rows = csv_rows(stream, source_name, "\t" if suffix == ".tsv" else ",")
        header = [cell.strip().lower() for cell in next(rows, (0, []))[1]]
        if not {"topic", "query"} <= set(header):
            raise InputError.single(source_name, "expected a header with topic,query", 1)
        topic_column, query_column = header.index("topic"), header.index("query")
        for line, row in rows:
            if any(cell.strip() for cell in row):
                cells = [*row, *[""] * len(header)]
                yield line, cells[topic_column].strip(), cells[query_column].strip()
