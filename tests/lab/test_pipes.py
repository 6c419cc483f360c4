"""Inputs that can be read only once, and objects, in studies with many workers."""

import gzip
import os
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest

from cranfield import lab
from cranfield.cli import main
from cranfield.io.ontology import read_ontology
from cranfield.report.document import Column, Document, Table
from cranfield.report.render import render

PROCESSES = lab.Plan("processes", 2)


@pytest.fixture
def pipe(tmp_path):
    """Files as pipes: what they hold can be read once."""
    writers = []

    def make(source):
        data = Path(source).read_bytes()
        data = gzip.decompress(data) if str(source).endswith(".gz") else data
        path = tmp_path / Path(source).name.removesuffix(".gz")
        os.mkfifo(path)
        writers.append(threading.Thread(target=path.write_bytes, args=(data,), daemon=True))
        writers[-1].start()
        return str(path)

    yield make
    for writer in writers:
        writer.join(timeout=5)
        assert not writer.is_alive(), "a pipe was not read"


@pytest.mark.parametrize("plan", [lab.Plan(), PROCESSES], ids=["threads", "processes"])
def test_rankings_from_pipes(pipe, digits, plan):
    first, *others = list(digits.runs)[:3]
    files = lab.StudyInput.ranked(digits.judgements, [first, *others], "AP")
    pipes = lab.StudyInput.ranked(pipe(digits.judgements), [pipe(first), *others], "AP")
    for study in (lab.random_study, lab.leave_one_out):
        assert study(pipes, plan=plan).to_dict() == study(files).to_dict()


def test_annotations_and_what_is_known_from_pipes(pipe, digits):
    runs = list(digits.label_runs)[:2]
    known = {"ontology": digits.ontology, "rules": digits.rules}
    options = {"densities": (0.5,), "rng": 1}
    here = lab.random_study(lab.StudyInput.labels(digits.truth, runs, "OS", **known), **options)
    known = {name: pipe(file) for name, file in known.items()}
    material = lab.StudyInput.labels(pipe(digits.truth), [pipe(runs[0]), runs[1]], "OS", **known)
    assert lab.random_study(material, **options, plan=PROCESSES).to_dict() == here.to_dict()


def test_several_measures_share_a_cost_map_from_a_pipe(pipe, digits):
    file = Path(digits.truth).parent / "costmap.csv"
    asked = "SRP OS"
    here = lab.requirements(asked, costmap=str(file)).to_dict()
    assert lab.requirements(asked, costmap=pipe(file)).to_dict() == here


def test_an_ontology_travels_to_other_processes():
    ontology = read_ontology("pto-2009")
    there = pickle.loads(pickle.dumps(ontology))
    assert there.concepts == ontology.concepts
    assert (there.cost_map.costs == ontology.cost_map.costs).all()


def test_numbers_of_numpy_are_written_as_numbers(capsys, digits):
    table = Table([Column("x")], [[np.float64(0.1)]])
    assert render(Document({}, [table]), "csv") == "x\n0.1\n"
    argv = ["lab", "random", digits.judgements, *list(digits.runs)[:2], "-m", "AP"]
    assert main([*map(str, argv), "--format", "csv"]) == 0
    assert "np.float64" not in capsys.readouterr().out
