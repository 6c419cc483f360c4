"""Commands take a collection's folder; files named on the line replace the folder's."""

import json
import shutil

import pytest

import cranfield as cf
from cranfield.campaign.collection_arguments import QUESTIONS, fill_arguments, is_collection
from cranfield.cli import main
from cranfield.io.samples import SAMPLE

DIR = str(SAMPLE)
QRELS, TRUTH = SAMPLE / "qrels.txt.gz", SAMPLE / "truth.csv"
PCA, TREE = str(SAMPLE / "runs/pca.run.gz"), str(SAMPLE / "labels/tree.csv.gz")
HELD = cf.read_collection(DIR)
QUICK = ["--resamples", "50"]


def answer(capsys, *argv):
    code = main([*argv, "--format", "json", "--quiet"])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    return json.loads(printed.out)


def same(found, call, **view):
    assert found == json.loads(json.dumps(call.to_dict(**view)))


def test_eval_takes_the_ranked_part(capsys):
    size = HELD.size
    same(
        answer(capsys, "eval", DIR),
        cf.evaluate(QRELS, HELD.runs, " ".join(HELD.measures), collection_size=size),
    )
    same(
        answer(capsys, "eval", DIR, PCA, "-m", "AP MNRO", "--collection-size", "2000"),
        cf.evaluate(QRELS, [PCA], "AP MNRO", collection_size=2000),
    )


def test_label_takes_the_annotation_part(capsys):
    known = {
        "ontology": HELD.ontology,
        "rules": HELD.rules,
        "costmap": HELD.cost_maps[0],
        "agreement": HELD.agreement_map,
    }
    found = answer(capsys, "label", DIR, TREE)
    assert [m["name"] for m in found["measures"]] == list(HELD.label_measures)
    wanted = cf.evaluate_labels(TRUTH, [TREE], " ".join(HELD.label_measures), **known)
    assert found["runs"][0]["mean"] == wanted.mean()["tree"]
    other = answer(capsys, "label", DIR, TREE, "-m", "OS", "--agreement", str(HELD.agreement_map))
    assert other["runs"][0]["mean"]["OS"] == found["runs"][0]["mean"]["OS"]


def test_thresholds_of_the_line_replace_those_of_the_folder(tmp_path):
    folder = shutil.copytree(DIR, tmp_path / "own")
    facts = (folder / "run-facts.csv").read_text().splitlines()
    head = facts[0].split(",")
    row = next(i for i, line in enumerate(facts) if line.startswith("tree,"))
    cells = facts[row].split(",")
    cells[head.index("threshold")] = "0.25"
    facts[row] = ",".join(cells)
    (folder / "run-facts.csv").write_text("\n".join(facts) + "\n")
    given = {"truth": str(folder), "runs": [], "threshold": None, "thresholds": None}
    assert fill_arguments("eval labels", given)["thresholds"]["tree"] == 0.25
    assert (
        fill_arguments("eval labels", given | {"thresholds": {"tree": "0.5"}})["thresholds"]["tree"]
        == "0.5"
    )
    assert not fill_arguments("eval labels", given | {"threshold": "0.5"})["thresholds"]
    assert "tree" not in (
        fill_arguments("eval labels", given | {"runs": ["x.csv"]})["thresholds"] or {}
    )


@pytest.mark.parametrize(
    "argv, unit, pairs",
    [
        (["-m", "AP"], "topic", 7),
        (["-m", "F.example"], "item", 12),
        (["--collection-size", "1120", "-m", "AP"], "topic", 7),
    ],
)
def test_compare_takes_the_part_of_the_measures_and_its_baseline(capsys, argv, unit, pairs):
    found = answer(capsys, "compare", DIR, *argv, *QUICK)
    assert len(found["pairs"]) == pairs
    part = HELD.part("ranked" if unit == "topic" else "labels")
    assert {part.baseline} <= {found["pairs"][0]["a"], found["pairs"][0]["b"]}


def test_runs_on_the_line_are_compared_with_each_other(capsys):
    runs = [str(p) for p in HELD.runs[:3]]
    assert len(answer(capsys, "compare", DIR, *runs, "-m", "AP", *QUICK)["pairs"]) == 3


@pytest.mark.parametrize("command", [["compare"], ["lab", "correlate"], ["chart", "heatmap"]])
def test_what_could_be_either_is_asked(capsys, command, tmp_path):
    more = ["-o", str(tmp_path / "c.svg")] if command[0] == "chart" else []
    assert main([*command, DIR, *more]) == 2
    assert "has rankings and annotations: name -m of one of them" in capsys.readouterr().err


def test_a_collection_of_one_kind_is_not_asked(tmp_path, capsys):
    (tmp_path / "q").write_text("t 0 a 1\nt 0 b 0\nu 0 a 1\nu 0 c 1\n")
    for name in ("one", "two"):
        (tmp_path / f"{name}.run").write_text("t Q0 a 0 2 x\nu Q0 b 0 2 x\nu Q0 c 0 1 x\n")
    text = 'name = "own"\nsize = 9\njudgements = "q"\nruns = ["one.run", "two.run"]\n'
    (tmp_path / "collection.toml").write_text(text)
    assert len(answer(capsys, "compare", str(tmp_path), *QUICK)["pairs"]) >= 1
    assert main(["label", str(tmp_path)]) == 2
    assert "has no truth" in capsys.readouterr().err


def test_charts(tmp_path):
    for name, more in (("roc", []), ("cutoffs", []), ("leaderboard", ["-m", "AP"])):
        path = tmp_path / f"{name}.svg"
        assert main(["chart", name, DIR, *more, "-o", str(path), "--quiet"]) == 0
        assert path.read_text().startswith("<svg")


def test_lab(capsys):
    found = answer(capsys, "lab", "correlate", DIR, "-m", "AP RR", "--resamples", "20")
    material = cf.lab.StudyInput.ranked(QRELS, HELD.runs, "AP RR", collection_size=HELD.size)
    same(found, cf.lab.correlate(material, resamples=20))


def test_logs_with_their_rules(capsys):
    found = answer(capsys, "agreement", DIR)
    assert found["forms"]["rejected"] > 0
    assert answer(capsys, "aggregate", DIR)["method"] == "majority"


def test_people(capsys):
    found = answer(capsys, "displacement", DIR, PCA)
    wanted = cf.evaluate_displacement(
        cf.read_subject_rankings(HELD.subject_rankings), [PCA], collection_size=HELD.size
    )
    same(found, wanted)
    found = answer(capsys, "uncertain", DIR, PCA, "-k", "5")
    assert [run["name"] for run in found["runs"]] == ["pca"]


def test_pools_and_simulated_runs(capsys, tmp_path):
    found = answer(capsys, "pool", DIR, "--depth", "2")
    same(found, cf.lab.make_pool(HELD.runs, depth=2, judged=QRELS))
    found = answer(capsys, "lab", "simulate", DIR, str(tmp_path / "sim"), "--count", "2")
    assert len(list((tmp_path / "sim").iterdir())) == 2


def test_vectors_and_pictures_need_what_the_folder_lacks(capsys, tmp_path):
    assert main(["weaklabel", DIR, str(TRUTH)]) == 2
    assert "has no pictures" in capsys.readouterr().err
    taken = fill_arguments("eval index", {"vectors": "v.npz", "qrels": DIR, "runs": []})
    assert (taken["qrels"], len(taken["runs"])) == (HELD.judgements, len(HELD.runs))


def test_a_folder_without_a_collection_is_none(tmp_path):
    assert not is_collection(tmp_path)
    assert not is_collection(None)
    assert is_collection(SAMPLE)
    given = {"judgements": str(tmp_path), "runs": ["a.run"]}
    assert fill_arguments("eval", given) == given
    assert len(QUESTIONS) == 14
