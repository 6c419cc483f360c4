"""The stability study of a whole campaign, by one worker and by two.

73 annotation runs of 13,000 items x 53 concepts, 8 measures, 4 levels of noise, 5 repetitions:
each run is scored against 21 truths.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RUNS, ITEMS = 73, 13_000
MEASURES = "F.example P.example R.example Accuracy.example HammingLoss F.concept AP.concept OS"
DATA = Path(__file__).parent / "data" / "lab"


def material_files() -> tuple[str, list[str]]:
    """The truth and the runs as files, made once."""
    from cranfield.data.labels import LabelMatrix
    from cranfield.lab.synthetic_runs import graded_labels
    from cranfield.ontologies import pto

    DATA.mkdir(parents=True, exist_ok=True)
    truth_file = DATA / "truth.npz"
    files = [DATA / f"system{k + 1:02}.npz" for k in range(RUNS)]
    if not all(file.exists() for file in (truth_file, *files)):
        names = pto(2009).concepts
        labels = np.random.default_rng(2009).random((ITEMS, len(names))) < 0.17
        items = [f"photo{k:05}" for k in range(ITEMS)]
        truth = LabelMatrix.of(labels, items=items, concepts=names, name="truth")
        np.savez(truth_file, labels=labels, items=items, concepts=names)
        for matrix in graded_labels(truth, count=RUNS, rng=2009):
            confidences = matrix.confidences.astype(np.float32)
            file = DATA / f"{matrix.name}.npz"
            np.savez(file, confidences=confidences, items=items, concepts=names)
    return str(truth_file), list(map(str, files))


def timed(workers: int) -> tuple[float, float, dict[str, object]]:
    """Seconds of the study with so many worker processes, their CPU seconds, what it finds."""
    from cranfield.lab.ranking_stability import stability
    from cranfield.lab.study_input import StudyInput
    from cranfield.work.executors import Plan

    truth, runs = material_files()
    material = StudyInput.labels(truth, runs, MEASURES, ontology="pto-2009")
    with tempfile.TemporaryDirectory() as folder:
        plan = Plan("processes", workers, Path(folder) / "study", _progress)
        started, used = time.perf_counter(), _cpu()
        found = stability(material, parts=("noise",), repeats=5, rng=1, plan=plan)
        return time.perf_counter() - started, _cpu() - used, found.to_dict()


def _cpu() -> float:
    """CPU seconds of all worker processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _progress(fraction: float) -> None:
    print(f"  lab: {fraction:.0%}   ", end="\r", file=sys.stderr, flush=True)


def main() -> str:
    """Stability of 8 measures on 73 runs of 13,000 x 53, 4 levels of noise, 5 repetitions."""
    material_files()
    (one, work, first), (two, more, second) = timed(1), timed(2)
    if first != second:
        raise SystemExit("the number of workers changed the numbers")
    return (
        "| workers | seconds | speed-up | CPU seconds |\n|--:|--:|--:|--:|\n"
        f"| 1 | {one:.1f} | 1.00 | {work:.1f} |\n| 2 | {two:.1f} | {one / two:.2f} | {more:.1f} |\n"
    )


if __name__ == "__main__":
    print(main())
