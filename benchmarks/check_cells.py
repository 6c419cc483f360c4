"""Do estimates from partly judged annotations hold what they promise?

    python benchmarks/check_cells.py [--write]

Complete truths of which some cells are hidden, with the runs of the digits or made-up ones; ends
with 1 when a bar does not hold. With --write the table is put into the page that explains the
truth. Two of the four truths are read from $CRANFIELD_DATA, where that is set.
"""

from __future__ import annotations

import gzip
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import cranfield as cf
from check_stats import Found, outside, percent, run_checks, shown
from cranfield.data.labels import LabelMatrix, align, dense
from cranfield.io.samples import SAMPLE

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "truth.md"
MEASURES = ("F.example", "OS", "SRP", "AP.concept")
ITEMS, DRAWS = 120, 100
TRIALS = int(os.environ.get("CELLS_TRIALS", "20"))
SHARES = (0.1, 0.3, 0.6)
QUALITIES = {"strong": 1.4, "middling": 1.0, "weak": 0.8}


@dataclass
class Case:
    """A complete truth of some items, runs, and what the measures need to know."""

    labels: np.ndarray
    runs: dict[str, np.ndarray]
    concepts: list[str]
    knowledge: dict[str, Any]

    def matrix(self, values: np.ndarray, name: str = "truth") -> LabelMatrix:
        items = [f"i{i:04d}" for i in range(len(values))]
        return LabelMatrix.of(values, items=items, concepts=self.concepts, name=name)

    def scores(self, truth: LabelMatrix) -> cf.Scores:
        runs = {name: self.matrix(values, name) for name, values in self.runs.items()}
        return cf.evaluate_labels(truth, runs, MEASURES, draws=DRAWS, **self.knowledge)


def digits(rng: np.random.Generator) -> Case:
    """Real runs on real images, whose concepts follow from one digit each."""
    truth = cf.read_labels(SAMPLE / "truth.csv")
    rows = rng.permutation(len(truth.items))[:ITEMS]
    runs = {}
    for name in ("logistic", "neighbours", "bayes"):
        run = align(cf.read_labels(SAMPLE / "labels" / f"{name}.csv.gz"), truth).run
        runs[name] = np.asarray(dense(run.confidences))[rows]
    labels = np.asarray(dense(truth.labels), dtype=bool)[rows]
    return Case(labels, runs, list(truth.concepts), {"ontology": SAMPLE / "ontology.csv"})


def photos(rng: np.random.Generator) -> Case:
    """The 53 concepts of 2009, rare and frequent ones, correlated by four hidden topics."""
    ontology = cf.ontologies.pto(2009)
    concepts = list(ontology.concepts)[:53]
    levels = rng.normal(-1.8, 1.2, len(concepts))
    topics = rng.normal(size=(ITEMS, 4)) @ rng.normal(0, 0.7, (4, len(concepts)))
    labels = rng.random(topics.shape) < 1 / (1 + np.exp(-levels - topics))
    return Case(labels, _made_up(labels, rng), concepts, {"ontology": ontology})


def emotions(rng: np.random.Generator) -> Case:
    """593 pieces of music with six emotions."""
    lines = (_data() / "multilabel" / "emotions.arff").read_text().splitlines()
    rows = [line.split(",")[-6:] for line in lines if line and line[0] not in "@%"]
    return _sampled(np.array(rows, dtype=int) > 0, rng)


def flickr(rng: np.random.Generator) -> Case:
    """5,000 pictures of Flickr, the twenty most frequent concepts."""
    with gzip.open(_data() / "multilabel" / "hashnet_nuswide81_test5000.txt.gz", "rt") as lines:
        labels = np.array([line.split()[1:] for line in lines], dtype=int) > 0
    return _sampled(labels[:, np.argsort(-labels.sum(axis=0))[:20]], rng)


def _sampled(labels: np.ndarray, rng: np.random.Generator) -> Case:
    labels = labels[rng.permutation(len(labels))[:ITEMS]]
    return Case(labels, _made_up(labels, rng), [f"c{j:02d}" for j in range(labels.shape[1])], {})


def _made_up(labels: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Runs that know every concept more or less well, with confidences of several meanings."""
    runs = {}
    for name, quality in QUALITIES.items():
        slopes = quality * rng.uniform(0.5, 1.5, labels.shape[1])
        levels = rng.normal(-0.4, 0.5, labels.shape[1])
        logits = slopes * np.where(labels, 1, -1) + levels + rng.normal(size=labels.shape)
        runs[name] = 1 / (1 + np.exp(-1.5 * logits))
    return runs


def _data() -> Path:
    return Path(os.environ["CRANFIELD_DATA"])


def uniform(case: Case, share: float, rng: np.random.Generator) -> tuple[np.ndarray, None]:
    """Every cell with the same probability."""
    return rng.random(case.labels.shape) < share, None


def pooled(case: Case, share: float, rng: np.random.Generator) -> tuple[np.ndarray, None]:
    """Two thirds for the cells that a run puts highest, the others from all that are left."""
    highest = np.max(list(case.runs.values()), axis=0).ravel()
    judged = np.zeros(highest.size, dtype=bool)
    pool = int(share * highest.size * 2 / 3)
    judged[np.argsort(-highest - 1e-9 * rng.random(highest.size))[:pool]] = True
    judged |= rng.random(highest.size) < (share * highest.size - pool) / (highest.size - pool)
    return judged.reshape(case.labels.shape), None


def stratified(case: Case, share: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """More of the cells with high mean confidences, by probabilities that are stated."""
    mean = np.mean(list(case.runs.values()), axis=0)
    weight = np.array([0.5, 1.0, 2.5])[np.digitize(mean, np.quantile(mean, [0.5, 0.8]))]
    probability = np.clip(share * weight / weight.mean(), 0.0, 1.0)
    return rng.random(mean.shape) < probability, probability


TRUTHS: tuple[Callable[[np.random.Generator], Case], ...] = (digits, photos, emotions, flickr)
DESIGNS: tuple[Callable[..., tuple[np.ndarray, Any]], ...] = (uniform, pooled, stratified)


def cells() -> Found:
    """How often 95 % intervals hold the value under all cells: 120 items, three runs, 20 trials."""
    table, missed, inside = [], [], defaultdict(list)
    reversed_pairs, claimed = 0, 0
    truths = TRUTHS if os.environ.get("CRANFIELD_DATA") else TRUTHS[:2]
    for number, truth in enumerate(truths):
        for share in SHARES:
            for design in DESIGNS:
                here = defaultdict(list)
                for trial in range(TRIALS):
                    rng = np.random.default_rng([number, round(100 * share), trial])
                    case = truth(rng)
                    full, partly = _scored(case, *design(case, share, rng))
                    for m, run, low, high in _intervals(partly):
                        here[m].append(low <= full.mean()[run][m] <= high)
                    turned, all_claims = _turned(full, partly)
                    reversed_pairs, claimed = reversed_pairs + turned, claimed + all_claims
                for m, hits in here.items():
                    inside[m, share] += hits
                name = f"{truth.__name__}, {share:.0%}, {design.__name__}"
                table.append([name, *(percent(np.mean(here[m])) for m in MEASURES)])
                print(table[-1], file=sys.stderr, flush=True)
    for m in MEASURES:
        hits = [hit for (name, _), some in inside.items() if name == m for hit in some]
        missed += outside(f"coverage of {m}", float(np.mean(hits)), 0.93, 0.97)
    for share in SHARES:
        means = [percent(np.mean(inside[m, share])) for m in MEASURES]
        table.append([f"all, {share:.0%}", *means])
    if reversed_pairs:
        missed.append(f"{reversed_pairs} of {claimed} significant differences are reversed")
    table.append([f"reversed: {reversed_pairs} of {claimed} differences", "", "", "", ""])
    return shown(["truth, share judged, design", *MEASURES], table), missed


def _scored(case: Case, judged: np.ndarray, sampling: Any) -> tuple[cf.Scores, cf.Scores]:
    truth = case.matrix(case.labels)
    partly = replace(case.matrix(case.labels & judged), judged=judged, sampling=sampling)
    return case.scores(truth), case.scores(partly)


def _intervals(scores: cf.Scores) -> list[tuple[str, str, float, float]]:
    rows = scores.to_dict()["doubt"]["runs"]
    return [(row["measure"], row["run"], *row["truth_interval"]) for row in rows]


def _turned(full: cf.Scores, partly: cf.Scores) -> tuple[int, int]:
    """Differences at the level of 0.001 under all cells that are called significant the other way
    round from some, and how many there are."""
    turned, claims = 0, 0
    for a, b in zip(*(_pairs(scores) for scores in (full, partly)), strict=True):
        if a["p_corrected"] <= 0.001:
            claims += 1
            turned += b["p_corrected"] <= 0.05 and a["difference"] * b["difference"] < 0
    return turned, claims


def _pairs(scores: cf.Scores) -> list[dict[str, Any]]:
    comparison = scores.compare(test="t", correction="holm")
    pairs: list[dict[str, Any]] = comparison.to_dict()["pairs"]
    return pairs


CHECKS: dict[str, Callable[[], Found]] = {"cells": cells}


def main(argv: Sequence[str] | None = None) -> int:
    return run_checks(CHECKS, [PAGE], argv)


if __name__ == "__main__":
    sys.exit(main())
