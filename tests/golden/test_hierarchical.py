"""hP, hR and hF equal hiclass; `make_hierarchical.py` made the values."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

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
