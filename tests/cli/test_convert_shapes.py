"""`cranfield convert` writes what it reads: every readable form, packed and not."""

import gzip
import json
from pathlib import Path

import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.io import read_qrels, read_run
from cranfield.io.convert import SHAPES
from cranfield.io.labels import FORMS

QRELS = {"1": {"a": 1, "b": 0}, "2": {"c": 2, "d": 1}}
RUN = {"1": {"b": 3.5, "a": 2.0}, "2": {"d": 0.25, "c": 0.125, "x": -1.0}}
TRUTH = {"p": {"Sky", "Blue Sea"}, "q": {"Sky"}, "r": {"Blue Sea"}}
SURE = {"p": {"Sky": 0.9, "Blue Sea": 0.4}, "q": {"Sky": 0.3, "Blue Sea": 0.8}}

# What is read, as a name and a shape: judgements and runs, then labels.
TABLES = [
    *(("out.txt", None), ("out.json", None), ("out.jsonl", None), ("out.ndjson", None)),
    *(("out.csv", None), ("out.tsv", None), ("out.parquet", None)),
    *(("out.tsv", "beir"), ("out.tsv", "marco"), ("out.csv", "marco")),
    *(("out.json", "lists"), ("out.csv", "semicolons")),
]
LABELS = [
    *((f"out{ending}", None) for ending in FORMS),
    *(("out.csv", "long"), ("out.csv", "lists"), ("out.tsv", "lists"), ("out.csv", "semicolons")),
    ("out.imageclef", None),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("q.json").write_text(json.dumps(QRELS))
    Path("r.json").write_text(json.dumps(RUN))
    Path("truth.json").write_text(json.dumps({k: sorted(v) for k, v in TRUTH.items()}))
    Path("sure.json").write_text(json.dumps(SURE))
    return tmp_path


def convert(kind, source, target, shape=None):
    shaped = ["--shape", shape] if shape else []
    return main(["convert", "--kind", kind, source, target, *shaped, "--quiet"])


def test_every_shape_is_tried():
    # Boxes as YOLO has them: tests/io/test_region_formats.py
    assert {shape for _, shape in [*TABLES, *LABELS] if shape} | {"yolo"} == set(SHAPES)


@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.parametrize(("name", "shape"), TABLES)
def test_judgements_and_runs_come_back(folder, name, shape, packing):
    target = name + packing
    assert convert("qrels", "q.json", target, shape) == 0
    if packing == ".gz":
        gzip.decompress(Path(target).read_bytes())
    relevant = {t: {i: 1 for i, g in items.items() if g > 0} for t, items in QRELS.items()}
    assert read_qrels(target).to_dict() == (relevant if shape == "lists" else QRELS)
    assert convert("run", "r.json", target, shape) == 0
    found = read_run(target)
    if shape in ("lists", "marco"):
        assert {t: found.ranking(t) for t in found.topics} == {t: list(r) for t, r in RUN.items()}
    else:
        assert found.to_dict() == RUN


@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.parametrize(("name", "shape"), LABELS)
def test_labels_come_back(folder, name, shape, packing):
    assert convert("labels", "truth.json", name + packing, shape) == 0
    found = cf.read_labels(name + packing, concepts=None)
    wanted = cf.LabelMatrix.of(TRUTH)
    assert found.items == wanted.items
    if name != "out.imageclef":  # which has no names
        assert found.concepts == wanted.concepts
    assert (found.labels == wanted.labels).all()
    if shape != "lists":
        assert convert("labels", "sure.json", name + packing, shape) == 0
        sure = cf.read_labels(name + packing).confidences
        assert sure.tolist() == cf.LabelMatrix.of(SURE).confidences.tolist()


def test_a_file_per_class_comes_back(folder, capsys):
    assert convert("labels", "truth.json", "voc/") == 0
    assert Path("voc/Sky.txt").read_text() == "p 1\nq 1\nr -1\n"
    found, wanted = cf.read_labels("voc"), cf.LabelMatrix.of(TRUTH)
    assert (found.items, found.concepts) == (wanted.items, wanted.concepts)
    assert (found.labels == wanted.labels).all()
    # The kind is found out, and the way back is the same file.
    assert main(["convert", "voc", "back.json"]) == 0
    assert json.loads(Path("back.json").read_text()) == {k: sorted(v) for k, v in TRUTH.items()}
    assert convert("labels", "sure.json", "sure/") == 0
    sure = cf.read_labels("sure").confidences
    assert sure.tolist() == cf.LabelMatrix.of(SURE).confidences.tolist()
    # A folder with something in it stays as it is; an empty one is filled.
    assert convert("labels", "truth.json", "voc") == 2
    assert "is a folder with files in it; name a new one" in capsys.readouterr().err
    Path("empty").mkdir()
    assert convert("labels", "truth.json", "empty") == 0
    assert sorted(p.name for p in Path("empty").iterdir()) == ["Blue Sea.txt", "Sky.txt"]
    assert not [p for p in folder.iterdir() if p.name.startswith(".")]


def test_lists_of_one_concept_keep_their_blanks(folder):
    Path("one.json").write_text(json.dumps({"p": ["Blue Sea"], "q": ["1"]}))
    assert convert("labels", "one.json", "one.csv", "lists") == 0
    assert Path("one.csv").read_text() == "item,labels\np,Blue Sea|\nq,1|\n"
    assert set(cf.read_labels("one.csv").concepts) == {"Blue Sea", "1"}


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["labels", "sure.json", "o.csv", "lists"], "a list has no place for confidences"),
        (["labels", "truth.json", "o.json", "lists"], "--shape lists goes with .csv and .tsv"),
        (["labels", "truth.json", "o.tsv", "beir"], "--shape beir is not for labels"),
        (["run", "r.json", "o.run", "marco"], "--shape marco goes with .tsv and .csv files"),
        (["run", "r.json", "o/", None], "only labels are written to a folder"),
        (["labels", "odd.json", "o/", None], "which a folder of files would lose"),
        (["labels", "path.json", "o/", None], "no file can be named by concept 'a/b'"),
        (["labels", "truth.json", "absent/o/", None], "cannot be written"),
    ],
)
def test_what_a_shape_cannot_hold(folder, capsys, args, says):
    Path("odd.json").write_text(json.dumps({"p": ["a_x", "b_x"]}))
    Path("path.json").write_text(json.dumps({"p": ["a/b", "c"]}))
    before = sorted(p.name for p in folder.iterdir())
    assert convert(*args) == 2
    assert says in capsys.readouterr().err
    assert sorted(p.name for p in folder.iterdir()) == before


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("beir.tsv", "query-id\tcorpus-id\tscore\n1\ta\t1\n", "qrels"),
        ("marco.tsv", "1\t0\ta\t1\n", "qrels"),
        ("ranks.csv", "query_id,doc_id,rank\n1,a,1\n", "run"),
        ("ranks.jsonl", '{"qid": "1", "docid": "a", "rank": 1}\n', "run"),
        ("grades.jsonl", '{"qid": "1", "docid": "a", "relevance": 1}\n', "qrels"),
        ("list.jsonl", '{"item": "a", "labels": ["x"]}\n', "labels"),
        ("list.csv", "item,labels\na,x\n", "labels"),
        ("three.tsv", "1\ta\t1\n", None),
        ("topics.jsonl", '{"1": ["a"]}\n', None),
    ],
)
def test_the_kind_of_what_people_have(folder, capsys, name, text, kind):
    Path(name).write_text(text)
    code = main(["convert", name, "out.json", "--quiet"])
    if kind is None:
        assert code == 2
        assert f"say what {name} holds: --kind run, --kind qrels" in capsys.readouterr().err
        return
    assert code == 0
    wanted = {"labels": {"a": ["x"]}, "qrels": {"1": {"a": 1}}, "run": {"1": {"a": -1}}}[kind]
    assert json.loads(Path("out.json").read_text()) == wanted


def test_what_ranks_lose_is_said(folder, capsys):
    assert main(["convert", "--kind", "run", "r.json", "o.tsv", "--shape", "marco"]) == 0
    assert "scores are lost" in capsys.readouterr().err
    assert main(["convert", "--kind", "qrels", "q.json", "o.json", "--shape", "lists"]) == 0
    assert "items judged as not relevant, are lost" in capsys.readouterr().err
