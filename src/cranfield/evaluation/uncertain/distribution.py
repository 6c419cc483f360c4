"""Distributions over few values, and the exact sum of independent chances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import UsageError
from cranfield.validation import as_array

Floats = NDArray[np.float64]

# Up to this length polynomials are multiplied many at a time, above it pair by pair.
_BATCHED = 64
# Above this length of the shorter factor, products go through the Fourier transform.
_DIRECT = 8192


@dataclass(frozen=True)
class Distribution:
    """Values in increasing order and the probability of each."""

    values: Floats
    mass: Floats

    @property
    def mean(self) -> float:
        return float(self.values @ self.mass)

    @property
    def variance(self) -> float:
        return float((self.values - self.mean) ** 2 @ self.mass)

    @property
    def sd(self) -> float:
        return float(np.sqrt(self.variance))

    def quantile(self, q: float) -> float:
        """The smallest value that is not exceeded with probability q or more."""
        # The sum may end an ulp below 1.
        at = int(np.searchsorted(np.cumsum(self.mass), q - 1e-12))
        return float(self.values[min(at, len(self.values) - 1)])


def mixture(parts: Iterable[tuple[float, Distribution]]) -> Distribution:
    """The distribution that is `part` with probability `weight`; weights sum to 1."""
    chosen = [(w, d) for w, d in parts if w > 0]
    values = np.concatenate([d.values for _, d in chosen])
    mass = np.concatenate([w * d.mass for w, d in chosen])
    merged, inverse = np.unique(values, return_inverse=True)
    summed: Floats = np.bincount(inverse, weights=mass, minlength=len(merged)).astype(np.float64)
    return Distribution(merged, summed)


def poisson_binomial(chances: Sequence[float] | Floats) -> Floats:
    """The probability of each number of successes in independent trials.

    The product of the polynomials (1-p) + p x by halves. All terms are positive, so every
    probability keeps its relative precision, however small it is.

    >>> poisson_binomial([0.5, 0.5]).tolist()
    [0.25, 0.5, 0.25]
    """
    p: Floats = as_array("chances", chances, ndim=1)
    if p.size and not (p.min() >= 0 and p.max() <= 1):
        raise UsageError("chances lie in [0, 1]")
    certain = int((p == 1).sum())
    open_ = p[(p > 0) & (p < 1)]
    factors = np.stack([1 - open_, open_], axis=1)
    while len(factors) > 1 and factors.shape[1] <= _BATCHED:
        if len(factors) % 2:
            one = np.zeros((1, factors.shape[1]))
            one[0, 0] = 1.0
            factors = np.concatenate([factors, one])
        factors = _multiply_pairs(factors[0::2], factors[1::2])
    product = product_of(list(factors)) if len(factors) else np.ones(1)
    mass = np.zeros(len(p) + 1)
    mass[certain : certain + len(open_) + 1] = product[: len(open_) + 1]
    return mass


def product_of(polynomials: list[Floats]) -> Floats:
    """The product of polynomials with coefficients that are probabilities."""
    while len(polynomials) > 1:
        paired = [
            convolve(polynomials[i], polynomials[i + 1]) for i in range(0, len(polynomials) - 1, 2)
        ]
        polynomials = paired + polynomials[2 * len(paired) :]
    return polynomials[0]


def convolve(a: Floats, b: Floats) -> Floats:
    """The distribution of the sum of two independent whole numbers."""
    if min(len(a), len(b)) <= _DIRECT:
        return np.convolve(a, b)
    from scipy.signal import fftconvolve

    result: Floats = np.maximum(fftconvolve(a, b), 0.0)
    return result


def _multiply_pairs(a: Floats, b: Floats) -> Floats:
    width = a.shape[1]
    product = np.zeros((len(a), 2 * width - 1))
    for i in range(width):
        product[:, i : i + width] += a[:, i : i + 1] * b
    return product
