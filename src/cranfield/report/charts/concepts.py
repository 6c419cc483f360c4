"""Concepts: how well they are found, and how frequent they are in the truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError
from cranfield.evaluation.scores import Scores
from cranfield.report.charts._spec import BETTER, INK, Spec, field, frame, measure_of, values_of


def concepts(
    scores: Scores, truth: LabelMatrix, run: str | None = None, measure: str | None = None
) -> Spec:
    """A bar per concept for the best (or a given) run, with the truth frequency as a tick."""
    m = measure_of(scores, measure)
    if scores.unit_of[m] != "concept":
        raise UsageError(f"{m} has no value per concept; choose one such as AP.concept")
    values = values_of(scores, m)
    at = None if run is None else scores.index_of(run)
    sign = -1 if m.higher_is_better is False else 1
    by_concept: list[dict[str, Any]] = [
        {
            "concept": name,
            "value": float(
                values[at, j] if at is not None else sign * max(sign * v for v in values[:, j])
            ),
            "frequency": share,
        }
        for j, (name, share) in enumerate(truth_frequency(truth).items())
    ]
    by_concept.sort(key=lambda row: (row["value"] != row["value"], -sign * float(row["value"])))
    who = run or "the best run of each concept"
    return frame(
        f"{m} of {who}",
        f"{m} of {who} for {len(by_concept)} concepts, with the share of items that have each.",
        by_concept,
        width=max(300, 26 * len(by_concept)),
        height=260,
        encoding={"x": field("concept", "n", "", sort=None, axis={"labelAngle": -40})},
        layer=[
            {
                "mark": {"type": "bar", "color": BETTER, "opacity": 0.75},
                "encoding": {
                    "y": field("value", "q", f"{m}, and frequency (ticks)"),
                    "tooltip": [field(k, "n") for k in ("concept", "value", "frequency")],
                },
            },
            {
                "mark": {"type": "tick", "color": INK, "thickness": 2},
                "encoding": {"y": field("frequency", "q", f"{m}, and frequency (ticks)")},
            },
        ],
    )


def truth_frequency(truth: LabelMatrix) -> dict[str, float]:
    """The share of items that have each concept."""
    labels = truth.rows(0, len(truth.items))[0]
    shares = np.asarray(labels, dtype=float).mean(axis=0)
    return dict(zip(truth.concepts, shares.tolist(), strict=True))
