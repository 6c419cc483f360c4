"""Concepts: how well they are found, and how frequent they are in the truth."""

from __future__ import annotations

import numpy as np

from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError
from cranfield.evaluation.scores import Scores
from cranfield.report.charts.model import Axis, Bar, Chart, Rule, chart
from cranfield.report.charts.parts import column_axis, measure_of, values_of
from cranfield.validation import validate_params


@validate_params
def concepts(
    scores: Scores, truth: LabelMatrix, run: str | None = None, measure: str | None = None
) -> Chart:
    """A bar per concept for the best (or a given) run, with the truth frequency as a line."""
    m = measure_of(scores, measure)
    if scores.unit_of[m] != "concept":
        raise UsageError(f"{m} has no value per concept; choose one such as AP.concept")
    values = values_of(scores, m)
    at = None if run is None else scores.index_of(run)
    sign = -1 if m.higher_is_better is False else 1
    rows = [
        (
            name,
            float(values[at, j] if at is not None else sign * max(sign * v for v in values[:, j])),
            share,
        )
        for j, (name, share) in enumerate(truth_frequency(truth).items())
    ]
    rows.sort(key=lambda row: (row[1] != row[1], -sign * row[1]))
    who = run or "the best run of each concept"
    return chart(
        f"{m} of {who}",
        f"{m} of {who} for {len(rows)} concepts; lines: the share of items that have each.",
        column_axis("concept", [name for name, _, _ in rows], "concept"),
        Axis(f"{m}, and frequency (lines)", "value"),
        [
            [
                Bar(k, value, "accent", f"{name}: {value:.4f}; frequency {share:.4f}")
                for k, (name, value, share) in enumerate(rows)
            ],
            [
                Rule(k - 0.4, share, k + 0.4, share, width=2, said=f"{name}: frequency {share:.4f}")
                for k, (name, _, share) in enumerate(rows)
            ],
        ],
    )


def truth_frequency(truth: LabelMatrix) -> dict[str, float]:
    """The share of items that have each concept."""
    labels = truth.rows(0, len(truth.items))[0]
    shares = np.asarray(labels, dtype=float).mean(axis=0)
    return dict(zip(truth.concepts, shares.tolist(), strict=True))
