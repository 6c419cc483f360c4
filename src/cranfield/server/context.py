"""What services get of the outside world: the store, the time, ids and where files lie."""

from __future__ import annotations

import base64
import hashlib
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from cranfield.errors import CranfieldError
from cranfield.server.settings import Settings
from cranfield.server.store import Store

LOG = logging.getLogger("cranfield.server.clock")
SECOND = 1000
T = TypeVar("T")


class ClockError(CranfieldError):
    """Something that depends on the time, while the time is in doubt."""

    def __init__(self) -> None:
        super().__init__(
            "the clock of the server is in doubt; nothing that depends on the time is written "
            "until it is right again, or accepted by the administrator of the site"
        )


class Clock:
    """The time of the server in milliseconds; it never goes back by itself.

    The time of the machine is compared with a monotonic clock. When the two part by more
    than a bound, or the machine's is not where a site that was stopped may find it, time goes on
    steadily from where it was, and is in doubt until the two agree again or an administrator
    accepts it.
    """

    def __init__(self, settings: Settings, last: int = 0, acceptance: str = "") -> None:
        # The one in the store that was heeded already.
        self.acceptance = acceptance
        self._wall, self._steady = settings.clock, settings.monotonic
        self._bound = int(settings.clock_jump_seconds * SECOND)
        self._lock = threading.Lock()
        self._latest, self._since = last, self._steady()
        passed = self.wall() - last
        stopped = last > 0 and not -self._bound <= passed <= settings.clock_off_seconds * SECOND
        self._base = last if stopped else self.wall()
        self._in_doubt = False

    def wall(self) -> int:
        """What the machine says."""
        return int(self._wall() * SECOND)

    def now(self) -> int:
        with self._lock:
            return self._read()

    def _read(self) -> int:
        wall, steady = self.wall(), self._steady()
        expected = self._base + int((steady - self._since) * SECOND)
        doubted, self._in_doubt = self._in_doubt, abs(wall - expected) > self._bound
        if self._in_doubt:
            if not doubted:
                off = (wall - expected) // SECOND
                LOG.error("the clock of the machine is off by %d s: its time is in doubt", off)
            self._latest = max(self._latest, expected)
        else:
            self._base, self._since = wall, steady
            self._latest = max(self._latest, wall)
        return self._latest

    @property
    def in_doubt(self) -> bool:
        """Whether the time is not what the machine says."""
        with self._lock:
            self._read()
            return self._in_doubt

    def certain(self) -> int | None:
        """The time, unless it is in doubt."""
        with self._lock:
            now = self._read()
            return None if self._in_doubt else now

    def check(self) -> None:
        """A ClockError while the time is in doubt."""
        if self.in_doubt:
            raise ClockError

    def accept(self) -> None:
        """Take the time of the machine, wherever it is."""
        with self._lock:
            self._base, self._since = self.wall(), self._steady()
            self._latest, self._in_doubt = self._base, False


class Memory:
    """Keeps small facts for a moment; another process may have changed them that long ago."""

    SECONDS = 1.0
    MOST = 1000

    def __init__(self) -> None:
        self._kept: dict[Any, tuple[int, float, Any]] = {}

    def get(self, key: Any, changes: int, make: Callable[[], T]) -> T:
        entry = self._kept.get(key)
        now = time.monotonic()
        if entry is not None and entry[0] == changes and now - entry[1] < self.SECONDS:
            value: T = entry[2]
            return value
        new_value = make()
        if len(self._kept) >= self.MOST:
            self._kept.clear()
        self._kept[key] = (changes, now, new_value)
        return new_value


def as_time(milliseconds: int) -> str:
    """A time for programs, in whole seconds and UTC, as ISO 8601 writes it."""
    return datetime.fromtimestamp(milliseconds // SECOND, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Context:
    """The site as its services see it."""

    settings: Settings
    store: Store
    clock: Clock
    # Woken when there may be a job to do.
    wake: threading.Event = field(default_factory=threading.Event)
    # Set when files should have been removed that could not be at that moment.
    untidy: threading.Event = field(default_factory=threading.Event)

    memory: Memory = field(default_factory=Memory)

    def remembered(self, key: Any, make: Callable[[], T]) -> T:
        """What was found a moment ago, unless this process has written since."""
        return self.memory.get(key, self.store.changes, make)

    def new_id(self) -> str:
        """Sixteen random letters and digits, for an id that cannot be guessed."""
        return base64.b32encode(self.settings.randomness(10)).decode().lower()

    def new_secret(self) -> str:
        """A token or link that is shown once; only its hash is kept."""
        return base64.urlsafe_b64encode(self.settings.randomness(32)).decode().rstrip("=")


def hash_of(secret: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(secret.encode()).hexdigest()
