"""Generated scores of runs of known quality, for the checks of the statistics."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


def ap_like(
    rng: np.random.Generator, *shape: int, quality: float | Array = 0.0, noise: float = 0.6
) -> Array:
    """Scores in (0, 1) such as AP: (..., runs, topics), hard and easy topics, equal runs.

    `quality` is added to the runs before their values are pressed into (0, 1).
    """
    topics = rng.normal(-1.0, 1.2, (*shape[:-2], 1, shape[-1]))
    own = rng.normal(0.0, noise, shape)
    return 1 / (1 + np.exp(-(topics + own + quality)))


def first_better(rng: np.random.Generator, trials: int, topics: int, shift: float) -> Array:
    """Trials of two runs, of which the first is better by `shift` standard deviations."""
    quality = np.array([[shift * 0.6 * np.sqrt(2)], [0.0]])
    return ap_like(rng, trials, 2, topics, quality=quality)


def campaign(rng: np.random.Generator, runs: int, topics: int = 50) -> Array:
    """A campaign of runs that differ as much as those of one campaign do."""
    return ap_like(rng, runs, topics, quality=rng.normal(0, 0.5, (runs, 1)))


def ranked_campaign(rng: np.random.Generator, runs: int, topics: int = 50) -> Array:
    """AP of rankings: 8 relevant among 48 items, which weaker runs score nearer to the others."""
    found = np.empty((runs, topics))
    for k in range(runs):
        relevant = rng.normal(1.0, 0.3, (topics, 8))
        others = rng.normal(0.45 * k / runs, 0.5, (topics, 40))
        order = np.argsort(-np.concatenate([relevant, others], axis=1), axis=1)
        hits = (order < 8).astype(np.float64)
        precision = hits.cumsum(axis=1) / np.arange(1, 49)
        found[k] = (precision * hits).sum(axis=1) / 8
    return found


def with_erratic(rng: np.random.Generator, runs: int, topics: int) -> Array:
    """Equal runs, the first of which is on each topic far off in either direction."""
    values = ap_like(rng, runs, topics)
    values[0] = values.mean(axis=0) + rng.normal(0, 0.4, topics)
    return values


def skewed(rng: np.random.Generator, *shape: int) -> Array:
    """Differences of mean 0 of which a few are large and all of those of one sign."""
    return rng.lognormal(0.0, 1.0, shape) - np.exp(0.5)


def coarse(rng: np.random.Generator, trials: int, topics: int, up: float, down: float) -> Array:
    """Differences of a measure such as P@1: 1 and -1 with these chances, else 0."""
    drawn = rng.random((trials, topics))
    return (drawn < up).astype(np.float64) - (drawn > 1 - down)
