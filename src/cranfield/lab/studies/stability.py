"""How much may the truth or the topics change before a measure ranks the systems otherwise?

Flipped truth as in the thesis (8.4.2, 9.4.2: Tables 8.2, 9.3), incomplete truth, fewer topics,
the swap rate between topic halves of Voorhees and Buckley (2002), and discriminative power
(Sakai 2006): the share of pairs of runs that a bootstrap test tells apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.errors import UsageError, plural, suggest
from cranfield.lab.choices import DROPPED, NOISE, PARTS
from cranfield.lab.resample import (
    Disturbance,
    Draws,
    check_shares,
    disturbed,
    drawn_means,
    drawn_table,
    settled,
)
from cranfield.lab.study_input import StudyInput, notes_of
from cranfield.notes import Notes, Watcher, with_progress
from cranfield.stats._resample import Floats
from cranfield.stats.correlation import concordant, kendall, kolmogorov_smirnov
from cranfield.validation import Real, Seed, validate_params
from cranfield.work.executors import Plain, Plan, run_pieces
from cranfield.work.serialisation import floats, numbers

SWAP_BINS = 20
SWAP_ALLOWED = 0.05
SWAP_SEEN = 20


@dataclass(frozen=True, slots=True)
class Stage:
    """A measure after a change: tau to the ranking it gave at first and at the stage before.

    The ends are the smallest and largest of the repetitions; `concordant` is the share of them
    in which Kolmogorov-Smirnov's test does not call the rankings discordant.
    """

    measure: str
    change: str
    share: float
    original: float
    original_ends: tuple[float, float]
    previous: float
    previous_ends: tuple[float, float]
    concordant: float
    concordant_previous: float


@dataclass(frozen=True, slots=True)
class Swaps:
    """How often two halves of the units put a pair of runs in opposite order.

    `bins` has, for each class of the difference seen in the first half, its lower end, how
    many comparisons fell there and how many of them swapped. `needed` is the difference from
    which on at most 5 % swap, judged by 20 comparisons or more; NaN when none is large enough.
    """

    measure: str
    rate: float
    comparisons: int
    needed: float
    bins: tuple[tuple[float, int, int], ...]


@dataclass(frozen=True, slots=True)
class Power:
    """The share of pairs of runs told apart, and the largest difference any pair would need."""

    measure: str
    pairs: int
    told_apart: int
    level: float
    needed: float

    @property
    def share(self) -> float:
        return self.told_apart / self.pairs if self.pairs else float("nan")


@dataclass(frozen=True, repr=False, eq=False)
class Stability(Answer):
    """All parts that were asked for; the other tuples are empty."""

    command: ClassVar[str] = "lab stability"

    measures: tuple[str, ...]
    runs: tuple[str, ...]
    repeats: int
    seed: int
    stages: tuple[Stage, ...]
    swaps: tuple[Swaps, ...]
    powers: tuple[Power, ...]

    def stage(self, measure: str, change: str, share: float) -> Stage:
        """One cell of the tables."""
        for stage in self.stages:
            if (stage.measure, stage.change, stage.share) == (measure, change, share):
                return stage
        raise UsageError(f"no stage {share!r} of {change!r} for {measure!r}")

    def headline(self) -> str:
        subject = f"{plural(len(self.measures), 'measure')} over {plural(len(self.runs), 'run')}"
        return f"{subject}, {plural(self.repeats, 'repetition')}"

    def payload(self, **_: Any) -> dict[str, Any]:
        return {
            "study": "stability",
            "measures": list(self.measures),
            "runs": list(self.runs),
            "repeats": self.repeats,
            "seed": self.seed,
            "stages": [
                {
                    "measure": s.measure,
                    "change": s.change,
                    "share": s.share,
                    "original": s.original,
                    "original_ends": list(s.original_ends),
                    "previous": s.previous,
                    "previous_ends": list(s.previous_ends),
                    "concordant": s.concordant,
                    "concordant_previous": s.concordant_previous,
                }
                for s in self.stages
            ],
            "swaps": [
                {
                    "measure": s.measure,
                    "rate": s.rate,
                    "comparisons": s.comparisons,
                    "needed": s.needed,
                    "bins": [{"from": f, "comparisons": n, "swaps": k} for f, n, k in s.bins],
                }
                for s in self.swaps
            ],
            "power": [
                {
                    "measure": p.measure,
                    "pairs": p.pairs,
                    "told_apart": p.told_apart,
                    "share": p.share,
                    "level": p.level,
                    "needed": p.needed,
                }
                for p in self.powers
            ],
        }


@dataclass(frozen=True, slots=True)
class _Piece:
    material: StudyInput
    name: str
    source: Any
    how: Disturbance
    draws: tuple[Draws, ...]


def _run_piece(task: _Piece) -> Plain:
    """One run against every truth, and its means over every draw of units."""
    material, notes = task.material, Notes()
    run, scored = material.examine(task.source, task.name, notes)
    truths = disturbed(material, task.how)
    scores = material.scores(run, (truth for row in truths for truth in row))
    return {
        **scored.packed(notes),
        "disturbed": [[numbers(next(scores).overall) for _ in row] for row in truths],
        "draws": [drawn_means(scored, draws) for draws in task.draws],
    }


@validate_params
@with_progress
def stability(
    material: StudyInput,
    *,
    parts: tuple[str, ...] = PARTS,
    noise: tuple[float, ...] = NOISE,
    dropped: tuple[float, ...] = DROPPED,
    repeats: int = 5,
    trials: int = 100,
    resamples: int = 1000,
    level: Real = 0.05,
    rng: Seed = 0,
    plan: Plan | None = None,
    progress: Watcher | None = None,
) -> Stability:
    """Disturb the truth and the units, rank the runs again, and compare the rankings.

    `noise` are the shares of the truth to flip, `dropped` the shares of judgements and of
    units to take away; each is done `repeats` times. `trials` are the splits into halves for
    the swap rate, `resamples` the bootstrap samples for discriminative power at `level`.
    """
    material.need_runs(3)
    _check(parts, trials, resamples, level)
    noise, dropped = tuple(noise), tuple(dropped)
    check_shares(noise, dropped)
    disturbance = Disturbance(
        noise if "noise" in parts else (), dropped if "judgements" in parts else (), repeats, rng
    )
    fewer = tuple(Draws("share", repeats, rng, 1 - s) for s in dropped if "units" in parts)
    halves = (Draws("halves", trials, rng),) if "swap" in parts else ()
    samples = (Draws("bootstrap", resamples, rng),) if "power" in parts else ()
    draws = (*fewer, *halves, *samples)
    plan = plan or Plan()
    material = material.for_plan(plan)
    without_runs = material.without_runs()
    pieces = {n: _Piece(without_runs, n, s, disturbance, draws) for n, s in material.runs}
    study = {
        "study": "stability",
        **material.described(),
        "how": repr(disturbance),
        "draws": repr(draws),
    }
    answers = run_pieces(
        _run_piece, pieces, plan, study=study, loads=material.loads, progress=progress
    )
    result = _found(list(answers.values()), material, disturbance, draws, dropped, level)
    return replace(result, notes=notes_of(answers))


def _found(
    answers: list[Plain],
    material: StudyInput,
    disturbance: Disturbance,
    draws: tuple[Draws, ...],
    dropped: tuple[float, ...],
    level: float,
) -> Stability:
    """All parts, from what the runs answered."""
    signs = material.signs
    names = tuple(map(str, material.measures))
    overall = settled(floats([a["overall"] for a in answers]) * signs)
    # Of each kind of draws: runs x measures x draws, more being better.
    signed: dict[str, list[Floats]] = {"share": [], "halves": [], "bootstrap": []}
    for i, d in enumerate(draws):
        table = drawn_table([a["draws"][i] for a in answers], d)
        signed[d.how].append(table * signs[:, None])
    stages = _changed_truth(answers, disturbance, names, overall, signs)
    if signed["share"]:
        # To runs x repetitions x shares x measures.
        cut = np.stack(signed["share"], axis=2).transpose(0, 3, 2, 1)
        stages += _stages("units", dropped, names, overall, cut)
    spreads = [_spread(m.range, overall[:, j]) for j, m in enumerate(material.measures)]
    swaps: list[Swaps] = []
    powers: list[Power] = []
    for j, name in enumerate(names):
        for halves in signed["halves"]:
            swaps += _swaps(name, halves[:, j], spreads[j])
        for samples in signed["bootstrap"]:
            powers += _power(name, overall[:, j], samples[:, j], level)
    parts = tuple(stages), tuple(swaps), tuple(powers)
    return Stability(names, material.run_names, disturbance.repeats, disturbance.seed, *parts)


def _check(parts: tuple[str, ...], trials: int, resamples: int, level: float) -> None:
    for part in parts:
        if part not in PARTS:
            raise UsageError(
                f"no part {part!r} (there are: {', '.join(PARTS)}).{suggest(part, PARTS)}"
            )
    if not 0 < level < 1:
        raise UsageError(f"level={level:g} of a test lies between 0 and 1")
    if min(trials, resamples) < 1:
        raise UsageError("trials and resamples are whole numbers from 1 on")


def _changed_truth(
    answers: list[Plain],
    disturbance: Disturbance,
    names: tuple[str, ...],
    overall: Floats,
    signs: Floats,
) -> list[Stage]:
    """Flipped and incomplete truths, from the scores that every run has under each of them."""
    # runs x repetitions x stages x measures
    shape = (
        len(answers),
        disturbance.repeats,
        len(disturbance.flips) + len(disturbance.drops),
        len(names),
    )
    changed = settled(floats([a["disturbed"] for a in answers]).reshape(shape) * signs)
    return [
        *_stages(
            "noise", disturbance.flips, names, overall, changed[:, :, : len(disturbance.flips)]
        ),
        *_stages(
            "judgements", disturbance.drops, names, overall, changed[:, :, len(disturbance.flips) :]
        ),
    ]


def _stages(
    change: str, shares: tuple[float, ...], names: tuple[str, ...], overall: Floats, changed: Floats
) -> list[Stage]:
    """`changed` is runs x repetitions x shares x measures."""
    return [
        _stage(
            name,
            change,
            share,
            overall[:, j],
            changed[:, :, k, j],
            changed[:, :, k - 1, j] if k else np.tile(overall[:, [j]], changed.shape[1]),
        )
        for j, name in enumerate(names)
        for k, share in enumerate(shares)
    ]


def _stage(
    measure: str, change: str, share: float, original: Floats, now: Floats, before: Floats
) -> Stage:
    comparisons = [
        (*_alike(original, now[:, r]), *_alike(before[:, r], now[:, r]))
        for r in range(now.shape[1])
    ]
    tau, agree, tau_before, agree_before = np.array(comparisons).T
    return Stage(
        measure,
        change,
        share,
        _mean(tau),
        _ends(tau),
        _mean(tau_before),
        _ends(tau_before),
        _mean(agree),
        _mean(agree_before),
    )


def _alike(x: Floats, y: Floats) -> tuple[float, float]:
    """tau, and 1 where Kolmogorov-Smirnov's test calls the rankings concordant; NaN: no verdict."""
    present = ~np.isnan(x) & ~np.isnan(y)
    if present.sum() < 2:
        return float("nan"), float("nan")
    distance = kolmogorov_smirnov(x[present], y[present])
    verdict = concordant(distance.p, int(present.sum()))
    return kendall(x[present], y[present]).value, float("nan") if verdict is None else float(
        verdict
    )


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else float("nan")


def _ends(values: Floats) -> tuple[float, float]:
    defined = values[~np.isnan(values)]
    return (float(defined.min()), float(defined.max())) if defined.size else (float("nan"),) * 2


def _spread(declared: tuple[float, float], scores: Floats) -> float:
    """The width that differences are classed by: the declared range, or that of the runs."""
    width = declared[1] - declared[0]
    if np.isfinite(width):
        return float(width)
    defined = scores[~np.isnan(scores)]
    return float(defined.max() - defined.min()) if defined.size else 0.0


def _swaps(measure: str, halves: Floats, spread: float) -> list[Swaps]:
    """The swap rate of a measure; nothing where its value is no mean of units."""
    if np.isnan(halves).all() or spread <= 0:
        return []
    a, b = np.triu_indices(len(halves), 1)
    first = halves[a, 0::2] - halves[b, 0::2]
    second = halves[a, 1::2] - halves[b, 1::2]
    defined = ~np.isnan(first) & ~np.isnan(second)
    first, second = first[defined], second[defined]
    swapped = first * second < 0
    width = spread / 100
    # A difference of 0.2 may be stored as 0.19999999999999998: it belongs to the class of 0.2.
    classes = np.minimum((np.abs(first) / width + 1e-9).astype(np.int64), SWAP_BINS)
    counts = np.bincount(classes, minlength=SWAP_BINS + 1)
    wrong = np.bincount(classes, weights=swapped, minlength=SWAP_BINS + 1).astype(np.int64)
    needed = _needed(counts, wrong) * width
    bins = tuple((k * width, int(counts[k]), int(wrong[k])) for k in range(SWAP_BINS + 1))
    rate = float(swapped.mean()) if swapped.size else float("nan")
    return [Swaps(measure, rate, int(swapped.size), needed, bins)]


def _needed(counts: NDArray[np.int64], wrong: NDArray[np.int64]) -> float:
    """The class from which on at most 5 % swap, NaN where nothing that was seen says so.

    A class is judged by 20 comparisons or more: with fewer it is judged together with the next
    one below, for no swap among three comparisons says nothing of 5 %.
    """
    needed, seen, swapped = float("nan"), 0, 0
    for k in range(len(counts) - 1, -1, -1):
        seen, swapped = seen + int(counts[k]), swapped + int(wrong[k])
        if seen < SWAP_SEEN or not counts[k]:
            continue
        if swapped > SWAP_ALLOWED * seen:
            break
        needed, seen, swapped = float(k), 0, 0
    return needed


def _power(measure: str, overall: Floats, resampled: Floats, level: float) -> list[Power]:
    """Pairs told apart by a two-sided bootstrap of the difference, shifted to its null."""
    if np.isnan(resampled).all():
        return []
    separated, pairs, needed = 0, 0, 0.0
    for a in range(len(overall)):
        for b in range(a + 1, len(overall)):
            difference = overall[a] - overall[b]
            away = np.abs(resampled[a] - resampled[b] - difference)
            away = away[~np.isnan(away)]
            if np.isnan(difference) or not away.size:
                continue
            pairs += 1
            # Equal resampled differences differ in their last digit.
            beyond = np.count_nonzero(away >= abs(difference) * (1 - 1e-12))
            separated += int((beyond + 1) / (away.size + 1) <= level and difference != 0)
            needed = max(needed, float(np.quantile(away, 1 - level)))
    return [Power(measure, pairs, separated, level, needed)]
