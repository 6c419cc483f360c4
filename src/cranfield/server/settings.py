"""What a site is told when it starts: where it lives, its limits, its clock and its randomness."""

from __future__ import annotations

import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

DATABASE_FILE = "campaign.sqlite"
MEGABYTE = 1 << 20
EVERY_ADDRESS = ("", "0.0.0.0", "::")
# The bits of a mode that are for the group and for all other users.
OTHERS = 0o077


def steady_seconds() -> float:
    """Seconds of a monotonic clock; on Linux one that goes on while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


@dataclass(frozen=True)
class Limits:
    """The most that is taken from outside, and what a scoring child may use."""

    upload_bytes: int = 64 * MEGABYTE
    unpacked_bytes: int = 256 * MEGABYTE
    form_bytes: int = MEGABYTE
    # Of the files of all runs of a team, without those it withdrew or replaced.
    team_bytes: int = 2048 * MEGABYTE
    # Requests that one token, or one address without a token, may send to the interface.
    api_per_minute: int = 6000
    # How many people the public link of a batch brings in an hour.
    respondents_per_hour: int = 300
    # How many uploads are read at the same time; the others wait for their turn.
    checks_at_once: int = 2
    # How many uploads of one team wait for that, and their bytes.
    waiting_checks: int = 64
    waiting_bytes: int = 2048 * MEGABYTE
    # What the child may use that reads an upload.
    check_memory: int = 2048 * MEGABYTE
    check_seconds: int = 60
    child_memory: int = 4096 * MEGABYTE
    child_seconds: int = 600
    child_file_bytes: int = 1024 * MEGABYTE


@dataclass(frozen=True)
class Passwords:
    """The cost of hashing a password: memory in KiB, passes, and hashes at the same time."""

    memory: int = 19_456
    passes: int = 2
    at_once: int = 2


@dataclass(frozen=True)
class Settings:
    """A site: its folder, its store, its face to the network, and what tests may replace.

    `clock` gives seconds since 1970, `monotonic` seconds of a monotonic clock, and
    `randomness` so many random bytes; they come in so that a test or a rehearsal needs no sleeping
    and can be repeated. `workers` is how many jobs this process does at the same time (none:
    another process does them).
    """

    folder: Path
    database: str = ""
    host: str = "127.0.0.1"
    port: int = 8000
    proxy: str | None = None
    # Under which others reach the site, such as https://campaign.example.org.
    address: str = ""
    # The server that takes mail, such as smtp://user@mail.example.org:587, and who sends it.
    smtp: str = ""
    mail_from: str = ""
    # Names or addresses of machines that webhooks may call; none: the site calls nobody.
    webhook_hosts: tuple[str, ...] = ()
    workers: int = 1
    limits: Limits = field(default_factory=Limits)
    passwords: Passwords = field(default_factory=Passwords)
    clock: Callable[[], float] = time.time
    monotonic: Callable[[], float] = steady_seconds
    randomness: Callable[[int], bytes] = secrets.token_bytes
    # Seconds: how long a session, a lease of a job and an entered password last.
    session_seconds: int = 14 * 24 * 3600
    lease_seconds: float = 60.0
    heartbeat_seconds: float = 5.0
    poll_seconds: float = 0.5
    confirmed_seconds: int = 600
    # How far the clock of the machine may jump, and how far it may have gone on while the site was
    # stopped, before an administrator has to accept it.
    clock_jump_seconds: int = 300
    clock_off_seconds: int = 31 * 24 * 3600

    @property
    def url(self) -> str:
        """The address of the store; without one it is a file in the folder."""
        return self.database or f"sqlite:///{self.folder / DATABASE_FILE}"

    @property
    def public_address(self) -> str:
        """What links to be sent to others begin with: never what a request says of its host.

        Nothing where the address is not known: behind a proxy, or when every address is bound.
        """
        if self.address:
            return self.address.rstrip("/")
        if self.proxy is not None or not self.port or self.host in EVERY_ADDRESS:
            return ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def sealed(self) -> Path:
        """Where the truth lies, which only the scoring child opens."""
        return self.folder / "sealed"

    @property
    def blobs(self) -> Path:
        return self.folder / "blobs"

    @property
    def incoming(self) -> Path:
        return self.folder / "incoming"

    @property
    def public(self) -> Path:
        """What registered teams may download, a folder for each campaign."""
        return self.folder / "public"

    @property
    def scores(self) -> Path:
        return self.folder / "scores"

    def prepare(self) -> None:
        """Make the folders that are missing; only the user that runs the site may read them."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for folder in (self.sealed, self.blobs, self.incoming, self.public, self.scores):
            folder.mkdir(exist_ok=True, mode=0o700)
        close_to_others(self.folder)


@contextmanager
def owner_only_umask() -> Iterator[None]:
    """Files made meanwhile are readable only for the user that runs this process."""
    before = os.umask(OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def close_to_others(folder: Path) -> None:
    """Take from all other users what modes let them do with a folder and what is in it."""
    for path in (folder, *folder.rglob("*")):
        # The site may be in use: its files come and go.
        with suppress(FileNotFoundError):
            mode = path.lstat().st_mode
            if mode & OTHERS and not stat.S_ISLNK(mode):
                path.chmod(stat.S_IMODE(mode) & ~OTHERS)
