"""Annotation measures beside scikit-learn: time, and memory beyond the data.

Each side in a process of its own. In the first case Cranfield computes every measure of the
catalogue, scikit-learn those that it has as well.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

Case = tuple[int, int, int]
# items, concepts, repetitions
CASES: dict[str, Case] = {"campaign": (13_000, 53, 5), "large": (100_000, 1_000, 1)}
LARGE = "AUC AP.concept Coverage RankingLoss"


def problem(items: int, concepts: int) -> tuple[np.ndarray, np.ndarray]:
    """Truth at the label density of ImageCLEF 2009, and confidences that know a little of it."""
    rng = np.random.default_rng(2009)
    truth = np.empty((items, concepts), dtype=bool)
    scores = np.empty((items, concepts))
    for start in range(0, items, 1000):
        part = slice(start, start + 1000)
        truth[part] = rng.random(truth[part].shape) < 0.17
        noise = rng.normal(size=truth[part].shape) * 0.2
        scores[part] = np.clip(np.where(truth[part], 0.55, 0.35) + noise, 0, 1)
    return truth, scores


def cranfield_side(case: str, truth: np.ndarray, scores: np.ndarray) -> Callable[[], object]:
    from cranfield.data.labels import LabelMatrix
    from cranfield.evaluation.labels import evaluate_labels
    from cranfield.ontologies import pto

    ontology = pto(2009) if case == "campaign" else None
    names = ontology.concepts if ontology else [f"c{j}" for j in range(truth.shape[1])]
    items = [f"i{k}" for k in range(len(truth))]
    true = LabelMatrix.of(truth, items=items, concepts=names, name="truth")
    run = LabelMatrix.of(scores, items=items, concepts=names, name="run")
    wanted = "all" if case == "campaign" else LARGE
    return lambda: evaluate_labels(true, [run], wanted, ontology=ontology, keep=False)


def sklearn_side(case: str, truth: np.ndarray, scores: np.ndarray) -> Callable[[], object]:
    from sklearn import metrics as sk

    def ranked() -> None:
        sk.roc_auc_score(truth, scores, average=None)
        sk.average_precision_score(truth, scores, average=None)
        sk.coverage_error(truth, scores)
        sk.label_ranking_loss(truth, scores)

    def shared() -> None:
        predicted = scores >= 0.5
        for average in ("macro", "micro", "samples"):
            for function in (sk.precision_score, sk.recall_score, sk.f1_score):
                function(truth, predicted, average=average, zero_division=0)
        sk.jaccard_score(truth, predicted, average="samples", zero_division=1)
        sk.hamming_loss(truth, predicted)
        sk.accuracy_score(truth, predicted)
        sk.label_ranking_average_precision_score(truth, scores)
        ranked()

    return shared if case == "campaign" else ranked


def peak_memory() -> int:
    """The largest resident size since it was last reset, in KiB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


def measure(side: str, case: str) -> None:
    """In a process of its own: print the median time and the memory as JSON."""
    warnings.simplefilter("ignore")
    items, concepts, repetitions = CASES[case]
    data = problem(items, concepts)
    work = (cranfield_side if side == "cranfield" else sklearn_side)(case, *data)
    Path("/proc/self/clear_refs").write_text("5")
    before = peak_memory()
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    peak = peak_memory()
    print(
        json.dumps(
            {
                "seconds": statistics.median(times),
                "extra_mb": (peak - before) / 1024,
                "peak_mb": peak / 1024,
            }
        )
    )


def main() -> str:
    """Annotation: 13,000 x 53 with every measure, 100,000 x 1,000 with four ranked ones."""
    lines = [
        "| case | tool | seconds | MB beyond the data | peak MB | time / ours | memory / ours |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for case, (items, concepts, _) in CASES.items():
        found = {}
        for side in ("cranfield", "scikit-learn"):
            print(f"  {case}: {side} ...", end="\r", file=sys.stderr, flush=True)
            answer = subprocess.run(
                [sys.executable, __file__, side, case], capture_output=True, check=True, text=True
            )
            found[side] = json.loads(answer.stdout)
        ours = found["cranfield"]
        lines += [
            f"| {items:,} x {concepts:,} | {side} | {row['seconds']:.3f} | {row['extra_mb']:.0f} | "
            f"{row['peak_mb']:.0f} | {row['seconds'] / ours['seconds']:.1f} | "
            f"{row['extra_mb'] / ours['extra_mb']:.1f} |"
            for side, row in found.items()
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure(*sys.argv[1:])
    else:
        print(main())
