"""Vectors of items: NumPy .npy with a list of ids, NumPy .npz, or Parquet."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cranfield.data.item_vectors import ItemVectors
from cranfield.errors import InputError, os_message
from cranfield.io.arrays import (
    column_numbers,
    column_values,
    read_archive,
    read_array,
    read_arrow_table,
)
from cranfield.io.atomic import atomic_file
from cranfield.io.files import FileForm, describe, inner_suffix, read_text, text_lines
from cranfield.validation import validate_params


@validate_params
def read_item_vectors(path: FileForm, items: str | Path | None = None) -> ItemVectors:
    """The vectors of items from a file, checked; see `read_vectors` for the forms."""
    names, table, _ = read_vectors(path, items)
    return ItemVectors.of(names, table, describe(path))


def read_vectors(
    path: FileForm, items: str | Path | None = None
) -> tuple[list[str], np.ndarray[Any, Any], Mapping[str, np.ndarray[Any, Any]]]:
    """Ids, rows, and all arrays of an archive, which may say more.

    `.npy` takes its ids from `items`, one per line, or they are row numbers from 0 on; `.npz` has
    arrays `items` and `vectors`; Parquet has a column `item` and a list column `vector` or one
    column per dimension.
    """
    suffix = inner_suffix(path)
    if suffix not in (".npy", ".npz", ".parquet"):
        raise InputError.single(describe(path), "expected vectors as .npy, .npz or .parquet")
    if items is not None and suffix != ".npy":
        raise InputError.single(
            describe(path), f"{suffix} has its own ids; a list of them (items=) is for .npy"
        )
    if suffix == ".parquet":
        return *_parquet(read_arrow_table(path), describe(path)), {}
    if suffix == ".npz":
        arrays = read_archive(path)
        for name in ("items", "vectors"):
            if name not in arrays:
                raise InputError.single(
                    describe(path), f"no array {name!r} (it has: {', '.join(arrays)})"
                )
        return _ids(arrays["items"], describe(path)), arrays["vectors"], arrays
    loaded = read_array(path)
    if items is None:
        return [str(i) for i in range(len(loaded) if loaded.ndim else 0)], loaded, {}
    return [line.strip() for line in text_lines(read_text(items)) if line.strip()], loaded, {}


def _ids(items: np.ndarray[Any, Any], source_name: str) -> list[str]:
    """Ids as text; those that were kept as bytes are UTF-8."""
    try:
        return [i.decode() if isinstance(i, bytes) else str(i) for i in items.ravel().tolist()]
    except UnicodeDecodeError:
        raise InputError.single(source_name, "the array 'items' is not UTF-8") from None


def _parquet(frame: Any, source_name: str) -> tuple[list[str], np.ndarray[Any, Any]]:
    names = frame.column_names
    if "item" not in names:
        raise InputError.single(source_name, f"no column 'item' among {', '.join(names)}")
    items = [str(i) for i in column_values(source_name, frame, "item")]
    if "vector" in names:
        rows = column_values(source_name, frame, "vector")
        widths = {len(r) if isinstance(r, list) else 0 for r in rows}
        if len(widths) > 1:
            raise InputError.single(source_name, f"vectors differ in length ({sorted(widths)})")
        try:
            return items, np.array(rows, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError.single(
                source_name, "the column 'vector' holds no lists of numbers"
            ) from None
    rest = [column_numbers(source_name, frame, n) for n in names if n != "item"]
    if not rest:
        raise InputError.single(source_name, "no column 'vector' and no column of numbers")
    return items, np.stack(rest, axis=1)


def write_vectors(
    path: Path,
    rows: Iterable[np.ndarray[Any, Any]],
    shape: tuple[int, int],
    kind: str,
    others: Mapping[str, Any],
) -> None:
    """Write an .npz with `vectors`, whose rows come block by block, and some small arrays.

    The same content gives the same bytes: the archive bears no dates.
    """
    dtype = np.dtype(kind)
    header = {"descr": dtype.str, "fortran_order": False, "shape": shape}
    try:
        with atomic_file(path) as out, zipfile.ZipFile(out, "w") as archive:
            for name, value in others.items():
                with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as part:
                    np.lib.format.write_array(part, np.asarray(value), allow_pickle=False)
            with archive.open(zipfile.ZipInfo("vectors.npy"), "w", force_zip64=True) as part:
                np.lib.format.write_array_header_1_0(part, header)
                for block in rows:
                    part.write(np.ascontiguousarray(block, dtype=dtype).tobytes())
    except OSError as error:
        raise InputError.single(str(path), f"cannot be written: {os_message(error)}") from None
