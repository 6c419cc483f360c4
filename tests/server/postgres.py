"""A PostgreSQL of the test's own: Debian's programs, no network, a folder that goes away."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest


def programs() -> Path | None:
    """Where the programs of PostgreSQL are, if they are."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


@contextmanager
def running():
    """The address of a server without a database of its own, stopped at the end."""
    place = programs()
    if place is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    # PostgreSQL does not run as root; Debian's package makes a user for it.
    who = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="cranfield-postgres-"))
    if who:
        shutil.chown(folder, "postgres", "postgres")
    quiet = {
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "stdin": subprocess.DEVNULL,
        "cwd": "/",
        "timeout": 120,
    }
    data = folder / "data"
    try:
        subprocess.run(
            [place / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N"],
            check=True,
            **quiet,
            **who,
        )
        # A socket in a folder of its own: no port that somebody else could take first.
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}'"
        subprocess.run(
            [place / "pg_ctl", "-D", data, "-w", "-o", options, "start"], check=True, **quiet, **who
        )
        yield f"postgresql://postgres@/?host={folder}"
    finally:
        subprocess.run(
            [place / "pg_ctl", "-D", data, "-m", "immediate", "stop"], check=False, **quiet, **who
        )
        shutil.rmtree(folder, ignore_errors=True)


def new_database(server: str, name: str) -> str:
    """The address of an empty database."""
    import psycopg

    with psycopg.connect(
        database_of(server, "postgres"), autocommit=True, connect_timeout=20
    ) as connection:
        connection.execute(f'drop database if exists "{name}"')
        connection.execute(f'create database "{name}"')
    return database_of(server, name)


def database_of(server: str, name: str) -> str:
    return server.replace("@/?", f"@/{name}?")
