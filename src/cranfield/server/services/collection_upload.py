"""A collection that comes through a browser: an archive, a folder, or its files one by one.

Nothing of it is trusted before it is imported: names lead nowhere else, archives are unpacked up to
the limits, and only plain files are written. A child unpacks and reads it first, within limits of
memory and time: whatever unfolds, unfolds there.
"""

from __future__ import annotations

import lzma
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from errno import ENOSPC
from os import strerror
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from cranfield.campaign.collections import init_collection
from cranfield.errors import UsageError
from cranfield.server.jobs.fork_server import ForkServer
from cranfield.server.services.disk import is_full

if TYPE_CHECKING:
    from starlette.datastructures import UploadFile

    from cranfield.server.settings import Settings

MOST_FILES, LONGEST_NAME, LONGEST_PATH, BLOCK = 20_000, 200, 1000, 1 << 20
SETTINGS = "collection.toml"
ARCHIVES = (".zip", ".tar.gz", ".tgz", ".tar")
CHILD = "cranfield.server.jobs.receiving"


class _Room:
    """What may still be written; an archive that unpacks to more than the limit is refused."""

    def __init__(self, byte_limit: int) -> None:
        self.bytes, self.files, self.byte_limit = byte_limit, MOST_FILES, byte_limit

    def file(self) -> None:
        self.files -= 1
        if self.files < 0:
            raise UsageError(f"a collection has at most {MOST_FILES:,} files")

    def take(self, count: int) -> None:
        self.bytes -= count
        if self.bytes < 0:
            most = self.byte_limit >> 20
            raise UsageError(f"a collection made in the browser has at most {most} MB of files")


def receive_collection(
    files: Iterable[UploadFile], folder: Path, settings: Settings, *, may_run: bool
) -> Path:
    """Write the files that were sent to an empty folder; gives the collection's folder in it.

    Where there is no `collection.toml`, it is drafted from the names of the files. Whatever an
    import would refuse is refused here, by the child.
    """
    archives = folder.with_name(f"{folder.name}-archives")
    archives.mkdir(mode=0o700)
    room = _Room(settings.limits.unpacked_bytes)
    packed: list[tuple[str, str]] = []
    try:
        for file in files:
            name = str(file.filename)
            if name.lower().endswith(ARCHIVES):
                copy = archives / str(len(packed))
                with copy.open("xb") as stream:
                    shutil.copyfileobj(file.file, stream)
                packed.append((name, str(copy)))
            else:
                _write(file.file, folder, name, room)
        job_input = {
            "kind": "receive",
            "folder": str(folder),
            "archives": packed,
            "bytes": settings.limits.unpacked_bytes,
            "free": (room.bytes, room.files),
            "may_run": may_run,
        }
        with ForkServer(settings, CHILD, memory=settings.limits.check_memory) as nursery:
            reply = nursery.run(job_input)
    finally:
        shutil.rmtree(archives, ignore_errors=True)
    if reply.get("full"):
        raise OSError(ENOSPC, strerror(ENOSPC))
    if "error" in reply:
        raise UsageError(str(reply["error"]))
    return Path(reply["collection"])


def receive(job_input: dict[str, Any]) -> dict[str, Any]:
    """The work of the child: unpack, find the settings or draft them, and read all there is."""
    from cranfield.server.services.importing import survey_collection

    folder, room = Path(job_input["folder"]), _Room(job_input["bytes"])
    room.bytes, room.files = job_input["free"]
    try:
        for name, path in job_input["archives"]:
            with Path(path).open("rb") as stream, readable_archive(name):
                _unpack(stream, name, folder, room)
        if not any(folder.iterdir()):
            raise UsageError("choose an archive, a folder or files")
        collection = _top_of(folder)
        if not (collection / SETTINGS).exists():
            init_collection(collection)
        survey_collection(collection, may_run=job_input["may_run"])
    except OSError as error:
        if is_full(error):
            return {"full": True}
        raise
    return {"collection": str(collection)}


@contextmanager
def readable_archive(name: str) -> Iterator[None]:
    """Whatever is wrong with an archive is a UsageError."""
    try:
        yield
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        EOFError,
        zlib.error,
        lzma.LZMAError,
        RuntimeError,
        ValueError,
        OSError,
    ) as error:
        if is_full(error):
            raise
        raise UsageError(f"{name[:LONGEST_NAME]} cannot be unpacked: {error}") from None


def _unpack(stream: IO[bytes], name: str, folder: Path, room: _Room) -> None:
    if name.lower().endswith(".zip"):
        with zipfile.ZipFile(stream) as archive:
            for entry in archive.infolist():
                room.file()
                kind = stat.S_IFMT(entry.external_attr >> 16)
                if not entry.is_dir() and kind in (0, stat.S_IFREG):
                    with archive.open(entry) as content:
                        _write(content, folder, entry.filename, room)
        return
    with tarfile.open(fileobj=stream) as archive:
        for member in archive:
            room.file()
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
    wrong = any(len(part.encode()) > LONGEST_NAME or ":" in part for part in parts)
    if wrong or len(name) > LONGEST_PATH or not name.isprintable():
        raise UsageError(f"{name[:40]!r} is no name of a file")
    room.file()
    target = folder.joinpath(*parts)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = target.open("xb")
    except (FileExistsError, NotADirectoryError):
        raise UsageError(f"{'/'.join(parts)} is there twice, or is a file and a folder") from None
    with copy:
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
