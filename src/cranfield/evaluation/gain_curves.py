"""Average cumulated and discounted gain along the ranks and along recall (SHREC, Järvelin)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy as np

from cranfield.data import Judgements, Run
from cranfield.errors import UsageError
from cranfield.evaluation.curves import Curve
from cranfield.evaluation.precision_recall import counts_of, cutoffs_to, per_topic
from cranfield.evaluation.ranked import evaluate
from cranfield.io.coerce import coerce_judgements, coerce_run, name_runs

# Cutoffs that are looked at together where a whole ranking is.
BLOCK = 250
LEVELS = tuple(k / 20 for k in range(1, 21))
DEPTH = 100
GAINS = ("CG", "DCG", "nCG", "nDCG")


def gain_curves(
    judgements: Any,
    runs: Any,
    gain: str = "CG",
    *,
    against: Literal["rank", "recall"] = "rank",
    depth: int | None = None,
    jobs: int = 1,
    **options: Any,
) -> tuple[Curve, ...]:
    """The mean over topics of a gain at every rank, or at every level of recall.

    The gain is CG, DCG, nCG or nDCG, with its parameters if need be: the gain of SHREC is
    "DCG(discount='jk')".

    Against recall the gain is that at the item by which a topic reaches the level; a topic that
    never does keeps what it had at the last rank, and the curve ends with the last level that any
    topic reaches. With one topic the points are its relevant items. `depth` is how many ranks
    are looked at: 100 against rank and all of them against recall unless told otherwise.
    """
    of_gain, parameters = _parts(gain)
    judged = coerce_judgements(judgements)
    if against == "recall":
        curves = []
        for name, source in name_runs(runs):
            run = coerce_run(source, name)
            blocks = _blocks(judged, run, (of_gain, parameters), depth, jobs, options)
            curves.append(Curve(name, _along_recall(blocks)))
        return tuple(curves)
    if against != "rank":
        raise UsageError(f"against={against!r}: expected 'rank' or 'recall'")
    cutoffs = cutoffs_to(depth or DEPTH, len(name_runs(runs)) * len(judged.topics))
    measure_names = ["NumRel", "NumRet", *(f"P@{k}" for k in cutoffs)]
    measure_names += [f"{of_gain}@{k}{parameters}" for k in cutoffs]
    scores = evaluate(judged, runs, measure_names, jobs=jobs, **options)
    counts = counts_of(scores, cutoffs)
    topic_columns = [scores.units["topic"].index(t) for t in counts.topics]
    names = [f"{of_gain}@{k}{parameters}" for k in counts.cutoffs]
    values = np.stack([per_topic(scores, name)[:, topic_columns] for name in names], axis=2)
    means = np.nan_to_num(values).mean(axis=1)
    return tuple(
        Curve(run, tuple(zip(map(float, counts.cutoffs), means[i].tolist(), strict=True)))
        for i, run in enumerate(counts.runs)
    )


def _blocks(
    judged: Judgements,
    run: Run,
    gain: tuple[str, str],
    depth: int | None,
    jobs: int,
    options: Mapping[str, Any],
) -> Iterator[tuple[Any, Any]]:
    """Recall and gain, topics x cutoffs each, of some cutoffs after the other, to the last rank.

    A whole ranking at once would need as many columns as it has items.
    """
    first = 1
    deepest = math.inf if depth is None else depth
    while first <= deepest:
        cutoffs = range(first, 1 + int(min(deepest, first + BLOCK - 1)))
        names = [f"{gain[0]}@{k}{gain[1]}" for k in cutoffs]
        measure_names = ["NumRel", "NumRet", *(f"P@{k}" for k in cutoffs), *names]
        scores = evaluate(judged, {run.name: run}, measure_names, jobs=jobs, **options)
        relevant = np.nan_to_num(per_topic(scores, "NumRel")[0])
        topic_columns = np.flatnonzero(relevant > 0)
        if not len(topic_columns):
            raise UsageError("no topic has a relevant item: there is nothing to find")
        longest = max(1, int(np.nanmax(per_topic(scores, "NumRet"), initial=1)))
        deepest = min(deepest, longest)
        reached = [k for k in cutoffs if k <= deepest]
        precision = np.stack(
            [per_topic(scores, f"P@{k}")[0, topic_columns] for k in reached], axis=1
        )
        gains = np.stack(
            [per_topic(scores, n)[0, topic_columns] for n in names[: len(reached)]], axis=1
        )
        hits = np.rint(np.nan_to_num(precision) * np.array(reached))
        yield hits / relevant[topic_columns, None], np.nan_to_num(gains)
        first += BLOCK


def _parts(gain: str) -> tuple[str, str]:
    """A measure without a cutoff as its name and its parameters."""
    name, bracket, rest = gain.strip().partition("(")
    if name not in GAINS:
        raise UsageError(f"gain={gain!r}: expected one of {', '.join(GAINS)}")
    return name, bracket + rest


def _along_recall(blocks: Iterable[tuple[Any, Any]]) -> tuple[tuple[float, float], ...]:
    """Points (recall, gain) of blocks of topics x cutoffs that follow one another."""
    points: list[tuple[float, float]] = []
    at_levels: Any = None
    last: Any = None
    for recall, gains in blocks:
        if len(recall) == 1:
            before = points[-1][0] if points else 0.0
            new_points = np.flatnonzero(np.diff(recall[0], prepend=before) > 0)
            points += [(float(recall[0, k]), float(gains[0, k])) for k in new_points]
            continue
        if at_levels is None:
            at_levels = np.full((len(LEVELS), len(recall)), np.nan)
        for values, level in zip(at_levels, LEVELS, strict=True):
            reached = recall >= level - 1e-9
            new_points = np.isnan(values) & reached.any(axis=1)
            values[new_points] = gains[new_points, reached.argmax(axis=1)[new_points]]
        last = gains[:, -1]
    if at_levels is None:
        return tuple(points)
    return tuple(
        (level, float(np.where(np.isnan(values), last, values).mean()))
        for level, values in zip(LEVELS, at_levels, strict=True)
        if not np.isnan(values).all()
    )
