"""What the campaign site needs: CPU of a board, waits of saves, memory of uploads. As ratios."""

from __future__ import annotations

import asyncio
import sys
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
            return work(connection)


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


def pages(folder: Path) -> None:
    """CPU of a board from memory and made anew, as this process spends it."""
    from tests.server.world import Site, run_text

    site = Site(folder)
    site.add_campaign()
    site.move("open")
    people = [site.add_team(f"p{n}", f"T{n}") for n in range(15)]
    with site.serving():
        for who, team in people:
            client = site.program(site.add_token(who, team))
            for n in range(5):
                client.put(
                    f"/tasks/ranked/runs/r{n}",
                    params={"conf": "V", "about": "x"},
                    content=run_text((f"d{n}", "d6")).encode(),
                )
        site.work()
        site.move("closed", "scoring", "released")
        page = site.browser().get("/tiny/results/ranked")
        sent = int(page.headers["content-length"])
        print(f"board of 76 runs: {len(page.content) / 1000:.1f} KB, {sent / 1000:.1f} KB packed")
        cached = asyncio.run(cpu(site.app, lambda _: "", 1000))
        anew = asyncio.run(cpu(site.app, lambda n: f"x={n}", 100))
        print(f"CPU of a board: {cached:.2f} ms from memory, {anew:.2f} ms made anew")


async def cpu(app, query, times: int) -> float:
    """Milliseconds of CPU of the application for each of some requests for a board."""

    async def ask(n: int) -> None:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": "/tiny/results/ranked",
            "raw_path": b"/tiny/results/ranked",
            "root_path": "",
            "query_string": query(n).encode(),
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

    for n in range(5):
        await ask(10_000 + n)
    begun = time.process_time()
    for n in range(times):
        await ask(n)
    return 1000 * (time.process_time() - begun) / times


def uploads(folder: Path) -> None:
    """How much more memory a run of 50 MB takes: the peak of the process, client apart."""
    import resource

    from tests.server.world import Site

    site = Site(folder)
    site.add_campaign()
    site.move("open")
    who, team = site.add_team("ann", "ONE")
    block = b"x" * (1 << 20)
    with site.serving():
        client = site.program(site.add_token(who, team))
        ask = {"params": {"conf": "V", "about": "x"}}
        client.put("/tasks/ranked/runs/a", content=b"x", **ask)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        client.put("/tasks/ranked/runs/a", content=(block for _ in range(50)), **ask)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"upload of 50 MB: +{(after - before) / 1024:.1f} MB")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    with tempfile.TemporaryDirectory() as made:
        saves(Path(made))
        uploads(Path(made) / "uploads")
        pages(Path(made) / "pages")
