"""Corners of trec_eval 10 that docs/trec_eval.md decides; its own output stands in the comments."""

from __future__ import annotations

from pathlib import Path

import pytest

import cranfield as cf
from cranfield.cli import main


@pytest.fixture
def printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "run").write_text(
        "1 Q0 a 0 3 t\n1 Q0 b 0 2 t\n2 Q0 c 0 1 t\n3 Q0 e 0 2 t\n3 Q0 a 0 1 t\n"
    )

    def call(qrels: str, *options: str) -> tuple[int, dict[tuple[str, str], str], str]:
        (tmp_path / "qrels").write_text(qrels)
        files = [str(tmp_path / "qrels"), str(tmp_path / "run")]
        code = main(["trec_eval", "-q", *options, *files])
        out, err = capsys.readouterr()
        rows = (line.split("\t") for line in out.splitlines())
        return code, {(name.strip(), topic): value for name, topic, value in rows}, err

    return call


def test_ideal_dcg_after_a_topic_of_negative_grades(printed) -> None:
    """trec_eval 10 prints 2.6309 for topic 2, the value of topic 1."""
    qrels = "1 0 a 1\n1 0 b 2\n2 0 c -1\n2 0 d -2\n3 0 a 1\n3 0 e 0\n"
    _, found, _ = printed(qrels, "-m", "ideal_dcg")
    assert [found["ideal_dcg", t] for t in "123"] == ["2.6309", "0.0000", "1.0000"]


def test_level_0_counts_every_item_that_was_judged(printed) -> None:
    """As trec_eval 10, but for Rndcg of topic 2, which is -nan there."""
    qrels = "1 0 a 1\n1 0 b 2\n2 0 c 0\n2 0 d -2\n3 0 a 1\n3 0 e 0\n"
    _, found, _ = printed(qrels, "-l", "0", "-m", "num_rel", "-m", "map", "-m", "Rndcg")
    assert [found["num_rel", t] for t in ("1", "2", "3", "all")] == ["2", "1", "2", "5"]
    assert [found["map", t] for t in "123"] == ["1.0000"] * 3
    assert found["Rndcg", "2"] == "0.0000"


def test_levels_below_0_are_refused(printed) -> None:
    code, found, err = printed("1 0 a 1\n2 0 c 0\n3 0 a 1\n", "-l", "-1")
    assert code == 2
    assert not found
    assert "-l -1 is below 0, where unjudged items would be relevant" in err


def test_rndcg_asks_for_items_of_the_level(printed) -> None:
    """trec_eval 10 -l 2: 0.6799 for topic 1, 0 for topic 3, whose best grade is 1."""
    qrels = "1 0 a 1\n1 0 b 2\n2 0 c 0\n3 0 a 1\n3 0 e 0\n"
    _, found, _ = printed(qrels, "-l", "2", "-m", "Rndcg", "-m", "ndcg")
    assert [found["Rndcg", t] for t in "123"] == ["0.6799", "0.0000", "0.0000"]
    assert found["ndcg", "3"] == "0.6309"
    judgements = {"1": {"a": 1, "b": 2}, "3": {"a": 1, "e": 0}}
    run = {"1": {"a": 3.0, "b": 2.0}, "3": {"e": 2.0, "a": 1.0}}
    scores = cf.evaluate(judgements, run, "RnDCG(rel=2) RnDCG").per_topic()
    assert [round(row["RnDCG(rel=2)"], 4) for row in scores] == [0.6799, 0.0]
    assert scores[1]["RnDCG"] == 0.0  # at rank 1, where the best ranking ends
