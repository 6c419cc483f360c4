"""The options of a comparison: which there are, which go together, and what is usual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cranfield.errors import UsageError, suggest
from cranfield.options import (
    CORRECTION_FAMILIES,
    CORRECTIONS,
    DEFAULT_RESAMPLES,
    FAMILY_WISE,
    INTERVAL_METHODS,
    OF_MEANS,
    RESAMPLED,
    RESAMPLED_UNITS,
    STEP_DOWN,
    TESTS,
    WITH_DRAWS,
    CorrectionFamily,
    IntervalMethod,
    MeanMethod,
    PairCorrection,
    ResampledUnits,
    Tail,
    Test,
)

if TYPE_CHECKING:
    from cranfield.data.collection import Design
    from cranfield.io.design import DesignForm
    from cranfield.stats._resample import Resamples, Rng


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonOptions:
    """The options of a comparison, as `cranfield.compare` lists them; None means the usual."""

    baseline: str | None = None
    measures: str | Sequence[str] | None = None
    test: Test = "bootstrap"
    correction: PairCorrection | None = None
    tail: Tail = "two"
    alpha: float = 0.05
    interval: IntervalMethod | None = None
    resamples: Resamples = DEFAULT_RESAMPLES
    margin: float | None = None
    detect: float | None = None
    power: float = 0.8
    units: ResampledUnits | None = None
    design: DesignForm | None = None
    correct: CorrectionFamily = "pairs"
    rng: Rng = 0
    jobs: int = 1

    def plan(self) -> ComparisonPlan:
        """The plan of the comparison, or a UsageError that says which choice cannot be made."""
        from cranfield.io.design import coerce_design
        from cranfield.stats._resample import check_resamples, seed_of

        test = self.test
        _check_choice("test", test, TESTS)
        _check_tail(self.tail, test, self.baseline)
        interval: IntervalMethod = self.interval or ("studentized" if test == "bootstrap" else "t")
        _check_choice("interval", interval, INTERVAL_METHODS)
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha={self.alpha!r} must lie between 0 and 1")
        if not self.alpha < self.power < 1:
            raise UsageError(f"power={self.power!r} must lie between alpha ({self.alpha:g}) and 1")
        for name, value in (("margin", self.margin), ("detect", self.detect)):
            if value is not None and not 0 < value < float("inf"):
                raise UsageError(f"{name}={value!r} must be greater than 0")
        if self.units is not None:
            _check_choice("units", self.units, RESAMPLED_UNITS)
        if self.correct not in CORRECTION_FAMILIES:
            families = ", ".join(CORRECTION_FAMILIES)
            raise UsageError(f"correct={self.correct!r} is not one of {families}")
        if self.jobs < 1:
            raise UsageError(f"jobs={self.jobs!r} must be 1 or more")
        if self.resamples == "exact" and test != "randomization":
            raise UsageError(f"only the randomization test has an exact form, not {test}")
        return ComparisonPlan(
            baseline=self.baseline,
            test=test,
            correction=_checked_correction(self.correction, test),
            tail=self.tail,
            alpha=self.alpha,
            interval=interval,
            mean_interval=self.interval or "wilson",
            resamples=check_resamples(self.resamples),
            seed=seed_of(self.rng),
            jobs=self.jobs,
            margin=self.margin,
            detect=self.detect,
            power=self.power,
            units=self.units,
            design=None if self.design is None else coerce_design(self.design),
            correct=self.correct,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPlan:
    """The options of a comparison, checked and complete."""

    baseline: str | None
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
    correct: CorrectionFamily = "pairs"
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

    def for_measures(self, count: int) -> ComparisonPlan:
        """The plan under so many measures, for which p-values may be corrected as well."""
        return replace(self, times=count) if self.correct == "measures" else self


def _check_tail(tail: Tail, test: Test, baseline: str | None) -> None:
    from cranfield.stats.paired import check_tail

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
    _check_choice("correction", name, CORRECTIONS)
    if name == STEP_DOWN and test not in OF_MEANS:
        raise UsageError(
            f"the {STEP_DOWN} correction is for tests of means ({', '.join(OF_MEANS)}), not {test}"
        )
    return name


def _check_choice(noun: str, name: str, names: tuple[str, ...]) -> None:
    if name not in names:
        raise UsageError(
            f"no {noun} {name!r} (there are: {', '.join(names)}).{suggest(name, names)}"
        )
