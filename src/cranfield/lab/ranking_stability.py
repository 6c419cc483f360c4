"""How much may truth, topics or confidences change before a measure ranks the systems otherwise?

Flipped truth as in the thesis (8.4.2, 9.4.2: Tables 8.2, 9.3), incomplete truth, fewer topics,
the swap rate between topic halves of Voorhees and Buckley (2002), discriminative power (Sakai
2006): the share of pairs of runs that a studentised bootstrap test tells apart, and what another
collection of other units would say of the runs.

Confidences of annotations (No 11.3): measures of items rank an item's concepts by confidence, as
if 0.7 meant the same for each. `comparable` turns every concept's confidences into chances by a
curve of their own, fitted to other items, and scores the runs again: where their order changes,
it rested on scales, not on what the runs know.
"""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.data import Judgements
from cranfield.data.collection import Design
from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError, check_at_most, plural, suggest
from cranfield.evaluation.calibration import calibrated, reliability
from cranfield.io.design import DesignForm, coerce_design
from cranfield.lab.resample import (
    MOST_DRAWS,
    Disturbance,
    Draws,
    check_shares,
    disturbed,
    drawn_means,
    drawn_table,
    settled,
)
from cranfield.lab.study_input import LabelMaterial, StudyInput, notes_of
from cranfield.notes import Notes, Watcher, with_progress
from cranfield.options import DROPPED_SHARES, NOISE_SHARES, STABILITY_PARTS
from cranfield.stats import bootstrap
from cranfield.stats._resample import Floats, all_pairs
from cranfield.stats.anova import cronbach_alpha
from cranfield.stats.bootstrap import studentized
from cranfield.stats.correlation import concordant, kendall, kolmogorov_smirnov
from cranfield.stats.design import UnitDesign, unit_design
from cranfield.stats.paired import Differences
from cranfield.validation import Real, Seed, validate_params
from cranfield.work.executors import Plain, Plan, run_pieces
from cranfield.work.seeds import generator
from cranfield.work.serialisation import floats, numbers

SWAP_BINS = 20
SWAP_ALLOWED = 0.05
SWAP_SEEN = 20
# Fewer units cannot be halved.
FEWEST_UNITS = 4
# The best runs, among which tau is told by itself: so many, at most half of them.
BEST = 20
# Parts of the units, whose shares of pairs told apart vary.
PART = 0.75
REACH = NormalDist().inv_cdf(0.975)
_OTHERS = 13


@dataclass(frozen=True, slots=True)
class Stage:
    """A measure after a change: tau to the ranking it gave at first and at the stage before.

    The ends are the smallest and largest of the repetitions. `distance` is the mean of the
    distances of Kolmogorov-Smirnov, `concordant` the share of repetitions in which the test of the
    thesis does not call the rankings discordant.
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
    distance: float = float("nan")


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
    """The share of pairs of runs told apart, and the largest difference any pair would need.

    `interval` holds the share that other such units would give.
    """

    measure: str
    pairs: int
    told_apart: int
    level: float
    needed: float
    interval: tuple[float, float] = (float("nan"), float("nan"))

    @property
    def share(self) -> float:
        return self.told_apart / self.pairs if self.pairs else float("nan")


@dataclass(frozen=True, slots=True)
class PowerDifference:
    """How much more pairs one measure tells apart than another, on the same units."""

    a: str
    b: str
    difference: float
    interval: tuple[float, float]
    p: float


@dataclass(frozen=True, slots=True)
class Others:
    """What a collection of as many other units would say of the runs.

    `tau` is Kendall's tau to be expected between the rankings by `units` units and by as many
    others, `tau_best` that among the `best` runs that lead by the first, `winner` the probability
    that both have the same run first. `alpha` is Cronbach's.
    """

    measure: str
    units: int
    tau: float
    best: int
    tau_best: float
    winner: float
    alpha: float


@dataclass(frozen=True, repr=False, eq=False)
class Stability(Answer):
    """All parts that were asked for; the other tuples are empty."""

    command: ClassVar[str] = "lab stability"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:stability_document"

    measures: tuple[str, ...]
    runs: tuple[str, ...]
    repeats: int
    seed: int
    stages: tuple[Stage, ...]
    swaps: tuple[Swaps, ...]
    powers: tuple[Power, ...]
    others: tuple[Others, ...] = ()
    power_differences: tuple[PowerDifference, ...] = ()
    # How units were sampled, in words; empty where each was drawn by itself.
    design: str = ""

    def stage(self, measure: str, change: str, share: float) -> Stage:
        """One cell of the tables."""
        for stage in self.stages:
            if (stage.measure, stage.change, stage.share) == (measure, change, share):
                return stage
        raise UsageError(f"no stage {share!r} of {change!r} for {measure!r}")

    def headline(self) -> str:
        subject = f"{plural(len(self.measures), 'measure')} over {plural(len(self.runs), 'run')}"
        return f"{subject}, {plural(self.repeats, 'repetition')}"

    def payload(self, **_: object) -> dict[str, Any]:
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
                    "ks_distance": s.distance,
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
                    "interval": list(p.interval),
                    "level": p.level,
                    "needed": p.needed,
                }
                for p in self.powers
            ],
            "power_differences": [
                {**asdict(d), "interval": list(d.interval)} for d in self.power_differences
            ],
            "others": [asdict(o) for o in self.others],
            **({"design": self.design} if self.design else {}),
        }


@dataclass(frozen=True, slots=True)
class _Piece:
    material: StudyInput
    name: str
    source: Any
    how: Disturbance
    draws: tuple[Draws, ...]
    with_values: bool


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
        "values": [
            numbers(values) if task.with_values and values is not None else None
            for values in scored.values
        ],
    }


@validate_params
@with_progress
def stability(
    material: StudyInput,
    *,
    parts: tuple[str, ...] = STABILITY_PARTS,
    noise: tuple[float, ...] = NOISE_SHARES,
    dropped: tuple[float, ...] = DROPPED_SHARES,
    repeats: int = 5,
    trials: int = 100,
    resamples: int = 1000,
    level: Real = 0.05,
    design: DesignForm | None = None,
    rng: Seed = 0,
    plan: Plan | None = None,
    progress: Watcher | None = None,
) -> Stability:
    """Disturb the truth and the units, rank the runs again, and compare the rankings.

    `noise` are the shares of the truth to flip, `dropped` the shares of judgements and of
    units to take away; each is done `repeats` times. `trials` are the splits into halves for
    the swap rate, `resamples` the bootstrap samples for discriminative power at `level`. `design`
    says how topics or items were sampled (see `compare`): clusters are drawn as wholes.
    """
    material.need_runs(3)
    _check(parts, trials, resamples, level)
    noise, dropped = tuple(noise), tuple(dropped)
    check_shares(noise, dropped)
    disturbance = Disturbance(
        noise if "noise" in parts else (), dropped if "judgements" in parts else (), repeats, rng
    )
    sampled = None if design is None else _unit_design(material, coerce_design(design))
    clusters = None if sampled is None else tuple(sampled.clusters.tolist())
    fewer = tuple(
        Draws("share", repeats, rng, 1 - s, clusters) for s in dropped if "units" in parts
    )
    halves = (Draws("halves", trials, rng, clusters=clusters),) if "swap" in parts else ()
    draws = (*fewer, *halves)
    check_at_most(MOST_DRAWS, resamples=resamples)
    plan = plan or Plan()
    material = material.for_plan(plan)
    without_runs = material.without_runs()
    with_values = "power" in parts or "others" in parts
    pieces = {
        n: _Piece(without_runs, n, s, disturbance, draws, with_values) for n, s in material.runs
    }
    study = {
        "study": "stability",
        **material.described(),
        "how": repr(disturbance),
        "draws": repr(draws),
    }
    answers = run_pieces(
        _run_piece, pieces, plan, study=study, loads=material.loads, progress=progress
    )
    found = list(answers.values())
    result = _found(found, material, disturbance, draws, dropped)
    if with_values:
        options = {"level": level, "trials": trials, "resamples": resamples, "rng": rng}
        result = _by_values(result, found, material, sampled, parts, options)
    if sampled is not None:
        words = f"{len(sampled.clusters)} units in {sampled.count} clusters"
        result = replace(result, design=words)
    return replace(result, notes=notes_of(answers))


def _unit_design(material: StudyInput, design: Design) -> UnitDesign:
    """The design of the topics or items of a study, in the order of their values."""
    truth = material.read_truth()
    names, unit = (
        (truth.topics, "topic") if isinstance(truth, Judgements) else (truth.items, "item")
    )
    sampled = unit_design(design, names, unit)
    if sampled.is_weighted:
        raise UsageError("design=: a study has no weights of units, so no probabilities")
    return sampled


def _by_values(
    result: Stability,
    answers: list[Plain],
    material: StudyInput,
    sampled: UnitDesign | None,
    parts: tuple[str, ...],
    options: dict[str, Any],
) -> Stability:
    """What needs the values of single units: power, its differences, and other units."""
    tables: dict[str, Floats] = {}
    for j, (measure, sign) in enumerate(zip(material.measures, material.signs, strict=True)):
        rows = [answer["values"][j] for answer in answers]
        if any(row is None for row in rows) or len({len(row) for row in rows}) > 1:
            continue
        values = sign * floats(rows)
        whole = ~np.isnan(values).any(axis=0)
        if sampled is not None:
            if len(sampled.clusters) != values.shape[1]:
                raise UsageError(
                    f"{measure} is no mean over what the design is about; leave it out"
                )
            values = sampled.at(np.flatnonzero(whole)).parts(values[:, whole])
        else:
            values = values[:, whole]
        if values.shape[1] > 1:
            tables[str(measure)] = settled(values)
    powers: list[Power] = []
    differences: list[PowerDifference] = []
    if "power" in parts:
        powers, differences = _powers(tables, **options)
    others: list[Others] = []
    if "others" in parts:
        count = min(int(options["trials"]), 100)
        for name, values in tables.items():
            if values.shape[1] < FEWEST_UNITS:
                continue
            others += _others(name, values, count, int(options["rng"]))
    return replace(
        result,
        powers=tuple(powers),
        power_differences=tuple(differences),
        others=tuple(others),
    )


def _found(
    answers: list[Plain],
    material: StudyInput,
    disturbance: Disturbance,
    draws: tuple[Draws, ...],
    dropped: tuple[float, ...],
) -> Stability:
    """All parts, from what the runs answered."""
    signs = material.signs
    names = tuple(map(str, material.measures))
    overall = settled(floats([a["overall"] for a in answers]) * signs)
    # Of each kind of draws: runs x measures x draws, more being better.
    signed: dict[str, list[Floats]] = {"share": [], "halves": []}
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
    for j, name in enumerate(names):
        for halves in signed["halves"]:
            swaps += _swaps(name, halves[:, j], spreads[j])
    parts = tuple(stages), tuple(swaps), ()
    return Stability(names, material.run_names, disturbance.repeats, disturbance.seed, *parts)


def _check(parts: tuple[str, ...], trials: int, resamples: int, level: float) -> None:
    for part in parts:
        if part not in STABILITY_PARTS:
            raise UsageError(
                f"no part {part!r} (there are: {', '.join(STABILITY_PARTS)})."
                + suggest(part, STABILITY_PARTS)
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
    tau, agree, distance, tau_before, agree_before, _ = np.array(comparisons).T
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
        _mean(distance),
    )


def _alike(x: Floats, y: Floats) -> tuple[float, float, float]:
    """tau; 1 where Kolmogorov-Smirnov's test calls the rankings concordant, NaN without a verdict;
    and its distance."""
    present = ~np.isnan(x) & ~np.isnan(y)
    if present.sum() < 2:
        return float("nan"), float("nan"), float("nan")
    distance = kolmogorov_smirnov(x[present], y[present])
    verdict = concordant(distance.p, int(present.sum()))
    concordance = float("nan") if verdict is None else float(verdict)
    return kendall(x[present], y[present]).value, concordance, distance.value


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


def _powers(
    tables: dict[str, Floats], *, level: float, trials: int, resamples: int, rng: int
) -> tuple[list[Power], list[PowerDifference]]:
    """Pairs told apart by the studentised bootstrap test of compare, without correction.

    The interval of a share comes from parts of the units (the delete-d jackknife), in which pairs
    are told apart by a t-test.
    """
    powers: list[Power] = []
    by_part: dict[str, Floats] = {}
    for name, values in tables.items():
        pairs = all_pairs(len(values))
        test = studentized(
            Differences(values, pairs),
            bootstrap.Draws(values.shape[1], resamples, rng, 1),
            confidence=1 - level,
        )
        apart = (test.two <= level) & (test.mean != 0)
        half_width = (test.high - test.low) / 2
        needed = float(np.nanmax(half_width)) if np.isfinite(half_width).any() else float("nan")
        by_part[name] = _shares_of_parts(values, pairs, level, trials, rng)
        share, spread = float(apart.mean()), _spread_of_parts(by_part[name])
        reach = REACH * spread
        ends = (float(np.maximum(0.0, share - reach)), float(np.minimum(1.0, share + reach)))
        powers.append(Power(name, len(pairs), int(apart.sum()), level, needed, ends))
    differences = []
    for a, b in itertools.combinations(powers, 2):
        if tables[a.measure].shape[1] != tables[b.measure].shape[1]:
            continue
        gap = a.share - b.share
        spread = _spread_of_parts(by_part[a.measure] - by_part[b.measure])
        p = 2 * NormalDist().cdf(-abs(gap) / spread) if spread > 0 else float(gap == 0)
        p = p if np.isfinite(spread) else float("nan")
        ends = (gap - REACH * spread, gap + REACH * spread)
        differences.append(PowerDifference(a.measure, b.measure, gap, ends, p))
    return powers, differences


def _spread_of_parts(shares: Floats) -> float:
    """The standard error of a share from those of parts of the units (the delete-d jackknife)."""
    if not shares.size:
        return float("nan")
    return float(np.sqrt(PART / (1 - PART)) * shares.std(ddof=1))


def _shares_of_parts(values: Floats, pairs: Any, level: float, trials: int, rng: int) -> Floats:
    """The share of pairs that a t-test tells apart on each of many parts of the units."""
    from cranfield.stats._special import stdtrit

    shares = []
    units, trials = values.shape[1], max(trials, 2)
    if units < FEWEST_UNITS:
        return np.empty(0)
    for weights in Draws("share", trials, rng, PART).weights(units, 0, trials):
        part = values[:, weights > 0]
        size = part.shape[1]
        critical = float(stdtrit(size - 1, 1 - level / 2))
        mean, covariance = part.mean(axis=1), np.cov(part)
        variance = covariance.diagonal()
        a, b = pairs.T
        spread = np.maximum(variance[a] + variance[b] - 2 * covariance[a, b], 0.0)
        gap = np.abs(mean[a] - mean[b])
        shares.append(float((gap > critical * np.sqrt(spread / size) + 1e-12).mean()))
    return np.array(shares)


def _others(measure: str, values: Floats, count: int, rng: int) -> list[Others]:
    """How far as many other units would rank the runs alike, for all units and for half of them.

    Halves of the units, which share none, say it of half as many. What the second half of the
    units adds comes from a model: true values as far apart as the means are beyond noise, with the
    noise of the units themselves, drawn twice.
    """
    runs, units = values.shape
    best = min(BEST, runs // 2)
    halves = Draws("halves", count, rng).weights(units, 0, count)
    means = values @ halves.T / (units // 2)
    direct = _rankings_alike(means[:, 0::2], means[:, 1::2], best)
    alpha = cronbach_alpha(values)
    mean = values.mean(axis=1)
    true = mean.mean() + np.sqrt(max(0.0, alpha if alpha == alpha else 0.0)) * (mean - mean.mean())
    away = (values - mean[:, None]) * np.sqrt(units / (units - 1))
    model = []
    for size in (units, units // 2):
        draw = generator(rng, _OTHERS)
        weights = draw.multinomial(size, np.full(units, 1 / units), 2 * count).T / size
        drawn = true[:, None] + away @ weights
        model.append(_rankings_alike(drawn[:, 0::2], drawn[:, 1::2], best))
    # What is missing to the same ranking shrinks as the model says, and never to nothing.
    part = np.ones_like(direct)
    np.divide(1 - model[0], 1 - model[1], out=part, where=model[1] < 1)
    whole = 1 - (1 - direct) * part
    # The winner is one of few: halves alone waver, so the model has half a say.
    whole[2] = (whole[2] + model[0][2]) / 2
    rows = []
    for size, (tau, tau_best, winner) in ((units, whole), (units // 2, direct)):
        tau, tau_best = (min(1.0, max(-1.0, float(t))) for t in (tau, tau_best))
        chance = min(1.0, max(0.0, float(winner)))
        rows.append(Others(measure, size, tau, best, tau_best, chance, alpha))
    return rows


def _rankings_alike(first: Floats, second: Floats, best: int) -> Floats:
    """Mean tau of columns, that among the best runs of the first, and how often one run leads."""
    rows = []
    for x, y in zip(settled(first).T, settled(second).T, strict=True):
        top = np.argsort(-x, kind="stable")[:best]
        among = kendall(x[top], y[top]).value if best > 1 else float("nan")
        rows.append((kendall(x, y).value, among, float(x.argmax() == y.argmax())))
    values = np.array(rows)
    known = ~np.isnan(values)
    sums = np.where(known, values, 0.0).sum(axis=0)
    means: Floats = np.full(values.shape[1], np.nan)
    np.divide(sums, known.sum(axis=0), out=means, where=known.any(axis=0))
    return means


FOLDS = 5


@dataclass(frozen=True, repr=False, eq=False)
class Comparability(Answer):
    """Scores of runs (runs x measures) as they are and with every concept calibrated.

    `errors` are the expected calibration errors of each run before and after; `taus` say how
    alike the two rankings of the runs are under each measure.
    """

    command: ClassVar[str] = "lab comparable"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:calibration_document"

    measures: tuple[str, ...]
    runs: tuple[str, ...]
    raw: Floats
    made: Floats
    errors: Floats
    taus: tuple[float, ...]
    folds: int
    seed: int

    def payload(self, **_: object) -> dict[str, Any]:
        """Both scores of every run, and how alike the rankings are."""
        return {
            "study": "comparable",
            "folds": self.folds,
            "seed": self.seed,
            "measures": [
                {"measure": m, "kendall": tau}
                for m, tau in zip(self.measures, self.taus, strict=True)
            ],
            "runs": [
                {
                    "name": name,
                    "calibration_error": self.errors[i].tolist(),
                    "scores": dict(zip(self.measures, self.raw[i].tolist(), strict=True)),
                    "calibrated": dict(zip(self.measures, self.made[i].tolist(), strict=True)),
                }
                for i, name in enumerate(self.runs)
            ],
        }

    def headline(self) -> str:
        moved = [m for m, tau in zip(self.measures, self.taus, strict=True) if tau < 1]
        subject = f"{plural(len(self.runs), 'run')}, calibrated concept by concept"
        return f"{subject}; the order changes under {', '.join(moved) or 'no measure'}"


@dataclass(frozen=True, slots=True)
class _CalibratedRun:
    material: LabelMaterial
    name: str
    source: Any
    folds: int
    seed: int


def _score_calibrated(task: _CalibratedRun) -> Plain:
    notes = Notes()
    run, scored = task.material.examine(task.source, task.name, notes)
    if run.is_binary:
        return {"skipped": True}
    truth: LabelMatrix = task.material.read_labels()
    calibrated_run = calibrated(truth, run, folds=task.folds, rng=task.seed)
    errors = [diagram.error for diagram in reliability(truth, [run, calibrated_run])]
    return {
        **scored.packed(notes),
        "made": numbers(task.material.score(calibrated_run).overall),
        "errors": numbers(errors),
    }


@validate_params
@with_progress
def comparable(
    material: StudyInput,
    *,
    folds: int = FOLDS,
    rng: Seed = 0,
    plan: Plan | None = None,
    progress: Watcher | None = None,
) -> Comparability:
    """Score runs as they are and with every concept's confidences calibrated on other items."""
    if not isinstance(material, LabelMaterial):
        raise UsageError("confidences across concepts are a matter of annotation: give truth=")
    material.need_runs(3)
    plan = plan or Plan()
    material = material.for_plan(plan)
    without_runs = material.without_runs()
    pieces = {n: _CalibratedRun(without_runs, n, s, folds, rng) for n, s in material.runs}
    study = {"study": "comparable", **material.described(), "folds": folds, "seed": rng}
    answers = run_pieces(
        _score_calibrated, pieces, plan, study=study, loads=material.loads, progress=progress
    )
    compared = {name: answer for name, answer in answers.items() if "skipped" not in answer}
    if len(compared) < 3:
        raise UsageError(f"{plural(len(compared), 'run')} with confidences: give at least 3")
    raw, after, errors = (
        floats([a[key] for a in compared.values()]) for key in ("overall", "made", "errors")
    )
    taus = tuple(
        kendall(settled(sign * raw[:, j]), settled(sign * after[:, j])).value
        for j, sign in enumerate(material.signs)
    )
    names = tuple(map(str, material.measures))
    comparison = Comparability(
        names, tuple(compared), raw, np.asarray(after), errors, taus, folds, rng
    )
    omitted = [name for name in answers if name not in compared]
    omission = (f"left out, without confidences: {', '.join(omitted)}",) if omitted else ()
    return replace(comparison, notes=(*notes_of(compared), *omission))
