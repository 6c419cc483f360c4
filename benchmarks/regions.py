"""Detection at the size of COCO's validation set, from files to figures, beside its programs.

python benchmarks/regions.py PEER TRUTH RESULTS    (one peer, as a process of its own)
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path

import numpy as np

from harness import DATA, compare, importable, table

COMMAND = str(Path(sys.executable).parent / "cranfield")
FOLDER = DATA / "regions"
IMAGES, BOXES, DETECTIONS, CONCEPTS = 5_000, 36_781, 100, 80
PEERS = ("pycocotools", "faster_coco_eval")


def write_files(folder: Path = FOLDER) -> tuple[str, str]:
    """A truth and results with as many pictures, boxes and concepts, made once."""
    truth, results = folder / "truth.json", folder / "results.json"
    if results.exists():
        return str(truth), str(results)
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(2017)
    image = np.sort(rng.integers(1, IMAGES + 1, BOXES))
    concept = rng.integers(1, CONCEPTS + 1, BOXES)
    sides = np.exp(rng.normal(4, 1, (BOXES, 2))).clip(4, 400)
    corners = rng.random((BOXES, 2)) * ((640, 480) - np.minimum(sides, 480))
    boxes = np.concatenate([corners, sides], axis=1).round(2)
    annotations = [
        {
            "id": k + 1,  # pycocotools takes a match with the object 0 for none
            "image_id": int(image[k]),
            "category_id": int(concept[k]),
            "bbox": boxes[k].tolist(),
            "area": float(boxes[k, 2] * boxes[k, 3]),
            "iscrowd": int(rng.random() < 0.012),
        }
        for k in range(BOXES)
    ]
    near = (boxes + rng.normal(0, 5, boxes.shape)).round(2)
    near[:, 2:] = np.maximum(near[:, 2:], 3)
    total = IMAGES * DETECTIONS - BOXES
    strays = np.concatenate(
        [rng.random((total, 2)) * 300, np.exp(rng.normal(4, 1, (total, 2))).clip(4, 300)], axis=1
    )
    places = np.concatenate([near, strays.round(2)])
    images = np.concatenate([image, rng.integers(1, IMAGES + 1, total)])
    concepts = np.concatenate([concept, rng.integers(1, CONCEPTS + 1, total)])
    scores = np.concatenate([rng.random(BOXES), rng.random(total) * 0.7]).round(3)
    rows = [
        {
            "image_id": int(images[k]),
            "category_id": int(concepts[k]),
            "bbox": places[k].tolist(),
            "score": float(scores[k]),
        }
        for k in rng.permutation(len(places))
    ]
    content = {
        "info": {},
        "images": [{"id": i, "width": 640, "height": 480} for i in range(1, IMAGES + 1)],
        "categories": [{"id": c, "name": f"concept {c}"} for c in range(1, CONCEPTS + 1)],
        "annotations": annotations,
    }
    truth.write_text(json.dumps(content))
    results.write_text(json.dumps(rows))
    return str(truth), str(results)


def main() -> str:
    """5,000 pictures, 36,781 boxes, 100 detections a picture: files to the twelve figures."""
    truth, results = write_files()
    commands = {"cranfield": [COMMAND, "eval", "regions", truth, results]}
    for peer in PEERS:
        if importable(peer):
            commands[peer] = [sys.executable, __file__, peer, truth, results]
    return table(compare(commands, repeats=1 if "pycocotools" in commands else 3))


def run_peer(peer: str, truth: str, results: str) -> None:
    """The twelve figures of one of the other programs."""
    if peer == "pycocotools":
        from pycocotools.coco import COCO
        from pycocotools.cocoeval import COCOeval as Evaluation
    else:
        from faster_coco_eval import COCO
        from faster_coco_eval import COCOeval_faster as Evaluation
    with contextlib.redirect_stdout(io.StringIO()):
        wanted = COCO(truth)
        evaluation = Evaluation(wanted, wanted.loadRes(results), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    print(" ".join(repr(float(value)) for value in evaluation.stats[:12]))


if __name__ == "__main__":
    run_peer(*sys.argv[1:4])
