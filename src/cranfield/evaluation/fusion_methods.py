"""Ways to make one ranking of several: declarations, and how scores are made comparable.

A method sees one topic: a row of scores for each run over the items that any of them has, with
NaN where a run does not have the item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield.registry import Declared, Param, Registry
from cranfield.sources import Source

Floats = NDArray[np.float64]
# Sums of squares of larger numbers might be infinite; these are brought down exactly.
_SQUARED_AT_MOST, _SMALLER = 1e140, 2.0**-600


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FusionMethod(Declared):
    """How runs are fused: `level(scores, method)` makes the scores of runs comparable, `join`
    turns them and the weights of the runs into one score an item."""

    noun: ClassVar[str] = "fusion method"
    catalogue: ClassVar[str] = "cranfield fuse --help"

    level: Callable[[Floats, FusionMethod], Floats] = field(repr=False)
    join: Callable[[Floats, Floats], Floats] = field(repr=False)
    missing: str = "adds nothing"

    def __reduce__(self) -> tuple[Any, ...]:
        return fusion_method, (str(self),)

    def __saved__(self) -> str:
        """How a saved answer names the method."""
        return str(self)

    @classmethod
    def __restored__(cls, name: str) -> FusionMethod:
        return METHODS.find(name)


def _as_they_are(scores: Floats, _: FusionMethod) -> Floats:
    return _finite(scores)


def _from_zero_to_one(scores: Floats, _: FusionMethod) -> Floats:
    """From the lowest to the highest score of the run; one score for all items is 1."""
    scores = _manageable(scores)
    low, high = _lowest(scores), np.nanmax(_filled(scores, -np.inf), axis=1, keepdims=True)
    spread = high - low
    return np.asarray(np.where(np.isnan(scores), np.nan, _ratio(scores - low, spread, same=1.0)))


def _standard(scores: Floats, _: FusionMethod) -> Floats:
    """Deviations from the mean; a run that lacks an item counts as its lowest score."""
    scores = _manageable(scores)
    known = ~np.isnan(scores)
    count = np.maximum(known.sum(axis=1, keepdims=True), 1)
    mean = np.where(known, scores, 0.0).sum(axis=1, keepdims=True) / count
    away = np.where(known, scores - mean, 0.0)
    deviation = np.sqrt((away**2).sum(axis=1, keepdims=True) / count)
    standard = _ratio(scores - mean, deviation, same=0.0)
    lowest = np.where(known.any(axis=1, keepdims=True), _lowest(standard), 0.0)
    return np.asarray(np.where(known, standard, lowest))


def _reciprocal(scores: Floats, method: FusionMethod) -> Floats:
    return np.asarray(1.0 / (method.value_of("k") + _ranks(scores)))


def _borda(scores: Floats, _: FusionMethod) -> Floats:
    """A point for each item that stands behind; those that a run lacks share what is left."""
    items = scores.shape[1]
    points = items - _ranks(scores)
    lacking = np.isnan(points)
    rest = np.maximum(lacking.sum(axis=1, keepdims=True) - 1, 0) / 2
    present = (~lacking).any(axis=1, keepdims=True)
    return np.asarray(np.where(lacking & present, rest, points))


def _finite(scores: Floats) -> Floats:
    """Scores of which the infinite ones are the largest numbers there are."""
    largest = np.finfo(np.float64).max
    return np.asarray(np.clip(scores, -largest, largest))


def _manageable(scores: Floats) -> Floats:
    """Finite scores whose squares are finite, too: a run of large ones by a power of two."""
    finite = _finite(scores)
    large = np.nanmax(np.abs(_filled(finite, 0.0)), axis=1, keepdims=True) > _SQUARED_AT_MOST
    return np.asarray(np.where(large, finite * _SMALLER, finite))


def _filled(scores: Floats, value: float) -> Floats:
    return np.asarray(np.where(np.isnan(scores), value, scores))


def _lowest(scores: Floats) -> Floats:
    return np.asarray(_filled(scores, np.inf).min(axis=1, keepdims=True))


def _ratio(part: Floats, whole: Floats, same: float) -> Floats:
    usable = np.isfinite(whole) & (whole > 0)
    return np.asarray(np.where(usable, part / np.where(usable, whole, 1.0), same))


def _ranks(scores: Floats) -> Floats:
    """Ranks from 1 on; the items are in the order in which ties are broken."""
    order = np.argsort(-_filled(scores, -np.inf), axis=1, kind="stable")
    ranks = np.empty(scores.shape)
    np.put_along_axis(ranks, order, np.arange(1.0, scores.shape[1] + 1)[None, :], axis=1)
    return np.asarray(np.where(np.isnan(scores), np.nan, ranks))


def _weighted(scores: Floats, weights: Floats) -> Floats:
    return np.asarray(scores * weights[:, None])


def _sum(scores: Floats, weights: Floats) -> Floats:
    with np.errstate(over="ignore"):  # beyond the largest number a sum is infinite
        return np.asarray(np.nansum(_weighted(scores, weights), axis=0))


def _count(scores: Floats, weights: Floats) -> Floats:
    counted = (~np.isnan(scores)) & (weights[:, None] != 0)
    return np.asarray(counted.sum(axis=0, dtype=np.float64))


def _sum_times_count(scores: Floats, weights: Floats) -> Floats:
    return _sum(scores, weights) * _count(scores, weights)


def _mean(scores: Floats, weights: Floats) -> Floats:
    return _sum(scores, weights) / np.maximum(_count(scores, weights), 1)


def _largest(scores: Floats, weights: Floats) -> Floats:
    return np.asarray(_filled(_weighted(scores, weights), 0.0).max(axis=0))


def _smallest(scores: Floats, weights: Floats) -> Floats:
    return np.asarray(_filled(_weighted(scores, weights), 0.0).min(axis=0))


_FOX = Source("fox-shaw-1994")
_SCALED = Source("fox-shaw-1994", deviation="scores are brought to [0, 1] in each run and topic")
_N = r"\frac{s_r(i) - \min_r}{\max_r - \min_r}"


def _declared() -> Iterable[FusionMethod]:
    return (
        FusionMethod(
            name="zsum",
            title="Sum of standard scores",
            formula=r"\sum_r w_r \frac{s_r(i) - \mu_r}{\sigma_r}",
            source=Source("montague-aslam-2001"),
            level=_standard,
            join=_sum,
            missing="as the lowest score of the run",
        ),
        FusionMethod(
            name="combsum",
            title="Sum of scores from 0 to 1",
            formula=rf"\sum_r w_r {_N}",
            source=_SCALED,
            level=_from_zero_to_one,
            join=_sum,
        ),
        FusionMethod(
            name="combmnz",
            title="Sum of scores from 0 to 1, times the number of runs that have the item",
            formula=rf"|\{{r : i \in r\}}| \sum_r w_r {_N}",
            source=_SCALED,
            level=_from_zero_to_one,
            join=_sum_times_count,
        ),
        FusionMethod(
            name="combanz",
            title="Mean score from 0 to 1 of the runs that have the item",
            formula=rf"\frac{{1}}{{|\{{r : i \in r\}}|}} \sum_r w_r {_N}",
            source=_SCALED,
            level=_from_zero_to_one,
            join=_mean,
        ),
        FusionMethod(
            name="combmax",
            title="Largest score from 0 to 1",
            formula=rf"\max_r w_r {_N}",
            source=_SCALED,
            level=_from_zero_to_one,
            join=_largest,
        ),
        FusionMethod(
            name="combmin",
            title="Smallest score from 0 to 1",
            formula=rf"\min_r w_r {_N}",
            source=_SCALED,
            level=_from_zero_to_one,
            join=_smallest,
            missing="counts 0",
        ),
        FusionMethod(
            name="sum",
            title="Sum of the scores as they are",
            formula=r"\sum_r w_r s_r(i)",
            source=_FOX,
            level=_as_they_are,
            join=_sum,
        ),
        FusionMethod(
            name="rrf",
            title="Reciprocal rank fusion",
            formula=r"\sum_r \frac{w_r}{k + \mathrm{rank}_r(i)}",
            source=Source("cormack-2009"),
            params=MappingProxyType(
                {"k": Param(float, 60, "how much the first ranks are held back", low=0.0)}
            ),
            level=_reciprocal,
            join=_sum,
        ),
        FusionMethod(
            name="borda",
            title="Borda count",
            formula=r"\sum_r w_r (n - \mathrm{rank}_r(i))",
            source=Source("aslam-montague-2001"),
            level=_borda,
            join=_sum,
            missing="the mean of the points that are left",
        ),
    )


METHODS: Registry[FusionMethod] = Registry(
    FusionMethod, _declared, {"minmax": "combsum", "zscore": "zsum", "mnz": "combmnz"}
)


def fusion_method(name: str) -> FusionMethod:
    """The fusion method that a name such as `rrf(k=10)` stands for."""
    return METHODS.find(name)


def fused_scores(scores: Floats, weights: Floats, method: FusionMethod) -> Floats:
    """One score an item, from a row of scores for each run.

    >>> scores = np.array([[2.0, 1.0, np.nan], [np.nan, 5.0, 9.0]])
    >>> fused_scores(scores, np.ones(2), METHODS.find("combsum")).tolist()
    [1.0, 0.0, 1.0]
    """
    return method.join(method.level(scores, method), weights)
