"""Work on PostgreSQL: many ask at once, no unit has more people than places, nobody one twice."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from cranfield.server.services import assessors, batch_results, batches
from cranfield.server.services.batch_factory import new_batch
from cranfield.server.services.campaigns import by_slug
from cranfield.server.store.work_tables import assignment
from tests.server.postgres import new_database, running
from tests.server.world import ITEMS, Site


@pytest.fixture(scope="module")
def server():
    with running() as address:
        yield address


def test_places_hold_when_all_ask_at_once(server, tmp_path):
    site = Site(tmp_path, new_database(server, "work"))
    site.add_campaign()
    site.move("open")

    def write(connection):
        row = by_slug(connection, "tiny")
        new_batch(connection, site.context, "t", row, "labels", slug="one", overlap=2)
        found = batches.read_batch(connection, row["id"], "one")
        batches.set_state(connection, site.context, "t", found.row, "running")
        people = [
            assessors.add_assessor(
                connection, site.context, "t", row["id"], kind="model", batch_id=found.id
            )[1]
            for _ in range(8)
        ]
        return row["id"], people

    campaign, tokens = site.context.store.write(write)
    with site.serving():

        def judge(token):
            client = site.program(token)
            while (key := client.get("/work/next").json()["assignment"]) is not None:
                for _ in range(2):
                    body = {"answers": {"Sky": ["Sky"]}, "key": f"{key}.1"}
                    assert client.put(f"/work/{key}", json=body).json()["revision"] == 1

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(judge, tokens))
        with site.context.store.read() as connection:
            found = batches.read_batch(connection, campaign, "one")
            rows = connection.execute(select(assignment.c.hit, assignment.c.assessor)).all()
            log = batch_results.collect_forms(connection, found)
        assert Counter(Counter(row.hit for row in rows).values()) == {2: len(ITEMS)}
        assert len(set(rows)) == len(rows) == 2 * len(ITEMS)
        assert log.forms == 2 * len(ITEMS)
