"""Files of arrays and tables, Parquet and NumPy's, within the limits of an input.

A damaged one can fail anywhere in the libraries that read it; here all of that becomes one
sentence with the name of the file.

Vectors of items: NumPy .npy with a list of ids, NumPy .npz, or Parquet. Features of items: NumPy
.npz, or CSV item,number,...
"""

from __future__ import annotations

import io
import math
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cranfield.data.item_vectors import ItemVectors
from cranfield.errors import CranfieldError, InputError, MissingExtraError, Problem, os_message
from cranfield.io.files import (
    Caps,
    FileForm,
    Input,
    atomic_file,
    describe,
    filled_rows,
    inner_suffix,
    number,
    read_bytes,
    read_text,
    text_lines,
)
from cranfield.validation import validate_params

T = TypeVar("T")
_ZIP, _NPY, _PARQUET = b"PK", b"\x93NUMPY", b"PAR1"
# Rows from which several threads read faster than one.
_WORTH_THREADS = 100_000
# Rows that are unpacked at once, and bytes of a number of Parquet when it is unpacked.
_BATCH_ROWS, _WIDEST = 1 << 16, 12
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": _WIDEST}


def _read_safely(source_name: str, format_name: str, work: Callable[[], T]) -> T:
    """Run a library's reader; its exceptions become an InputError for a damaged file."""
    try:
        return work()
    except CranfieldError:
        raise
    except MemoryError:
        raise InputError.single(
            source_name, "does not fit into the memory of this machine"
        ) from None
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        if "launch worker thread" in reason:
            raise InputError.single(
                source_name, "cannot be read with the memory there is"
            ) from None
        if "pickle" in reason:
            reason = "it holds objects of Python, which are never read"
        raise InputError.single(source_name, f"not {format_name} ({reason})") from None


def import_arrow(purpose: str) -> Any:
    """Arrow's module with its reader and writer of Parquet."""
    try:
        import pyarrow as pa
        import pyarrow.compute
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise MissingExtraError("pyarrow", "dataframe", purpose) from None
    return pa


def arrow_bytes(columns: Mapping[str, Any]) -> bytes:
    """Columns by name as the bytes of a Parquet file."""
    pa = import_arrow("Writing Parquet files")
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(pa.table(dict(columns)), sink)
    return bytes(sink.getvalue())


def read_arrow_table(
    path: FileForm,
    purpose: str = "Reading Parquet files",
    *,
    columns: Callable[[list[str]], list[str] | None] | None = None,
) -> Any:
    """A Parquet file as an Arrow table; `columns` picks some by their names, or all with None."""
    pa = import_arrow(purpose)
    pq = pa.parquet
    source = Input.of(path)
    source_name, caps = describe(source), source.caps
    data = read_bytes(source, starts=_PARQUET)

    def table() -> Any:
        file = pq.ParquetFile(pa.BufferReader(data))
        caps.check_lines(source_name, file.metadata.num_rows, "rows")
        schema = file.schema_arrow
        twice = [name for name, times in Counter(schema.names).items() if times > 1]
        if twice:
            raise InputError.single(source_name, f"two columns are called {twice[0]!r}")
        needed = columns(schema.names) if columns is not None else None
        if caps.unpacked_bytes is None:
            # Threads of Arrow that are still being started when the process ends abort it.
            return file.read(needed, use_threads=file.metadata.num_rows >= _WORTH_THREADS)
        return _read_bounded(pa, data, file.metadata, needed, source_name, caps)

    def sound() -> Any:
        # Arrow checks UTF-8 only on access: invalid texts must fail here, not in the caller.
        arrow_table = table()
        arrow_table.validate(full=True)
        return arrow_table

    return _read_safely(source_name, "a Parquet file", sound)


def column_values(source_name: str, table: Any, name: str) -> list[Any]:
    """The values of a column of an Arrow table, as Python has them: dates end in 9999 there."""
    try:
        values: list[Any] = table.column(name).to_pylist()
    except (ValueError, OverflowError) as error:
        raise InputError.single(source_name, f"column {name!r} cannot be read ({error})") from None
    return values


def column_numbers(source_name: str, table: Any, name: str) -> np.ndarray[Any, Any]:
    """The numbers of a column of an Arrow table, none of them empty."""
    data = table.column(name)
    values = data.to_numpy()
    if data.null_count or values.dtype.kind not in "biuf":
        kind = str(data.type).partition("<")[0]  # not all that it is made of
        raise InputError.single(
            source_name,
            f"column {name!r} has {kind} with {data.null_count} empty cells, expected numbers",
        )
    return np.asarray(values, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A column of a Parquet file as its metadata describe it."""

    path: str
    name: str
    is_text: bool
    has_differences: bool  # texts of which only what differs from the one before is stored
    stored_bytes: int
    decoded_bytes: int  # of numbers; how long texts are is not told


def _leaves(metadata: Any) -> list[_Leaf]:
    """The columns of a file, those within lists and records each by itself."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    leaves = []
    for i in range(metadata.num_columns):
        column = metadata.schema.column(i)
        chunks = [group.column(i) for group in groups]
        is_text = column.physical_type == "BYTE_ARRAY"
        width = 0 if is_text else _WIDTHS.get(column.physical_type, column.length)
        leaves.append(
            _Leaf(
                column.path,
                column.path.partition(".")[0],
                is_text,
                any(e.startswith("DELTA") for chunk in chunks for e in chunk.encodings),
                sum(chunk.total_uncompressed_size for chunk in chunks),
                width * sum(chunk.num_values for chunk in chunks),
            )
        )
    return leaves


def _read_bounded(
    pa: Any, data: bytes, metadata: Any, needed: list[str] | None, source_name: str, caps: Caps
) -> Any:
    """Read a Parquet file; raise InputError before more bytes are unpacked than allowed.

    A page may name one long text for all of its rows. So texts are read as dictionaries, which
    have each of them once, and they are unpacked when it is known how long they are together.
    """
    leaves = [leaf for leaf in _leaves(metadata) if needed is None or leaf.name in needed]
    caps.check_bytes(source_name, sum(leaf.stored_bytes for leaf in leaves))
    caps.check_bytes(source_name, sum(leaf.decoded_bytes for leaf in leaves))
    texts = [leaf for leaf in leaves if leaf.is_text]
    # Stored differences cannot be read as dictionaries; no text is longer than all of them.
    longest = sum(leaf.stored_bytes for leaf in texts if leaf.has_differences)
    rows = _BATCH_ROWS if not longest else (caps.unpacked_bytes or 0) // longest
    file = pa.parquet.ParquetFile(
        pa.BufferReader(data),
        read_dictionary=[leaf.path for leaf in texts if not leaf.has_differences],
    )
    batches, count = [], 0
    for batch in file.iter_batches(
        batch_size=max(1, min(rows, _BATCH_ROWS)), columns=needed, use_threads=False
    ):
        count += sum(_decoded_bytes(pa, column) for column in batch.columns)
        caps.check_bytes(source_name, count)
        batches.append(batch)
    schema = batches[0].schema if batches else file.schema_arrow
    plain_schema = pa.schema([field.with_type(_plain_type(pa, field.type)) for field in schema])
    return pa.Table.from_batches(batches, schema).cast(plain_schema)


def _decoded_bytes(pa: Any, column: Any) -> int:
    """How many bytes a column has when its dictionaries are unpacked."""
    if pa.types.is_dictionary(column.type):
        entries, rows = column.dictionary, column.indices.drop_null()
        if not _is_text(pa, entries.type):
            return int(len(column) * _WIDEST)
        lengths = pa.compute.binary_length(entries).fill_null(0).cast("int64")
        return int(column.indices.nbytes + (pa.compute.sum(lengths.take(rows)).as_py() or 0))
    if pa.types.is_struct(column.type):
        return sum(_decoded_bytes(pa, part) for part in column.flatten())
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return int(_WIDEST * len(column) + _decoded_bytes(pa, column.flatten()))
    return int(column.nbytes)


def _is_text(pa: Any, kind: Any) -> bool:
    types = pa.types
    return any(
        test(kind)
        for test in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    )


def _plain_type(pa: Any, kind: Any) -> Any:
    """The type of a column whose dictionaries are unpacked."""
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        make = pa.list_ if pa.types.is_list(kind) else pa.large_list
        return make(kind.value_field.with_type(_plain_type(pa, kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_plain_type(pa, field.type)) for field in kind])
    return kind


def read_archive(path: FileForm) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a NumPy archive (.npz) by name."""
    source = Input.of(path)
    source_name = describe(source)
    data = read_bytes(source, starts=_ZIP)

    def unpacked_size() -> int:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return sum(member.file_size for member in archive.infolist())

    def arrays() -> dict[str, np.ndarray[Any, Any]]:
        with np.load(io.BytesIO(data), allow_pickle=False) as loaded:
            return {name: loaded[name] for name in loaded.files}

    expected = "a NumPy archive of plain arrays"
    source.caps.check_bytes(source_name, _read_safely(source_name, expected, unpacked_size))
    columns = _read_safely(source_name, expected, arrays)
    for name, column in columns.items():
        if not isinstance(column, np.ndarray):  # NumPy gives the bytes of any other member
            raise InputError.single(source_name, f"not {expected} ({name!r} is no array)")
    return {name: _check_row_count(column, source) for name, column in columns.items()}


def read_array(path: FileForm) -> np.ndarray[Any, Any]:
    """A single array (.npy)."""
    source = Input.of(path)
    data = read_bytes(source, starts=_NPY)

    def array() -> np.ndarray[Any, Any]:
        loaded = np.load(io.BytesIO(data), allow_pickle=False)
        if not isinstance(loaded, np.ndarray):
            raise ValueError("an archive, not an array")
        return _check_row_count(loaded, source)

    return _read_safely(describe(source), "a NumPy file", array)


def _check_row_count(array: np.ndarray[Any, Any], source: Input) -> np.ndarray[Any, Any]:
    source.caps.check_lines(describe(source), array.shape[0] if array.ndim else 1, "rows")
    return array


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


@validate_params
def read_features(path: FileForm) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Items and their features: one row per item, all of the same length."""
    if inner_suffix(path) == ".npz":
        return _npz_features(path)
    source_name = describe(path)
    rows = filled_rows(path)
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


def _finite_number(text: str) -> float:
    try:
        value = number(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def _npz_features(path: FileForm) -> tuple[tuple[str, ...], NDArray[np.float64]]:
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
