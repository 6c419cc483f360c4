"""Distances of vectors: declarations, and what is done to rows before the compiled kernels.

>>> import numpy as np
>>> a, b = np.array([[2.0, 0.0, 2.0]]), np.array([[1.0, 1.0, 0.0]])
>>> distances("L1", a, b)
array([[4.]])
>>> distances("L1", a, b, shares=True)
array([[1.]])
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield.errors import UsageError
from cranfield.features._spec import Descriptor, Distance, Floats, Source

_EDGES, _SUB_IMAGES = 5, 16
# The values that the levels of EHD stand for, by kind of edge.
EDGE_VALUES: Floats = np.array(
    [
        [0.010867, 0.057915, 0.099526, 0.144849, 0.195573, 0.260504, 0.358031, 0.530128],
        [0.012266, 0.069934, 0.125879, 0.182307, 0.243396, 0.314563, 0.411728, 0.564319],
        [0.004193, 0.025852, 0.046860, 0.068519, 0.093286, 0.123490, 0.161505, 0.228960],
        [0.004174, 0.025924, 0.046232, 0.067163, 0.089655, 0.115391, 0.151904, 0.217745],
        [0.006778, 0.051667, 0.108650, 0.166257, 0.224226, 0.285691, 0.356375, 0.450972],
    ]
)
# How many coefficients of Y, Cb and Cr a colour layout of some length has.
LAYOUTS = MappingProxyType({12: (6, 3, 3), 33: (21, 6, 6), 192: (64, 64, 64)})


def as_they_are(rows: Floats, _: Floats | None) -> Floats:
    return rows


def _near_one(rows: Floats, _: Floats | None) -> Floats:
    """Rows times powers of two, which change no angle and no digit: squares stay finite."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    return np.asarray(np.ldexp(rows, -np.frexp(largest)[1][:, None]))


def _terms(rows: Floats, _: Floats | None) -> Floats:
    """1 where a row has a term, which is any number but 0."""
    return np.asarray((rows != 0).astype(np.float64))


def divided_by_sum(rows: Floats) -> Floats:
    """Each row divided by its sum; a row of zeros stays."""
    sums = rows.sum(axis=1, keepdims=True)
    return np.asarray(rows / np.where(sums != 0, sums, 1.0))


def _edge_values(rows: Floats) -> Floats:
    """The values behind the levels, by sub-image and kind of edge."""
    levels = np.clip(np.rint(rows), 0, 7).astype(np.intp).reshape(-1, _SUB_IMAGES, _EDGES)
    return EDGE_VALUES[np.arange(_EDGES), levels]


def _edges(rows: Floats, _: Floats | None) -> Floats:
    """80 local, five times 5 global and 65 semi-global values."""
    values = _edge_values(rows).reshape(-1, 4, 4, _EDGES)
    squares = [values[:, y : y + 2, x : x + 2].mean(axis=(1, 2)) for y in (0, 2) for x in (0, 2)]
    parts = [
        values.reshape(len(rows), -1),
        5 * values.mean(axis=(1, 2)),
        values.mean(axis=1).reshape(len(rows), -1),
        values.mean(axis=2).reshape(len(rows), -1),
        *squares,
        values[:, 1:3, 1:3].mean(axis=(1, 2)),
    ]
    return np.concatenate(parts, axis=1)


def _edges_lire(rows: Floats, _: Floats | None) -> Floats:
    weights = np.where(np.arange(rows.shape[1]) < _EDGES, 5.0, 1.0)
    return np.concatenate([_edge_values(rows).reshape(len(rows), -1), weights * rows], axis=1)


def _layout(rows: Floats, _: Floats | None) -> Floats:
    """Each coefficient times the root of its weight."""
    weights = []
    for first, length in zip(
        ((2, 2, 2), (2, 1, 1), (4, 2, 2)), LAYOUTS[rows.shape[1]], strict=True
    ):
        weights += [*first, *[1.0] * (length - len(first))]
    return rows * np.sqrt(weights)


def _tamura_spread(collection: Floats) -> Floats:
    """The standard deviations of coarseness and contrast; 1 where all are alike."""
    spread = collection[:, :2].astype(np.float64).std(axis=0) if len(collection) else np.ones(2)
    return np.where(spread > 0, spread, 1.0)


def _tamura(rows: Floats, spread: Floats | None) -> Floats:
    if spread is None:
        return rows
    return np.concatenate([rows[:, :2] / spread, rows[:, 2:]], axis=1)


_MPEG7 = "mpeg7-visual"
DECLARED = (
    Distance(
        name="Tanimoto",
        title="Tanimoto's coefficient as a distance",
        formula=r"100 - 100 \frac{a \cdot b}{a \cdot a + b \cdot b - a \cdot b}",
        source=Source("chatzichristofis-cedd"),
        kernel="tanimoto",
        prepare=as_they_are,
        divides=True,
        of_shares=True,
        largest=100.0,
        largest_undivided=400 / 3,
        undefined="both empty: 0; one empty: 100",
    ),
    Distance(
        name="L1",
        title="City block distance",
        formula=r"\sum_i |a_i - b_i|",
        source=Source("swain-ballard-1991"),
        kernel="l1",
        prepare=as_they_are,
        divides=True,
        largest=2.0,
    ),
    Distance(
        name="L2",
        title="Euclidean distance",
        formula=r"\sqrt{\sum_i (a_i - b_i)^2}",
        source=Source("swain-ballard-1991"),
        kernel="l2",
        prepare=as_they_are,
        divides=True,
        largest=math.sqrt(2.0),
    ),
    Distance(
        name="cosine",
        title="One minus the cosine of the angle",
        formula=r"1 - \frac{a \cdot b}{\sqrt{(a \cdot a)(b \cdot b)}}",
        source=Source("rocchio-evaluation"),
        kernel="cosine",
        prepare=_near_one,
        largest=2.0,
        largest_undivided=2.0,
        undefined="both empty: 0; one empty: 1",
    ),
    Distance(
        name="chi2",
        title="Chi-square distance",
        formula=r"\sum_i \frac{(a_i - b_i)^2}{a_i + b_i}",
        source=Source("bosch-2007"),
        kernel="chi2",
        negative=False,
        prepare=as_they_are,
        divides=True,
        of_shares=True,
        largest=2.0,
        undefined="places where both are 0 add nothing",
    ),
    Distance(
        name="JSD",
        title="Jensen-Shannon divergence",
        formula=r"\sum_i a_i \ln\frac{2 a_i}{a_i + b_i} + b_i \ln\frac{2 b_i}{a_i + b_i}",
        source=Source("lin-1991"),
        kernel="jsd",
        negative=False,
        prepare=as_they_are,
        divides=True,
        of_shares=True,
        largest=2 * math.log(2.0),
        undefined="terms of 0 are 0",
    ),
    Distance(
        name="relative",
        title="Relative differences",
        formula=r"\sum_i \frac{|a_i - b_i|}{1 + a_i + b_i}",
        source=Source("huang-1997"),
        kernel="relative",
        negative=False,
        prepare=as_they_are,
    ),
    Distance(
        name="overlap",
        title="Terms of the query that are missing",
        formula=r"n(q) - n(q \cap d)",
        source=Source(
            "rocchio-evaluation",
            "section 2C",
            deviation="as a distance; the source's coefficient is n(q ∩ d)",
        ),
        kernel="overlap",
        prepare=_terms,
        of_terms=True,
        undefined="a query without terms: 0",
    ),
    Distance(
        name="inclusion",
        title="Whether a term of the query is missing",
        formula=r"0 \text{ where } q \subseteq d, \text{ else } 1",
        source=Source("rocchio-evaluation", "section 2C"),
        kernel="inclusion",
        prepare=_terms,
        largest_undivided=1.0,
        retrieves_below=1.0,
        undefined="a query without terms: 0",
    ),
    Distance(
        name="EHD",
        title="Distance of edge histograms",
        formula=r"\sum_{80} |a_l - b_l| + 5 \sum_{5} |a_g - b_g| + \sum_{65} |a_s - b_s|",
        source=Source(_MPEG7),
        kernel="l1",
        prepare=_edges,
        lengths=(80,),
    ),
    Distance(
        name="CLD",
        title="Distance of colour layouts",
        formula=r"\sum_{c \in \{Y, Cb, Cr\}} \sqrt{\sum_i w_{ci} (a_{ci} - b_{ci})^2}",
        source=Source(_MPEG7),
        kernel="grouped",
        prepare=_layout,
        groups=lambda length: LAYOUTS[length],
        lengths=tuple(LAYOUTS),
    ),
    Distance(
        name="Tamura",
        title="Distance of Tamura's features",
        formula=r"\frac{|a_1 - b_1|}{\sigma_1} + \frac{|a_2 - b_2|}{\sigma_2} + "
        r"\sum_{i>2} |a_i - b_i|",
        source=Source(
            "tamura-1978", deviation="coarseness and contrast in units of the collection's spread"
        ),
        kernel="l1",
        prepare=_tamura,
        spread=_tamura_spread,
        lengths=(18,),
    ),
    Distance(
        name="EHD.lire",
        title="Distance of edge histograms, as in LIRE",
        formula=r"\sum_{80} |Q(a_i) - Q(b_i)| + 5 \sum_{i \le 5} |a_i - b_i| + "
        r"\sum_{i > 5} |a_i - b_i|",
        source=Source(_MPEG7, deviation="the first sub-image stands in for the global histogram"),
        kernel="l1",
        prepare=_edges_lire,
        lengths=(80,),
    ),
    Distance(
        name="JSD.lire",
        title="Jensen-Shannon divergence of levels",
        formula=r"\sum_i a_i \ln\frac{2 a_i}{a_i + b_i} + b_i \ln\frac{2 b_i}{a_i + b_i}",
        source=Source("lin-1991", deviation="of vectors as they are"),
        kernel="jsd",
        negative=False,
        prepare=as_they_are,
    ),
    Distance(
        name="JSD.half",
        title="Half the Jensen-Shannon divergence of levels",
        formula=r"\sum_i \frac{a_i}{2} \ln\frac{2 a_i}{a_i + b_i} + "
        r"\frac{b_i}{2} \ln\frac{2 b_i}{a_i + b_i}",
        source=Source("lin-1991", deviation="of vectors as they are"),
        kernel="jsd",
        negative=False,
        prepare=lambda rows, _: rows / 2,
    ),
    Distance(
        name="Tamura.lire",
        title="Distance of Tamura's features, as in LIRE",
        formula=r"\sum_{i>2} (a_i - b_i)^2",
        source=Source("tamura-1978", deviation="coarseness and contrast are left out"),
        kernel="squared",
        prepare=lambda rows, _: rows[:, 2:],
        lengths=(18,),
    ),
    Distance(
        name="LBP.lire",
        title="Mean difference",
        formula=r"\frac{1}{n} \sum_i |a_i - b_i|",
        source=Source("ojala-1996"),
        kernel="l1",
        prepare=lambda rows, _: rows / rows.shape[1],
    ),
)


class PreparedDistance:
    """A distance made ready for a collection: rows go in, distances and similarities come out."""

    def __init__(
        self,
        distance: Distance,
        collection: NDArray[Any],
        descriptor: Descriptor | None = None,
        shares: bool | None = None,
    ) -> None:
        if distance.lengths and collection.shape[1] not in distance.lengths:
            lengths = " or ".join(map(str, distance.lengths))
            raise UsageError(
                f"the distance {distance} is of vectors of {lengths} numbers, not of "
                f"{collection.shape[1]}"
            )
        self.distance = distance
        self.check(collection)
        self.divides = distance.divides and _are_shares(distance, collection, descriptor, shares)
        self._spread = None if distance.spread is None else distance.spread(collection)
        length = collection.shape[1]
        self.groups = () if distance.groups is None else distance.groups(length)

    @property
    def as_given(self) -> bool:
        """Whether the kernel takes vectors as they are."""
        return self.distance.prepare is as_they_are and not self.divides

    def check(self, vectors: NDArray[Any]) -> None:
        """A UsageError where the distance is not defined for the vectors."""
        if not self.distance.negative and vectors.size and vectors.min() < 0:
            raise UsageError(
                f"the distance {self.distance} is of vectors without negative numbers; L1, L2 and "
                "cosine are of any"
            )

    def rows(self, vectors: NDArray[Any]) -> Floats:
        """Vectors as the kernel takes them."""
        array = np.ascontiguousarray(vectors, dtype=np.float64)
        if self.divides:
            array = divided_by_sum(array)
        return np.ascontiguousarray(self.distance.prepare(array, self._spread))

    def single_rows(
        self, vectors: NDArray[Any], middle: Floats | None = None
    ) -> NDArray[np.float32]:
        """The same in single precision, less `middle`, for a first look at many."""
        exact = vectors.dtype.itemsize > 4 or self.distance.prepare is not as_they_are
        if not exact and not self.divides:
            array = np.ascontiguousarray(vectors, dtype=np.float32)
            return array if middle is None else array - middle.astype(np.float32)
        if not exact and middle is None:
            array = np.ascontiguousarray(vectors, dtype=np.float32)
            sums = array.sum(axis=1, keepdims=True)
            if np.isfinite(sums).all():
                return np.asarray(np.divide(array, np.where(sums != 0, sums, np.float32(1))))
        rows = self.rows(vectors)
        return (rows if middle is None else rows - middle).astype(np.float32)

    def similarity(self, distance_values: Floats, terms: Floats | None = None) -> Floats:
        """Distances as similarities in [0, 1]; nearer is larger.

        `terms` are the numbers of terms of the queries, a row of distances each, where the
        distance is one of terms.
        """
        if terms is not None:
            shares = (terms[:, None] - distance_values) / np.maximum(terms, 1)[:, None]
            return np.where(terms[:, None] > 0, shares, 1.0)
        limit = self.distance.largest if self.divides else self.distance.largest_undivided
        if math.isinf(limit):
            return 1 / (1 + distance_values)
        return np.clip(1 - distance_values / limit, 0.0, 1.0)

    def between(self, queries: Floats, items: Floats, jobs: int = 1) -> Floats:
        """All distances of rows that were prepared."""
        return _core.pair_distances(self.distance.kernel, queries, items, self.groups, jobs)


def _are_shares(
    distance: Distance, collection: NDArray[Any], descriptor: Descriptor | None, shares: bool | None
) -> bool:
    if shares is not None:
        return shares
    if descriptor is not None:
        return descriptor.shares
    return distance.of_shares and bool(collection.size) and bool(collection.min() >= 0)


def distances(
    name: str | Distance,
    queries: Floats,
    items: Floats,
    *,
    descriptor: Descriptor | None = None,
    shares: bool | None = None,
    jobs: int = 1,
) -> Floats:
    """The distance of every query to every item. What depends on the collection is of `items`."""
    from cranfield.features import DISTANCES

    distance = DISTANCES.find(name) if isinstance(name, str) else name
    prepared = PreparedDistance(distance, np.asarray(items), descriptor, shares)
    prepared.check(np.asarray(queries))
    return prepared.between(prepared.rows(queries), prepared.rows(items), jobs)
