"""Do intervals of average precision hold what they promise?

    python benchmarks/check_regions.py

Two detectors of a known kind on pictures drawn at random; the true values and their difference are
those of very many pictures. Ends with 1 when intervals from 200 pictures on hold them in less than
93 % or more than 97 % of trials, and chance (two standard errors of the share) does not explain it.
"""

from __future__ import annotations

import sys

import numpy as np

from cranfield.data.regions import Regions, make_regions
from cranfield.evaluation.regions import evaluate_regions
from cranfield.measures.regions import parse_region_measures

MEASURES = "AP.region AP.region(iou=0.5) AR.region@100 LRP.region"
TRIALS = 500
PICTURES = (50, 200, 500)
MANY = 40_000
CONCEPTS = ("cat", "dog", "cow")
BARS = (0.93, 0.97)
CHANCE = 2 * (0.95 * 0.05 / TRIALS) ** 0.5


def simulate(rng: np.random.Generator, pictures: int) -> tuple[Regions, dict[str, Regions]]:
    """Pictures with one to five objects, and two detectors: the second places boxes worse.

    Some pictures are harder than others for both.
    """
    counts = 1 + rng.integers(0, 5, pictures)
    item = np.repeat(np.arange(pictures), counts)
    total = len(item)
    concept = rng.integers(0, len(CONCEPTS), total)
    boxes = np.stack([*rng.uniform(0, 400, (2, total)), *rng.uniform(20, 120, (2, total))], axis=1)
    ease = rng.beta(4, 2, pictures)[item]
    truth = _regions(pictures, item, concept, boxes)
    runs = {}
    for name, noise in (("near", 0.08), ("far", 0.1)):
        hit = rng.random(total) < ease
        moved = boxes + rng.normal(0, noise, (total, 4)) * boxes[:, [2, 3, 2, 3]]
        moved[:, 2:] = np.maximum(moved[:, 2:], 1)
        strays = rng.poisson(1.5, pictures)
        stray_item = np.repeat(np.arange(pictures), strays)
        count = len(stray_item)
        stray_boxes = np.stack(
            [*rng.uniform(0, 400, (2, count)), *rng.uniform(20, 120, (2, count))], axis=1
        )
        runs[name] = _regions(
            pictures,
            np.concatenate([item[hit], stray_item]),
            np.concatenate([concept[hit], rng.integers(0, len(CONCEPTS), count)]),
            np.concatenate([moved[hit], stray_boxes]),
            confidences=np.concatenate([rng.beta(4, 2, int(hit.sum())), rng.beta(2, 3, count)]),
        )
    return truth, runs


def _regions(
    pictures: int, item: np.ndarray, concept: np.ndarray, boxes: np.ndarray, **options: object
) -> Regions:
    return make_regions(
        tuple(map(str, range(pictures))),
        CONCEPTS,
        [str(i) for i in item.tolist()],
        [CONCEPTS[k] for k in concept.tolist()],
        boxes,
        name="simulated",
        where="<simulated>",
        **options,  # type: ignore[arg-type]
    )


def main() -> int:
    measures = list(map(str, parse_region_measures(MEASURES)))
    means = evaluate_regions(*simulate(np.random.default_rng(1), MANY), MEASURES).mean()
    missed = []
    print("| pictures | of | " + " | ".join(measures) + " |")
    print("|--:|---|" + "--:|" * len(measures))
    for pictures in PICTURES:
        held = {kind: np.zeros(len(measures)) for kind in ("values", "differences")}
        for trial in range(TRIALS):
            rng = np.random.default_rng([pictures, trial])
            scores = evaluate_regions(*simulate(rng, pictures), MEASURES, jobs=1)
            intervals = scores.interval()["near"]
            pairs = scores.compare(test="t").pairs
            for k, name in enumerate(measures):
                interval, row = intervals[name], pairs[k]
                true = means["near"][name]
                held["values"][k] += interval is not None and interval.low <= true <= interval.high
                true -= means["far"][name]
                held["differences"][k] += row.ci[0] <= true <= row.ci[1]
        for kind, counts in held.items():
            shares = counts / TRIALS
            cells = " | ".join(f"{share:.1%}" for share in shares)
            print(f"| {pictures} | {kind} | {cells} |", flush=True)
            if pictures >= 200:
                missed += [
                    f"{kind} of {m}, {pictures} pictures: {share:.1%}"
                    for m, share in zip(measures, shares, strict=True)
                    if not BARS[0] - CHANCE <= share <= BARS[1] + CHANCE
                ]
    for line in missed:
        print(f"does not hold: {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
