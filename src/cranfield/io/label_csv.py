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
    refuse_both,
    value_blocks,
)
from cranfield.io.labels_other import LISTED, SINGLE, VALUES, is_list, read_listed
from cranfield.io.numbers import is_number, number

LONG_HEADER = ["item", "concept", "value"]
# What `cranfield aggregate` writes: a truth, and how sure it is, which is no confidence of a run.
AGGREGATED_HEADER = [*LONG_HEADER, "probability"]
# What it writes for a concept whose votes are tied.
UNDECIDED = "undecided"


def read_csv(
    plain: PlainRows, name: str, where: str, *, delimiter: str, free: bool = False
) -> LabelMatrix:
    """Wide, long, or a list of concepts per item, as the header says."""
    found = _plain_labels(plain, name, where, delimiter, free)
    if found is not None:
        return found
    lines = io.StringIO(plain.text(), newline="")
    every = csv_rows(lines, where, delimiter, strict=True)
    rows: Iterator[tuple[int, list[str]]] = (
        (line, row) for line, row in every if any(cell.strip() for cell in row)
    )
    line, header = next(rows, (0, []))
    header = [cell.strip() for cell in header]
    lowered = [cell.lower() for cell in header]
    if len(header) == 2 and lowered[1] in (*LISTED, *SINGLE):
        held = list(rows)
        if is_list(header, held):
            return read_listed(held, name, where, single=lowered[1] in SINGLE)
        rows = iter(held)
    if delimiter == ";":
        rows = _with_points(rows)
    if lowered in (LONG_HEADER, AGGREGATED_HEADER):
        return _read_long(rows, name, where, lowered, free)
    if len(header) == 3 and lowered[1] in SINGLE and lowered[2] in VALUES:
        held = list(rows)
        if not all(len(row) == 3 and is_number(row[1]) for _, row in held):
            return _read_long(iter(held), name, where, LONG_HEADER, free)
        rows = iter(held)
    return _read_wide(line, header, rows, name, where, free)


def _with_points(rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """Rows with decimal points: where `;` separates cells, a comma may stand for one."""
    for line, (item, *cells) in rows:
        pointed = (cell.replace(",", ".", 1) for cell in cells)
        both = zip(cells, pointed, strict=True)
        yield line, [item, *(new if is_number(new) else old for old, new in both)]


def _plain_labels(
    plain: PlainRows, name: str, where: str, delimiter: str, free: bool
) -> LabelMatrix | None:
    """What the compiled reader makes of either form, if it takes it."""
    header = [cell.strip() for cell in first_row(plain, delimiter, strict=True) or ()]
    if not any(header):
        return None
    if [cell.lower() for cell in header] in (LONG_HEADER, AGGREGATED_HEADER):
        return _plain_triples(plain, name, delimiter, len(header), free)
    try:
        concepts, named = _wide_header(1, header, where)
    except InputError:  # said again when the whole text is known to be one
        return None
    return plain_matrix(plain, delimiter, concepts, name, named=named, free=free)


def _plain_triples(
    plain: PlainRows, name: str, delimiter: str, width: int, free: bool
) -> LabelMatrix | None:
    found = plain.columns(delimiter, "ccn-"[:width])
    if found is None:
        return None
    values = np.asarray(found.numbers())
    items, concepts = found.names(0), found.names(1)
    at_item, at_concept = np.asarray(found.codes(0)), np.asarray(found.codes(1))
    cells = np.sort(at_item.astype(np.int64) * len(concepts) + at_concept)
    if (
        not (free or (values.min() >= 0 and values.max() <= 1))
        or np.isnan(values).any()
        or any(text != text.strip() for text in (*items, *concepts))
        or (cells[1:] == cells[:-1]).any()
    ):
        return None
    item_codes, concept_codes = (
        {text: i for i, text in enumerate(texts)} for texts in (items, concepts)
    )
    return _from_triples(item_codes, concept_codes, (at_item, at_concept, values), name, free)


def _wide_header(line: int, header: list[str], where: str) -> tuple[list[str], bool]:
    """The concepts of the wide form, and whether they are names or only positions."""
    if len(header) < 2:
        raise InputError.single(
            where,
            "has no header with the item and a column per concept (or item,concept,value)",
            line,
        )
    concepts = header[1:]
    seen: set[str] = set()
    for concept in concepts:
        if not concept or concept in seen:
            what = f"concept {concept!r} has two columns" if concept else "a column has no name"
            raise InputError.single(where, what, line)
        seen.add(concept)
    # Columns that were never named are written by their positions.
    unnamed = concepts == [str(j) for j in range(len(concepts))]
    if all(is_number(c) for c in concepts) and header[0].lower() != "item":
        raise InputError.single(
            where, "the first row has numbers where the names of the concepts should stand", line
        )
    return concepts, not unnamed


def _read_wide(
    line: int,
    header: list[str],
    rows: Iterator[tuple[int, list[str]]],
    name: str,
    where: str,
    free: bool,
) -> LabelMatrix:
    concepts, named = _wide_header(line, header, where)
    collected = RowCollector(where, len(concepts), free)
    for place, row in rows:
        collected.add(place, row[0].strip(), row[1:])
    return collected.matrix(concepts, name, named=named)


def _read_long(
    rows: Iterator[tuple[int, list[str]]], name: str, where: str, header: list[str], free: bool
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
            # Nobody says that a concept whose votes are tied is there.
            tied = header == AGGREGATED_HEADER and row[2] == UNDECIDED
            undecided += tied
            given = "0" if tied else row[2]
            try:
                value = number(given)
            except ValueError:
                message = f"value {row[2]!r} is not a number"
            else:
                if not (free or 0 <= value <= 1) or value != value:
                    message = f"value {row[2]} {OUTSIDE[free]}"
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
        raise InputError(where, problems, count)
    found = _from_triples(items, concepts, (at_item, at_concept, values), name, free)
    if not undecided:
        return found
    said = f"{name}: {undecided} concepts of items are undecided, and count as absent"
    return replace(found, notes=(said,))


def _from_triples(
    items: dict[str, int],
    concepts: dict[str, int],
    triples: tuple[Any, Any, Any],
    name: str,
    free: bool,
) -> LabelMatrix:
    # The order of first mention is an accident of the file; by name it is the same for any.
    order = sorted(concepts)
    column = np.empty(len(order), dtype=np.intp)
    for j, concept in enumerate(order):
        column[concepts[concept]] = j
    shape = (len(items), len(order))
    at_item, at_concept, values = triples
    if shape[0] * shape[1] > DENSE_CELLS and not free:
        from scipy import sparse

        matrix = sparse.csr_array((values, (at_item, column[at_concept])), shape=shape)
    else:
        matrix = np.full(shape, -np.inf if free else 0.0)
        matrix[at_item, column[at_concept]] = values
    labels, confidences = split_values(matrix)
    return LabelMatrix(
        tuple(items),
        tuple(order),
        labels,
        confidences,
        name,
        free=free,
        listed=listed_share(shape, np.asarray(values)),
    )


def _check_names(matrix: LabelMatrix, where: str) -> None:
    LABEL_CSV.check(where, "item", matrix.items)
    LABEL_CSV.check(where, "concept", matrix.concepts)


def wide_blocks(matrix: LabelMatrix, where: str, delimiter: str = ",") -> Iterator[bytes]:
    """One row per item; with confidences and labels, rows of 0/1 follow as in ImageCLEF 2010."""
    _check_names(matrix, where)
    if [c.lower() for c in matrix.concepts] in (LONG_HEADER[1:], AGGREGATED_HEADER[1:]):
        raise InputError.single(
            where, "these names of concepts are the header of the long form; rename them"
        )
    return _wide_blocks(matrix, delimiter)


def _wide_blocks(matrix: LabelMatrix, delimiter: str) -> Iterator[bytes]:
    yield csv_text([["item", *matrix.concepts]], delimiter).encode()
    for items, values in value_blocks(matrix):
        yield _core.label_rows(items, values, delimiter, True)


def long_blocks(matrix: LabelMatrix, where: str) -> Iterator[bytes]:
    """One row per item and concept with a value above 0; an item without any gets a 0 row."""
    refuse_both(matrix, where, "the long form")
    _check_names(matrix, where)
    return _long_blocks(matrix)


def _long_blocks(matrix: LabelMatrix) -> Iterator[bytes]:
    yield csv_text([LONG_HEADER]).encode()
    concepts = list(matrix.concepts)
    absent = np.ones(len(concepts), dtype=bool)
    for items, values in value_blocks(matrix):
        yield _core.long_label_rows(items, concepts, values)
        there = values != 0
        absent &= ~there.any(axis=0)
        # An item without any concept has a row of the first.
        absent[0] &= there.any(axis=1).all()
    # A concept that no item has is part of the vocabulary all the same.
    rows = [[matrix.items[0], concepts[j], 0] for j in np.flatnonzero(absent)]
    yield csv_text(rows).encode()
