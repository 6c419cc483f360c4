"""A collection that comes through a browser: an archive, a folder, or its files one by one.

Nothing of it is trusted before it is imported: names lead nowhere else, archives are unpacked up to
the limits, and only plain files are written.
"""

from __future__ import annotations

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from cranfield.campaign.collections import init_collection
from cranfield.errors import UsageError
from cranfield.server.settings import Limits

if TYPE_CHECKING:
    from starlette.datastructures import UploadFile

MOST_FILES, LONGEST_NAME, BLOCK = 20_000, 200, 1 << 20
SETTINGS = "collection.toml"
ARCHIVES = (".zip", ".tar.gz", ".tgz", ".tar")


class _Room:
    """What may still be written; an archive that unpacks to more than the limits is refused."""

    def __init__(self, limits: Limits) -> None:
        self.bytes, self.files, self.limits = limits.unpacked_bytes, MOST_FILES, limits

    def file(self) -> None:
        self.files -= 1
        if self.files < 0:
            raise UsageError(f"a collection has at most {MOST_FILES:,} files")

    def take(self, count: int) -> None:
        self.bytes -= count
        if self.bytes < 0:
            most = self.limits.unpacked_bytes >> 20
            raise UsageError(f"a collection made in the browser has at most {most} MB of files")


def receive_collection(files: Iterable[UploadFile], folder: Path, limits: Limits) -> Path:
    """Write the files that were sent to an empty folder; gives the collection's folder in it.

    Where there is no `collection.toml`, it is drafted from the names of the files.
    """
    room = _Room(limits)
    for file in files:
        name = str(file.filename)
        if name.lower().endswith(ARCHIVES):
            with readable_archive(name):
                _unpack(file.file, name, folder, room)
        else:
            _write(file.file, folder, name, room)
    if not any(folder.iterdir()):
        raise UsageError("choose an archive, a folder or files")
    collection = _top_of(folder)
    if not (collection / SETTINGS).exists():
        init_collection(collection)
    return collection


@contextmanager
def readable_archive(name: str) -> Iterator[None]:
    """Whatever is wrong with an archive is a UsageError."""
    try:
        yield
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, RuntimeError) as error:
        raise UsageError(f"{name[:LONGEST_NAME]} cannot be unpacked: {error}") from None


def _unpack(stream: IO[bytes], name: str, folder: Path, room: _Room) -> None:
    if name.lower().endswith(".zip"):
        with zipfile.ZipFile(stream) as archive:
            for entry in archive.infolist():
                kind = stat.S_IFMT(entry.external_attr >> 16)
                if not entry.is_dir() and kind in (0, stat.S_IFREG):
                    with archive.open(entry) as content:
                        _write(content, folder, entry.filename, room)
        return
    with tarfile.open(fileobj=stream) as archive:
        for member in archive:
            content_or_none = archive.extractfile(member) if member.isreg() else None
            if content_or_none is not None:
                _write(content_or_none, folder, member.name, room)


def _write(stream: IO[bytes], folder: Path, name: str, room: _Room) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    parts = [part for part in path.parts if part not in ("", ".", "/")]
    if not parts or any(part.startswith(".") or part == "__MACOSX" for part in parts):
        if ".." in parts:
            raise UsageError(f"{name[:LONGEST_NAME]} leads out of the collection")
        return  # what systems leave behind
    if any(len(part) > LONGEST_NAME or "\0" in part or ":" in part for part in parts):
        raise UsageError(f"{name[:40]} is no name of a file")
    room.file()
    target = folder.joinpath(*parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        raise UsageError(f"{'/'.join(parts)} is there twice")
    with target.open("xb") as copy:
        while block := stream.read(BLOCK):
            room.take(len(block))
            copy.write(block)


def _top_of(folder: Path) -> Path:
    """The folder with the settings, or below folders that hold nothing else."""
    here = folder
    while not (here / SETTINGS).exists():
        entries = list(here.iterdir())
        if len(entries) != 1 or not entries[0].is_dir():
            return here
        here = entries[0]
    return here
