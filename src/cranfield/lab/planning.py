"""How many topics does a campaign need to see a difference, and what do they cost?

The answer is simulated from a pilot with the very test and correction that `compare` would use, not
taken from the formula of one t-test.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from cranfield.answers import Answer
from cranfield.comparison.options import ComparisonOptions, ComparisonPlan
from cranfield.comparison.significance import PairedSample, complete_columns, run_tests
from cranfield.errors import UsageError, plural
from cranfield.evaluation.scores import Scores
from cranfield.measures.base import Measure
from cranfield.measures.parse import listed_measures
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.options import PairCorrection, Test
from cranfield.stats._resample import Floats
from cranfield.stats.effects import detectable_effect, topics_needed
from cranfield.validation import Real, Seed, validate_params

# Numbers of topics tried, as shares of what the formula of the t-test says; and differences.
TOPIC_SHARES = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5)
DIFFERENCE_SHARES = (0.6, 0.8, 1.0, 1.25, 1.6)
# How often the tried numbers of topics are doubled where none of them is enough.
DOUBLINGS = 4
FEWEST = 5
MOST = 100_000
# A judge that saves less than this share of the topics is not worth its calls.
WORTH = 0.05
PILOT_DRAWS = 400


@dataclass(frozen=True, slots=True)
class PowerPoint:
    """The share of true differences of a size that a test finds on so many topics."""

    topics: int
    difference: float
    power: float


@dataclass(frozen=True, slots=True)
class MeasurePlan:
    """What a difference needs under one measure.

    `needed` topics find it with the power asked for; from `needed_low` to `needed_high` topics,
    as the pilot's own topics leave it open; None where no number that was tried does.
    `detectable` is the difference that the topics of the pilot find. `spread` is the median
    standard deviation of the differences of two runs, `formula` what the t-test's formula says.
    """

    measure: str
    spread: float
    formula: int | None
    needed: int | None
    needed_low: int | None
    needed_high: int | None
    detectable: float | None
    curve: tuple[PowerPoint, ...]
    gold: int | None


@dataclass(frozen=True, repr=False, eq=False)
class CampaignPlan(Answer):
    """Topics, judgements, hours and money that a difference needs, by measure."""

    command: ClassVar[str] = "lab plan"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:plan_document"

    runs: tuple[str, ...]
    baseline: str | None
    difference: float
    power: float
    alpha: float
    test: str
    correction: str
    pilot_topics: int
    simulations: int
    seed: int
    plans: tuple[MeasurePlan, ...]
    judgements_per_topic: float | None
    assessors: int
    seconds: float | None
    hourly: float | None
    judge_correlation: float | None
    judge_topics: int | None

    def plan(self, measure: str) -> MeasurePlan:
        """The plan under one measure."""
        for plan in self.plans:
            if plan.measure == measure:
                return plan
        raise UsageError(f"no plan for {measure!r}")

    def judgements(self, topics: int | None) -> float | None:
        """How many judgements so many topics take."""
        if topics is None or self.judgements_per_topic is None:
            return None
        return topics * self.judgements_per_topic * self.assessors

    def hours(self, topics: int | None) -> float | None:
        """How many hours they take all people together."""
        judgements = self.judgements(topics)
        if judgements is None or self.seconds is None:
            return None
        return judgements * self.seconds / 3600

    def money(self, topics: int | None) -> float | None:
        """What they cost."""
        hours = self.hours(topics)
        return None if hours is None or self.hourly is None else hours * self.hourly

    def headline(self) -> str:
        needs = ", ".join(
            f"{p.measure} {'more than was tried' if p.needed is None else p.needed}"
            for p in self.plans
        )
        return (
            f"topics for a difference of {self.difference:g} with power {self.power:g} "
            f"({self.test}, {self.correction}, {plural(len(self.runs), 'run')}): {needs}"
        )

    def payload(self, **_: Any) -> dict[str, Any]:
        return {
            "study": "plan",
            "runs": list(self.runs),
            "baseline": self.baseline,
            "difference": self.difference,
            "power": self.power,
            "alpha": self.alpha,
            "test": self.test,
            "correction": self.correction,
            "pilot_topics": self.pilot_topics,
            "simulations": self.simulations,
            "seed": self.seed,
            "plans": [
                {
                    "measure": p.measure,
                    "spread": p.spread,
                    "formula": p.formula,
                    "topics": p.needed,
                    "topics_interval": [p.needed_low, p.needed_high],
                    "detectable": p.detectable,
                    "judgements": self.judgements(p.needed),
                    "hours": self.hours(p.needed),
                    "money": self.money(p.needed),
                    "gold": p.gold,
                    "curve": [
                        {"topics": c.topics, "difference": c.difference, "power": c.power}
                        for c in p.curve
                    ],
                }
                for p in self.plans
            ],
        }


@validate_params
@with_progress
def plan_campaign(
    scores: Scores,
    measures: str | None = None,
    *,
    difference: Real,
    power: float = 0.8,
    alpha: float = 0.05,
    baseline: str | None = None,
    test: Test = "bootstrap",
    correction: PairCorrection | None = None,
    simulations: int = 200,
    resamples: int = 400,
    judgements_per_topic: Real | None = None,
    assessors: int = 1,
    seconds: Real | None = None,
    hourly: Real | None = None,
    judge_correlation: float | None = None,
    judge_topics: int | None = None,
    rng: Seed = 0,
    progress: Watcher | None = None,
) -> CampaignPlan:
    """How many topics a campaign like this pilot needs to see a difference.

    Topics are drawn from those of the pilot with replacement, all runs are made equal on the mean
    and one of them better by `difference`; `compare`'s test with its correction over all pairs (or
    over those with the `baseline`) then finds the pairs of that run or does not. `power` is the
    share that is found. `judgements_per_topic`, `assessors` per judgement, `seconds` for each and
    the pay of an hour (`hourly`) give the cost. With a model judge whose differences of runs
    correlate with people's by `judge_correlation` on `judge_topics` topics, `gold` is how many
    topics people still have to judge (prediction-powered means).
    """
    if not 0 < difference < math.inf:
        raise UsageError(f"difference={difference!r} must be greater than 0")
    if min(simulations, resamples, assessors) < 1:
        raise UsageError("simulations=, resamples= and assessors= are whole numbers from 1 on")
    if judge_correlation is not None and not 0 <= judge_correlation < 1:
        raise UsageError(f"judge_correlation={judge_correlation!r} must be from 0 to below 1")
    for name, value in (
        ("judgements_per_topic", judgements_per_topic),
        ("seconds", seconds),
        ("hourly", hourly),
    ):
        if value is not None and not 0 <= value < math.inf:
            raise UsageError(f"{name}={value!r} is not a number from 0 on")
    if len(scores.runs) < 2:
        raise UsageError("a pilot needs two runs or more")
    test_plan = ComparisonOptions(
        baseline=baseline,
        test=test,
        correction=correction,
        alpha=alpha,
        resamples=resamples,
        power=power,
        rng=rng,
    ).plan()
    watcher, notes = Progress.of(progress), Notes()
    selected = _means(scores, measures)
    plans, pilot_topics = [], 0
    for number, measure in enumerate(selected):
        part = watcher.part(number / len(selected), (number + 1) / len(selected))
        pilot = _Pilot.of(scores, measure, test_plan, simulations)
        pilot_topics = max(pilot_topics, pilot.topics)
        plan = pilot.plan_for(float(difference), power, part)
        needed = plan.needed
        if judge_correlation is not None and needed is not None:
            size = judge_topics or 4 * needed
            gold = gold_beside_judge(needed, judge_correlation, size)
            plan = replace(plan, gold=gold)
            notes.add(_judge_sentence(str(measure), needed, gold, judge_correlation, size))
        if plan.needed is None:
            notes.add(f"{measure}: no number of topics that was tried has a power of {power:g}")
        plans.append(plan)
    if pilot_topics < 20:
        notes.add(
            f"a pilot of {plural(pilot_topics, 'topic')} says little about the spread: see the "
            "range of topics"
        )
    return CampaignPlan(
        scores.runs,
        baseline,
        float(difference),
        power,
        alpha,
        test,
        test_plan.correction,
        pilot_topics,
        simulations,
        test_plan.seed,
        tuple(plans),
        judgements_per_topic,
        assessors,
        seconds,
        hourly,
        judge_correlation,
        judge_topics,
        notes=notes.lines(),
    )


def gold_beside_judge(topics: int, correlation: float, judged: int) -> int:
    """Topics that people judge when a model judge has judged `judged` of them.

    The prediction-powered mean of n gold and N silver values has the variance
    (1 - r**2) / n + r**2 / N in units of the spread; it equals that of `topics` gold ones.

    >>> gold_beside_judge(50, 0.8, 200)
    22
    """
    explained = correlation**2
    open_share = 1 / topics - explained / max(judged, topics)
    return min(topics, math.ceil((1 - explained) / open_share - 1e-9))


def _judge_sentence(measure: str, needed: int, gold: int, correlation: float, judged: int) -> str:
    saved = 1 - gold / needed
    fact = (
        f"{measure}: beside a model judge (correlation {correlation:g}, {judged} topics) people "
        f"judge {gold} instead of {needed} topics"
    )
    return f"{fact}: it is not worth its calls" if saved < WORTH else f"{fact}, {saved:.0%} fewer"


def _means(scores: Scores, names: str | None) -> tuple[Measure, ...]:
    requested = (
        list(scores.measures)
        if names is None
        else [scores.measure_named(str(m)) for m in listed_measures(names)]
    )
    usable = tuple(m for m in requested if m in scores.values and scores.is_mean(m))
    if not usable:
        raise UsageError(
            "no measure here is a mean over topics with their values; a plan needs one"
        )
    return usable


@dataclass(frozen=True, eq=False)
class _Pilot:
    """A pilot under one measure: values of runs (rows) around their means, and the test."""

    sample: PairedSample
    centred: Floats
    plan: ComparisonPlan
    base: int | None
    simulations: int

    @classmethod
    def of(cls, scores: Scores, measure: Measure, plan: ComparisonPlan, simulations: int) -> _Pilot:
        sample = PairedSample.of(scores, measure, plan)
        values = complete_columns(sample.values)
        topics = values.shape[1]
        if topics < 3:
            raise UsageError(f"{plural(topics, 'topic')} with a value of every run: too few")
        # Drawing from n values has (n - 1) / n of their variance.
        centred = (values - values.mean(axis=1, keepdims=True)) * math.sqrt(topics / (topics - 1))
        base = None if plan.baseline is None else scores.index_of(plan.baseline)
        return cls(sample, centred, plan, base, simulations)

    @property
    def topics(self) -> int:
        return int(self.centred.shape[1])

    def plan_for(self, difference: float, power: float, progress: Progress) -> MeasurePlan:
        spread = self._spread(self.centred)
        level = self.plan.alpha / len(self.sample.asked)
        formula = topics_needed(difference, spread, power=power, alpha=level)
        curve = self._curve(min(formula or MOST, MOST), difference, power, progress.part(0.0, 0.6))
        crossing = _crossing([math.sqrt(p.topics) for p in curve], [p.power for p in curve], power)
        needed = None if crossing is None else max(math.ceil(crossing**2 - 1e-9), FEWEST)
        low, high = self._range(needed, spread)
        return MeasurePlan(
            str(self.sample.measure),
            spread,
            formula,
            needed,
            low,
            high,
            self._detectable(spread, level, power, progress.part(0.6, 1.0)),
            tuple(curve),
            None,
        )

    def _curve(
        self, around: int, difference: float, power: float, progress: Progress
    ) -> list[PowerPoint]:
        counts = sorted({max(round(share * around), FEWEST) for share in TOPIC_SHARES})
        curve: list[PowerPoint] = []
        for doubling in range(DOUBLINGS + 1):
            for topics in counts:
                curve.append(PowerPoint(topics, difference, self._power(topics, difference)))
                progress(len(curve) / (len(TOPIC_SHARES) + DOUBLINGS))
            if curve[-1].power >= power or counts[-1] >= MOST or doubling == DOUBLINGS:
                break
            counts = [min(2 * counts[-1], MOST)]
        while curve[0].power >= power and curve[0].topics > FEWEST:
            fewer = max(curve[0].topics // 2, FEWEST)
            curve.insert(0, PowerPoint(fewer, difference, self._power(fewer, difference)))
        return curve

    def _detectable(
        self, spread: float, level: float, power: float, progress: Progress
    ) -> float | None:
        usual = detectable_effect(self.topics, power=power, alpha=level) * spread
        if not 0 < usual < math.inf:
            return None
        sizes = [share * usual for share in DIFFERENCE_SHARES]
        powers = []
        for number, size in enumerate(sizes, 1):
            powers.append(self._power(self.topics, size))
            progress(number / len(sizes))
        return _crossing(sizes, powers, power)

    def _power(self, topics: int, difference: float) -> float:
        """The share of the better run's pairs that are found, over all simulations."""
        # The same draws for every size, so that powers grow with it.
        rng = np.random.default_rng([self.plan.seed, topics])
        runs = len(self.centred)
        pairs, asked = self.sample.pairs, self.sample.asked
        shares = np.empty(self.simulations)
        for number in range(self.simulations):
            values = self.centred[:, rng.integers(0, self.topics, topics)]
            better = int(rng.integers(0, runs))
            if better == self.base:
                better = (better + 1) % runs
            values[better] += self.sample.sign * difference
            drawn = replace(self.sample, values=values, plan=replace(self.plan, seed=number))
            tests = run_tests(drawn, Progress())
            of_better = asked[(pairs[asked] == better).any(axis=1)]
            right_way = np.where(pairs[of_better, 0] == better, 1, -1)
            found = (tests.corrected[of_better] <= self.plan.alpha) & (
                tests.direction[of_better] == right_way
            )
            shares[number] = found.mean()
        return float(shares.mean())

    def _spread(self, values: Floats) -> float:
        """The median standard deviation of the differences of the pairs in question."""
        pairs = self.sample.pairs[self.sample.asked]
        return float(np.median((values[pairs[:, 0]] - values[pairs[:, 1]]).std(axis=1)))

    def _range(self, needed: int | None, spread: float) -> tuple[int | None, int | None]:
        """Topics needed had the pilot had other ones: they grow with the square of the spread."""
        if needed is None or spread == 0:
            return needed, needed
        rng = np.random.default_rng([self.plan.seed, 1])
        spreads = [
            self._spread(self.centred[:, rng.integers(0, self.topics, self.topics)])
            for _ in range(PILOT_DRAWS)
        ]
        low, high = np.quantile(np.square(spreads) / spread**2, [0.025, 0.975])
        return max(math.floor(needed * low), FEWEST), math.ceil(needed * high)


def _crossing(sizes: list[float], powers: list[float], power: float) -> float | None:
    """Where a curve of powers reaches one, by straight lines on the scale of the normal."""
    # Simulated powers waver: a larger size never has less.
    rising = np.maximum.accumulate(powers)
    if rising[-1] < power:
        return None
    normal = NormalDist()
    heights = [normal.inv_cdf(min(max(float(p), 0.002), 0.998)) for p in rising]
    return float(np.interp(normal.inv_cdf(power), heights, sizes))
