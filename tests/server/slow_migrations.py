"""Processes that are killed in the middle of an upgrade, at each of its statements in turn."""

import subprocess
import sys

import pytest

from cranfield.server.store import open_store
from cranfield.server.store.migrate import current
from tests.server.migrating import bring_to, check_new, check_newest, content, fill, versions
from tests.server.postgres import new_database

KILLED = 9
UPGRADE = f"""
import os, sys
from cranfield.server.store import open_store
from cranfield.server.store.migrate import upgrade
from tests.server.migrating import stopping_at
with stopping_at(int(sys.argv[2]), lambda: os._exit({KILLED})):
    upgrade(open_store(sys.argv[1]))
os._exit(0)
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("start", versions()[:-1])
def test_a_process_killed_at_any_statement_of_an_upgrade(kind, start, request, tmp_path):
    url = f"sqlite:///{tmp_path / 'old.sqlite'}"
    if kind == "postgres":
        url = new_database(request.getfixturevalue("server"), f"killed{start}")
    store = open_store(url)
    bring_to(store, start)
    fill(store)
    before = content(store)
    store.close()
    ended, n = KILLED, 0
    while ended == KILLED:
        n += 1
        command = [sys.executable, "-c", UPGRADE, url, str(n)]
        ended = subprocess.run(command, check=False, timeout=600).returncode
        store = open_store(url)
        if ended == KILLED:
            assert current(store) == start
            assert content(store) == before
        store.close()
    assert ended == 0
    assert n > 2
    store = open_store(url)
    check_newest(store, start, before)
    store.close()


def test_a_new_store_on_postgres_that_ends_at_any_statement_is_empty(server):
    store = open_store(new_database(server, "new"))
    check_new(store)
    store.close()
