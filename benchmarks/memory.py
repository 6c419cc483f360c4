"""In-memory evaluation beside pytrec_eval on the same data: dicts, arrays and data frames.

    python benchmarks/memory.py [--topics 1000] [--items 1000] [--repeat 3]

Every line evaluates the same run against the same judgements from scratch, from the Python
objects named to values per topic. Means are held equal before anything is timed.
"""

from __future__ import annotations

import gc
import importlib.util
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import cranfield as cf
from cranfield.compat import pytrec_eval as compat

MEASURES = "AP nDCG nDCG@10 RR P@10 R@1000 Rprec Bpref"
TREC_NAMES = {"map", "ndcg", "ndcg_cut_10", "recip_rank", "P_10", "recall_1000", "Rprec", "bpref"}
JUDGED = 50  # items judged per topic, half of them retrieved

Nested = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Workload:
    judged: Nested
    run: Nested

    @classmethod
    def drawn(cls, topics: int, items: int, seed: int = 7) -> Workload:
        rng = np.random.default_rng(seed)
        judged: Nested = {}
        run: Nested = {}
        for t in range(topics):
            # Objects of their own for every topic, as a reader of files makes them.
            names = [f"doc{n:07d}" for n in rng.choice(10_000_000, items + JUDGED, replace=False)]
            scores = rng.random(items).round(6)
            run[f"q{t}"] = dict(zip(names[:items], scores.tolist(), strict=True))
            half = min(JUDGED // 2, items)
            pool = [*rng.choice(names[:items], half, replace=False).tolist(), *names[items:]]
            grades = rng.integers(0, 3, len(pool)).tolist()
            judged[f"q{t}"] = dict(zip(pool, grades, strict=True))
        return cls(judged, run)

    def columns(self, nested: Nested) -> tuple[list[str], list[str], list[float]]:
        topics = [t for t, items in nested.items() for _ in items]
        names = [i for items in nested.values() for i in items]
        return topics, names, [v for items in nested.values() for v in items.values()]


def contenders(work: Workload) -> dict[str, Callable[[], Any]]:
    """What is timed, by name; what is not installed is left out."""
    topics, names, scores = work.columns(work.run)
    judged = work.columns(work.judged)
    arrays = (np.array(topics), np.array(names), np.array(scores))
    judged_arrays = (np.array(judged[0]), np.array(judged[1]), np.array(judged[2]))
    found: dict[str, Callable[[], Any]] = {
        "cranfield.compat.pytrec_eval, dicts": lambda: compat.RelevanceEvaluator(
            work.judged, TREC_NAMES
        ).evaluate(work.run),
        "cf.evaluate, dicts": lambda: cf.evaluate(work.judged, work.run, MEASURES),
        "cf.evaluate, numpy arrays": lambda: cf.evaluate(judged_arrays, arrays, MEASURES),
    }
    frames = {"topic": topics, "item": names, "score": scores}
    grades = {"topic": judged[0], "item": judged[1], "grade": judged[2]}
    for package, make in (
        ("pandas", lambda m: m.DataFrame),
        ("polars", lambda m: m.DataFrame),
        ("pyarrow", lambda m: m.table),
    ):
        if importlib.util.find_spec(package):
            build = make(importlib.import_module(package))
            frame, truth = build(frames), build(grades)
            found[f"cf.evaluate, {package}"] = lambda frame=frame, truth=truth: cf.evaluate(
                truth, frame, MEASURES
            )
    return found


def median_seconds(work: Callable[[], Any], repeat: int) -> float:
    taken = []
    for _ in range(repeat):
        gc.collect()
        start = time.perf_counter()
        result = work()
        taken.append(time.perf_counter() - start)
        del result
    return statistics.median(taken)


def mean_ap(result: Any) -> float:
    if isinstance(result, dict):
        return statistics.fmean(values["map"] for values in result.values())
    return float(next(iter(result.mean().values()))["AP"])


def main(topics: int = 1000, items: int = 1000, repeat: int = 3) -> str:
    """1,000 topics x 1,000 items in memory: dicts, arrays and frames beside pytrec_eval's dicts."""
    work = Workload.drawn(topics, items)
    theirs = importlib.import_module("pytrec_eval")

    def baseline_work() -> Any:
        return theirs.RelevanceEvaluator(work.judged, TREC_NAMES).evaluate(work.run)

    expected = mean_ap(baseline_work())
    baseline = median_seconds(baseline_work, repeat)
    lines = ["| from | seconds | pytrec_eval / this |", "|---|--:|--:|"]
    lines.append(f"| pytrec_eval, dicts | {baseline:.3f} | 1.0 |")
    for name, contender in contenders(work).items():
        if abs(mean_ap(contender()) - expected) > 1e-9:
            raise SystemExit(f"{name} gives another mean than pytrec_eval")
        seconds = median_seconds(contender, repeat)
        lines.append(f"| {name} | {seconds:.3f} | {baseline / seconds:.1f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(main())
