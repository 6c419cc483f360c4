"""`cranfield displacement`: its JSON, and every way its input can be wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cranfield.cli import main

SUBJECTS = "subject,topic,item,significance\nann,q,x,1\nann,q,y,0.5\nbob,q,y,1\nbob,q,x,0.25\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "subjects.csv").write_text(SUBJECTS)
    (tmp_path / "r.run").write_text("q Q0 x 1 2 z\nq Q0 y 2 1 z\n")
    return tmp_path


def call(folder: Path, *args: str) -> int:
    return main(["displacement", str(folder / "subjects.csv"), str(folder / "r.run"), *args])


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = ("--per-subject", "--per-topic", "--format", "json")
    assert call(folder, *args) == 0
    payload = json.loads(capsys.readouterr().out)
    run = payload["runs"][0]
    assert run["mean"]["Displacement"] == pytest.approx((0 + 1.25) / 2)
    assert run["sd"]["Displacement"] == pytest.approx(1.25 / 2**0.5)
    assert run["mean"]["DisplacementQuality"] == pytest.approx((1 + 1 / 2.25) / 2)
    assert [r["subject"] for r in payload["per_subject"]] == ["ann", "bob"]
    assert payload["per_topic"][1] == {
        "run": "r", "subject": "bob", "topic": "q", "Displacement": 1.25,
        "DisplacementQuality": 1 / 2.25,
    }  # fmt: skip


def test_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(folder, "--per-subject") == 0
    out = capsys.readouterr().out
    assert "sd: between subjects" in out
    assert "Per subject" in out


def test_single_subject_has_no_spread(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "subjects.csv").write_text("subject,topic,item,significance\nann,q,x,1\n")
    assert call(folder, "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["sd"]["Displacement"] is None


def test_missing_topic_is_an_empty_ranking(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (folder / "subjects.csv").open("a") as out:
        out.write("ann,p,u,1\n")
    assert call(folder, "--collection-size", "10", "--format", "json") == 0
    out, err = capsys.readouterr()
    # In p item u stands last: displaced by 9; the mean of ann is over both topics.
    assert json.loads(out)["runs"][0]["mean"]["Displacement"] == pytest.approx((4.5 + 1.25) / 2)
    assert "r misses 1 of 2 topics (p), scored as empty rankings" in err
    assert "subject bob has no list for 1 of 2 topics" in err


FAULTS = {
    "significance above 1": (
        SUBJECTS + "ann,q,z,1.5\n",
        "subjects.csv:6: significance '1.5' is not a number in [0, 1]",
    ),
    "significance below 0": (SUBJECTS + "ann,q,z,-1\n", "significance '-1' is not a number in"),
    "significance nan": (SUBJECTS + "ann,q,z,nan\n", "significance 'nan' is not a number in"),
    "significance text": (SUBJECTS + "ann,q,z,high\n", "significance 'high' is not a number in"),
    "item twice": (
        SUBJECTS + "ann,q,x,0.5\n",
        "subjects.csv:6: subject 'ann' lists item 'x' twice for topic 'q', first on line 2",
    ),
    "empty item": (SUBJECTS + "ann,q,,0.5\n", "subjects.csv:6: subject, topic, item or"),
    "missing item": (
        SUBJECTS + "ann,q,gone,0.1\n",
        "Displacement needs the number of items in the collection, as item 'gone' was not "
        "retrieved: pass --collection-size N or --missing optimist",
    ),
    "other topics": (
        "subject,topic,item,significance\nann,p,x,1\n",
        "none of its topics (q) has a subject's list",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults(folder: Path, capsys: pytest.CaptureFixture[str], fault: str) -> None:
    text, message = FAULTS[fault]
    (folder / "subjects.csv").write_text(text)
    assert call(folder) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_other_measures_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(folder, "-m", "AP") == 2
    assert "AP does not compare rankings with those of people" in capsys.readouterr().err


def test_small_collection(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(folder, "--collection-size", "1") == 2
    assert "collection size 1 is too small" in capsys.readouterr().err
