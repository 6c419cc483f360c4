"""Questionnaires on concept sets, and what the answers to any of them may look like."""

import json

import numpy as np
import pytest

from cranfield.campaign.annotation_task import UnitAnswers, response_of
from cranfield.campaign.surveys.measures import make_questionnaire
from cranfield.campaign.surveys.preference import make_concept_survey
from cranfield.campaign.surveys.votes import Preferences, count_preferences, count_votes, tally
from cranfield.cli import main
from cranfield.data.costmap import CostMap
from cranfield.data.labels import LabelMatrix
from cranfield.errors import CranfieldError, UsageError
from cranfield.evaluation.labels import evaluate_labels
from cranfield.report.document import document_of
from cranfield.site.work_pages import write_survey

CONCEPTS = ["Sky", "Sea", "Dog", "<b>"]


def annotations():
    """A truth and two runs, as `make_concept_survey` takes them."""
    rng = np.random.default_rng(1)
    truth = rng.random((40, 4)) < 0.5
    truth[:, 0] |= ~truth.any(axis=1)
    runs = {n: truth ^ (rng.random(truth.shape) < 0.3) for n in ("apples", "pears")}
    items = [f"i{k}" for k in range(40)]
    made = {n: LabelMatrix.of(r, items=items, concepts=CONCEPTS) for n, r in runs.items()}
    return LabelMatrix.of(truth, items=items, concepts=CONCEPTS), made


def test_sets_are_blind_and_shuffled_and_come_with_the_scores(tmp_path):
    truth, runs = annotations()
    measures = "F.example HammingLoss"
    made = make_concept_survey(truth, runs, measures, questions=12, rng=3)
    write_survey(made, tmp_path)
    for name in ("questions.json", "survey.html"):
        text = (tmp_path / name).read_text()
        assert "apples" not in text
        assert "F.example" not in text
    assert "&lt;b&gt;" in (tmp_path / "survey.html").read_text()
    orders = {tuple(sets.values()) for sets in made.key["key"].values()}
    assert orders == {("apples", "pears"), ("pears", "apples")}
    scores = evaluate_labels(truth, runs, measures)
    for entry in made.questions["questions"]:
        number, at = str(entry["question"]), truth.items.index(entry["item"])
        for shown, run in made.key["key"][number].items():
            parts = entry["sets"][shown]
            own = {c for k, c in enumerate(CONCEPTS) if runs[run].labels[at, k]}
            assert {*parts["right"], *parts["wrong"]} == own
            assert {*parts["right"], *parts["missed"]} == set(entry["true"])
        for m in scores.measures:
            assert made.key["scores"][number][str(m)] == pytest.approx(scores.values[m][:, at])
    again = make_concept_survey(truth, runs, measures, questions=12, rng=3)
    assert again.questions == made.questions


def test_sets_of_ranked_measures_are_the_best_ranked_concepts():
    """Thesis 9.5: the sets that R-precision scores, |Y| concepts each, whatever the threshold."""
    names = {"items": ["i"], "concepts": list("ABCD")}
    truth = LabelMatrix.of(np.array([[True, True, False, False]]), **names)
    runs = {
        "timid": LabelMatrix.of(np.array([[0.4, 0.1, 0.3, 0.2]]), **names),
        "eager": LabelMatrix.of(np.array([[0.9, 0.8, 0.7, 0.95]]), **names),
    }
    costs = CostMap.of(list("ABCD"), 1 - np.eye(4) - 0.5 * (np.eye(4, k=2) + np.eye(4, k=-2)))
    made = make_concept_survey(
        truth, runs, "Rprec.example SRP", alike="Rprec.example", costmap=costs, questions=1
    )
    (entry,) = made.questions["questions"]
    shown = {made.key["key"]["1"][s]: parts for s, parts in entry["sets"].items()}
    assert shown["timid"] == {"right": ["A"], "wrong": ["C"], "missed": ["B"]}
    assert shown["eager"] == {"right": ["A"], "wrong": ["D"], "missed": ["B"]}
    # C is half as far from A as from B, D from B: one question of the thesis, in which
    # R-precision is the same and its semantic form is not.
    assert made.key["scores"]["1"] == {"Rprec.example": [0.5, 0.5], "SRP": [0.5, 0.75]}


def test_a_measure_that_must_not_tell_the_runs_apart_does_not():
    rng = np.random.default_rng(5)
    names = {"items": [f"i{k}" for k in range(60)], "concepts": list("ABCDE")}
    true = rng.random((60, 5)) < 0.4
    true[:, 0] |= ~true.any(axis=1)
    truth = LabelMatrix.of(true, **names)
    runs = {n: LabelMatrix.of(rng.random(true.shape), **names) for n in ("a", "b")}
    apart = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) / 4
    options = {"costmap": CostMap.of(list("ABCDE"), apart), "questions": 8, "rng": 2}
    made = make_concept_survey(truth, runs, "SRP Rprec.example", alike="Rprec.example", **options)
    for scores in made.key["scores"].values():
        assert scores["Rprec.example"][0] == scores["Rprec.example"][1]
        assert scores["SRP"][0] != scores["SRP"][1]
    with pytest.raises(UsageError, match=r"Rprec\.example does not; ask at most"):
        make_concept_survey(
            truth, runs, "SRP", alike="Rprec.example", **options | {"questions": 60}
        )


def test_answers_about_sets_are_counted_beside_the_scores(tmp_path):
    made = make_concept_survey(*annotations(), "F.example HammingLoss", questions=10, rng=0)
    made.write(tmp_path)
    key = tmp_path / "key.json"
    # Two people who always take the set with the lower Hamming loss, and one who cannot decide.
    better = {
        q: ("apples", "pears")[int(np.argmin(scores["HammingLoss"]))]
        for q, scores in made.key["scores"].items()
    }
    best = {
        q: next(s for s, run in sets.items() if run == better[q])
        for q, sets in made.key["key"].items()
    }
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
    [
        ("F.concept", 3, "no mean over items"),
        ("F.example", 100, "ask at most"),
        ("F.example", 0, "whole number"),
        ("F.example Rprec.example", 3, "one of these sets"),
    ],
)
def test_surveys_that_cannot_be_made(measures, questions, message):
    with pytest.raises(UsageError, match=message):
        make_concept_survey(*annotations(), measures, questions=questions)


def test_a_survey_compares_two_runs():
    truth, runs = annotations()
    with pytest.raises(UsageError, match="two annotations"):
        make_concept_survey(truth, {"apples": runs["apples"]})


def test_the_command_makes_and_tallies(capsys, tmp_path):
    truth, runs = annotations()
    paths = {}
    for name, matrix in (("truth", truth), *runs.items()):
        rows = "".join(
            f"{i},{','.join(str(int(v)) for v in r)}\n"
            for i, r in zip(matrix.items, matrix.labels, strict=True)
        )
        paths[name] = tmp_path / f"{name}.csv"
        paths[name].write_text("item,Sky,Sea,Dog,Cat\n" + rows)
    folder = tmp_path / "q"
    argv = [
        "lab",
        "votes",
        "make",
        str(folder),
        "--questions",
        "3",
        "--between",
        str(paths["apples"]),
        str(paths["pears"]),
    ]
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
        ({"1": [["Method 1"]]}, r"no \['Method 1'\] was asked about"),
    ],
)
def test_answers_that_do_not_fit(tmp_path, answers, message):
    key = make_questionnaire(questions=2).write(tmp_path).files[1]
    given = tmp_path / "a.json"
    given.write_text(json.dumps({"answers": answers}))
    with pytest.raises(CranfieldError, match=message):
        tally(key, [given])


def test_an_answer_ticked_twice_counts_once(tmp_path):
    key = make_questionnaire(questions=1).write(tmp_path).files[1]
    given = tmp_path / "a.json"
    given.write_text('{"answers": {"1": ["Method 1", "Method 1"]}}')
    assert sum(c.votes for c in tally(key, [given]).choices) == 1


SETS_KEY = {
    "key": {"1": {"Set 1": "a", "Set 2": "b"}},
    "measures": ["OS"],
    "runs": ["a", "b"],
    "less_is_better": [],
    "scores": {"1": {"OS": [0.4, None]}},
}


@pytest.mark.parametrize(
    "key",
    [
        {"key": {}},
        {"key": {"1": 3}, "measures": []},
        {"key": {}, "measures": [], "scores": {}},
        {"key": {"1": {"Method 1": "MNRO"}}, "measures": ["AP"]},
        {"key": {"1": {"Method 1": "AP"}}, "measures": [["AP"]]},
        SETS_KEY | {"runs": ["a"]},
        SETS_KEY | {"runs": ["a", "c"]},
        SETS_KEY | {"less_is_better": None},
        SETS_KEY | {"scores": {}},
        SETS_KEY | {"scores": {"1": [0.4, 0.5]}},
        SETS_KEY | {"scores": {"1": {"OS": ["0.4", 0.5]}}},
    ],
)
def test_a_key_that_is_none(capsys, tmp_path, key):
    file, given = tmp_path / "key.json", tmp_path / "answers.json"
    file.write_text(json.dumps(key))
    given.write_text(json.dumps({"answers": {"1": ["none"]}}))
    assert main(["lab", "votes", "tally", str(file), str(given)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"{file}: is not the key.json of a questionnaire")
    assert "as it was" in err


def test_a_measure_without_a_score_prefers_nothing(tmp_path):
    file, given = tmp_path / "key.json", tmp_path / "answers.json"
    file.write_text(json.dumps(SETS_KEY))
    given.write_text(json.dumps({"answers": {"1": ["Set 2"]}}))
    found = tally(file, [given]).of("OS")
    assert (found.questions, found.decided, found.agreed) == (1, 0, 0)
    assert np.isnan(found.vote_share)


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
    found = count_votes(table)
    assert [a.agreed for a in found.agreements] == [2, 2]
    assert "less is better for HammingLoss" in document_of(found).tables[0].notes


def test_measures_with_the_same_order_share_a_vote(tmp_path):
    """Ch 5.3: in set 3 AP and MNRO order the lists alike, and both have its 20 votes."""
    made = make_questionnaire("AP P@100 RR", questions=40, lists=5, relevant=1, size=30)
    shared = made.key["alike"]
    # One relevant item: AP and RR always agree; P@100 sees no difference at all.
    assert shared == {str(q): [["AP", "RR"]] for q in range(1, 41)}
    key = made.write(tmp_path).files[1]
    ticks = {
        q: [next(m for m, name in methods.items() if name == "RR")]
        for q, methods in made.key["key"].items()
    }
    (tmp_path / "a.json").write_text(json.dumps({"answers": ticks}))
    found = tally(key, [tmp_path / "a.json"])
    assert {c.option: c.votes for c in found.choices} == {
        "AP": 40,
        "P@100": 0,
        "RR": 40,
        "OTHER": 0,
    }
    assert all(row.choice == ("AP", "RR") for row in found.rows)
    # Who ticks both still has one vote for each.
    both = {q: [m for m, name in made.key["key"][q].items() if name != "P@100"] for q in ticks}
    (tmp_path / "b.json").write_text(json.dumps({"answers": both}))
    assert tally(key, [tmp_path / "b.json"]).choices == found.choices


def test_answers_that_are_there_twice_and_questions_without_one_are_told(tmp_path):
    key = make_questionnaire(questions=3).write(tmp_path).files[1]
    texts = {
        "a": {"1": ["Method 1"], "2": ["Method 2"], "3": ["none"]},
        "b": {"1": ["Method 1"], "2": ["Method 2"], "3": ["none"]},
        "c": {"1": ["Method 3"], "2": []},
    }
    for name, answers in texts.items():
        (tmp_path / name).write_text(json.dumps({"answers": answers}))
    found = tally(key, [tmp_path / name for name in texts])
    said = [line.replace(f"{tmp_path}/", "") for line in found.notes]
    assert said == [
        "b: the same answers as in a; all of them are counted",
        "c: no answer to question 2, 3",
    ]
    assert found.to_dict()["notes"] == list(found.notes)
    assert sum(c.votes for c in found.choices) == 7


def test_answers_of_the_page_count_as_those_that_were_ticked_in_a_file(tmp_path):
    """One page for all surveys; answers that an older page has saved are counted as before."""
    lists = make_questionnaire("AP NMRR MNRO", questions=4, rng=1)
    sets = make_concept_survey(*annotations(), "F.example HammingLoss", questions=4, rng=3)
    said = (
        (lists, "methods", [["Method 1"], ["Method 2", "Method 3"], ["none"], ["Method 3"]]),
        (sets, "better", [["Set 1"], ["Set 2"], ["both"], ["Set 1"]]),
    )
    for k, (made, question, chosen) in enumerate(said):
        files = write_survey(made, tmp_path / str(k)).files
        key, old, new = files[2], tmp_path / "old.json", tmp_path / "new.json"
        ticks = {str(q): v for q, v in enumerate(chosen, 1)}
        filled = [UnitAnswers(unit, {question: v}) for unit, v in ticks.items()]
        about = {} if made.sheet.about is None else {"age": ["40"], "education": ["other"]}
        response = response_of(made.sheet, "ann", filled, about)
        new.write_text(json.dumps(response.to_dict()))
        both = {unit: ["Set 1", "Set 2"] if v == ["both"] else v for unit, v in ticks.items()}
        old.write_text(json.dumps({"respondent": "ann", "answers": both}))
        assert tally(key, [new]).to_dict() == tally(key, [old]).to_dict()
        assert main(["survey", "count", key, str(new), "--quiet"]) == 0
