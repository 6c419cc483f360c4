"""What teams download: the files of the public folder, one by one or all in an archive."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path
from typing import Any

from cranfield.io.files import write_atomic
from cranfield.server.context import Context


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
