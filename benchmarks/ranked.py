"""How much longer all measures of image retrieval, SMART and SHREC take than AP alone."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from cranfield import evaluate, read_qrels
from cranfield.measures import SETS
from cranfield.measures.ranked import contingency, image, shrec, smart
from workload import make

BAR = 3.0
REPEATS = 7
SIZE = 8_841_823


def names() -> list[str]:
    """The three sets and every measure of their families; grades go up to 3 here."""
    chosen = [name for group in ("image", "smart", "shrec") for name in SETS[group]]
    families = (image, smart, shrec, contingency)
    chosen += [m.name for family in families for m in family.DECLARED]
    chosen += ["Fallout@10(mean='micro')", "P@10(mean='micro')", "MNRO(generality='printed')"]
    return [n for n in dict.fromkeys(chosen) if n != "ADR"] + ["ADR(levels=3)"]


def seconds(qrels: object, run: Path, measures: list[str]) -> float:
    started = time.perf_counter()
    evaluate(qrels, [run], measures, collection_size=SIZE)
    return time.perf_counter() - started


def main() -> str:
    """1,000 topics x 1,000 items, 100 judged each: all image, SMART and SHREC measures to AP."""
    path, run = make(1000, 1000, judged=100)
    qrels, everything = read_qrels(path), names()
    seconds(qrels, run, ["AP"])
    pairs = [(seconds(qrels, run, ["AP"]), seconds(qrels, run, everything)) for _ in range(REPEATS)]
    alone, together = (statistics.median(p[i] for p in pairs) for i in (0, 1))
    return (
        "| measures | seconds | time / AP alone | bar |\n|--:|--:|--:|--:|\n"
        f"| 1 (AP) | {alone:.3f} | 1.0 | |\n"
        f"| {len(everything)} | {together:.3f} | {together / alone:.1f} | {BAR:.0f} |\n"
    )


if __name__ == "__main__":
    print(main())
