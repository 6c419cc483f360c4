"""Who judges what next: where an opinion tells the most."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import cranfield as cf
from cranfield.campaign.next_opinions import expected_information
from cranfield.cli import main
from cranfield.errors import UsageError


def test_information_is_that_of_the_joint_distribution() -> None:
    answers, reliability = np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]]), np.array([0.9, 0.4, 1 / 3])
    bits = expected_information(answers, reliability)
    for row, column in product(range(2), range(3)):
        wrong = (1 - reliability[column]) / 2
        given = np.full((3, 3), wrong) + np.eye(3) * (reliability[column] - wrong)
        joint = answers[row][:, None] * given
        apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        expected = (joint * np.log2(joint / apart)).sum()
        assert bits[row, column] == pytest.approx(expected, abs=1e-12)
    # An annotator who guesses tells nothing.
    assert bits[:, 2] == pytest.approx([0.0, 0.0], abs=1e-12)


def crowd(path: Path) -> Path:
    """Two reliable people and one who guesses; the last of forty items are judged by one only."""
    rng = np.random.default_rng(4)
    rows = ["annotator,item,category"]
    for item in range(40):
        truth = "yes" if item % 2 else "no"
        rows += [f"ann,i{item},{truth}"] * (item < 38) + [f"ben,i{item},{truth}"] * (item < 30)
        if item not in (36, 37):
            rows.append(f"guess,i{item},{rng.choice(['yes', 'no'])}")
    path.write_text("\n".join(rows) + "\n")
    return path


def test_the_reliable_are_asked_about_what_is_open(tmp_path: Path) -> None:
    log = crowd(tmp_path / "log.csv")
    answer = cf.lab.next_opinions(log, method="one-coin", sure=0.99, most=3)
    asked = {o.item: o for o in answer.opinions}
    # Items with one opinion come first; no annotator is asked again about an item.
    assert {o.item for o in answer.opinions[:4]} == {"i36", "i37", "i38", "i39"}
    judged = {tuple(line.split(",")[:2]) for line in log.read_text().splitlines()}
    assert not {(o.annotator, o.item) for o in answer.opinions} & judged
    assert {asked[f"i{n}"].annotator for n in (38, 39)} <= {"ann", "ben"}
    assert len(asked) == len(answer.opinions) <= answer.open
    only = cf.lab.next_opinions(log, method="one-coin", people=["guess"], sure=0.99, most=3)
    assert {o.annotator for o in only.opinions} == {"guess"}
    assert max(o.information for o in only.opinions) < max(o.information for o in answer.opinions)
    with pytest.raises(UsageError, match="'anna', who has judged nothing"):
        cf.lab.next_opinions(log, people=["anna"])


def test_a_crowd_that_is_sure_has_no_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = crowd(tmp_path / "log.csv")
    answer = cf.lab.next_opinions(log, sure=0.5, least=1)
    assert answer.stop
    assert not answer.opinions
    assert main(["truth", "next", str(log), "--count", "3", "--most", "3"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_cells_of_annotations_are_drawn_as_those_of_rankings_are(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    concepts, items = ("cat", "dog", "sky"), [f"p{n}" for n in range(30)]
    files = []
    for run in range(3):
        path = tmp_path / f"run{run}.csv"
        lines = [",".join(["item", *concepts])]
        lines += [",".join([i, *(f"{v:.3f}" for v in rng.random(3))]) for i in items]
        path.write_text("\n".join(lines) + "\n")
        files.append(path)
    answer = cf.lab.next_judgements(files, "P@10", count=12, depth=15, labels=True)
    assert {c.topic for c in answer.cells} <= set(concepts)
    assert {c.item for c in answer.cells} <= set(items)
    pool = cf.lab.make_pool(files, depth=15, labels=True)
    assert answer.candidates == len(pool.items)
