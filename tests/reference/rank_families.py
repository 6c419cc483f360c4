"""Slow twins of the image, SMART, SHREC and contingency kernels, written as the sources do.

A ranking is a list of groups of one score, best first; a group is a list of grades, None for an
item that nobody judged. `rest` holds the grades of judged items that were not retrieved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import permutations, product

Group = Sequence[float | None]


def flat(ranking: Sequence[Group]) -> list[float | None]:
    return [grade for group in ranking for grade in group]


def relevant(grade: float | None, rel: float) -> bool:
    return grade is not None and grade >= rel


def ranks(
    ranking: Sequence[Group], rest: Sequence[float], *, rel: float, size: int, missing: str
) -> list[float]:
    """The ranks of all relevant items; tied items share the mean of theirs."""
    found: list[float] = []
    first = 1
    for group in ranking:
        mean = sum(range(first, first + len(group))) / len(group)
        found += [mean for grade in group if relevant(grade, rel)]
        first += len(group)
    absent = sum(relevant(grade, rel) for grade in rest)
    retrieved = first - 1
    if missing == "worst":
        return found + [size - absent + i for i in range(1, absent + 1)]
    if missing == "optimist":
        return found + [retrieved + i for i in range(1, absent + 1)]
    unused = range(retrieved + 1, size + 1)
    return found + [sum(unused) / len(unused) for _ in range(absent)]


def average_rank(ranking: Sequence[Group], rest: Sequence[float], *, rel: float, gmt: int) -> float:
    retrieved = len(flat(ranking))
    places = ranks(ranking, rest, rel=rel, size=10**9, missing="worst")
    ng = len(places)
    if ng == 0:
        return math.nan
    k = min((2 if ng > 50 else 4) * ng, 2 * gmt)
    return sum(r if r <= k and r <= retrieved else 1.25 * k for r in places) / ng


def modified_rank(
    ranking: Sequence[Group], rest: Sequence[float], *, rel: float, gmt: int
) -> float:
    ng = len(ranks(ranking, rest, rel=rel, size=10**9, missing="worst"))
    return average_rank(ranking, rest, rel=rel, gmt=gmt) - 0.5 * (1 + ng)


def nmrr(ranking: Sequence[Group], rest: Sequence[float], *, rel: float, gmt: int) -> float:
    ng = len(ranks(ranking, rest, rel=rel, size=10**9, missing="worst"))
    k = min((2 if ng > 50 else 4) * ng, 2 * gmt)
    if ng == 0:
        return math.nan
    return modified_rank(ranking, rest, rel=rel, gmt=gmt) / (1.25 * k - 0.5 * (1 + ng))


def rank_of(places: Sequence[float], k: int) -> float:
    return places[k - 1] if k <= len(places) else math.nan


def nar(places: Sequence[float], size: int) -> float:
    ng = len(places)
    if ng == 0:
        return math.nan
    return (sum(places) - sum(range(1, ng + 1))) / (size * ng)


def mnro(
    ranking: Sequence[Group],
    places: Sequence[float],
    *,
    rel: float,
    size: int,
    printed: bool,
    gmt: int = 0,
) -> float:
    ng = len(places)
    if ng == 0:
        return math.nan
    factor = 0.04 / (ng / size) * (ng if printed else 1)
    usual = min((2 if ng > 50 else 4) * ng, 2 * gmt) if gmt else 4 * ng
    k = usual if ng / size >= 0.01 else factor * ng
    in_place = _leading_relevant(ranking, rel)
    # Relevant items right after a perfect ranking are in their place, too.
    if in_place == len(flat(ranking)):
        while in_place < ng and places[in_place] == in_place + 1:
            in_place += 1
    return (
        sum(math.exp(-9.3668 * math.exp(-5.2074 * (r - 1) / (k - 1))) for r in places[in_place:])
        / ng
    )


def _leading_relevant(ranking: Sequence[Group], rel: float) -> int:
    """How many items stand in groups that are wholly relevant, from the top."""
    count = 0
    for group in ranking:
        if not all(relevant(grade, rel) for grade in group):
            break
        count += len(group)
    return count


def recall_error(places: Sequence[float]) -> float:
    n0 = len(places)
    return sum(places) / n0 - (n0 + 1) / 2 if n0 else math.nan


def precision_error(places: Sequence[float]) -> float:
    return math.log(math.prod(places) / math.factorial(len(places))) if places else math.nan


def norm_recall(places: Sequence[float], size: int, scale: float = 1.0) -> float:
    n0 = len(places)
    if n0 == 0:
        return math.nan
    if n0 == size:
        return 1.0
    return 1 - scale * (sum(places) / n0 - (n0 + 1) / 2) / (size - n0)


def norm_precision(places: Sequence[float], size: int) -> float:
    n0 = len(places)
    if n0 == 0:
        return math.nan
    if n0 == size:
        return 1.0
    error = math.log(math.prod(places)) - math.log(math.factorial(n0))
    return 1 - error / math.log(math.comb(size, n0))


def rank_recall(places: Sequence[float]) -> float:
    n0 = len(places)
    return (n0 + 1) / 2 / (sum(places) / n0) if n0 else math.nan


def log_precision(places: Sequence[float]) -> float:
    if not places:
        return math.nan
    below = math.log(math.prod(places))
    return math.log(math.factorial(len(places))) / below if below else 1.0


def tier(grades: Sequence[float | None], rest: Sequence[float], *, rel: float, tier: int) -> float:
    ng = sum(relevant(g, rel) for g in [*grades, *rest])
    if ng == 0:
        return math.nan
    d = len(grades) if len(grades) < tier * ng else tier * ng
    return sum(relevant(g, rel) for g in grades[:d]) / d if d else 0.0


def shrec_ap(grades: Sequence[float | None], rest: Sequence[float], *, rel: float) -> float:
    if not any(relevant(g, rel) for g in [*grades, *rest]):
        return math.nan
    precisions = [
        sum(relevant(g, rel) for g in grades[:i]) / i
        for i in range(1, len(grades) + 1)
        if relevant(grades[i - 1], rel)
    ]
    return sum(precisions) / len(precisions) if precisions else 0.0


def over_levels(value: Callable[[float], float], levels: int) -> float:
    """The mean over the grades 1 to `levels` from which an item counts as relevant."""
    found = [v for v in (value(float(g)) for g in range(1, levels + 1)) if not math.isnan(v)]
    return sum(found) / len(found) if found else math.nan


# Each of them is the mean over levels of the binary measure it is named after.
graded_nmrr = graded_mnro = graded_norm_recall = graded_norm_precision = over_levels


def judged_mnro(grades: Sequence[float | None], rest: Sequence[float], *, rel: float) -> float:
    """MNRO of the judged items alone, in a collection of the judged items."""
    kept = [g for g in grades if g is not None and g >= 0]
    judged = [g for g in rest if g >= 0]
    size = len(kept) + len(judged)
    one_by_one = [[g] for g in kept]
    places = ranks(one_by_one, judged, rel=rel, size=size, missing="worst")
    return mnro(one_by_one, places, rel=rel, size=size, printed=False)


def adr(grades: Sequence[float | None], rest: Sequence[float], *, levels: int) -> float:
    ideal = sorted(
        (math.floor(min(g, levels)) for g in [*grades, *rest] if g is not None and g >= 1),
        reverse=True,
    )
    if not ideal:
        return math.nan
    return sum(
        sum(relevant(g, level) for g in grades[:i]) / i for i, level in enumerate(ideal, start=1)
    ) / len(ideal)


def contingency(
    grades: Sequence[float | None], rest: Sequence[float], *, rel: float, k: int, size: int
) -> tuple[int, int, int, int]:
    """True positives, false positives, false negatives and true negatives at k."""
    seen = grades[:k]
    tp = sum(relevant(g, rel) for g in seen)
    fn = sum(relevant(g, rel) for g in [*grades, *rest]) - tp
    fp = len(seen) - tp
    return tp, fp, fn, size - tp - fp - fn


def counts(
    grades: Sequence[float | None],
    rest: Sequence[float],
    rel: float,
    cutoff: float,
    multiple: float,
    *weights: float,
) -> float:
    """A weighed sum of the cells down to a cutoff, or to a multiple of the relevant items."""
    ng = sum(relevant(g, rel) for g in [*grades, *rest])
    depth = cutoff
    if multiple >= 0:
        depth = ng if multiple == 1 else math.floor(multiple * ng + 0.9)
    seen = [g for i, g in enumerate(grades, start=1) if i <= depth]
    found = sum(relevant(g, rel) for g in seen)
    cells = [found, len(seen), ng, depth, min(depth, ng), min(len(seen), ng), 1]
    return sum(w * cell for w, cell in zip(weights, cells, strict=True) if w)


def counts_ratio(
    grades: Sequence[float | None],
    rest: Sequence[float],
    rel: float,
    cutoff: float,
    multiple: float,
    *weights: float,
) -> float:
    above, below = (
        counts(grades, rest, rel, cutoff, multiple, *part) for part in (weights[:7], weights[7:])
    )
    return above / below if below > 0 else math.nan


def judged_count(grades: Sequence[float | None], rest: Sequence[float], cutoff: float) -> float:
    return sum(g is not None for i, g in enumerate(grades, start=1) if i <= cutoff)


def extended_inferred_ap(
    ranking: Sequence[tuple[int, int] | None], pool: Sequence[tuple[int, int]], rel: float
) -> float:
    """Items are pairs of a grade and a stratum; None stands for an item outside the pool."""
    epsilon = 0.00001
    strata = {s for _, s in pool}

    def size(items: Sequence[tuple[int, int] | None], stratum: int, least: float) -> int:
        return sum(i is not None and i[1] == stratum and i[0] >= least for i in items)

    def rate(stratum: int) -> float:
        judged = size(pool, stratum, 0)
        return size(pool, stratum, -math.inf) / judged if judged else 0.0

    total = sum(size(pool, s, rel) * rate(s) for s in strata)
    if not total:
        return 0.0
    value = 0.0
    for rank, item in enumerate(ranking, start=1):
        if item is None or item[0] < rel:
            continue
        above = ranking[: rank - 1]
        found = sum(
            size(above, s, -math.inf)
            * (size(above, s, rel) + epsilon)
            / (size(above, s, 0) + 2 * epsilon)
            for s in strata
        )
        value += rate(item[1]) * (1 + found) / rank
    return value / total


def over_orders(ranking: Sequence[Group], value: Callable[[list[float | None]], float]) -> float:
    """The mean of a value over all orders within groups."""
    orders = list(product(*(list(permutations(group)) for group in ranking)))
    return sum(value(flat(order)) for order in orders) / len(orders)
