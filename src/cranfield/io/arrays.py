"""Files of arrays and tables, Parquet and NumPy's, within the limits of an input.

A damaged one can fail anywhere in the libraries that read it; here all of that becomes one
sentence with the name of the file.
"""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from cranfield.errors import CranfieldError, InputError, MissingExtraError
from cranfield.io.files import FileForm, Input, describe, read_bytes

T = TypeVar("T")
_ZIP, _NPY, _PARQUET = b"PK", b"\x93NUMPY", b"PAR1"
# Rows from which several threads read faster than one.
_WORTH_THREADS = 100_000


def _read(where: str, what: str, work: Callable[[], T]) -> T:
    """What a library reads from a file; whatever it raises says that the file is damaged."""
    try:
        return work()
    except CranfieldError:
        raise
    except MemoryError:
        raise InputError.single(where, "does not fit into the memory of this machine") from None
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        if "launch worker thread" in reason:
            raise InputError.single(where, "cannot be read with the memory there is") from None
        if "pickle" in reason:
            reason = "it holds objects of Python, which are never read"
        raise InputError.single(where, f"not {what} ({reason})") from None


def arrow(purpose: str) -> Any:
    """Arrow's module with its reader and writer of Parquet."""
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise MissingExtraError("pyarrow", "dataframe", purpose) from None
    return pa


def arrow_bytes(columns: Mapping[str, Any]) -> bytes:
    """Columns by name as the bytes of a Parquet file."""
    pa = arrow("Writing Parquet files")
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
    pa = arrow(purpose)
    pq = pa.parquet
    given = Input.of(path)
    where, caps = describe(given), given.caps
    data = read_bytes(given, starts=_PARQUET)

    def table() -> Any:
        file = pq.ParquetFile(pa.BufferReader(data))
        caps.check_lines(where, file.metadata.num_rows, "rows")
        schema = file.schema_arrow
        twice = [name for name, times in Counter(schema.names).items() if times > 1]
        if twice:
            raise InputError.single(where, f"two columns are called {twice[0]!r}")
        needed = columns(schema.names) if columns is not None else None
        if caps.unpacked_bytes is None:
            # Threads of Arrow that are still being started when the process ends abort it.
            return file.read(needed, use_threads=file.metadata.num_rows >= _WORTH_THREADS)
        # What is packed into little may unpack to anything: it is counted as it comes.
        batches, count = [], 0
        for batch in file.iter_batches(columns=needed, use_threads=False):
            count += batch.nbytes
            caps.check_bytes(where, count)
            batches.append(batch)
        return pa.Table.from_batches(batches, batches[0].schema if batches else schema)

    return _read(where, "a Parquet file", table)


def read_archive(path: FileForm) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a NumPy archive (.npz) by name."""
    given = Input.of(path)
    where = describe(given)
    data = read_bytes(given, starts=_ZIP)

    def arrays() -> dict[str, np.ndarray[Any, Any]]:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            given.caps.check_bytes(where, sum(member.file_size for member in archive.infolist()))
        with np.load(io.BytesIO(data), allow_pickle=False) as loaded:
            return {name: _bounded(loaded[name], given) for name in loaded.files}

    return _read(where, "a NumPy archive of plain arrays", arrays)


def read_array(path: FileForm) -> np.ndarray[Any, Any]:
    """A single array (.npy)."""
    given = Input.of(path)
    data = read_bytes(given, starts=_NPY)

    def array() -> np.ndarray[Any, Any]:
        loaded = np.load(io.BytesIO(data), allow_pickle=False)
        if not isinstance(loaded, np.ndarray):
            raise ValueError("an archive, not an array")
        return _bounded(loaded, given)

    return _read(describe(given), "a NumPy file", array)


def _bounded(array: np.ndarray[Any, Any], given: Input) -> np.ndarray[Any, Any]:
    given.caps.check_lines(describe(given), array.shape[0] if array.ndim else 1, "rows")
    return array
