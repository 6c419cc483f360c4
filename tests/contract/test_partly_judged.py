"""Truths in which some cells were judged: estimates near the complete truth, bounds, refusals."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.data.labels import LabelMatrix
from cranfield.errors import InputError, NeedsError, UsageError
from cranfield.evaluation.partly_judged import ImputedLabels
from cranfield.io.files import Input

ITEMS, CONCEPTS = 200, 12


def _case(seed: int = 3) -> tuple[np.ndarray, dict[str, LabelMatrix], np.ndarray]:
    """A complete truth, two runs whose confidences know it more and less, and judged cells."""
    rng = np.random.default_rng(seed)
    labels = rng.random((ITEMS, CONCEPTS)) < rng.uniform(0.1, 0.4, CONCEPTS)
    labels[labels.sum(axis=1) == 0, 0] = True
    runs = {}
    for name, quality in (("good", 1.5), ("weak", 0.8)):
        logits = quality * np.where(labels, 1, -1) + rng.normal(size=labels.shape)
        runs[name] = _matrix(1 / (1 + np.exp(-2 * logits)), name)
    judged = rng.random(labels.shape) < 0.3
    judged[~judged.any(axis=1), 0] = True  # a long file has no item without a cell
    return labels, runs, judged


def _matrix(values: np.ndarray, name: str = "truth") -> LabelMatrix:
    items = [f"i{i:03d}" for i in range(values.shape[0])]
    concepts = [f"c{j:02d}" for j in range(values.shape[1])]
    return LabelMatrix.of(values, items=items, concepts=concepts, name=name)


MEASURES = "F.example AP.concept Rprec.example OS SRP HammingLoss F.concept(mean='micro') Brier"


def test_estimates_are_near_the_complete_truth_and_intervals_cover() -> None:
    labels, runs, judged = _case()
    complete = cf.evaluate_labels(_matrix(labels), runs, MEASURES)
    partly = replace(_matrix(labels & judged), judged=judged)
    scores = cf.evaluate_labels(partly, runs, MEASURES, draws=100)
    rows = {(row["measure"], row["run"]): row for row in scores.to_dict()["doubt"]["runs"]}
    inside = 0
    for run, means in complete.mean().items():
        for name, value in means.items():
            assert scores.mean()[run][name] == pytest.approx(value, abs=0.035), (run, name)
            low, high = rows[name, run]["truth_interval"]
            inside += low - 0.005 <= value <= high + 0.005
    assert inside >= len(rows) - 1
    assert any("of 2400 cells are judged" in note for note in scores.notes)


def test_the_values_do_not_depend_on_how_the_truth_is_written(tmp_path: Path) -> None:
    labels, runs, judged = _case()
    truth = _matrix(labels)
    partly = replace(_matrix(labels & judged), judged=judged)
    expected = cf.evaluate_labels(partly, runs, "F.example AP.concept", draws=20).mean()
    rows = [["item", *truth.concepts]]
    long = ["item,concept,value"]
    for i, item in enumerate(truth.items):
        cells = [str(int(labels[i, j])) if judged[i, j] else "?" for j in range(CONCEPTS)]
        rows.append([item, *cells])
        long += [
            f"{item},{truth.concepts[j]},{int(labels[i, j])}" for j in np.flatnonzero(judged[i])
        ]
    wide = Input("wide.csv", "\n".join(",".join(row) for row in rows).encode())
    listed = Input("listed.csv", "\n".join(long).encode())
    assert cf.evaluate_labels(wide, runs, "F.example AP.concept", draws=20).mean() == expected
    from_long = cf.evaluate_labels(
        listed, runs, "F.example AP.concept", unlisted="unjudged", draws=20
    )
    assert from_long.mean() == expected
    # A sample with the same probability everywhere weighs all cells alike.
    sampled = Input(
        "sampled.csv",
        "\n".join([long[0] + ",sampling", *(f"{row},0.3" for row in long[1:])]).encode(),
    )
    assert cf.evaluate_labels(sampled, runs, "F.example AP.concept", draws=20).mean() == expected


def test_known_probabilities_correct_a_sample_that_prefers_true_cells() -> None:
    """Cells drawn by their label: the weights take out what the model alone would believe."""
    labels, runs, _ = _case(5)
    sampling = np.where(labels, 0.6, 0.2)
    judged = np.random.default_rng(8).random(labels.shape) < sampling
    partly = replace(_matrix(labels & judged), judged=judged)
    cardinality = {
        name: cf.evaluate_labels(truth, runs, "F.example", draws=2).facts["truth"]
        for name, truth in (("model", partly), ("weighted", replace(partly, sampling=sampling)))
    }
    true = labels.sum() / ITEMS
    assert cardinality["model"]["label_cardinality"] > 1.05 * true
    assert cardinality["weighted"]["label_cardinality"] == pytest.approx(true, rel=0.05)


def _small() -> tuple[LabelMatrix, LabelMatrix]:
    rng = np.random.default_rng(4)
    labels = rng.random((8, 3)) < 0.5
    judged = np.ones(labels.shape, dtype=bool)
    judged[[0, 0, 3, 4, 4, 7], [0, 2, 1, 0, 1, 2]] = False
    return replace(_matrix(labels & judged), judged=judged), _matrix(rng.random(labels.shape), "r")


def test_bounds_are_those_of_all_completions() -> None:
    truth, run = _small()
    names = "F.example P.example Accuracy.example HammingLoss F.concept F.concept(mean='micro') "
    names += "Rprec.example AP.example RankingLoss AP.concept AUC Rprec.concept"
    scores = cf.evaluate_labels(truth, [run], names, draws=2)
    unknown = np.nonzero(~np.asarray(truth.judged))
    values: dict[str, list[float]] = {}
    for filled in itertools.product((False, True), repeat=len(unknown[0])):
        labels = np.array(truth.labels)
        labels[unknown] = filled
        complete = replace(truth, labels=labels, judged=None)
        for name, value in cf.evaluate_labels(complete, [run], names).mean()["r"].items():
            values.setdefault(name, []).append(value)
    bounds = scores.to_dict()["runs"][0]["bounds"]
    assert set(bounds) == set(values)
    for name, ends in bounds.items():
        expected = (np.nanmin(values[name]), np.nanmax(values[name]))
        assert ends == pytest.approx(expected, abs=1e-12), name


def test_what_cannot_be_estimated_is_refused() -> None:
    labels, runs, judged = _case()
    grades = np.where(labels, 2.0, 0.0)
    graded = replace(_matrix(labels & judged), judged=judged, grades=grades * judged)
    with pytest.raises(NeedsError, match="needs the grade of every cell"):
        cf.evaluate_labels(graded, runs, "nDCG.example")
    few = np.zeros(labels.shape, dtype=bool)
    few[0] = True
    with pytest.raises(InputError, match="12 judged cells, of which"):
        cf.evaluate_labels(replace(_matrix(labels & few), judged=few), runs, "F.example")
    partly = replace(_matrix(labels & judged), judged=judged)
    with pytest.raises(UsageError, match="an explanation needs every cell judged"):
        cf.explain_labels(partly, runs, "i000", "F.example")
    with pytest.raises(UsageError, match="executor='threads'"):
        cf.evaluate_labels(partly, runs, "F.example", executor="processes")
    mark = Input("run.csv", b"item,x,y\na,1,?\nb,0,1\n")
    with pytest.raises(InputError, match="item 'a' and concept 'y' was not judged"):
        cf.read_labels(mark)
    assert cf.read_labels(mark, unjudged=True).judged.tolist() == [[True, False], [True, True]]


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels, runs, judged = _case()
    rows = np.where(judged, labels.astype(int).astype(str), "?")
    names = _matrix(labels)
    lines = [",".join(["item", *names.concepts])]
    lines += [",".join([item, *row]) for item, row in zip(names.items, rows, strict=True)]
    truth = tmp_path / "cells.csv"
    truth.write_text("\n".join(lines) + "\n")
    files = []
    for name, run in runs.items():
        cf.write_labels(run, tmp_path / f"{name}.csv")
        files.append(str(tmp_path / f"{name}.csv"))
    command = ["label", str(truth), *files, "-m", "F.example AP.concept", "--draws", "20"]
    assert main(command) == 0
    shown = capsys.readouterr()
    assert "Bounds whatever the other cells are" in shown.out
    assert "cells are judged (30%)" in shown.err
    assert main([*command, "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["runs"][0]["mean"].keys() == {"F.example", "AP.concept"}
    assert main(["compare", "--truth", str(truth), *files, "-m", "F.example"]) == 0
    capsys.readouterr()
    # The same file serves the measures of judged cells.
    assert main(["label", str(truth), *files, "-m", "infAP.concept"]) == 0
    capsys.readouterr()


def test_concepts_without_a_relevant_item_are_left_out_alike() -> None:
    truth = {"a": {"x": 1, "y": 0}, "b": {"x": 0, "y": 0}}
    run = {"a": {"x": 0.9, "y": 0.1}, "b": {"x": 0.2, "y": 0.3}}
    cells = {"x": {"a": 1, "b": 0}, "y": {"a": 0, "b": 0}}
    complete = cf.evaluate_labels(truth, {"r": run}, "AP.concept").mean()["r"]["AP.concept"]
    inferred = cf.evaluate_pooled_labels(cells, {"r": run}, "infAP.concept").mean()["r"]
    assert complete == inferred["infAP.concept"] == 1.0
    as_zero = cf.evaluate_pooled_labels(cells, {"r": run}, "infAP.concept(empty='0')").mean()
    assert list(as_zero["r"].values()) == [0.5]


def test_labels_that_hang_together_are_drawn_together() -> None:
    """Two concepts that are one: what was judged of the first says what the second is."""
    rng = np.random.default_rng(5)
    first = rng.random(300) < 0.5
    labels = np.column_stack([first, first, rng.random(300) < 0.4])
    run = _matrix(np.clip(0.5 + rng.normal(0, 0.1, labels.shape), 0, 1), "blind")
    judged = np.ones(labels.shape, dtype=bool)
    judged[150:, 1] = False
    truth = replace(_matrix(labels & judged), judged=judged)
    imputed = ImputedLabels(truth, [run])
    drawn = np.mean([draw[150:, 1] for draw in imputed.draws(1, range(40))], axis=0)
    assert drawn[first[150:]].mean() > 0.8
    assert drawn[~first[150:]].mean() < 0.2


def test_every_measure_is_compared_and_p_values_know_what_was_not_judged() -> None:
    labels, runs, judged = _case()
    names = "F.example SRP Rprec.example AP.concept F.concept"
    full = cf.evaluate_labels(_matrix(labels), runs, names).compare(test="t")
    partly = replace(_matrix(labels & judged), judged=judged)
    scores = cf.evaluate_labels(partly, runs, names, draws=60)
    pairs = scores.compare(test="t").to_dict()["pairs"]
    assert [pair["measure"] for pair in pairs] == names.split()
    better = {row["measure"]: row for row in scores.to_dict()["doubt"]["better"]}
    for pair, complete in zip(pairs, full.to_dict()["pairs"], strict=True):
        assert pair["difference"] * complete["difference"] > 0
        doubt = better[pair["measure"]]
        # No surer than the draws of the truth alone leave it.
        assert pair["p"] >= math.erfc(abs(doubt["difference"]) / doubt["by_truth"] / 2**0.5)


def test_draws_that_break_rules_are_told_of():
    """Labels are drawn without the rules of an ontology, under which OS reads them."""
    from cranfield.io.samples import SAMPLE

    truth = cf.read_labels(SAMPLE / "truth.csv")
    judged = np.random.default_rng(1).random(truth.shape) < 0.3
    partly = replace(truth, labels=truth.labels & judged, judged=judged)
    runs = [SAMPLE / "labels" / f"{name}.csv.gz" for name in ("logistic", "bayes")]
    known = {"ontology": SAMPLE / "ontology.csv", "rules": SAMPLE / "rules.toml", "draws": 5}
    told = cf.evaluate_labels(partly, runs, "OS F.example", **known).notes
    assert any("break a rule of the ontology" in note for note in told)
    for measures in ("OS(rules=False)", "F.example"):
        silent = cf.evaluate_labels(partly, runs, measures, **known).notes
        assert not any("break a rule of the ontology" in note for note in silent)
