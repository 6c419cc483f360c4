"""What services get of the outside world: the store, the time, ids and where files lie."""

from __future__ import annotations

import base64
import hashlib
import threading
from dataclasses import dataclass, field

from cranfield.server.settings import Settings
from cranfield.server.store import Store

SECOND = 1000


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


@dataclass(frozen=True)
class Context:
    """The site as its services see it."""

    settings: Settings
    store: Store
    clock: Clock
    # Woken when there may be a job to do.
    wake: threading.Event = field(default_factory=threading.Event)

    def new_id(self) -> str:
        """Sixteen letters and digits that nobody can guess."""
        return base64.b32encode(self.settings.randomness(10)).decode().lower()

    def new_secret(self) -> str:
        """A token or link that is shown once; only its hash is kept."""
        return base64.urlsafe_b64encode(self.settings.randomness(32)).decode().rstrip("=")


def hash_of(secret: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(secret.encode()).hexdigest()
