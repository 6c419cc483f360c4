"""What the declarations of ranked measures share: parameters and calls of kernels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from cranfield._lazy import np
from cranfield.errors import MeasureError, NeedsError
from cranfield.measures.base import Measure, Param

if TYPE_CHECKING:
    from cranfield.data import Judgements

EVERY = frozenset({"ranking", "judgements"})
NO_RELEVANT_0 = "no relevant item: 0; nothing retrieved: 0"
MISSING_0 = "relevant items that were not retrieved bring nothing"


MISSING_RANKS = ("worst", "average", "optimist")


class Context(NamedTuple):
    """What a measure may need beside rankings: the collection, the judgements, and policies.

    `missing` says where relevant items stand that were not retrieved; `gmt` is the largest
    number of relevant items of any topic, where it is not to be taken from the judgements.
    """

    collection_size: int | None = None
    missing: str = "worst"
    gmt: int | None = None
    judgements: Judgements | None = None

    def size_for(self, measure: Measure) -> int:
        """The size of the collection, or an error that says what to pass."""
        if self.collection_size is None:
            raise NeedsError(
                f"{measure} needs the number of items in the collection: pass collection_size=N"
            )
        return self.collection_size

    def most_relevant(self, level: float) -> tuple[int, str]:
        """The largest number of relevant items of any topic, and that topic."""
        if self.judgements is None or not len(self.judgements):
            return 0, ""
        offsets, reached = self.judgements.offsets, self.judgements.values >= level
        if self.judgements.chances is not None and self.judgements.levels is not None:
            # Where grades are not sure: those that may be relevant.
            reached = self.judgements.chances[:, self.judgements.levels >= level].sum(axis=1) > 0
        running = np.concatenate([[0], np.cumsum(reached)])
        counts = running[offsets[1:]] - running[offsets[:-1]]
        return int(counts.max()), self.judgements.topics[int(counts.argmax())]

    def check_grades(self, measure: Measure, param: str) -> float:
        """The largest grade that a parameter declares; an error when a judgement is above it."""
        declared = float(measure.value_of(param))
        judgements = self.judgements
        if judgements is not None and len(judgements) and judgements.largest_value > declared:
            row = int(judgements.values.argmax())
            at = int(np.searchsorted(judgements.offsets, row, side="right")) - 1
            raise NeedsError(
                f"{measure} knows grades up to {declared:g}, but item {judgements.item(row)!r} of "
                f"topic {judgements.topics[at]!r} has grade {judgements.values[row]:g}: pass "
                f"{measure.name}({param}={math.ceil(judgements.values[row])}) or map the grades"
            )
        return declared

    def check_gains(self, measure: Measure, params: tuple[float, ...]) -> tuple[float, ...]:
        """The parameters of a gain kernel; an error when no number could hold a sum of gains."""
        judgements = self.judgements
        if judgements is None or not len(judgements):
            return params
        best = judgements.largest_value
        kind, pairs = params[1], params[3:]
        largest_gain = {0.0: best, 2.0: 1.0}.get(
            kind, 2.0**best if best < MOST_DOUBLINGS else math.inf
        )
        largest = max([largest_gain, *map(abs, pairs[1::2])])
        if not largest * len(judgements) < LARGEST_SUM:
            raise NeedsError(
                f"{measure}: gains of {largest:g} add up to more than a number can hold; map the "
                "grades to smaller ones"
            )
        return params


# Bounds that keep sums of gains, and of values over topics, among the numbers.
MOST_DOUBLINGS, LARGEST_SUM = 1000, 1e300


class KernelCall(NamedTuple):
    """A compiled kernel and its numeric parameters.

    Where the value of `given` is 0 that of the call is undefined: the topic is left out. `largest`
    are the places of parameters that say how many items of any topic have a grade at the most, and
    that grade: they are others in each draw of a truth with probabilities.
    """

    name: str
    params: tuple[float, ...]
    given: KernelCall | None = None
    largest: tuple[tuple[int, float], ...] = ()


REL = Param(float, 1, "the grade from which an item counts as relevant")
MEAN = Param(str, "arithmetic", "how topics are averaged", choices=("arithmetic", "geometric"))
MICRO = Param(
    str,
    "arithmetic",
    "how topics are averaged: 'micro' divides the sums of both counts over all topics",
    choices=("arithmetic", "micro"),
)
EMPTY = Param(
    str,
    "0",
    "the value of a topic without relevant items: '0', as in trec_eval, or 'out' of the mean",
    choices=("0", "out"),
)
MISSING = Param(
    str,
    None,
    "where relevant items stand that were not retrieved: 'worst' (the last ranks of the "
    "collection), 'average' (the mean of the unused ranks) or 'optimist' (right after the "
    "ranking); unless given, that of the evaluation, which is 'worst'",
    choices=MISSING_RANKS,
)
GAIN = Param(
    str,
    "grade",
    "'grade', 'exp' for 2^grade - 1, 'binary', or pairs of a grade and its gain: '1=3,2=9'",
)
DISCOUNT = Param(
    str,
    "log2",
    "'log2': log2(rank+1); 'jk': none at rank 1, log2(rank) after; 'none'",
    choices=("log2", "jk", "none"),
)


def skip_empty_topics(plan: Any, guard_plan: Any = None) -> Any:
    """A plan that leaves topics out when the parameter `empty` says so: those without relevant
    items, or those for which the call that `guard_plan` plans is 0.
    """

    def either(measure: Measure, context: Context) -> KernelCall:
        call: KernelCall = plan(measure, context)
        if measure.value_of("empty") == "0":
            return call
        guard = (guard_plan or kernel_call("num_rel", "rel"))(measure, context)
        return call._replace(given=guard)

    return either


def kernel_call(kernel: str, *names: str) -> Any:
    """A plan: the kernel with the values of the named parameters; '@' stands for the cutoff."""

    def plan(measure: Measure, _: Context) -> KernelCall:
        values = (
            cutoff_of(measure) if name == "@" else float(measure.value_of(name)) for name in names
        )
        return KernelCall(kernel, tuple(values))

    return plan


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the contingency table as weights of counts; cells can be added and scaled."""

    weights: tuple[float, ...]

    def __add__(self, other: Cell) -> Cell:
        return Cell(tuple(a + b for a, b in zip(self.weights, other.weights, strict=True)))

    def __sub__(self, other: Cell) -> Cell:
        return self + -1.0 * other

    def __rmul__(self, factor: float) -> Cell:
        return Cell(tuple(factor * w for w in self.weights))


# The cells of the contingency table, by the weights that the kernel "counts" gives to: relevant
# items found, items seen, relevant items, places to be seen, relevant items that these places
# and that the items seen could hold, and one.
FOUND, SEEN, RELEVANT, DEPTH, IN_PLACES, IN_SEEN, ONE = (
    Cell(tuple(float(i == j) for j in range(7))) for i in range(7)
)
FALSE, MISSED = SEEN - FOUND, RELEVANT - FOUND


def counted(measure: Measure, cell: Cell, multiple: float = -1.0) -> KernelCall:
    """A weighed sum of cells down to the cutoff, or to a multiple of the relevant items."""
    level = float(measure.value_of("rel"))
    return KernelCall("counts", (level, cutoff_of(measure), multiple, *cell.weights))


def ratio_of(above: Cell, below: Cell) -> Any:
    """The two counts of a measure that is a ratio of cells."""

    def ratio(measure: Measure, _: Context) -> tuple[KernelCall, KernelCall]:
        return counted(measure, above), counted(measure, below)

    return ratio


def ranks(kernel: str, *, sized: bool, names: tuple[str, ...] = ()) -> Any:
    """A plan for a function of the ranks of all relevant items.

    Without `sized` the collection may be of unknown size as long as no item is missing.
    """

    def plan(measure: Measure, context: Context) -> KernelCall:
        has_size = sized or context.collection_size is not None
        size = float(context.size_for(measure)) if has_size else math.inf
        missing = measure.value_of("missing") or context.missing
        policy = float(MISSING_RANKS.index(missing))
        rest = (float(measure.value_of(name)) for name in names)
        return KernelCall(kernel, (float(measure.value_of("rel")), size, policy, *rest))

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
            choices = ", ".join(map(repr, words))
            raise MeasureError(
                f"{name}: gain={text!r} is not one of {choices} or pairs such as '1=3,2=9'"
            ) from None
    return tuple(numbers)
