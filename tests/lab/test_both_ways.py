"""Cost maps in both ways, runs without confidences left out, many random runs per density."""

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.errors import UsageError
from cranfield.io.samples import SAMPLE
from cranfield.lab.measure_correlation import both_ways, forms_of
from cranfield.lab.study_runner import run_study
from cranfield.report.document import document_of

TRUTH = str(SAMPLE / "truth.csv")
RUNS = [str(SAMPLE / "labels" / f"{n}.csv.gz") for n in ("logistic", "tree", "bayes", "columns")]
KNOWN = {
    "costmap": {"own": str(SAMPLE / "costmap.csv")},
    "ontology": str(SAMPLE / "ontology.csv"),
    "rules": str(SAMPLE / "rules.toml"),
}


def test_names_of_both_ways_and_back():
    names = both_ways({"fts": "f.csv", "fcs": "g.csv"}, "pto-2009").split()
    assert names[-1] == "F.example"
    assert [label for label, _, _ in forms_of(names)] == ["fts", "fcs", "tree"]
    assert forms_of(["OS(rules=False)", "HS", "OS(alpha=2)"]) == ()
    with pytest.raises(UsageError, match="costmap="):
        both_ways(None)


def test_table_8_1_has_complete_measures_above_and_maps_alone_below():
    found = run_study("correlate", RUNS, TRUTH, both=True, resamples=5, rng=0, **KNOWN)
    square = document_of(found).tables[1]
    rows = {row[0]: row[1:] for row in square.rows}
    assert list(rows) == ["own", "tree", "F.example"]
    upper = found.pair("OS(cost='own')", "OS(cost='tree')").kendall
    lower = found.pair("HS(cost='own')", "HS(cost='tree')").kendall
    assert (rows["own"][1], rows["tree"][0]) == (upper, lower)
    assert rows["own"][2] == found.pair("OS(cost='own')", "F.example").kendall
    assert rows["F.example"][1] == found.pair("HS(cost='tree')", "F.example").kendall


def test_table_8_2_has_both_ways_below_each_other():
    options = {"parts": ("noise",), "repeats": 1, "noise": (0.05,), "rng": 0}
    found = run_study("stability", RUNS, TRUTH, both=True, **options, **KNOWN)
    table = next(t for t in document_of(found).tables if "alone" in t.title)
    assert [row[:2] for row in table.rows][:2] == [["own", "complete"], ["own", "alone"]]
    stage = {s.measure: s for s in found.stages}
    assert table.rows[1][2] == stage["HS(cost='own')"].original


def test_runs_that_only_decide_are_left_out_and_named(tmp_path):
    truth = cf.read_labels(TRUTH)
    binary = tmp_path / "decided.csv"
    cf.write_labels(cf.LabelMatrix(truth.items, truth.concepts, truth.labels), binary)
    options = {"resamples": 5, "rng": 0}
    found = run_study(
        "correlate",
        [*RUNS, str(binary)],
        TRUTH,
        "Rprec.example OneError",
        ranked_only=True,
        **options,
    )
    assert "decided" not in found.runs
    assert found.notes[-1] == "left out, without confidences: decided"
    alone = run_study("correlate", RUNS, TRUTH, "Rprec.example OneError", **options)
    assert [p.kendall for p in found.pairs] == [p.kendall for p in alone.pairs]
    with pytest.raises(UsageError, match="truth="):
        run_study("correlate", [TRUTH], None, "AP", ranked_only=True, collection_size=9)


def test_ten_random_runs_of_each_density():
    material = cf.lab.StudyInput.labels(TRUTH, RUNS, "F.example P.concept")
    one = cf.lab.random_study(material, densities=(0.1, 0.5), over=False)
    ten = cf.lab.random_study(material, densities=(0.1, 0.5), over=False, per_density=10)
    groups = ten.by_density()
    assert [(d, n) for d, n, _ in groups] == [(0.1, 10), (0.5, 10)]
    first = {r.name: s for r, s in zip(ten.runs, ten.scores.tolist(), strict=True)}
    for run, scores in zip(one.runs, one.scores.tolist(), strict=True):
        assert first[run.name] == scores
    # Different draws, about the same precision: that of the truth's density.
    precision = groups[1][2][:, 1]
    assert len(set(precision.tolist())) == 10
    assert np.ptp(precision) < 0.05
    assert "by label density" in str(ten)
    assert "by label density" not in str(one)


def test_the_command(capsys, monkeypatch):
    monkeypatch.chdir(SAMPLE)
    words = ["lab", "correlate", "--truth", TRUTH, *RUNS, "--both", "--costmap", "own=costmap.csv"]
    words += ["--ontology", "ontology.csv", "--ranked-only", "--resamples", "5", "--quiet"]
    assert main(words) == 0
    assert "below the diagonal" in capsys.readouterr().out
