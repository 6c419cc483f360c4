"""How fast all pairs of a campaign are tested: 180 runs x 250 topics x 5 measures.

    python benchmarks/stats.py

Every pair is tested with 10,000 randomisations. SciPy's `permutation_test` and, where it is
installed, ranx's Fisher test are timed on a few pairs and scaled to all of them.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable

import numpy as np

from cranfield.stats import bootstrap_test, paired_intervals, randomization_test, step_down
from cranfield.stats._resample import all_pairs

RUNS, TOPICS, MEASURES, RESAMPLES = 180, 250, 5, 10_000
REPEATS, SAMPLED_PAIRS = 3, 8


def campaign(seed: int = 0) -> list[np.ndarray]:
    """Scores that look like those of an evaluation campaign, one matrix per measure."""
    rng = np.random.default_rng(seed)
    tables = []
    for _ in range(MEASURES):
        hard = rng.beta(1.2, 2.5, TOPICS)
        noise = rng.normal(0, 0.12, (RUNS, TOPICS)) + rng.normal(0, 0.04, RUNS)[:, None]
        tables.append(np.clip(hard + noise, 0, 1))
    return tables


def seconds(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """The median time of some repetitions."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def scipy_seconds(table: np.ndarray, pairs: np.ndarray) -> float:
    """The median time of SciPy's paired permutation test on one pair."""
    from scipy.stats import permutation_test

    def one(a: int, b: int) -> Callable[[], object]:
        return lambda: permutation_test(
            (table[a] - table[b],),
            np.mean,
            permutation_type="samples",
            vectorized=True,
            n_resamples=RESAMPLES,
            rng=np.random.default_rng(0),
        )

    return statistics.median(seconds(one(a, b), 1) for a, b in pairs[:SAMPLED_PAIRS])


def ranx_seconds(table: np.ndarray, pairs: np.ndarray) -> float | None:
    """The median time of ranx's Fisher test on one pair, compiled beforehand."""
    try:
        from ranx.statistical_tests import fisher_randomization_test
    except ImportError:
        return None

    def one(a: int, b: int) -> Callable[[], object]:
        return lambda: fisher_randomization_test(table[a], table[b], RESAMPLES)

    one(0, 1)()
    return statistics.median(seconds(one(a, b), 1) for a, b in pairs[:SAMPLED_PAIRS])


def main() -> str:
    """180 runs x 250 topics x 5 measures, every pair tested with 10,000 resamples."""
    tables, pairs = campaign(), all_pairs(RUNS)
    jobs = os.cpu_count() or 1
    tests = len(pairs) * MEASURES
    ours = seconds(
        lambda: [randomization_test(t, pairs, resamples=RESAMPLES, jobs=jobs) for t in tables]
    )
    one = scipy_seconds(tables[0], pairs)
    rows = [
        ("cranfield, randomization", ours, ours / tests, ""),
        ("SciPy, permutation_test (scaled)", one * tests, one, f"{one * tests / ours:,.0f} x"),
    ]
    if (one_fisher := ranx_seconds(tables[0], pairs)) is not None:
        fisher = one_fisher * tests
        rows.append(("ranx, Fisher test (scaled)", fisher, one_fisher, f"{fisher / ours:,.0f} x"))
    # These have no rival that does the same; one measure shows what they cost.
    table = tables[0]
    boot = seconds(lambda: bootstrap_test(table, pairs, resamples=RESAMPLES, jobs=jobs), 1)
    ends = seconds(
        lambda: paired_intervals(table, pairs, method="bca", resamples=RESAMPLES, jobs=jobs), 1
    )
    rows.append(("cranfield, bootstrap, one measure", boot, boot / len(pairs), ""))
    steps = seconds(lambda: step_down(table, pairs, resamples=RESAMPLES, jobs=jobs), 1)
    rows.append(("cranfield, step-down correction, one measure", steps, steps / len(pairs), ""))
    rows.append(("cranfield, BCa intervals, one measure", ends, ends / len(pairs), ""))
    lines = [
        f"| {tests:,} tests, {jobs} threads | seconds | us per test | ratio |",
        "|---|--:|--:|--:|",
    ]
    lines += [f"| {name} | {s:,.1f} | {1e6 * each:,.0f} | {x} |" for name, s, each, x in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(main())
