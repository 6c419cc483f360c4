"""Credit for near concepts in the right place: by hand, and F.region where nothing is near."""

import numpy as np
import pytest

import cranfield as cf
from cranfield.data.regions import CROWD, DIFFICULT, make_regions
from cranfield.errors import UsageError

COSTS = cf.CostMap.of(
    ["car", "bus", "dog"], [[0, 0.25, 1], [0.25, 0, 1], [1, 1, 0]], name="vehicles"
)


def test_credit_by_hand():
    truth = {"x": [("car", 0, 0, 10, 10), ("dog", 50, 50, 10, 10), ("bus", 80, 80, 10, 10)]}
    run = {
        "x": [
            ("bus", 0, 0, 10, 10, 0.9),  # on the car: 0.75
            ("car", 50, 50, 10, 10, 0.8),  # on the dog: nothing
            ("bus", 80, 80, 10, 10, 0.7),  # right
            ("car", 80, 80, 10, 10, 0.2),  # not sure enough
        ]
    }
    scores = cf.evaluate_regions(truth, {"mine": run}, "HF.region F.region", costmap=COSTS)
    values = scores.per_concept()
    credit = {row["concept"]: row["HF.region"] for row in values}
    plain = {row["concept"]: row["F.region"] for row in values}
    # car: its only box is wrong (P 0), the object has 0.75 (R 0.75). bus: P (0.75 + 1) / 2, R 1.
    assert credit["car"] == 0.0
    precision = (0.75 + 1) / 2
    assert credit["bus"] == pytest.approx(2 * precision * 1 / (precision + 1))
    assert credit["dog"] == 0.0
    assert plain["bus"] == pytest.approx(2 * 0.5 * 1 / 1.5)


def random_regions(seed, *, boxes, run):
    rng = np.random.default_rng(seed)
    items, concepts = tuple("abcd"), ("car", "bus", "dog")
    corners = np.concatenate(
        [rng.integers(0, 12, (boxes, 2)), rng.integers(2, 9, (boxes, 2))], axis=1
    ).astype(float)
    kinds = np.array([0, 0, 0, CROWD, DIFFICULT], dtype=np.uint8)
    return make_regions(
        items,
        concepts,
        [items[i] for i in rng.integers(0, 4, boxes)],
        [concepts[i] for i in rng.integers(0, 3, boxes)],
        corners,
        confidences=rng.integers(0, 8, boxes) / 8 if run else None,
        flags=None if run else kinds[rng.integers(0, 5, boxes)],
        name="boxes",
        where="<boxes>",
    )


@pytest.mark.parametrize("seed", range(30))
def test_costs_of_nothing_and_all_are_the_plain_measure(seed):
    truth = random_regions(seed, boxes=25, run=False)
    run = random_regions(1000 + seed, boxes=60, run=True)
    names = "(iou=0.3, threshold=0.25)"
    scores = cf.evaluate_regions(
        truth, {"r": run}, f"F.region{names} HF.region{names} F.region@2{names} HF.region@2{names}"
    )
    plain, credit, plain_cut, credit_cut = scores.measures
    np.testing.assert_allclose(scores.values[credit], scores.values[plain], atol=1e-12)
    np.testing.assert_allclose(scores.values[credit_cut], scores.values[plain_cut], atol=1e-12)


def test_near_concepts_never_take_credit_away():
    for seed in range(10):
        truth = random_regions(seed, boxes=25, run=False)
        run = random_regions(1000 + seed, boxes=60, run=True)
        plain, near = (
            cf.evaluate_regions(truth, {"r": run}, "HF.region(iou=0.3)", costmap=costs)
            for costs in (None, COSTS)
        )
        (measure,) = plain.measures
        total = [s.overall[measure][0] for s in (plain, near)]
        assert total[1] >= total[0] - 0.05  # greedy matching may give a little away


def test_an_ontology_tells_costs(tmp_path):
    (tmp_path / "tree.csv").write_text("concept,path\ncar,R.V.car\nbus,R.V.bus\ndog,R.A.dog\n")
    truth = {"x": [("car", 0, 0, 10, 10), ("bus", 30, 0, 10, 10), ("dog", 50, 50, 10, 10)]}
    run = {"x": [("bus", 0, 0, 10, 10, 0.9), ("bus", 30, 0, 10, 10, 0.8)]}
    tree = cf.read_ontology(tmp_path / "tree.csv")
    scores = cf.evaluate_regions(truth, {"r": run}, "HF.region", ontology=tmp_path / "tree.csv")
    bus = {row["concept"]: row["HF.region"] for row in scores.per_concept()}["bus"]
    precision = (1 - tree.cost_map.cost("car", "bus") + 1) / 2
    assert bus == pytest.approx(2 * precision / (precision + 1))
    with pytest.raises(UsageError, match="give one of them"):
        cf.evaluate_regions(truth, {"r": run}, "HF.region", ontology=tree, costmap=COSTS)
