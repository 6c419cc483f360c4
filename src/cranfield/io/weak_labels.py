"""Features of items (CSV item,number,... or .npz) and their tags (CSV item,tag)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import InputError, Problem
from cranfield.io.arrays import read_archive
from cranfield.io.files import FileForm, csv_rows, describe, inner_suffix, number, read_text
from cranfield.validation import validate_params


@validate_params
def read_features(path: FileForm) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Items and their features: one row per item, all of the same length."""
    if inner_suffix(path) == ".npz":
        return _read_npz(path)
    source_name = describe(path)
    rows = _rows(path)
    header = rows[0][1] if rows else []
    if len(header) < 2 or header[0].strip().lower() != "item":
        raise InputError.single(
            source_name, "the header should be item and one column per feature", 1
        )
    items: dict[str, int] = {}
    values: list[list[float]] = []
    problems: list[Problem] = []
    for line, row in rows[1:]:
        name = row[0].strip()
        if len(row) != len(header):
            problems.append(Problem(line, f"{len(row)} fields, expected {len(header)}"))
        elif name in items:
            problems.append(Problem(line, f"item {name!r} again (first on line {items[name]})"))
        else:
            numbers = [_finite_number(cell) for cell in row[1:]]
            if bad := [c for c, x in zip(row[1:], numbers, strict=True) if math.isnan(x)]:
                problems.append(Problem(line, f"feature {bad[0]!r} is not a finite number"))
            items[name] = line
            values.append(numbers)
    if problems:
        raise InputError(source_name, problems)
    if not items:
        raise InputError.single(source_name, "has a header but no items")
    return tuple(items), np.array(values)


@validate_params
def read_tags(path: FileForm) -> dict[str, tuple[str, ...]]:
    """The items of each tag, from CSV item,tag."""
    source_name = describe(path)
    rows = _rows(path)
    header = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    if header != ["item", "tag"]:
        raise InputError.single(
            source_name, f"the header is {','.join(header)!r}, expected item,tag", 1
        )
    tags: dict[str, dict[str, int]] = {}
    problems: list[Problem] = []
    for line, row in rows[1:]:
        if len(row) != 2 or not row[0].strip() or not row[1].strip():
            problems.append(Problem(line, "expected an item and a tag"))
            continue
        item, tag = row[0].strip(), row[1].strip()
        first = tags.setdefault(tag, {}).setdefault(item, line)
        if first != line:
            problems.append(Problem(line, f"item {item!r} with tag {tag!r} again (line {first})"))
    if problems:
        raise InputError(source_name, problems)
    if not tags:
        raise InputError.single(source_name, "has a header but no tags")
    return {tag: tuple(items) for tag, items in tags.items()}


def _rows(path: FileForm) -> list[tuple[int, list[str]]]:
    rows = csv_rows(read_text(path).splitlines(keepends=True), describe(path))
    return [(line, row) for line, row in rows if any(cell.strip() for cell in row)]


def _finite_number(text: str) -> float:
    try:
        value = number(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def _read_npz(path: FileForm) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    source_name = describe(path)
    arrays = read_archive(path)
    values = arrays.get("vectors", arrays.get("features"))
    if "items" not in arrays or values is None:
        array_names = ", ".join(arrays) or "nothing"
        raise InputError.single(
            source_name, f"has {array_names}; expected the arrays items and vectors"
        )
    items, features = arrays["items"], values
    if features.dtype.kind not in "biuf":
        raise InputError.single(source_name, f"features are {features.dtype}, expected numbers")
    table = np.asarray(features, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != items.size or not np.isfinite(table).all():
        raise InputError.single(
            source_name,
            f"features of shape {table.shape} for {items.size} items, "
            "expected a row of finite numbers for each item",
        )
    return tuple(str(name) for name in items), table
