"""How columns of the store are written: ids, references, times, texts and numbers."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Column, Float, ForeignKey, Integer, MetaData, Text

# Constraints have names, so that a migration can speak of them on any database.
METADATA = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


def key() -> Column[str]:
    """The id of a row: random letters, so that ids tell nothing of how many there are."""
    return Column("id", Text, primary_key=True)


def to(table: str, name: str = "", *, optional: bool = False) -> Column[str]:
    """A reference to a row of another table."""
    target = f"{table}.id"
    return Column(name or table, Text, ForeignKey(target), nullable=optional, index=True)


def text(name: str, default: str | None = "") -> Column[str]:
    """A text; `None` as the default makes it one that may be missing."""
    return Column(name, Text, nullable=default is None, default=default, server_default=default)


def must(name: str, **options: Any) -> Column[str]:
    """A text that has to be given."""
    return Column(name, Text, nullable=False, **options)


def number(name: str, default: int | None = 0) -> Column[int]:
    default_text = None if default is None else str(default)
    return Column(
        name, Integer, nullable=default is None, default=default, server_default=default_text
    )


def real(name: str) -> Column[float]:
    """A double that may be missing."""
    return Column(name, Float(53))


def at(name: str, *, optional: bool = False) -> Column[int]:
    """A time: milliseconds since 1970, by the clock of the server."""
    return Column(name, BigInteger, nullable=optional)
