"""From files with masks: the twelve figures of pycocotools, and its pixels of polygons."""

import contextlib
import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield as cf
from cranfield import _core
from cranfield.measures.regions import REGION_SETS

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
coco = pytest.importorskip("pycocotools.coco")
packed = pytest.importorskip("pycocotools.mask")
SIDES = {3: (90, 120), 7: (64, 64), 10: (130, 50), 100: (40, 160)}  # heights and widths


def polygon(rng, height, width):
    """Corners in and around a picture, at halves of pixels or anywhere; some cross themselves."""
    corners = int(rng.integers(3, 10))
    centre = rng.uniform(0, [width, height])
    xy = centre + rng.normal(0, 0.3, (corners, 2)) * min(height, width)
    xy = np.clip(xy, [-width / 2, -height / 2], [1.5 * width, 1.5 * height])
    digits = rng.integers(3)
    return ((xy * 2).round() / 2 if digits == 2 else xy.round(int(digits))).ravel().tolist()


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 60), st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_pixels_of_polygons(seed, height, width, count):
    rng = np.random.default_rng(seed)
    polygons = [polygon(rng, height, width) for _ in range(count)]
    expected = packed.merge(packed.frPyObjects(polygons, height, width))
    masks = _core.MaskList()
    masks.add_polygons(polygons, height, width)
    assert masks.add_text(expected["counts"], height, width)
    runs, starts, areas, boxes = masks.columns()
    for k in range(2):
        own = runs[starts[k] : starts[k + 1]]
        pixels = np.repeat(np.arange(len(own)) % 2, own).reshape(width, height).T
        assert (pixels == packed.decode(expected)).all()
        assert areas[k] == packed.area(expected)
        assert boxes[k].tolist() == packed.toBbox(expected).tolist()


def record(rng, image, category, corners=None):
    height, width = SIDES[image]
    own = polygon(rng, height, width) if corners is None else corners
    rle = packed.merge(packed.frPyObjects([own], height, width))
    return {"image_id": image, "category_id": category}, own, rle


@given(st.integers(0, 2**32 - 1), st.integers(0, 60), st.integers(1, 60), st.integers(1, 300))
@settings(max_examples=40, deadline=None)
def test_twelve_figures(tmp_path_factory, seed, objects, detections, score_steps):
    rng = np.random.default_rng(seed)
    annotations, results, known = [], [], []
    for k in range(1, objects + 1):
        image, category = int(rng.choice(list(SIDES))), int(rng.integers(1, 4))
        fields, corners, rle = record(rng, image, category)
        known.append((image, category, corners))
        crowd = int(rng.random() < 0.2)
        bitmap = packed.decode(rle).T.ravel()
        edges = np.flatnonzero(np.diff(np.concatenate([[0], bitmap, [1 - bitmap[-1]]])))
        shape = [corners]
        if crowd:  # as COCO has them: run lengths that are not packed
            shape = {"size": list(SIDES[image]), "counts": np.diff(edges, prepend=0).tolist()}
        annotations.append(
            fields | {"id": k, "segmentation": shape, "iscrowd": crowd,
                      "area": float(packed.area(rle)), "bbox": packed.toBbox(rle).tolist()}
        )  # fmt: skip
    for k in range(detections):
        image, category = int(rng.choice(list(SIDES))), int(rng.integers(1, 4))
        corners = None
        if known and k % 2:
            image, category, near = known[rng.integers(len(known))]
            corners = (np.array(near) + rng.normal(0, 1, len(near))).tolist()
        fields, _, rle = record(rng, image, category, corners)
        rle = {"size": rle["size"], "counts": rle["counts"].decode()}
        score = int(rng.integers(0, score_steps + 1)) / score_steps
        results.append(fields | {"segmentation": rle, "score": score})
    truth = {
        "info": {},
        "images": [{"id": i, "height": h, "width": w} for i, (h, w) in SIDES.items()],
        "categories": [{"id": c, "name": f"c{c}"} for c in (2, 3, 1)],
        "annotations": annotations,
    }
    folder = tmp_path_factory.mktemp("segm")
    (folder / "truth.json").write_text(json.dumps(truth))
    (folder / "run.json").write_text(json.dumps(results))
    means = cf.evaluate_regions(folder / "truth.json", [folder / "run.json"], "segm").mean()["run"]
    assert list(means) == list(REGION_SETS["segm"])
    values = np.nan_to_num(list(means.values()), nan=-1.0)
    assert values == pytest.approx(figures(folder), abs=1e-9)


def figures(folder):
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        truth = coco.COCO(str(folder / "truth.json"))
        peer = COCOeval(truth, truth.loadRes(str(folder / "run.json")), "segm")
        peer.evaluate()
        peer.accumulate()
        peer.summarize()
    return peer.stats
