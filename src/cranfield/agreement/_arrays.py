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
