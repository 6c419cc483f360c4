"""Upgrades from every schema that there was, with rows in every table, on both databases.

An upgrade that ends at any of its statements has changed nothing, and is done the next time.
"""

import pytest

from cranfield.server.store import open_store
from cranfield.server.store.migrate import current, upgrade
from tests.server.migrating import (
    MANY,
    StopError,
    bring_to,
    check_new,
    check_newest,
    content,
    fill,
    stopping_at,
    versions,
)
from tests.server.postgres import new_database


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path):
    if request.param == "sqlite":
        made = open_store(f"sqlite:///{tmp_path / 'old.sqlite'}")
    else:
        name = "".join(c for c in request.node.name if c.isalnum())[-50:].lower()
        made = open_store(new_database(request.getfixturevalue("server"), name))
    yield made
    made.close()


@pytest.mark.parametrize("start", versions())
def test_every_schema_there_was_becomes_the_newest_with_its_rows(store, start):
    bring_to(store, start)
    fill(store)
    before = content(store)
    assert all(before.values())
    upgrade(store)
    check_newest(store, start, before)


@pytest.mark.parametrize("start", versions()[:-1])
def test_an_upgrade_that_ends_at_any_statement_has_changed_nothing(store, start):
    bring_to(store, start)
    fill(store)
    before = content(store)

    def stop():
        raise StopError

    for n in range(1, MANY):
        with stopping_at(n, stop) as count:
            try:
                upgrade(store)
                break
            except StopError:
                pass
        assert count[0] >= n
        assert current(store) == start
        assert content(store) == before
    assert n > 2
    check_newest(store, start, before)


def test_a_new_store_that_ends_at_any_statement_is_empty(tmp_path):
    new = open_store(f"sqlite:///{tmp_path / 'new.sqlite'}")
    check_new(new)
    new.close()
