"""One way to read and to write, on SQLite and on PostgreSQL.

`store.read()` is a connection that sees one state of the store; `store.write(work)` runs `work`
in a transaction, and gives its result when it is on the disk. On SQLite one thread writes: what
waits is done together and reaches the disk by one commit, each piece in a savepoint of its own,
so that one that fails takes nothing with it.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from cranfield.errors import CranfieldError, MissingExtraError, UsageError

T = TypeVar("T")
Work = Callable[[Connection], T]
GROUP = 128
# Threads that answer at the same time: each keeps its connection instead of opening one anew.
THREADS = 40
BUSY_MILLISECONDS = 30_000
# A transaction that PostgreSQL gave up in favour of another one is tried again. So is one that
# writes a key which another one wrote meanwhile: now it can see that, and says what it means.
ATTEMPTS = 5
_RETRIED_CODES = ("40001", "40P01", "23505")
_FULL_CODES = ("53100",)


class StoreFullError(CranfieldError):
    """The disk of the store has no room; nothing was written."""

    def __init__(self) -> None:
        super().__init__("the disk of the server is full; nothing was stored")


class Store:
    """What is stored, read by many and written in transactions."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        # Grows with every write of this process, so that what was read before can be told old.
        self.changes = 0

    @property
    def is_sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection to read by; whatever it reads is of one moment."""
        with self.engine.connect() as connection:
            yield connection

    def write(self, work: Work[T]) -> T:
        """Do something in a transaction, and come back when it is on the disk."""
        raise NotImplementedError

    def close(self) -> None:
        self.engine.dispose()


class PostgresStore(Store):
    """PostgreSQL: transactions side by side; rows that must not change meanwhile are locked."""

    def write(self, work: Work[T]) -> T:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with self.engine.begin() as connection:
                    result = work(connection)
                self.changes += 1
                return result
            except DBAPIError as error:
                code = getattr(error.orig, "sqlstate", None)
                if code in _FULL_CODES:
                    raise StoreFullError from error
                if code not in _RETRIED_CODES or attempt == ATTEMPTS:
                    raise
        raise RuntimeError("unreachable")


class SqliteStore(Store):
    """SQLite in its write-ahead mode, every commit on the disk, one thread that writes."""

    def __init__(self, engine: Engine, writer: Engine) -> None:
        super().__init__(engine)
        self._writer = writer
        writer.update_execution_options(reader=engine)
        self._waiting: queue.SimpleQueue[tuple[Work[Any], Future[Any]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._closed = False
        # Between asking whether the store is open and putting work there, it must not be closed:
        # the writer would have gone, and the work would wait for ever.
        self._door = threading.Lock()
        self._thread.start()

    def write(self, work: Work[T]) -> T:
        if threading.current_thread() is self._thread:
            raise RuntimeError("a transaction cannot wait for another one")
        future: Future[T] = Future()
        with self._door:
            if self._closed:
                raise UsageError("the store is closed")
            self._waiting.put((work, future))
        return future.result()

    def close(self) -> None:
        with self._door:
            closed, self._closed = self._closed, True
        if not closed:
            self._waiting.put(None)
            self._thread.join()
            self._writer.dispose()
            super().close()

    def _run(self) -> None:
        going = True
        while going:
            group: list[tuple[Work[Any], Future[Any]]] = []
            first = self._waiting.get()
            while first is not None:
                group.append(first)
                if len(group) >= GROUP or self._waiting.empty():
                    break
                first = self._waiting.get()
            going = first is not None
            if group:
                self._commit(group)

    def _commit(self, group: list[tuple[Work[Any], Future[Any]]]) -> None:
        """Do a group of pieces of work by one commit; success is reported only after it."""
        outcomes: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            with self._writer.begin() as connection:
                # By the driver itself: a savepoint is set twice for every write.
                driver: Any = connection.connection.dbapi_connection
                for work, future in group:
                    driver.execute("SAVEPOINT piece")
                    try:
                        outcomes.append((future, work(connection), None))
                    except Exception as error:
                        if _is_full(error):
                            raise
                        outcomes.append((future, None, error))
                        driver.execute("ROLLBACK TO piece")
                    driver.execute("RELEASE piece")
        except BaseException as error:  # the writer goes on, whatever the work raised
            failure = StoreFullError() if _is_full(error) else error
            outcomes = [(future, None, failure) for _, future in group]
        self.changes += 1
        for future, result, failed in outcomes:
            if failed is None:
                future.set_result(result)
            else:
                future.set_exception(failed)


def _is_full(error: BaseException | None) -> bool:
    """Whether there is no room: SQLite then drops the whole transaction with its savepoints."""
    if error is None:
        return False
    driver_error = error.orig if isinstance(error, OperationalError) else error
    if not isinstance(driver_error, sqlite3.Error) or "no such savepoint" in str(driver_error):
        return _is_full(error.__context__)
    code = getattr(driver_error, "sqlite_errorcode", 0) & 0xFF
    return code == sqlite3.SQLITE_FULL or "disk I/O error" in str(driver_error)


def store_key(connection: Connection) -> Engine:
    """What stands for the store of a connection, whether it reads or writes."""
    engine: Engine = connection.get_execution_options().get("reader", connection.engine)
    return engine


@contextmanager
def readable_errors(url: str) -> Iterator[None]:
    """What a driver says of a store that is damaged or not there, as a sentence."""
    try:
        yield
    except DBAPIError as error:
        address = make_url(url).render_as_string(hide_password=True)
        reason = " ".join(str(error.orig).split())
        raise UsageError(f"{address}: the store cannot be used ({reason})") from None


def address_of(url: str) -> URL:
    """The parts of the address of a store."""
    try:
        return make_url(url)
    except ArgumentError:
        raise UsageError("db= is not an address such as sqlite:///site/campaign.sqlite") from None


def open_store(url: str) -> Store:
    """The store of an address such as sqlite:///folder/campaign.sqlite or postgresql://..."""
    address = address_of(url)
    if address.get_backend_name() == "sqlite":
        if not address.database or address.database == ":memory:":
            raise UsageError("the store needs a file: sqlite:///folder/campaign.sqlite")
        Path(address.database).parent.mkdir(parents=True, exist_ok=True)
        return SqliteStore(_sqlite(url, "BEGIN"), _sqlite(url, "BEGIN IMMEDIATE"))
    if address.get_backend_name() == "postgresql":
        try:
            import psycopg  # noqa: F401
        except ModuleNotFoundError:
            raise MissingExtraError("psycopg", "postgres", "A store on PostgreSQL") from None
        engine = create_engine(
            address.set(drivername="postgresql+psycopg"), pool_size=20, max_overflow=40
        )
        return PostgresStore(engine)
    raise UsageError(f"a store is on SQLite or PostgreSQL, not on {address.get_backend_name()!r}")


def _sqlite(url: str, begin: str) -> Engine:
    """An engine whose transactions begin by our own word, not by the driver's guess."""
    engine = create_engine(
        url, connect_args={"timeout": BUSY_MILLISECONDS / 1000}, pool_size=THREADS
    )

    def connected(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except UnicodeDecodeError:  # SQLite quotes what it cannot read, which may be no text
            raise sqlite3.DatabaseError("the file is damaged") from None
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
        cursor.close()

    def begun(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)
    return engine
