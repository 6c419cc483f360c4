"""What flows through Cranfield: frozen judgements and runs."""

from typing import TYPE_CHECKING, Any

from cranfield.data.tables import Judgements, Run, Table

if TYPE_CHECKING:
    from cranfield.data.collection import RunFacts, Team

__all__ = ["Judgements", "Run", "RunFacts", "Table", "Team"]


def __getattr__(name: str) -> Any:
    # Most commands have no collection.
    if name in ("RunFacts", "Team"):
        from cranfield.data import collection

        return getattr(collection, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
