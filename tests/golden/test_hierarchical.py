"""hP, hR and hF equal hiclass; `make_hierarchical.py` made the values."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import cranfield as cf
from cranfield.data.labels import LabelMatrix
from cranfield.data.ontology import Ontology

CASES = json.loads((Path(__file__).parent / "hierarchical.json").read_text())
NODES = [".".join(p) for n in (1, 2, 3) for p in itertools.product("abc", repeat=n)]


@pytest.mark.parametrize("expand", ["ancestors", "nodes"])
@pytest.mark.parametrize("number", range(len(CASES)))
def test_values_of_hiclass(number: int, expand: str) -> None:
    """Labels are the last node of each path; its ancestors are concepts, or categories only."""
    case = CASES[number]
    last = {
        side: {f"i{n}": {[step for step in path if step][-1]} for n, path in enumerate(case[side])}
        for side in ("truth", "run")
    }
    used = {label for labels in last.values() for found in labels.values() for label in found}
    ontology = Ontology.from_paths([(n, n) for n in NODES if expand == "ancestors" or n in used])
    names = {
        theirs: cf.measure(theirs.split()[0]).bind(expand=expand, average=theirs.split()[1])
        for theirs in case["values"]
    }
    scores = cf.evaluate_labels(
        LabelMatrix.of(last["truth"], concepts=sorted(used), name="truth"),
        {"run": last["run"]},
        list(names.values()),
        ontology=ontology,
    )
    for theirs, ours in names.items():
        found = scores.mean()["run"][str(ours)]
        assert found == pytest.approx(case["values"][theirs], rel=0, abs=1e-9), theirs


def test_a_real_hierarchy_with_labels_of_leaves_only(outside) -> None:
    """ImCLEF07D: leaves of three levels; the sums over all paths by hand, as hiclass has them.

    Counting the leaves alone, which is the accuracy, would be 0.07 to 0.12 lower: ancestors count
    although no label file mentions them.
    """
    text = outside("hier/ImCLEF07D_Test.arff", "the classes of ImCLEF07D").read_text()
    lines = [line.split(",") for line in text.partition("@DATA")[2].split()]
    leaves = [line[-1].split("@")[-1] for line in lines]
    features = np.array([line[:-1] for line in lines], dtype=float)
    train, test = slice(0, None, 2), slice(1, None, 2)
    gaps = ((features[test][:, None] - features[train][None]) ** 2).sum(axis=2)
    true = leaves[test]
    said = [leaves[train][k] for k in gaps.argmin(axis=1)]
    above = {leaf: {leaf[:1], leaf.rpartition("/")[0], leaf} for leaf in leaves}
    nodes = sorted(set().union(*above.values()))
    ontology = Ontology.from_paths((node, node.replace("/", ".")) for node in nodes).checked()
    truth, run = ({f"i{k}": {leaf} for k, leaf in enumerate(of)} for of in (true, said))
    found = cf.evaluate_labels(
        truth,
        {"run": run},
        "hP hR P.example",
        ontology=ontology,
    ).mean()["run"]
    shared = sum(len(above[t] & above[s]) for t, s in zip(true, said, strict=True))
    assert found["hP"] == pytest.approx(shared / sum(len(above[s]) for s in said), abs=1e-12)
    assert found["hR"] == pytest.approx(shared / sum(len(above[t]) for t in true), abs=1e-12)
    assert found["P.example"] == pytest.approx(
        np.mean([t == s for t, s in zip(true, said, strict=True)])
    )
    assert 0.03 < found["hP"] - found["P.example"] < 0.12
