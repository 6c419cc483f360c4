"""The choices of a comparison: which there are, which go together, and what is usual."""

from __future__ import annotations

from dataclasses import dataclass

from cranfield.data.collection import Design
from cranfield.errors import UsageError, suggest
from cranfield.io.design import DesignForm, coerce_design
from cranfield.options import (
    CORRECTIONS,
    FAMILY_WISE,
    INTERVAL_METHODS,
    OF_MEANS,
    RESAMPLED,
    RESAMPLED_UNITS,
    STEP_DOWN,
    TESTS,
    WITH_DRAWS,
    IntervalMethod,
    MeanMethod,
    PairCorrection,
    ResampledUnits,
    Tail,
    Test,
)
from cranfield.stats._resample import (
    DEFAULT_RESAMPLES,
    Resamples,
    Rng,
    check_resamples,
    seed_of,
)
from cranfield.stats.paired import check_tail


@dataclass(frozen=True, slots=True)
class Plan:
    """The choices of a comparison, checked."""

    test: Test
    correction: PairCorrection
    tail: Tail
    alpha: float
    # Of differences, and of means.
    interval: IntervalMethod
    mean_interval: MeanMethod
    resamples: Resamples
    seed: int
    jobs: int
    margin: float | None
    detect: float | None
    power: float
    # What is drawn anew (None: the main unit), and how it was sampled.
    units: ResampledUnits | None = None
    design: Design | None = None
    # By how many measures p-values are multiplied.
    times: int = 1

    @property
    def draws(self) -> int:
        """How many resamples the intervals take, also when the test itself is exact."""
        return DEFAULT_RESAMPLES if self.resamples == "exact" else self.resamples

    @property
    def drawing(self) -> bool:
        """Whether the p-values come from draws."""
        return self.test in WITH_DRAWS or self.correction == STEP_DOWN

    @property
    def board_tail(self) -> Tail:
        """How pairs are tested that only the leaderboard asks about: a run on the one side of
        a one-tailed test has no such side among the others."""
        return "two" if self.tail == "one" else self.tail


def checked_plan(
    *,
    baseline: str | None,
    test: Test,
    correction: PairCorrection | None,
    tail: Tail,
    alpha: float,
    interval: IntervalMethod | None,
    resamples: Resamples,
    margin: float | None,
    detect: float | None,
    power: float,
    rng: Rng,
    jobs: int,
    units: ResampledUnits | None = None,
    design: DesignForm | None = None,
) -> Plan:
    """The plan, or a UsageError that says which choice cannot be made and why."""
    _known("test", test, TESTS)
    _check_tail(tail, test, baseline)
    method: IntervalMethod = interval or ("studentized" if test == "bootstrap" else "t")
    _known("interval", method, INTERVAL_METHODS)
    if not 0 < alpha < 1:
        raise UsageError(f"alpha={alpha!r} must lie between 0 and 1")
    if not alpha < power < 1:
        raise UsageError(f"power={power!r} must lie between alpha ({alpha:g}) and 1")
    for name, value in (("margin", margin), ("detect", detect)):
        if value is not None and not 0 < value < float("inf"):
            raise UsageError(f"{name}={value!r} must be greater than 0")
    if units is not None:
        _known("units", units, RESAMPLED_UNITS)
    if jobs < 1:
        raise UsageError(f"jobs={jobs!r} must be 1 or more")
    if resamples == "exact" and test != "randomization":
        raise UsageError(f"only the randomization test has an exact form, not {test}")
    return Plan(
        test=test,
        correction=_checked_correction(correction, test),
        tail=tail,
        alpha=alpha,
        interval=method,
        mean_interval=interval or "wilson",
        resamples=check_resamples(resamples),
        seed=seed_of(rng),
        jobs=jobs,
        margin=margin,
        detect=detect,
        power=power,
        units=units,
        design=None if design is None else coerce_design(design),
    )


def _check_tail(tail: Tail, test: Test, baseline: str | None) -> None:
    check_tail(tail)
    if test in FAMILY_WISE and tail != "two":
        raise UsageError(f"the {test} test is two-tailed")
    if tail == "one" and baseline is None:
        raise UsageError(
            "a one-tailed test asks whether a run is better than the baseline; among all pairs no "
            "run is on that side (name a baseline, or take the tail 'seen', which looks in the "
            "direction that each pair has)"
        )


def _checked_correction(correction: PairCorrection | None, test: Test) -> PairCorrection:
    if test in FAMILY_WISE:
        if correction not in (None, "none"):
            raise UsageError(
                f"the {test} test corrects for all pairs itself; leave the correction out"
            )
        return "none"
    usual: PairCorrection = STEP_DOWN if test in RESAMPLED else "holm"
    name = correction or usual
    _known("correction", name, CORRECTIONS)
    if name == STEP_DOWN and test not in OF_MEANS:
        raise UsageError(
            f"the {STEP_DOWN} correction is for tests of means ({', '.join(OF_MEANS)}), not {test}"
        )
    return name


def _known(noun: str, name: str, names: tuple[str, ...]) -> None:
    if name not in names:
        raise UsageError(
            f"no {noun} {name!r} (there are: {', '.join(names)}).{suggest(name, names)}"
        )
