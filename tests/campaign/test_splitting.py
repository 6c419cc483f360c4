"""Items in parts: sizes, concepts in proportion, groups that stay together."""

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.data.labels import LabelMatrix
from cranfield.io.samples import SAMPLE

TRUTH = SAMPLE / "truth.csv"
PARTS = {"train": 0.6, "validation": 0.2, "test": 0.2}


def gaps(answer):
    return [row["gap"] * row["items"] for row in answer.part("concepts").records()]


@pytest.mark.parametrize("method", ["random", "stratified"])
def test_every_item_is_in_one_part(method):
    found = cf.split_items(TRUTH, PARTS, method=method, rng=3)
    items = [item for part in found.items.values() for item in part]
    assert sorted(items) == sorted(cf.read_labels(TRUTH).items)
    sizes = [len(part) for part in found.items.values()]
    if method == "random":
        assert sizes == [240, 80, 80]
    assert sizes == pytest.approx([240, 80, 80], abs=4)
    assert found.items == cf.split_items(TRUTH, PARTS, method=method, rng=3).items
    assert found.items != cf.split_items(TRUTH, PARTS, method=method, rng=4).items


def test_rare_concepts_come_into_every_part():
    """Skewed concepts, several on an item: chance leaves parts without the rare ones."""
    rng = np.random.default_rng(1)
    labels = rng.random((500, 20)) < np.geomspace(0.01, 0.4, 20)
    truth = LabelMatrix.of(labels.astype(int), items=[f"i{n}" for n in range(500)])
    near, chance = (
        cf.split_items(truth, {f"fold{n}": 0.1 for n in range(10)}, method=m, rng=2)
        for m in ("stratified", "random")
    )
    assert max(gaps(near)) < 0.5 * max(gaps(chance))
    assert np.mean(gaps(near)) < 0.6 * np.mean(gaps(chance))
    # A concept with n items is in as many of the ten folds as it can be.
    for row in near.part("concepts").records():
        folds = sum(row[f"fold{n}"] > 0 for n in range(10))
        assert folds >= min(row["items"], 10) - 1


def test_a_group_is_not_divided(tmp_path):
    items = cf.read_labels(TRUTH).items
    groups = tmp_path / "groups.csv"
    groups.write_text("item,group\n" + "".join(f"{n},g{i % 37}\n" for i, n in enumerate(items)))
    for method in ("random", "stratified"):
        found = cf.split_items(TRUTH, PARTS, method=method, groups=groups)
        of_part = [{items.index(i) % 37 for i in part} for part in found.items.values()]
        assert sum(map(len, of_part)) == 37
        sizes = [len(part) for part in found.items.values()]
        assert sizes == pytest.approx([240, 80, 80], abs=25)


def test_lists_and_folders(tmp_path, capsys):
    ids = tmp_path / "ids.txt"
    ids.write_text("".join(f"p{n}\n" for n in range(10)))
    assert main(["collection", "split", str(ids), "a=0.7", "b=0.3", "-o", str(tmp_path / "s")]) == 0
    assert len((tmp_path / "s" / "a.txt").read_text().split()) == 7
    assert "stratified" not in capsys.readouterr().out
    with pytest.raises(cf.NeedsError, match="needs concepts of items"):
        cf.split_items(ids, {"a": 0.7, "b": 0.3}, method="stratified")
    found = cf.split_items(SAMPLE, {"a": 0.5, "b": 0.5})
    assert found.facts["method"] == "stratified"


@pytest.mark.parametrize(
    "parts, message",
    [
        (["a=1"], "two or more are needed"),
        (["a=0.5", "b=0.4"], "the shares sum to 0.9, not to 1"),
        (["a=0.5", "b=0.5", "c=0"], "the share of 'c' is 0"),
        (["a=0.5", "a=0.5"], "the part 'a' is there twice"),
        (["a=half", "b=0.5"], "'a=half' is not a part such as train=0.8"),
        (["../a=0.5", "b=0.5"], "is no name of a file"),
    ],
)
def test_parts_that_cannot_be(parts, message, capsys):
    assert main(["collection", "split", str(TRUTH), *parts]) == 2
    assert message in capsys.readouterr().err


def test_groups_that_cannot_be():
    half = {"a": 0.5, "b": 0.5}
    with pytest.raises(cf.UsageError, match="399 items have none"):
        cf.split_items(TRUTH, half, groups={cf.read_labels(TRUTH).items[0]: "g"})
