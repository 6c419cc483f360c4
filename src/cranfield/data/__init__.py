"""What flows through Cranfield: frozen judgements and runs."""

from cranfield.data.tables import Judgements, Run, Table

__all__ = ["Judgements", "Run", "Table"]
