"""How far scores can be trusted when their truth is not sure of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from cranfield._lazy import np
from cranfield.errors import UsageError
from cranfield.measures.base import Measure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cranfield.evaluation.scores import Scores

Floats: TypeAlias = "NDArray[np.float64]"
# So many items and topics are named, those that carry most of the uncertainty.
MOST_NAMED = 100
# What every answer under such a truth says: nothing in the probabilities tells of it.
UNCHECKED = (
    "what the truth leaves open is told as far as its probabilities are right: annotators who err "
    "alike are surer than right, and a run that knows more than they do is put too low; some "
    "units that people checked (gold=...) tell how far"
)


@dataclass(frozen=True, slots=True)
class ItemDoubt:
    """An item whose grade is not sure: the share of the variance of a measure that it carries.

    The variance is that of the mean over all runs; shares are of first order, each item by itself.
    """

    measure: str
    topic: str
    item: str
    share: float


class TopicDoubt(NamedTuple):
    """The share of the variance by the truth that comes from one topic, averaged over runs."""

    measure: str
    topic: str
    share: float
    spread: float


class RunDoubt(NamedTuple):
    """A value with what is not known about it.

    `by_truth` and `by_topics` are standard deviations of the mean; the intervals are of the truth
    alone, of the choice of topics (items) alone, and of both together.
    """

    measure: str
    run: str
    expected: float
    by_truth: float
    by_topics: float | None
    truth_interval: tuple[float, float]
    topics_interval: tuple[float, float] | None
    interval: tuple[float, float] | None

    def to_dict(self) -> dict[str, Any]:
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in ((n, getattr(self, n)) for n in type(self).__annotations__)
        }


@dataclass(frozen=True, eq=False)
class Doubt:
    """What draws of the truth make of every run: the same draws for all of them.

    `means[m]` has the value of each run (rows) in each draw, `spread[m]` its standard deviation
    and `unit_spread[m]` that of each topic (item); both are exact for the measures in `exact`.
    `items` are those that carry most.
    """

    draws: int
    seed: int
    means: Mapping[Measure, Floats]
    spread: Mapping[Measure, Floats]
    unit_spread: Mapping[Measure, Floats]
    exact: tuple[str, ...] = ()
    items: tuple[ItemDoubt, ...] = ()

    @classmethod
    def concat(cls, parts: Sequence[Doubt]) -> Doubt:
        """The doubt of runs that were scored apart, under the same draws."""
        first = parts[0]
        if any((p.draws, p.seed) != (first.draws, first.seed) for p in parts):
            raise UsageError("the scores are under different draws of the truth")

        def joined(name: str) -> dict[Measure, Floats]:
            tables = [getattr(part, name) for part in parts]
            return {m: np.concatenate([t[m] for t in tables]) for m in tables[0]}

        shares: dict[tuple[str, str, str], float] = {}
        for part in parts:
            for i in part.items:
                key = (i.measure, i.topic, i.item)
                shares[key] = shares.get(key, 0.0) + i.share / len(parts)
        items = [ItemDoubt(*key, share) for key, share in shares.items()]
        items.sort(key=lambda i: (i.measure, -i.share))
        return cls(
            first.draws,
            first.seed,
            joined("means"),
            joined("spread"),
            joined("unit_spread"),
            first.exact,
            tuple(items),
        )

    def select(self, measures: Sequence[Measure]) -> Doubt:
        """The same draws under some of the measures."""
        names = {str(m) for m in measures}
        return Doubt(
            self.draws,
            self.seed,
            {m: self.means[m] for m in measures if m in self.means},
            {m: self.spread[m] for m in measures if m in self.spread},
            {m: self.unit_spread[m] for m in measures if m in self.unit_spread},
            tuple(name for name in self.exact if name in names),
            tuple(i for i in self.items if i.measure in names),
        )

    def of_runs(self, at: Sequence[int]) -> Doubt:
        """The same draws for the runs at some positions; items carry what they carry for all."""
        rows = list(at)

        def chosen(tables: Mapping[Measure, Floats]) -> dict[Measure, Floats]:
            return {m: table[rows] for m, table in tables.items()}

        means, spread, unit_spread = map(chosen, (self.means, self.spread, self.unit_spread))
        return Doubt(self.draws, self.seed, means, spread, unit_spread, self.exact, self.items)

    def better(self, measure: Measure, a: int, b: int) -> float:
        """The probability that a run is better than another, a tie counting half; NaN where
        under no draw both have a value."""
        gain = self.gaps(measure, a, b)
        if not len(gain):
            return float("nan")
        if measure.higher_is_better is False:
            gain = -gain
        return float((gain > 0).mean() + (gain == 0).mean() / 2)

    def gaps(self, measure: Measure, a: int, b: int) -> Floats:
        """By how much a run is above another, in the draws under which both have a value."""
        gap: Floats = self.means[measure][a] - self.means[measure][b]
        return gap[~np.isnan(gap)]

    def places(self, measure: Measure) -> Floats:
        """The probability of each place (columns) of each run; ties share theirs evenly. Of draws
        under which every run has a value; without any it is NaN."""
        means = self.means[measure]
        means = means[:, ~np.isnan(means).any(axis=0)]
        if not means.shape[1]:
            return np.full((len(means), len(means)), np.nan)
        if measure.higher_is_better is not False:
            means = -means
        runs = len(means)
        above = (means[:, None, :] > means[None, :, :]).sum(axis=1)
        level = (means[:, None, :] == means[None, :, :]).sum(axis=1)
        shares = np.zeros((runs, runs))
        for place in range(runs):
            inside = (above <= place) & (place < above + level)
            shares[:, place] = (inside / level).mean(axis=1)
        return shares


def sample_ends(sample: Floats, levels: tuple[float, float]) -> tuple[float, float]:
    """The quantiles between which another draw falls with the probability that is asked for."""
    # Quantiles that interpolate between the least and the greatest of few draws lie too far inside.
    low, high = np.quantile(sample, levels, method="weibull")
    return float(low), float(high)


def run_doubts(scores: Scores, *, confidence: float = 0.95) -> tuple[RunDoubt, ...]:
    """Every value with its spread by the truth and by topics, and the interval of both."""
    from cranfield.stats.intervals import clipped

    doubt = _of(scores)
    boxes = scores.interval(confidence=confidence)
    levels = ((1 - confidence) / 2, (1 + confidence) / 2)
    rows = []
    for m in scores.measures:
        for i, run in enumerate(scores.runs):
            expected = float(scores.overall[m][i])
            sample = doubt.means[m][i]
            sample = sample[~np.isnan(sample)]
            low, high = sample_ends(sample, levels) if len(sample) else (np.nan, np.nan)
            low, high = min(low, expected), max(high, expected)
            box = boxes[run][str(m)]
            by_topics = topics = combined = None
            if box is not None:
                unit_values = scores.values[m][i]
                unit_values = unit_values[~np.isnan(unit_values)]
                by_topics = (
                    float(unit_values.std(ddof=1) / len(unit_values) ** 0.5)
                    if len(unit_values) > 1
                    else None
                )
                topics = (box.low, box.high)
                # Distances to the ends add up as independent errors do.
                ends = (
                    expected - float(np.hypot(expected - box.low, expected - low)),
                    expected + float(np.hypot(box.high - expected, high - expected)),
                )
                combined = clipped(ends, m.range)
            by_truth = float(doubt.spread[m][i])
            rows.append(
                RunDoubt(str(m), run, expected, by_truth, by_topics, (low, high), topics, combined)
            )
    return tuple(rows)


def topic_doubts(scores: Scores) -> tuple[TopicDoubt, ...]:
    """The units that carry most of the variance by the truth, per measure, largest first."""
    doubt = _of(scores)
    rows = []
    for m in scores.measures:
        if m not in doubt.unit_spread:
            continue
        squares = np.nan_to_num(doubt.unit_spread[m]) ** 2
        total = squares.sum(axis=1, keepdims=True)
        shares = np.divide(squares, total, out=np.zeros_like(squares), where=total > 0)
        mean = shares.mean(axis=0)
        names = scores.units[scores.unit_of[m]]
        for u in np.argsort(-mean, kind="stable")[:MOST_NAMED]:
            if mean[u] > 0:
                spread = float(np.sqrt(squares[:, u].mean()))
                rows.append(TopicDoubt(str(m), names[u], float(mean[u]), spread))
    return tuple(rows)


def better_rows(scores: Scores) -> list[dict[str, Any]]:
    """For each measure and two runs the probability, over draws of the truth, that a is better."""
    doubt = _of(scores)
    rows = []
    for m in scores.measures:
        if m.higher_is_better is None:
            continue
        for a in range(len(scores.runs)):
            for b in range(a + 1, len(scores.runs)):
                gap = doubt.gaps(m, a, b)
                rows.append(
                    {
                        "measure": str(m),
                        "a": scores.runs[a],
                        "b": scores.runs[b],
                        "difference": float(scores.overall[m][a] - scores.overall[m][b]),
                        "by_truth": float(gap.std()) if len(gap) else float("nan"),
                        "better": doubt.better(m, a, b),
                    }
                )
    return rows


def doubt_payload(scores: Scores) -> dict[str, Any]:
    """All of it as JSON."""
    doubt = _of(scores)
    ranked = [m for m in scores.measures if m.higher_is_better is not None]
    return {
        "draws": doubt.draws,
        "seed": doubt.seed,
        "exact": list(doubt.exact),
        "runs": [row.to_dict() for row in run_doubts(scores)],
        "better": better_rows(scores),
        "places": [
            {"measure": str(m), "run": run, "probability": row}
            for m in ranked
            for run, row in zip(scores.runs, doubt.places(m).tolist(), strict=True)
        ],
        "units": [
            {"measure": t.measure, scores.main_unit: t.topic, "share": t.share, "spread": t.spread}
            for t in topic_doubts(scores)
        ],
        "items": [
            {"measure": i.measure, "topic": i.topic, "item": i.item, "share": i.share}
            for i in doubt.items
        ],
    }


def _of(scores: Scores) -> Doubt:
    if scores.doubt is None:
        raise UsageError("the truth of these scores has no probabilities")
    return scores.doubt
