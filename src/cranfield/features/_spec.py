"""The declarations of descriptors and distances: all that a list, a help page and a test need."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from cranfield.references import Source
from cranfield.registry import Param, Spec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cranfield.features.pictures import DecodedPicture

__all__ = ["Descriptor", "Distance", "Floats", "Param", "Source"]

Floats: TypeAlias = "NDArray[np.float64]"
Kind: TypeAlias = Literal["uint8", "int16", "float32", "float64"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Descriptor(Spec):
    """A way to turn a picture into numbers: pure description, computed by a compiled kernel.

    `takes` are the places of the kernel's numbers that are kept, all of them where it is empty.
    `shares` says that the numbers are parts of a whole, so that distances divide them by their
    sum. `small` is the rule for pictures that are too small, `checked` the outside witness.
    One that has no kernel is computed by `compute`, from the decoded picture; `edition` names what
    it was learnt from, so that rows of another one are made again.
    """

    noun: ClassVar[str] = "descriptor"
    catalogue: ClassVar[str] = "cranfield runs descriptors"

    length: int
    range: tuple[float, float]
    kernel: str
    distance: str
    small: str
    checked: str
    shares: bool = True
    kind: Kind = "uint8"
    takes: tuple[int, ...] = ()
    compute: Callable[[DecodedPicture], NDArray[Any]] | None = field(default=None, repr=False)
    edition: str = ""

    def __reduce__(self) -> tuple[Any, ...]:

        return type(self).__restored__, (str(self),)

    def __saved__(self) -> str:
        """How a saved answer names the descriptor."""
        return str(self)

    @classmethod
    def __restored__(cls, name: str) -> Descriptor:
        from cranfield.features import DESCRIPTORS

        return DESCRIPTORS.find(name)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Distance(Spec):
    """How far two vectors are apart: what is done to each row, then a compiled kernel on pairs.

    `prepare(rows, spread)` readies rows; `spread(collection)` gives what it needs to know of the
    whole collection, where it needs anything. Rows are divided by their sums first where
    `divides` and the descriptor says that they are shares; where nothing is known about the
    vectors, `of_shares` takes those without negative numbers for shares. `largest` and
    `largest_undivided` are the largest distances there can be of rows that were divided and of
    others, infinity where there is none: the similarity is 1 - d / largest, or 1 / (1 + d).
    `negative` says whether vectors may have negative numbers. `of_terms` says that vectors are sets
    of terms, one wherever a number is not 0, and that the distance counts terms of the query: the
    similarity is the share of its terms that are not missing. Items from `retrieves_below` on are
    not retrieved.
    """

    noun: ClassVar[str] = "distance"
    catalogue: ClassVar[str] = "cranfield runs descriptors"

    kernel: str
    prepare: Callable[[Floats, Floats | None], Floats] = field(repr=False)
    spread: Callable[[Floats], Floats] | None = field(default=None, repr=False)
    groups: Callable[[int], tuple[int, ...]] | None = field(default=None, repr=False)
    lengths: tuple[int, ...] = ()
    divides: bool = False
    of_shares: bool = False
    largest: float = math.inf
    largest_undivided: float = math.inf
    undefined: str = ""
    negative: bool = True
    of_terms: bool = False
    retrieves_below: float = math.inf

    def __reduce__(self) -> tuple[Any, ...]:

        return type(self).__restored__, (str(self),)

    def __saved__(self) -> str:
        """How a saved answer names the distance."""
        return str(self)

    @classmethod
    def __restored__(cls, name: str) -> Distance:
        from cranfield.features import DISTANCES

        return DISTANCES.find(name)
