"""Corrections of p-values for many comparisons: Bonferroni, Holm, Benjamini-Hochberg."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cranfield.errors import UsageError, suggest
from cranfield.stats._resample import Floats, Ints
from cranfield.stats.choices import Correction
from cranfield.validation import validate_params


@validate_params
def correct(p: Floats, method: Correction = "holm") -> Floats:
    """Adjusted p-values in the order given; none is above 1.

    Holm and Bonferroni bound the chance of a single false claim, "bh" (Benjamini-Hochberg)
    the expected share of false claims.

    >>> correct([0.01, 0.04, 0.03], "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    if method not in CORRECTIONS:
        names = ", ".join(CORRECTIONS)
        raise UsageError(f"no correction {method!r} (there are: {names}).{suggest(method, names)}")
    values = np.asarray(p, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise UsageError("p-values must be a list of numbers from 0 to 1")
    # Rounding must not make a corrected p-value the smaller one.
    return np.maximum(CORRECTIONS[method](values), values)


def _none(p: Floats) -> Floats:
    return p.copy()


def _bonferroni(p: Floats) -> Floats:
    return np.minimum(p * p.size, 1.0)


def _holm(p: Floats) -> Floats:
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return _restore(np.minimum(raised, 1.0), order)


def _benjamini_hochberg(p: Floats) -> Floats:
    order = np.argsort(p, kind="stable")
    raised = p[order] * p.size / np.arange(1, p.size + 1)
    monotone = np.minimum.accumulate(raised[::-1])[::-1]
    return _restore(np.minimum(monotone, 1.0), order)


def _restore(ordered: Floats, order: Ints) -> Floats:
    restored = np.empty_like(ordered)
    restored[order] = ordered
    return restored


CORRECTIONS: dict[str, Callable[[Floats], Floats]] = {
    "holm": _holm,
    "bonferroni": _bonferroni,
    "bh": _benjamini_hochberg,
    "none": _none,
}
