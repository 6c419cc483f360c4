"""The studentised range distribution, by quadrature, for many values at once."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from cranfield.stats._resample import Floats

# Gauss-Legendre nodes: over the normal variable, and over the spread that divides the range.
_INNER, _OUTER, _OUTER_FEW = 192, 96, 400
_REACH = 8.5
_AT_ONCE = 4096
# So many values, or more, are read off a polynomial (every two of 180 runs are 16,110 values).
# It is within 1e-11 where the degrees of freedom are many; beyond the end nothing is left.
_MANY, _KNOWN, _END, _DEGREE = 1024, 200, 30.0, 400


@lru_cache(maxsize=8)
def _gauss(count: int) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss-Legendre quadrature, which take long to find."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return nodes, weights


def studentized_range_sf(q: Floats, runs: int, df: float) -> Floats:
    """The chance that the range of `runs` standard normals, over an independent estimate of
    their standard deviation with `df` degrees of freedom (may be infinite), is at least q.

    >>> float(studentized_range_sf([3.578], 3, 20)[0].round(4))
    0.05
    """
    values = np.atleast_1d(np.asarray(q, dtype=np.float64))
    if values.size >= _MANY and df >= _KNOWN and not np.isnan(values).any():
        return _interpolated(values, runs, df)
    return _integrated(values, runs, df)


def _interpolated(values: Floats, runs: int, df: float) -> Floats:
    ends = [0.0, min(max(float(values.max()), 1.0), _END)]
    curve = np.polynomial.Chebyshev.interpolate(
        lambda x: _integrated(x, runs, df), _DEGREE, domain=ends
    )
    found = np.asarray(curve(np.minimum(values, ends[1])), dtype=np.float64)
    # The polynomial wavers by its last digits; equal runs have p = 1 to the last one.
    found = np.where(values > _END, 0.0, np.where(values == 0, 1.0, found))
    return np.clip(found, 0.0, 1.0)


def _integrated(values: Floats, runs: int, df: float) -> Floats:
    if math.isinf(df):
        scales, weights = np.ones(1), np.ones(1)
    else:
        scales, weights = _scale_nodes(df)
    answer = np.empty(values.size)
    step = max(1, _AT_ONCE // scales.size)
    for start in range(0, values.size, step):
        part = np.minimum(values[start : start + step], 1e6)
        widths = part[:, None] * scales
        answer[start : start + step] = (_range_sf(widths, runs) * weights).sum(axis=1)
    return np.clip(answer, 0.0, 1.0)


def _range_sf(widths: Floats, runs: int) -> Floats:
    """P(range of standard normals >= width): 1 less k times the chance that all others lie
    within `width` above the smallest."""
    from cranfield.stats._special import ndtr

    nodes, weights = _gauss(_INNER)
    z = _REACH * nodes
    density = _REACH * weights * np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * runs
    inside = ndtr(widths[..., None] + z) - ndtr(z)
    covered = (inside ** (runs - 1)) @ density
    sf: Floats = np.maximum(1.0 - covered, 0.0)
    return sf


def _scale_nodes(df: float) -> tuple[Floats, Floats]:
    """Nodes and weights that average over the estimated spread sqrt(chi2 / df)."""
    from cranfield.stats._special import gammainccinv, gammaincinv, gammaln

    low = math.sqrt(2 * float(gammaincinv(df / 2, 1e-17)) / df)
    high = math.sqrt(2 * float(gammainccinv(df / 2, 1e-17)) / df)
    # With few degrees of freedom all that happens, happens near zero: nodes crowd there.
    few = df < 8
    power = 3 if few else 1
    nodes, weights = _gauss(_OUTER_FEW if few else _OUTER)
    unit = (nodes + 1) / 2
    s = low + (high - low) * unit**power
    ds = (high - low) * power * unit ** (power - 1) * weights / 2
    log_density = (
        math.log(2)
        + (df / 2) * math.log(df / 2)
        - gammaln(df / 2)
        + (df - 1) * np.log(s)
        - df * s * s / 2
    )
    mass = np.exp(log_density) * ds
    return s, mass / mass.sum()
