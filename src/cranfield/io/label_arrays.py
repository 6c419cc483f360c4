"""Labels as NumPy archives and Parquet tables."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from cranfield.data.labels import LabelMatrix, dense, listed_share, split_values
from cranfield.errors import InputError
from cranfield.io.arrays import (
    arrow_bytes,
    column_numbers,
    column_values,
    read_archive,
    read_arrow_table,
)
from cranfield.io.files import Caps, FileForm, Input, describe
from cranfield.io.ids import ARCHIVE
from cranfield.io.label_rows import one_part

_LONG = ["item", "concept", "value"]
_EXPECTED = "expected arrays items, concepts and labels and/or confidences"


def read_npz(path: FileForm, name: str, free: bool = False) -> LabelMatrix:
    """An archive with `items`, `concepts` and `labels` and/or `confidences`."""
    where = describe(path)
    arrays = read_archive(path)
    matrices: dict[str, Any] = {
        key: arrays[key] for key in ("labels", "confidences") if key in arrays
    }
    if not matrices:
        raise InputError.single(where, f"has {', '.join(arrays) or 'nothing'}; {_EXPECTED}")
    for key, matrix in matrices.items():
        if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
            raise InputError.single(
                where,
                f"{key} is {matrix.ndim}-dimensional {matrix.dtype}, expected a matrix of numbers",
            )
    if "labels" in matrices:
        labels = matrices["labels"]
        if not np.all((labels == 0) | (labels == 1)):
            raise InputError.single(where, "labels has values other than 0 and 1")
        matrices["labels"] = labels.astype(bool)
    if "confidences" in matrices:
        matrices["confidences"] = matrices["confidences"].astype(np.float64, copy=False)
    shape = next(iter(matrices.values())).shape
    return _named(where, name, shape, arrays, matrices, free)


def _named(
    where: str,
    name: str,
    shape: tuple[int, ...],
    arrays: dict[str, Any],
    matrices: dict[str, Any],
    free: bool,
) -> LabelMatrix:
    names: dict[str, tuple[str, ...]] = {}
    for key, count in zip(("items", "concepts"), shape, strict=True):
        given = arrays.get(key)
        if given is not None and given.shape != (count,):
            raise InputError.single(where, f"{given.size} {key} for {count} in the matrix")
        names[key] = tuple(map(str, range(count) if given is None else given))
    try:
        return LabelMatrix(
            names["items"],
            names["concepts"],
            matrices.get("labels"),
            matrices.get("confidences"),
            name,
            "concepts" in arrays,
            free=free,
        )
    except InputError as error:
        raise InputError(where, error.problems) from None


def npz_blocks(matrix: LabelMatrix, where: str) -> list[bytes]:
    """The archive that `read_npz` reads; dense."""
    ARCHIVE.check(where, "item", matrix.items)
    ARCHIVE.check(where, "concept", matrix.concepts)
    arrays: dict[str, Any] = {"items": np.array(matrix.items)}
    if matrix.named:
        arrays["concepts"] = np.array(matrix.concepts)
    for key in ("labels", "confidences"):
        part = getattr(matrix, key)
        if part is not None:
            arrays[key] = dense(part)
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return [out.getvalue()]


def parquet_blocks(matrix: LabelMatrix, where: str) -> list[bytes]:
    """The table that `read_parquet` reads: one column per concept.

    Concepts that are called as the columns of a table would be read as these; such a matrix is
    written as item, concept, value with a row for every cell.
    """
    values = one_part(matrix, where, "a table")
    numbers = values.astype(np.int8) if values.dtype == np.bool_ else values
    if "item" in matrix.concepts or list(matrix.concepts) == _LONG[1:]:
        items = np.repeat(np.arange(len(matrix.items)), len(matrix.concepts))
        cells = (
            [matrix.items[i] for i in items],
            list(matrix.concepts) * len(matrix.items),
            numbers.ravel(),
        )
        return [arrow_bytes(dict(zip(_LONG, cells, strict=True)))]
    columns = dict(zip(matrix.concepts, numbers.T, strict=True))
    return [arrow_bytes({"item": list(matrix.items), **columns})]


def read_parquet(path: FileForm, name: str, free: bool = False) -> LabelMatrix:
    """A table with an item column and one column per concept, or item, concept, value."""
    where = describe(path)
    table = read_arrow_table(path, "Reading Parquet")
    columns = list(table.column_names)
    if columns == _LONG:
        return _long_table(where, name, table, free, Input.of(path).caps)
    if len(columns) < 2 or "item" not in columns:
        raise InputError.single(
            where,
            f"columns {', '.join(columns)}; expected 'item' and one "
            "per concept, or item, concept, value",
        )
    concepts = [c for c in columns if c != "item"]
    values = [column_numbers(where, table, c) for c in concepts]
    labels, confidences = split_values(np.column_stack(values))
    items = _texts(where, table, "item")
    try:
        return LabelMatrix(items, tuple(concepts), labels, confidences, name, free=free)
    except InputError as error:
        raise InputError(where, error.problems) from None


def _texts(where: str, table: Any, column: str) -> tuple[str, ...]:
    """The names in a column."""
    data = table.column(column)
    if data.null_count:
        raise InputError.single(where, f"column {column!r} has {data.null_count} empty cells")
    return tuple(str(value) for value in column_values(where, table, column))


def _names(where: str, table: Any, column: str) -> tuple[tuple[str, ...], np.ndarray]:
    """The names in a column in the order in which they first occur, and the place of each row's."""
    texts = _texts(where, table, column)
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return tuple(places), np.array([places[text] for text in texts], dtype=np.int64)


def _long_table(where: str, name: str, table: Any, free: bool, caps: Caps) -> LabelMatrix:
    values = column_numbers(where, table, "value")
    items, at_item = _names(where, table, "item")
    concepts, at_concept = _names(where, table, "concept")
    cell = at_item * len(concepts) + at_concept
    if len(np.unique(cell)) < len(cell):
        raise InputError.single(where, "an item and concept are given more than once")
    # A row names one cell, and the table has all cells of its items and concepts.
    caps.check_bytes(where, len(items) * len(concepts) * values.itemsize)
    matrix = np.full((len(items), len(concepts)), -np.inf if free else 0.0)
    matrix[at_item, at_concept] = values
    labels, confidences = split_values(matrix)
    try:
        return LabelMatrix(
            items,
            concepts,
            labels,
            confidences,
            name,
            free=free,
            listed=listed_share(matrix.shape, values),
        )
    except InputError as error:
        raise InputError(where, error.problems) from None
