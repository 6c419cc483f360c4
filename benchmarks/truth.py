"""How long draws of a truth with probabilities take, beside evaluations from memory.

python benchmarks/truth.py
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import cranfield as cf

RUNS, TOPICS, ITEMS, JUDGED, DRAWS = 73, 50, 1000, 400, 1000
MEASURES = "AP nDCG nDCG@10 RR P@10 R@1000 Rprec RBP"
# Draws may take this part of as many evaluations, and so much memory.
BAR, MOST_MEGABYTES = 0.2, 500


def seconds(work: Callable[[], object]) -> float:
    """Processor time, which does not depend on what else the machine does."""
    started = time.process_time()
    work()
    return time.process_time() - started


def campaign() -> tuple[cf.Judgements, dict[str, cf.Run]]:
    rng = np.random.default_rng(0)
    topics = [f"t{t:02d}" for t in range(TOPICS)]
    pool = np.array([f"doc-{i:06d}" for i in range(3 * ITEMS)])
    plain = cf.Judgements.from_rows(
        np.repeat(topics, JUDGED), np.tile(pool[:JUDGED], TOPICS), np.zeros(TOPICS * JUDGED)
    )
    relevant = rng.beta(0.4, 2.0, size=TOPICS * JUDGED)
    chances = np.stack([1 - relevant, 0.6 * relevant, 0.4 * relevant], axis=1)
    levels = np.array([0.0, 1.0, 2.0])
    truth = replace(plain, levels=levels, chances=chances, values=levels[chances.argmax(axis=1)])
    runs = {}
    for r in range(RUNS):
        items = np.concatenate([pool[rng.permutation(len(pool))[:ITEMS]] for _ in topics])
        scores = np.concatenate([-np.sort(-rng.random(ITEMS)) for _ in topics])
        runs[f"r{r:02d}"] = cf.Run.from_rows(np.repeat(topics, ITEMS), items, scores)
    return truth, runs


def main() -> str:
    """73 runs x 50 topics x 1,000 items: 1,000 draws of a truth with probabilities."""
    truth, runs = campaign()
    sure = cf.RankedTask(replace(truth, levels=None, chances=None), MEASURES)
    sure.evaluate(runs, jobs=1)
    one = seconds(lambda: [sure.evaluate(runs, jobs=1) for _ in range(10)]) / 10
    soft = cf.RankedTask(truth, MEASURES, draws=DRAWS)
    drawn = seconds(lambda: soft.evaluate(runs, jobs=1))
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ratio = drawn / (DRAWS * one)
    holds = "holds" if ratio <= BAR and megabytes <= MOST_MEGABYTES else "MISSED"
    lines = ["| work | seconds | part | peak MB |", "|---|--:|--:|--:|"]
    lines += [f"| {DRAWS} evaluations from memory | {DRAWS * one:.0f} | 1 | |"]
    lines += [f"| {DRAWS} draws of the truth | {drawn:.1f} | {ratio:.2f} | {megabytes:.0f} |"]
    lines += [f"| bar ({holds}) | | {BAR} | {MOST_MEGABYTES} |"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(main())
