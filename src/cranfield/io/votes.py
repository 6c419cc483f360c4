"""Votes for categories, the tree of categories, and ranked lists of subjects, as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.data.categories import Categorisation, CategoryGraph, SubjectRankings
from cranfield.errors import (
    PROBLEMS_SHOWN,
    CycleError,
    InputError,
    Problem,
    UsageError,
    suggest,
)
from cranfield.io.fast_csv import PlainColumns, PlainRows, plain_columns
from cranfield.io.files import FileForm, describe, inner_suffix, number
from cranfield.validation import validate_params


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    fields: tuple[str, ...]


# Says what is wrong with a row, or the empty string.
_Check = Callable[[_Row], str]


@validate_params
def read_categories(path: FileForm) -> CategoryGraph:
    """The tree or acyclic graph of categories: CSV category,parent (the root's is empty)."""
    seen: dict[tuple[str, ...], int] = {}

    def check(row: _Row) -> str:
        first = seen.setdefault(row.fields, row.line)
        if first != row.line:
            return f"{row.fields[0]!r} under {row.fields[1]!r} stands twice, first on line {first}"
        return "" if row.fields[0] else "the category is empty"

    _read_rows(PlainRows(path), ("category", "parent"), check, path)
    try:
        return CategoryGraph.from_pairs((fields[0], fields[1]) for fields in seen)
    except CycleError as error:
        line = seen[error.cycle[0], error.cycle[1]]
        raise InputError.single(describe(path), str(error), line) from None
    except UsageError as error:
        raise InputError.single(describe(path), str(error)) from None


@validate_params
def read_category_votes(
    path: FileForm, graph: CategoryGraph, *, skipped: str = "error"
) -> Categorisation:
    """Votes of people for categories: CSV subject,item,category."""
    plain_rows, delimiter = PlainRows(path), _delimiter(path)
    categorisation = _plain_votes(plain_rows, delimiter, graph, skipped)
    if categorisation is not None:
        return categorisation
    seen: dict[tuple[str, str], int] = {}

    def check(row: _Row) -> str:
        subject, item, category = row.fields
        if not all(row.fields):
            return "subject, item or category is empty"
        if category not in graph.parents:
            return f"category {category!r} is not in the tree.{suggest(category, graph.parents)}"
        first = seen.setdefault((subject, item), row.line)
        if first != row.line:
            return f"subject {subject!r} votes twice on item {item!r}, first on line {first}"
        return ""

    rows = _read_rows(plain_rows, ("subject", "item", "category"), check, path)
    votes = [(r.fields[0], r.fields[1], r.fields[2]) for r in rows]
    try:
        return Categorisation.from_votes(votes, graph, skipped=skipped)
    except UsageError as error:
        raise InputError.single(describe(path), str(error)) from None


@validate_params
def read_soft_labels(path: FileForm, graph: CategoryGraph) -> Categorisation:
    """Probabilities of categories: CSV item,category,probability, as `aggregate --soft` writes."""
    plain_rows = PlainRows(path)
    shares = _plain_shares(plain_rows, _delimiter(path), graph)
    if shares is not None:
        return _categorisation_of_shares(path, shares, graph)
    seen: dict[tuple[str, str], int] = {}

    def check(row: _Row) -> str:
        item, category, text = row.fields
        if not all(row.fields):
            return "item, category or probability is empty"
        if category not in graph.parents:
            return f"category {category!r} is not in the tree.{suggest(category, graph.parents)}"
        if not 0 <= _number(text) <= 1:
            return f"probability {text!r} is not a number in [0, 1]"
        first = seen.setdefault((item, category), row.line)
        if first != row.line:
            return f"item {item!r} has category {category!r} twice, first on line {first}"
        return ""

    rows = _read_rows(plain_rows, ("item", "category", "probability"), check, path)
    shares = [(r.fields[0], r.fields[1], float(r.fields[2])) for r in rows]
    return _categorisation_of_shares(path, shares, graph)


def _categorisation_of_shares(
    path: FileForm, shares: Sequence[tuple[str, str, float]], graph: CategoryGraph
) -> Categorisation:
    try:
        return Categorisation.from_probabilities(shares, graph)
    except UsageError as error:
        raise InputError.single(describe(path), str(error)) from None


@validate_params
def read_queries(path: FileForm) -> dict[str, str]:
    """The item or category that stands for each topic: CSV topic,query."""
    return _read_name_map(path, "topic", "query")


def read_families(path: FileForm) -> dict[str, str]:
    """The family that each run belongs to: CSV run,family."""
    return _read_name_map(path, "run", "family")


def _read_name_map(path: FileForm, name: str, value: str) -> dict[str, str]:
    """The second of two columns by the first, in which every name stands once."""
    seen: dict[str, int] = {}

    def check(row: _Row) -> str:
        first = seen.setdefault(row.fields[0], row.line)
        if first != row.line:
            return f"{name} {row.fields[0]!r} stands twice, first on line {first}"
        return "" if all(row.fields) else f"the {name} or the {value} is empty"

    return {
        r.fields[0]: r.fields[1] for r in _read_rows(PlainRows(path), (name, value), check, path)
    }


@validate_params
def read_subject_rankings(path: FileForm) -> SubjectRankings:
    """People's ranked lists: CSV subject,topic,item,significance, significances in [0, 1]."""
    plain_rows = PlainRows(path)
    lists = _plain_lists(plain_rows, _delimiter(path))
    if lists is not None:
        return SubjectRankings.from_rows(lists)
    seen: dict[tuple[str, ...], int] = {}

    def check(row: _Row) -> str:
        if not all(row.fields):
            return "subject, topic, item or significance is empty"
        if not 0 <= _number(row.fields[3]) <= 1:
            return f"significance {row.fields[3]!r} is not a number in [0, 1]"
        first = seen.setdefault(row.fields[:3], row.line)
        if first != row.line:
            subject, topic, item = row.fields[:3]
            return (
                f"subject {subject!r} lists item {item!r} twice for topic {topic!r}, first on "
                f"line {first}"
            )
        return ""

    rows = _read_rows(plain_rows, ("subject", "topic", "item", "significance"), check, path)
    return SubjectRankings.from_rows(
        (r.fields[0], r.fields[1], r.fields[2], float(r.fields[3])) for r in rows
    )


def _plain_votes(
    plain_rows: PlainRows, delimiter: str, graph: CategoryGraph, skipped: str
) -> Categorisation | None:
    """Votes in which nothing is wrong, counted by their codes; None where something may be."""
    table = plain_columns(
        plain_rows, delimiter, dict.fromkeys(("subject", "item", "category"), "c")
    )
    if (
        table is None
        or not _has_known_categories(table, graph)
        or table.has_repeat("subject", "item")
    ):
        return None
    item, category = table.texts["item"], table.texts["category"]
    columns = {name: j for j, name in enumerate(graph.categories)}
    at = np.array([columns[name] for name in category.names])[category.codes]
    shape = (len(item.names), len(columns))
    counts = np.bincount(item.codes * shape[1] + at, minlength=shape[0] * shape[1])
    return Categorisation.from_counts(
        item.names, counts.reshape(shape), graph, len(table.texts["subject"].names), skipped
    )


def _plain_shares(
    plain_rows: PlainRows, delimiter: str, graph: CategoryGraph
) -> list[tuple[str, str, float]] | None:
    column_kinds = {"item": "c", "category": "c", "probability": "n"}
    table = plain_columns(plain_rows, delimiter, column_kinds)
    if (
        table is None
        or not _has_known_categories(table, graph)
        or table.has_repeat("item", "category")
    ):
        return None
    if table.numbers is None or not _are_shares(table.numbers):
        return None
    texts = (table.texts[name].texts() for name in ("item", "category"))
    return list(zip(*texts, table.numbers.tolist(), strict=True))


def _plain_lists(
    plain_rows: PlainRows, delimiter: str
) -> Iterator[tuple[str, str, str, float]] | None:
    names = ("subject", "topic", "item")
    table = plain_columns(plain_rows, delimiter, dict.fromkeys(names, "c") | {"significance": "n"})
    if table is None or table.numbers is None or not _are_shares(table.numbers):
        return None
    if table.has_repeat(*names):
        return None
    subject, topic, item = (table.texts[name].texts() for name in names)
    return zip(subject, topic, item, table.numbers.tolist(), strict=True)


def _has_known_categories(table: PlainColumns, graph: CategoryGraph) -> bool:
    return all(name in graph.parents for name in table.texts["category"].names)


def _are_shares(values: NDArray[np.float64]) -> bool:
    return bool(((values >= 0) & (values <= 1)).all())


def _number(text: str) -> float:
    try:
        return number(text)
    except ValueError:
        return math.nan


def _delimiter(path: FileForm) -> str:
    return "\t" if str(path) != "-" and inner_suffix(path) == ".tsv" else ","


def _read_rows(
    plain_rows: PlainRows, columns: Sequence[str], check: _Check, path: FileForm
) -> list[_Row]:
    """The named columns of a CSV or TSV file; every faulty row is a problem with its line."""
    source_name = describe(path)
    reader = csv.reader(io.StringIO(plain_rows.text(), newline=""), delimiter=_delimiter(path))
    rows: list[_Row] = []
    problems: list[Problem] = []
    count = 0
    try:
        header = [h.strip().lower() for h in next(reader, [])]
        absent = [c for c in columns if c not in header]
        if absent:
            raise InputError.single(
                source_name,
                f"no column {absent[0]!r} in the header {header} (expected: {','.join(columns)})",
                1,
            )
        at = [header.index(c) for c in columns]
        for fields in reader:
            if not fields:
                continue
            fault = f"{len(fields)} fields where the header has {len(header)}"
            if len(fields) == len(header):
                row = _Row(reader.line_num, tuple(fields[i].strip() for i in at))
                fault = check(row)
                rows.append(row)
            if fault:
                count += 1
                if len(problems) < PROBLEMS_SHOWN:
                    problems.append(Problem(reader.line_num, fault))
    except csv.Error as error:
        raise InputError.single(source_name, f"not valid CSV: {error}", reader.line_num) from None
    if problems:
        raise InputError(source_name, problems, count)
    if not rows:
        raise InputError.single(source_name, f"is empty: no rows with {', '.join(columns)}")
    return rows
