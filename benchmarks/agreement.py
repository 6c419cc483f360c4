"""Speed of agreement and aggregation on 1,000,000 judgements by 1,000 annotators.

    python benchmarks/agreement.py [--judgements N] [--annotators N] [--repeat N]

Everybody starts from the same columns in memory (annotator, item and answer of each judgement)
and Cranfield from the same codes as its reader makes them. The peers are krippendorff,
statsmodels, irrCAC and crowd-kit, as far as they are installed. For the coefficients the
fastest peer is the fastest way to all of them that its users have: the table of counts made by
one numpy.bincount, handed to each package. Dawid-Skene runs the same number of steps on both
sides. Prints medians and ratios; ends with 1 when Cranfield is less than 5 times as fast.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cranfield.agreement.aggregate import aggregate_judgements
from cranfield.agreement.coefficients import COEFFICIENTS
from cranfield.agreement.pairwise import pairwise
from cranfield.agreement.quality import check_quality
from cranfield.agreement.simulate import simulate_log
from cranfield.agreement.tallies import unit_counts
from cranfield.data.judgement_log import JudgementLog

BAR = 5.0
STEPS = 10
PER_ITEM = 5
ANSWERS = 5

Row = tuple[str, str, float]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--judgements", type=int, default=1_000_000)
    parser.add_argument("--annotators", type=int, default=1_000)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args(argv)
    items = args.judgements // PER_ITEM
    log = simulate_log(
        annotators=args.annotators, items=items, answers=ANSWERS,
        judgements_per_item=PER_ITEM, rng=1,
    ).log  # fmt: skip
    print(f"{len(log):,} judgements by {args.annotators:,} annotators on {items:,} items")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ratios = [compare_coefficients(log, args.repeat), compare_dawid_skene(log, args.repeat)]
    show("pairs of annotators: accuracy, Cohen, Scott", [own(pairwise, log, 1)])
    show("quality of annotators", [own(check_quality, log, 1)])
    known = [r for r in ratios if r is not None]
    if len(known) < len(ratios):
        print("a peer is not installed: pip install krippendorff statsmodels irrCAC crowd-kit")
    return int(any(ratio < BAR for ratio in known))


def median(work: Callable[[], Any], repeat: int) -> float:
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def own(work: Callable[[JudgementLog], Any], log: JudgementLog, repeat: int) -> Row:
    return ("cranfield", "", median(lambda: work(log), repeat))


def show(title: str, rows: Sequence[Row]) -> None:
    print(f"\n{title}")
    for name, what, seconds in rows:
        ratio = f"{seconds / rows[0][2]:8.1f}x" if len(rows) > 1 else ""
        print(f"  {name:<12} {what:<34} {seconds * 1000:10.1f} ms {ratio}")


def all_coefficients(log: JudgementLog) -> list[float]:
    tallies = unit_counts(log).tallies()
    return [c.value(tallies) for c in COEFFICIENTS.values()]


def compare_coefficients(log: JudgementLog, repeat: int) -> float | None:
    """All ten coefficients at once, against the sum of the peers' times for the same ten."""
    mine = median(lambda: all_coefficients(log), repeat)
    rows: list[Row] = [("cranfield", f"all {len(COEFFICIENTS)} coefficients", mine)]
    key = log.item.astype(np.int64) * ANSWERS + log.value
    size = len(log.items) * ANSWERS
    counts = np.bincount(key, minlength=size).reshape(-1, ANSWERS)
    table = median(lambda: np.bincount(key, minlength=size).reshape(-1, ANSWERS), repeat)
    peers: list[Row] = [("numpy", "table of counts", table)]
    try:
        import krippendorff
        from statsmodels.stats.inter_rater import fleiss_kappa
    except ImportError:
        show("coefficients of agreement", rows)
        return None
    for level in ("nominal", "ordinal", "interval"):

        def alpha(level: str = level) -> float:
            return float(krippendorff.alpha(value_counts=counts, level_of_measurement=level))

        peers.append(("krippendorff", f"alpha, {level}", median(alpha, repeat)))
    for method in ("fleiss", "randolph"):
        seconds = median(lambda m=method: fleiss_kappa(counts, m), repeat)
        peers.append(("statsmodels", f"{method} kappa", seconds))
    peers += gwet_rows(log)
    total = sum(seconds for _, _, seconds in peers)
    rows += [*peers, ("peers", "all of the above", total)]
    show("coefficients of agreement", rows)
    return total / mine


def gwet_rows(log: JudgementLog) -> list[Row]:
    """AC1 and AC2 of irrCAC; a column per judgement of an item spares it empty cells."""
    try:
        import pandas as pd
        from irrCAC.raw import CAC
    except ImportError:
        return []
    ratings = pd.DataFrame(log.value[np.argsort(log.item, kind="stable")].reshape(-1, PER_ITEM))
    rows = []
    for weights in ("identity", "linear", "quadratic", "ordinal"):
        seconds = median(lambda w=weights: CAC(ratings.copy(), weights=w).gwet(), 1)
        rows.append(("irrCAC", f"gwet, {weights}", seconds))
    return rows


def compare_dawid_skene(log: JudgementLog, repeat: int) -> float | None:
    mine = median(
        lambda: aggregate_judgements(log, "dawid-skene", iterations=STEPS, tolerance=-1e9), repeat
    )
    rows: list[Row] = [("cranfield", f"{STEPS} steps", mine)]
    theirs = None
    try:
        import pandas as pd
        from crowdkit.aggregation import DawidSkene
    except ImportError:
        pass
    else:
        frame = pd.DataFrame({"task": log.item, "worker": log.annotator, "label": log.value})
        theirs = median(lambda: DawidSkene(n_iter=STEPS, tol=-1e9).fit(frame), 1)
        rows.append(("crowd-kit", f"{STEPS} steps", theirs))
    show("Dawid-Skene", rows)
    return None if theirs is None else theirs / mine


if __name__ == "__main__":
    sys.exit(main())
