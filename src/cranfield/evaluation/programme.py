"""Measures as a programme of kernel calls, and what its columns mean."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cranfield.errors import NeedsError, UsageError
from cranfield.measures import Measure
from cranfield.measures.ranked.plans import FOUND, RELEVANT, SEEN, Context, KernelCall

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    from cranfield._lazy import np

# The number of items that a ranking or the judgements of its topic know.
KNOWN_ITEMS = KernelCall("counts", (-math.inf, math.inf, -1.0, *(SEEN + RELEVANT - FOUND).weights))


@dataclass(frozen=True, slots=True)
class RunValues:
    """The values of one run: a row per judged topic, a column per call of a kernel.

    `buffer` holds the values, `present` a byte per topic that is 1 where the run has it.
    """

    name: str
    buffer: Any
    present: bytes
    unjudged: tuple[str, ...]

    @property
    def values(self) -> NDArray[np.float64]:
        return np.asarray(self.buffer)


@dataclass(frozen=True, slots=True)
class Programme:
    """Measures as calls of kernels, and which columns of their values belong to which measure."""

    measures: tuple[Measure, ...]
    context: Context
    calls: tuple[KernelCall, ...]
    column: dict[Measure, int]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        measures: Sequence[Measure],
        context: Context,
        optional: Collection[Measure] = (),
    ) -> Programme:
        """Calls for all measures; optional ones are left out when their needs are not met."""
        calls: list[KernelCall] = []
        column: dict[Measure, int] = {}
        unmet: list[Measure] = []
        for m in measures:
            # Such a measure may turn out to need the size only when the run is read.
            if m in optional and "missing" in m.params and context.collection_size is None:
                unmet.append(m)
                continue
            try:
                call = m.plan(m, context)
            except NeedsError:
                if m not in optional:
                    raise
                unmet.append(m)
                continue
            column[m] = len(calls)
            calls.append(call)
            # A micro mean divides the sums of two counts, which stand in the next two columns.
            if m.averaging == "micro" and m.ratio is not None:
                calls += m.ratio(m, context)
        if context.collection_size is not None:
            calls.append(KNOWN_ITEMS)
        notes = (
            [f"left out, as more is needed for them: {', '.join(map(str, unmet))}"] if unmet else []
        )
        return cls(tuple(column), context, tuple(calls), column, tuple(notes))

    @property
    def stratified(self) -> list[int]:
        """The columns whose kernel reads the strata of the judgements."""
        return [self.column[m] for m in self.measures if "strata" in m.needs]

    @property
    def of_topics(self) -> bool:
        """Whether a value depends on which other topics are evaluated."""
        return self.context.gmt is None and any(
            "gmt" in m.params and m.value_of("gmt") is None for m in self.measures
        )

    def overall(self, measure: Measure, sums: Sequence[tuple[float, int, float]]) -> float:
        """The value over topics, from the sum, count and sum of logarithms of each column."""
        at = self.column[measure]
        total, defined, logarithms = sums[at]
        if measure.averaging == "micro":
            return sums[at + 1][0] / sums[at + 2][0] if sums[at + 2][0] > 0 else math.nan
        if measure.averaging == "sum":
            return total
        if defined == 0:
            return math.nan
        if measure.averaging == "geometric":
            return math.exp(logarithms / defined)
        return total / defined

    def check(self, run: RunValues, topics: Sequence[str]) -> None:
        """An error when the size of the collection is unknown or contradicts the run."""
        size = self.context.collection_size
        if size is None:
            for m in self.measures:
                if "missing" not in m.params:
                    continue
                unknown = np.isposinf(run.values[:, self.column[m]])
                if unknown.any():
                    raise NeedsError(
                        f"{m} needs the number of items in the collection, as {run.name} does not "
                        f"retrieve all relevant items of topic {topics[int(unknown.argmax())]!r}: "
                        "pass collection_size=N or missing='optimist'"
                    )
        elif np.nanmax(run.values[:, -1]) > size:
            row = int(np.nanargmax(run.values[:, -1]))
            raise UsageError(
                f"collection size {size} is too small: {run.name} and the judgements know "
                f"{int(run.values[row, -1])} items for topic {topics[row]!r}"
            )


class TopicValues(Mapping[Measure, "NDArray[np.float64]"]):
    """The values of each measure (runs x topics), made into an array when they are asked for."""

    def __init__(
        self, programme: Programme, results: Sequence[RunValues], *, own_topics: bool
    ) -> None:
        self._programme, self._results, self._own_topics = programme, results, own_topics

    def __getitem__(self, measure: Measure) -> NDArray[np.float64]:
        at = self._programme.column[measure]
        values = np.stack([r.values[:, at] for r in self._results])
        if self._own_topics:
            present = [np.frombuffer(r.present, dtype=bool) for r in self._results]
            values[~np.stack(present)] = np.nan
        return values

    def __iter__(self) -> Iterator[Measure]:
        return iter(self._programme.measures)

    def __len__(self) -> int:
        return len(self._programme.measures)
