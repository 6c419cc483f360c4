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


CHECKS: dict[str, Callable[[], Found]] = {"silver": silver, "differences": differences}


def main(argv: Sequence[str] | None = None) -> int:
    return run_checks(CHECKS, [PAGE], argv)


if __name__ == "__main__":
    sys.exit(main())
