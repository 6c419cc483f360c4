"""Sites to test on: one is made once, every test gets a copy of its folder."""

import shutil

import pytest

from tests.server.world import Site


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
