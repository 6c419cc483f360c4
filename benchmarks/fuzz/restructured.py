"""Files that keep their format but not their shape: arrays, tables, JSON, pictures, XML."""

from __future__ import annotations

import io
import json
import random
import struct
import zipfile
import zlib
from typing import Any

import numpy as np

ODD_VALUES: list[Any] = [
    *(None, True, -1, 0, 1.5, float("nan"), float("inf"), 10**400, "", "x", "\ud800", [], {}),
    *([[]], {"a": {}}, [None], "9" * 5000, -(10**30), 1e308, "\0", "=1+1", "\x1b[31m"),
]


def restructured(data: bytes, rng: random.Random) -> bytes:
    """The same kind of file with something else in it; unknown ones stay as they are."""
    for begins, change in CHANGES.items():
        if data.startswith(begins):
            try:
                return change(data, rng)
            except Exception:  # what others damaged before cannot be taken apart
                return data
    return data


def _header(shape: str, kind: str) -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + b"\0" * 64


def _odd_array(array: np.ndarray, rng: random.Random) -> bytes:
    """An array of another type or shape, or the head of one that is not there."""
    size = max(1, array.shape[0] if array.ndim else 1)
    made = rng.choice(
        [
            lambda: np.array([{"a": 1}] * size, dtype=object),
            lambda: np.full(array.shape, np.nan),
            lambda: np.full(array.shape, np.inf),
            lambda: np.full(array.shape, 1e308),
            lambda: np.ones(array.shape, dtype=complex),
            lambda: np.zeros(array.shape, dtype="datetime64[s]"),
            lambda: np.zeros(array.shape, dtype=[("a", "f4"), ("b", "i8")]),
            lambda: np.zeros((0, 4)),
            lambda: np.zeros((size, 0)),
            lambda: np.array(1.0),
            lambda: np.ones((2, size, 2)),
            lambda: np.array([b"\xff\xfe"] * size),
            lambda: np.array(["a\0b", " ", "#", "=x"] * size)[:size],
            lambda: np.array(["same"] * size),
            lambda: np.arange(size),
            lambda: np.asfortranarray(np.ones(array.shape, dtype=">f4")),
            lambda: np.ones(array.shape, dtype=bool),
            lambda: np.ones(array.shape, dtype="f2"),
            lambda: array[: max(0, size - 1)] if array.ndim else array,
            lambda: _header("(1000000000000,)", "<f8"),
            lambda: _header("(100000, 1000000)", "<f4"),
            lambda: _header("(-1,)", "<f8"),
            lambda: _header("(3,)", "<U1000000000"),
            lambda: _header("(3,)", "|O"),
        ]
    )()
    if isinstance(made, bytes):
        return made
    out = io.BytesIO()
    np.save(out, made, allow_pickle=True)
    return out.getvalue()


def _zipped(data: bytes, rng: random.Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as there:
        files = {name: there.read(name) for name in there.namelist()}
    name = rng.choice(sorted(files))
    action = rng.choice(["array", "array", "array", "array", "drop", "rename", "again", "bytes"])
    if action == "array" and name.endswith(".npy"):
        files[name] = _odd_array(np.load(io.BytesIO(files[name])), rng)
    elif action == "drop":
        del files[name]
    elif action == "rename":
        files[rng.choice(["x.npy", "../x.npy", "/tmp/x", "labels.npy", "items.npy"])] = files.pop(
            name
        )
    elif action == "bytes":
        files[name] = files[name][: rng.randrange(len(files[name]) + 1)]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for one, content in files.items():
            made.writestr(one, content)
        if action == "again" and files:
            made.writestr(name + "x", files[name])
    return out.getvalue()


def _table(data: bytes, rng: random.Random) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(data))
    at = rng.randrange(table.num_columns)
    name, rows = table.column_names[at], table.num_rows
    odd = rng.choice(
        [
            lambda: pa.nulls(rows),
            lambda: pa.array([None if k % 2 else 1 for k in range(rows)]),
            lambda: pa.array([[1, 2]] * rows),
            lambda: pa.array([{"a": 1}] * rows),
            lambda: pa.array(["x"] * rows).dictionary_encode(),
            lambda: pa.array([b"\xff"] * rows),
            lambda: pa.array([float("nan")] * rows),
            lambda: pa.array([10**9] * rows, pa.timestamp("s")),
            lambda: pa.array([1] * rows).cast(pa.decimal128(20, 2)),
            lambda: pa.array(["1_000"] * rows),
            lambda: pa.array([True] * rows),
        ]
    )
    changed = rng.choice(
        [
            lambda: table.set_column(at, name, odd()),
            lambda: table.set_column(at, name, odd()),
            lambda: table.drop_columns([name]),
            lambda: table.append_column(name, table.column(at)),
            lambda: table.slice(0, 0),
            lambda: table.rename_columns([f"{c}x" for c in table.column_names]),
            lambda: pa.concat_tables([table, table]),
        ]
    )()
    out = io.BytesIO()
    pq.write_table(changed, out)
    return out.getvalue()


def _json(data: bytes, rng: random.Random) -> bytes:
    value = json.loads(data)
    holder, key = {"all": value}, "all"
    while isinstance(holder[key], dict | list) and holder[key] and rng.random() < 0.85:
        holder = holder[key]
        key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    action = rng.random()
    if action < 0.15:
        del holder[key]
    elif action < 0.25 and isinstance(holder, dict):
        holder[rng.choice(["", "x", "\0", "a" * 70_000])] = holder[key]
    else:
        holder[key] = rng.choice(ODD_VALUES)
    text = json.dumps(holder.get("all", value) if isinstance(holder, dict) else value)
    deep = rng.random() < 0.05
    return (text.replace(": ", ": " + "[" * 3000, 1) if deep else text).encode()


def _picture(data: bytes, rng: random.Random) -> bytes:
    """A head that promises more, fewer or other pixels than there are."""
    size = rng.choice([0, 1, 7, 60_000, 2**31 - 1])
    head = struct.pack(">II", size, rng.choice([1, size])) + data[24:29]
    if rng.random() < 0.3:
        head = head[:8] + bytes([rng.choice([1, 2, 4, 8, 16, 3]), rng.randrange(8), 0, 0, 0])
    return data[:16] + head + struct.pack(">I", zlib.crc32(b"IHDR" + head)) + data[33:]


def _xml(data: bytes, rng: random.Random) -> bytes:
    entities = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 12))
    outside = '<!ENTITY f SYSTEM "file:///etc/passwd">'
    head = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "xxxxxxxxxx">{entities}{outside}]>'
    rest = data.partition(b"?>")[2]
    inside = rng.choice([b"&e11;", b"&f;", b"&none;"])
    return head.encode() + rest.replace(b"Sky</", inside + b"</", 1)


CHANGES = {
    b"PK\x03\x04": _zipped,
    b"\x93NUMPY": lambda data, rng: _odd_array(np.load(io.BytesIO(data)), rng),
    b"PAR1": _table,
    b"{": _json,
    b"[": _json,
    b"\x89PNG": _picture,
    b"<?xml": _xml,
}
