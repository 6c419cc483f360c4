"""From a log to a truth: decisions above votes, disputes by their margin, screening passes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cranfield.agreement.aggregation import Decision, read_decisions
from cranfield.campaign.truth import (
    apply_screening,
    disputes,
    make_truth,
    screening,
    weigh_disputes,
)
from cranfield.cli import main
from cranfield.data.judgement_log import judgement_log
from cranfield.data.labels import LabelMatrix
from cranfield.errors import InputError, UsageError

VOTES = {("i", "sky"): "1110", ("i", "sea"): "1100", ("j", "sky"): "0000", ("j", "sea"): "0001"}


def log():
    rows = [(f"p{k}", i, c, v) for (i, c), votes in VOTES.items() for k, v in enumerate(votes)]
    who, item, concept, value = zip(*rows, strict=True)
    return judgement_log(who, item, value, concepts=concept)


def said(truth):
    return {(r["item"], r["concept"]): r["value"] for r in truth.rows()}


def test_the_most_disputed_units_come_first_and_without_names():
    found = disputes(log())
    assert [(d.item, d.concept) for d in found] == [("i", "sea"), ("i", "sky"), ("j", "sea")]
    assert found[0].votes == {"0": 2, "1": 2}
    assert [d.margin for d in found] == [0.0, 0.5, 0.5]
    assert [d.majority for d in found[1:]] == ["1", "0"]
    left = disputes(log(), [Decision("i", "sea", "1")])
    assert ("i", "sea") not in [(d.item, d.concept) for d in left]


def test_answers_to_a_dispute_have_the_probabilities_of_the_model():
    plain = disputes(log())
    found = weigh_disputes(log(), plain[:2])
    model = make_truth(log(), "dawid-skene")
    every = {(r["item"], r["concept"], r["value"]): r["probability"] for r in model.soft_rows()}
    assert [d.votes for d in found] == [d.votes for d in plain[:2]]
    for one in found:
        assert one.probability == {v: every[one.item, one.concept, v] for v in one.votes}
        assert sum(one.probability.values()) == pytest.approx(1)
    assert weigh_disputes(log(), ()) == ()


def test_what_is_decided_stands_above_votes_and_models():
    decisions = [Decision("i", "sea", "1", "a lake is none"), Decision("i", "sky", "0")]
    for method in ("majority", "dawid-skene"):
        plain, found = make_truth(log(), method), make_truth(log(), method, decisions=decisions)
        expected = said(plain) | {("i", "sea"): "1", ("i", "sky"): "0"}
        assert said(found) == expected
        assert found.winning_probability.tolist().count(1.0) >= 2
        assert found.notes[-1] == "2 of 4 units are as an adjudicator decided"
    assert said(make_truth(log()))[("i", "sea")] == "undecided"
    assert make_truth(log(), decisions=decisions).ties == 0


def test_means_of_ratings_can_be_decided_too():
    ratings = judgement_log(["a", "b"], ["x", "x"], [1, 4], concepts=["related", "related"])
    assert said(make_truth(ratings, "mean")) == {("x", "related"): 2.5}
    found = make_truth(ratings, "mean", decisions=[Decision("x", "related", "3.5")])
    assert said(found) == {("x", "related"): 3.5}
    with pytest.raises(UsageError, match="not a number"):
        make_truth(ratings, "mean", decisions=[Decision("x", "related", "much")])


def test_decisions_about_nothing_are_refused():
    with pytest.raises(UsageError, match="no annotator judged"):
        make_truth(log(), decisions=[Decision("k", "sky", "1")])
    with pytest.raises(UsageError, match="no answer"):
        make_truth(log(), decisions=[Decision("i", "sky", "7")])


def test_decisions_come_from_a_file(tmp_path):
    file = tmp_path / "decided.csv"
    file.write_text("item,concept,value,reason\ni,sea,1,\ni,sky,0,no sky\n")
    assert read_decisions(file)[1] == Decision("i", "sky", "0", "no sky")
    for text, words in (
        ("item,value\n", "expected a header"),
        ("item,concept,value\ni,,1\n", "is empty"),
        ("item,concept,value\ni,c,1\ni,c,0\n", "decided twice"),
    ):
        file.write_text(text)
        with pytest.raises(InputError, match=words):
            read_decisions(file)


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.data())
def test_a_screening_pass_turns_what_was_ticked_and_nothing_else(has, data):
    items = [f"i{k}" for k in range(len(has))]
    truth = LabelMatrix.of(np.array([[h, True] for h in has]), items=items, concepts=["X", "Y"])
    first = screening(truth, "X")
    assert sorted(first.shown + first.others) == items
    assert [i for i, h in zip(items, has, strict=True) if h] == list(first.shown)
    wrong = data.draw(st.lists(st.sampled_from(items), unique=True))
    after = screening(apply_screening(truth, "X", wrong), "X")
    assert set(after.shown) == set(first.shown) ^ set(wrong)
    assert screening(apply_screening(truth, "X", wrong), "Y").others == ()


def test_the_command_takes_decisions(tmp_path):
    log_file, decided, out = (tmp_path / name for name in ("log.csv", "d.csv", "truth.csv"))
    head = "annotator,item,concept,value\n"
    log_file.write_text(head + "".join(",".join(row) + "\n" for row in log().rows()))
    decided.write_text("item,concept,value,reason\ni,sea,1,seen\n")
    asked = ["aggregate", str(log_file), "--decisions", str(decided), "-o", str(out), "--quiet"]
    assert main(asked) == 0
    assert "i,sea,1,1" in out.read_text()
