"""The store: schemas from the first on, writes in groups, one that fails takes nothing along."""

import sqlite3
import threading
from functools import partial
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import func, insert, select

from cranfield.errors import UsageError
from cranfield.server.store import METADATA, open_store
from cranfield.server.store.migrate import current, newest, upgrade
from cranfield.server.store.tables import api_token, setting
from tests.server.world import DAY, at_once

FIRST = Path(__file__).parents[2] / "src/cranfield/server/store/migrations/versions/schema_0001.sql"
# The first schema as it was published: a store may still have it.
FIRST_TABLES = 32


def test_a_store_of_the_first_schema_becomes_one_of_the_newest(tmp_path):
    """The first schema is a file that is never changed; whoever has it is brought up to date."""
    file = tmp_path / "old.sqlite"
    with sqlite3.connect(file) as connection:
        connection.executescript(FIRST.read_text())
        connection.execute("create table alembic_version (version_num varchar(32) not null)")
        connection.execute("insert into alembic_version values ('0001')")
        connection.execute("insert into setting values ('kept', 'yes')")
        connection.execute(
            "insert into person (id, login, name, password, created) values ('p', 'p', 'P', '', 1)"
        )
        for name, end in (("endless", "null"), ("ending", "7")):
            connection.execute(
                "insert into api_token (id, hash, person, created, expires) "
                f"values ('{name}', '{name}', 'p', 5, {end})"
            )
    connection.close()
    store = open_store(f"sqlite:///{file}")
    try:
        assert upgrade(store) == newest() == current(store)
        with store.read() as connection:
            assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
            kept = select(setting.c.value).where(setting.c.name == "kept")
            assert connection.execute(kept).scalar() == "yes"
            ends = dict(connection.execute(select(api_token.c.id, api_token.c.expires)).all())
            assert ends["ending"] == 7
            assert ends["endless"] > 180 * DAY
    finally:
        store.close()
    assert FIRST.read_text().count("CREATE TABLE") == FIRST_TABLES


def test_a_store_of_a_later_version_is_left_alone(tmp_path):
    store = open_store(f"sqlite:///{tmp_path / 's.sqlite'}")
    try:
        upgrade(store)
        store.write(lambda c: c.exec_driver_sql("update alembic_version set version_num = '9999'"))
        with pytest.raises(UsageError, match="later Cranfield"):
            upgrade(store)
    finally:
        store.close()


@pytest.fixture
def store(tmp_path):
    made = open_store(f"sqlite:///{tmp_path / 's.sqlite'}")
    upgrade(made)
    yield made
    made.close()


def put(name):
    return lambda c: c.execute(insert(setting).values(name=name, value="x"))


def test_many_write_at_once_and_each_is_there_when_it_is_told_so(store):
    failures = []

    def write(n):
        try:
            for k in range(20):
                store.write(put(f"{n}-{k}"))
                with store.read() as connection:
                    found = select(setting.c.name).where(setting.c.name == f"{n}-{k}")
                    assert connection.execute(found).first() is not None
        except Exception as error:
            failures.append(error)

    at_once([partial(write, n) for n in range(10)])
    assert failures == []
    with store.read() as connection:
        count = select(func.count()).select_from(setting)
        assert connection.execute(count).scalar() == 200


def test_one_that_fails_takes_nothing_of_the_others_along(store):
    told, ready = [], threading.Event()

    def slow(connection):
        ready.wait(10)
        put("first")(connection)

    def bad(connection):
        put("half")(connection)
        raise UsageError("no")

    def send(work):
        try:
            store.write(work)
            told.append("done")
        except UsageError:
            told.append("refused")

    at_once([ready.set, *(partial(send, work) for work in (slow, bad, put("last")))])
    assert sorted(told) == ["done", "done", "refused"]
    with store.read() as connection:
        names = connection.execute(select(setting.c.name).order_by(setting.c.name)).scalars()
        assert list(names) == ["first", "last"]


def test_a_disk_without_room_is_told_and_the_store_goes_on(store):
    from cranfield.server.store import StoreFullError

    def shrink(connection):
        pages = connection.exec_driver_sql("pragma page_count").scalar()
        connection.exec_driver_sql(f"pragma max_page_count = {pages}")

    store.write(shrink)
    large = {"name": "large", "value": "x" * (4 << 20)}
    with pytest.raises(StoreFullError):
        store.write(lambda c: c.execute(insert(setting).values(**large)))
    store.write(lambda c: c.exec_driver_sql("pragma max_page_count = 100000"))
    store.write(put("after"))


def test_other_databases_are_refused():
    with pytest.raises(UsageError, match="SQLite or PostgreSQL"):
        open_store("mysql://localhost/x")


def test_whoever_writes_while_the_store_closes_gets_an_answer(tmp_path):
    """Either it is on the disk or it is refused; nobody waits for a writer that has gone."""
    for turn in range(20):
        made = open_store(f"sqlite:///{tmp_path / str(turn)}.sqlite")
        upgrade(made)
        told = []

        def write(n, made=made, told=told):
            try:
                made.write(put(f"{n}"))
                told.append("done")
            except UsageError:
                told.append("closed")

        at_once([made.close, *(partial(write, n) for n in range(4))])
        assert len(told) == 4


def test_work_that_raises_whatever_does_not_end_the_writer(store):
    def odd(_):
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        store.write(odd)
    store.write(put("after"))
