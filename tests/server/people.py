"""People who work on a site: batches that run, workers with links, forms that are saved."""

from __future__ import annotations

import re

from cranfield.server.services import assessors, batches
from cranfield.server.services.batch_factory import new_batch
from cranfield.server.services.campaigns import by_slug

GOOD = {"Sky": ["Sky", "Dog"]}


def add(site, kind="labels", slug="one", *, state="running", **options):
    """A batch that runs."""

    def write(connection):
        row = by_slug(connection, "tiny")
        new_batch(connection, site.context, "test", row, kind, slug=slug, **options)
        found = batches.read_batch(connection, row["id"], slug)
        if state != "draft":
            batches.set_state(connection, site.context, "test", found.row, state)

    site.context.store.write(write)


def batch(site, slug="one"):
    with site.context.store.read() as connection:
        return batches.read_batch(connection, by_slug(connection, "tiny")["id"], slug)


def worker(site, kind="crowd", slug="one"):
    """The secret of a new worker on a batch."""

    def write(connection):
        where = by_slug(connection, "tiny")["id"]
        batch_id = batches.read_batch(connection, where, slug).id
        return assessors.add_assessor(
            connection, site.context, "test", where, kind=kind, batch_id=batch_id
        )

    return site.context.store.write(write)


def crowd_browser(site, slug="one"):
    made = site.browser()
    _, secret = worker(site, slug=slug)
    assert made.get(f"/tiny/enter/{secret}").headers["location"] == "/tiny/work"
    return made


def next_page(browser, slug="one"):
    """The address of what is to do next, and its page; None when nothing is left."""
    answer = browser.get(f"/tiny/work/{slug}")
    if answer.status_code == 200:
        return None, answer.text
    where = answer.headers["location"]
    return where, browser.get(where).text


def hidden(page, name):
    return re.search(rf'name="{name}" value="([^"]*)"', page)[1]


def save(browser, where, page, answers, **more):
    data = dict(answers)
    data |= {"csrf": hidden(page, "csrf"), "client_key": hidden(page, "client_key")}
    return browser.post(where, data=data | {"active_ms": "1500", "state": "done"} | more)
