"""Measures as a programme of kernel calls, and what its columns mean."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import NeedsError, UsageError
from cranfield.measures import Measure
from cranfield.measures.ranked import FOUND, RELEVANT, SEEN, Context, KernelCall
from cranfield.scores import aggregate

# The number of items that a ranking or the judgements of its topic know.
KNOWN_ITEMS = KernelCall(
    "counts", (-math.inf, math.inf, -1.0, *(float(w) for w in SEEN + RELEVANT - FOUND))
)


@dataclass(frozen=True, slots=True)
class RunValues:
    """The values of one run: a row per judged topic, a column per measure."""

    name: str
    values: NDArray[np.float64]
    present: NDArray[np.bool_]
    unjudged: tuple[str, ...]


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

    def overall(self, measure: Measure, stacked: NDArray[np.float64]) -> NDArray[np.float64]:
        """The value of each run over its topics."""
        at = self.column[measure]
        if measure.averaging == "micro":
            above, below = (np.nansum(stacked[:, :, at + i], axis=1) for i in (1, 2))
            unknown = np.full(len(above), np.nan)
            result: NDArray[np.float64] = np.divide(above, below, out=unknown, where=below > 0)
            return result
        return np.array([aggregate(measure, row) for row in stacked[:, :, at]])

    def check(self, run: RunValues, topics: Sequence[str]) -> None:
        """An error when the size of the collection is unknown or contradicts the run."""
        size = self.context.collection_size
        if size is None:
            for m in self.measures:
                unknown = np.isposinf(run.values[:, self.column[m]])
                if "missing" in m.params and unknown.any():
                    raise NeedsError(
                        f"{m} needs the number of items in the collection, as {run.name} does not "
                        f"retrieve all relevant items of topic {topics[int(unknown.argmax())]!r}: "
                        "pass --collection-size N or missing='optimist'"
                    )
        elif np.nanmax(run.values[:, -1]) > size:
            row = int(np.nanargmax(run.values[:, -1]))
            raise UsageError(
                f"collection size {size} is too small: {run.name} and the judgements know "
                f"{int(run.values[row, -1])} items for topic {topics[row]!r}"
            )
