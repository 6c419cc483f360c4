"""Average cumulated and discounted gain along the ranks and along recall (SHREC, Järvelin)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from cranfield.errors import UsageError
from cranfield.evaluation.curves import Curve
from cranfield.evaluation.cutoffs import counts_of, cutoffs_to, per_topic
from cranfield.evaluation.ranked import evaluate
from cranfield.io.forms import coerce_judgements, name_runs

LEVELS = tuple(k / 20 for k in range(1, 21))
DEPTH = 100
GAINS = ("CG", "DCG", "nCG", "nDCG")


def gain_curves(
    judgements: Any,
    runs: Any,
    gain: str = "CG",
    *,
    against: Literal["rank", "recall"] = "rank",
    depth: int = DEPTH,
    jobs: int = 1,
    **options: Any,
) -> tuple[Curve, ...]:
    """The mean over topics of a gain at every rank, or at every level of recall.

    The gain is CG, DCG, nCG or nDCG, with its parameters if need be: the gain of SHREC is
    "DCG(discount='jk')".

    Against recall the gain is that at the item by which a topic reaches the level; a topic that
    never does keeps what it had at the last rank. With one topic the points are its relevant
    items.
    """
    of_gain, parameters = _parts(gain)
    judged = coerce_judgements(judgements)
    cutoffs = cutoffs_to(depth, len(name_runs(runs)) * len(judged.topics))
    wanted = ["NumRel", "NumRet", *(f"P@{k}" for k in cutoffs)]
    wanted += [f"{of_gain}@{k}{parameters}" for k in cutoffs]
    scores = evaluate(judged, runs, wanted, jobs=jobs, **options)
    counts = counts_of(scores, cutoffs)
    kept = [scores.units["topic"].index(t) for t in counts.topics]
    names = [f"{of_gain}@{k}{parameters}" for k in counts.cutoffs]
    values = np.stack([per_topic(scores, name)[:, kept] for name in names], axis=2)
    if against == "rank":
        means = np.nan_to_num(values).mean(axis=1)
        return tuple(
            Curve(run, tuple(zip(map(float, counts.cutoffs), means[i].tolist(), strict=True)))
            for i, run in enumerate(counts.runs)
        )
    if against != "recall":
        raise UsageError(f"against={against!r}: expected 'rank' or 'recall'")
    recall = counts.recall
    return tuple(
        Curve(run, _along_recall(recall[i], np.nan_to_num(values[i])))
        for i, run in enumerate(counts.runs)
    )


def _parts(gain: str) -> tuple[str, str]:
    """A measure without a cutoff as its name and its parameters."""
    name, bracket, rest = gain.strip().partition("(")
    if name not in GAINS:
        raise UsageError(f"gain={gain!r}: expected one of {', '.join(GAINS)}")
    return name, bracket + rest


def _along_recall(recall: Any, values: Any) -> tuple[tuple[float, float], ...]:
    """Points (recall, gain) of topics x cutoffs."""
    if len(recall) == 1:
        fresh = np.flatnonzero(np.diff(recall[0], prepend=0.0) > 0)
        return tuple((float(recall[0, k]), float(values[0, k])) for k in fresh)
    points = []
    for level in LEVELS:
        reached = recall >= level - 1e-9
        first = np.where(reached.any(axis=1), reached.argmax(axis=1), values.shape[1] - 1)
        points.append((level, float(values[np.arange(len(values)), first].mean())))
    return tuple(points)
