"""How long savers wait for the store, with commits in groups and without: a ratio.

What pages and uploads cost is held by `tests/server/slow_load.py`; how long annotators wait for
the whole of a save is measured by `site_annotators.py`.
"""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path

from sqlalchemy import insert

from cranfield.server.store import open_store
from cranfield.server.store.database import SqliteStore
from cranfield.server.store.migrate import upgrade
from cranfield.server.store.tables import setting

SAVERS, SAVES = 50, 20


class PlainStore(SqliteStore):
    """The same store with a commit for every write: what grouping is measured against."""

    def write(self, work):
        with LOCK, self._writer.begin() as connection:
            done = work(connection)
        self.changes += 1
        return done


LOCK = threading.Lock()


def waits(store) -> list[float]:
    """How long each of many savers waits for each of its saves, in seconds."""
    found: list[float] = []

    def save(n: int) -> None:
        for k in range(SAVES):
            begun = time.perf_counter()
            row = insert(setting).values(name=f"{n}-{k}", value="x")
            store.write(lambda c, row=row: c.execute(row))
            found.append(time.perf_counter() - begun)

    threads = [threading.Thread(target=save, args=(n,)) for n in range(SAVERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(found)


def saves(folder: Path) -> None:
    found = {}
    for name in ("grouped", "plain"):
        store = open_store(f"sqlite:///{folder / name}.sqlite")
        upgrade(store)
        if name == "plain":
            store.__class__ = PlainStore
        found[name] = waits(store)
        store.close()
    for name, values in found.items():
        p95 = values[int(len(values) * 0.95)]
        print(f"saves, {name}: {len(values)} of {SAVERS} savers, p95 {1000 * p95:.1f} ms")
    at = int(SAVERS * SAVES * 0.95)
    print(f"p95 of grouped commits / plain ones: {found['grouped'][at] / found['plain'][at]:.2f}")


async def cpu(app, times: int, *, anew: bool = False) -> float:
    """Milliseconds of CPU of the application for each of some requests for a board.

    From memory, or with `anew` made each time from the scores that are kept.
    """

    async def ask() -> None:
        if anew:
            app.state.pages.forget()
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": "/tiny/results/ranked",
            "raw_path": b"/tiny/results/ranked",
            "root_path": "",
            "query_string": b"",
            "headers": [(b"host", b"127.0.0.1"), (b"accept-encoding", b"gzip")],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        told = []

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message):
            told.append(message)

        await app(scope, receive, send)
        if told[0]["status"] != 200:
            raise RuntimeError(told)

    for _ in range(5):
        await ask()
    begun = time.process_time()
    for _ in range(times):
        await ask()
    return 1000 * (time.process_time() - begun) / times


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        saves(Path(made))
