"""From files: the twelve figures of pycocotools, on sets that hypothesis thinks of."""

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield as cf
from cranfield.measures.regions import REGION_SETS

ROOT = Path(__file__).resolve().parents[2]
coco = pytest.importorskip("pycocotools.coco")
IMAGES = (3, 7, 10, 100)


def placed(rng, score_steps):
    """A box of an annotation, or of a result where it has steps of scores."""
    row = {
        "image_id": int(rng.choice(IMAGES)),
        "category_id": int(rng.integers(1, 4)),
        "bbox": [int(v) for v in (*rng.integers(0, 60, 2), *rng.integers(1, 150, 2))],
    }
    if score_steps:
        return row | {"score": int(rng.integers(0, score_steps + 1)) / score_steps}
    crowd, ignored = int(rng.random() < 0.2), int(rng.random() < 0.3)
    return row | {"iscrowd": crowd, "ignore": ignored}


@given(st.integers(0, 2**32 - 1), st.integers(0, 200), st.integers(1, 200), st.integers(1, 300))
@settings(max_examples=60, deadline=None)
def test_twelve_figures(tmp_path_factory, seed, boxes, detections, score_steps):
    rng = np.random.default_rng(seed)
    annotations = [placed(rng, 0) for _ in range(boxes)]
    results = [placed(rng, score_steps) for _ in range(detections)]
    # Half of the results lie where the truth is.
    for result in results[::2] if annotations else ():
        near = annotations[rng.integers(boxes)]
        moved = [max(1, int(v + rng.integers(-2, 3))) for v in near["bbox"]]
        result |= {"image_id": near["image_id"], "category_id": near["category_id"], "bbox": moved}
    truth = {
        "info": {},
        "images": [{"id": i, "width": 300, "height": 300} for i in (100, 7, 3, 10)],
        "categories": [{"id": c, "name": f"c{c}"} for c in (2, 3, 1)],
        "annotations": [
            a | {"id": k, "area": a["bbox"][2] * a["bbox"][3]} for k, a in enumerate(annotations, 1)
        ],
    }
    folder = tmp_path_factory.mktemp("coco")
    (folder / "truth.json").write_text(json.dumps(truth))
    (folder / "run.json").write_text(json.dumps(results))
    means = cf.evaluate_regions(folder / "truth.json", [folder / "run.json"], "coco").mean()["run"]
    expected = figures(folder)
    assert list(means) == list(REGION_SETS["coco"])
    values = np.nan_to_num(list(means.values()), nan=-1.0)
    assert values == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_at_the_size_of_coco(tmp_path):
    """5,000 pictures, 36,781 boxes, 100 detections a picture: the files of the bench."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import regions

    truth, results = regions.write_files(tmp_path)
    means = cf.evaluate_regions(truth, [results], "coco").mean()["results"]
    run = subprocess.run(
        [sys.executable, regions.__file__, "pycocotools", truth, results],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    expected = [float(text) for text in run.stdout.split()]
    assert list(means.values()) == pytest.approx(expected, abs=1e-9)


def figures(folder):
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        truth = coco.COCO(str(folder / "truth.json"))
        peer = COCOeval(truth, truth.loadRes(str(folder / "run.json")), "bbox")
        peer.evaluate()
        peer.accumulate()
        peer.summarize()
    return peer.stats
