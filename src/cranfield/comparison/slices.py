"""Scores by slices of the topics, items or concepts: means, intervals and tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np

from cranfield._json import jsonable
from cranfield.answers import Answer
from cranfield.comparison.compare import compare
from cranfield.errors import UsageError, plural
from cranfield.evaluation.scores import Scores
from cranfield.io.design import read_unit_groups
from cranfield.notes import Notes, Progress, Watcher
from cranfield.options import DEFAULT_RESAMPLES, Correction, Test
from cranfield.stats._resample import Resamples, Rng, seed_of
from cranfield.stats.corrections import correct

# The group of each unit, or its groups; or a CSV file topic,group (item,group; concept,group).
Groups: TypeAlias = "Mapping[str, str | Sequence[str]] | str | Path"
# Below, the topics of a slice say nothing of their spread.
FEWEST_UNITS = 2


@dataclass(frozen=True, slots=True)
class SliceMean:
    """The mean of a run over the units of a slice; the interval is None where there is none."""

    slice: str
    units: int
    run: str
    measure: str
    mean: float
    ci: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class SlicePair:
    """The difference of two runs in a slice; `p_corrected` counts all slices and pairs."""

    slice: str
    measure: str
    a: str
    b: str
    difference: float
    ci: tuple[float, float]
    p: float
    p_corrected: float


@dataclass(frozen=True, repr=False, eq=False)
class SlicedScores(Answer):
    """What runs score in each slice, and in which slices they differ."""

    table_maker: ClassVar[str] = "cranfield.report.tables.comparison:slices_document"
    word: str
    unit: str
    slices: Mapping[str, int]
    runs: tuple[str, ...]
    measures: tuple[str, ...]
    means: tuple[SliceMean, ...]
    pairs: tuple[SlicePair, ...]
    baseline: str | None
    test: str
    correction: str
    alpha: float

    def _word(self) -> str:
        return self.word

    def headline(self) -> str:
        """How many slices, and in how many pairs of them a difference is shown."""
        shown = sum(pair.p_corrected <= self.alpha for pair in self.pairs)
        return (
            f"{plural(len(self.runs), 'run')} in {plural(len(self.slices), 'slice')} of the "
            f"{self.unit}s; {plural(shown, 'difference')} shown"
        )

    def mean(self) -> dict[str, dict[str, dict[str, float]]]:
        """The means: {slice: {run: {measure: value}}}."""
        by_slice: dict[str, dict[str, dict[str, float]]] = {}
        for row in self.means:
            by_slice.setdefault(row.slice, {}).setdefault(row.run, {})[row.measure] = row.mean
        return by_slice

    def payload(self, **_: Any) -> dict[str, Any]:
        """The slices, the means of each run in them, and the pairs."""
        document: dict[str, Any] = jsonable(
            {
                "unit": self.unit,
                "slices": [{"slice": name, "units": n} for name, n in self.slices.items()],
                "means": [asdict(row) for row in self.means],
                "pairs": [asdict(pair) for pair in self.pairs],
                "baseline": self.baseline,
                "test": self.test,
                "correction": self.correction,
                "alpha": self.alpha,
            }
        )
        return document


def slice_scores(
    scores: Scores,
    groups: Groups,
    *,
    baseline: str | None = None,
    test: Test = "bootstrap",
    correction: Correction = "holm",
    alpha: float = 0.05,
    resamples: Resamples = DEFAULT_RESAMPLES,
    rng: Rng = 0,
    jobs: int = 1,
    word: str = "eval",
    progress: Watcher | None = None,
) -> SlicedScores:
    """See `Scores.by`; `word` is the command that asks."""
    step, notes = Progress.of(progress), Notes()
    unit, members = _members(scores, groups, notes)
    seed = seed_of(rng)
    measures = [m for m in scores.measures if scores.unit_of[m] == unit and scores.is_mean(m)]
    left_out = [str(m) for m in scores.measures if m not in measures]
    if not measures:
        raise UsageError(
            f"no measure of these scores is a mean over {unit}s: {', '.join(left_out)}"
        )
    if left_out:
        notes.add(f"no mean over {unit}s, so left out: {', '.join(left_out)}")
    means: list[SliceMean] = []
    pairs: list[SlicePair] = []
    for i, (name, units) in enumerate(members.items()):
        part = scores.select([str(m) for m in measures]).of_units(unit, units)
        if scores.design is not None and unit == scores.main_unit:
            position = {name: at for at, name in enumerate(scores.units[unit])}
            at = np.array([position[name] for name in part.units[unit]])
            part = replace(part, design=scores.design.at(at))
        values, intervals = part.mean(), part.interval(confidence=1 - alpha, rng=seed, jobs=jobs)
        for run in part.runs:
            for m in map(str, measures):
                box = intervals[run][m]
                ends = None if box is None or math.isnan(box.low) else (box.low, box.high)
                means.append(SliceMean(name, len(units), run, m, values[run][m], ends))
        if len(part.runs) > 1 and len(units) >= FEWEST_UNITS:
            answer = compare(
                part,
                baseline=baseline,
                test=test,
                correction="none",
                units="concepts" if unit == "concept" else None,
                alpha=alpha,
                resamples=resamples,
                rng=seed,
                jobs=jobs,
            )
            pairs += [
                SlicePair(name, p.measure, p.a, p.b, p.difference, p.ci, p.p, p.p)
                for p in answer.pairs
            ]
        elif len(part.runs) > 1:
            notes.add(f"slice {name!r} has one {unit}, so nothing is tested there")
        step((i + 1) / len(members))
    return SlicedScores(
        word,
        unit,
        {name: len(units) for name, units in members.items()},
        scores.runs,
        tuple(map(str, measures)),
        tuple(means),
        _corrected(pairs, correction),
        baseline,
        test,
        correction,
        alpha,
        notes=(*scores.notes, *notes.lines()),
    )


def _corrected(pairs: Sequence[SlicePair], correction: Correction) -> tuple[SlicePair, ...]:
    """The pairs with p-values corrected over all slices and pairs of a measure."""
    p_corrected = np.array([pair.p for pair in pairs])
    for measure in {pair.measure for pair in pairs}:
        at = np.array([i for i, pair in enumerate(pairs) if pair.measure == measure])
        p_corrected[at] = correct(p_corrected[at], correction)
    return tuple(
        replace(pair, p_corrected=float(p)) for pair, p in zip(pairs, p_corrected, strict=True)
    )


def _members(scores: Scores, groups: Groups, notes: Notes) -> tuple[str, dict[str, list[str]]]:
    """The kind of unit that the groups are of, and the units of each group."""
    unit = ""
    if isinstance(groups, Mapping):
        by_unit = {
            str(name): (group,) if isinstance(group, str) else tuple(map(str, group))
            for name, group in groups.items()
        }
    else:
        unit, by_unit = read_unit_groups(groups)
    kinds = {kind: set(names) for kind, names in scores.units.items()}
    if unit not in kinds:
        unit = max(kinds, key=lambda kind: len(kinds[kind] & by_unit.keys()))
    if not kinds[unit] & by_unit.keys():
        example = next(iter(by_unit), "")
        raise UsageError(f"the groups name no {unit} of the scores (such as {example!r})")
    members: dict[str, list[str]] = {}
    for name in scores.units[unit]:
        for group in by_unit.get(name, ()):
            members.setdefault(group, []).append(name)
    outside = len(kinds[unit] - by_unit.keys())
    if outside:
        notes.add(f"{plural(outside, unit)} in no group, so in no slice")
    return unit, dict(sorted(members.items()))
