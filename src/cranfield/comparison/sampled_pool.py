"""The pairs of a pool of which people judged a sample, and a program all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cranfield.data import Judgements
from cranfield.errors import UsageError
from cranfield.stats._resample import Floats, Ints


@dataclass(frozen=True, eq=False)
class Sampled:
    """The pairs of a pool: stratum, whether people judged them, both grades, and their topics."""

    judgements: Judgements
    levels: Floats
    gold: Ints
    silver: Ints
    cell: Ints
    topic: Ints

    @classmethod
    def of(cls, gold: Judgements, silver: Judgements) -> Sampled:
        if gold.strata is None:
            raise UsageError("gold= has no strata")
        given = silver.to_dict()
        values, missing = [], []
        for topic, item, _ in gold.rows():
            value = given.get(topic, {}).get(item)
            if value is None:
                missing.append(f"{item} of topic {topic}")
            values.append(0.0 if value is None else float(value))
        if missing:
            raise UsageError(
                f"silver= does not judge {len(missing)} pairs of the pool of gold= "
                f"({missing[0]}): the gold must be part of the silver's pairs"
            )
        grades = np.asarray(gold.values, dtype=np.float64)
        known = grades >= 0
        levels = np.unique(np.concatenate([grades[known], values]))
        sizes = np.diff(gold.offsets)
        number = np.repeat(np.arange(len(sizes)), sizes).astype(np.int64)
        _, cell = np.unique(np.stack([number, gold.strata]), axis=1, return_inverse=True)
        found = cls(
            replace(gold, values=np.array(values), strata=None),
            levels,
            np.where(known, np.searchsorted(levels, grades), -1),
            np.searchsorted(levels, values),
            cell.ravel(),
            number,
        )
        drawn = np.bincount(found.cell, weights=known)
        if (drawn < 2).any():
            raise UsageError(
                f"gold= has strata with fewer than two judged pairs ({int((drawn < 2).sum())} of "
                f"{len(drawn)}): join them, or judge more"
            )
        return found

    @property
    def known(self) -> Any:
        return self.gold >= 0
