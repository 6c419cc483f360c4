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
    doubt, named = _of(scores), {str(m): m for m in scores.measures}
    for s in board:
        drawn = doubt.means[named[s.measure]][scores.runs.index(s.run)]
        truth, both = ends_of(s.mean, drawn, s.ci, alpha)
        yield replace(s, truth_ci=truth, both_ci=clipped(both, named[s.measure].range))


def doubtful_pairs(scores: Scores, pairs: Pairs, alpha: float) -> tuple[Mapping[str, Any], ...]:
    """Every difference with what the truth leaves open, and the probability that a is better."""
    doubt, named = _of(scores), {str(m): m for m in scores.measures}
    place = {run: i for i, run in enumerate(scores.runs)}
    rows = []
    for row in pairs.rows():
        m, a, b = named[row["measure"]], place[row["a"]], place[row["b"]]
        drawn = doubt.gaps(m, a, b)
        truth, both = ends_of(row["difference"], drawn, row["ci"], alpha)
        rows.append(
            {
                "measure": row["measure"],
                "a": row["a"],
                "b": row["b"],
                "difference": row["difference"],
                "by_truth": float(drawn.std()) if len(drawn) else float("nan"),
                "truth_ci": truth,
                "both_ci": both,
                "better": doubt.better(m, a, b),
            }
        )
    return tuple(rows)


def ends_of(
    value: float, drawn: Floats, ci: tuple[float, float], alpha: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """The interval by the truth, and that of both; distances add up as independent errors do."""
    drawn = drawn[~np.isnan(drawn)]
    ends = np.quantile(drawn, [alpha / 2, 1 - alpha / 2]) if len(drawn) else (value, value)
    low, high = (float(end) for end in ends)
    low, high = min(low, value), max(high, value)
    both = (
        value - float(np.hypot(value - ci[0], value - low)),
        value + float(np.hypot(ci[1] - value, high - value)),
    )
    return (low, high), both


def _of(scores: Scores) -> Doubt:
    if scores.doubt is None:
        raise UsageError("the truth of these scores has no probabilities")
    return scores.doubt
