"""Do estimates from little gold and much silver hold what they promise?

    python benchmarks/check_truth.py [--write]

Simulated campaigns with known truth, each with its bar; ends with 1 when one does not hold. With
--write the tables are put into the page that explains the truth.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from check_stats import Found, outside, percent, run_checks, shown
from cranfield import stats

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "truth.md"
TRIALS = 4000
CAMPAIGNS = ((50, (10, 20, 40)), (200, (10, 20, 40, 100)))
CORRELATIONS = (0.0, 0.5, 0.9, 0.99, 1.0)


def normal(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.normal(size=shape)


def skewed(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Exponential values, of mean 0 and deviation 1: skewness 2."""
    return rng.exponential(size=shape) - 1.0


VALUES: dict[str, Callable[..., np.ndarray]] = {"normal": normal, "skewed": skewed}


def campaigns(
    rng: np.random.Generator, kind: str, units: int, correlation: float
) -> tuple[np.ndarray, np.ndarray]:
    """Gold and silver values of all units, a row per campaign; the true mean is 0."""
    gold, noise = (VALUES[kind](rng, (TRIALS, units)) for _ in range(2))
    return gold, correlation * gold + np.sqrt(1 - correlation**2) * noise


def _held(value: np.ndarray, half: np.ndarray, true: np.ndarray | float) -> float:
    return float((np.abs(value - true) <= half + 1e-9).mean())


def silver() -> Found:
    """4,000 campaigns each: how often 95 % intervals hold the value, and how wide they are."""
    table, missed = [], []
    for kind in VALUES:
        for units, counts in CAMPAIGNS:
            for correlation in CORRELATIONS:
                rng = np.random.default_rng([units, int(100 * correlation)])
                gold, silver_values = campaigns(rng, kind, units, correlation)
                for n in counts:
                    name = f"{kind}, {n} of {units}, correlation {correlation:g}"
                    row, short = _one(name, gold, silver_values, n, correlation)
                    table.append(row)
                    missed += short
    heads = ["campaign", "these units", "gold alone", "such units", "gold alone"]
    heads += ["width, these", "bar", "width, such", "bar"]
    return shown(heads, table), missed


def _one(
    name: str, gold: np.ndarray, silver_values: np.ndarray, n: int, correlation: float
) -> tuple[list[str], list[str]]:
    units = gold.shape[1]
    found = stats.powered_means(
        gold[:, :n],
        silver_values[:, :n],
        silver_values.mean(axis=1),
        units,
        resamples=999,
        jobs=2,
    )
    by_t = stats.mean_intervals(gold[:, :n], method="t")
    reach = (by_t.high - by_t.low) / 2
    all_gold = gold.mean(axis=1)
    targets = {"these": (all_gold, np.sqrt(1 - n / units)), "such": (0.0, 1.0)}
    share, bars = 1 - correlation**2, {}
    bars["these"] = 1.1 * np.sqrt(share) if correlation else 1.05
    bars["such"] = 1.1 * np.sqrt(share + correlation**2 * n / units) if correlation else 1.05
    row, widths, missed = [name], [], []
    for target, (true, factor) in targets.items():
        half = getattr(found, target)
        held = _held(found.value, half, true)
        row += [percent(held), percent(_held(found.gold, getattr(found, f"gold_{target}"), true))]
        # Silver that is gold leaves nothing unknown of these units.
        certain = correlation == 1.0 and target == "these"
        if n >= 20 and not certain:
            missed += outside(f"coverage of {target} units, {name}", held, 0.93, 0.97)
        elif not certain:
            plain = _held(found.gold, reach * factor, true)
            missed += outside(f"coverage of {target} units, {name}", held, plain - 0.02, 1.0)
        width = float(half.mean() / getattr(found, f"gold_{target}").mean())
        widths += [f"{width:.3f}", f"{bars[target]:.3f}"]
        if correlation in (0.0, 0.9) and width > bars[target]:
            missed.append(f"width of {target} units, {name}: {width:.3f} > {bars[target]:.3f}")
    return [*row, *widths], missed


def differences() -> Found:
    """Two equal runs, 4,000 times: how often a test at 0.05 calls them different."""
    table, missed = [], []
    for kind in VALUES:
        for n in (10, 20, 40):
            row = [f"{kind}, {n} of 50"]
            for correlation in (0.0, 0.9):
                rng = np.random.default_rng([n, int(100 * correlation), 7])
                gold, values = campaigns(rng, kind, 50, correlation)
                # Differences of two runs are more symmetric than their values.
                gold, values = gold[::2] - gold[1::2], values[::2] - values[1::2]
                found = stats.powered_means(
                    gold[:, :n], values[:, :n], values.mean(axis=1), 50, resamples=999, jobs=2
                )
                claimed = float((found.p <= 0.05).mean())
                row.append(percent(claimed))
                missed += outside(f"level, {row[0]}, {correlation:g}", claimed, 0.0, 0.07)
            table.append(row)
    heads = ["two equal runs", "useless silver", "correlation 0.9"]
    return shown(heads, table), missed


def _shares(p: float) -> Callable[..., np.ndarray]:
    return lambda rng, shape: (rng.random(shape) < p).astype(float)


def _reciprocal_ranks(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """The first relevant item at a rank that falls off as a power; beyond 20 it is not found."""
    ranks = np.floor((1 - rng.random(shape)) ** -1.4)
    return np.where(ranks <= 20, 1 / ranks, 0.0)


def _precisions(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.binomial(5, rng.beta(1.5, 2.5, size=shape)) / 5


def _lognormal(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return np.minimum(0.12 * np.exp(0.7 * rng.normal(size=shape)), 1.0)


# The pseudo units were chosen on 150 and 160 units with shares of 0.93, 0.8 and 0.5, reciprocal
# ranks of another power to rank 10, P@10, beta, zero-heavy and other lognormal values, silver wrong
# on 4 % or 25 %, with noise, or correlated by 0.3, 0.6 and 0.9.
COARSE: dict[str, Callable[..., np.ndarray]] = {
    "0/1, true share 0.905": _shares(0.905),
    "0/1, true share 0.7": _shares(0.7),
    "reciprocal ranks": _reciprocal_ranks,
    "P@5": _precisions,
    "lognormal, at most 1": _lognormal,
}
# Silver that is wrong on a part of the units, and silver that is a probability.
SILVERS = {"silver wrong on 5 %": 0.05, "on 30 %": 0.3, "with probabilities": -1.0}
COARSE_UNITS = 200


def _coarse_silver(
    rng: np.random.Generator, gold: np.ndarray, make: Callable[..., np.ndarray], wrong: float
) -> np.ndarray:
    if wrong < 0:
        return np.clip(0.9 * gold + 0.05 + rng.normal(0, 0.05, gold.shape), 0, 1)
    # A wrong 0/1 value is the other one.
    other = make(rng, gold.shape) if len(np.unique(gold[:10])) > 2 else 1 - gold
    return np.where(rng.random(gold.shape) < wrong, other, gold)


def coarse() -> Found:
    """Values that repeat themselves, 200 units, 2,000 campaigns: coverage of 95 % intervals."""
    trials, table, missed = 2000, [], []
    for number, (kind, make) in enumerate(COARSE.items()):
        mean = float(make(np.random.default_rng([41, number]), (1, 4_000_000)).mean())
        for name, wrong in SILVERS.items():
            rng = np.random.default_rng([43, number, round(100 * abs(wrong))])
            shape = (trials, COARSE_UNITS)
            gold = make(rng, shape)
            # Another run has the same value on most units, and as good ones on the others.
            same = rng.random(shape) < 0.6
            second = np.where(same, gold, make(rng, shape))
            both = [_coarse_silver(rng, one, make, wrong) for one in (gold, second)]
            if wrong >= 0:
                # Runs that retrieve the same have the same value under silver, too.
                both[1] = np.where(same, both[0], both[1])
            for what, values, silver_values, true, limits in (
                ("mean", gold, both[0], mean, (0.0, 1.0)),
                ("difference", gold - second, both[0] - both[1], 0.0, (-1.0, 1.0)),
            ):
                for n in (10, 20, 50):
                    label = f"{what}, {kind}, {name}, {n} gold"
                    row, short = _coarse_row(label, values, silver_values, n, true, limits)
                    table.append(row)
                    missed += short
    heads = ["value", "these units", "such units", "gold alone", "width, these", "least width"]
    return shown([*heads, "called different"], table), missed


def _coarse_row(
    name: str,
    gold: np.ndarray,
    silver_values: np.ndarray,
    n: int,
    true: float,
    limits: tuple[float, float],
) -> tuple[list[str], list[str]]:
    units = gold.shape[1]
    found = stats.powered_means(
        gold[:, :n],
        silver_values[:, :n],
        silver_values.mean(axis=1),
        units,
        resamples=499,
        jobs=2,
        limits=limits,
    )
    left, all_gold = 1 - n / units, gold.mean(axis=1)

    def ends(value: np.ndarray, shift: np.ndarray, half: np.ndarray) -> list[np.ndarray]:
        return [np.clip(value + shift + sign * half, *limits) for sign in (-1, 1)]

    def held(box: list[np.ndarray], wanted: np.ndarray | float) -> float:
        return float(((box[0] <= wanted + 1e-9) & (wanted - 1e-9 <= box[1])).mean())

    these = ends(found.value, left * found.shift, found.these)
    such = ends(found.value, found.shift, found.such)
    plain = ends(found.gold, left * found.gold_shift, found.gold_these)
    shares = [held(these, all_gold), held(such, true), held(plain, all_gold)]
    missed = []
    for target, share in zip(("these units", "such units", "gold alone"), shares, strict=True):
        missed += outside(f"coverage of {target}, {name}", share, 0.93, 1.0)
    width = these[1] - these[0]
    least, relative = float(width.min()), float(width.mean() / (plain[1] - plain[0]).mean())
    if least <= 1e-6:
        missed.append(f"no width, {name}")
    claimed = float((found.p <= 0.05).mean())
    if limits[0] < 0:
        missed += outside(f"level, {name}", claimed, 0.0, 0.07)
    row = [name, *map(percent, shares), f"{relative:.3f}", f"{least:.3f}"]
    return [*row, percent(claimed) if limits[0] < 0 else ""], missed


def alike() -> Found:
    """A judge that changes all runs alike, but some more steadily than others, 2,000 times."""
    from cranfield.comparison.judges import _interaction

    table, missed = [], []
    cases = (
        ("all vary alike", np.ones(6)),
        ("one varies five times as much", np.array([5.0, 1, 1, 1, 1, 1])),
        ("three hardly vary", np.array([1.0, 1, 1, 0.1, 0.1, 0.1])),
        ("two of one maker vary together", np.array([0.6, 0.6, 0.6, 0.6, 2.0, 2.0])),
    )
    for number, (label, spread) in enumerate(cases):
        for topics in (20, 60):
            rng = np.random.default_rng([81, number, topics])
            shares = {"plain": 0, "corrected": 0}
            for _ in range(2000):
                own = rng.standard_t(6, (6, topics))
                if "together" in label:
                    own[5] = 0.9 * own[4] + np.sqrt(1 - 0.9**2) * own[5]
                change = rng.normal(0.3, 0.5, topics) + spread[:, None] * own
                shares["plain"] += stats.two_way(change).p_runs <= 0.05
                shares["corrected"] += (_interaction(change) or 1.0) <= 0.05
            row = f"{label}, {topics} topics"
            table.append([row, *(percent(shares[k] / 2000) for k in ("plain", "corrected"))])
            missed += outside(f"judges alike, {row}", shares["corrected"] / 2000, 0.02, 0.07)
    heads = ["6 runs", "analysis of variance", "with Greenhouse and Geisser's epsilon"]
    return shown(heads, table), missed


CHECKS: dict[str, Callable[[], Found]] = {
    "silver": silver,
    "differences": differences,
    "coarse": coarse,
    "alike": alike,
}


QUICK = ("differences", "alike")


def main(argv: Sequence[str] | None = None) -> int:
    return run_checks(CHECKS, [PAGE], argv, QUICK)


if __name__ == "__main__":
    sys.exit(main())
