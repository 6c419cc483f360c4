"""The audit: what was done, by whom, in a chain of hashes that a later edit breaks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, select, update

from cranfield.server.store.tables import audit, setting

HEAD = "audit-head"
START = "0" * 64
_FIELDS = ("n", "at", "actor", "action", "object", "detail", "previous")


def append(
    connection: Connection,
    now: int,
    actor: str,
    action: str,
    on: str,
    detail: Mapping[str, Any] | None = None,
    *,
    allow_earlier: bool = False,
) -> int:
    """Add a row to the chain; gives its number. The head is locked until the commit.

    Only a row with `allow_earlier` may be earlier than the one before it.
    """
    head = connection.execute(
        select(setting.c.value).where(setting.c.name == HEAD).with_for_update()
    ).scalar_one()
    last, previous, latest = head.split(" ")
    row: dict[str, Any] = {
        "n": int(last) + 1,
        "at": now if allow_earlier else max(now, int(latest)),
        "actor": actor,
        "action": action,
        "object": on,
        "detail": json.dumps(dict(detail or {}), sort_keys=True, ensure_ascii=False),
        "previous": previous,
    }
    row["hash"] = _hash(row)
    connection.execute(insert(audit).values(**row))
    connection.execute(
        update(setting)
        .where(setting.c.name == HEAD)
        .values(value=f"{row['n']} {row['hash']} {row['at']}")
    )
    return int(row["n"])


def start_chain(connection: Connection) -> None:
    """Give a new store the head of an empty chain."""
    head = connection.execute(select(setting.c.value).where(setting.c.name == HEAD)).first()
    if head is None:
        connection.execute(insert(setting).values(name=HEAD, value=f"0 {START} 0"))


def last_time_of(connection: Connection, action: str, on: str) -> int | None:
    """When something was last done to an object."""
    rows = select(audit.c.at).where(audit.c.action == action, audit.c.object == on)
    timestamp: int | None = connection.execute(rows.order_by(audit.c.n.desc()).limit(1)).scalar()
    return timestamp


def latest_time(connection: Connection) -> int:
    """The time of the last row."""
    head = connection.execute(select(setting.c.value).where(setting.c.name == HEAD)).scalar()
    return int(str(head).split(" ")[2]) if head else 0


def verify(connection: Connection) -> tuple[int, str]:
    """How many rows the chain has, and what is wrong with it; nothing when it is whole."""
    previous, expected = START, 1
    for row in connection.execute(select(audit).order_by(audit.c.n)).mappings():
        stored_row = dict(row)
        name = f"audit row {row['n']} ({row['action']} on {row['object']})"
        if row["n"] != expected:
            return expected - 1, f"audit row {expected} is missing"
        if row["previous"] != previous:
            return expected - 1, f"{name} does not follow from the one before it"
        if row["hash"] != _hash(stored_row):
            return expected - 1, f"{name} was changed after it had been written"
        previous, expected = row["hash"], expected + 1
    head = connection.execute(select(setting.c.value).where(setting.c.name == HEAD)).scalar()
    last = str(head or f"0 {START} 0").split(" ")
    if (int(last[0]), last[1]) != (expected - 1, previous):
        return expected - 1, f"audit row {expected} and those after it are missing"
    return expected - 1, ""


def last_rows(connection: Connection, count: int = 20) -> list[dict[str, Any]]:
    """The last rows, the newest first."""
    rows = connection.execute(select(audit).order_by(audit.c.n.desc()).limit(count)).mappings()
    return [dict(row) for row in rows]


def _hash(row: Mapping[str, Any]) -> str:
    content = json.dumps([row[name] for name in _FIELDS], ensure_ascii=False)
    return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()
