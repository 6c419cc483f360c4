"""The files of runs on the disk: there as long as a run needs them, and no longer.

A file is put in place before the store names it, and its row is deleted before the file is. A lock
on their folder keeps the two apart: uploads, imports and backups share it, removing has it alone.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import re
import shutil
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import Connection, delete, func, select

from cranfield.server.context import Context
from cranfield.server.services.uploads import blob_path
from cranfield.server.settings import Settings
from cranfield.server.store.tables import blob, run

LOG = logging.getLogger("cranfield.server.disk")
# A disqualified run keeps its file: it may be asked about. One withdrawn or replaced does not.
KEPT_STATES = ("accepted", "disqualified", "trial")
# Nothing takes that long to arrive or to be written.
STALE_SECONDS = 24 * 3600
_DRAFT = re.compile(r"\..+\.[a-z2-7]{16}")


def is_full(error: BaseException) -> bool:
    """Whether a fault of the disk is that it has no room."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def files_stay(settings: Settings) -> Iterator[None]:
    """No file of a run is removed meanwhile."""
    with _locked(settings.blobs, fcntl.LOCK_SH):
        yield


@contextmanager
def _locked(path: Path, operation: int) -> Iterator[None]:
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, operation)
        yield
    finally:
        os.close(handle)


def remove_unneeded(context: Context, *shas: str) -> None:
    """Remove the files that no run needs any more, and those of `shas` that none ever did.

    While a file is put in place, or a backup written, this is left to a worker.
    """
    try:
        with _locked(context.settings.blobs, fcntl.LOCK_EX | fcntl.LOCK_NB):
            _remove(context, shas)
    except BlockingIOError:
        context.untidy.set()
        context.wake.set()


def _remove(context: Context, shas: Collection[str]) -> None:
    def forget(connection: Connection) -> set[str]:
        needed = select(run.c.blob).where(run.c.state.in_(KEPT_STATES))
        rows = connection.execute(select(blob.c.sha).where(blob.c.sha.not_in(needed)))
        gone = set(rows.scalars())
        if gone:
            connection.execute(delete(blob).where(blob.c.sha.not_in(needed)))
        stored = set(connection.execute(select(blob.c.sha)).scalars()) if shas else set()
        return gone | set(shas) - stored

    for sha in context.store.write(forget):
        blob_path(context.settings, sha).unlink(missing_ok=True)


def sweep(context: Context) -> None:
    """Remove what kills and earlier versions left: files of no run, and drafts of no process."""
    context.untidy.clear()
    settings = context.settings
    clear_stale(settings.incoming)
    clear_stale(settings.folder / "exports", drafts=True)
    clear_drafts(settings.folder / "backups")
    with context.store.read() as connection:
        needed = select(run.c.blob).where(run.c.state.in_(KEPT_STATES))
        named_hashes = set(connection.execute(needed).scalars())
    present = {path.name for path in settings.blobs.glob("??/*")}
    strangers = present - named_hashes
    if not strangers:
        return
    if named_hashes and named_hashes <= present:
        remove_unneeded(context, *strangers)
    else:
        # Perhaps this store belongs to another folder: its files must not go by mistake.
        LOG.warning("%d files of no run stay: the store names others", len(strangers))


def clear_stale(folder: Path, *, drafts: bool = False) -> None:
    """Remove what was not written to for a day; of `drafts` what has no final name."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if drafts and not (path.is_dir() or path.name.startswith(".")):
            continue
        # Another process may have taken it away meanwhile.
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < time.time() - STALE_SECONDS:
                _remove_path(path)


def _remove_path(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def draft_folder(context: Context, target: Path) -> Iterator[Path]:
    """A folder beside a file that is being made; it is not cleared while this process lives."""
    clear_drafts(target.parent, target.name)
    draft = target.with_name(f".{target.name}.{context.new_id()}")
    draft.mkdir(mode=0o700)
    try:
        with _locked(draft, fcntl.LOCK_EX):
            yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def clear_drafts(folder: Path, name: str = "") -> None:
    """Remove the drafts, of one file or of all, whose processes were killed."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if not _DRAFT.fullmatch(path.name) or not path.is_dir():
            continue
        if not name or path.name[1:-17] == name:
            with (
                suppress(BlockingIOError, FileNotFoundError),
                _locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB),
            ):
                shutil.rmtree(path, ignore_errors=True)


def team_bytes(connection: Connection, team_id: str) -> int:
    """The bytes of the files that a team has on the disk, one for each run."""
    total = connection.execute(
        select(func.sum(blob.c.bytes))
        .join(run, run.c.blob == blob.c.sha)
        .where(run.c.team == team_id, run.c.state.in_(KEPT_STATES), run.c.baseline == 0)
    ).scalar()
    return int(total or 0)
