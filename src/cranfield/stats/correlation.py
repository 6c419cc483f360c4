"""How alike two rankings are: Kendall, Spearman, Pearson, Kolmogorov-Smirnov, AP correlation
and rank-biased overlap.

All but the last take two lists of scores of the same objects. A correlation with a list that
is the same throughout, or of fewer than two objects, does not exist and is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from cranfield.errors import UsageError
from cranfield.stats._resample import Floats
from cranfield.validation import validate_params


@dataclass(frozen=True, slots=True)
class Correlation:
    """A coefficient, the p-value of its test, and on how many objects it rests.

    `name` says which coefficient it is: "tau" without ties, "tau-b" with them.
    """

    name: str
    value: float
    p: float
    n: int


@validate_params
def kendall(x: Floats, y: Floats) -> Correlation:
    """Kendall's tau (Nowak eq. 4.3), corrected for ties (tau-b) when there are any.

    The null hypothesis is that the rankings are unrelated.

    >>> round(kendall([1, 2, 3, 4], [1, 2, 4, 3]).value, 4)
    0.6667
    """
    from scipy.stats import kendalltau

    a, b = _two_lists(x, y)
    name = "tau-b" if _has_ties(a) or _has_ties(b) else "tau"
    return _tested(name, kendalltau, a, b)


@validate_params
def spearman(x: Floats, y: Floats) -> Correlation:
    """Spearman's rho, the correlation of ranks (Nowak eq. 4.5)."""
    from scipy.stats import spearmanr

    return _tested("rho", spearmanr, *_two_lists(x, y))


@validate_params
def pearson(x: Floats, y: Floats) -> Correlation:
    """Pearson's r, the linear correlation of the scores themselves (Nowak eq. 4.6)."""
    from scipy.stats import pearsonr

    a, b = _two_lists(x, y)
    return _tested("r", pearsonr, _within_squares(a), _within_squares(b))


def _within_squares(values: Floats) -> Floats:
    """Numbers whose squares and sums can be held; a power of two takes no digit away."""
    largest = float(np.abs(values).max(initial=0.0))
    return values * 2.0**-600 if largest > 2.0**480 else values


@validate_params
def kolmogorov_smirnov(x: Floats, y: Floats) -> Correlation:
    """The Kolmogorov-Smirnov distance of two rankings (Nowak eq. 4.4, after Melucci 2007).

    F(i) is the share of objects that do not follow i; the distance is the largest gap between
    the two, 0 for equal rankings. The null hypothesis is that the rankings agree, so a small p
    speaks for discordance: the opposite of Kendall's test.
    """
    from scipy.stats import kstwo, rankdata

    a, b = _two_lists(x, y)
    if a.size == 0:
        return Correlation("D", math.nan, math.nan, 0)
    gaps = np.abs(rankdata(-a, method="max") - rankdata(-b, method="max"))
    distance = float(gaps.max()) / a.size
    return Correlation("D", distance, float(kstwo.sf(distance, a.size)), a.size)


# Kolmogorov-Smirnov: below this p-value two rankings are called discordant.
DISCORDANT = 0.05
# Of fewer objects too many unrelated rankings would pass for concordant (of 5: 26 %, of 8: 5 %).
LEAST_FOR_A_VERDICT = 12


def concordant(p: float, objects: int) -> bool | None:
    """The verdict of Kolmogorov-Smirnov's test on two rankings; None where it can have none.

    >>> concordant(0.4, 20), concordant(0.4, 5)
    (True, None)
    """
    if math.isnan(p) or objects < LEAST_FOR_A_VERDICT:
        return None
    return p >= DISCORDANT


@validate_params
def ap_correlation(truth: Floats, estimate: Floats) -> Correlation:
    """Average precision correlation of Yilmaz, Aslam and Robertson: errors at the top weigh more.

    It is not symmetric: `truth` is the ranking to be reproduced. Where scores are tied the
    value is the expectation over a random order of the tied objects.

    >>> ap_correlation([4, 3, 2, 1], [4, 3, 1, 2]).value
    0.7777777777777777
    """
    a, b = _two_lists(truth, estimate)
    n = a.size
    if n < 2 or (a == a[0]).all() or (b == b[0]).all():
        return Correlation("tau_ap", math.nan, math.nan, n)
    order = np.argsort(-b, kind="stable")
    a, b = a[order], b[order]
    total, start = 0.0, 0
    while start < n:
        stop = start + int(np.searchsorted(-b[start:], -b[start], side="right"))
        above, tied = a[:start, None], a[None, start:stop]
        concordant_pairs = (above > tied).sum() + 0.5 * (above == tied).sum()
        for j in range(stop - start):
            if start + j:
                total += (concordant_pairs / (stop - start) + 0.5 * j) / (start + j)
        start = stop
    return Correlation("tau_ap", float(2 * total / (n - 1) - 1), math.nan, n)


@validate_params
def rank_biased_overlap(
    first: str | Sequence[Hashable], second: str | Sequence[Hashable], *, p: float = 0.9
) -> float:
    """Rank-biased overlap of two lists of objects, best first (Webber, Moffat, Zobel 2010).

    The lists may be of different length and hold different objects; the value is extrapolated
    beyond them (their equation 32).

    >>> rank_biased_overlap("abc", "abc")
    1.0
    """
    if not 0 < p < 1:
        raise UsageError(f"p={p!r} must lie between 0 and 1")
    for ranking in (first, second):
        if not all(isinstance(entry, Hashable) for entry in ranking):
            raise UsageError("an object of a ranking cannot be compared with others")
        if len(set(ranking)) != len(ranking):
            raise UsageError("an object stands in a ranking twice")
    short, long = sorted((first, second), key=len)
    s, k = len(short), len(long)
    if s == 0:
        return 1.0 if k == 0 else 0.0
    overlap = _overlaps(short, long)
    at_short, at_long = overlap[s - 1], overlap[k - 1]
    total = sum(overlap[d - 1] / d * p**d for d in range(1, k + 1))
    total += sum(at_short * (d - s) / (s * d) * p**d for d in range(s + 1, k + 1))
    tail = ((at_long - at_short) / k + at_short / s) * p**k
    return float(min((1 - p) / p * total + tail, 1.0))


@validate_params
def overlap_of_scores(x: Floats, y: Floats, *, p: float = 0.9) -> float:
    """Rank-biased overlap of the rankings that two lists of scores give to the same objects.

    Objects of equal score all stand at the first of their ranks, as Webber, Moffat and Zobel
    propose; the agreement at a depth is then that of two sets of unequal size.

    >>> round(overlap_of_scores([3, 2, 2, 1], [9, 5, 5, 4]), 12)
    1.0
    """
    from scipy.stats import rankdata

    a, b = _two_lists(x, y)
    if not 0 < p < 1:
        raise UsageError(f"p={p!r} must lie between 0 and 1")
    n = a.size
    if n == 0:
        return math.nan
    first, second = rankdata(-a, method="min"), rankdata(-b, method="min")
    depths = np.arange(1, n + 1)[:, None]
    ours, theirs = first <= depths, second <= depths
    agreement = 2 * (ours & theirs).sum(axis=1) / (ours.sum(axis=1) + theirs.sum(axis=1))
    # All objects are in both lists: beyond them the agreement stays at 1.
    return float(min((1 - p) / p * (agreement * p ** depths[:, 0]).sum() + p**n, 1.0))


def _overlaps(short: Sequence[Hashable], long: Sequence[Hashable]) -> list[int]:
    """How many objects the two lists share down to each depth."""
    seen_short: set[Hashable] = set()
    seen_long: set[Hashable] = set()
    shared, counts = 0, []
    for depth, item in enumerate(long):
        seen_long.add(item)
        shared += item in seen_short
        if depth < len(short):
            seen_short.add(short[depth])
            shared += short[depth] in seen_long
        counts.append(shared)
    return counts


def _two_lists(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise UsageError(f"two lists of the same length are needed, not {a.shape} and {b.shape}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise UsageError("a correlation needs finite numbers; take out the objects without a score")
    return a, b


def _has_ties(values: Floats) -> bool:
    return np.unique(values).size < values.size


def _tested(
    name: str, function: Callable[[Floats, Floats], tuple[float, float]], a: Floats, b: Floats
) -> Correlation:
    if a.size < 2 or (a == a[0]).all() or (b == b[0]).all():
        return Correlation(name, math.nan, math.nan, a.size)
    value, p = function(a, b)
    return Correlation(name, float(value), float(p), a.size)
