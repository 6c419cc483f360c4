"""`cranfield annotate`: baselines that learn, thresholds, rules afterwards; class folders."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.errors import UsageError
from cranfield.evaluation.baselines import best_threshold, by_cooccurrence, by_rules
from cranfield.features.item_vectors import ItemTable
from cranfield.io.labels import read_threshold

PHOTOS = Path(cf.__file__).parent / "samples" / "photos" / "pictures"


def vectors(rows: np.ndarray, name: str, start: int = 0) -> ItemTable:
    return ItemTable.of([f"i{start + k}" for k in range(len(rows))], rows, name)


@pytest.fixture(scope="module")
def made() -> dict[str, object]:
    """Two concepts: one shows in the first kind of vectors, the other in the second."""
    rng = np.random.default_rng(5)
    labels = rng.random((160, 2)) < (0.5, 0.3)
    colour = rng.normal(size=(160, 6)) + 2.0 * labels[:, :1]
    shape = rng.normal(size=(160, 4)) - 2.0 * labels[:, 1:]
    truth = cf.LabelMatrix(
        tuple(f"i{k}" for k in range(100)), ("sea", "sky"), labels=labels[:100], name="truth"
    )
    return {
        "truth": truth,
        "train": [vectors(colour[:100], "colour"), vectors(shape[:100], "shape")],
        "apply": [vectors(colour[100:], "colour", 100), vectors(shape[100:], "shape", 100)],
        "shown": cf.LabelMatrix(
            tuple(f"i{k}" for k in range(100, 160)), ("sea", "sky"), labels=labels[100:]
        ),
    }


def mean_ap(made: dict[str, object], **options: object) -> float:
    found = cf.annotate(made["train"], made["truth"], made["apply"], **options)
    return cf.evaluate_labels(made["shown"], [found.labels], "AP.concept").mean()[
        found.labels.name
    ]["AP.concept"]


@pytest.mark.parametrize("method", ["neighbours", "logistic", "svm"])
@pytest.mark.parametrize("fusion", ["early", "late"])
def test_baselines_learn(made: dict[str, object], method: str, fusion: str) -> None:
    learnt = mean_ap(made, method=method, fusion=fusion)
    assert learnt > 0.75
    assert learnt > mean_ap(made, method="random") + 0.2


def test_blind_baselines(made: dict[str, object]) -> None:
    prior = cf.annotate(made["train"], made["truth"], made["apply"], method="prior")
    shares = made["truth"].labels.mean(axis=0)
    np.testing.assert_allclose(prior.labels.confidences, np.tile(shares, (60, 1)))
    args = (made["train"], made["truth"], made["apply"])
    first, again = (cf.annotate(*args, method="random", seed=7) for _ in range(2))
    assert first == again
    assert first != cf.annotate(*args, method="random", seed=8)


def test_thresholds_of_three_forms(made: dict[str, object]) -> None:
    args = (made["train"], made["truth"], made["apply"])
    assert set(cf.annotate(*args).thresholds.values()) == {0.5}
    tuned = cf.annotate(*args, threshold="concept")
    assert tuned.labels.labels is None
    assert all(0 < limit < 1 for limit in tuned.thresholds.values())
    decided = cf.annotate(*args, threshold="labels")
    limits = np.array(list(decided.thresholds.values()))
    np.testing.assert_array_equal(decided.labels.labels, decided.labels.confidences >= limits)


def test_best_threshold() -> None:
    scores = np.array([0.9, 0.8, 0.4, 0.4, 0.1])
    shown = np.array([True, True, True, False, False])
    assert best_threshold(scores, shown) == pytest.approx(0.25)
    assert best_threshold(scores, np.zeros(5, dtype=bool)) == 0.5
    assert best_threshold(scores, np.ones(5, dtype=bool)) == pytest.approx(0.05)


def test_rules_lift_and_lower(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text(
        "concept,path\nPlace,Place\nIndoor,Place.Indoor\nOutdoor,Place.Outdoor\nSea,Sea\nBoat,Boat\n"
    )
    (tmp_path / "rules.toml").write_text(
        '[[disjoint]]\nconcepts = ["Indoor", "Outdoor"]\n'
        '[[requires]]\nconcept = "Boat"\nany_of = ["Sea"]\n'
    )
    ontology = cf.read_ontology(tmp_path / "tree.csv", rules=tmp_path / "rules.toml")
    concepts = ("Place", "Indoor", "Outdoor", "Sea", "Boat")
    found = by_rules(np.array([[0.1, 0.9, 0.6, 0.2, 0.8]]), concepts, ontology)
    np.testing.assert_allclose(found, [[0.6, 0.6, 0.4, 0.2, 0.2]])


def test_cooccurrence_moves_towards_what_is_expected() -> None:
    labels = np.array([[1, 1], [1, 1], [1, 0], [0, 0]], dtype=bool)
    found = by_cooccurrence(np.array([[0.0, 1.0], [1.0, 0.0]]), labels)
    # The second concept never comes without the first, which has it in two of three.
    np.testing.assert_allclose(found, [[0.3, 0.7], [0.7, 0.2]])


def test_the_ontology_helps_where_its_rules_hold(tmp_path: Path) -> None:
    """Indoor and Outdoor exclude each other, and a run is too certain of both."""
    (tmp_path / "tree.csv").write_text("concept,path\nIndoor,Indoor\nOutdoor,Outdoor\n")
    (tmp_path / "rules.toml").write_text('[[disjoint]]\nconcepts = ["Indoor", "Outdoor"]\n')
    ontology = cf.read_ontology(tmp_path / "tree.csv", rules=tmp_path / "rules.toml")
    rng = np.random.default_rng(3)
    indoor = rng.random(400) < 0.5
    labels = np.stack([indoor, ~indoor], axis=1)
    doubtful = np.clip(labels * 0.4 + rng.random(labels.shape) * 0.6, 0, 1)
    kept = by_rules(doubtful, ontology.concepts, ontology)

    def right(confidences: np.ndarray) -> float:
        return float(((confidences >= 0.5) == labels).all(axis=1).mean())

    assert right(kept) > right(doubtful) + 0.05


def test_what_is_asked_wrongly(made: dict[str, object]) -> None:
    args = (made["train"], made["truth"], made["apply"])
    with pytest.raises(UsageError, match="needs ontology"):
        cf.annotate(*args, after="rules")
    with pytest.raises(UsageError, match="is not one of neighbours"):
        cf.annotate(*args, method="forest")
    with pytest.raises(UsageError, match="2 files of vectors to train on, 1 to apply"):
        cf.annotate(made["train"], made["truth"], made["apply"][:1])


def test_from_class_folders_to_a_scored_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for half, parity in (("train", 0), ("test", 1)):
        for number, picture in enumerate(sorted(PHOTOS.glob("[bcg]*.jpg"))):
            if number % 2 == parity:
                place = tmp_path / half / picture.name.split("_")[0] / picture.name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(picture.read_bytes())
        assert main(["describe", half, "-d", "CEDD EHD", "-o", f"f-{half}"]) == 0
        truth = f"{half}.csv"
        assert main(["convert", "--from-folders", half, truth, "--kind", "labels"]) == 0
    run = ["annotate", "--train", "f-train/CEDD.npz", "f-train/EHD.npz", "train.csv"]
    run += ["--apply", "f-test/CEDD.npz", "f-test/EHD.npz", "--threshold", "concept"]
    assert main([*run, "-o", "run.csv", "--thresholds", "limits.csv"]) == 0
    capsys.readouterr()
    label = ["label", "test.csv", "run.csv", "-m", "F.example AP.concept"]
    assert main([*label, "--threshold", "limits.csv", "--format", "json"]) == 0
    scores = json.loads(capsys.readouterr().out)["runs"][0]["mean"]
    assert scores["AP.concept"] > 0.75
    assert scores["F.example"] > 0.5
    assert set(read_threshold("limits.csv")) == set(cf.read_labels("test.csv").concepts)
    assert main(["convert", "--from-folders", "test", "qrels.txt", "--kind", "qrels"]) == 0
    qrels = cf.read_qrels("qrels.txt").to_dict()
    assert all(t.split("/")[0] == i.split("/")[0] for t, items in qrels.items() for i in items)
    assert main(["convert", "--from-folders", "test", "x.txt"]) == 2


def test_vectors_of_two_lengths_are_refused(tmp_path, capsys):
    """Ids that were kept as bytes are read as text on the way."""
    np.savez(tmp_path / "a.npz", items=np.array([b"x", b"y"]), vectors=np.eye(2))
    np.savez(tmp_path / "b.npz", items=np.array(["z"]), vectors=np.ones((1, 3)))
    (tmp_path / "truth.csv").write_text("item,Sky\nx,1\ny,0\n")
    train = ["--train", str(tmp_path / "a.npz"), str(tmp_path / "truth.csv")]
    asked = ["--apply", str(tmp_path / "b.npz"), "-o", str(tmp_path / "out.csv")]
    assert main(["annotate", *train, *asked]) == 2
    assert "2 numbers an item" in capsys.readouterr().err
