"""Stores of every schema that there was, with rows in every table, and what must come of them."""

from __future__ import annotations

from contextlib import contextmanager

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import (
    BigInteger,
    Engine,
    Float,
    Integer,
    MetaData,
    Text,
    event,
    insert,
    inspect,
    text,
)

from cranfield.server.store import METADATA
from cranfield.server.store.migrate import VERSIONS, _config, current, newest, upgrade

ROWS = 3
# More statements than any upgrade has.
MANY = 1000
# What a migration changes on purpose, by the table: all its rows go, or one column of them.
EMPTIED = {"login_failure": "0003"}
CHANGED = {("api_token", "expires"): "0005"}


def versions() -> list[str]:
    """The names of all schemas, the first one first."""
    script = ScriptDirectory.from_config(_config())
    return [one.revision for one in script.walk_revisions()][::-1]


def bring_to(store, version: str) -> None:
    """An empty store with the schema that it would have had then."""

    def run(connection):
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, version)

    store.write(run)


def tables_of(connection) -> dict:
    found = MetaData()
    found.reflect(connection)
    return {table.name: table for table in found.sorted_tables if table.name != VERSIONS}


def fill(store) -> None:
    """Rows in every table that the store has, each column with a value of its own."""

    def write(connection):
        for table in tables_of(connection).values():
            for n in range(ROWS):
                connection.execute(insert(table).values(**_row(table, n)))

    store.write(write)


def _row(table, n: int) -> dict:
    values = {}
    for column in table.columns:
        if column.foreign_keys:
            (key,) = column.foreign_keys
            values[column.name] = _value(key.column, n)
        else:
            values[column.name] = _value(column, n)
    return values


def _value(column, n: int):
    if isinstance(column.type, Integer | BigInteger):
        return 1000 + n
    if isinstance(column.type, Float):
        return n + 0.5
    assert isinstance(column.type, Text), column
    return f"{column.table.name} {column.name} {n} ü"


def content(store) -> dict:
    """All rows of all tables, by the names of their columns."""
    with store.read() as connection:
        names = [name for name in inspect(connection).get_table_names() if name != VERSIONS]
        return {
            name: sorted(
                (
                    dict(row)
                    for row in connection.execute(text(f'select * from "{name}"')).mappings()
                ),
                key=repr,
            )
            for name in sorted(names)
        }


def check_newest(store, start: str, before: dict) -> None:
    """The schema is the one that the program expects, and no row or value was lost on the way."""
    assert current(store) == newest()
    with store.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    after = content(store)
    for name, rows in before.items():
        if start < EMPTIED.get(name, ""):
            assert after[name] == []
            continue
        changed = {c for (table, c), when in CHANGED.items() if table == name and start < when}
        columns = rows[0].keys() & after[name][0].keys() - changed
        assert rows[0].keys() <= after[name][0].keys(), f"{name} has lost a column"
        assert _of(after[name], columns) == _of(rows, columns), name


def _of(rows, columns):
    return sorted(sorted((name, row[name]) for name in columns) for row in rows)


class StopError(Exception):
    """Takes the place of a kill."""


@contextmanager
def stopping_at(n: int, stop):
    """Whatever is executed meanwhile: at the n-th statement `stop` is called instead."""
    count = [0]

    def before(*_):
        count[0] += 1
        if count[0] == n:
            stop()

    event.listen(Engine, "before_cursor_execute", before)
    try:
        yield count
    finally:
        event.remove(Engine, "before_cursor_execute", before)


def check_new(store) -> None:
    """A store whose making ends at any statement is empty, and is made the next time."""

    def stop():
        raise StopError

    for n in range(1, MANY):
        with stopping_at(n, stop):
            try:
                upgrade(store)
                break
            except StopError:
                pass
        assert current(store) is None
        assert content(store) == {}
    assert n > 30
    check_newest(store, "", {})
