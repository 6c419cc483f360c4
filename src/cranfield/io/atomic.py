"""Writing files so that they appear complete or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from cranfield.errors import InputError, UsageError, os_message


def write_atomic(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write a file so that it appears complete or not at all, even when the power fails.

    A link is followed; a pipe or a device such as /dev/null is written to, not replaced.
    """
    blocks = (data,) if isinstance(data, bytes) else data
    try:
        path = path.resolve()
        if not path.parent.is_dir():
            raise InputError.single(str(path), "cannot be written: no such directory")
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as device:
                device.writelines(blocks)
            return
        with atomic_file(path) as out:
            out.writelines(blocks)
    except OSError as error:
        raise InputError.single(
            _path_text(path), f"cannot be written: {os_message(error)}"
        ) from None
    except (ValueError, RuntimeError):  # a zero byte, or a link to itself
        raise InputError.single(_path_text(path), "no file can have such a name") from None


def _path_text(path: Path) -> str:
    """A path in a message, whatever bytes it is made of."""
    return str(path).encode(errors="backslashreplace").decode()


def make_folder(path: str | Path) -> Path:
    """Create a folder and its parents if they do not exist, and return its path."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made: {os_message(error)}") from None
    except ValueError:
        raise UsageError(f"{folder}: no folder can have such a name") from None
    return folder


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write bit by bit, which has its name only once all is written.

    Its bytes have reached the disk by then: renamed before that, it could come out empty after a
    loss of power.
    """
    # A short name of its own: a suffix to a name of 250 characters would be too long.
    draft = path.parent / f".cranfield-{os.urandom(8).hex()}"
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Sync a folder to disk, where the file system supports it."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


def csv_text(rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    """Rows as CSV with simple line ends; a line end of any kind within a cell is quoted."""
    import csv

    sink = _Rows()
    csv.writer(sink, delimiter=delimiter, lineterminator=_Rows.END).writerows(rows)
    return "".join(sink.lines)


class _Rows:
    """Collects the rows that csv writes; csv quotes cells that hold a line end."""

    END = "\r\n"

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, row: str) -> None:
        self.lines.append(row.removesuffix(self.END) + "\n")
