"""Requests that programs send again under the same key: they are answered as once."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from cranfield.errors import UsageError
from cranfield.server.context import Context, hash_of
from cranfield.server.services.campaigns import Row
from cranfield.server.store.tables import idempotency


class OtherRequestError(UsageError):
    """A key that came with another request before."""

    def __init__(self) -> None:
        super().__init__("this Idempotency-Key was used for another request")


@dataclass(frozen=True)
class KeyedRequest:
    """A request and the key it came with; without a key nothing is looked up or stored."""

    key: str
    request: str

    @classmethod
    def of(cls, sender: str, key: str | None, request: str) -> KeyedRequest:
        """Keys are the sender's own; of the request itself a hash is enough."""
        return cls(hash_of(f"{sender} {key}") if key else "", hash_of(request))

    def early_answer(self, context: Context) -> Row | None:
        """What was answered before, looked up before any work is done."""
        if not self.key:
            return None
        with context.store.read() as connection:
            return self.answer(connection)

    def answer(self, connection: Connection) -> Row | None:
        """What was answered before.

        Asked again inside the transaction that writes, after its first lock: of several requests
        that came at the same moment the later ones find what the first one wrote.
        """
        if not self.key:
            return None
        row = connection.execute(
            select(idempotency.c.request, idempotency.c.body).where(idempotency.c.key == self.key)
        ).first()
        if row is None:
            return None
        if row.request != self.request:
            raise OtherRequestError
        answer: Row = json.loads(row.body)
        return answer

    def remember(self, connection: Connection, status: int, answer: Row, now: int) -> None:
        """Store the answer in the transaction of what it speaks of."""
        if self.key:
            values = {"request": self.request, "status": status, "body": json.dumps(answer)}
            connection.execute(insert(idempotency).values(key=self.key, at=now, **values))
