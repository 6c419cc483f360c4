"""`cranfield uncertain`: its JSON, and every way its input can be wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cranfield.cli import main

VOTES = "subject,item,category\n" + "".join(
    f"s{s},{item},{category}\n"
    for item, given in {
        "q": ("people", "crowd", "city"),
        "a": ("people", "people", "crowd"),
        "b": ("city", "city", "people"),
    }.items()
    for s, category in enumerate(given)
)
TREE = "category,parent\nall,\npeople,all\ncrowd,people\ncity,all\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "votes.csv").write_text(VOTES)
    (tmp_path / "tree.csv").write_text(TREE)
    (tmp_path / "one.run").write_text("q Q0 a 1 2 x\nq Q0 b 2 1 x\n")
    (tmp_path / "two.run").write_text("q Q0 b 1 2 x\n")
    return tmp_path


def call(folder: Path, *args: str, runs: tuple[str, ...] = ("one.run", "two.run")) -> int:
    files = [str(folder / f) for f in ("votes.csv", "tree.csv", *runs)]
    return main(["uncertain", *files, *args])


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(folder, "-k", "2", "--format", "json") == 0
    payload = json.loads(capsys.readouterr().out)
    assert payload["command"] == "uncertain"
    assert [r["name"] for r in payload["runs"]] == ["one", "two"]
    topic = payload["runs"][0]["topics"][0]
    assert topic["topic"] == "q"
    for what in ("precision", "recall"):
        got = topic[what]
        assert set(got) == {"k", "mean", "sd", "quantiles", "values", "mass"}
        assert sum(got["mass"]) == pytest.approx(1, abs=1e-12)
        assert got["mean"] == pytest.approx(
            sum(v * p for v, p in zip(got["values"], got["mass"], strict=True))
        )
    # people: a is 1, b 1/3; crowd: a 1/3; city: b 2/3; a third of the votes each
    assert topic["precision"]["mean"] == pytest.approx((4 / 3 + 1 / 3 + 2 / 3) / 3 / 2)
    pair = payload["better"]["pairs"][0]
    assert (pair["a"], pair["b"]) == ("one", "two")
    assert pair["better"] == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert pair["better"] + pair["equal"] + pair["worse"] == pytest.approx(1)
    assert pair["topics"][0]["topic"] == "q"


def test_table_and_csv(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(folder, "-k", "2") == 0
    out = capsys.readouterr().out
    assert "Probability that a run has the higher P@2" in out
    assert call(folder, "-k", "2", "--format", "csv") == 0
    assert capsys.readouterr().out.startswith("run,topic,P@2 mean")


def test_queries_and_categories_as_topics(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "q.csv").write_text("topic,query\n7,q\n8,city\n")
    (folder / "r.run").write_text("7 Q0 a 1 2 x\n8 Q0 b 1 2 x\n")
    assert (
        call(
            folder,
            "-k",
            "1",
            "--queries",
            str(folder / "q.csv"),
            "--format",
            "json",
            runs=("r.run",),
        )
        == 0
    )
    topics = json.loads(capsys.readouterr().out)["runs"][0]["topics"]
    assert topics[0]["precision"]["mean"] == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert topics[1]["precision"]["mass"] == pytest.approx([1 / 3, 2 / 3])


FAULTS = {
    "unknown category": (
        "votes.csv",
        VOTES + "s0,c,pepole\n",
        "votes.csv:11: category 'pepole' is not in the tree. Did you mean 'people'?",
    ),
    "two votes": (
        "votes.csv",
        VOTES + "s0,q,city\n",
        "votes.csv:11: subject 's0' votes twice on item 'q', first on line 2",
    ),
    "skipped item": (
        "votes.csv",
        VOTES + "s0,c,city\n",
        "votes.csv: subject 's1' did not vote on item 'c' (2 votes are missing in all)",
    ),
    "empty field": ("votes.csv", VOTES + "s0,,city\n", "votes.csv:11: subject, item or category"),
    "short row": ("votes.csv", VOTES + "s0,c\n", "votes.csv:11: 2 fields where the header has 3"),
    "no header": ("votes.csv", "s0,c,city\n", "votes.csv:1: no column 'subject' in the header"),
    "no votes": ("votes.csv", "subject,item,category\n", "votes.csv: is empty"),
    "cycle": (
        "tree.csv",
        TREE + "all,crowd\n",
        "the categories form a cycle: all -> crowd -> people -> all",
    ),
    "own parent": ("tree.csv", TREE + "city,city\n", "tree.csv:6: the categories form a cycle"),
    "two roots": (
        "tree.csv",
        TREE + "nature,al\n",
        "2 categories have no parent ('all', 'al')",
    ),
    "row twice": (
        "tree.csv",
        TREE + "city,all\n",
        "tree.csv:6: 'city' under 'all' stands twice, first on",
    ),
    "stranger in the run": (
        "one.run",
        "q Q0 zebra 1 2 x\n",
        "one: item 'zebra' of topic 'q' has no votes (1 such items in this topic); "
        "--unvoted zero counts them",
    ),
    "unknown topic": (
        "one.run",
        "qq Q0 a 1 2 x\n",
        "topic 'qq' is neither an item with votes nor a category.",
    ),
    "item twice": ("one.run", "q Q0 a 1 2 x\nq Q0 a 2 1 x\n", "'a'"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults(folder: Path, capsys: pytest.CaptureFixture[str], fault: str) -> None:
    name, text, message = FAULTS[fault]
    (folder / name).write_text(text)
    target = folder / "out.json"
    assert call(folder, "-o", str(target), runs=("one.run",)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert not target.exists()


def test_skipped_votes_and_strangers_can_be_allowed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "votes.csv").write_text(VOTES + "s0,c,city\n")
    (folder / "one.run").write_text("q Q0 c 1 2 x\nq Q0 zebra 2 1 x\n")
    args = ("-k", "2", "--skipped", "abstain", "--unvoted", "zero", "--format", "json")
    assert call(folder, *args, runs=("one.run",)) == 0
    topic = json.loads(capsys.readouterr().out)["runs"][0]["topics"][0]
    assert topic["precision"]["mass"] == pytest.approx([2 / 3, 1 / 3, 0])
