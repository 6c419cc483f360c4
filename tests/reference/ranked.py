"""The slow twin of every kernel for ranked retrieval, written as the formulae are.

A ranking is the list of the grades of its items from rank 1 on, None where nobody judged the
item; `judged` holds all grades of the topic, in any order. Parameters come in the order in
which the compiled kernels take them. Nothing here is fast, and nothing is shared with the core.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, permutations, product
from typing import TypeAlias

Grades: TypeAlias = Sequence[float | None]
Judged: TypeAlias = Sequence[float]
Twin: TypeAlias = Callable[..., float]

EPSILON = 0.00001  # of inferred average precision, as trec_eval sets it
LINEAR, EXPONENTIAL, BINARY = 0, 1, 2
LOG2, JARVELIN_KEKALAINEN, UNDISCOUNTED = 0, 1, 2


# Orders


def order(
    scores: Mapping[str, float],
    judgements: Mapping[str, float],
    *,
    ties: str = "id",
    judged_only: bool = False,
    max_items: int = 0,
) -> list[float | None]:
    """The grades of a ranking: score high to low, equal scores as `ties` says."""
    groups = tied_groups(scores, judgements, ties=ties)
    ranked = [grade for group in groups for grade in group]
    return _kept(ranked[: max_items or None], judged_only)


def tied_groups(
    scores: Mapping[str, float], judgements: Mapping[str, float], *, ties: str
) -> list[list[float | None]]:
    """The grades of items that share a score, best score first."""
    by_score = sorted(scores, key=lambda item: -scores[item])  # stable: the order of the input
    groups = []
    for _, members in groupby(by_score, key=lambda item: scores[item]):
        items = list(members)
        if ties == "id":
            items.sort(key=lambda item: item.encode(), reverse=True)
        grades = [judgements.get(item) for item in items]
        if ties in ("best", "worst"):
            grades.sort(key=_merit, reverse=ties == "best")
        groups.append(grades)
    return groups


def _merit(grade: float | None) -> tuple[int, float]:
    """Good items before those nobody judged, those before bad ones."""
    if grade is None:
        return (1, 0.0)
    return (2, grade) if grade > 0 else (0, grade)


def _kept(ranked: Iterable[float | None], judged_only: bool) -> list[float | None]:
    if not judged_only:
        return list(ranked)
    return [grade for grade in ranked if grade is not None and grade >= 0]


def orders_within_ties(groups: Sequence[Sequence[float | None]]) -> Iterator[list[float | None]]:
    """Every order of the ranking that leaves the groups where they are."""
    for choice in product(*(permutations(group) for group in groups)):
        yield [grade for group in choice for grade in group]


def expected(
    twin: Twin,
    scores: Mapping[str, float],
    judgements: Mapping[str, float],
    params: Sequence[float],
    *,
    judged_only: bool = False,
) -> float:
    """The mean of a measure over all orders within ties, by looking at each of them."""
    judged = list(judgements.values())
    groups = tied_groups(scores, judgements, ties="file")
    values = [
        twin(_kept(ranked, judged_only), judged, *params) for ranked in orders_within_ties(groups)
    ]
    return math.fsum(values) / len(values)


# Counts and sets


def _is_relevant(grade: float | None, level: float) -> bool:
    return grade is not None and grade >= level


def _relevant(grades: Iterable[float | None], level: float) -> int:
    return sum(_is_relevant(grade, level) for grade in grades)


def _first(grades: Grades, k: float) -> Grades:
    return grades if k >= len(grades) else grades[: int(k)]


def num_ret(grades: Grades, judged: Judged) -> float:
    return len(grades)


def num_rel(grades: Grades, judged: Judged, level: float) -> float:
    return _relevant(judged, level)


def num_rel_ret(grades: Grades, judged: Judged, level: float) -> float:
    return _relevant(grades, level)


def num_nonrel_judged_ret(grades: Grades, judged: Judged, level: float) -> float:
    return sum(grade is not None and 0 <= grade < level for grade in grades)


def set_precision(grades: Grades, judged: Judged, level: float) -> float:
    return _ratio(_relevant(grades, level), len(grades))


def set_recall(grades: Grades, judged: Judged, level: float) -> float:
    return _ratio(_relevant(grades, level), _relevant(judged, level))


def set_relative_precision(grades: Grades, judged: Judged, level: float) -> float:
    return _ratio(_relevant(grades, level), min(len(grades), _relevant(judged, level)))


def set_ap(grades: Grades, judged: Judged, level: float) -> float:
    return set_precision(grades, judged, level) * set_recall(grades, judged, level)


def set_f(grades: Grades, judged: Judged, level: float, beta_squared: float) -> float:
    if math.isinf(beta_squared):
        return set_recall(grades, judged, level)
    p, r = set_precision(grades, judged, level), set_recall(grades, judged, level)
    return _ratio((1 + beta_squared) * p * r, beta_squared * p + r)


def utility(
    grades: Grades,
    judged: Judged,
    level: float,
    hit: float,
    false: float,
    miss: float,
    reject: float,
    size: float,
) -> float:
    found = _relevant(grades, level)
    others = len(grades) - found
    missed = _relevant(judged, level) - found
    rejected = size - found - others - missed
    return hit * found + false * others + miss * missed + reject * rejected


def _ratio(above: float, below: float) -> float:
    return above / below if below else 0.0


# Precision and recall


def precision_at(grades: Grades, judged: Judged, level: float, k: float) -> float:
    return _relevant(_first(grades, k), level) / k


def recall_at(grades: Grades, judged: Judged, level: float, k: float) -> float:
    return _ratio(_relevant(_first(grades, k), level), _relevant(judged, level))


def success_at(grades: Grades, judged: Judged, level: float, k: float) -> float:
    return float(any(_is_relevant(grade, level) for grade in _first(grades, k)))


def relative_precision_at(grades: Grades, judged: Judged, level: float, k: float) -> float:
    return _ratio(_relevant(_first(grades, k), level), min(k, _relevant(judged, level)))


def reciprocal_rank(grades: Grades, judged: Judged, level: float, k: float) -> float:
    for rank, grade in enumerate(_first(grades, k), 1):
        if _is_relevant(grade, level):
            return 1 / rank
    return 0.0


def _precisions(grades: Grades, judged: Judged, level: float) -> list[float]:
    """The precision at the rank of each relevant item."""
    return [
        precision_at(grades, judged, level, rank)
        for rank, grade in enumerate(grades, 1)
        if _is_relevant(grade, level)
    ]


def average_precision(grades: Grades, judged: Judged, level: float, k: float) -> float:
    total = sum(_precisions(_first(grades, k), judged, level))
    return _ratio(total, _relevant(judged, level))


def yaap(grades: Grades, judged: Judged, level: float) -> float:
    total = sum(_precisions(grades, judged, level))
    return math.log((1 + total) / (1 + _relevant(judged, level) - total))


def r_precision(grades: Grades, judged: Judged, level: float, multiple: float) -> float:
    depth = multiple * _relevant(judged, level)
    if multiple != 1:
        depth = math.floor(depth + 0.9)
    return precision_at(grades, judged, level, depth) if depth else 0.0


def _level_reached(found: float, total: float, recall: float, version: float) -> bool:
    """By the definition (version 0), or as trec_eval rounds the number of items of a level."""
    if version == 0:
        return _ratio(found, total) >= recall
    return found >= math.floor(recall * total + (0.9 if version < 10 else 0.5))


def interpolated_at(
    grades: Grades, judged: Judged, level: float, recall: float, version: float
) -> float:
    total = _relevant(judged, level)
    reached = [
        precision_at(grades, judged, level, rank)
        for rank in range(1, len(grades) + 1)
        if _level_reached(_relevant(grades[:rank], level), total, recall, version)
    ]
    return max(reached, default=0.0)


def interpolated_mean(
    grades: Grades, judged: Judged, level: float, version: float, *recalls: float
) -> float:
    return sum(interpolated_at(grades, judged, level, r, version) for r in recalls) / len(recalls)


def binary_g(grades: Grades, judged: Judged, level: float) -> float:
    total = 0.0
    for rank, grade in enumerate(grades, 1):
        if _is_relevant(grade, level):
            others_above = rank - _relevant(grades[:rank], level)
            total += 1 / math.log2(2 + others_above)
    return _ratio(total, _relevant(judged, level))


# Incomplete judgements: a negative grade is an item of the pool that nobody judged


def bpref(grades: Grades, judged: Judged, level: float) -> float:
    relevant = _relevant(judged, level)
    bound = min(relevant, sum(0 <= grade < level for grade in judged))
    total = 0.0
    for rank, grade in enumerate(grades):
        if _is_relevant(grade, level):
            above = num_nonrel_judged_ret(grades[:rank], judged, level)
            total += 1 - _ratio(min(above, relevant), bound)
    return _ratio(total, relevant)


def inferred_ap(grades: Grades, judged: Judged, level: float) -> float:
    total = 0.0
    for above, grade in enumerate(grades):
        if not _is_relevant(grade, level):
            continue
        if above == 0:
            total += 1
            continue
        pool = sum(other is not None for other in grades[:above])
        relevant = _relevant(grades[:above], level)
        others = num_nonrel_judged_ret(grades[:above], judged, level)
        precision_above = (relevant + EPSILON) / (relevant + others + 2 * EPSILON)
        rank = above + 1
        total += 1 / rank + above / rank * (pool / above) * precision_above
    return _ratio(total, _relevant(judged, level))


def judged_at(grades: Grades, judged: Judged, k: float) -> float:
    seen = _first(grades, k)
    return _ratio(sum(grade is not None for grade in seen), len(seen))


def unjudged_at(grades: Grades, judged: Judged, k: float) -> float:
    return sum(grade is None or grade < 0 for grade in _first(grades, k)) / k


def grade_at(grades: Grades, judged: Judged, rank: float) -> float:
    grade = grades[int(rank) - 1] if rank <= len(grades) else None
    return math.nan if grade is None else grade


# Gains


def _gain(grade: float | None, kind: float, pairs: Sequence[float]) -> float:
    if grade is None or grade < 0:
        return 0.0
    replaced = dict(zip(pairs[::2], pairs[1::2], strict=True))
    if grade in replaced:
        return replaced[grade]
    if kind == EXPONENTIAL:
        return math.pow(2.0, grade) - 1
    return float(grade > 0) if kind == BINARY else grade


def _discount(rank: int, kind: float) -> float:
    if kind == UNDISCOUNTED:
        return 1.0
    if kind == JARVELIN_KEKALAINEN:
        return max(1.0, math.log2(rank))
    return math.log2(rank + 1)


def _cumulated(gains: Sequence[float], discount: float) -> float:
    return sum(gain / _discount(rank, discount) for rank, gain in enumerate(gains, 1))


def _ideal(judged: Judged, kind: float, pairs: Sequence[float]) -> list[float]:
    gains = (_gain(grade, kind, pairs) for grade in judged)
    return sorted((gain for gain in gains if gain > 0), reverse=True)


def dcg(
    grades: Grades, judged: Judged, k: float, kind: float, discount: float, *pairs: float
) -> float:
    return _cumulated([_gain(grade, kind, pairs) for grade in _first(grades, k)], discount)


def ideal_dcg(
    grades: Grades, judged: Judged, k: float, kind: float, discount: float, *pairs: float
) -> float:
    ideal = _ideal(judged, kind, pairs)
    return _cumulated(ideal if k >= len(ideal) else ideal[: int(k)], discount)


def ndcg(
    grades: Grades, judged: Judged, k: float, kind: float, discount: float, *pairs: float
) -> float:
    best = ideal_dcg(grades, judged, k, kind, discount, *pairs)
    return _ratio(dcg(grades, judged, k, kind, discount, *pairs), best)


def ndcg_rel(
    grades: Grades, judged: Judged, k: float, kind: float, discount: float, *pairs: float
) -> float:
    """The mean of nDCG at each item with a gain; the missing ones count with nDCG at the end."""
    items = len(_ideal(judged, kind, pairs))
    at_items = [
        ndcg(grades, judged, rank, kind, discount, *pairs)
        for rank, grade in enumerate(grades, 1)
        if _gain(grade, kind, pairs) > 0
    ]
    at_end = ndcg(grades, judged, math.inf, kind, discount, *pairs)
    return _ratio(sum(at_items) + (items - len(at_items)) * at_end, items)


def rndcg(
    grades: Grades,
    judged: Judged,
    level: float,
    k: float,
    kind: float,
    discount: float,
    *pairs: float,
) -> float:
    """The mean of nDCG at the ranks where the ideal gain changes; 0 without a relevant item.

    The whole ranking is a point of its own when it is longer than the ideal one by two items
    or more, which is where trec_eval looks for it.
    """
    if not _relevant(judged, level):
        return 0.0
    ideal = _ideal(judged, kind, pairs)
    changes = [i for i in range(1, len(ideal) + 1) if ideal[i - 1 : i] != ideal[i : i + 1]]
    points: list[float] = list(changes)
    if ideal and len(grades) > len(ideal) + 1:
        points.append(math.inf)
    values = [ndcg(grades, judged, point, kind, discount, *pairs) for point in points]
    return _ratio(sum(values), len(values))


def normalized_g(
    grades: Grades, judged: Judged, k: float, kind: float, discount: float, *pairs: float
) -> float:
    ideal = _ideal(judged, kind, pairs)
    gains = [_gain(grade, kind, pairs) for grade in grades]
    total = 0.0
    for rank, gain in enumerate(gains, 1):
        best = sum(max(g, 1.0) for g in ideal[:rank]) + max(0, rank - len(ideal))
        total += gain / math.log2(2 + best - sum(gains[:rank]))
    return _ratio(total, sum(ideal))


# Models of a user


def rbp(grades: Grades, judged: Judged, level: float, p: float, k: float) -> float:
    relevant = (_is_relevant(grade, level) for grade in _first(grades, k))
    return (1 - p) * sum(is_relevant * p**i for i, is_relevant in enumerate(relevant))


def rbp_graded(grades: Grades, judged: Judged, p: float, k: float, *pairs: float) -> float:
    of_topic = [_gain(grade, LINEAR, pairs) for grade in judged]
    low, high = min([0.0, *of_topic]), max([0.0, *of_topic])
    total = 0.0
    for i, grade in enumerate(_first(grades, k)):
        if grade is None or grade < 0:
            continue
        gain = _gain(grade, LINEAR, pairs)
        if low < 0 or high > 1:
            gain = (gain - low) / (high - low)
        total += gain * p**i
    return (1 - p) * total


def rbp_residual(grades: Grades, judged: Judged, p: float) -> float:
    unjudged = [i for i, grade in enumerate(grades) if grade is None or grade < 0]
    if not unjudged:
        return 0.0
    return p ** len(grades) + (1 - p) * sum(p**i for i in unjudged)


def err(grades: Grades, judged: Judged, k: float, max_grade: float) -> float:
    total, still_looking = 0.0, 1.0
    for rank, grade in enumerate(_first(grades, k), 1):
        satisfied = (2.0 ** max(grade or 0, 0) - 1) / 2.0**max_grade
        total += still_looking * satisfied / rank
        still_looking *= 1 - satisfied
    return total


TWINS: dict[str, Twin] = {
    twin.__name__: twin
    for twin in (
        num_ret,
        num_rel,
        num_rel_ret,
        num_nonrel_judged_ret,
        set_precision,
        set_recall,
        set_relative_precision,
        set_ap,
        set_f,
        utility,
        precision_at,
        recall_at,
        success_at,
        relative_precision_at,
        reciprocal_rank,
        average_precision,
        yaap,
        r_precision,
        interpolated_at,
        interpolated_mean,
        binary_g,
        bpref,
        inferred_ap,
        judged_at,
        unjudged_at,
        grade_at,
        dcg,
        ideal_dcg,
        ndcg,
        ndcg_rel,
        rndcg,
        normalized_g,
        rbp,
        rbp_graded,
        rbp_residual,
        err,
    )
}
