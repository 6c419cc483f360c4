"""Opening inputs of any compression and writing outputs whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

from cranfield.errors import InputError, MissingExtraError

COMPRESSED = (".gz", ".zst")
# A description may be longer than the 131,072 characters that csv grants a field unasked.
_LONGEST_FIELD = 2**31 - 1
_LINES_BETWEEN_REPORTS = 1 << 14
_RUN_ENDINGS = (
    ".run",
    ".txt",
    ".csv",
    ".tsv",
    ".json",
    ".parquet",
    ".res",
    ".results",
    ".trec",
    ".out",
    ".dat",
    ".npz",
    ".npy",
)


def describe(path: str | Path) -> str:
    """How messages name an input."""
    return "<stdin>" if str(path) == "-" else str(path)


def inner_suffix(path: str | Path) -> str:
    """The ending of a file name below its compression: '.csv' for 'a.csv.gz'."""
    name = Path(path)
    while name.suffix.lower() in COMPRESSED:
        name = name.with_suffix("")
    return name.suffix.lower()


def run_name(path: str | Path) -> str:
    """The name of a run: its file name without endings such as .run.gz or .csv.zst."""
    if str(path) == "-":
        return "stdin"
    name = Path(path)
    while name.suffix.lower() in (*COMPRESSED, *_RUN_ENDINGS):
        name = name.with_suffix("")
    return name.name


def can_be_read_again(path: str | Path) -> bool:
    """Whether a path is a file (or nothing at all), not a pipe whose content is gone once read."""
    return str(path) != "-" and (Path(path).is_file() or not Path(path).exists())


@contextmanager
def open_input(path: str | Path) -> Iterator[BinaryIO]:
    """An input as a stream of bytes: plain, .gz, .zst or '-' for standard input.

    Whatever goes wrong while it is open (no such file, a directory, no permission, a
    truncated or corrupt archive) comes out as an InputError that names the file.
    """
    where = describe(path)
    try:
        with _raw(path) as stream:
            yield stream
    except EOFError:
        raise InputError.single(
            where, "the compressed data ends too early; is the file truncated?"
        ) from None
    except zlib.error as error:
        raise InputError.single(where, f"not valid gzip data ({error})") from None
    except OSError as error:
        if type(error).__name__ == "BadGzipFile":
            raise InputError.single(where, f"not valid gzip data ({error})") from None
        raise InputError.single(where, os_message(error)) from None


def os_message(error: OSError) -> str:
    """A sentence for a failed system call."""
    if isinstance(error, IsADirectoryError):
        return "is a directory, expected a file"
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, PermissionError):
        return "permission denied"
    return error.strerror or str(error)


@contextmanager
def _raw(path: str | Path) -> Iterator[BinaryIO]:
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    suffix = Path(path).suffix.lower()
    if suffix == ".gz":
        import gzip

        with gzip.open(path) as packed:
            yield cast(BinaryIO, packed)
    elif suffix == ".zst":
        with _open_zst(path) as packed:
            yield packed
    else:
        with Path(path).open("rb") as plain:
            yield plain


@contextmanager
def _open_zst(path: str | Path) -> Iterator[BinaryIO]:
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError:
        raise MissingExtraError("backports.zstd", "dev", "Reading .zst files") from None
    try:
        with zstd.open(path, "rb") as packed:
            yield cast(BinaryIO, packed)
    except zstd.ZstdError as error:
        raise InputError.single(describe(path), f"not valid zstd data ({error})") from None


def peek_standard() -> bytes:
    """How standard input begins, which is still all there to be read."""
    stream = sys.stdin.buffer
    if hasattr(stream, "peek"):
        start: bytes = stream.peek(1 << 12)
        return start
    if not stream.seekable():
        return b""
    place = stream.tell()
    start = stream.read(1 << 12)
    stream.seek(place)
    return start


def read_text(path: str | Path) -> str:
    """A whole text input, decoded; an InputError names the first line that is not UTF-8."""
    with open_input(path) as stream:
        data = stream.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError.single(
            describe(path),
            f"byte {data[error.start]:#04x} is not UTF-8 text; convert the file, for example with "
            "iconv",
            line,
        ) from None


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it appears complete or not at all.

    A link is followed; a pipe or a device such as /dev/null is written to, not replaced.
    """
    path = path.resolve()
    if not path.parent.is_dir():
        raise InputError.single(str(path), "cannot be written: no such directory")
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(data)
            return
        import tempfile

        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        draft = Path(temporary)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(data)
            # mkstemp makes private files; a result has the mode any new file would have.
            mask = os.umask(0)
            os.umask(mask)
            draft.chmod(0o666 & ~mask)
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError.single(str(path), f"cannot be written: {os_message(error)}") from None


@contextmanager
def open_text(path: str | Path) -> Iterator[IO[str]]:
    """A text input, decoded, for the csv module."""
    yield io.StringIO(read_text(path), newline="")


def input_lines(
    path: str | Path, *, progress: Callable[[float], None] | None = None
) -> Iterator[str]:
    """The lines of a text input of any size, decoded one by one, with their ends.

    `progress` is told now and then which share of the file has been read, where that is known.
    """
    with open_input(path) as stream:
        for number, line in enumerate(stream, 1):
            if progress is not None and number % _LINES_BETWEEN_REPORTS == 0:
                progress(_share_read(path, stream))
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise InputError.single(
                    describe(path), f"byte {line[error.start]:#04x} is not UTF-8 text", number
                ) from None


def _share_read(path: str | Path, stream: BinaryIO) -> float:
    if not can_be_read_again(path) or Path(path).suffix.lower() == ".zst":
        return 0.0
    # What counts is the place in the compressed file, whose size is known.
    packed: BinaryIO = getattr(stream, "fileobj", stream)
    return packed.tell() / max(1, Path(path).stat().st_size)


def csv_rows(
    lines: Iterable[str],
    where: str,
    delimiter: str = ",",
    *,
    first_line: int = 1,
    strict: bool = False,
    long_fields: bool = False,
) -> Iterator[tuple[int, list[str]]]:
    """The rows of CSV text with the lines they end on; an InputError names one that is broken.

    `first_line` is the number of the first of the lines.
    """
    reader = csv.reader(lines, delimiter=delimiter, strict=strict)
    try:
        for row in _with_long_fields(reader) if long_fields else reader:
            yield reader.line_num + first_line - 1, row
    except csv.Error as error:
        line = reader.line_num + first_line - 1
        raise InputError.single(where, f"not valid CSV ({error})", line) from None


def _with_long_fields(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """The rows of a CSV reader; the limit, which all readers share, is raised for each row only."""
    row: list[str] | None = []
    while row is not None:
        limit = csv.field_size_limit(_LONGEST_FIELD)
        try:
            row = next(reader, None)
        finally:
            csv.field_size_limit(limit)
        if row is not None:
            yield row
