"""Gold for a sample of the pairs of every topic, silver for all of them.

People judged pairs that were drawn within strata of every topic, a program the whole pool. Measures
to which every item adds by itself get the difference estimator of survey sampling: the silver of
all pairs, corrected by gold minus silver on the sampled ones, each weighed by how many pairs it
stands for. Others get a plug-in: what was not sampled has the grades that gold has elsewhere,
each with its probability, where the silver says the same and runs retrieve it as high; how far that
is off is estimated by taking more of the sample away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cranfield import _core
from cranfield.comparison.powered_answer import Estimate
from cranfield.data import Judgements
from cranfield.errors import UsageError
from cranfield.evaluation.doubt import run_doubts
from cranfield.evaluation.ranked import RankedTask
from cranfield.evaluation.soft import LINEAR, entry_ranks
from cranfield.io.forms import coerce_run
from cranfield.measures._spec import Measure
from cranfield.stats._resample import Floats, Ints
from cranfield.stats.intervals import mean_intervals

# Best ranks over all runs up to which pairs are told apart, and how many sampled ones it takes.
HEIGHTS, ENOUGH = (5, 10, 20), 20
# Parts of the sample that are taken away in turn to see how far a plug-in is off.
GROUPS = 5
PLUG_IN_DRAWS = 200


@dataclass(frozen=True, eq=False)
class Sampled:
    """The pairs of a pool: stratum, whether people judged them, both grades, and their topics."""

    judgements: Judgements
    levels: Floats
    gold: Ints
    silver: Ints
    cell: Ints
    topic: Ints

    @classmethod
    def of(cls, gold: Judgements, silver: Judgements) -> Sampled:
        if gold.strata is None:
            raise UsageError("gold= has no strata")
        given = silver.to_dict()
        values, missing = [], []
        for topic, item, _ in gold.rows():
            value = given.get(topic, {}).get(item)
            if value is None:
                missing.append(f"{item} of topic {topic}")
            values.append(0.0 if value is None else float(value))
        if missing:
            raise UsageError(
                f"silver= does not judge {len(missing)} pairs of the pool of gold= "
                f"({missing[0]}): the gold must be part of the silver's pairs"
            )
        grades = np.asarray(gold.values, dtype=np.float64)
        known = grades >= 0
        levels = np.unique(np.concatenate([grades[known], values]))
        sizes = np.diff(gold.offsets)
        number = np.repeat(np.arange(len(sizes)), sizes).astype(np.int64)
        _, cell = np.unique(np.stack([number, gold.strata]), axis=1, return_inverse=True)
        found = cls(
            replace(gold, values=np.array(values), strata=None),
            levels,
            np.where(known, np.searchsorted(levels, grades), -1),
            np.searchsorted(levels, values),
            cell.ravel(),
            number,
        )
        drawn = np.bincount(found.cell, weights=known)
        if (drawn < 2).any():
            raise UsageError(
                f"gold= has strata with fewer than two judged pairs ({int((drawn < 2).sum())} of "
                f"{len(drawn)}): join them, or judge more"
            )
        return found

    @property
    def known(self) -> Any:
        return self.gold >= 0

    def soft(self, known: Any, height: Ints) -> Judgements:
        """A truth with the gold of some pairs, and for others what gold has at equal silver and
        height."""
        size = len(self.levels)
        total = np.bincount(self.cell)[self.cell]
        drawn = np.bincount(self.cell, weights=known)[self.cell]
        weight = np.where(known, total / np.maximum(drawn, 1), 0.0)
        whole = np.zeros((size, size))
        np.add.at(whole, (self.silver[known], self.gold[known]), weight[known])
        # A silver grade that was never sampled has the grades of all.
        whole[whole.sum(axis=1) == 0] = whole.sum(axis=0)
        chances = whole[self.silver]
        for level in range(int(height.max()) + 1):
            table, count = np.zeros((size, size)), np.zeros(size)
            here = known & (height == level)
            np.add.at(table, (self.silver[here], self.gold[here]), weight[here])
            np.add.at(count, self.silver[here], 1)
            use = (height == level) & (count >= ENOUGH)[self.silver]
            chances[use] = table[self.silver[use]]
        chances /= chances.sum(axis=1, keepdims=True)
        chances[known] = np.eye(size)[self.gold[known]]
        likely = self.levels[chances.argmax(axis=1)]
        return replace(self.judgements, values=likely, levels=self.levels, chances=chances)


def sampled_estimates(
    sampled: Sampled,
    runs: Sequence[tuple[str, Any]],
    measures: Any,
    *,
    alpha: float,
    resamples: int,
    rng: int,
    jobs: int,
    options: dict[str, Any],
) -> tuple[tuple[Measure, ...], list[Estimate]]:
    """Every mean of every run: by differences where items add up, else by the plug-in."""
    task = RankedTask(sampled.judgements, measures, **options)
    tables = {name: coerce_run(run, name) for name, run in runs}
    calls = {m: task.programme.calls[task.programme.column[m]] for m in task.measures}
    linear = [m for m in task.measures if calls[m].name in LINEAR and m.averaging == "mean"]
    linear = [m for m in linear if calls[m].name != "set_precision"]
    others = [m for m in task.measures if m not in linear]
    found: dict[tuple[str, str], Estimate] = {}
    best = np.full(len(sampled.gold), np.inf)
    for name, run in tables.items():
        ranks = entry_ranks(sampled.judgements, run, task.settings, jobs)
        rows = _rows(sampled, ranks)
        best[rows] = np.minimum(best[rows], ranks[1])
        for m in linear:
            parts = _parts(sampled, ranks, (calls[m].name, list(calls[m].params)))
            found[str(m), name] = _difference(str(m), name, sampled, *parts, alpha, resamples, rng)
    if others:
        height = np.searchsorted(HEIGHTS, best)
        for e in _plugged(sampled, height, tables, others, alpha, rng, jobs, options):
            found[e.measure, e.run] = e
    order = [(str(m), name) for m in task.measures for name in tables]
    return task.measures, [found[key] for key in order]


def _parts(
    sampled: Sampled, ranks: _core.RunArrays, call: tuple[str, list[float]]
) -> tuple[Floats, Floats]:
    """What each pair adds to its topic under gold (0 where unknown) and under silver."""
    rank, rows = ranks[1], _rows(sampled, ranks)
    worth = _worth(int(rank.max(initial=1)), sampled.levels, call)
    gold, silver = np.zeros(len(sampled.gold)), np.zeros(len(sampled.gold))
    silver[rows] = worth[rank - 1, sampled.silver[rows]]
    gold[rows] = np.where(sampled.known[rows], worth[rank - 1, sampled.gold[rows]], 0.0)
    return gold, silver


def _rows(sampled: Sampled, ranks: _core.RunArrays) -> Ints:
    """The rows of the pool that a run retrieves, hit by hit."""
    begin = np.asarray(sampled.judgements.offsets)[:-1].repeat(np.diff(ranks[0]))
    return np.asarray(begin + ranks[2], dtype=np.int64)


def _worth(depth: int, levels: Floats, call: tuple[str, list[float]]) -> Floats:
    """What an item of each level adds at each rank: ranks x levels, asked of the kernel itself."""
    places = np.arange(depth + 1, dtype=np.int64)
    ranks = np.arange(1, depth + 1, dtype=np.uint32)
    none = np.zeros(depth, dtype=np.uint32)
    run = (places, ranks, none, ranks, np.ones(depth, dtype=np.uint8))
    columns = []
    for level in range(len(levels)):
        upto = np.ascontiguousarray(
            np.broadcast_to((np.arange(len(levels)) >= level).astype(float), (depth, len(levels)))
        )
        columns.append(_core.expected_sums(places, levels, upto, run, [call])[0][:, 0])
    return np.stack(columns, axis=1)


def _difference(
    measure: str,
    run: str,
    sampled: Sampled,
    gold: Floats,
    silver: Floats,
    alpha: float,
    resamples: int,
    rng: int,
) -> Estimate:
    """The difference estimator over strata, with the weight of the silver from the data."""
    from cranfield.stats._special import ndtri

    known, cell = sampled.known, sampled.cell
    total = np.bincount(cell).astype(float)
    drawn = np.bincount(cell, weights=known)
    of_topic = np.zeros(len(total), dtype=int)
    of_topic[cell] = sampled.topic
    topics = int(sampled.topic.max()) + 1

    def moments(a: Floats, b: Floats) -> Floats:
        """The covariance of two columns within each stratum of the sample."""
        sums = [np.bincount(cell, weights=np.where(known, v, 0.0)) for v in (a * b, a, b)]
        found: Floats = (sums[0] - sums[1] * sums[2] / drawn) / (drawn - 1)
        return found

    factor = total**2 * (1 - drawn / total) / drawn
    yy, ff, yf = (
        float((factor * moments(*p)).sum())
        for p in ((gold, gold), (silver, silver), (gold, silver))
    )
    weight = max(yf / ff, 0.0) if ff > 0 else 0.0
    rest = yy - 2 * weight * yf + weight**2 * ff
    # Few sampled pairs may agree by chance: one more is taken to differ (Laplace's rule).
    counts = (gold != 0) | (silver != 0)
    differ = 1.0 / (int((counts & known).sum()) + 2)
    most = float(np.abs(np.concatenate([gold, silver])).max(initial=0.0))
    there = np.bincount(cell, weights=counts) / total
    rest = max(rest, float((factor * there).sum()) * most**2 * differ * (1 - differ))

    def by_topic(share: float) -> Floats:
        sample = np.bincount(cell, weights=np.where(known, gold - share * silver, 0.0))
        whole = np.bincount(sampled.topic, weights=share * silver, minlength=topics)
        more = np.bincount(of_topic, weights=sample * total / drawn, minlength=topics)
        return np.asarray(whole + more, dtype=np.float64)

    reach = float(ndtri(1 - alpha / 2))
    ends = []
    for share, variance in ((weight, rest), (0.0, yy)):
        values = by_topic(share)
        half = reach * variance**0.5 / topics
        box = mean_intervals(values, confidence=1 - alpha, resamples=resamples, rng=rng)[0]
        middle = float(values.mean())
        ends.append((middle, (middle - half, middle + half), (box.low, box.high)))
    n = int(known.sum())
    return Estimate(
        measure,
        run,
        *ends[0],
        *ends[1],
        weight=weight,
        correlation=yf / (yy * ff) ** 0.5 if yy > 0 and ff > 0 else 0.0,
        effective=min(n * yy / rest, float(len(known))) if rest > 0 else float(len(known)),
        units=n,
        total=len(known),
    )


def _reaching(ends: tuple[float, float], bias: float) -> tuple[float, float]:
    """An interval that also holds what is left of it when the bias is taken away."""
    return min(ends[0], ends[0] - bias), max(ends[1], ends[1] - bias)


def _plugged(
    sampled: Sampled,
    height: Ints,
    runs: dict[str, Any],
    measures: Sequence[Measure],
    alpha: float,
    rng: int,
    jobs: int,
    options: dict[str, Any],
) -> list[Estimate]:
    """The plug-in for measures that are no sums, with how far it may be off."""
    asked = {**options, "draws": PLUG_IN_DRAWS, "rng": rng}
    known = np.asarray(sampled.known)
    scores = RankedTask(sampled.soft(known, height), measures, **asked).evaluate(runs, jobs=jobs)
    generator = np.random.default_rng([rng, 5])
    group = np.where(known, generator.integers(GROUPS, size=len(known)), -1)
    without = []
    for g in range(GROUPS):
        kept = known & (group != g)
        less = RankedTask(sampled.soft(kept, height), measures, **asked).evaluate(runs, jobs=jobs)
        without.append(less.mean())
    share = float(known.mean())
    found = []
    for d in run_doubts(scores, confidence=1 - alpha):
        # Guesses stand for 1 - share of the pairs; a group more makes them share / GROUPS more.
        moved = float(np.mean([w[d.run][d.measure] for w in without])) - d.expected
        bias = moved * GROUPS * (1 - share) / share
        nothing = (float("nan"), float("nan"))
        found.append(
            Estimate(
                d.measure,
                d.run,
                d.expected,
                _reaching(d.truth_interval, bias),
                _reaching(d.interval or nothing, bias),
                float("nan"),
                nothing,
                nothing,
                weight=1.0,
                correlation=float("nan"),
                effective=float("nan"),
                units=int(known.sum()),
                total=len(known),
                bias=bias,
            )
        )
    return found
