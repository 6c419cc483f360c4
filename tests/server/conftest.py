"""Sites to test on: one is made once, every test gets a copy of its folder."""

import faulthandler
import shutil
import sys
from contextlib import contextmanager

import pytest

from tests.server.people import add
from tests.server.postgres import new_database, running
from tests.server.world import DAY, Site, labels_text, run_text

ABOUT = {"conf": "V", "about": "words"}


# What is slow has more time than other tests, and an end all the same.
SLOW_SECONDS = 1800


def pytest_runtest_setup(item):
    if item.path.name.startswith("slow_"):
        faulthandler.cancel_dump_traceback_later()
        faulthandler.dump_traceback_later(SLOW_SECONDS, exit=True, file=sys.__stderr__)


@pytest.fixture(scope="session")
def open_folder(tmp_path_factory):
    """The folder of a site with an open campaign and two teams, and who is in it."""
    folder = tmp_path_factory.mktemp("open")
    made = Site(folder)
    made.add_campaign()
    made.move("open")
    known = {"ann": made.add_team("ann", "ONE"), "bob": made.add_team("bob", "TWO")}
    known["password"] = made.password
    made.context.store.close()
    return folder, known


@pytest.fixture
def unserved(open_folder, tmp_path):
    """A site with an open campaign and two teams, without its server."""
    folder, known = open_folder
    shutil.copytree(folder, tmp_path / "copy")
    made = Site(tmp_path / "copy", password=known["password"])
    (made.ann, made.one), (made.bob, made.two) = known["ann"], known["bob"]
    yield made
    made.context.store.close()


@pytest.fixture
def site(unserved):
    """The same, served on loopback."""
    with unserved.serving():
        yield unserved


def put(client, tag, text, task="ranked", **more):
    answer = client.put(f"/tasks/{task}/runs/{tag}", params=ABOUT | more, content=text.encode())
    assert answer.status_code == 201, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def released(open_folder, tmp_path_factory):
    """A campaign of four runs whose results are out: to be looked at, as tests share it."""
    with released_site(open_folder, tmp_path_factory.mktemp("released") / "copy") as made:
        yield made


@pytest.fixture
def own_released(open_folder, tmp_path):
    """The same for one test, which may change it."""
    with released_site(open_folder, tmp_path / "released") as made:
        yield made


@contextmanager
def released_site(open_folder, copy):
    folder, known = open_folder
    shutil.copytree(folder, copy)
    made = Site(copy, password=known["password"])
    with made.serving():
        for name, best, value in (("ann", ("d0", "d3"), 0.9), ("bob", ("d4", "d1"), 0.4)):
            client = made.program(made.add_token(*known[name]))
            put(client, "r1", run_text(best))
            put(
                client,
                "l1",
                labels_text(value),
                "labels",
                ending=".csv",
                threshold="Sky,0.3\nSea,0.4\nDog,0.5",
            )
        made.work()
        before = {
            path: made.browser().get(path).status_code
            for path in ("/tiny/results", "/tiny/results/ranked")
        }
        made.before = before
        made.time += 31 * DAY / 1000
        made.move("closed", "scoring", "released")
        yield made


@pytest.fixture(scope="module")
def server():
    with running() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgres"])
def both(request, tmp_path):
    """An open campaign on either database, with a batch that runs."""
    name = request.node.name.replace("[", "-").replace("]", "")[:60]
    postgres = request.param == "postgres"
    database = new_database(request.getfixturevalue("server"), name) if postgres else ""
    site = Site(tmp_path / "site", database)
    site.add_campaign()
    site.move("open")
    add(site)
    with site.serving():
        yield site
