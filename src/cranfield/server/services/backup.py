"""Backups: the store as it is at one moment, the files that it names, and a manifest of hashes."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import tarfile
import zlib
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.engine import make_url

from cranfield._version import __version__
from cranfield.errors import InputError, UsageError
from cranfield.io.files import write_atomic
from cranfield.server.context import SECOND, Context
from cranfield.server.services import scoring
from cranfield.server.services.disk import draft_folder, files_stay
from cranfield.server.services.uploads import blob_path, file_hash, sync_folders
from cranfield.server.settings import DATABASE_FILE, Settings
from cranfield.server.store.tables import blob, export, truth_version

MANIFEST = "manifest.json"
# PostgreSQL's own format, which is read and not run, as a script of psql would be.
DUMP = "campaign.dump"
# What a backup holds beside the store; what can be made again (scores) is held, too: it is small.
FOLDERS = ("blobs", "sealed", "public", "scores")


def check_files(context: Context) -> tuple[int, list[str]]:
    """How many files the store names, and which of them are missing or changed."""
    settings = context.settings
    with context.store.read() as connection:
        files = {
            f"blob {row.sha[:16]}": (blob_path(settings, row.sha), row.sha)
            for row in connection.execute(select(blob.c.sha))
        }
        for row in connection.execute(select(truth_version.c.file, truth_version.c.sha)):
            files[f"truth {row.file}"] = (settings.sealed / row.file, row.sha)
    problems = []
    for name, (path, sha) in sorted(files.items()):
        if not path.is_file():
            problems.append(f"{name} is missing")
        elif file_hash(path) != sha:
            problems.append(f"{name} was changed after it had been stored")
    return len(files), problems


def make_backup(context: Context, target: Path) -> dict[str, Any]:
    """Write a backup to a file that is not there yet; the site may be in use meanwhile.

    The store is copied first: every file that it names is there already, none is ever changed, and
    none is removed meanwhile.
    """
    if target.exists():
        raise UsageError(f"{target} is there already; a backup gets a new file")
    target.parent.mkdir(parents=True, exist_ok=True)
    with draft_folder(context, target) as draft, files_stay(context.settings):
        dump = _dump_store(context, draft)
        folder = context.settings.folder
        paths = [dump, *(path for name in FOLDERS for path in _files(folder / name))]
        names = {
            path: path.name if path == dump else path.relative_to(folder).as_posix()
            for path in paths
        }
        manifest = {
            "cranfield": __version__,
            "made": context.clock.now(),
            "store": "sqlite" if context.store.is_sqlite else "postgresql",
            "files": {names[path]: file_hash(path) for path in paths},
        }
        (draft / MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True))
        packed = draft / "backup.tar.gz"
        with tarfile.open(packed, "w:gz", compresslevel=3) as archive:
            archive.add(draft / MANIFEST, MANIFEST)
            for path in paths:
                archive.add(path, names[path])
        packed.chmod(0o600)
        _sync(packed)
        packed.replace(target)
        sync_folders(target.parent)
    return manifest


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name[0] != ".")


def _sync(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def _dump_store(context: Context, draft: Path) -> Path:
    if context.store.is_sqlite:
        path = draft / DATABASE_FILE
        source = make_url(context.settings.url).database or ""
        # The driver's own connection: SQLAlchemy's begins a transaction, which this cannot be in.
        with closing(sqlite3.connect(source, isolation_level=None)) as connection:
            connection.execute("VACUUM INTO ?", (str(path),))
        return path
    path = draft / DUMP
    _postgres("pg_dump", context.settings.url, "--format=custom", "-f", str(path))
    return path


def _postgres(program: str, url: str, *arguments: str) -> None:
    """Run a program of PostgreSQL on the database of an address; the password stays unseen."""
    address = make_url(url)
    executable = shutil.which(program)
    if executable is None:
        places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))
        if not places:
            raise UsageError(f"the program {program} is needed for this store")
        executable = str(places[-1])
    target = address.set(drivername="postgresql", password=None)
    environment = os.environ | {"PGPASSWORD": str(address.password or "")}
    result = subprocess.run(
        # Without a terminal no password can be typed: the program fails instead of asking.
        [executable, "--no-password", "-d", target.render_as_string(), *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise UsageError(f"{program}: {result.stderr.strip()[-300:]}")


def restore_backup(source: Path, settings: Settings) -> dict[str, Any]:
    """Write a backup into an empty folder, after its hashes were checked."""
    folder = settings.folder
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; a backup is restored into a new folder")
    new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return _restore(source, settings)
    except BaseException:
        for path in [folder] if new else folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        raise


def _unpack_member(
    archive: tarfile.TarFile, member: tarfile.TarInfo, source: Path, folder: Path
) -> None:
    """Write one file of a backup below a folder.

    By hand: Python before 3.11.4 does not know the filters of tarfile.
    """
    name = PurePosixPath(member.name)
    if name.is_absolute() or ".." in name.parts:
        raise InputError.single(str(source), f"{member.name} lies outside of the backup")
    target = folder / name
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
        return
    content = archive.extractfile(member) if member.isfile() else None
    if content is None:
        raise InputError.single(str(source), f"{member.name} is no plain file")
    target.parent.mkdir(parents=True, exist_ok=True)
    with content, target.open("xb") as stream:
        shutil.copyfileobj(content, stream)


def _unpack(source: Path, folder: Path) -> dict[str, Any]:
    """Unpack a backup and give its manifest, which its files were held to."""
    try:
        with tarfile.open(source, "r:gz") as archive:
            for member in archive:
                _unpack_member(archive, member, source, folder)
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
        hashes = dict(manifest["files"])
        if manifest["store"] not in ("sqlite", "postgresql"):
            raise ValueError(f"a store on {manifest['store']!r}")
    except (OSError, tarfile.TarError, zlib.error, EOFError) as error:
        raise InputError.single(str(source), f"is not a backup of a site ({error})") from None
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError.single(str(source), f"has a damaged manifest ({error})") from None
    present = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    extra = sorted(present - hashes.keys() - {MANIFEST})
    if extra:
        raise InputError.single(str(source), f"{extra[0]} is not in the manifest")
    dump = DATABASE_FILE if manifest["store"] == "sqlite" else DUMP
    for name in hashes:
        if name != dump and name.partition("/")[0] not in FOLDERS:
            raise InputError.single(str(source), f"{name} is no part of a site")
    if dump not in hashes:
        raise InputError.single(str(source), f"the manifest has no {dump}")
    for name, sha in hashes.items():
        if not (folder / name).is_file() or file_hash(folder / name) != sha:
            raise InputError.single(str(source), f"{name} is not as the manifest says")
    return manifest


def _restore(source: Path, settings: Settings) -> dict[str, Any]:
    folder = settings.folder
    manifest = _unpack(source, folder)
    if (manifest["store"] == "sqlite") == bool(settings.database):
        kind = manifest["store"]
        raise UsageError(f"this is a backup of a site on {kind}; restore it on the same")
    if manifest["store"] == "postgresql":
        ways = ("--no-owner", "--no-acl", "--single-transaction", "--exit-on-error")
        _postgres("pg_restore", settings.url, *ways, str(folder / DUMP))
        (folder / DUMP).unlink()
    (folder / MANIFEST).unlink()
    settings.prepare()
    return manifest


def record_export(context: Context, campaign_id: str | None, kind: str, place: Path) -> None:
    """Remember where an export or a backup was written, and its hash."""
    sha = file_hash(place)
    context.store.write(
        lambda c: c.execute(
            insert(export).values(
                id=context.new_id(),
                campaign=campaign_id,
                kind=kind,
                place=str(place),
                sha=sha,
                created=context.clock.now(),
            )
        )
    )


def time_stamp(context: Context) -> str:
    """The time as the names of files have it, and letters that keep two of one second apart."""
    now = datetime.fromtimestamp(context.clock.now() / SECOND, UTC)
    return f"{now:%Y-%m-%d-%H%M%S}-{context.new_id()[:4]}"


def backup_job(context: Context, _: dict[str, Any]) -> dict[str, Any]:
    """A backup that was requested on the page of the site."""
    place = context.settings.folder / "backups" / f"backup-{time_stamp(context)}.tar.gz"
    make_backup(context, place)
    record_export(context, None, "backup", place)
    return {"done": 1}


def export_job(context: Context, job_input: dict[str, Any]) -> dict[str, Any]:
    """An export that an organiser asked for on the board, as one file to download."""
    from cranfield.server.admin import export_to
    from cranfield.server.services.campaigns import by_slug
    from cranfield.server.services.uploads import pack_folder

    place = context.settings.folder / "exports" / f"{job_input['campaign']}-{time_stamp(context)}"
    export_to(context, job_input["campaign"], place)
    archive = place.with_name(f"{place.name}.tar.gz")
    write_atomic(archive, pack_folder(place, job_input["campaign"]))
    shutil.rmtree(place)
    with context.store.read() as connection:
        campaign_id = by_slug(connection, job_input["campaign"])["id"]
    record_export(context, campaign_id, "export", archive)
    return {"done": 1}


scoring.IN_PROCESS_JOBS.update(backup=backup_job, export=export_job)
