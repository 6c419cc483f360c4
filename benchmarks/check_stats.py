"""Do the statistics of a comparison hold what they promise? Simulations with known answers.

    python benchmarks/check_stats.py [NAME ...] [--quick] [--write]

Every check prints a table and has a bar; ends with 1 when one does not hold. With --write the
tables are put into the page that explains the statistics; --quick takes the checks that need
seconds, which together with those of the other scripts take less than three minutes.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr

from campaigns import (
    ap_like,
    campaign,
    coarse,
    first_better,
    ranked_campaign,
    skewed,
    with_erratic,
)
from cranfield import Scores, accept_run, evaluate_labels, measure, stats
from cranfield.comparison.options import ComparisonOptions
from cranfield.comparison.pair_statistics import LEVELS, SURE
from cranfield.comparison.regression_gate import drift_checked
from cranfield.stats._resample import all_pairs
from cranfield.stats.best_of import compare_best
from cranfield.stats.bootstrap import Draws, studentized
from cranfield.stats.design import UnitDesign
from cranfield.stats.paired import Differences
from cranfield.stats.posthoc import critical_range
from run import replace_block

PAGES = [
    Path(__file__).parents[1] / "docs" / "explanation" / f"{name}.md"
    for name in ("statistics", "truth", "agreement", "lab")
]
LEVEL = 0.05
Table = list[list[str]]
Found = tuple[str, list[str]]


def shown(heads: Sequence[str], rows: Table) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def outside(name: str, share: float, low: float, high: float) -> list[str]:
    """The complaint that a share misses its bar, or none."""
    if low <= share <= high:
        return []
    return [f"{name}: {percent(share)} is not from {percent(low)} to {percent(high)}"]


def pair_p(
    test: str, rows: np.ndarray, tail: str = "two", resamples: int = 1999, rng: int = 1
) -> np.ndarray:
    """The p-value of every row of differences, by the name of the test."""
    if test in ("bootstrap", "randomization"):
        values = np.vstack([rows, np.zeros((1, rows.shape[1]))])
        pairs = np.column_stack([np.arange(len(rows)), np.full(len(rows), len(rows))])
        run = getattr(stats, f"{test}_test")
        return run(values, pairs, tail=tail, resamples=resamples, rng=rng, jobs=2).p
    return getattr(stats, f"{test}_test")(rows, tail=tail).p


PAIRED = ("bootstrap", "randomization", "t", "wilcoxon", "sign")


def level() -> Found:
    """Two runs of equal quality, 2,000 times: a test at 0.05 should differ in 5 %."""
    # The sign test has few p-values; with 49 topics it comes near 5 % on both tails.
    values = ap_like(np.random.default_rng(1), 2000, 2, 49)
    rows = values[:, 0] - values[:, 1]
    table, missed = [], []
    for test in PAIRED:
        row = [test]
        for tail, low, high in (("two", 0.03, 0.07), ("one", 0.03, 0.07), ("seen", 0.07, 0.13)):
            share = float((pair_p(test, rows, tail) <= LEVEL).mean())
            row.append(percent(share))
            missed += outside(f"level of {test}, tail {tail}", share, low, high)
        table.append(row)
    return shown(["test", "two-tailed", "one-tailed", "as seen, either direction"], table), missed


def power() -> Found:
    """A true difference of 0.25 standard deviations, 500 times."""
    counts = (25, 49, 100, 200)
    shares: dict[str, list[float]] = {test: [] for test in PAIRED}
    for topics in counts:
        values = first_better(np.random.default_rng(topics), 500, topics, 0.25)
        for test in PAIRED:
            p = pair_p(test, values[:, 0] - values[:, 1])
            shares[test].append(float((p <= LEVEL).mean()))
    missed = [
        f"power of {test} does not grow with the topics"
        for test, row in shares.items()
        if any(later <= earlier for earlier, later in itertools.pairwise(row))
    ]
    table = [[test, *map(percent, row)] for test, row in shares.items()]
    return shown(["test", *(f"{n} topics" for n in counts)], table), missed


def claims_any(values: np.ndarray, seed: int) -> bool:
    """Whether the usual comparison of all pairs finds any difference."""
    pairs = all_pairs(len(values))
    together = stats.step_down(values, pairs, resamples=999, rng=seed).p
    found = pairs[together <= LEVEL]
    if not len(found):
        return False
    return bool((stats.bootstrap_test(values, found, resamples=999, rng=seed).p <= LEVEL).any())


def family_tests() -> dict[str, Callable[[np.ndarray, int], bool]]:
    """Whether a test of all runs claims any difference between equal ones."""

    def widest(test: Callable[..., stats.PairedResult], **options: int) -> Callable[..., bool]:
        """The test of the two runs that lie farthest apart, whose p-value is the smallest."""

        def claims(x: np.ndarray, _: int) -> bool:
            by_rank = test is stats.nemenyi_test
            height = stats.friedman(x).mean_ranks if by_rank else x.mean(axis=1)
            pair = np.array([[np.argmax(height), np.argmin(height)]])
            return bool(test(x, pair, **options).p[0] <= LEVEL)

        return claims

    def holm(x: np.ndarray, _: int) -> bool:
        pairs = all_pairs(len(x))
        return bool(
            stats.correct(stats.t_test(x[pairs[:, 0]] - x[pairs[:, 1]]).p, "holm").min() <= LEVEL
        )

    return {
        "bootstrap, romano-wolf": claims_any,
        "t, holm": holm,
        "tukey": widest(stats.tukey_test),
        "tukey-randomization": widest(stats.randomized_tukey_test, resamples=199),
        "nemenyi": widest(stats.nemenyi_test),
        "two-way F": lambda x, _: stats.two_way(x).p_runs <= LEVEL,
        "friedman": lambda x, _: stats.friedman(x).p <= LEVEL,
    }


def family() -> Found:
    """Equal runs on 50 topics: how often is any of all pairs called different?"""
    cases: dict[str, tuple[int, Callable[[np.random.Generator], np.ndarray]]] = {
        "8 runs": (1000, lambda rng: ap_like(rng, 8, 50)),
        "8 runs, one erratic": (1000, lambda rng: with_erratic(rng, 8, 50)),
    }
    table, missed = [], []
    for test, claims in family_tests().items():
        row = [test]
        for case, (trials, make) in cases.items():
            rng = np.random.default_rng(3)
            share = float(np.mean([claims(make(rng), i) for i in range(trials)]))
            row.append(percent(share))
            # Holm promises at most the level; the pooled tests promise nothing to erratic runs.
            if test.startswith("bootstrap") or (case == "8 runs" and "holm" not in test):
                missed += outside(f"any false claim, {test}, {case}", share, 0.03, 0.07)
        table.append([*row, ""])
    rng = np.random.default_rng(4)
    share = float(np.mean([claims_any(ap_like(rng, 33, 50), i) for i in range(600)]))
    table[0][-1] = percent(share)
    missed += outside("any false claim, bootstrap, 33 runs", share, 0.03, 0.07)
    return shown(["test", *cases, "33 runs"], table), missed


def separated() -> Found:
    """The share of pairs told apart at 0.05 in a campaign of 50 topics, beside Tukey's."""
    table, missed = [], []
    for name, make in (("AP-like", campaign), ("AP of rankings", ranked_campaign)):
        for runs in (33, 73, 180):
            values = make(np.random.default_rng(runs), runs)
            pairs = all_pairs(runs)
            steps = stats.step_down(values, pairs, resamples=9999, jobs=2).p <= LEVEL
            p = np.ones(len(pairs))
            p[steps] = stats.bootstrap_test(values, pairs[steps], resamples=999, jobs=2).p
            own = float((p <= LEVEL).mean())
            anova = stats.two_way(values)
            reach = critical_range(runs, anova.df_residual) * np.sqrt(anova.ms_residual / 50)
            means = values.mean(axis=1)
            tukey = float((np.abs(means[pairs[:, 0]] - means[pairs[:, 1]]) >= reach).mean())
            rows = values[pairs[:, 0]] - values[pairs[:, 1]]
            holm = float((stats.correct(stats.t_test(rows).p, "holm") <= LEVEL).mean())
            table.append([f"{name}, {runs} runs", percent(own), percent(tukey), percent(holm)])
            missed += outside(f"pairs told apart, {name}, {runs} runs", own - tukey, -0.05, 0.05)
    return shown(["campaign", "bootstrap, romano-wolf", "tukey", "t, holm"], table), missed


def coverage() -> Found:
    """How often a 95 % interval holds the true value, and whether it contradicts its test."""
    trials, table, missed = 4000, [], []
    against: dict[str, float] = {}
    rng = np.random.default_rng(7)
    quality = np.array([[0.3], [0.0]])
    big = ap_like(rng, 20, 2, 200_000, quality=quality)
    truth = {"difference": float((big[:, 0] - big[:, 1]).mean()), "mean": float(big[:, 0].mean())}
    for topics in (10, 20, 30, 50):
        values = ap_like(rng, trials, 2, topics, quality=quality)
        for what, rows in (
            ("difference", values[:, 0] - values[:, 1]),
            ("mean", np.ascontiguousarray(values[:, 0])),
        ):
            row = [f"{what}, {topics} topics"]
            for method in ("studentized", "t", "bca", "percentile"):
                ends = stats.mean_intervals(rows, method=method, resamples=999, rng=2, jobs=2)
                share = float(((ends.low <= truth[what]) & (truth[what] <= ends.high)).mean())
                row.append(percent(share))
                if method == "studentized" and topics >= 20:
                    missed += outside(f"coverage, {row[0]}", share, 0.94, 0.96)
                if what == "difference" and method in ("studentized", "bca"):
                    p = pair_p("bootstrap", rows, resamples=999, rng=2)
                    apart = (ends.low > 0) | (ends.high < 0)
                    against[method] = float((apart != (p <= LEVEL)).mean())
            if what == "difference":
                row += map(percent, against.values())
                missed += outside(f"contradictions, {row[0]}", against["studentized"], 0, 0)
            else:
                row += ["", ""]
            table.append(row)
    heads = ["true value of", "studentized", "t", "bca", "percentile"]
    heads += ["studentized against the test", "bca against the test"]
    return shown(heads, table), missed


def _share(p: float) -> Callable[..., np.ndarray]:
    return lambda rng, shape: (rng.random(shape) < p).astype(float)


def _reciprocal_ranks(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """The first relevant item at a rank that falls off as a power; beyond 20 it is not found."""
    ranks = np.floor((1 - rng.random(shape)) ** -1.4)
    return np.where(ranks <= 20, 1 / ranks, 0.0)


def _zero_heavy(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return np.where(rng.random(shape) < 0.65, 0.0, np.minimum(rng.gamma(2.0, 0.12, shape), 1.0))


# The method was chosen with other seeds and parameters, but for the share of 0.95, which was used.
LIMITED: dict[str, tuple[float, Callable[..., np.ndarray]]] = {
    "0/1, true share 0.95": (1.0, _share(0.95)),
    "0/1, true share 0.85": (1.0, _share(0.85)),
    "0/1, true share 0.3": (1.0, _share(0.3)),
    "reciprocal ranks": (1.0, _reciprocal_ranks),
    "65 % zeros": (1.0, _zero_heavy),
    "lognormal, at most 1": (
        1.0,
        lambda rng, shape: np.minimum(0.08 * np.exp(0.9 * rng.normal(size=shape)), 1.0),
    ),
    "within 0 and 1, skewed": (1.0, lambda rng, shape: rng.random(shape) ** 3.5),
    "within 0 and 1, near 1": (1.0, lambda rng, shape: 1 - 0.5 * rng.random(shape) ** 4),
    "lognormal, no upper limit": (
        np.inf,
        lambda rng, shape: 5 * np.exp(0.75 * rng.normal(size=shape)),
    ),
}


def near_limits() -> Found:
    """Means of values with limits: coverage of 95 % intervals, misses below and above."""
    trials, table, missed = 4000, [], []
    for number, (name, (high, make)) in enumerate(LIMITED.items()):
        rng = np.random.default_rng([31, number])
        true = float(make(rng, (1, 4_000_000)).mean())
        for topics in (20, 50, 200):
            rows = make(rng, (trials, topics))
            row = [f"{name}, {topics} topics"]
            for method in ("wilson", "studentized", "t"):
                boxes = stats.run_intervals(
                    rows, method=method, resamples=999, rng=3, jobs=2, limits=(0.0, high)
                )
                low, top = (np.array([getattr(b, e) for b in boxes]) for e in ("low", "high"))
                below, above = float((true < low).mean()), float((true > top).mean())
                row.append(f"{percent(1 - below - above)} ({percent(below)}, {percent(above)})")
                if method == "wilson":
                    missed += outside(f"coverage, {row[0]}", 1 - below - above, 0.93, 1.0)
                    missed += outside(f"misses on one side, {row[0]}", max(below, above), 0, 0.05)
                    inside = bool((low >= 0).all() and (top <= high).all())
                    missed += [] if inside else [f"outside of the range, {row[0]}"]
            table.append(row)
    return shown(["mean of", "wilson", "studentized, cut", "t, cut"], table), missed


def coarse_measures() -> Found:
    """Differences of 1, 0 and -1, such as of P@1: power, and level where both are as likely."""
    table, missed = [], []
    rng = np.random.default_rng(8)
    for topics, up, down in ((20, 0.9, 0.02), (50, 0.9, 0.02), (20, 0.2, 0.2), (50, 0.05, 0.05)):
        rows = coarse(rng, 1000, topics, up, down)
        shares = {test: float((pair_p(test, rows) <= LEVEL).mean()) for test in PAIRED}
        name = f"{topics} topics, +1 in {percent(up)}, -1 in {percent(down)}"
        table.append([name, *map(percent, shares.values())])
        if up > down:
            least = min(0.99, shares["randomization"])
            missed += outside(f"power, {name}", shares["bootstrap"], least, 1.0)
        else:
            missed += outside(f"level, {name}", shares["bootstrap"], 0.0, 0.06)
    return shown(["differences", *PAIRED], table), missed


def detectable() -> Found:
    """Is a difference of the size `detectable` found with the power that it promises?"""
    rng, runs, topics = np.random.default_rng(9), 8, 50
    pairs = all_pairs(runs)
    noise = rng.normal(0, 1, (500, runs, topics))
    steps = stats.step_down(noise[0], pairs, resamples=9999)
    reach = steps.critical(LEVEL, topics)
    from scipy.special import stdtr

    levels = {
        "t, holm": LEVEL / len(pairs),
        "bootstrap, romano-wolf": 2 * float(stdtr(topics - 1, -reach)),
    }
    table, missed = [], []
    for name, corrected in levels.items():
        shares = []
        for alpha in (corrected, LEVEL):
            effect = stats.detectable_effect(topics, alpha=alpha) * np.sqrt(2)
            better = noise + np.where(np.arange(runs) == 0, effect, 0.0)[:, None]
            p = np.array([_first_pair(name, x, pairs, i) for i, x in enumerate(better)])
            shares.append(float((p <= LEVEL).mean()))
        missed += outside(f"power of detectable, {name}", shares[0], 0.75, 0.9)
        table.append([name, *map(percent, shares)])
    heads = ["8 runs, 28 pairs", "detectable (corrected)", "detectable alone"]
    return shown(heads, table), missed


def _first_pair(name: str, values: np.ndarray, pairs: np.ndarray, seed: int) -> float:
    """The corrected p-value of the first two runs."""
    if name == "t, holm":
        p = stats.t_test(values[pairs[:, 0]] - values[pairs[:, 1]]).p
        return float(stats.correct(p, "holm")[0])
    p = float(stats.step_down(values, pairs, resamples=999, rng=seed).p[0])
    own = stats.bootstrap_test(values, pairs[:1], resamples=999, rng=seed).p[0]
    return max(p, float(own))


def skewness() -> Found:
    """Skewed differences of mean 0, and equivalence at the very edge of its margin."""
    table: Table = []
    rng = np.random.default_rng(10)
    for topics in (20, 50, 200):
        rows = skewed(rng, 4000, topics)
        tests = ("bootstrap", "randomization", "t")
        p_values = [pair_p(test, rows, resamples=999) for test in tests]
        row = [f"{topics} topics", *(percent(float((p <= LEVEL).mean())) for p in p_values)]
        # Not equivalent: the true difference is the margin itself.
        spread = 2.0
        edge = [stats.equivalence_test(rows + s * spread, margin=spread).p for s in (1.0, -1.0)]
        row += [percent(float((p <= LEVEL).mean())) for p in edge]
        table.append(row)
    heads = ["topics", "bootstrap", "randomization", "t", "equivalent, upper edge", "lower edge"]
    return shown(heads, table), []


def gate() -> Found:
    """A gate that allows a loss of 0.01, 2,000 times: how often does it stop a change?"""
    table, missed = [], []
    for topics in (50, 200, 500):
        row = [f"{topics} topics"]
        for loss, most in ((0.0, 0.05), (0.009, 0.05), (0.05, 1.0)):
            rng = np.random.default_rng([topics, int(1000 * loss), 12])
            rows = rng.normal(-loss, 0.05, (2000, topics))
            ends = stats.mean_intervals(rows, resamples=999, rng=4, jobs=2)
            share = float((ends.high < -0.01).mean())
            row.append(percent(share))
            missed += outside(f"gate, {row[0]}, loss {loss:g}", share, 0.99 * (most == 1.0), most)
        table.append(row)
    return shown(["true loss", "0", "0.009, allowed", "0.05"], table), missed


def _system(name: str, values: np.ndarray) -> Scores:
    """The scores of one run, from its values per topic."""
    topics = tuple(f"t{i}" for i in range(len(values)))
    ap = measure("AP")
    return Scores(
        "ranked",
        (name,),
        (ap,),
        {"topic": topics},
        {ap: "topic"},
        {ap: values[None]},
        {ap: values[None].mean(axis=1)},
        (0,),
        (len(topics),),
    )


def drift() -> Found:
    """Thirty changes, each accepted while the gate lets it pass, 40 times: who stops, and when?"""
    table, missed = [], []
    margin, changes = 0.02, 30
    worlds = (
        ("no loss", 0.0, 0.0),
        ("one loses 0.015, the others nothing", 0.015, 0.0),
        ("each loses 0.004", 0.004, 0.004),
    )
    for label, at_first, loss in worlds:
        stops, lost = {"gate": 0, "drift": 0}, []
        for seed in range(40):
            rng = np.random.default_rng([71, seed, int(1000 * (at_first + loss))])
            system = rng.beta(1.2, 2.0, 100)
            values = system
            ledger = _system("main", values)
            for change in range(1, changes + 1):
                # What a change does to a topic stays: the next change begins there.
                last, values = (
                    values,
                    values + rng.normal(-at_first if change == 1 else -loss, 0.03, 100),
                )
                new = _system("main", values)
                step = stats.mean_intervals((values - last)[None], resamples=199, rng=change)
                stops["gate"] += bool(step.high[0] < -margin)
                if ledger.accepted:
                    (check,) = drift_checked(
                        new, ledger, margin, options=ComparisonOptions(resamples=199, rng=change)
                    )
                    if not check.holds:
                        stops["drift"] += 1
                        lost.append(change * loss)
                        break
                ledger = accept_run(ledger, new)
        row = [label, percent(stops["gate"] / 40), percent(stops["drift"] / 40)]
        table.append([*row, f"{np.median(lost):.3f}" if loss else ""])
        if loss:
            missed += outside("drift that is stopped", stops["drift"] / 40, 0.95, 1.0)
        else:
            missed += outside("systems without drift that are stopped", stops["drift"] / 40, 0, 0.1)
    heads = ["30 changes, 100 topics, margin 0.02", "gate alone", "with its drift", "lost by then"]
    return shown(heads, table), missed


def stars() -> Found:
    """Do stars that are not marked with ? stay when other draws are made?"""
    rng = np.random.default_rng(11)
    values = first_better(rng, 300, 50, 0.4)
    flat = values.reshape(600, 50)
    pairs = np.arange(600).reshape(300, 2)
    differences = Differences(flat, pairs)
    by_seed = [studentized(differences, Draws(50, 9999, seed, 2)).two for seed in range(8)]
    marks = np.array([[np.searchsorted([0.001, 0.01, 0.05], p) for p in ps] for ps in by_seed])
    first = by_seed[0]
    error = np.sqrt(first * (1 - first) / 9999)
    sure = np.min([np.abs(first - at) for at in LEVELS], axis=0) > SURE * error
    changed = (marks != marks[0]).any(axis=0)
    table = [
        ["sure", str(int(sure.sum())), percent(float(changed[sure].mean()))],
        ["marked ?", str(int((~sure).sum())), percent(float(changed[~sure].mean()))],
    ]
    missed = outside("stars that change though sure", float(changed[sure].mean()), 0.0, 0.02)
    return shown(["stars of 300 pairs", "pairs", "other stars with 7 more seeds"], table), missed


CONCEPT_MEASURES = ("F.concept", "F.concept(mean='micro')", "AP.concept", "AUC", "EER")


def _annotated(rng: np.random.Generator, items: int, concepts: int) -> Scores:
    """Two equal runs, each of which does badly on a quarter of the items, its own."""
    truth = rng.random((items, concepts)) < rng.uniform(0.08, 0.3, concepts)
    truth[0], truth[1] = True, False
    runs = {}
    for name in "ab":
        skill = np.where(rng.random(items) < 0.25, 0.2, rng.gamma(6, 0.2, items))[:, None]
        noise = rng.standard_t(6, truth.shape)
        runs[name] = 1 / (1 + np.exp(-1.5 * (skill * np.where(truth, 1, -1) + noise)))
    return evaluate_labels(truth.astype(int), runs, " ".join(CONCEPT_MEASURES), jobs=1)


def items() -> Found:
    """Equal runs with bad items of their own, 100 times with 100 items, 20 times with 1,000."""
    table, missed = [], []
    for count, times in ((100, 100), (1000, 20)):
        claims = {units: dict.fromkeys(CONCEPT_MEASURES, 0) for units in ("items", "concepts")}
        for seed in range(times):
            scores = _annotated(np.random.default_rng(4000 + seed), count, 25)
            for units, hits in claims.items():
                for pair in scores.compare(units=units, resamples=499, rng=seed).pairs:
                    hits[pair.measure] += pair.p_corrected <= LEVEL
        for units, hits in claims.items():
            shares = [hits[m] / times for m in CONCEPT_MEASURES]
            # Pooled values are no means over concepts, so these give them no test.
            cells = [
                "" if units == "concepts" and "micro" in m else percent(share)
                for m, share in zip(CONCEPT_MEASURES, shares, strict=True)
            ]
            table.append([f"{count} items x 25 concepts, over {units}", *cells])
            # Of so few times the share itself varies: three standard errors are allowed.
            bar = LEVEL + 3 * (LEVEL * (1 - LEVEL) / times) ** 0.5
            for m, share in zip(CONCEPT_MEASURES, shares, strict=True):
                missed += [] if units == "concepts" else outside(f"{m}, {count}", share, 0.0, bar)
    return shown(["false claims", *CONCEPT_MEASURES], table), missed


def clusters() -> Found:
    """Equal runs whose differences correlate with 0.3 within clusters, 1,000 times."""
    table, missed = [], []
    for number, size in ((40, 5), (20, 10), (10, 20)):
        rng = np.random.default_rng(number)
        shared = rng.gamma(2.0, 1.0, (1000, number, 1)) - 2.0
        differences = np.sqrt(0.3 / 2) * shared + np.sqrt(0.7) * rng.normal(
            0, 1, (1000, number, size)
        )
        rows = differences.reshape(1000, -1)
        design = UnitDesign(
            np.repeat(np.arange(number), size), np.zeros(number, dtype=int), np.ones(number * size)
        )
        row = [f"{number} clusters of {size}"]
        for name, data in (("none", rows), ("clusters", design.parts(rows))):
            share = float((pair_p("bootstrap", data, resamples=999) <= LEVEL).mean())
            row.append(percent(share))
            if name == "clusters" and number >= 20:
                missed += outside(f"level with {number} clusters", share, 0.03, 0.07)
        table.append(row)
    return shown(["false claims", "without the design", "with the design"], table), missed


def gold_clusters() -> Found:
    """Gold for whole clusters and silver for all, 300 times: coverage of 95 % intervals."""
    table, missed = [], []
    # Chosen on none of these: clusters came after the intervals for little gold were made.
    for count, gold, size, correlation in ((40, 12, 5, 0.4), (100, 20, 3, 0.3), (60, 30, 8, 0.2)):
        label = f"{gold} of {count} clusters of {size}, correlation {correlation:g}"
        held = dict.fromkeys(("these", "such", "none"), 0)
        for seed in range(300):
            rng = np.random.default_rng([61, count, seed])
            sizes = rng.integers(1, 2 * size, count)
            cluster = np.repeat(np.arange(count), sizes)
            shared, own = rng.normal(size=count)[cluster], rng.normal(size=cluster.size)
            true = ndtr(correlation**0.5 * shared + (1 - correlation) ** 0.5 * own)
            silver = np.clip(true + rng.normal(0.1, 0.2, true.size), 0, 1)
            is_gold = np.isin(cluster, rng.choice(count, gold, replace=False))
            every = UnitDesign(cluster, np.zeros(count, dtype=int), np.ones(true.size))
            part = every.at(np.flatnonzero(is_gold))
            y, f = part.parts(true[None, is_gold]), part.parts(silver[None, is_gold])
            options: dict[str, Any] = {"resamples": 499, "limits": (0.0, 1.0)}
            found = stats.powered_means(y, f, [silver.mean()], count, **options)
            plain = stats.powered_means(
                true[None, is_gold], silver[None, is_gold], [silver.mean()], true.size, **options
            )
            centre = found.value + (1 - gold / count) * found.shift
            held["these"] += abs(centre[0] - true.mean()) <= found.these[0]
            held["such"] += abs(found.value[0] + found.shift[0] - 0.5) <= found.such[0]
            held["none"] += abs(plain.value[0] + plain.shift[0] - 0.5) <= plain.such[0]
        shares = {name: hits / 300 for name, hits in held.items()}
        for name in ("these", "such"):
            missed += outside(f"coverage of {name} units, {label}", shares[name], 0.91, 1.0)
        table.append([label, *map(percent, shares.values())])
    heads = ["gold", "these units", "such units", "such units, without the design"]
    return shown(heads, table), missed


def agreement() -> Found:
    """Coefficients of few items and rare answers, 300 times: coverage of 95 % intervals."""
    from cranfield.agreement.coefficients import COEFFICIENTS, UnitCounts, agreement_intervals

    names = ("accuracy", "fleiss", "krippendorff", "gwet_ac1")
    chosen = {name: COEFFICIENTS[name].value for name in names}

    def counted(rng: np.random.Generator, items: int, share: float, right: float, hard: float):
        """Four people of different skill; the made-up crowds of the choice had two, three, five."""
        skill = np.minimum(right + np.array([[-0.06], [-0.01], [0.01], [0.02]]), 0.99)
        chance = np.where(rng.random(items) < hard, 0.55, skill)
        truth = rng.random(items) < share
        present = (truth ^ (rng.random((4, items)) >= chance)).sum(axis=0)
        table = np.stack([4 - present, present], axis=1).astype(float)
        return UnitCounts(table, np.arange(items), np.arange(2.0))

    table, missed = [], []
    for items, share, right, hard in (
        (12, 0.4, 0.85, 0.0),
        (25, 0.08, 0.95, 0.1),
        (40, 0.3, 0.97, 0.0),
        (100, 0.15, 0.9, 0.2),
    ):
        every = counted(np.random.default_rng(1), 300_000, share, right, hard).tallies()
        held = dict.fromkeys(names, 0)
        for seed in range(300):
            counts = counted(np.random.default_rng([62, items, seed]), items, share, right, hard)
            for name, (low, high) in agreement_intervals(counts, chosen).items():
                held[name] += low <= chosen[name](every) <= high
        label = f"{items} items, present in {percent(share)}, right in {percent(right)}"
        label += f", hard {percent(hard)}" if hard else ""
        shares = [held[name] / 300 for name in names]
        for name, value in zip(names, shares, strict=True):
            missed += outside(f"coverage of {name}, {label}", value, 0.91, 1.0)
        table.append([label, *map(percent, shares)])
    return shown(["four people, two answers", *names], table), missed


def lab() -> Found:
    """What `lab stability` says of other topics, beside what other topics say."""
    from cranfield.lab.ranking_stability import _others, _powers

    table, missed = [], []
    options = {"level": LEVEL, "resamples": 199, "rng": 1}
    for label, runs, topics, spread in (
        ("16 runs, 40 topics", 16, 40, 0.3),
        ("30 runs, 20 topics", 30, 20, 0.5),
        ("20 runs, 100 topics, five hopeless", 20, 100, 0.25),
    ):
        rng = np.random.default_rng([63, runs])
        quality = rng.normal(0, spread, (runs, 1))
        quality[:5] -= 2.0 * ("hopeless" in label)
        sets = ap_like(rng, 60, runs, topics, quality=quality)
        means = sets.mean(axis=2)
        true = np.mean([stats.kendall(a, b).value for a, b in itertools.pairwise(means)])
        first = sets[:12]
        told = np.mean([_others("AP", values, 40, 1)[0].tau for values in first])
        halves = [stats.kendall(v[:, ::2].mean(axis=1), v.mean(axis=1)).value for v in first]
        shares = [_powers({"AP": v}, trials=2, **options)[0][0].share for v in sets[12:]]
        boxes = [_powers({"AP": v}, trials=60, **options)[0][0].interval for v in first]
        held = float(np.mean([low <= np.mean(shares) <= high for low, high in boxes]))
        equal = ap_like(rng, 12, 8, topics)
        apart = np.mean([_powers({"AP": v}, trials=2, **options)[0][0].share for v in equal])
        numbers = [f"{x:.2f}" for x in (true, told, np.mean(halves))]
        table.append([label, *numbers, percent(held), percent(float(apart))])
        if abs(told - true) > 0.05:
            missed.append(f"tau to other topics, {label}: {told:.3f}, true {true:.3f}")
        missed += outside(f"interval of the pairs told apart, {label}", held, 0.75, 1.0)
        missed += outside(f"equal runs told apart, {label}", float(apart), 0.01, 0.12)
    heads = ["campaign", "tau to other topics", "said", "half against whole"]
    return shown([*heads, "interval holds", "equal runs told apart"], table), missed


def years() -> Found:
    """Two years whose runs come from one population, 1,000 times: which one is called better?"""
    table, missed = [], []
    for label, old, new, runs_each in (
        ("5 runs against 15", 5, 15, 1),
        ("10 runs against 10", 10, 10, 1),
        ("5 teams of 3 runs against 15", 5, 15, 3),
    ):
        rng = np.random.default_rng([31, old, runs_each])
        claims = np.zeros((1000, 3), dtype=bool)
        for k in range(len(claims)):
            quality = np.repeat(rng.normal(size=old + new), runs_each)[:, None]
            values = quality + rng.normal(size=20) + rng.normal(0, 0.5, (len(quality), 20))
            split = old * runs_each
            names = [str(i // runs_each) for i in range(len(values))]
            first, second = values[:split], values[split:]
            gap = second.max(axis=0) - first.max(axis=0)
            result = compare_best(
                first, second, teams=(names[:split], names[split:]), resamples=99, seed=k
            )
            anova = stats.one_way([first.max(axis=0), second.max(axis=0)])
            claims[k] = anova.p <= LEVEL, stats.t_test(gap).p[0] <= LEVEL, result.p <= LEVEL
        shares = claims.mean(axis=0)
        table.append([label, *map(percent, shares)])
        # A thousand trials of an exact test are seldom more than 2 % from its level.
        missed += outside(f"years called different, {label}", float(shares[2]), 0.03, 0.07)
    heads = ["years", "analysis of variance", "paired t-test", "runs dealt anew"]
    return shown(heads, table), missed


CHECKS: dict[str, Callable[[], Found]] = {
    "level": level,
    "power": power,
    "family": family,
    "separated": separated,
    "coverage": coverage,
    "limits": near_limits,
    "coarse": coarse_measures,
    "detectable": detectable,
    "skewed": skewness,
    "gate": gate,
    "drift": drift,
    "stars": stars,
    "items": items,
    "clusters": clusters,
    "gold-clusters": gold_clusters,
    "agreement": agreement,
    "lab": lab,
    "years": years,
}


QUICK = (
    "level",
    "coarse",
    "skewed",
    "gate",
    "clusters",
    "gold-clusters",
    "agreement",
    "lab",
    "years",
)


def run_checks(
    checks: Mapping[str, Callable[[], Found]],
    pages: Sequence[Path],
    argv: Sequence[str] | None,
    quick: Sequence[str] = (),
) -> int:
    """Run all checks, or those that are named or quick, and tell which bars do not hold."""
    args = list(sys.argv[1:] if argv is None else argv)
    if "--quick" in args:
        args += quick
        if not quick:
            return 0
    missed: list[str] = []
    for name, check in checks.items():
        if any(a in checks for a in args) and name not in args:
            continue
        started = time.perf_counter()
        table, short = check()
        print(f"{name} ({time.perf_counter() - started:.0f} s): {check.__doc__}\n{table}\n")
        print(f"{name}: {f'FAIL, {len(short)} bars missed' if short else 'pass'}\n")
        missed += short
        if "--write" in args:
            for page in pages:
                replace_block(page, f"check:{name}", table)
    for line in missed:
        print(f"missed: {line}")
    print("every bar holds" if not missed else f"{len(missed)} bars missed")
    return 1 if missed else 0


def main(argv: Sequence[str] | None = None) -> int:
    return run_checks(CHECKS, PAGES, argv, QUICK)


if __name__ == "__main__":
    sys.exit(main())
