"""Files on their way in: streamed to the disk under a limit, hashed, kept once by their hash.

What teams download: the files of the public folder, one by one or all in an archive.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from cranfield.errors import CranfieldError
from cranfield.io.files import write_atomic
from cranfield.server.context import Context
from cranfield.server.settings import Settings

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class TooLargeError(CranfieldError):
    """An upload that has more bytes than the site takes."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the file has more than {limit:,} bytes, the most that is taken")


@dataclass
class Upload:
    """A file that is being received; `with` removes it unless it was kept."""

    path: Path
    most: int
    size: int = 0
    head: bytes = b""
    _hash: hashlib._Hash = field(default_factory=hashlib.sha256)
    _file: IO[bytes] | None = None

    @classmethod
    def begin(cls, context: Context) -> Upload:
        settings = context.settings
        path = settings.incoming / context.new_id()
        upload = cls(path, settings.limits.upload_bytes)
        upload._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        return upload

    def __enter__(self) -> Upload:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            # What could not be written before cannot be written now either.
            with suppress(OSError):
                self._file.close()
        self.path.unlink(missing_ok=True)

    def add(self, block: bytes) -> None:
        """Write a block; a TooLargeError as soon as there are too many bytes."""
        self.size += len(block)
        if self.size > self.most:
            raise TooLargeError(self.most)
        if len(self.head) < 4:
            self.head = (self.head + block[:4])[:4]
        self._hash.update(block)
        if self._file is not None:
            self._file.write(block)

    def end(self) -> None:
        """All of it is there, and on the disk."""
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._file = None

    @property
    def sha(self) -> str:
        return self._hash.hexdigest()

    @property
    def packing(self) -> str:
        """How the bytes are packed, by how they begin; whatever their name says."""
        if self.head.startswith(GZIP):
            return ".gz"
        return ".zst" if self.head.startswith(ZSTD) else ""

    def keep(self, settings: Settings) -> None:
        """Move the file to where the files of runs lie; the same bytes are there once."""
        self.move(blob_path(settings, self.sha), 0o400)

    def move(self, target: Path, mode: int) -> None:
        """Give the file its place; the names of new folders reach the disk, too."""
        new = [folder for folder in target.parents if not folder.exists()]
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.chmod(mode)
        self.path.replace(target)
        sync_folders(target.parent, *(folder.parent for folder in new))


def blob_path(settings: Settings, sha: str) -> Path:
    """Where the bytes of a hash lie."""
    return settings.blobs / sha[:2] / sha


def sync_folders(*folders: Path) -> None:
    """Put the new names in folders on the disk, too."""
    for folder in folders:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def file_hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def list_files(folder: Path) -> list[dict[str, Any]]:
    """The files below a folder by name, with their sizes."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [
        {"name": path.relative_to(folder).as_posix(), "bytes": path.stat().st_size}
        for path in paths
    ]


def find_file(folder: Path, name: str) -> Path | None:
    """A file below a folder by one of the names that `listed` gives, and by no other."""
    names = {entry["name"] for entry in list_files(folder)}
    return folder / name if name in names else None


def public_archive(context: Context, slug: str) -> Path:
    """The public folder as one archive, made once: the same folder gives the same bytes."""
    folder = context.settings.public / slug
    target = context.settings.public / f"{slug}.tar.gz"
    newest = max((path.stat().st_mtime for path in folder.rglob("*")), default=0.0)
    if not target.exists() or target.stat().st_mtime < newest:
        write_atomic(target, pack_folder(folder, slug))
    return target


def pack_folder(folder: Path, root: str) -> bytes:
    """A folder as a .tar.gz without times and owners."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for listed_file in list_files(folder):
            content = (folder / listed_file["name"]).read_bytes()
            entry = tarfile.TarInfo(f"{root}/{listed_file['name']}")
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), mtime=0)
