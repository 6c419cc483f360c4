"""The declaration of a measure: all that a table, a help page, a test and a chart need to know."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from cranfield.errors import MeasureError, suggest
from cranfield.sources import Source

Value: TypeAlias = str | int | float | bool
Cutoff: TypeAlias = Literal["none", "optional", "required", "recall"]
Aggregate: TypeAlias = Literal["mean", "sum"]


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a measure: its kind, its default and the values it may take."""

    kind: type
    default: Value | None
    doc: str
    choices: tuple[Value, ...] = ()
    low: float = -math.inf
    high: float = math.inf

    def convert(self, measure: str, name: str, value: Value | None) -> Value | None:
        """The value as this parameter's kind, or a MeasureError that says what was expected."""
        if value is None and self.default is None:
            return None
        try:
            converted = self._cast(value)
        except (TypeError, ValueError, OverflowError):
            raise MeasureError(
                f"{measure}: parameter {name}={value!r} is not {_KIND_NAMES[self.kind]}"
            ) from None
        if self.choices and converted not in self.choices:
            options = ", ".join(repr(c) for c in self.choices)
            raise MeasureError(f"{measure}: parameter {name}={value!r} is not one of {options}")
        if isinstance(converted, int | float) and not self.low <= converted <= self.high:
            raise MeasureError(
                f"{measure}: parameter {name}={value!r} is outside [{self.low:g}, {self.high:g}]"
            )
        return converted

    def _cast(self, value: Value | None) -> Value:
        if value is None:
            raise TypeError
        if self.kind is str:
            if not isinstance(value, str):
                raise TypeError
            return value
        if isinstance(value, bool | str):
            if self.kind is bool and isinstance(value, bool):
                return value
            raise TypeError
        if self.kind is int:
            if value != int(value):
                raise ValueError
            return int(value)
        number = float(value)
        if not math.isfinite(number):
            raise ValueError
        return int(number) if number.is_integer() and abs(number) < 2**53 else number


_KIND_NAMES = {
    str: "a quoted string",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
}


def _digits(number: float) -> str:
    """A number in full and without an exponent, which names of measures do not have."""
    return str(int(number)) if number == int(number) else format(Decimal(repr(number)), "f")


@dataclass(frozen=True, eq=False, repr=False)
class Measure:
    """A measure, bound to its parameters: pure description, no state.

    `needs` names what the measure reads, such as "ranking", "grades", "collection_size",
    "labels", "confidences", "hierarchy". `plan` turns the bound measure into what its
    evaluator runs; for ranked measures that is a call of a compiled kernel. `ratio` gives the
    two counts whose ratio the measure is, where it has a mean='micro': their sums' ratio.
    """

    name: str
    title: str
    formula: str
    source: Source
    range: tuple[float, float]
    higher_is_better: bool | None
    needs: frozenset[str]
    plan: Callable[..., Any] = field(repr=False)
    ratio: Callable[..., tuple[Any, Any]] | None = field(default=None, repr=False)
    mean_name: str = ""
    family: str = ""
    summary: str = ""
    params: Mapping[str, Param] = field(default_factory=dict)
    cutoff: Cutoff = "none"
    aggregate: Aggregate = "mean"
    ties: str = "score, then item id"
    missing: str = ""
    undefined: str = ""
    example: str = ""
    trec_name: str = ""
    bound: Mapping[str, Value] = field(default_factory=dict)
    at: float | None = None

    def bind(self, *, at: float | None = None, **values: Value) -> Measure:
        """This measure with some parameters set, checked against the declaration."""
        bound = dict(self.bound)
        for key, value in values.items():
            if key not in self.params:
                known = ", ".join(self.params) or "none"
                raise MeasureError(
                    f"{self.name} has no parameter {key!r} (it has: {known})."
                    f"{suggest(key, self.params)}"
                )
            converted = self.params[key].convert(self.name, key, value)
            bound.pop(key, None)
            if converted is not None:
                bound[key] = converted
        for key in [k for k, v in bound.items() if v == self.params[k].default]:
            del bound[key]
        ordered = {k: bound[k] for k in self.params if k in bound}
        cut = self.at if at is None else self._checked_cutoff(at)
        return replace(self, bound=MappingProxyType(ordered), at=cut)

    def _checked_cutoff(self, at: float) -> float:
        if self.cutoff == "none":
            raise MeasureError(f"{self.name} takes no cutoff (@{at:g})")
        if self.cutoff == "recall":
            if not 0 <= at <= 1:
                raise MeasureError(f"{self.name}@{at:g}: a recall level lies in [0, 1]")
            return float(at)
        if at != int(at) or at < 1:
            raise MeasureError(f"{self.name}@{at:g}: a cutoff is a whole number from 1 on")
        return int(at)

    def check_complete(self) -> Measure:
        """This measure, or a MeasureError when its obligatory cutoff is absent."""
        if self.cutoff in ("required", "recall") and self.at is None:
            example = "0.2" if self.cutoff == "recall" else "10"
            raise MeasureError(f"{self.name} needs a cutoff, such as {self.name}@{example}")
        return self

    def value_of(self, param: str) -> Any:
        """The bound value of a parameter, or its default."""
        return self.bound.get(param, self.params[param].default)

    @property
    def averaging(self) -> str:
        """How topics are averaged: the parameter `mean` where it is set, else as declared."""
        return str(self.bound.get("mean", self.aggregate))

    @property
    def mean_label(self) -> str:
        """The name of the mean over topics: MAP for AP, or the measure's own name."""
        if not self.mean_name:
            return str(self)
        return str(self).replace(self.name, self.mean_name, 1)

    def __str__(self) -> str:
        inside = ", ".join(f"{k}={v!r}" for k, v in self.bound.items())
        stem, dot, direction = self.name.partition(".")
        cut = "" if self.at is None else f"@{_digits(self.at)}"
        return f"{stem}{cut}{dot}{direction}" + (f"({inside})" if inside else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"<Measure {self}>"

    def __saved__(self) -> str:
        """How a saved answer names the measure."""
        return str(self)

    @classmethod
    def __restored__(cls, name: str) -> Measure:
        from cranfield.measures import measure

        return measure(name)

    def __reduce__(self) -> Any:
        """Measures travel by name: their declarations are on the other side too."""
        from cranfield.measures import REGISTRY

        if self.name in REGISTRY:
            return type(self).__restored__, (str(self),)
        return super().__reduce__()
