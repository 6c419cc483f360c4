"""Measures asked for by names, declarations, or a mixture of both."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cranfield.errors import MeasureError
from cranfield.measures._spec import Measure
from cranfield.registry import listed

# Parameters of ir_measures that are said in other words here.
_SAID_OTHERWISE = {
    ("dcg", "log2"): {},
    ("dcg", "exp-log2"): {"gain": "exp"},
    ("relative", False): {},
    ("judged_only", False): {},
}


def listed_measures(wanted: str | Measure | Iterable[str | Measure]) -> list[str | Measure]:
    """Names and declarations one by one; a text may hold several names.

    Measures of the package ir_measures are taken by their names.
    """
    if _is_foreign(wanted):
        return [_translated(wanted)]
    if not isinstance(wanted, str | Measure) and isinstance(wanted, Iterable):
        wanted = [_translated(one) if _is_foreign(one) else one for one in wanted]
    return listed(wanted, Measure)


def _is_foreign(one: Any) -> bool:
    return type(one).__module__.partition(".")[0] == "ir_measures" and hasattr(one, "NAME")


def _translated(foreign: Any) -> str:
    """The name under which a measure of ir_measures is known here."""
    name, params = str(foreign.NAME), dict(foreign.params)
    if name == "NumRet" and "rel" in params:
        name = "NumRelRet"
    at = params.pop("cutoff", params.pop("recall", None))
    words: dict[str, Any] = {}
    for key, value in params.items():
        if (key, value) in _SAID_OTHERWISE:
            words |= _SAID_OTHERWISE[key, value]
        elif key == "judged_only":
            raise MeasureError(f"{foreign}: give judged_only=True to the evaluation instead")
        else:
            words[key] = value
    inside = ", ".join(f"{key}={value!r}" for key, value in words.items())
    return name + ("" if at is None else f"@{at}") + (f"({inside})" if inside else "")
