"""Types that every room may use in its annotations; nothing is computed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# What can be written as JSON, for payloads that are only built and written.
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

# An object as `json.loads` returns it; its values are checked where they are read.
JsonObject: TypeAlias = dict[str, Any]

# Arrays by what they hold, of any number of dimensions.
FloatArray: TypeAlias = "NDArray[np.float64]"
IntArray: TypeAlias = "NDArray[np.int64]"
BoolArray: TypeAlias = "NDArray[np.bool_]"
# An array whose numbers are looked at first.
AnyArray: TypeAlias = "NDArray[Any]"
