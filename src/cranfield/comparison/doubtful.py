"""Comparisons under a truth with probabilities: what it adds to every interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cranfield.comparison.answer import Pairs, Standing
from cranfield.errors import UsageError
from cranfield.evaluation.scores import Scores
from cranfield.evaluation.truth_uncertainty import Doubt
from cranfield.stats._resample import Floats
from cranfield.stats.intervals import clipped


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
    ends = np.quantile(sample, [alpha / 2, 1 - alpha / 2]) if len(sample) else (value, value)
    low, high = (float(end) for end in ends)
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
