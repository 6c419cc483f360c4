"""Values that a task computes by a program of its own: measures without a declaration here."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from cranfield.errors import NeedsError
from cranfield.measures.base import Measure, Param
from cranfield.references import Source


def _not_here(measure: Measure, *_: object, **__: object) -> Any:
    raise NeedsError(
        f"{measure} is computed by the scorer of a collection, which the site of its campaign runs"
    )


def _range(low: float = 0.0, high: float = 1.0, **_: object) -> tuple[float, float]:
    return float(low), float(high)


OWN = Measure(
    name="Own",
    title="A value of the task's own program",
    summary="What the scorer of a collection says of each topic or item; the mean over them.",
    formula=r"v",
    source=Source("cranfield-extensions", "scorer"),
    range=(0.0, 1.0),
    ranged=_range,
    higher_is_better=True,
    needs=frozenset({"scorer"}),
    plan=_not_here,
    params=MappingProxyType(
        {
            "name": Param(str, "", "how tables call it, and its column in what the scorer writes"),
            "low": Param(float, 0.0, "its least value"),
            "high": Param(float, 1.0, "its greatest value"),
        }
    ),
    family="own",
    undefined="where the scorer writes nothing",
    example="Own(name='Quality')",
)


def own_measures(names: Sequence[str | Measure]) -> tuple[Measure, ...]:
    """Those of some measures that a scorer computes."""
    from cranfield.measures import measure

    bound = (measure(name) if isinstance(name, str) else name for name in names)
    return tuple(one for one in bound if one.name == OWN.name)
