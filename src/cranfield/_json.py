"""What a result looks like in JSON."""

from __future__ import annotations

import math
from typing import Any


def jsonable(value: Any) -> Any:
    """A payload with NaN and infinities as null, so that it is JSON to the letter."""
    if isinstance(value, dict):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def number(value: Any) -> Any:
    """A value as JSON has it: NaN and infinities are null."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
