"""Annotations against a truth with unjudged cells: infAP per concept (No 3.3.3, TRECVID)."""

import json
import pickle

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.errors import InputError, UsageError
from cranfield.io.samples import SAMPLE

TRUTH, RUN = str(SAMPLE / "truth.csv"), str(SAMPLE / "labels" / "logistic.csv.gz")


def cells(share, seed=0):
    """The truth of the digits with a share of the cells judged, the others drawn and not judged."""
    truth = cf.read_labels(TRUTH)
    rng = np.random.default_rng(seed)
    labels = np.asarray(truth.labels)
    judged = rng.random(labels.shape) < share
    return {
        concept: {
            item: int(labels[i, j]) if judged[i, j] else -1 for i, item in enumerate(truth.items)
        }
        for j, concept in enumerate(truth.concepts)
    }


def test_with_every_cell_judged_it_is_average_precision_per_concept():
    found = cf.evaluate_pooled_labels(cells(1.1), [RUN], "infAP.concept AP").mean()["logistic"]
    assert found["infAP.concept"] == pytest.approx(found["AP"], abs=1e-4)
    plain = cf.evaluate_labels(TRUTH, [RUN], "AP.concept").mean()["logistic"]["AP.concept"]
    # Tied confidences are a step of the curve there and are ordered by name here.
    assert found["AP"] == pytest.approx(plain, abs=0.01)


def test_half_of_the_cells_estimate_the_whole():
    whole = cf.evaluate_pooled_labels(cells(1.1), [RUN], "AP").mean()["logistic"]["AP"]
    found = [
        cf.evaluate_pooled_labels(cells(0.5, seed), [RUN], "infAP AP").mean()["logistic"]
        for seed in range(4)
    ]
    inferred = np.mean([f["infAP"] for f in found])
    naive = np.mean([f["AP"] for f in found])
    assert abs(inferred - whole) < 0.02
    # Taking what nobody judged for wrong is far off.
    assert whole - naive > 0.1


def test_files_and_what_is_wrong_with_them(tmp_path):
    path = tmp_path / "cells.csv"
    path.write_text("item,concept,value\na,Sea,1\nb,Sea,0\nc,Sea,?\n")
    run = {"a": {"Sea": 0.9}, "b": {"Sea": 0.95}, "c": {"Sea": 0.5}}
    found = cf.evaluate_pooled_labels(path, {"mine": run})
    assert found.mean()["mine"] == {
        "infAP.concept": pytest.approx(0.5, abs=1e-4),
        "Bpref.concept": pytest.approx(0.0),
    }
    path.write_text("item,concept,value\na,Sea,maybe\n")
    with pytest.raises(InputError, match="maybe"):
        cf.evaluate_pooled_labels(path, {"mine": run})
    with pytest.raises(UsageError, match="no concept 'Sky'"):
        cf.evaluate_pooled_labels({"Sky": {"a": 1}}, {"mine": run})


def test_values_are_those_of_the_rankings_of_each_concept():
    sample = cells(0.4, seed=3)
    found = cf.evaluate_pooled_labels(sample, [RUN])
    run = cf.read_labels(RUN)
    scores = {
        concept: dict(zip(run.items, np.asarray(run.confidences)[:, j].tolist(), strict=True))
        for j, concept in enumerate(run.concepts)
    }
    ranked = cf.evaluate(sample, {"logistic": scores}, "infAP Bpref")
    assert [tuple(row.values()) for row in found.per_concept()] == [
        tuple(row.values()) for row in ranked.per_topic()
    ]


def test_they_are_saved_pickled_and_joined_under_their_names(tmp_path):
    found = cf.evaluate_pooled_labels(cells(0.4), [RUN])
    found.save(tmp_path / "scores.json")
    for again in (cf.load(tmp_path / "scores.json"), pickle.loads(pickle.dumps(found))):
        assert again.mean() == found.mean()
        assert again.per_concept() == found.per_concept()
    assert cf.Scores.from_dict(found.to_dict(per=("concept",))).mean() == found.mean()
    assert cf.describe_measure("infAP.concept").to_dict()["measures"][0]["name"] == "infAP.concept"


def test_the_command_gives_the_same_and_says_what_does_not_go_together(tmp_path, capsys):
    cells, run = tmp_path / "cells.csv", tmp_path / "mine.csv"
    cells.write_text("item,concept,value\na,Sea,1\nb,Sea,0\nc,Sea,?\n")
    run.write_text("item,Sea\na,0.9\nb,0.95\nc,0.5\n")
    asked = ["label", str(cells), str(run), "-m"]
    assert main([*asked, "infAP.concept", "--per-concept", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    found = cf.evaluate_pooled_labels(cells, [run], "infAP.concept")
    assert answer["runs"][0]["mean"] == found.mean()["mine"]
    # The shape of `label`, under the name that was asked for.
    assert answer["command"] == "label"
    assert [m["name"] for m in answer["measures"]] == ["infAP.concept"]
    counts = {"evaluated": 1, "missing": 0, "left_out": {"infAP.concept": 0}}
    assert answer["runs"][0]["concepts"] == counts
    assert answer["runs"][0]["items"] == {"evaluated": 3, "missing": 0, "left_out": {}}
    rows = [{"run": "mine", "concept": "Sea", **found.mean()["mine"]}]
    assert answer["per_concept"] == found.per_concept() == rows
    assert main([*asked, "infAP.concept(rel=1, empty='out')", "--format", "csv"]) == 0
    assert "0.5" in capsys.readouterr().out
    with pytest.raises(cf.MeasureError, match="evaluate_pooled_labels"):
        cf.evaluate_labels({"a": {"Sea": 1}}, {"mine": {"a": {"Sea": 1}}}, "infAP.concept")
    assert main([*asked, "infAP.concept F.example"]) == 2
    assert "in two calls" in capsys.readouterr().err
    assert main([*asked, "Bpref.concept", "--costmap", "x.csv"]) == 2
    assert "--costmap has no say" in capsys.readouterr().err
