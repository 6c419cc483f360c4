"""Matches of boxes: the twelve figures of COCO, and VOC's from an own reading of its rules."""

import contextlib
import io

import numpy as np
import pytest

from cranfield import _core
from tests.reference.masks import overlap, pixels_of, runs_of

SIZES = [(0.0, 1e10), (0.0, 1024.0), (1024.0, 9216.0), (9216.0, 1e10)]
OVERLAPS = np.linspace(0.5, 0.95, 10).tolist()
NO_WEIGHTS = np.zeros(0)


def random_set(seed, images, boxes, strays, concepts, score_steps):
    """Boxes of a truth and a run, with crowds, ties, empty images and concepts without truth."""
    rng = np.random.default_rng(seed)
    truth, run = [], []
    for image in range(1, images + 1):
        for _ in range(rng.integers(0, boxes + 1)):
            width, height = np.exp(rng.normal(3.6, 1, 2)).clip(2, 300).round(1)
            x, y = rng.integers(0, 200, 2)
            concept = int(rng.integers(1, concepts + 1))
            box = [float(x), float(y), float(width), float(height)]
            truth.append((image, concept, box, int(rng.random() < 0.15)))
            for _ in range(rng.integers(0, 3)):
                moved = [v + float(rng.integers(-3, 4)) for v in box[:2]] + box[2:]
                run.append((image, concept, moved, rng.integers(0, score_steps) / score_steps))
        for _ in range(rng.integers(0, strays + 1)):
            box = [float(v) for v in (*rng.integers(0, 200, 2), *rng.integers(3, 150, 2))]
            concept = int(rng.integers(1, concepts + 1))
            run.append((image, concept, box, rng.integers(0, score_steps) / score_steps))
    return truth, run


def match(truth, run, concepts, rule, overlaps, sizes, depth, jobs=2, partners=False):
    def columns(boxes):
        return (
            np.array([b[0] - 1 for b in boxes], dtype=np.int32),
            np.array([b[1] - 1 for b in boxes], dtype=np.int32),
            np.array([b[2] for b in boxes], dtype=float).reshape(-1, 4),
        )

    areas = np.array([b[2][2] * b[2][3] for b in truth], dtype=float)
    flags = np.array([b[3] for b in truth], dtype=np.uint8)
    scores = np.array([b[3] for b in run], dtype=float)
    return _core.RegionMatches(
        *columns(truth),
        areas,
        flags,
        *columns(run),
        scores,
        concepts,
        rule,
        overlaps,
        sizes,
        depth,
        partners,
        jobs,
    )


def mean(values):
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else -1.0


def twelve(matches):
    every = [matches.precision(s, 100, "101", NO_WEIGHTS, 2) for s in range(4)]
    figures = [mean(every[0]), mean(every[0][:, 0]), mean(every[0][:, 5]), *map(mean, every[1:])]
    figures += [mean(matches.recall(0, depth, NO_WEIGHTS, 2)) for depth in (1, 10, 100)]
    return figures + [mean(matches.recall(s, 100, NO_WEIGHTS, 2)) for s in (1, 2, 3)]


def coco_figures(truth, run, images, concepts):
    coco = pytest.importorskip("pycocotools.coco")
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        gold = coco.COCO()
        gold.dataset = {
            "info": {},
            "images": [{"id": i, "width": 500, "height": 500} for i in range(1, images + 1)],
            "categories": [{"id": c, "name": str(c)} for c in range(1, concepts + 1)],
            "annotations": [
                {
                    "id": k,
                    "image_id": i,
                    "category_id": c,
                    "bbox": b,
                    "area": b[2] * b[3],
                    "iscrowd": crowd,
                    "ignore": k % 2,
                }
                for k, (i, c, b, crowd) in enumerate(truth, 1)
            ],
        }
        gold.createIndex()
        results = gold.loadRes(
            [{"image_id": i, "category_id": c, "bbox": b, "score": float(s)} for i, c, b, s in run]
        )
        peer = COCOeval(gold, results, "bbox")
        peer.evaluate()
        peer.accumulate()
        peer.summarize()
    return peer.stats


@pytest.mark.parametrize("seed", range(40))
def test_twelve_figures_of_coco(seed):
    images, concepts = 1 + seed % 13, 1 + seed % 5
    steps = (4, 20, 1000)[seed % 3]
    truth, run = random_set(
        seed, images, (3, 12, 40)[seed % 3], (0, 8, 120)[seed // 3 % 3], concepts, steps
    )
    if not run:
        pytest.skip("the COCO program takes no empty run")
    matches = match(truth, run, concepts, "coco", OVERLAPS, SIZES, 100)
    assert twelve(matches) == pytest.approx(coco_figures(truth, run, images, concepts), abs=1e-9)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_equal_overlaps_the_last_box_that_counts_is_taken(order):
    """Two boxes of the truth lie over the only box of the run to the same share."""
    sides = [(1, 1, [0.0, 0.0, 10.0, 10.0], 0), (1, 1, [4.0, 0.0, 10.0, 10.0], 1)]
    truth = [sides[i] for i in order]
    run = [(1, 1, [2.0, 0.0, 10.0, 10.0], 0.9)]
    matches = match(truth, run, 1, "coco", OVERLAPS, SIZES, 100)
    assert twelve(matches) == pytest.approx(coco_figures(truth, run, 1, 1), abs=1e-9)
    plain = [(*box[:3], 0) for box in truth] + [(1, 1, [2.0, 0.0, 10.0, 10.0], 0)]
    twice = [*run, (1, 1, [2.0, 0.0, 10.0, 10.0], 0.9), (1, 1, [0.0, 0.0, 10.0, 10.0], 0.9)]
    matches = match(plain, twice, 1, "coco", OVERLAPS, SIZES, 100)
    assert twelve(matches) == pytest.approx(coco_figures(plain, twice, 1, 1), abs=1e-9)


def voc_precision(truth, run, concept, least, eleven):
    """Average precision of a concept, from the description of the VOC challenges."""
    wanted = {}
    for image, c, (x, y, w, h), difficult in truth:
        if c == concept:
            wanted.setdefault(image, []).append([x, y, x + w, y + h, bool(difficult), False])
    total = sum(not box[4] for boxes in wanted.values() for box in boxes)
    if total == 0:
        return np.nan
    ranked = sorted((r for r in run if r[1] == concept), key=lambda r: -r[3])
    outcomes = []
    for image, _, (x, y, w, h), _ in ranked:
        best, nearest = -np.inf, None
        for box in wanted.get(image, []):
            width = min(x + w, box[2]) - max(x, box[0]) + 1
            height = min(y + h, box[3]) - max(y, box[1]) + 1
            if width > 0 and height > 0:
                union = (w + 1) * (h + 1) - width * height
                union += (box[2] - box[0] + 1) * (box[3] - box[1] + 1)
                share = width * height / union
                if share > best:
                    best, nearest = share, box
        if nearest is None or best < least:
            outcomes.append(0)
        elif not nearest[4]:
            outcomes.append(0 if nearest[5] else 1)
            nearest[5] = True
    right = np.cumsum(outcomes)
    recall, precision = right / total, right / np.arange(1, len(outcomes) + 1)
    if eleven:
        best = [max(precision[recall >= t], default=0.0) for t in np.linspace(0, 1, 11)]
        return float(np.mean(best))
    precision = np.concatenate([[0], precision, [0]])
    recall = np.concatenate([[0], recall, [1]])
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    return float(np.sum(np.diff(recall) * precision[1:]))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("points", ["11", "all"])
def test_voc(seed, points):
    truth, run = random_set(seed, 1 + seed % 9, 8, 8, 3, (4, 50)[seed % 2])
    flagged = [(*box[:3], 2 * box[3]) for box in truth]
    matches = match(flagged, run, 3, "voc", [0.5], [(0.0, np.inf)], 0)
    values = matches.precision(0, 0, points, NO_WEIGHTS, 1)[:, 0]
    expected = [voc_precision(truth, run, c, 0.5, points == "11") for c in (1, 2, 3)]
    assert values == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_weights_are_copies_of_images():
    truth, run = random_set(5, 8, 10, 10, 2, 100_000)
    counts = np.array([0, 1, 2, 3, 0, 1, 1, 4])
    copies = [(i, k) for i, n in enumerate(counts, 1) for k in range(n)]
    number = {copy: n for n, copy in enumerate(copies, 1)}

    def repeat(boxes):
        return [(number[b[0], k], *b[1:]) for k in range(4) for b in boxes if (b[0], k) in number]

    apart = match(repeat(truth), repeat(run), 2, "coco", OVERLAPS, SIZES[:1], 100)
    joined = match(truth, run, 2, "coco", OVERLAPS, SIZES[:1], 100)
    weights = counts.astype(float)
    expected = apart.precision(0, 100, "101", NO_WEIGHTS, 1)
    assert joined.precision(0, 100, "101", weights, 1) == pytest.approx(
        expected, abs=1e-9, nan_ok=True
    )
    expected = apart.recall(0, 100, NO_WEIGHTS, 1)
    assert joined.recall(0, 100, weights, 1) == pytest.approx(expected, abs=1e-9, nan_ok=True)


def mask_columns(lists, height, width):
    masks = _core.MaskList()
    for runs in lists:
        assert masks.add_runs(runs, height, width)
    return masks.columns()


@pytest.mark.parametrize("seed", range(12))
def test_overlaps_of_masks(seed):
    """One object and one mask in each picture: the error of the place is 1 - overlap."""
    rng = np.random.default_rng(seed)
    height, width, count = int(rng.integers(1, 12)), int(rng.integers(1, 12)), 20
    shares = rng.choice([0.0, 0.2, 0.6, 1.0], (2, count, 1, 1))
    truth, run = rng.random((2, count, height, width)) < shares
    truth_runs, truth_starts, areas, boxes = mask_columns(map(runs_of, truth), height, width)
    runs, starts, run_areas, _ = mask_columns(map(runs_of, run), height, width)
    assert areas.tolist() == truth.sum(axis=(1, 2)).tolist()
    assert run_areas.tolist() == run.sum(axis=(1, 2)).tolist()
    for k, (x, y, across, down) in enumerate(boxes.astype(int).tolist()):
        rows, columns = np.nonzero(truth[k])
        assert (truth[k][y : y + down, x : x + across]).sum() == areas[k]
        assert not len(rows) or (x, y) == (columns.min(), rows.min())
    flags = (rng.random(count) < 0.3).astype(np.uint8)
    least = 0.01
    every = np.arange(count, dtype=np.int32)
    matches = _core.RegionMatches(
        every, every, np.zeros((count, 4)), areas, flags,
        every, every, np.zeros((count, 4)), np.ones(count),
        count, "coco", [least], [(0.0, 1e10)], 100, True, 1,
        (truth_runs, truth_starts, runs, starts),
    )  # fmt: skip
    errors = matches.localisation(0, 100, 0.0, NO_WEIGHTS, 1)[:, 0]
    for k in range(count):
        share = overlap(run[k], truth[k], crowd=bool(flags[k]))
        assert matches.outcomes(k, 0, 0)[2].tolist() == [
            0 if share < least else 2 if flags[k] else 1
        ]
        if not flags[k]:
            expected = (1 - share) / (1 - least) if share >= least else 1
            assert errors[k] == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_masks_of_polygons(seed):
    """Rectangles at whole pixels have what they enclose; several polygons are joined."""
    rng = np.random.default_rng(seed)
    height, width = (int(side) for side in rng.integers(5, 40, 2))
    expected, polygons = np.zeros((height, width), dtype=bool), []
    for _ in range(3):
        left, right = np.sort(rng.choice(width + 1, 2, replace=False)).tolist()
        top, bottom = np.sort(rng.choice(height + 1, 2, replace=False)).tolist()
        expected[top:bottom, left:right] = True
        polygons.append([left, top, right, top, right, bottom, left, bottom])
    masks = _core.MaskList()
    masks.add_polygons(polygons, height, width)
    runs = masks.columns()[0]
    assert (pixels_of(runs.tolist(), height, width) == expected).all()


def test_bad_masks_of_the_core():
    masks = _core.MaskList()
    assert not masks.add_text(b"\x7f", 2, 2)
    assert not masks.add_text(b"P", 2, 2)  # a number that does not end
    assert not masks.add_runs([1, 2], 2, 2)
    for polygons in ([[0, 0, 1]], [[0, 0, 1, 1, 1e9, 1]], [[0, 0, 1, 1, np.nan, 1]]):
        with pytest.raises(ValueError, match="polygon"):
            masks.add_polygons(polygons, 2, 2)
    with pytest.raises(ValueError, match="2\\^32"):
        masks.add_runs([1], 1 << 16, 1 << 16)
    nothing = np.zeros(0, dtype=np.int32)
    boxes = (nothing, nothing, np.zeros((0, 4)), np.zeros(0))
    plan = (1, "coco", [0.5], [(0.0, 1e10)], 100, False, 1)
    runs, starts = np.zeros(0, dtype=np.uint32), np.zeros(1, dtype=np.int64)
    columns = (runs, np.zeros(3, dtype=np.int64), runs, starts)
    with pytest.raises(ValueError, match="masks do not fit"):
        _core.RegionMatches(*boxes, np.zeros(0, dtype=np.uint8), *boxes, *plan, columns)
