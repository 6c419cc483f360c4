"""Speed of agreement and aggregation on 1,000,000 judgements by 1,000 annotators.

    python benchmarks/agreement.py

Everybody starts from the same columns in memory (annotator, item and answer of each judgement).
The peers are krippendorff, statsmodels, irrCAC and crowd-kit, as far as they are installed. For
the coefficients they are given the table of counts as numpy.bincount makes it, which none of
them does by itself. Dawid-Skene runs the same number of steps on both sides.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from cranfield.agreement.aggregation import aggregate_judgements
from cranfield.agreement.coefficients import COEFFICIENTS, unit_counts
from cranfield.agreement.pairwise import pairwise
from cranfield.agreement.quality import check_quality
from cranfield.agreement.simulate import simulate_log
from cranfield.data.judgement_log import JudgementLog
from cranfield.io.judgement_log import read_judgement_log

JUDGEMENTS, ANNOTATORS, PER_ITEM, ANSWERS = 1_000_000, 1_000, 5, 5
STEPS, REPEATS = 10, 3

Work = Callable[[], Any]


def main() -> str:
    """1,000,000 judgements by 1,000 annotators: agreement and Dawid-Skene."""
    log = simulate_log(
        annotators=ANNOTATORS,
        items=JUDGEMENTS // PER_ITEM,
        answers=ANSWERS,
        judgements_per_item=PER_ITEM,
        rng=1,
    ).log
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agreement = medians({"cranfield": lambda: all_coefficients(log)} | coefficient_peers(log))
        skene = medians({"cranfield": lambda: dawid_skene(log)} | dawid_skene_peers(log))
    lines = ["| task | tool | seconds | time / ours |", "|---|---|--:|--:|"]
    ours = agreement.pop("cranfield")
    lines.append(f"| all {len(COEFFICIENTS)} coefficients | cranfield | {ours:.3f} | 1.0 |")
    for name, seconds in agreement.items():
        lines.append(f"| | {name} | {seconds:.3f} | {seconds / ours:.1f} |")
    total = sum(agreement.values())
    if agreement:
        lines.append(f"| | the peers together | {total:.3f} | **{total / ours:.1f}** |")
    ours = skene.pop("cranfield")
    lines.append(f"| Dawid-Skene, {STEPS} steps | cranfield | {ours:.3f} | 1.0 |")
    for name, seconds in skene.items():
        lines.append(f"| | {name} | {seconds:.3f} | **{seconds / ours:.1f}** |")
    more: dict[str, Work] = {
        "accuracy, Cohen and Scott of all pairs": lambda: pairwise(log),
        "quality of every annotator": lambda: check_quality(log),
    }
    with TemporaryDirectory() as folder:
        path = Path(folder) / "log.csv"
        path.write_text("\n".join(map(",".join, [log.header, *log.rows()])) + "\n")
        more["reading the log from CSV"] = lambda: read_judgement_log(path)
        lines += [f"| {name} | cranfield | {s:.3f} | |" for name, s in medians(more).items()]
    return "\n".join(lines) + "\n"


def medians(tasks: dict[str, Work]) -> dict[str, float]:
    """Median seconds of each; they take turns, so that a noisy minute hits all of them."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(REPEATS):
        for name, work in tasks.items():
            started = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - started)
    return {name: statistics.median(taken) for name, taken in times.items()}


def all_coefficients(log: JudgementLog) -> list[float]:
    tallies = unit_counts(log).tallies()
    return [c.value(tallies) for c in COEFFICIENTS.values()]


def dawid_skene(log: JudgementLog) -> Any:
    return aggregate_judgements(log, "dawid-skene", iterations=STEPS, tolerance=-1e9)


def coefficient_peers(log: JudgementLog) -> dict[str, Work]:
    """What each installed peer does of what `all_coefficients` does."""
    key = log.item.astype(np.int64) * ANSWERS + log.value

    def counts() -> np.ndarray[Any, Any]:
        return np.bincount(key, minlength=len(log.items) * ANSWERS).reshape(-1, ANSWERS)

    peers: dict[str, Work] = {}
    try:
        from krippendorff import alpha

        levels = ("nominal", "ordinal", "interval")
        peers["krippendorff: alpha at three levels"] = lambda: [
            alpha(value_counts=counts(), level_of_measurement=level) for level in levels
        ]
    except ImportError:
        pass
    try:
        from statsmodels.stats.inter_rater import fleiss_kappa

        peers["statsmodels: Fleiss, Randolph"] = lambda: [
            fleiss_kappa(counts(), method) for method in ("fleiss", "randolph")
        ]
    except ImportError:
        pass
    try:
        import pandas as pd
        from irrCAC.raw import CAC

        # A column per judgement of an item, not per annotator, spares it 995 empty cells in 1000.
        order = np.argsort(log.item, kind="stable")
        ratings = pd.DataFrame(log.value[order].reshape(-1, PER_ITEM))
        weights = ("identity", "linear", "quadratic", "ordinal")
        peers["irrCAC: Gwet, four weights"] = lambda: [
            CAC(ratings.copy(), weights=w).gwet() for w in weights
        ]
    except ImportError:
        pass
    return peers


def dawid_skene_peers(log: JudgementLog) -> dict[str, Work]:
    try:
        import pandas as pd
        from crowdkit.aggregation import DawidSkene
    except ImportError:
        return {}
    frame = pd.DataFrame({"task": log.item, "worker": log.annotator, "label": log.value})
    return {"crowd-kit": lambda: DawidSkene(n_iter=STEPS, tol=-1e9).fit(frame)}


if __name__ == "__main__":
    print(main())
