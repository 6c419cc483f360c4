"""Surveys from the page to the table: the numbers of the papers come out of answers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import kendalltau

import cranfield as cf
from cranfield.agreement.card_sorting import study_groups
from cranfield.campaign.annotation_task import (
    UnitAnswers,
    data_address,
    read_response,
    response_of,
)
from cranfield.campaign.forms import NONE
from cranfield.campaign.surveys.making import count_survey, make_survey, unblind_survey
from cranfield.campaign.surveys.measures import make_questionnaire
from cranfield.campaign.surveys.preference import CLASSES, LAST, class_of, make_concept_survey
from cranfield.campaign.surveys.ratings import (
    association_survey,
    category_survey,
    count_relatedness,
    ranking_survey,
    relatedness_survey,
)
from cranfield.campaign.surveys.sorting import (
    grouping_survey,
    hierarchy_survey,
    tagging_survey,
)
from cranfield.cli import main
from cranfield.data.categories import CategoryGraph
from cranfield.data.costmap import CostMap
from cranfield.data.item_vectors import ItemVectors
from cranfield.data.labels import LabelMatrix
from cranfield.errors import InputError, UsageError
from cranfield.io.concepts import read_pairs
from cranfield.io.samples import SAMPLE
from cranfield.report.document import document_of
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
    survey = make_questionnaire("AP NMRR MNRO", questions=10, rng=2)
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
    survey = make_questionnaire("AP NMRR MNRO", questions=3, rng=1)
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
    survey = make_concept_survey(
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
        response_of(survey.sheet, f"s{k}", [UnitAnswers("0001", {"category": [c]})])
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


def test_ratings_show_what_was_asked_with_and_no_id(tmp_path):
    """Text and picture of the query beside each item; the ids, which name the class, nowhere."""
    folder = tmp_path / "kept"
    (folder / "pictures").mkdir(parents=True)
    picture = (SAMPLE.parent / "photos" / "pictures").glob("*.jpg")
    for name, source in zip(("cat_1", "cat_2", "dog_1"), picture, strict=False):
        (folder / "pictures" / f"{name}.jpg").write_bytes(source.read_bytes())
    (folder / "topics.csv").write_text("topic,text,item\nt1,a sleeping animal,cat_1\n")
    (folder / "collection.toml").write_text(
        'name = "kept"\npictures = "pictures"\ntopics = "topics.csv"\n'
    )
    run = tmp_path / "a.run"
    run.write_text("t1 Q0 cat_2 1 2 a\nt1 Q0 dog_1 2 1 a\n")
    survey = make_survey("rankings", runs=[run], collection=folder)
    example = data_address(folder / "pictures" / "cat_1.jpg")
    assert {(u.topic, u.query) for u in survey.sheet.units} == {("a sleeping animal", example)}
    assert {u.picture for u in survey.sheet.units} == {
        data_address(folder / "pictures" / f"{item}.jpg") for item in ("cat_2", "dog_1")
    }
    page = sheet_page(survey.sheet)
    assert "a sleeping animal" in page
    assert not any(item in page for item in ("cat_1", "cat_2", "dog_1"))
    by_example = tmp_path / "b.run"
    by_example.write_text("cat_1 Q0 cat_2 1 2 b\n")
    pictures = folder / "pictures"
    asked = make_survey("rankings", runs=[by_example], pictures=pictures).sheet.units[0]
    assert (asked.query, asked.topic) == (example, "")


def test_ids_of_items_tell_no_category(tmp_path):
    (tmp_path / "cats.csv").write_text("category,parent\nanimal,\ncat,animal\ndog,animal\n")
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for name, source in zip(
        ("cat_1", "dog_1"), (SAMPLE.parent / "photos" / "pictures").glob("*.jpg"), strict=False
    ):
        (pictures / f"{name}.jpg").write_bytes(source.read_bytes())
    survey = make_survey("categories", categories_file=tmp_path / "cats.csv", pictures=pictures)
    page = sheet_page(survey.sheet)
    assert "cat_1" not in page
    assert "dog_1" not in page
    filled = [UnitAnswers(u.name, {"category": ["cat"]}) for u in survey.sheet.units]
    counted = count_survey(survey.key, [response_of(survey.sheet, "p", filled)])
    assert {row[1] for row in counted.rows} == {"cat_1", "dog_1"}


def test_concept_sets_stand_beside_their_photograph(tmp_path):
    items = [p.stem for p in sorted((SAMPLE.parent / "photos" / "pictures").glob("*.jpg"))[:4]]
    truth, first, second = tmp_path / "t.csv", tmp_path / "a.csv", tmp_path / "b.csv"
    for path, row in ((truth, "1,1,0"), (first, "1,0,0"), (second, "0,0,1")):
        path.write_text("item,A,B,C\n" + "".join(f"{item},{row}\n" for item in items))
    survey = make_survey(
        "preference",
        truth=truth,
        runs=[first, second],
        questions=3,
        pictures=SAMPLE.parent / "photos" / "pictures",
    )
    asked = [u for u in survey.sheet.units if u.name != LAST]
    assert all(u.picture.startswith("data:image/jpeg") for u in asked)
    assert not any(item in u.text for u in asked for item in items)


def test_cards_are_sorted_and_the_agreement_is_that_of_the_people(tmp_path):
    """Three people with four cards; the adjusted Rand indices are worked out by hand."""
    survey = grouping_survey(["cat", "dog", "oak", "elm"], rng=3)
    card_of = {item: card for card, item in survey.key["cards"].items()}
    sorts = {
        "ann": ({"cat": 1, "dog": 1, "oak": 2, "elm": 2}, ["animals\ntrees/wood"]),
        "bob": ({"cat": 2, "dog": 2, "oak": 1, "elm": 1}, []),
        "cid": ({"cat": 1, "oak": 1, "dog": 2, "elm": 2}, []),
    }
    said = []
    for person, (groups, names) in sorts.items():
        answers = {"groups": [f"{card_of[i]}={g}" for i, g in groups.items()]}
        if names:
            answers["names"] = names
        said.append(response_of(survey.sheet, person, [UnitAnswers("cards", answers)]))
    counted = count_survey(survey.key, said)
    assert counted.columns == ("subject", "item", "group")
    assert ("ann", "dog", "animals") in counted.rows
    assert ("ann", "elm", "trees-wood") in counted.rows
    assert ("bob", "elm", "group 1") in counted.rows
    file = tmp_path / "groups.csv"
    file.write_text("\n".join(",".join(row) for row in (counted.columns, *counted.rows)))
    study = study_groups(file)
    assert study.closeness("cat", "dog") == pytest.approx(2 / 3)
    assert study.closeness("cat", "oak") == pytest.approx(1 / 3)
    assert study.closeness("cat", "elm") == 0
    rand = {frozenset(pair[:2]): pair[2] for pair in study.agreement}
    assert rand[frozenset({"ann", "bob"})] == 1
    # 6 pairs, 2 together for each, none for both: (0 - 2/3) / (2 - 2/3).
    assert rand[frozenset({"ann", "cid"})] == pytest.approx(-0.5)
    with pytest.raises(UsageError, match="a group for each"):
        response_of(survey.sheet, "d", [UnitAnswers("cards", {"groups": ["c1=1"]})])


def test_words_of_peoples_own_come_back_as_tags():
    survey = tagging_survey(["a", "b"], texts={"a": "A text", "b": "B text"})
    unit_of = {item: unit for unit, item in survey.key["items"].items()}
    filled = [
        UnitAnswers(unit_of["a"], {"tags": ["Blue  Sky, sea; blue sky"]}),
        UnitAnswers(unit_of["b"], {"tags": ["sea"]}),
    ]
    counted = count_survey(survey.key, [response_of(survey.sheet, "ann", filled)])
    assert counted.rows == (("ann", "a", "blue sky"), ("ann", "a", "sea"), ("ann", "b", "sea"))
    each = unblind_survey(survey.key, [response_of(survey.sheet, "ann", filled)])
    assert [row[:5] for row in each.rows][1] == ("ann", unit_of["b"], "b", "tags", "sea")


def test_concepts_are_sorted_into_a_tree_without_circles():
    survey = hierarchy_survey(["Water", "Sea", "Lake", "Sky"])
    tree = ["Water=top", "Sea=Water", "Lake=Water", "Sky=top"]
    said = response_of(survey.sheet, "ann", [UnitAnswers("tree", {"tree": tree})])
    assert set(count_survey(survey.key, [said]).rows) == {
        ("ann", "Water", "Water"),
        ("ann", "Sea", "Water"),
        ("ann", "Lake", "Water"),
        ("ann", "Sky", "Sky"),
    }
    for circle in (["Water=Sea", *tree[1:]], ["Water=Water", *tree[1:]]):
        with pytest.raises(UsageError, match="is below itself"):
            response_of(survey.sheet, "ann", [UnitAnswers("tree", {"tree": circle})])
    with pytest.raises(UsageError, match="called 'top'"):
        hierarchy_survey(["top", "Sea"])


def test_own_orders_are_correlated_with_each_measure_and_answers_are_unblinded():
    """One person orders as AP does and one the other way round; a third gives no order."""
    survey = make_questionnaire("AP NMRR", questions=3, rng=1)
    about = {"age": ["30"], "education": ["student"]}
    said = []
    for person, sign in (("ann", 1), ("bob", -1)):
        filled = []
        for unit in survey.key["units"]:
            places = survey.key["places"][unit]["AP"]
            turned = {name: place if sign > 0 else 6 - place for name, place in places.items()}
            own = [f"{name}={place}" for name, place in turned.items()]
            filled.append(UnitAnswers(unit, {"methods": ["Method 1"], "own": own}))
        said.append(response_of(survey.sheet, person, filled, about))
    plain = [UnitAnswers(unit, {"methods": ["Method 1"]}) for unit in survey.key["units"]]
    said.append(response_of(survey.sheet, "cid", plain, about))
    ap, nmrr = count_survey(survey.key, said).own_orders
    assert (ap.measure, ap.people, ap.orders) == ("AP", 2, 6)
    assert ap.tau == pytest.approx(0)
    # Each person is drawn whole: the interval reaches from all of one to all of the other.
    assert ap.interval == pytest.approx((-1, 1))
    (alone,) = [o for o in count_survey(survey.key, said[:1]).own_orders if o.measure == "NMRR"]
    expected = [
        kendalltau(*(list(survey.key["places"][u][m].values()) for m in ("AP", "NMRR"))).statistic
        for u in survey.key["units"]
    ]
    assert alone.tau == pytest.approx(np.mean(expected))
    assert nmrr.tau == pytest.approx(0)
    each = unblind_survey(survey.key, said)
    first = [row for row in each.rows if row[:2] == ("ann", "1") and row[3] == "methods"]
    assert first[0][4] == survey.key["key"]["1"]["Method 1"]
