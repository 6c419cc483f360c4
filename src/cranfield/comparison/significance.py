"""The tests of a comparison: p-values of all pairs under a measure, corrected, and which way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from cranfield.comparison.options import ComparisonPlan
from cranfield.comparison.sampling import SampledUnits, sampled_units
from cranfield.evaluation.scores import Scores
from cranfield.measures.base import Measure
from cranfield.notes import Notes, Progress
from cranfield.options import FAMILY_WISE, STEP_DOWN, Tail
from cranfield.stats import anova, paired, posthoc, randomization
from cranfield.stats._resample import Floats, Ints, all_pairs
from cranfield.stats.bootstrap import Draws, Studentized, studentized
from cranfield.stats.corrections import StepDown, correct, step_down
from cranfield.stats.paired import Bools, Differences

ROWWISE: dict[str, Callable[..., paired.PairedResult]] = {
    "t": paired.t_test,
    "wilcoxon": paired.wilcoxon_test,
    "sign": paired.sign_test,
}
_CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class PairedSample:
    """The runs under one measure, and the pairs in question.

    `values` are those of the `units` that were sampled. `pairs` are all pairs, with the baseline,
    where there is one, as the second run; `asked` are the positions of those that the comparison is
    about. The others stand behind the leaderboard.
    """

    scores: Scores
    measure: Measure
    plan: ComparisonPlan
    units: SampledUnits
    values: Floats
    pairs: Ints
    asked: Ints

    @classmethod
    def of(
        cls,
        scores: Scores,
        measure: Measure,
        plan: ComparisonPlan,
        units: SampledUnits | None = None,
    ) -> PairedSample:
        """The runs under a measure on the units that were sampled, or on others that are known."""
        units = units or sampled_units(scores, measure, plan, Notes())
        pairs = all_pairs(len(scores.runs))
        requested = np.arange(len(pairs))
        if plan.baseline is not None:
            base = scores.index_of(plan.baseline)
            pairs[pairs[:, 0] == base] = pairs[pairs[:, 0] == base][:, ::-1]
            requested = np.flatnonzero(pairs[:, 1] == base)
        return cls(scores, measure, plan, units, units.values, pairs, requested)

    @property
    def single_values(self) -> Floats:
        """The values of single topics, items or concepts, for what describes a pair."""
        return np.asarray(self.scores.values[self.measure])

    @property
    def gives_overall(self) -> bool:
        """Whether the means are the values that the evaluation gave."""
        if self.units.design:
            return bool(np.allclose(self.values.mean(axis=1), self.scores.overall[self.measure]))
        return self.measure.averaging != "sum"

    @property
    def sign(self) -> float:
        return -1.0 if self.measure.higher_is_better is False else 1.0

    @property
    def oriented(self) -> Floats:
        """The values such that greater is better."""
        return self.sign * self.values

    @property
    def complete(self) -> Floats:
        """The columns without a gap: the topics that every run has."""
        return complete_columns(self.values)


@dataclass(frozen=True, slots=True)
class TestResults:
    """What the tests say of each pair of a case.

    `direction` is 1 where the first run is the better one by what the test looks at, -1 where it
    is worse. `levels` gives, for a number of topics, the level that the correction leaves for one
    pair.
    """

    p: Floats
    corrected: Floats
    direction: Ints
    bootstrap: Studentized | None
    levels: Callable[[int], float] = field(repr=False)

    def beaten(self, sample: PairedSample) -> Bools:
        """For every two runs whether the second is significantly better than the first."""
        runs = len(sample.scores.runs)
        beaten = np.zeros((runs, runs), dtype=bool)
        apart = self.corrected <= sample.plan.alpha
        for better, worse, sign in ((0, 1, 1), (1, 0, -1)):
            decided = sample.pairs[apart & (self.direction == sign)]
            beaten[decided[:, worse], decided[:, better]] = True
        return beaten


def run_tests(sample: PairedSample, progress: Progress) -> TestResults:
    """Test and correct all pairs of a case."""
    plan = sample.plan
    bootstrap = _bootstrap(sample, progress.part(0.0, 0.7)) if plan.test == "bootstrap" else None
    every = _p_values(sample, sample.pairs, plan.board_tail, bootstrap)
    progress(0.8)
    p, corrected = every.copy(), np.ones(len(sample.pairs))
    rest = np.setdiff1d(np.arange(len(sample.pairs)), sample.asked)
    if rest.size:
        corrected[rest] = _corrected(sample, np.arange(len(sample.pairs)), every, plan.board_tail)[
            0
        ][rest]
    requested = sample.asked
    if plan.tail == "one":
        p[requested] = _p_values(sample, sample.pairs[requested], "one", _at(bootstrap, requested))
    corrected[requested], steps = _corrected(sample, requested, p[requested], plan.tail)
    corrected = np.minimum(plan.times * corrected, 1.0)
    progress(1.0)
    return TestResults(
        p,
        corrected,
        _directions(sample, bootstrap),
        bootstrap,
        _levels(sample, requested.size, steps),
    )


def _bootstrap(sample: PairedSample, progress: Progress) -> Studentized:
    plan = sample.plan
    draws = Draws(sample.values.shape[1], plan.draws, plan.seed, plan.jobs)
    return studentized(
        Differences(sample.values, sample.pairs),
        draws,
        confidence=1 - plan.alpha,
        progress=progress,
    )


def _at(bootstrap: Studentized | None, positions: Ints) -> Studentized | None:
    if bootstrap is None:
        return None
    return Studentized(*(getattr(bootstrap, name)[positions] for name in Studentized.__slots__))


def _p_values(
    sample: PairedSample, pairs: Ints, tail: Tail, bootstrap: Studentized | None
) -> Floats:
    """The p-value of each pair."""
    plan, sign = sample.plan, sample.sign
    if bootstrap is not None:
        return bootstrap.p(tail, sign)
    oriented = sign * sample.values
    if plan.test in FAMILY_WISE:
        return _family_p(oriented, pairs, plan)
    if plan.test == "randomization":
        return randomization.randomization_test(
            _few_enough(oriented, plan),
            pairs,
            tail=tail,
            resamples=plan.resamples,
            rng=plan.seed,
            jobs=plan.jobs,
            gaps=True,
        ).p
    p = np.ones(len(pairs))
    for members, rows in rows_of_groups(oriented, pairs):
        p[members] = ROWWISE[plan.test](rows, tail=tail).p
    return p


def _few_enough(values: Floats, plan: ComparisonPlan) -> Floats:
    """All signs of topics that no pair has would only be counted in vain."""
    if plan.resamples != "exact":
        return values
    return values[:, (~np.isnan(values)).sum(axis=0) > 1]


def _family_p(oriented: Floats, pairs: Ints, plan: ComparisonPlan) -> Floats:
    complete = complete_columns(oriented)
    if not complete.shape[1]:
        return np.ones(len(pairs))
    if plan.test == "tukey":
        return posthoc.tukey_test(complete, pairs).p
    if plan.test == "nemenyi":
        return posthoc.nemenyi_test(complete, pairs).p
    return posthoc.randomized_tukey_test(
        complete, pairs, resamples=plan.draws, rng=plan.seed, jobs=plan.jobs
    ).p


def _corrected(
    sample: PairedSample, members: Ints, p: Floats, tail: Tail
) -> tuple[Floats, StepDown | None]:
    """p-values corrected for being many, and the draws that the correction took."""
    plan = sample.plan
    if plan.correction != STEP_DOWN:
        return correct(p, plan.correction), None
    if members.size == 1:
        return p.copy(), None
    steps = step_down(
        _few_enough(sample.oriented, plan),
        sample.pairs[members],
        tail=tail,
        resamples=plan.resamples,
        rng=plan.seed,
        jobs=plan.jobs,
    )
    return np.maximum(p, steps.p), steps


def _levels(sample: PairedSample, family: int, steps: StepDown | None) -> Callable[[int], float]:
    """The level at which one pair of a given number of topics is tested in effect."""
    plan, runs = sample.plan, len(sample.scores.runs)
    sides = 2 if plan.tail == "two" else 1

    def level(topics: int) -> float:
        from cranfield.stats._special import ndtr, stdtr

        alpha = plan.alpha / plan.times
        bonferroni = alpha / family
        if plan.test in FAMILY_WISE and topics > 1:
            df = float("inf") if plan.test == "nemenyi" else (runs - 1) * (topics - 1)
            reach = posthoc.critical_range(runs, df, alpha=alpha) / 2**0.5
            return float(2 * (ndtr(-reach) if plan.test == "nemenyi" else stdtr(df, -reach)))
        if plan.correction == "none" or family == 1:
            return alpha
        if steps is None or topics < 2:
            return bonferroni
        reach = steps.critical(alpha, topics)
        return max(float(sides * stdtr(topics - 1, -reach)), bonferroni)

    return level


def _directions(sample: PairedSample, bootstrap: Studentized | None) -> Ints:
    """Which run of each pair is ahead by what the test looks at: means, wins, or ranks."""
    test, oriented = sample.plan.test, sample.oriented
    if test in FAMILY_WISE:
        complete = complete_columns(oriented)
        if not complete.shape[1]:
            return np.zeros(len(sample.pairs), dtype=np.int64)
        by_rank = test == "nemenyi"
        height = np.array(anova.friedman(complete).mean_ranks) if by_rank else complete.mean(axis=1)
        gap = height[sample.pairs[:, 0]] - height[sample.pairs[:, 1]]
        return _signs(gap)
    if bootstrap is not None:
        return _signs(sample.sign * bootstrap.statistic)
    gap = np.zeros(len(sample.pairs))
    for members, rows in rows_of_groups(oriented, sample.pairs):
        gap[members] = _ahead(test, rows)
    return _signs(gap)


def _signs(gap: Floats) -> Ints:
    signs: Ints = np.sign(gap).astype(np.int64)
    return signs


def _ahead(test: str, rows: Floats) -> Floats:
    if test == "sign":
        rows = np.sign(rows)
    if test == "wilcoxon":
        return np.array([_signed_ranks(row) for row in rows])
    sums: Floats = rows.sum(axis=1)
    return sums


def _signed_ranks(row: Floats) -> float:
    nonzero = row[row != 0]
    ranks, _ = paired.average_ranks(np.abs(nonzero))
    return float((np.sign(nonzero) * ranks).sum())


@dataclass(frozen=True, slots=True)
class Group:
    """Pairs that share the same topics: the scores there, and which pairs they are."""

    values: Floats
    local: Ints
    members: Ints

    def chunks(self) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Members, their runs and their differences, as many as fit into memory."""
        step = max(1, _CELLS_AT_ONCE // max(self.values.shape[1], 1))
        for start in range(0, len(self.local), step):
            local = self.local[start : start + step]
            rows = np.take(self.values, local[:, 0], axis=0)
            rows -= np.take(self.values, local[:, 1], axis=0)
            yield self.members[start : start + step], local, rows


def groups(values: Floats, pairs: Ints) -> Iterator[Group]:
    """The pairs, grouped by the topics for which both runs have a value."""
    defined = ~np.isnan(values)
    if defined.all():
        yield Group(values, pairs, np.arange(len(pairs)))
        return
    members: dict[bytes, list[int]] = {}
    for i, (a, b) in enumerate(pairs):
        members.setdefault((defined[a] & defined[b]).tobytes(), []).append(i)
    for key, indices in members.items():
        columns = np.frombuffer(key, dtype=np.bool_)
        pair_numbers = np.array(indices, dtype=np.int64)
        runs, local = np.unique(pairs[pair_numbers], return_inverse=True)
        yield Group(values[runs][:, columns], local.reshape(-1, 2), pair_numbers)


def rows_of_groups(values: Floats, pairs: Ints) -> Iterator[tuple[Ints, Floats]]:
    """The differences of all pairs, those with the same topics together."""
    for group in groups(values, pairs):
        if group.values.shape[1]:
            for members, _, rows in group.chunks():
                yield members, rows


def complete_columns(values: Floats) -> Floats:
    """The columns without a gap."""
    complete: Floats = values[:, ~np.isnan(values).any(axis=0)]
    return complete
