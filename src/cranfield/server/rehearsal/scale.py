"""How large a rehearsal is: the whole campaign, or a share of it."""

from __future__ import annotations

from dataclasses import dataclass

from cranfield.errors import UsageError

# Runs that a team may have in a task, as campaigns have it unless told otherwise.
QUOTA = 5


@dataclass(frozen=True)
class Scale:
    """Counts of everything; `share` is 1 for the whole campaign."""

    share: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise UsageError(f"scale={self.share:g} is not above 0 and at most 1")

    def _at_least(self, minimum: int, full: int) -> int:
        return max(minimum, round(full * self.share))

    @property
    def teams(self) -> int:
        return self._at_least(4, 20)

    @property
    def onlookers(self) -> int:
        """Teams that register and submit nothing."""
        return self._at_least(2, 14)

    @property
    def runs(self) -> int:
        return self._at_least(9, 73)

    @property
    def items(self) -> int:
        return self._at_least(100, 1000)

    @property
    def topics(self) -> int:
        return self._at_least(10, 50)

    @property
    def depth(self) -> int:
        """Items that a run lists for a topic."""
        return self._at_least(100, 1000)

    @property
    def annotated(self) -> int:
        """Items that experts and crowd annotate."""
        return self._at_least(30, 99)

    @property
    def experts(self) -> int:
        return self._at_least(3, 11)

    @property
    def workers(self) -> int:
        return self._at_least(20, 60)

    @property
    def spammers(self) -> int:
        return self.workers // 5

    @property
    def pool_depth(self) -> int:
        return self._at_least(5, 50)

    @property
    def judges(self) -> int:
        return self._at_least(2, 6)

    @property
    def survey_people(self) -> int:
        """All of them at any scale: the tables that must come out are of thirty people."""
        return 30

    @property
    def preference_people(self) -> int:
        return 20
