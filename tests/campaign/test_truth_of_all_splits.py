"""A truth of all splits: runs are scored on the split that they were asked to annotate."""

import json

import numpy as np
import pytest

import cranfield as cf
from cranfield.campaign.scoring import public_truths
from cranfield.cli import main
from cranfield.io.samples import SAMPLE
from tests.peers import sklearn_metrics

CONCEPTS = ("Sky", "Sea", "Tree")
TRAIN = tuple(f"a{i}" for i in range(12))
TEST = tuple(f"b{i}" for i in range(24))


def table(items, values):
    rows = [f"{item},{','.join(map(str, row))}" for item, row in zip(items, values, strict=True)]
    return "\n".join([f"item,{','.join(CONCEPTS)}", *rows, ""])


@pytest.fixture
def folder(tmp_path):
    """The folder, the truth of the test items, and what each run says of them."""
    draw = np.random.default_rng(4)
    truth = (draw.random((36, 3)) < 0.4).astype(int)
    truth[12:15] = np.eye(3, dtype=int)
    runs = {name: np.round(0.5 * truth[12:] + 0.5 * draw.random((24, 3)), 3) for name in "xy"}
    place = tmp_path / "own"
    place.mkdir()
    (place / "truth.csv").write_text(table(TRAIN + TEST, truth))
    for name, values in runs.items():
        (place / f"{name}.csv").write_text(table(TEST, values))
    (place / "train.txt").write_text("\n".join(TRAIN))
    (place / "test.txt").write_text("\n".join(TEST))
    assert main(["collection", "init", str(place), "--quiet"]) == 0
    return place, truth[12:], runs


def test_a_draft_names_the_split_that_runs_annotate(folder):
    place, _, _ = folder
    assert cf.read_collection(place).annotated == "test"
    assert not cf.check_collection(place).problems


def test_runs_are_scored_on_their_split(folder, capsys):
    place, truth, runs = folder
    capsys.readouterr()
    assert main(["label", str(place), "-m", "AP.concept F.example", "--format", "json"]) == 0
    said = capsys.readouterr()
    assert "24 items of the split 'test'; the truth has 12 more" in said.err
    for run in json.loads(said.out)["runs"]:
        values = runs[run["name"]]
        ap = [sklearn_metrics.average_precision_score(truth[:, j], values[:, j]) for j in range(3)]
        f = sklearn_metrics.f1_score(truth, values >= 0.5, average="samples", zero_division=1)
        assert run["mean"]["AP.concept"] == pytest.approx(np.mean(ap))
        assert run["mean"]["F.example"] == pytest.approx(f)
        assert run["items"] == {"evaluated": 24, "missing": 0, "left_out": {"F.example": 0}}


def test_every_face_scores_the_same_items(folder):
    place, _, _ = folder
    known = cf.evaluate_labels(
        dict(zip(TEST, _rows(place), strict=True)),
        [place / "x.csv", place / "y.csv"],
        "F.example",
        concepts=CONCEPTS,
    ).mean()
    table = cf.campaign_results(place, "runs", measures=["F.example"])
    rows = table.to_dict()["parts"][0]["rows"]
    assert {row["run"]: row["F.example"] for row in rows} == pytest.approx(
        {run: values["F.example"] for run, values in known.items()}
    )
    page = cf.collection_report(place)
    assert '"b0"' in page
    assert '"a0"' not in page


def _rows(place):
    lines = (place / "truth.csv").read_text().splitlines()[1 + len(TRAIN) :]
    return [
        {c for c, v in zip(CONCEPTS, line.split(",")[1:], strict=True) if v == "1"}
        for line in lines
    ]


def test_occurrence_has_all_splits_and_frequency_what_was_scored(folder):
    place, truth, _ = folder
    found = cf.campaign_results(place, "occurrence").to_dict()["parts"][0]["rows"]
    assert [row["test"] for row in found] == pytest.approx(list(100 * truth.mean(axis=0)))
    assert {"train", "test"} < set(found[0])
    often = cf.campaign_results(place, "frequency").to_dict()["parts"][0]["rows"]
    assert {r["concept"]: r["items"] for r in often} == dict(
        zip(CONCEPTS, truth.sum(axis=0).tolist(), strict=True)
    )


def test_thresholds_are_chosen_on_another_split(folder, capsys):
    place, _, runs = folder
    toml = place / "collection.toml"
    toml.write_text(toml.read_text().replace("[splits]", "threshold = 0.5\n[splits]"))
    for name in runs:
        path = place / f"{name}.csv"
        path.write_text(path.read_text() + "\n".join(f"{i},0.9,0.1,0.2" for i in TRAIN) + "\n")
    capsys.readouterr()
    asked = ["-m", "F.example", "--tune-threshold", "F.example", "--on", "train"]
    assert main(["label", str(place), *asked, "--format", "json"]) == 0
    said = capsys.readouterr()
    assert "chosen for F.example on 12 items" in said.err
    assert "all runs bring their labels" not in said.err
    assert json.loads(said.out)["runs"][0]["items"]["evaluated"] == 24


def test_the_truth_of_other_splits_is_public_and_that_of_the_evaluated_one_is_not(folder, tmp_path):
    place, _, _ = folder
    # An item that stands in both splits is evaluated, so it stays sealed.
    (place / "train.txt").write_text("\n".join([*TRAIN, TEST[0]]))
    (place / "notes.txt").write_text("how the pictures were taken\n")
    settings = place / "collection.toml"
    settings.write_text('extra = ["notes.txt"]\n' + settings.read_text())
    assert main(["campaign", "import", str(place), "--to", str(tmp_path / "site"), "--quiet"]) == 0
    assert main(["publish", str(place), "-o", str(tmp_path / "pages"), "--quiet"]) == 0
    for written in (tmp_path / "site" / "public", tmp_path / "pages"):
        (truth,) = written.rglob("truth-train.csv")
        assert cf.read_labels(truth).items == TRAIN
        assert [path.name for path in written.rglob("truth*")] == ["truth-train.csv"]
        assert len(list(written.rglob("notes.txt"))) == 1


def test_cells_that_were_not_judged_stay_so_in_a_public_truth(folder, tmp_path):
    place, _, _ = folder
    text = (place / "truth.csv").read_text().splitlines()
    text[1] = "a0,?,1,0"
    (place / "truth.csv").write_text("\n".join(text) + "\n")
    parts = public_truths(cf.read_collection(place))
    cf.write_labels(parts["truth-train.csv"], tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().splitlines()[1] == "a0,?,1,0"


def test_the_digits_have_the_truth_of_their_training_images():
    collection = cf.read_collection(SAMPLE)
    (extra,) = collection.extra
    items = cf.read_labels(extra).items
    assert set(items) == set(collection.splits["training"])
    assert not set(items) & {*collection.splits["annotated"], *collection.splits["collection"]}
