"""People who drew boxes: agreement and consensus against arithmetic by hand."""

import pytest

import cranfield as cf
from cranfield.errors import InputError, UsageError

ANN = {"x": [("cat", 0, 0, 10, 10), ("dog", 50, 50, 10, 10)], "y": [("cat", 0, 0, 10, 10)]}
BOB = {"x": [("cat", 2, 0, 10, 10), ("cat", 51, 50, 10, 10)], "y": []}
CID = {"x": [("cat", 4, 0, 10, 10)], "z": [("cat", 1, 1, 5, 5)]}


def test_agreement_by_hand():
    # ann and bob: cats of x overlap by 80 / 120; ann's dog and bob's second cat match by place.
    # Boxes of both: 2 + 2 on x, 1 + 0 on y; matched with the same concept: one.
    study = cf.region_agreement({"ann": ANN, "bob": BOB}, resamples=50)
    assert study.items == 2
    assert (study.overall.boxes, study.overall.matched) == (5, 1)
    assert study.overall.agreement == pytest.approx(2 / 5)
    assert study.overall.overlap == pytest.approx(80 / 120)
    assert study.naming == pytest.approx(1 / 2)
    cat, dog = study.concepts
    assert (cat.name, cat.boxes, cat.agreement) == ("cat", 4, pytest.approx(2 / 4))
    assert (dog.name, dog.boxes, dog.agreement) == ("dog", 1, 0.0)
    low, high = study.overall.interval
    assert 0 <= low <= study.overall.agreement <= high <= 1


def test_three_people_and_items_that_one_alone_saw():
    study = cf.region_agreement({"ann": ANN, "bob": BOB, "cid": CID}, resamples=50)
    assert study.items == 2  # z is cid's alone
    # On x: ann-bob 1 of 4 boxes, ann-cid 60 / 140 < 0.5 so 0 of 3, bob-cid 80 / 120 so 1 of 3.
    assert [(p.name, p.boxes, p.matched) for p in study.pairs] == [
        ("ann, bob", 5, 1),
        ("ann, cid", 3, 0),
        ("bob, cid", 3, 1),
    ]
    assert study.overall.agreement == pytest.approx(2 * 2 / 11)


def test_consensus_takes_what_most_people_drew():
    truth = cf.consensus_regions({"ann": ANN, "bob": BOB, "cid": CID}, iou=0.4)
    rows = [(truth.items[i], truth.boxes[k].tolist()) for k, i in enumerate(truth.item.tolist())]
    # x: the three cats (overlaps 0.67, 0.67, 0.43) have their median; the dog is one person's of
    # three. y: one person's of two, which is not more than half. z: one of one.
    assert rows == [("x", [2.0, 0.0, 10.0, 10.0]), ("z", [1.0, 1.0, 5.0, 5.0])]
    assert truth.items == ("x", "y", "z")


def test_a_chain_is_not_one_object():
    # Neighbours overlap by 80 / 120, the first and the last by 60 / 140.
    people = {
        name: {"x": [("cat", 2 * k, 0, 10, 10)]} for k, name in enumerate(("ann", "bob", "cid"))
    }
    truth = cf.consensus_regions(people, iou=0.5)
    assert truth.boxes.tolist() == [[1.0, 0.0, 10.0, 10.0]]  # two of three


def test_refusals():
    with pytest.raises(UsageError, match="at least two people"):
        cf.region_agreement({"ann": ANN})
    with pytest.raises(InputError, match="no item was annotated by two"):
        cf.region_agreement({"ann": {"x": []}, "bob": {"y": []}})
    with pytest.raises(UsageError, match="iou=0"):
        cf.region_agreement({"ann": ANN, "bob": BOB}, iou=0.0)
