"""What flows through Cranfield: frozen judgements and runs."""

from cranfield.data.collection import RunFacts, Team
from cranfield.data.tables import Judgements, Run, Table

__all__ = ["Judgements", "Run", "RunFacts", "Table", "Team"]
