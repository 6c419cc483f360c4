"""A gate for changes: are runs at least as good as asked for, and not worse than a baseline?"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from cranfield._lazy import np
from cranfield.comparison.options import ComparisonOptions
from cranfield.errors import UsageError, suggest
from cranfield.options import DEFAULT_RESAMPLES, IntervalMethod, PairCorrection, Tail, Test
from cranfield.validation import describe_value, validate_params

if TYPE_CHECKING:
    from cranfield.comparison.answer import Comparison, Pair
    from cranfield.comparison.options import ComparisonPlan
    from cranfield.evaluation.scores import Scores
    from cranfield.measures.base import Measure
    from cranfield.stats._resample import Resamples, Rng

# "interval" is the older name of non-inferiority.
By: TypeAlias = Literal["test", "non-inferiority", "superiority", "interval"]
WAYS: tuple[By, ...] = get_args(By)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was asked for: of which run and measure, whether it holds, in a sentence."""

    run: str
    measure: str
    holds: bool
    said: str


def check_floors(scores: Scores, floors: Mapping[str, float]) -> tuple[Check, ...]:
    """Whether the mean of each run reaches the value of a measure (or stays below, if less is
    better)."""
    checks = []
    for name, floor in floors.items():
        missed = {line.partition(": ")[0]: line for line in scores.below({name: floor})}
        for run in scores.runs:
            reached = f"{run}: {name} reaches {floor:g}"
            checks.append(Check(run, name, run not in missed, missed.get(run, reached)))
    return tuple(checks)


def worse_checked(
    comparison: Comparison, margin: float = 0.0, by: By = "test"
) -> tuple[Check, ...]:
    """Whether each run is no worse than the baseline by more than a margin.

    The interval of the difference, at the level of the comparison, is held against the margin.
    by="test": a run fails when it is shown to lose more than the margin, all of the interval lying
    beyond it, so that neither noise nor an allowed loss fails a run. by="non-inferiority": it
    fails unless the interval rules such a loss out, so that too few topics fail every run.
    by="superiority": it fails unless it is shown to gain more than the margin.
    """
    if comparison.baseline is None:
        raise UsageError("what would a run be worse than? Name the run with baseline=")
    if by not in WAYS:
        raise UsageError(f"by={by!r} is not one of {', '.join(WAYS)}.{suggest(by, WAYS)}")
    if not margin >= 0:
        raise UsageError(f"{margin!r} is not a number from 0 on")
    lower = {str(m["name"]) for m in comparison.measures if m["higher_is_better"] is False}
    unknown = [str(m["name"]) for m in comparison.measures if m["higher_is_better"] is None]
    if unknown:
        raise UsageError(f"of {unknown[0]} neither more nor less is better: nothing is worse")
    alpha = comparison.alpha
    return tuple(
        _check(pair, comparison.baseline, -1 if pair.measure in lower else 1, margin, by, alpha)
        for pair in comparison.pairs
    )


def _check(pair: Pair, baseline: str, sign: int, margin: float, by: By, alpha: float) -> Check:
    gain = sign * pair.difference
    low, high = sorted(sign * end for end in pair.ci)
    if by == "superiority":
        fails = not low > margin
    elif by == "test":
        # The correction for several runs also holds: a loss that it does not show is none.
        fails = high < -margin and pair.p_corrected <= alpha
    else:
        fails = not low >= -margin
    requirement = (
        f"gain asked for {margin:g}" if by == "superiority" else f"allowed loss {margin:g}"
    )
    message = (
        f"{pair.a}: {pair.measure} is {pair.mean_a:.4f}, {baseline} has {pair.mean_b:.4f} "
        f"({sign * gain:+.4f}, interval {pair.ci[0]:+.4f} to {pair.ci[1]:+.4f}, "
        f"p {pair.p_corrected:.4f}); {requirement} by {by}"
    )
    return Check(pair.a, pair.measure, not fails, message)


def read_ledger(baseline: object) -> Scores | None:
    """The accepted baselines that a baseline holds, be it scores or a file; None for any other."""
    from cranfield.evaluation.inputs import is_saved, read_scores
    from cranfield.evaluation.scores import Scores

    if isinstance(baseline, Scores):
        scores = baseline
    elif isinstance(baseline, (str, Path)) and is_saved(baseline):
        scores = read_scores([baseline])
    else:
        return None
    return scores if scores.accepted else None


@validate_params
def accept_run(baseline: Scores | str | Path, scores: Scores) -> Scores:
    """The accepted baselines of a gate with one more, the run of some scores.

    Parameters
    ----------
    baseline
        The baselines so far, oldest first: what this function gave, or scores of one run, or a
        file of either.
    scores
        The scores of the run that is accepted.

    Returns
    -------
    Scores
        All accepted runs, under the measures that all of them have. Saved, they are a baseline:
        a change is held against the last one, and for its drift against all the others.

    Examples
    --------
    >>> import cranfield as cf
    >>> judged = {t: {"a": 1, "b": 0} for t in "uvw"}
    >>> first, second = (cf.evaluate(judged, {"main": {t: {"a": 1}} for t in judged}, "AP"),) * 2
    >>> cf.accept_run(cf.accept_run(first, second), second).runs
    ('main', 'main 2', 'main 3')
    """
    from cranfield.evaluation.inputs import read_scores
    from cranfield.evaluation.scores import Scores

    if not isinstance(scores, Scores):
        raise UsageError(f"scores={describe_value(scores)} is not a valid value (expected: Scores)")
    ledger = baseline if isinstance(baseline, Scores) else read_scores([baseline])
    if ledger.accepted == 0 and len(ledger.runs) != 1:
        raise UsageError(f"a baseline is one run, and these are {', '.join(ledger.runs)}")
    if len(scores.runs) != 1:
        raise UsageError(f"one run is accepted at a time, and these are {', '.join(scores.runs)}")
    ledger = ledger.of_runs(ledger.runs[: ledger.accepted or 1])
    shared = [m for m in ledger.measures if m in scores.measures]
    if not shared:
        raise UsageError("the baseline has scores under none of these measures")
    numbered = (f"{scores.runs[0]} {number}" for number in itertools.count(2))
    names = itertools.chain(scores.runs, numbered)
    name = next(name for name in names if name not in ledger.runs)
    joined = Scores.concat([ledger.select(shared), replace(scores.select(shared), runs=(name,))])
    return replace(joined, accepted=len(joined.runs), notes=())


def drift_checked(
    scores: Scores,
    ledger: Scores,
    margin: float = 0.0,
    by: By = "test",
    options: ComparisonOptions | None = None,
) -> tuple[Check, ...]:
    """Whether each run is no worse, by more than a margin, than any baseline before the last one.

    Each accepted change may lose up to the margin, and ten of them ten times as much: the loss
    since each earlier baseline is tested against the same margin. by="test": a run fails when it is
    shown to lose more, corrected for the number of baselines. by="non-inferiority": it fails unless
    such a loss is ruled out for every one of them. by="superiority" asks for gains, and nothing of
    drift. Of `options` those of the test hold, not tail, interval, margin and power.
    """
    if ledger.accepted < 2 or by == "superiority":
        return ()
    options = options or ComparisonOptions()
    plan = ComparisonOptions(
        test=options.test,
        correction=options.correction,
        alpha=options.alpha,
        resamples=options.resamples,
        units=options.units,
        design=options.design,
        correct=options.correct,
        rng=options.rng,
        jobs=options.jobs,
    ).plan()
    earlier = ledger.of_runs(ledger.runs[: ledger.accepted - 1])
    shared = [m for m in scores.measures if m in earlier.measures]
    if options.measures is not None:
        names = options.measures
        names = names.split() if isinstance(names, str) else names
        selected = {scores.measure_named(name) for name in names}
        shared = [m for m in shared if m in selected]
    plan = plan.for_measures(len(shared))
    return tuple(
        _drift(scores.of_runs([run]), earlier, measure, margin, by, plan)
        for measure in shared
        for run in scores.runs
    )


def _drift(
    scores: Scores, earlier: Scores, measure: Measure, margin: float, by: By, plan: ComparisonPlan
) -> Check:
    """Test a run against earlier baselines that are put lower by the margin."""
    from cranfield.comparison.sampling import sampled_units
    from cranfield.comparison.significance import PairedSample, run_tests
    from cranfield.evaluation.scores import Scores
    from cranfield.notes import Notes, Progress

    sign = -1.0 if measure.higher_is_better is False else 1.0
    baselines = [f"baseline {name}" for name in earlier.runs]
    joined = Scores.concat(
        [scores.select([measure]), replace(earlier.select([measure]), runs=tuple(baselines))]
    )
    units = sampled_units(joined, measure, plan, Notes())
    values = units.values.copy()
    values[1:] -= sign * margin
    pairs = np.array([[i, 0] for i in range(1, len(values))], dtype=np.int64)
    sample = PairedSample(joined, measure, plan, units, values, pairs, np.arange(len(pairs)))
    results = run_tests(sample, Progress.of(None))
    if by == "test":
        fails = (results.corrected <= plan.alpha) & (results.direction > 0)
    else:
        fails = ~((results.p <= plan.alpha) & (results.direction < 0))
    means = joined.plain_means(measure)
    losses = [sign * (mean - means[0]) for mean in means[1:]]
    candidates = np.flatnonzero(fails) if fails.any() else np.arange(len(losses))
    worst = int(max(candidates, key=lambda i: losses[i]))
    run, name = scores.runs[0], earlier.runs[worst]
    message = (
        f"{run}: {measure} is {means[0]:.4f}, the accepted baseline {name} ({worst + 1} of "
        f"{len(losses) + 1}, oldest first) has {means[worst + 1]:.4f} ({-losses[worst]:+.4f}, "
        f"p of more than the margin {results.corrected[worst]:.4f}); allowed loss {margin:g} since "
        f"any accepted baseline by {by}"
    )
    return Check(run, str(measure), not bool(fails.any()), message)


@validate_params
def assert_not_worse(
    scores: Scores,
    baseline: str | Path | Scores,
    margin: float = 0.0,
    *,
    measures: str | Sequence[str] | None = None,
    by: By = "test",
    test: Test = "bootstrap",
    correction: PairCorrection | None = None,
    tail: Tail = "two",
    alpha: float = 0.05,
    interval: IntervalMethod | None = None,
    resamples: Resamples = DEFAULT_RESAMPLES,
    rng: Rng = 0,
    jobs: int = 1,
) -> Comparison:
    """An AssertionError that names every run worse than the baseline by more than a margin.

    `baseline` is a run among the scores, other scores, or a file of saved ones; where it holds
    accepted baselines (`accept_run`), the run is held against the last one and, for its drift,
    against all others. See `worse_checked` for `by`, and `compare` for the other options.

    >>> import cranfield as cf
    >>> judged = {t: {"a": 1, "b": 0} for t in "uvwxyz"}
    >>> runs = {"old": {t: {"a": 2, "b": 1} for t in judged}}
    >>> found = cf.evaluate(judged, runs | {"new": runs["old"]}, "AP")
    >>> cf.assert_not_worse(found, "old").baseline
    'old'
    """
    from cranfield.comparison.compare import compare_scores
    from cranfield.evaluation.inputs import with_baseline
    from cranfield.evaluation.scores import Scores
    from cranfield.notes import Progress

    if not isinstance(scores, Scores):
        raise UsageError(f"scores={describe_value(scores)} are not the scores of an evaluation")
    joined, name = with_baseline(scores, baseline)
    ledger = read_ledger(baseline)
    options = ComparisonOptions(
        baseline=name,
        measures=measures,
        test=test,
        correction=correction,
        tail=tail,
        alpha=alpha,
        interval=interval,
        resamples=resamples,
        rng=rng,
        jobs=jobs,
    )
    comparison = compare_scores(joined, options, Progress.of(None))
    checks = list(worse_checked(comparison, margin, by=by))
    if ledger is not None:
        checks += drift_checked(scores, ledger, margin, by, options)
    wrong = [check.said for check in checks if not check.holds]
    if wrong:
        raise AssertionError("worse than the baseline:\n" + "\n".join(wrong))
    return comparison


def failed(checks: Iterable[Check]) -> tuple[str, ...]:
    """The sentences of those that do not hold."""
    return tuple(check.said for check in checks if not check.holds)
