"""Small steps on arrays that several of these modules take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.data.judgement_log import Floats


def ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Element by element part / whole, NaN where the whole is zero or less."""
    result: Floats = np.full(np.shape(whole), np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    return result


def sum_by(group: NDArray[Any], values: NDArray[Any], groups: int) -> Floats:
    """The sum of values in each group 0..groups-1."""
    return np.bincount(group, np.asarray(values, dtype=np.float64), groups).astype(np.float64)


def mean_by(group: NDArray[Any], values: Floats, groups: int, kept: NDArray[np.bool_]) -> Floats:
    """The mean of the kept values in each group, NaN for a group without any."""
    return ratio(
        sum_by(group[kept], values[kept], groups), np.bincount(group[kept], minlength=groups)
    )


# Up to this many columns, a pass per column beats numpy's reduction of short rows.
NARROW = 16


def row_max(table: NDArray[Any]) -> NDArray[Any]:
    """The largest entry of each row."""
    if table.shape[1] > NARROW:
        return np.asarray(table.max(axis=1))
    top = table[:, 0].copy()
    for column in table.T[1:]:
        np.maximum(top, column, out=top)
    return top


def row_sum(table: NDArray[Any]) -> Floats:
    """The sum of each row."""
    if table.shape[1] > NARROW:
        return np.asarray(table.sum(axis=1), dtype=np.float64)
    total = table[:, 0].astype(np.float64)
    for column in table.T[1:]:
        total += column
    return total
