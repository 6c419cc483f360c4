"""Panoptic quality of masks that do not overlap, beside torchmetrics."""

import json
import warnings

import numpy as np
import pytest

import cranfield as cf

torch = pytest.importorskip("torch")
panoptic = pytest.importorskip("torchmetrics.detection")
HEIGHT, WIDTH, CONCEPTS = 24, 30, (1, 2, 3)


def pixel_map(rng, moved=None):
    """A class and an instance for each pixel: rectangles on a ground of class 0."""
    pixels = np.zeros((HEIGHT, WIDTH, 2), dtype=np.int64)
    boxes = moved or []
    for _ in range(0 if moved else rng.integers(1, 7)):
        boxes.append((int(rng.choice(CONCEPTS)), *rng.integers(0, 18, 2), *rng.integers(3, 12, 2)))
    for number, (concept, x, y, width, height) in enumerate(boxes, 1):
        pixels[max(y, 0) : y + height, max(x, 0) : x + width] = concept, number
    return pixels, boxes


def records(pixels, image):
    """Masks of the instances, as COCO has them."""
    for number in np.unique(pixels[..., 1][pixels[..., 0] > 0]):
        mask = pixels[..., 1] == number
        concept = int(pixels[mask][0, 0])
        flat = mask.T.ravel().astype(int)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], flat])))
        counts = np.diff(np.concatenate([[0], edges, [flat.size]])).tolist()
        shape = {"size": [HEIGHT, WIDTH], "counts": counts}
        yield {"image_id": image, "category_id": concept, "segmentation": shape}


@pytest.mark.parametrize("seed", range(10))
def test_quality_of_each_concept(tmp_path, seed):
    rng = np.random.default_rng(seed)
    peer = panoptic.PanopticQuality(things=set(CONCEPTS), stuffs={0}, return_per_class=True)
    annotations, results = [], []
    for image in range(1, 6):
        wanted, boxes = pixel_map(rng)
        moved = [
            (c, x + int(rng.integers(-2, 3)), y + int(rng.integers(-2, 3)), w, h)
            for c, x, y, w, h in boxes
            if rng.random() < 0.8
        ]
        placed, _ = pixel_map(rng, moved or [(1, 0, 0, 2, 2)])
        annotations += [
            r | {"id": len(annotations) + k} for k, r in enumerate(records(wanted, image), 1)
        ]
        results += [r | {"score": 1.0} for r in records(placed, image)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer.update(torch.from_numpy(placed)[None], torch.from_numpy(wanted)[None])
    truth = {
        "images": [{"id": i, "height": HEIGHT, "width": WIDTH} for i in range(1, 6)],
        "categories": [{"id": c, "name": str(c)} for c in CONCEPTS],
        "annotations": annotations,
    }
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "run.json").write_text(json.dumps(results))
    # Theirs match above one half, ours from there on.
    name = "PQ.region(iou=0.500001, shape='mask')"
    scores = cf.evaluate_regions(tmp_path / "truth.json", [tmp_path / "run.json"], name)
    ours = {row["concept"]: row[name] for row in scores.per_concept()}
    theirs = peer.compute().reshape(-1).tolist()
    order = [*sorted(CONCEPTS), 0]
    for concept, value in zip(order, theirs, strict=True):
        if ours.get(str(concept)) is not None:
            assert ours[str(concept)] == pytest.approx(value, abs=1e-6), concept
