"""A gate for changes: are runs at least as good as asked for, and not worse than a baseline?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from cranfield.errors import UsageError, suggest
from cranfield.options import IntervalMethod, PairCorrection, Tail, Test
from cranfield.validation import describe_value, validate_params

if TYPE_CHECKING:
    from cranfield.comparison.answer import Comparison, Pair
    from cranfield.evaluation.scores import Scores
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
    resamples: Resamples = 10_000,
    rng: Rng = 0,
    jobs: int = 1,
) -> Comparison:
    """An AssertionError that names every run worse than the baseline by more than a margin.

    `baseline` is a run among the scores, other scores, or a file of saved ones. See
    `worse_checked` for `by`, and `compare` for the other options.

    >>> import cranfield as cf
    >>> judged = {t: {"a": 1, "b": 0} for t in "uvwxyz"}
    >>> runs = {"old": {t: {"a": 2, "b": 1} for t in judged}}
    >>> found = cf.evaluate(judged, runs | {"new": runs["old"]}, "AP")
    >>> cf.assert_not_worse(found, "old").baseline
    'old'
    """
    from cranfield.evaluation.inputs import with_baseline
    from cranfield.evaluation.scores import Scores

    if not isinstance(scores, Scores):
        raise UsageError(f"scores={describe_value(scores)} are not the scores of an evaluation")
    joined, name = with_baseline(scores, baseline)
    comparison = joined.compare(
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
    wrong = [check.said for check in worse_checked(comparison, margin, by=by) if not check.holds]
    if wrong:
        raise AssertionError("worse than the baseline:\n" + "\n".join(wrong))
    return comparison


def failed(checks: Iterable[Check]) -> tuple[str, ...]:
    """The sentences of those that do not hold."""
    return tuple(check.said for check in checks if not check.holds)
