"""ImageNet's errors of the first guesses, on a small tree worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cranfield as cf
from cranfield.data.labels import LabelMatrix

# Heights: animal 2, dog 1, breeds 0; vehicle 1, car 0; the root above both has 3.
TREE = """concept,path
poodle,animal.dog.poodle
beagle,animal.dog.beagle
cat,animal.cat
car,vehicle.car
"""
CONCEPTS = ["poodle", "beagle", "cat", "car"]


@pytest.fixture
def ontology(tmp_path: Path) -> Path:
    path = tmp_path / "tree.csv"
    path.write_text(TREE)
    return path


def _scores(ontology: Path, ranking: str, true: str, names: str) -> list[float]:
    order = ranking.split()
    confidences = np.array([[1 - order.index(c) / 10 for c in CONCEPTS]])
    labels = np.array([[c in true.split() for c in CONCEPTS]])
    truth, run = (
        LabelMatrix.of(values, items=["i"], concepts=CONCEPTS, name=name)
        for values, name in ((labels, "truth"), (confidences, "run"))
    )
    means = cf.evaluate_labels(truth, [run], names, ontology=ontology).mean()["run"]
    return list(means.values())


@pytest.mark.parametrize(
    ("ranking", "true", "flat", "hierarchical"),
    [
        ("poodle beagle cat car", "poodle", 0, 0),
        ("beagle poodle cat car", "poodle", 1, 1 / 3),  # the dog
        ("cat beagle poodle car", "poodle", 1, 2 / 3),  # the animal
        ("car cat beagle poodle", "poodle", 1, 1),  # the root
        ("beagle poodle cat car", "poodle car", 1, (1 / 3 + 1) / 2),
    ],
)
def test_one_guess(
    ontology: Path, ranking: str, true: str, flat: float, hierarchical: float
) -> None:
    values = _scores(ontology, ranking, true, "FlatError@1 HierarchicalError@1")
    assert values == pytest.approx([flat, hierarchical])


def test_the_nearest_of_several_guesses_counts(ontology: Path) -> None:
    names = [f"HierarchicalError@{k}" for k in (1, 2, 3, 4)]
    values = _scores(ontology, "car cat beagle poodle", "poodle", " ".join([*names, "FlatError@3"]))
    assert values == pytest.approx([1, 2 / 3, 1 / 3, 0, 1])


def test_flat_error_is_one_less_top_k_accuracy() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(4)
    confidences = rng.random((200, 10))
    true = rng.integers(0, 10, 200)
    truth = np.eye(10, dtype=bool)[true]
    ours = cf.evaluate_labels(truth, {"run": confidences}, "FlatError@5 R@5.example").mean()["run"]
    accuracy = metrics.top_k_accuracy_score(true, confidences, k=5)
    assert ours["FlatError@5"] == pytest.approx(1 - accuracy)
    assert ours["FlatError@5"] == pytest.approx(1 - ours["R@5.example"])
