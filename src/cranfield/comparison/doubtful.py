"""Comparisons under a truth with probabilities: what it adds to every interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cranfield.comparison.answer import Pairs, Standing
from cranfield.comparison.significance import PairedSample, TestResults
from cranfield.errors import UsageError
from cranfield.evaluation.scores import Scores
from cranfield.evaluation.truth_uncertainty import Doubt, sample_ends
from cranfield.stats._resample import Floats
from cranfield.stats._special import ndtr, ndtri
from cranfield.stats.intervals import clipped


def doubtful_tests(sample: PairedSample, tests: TestResults) -> TestResults:
    """The tests with what the truth leaves open in their p-values.

    A p-value says how many standard errors by the units a difference is from none; the deviation
    by the truth is added to that error as independent ones add up. No p-value becomes smaller.
    """
    doubt, sides = _of(sample.scores), 1 if sample.plan.tail == "one" else 2
    first, second = sample.pairs.T
    drawn = doubt.means[sample.measure]
    gaps = drawn[first] - drawn[second]
    defined = ~np.isnan(gaps)
    count = np.maximum(defined.sum(axis=1), 1)
    centre = np.where(defined, gaps, 0.0).sum(axis=1) / count
    away = np.where(defined, gaps - centre[:, None], 0.0)
    by_truth = np.sqrt((away**2).sum(axis=1) / count)
    overall = sample.scores.overall[sample.measure]
    difference = np.abs(overall[first] - overall[second])

    def raised(p: Floats) -> Floats:
        distance = np.maximum(ndtri(1 - np.minimum(p, 1.0) / sides), 0.0)
        error = np.divide(difference, distance, out=np.zeros_like(difference), where=distance > 0)
        total = np.hypot(error, by_truth)
        ratio = np.divide(difference, total, out=np.zeros_like(difference), where=total > 0)
        return np.where(by_truth > 0, np.maximum(p, sides * ndtr(-ratio)), p)

    return replace(tests, p=raised(tests.p), corrected=raised(tests.corrected))


def doubtful_standings(
    scores: Scores, board: Sequence[Standing], alpha: float
) -> Iterator[Standing]:
    """The standings with what the truth leaves open."""
    doubt, by_name = _of(scores), {str(m): m for m in scores.measures}
    for s in board:
        sample = doubt.means[by_name[s.measure]][scores.runs.index(s.run)]
        truth, combined = ends_of(s.mean, sample, s.ci, alpha)
        yield replace(s, truth_ci=truth, both_ci=clipped(combined, by_name[s.measure].range))


def doubtful_pairs(scores: Scores, pairs: Pairs, alpha: float) -> tuple[Mapping[str, Any], ...]:
    """Every difference with what the truth leaves open, and the probability that a is better."""
    doubt, by_name = _of(scores), {str(m): m for m in scores.measures}
    place = {run: i for i, run in enumerate(scores.runs)}
    rows = []
    for row in pairs.rows():
        m, a, b = by_name[row["measure"]], place[row["a"]], place[row["b"]]
        sample = doubt.gaps(m, a, b)
        truth, combined = ends_of(row["difference"], sample, row["ci"], alpha)
        rows.append(
            {
                "measure": row["measure"],
                "a": row["a"],
                "b": row["b"],
                "difference": row["difference"],
                "by_truth": float(sample.std()) if len(sample) else float("nan"),
                "truth_ci": truth,
                "both_ci": combined,
                "better": doubt.better(m, a, b),
            }
        )
    return tuple(rows)


def ends_of(
    value: float, sample: Floats, ci: tuple[float, float], alpha: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """The interval by the truth, and that of both; distances add up as independent errors do."""
    sample = sample[~np.isnan(sample)]
    levels = (alpha / 2, 1 - alpha / 2)
    low, high = sample_ends(sample, levels) if len(sample) else (value, value)
    low, high = min(low, value), max(high, value)
    combined = (
        value - float(np.hypot(value - ci[0], value - low)),
        value + float(np.hypot(ci[1] - value, high - value)),
    )
    return (low, high), combined


def _of(scores: Scores) -> Doubt:
    if scores.doubt is None:
        raise UsageError("the truth of these scores has no probabilities")
    return scores.doubt
