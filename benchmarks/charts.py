"""Every chart of 60 runs x 200 topics (or items with 53 concepts): CPU seconds from data to SVG.

    python benchmarks/charts.py [--depth 100]

Data is in memory; with --depth, rankings are so long. Ends with 1 when a chart misses its bar.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace

import numpy as np

from cranfield.data.labels import LabelMatrix
from cranfield.data.tables import Judgements, Run
from cranfield.io.collection import read_collection
from cranfield.io.samples import sample_folder
from cranfield.ontologies import pto
from cranfield.options import CHARTS, CHARTS_OF_BOXES, CHARTS_OF_LABELS, CHARTS_OF_MEASURES
from cranfield.report import charts
from cranfield.report.charts.registry import request_chart
from images import as_table

RUNS, TOPICS, DEPTH, RELEVANT, CONCEPTS = 60, 200, 100, 20, 53
BAR = 2.0
SEED = 2009


def rankings(depth: int) -> list[object]:
    """Judgements, and runs that find more or less of what is relevant."""
    rng = np.random.default_rng(SEED)
    names = np.array([f"d{n:05d}" for n in range(20 * depth)])
    relevant = [rng.choice(len(names), RELEVANT, replace=False) for _ in range(TOPICS)]
    judged = {f"t{t}": {str(names[i]): 1 for i in found} for t, found in enumerate(relevant)}
    found: list[object] = [Judgements.from_dict(judged)]
    for number in range(RUNS):
        rows: dict[str, dict[str, float]] = {}
        for t, right in enumerate(relevant):
            scores = rng.random(len(names))
            scores[right] += rng.random(RELEVANT) * number / RUNS
            best = np.argsort(-scores)[:depth]
            rows[f"t{t}"] = dict(zip(names[best].tolist(), scores[best].tolist(), strict=True))
        run = Run.from_dict(rows)
        found.append(replace(run, name=f"team{number % 12}-run{number:02d}"))
    return found


def annotations() -> tuple[LabelMatrix, list[LabelMatrix]]:
    rng = np.random.default_rng(SEED)
    items, concepts = tuple(f"i{n}" for n in range(TOPICS)), tuple(pto(2009).concepts[:CONCEPTS])
    truth = rng.random((TOPICS, CONCEPTS)) < 0.17
    runs = []
    for number in range(RUNS):
        noise = rng.normal(size=truth.shape) * (0.1 + 0.01 * number)
        sure = np.clip(np.where(truth, 0.6, 0.3) + noise, 0, 1)
        runs.append(LabelMatrix(items, concepts, None, sure, f"team{number % 12}-run{number:02d}"))
    return LabelMatrix(items, concepts, truth.astype(np.uint8), None, "truth"), runs


def rows_of(depth: int) -> list[tuple[str, float, float]]:
    """CPU seconds of every chart."""
    ranked = rankings(depth)
    truth, runs = annotations()
    pages = read_collection(sample_folder("pages"))
    rows = []
    for name in CHARTS:
        options: dict[str, object] = {}
        if name in CHARTS_OF_LABELS:
            options = {"truth": truth, "files": runs}
        elif name in CHARTS_OF_BOXES:
            options = {"truth": pages.need("boxes"), "files": pages.box_runs}
        elif name not in CHARTS_OF_MEASURES:
            options = {"files": ranked, "collection_size": 20 * depth}
        if name in ("scatter", "rank-changes", "units"):
            options["measures"] = "AP nDCG@10"
        if name in ("surface", "perspective"):
            options["measures"] = "MNRO"
        started = time.process_time()
        charts.draw(request_chart(name, **options).build(), "svg")
        rows.append((name, time.process_time() - started, BAR))
    return rows


def main(depth: int = DEPTH) -> str:
    """Every chart of 60 runs x 200 topics, drawn from data in memory (CPU seconds)."""
    return as_table(rows_of(depth))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--depth", type=int, default=DEPTH)
    found = rows_of(parser.parse_args().depth)
    print(as_table(found))
    sys.exit(any(figure > bar for _, figure, bar in found))
