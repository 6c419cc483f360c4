"""Work while the server is killed, and by two hundred people at once; part of `make slow`."""

from __future__ import annotations

import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
from sqlalchemy import func, select

from benchmarks.site_annotators import load
from cranfield.server.services import assessors, batches
from cranfield.server.services.batch_factory import new_batch
from cranfield.server.services.campaigns import by_slug
from cranfield.server.services.site import open_site
from cranfield.server.store.work_tables import assignment, judgement
from tests.server.process import started

KILLS = 20
SECONDS = 60


def prepared(site, people, overlap):
    """A batch that runs, and the tokens of those who work on it."""

    def write(connection):
        row = by_slug(connection, "tiny")
        new_batch(connection, site.context, "t", row, "labels", slug="one", overlap=overlap)
        found = batches.read_batch(connection, row["id"], "one")
        batches.set_state(connection, site.context, "t", found.row, "running")
        return [
            assessors.add_assessor(
                connection, site.context, "t", row["id"], kind="model", batch_id=found.id
            )[1]
            for _ in range(people)
        ]

    return site.context.store.write(write)


class Annotator:
    """Somebody who saves under keys of their own and remembers what was acknowledged."""

    def __init__(self, token, address):
        self.client = httpx.Client(
            verify=False,
            base_url=f"{address}/api/v1",
            headers={"Authorization": f"Bearer {token}"},
            timeout=10,
        )
        self.acknowledged: dict[str, int] = {}
        self.times: list[float] = []
        self.count = 0

    def step(self):
        """Ask, and save; an answer that does not come is asked for again under the same key."""
        try:
            given = self.client.get("/work/next").json()
        except (httpx.HTTPError, ValueError):
            time.sleep(0.05)
            return True
        key = given.get("assignment")
        if key is None:
            return False
        self.count += 1
        body = {"answers": {"Sky": ["Sky"]}, "key": f"{key}.{self.count}"}
        for _ in range(200):
            began = time.perf_counter()
            try:
                said = self.client.put(f"/work/{key}", json=body)
            except httpx.HTTPError:
                time.sleep(0.05)
                continue
            self.times.append(time.perf_counter() - began)
            if said.status_code == 200:
                self.acknowledged[body["key"]] = said.json()["revision"]
            return True
        return True


def kept(site):
    """How often each key stands in the store."""
    context = open_site(site.settings)
    try:
        with context.store.read() as connection:
            rows = connection.execute(
                select(judgement.c.client_key, func.count()).group_by(judgement.c.client_key)
            )
            doubled = connection.execute(
                select(func.count())
                .select_from(assignment)
                .group_by(assignment.c.assessor, assignment.c.subject)
                .having(func.count() > 1)
            ).all()
            return {str(key): int(count) for key, count in rows}, len(doubled)
    finally:
        context.store.close()


def test_nothing_that_was_acknowledged_is_lost_or_doubled(unserved):
    """Twenty annotators, the server killed at twenty random moments."""
    tokens = prepared(unserved, 20 * (KILLS + 1), overlap=10_000)
    unserved.context.store.close()
    draw = random.Random(7)
    acknowledged: dict[str, int] = {}
    slowest = 0.0
    for round_ in range(KILLS + 1):
        began = time.monotonic()
        process, address = started(unserved.settings.folder)
        slowest = max(slowest, time.monotonic() - began)
        people = [Annotator(t, address) for t in tokens[20 * round_ : 20 * (round_ + 1)]]
        stop = threading.Event()

        def work(one, stop=stop):
            while not stop.is_set() and one.step():
                pass

        with ThreadPoolExecutor(20) as pool:
            for one in people:
                pool.submit(work, one)
            # At a random moment after some of them have been told that theirs is stored.
            wanted, until = draw.randint(1, 20), time.monotonic() + 60
            while sum(len(one.acknowledged) for one in people) < wanted:
                if time.monotonic() > until:
                    break
                time.sleep(0.005)
            time.sleep(draw.uniform(0, 0.05))
            process.send_signal(signal.SIGKILL)
            process.wait(30)
            stop.set()
            for one in people:
                one.client.close()
        for one in people:
            acknowledged |= one.acknowledged
    found, doubled = kept(unserved)
    lost = [key for key in acknowledged if key not in found]
    print(f"{len(acknowledged)} acknowledged, {len(lost)} lost, up again in {slowest:.1f} s")
    assert len(acknowledged) > KILLS
    assert lost == []
    assert set(found.values()) <= {1}
    assert doubled == 0


def test_two_hundred_annotators_save_once_a_second(tmp_path):
    """All that is acknowledged is there; how long it took beside plain commits is printed."""
    found = {}
    for name in ("grouped", "plain"):
        (tmp_path / name).mkdir()
        found[name] = load(tmp_path / name, plain=name == "plain", seconds=SECONDS)
        print(f"{name} commits: {found[name]}")
        assert found[name].saves > 0
        assert (found[name].lost, found[name].doubled, found[name].refused) == (0, 0, 0)
    print(f"p95 of grouped commits / plain ones: {found['grouped'].save / found['plain'].save:.2f}")
