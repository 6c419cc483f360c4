"""Annotation measures against scikit-learn: time, and memory beyond the data.

`python benchmarks/labels.py` runs every case, each side in a process of its own.
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
    from cranfield.evaluate_labels import evaluate_labels
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
                "extra_mib": (peak - before) / 1024,
                "peak_mib": peak / 1024,
            }
        )
    )


def main() -> None:
    if len(sys.argv) == 3:
        measure(*sys.argv[1:])
        return
    for case, (items, concepts, repetitions) in CASES.items():
        found = {}
        for side in ("cranfield", "scikit-learn"):
            answer = subprocess.run(
                [sys.executable, __file__, side, case], capture_output=True, check=True, text=True
            )
            found[side] = json.loads(answer.stdout)
        ours, theirs = found["cranfield"], found["scikit-learn"]
        what = "every measure of annotation" if case == "campaign" else LARGE
        print(f"{items} x {concepts}, {what} (scikit-learn: the shared ones), "
              f"median of {repetitions}")  # fmt: skip
        for side, row in found.items():
            print(f"  {side:<13}{row['seconds']:9.3f} s  {row['extra_mib']:8.0f} MiB beyond the "
                  f"data  {row['peak_mib']:8.0f} MiB in all")  # fmt: skip
        print(
            f"  ratio        {theirs['seconds'] / ours['seconds']:8.1f} times as fast, "
            f"{ours['extra_mib'] / max(theirs['extra_mib'], 1e-9):.2f} of the memory beyond the "
            f"data, {ours['peak_mib'] / theirs['peak_mib']:.2f} in all"
        )


if __name__ == "__main__":
    main()
