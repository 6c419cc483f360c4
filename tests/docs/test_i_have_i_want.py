"""The jobs of three users: none needs more than two commands, and all of them work."""

import ast
import csv
import gzip
import io
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import find_command, main
from cranfield.io.samples import SAMPLE

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "i-have-i-want.md").read_text()
USERS = dict(part.split("\n", 1) for part in PAGE.split("\n## ")[1:])
MOST = 2


def jobs(text):
    """(what is wanted, language, what is typed) of every job of a user."""
    for part in text.split("**I have**")[1:]:
        blocks = re.findall(r"```(\w+)\n(.*?)```", part, flags=re.DOTALL)
        assert len(blocks) == 1, part
        yield " ".join(part.split("```")[0].split()), *blocks[0]


ALL = [(user, *job) for user, text in USERS.items() for job in jobs(text)]
TYPED = [
    line.removeprefix("$ ")
    for _, _, kind, text in ALL
    if kind == "console"
    for line in text.splitlines()
]

# What shows that a job is done: words of the output, or a file with what must stand in it.
DONE = {
    "compare digits/qrels.txt.gz old=": "new is significantly better",
    "eval digits/qrels.txt.gz mine.tsv": "mine",
    "report errors": "Hardest topics",
    "eval digits/qrels.txt.gz main=": ("baseline.json", '"per_topic"'),
    "compare digits/qrels.txt.gz change=": "change",
    "eval digits/qrels.txt.gz digits/runs": ("report.html", "<!doctype html>"),
    "runs fuse": ("both.run", "Q0"),
    "eval digits/qrels.txt.gz both.run": "both",
    "report site": ("site/index.html", "</html>"),
    "collection submissions": "good",
    "truth agreement": "annotator",
    "truth aggregate": ("truth-of-many.csv", "item,concept,value"),
    "truth pool": ("pool.txt", "zero-1\t"),
    "truth form": ("form.html", "<form"),
    "lab correlate": "How alike measures rank the runs",
    "lab stability": "nDCG@10",
}


def test_there_are_three_users_and_no_job_needs_more_than_two_commands():
    assert len(USERS) == 3
    assert len(ALL) >= 15
    for user, wanted, kind, text in ALL:
        if kind == "python":
            calls = [s for s in ast.parse(text).body if not isinstance(s, ast.Import)]
            assert len(calls) <= MOST, wanted
        else:
            assert len(text.splitlines()) <= MOST, (user, wanted)
        assert "**I want**" in wanted


def test_what_is_not_run_is_a_command_with_such_words():
    for line in [x for _, _, kind, text in ALL if kind == "text" for x in text.splitlines()]:
        program, *words = line.split()
        assert program == "cranfield"
        assert find_command(words)[0], line


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files of the page: the sample, and a run of three columns with ranks."""
    place = tmp_path_factory.mktemp("jobs")
    assert main(["demo", "--copy", str(place / "digits")]) == 0
    rows = gzip.decompress((SAMPLE / "runs/pixels.run.gz").read_bytes()).decode().splitlines()
    three = ("\t".join(row.split()[k] for k in (0, 2, 3)) for row in rows)
    (place / "mine.tsv").write_text("\n".join(three) + "\n")
    return place


def test_every_command_does_its_job(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    expected = dict(DONE)
    for line in TYPED:
        program, *words = shlex.split(line)
        given = [str(p) for w in words for p in (sorted(Path().glob(w)) if "*" in w else [w])]
        capsys.readouterr()
        assert program == "cranfield"
        assert main(given) == 0, (line, capsys.readouterr().err)
        start = next(s for s in expected if " ".join(words).startswith(s))
        wanted = expected.pop(start)
        if isinstance(wanted, str):
            assert wanted in capsys.readouterr().out, line
        else:
            assert wanted[1] in Path(wanted[0]).read_text(), line
    assert not expected


def test_ranks_of_three_columns_are_read_as_such(folder, monkeypatch, capsys):
    """Its numbers are those of the run it was made from."""
    monkeypatch.chdir(folder)
    values = []
    for run in ("mine.tsv", "digits/runs/pixels.run.gz"):
        asked = ["eval", "digits/qrels.txt.gz", run, "-m", "MRR", "NDCG@10", "--format", "csv"]
        assert main([*asked, "--quiet"]) == 0
        values.append(next(csv.DictReader(io.StringIO(capsys.readouterr().out))))
    assert [v["nDCG@10"] for v in values] == [values[0]["nDCG@10"]] * 2
    assert [v["RR"] for v in values] == [values[0]["RR"]] * 2


def test_the_python_does_its_job(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    qrels = cf.read_qrels(SAMPLE / "qrels.txt.gz")
    rows = [
        (name, *row)
        for name in ("pca", "pixels")
        for row in cf.read_run(SAMPLE / f"runs/{name}.run.gz").rows()
    ]
    rng = np.random.default_rng(3)
    names = {
        "qrels_frame": pandas.DataFrame(qrels.rows(), columns=["qid", "docno", "label"]),
        "runs_frame": pandas.DataFrame(rows, columns=["run", "qid", "docno", "score"]),
        "truth_array": rng.random((30, 4)) < 0.4,
        "logits": rng.normal(size=(30, 4)) * 3,
    }
    shown = []
    for text in [text for _, _, kind, text in ALL if kind == "python"]:
        body = ast.parse(text).body
        last = ast.Expression(body.pop().value)
        exec(compile(ast.Module(body, []), "page", "exec"), names)
        shown.append(eval(compile(last, "page", "eval"), names))
    assert shown[0].mean()["run"]["RR"] == 0.5
    assert set(names["scores"].runs) == {"pca", "pixels"}
    assert (tmp_path / "scores.html").read_text().startswith("<!doctype html>")
    logits = 1 / (1 + np.exp(-names["logits"]))
    sure = cf.evaluate_labels(names["truth_array"], {"mine": logits}, "AP.concept").mean()
    assert shown[3].mean() == sure
    assert "pca is significantly better" in " ".join(shown[4])
