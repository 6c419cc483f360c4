"""What services get of the outside world: the store, the time, ids and where files lie."""

from __future__ import annotations

import base64
import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from cranfield.server.settings import Settings
from cranfield.server.store import Store

SECOND = 1000
T = TypeVar("T")


class Clock:
    """The time of the server in milliseconds; it never goes back, even when the machine's does."""

    def __init__(self, settings: Settings, latest: int = 0) -> None:
        self._source = settings.clock
        self._latest = latest
        self._lock = threading.Lock()

    def now(self) -> int:
        with self._lock:
            self._latest = max(self._latest, int(self._source() * SECOND))
            return self._latest


class Memory:
    """Keeps small facts for a moment; another process may have changed them that long ago."""

    SECONDS = 1.0
    MOST = 1000

    def __init__(self) -> None:
        self._kept: dict[Any, tuple[int, float, Any]] = {}

    def get(self, key: Any, changes: int, make: Callable[[], T]) -> T:
        known = self._kept.get(key)
        now = time.monotonic()
        if known is not None and known[0] == changes and now - known[1] < self.SECONDS:
            found: T = known[2]
            return found
        made = make()
        if len(self._kept) >= self.MOST:
            self._kept.clear()
        self._kept[key] = (changes, now, made)
        return made


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
        """Sixteen letters and digits that nobody can guess."""
        return base64.b32encode(self.settings.randomness(10)).decode().lower()

    def new_secret(self) -> str:
        """A token or link that is shown once; only its hash is kept."""
        return base64.urlsafe_b64encode(self.settings.randomness(32)).decode().rstrip("=")


def hash_of(secret: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(secret.encode()).hexdigest()
