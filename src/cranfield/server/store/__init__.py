"""The store of a campaign site: tables, migrations, and one way to read and to write."""

from __future__ import annotations

from cranfield.server.store import tables, work_tables
from cranfield.server.store.database import (
    Store,
    StoreFullError,
    address_of,
    open_store,
    readable_errors,
)
from cranfield.server.store.tables import METADATA

__all__ = [
    "METADATA",
    "Store",
    "StoreFullError",
    "address_of",
    "open_store",
    "readable_errors",
    "tables",
    "work_tables",
]
