"""Items of a collection as points: a vector for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import InputError, Problem

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ItemVectors:
    """Items of a collection and the vector of each, a row per item."""

    items: tuple[str, ...]
    vectors: Floats
    name: str = "<vectors>"

    @classmethod
    def of(cls, items: Sequence[str], vectors: Any, source_name: str = "<vectors>") -> ItemVectors:
        """Checked: one finite vector that is not zero for each of the different items."""
        table = np.asarray(vectors)
        if table.ndim != 2 or table.dtype.kind not in "iufb":
            raise InputError.single(
                source_name,
                f"expected a table of numbers, a row per item; found shape {table.shape} "
                f"of {table.dtype}",
            )
        if len(items) != len(table):
            raise InputError.single(source_name, f"{len(table)} vectors for {len(items)} items")
        if len(set(items)) < len(items):
            twice = Counter(items).most_common(1)[0][0]
            raise InputError.single(source_name, f"item {twice!r} has two vectors")
        table = table.astype(np.float64)
        bad = np.flatnonzero(~np.isfinite(table).all(axis=1) | ~table.any(axis=1))
        if bad.size:
            raise InputError(
                source_name,
                [
                    Problem(0, f"the vector of item {items[i]!r} is zero or not finite")
                    for i in bad.tolist()
                ],
            )
        return cls(tuple(items), table, source_name)
