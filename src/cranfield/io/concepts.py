"""Lists of concepts, queries over them, their meanings, and their words in another source."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from cranfield.data.concept_query import Expression, parse_expression
from cranfield.errors import InputError, Problem, UsageError, suggest
from cranfield.io.fast_csv import PlainRows, plain_columns
from cranfield.io.files import FileForm, csv_rows, describe, inner_suffix, number, open_text
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


_PAIR_COLUMNS = "expected: word1,word2[,human], and a header of these names or none"


@dataclass(frozen=True, slots=True)
class WordPair:
    """Two words and how related people find them, if they were asked."""

    word1: str
    word2: str
    human: float | None = None


def read_pairs(path: str | Path) -> tuple[WordPair, ...]:
    """Pairs from CSV or TSV with the columns word1, word2 and perhaps human.

    A file without that header has two words on each line, and perhaps a number, separated by
    tabs, commas or blanks.
    """
    source_name = describe(path)
    plain_rows = PlainRows(path)
    plain_pairs = _plain_pairs(plain_rows)
    if plain_pairs is not None:
        return plain_pairs
    rows = _pair_rows(plain_rows.text(), source_name)
    if not rows:
        raise InputError.single(source_name, "holds no pair of words")
    columns = {name.lower(): i for i, name in enumerate(rows[0][1])}
    at: tuple[int, ...] = (0, 1, 2)
    if "word1" in columns and "word2" in columns:
        at = (columns["word1"], columns["word2"], columns.get("human", -1))
        rows = rows[1:]
    problems: list[Problem] = []
    pairs = [pair for number, row in rows if (pair := _pair(number, row, at, problems))]
    if not pairs and not problems:
        problems.append(Problem(0, "holds no pair of words"))
    if problems:
        raise InputError(source_name, problems)
    return tuple(pairs)


def _plain_pairs(plain_rows: PlainRows) -> tuple[WordPair, ...] | None:
    """The pairs of a file with a header in which all rows are plain; None for any other."""
    first = plain_rows.first or ""
    delimiter = next((mark for mark in ("\t", ",") if mark in first), "")
    header = [cell.strip().lower() for cell in first.split(delimiter or None)]
    if not delimiter or header[:1] != ["word1"]:
        return None
    scored = {"human": "n"} if "human" in header else {}
    columns = plain_columns(plain_rows, delimiter, {"word1": "c", "word2": "c", **scored})
    if columns is None or any(name.split(" ")[0] == "#" for name in columns.texts["word1"].names):
        return None
    words = [columns.texts[name].texts() for name in ("word1", "word2")]
    if columns.numbers is None:
        return tuple(map(WordPair, *words))
    finite = bool(np.isfinite(columns.numbers).all())
    return tuple(map(WordPair, *words, columns.numbers.tolist())) if finite else None


def _pair_rows(text: str, source_name: str) -> list[tuple[int, list[str]]]:
    """The rows that hold anything, with their lines; lines that start with # are remarks."""
    lines = list(io.StringIO(text, newline=None))
    first = next((line for line in lines if line.strip() and not line.startswith("# ")), "")
    delimiter = next((mark for mark in ("\t", ",") if mark in first), "")
    every = (
        csv_rows(lines, source_name, delimiter)
        if delimiter
        else ((number, line.split()) for number, line in enumerate(lines, 1))
    )
    rows = ((number, [cell.strip() for cell in row]) for number, row in every)
    return [(number, row) for number, row in rows if any(row) and row[0].split(" ")[0] != "#"]


def _pair(
    line: int, row: list[str], at: tuple[int, ...], problems: list[Problem]
) -> WordPair | None:
    first, second, score = at
    if len(row) <= max(first, second) or not row[first] or not row[second]:
        problems.append(Problem(line, f"not a pair of words ({_PAIR_COLUMNS})"))
        return None
    human: float | None = None
    if 0 <= score < len(row) and row[score]:
        try:
            human = number(row[score])
        except ValueError:
            human = math.nan
        if not math.isfinite(human):
            problems.append(
                Problem(line, f"score {row[score]!r} is not a number ({_PAIR_COLUMNS})")
            )
            return None
    return WordPair(row[first], row[second], human)
