"""Gold for a sample of the pairs of every topic, silver for all of them.

People judged pairs that were drawn within strata of every topic, a program the whole pool. Measures
to which every item adds by itself get the difference estimator of survey sampling: the silver of
all pairs, corrected by gold minus silver on the sampled ones, each weighed by how many pairs it
stands for. So do differences of two runs, to which an item adds what it adds to one less what it
adds to the other. Other measures are refused, or left out with a note where there are sums, too:
grades guessed from the silver give AP and nDCG a bias that the sample does not show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cranfield import _core
from cranfield._lazy import cached_property
from cranfield.comparison.ppi import (
    Estimate,
    PoweredPair,
    PoweredScores,
    PPIPlan,
    difference_limits,
    measure_summary,
    note_floor,
)
from cranfield.data import Judgements
from cranfield.errors import UsageError
from cranfield.evaluation.probabilistic_truth import LINEAR, entry_ranks
from cranfield.evaluation.ranked import RankedTask
from cranfield.io.coerce import coerce_judgements, coerce_run
from cranfield.io.design import coerce_design
from cranfield.measures.base import Measure
from cranfield.notes import Notes
from cranfield.stats._resample import Floats, Ints
from cranfield.stats.corrections import correct
from cranfield.stats.design import UnitDesign, unit_design
from cranfield.stats.intervals import Limits
from cranfield.stats.ppi import PPIMeans, powered_means


@dataclass(frozen=True, eq=False)
class PairSample:
    """The pairs of a pool: stratum, whether people judged them, both grades, and their topics."""

    judgements: Judgements
    levels: Floats
    gold: Ints
    silver: Ints
    cell: Ints
    topic: Ints

    @classmethod
    def of(cls, gold: Judgements, silver: Judgements) -> PairSample:
        if gold.strata is None:
            raise UsageError("gold= has no strata")
        silver_grades = silver.to_dict()
        values, missing = [], []
        for topic, item, _ in gold.rows():
            value = silver_grades.get(topic, {}).get(item)
            if value is None:
                missing.append(f"{item} of topic {topic}")
            values.append(0.0 if value is None else float(value))
        if missing:
            raise UsageError(
                f"silver= does not judge {len(missing)} pairs of the pool of gold= "
                f"({missing[0]}): the gold must be part of the silver's pairs"
            )
        grades = np.asarray(gold.values, dtype=np.float64)
        is_judged = grades >= 0
        levels = np.unique(np.concatenate([grades[is_judged], values]))
        sizes = np.diff(gold.offsets)
        number = np.repeat(np.arange(len(sizes)), sizes).astype(np.int64)
        _, cell = np.unique(np.stack([number, gold.strata]), axis=1, return_inverse=True)
        sample = cls(
            replace(gold, values=np.array(values), strata=None),
            levels,
            np.where(is_judged, np.searchsorted(levels, grades), -1),
            np.searchsorted(levels, values),
            cell.ravel(),
            number,
        )
        judged_counts = np.bincount(sample.cell, weights=is_judged)
        if (judged_counts < 2).any():
            raise UsageError(
                "gold= has strata with fewer than two judged pairs "
                f"({int((judged_counts < 2).sum())} of "
                f"{len(judged_counts)}): join them, or judge more"
            )
        return sample

    @property
    def known(self) -> Any:
        return self.gold >= 0


def score_pair_sample(
    gold: Judgements,
    silver: Any,
    runs: Mapping[str, Any],
    measures: Any,
    plan: PPIPlan,
    jobs: int,
    options: dict[str, Any],
) -> PoweredScores:
    """Every mean of every run, and differences where asked for, of measures whose items add up."""
    design = _Design(PairSample.of(gold, coerce_judgements(silver)), plan, jobs)
    if plan.design is not None:
        clusters = unit_design(coerce_design(plan.design), gold.topics, "topic")
        if clusters.is_weighted:
            raise UsageError("design=: gold of pairs cannot be weighted by topic")
        design = replace(design, clusters=clusters)
    sampled = design.sampled
    task = RankedTask(sampled.judgements, measures, **options)
    tables = {name: coerce_run(run, name) for name, run in runs.items()}
    names = tuple(tables)
    requested = plan.asked(names)
    ranks = [entry_ranks(sampled.judgements, run, task.settings, jobs) for run in tables.values()]
    estimates: dict[str, list[Estimate]] = {}
    pairs: dict[str, list[PoweredPair]] = {}
    others = []
    for m in task.measures:
        call = task.kernel_plan.calls[task.kernel_plan.column[m]]
        if call.name not in LINEAR or call.name == "set_precision" or m.averaging != "mean":
            others.append(m)
            continue
        parts = [_parts(sampled, run_ranks, (call.name, list(call.params))) for run_ranks in ranks]
        adding = _AdditiveMeasure(str(m), names, parts, m.range)
        estimates[str(m)] = adding.estimates(design)
        pairs[str(m)] = adding.differences(design, requested)
    if not estimates:
        raise UsageError(_refused(others))
    notes = Notes()
    if others:
        notes.add(f"left out: {_refused(others)}")
    measured = [m for m in task.measures if str(m) in estimates]
    note_floor(plan, len(requested), notes)
    return PoweredScores(
        task="ranked",
        runs=names,
        measures=tuple(measure_summary(m) for m in measured),
        unit="pair",
        gold_units=int(sampled.known.sum()),
        silver_units=len(sampled.gold),
        estimates=tuple(e for m in measured for e in estimates[str(m)]),
        pairs=tuple(p for m in measured for p in pairs[str(m)]),
        compared=bool(len(requested)),
        design="pairs",
        notes=notes.lines(),
        **plan.said(),
    )


def _refused(measures: Sequence[Measure]) -> str:
    """Why measures that are no sums over items have no estimate, and what there is instead."""
    return (
        f"{', '.join(map(str, measures))}: no sum over items, so gold for a sample of the pairs "
        "and silver for all would give a biased value. Sums over items (P@k, DCG, CG, RBP) are "
        "estimated without bias; xinfAP(empty='out') infers AP from the gold alone, without "
        "silver, though too low where few pairs of a stratum are sampled"
    )


def _parts(
    sampled: PairSample, ranks: _core.RunArrays, call: tuple[str, list[float]]
) -> tuple[Floats, Floats]:
    """What each pair adds to its topic under gold (0 where unknown) and under silver."""
    rank, rows = ranks[1], _rows(sampled, ranks)
    worth = _worth(int(rank.max(initial=1)), sampled.levels, call)
    gold, silver = np.zeros(len(sampled.gold)), np.zeros(len(sampled.gold))
    silver[rows] = worth[rank - 1, sampled.silver[rows]]
    gold[rows] = np.where(sampled.known[rows], worth[rank - 1, sampled.gold[rows]], 0.0)
    return gold, silver


def _rows(sampled: PairSample, ranks: _core.RunArrays) -> Ints:
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


@dataclass(frozen=True, eq=False)
class _Design:
    """The pairs that were sampled, and how estimates are asked for."""

    sampled: PairSample
    plan: PPIPlan
    jobs: int
    clusters: UnitDesign | None = None

    @cached_property
    def strata(self) -> tuple[Floats, Floats, Ints]:
        """Of each stratum: its pairs, how many were sampled, and its topic."""
        s = self.sampled
        total = np.bincount(s.cell).astype(float)
        of_topic = np.zeros(len(total), dtype=np.int64)
        of_topic[s.cell] = s.topic
        return total, np.bincount(s.cell, weights=s.known).astype(float), of_topic

    @property
    def topics(self) -> int:
        return int(self.sampled.topic.max()) + 1

    @property
    def reach(self) -> float:
        from cranfield.stats._special import ndtri

        return float(ndtri(1 - self.plan.alpha / 2))

    def counts(self) -> dict[str, int]:
        return {"units": int(self.sampled.known.sum()), "total": len(self.sampled.gold)}

    def over_topics(self, values: Floats, limits: Limits | None = None) -> PPIMeans:
        """The means of rows over topics: how far intervals reach, and the p-values of 0."""
        if self.clusters is not None:
            values = self.clusters.parts(values)
        return powered_means(
            values,
            np.zeros_like(values),
            np.zeros(len(values)),
            values.shape[1],
            method=self.plan.interval,
            confidence=1 - self.plan.alpha,
            resamples=self.plan.resamples,
            rng=self.plan.rng,
            jobs=self.jobs,
            limits=limits,
        )


@dataclass(frozen=True, eq=False)
class _AdditiveMeasure:
    """A measure to which items add: what each pair of the pool adds to a run, gold and silver."""

    measure: str
    runs: tuple[str, ...]
    parts: list[tuple[Floats, Floats]]
    limits: Limits

    def estimates(self, design: _Design) -> list[Estimate]:
        rows = self._rows(design, self.parts, self.limits)
        return [
            Estimate(measure=self.measure, run=run, **{k: row[k] for k in row if k not in _TESTS})
            for run, row in zip(self.runs, rows, strict=True)
        ]

    def differences(self, design: _Design, requested: Ints) -> list[PoweredPair]:
        gaps = [
            (self.parts[a][0] - self.parts[b][0], self.parts[a][1] - self.parts[b][1])
            for a, b in requested.tolist()
        ]
        rows = self._rows(design, gaps, difference_limits(self.limits))
        return _corrected(design.plan, self.measure, self.runs, requested, rows)

    def _rows(
        self, design: _Design, parts: Sequence[tuple[Floats, Floats]], limits: Limits
    ) -> list[dict[str, Any]]:
        if not parts:
            return []
        assisted = [_assisted_estimate(design, *result) for result in parts]
        by_topic = np.stack([values for result in assisted for values in result.by_topic])
        over = design.over_topics(by_topic, limits)
        rows = []
        for i, result in enumerate(assisted):
            row: dict[str, Any] = {
                "weight": result.weight,
                "correlation": result.correlation,
                "effective": result.effective,
                **design.counts(),
            }
            for k, name in ((0, ""), (1, "gold_")):
                at = 2 * i + k
                middle, error = float(by_topic[at].mean()), result.errors[k]
                half = design.reach * error
                row[f"{name}value"] = middle
                row[f"{name}these"] = (middle - half, middle + half)
                centre, reach = middle + float(over.shift[at]), float(over.such[at])
                row[f"{name}such"] = (min(centre - reach, middle), max(centre + reach, middle))
                row[f"{name}p"] = float(over.p[at])
                row[f"{name}these_p"] = _normal_p(middle, error)
            del row["gold_these_p"]
            rows.append(row)
        return rows


_TESTS = ("p", "these_p", "gold_p")


def _normal_p(value: float, error: float) -> float:
    from cranfield.stats._special import ndtr

    if value == 0:
        return 1.0
    return float(2 * ndtr(-abs(value) / error)) if error > 0 else 0.0


def _corrected(
    plan: PPIPlan,
    measure: str,
    runs: tuple[str, ...],
    requested: Ints,
    rows: Sequence[dict[str, Any]],
) -> list[PoweredPair]:
    """The pairs of a measure with corrected p-values."""
    if not rows:
        return []
    p, gold_p = (np.array([row[name] for row in rows]) for name in ("p", "gold_p"))
    corrected = correct(p, plan.correction)
    gold_corrected = correct(gold_p, plan.correction)
    return [
        PoweredPair(
            measure=measure,
            a=runs[a],
            b=runs[b],
            p_corrected=float(corrected[k]),
            gold_p_corrected=float(gold_corrected[k]),
            **row,
        )
        for k, ((a, b), row) in enumerate(zip(requested.tolist(), rows, strict=True))
    ]


@dataclass(frozen=True, eq=False)
class _AssistedEstimate:
    """The difference estimator with the chosen weight, and (second) with none: gold alone."""

    weight: float
    correlation: float
    effective: float
    errors: tuple[float, float]
    by_topic: tuple[Floats, Floats]


def _assisted_estimate(design: _Design, gold: Floats, silver: Floats) -> _AssistedEstimate:
    """The difference estimator over strata, with the weight of the silver from the data."""
    sampled = design.sampled
    is_judged, cell, topics = sampled.known, sampled.cell, design.topics
    total, judged_counts, of_topic = design.strata

    def moments(a: Floats, b: Floats) -> Floats:
        """The covariance of two columns within each stratum of the sample."""
        sums = [np.bincount(cell, weights=np.where(is_judged, v, 0.0)) for v in (a * b, a, b)]
        covariances: Floats = (sums[0] - sums[1] * sums[2] / judged_counts) / (judged_counts - 1)
        return covariances

    factor = total**2 * (1 - judged_counts / total) / judged_counts
    yy, ff, yf = (
        float((factor * moments(*p)).sum())
        for p in ((gold, gold), (silver, silver), (gold, silver))
    )
    weight = max(yf / ff, 0.0) if ff > 0 else 0.0
    rest = yy - 2 * weight * yf + weight**2 * ff
    # Few sampled pairs may agree by chance: one more is taken to differ (Laplace's rule).
    counts = (gold != 0) | (silver != 0)
    differ = 1.0 / (int((counts & is_judged).sum()) + 2)
    largest_value = float(np.abs(np.concatenate([gold, silver])).max(initial=0.0))
    shares = np.bincount(cell, weights=counts) / total
    rest = max(rest, float((factor * shares).sum()) * largest_value**2 * differ * (1 - differ))

    def by_topic(share: float) -> Floats:
        sample = np.bincount(cell, weights=np.where(is_judged, gold - share * silver, 0.0))
        predicted = np.bincount(sampled.topic, weights=share * silver, minlength=topics)
        correction = np.bincount(of_topic, weights=sample * total / judged_counts, minlength=topics)
        return np.asarray(predicted + correction, dtype=np.float64)

    n, every = int(is_judged.sum()), len(is_judged)
    # Gold alone has a variance that vanishes with gold for every pair.
    gained = (1 / n - 1 / every) * (min(rest / yy, 1.0) if yy > 0 else 1.0)
    return _AssistedEstimate(
        weight,
        yf / (yy * ff) ** 0.5 if yy > 0 and ff > 0 else 0.0,
        1 / (gained + 1 / every),
        (rest**0.5 / topics, yy**0.5 / topics),
        (by_topic(weight), by_topic(0.0)),
    )
