"""The kinds of errors, and what mending them would add, beside TIDE's own program."""

import numpy as np
import pytest

import cranfield as cf

tidecv = pytest.importorskip("tidecv", reason="tidecv is not installed")
# Its names of errors, and ours.
NAMES = {
    "Loc": "misplaced",
    "Cls": "wrong concept",
    "Both": "wrong concept, misplaced",
    "Dupe": "double",
    "Bkg": "nothing there",
    "Miss": "missed",
}


def random_boxes(seed):
    """A truth without crowds, with a box of each concept, and a run without equally sure boxes."""
    rng = np.random.default_rng(seed)
    concepts = ("cat", "dog", "cow")[: 1 + seed % 3]
    truth, run = {}, {}
    for i in range(int(rng.integers(1, 12))):
        objects = [
            (str(rng.choice(concepts)), *rng.uniform(0, 60, 2), *rng.uniform(10, 50, 2))
            for _ in range(rng.integers(0, 6))
        ]
        if i == 0:
            objects += [(concept, *rng.uniform(0, 90, 2), 20.0, 20.0) for concept in concepts]
        placed = []
        for concept, *box in objects:
            for _ in range(rng.integers(0, 4)):
                name = concept if rng.random() < 0.7 else str(rng.choice(concepts))
                moved = np.array(box) + rng.normal(0, 8, 4)
                placed.append((name, *moved[:2], *np.maximum(moved[2:], 1), rng.random()))
        for _ in range(rng.integers(0, 4)):
            name = str(rng.choice(concepts))
            placed.append((name, *rng.uniform(0, 90, 2), *rng.uniform(5, 40, 2), rng.random()))
        truth[str(i)], run[str(i)] = objects, placed
    return truth, run


def by_tide(truth, run):
    from tidecv import TIDE, Data

    wanted, placed = Data("truth"), Data("run")
    numbers = {name: k for k, name in enumerate(sorted({b[0] for r in truth.values() for b in r}))}
    for number, item in enumerate(truth):
        for concept, *box in truth[item]:
            wanted.add_ground_truth(number, numbers[concept], box=box)
        for concept, *box, score in run[item]:
            placed.add_detection(number, numbers[concept], score, box=box)
        wanted.add_image(number, item)
    tide = TIDE()
    answer = tide.evaluate(wanted, placed, mode=TIDE.BOX)
    counts = {kind.short_name: n for kind, n in answer.count_errors().items()}
    main = {kind.short_name: v for kind, v in answer.fix_main_errors().items()}
    special = {kind.short_name: v for kind, v in answer.fix_special_errors().items()}
    return answer.ap / 100, counts, main | special


@pytest.mark.parametrize("seed", range(30))
def test_kinds_and_gains(seed):
    truth, run = random_boxes(seed)
    precision, counts, gains = by_tide(truth, run)
    scores = cf.evaluate_regions(truth, {"r": run}, "AP.region(iou=0.5)", errors=0.0)
    assert scores.mean()["r"]["AP.region(iou=0.5)"] == pytest.approx(precision)
    facts = scores.to_dict()["runs"][0]
    assert {NAMES[kind]: n for kind, n in counts.items()} == {
        kind: facts["errors"][kind] for kind in NAMES.values()
    }
    expected = {NAMES[kind]: gains[kind] / 100 for kind in NAMES}
    expected |= {"all wrong": gains["FalsePos"] / 100, "all missed": gains["FalseNeg"] / 100}
    assert facts["effects"] == pytest.approx(expected)
