"""Vectors of items: NumPy .npy with a list of ids, NumPy .npz, or Parquet."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from cranfield.errors import InputError, MissingExtraError
from cranfield.io.files import describe, inner_suffix, open_input, read_text


def read_vectors(
    path: str | Path, items: str | Path | None = None
) -> tuple[list[str], np.ndarray[Any, Any]]:
    """Ids and rows. `.npy` takes its ids from `items`, one per line, or they are row numbers
    from 0 on; `.npz` has arrays `items` and `vectors`; Parquet has a column `item` and a list
    column `vector` or one column per dimension.
    """
    suffix = inner_suffix(path)
    if suffix not in (".npy", ".npz", ".parquet"):
        raise InputError.single(describe(path), "expected vectors as .npy, .npz or .parquet")
    if items is not None and suffix != ".npy":
        raise InputError.single(describe(path), f"{suffix} has its own ids; --items is for .npy")
    with open_input(path) as stream:
        data = stream.read()
    if suffix == ".parquet":
        return _parquet(data, describe(path))
    try:
        loaded = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InputError.single(describe(path), f"not a NumPy file ({error})") from None
    if suffix == ".npz":
        for name in ("items", "vectors"):
            if name not in loaded:
                raise InputError.single(
                    describe(path), f"no array {name!r} (it has: {', '.join(loaded.files)})"
                )
        return [str(i) for i in loaded["items"].tolist()], loaded["vectors"]
    if items is None:
        return [str(i) for i in range(len(loaded) if loaded.ndim else 0)], loaded
    return [line.strip() for line in read_text(items).splitlines() if line.strip()], loaded


def _parquet(data: bytes, where: str) -> tuple[list[str], np.ndarray[Any, Any]]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("pyarrow", "dataframe", "Reading Parquet files") from None
    try:
        frame = pq.read_table(pa.BufferReader(data))
    except pa.ArrowException as error:
        raise InputError.single(where, f"not a Parquet file ({error})") from None
    names = frame.column_names
    if "item" not in names:
        raise InputError.single(where, f"no column 'item' among {', '.join(names)}")
    items = [str(i) for i in frame.column("item").to_pylist()]
    if "vector" in names:
        rows = frame.column("vector").to_pylist()
        widths = {len(r) if r is not None else 0 for r in rows}
        if len(widths) > 1:
            raise InputError.single(where, f"vectors differ in length ({sorted(widths)})")
        return items, np.array(rows, dtype=np.float64)
    rest = [frame.column(n).to_numpy() for n in names if n != "item"]
    if not rest:
        raise InputError.single(where, "no column 'vector' and no column of numbers")
    return items, np.stack(rest, axis=1)
