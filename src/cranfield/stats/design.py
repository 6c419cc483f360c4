"""How units were sampled: clusters, strata and inclusion probabilities.

Tests and intervals elsewhere draw columns as if each had been sampled by itself. A design turns the
values of units into parts of which that holds: one per cluster (a unit without a cluster is its
own), whose mean is the estimate and whose spread over clusters is the one that the design gives it.
What is a resampling of topics without a design is one of clusters with it; differences between
strata, which no new sample would change, are taken out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cranfield.data.collection import Design
from cranfield.errors import UsageError, suggest
from cranfield.stats._resample import Floats, Ints


@dataclass(frozen=True, slots=True)
class UnitDesign:
    """The cluster of every unit, the stratum of every cluster, and the weight of every unit."""

    clusters: Ints
    strata: Ints
    weights: Floats

    @property
    def count(self) -> int:
        """How many clusters there are."""
        return len(self.strata)

    @property
    def is_weighted(self) -> bool:
        """Whether some units were likelier to be chosen than others."""
        return bool(np.ptp(self.weights) > 0)

    @property
    def has_clusters(self) -> bool:
        """Whether any cluster has more than one unit."""
        return self.count < len(self.clusters)

    def at(self, units: np.ndarray) -> UnitDesign:
        """The design of some of the units."""
        kept, clusters = np.unique(self.clusters[units], return_inverse=True)
        return UnitDesign(clusters, self.strata[kept], self.weights[units])

    def single_strata(self) -> int:
        """How many strata have one cluster only, of which no spread can be seen."""
        sizes = np.bincount(self.strata)
        return int((sizes == 1).sum()) if (sizes > 0).sum() > 1 else 0

    def parts(self, values: Floats) -> Floats:
        """A column per cluster, from values without gaps: what each adds to the estimate.

        The mean of a row is the weighted mean of its values. A stratum of one cluster is compared
        with all others.

        >>> halves = UnitDesign(np.array([0, 0, 1]), np.array([0, 0]), np.ones(3))
        >>> halves.parts(np.array([[1.0, 0.0, 0.5]]))
        array([[0.5, 0.5]])
        """
        total = float(self.weights.sum())
        estimate = values @ self.weights / total
        away = (values - estimate[:, None]) * self.weights / total
        sums = np.zeros((len(values), self.count))
        np.add.at(sums.T, self.clusters, away.T)
        parts: Floats = estimate[:, None] + self.count * self._within_strata(sums)
        return parts

    def _within_strata(self, sums: Floats) -> Floats:
        sizes = np.bincount(self.strata)
        if len(sizes) < 2 or self.count < 2:
            return sums
        totals = np.zeros((len(sums), len(sizes)))
        np.add.at(totals.T, self.strata, sums.T)
        several = sizes > 1
        means = np.where(several, totals / np.maximum(sizes, 1), 0.0)
        # What one mean per stratum takes from the spread, relative to one mean of all.
        wider = np.where(several, sizes / np.maximum(sizes - 1, 1), 1.0) * (self.count - 1)
        centred = sums - means[:, self.strata]
        scaled = centred * np.sqrt(wider / self.count)[self.strata]
        within: Floats = scaled - scaled.mean(axis=1, keepdims=True)
        return within


def unit_design(design: Design, names: Sequence[str], unit: str) -> UnitDesign:
    """The design of some units in their order; a UsageError where one is not in it."""
    position = {name: i for i, name in enumerate(design.units)}
    for name in names:
        if name not in position:
            raise UsageError(
                f"{design.source} has no {unit} {name!r}.{suggest(name, design.units)} "
                f"A design names every {unit} that is compared"
            )
    at = [position[name] for name in names]
    # A unit without a cluster is one by itself, whatever others are called.
    clusters = [(design.clusters[i], "" if design.clusters[i] else design.units[i]) for i in at]
    codes = {cluster: code for code, cluster in enumerate(dict.fromkeys(clusters))}
    stratum_of: dict[tuple[str, str], str] = {}
    for cluster, i in zip(clusters, at, strict=True):
        first = stratum_of.setdefault(cluster, design.strata[i])
        if first != design.strata[i]:
            raise UsageError(
                f"{design.source}: the cluster {cluster[0]!r} is in two strata, {first!r} and "
                f"{design.strata[i]!r}"
            )
    strata = {name: code for code, name in enumerate(dict.fromkeys(stratum_of.values()))}
    return UnitDesign(
        np.array([codes[cluster] for cluster in clusters], dtype=np.int64),
        np.array([strata[stratum_of[cluster]] for cluster in codes], dtype=np.int64),
        1.0 / np.array([design.probabilities[i] for i in at]),
    )


def cluster_correlation(values: Floats, clusters: Ints) -> float:
    """The correlation of two values of one cluster, by the analysis of variance; NaN without
    clusters of several values.

    >>> round(cluster_correlation(np.array([1.0, 1.0, 0.0, 0.0]), np.array([0, 0, 1, 1])), 3)
    1.0
    """
    sizes = np.bincount(clusters)
    groups, n = len(sizes), len(values)
    if groups < 2 or groups == n:
        return float("nan")
    means = np.bincount(clusters, weights=values) / sizes
    between = float((sizes * (means - values.mean()) ** 2).sum()) / (groups - 1)
    within = float(((values - means[clusters]) ** 2).sum()) / (n - groups)
    size = (n - float((sizes**2).sum()) / n) / (groups - 1)
    spread = between + (size - 1) * within
    return (between - within) / spread if spread > 0 else float("nan")
