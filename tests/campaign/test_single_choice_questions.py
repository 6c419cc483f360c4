"""Questions with one answer are categories from the platform's file to the coefficients."""

from __future__ import annotations

import json
from collections import Counter

import pytest

import cranfield as cf
from cranfield.cli import main

# Three people on six items: one of three categories each.
ANSWERS = {
    "i1": ("cat", "cat", "cat"),
    "i2": ("cat", "dog", "cat"),
    "i3": ("dog", "dog", "dog"),
    "i4": ("owl", "dog", "cat"),
    "i5": ("owl", "owl", "dog"),
    "i6": ("cat", "cat", "dog"),
}


def fleiss(answers):
    """Fleiss (1971) by its definition."""
    counts = [Counter(labels) for labels in answers.values()]
    raters = len(next(iter(answers.values())))
    observed = [
        sum(n * (n - 1) for n in count.values()) / (raters * (raters - 1)) for count in counts
    ]
    total = sum(counts, Counter())
    chance = sum((n / (raters * len(counts))) ** 2 for n in total.values())
    return (sum(observed) / len(counts) - chance) / (1 - chance)


def write_label_studio(path, answers, control="animal"):
    tasks = [
        {
            "id": n,
            "data": {"item": item},
            "annotations": [
                {
                    "completed_by": person,
                    "result": [
                        {"from_name": control, "type": "choices", "value": {"choices": [label]}}
                    ],
                }
                for person, label in enumerate(labels)
            ],
        }
        for n, (item, labels) in enumerate(answers.items())
    ]
    path.write_text(json.dumps(tasks))
    return path


def write_mturk(path, answers, columns=("animal",)):
    heads = ",".join(f"Answer.{column}" for column in columns)
    rows = [
        f"{item},W{person},{item}," + ",".join([label] * len(columns))
        for item, labels in answers.items()
        for person, label in enumerate(labels)
    ]
    path.write_text("\n".join([f"HITId,WorkerId,Input.item,{heads}", *rows]) + "\n")
    return path


@pytest.mark.parametrize("kind", ["label-studio", "mturk"])
def test_kappa_is_that_of_categories(tmp_path, kind, capsys):
    if kind == "mturk":
        file = write_mturk(tmp_path / "batch.csv", ANSWERS)
    else:
        file = write_label_studio(tmp_path / "export.json", ANSWERS)
    responses = cf.read_forms([file])
    log = responses.log
    assert (log.kind, log.values, len(log)) == ("category", ("cat", "dog", "owl"), 18)
    overall = cf.assess_agreement(log).overall.values
    assert overall["fleiss"] == pytest.approx(fleiss(ANSWERS), abs=1e-12)
    assert any("exclusive categories: animal" in note for note in responses.notes)
    # And the file that the command writes is the same log.
    target = tmp_path / "log.csv"
    assert main(["form", "read", str(file), "-o", str(target), "--quiet"]) == 0
    capsys.readouterr()
    again = cf.read_judgement_log(target)
    assert sorted(again.rows()) == sorted(log.rows())
    truth = cf.aggregate_judgements(log)
    assert {row["item"]: row["category"] for row in truth.rows()} == {
        "i1": "cat",
        "i2": "cat",
        "i3": "dog",
        "i4": "undecided",
        "i5": "owl",
        "i6": "cat",
    }


def test_two_questions_may_share_answers(tmp_path, capsys):
    file = write_mturk(tmp_path / "batch.csv", ANSWERS, ("seen", "expected"))
    log = cf.read_forms([file]).log
    assert log.header == ("annotator", "item", "question", "category")
    target = tmp_path / "log.csv"
    assert main(["form", "read", str(file), "-o", str(target), "--quiet"]) == 0
    again = cf.read_judgement_log(target)
    assert again.concepts == ("seen", "expected")
    rows = {row.name: row.values for row in cf.assess_agreement(again).concepts}
    for question in ("seen", "expected"):
        assert rows[question]["fleiss"] == pytest.approx(fleiss(ANSWERS), abs=1e-12)
    truth = list(cf.aggregate_judgements(again).rows())
    assert [row["question"] for row in truth[:2]] == ["seen", "expected"]
    assert {row["category"] for row in truth if row["item"] == "i4"} == {"undecided"}
    capsys.readouterr()
    assert main(["aggregate", str(target), "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("item,question,category,probability\n")


def test_a_second_answer_to_one_question_is_a_repetition(tmp_path):
    file = tmp_path / "log.csv"
    file.write_text("annotator,item,question,category\na,i,q,yes\na,i,r,yes\na,i,q,no\n")
    with pytest.raises(cf.InputError, match=r"log\.csv:4: duplicate .* question 'q'"):
        cf.read_judgement_log(file)


def test_rules_keep_answers_as_concepts(tmp_path):
    file = write_mturk(tmp_path / "batch.csv", ANSWERS)
    log = cf.read_forms([file], concepts=["cat", "dog", "owl"]).log
    assert (log.kind, log.concepts) == ("concept", ("cat", "dog", "owl"))


def test_known_answers_name_the_question_as_the_log_does(tmp_path):
    log_file, gold = tmp_path / "log.csv", tmp_path / "gold.csv"
    rows = [f"{p},{i},{q},{a}" for p in "ab" for i in "xyz" for q, a in (("q", "1"), ("r", "2"))]
    log_file.write_text("annotator,item,question,category\n" + "\n".join(rows) + "\n")
    gold.write_text("item,question,category\nx,q,1\ny,r,2\n")
    arguments = ["aggregate", str(log_file), "--method", "dawid-skene", "--gold", str(gold)]
    assert main([*arguments, "--quiet"]) == 0
    gold.write_text("item,category\nx,1\n")
    assert main([*arguments, "--quiet"]) == 2
