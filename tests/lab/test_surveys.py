"""Questionnaires on concept sets, and what the answers to any of them may look like."""

import json

import numpy as np
import pytest

from cranfield.cli import main
from cranfield.data.labels import LabelMatrix
from cranfield.errors import CranfieldError, UsageError
from cranfield.lab.concept_survey import make_concept_survey
from cranfield.lab.material import Material
from cranfield.lab.questionnaire import make_questionnaire, tally
from cranfield.lab.votes import Preferences, count_preferences, read_votes
from cranfield.label_evaluation import evaluate_labels

CONCEPTS = ["Sky", "Sea", "Dog", "<b>"]


def material(measures="F.example HammingLoss"):
    rng = np.random.default_rng(1)
    truth = rng.random((40, 4)) < 0.5
    truth[:, 0] |= ~truth.any(axis=1)
    runs = {n: truth ^ (rng.random(truth.shape) < 0.3) for n in ("first", "second")}
    items = [f"i{k}" for k in range(40)]
    made = {n: LabelMatrix.of(r, items=items, concepts=CONCEPTS) for n, r in runs.items()}
    return Material.labels(LabelMatrix.of(truth, items=items, concepts=CONCEPTS), made, measures)


def test_sets_are_blind_and_shuffled_and_come_with_the_scores(tmp_path):
    given = material()
    made = make_concept_survey(given, questions=12, rng=3)
    files = made.write(tmp_path)
    for file in files[:2]:
        text = file.read_text()
        assert "first" not in text
        assert "F.example" not in text
    assert "&lt;b&gt;" in files[1].read_text()
    assert {tuple(sets.values()) for sets in made.key["key"].values()} == {
        ("first", "second"), ("second", "first"),
    }  # fmt: skip
    scores = evaluate_labels(given.truth, dict(given.runs), given.names)
    runs, truth = dict(given.runs), given.truth
    for entry in made.questions["questions"]:
        number, at = str(entry["question"]), truth.items.index(entry["item"])
        for shown, run in made.key["key"][number].items():
            parts = entry["sets"][shown]
            own = {c for k, c in enumerate(CONCEPTS) if runs[run].labels[at, k]}
            assert {*parts["right"], *parts["wrong"]} == own
            assert {*parts["right"], *parts["missed"]} == set(entry["true"])
        for m in scores.measures:
            assert made.key["scores"][number][str(m)] == pytest.approx(scores.values[m][:, at])
    assert make_concept_survey(given, questions=12, rng=3).questions == made.questions


def test_answers_about_sets_are_counted_beside_the_scores(tmp_path):
    made = make_concept_survey(material(), questions=10, rng=0)
    key = made.write(tmp_path)[2]
    # Two people who always take the set with the lower Hamming loss, and one who cannot decide.
    best = {
        q: next(s for s, run in sets.items()
                if run == ("first", "second")[int(np.argmin(made.key["scores"][q]["HammingLoss"]))])
        for q, sets in made.key["key"].items()
    }  # fmt: skip
    answers = [{q: [s] for q, s in best.items()}] * 2 + [{q: ["Set 1", "Set 2"] for q in best}]
    paths = []
    for k, given in enumerate(answers):
        paths.append(tmp_path / f"{k}.json")
        paths[-1].write_text(json.dumps({"answers": given}))
    found = tally(key, paths)
    assert isinstance(found, Preferences)
    loss = found.of("HammingLoss")
    assert loss.agreed == loss.decided
    assert loss.vote_share == pytest.approx(2.5 / 3)
    assert found.less_is_better == ("HammingLoss",)


@pytest.mark.parametrize(
    "measures, questions, message",
    [("F.concept", 3, "no mean over items"), ("F.example", 100, "ask at most"),
     ("F.example", 0, "whole number")],
)  # fmt: skip
def test_surveys_that_cannot_be_made(measures, questions, message):
    with pytest.raises(UsageError, match=message):
        make_concept_survey(material(measures), questions=questions)


def test_a_survey_compares_two_runs():
    given = material()
    with pytest.raises(UsageError, match="two annotations"):
        make_concept_survey(given.with_runs(given.runs[:1]))


def test_the_command_makes_and_tallies(capsys, tmp_path):
    given = material()
    paths = {}
    for name, matrix in (("truth", given.truth), *given.runs):
        rows = "".join(f"{i},{','.join(str(int(v)) for v in r)}\n"
                       for i, r in zip(matrix.items, matrix.labels, strict=True))  # fmt: skip
        paths[name] = tmp_path / f"{name}.csv"
        paths[name].write_text("item,Sky,Sea,Dog,Cat\n" + rows)
    folder = tmp_path / "q"
    argv = ["lab", "votes", "make", str(folder), "--questions", "3", "--between",
            str(paths["first"]), str(paths["second"])]  # fmt: skip
    assert main(argv) == 2
    assert "--truth" in capsys.readouterr().err
    assert main([*argv, "--truth", str(paths["truth"]), "-m", "F.example"]) == 0
    one = tmp_path / "one.json"
    one.write_text('{"answers": {"1": ["Set 1"], "2": ["Set 1", "Set 2"], "3": ["none"]}}')
    capsys.readouterr()
    assert main(["lab", "votes", "tally", str(folder / "key.json"), str(one)]) == 0
    assert "Agreement with the majority" in capsys.readouterr().out


@pytest.mark.parametrize(
    "answers, message",
    [
        ({"1": "Method 1"}, "expected a list of answers, found 'Method 1'"),
        ({"1": 3}, "expected a list"),
        ({"7": ["Method 1"]}, "no question '7' was asked"),
        ({"1": ["Method 9"]}, "no 'Method 9' was asked about"),
    ],
)
def test_answers_that_do_not_fit(tmp_path, answers, message):
    key = make_questionnaire(questions=2).write(tmp_path)[2]
    given = tmp_path / "a.json"
    given.write_text(json.dumps({"answers": answers}))
    with pytest.raises(CranfieldError, match=message):
        tally(key, [given])


def test_an_answer_ticked_twice_counts_once(tmp_path):
    key = make_questionnaire(questions=1).write(tmp_path)[2]
    given = tmp_path / "a.json"
    given.write_text('{"answers": {"1": ["Method 1", "Method 1"]}}')
    assert sum(c.votes for c in tally(key, [given]).choices) == 1


@pytest.mark.parametrize("text", ['{"key": {}}', '{"key": {"1": 3}, "measures": []}',
                                  '{"key": {}, "measures": [], "scores": {}}'])  # fmt: skip
def test_a_key_that_is_none(tmp_path, text):
    (tmp_path / "key.json").write_text(text)
    with pytest.raises(CranfieldError, match=r"is not the key\.json"):
        tally(tmp_path / "key.json", [])


def test_votes_know_measures_of_errors(tmp_path):
    votes = [(9, 1, 0), (1, 9, 0)]
    scores = {"HammingLoss": [(0.1, 0.2), (0.3, 0.2)]}
    assert (
        count_preferences(votes, scores, less_is_better=["HammingLoss"]).agreements[0].agreed == 2
    )
    assert count_preferences(votes, scores).agreements[0].agreed == 0
    table = tmp_path / "v.csv"
    table.write_text(
        "question,votes_a,votes_b,votes_both,HammingLoss_a,HammingLoss_b,Mine_a,Mine_b\n"
        "1,9,1,0,0.1,0.2,5,4\n2,1,9,0,0.3,0.2,1,2\n"
    )
    found = read_votes(table)
    assert [a.agreed for a in found.agreements] == [2, 2]
    assert "less is better for HammingLoss" in found.table().notes
