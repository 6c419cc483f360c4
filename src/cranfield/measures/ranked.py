"""What the declarations of ranked measures share: parameters and calls of kernels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cranfield.errors import MeasureError, NeedsError
from cranfield.measures._spec import Measure, Param

EVERY = frozenset({"ranking", "judgements"})
NO_RELEVANT_0 = "no relevant item: 0; nothing retrieved: 0"
MISSING_0 = "relevant items that were not retrieved bring nothing"


@dataclass(frozen=True, slots=True)
class Context:
    """What a measure may need beside rankings and judgements."""

    collection_size: int | None = None

    def size_for(self, measure: Measure) -> int:
        """The size of the collection, or an error that says what to pass."""
        if self.collection_size is None:
            raise NeedsError(
                f"{measure} needs the number of items in the collection: pass "
                "--collection-size N (in Python: collection_size=N)"
            )
        return self.collection_size


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A compiled kernel and its numeric parameters."""

    name: str
    params: tuple[float, ...]


REL = Param(float, 1, "the grade from which an item counts as relevant")
MEAN = Param(
    str, "arithmetic", "how topics are averaged", choices=("arithmetic", "geometric")
)  # fmt: skip
GAIN = Param(
    str, "grade",
    "'grade', 'exp' for 2^grade - 1, 'binary', or pairs of a grade and its gain: '1=3,2=9'",
)  # fmt: skip
DISCOUNT = Param(
    str, "log2", "'log2': log2(rank+1); 'jk': none at rank 1, log2(rank) after; 'none'",
    choices=("log2", "jk", "none"),
)  # fmt: skip


def simple(kernel: str, *names: str) -> Any:
    """A plan: the kernel with the values of the named parameters; '@' stands for the cutoff."""

    def plan(measure: Measure, _: Context) -> KernelCall:
        values = (
            cutoff_of(measure) if name == "@" else float(measure.value_of(name)) for name in names
        )
        return KernelCall(kernel, tuple(values))

    return plan


def cutoff_of(measure: Measure) -> float:
    return math.inf if measure.at is None else float(measure.at)


def gain_params(measure: Measure, discount: str) -> tuple[float, ...]:
    """Cutoff, kind of gain, kind of discount and replaced gains, as the gain kernels take them."""
    text = str(measure.value_of("gain"))
    kinds = {"grade": 0.0, "exp": 1.0, "binary": 2.0}
    discounts = {"log2": 0.0, "jk": 1.0, "none": 2.0}
    pairs = () if text in kinds else gain_pairs(measure.name, text, kinds)
    return (cutoff_of(measure), kinds.get(text, 0.0), discounts[discount], *pairs)


def gain_pairs(name: str, text: str, words: Iterable[str]) -> tuple[float, ...]:
    """'1=3,2=9' as 1, 3, 2, 9; `words` are what else the measure understands."""
    numbers: list[float] = []
    for pair in text.split(","):
        grade, equals, gain = pair.partition("=")
        try:
            if not equals:
                raise ValueError
            numbers += [float(grade), float(gain)]
        except ValueError:
            known = ", ".join(map(repr, words))
            raise MeasureError(
                f"{name}: gain={text!r} is not one of {known} or pairs such as '1=3,2=9'"
            ) from None
    return tuple(numbers)
