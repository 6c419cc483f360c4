"""Labels as CSV: wide (item, one column per concept) or long (item,concept,value)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from cranfield import _core
from cranfield.data.labels import DENSE_CELLS, LabelMatrix, listed_share, split_values
from cranfield.errors import InputError, Problem
from cranfield.io.atomic import csv_text
from cranfield.io.fast_csv import PlainRows, first_row
from cranfield.io.files import csv_rows
from cranfield.io.ids import LABEL_CSV
from cranfield.io.label_rows import (
    OUTSIDE,
    PROBLEMS_KEPT,
    RowCollector,
    plain_matrix,
    refuse_labels_with_confidences,
    value_blocks,
)
from cranfield.io.labels_other import LISTED, SINGLE, VALUES, is_concept_list, read_concept_lists
from cranfield.io.numbers import is_number, number

LONG_HEADER = ["item", "concept", "value"]
# What `cranfield aggregate` writes: a truth, and how sure it is, which is no confidence of a run.
AGGREGATED_HEADER = [*LONG_HEADER, "probability"]
# What it writes for a concept whose votes are tied.
UNDECIDED = "undecided"


def read_csv(
    plain_rows: PlainRows, name: str, source_name: str, *, delimiter: str, unbounded: bool = False
) -> LabelMatrix:
    """Wide, long, or a list of concepts per item, as the header says."""
    matrix = _plain_labels(plain_rows, name, source_name, delimiter, unbounded)
    if matrix is not None:
        return matrix
    lines = io.StringIO(plain_rows.text(), newline="")
    every = csv_rows(lines, source_name, delimiter, strict=True)
    rows: Iterator[tuple[int, list[str]]] = (
        (line, row) for line, row in every if any(cell.strip() for cell in row)
    )
    line, header = next(rows, (0, []))
    header = [cell.strip() for cell in header]
    lower_header = [cell.lower() for cell in header]
    if len(header) == 2 and lower_header[1] in (*LISTED, *SINGLE):
        body = list(rows)
        if is_concept_list(header, body):
            return read_concept_lists(body, name, source_name, single=lower_header[1] in SINGLE)
        rows = iter(body)
    if delimiter == ";":
        rows = _with_decimal_points(rows)
    if lower_header in (LONG_HEADER, AGGREGATED_HEADER):
        return _read_long(rows, name, source_name, lower_header, unbounded)
    if len(header) == 3 and lower_header[1] in SINGLE and lower_header[2] in VALUES:
        body = list(rows)
        if not all(len(row) == 3 and is_number(row[1]) for _, row in body):
            return _read_long(iter(body), name, source_name, LONG_HEADER, unbounded)
        rows = iter(body)
    return _read_wide(line, header, rows, name, source_name, unbounded)


def _with_decimal_points(rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """Rows with decimal points: where `;` separates cells, a comma may stand for one."""
    for line, (item, *cells) in rows:
        pointed = (cell.replace(",", ".", 1) for cell in cells)
        cell_pairs = zip(cells, pointed, strict=True)
        yield line, [item, *(new if is_number(new) else old for old, new in cell_pairs)]


def _plain_labels(
    plain_rows: PlainRows, name: str, source_name: str, delimiter: str, unbounded: bool
) -> LabelMatrix | None:
    """Read the wide or long form with the compiled reader; None if a row is not plain."""
    header = [cell.strip() for cell in first_row(plain_rows, delimiter, strict=True) or ()]
    if not any(header):
        return None
    if [cell.lower() for cell in header] in (LONG_HEADER, AGGREGATED_HEADER):
        return _plain_triples(plain_rows, name, delimiter, len(header), unbounded)
    try:
        concepts, has_names = _wide_header(1, header, source_name)
    except InputError:  # said again when the whole text is known to be one
        return None
    return plain_matrix(
        plain_rows, delimiter, concepts, name, has_names=has_names, unbounded=unbounded
    )


def _plain_triples(
    plain_rows: PlainRows, name: str, delimiter: str, width: int, unbounded: bool
) -> LabelMatrix | None:
    reader = plain_rows.columns(delimiter, "ccn-"[:width])
    if reader is None:
        return None
    values = np.asarray(reader.numbers())
    items, concepts = reader.names(0), reader.names(1)
    at_item, at_concept = np.asarray(reader.codes(0)), np.asarray(reader.codes(1))
    cells = np.sort(at_item.astype(np.int64) * len(concepts) + at_concept)
    if (
        not (unbounded or (values.min() >= 0 and values.max() <= 1))
        or np.isnan(values).any()
        or any(text != text.strip() for text in (*items, *concepts))
        or (cells[1:] == cells[:-1]).any()
    ):
        return None
    item_codes, concept_codes = (
        {text: i for i, text in enumerate(texts)} for texts in (items, concepts)
    )
    return _from_triples(item_codes, concept_codes, (at_item, at_concept, values), name, unbounded)


def _wide_header(line: int, header: list[str], source_name: str) -> tuple[list[str], bool]:
    """The concepts of the wide form, and whether they are names or only positions."""
    if len(header) < 2:
        raise InputError.single(
            source_name,
            "has no header with the item and a column per concept (or item,concept,value)",
            line,
        )
    concepts = header[1:]
    seen: set[str] = set()
    for concept in concepts:
        if not concept or concept in seen:
            message = f"concept {concept!r} has two columns" if concept else "a column has no name"
            raise InputError.single(source_name, message, line)
        seen.add(concept)
    # Columns that were never named are written by their positions.
    unnamed = concepts == [str(j) for j in range(len(concepts))]
    if all(is_number(c) for c in concepts) and header[0].lower() != "item":
        raise InputError.single(
            source_name,
            "the first row has numbers where the names of the concepts should stand",
            line,
        )
    return concepts, not unnamed


def _read_wide(
    line: int,
    header: list[str],
    rows: Iterator[tuple[int, list[str]]],
    name: str,
    source_name: str,
    unbounded: bool,
) -> LabelMatrix:
    concepts, has_names = _wide_header(line, header, source_name)
    collected = RowCollector(source_name, len(concepts), unbounded)
    for place, row in rows:
        collected.add(place, row[0].strip(), row[1:])
    return collected.matrix(concepts, name, has_names=has_names)


def _read_long(
    rows: Iterator[tuple[int, list[str]]],
    name: str,
    source_name: str,
    header: list[str],
    unbounded: bool,
) -> LabelMatrix:
    items: dict[str, int] = {}
    concepts: dict[str, int] = {}
    at_item, at_concept, values = [], [], []
    problems: list[Problem] = []
    seen: dict[tuple[int, int], int] = {}
    count = undecided = 0
    for line, row in rows:
        message = ""
        value = -1.0
        if len(row) != len(header):
            message = f"{len(row)} values, expected {','.join(header)}"
        else:
            # A concept whose votes are tied counts as absent.
            tied = header == AGGREGATED_HEADER and row[2] == UNDECIDED
            undecided += tied
            value_text = "0" if tied else row[2]
            try:
                value = number(value_text)
            except ValueError:
                message = f"value {row[2]!r} is not a number"
            else:
                if not (unbounded or 0 <= value <= 1) or value != value:
                    message = f"value {row[2]} {OUTSIDE[unbounded]}"
        if not message:
            i = items.setdefault(row[0].strip(), len(items))
            j = concepts.setdefault(row[1].strip(), len(concepts))
            if (i, j) in seen:
                message = f"{row[0]!r} with {row[1]!r} given again (first in line {seen[i, j]})"
            else:
                seen[i, j] = line
                at_item.append(i)
                at_concept.append(j)
                values.append(value)
        if message:
            count += 1
            if len(problems) < PROBLEMS_KEPT:
                problems.append(Problem(line, message))
    if not problems and not values:
        problems, count = [Problem(0, "has no rows below its header")], 1
    if problems:
        raise InputError(source_name, problems, count)
    matrix = _from_triples(items, concepts, (at_item, at_concept, values), name, unbounded)
    if not undecided:
        return matrix
    note = f"{name}: {undecided} concepts of items are undecided, and count as absent"
    return replace(matrix, notes=(note,))


def _from_triples(
    items: dict[str, int],
    concepts: dict[str, int],
    triples: tuple[Any, Any, Any],
    name: str,
    unbounded: bool,
) -> LabelMatrix:
    # Sorted by name, so that the order does not depend on the order of rows in the file.
    order = sorted(concepts)
    column = np.empty(len(order), dtype=np.intp)
    for j, concept in enumerate(order):
        column[concepts[concept]] = j
    shape = (len(items), len(order))
    at_item, at_concept, values = triples
    if shape[0] * shape[1] > DENSE_CELLS and not unbounded:
        from scipy import sparse

        matrix = sparse.csr_array((values, (at_item, column[at_concept])), shape=shape)
    else:
        matrix = np.full(shape, -np.inf if unbounded else 0.0)
        matrix[at_item, column[at_concept]] = values
    labels, confidences = split_values(matrix)
    return LabelMatrix(
        tuple(items),
        tuple(order),
        labels,
        confidences,
        name,
        unbounded=unbounded,
        listed=listed_share(shape, np.asarray(values)),
    )


def _check_names(matrix: LabelMatrix, source_name: str) -> None:
    LABEL_CSV.check(source_name, "item", matrix.items)
    LABEL_CSV.check(source_name, "concept", matrix.concepts)


def wide_blocks(matrix: LabelMatrix, source_name: str, delimiter: str = ",") -> Iterator[bytes]:
    """One row per item; with confidences and labels, rows of 0/1 follow as in ImageCLEF 2010."""
    _check_names(matrix, source_name)
    if [c.lower() for c in matrix.concepts] in (LONG_HEADER[1:], AGGREGATED_HEADER[1:]):
        raise InputError.single(
            source_name, "these names of concepts are the header of the long form; rename them"
        )
    return _wide_blocks(matrix, delimiter)


def _wide_blocks(matrix: LabelMatrix, delimiter: str) -> Iterator[bytes]:
    yield csv_text([["item", *matrix.concepts]], delimiter).encode()
    for items, values in value_blocks(matrix):
        yield _core.label_rows(items, values, delimiter, True)


def long_blocks(matrix: LabelMatrix, source_name: str) -> Iterator[bytes]:
    """One row per item and concept with a value above 0; an item without any gets a 0 row."""
    refuse_labels_with_confidences(matrix, source_name, "the long form")
    _check_names(matrix, source_name)
    return _long_blocks(matrix)


def _long_blocks(matrix: LabelMatrix) -> Iterator[bytes]:
    yield csv_text([LONG_HEADER]).encode()
    concepts = list(matrix.concepts)
    absent = np.ones(len(concepts), dtype=bool)
    for items, values in value_blocks(matrix):
        yield _core.long_label_rows(items, concepts, values)
        is_present = values != 0
        absent &= ~is_present.any(axis=0)
        # An item without any concept has a row of the first.
        absent[0] &= is_present.any(axis=1).all()
    # A concept that no item has is part of the vocabulary all the same.
    rows = [[matrix.items[0], concepts[j], 0] for j in np.flatnonzero(absent)]
    yield csv_text(rows).encode()
