"""`cranfield demo`: what a new user sees, and that the commands it names work as they stand."""

import json
import subprocess
import sys

import pytest

from cranfield.cli import main
from cranfield.io.collection import read_collection
from cranfield.io.samples import SAMPLE
from cranfield.report.demo import NEXT_COMMANDS


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_table_the_report_and_what_to_try_next(here, capsys):
    assert main(["demo"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Handwritten digits: ")
    assert "1,120 images, 80 topics, 8 systems" in printed
    assert "Which system is best depends on the measure: discriminant by MAP" in printed
    assert all(command in printed for _, command in NEXT_COMMANDS)
    assert (here / "demo-report.html").read_text().startswith("<!doctype html>")


def test_the_means_are_those_of_eval(here, capsys):
    assert main(["demo", "-o", "r.html"]) == 0
    rows = {
        line.split()[0]: line.replace("*", " ").split()[1:-1]
        for line in capsys.readouterr().out.splitlines()
        if line.endswith("      80")
    }
    files = [str(path) for path in read_collection(SAMPLE).runs]
    names = "AP nDCG@10 RR P@10 R@100 Bpref Judged@10"
    assert (
        main(["eval", str(SAMPLE / "qrels.txt.gz"), *files, "-m", names, "--format", "json"]) == 0
    )
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert {r["name"]: [f"{v:.4f}" for v in r["mean"].values()] for r in runs} == rows


def test_folder(here, capsys):
    assert main(["demo", "--folder"]) == 0
    assert capsys.readouterr().out == f"{SAMPLE}\n"
    assert not list(here.iterdir())


def test_copy(here, capsys):
    assert main(["demo", "--copy", "digits"]) == 0
    assert [p.name for p in here.iterdir()] == ["digits"]
    copied, original = read_collection(here / "digits"), read_collection(SAMPLE)
    assert (copied.name, len(copied.runs)) == (original.name, len(original.runs))
    for path in SAMPLE.rglob("*.*"):
        assert (here / "digits" / path.relative_to(SAMPLE)).read_bytes() == path.read_bytes()


def test_copy_overwrites_nothing_and_leaves_nothing_half_done(here, capsys):
    (here / "mine").mkdir()
    assert main(["demo", "--copy", "mine"]) == 2
    assert capsys.readouterr().err.startswith("mine: is there already")
    assert main(["demo", "--copy", "no/such"]) == 2
    assert capsys.readouterr().err.startswith("no/such: cannot be written")
    assert main(["demo", "--copy", "x", "--folder"]) == 2
    assert [p.name for p in here.rglob("*")] == ["mine"]


def test_a_report_that_cannot_be_written(here, capsys):
    assert main(["demo", "-o", "no/such/report.html"]) == 2
    assert "report.html: cannot be written" in capsys.readouterr().err


def test_the_commands_to_try_next_work_as_they_stand(here):
    cranfield = f'cranfield() {{ "{sys.executable}" -m cranfield "$@"; }}\n'
    for _, command in NEXT_COMMANDS:
        done = subprocess.run(
            ["bash", "-c", cranfield + command], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, (command, done.stderr)
        assert done.stdout
        # The pool of the sample is that of the other runs.
        unjudged = "warning: random: 87 % of the first 10 items are unjudged\n"
        assert done.stderr == (unjudged if "qrels.txt.gz digits/runs/*" in command else "")
