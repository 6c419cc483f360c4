"""Surveys from the page to the table: the numbers of the papers come out of answers."""

from __future__ import annotations

import json

import numpy as np
import pytest

import cranfield as cf
from cranfield.campaign.annotation_task import UnitAnswers, read_response, response_of
from cranfield.campaign.forms import NONE
from cranfield.campaign.surveys.categories import category_survey
from cranfield.campaign.surveys.counting import count_survey
from cranfield.campaign.surveys.measures import measure_survey
from cranfield.campaign.surveys.preference import CLASSES, LAST, class_of, preference_survey
from cranfield.campaign.surveys.rated import (
    association_survey,
    count_relatedness,
    ranking_survey,
    relatedness_survey,
)
from cranfield.cli import main
from cranfield.data.categories import CategoryGraph
from cranfield.data.costmap import CostMap
from cranfield.data.item_vectors import ItemVectors
from cranfield.data.labels import LabelMatrix
from cranfield.errors import InputError, UsageError
from cranfield.io.pairs import read_pairs
from cranfield.report.tables import document_of
from cranfield.site.work_pages import sheet_page

# Ch Table 4: votes for AP, NMRR, MNRO and an own order.
TABLE_4 = [
    (5, 9, 13, 3),
    (8, 10, 12, 0),
    (20, 6, 20, 4),
    (8, 20, 20, 2),
    (8, 10, 10, 2),
    (10, 4, 14, 2),
    (7, 10, 11, 2),
    (6, 9, 13, 2),
    (14, 14, 14, 2),
    (4, 17, 8, 1),
]
# No Table 9.5: votes for system 1, system 2, both.
TABLE_9_5 = [
    (16, 2, 2),
    (12, 6, 2),
    (8, 9, 3),
    (17, 3, 0),
    (14, 4, 2),
    (3, 12, 5),
    (7, 11, 2),
    (7, 10, 3),
    (7, 12, 1),
    (0, 5, 4),
]


def handed_out(counts, people):
    """A set of choices for each person that is counted as wanted; an own order is alone."""
    *methods, other = counts
    given = [{3} for _ in range(other)] + [set() for _ in range(people - other)]
    turn = 0
    for choice, count in enumerate(methods):
        for _ in range(count):
            given[other + turn % (people - other)].add(choice)
            turn += 1
    return given


def through_a_file(tmp_path, response):
    file = tmp_path / f"{response.annotator}.json"
    file.write_text(json.dumps(response.to_dict()))
    return read_response(file)


def test_the_survey_of_measures_gives_tables_3_and_4(tmp_path):
    """30 students, 10 questions, ages of mean 22 and deviation 1.387, 18 minutes of 4.671."""
    survey = measure_survey("AP NMRR MNRO", questions=10, rng=2)
    # Every tick is counted as it is: also where two measures happen to order the lists alike.
    key = {**survey.key, "alike": {}}
    names = ("AP", "NMRR", "MNRO")
    choices = [handed_out(counts, 30) for counts in TABLE_4]
    # Who orders otherwise has chosen no method; the paper's counts leave none of them over.
    spread = np.array([-1.0, 1.0] * 15)
    unit = spread / spread.std(ddof=1)
    ages, minutes = 22 + 1.3870 * unit, 18 + 4.6710 * unit
    responses = []
    for person in range(30):
        filled = []
        for question, (number, hidden) in enumerate(survey.key["key"].items()):
            method = {measure: shown for shown, measure in hidden.items()}
            picked = choices[question][person]
            answers = {"methods": [method[names[c]] for c in sorted(picked) if c < 3]}
            if 3 in picked:
                answers = {"methods": [NONE], "own": [f"{n}={k}" for k, n in enumerate("ABCDE", 1)]}
            filled.append(UnitAnswers(number, answers, seconds=60 * minutes[person] / 10))
        about = {"age": [f"{ages[person]:.6f}"], "education": ["student"]}
        made = response_of(survey.sheet, f"p{person}", filled, about)
        responses.append(through_a_file(tmp_path, made))
    found = count_survey(key, responses)
    assert [tuple(map(int, row.votes)) for row in found.rows] == TABLE_4
    assert {c.option: c.votes for c in found.choices} == {
        "AP": 90,
        "NMRR": 109,
        "MNRO": 135,
        "OTHER": 20,
    }
    assert found.rows[9].choice == ("NMRR",)
    who = found.respondents
    assert (who.people, who.questions, who.education) == (30, 10, "student 30")
    assert (who.age, who.minutes) == (pytest.approx(22), pytest.approx(18))
    assert who.age_deviation == pytest.approx(1.3870, abs=1e-4)
    assert who.minutes_deviation == pytest.approx(4.6710, abs=1e-4)
    assert "Who answered" in str(found)
    assert found.notes == ("20 own orders were given, 20 times no method was chosen",)


def test_values_and_places_stand_beside_every_list_and_tell_nothing():
    survey = measure_survey("AP NMRR MNRO", questions=3, rng=1)
    page = sheet_page(survey.sheet)
    for name in ("NMRR", "MNRO", "MAP"):
        assert name not in page
    orders = {tuple(hidden.values()) for hidden in survey.key["key"].values()}
    assert len(orders) > 1
    grid = survey.sheet.units[0].grid
    assert len(grid.rows) == 5
    for column in range(2, 5):
        cells = [tuple(map(float, row[column].split(", "))) for row in grid.rows]
        assert [p for _, p in sorted(cells)] == sorted(p for _, p in cells)
    with pytest.raises(UsageError, match="age"):
        response_of(survey.sheet, "p", [])


def concept_sets():
    """A truth and two runs whose best concepts are as often right and differently wrong."""
    rng = np.random.default_rng(2)
    concepts = [f"c{k}" for k in range(8)]
    items = [f"i{k}" for k in range(60)]
    truth = rng.random((60, 8)) < 0.4
    truth[:, 0] |= ~truth.any(axis=1)
    runs = {}
    for name in ("one", "two"):
        sure = truth * 0.25 + rng.random(truth.shape) * 0.75
        runs[name] = LabelMatrix.of(sure, items=items, concepts=concepts)
    costs = rng.random((8, 8))
    costs = (costs + costs.T) / 2
    np.fill_diagonal(costs, 0)
    return LabelMatrix.of(truth, items=items, concepts=concepts), runs, CostMap.of(concepts, costs)


def test_the_survey_of_concept_sets_gives_table_9_5(tmp_path):
    truth, runs, costs = concept_sets()
    survey = preference_survey(
        truth, runs, "SRP", alike="Rprec.example", costmap=costs, questions=10, rng=4
    )
    systems = ("one", "two")
    responses = []
    for person in range(20):
        filled = []
        for question, (number, hidden) in enumerate(survey.key["key"].items()):
            one, two, both = TABLE_9_5[question]
            shown = {system: s for s, system in hidden.items()}
            turn = person
            if turn < one:
                answers = {"better": [shown[systems[0]]]}
            elif turn < one + two:
                answers = {"better": [shown[systems[1]]]}
            else:
                answers = {"better": ["both"]} if turn < one + two + both else {}
            filled.append(UnitAnswers(number, answers))
        filled.append(UnitAnswers(LAST, {"words": ["they all match"]} if person < 3 else {}))
        made = response_of(survey.sheet, f"t{person}", filled)
        responses.append(through_a_file(tmp_path, made))
    found = count_survey(survey.key, responses)
    assert [tuple(map(int, row.votes)) for row in found.rows] == TABLE_9_5
    scores = found.scores["SRP"]
    decided = [k for k, (one, two, _) in enumerate(TABLE_9_5) if one != two]
    agreed = sum(
        (TABLE_9_5[k][0] > TABLE_9_5[k][1]) == (scores[k][0] > scores[k][1]) for k in decided
    )
    assert found.of("SRP").agreed == agreed
    assert found.expectations == (("they all match", "correct matches"),) * 3
    assert all(n >= 1 for n in found.wrong)
    table = next(t for t in document_of(found).tables if t.title == "Scores beside votes")
    assert list(table.rows[0])[-3:] == [16, 2, 2]


def test_expectations_as_the_thesis_groups_them():
    """Table 9.6, by words alone."""
    table = {
        "the image should contain all things searched for": CLASSES[0],
        "I expect the results to be relevant": CLASSES[0],
        "they all match": CLASSES[0],
        "I expect the system at least shows two of the elements": CLASSES[1],
        "no expectations!": CLASSES[2],
        "the focus of the picture": CLASSES[3],
    }
    assert {text: class_of(text) for text in table} == table


def rated_by(survey, who, rate):
    filled = [
        UnitAnswers(u, {"rating": [str(rate(*survey.key["pairs"][u]))]})
        for u in survey.key["pairs"]
    ]
    return response_of(survey.sheet, who, filled)


def test_ratings_of_words_become_human_data_that_relatedness_reads(tmp_path, capsys):
    """No 8.5.2: a scale from 0 to 4, a word with itself as a check, the mean of each pair."""
    pairs = [("water", "river"), ("clouds", "sky"), ("sea", "party"), ("sunset", "family")]
    survey = relatedness_survey(pairs, attention=2, rng=1)
    assert sum(a == b for a, b in survey.key["pairs"].values()) == 2
    assert [u.name for u in survey.sheet.units] != survey.key["units"]
    close = {("water", "river"), ("clouds", "sky")}

    def honest(a, b):
        return 4 if a == b else 3 if (a, b) in close else 1

    files = []

    def kind(a, b):
        return min(4, honest(a, b) + 1)

    def asleep(*_):
        return 0

    for number, rate in enumerate([honest, kind, asleep]):
        response = rated_by(survey, f"p{number}", rate)
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(json.dumps(response.to_dict()))
    half = response_of(survey.sheet, "half", [UnitAnswers("001", {"rating": ["2"]})])
    files.append(tmp_path / "half.json")
    files[-1].write_text(json.dumps(half.to_dict()))
    (tmp_path / "key.json").write_text(json.dumps(survey.key))
    human = tmp_path / "human.csv"
    asked = ["survey", "count", str(tmp_path / "key.json"), *map(str, files)]
    assert main([*asked, "--format", "csv", "-o", str(human)]) == 0
    told = capsys.readouterr().err
    assert "a word is not related to itself" in told
    assert "pairs are not rated" in told
    found = {(p.word1, p.word2): p.human for p in read_pairs(human)}
    assert found["water", "river"] == 3.5
    assert found["sea", "party"] == 1.5
    # The words that were paired with themselves as a check are no data.
    assert set(found) == set(pairs)


def test_a_given_pair_of_a_word_with_itself_is_data_and_a_check():
    """No Table 8.3 has night-night among its 30 pairs, and the survey rejects by it."""
    survey = relatedness_survey([("night", "night"), ("water", "river")], attention=3, rng=1)
    people = [rated_by(survey, "looks", lambda a, b: 4 if a == b else 3)]
    people.append(rated_by(survey, "sleeps", lambda a, b: 0 if a == b == "night" else 4))
    counted = count_relatedness(survey.key, people)
    assert [row[:3] for row in counted.rows] == [("night", "night", 4.0), ("water", "river", 3.0)]
    # Keys that were made before do not tell the checks from the pairs; these count as before.
    older = {name: value for name, value in survey.key.items() if name != "attention"}
    assert len(count_relatedness(older, people).rows) == 4


def test_votes_for_categories_are_read_by_uncertain(tmp_path):
    """Santini's example: 2 people, 1 crowd, 2 city."""
    graph = CategoryGraph.from_pairs([("people", "all"), ("crowd", "people"), ("city", "all")])
    survey = category_survey(graph, ["image"])
    shown = [o.value for q in survey.sheet.forms["form"].questions() for o in q.options]
    assert sorted(shown) == ["city", "crowd", "people"]
    said = ["people", "people", "crowd", "city", "city"]
    responses = [
        response_of(survey.sheet, f"s{k}", [UnitAnswers("image", {"category": [c]})])
        for k, c in enumerate(said)
    ]
    file = tmp_path / "votes.csv"
    rows = count_survey(survey.key, responses)
    file.write_text("subject,item,category\n" + "".join(",".join(r) + "\n" for r in rows.rows))
    votes = cf.read_category_votes(file, graph)
    assert rows.columns == ("subject", "item", "category")
    assert "image" in str(votes.items)


def test_ratings_of_items_become_subjects_rankings(tmp_path):
    survey = ranking_survey({"t1": ["a", "b"], "t2": ["c"]}, top=4, rng=2)
    grades = {("t1", "a"): 4, ("t1", "b"): 1, ("t2", "c"): 0}
    rows = count_survey(survey.key, [rated_by(survey, "s", lambda t, i: grades[t, i])])
    assert rows.rows == (("s", "t1", "a", 1.0), ("s", "t1", "b", 0.25))
    file = tmp_path / "people.csv"
    head = ",".join(rows.columns)
    file.write_text(head + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows.rows))
    assert cf.read_subject_rankings(file).subjects == ("s",)


def clusters():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, 6)) * 3
    vectors = np.vstack([c + rng.normal(size=(10, 6)) * 0.3 for c in centres])
    return ItemVectors.of([f"i{k:02d}" for k in range(40)], vectors)


def test_people_who_see_what_the_index_sees_are_told_from_those_who_do_not():
    """Ro 3: neighbours are rated above drawn pairs, or no better than them."""
    survey = association_survey(clusters(), pairs=20, near=3, rng=1)
    kinds = [row[2] for row in survey.key["pairs"].values()]
    assert kinds.count("near") == kinds.count("drawn") <= 20
    rng = np.random.default_rng(3)

    def sees(a, b, how, cosine):
        return 4 if int(a[1:]) // 10 == int(b[1:]) // 10 else int(rng.integers(0, 2))

    def blind(a, b, how, cosine):
        return int(rng.integers(0, 5))

    seen = count_survey(survey.key, [rated_by(survey, f"p{k}", sees) for k in range(3)])
    assert seen.near > 0.95
    assert seen.told > 0.8
    assert seen.told_interval[0] > 0.5
    assert seen.spearman > 0.5
    nothing = count_survey(survey.key, [rated_by(survey, f"p{k}", blind) for k in range(3)])
    assert nothing.told_interval[0] < 0.5 < nothing.told_interval[1]
    assert "Association of neighbours" in str(seen)


def test_answers_to_something_else_are_refused(tmp_path):
    survey = relatedness_survey([("a", "b"), ("c", "d")])
    other = relatedness_survey([("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")])
    good = rated_by(survey, "p", lambda *_: 4)
    with pytest.raises(InputError, match="does not answer the survey"):
        count_survey(survey.key, [rated_by(other, "p", lambda *_: 4)])
    with pytest.raises(UsageError, match="answers once"):
        count_survey(survey.key, [good, good])
    with pytest.raises(UsageError, match="no answers"):
        count_survey(survey.key, [])
    with pytest.raises(InputError, match="not the whole key"):
        count_survey({k: v for k, v in survey.key.items() if k != "top"}, [good])
    with pytest.raises(UsageError, match="twice"):
        relatedness_survey([("a", "b"), ("b", "a")])
    file = tmp_path / "key.json"
    file.write_text("[]")
    with pytest.raises(InputError, match=r"not the key\.json"):
        count_survey(file, [good])
