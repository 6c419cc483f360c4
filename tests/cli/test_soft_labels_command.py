"""Soft labels of `cranfield aggregate` as what `cranfield uncertain` reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cranfield.cli import main

GIVEN = {
    "q": ("people", "crowd", "city"),
    "a": ("people", "people", "crowd"),
    "b": ("city", "city", "people"),
}
TREE = "category,parent\nall,\npeople,all\ncrowd,people\ncity,all\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"s{s},{item},{c}\n" for item, given in GIVEN.items() for s, c in enumerate(given)]
    (tmp_path / "votes.csv").write_text("subject,item,category\n" + "".join(rows))
    (tmp_path / "log.csv").write_text("annotator,item,category\n" + "".join(rows))
    (tmp_path / "tree.csv").write_text(
        "category,parent\nall,\npeople,all\ncrowd,people\ncity,all\n"
    )
    (tmp_path / "one.run").write_text("q Q0 a 1 2 x\nq Q0 b 2 1 x\n")
    return tmp_path


def uncertain(folder: Path, votes: str, *options: str) -> int:
    files = [str(folder / name) for name in (votes, "tree.csv", "one.run")]
    return main(["uncertain", *files, *options])


def test_shares_of_votes_say_what_the_votes_say(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    soft = folder / "soft.csv"
    plain = ["--soft", "--prior", "0"]  # plain shares of the votes, nothing added to them
    assert main(["aggregate", str(folder / "log.csv"), *plain, "--quiet", "-o", str(soft)]) == 0
    answers = []
    for votes, options in (("votes.csv", ()), ("soft.csv", ("--soft",))):
        assert uncertain(folder, votes, *options, "--format", "json") == 0
        topic = json.loads(capsys.readouterr().out)["runs"][0]["topics"][0]
        answers.append([topic[what]["mass"] for what in ("precision", "recall")])
    for by_votes, by_shares in zip(*answers, strict=True):
        assert by_votes == pytest.approx(by_shares)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("item,category\nq,city\n", "no column 'probability'"),
        ("item,category,probability\nq,city,0.7\n", "item 'q' sum to 0.7, expected 1"),
        ("item,category,probability\nq,city,2\n", ":2: probability '2' is not a number in [0, 1]"),
        ("item,category,probability\nq,citty,1\n", ":2: category 'citty' is not in the tree"),
        ("item,category,probability\nq,city,1\nq,city,0\n", ":3: item 'q' has category 'city' twi"),
        ("item,category,probability\nq,,1\n", ":2: item, category or probability is empty"),
    ],
)
def test_bad_soft_labels(
    text: str, expected: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "soft.csv").write_text(text)
    assert uncertain(folder, "soft.csv", "--soft") == 2
    assert expected in capsys.readouterr().err
