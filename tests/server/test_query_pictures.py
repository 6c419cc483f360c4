"""Judging a pool of pictures: what a topic asks with stays in view beside what is to judge."""

import re

from cranfield.io.samples import sample_folder
from cranfield.server.services import assessors, batches
from cranfield.server.services.batch_factory import new_batch
from cranfield.server.services.batches import picture_of
from cranfield.server.services.campaigns import by_slug
from cranfield.server.services.importing import import_collection
from tests.server.world import Site


def test_the_picture_of_a_topic_is_shown_to_who_judges_for_it(tmp_path):
    site = Site(tmp_path / "site")
    import_collection(site.context, sample_folder("digits"), name="digits")

    def write(connection):
        row = by_slug(connection, "digits")
        new_batch(connection, site.context, "test", row, "relevance", slug="pool", depth=1)
        found = batches.read_batch(connection, row["id"], "pool")
        batches.set_state(connection, site.context, "test", found.row, "running")
        made = assessors.add_assessor(
            connection, site.context, "test", row["id"], kind="crowd", batch_id=found.id
        )
        return found, made[1]

    found, link = site.context.store.write(write)
    asked = dict(
        line.split(",")[:2]
        for line in (sample_folder("digits") / "topics.csv").read_text().splitlines()[1:]
    )
    public = site.settings.public / "digits"
    with site.serving():
        browser = site.browser()
        browser.get(f"/digits/enter/{link}")
        page = browser.get(browser.get("/digits/work/pool").headers["location"]).text
        address = re.search(r'src="([^"]*[?]which=query)"', page)[1]
        unit = found.hits[address.split("/")[4]]
        shown = browser.get(address)
        assert shown.content == picture_of(public, asked[unit["topic"]])[0]
        assert browser.get(address.partition("?")[0]).content == picture_of(public, unit["item"])[0]
        assert site.browser().get(address).status_code != 200
