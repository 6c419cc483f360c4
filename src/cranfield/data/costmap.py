"""What it costs to confuse one concept with another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import InputError, Problem, first_duplicate, suggest

SYMMETRY_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class CostMap:
    """A symmetric matrix of costs in [0, 1] over named concepts, 0 on the diagonal.

    >>> CostMap.of(["Sea", "Lake"], [[0, 0.2], [0.2, 0]]).cost("Sea", "Lake")
    0.2
    """

    concepts: tuple[str, ...]
    costs: NDArray[np.float64]
    name: str = "cost map"

    def __post_init__(self) -> None:
        problems = cost_problems(self.concepts, self.costs)
        if problems:
            raise InputError(self.name, [Problem(0, text) for _, text in problems])
        frozen = np.ascontiguousarray(self.costs, dtype=np.float64)
        if frozen is self.costs:
            frozen = frozen.view()
        frozen.flags.writeable = False
        object.__setattr__(self, "costs", frozen)

    @classmethod
    def of(
        cls,
        concepts: Sequence[str],
        costs: Sequence[Sequence[float]] | NDArray[np.float64],
        *,
        name: str = "cost map",
    ) -> CostMap:
        return cls(tuple(concepts), np.asarray(costs, dtype=np.float64), name)

    @classmethod
    def zero_one(cls, concepts: Sequence[str]) -> CostMap:
        """Every confusion costs 1: what measures fall back to without a cost map."""
        return cls(tuple(concepts), 1.0 - np.eye(len(concepts)), "0/1 costs")

    def cost(self, first: str, second: str) -> float:
        """What it costs to take one concept for the other."""
        return float(self.costs[self._index(first), self._index(second)])

    def aligned(self, concepts: Sequence[str]) -> NDArray[np.float64]:
        """The costs in the order of a vocabulary; every concept of it must be known."""
        if tuple(concepts) == self.concepts:
            return self.costs
        index = [self._index(c) for c in concepts]
        return np.ascontiguousarray(self.costs[np.ix_(index, index)])

    def _index(self, concept: str) -> int:
        try:
            return self.concepts.index(concept)
        except ValueError:
            raise InputError.single(
                self.name,
                f"has no costs for the concept {concept!r}.{suggest(concept, self.concepts)}",
            ) from None


def cost_problems(concepts: Sequence[str], costs: NDArray[np.float64]) -> list[tuple[int, str]]:
    """Everything that keeps a matrix from being a cost map, as (row, sentence)."""
    count = len(concepts)
    twice = first_duplicate(concepts)
    if twice is not None:
        return [(0, f"concept {twice!r} given more than once")]
    if costs.shape != (count, count):
        return [(0, f"costs of shape {costs.shape} for {count} concepts, expected a square")]
    problems = []
    bad = ~((costs >= 0) & (costs <= 1))
    sound = np.where(bad, 0.0, costs)  # the difference of two infinite ones is none
    slanted = ~bad & ~bad.T & (np.abs(sound - sound.T) > SYMMETRY_TOLERANCE)
    for i, j in zip(
        *np.nonzero(bad | slanted | (np.eye(count, dtype=bool) & (costs != 0))), strict=True
    ):
        first, second, value = concepts[i], concepts[j], costs[i, j]
        if bad[i, j]:
            text = f"the cost of {first!r} to {second!r} is {value:g}, expected a number in [0, 1]"
        elif i == j:
            text = f"the cost of {first!r} to itself is {value:g}, expected 0"
        elif j > i:
            continue
        else:
            text = (
                f"the cost of {first!r} to {second!r} is {value:g}, but {costs[j, i]:g} the other "
                "way round; expected the same"
            )
        problems.append((int(i), text))
    return problems


@dataclass(frozen=True)
class AgreementMap:
    """How far annotators agree on each concept, in [0, 1]."""

    agreement: dict[str, float]
    name: str = "agreement map"

    def __post_init__(self) -> None:
        for concept, value in self.agreement.items():
            if not isinstance(value, int | float | np.number) or not 0 <= value <= 1:
                raise InputError.single(
                    self.name,
                    f"the agreement on {concept!r} is {value}, expected a number in [0, 1]",
                )

    def aligned(self, concepts: Sequence[str]) -> NDArray[np.float64]:
        """The factors in the order of a vocabulary; every concept of it must be known."""
        for concept in concepts:
            if concept not in self.agreement:
                raise InputError.single(
                    self.name,
                    f"has no agreement for the concept {concept!r}."
                    f"{suggest(concept, self.agreement)}",
                )
        return np.array([self.agreement[c] for c in concepts])
