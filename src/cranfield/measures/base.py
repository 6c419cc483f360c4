"""The declaration of a measure: all that a table, a help page, a test and a chart need to know."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias

from cranfield.registry import Param, Spec, Value

__all__ = ["Aggregate", "Measure", "Param"]

Aggregate: TypeAlias = Literal["mean", "sum"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Measure(Spec):
    """A measure, bound to its parameters: pure description, no state.

    `needs` names what the measure reads, such as "ranking", "grades", "collection_size",
    "labels", "confidences", "hierarchy". `plan` turns the bound measure into what its
    evaluator runs; for ranked measures that is a call of a compiled kernel. `ratio` gives the
    two counts whose ratio the measure is, where it has a mean='micro': their sums' ratio.
    `mean_note` says what speaks against a mean over topics, where something does. `range` is that
    of the usual parameters; where others move it, `ranged` gives it for them. So is `formula`:
    where a parameter changes more than the value of a symbol, `written` gives it for the bound
    measure. `cutoff_last` is for cutoffs behind the whole name, as in AR.region@100.
    """

    noun: ClassVar[str] = "measure"
    catalogue: ClassVar[str] = "cranfield measures"

    range: tuple[float, float]
    higher_is_better: bool | None
    needs: frozenset[str]
    plan: Callable[..., Any] = field(repr=False)
    ranged: Callable[..., tuple[float, float]] | None = field(default=None, repr=False)
    written: Callable[..., str] | None = field(default=None, repr=False)
    ratio: Callable[..., tuple[Any, Any]] | None = field(default=None, repr=False)
    mean_name: str = ""
    mean_note: str = ""
    aggregate: Aggregate = "mean"
    ties: str = "score, then item id"
    missing: str = ""
    undefined: str = ""
    example: str = ""
    trec_name: str = ""
    cutoff_last: bool = False

    def _spell(self) -> str:
        if not self.cutoff_last or self.at is None:
            return super()._spell()
        return f"{self.name}@{int(self.at)}{str(replace(self, at=None))[len(self.name) :]}"

    def bind(self, *, at: float | None = None, **values: Value) -> Self:
        bound = super().bind(at=at, **values)
        if bound.ranged is not None:
            bound = replace(bound, range=bound.ranged(**bound.bound))
        if bound.written is not None:
            bound = replace(bound, formula=bound.written(bound))
        return bound

    @property
    def finite_range(self) -> tuple[float, float] | None:
        """The range, where it has two ends."""
        return self.range if all(map(math.isfinite, self.range)) else None

    def other_names(self) -> Iterable[str]:
        return filter(None, (self.mean_name, self.trec_name))

    @property
    def averaging(self) -> str:
        """How topics are averaged: the parameter `mean` where it is set, else as declared."""
        return str(self.bound.get("mean", self.aggregate))

    @property
    def mean_label(self) -> str:
        """The name of the mean over topics: MAP for AP, or the measure's own name.

        What a task computes by itself has the name that the task gives it.
        """
        if not self.mean_name:
            return str(self.bound.get("name") or self)
        return str(self).replace(self.name, self.mean_name, 1)

    def __reduce__(self) -> str | tuple[Any, ...]:
        # Plans are functions of any kind, which do not travel; the name of a measure does.
        from cranfield.measures import REGISTRY, rebound

        registered = REGISTRY.get(self.name)
        if registered is None or registered.plan is not self.plan:
            return super().__reduce__()
        return rebound, (self.name, self.at, dict(self.bound))

    def __saved__(self) -> str:
        """How a saved answer names the measure."""
        return str(self)

    @classmethod
    def __restored__(cls, name: str) -> Measure:
        from cranfield.measures import REGISTRY, measure

        return REGISTRY.get(name) or measure(name)
