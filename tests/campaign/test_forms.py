"""Forms from ontologies: what they ask, what they accept, and what an answer means."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield.campaign.forms import (
    NONE,
    TEXT,
    Form,
    Option,
    Question,
    Tab,
    actions_of,
    grade_form,
    items_with_concepts,
    ontology_form,
)
from cranfield.data.labels import LabelMatrix
from cranfield.data.ontology import RuleBook
from cranfield.errors import InputError, UsageError
from cranfield.io.concepts import built_in_meanings, read_meanings
from cranfield.io.ontology import read_ontology
from cranfield.io.samples import SAMPLE
from cranfield.ontologies import built_in

PTO = built_in("pto-2009-listed")
DIGITS = read_ontology(SAMPLE / "ontology.csv", rules=SAMPLE / "rules.toml")
FORMS = {"pto": ontology_form(PTO), "digits": ontology_form(DIGITS)}
ONTOLOGIES = {"pto": PTO, "digits": DIGITS}


def good(form):
    """The least that the form takes: the last option of each question that needs an answer."""
    return {q.name: [q.options[-1].value] for q in form.questions() if q.needed}


def test_the_photo_tagging_ontology_asks_as_the_tool_of_the_thesis_did():
    """No 6.2.1: radio buttons for exclusive concepts, check boxes for optional ones."""
    form = FORMS["pto"]
    kinds = [q.kind for q in form.questions()]
    assert kinds.count("one") == 6
    assert sorted(v for q in form.questions() for v in q.values) == sorted(PTO.concepts)
    assert all(q.needed for q in form.questions() if q.kind == "one")
    place = form.question("Indoor")
    assert (place.title, place.values) == ("Place", ("Indoor", "Outdoor", "No_Visual_Place"))
    # "Time of Day" mixed both kinds and confused people (6.2.2): here they are two fieldsets.
    assert form.question("Day").values == ("Day", "Night", "No_Visual_Time")
    assert form.question("Sunny").kind == "any"
    assert form.question("Sunny").title == "Time Of Day: and also"
    assert len(form.tabs) == 5


def test_what_a_group_decides_is_not_asked_again():
    """Whoever says which digit it is has said whether it is even."""
    form = FORMS["digits"]
    asked = {v for q in form.questions() for v in q.values}
    assert asked == set(DIGITS.concepts) - {"Even", "Odd"}
    said = form.labels({"Zero": ["Two"], "Prime": ["Prime"], "HasLoop": [NONE]})
    assert {c for c, v in said.items() if v} == {"Two", "Even", "Prime"}
    assert set(said) == set(DIGITS.concepts)


def test_a_group_left_empty_is_named_with_its_question():
    form = FORMS["pto"]
    answers = good(form)
    assert form.check(answers) == ()
    for question in [q for q in form.questions() if q.needed]:
        problems = form.check({k: v for k, v in answers.items() if k != question.name})
        assert [p.question for p in problems] == [question.name]
        assert problems[0].message == f'"{question.title}" needs exactly one answer'
    assert len(form.check({})) == 6


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_what_a_form_accepts_keeps_the_rules_of_its_ontology(name, data):
    """Whatever is ticked: no problem means no broken rule, and a whole log row for each concept."""
    form, ontology = FORMS[name], ONTOLOGIES[name]
    answers = {}
    for question in form.questions():
        values = [*question.values, *([NONE] if question.none else [])]
        most = 1 if question.kind == "one" else 4
        ticked = data.draw(st.lists(st.sampled_from(values), max_size=most, unique=True))
        if ticked:
            answers[question.name] = ticked
    problems = form.check(answers)
    labels = form.labels(answers)
    chosen = [c for c, v in labels.items() if v]
    broken = RuleBook.of(ontology, form.concepts).broken(chosen)
    none_and_more = any(NONE in given and len(given) > 1 for given in answers.values())
    assert bool(problems) == (broken is not None or none_and_more)
    assert tuple(labels) == form.concepts
    for problem in problems:
        assert problem.question == "" or form.question(problem.question)


@pytest.mark.parametrize("name", FORMS)
def test_forms_travel_as_json_and_keep_their_name(name):
    form = FORMS[name]
    again = Form.from_dict(form.to_dict())
    assert again == form
    assert again.sha == form.sha
    assert ontology_form(ONTOLOGIES[name], title="other").sha != form.sha
    with pytest.raises(UsageError, match="not a form"):
        Form.from_dict({"title": "x"})
    with pytest.raises(UsageError, match="not a form"):
        Form.from_dict(form.to_dict() | {"tabs": [{"title": "", "questions": [{"kind": "?"}]}]})


def test_every_option_of_a_tab_has_a_key_of_its_own():
    for form in FORMS.values():
        actions = set(actions_of(form).values())
        for tab in form.tabs:
            keys = [o.key for q in tab.questions for o in q.options if o.key]
            assert len(keys) == len(set(keys))
            assert not actions & set(keys)
    many = Tab("", (Question("q", "Q", "any", tuple(Option(str(k), "") for k in range(40))),))
    assert len(many.questions[0].options) == 40


def test_forms_gated_by_known_labels_want_at_least_one_or_none_or_words():
    """No 10.3.2: vehicle -> car, bicycle, ...; "at least one", "another?", "no vehicle shown"."""
    form = ontology_form(built_in("pto-2010-listed"), below="Vehicle")
    (question,) = form.questions()
    assert [v.lower() for v in question.values] == [
        "car",
        "bicycle",
        "ship",
        "train",
        "airplane",
        "skateboard",
    ]
    assert question.title == "Vehicle"
    name = question.name
    assert form.check({})[0].message == '"Vehicle" needs at least one answer'
    assert form.check({name: [NONE]}) == ()
    assert form.check({name: [], name + TEXT: ["a sledge"]}) == ()
    assert form.check({name: list(question.values)}) == ()
    assert "exclude each other" in form.check({name: [NONE, question.values[0]]})[0].message
    assert form.texts({name + TEXT: [" a sledge "]}) == {name: "a sledge"}
    assert form.labels({name: [NONE]}) == dict.fromkeys(question.values, 0)
    truth = LabelMatrix.of(
        np.array([[1, 0], [0, 1], [1, 1]]), items=["a", "b", "c"], concepts=["Vehicle", "Sky"]
    )
    assert items_with_concepts(["c", "b", "a", "z"], truth, ["Vehicle"]) == ("c", "a")
    with pytest.raises(UsageError, match="Did you mean 'Vehicle'"):
        items_with_concepts(["a"], truth, ["Vehicles"])
    with pytest.raises(UsageError, match="no concept"):
        ontology_form(PTO, below="Vehicl")
    with pytest.raises(UsageError, match="no concept below"):
        ontology_form(PTO, below="Food")


def test_answers_that_no_page_would_send():
    form = FORMS["pto"]
    answers = good(form)
    wrong = {
        "no question": {"Nowhere": ["x"]},
        "no answer 'Moon'": {"Indoor": ["Moon"]},
        "takes one answer": {"Indoor": ["Indoor", "Outdoor"]},
        "twice": {"Sunny": ["Sunny", "Sunny"]},
        "Portrait needs one of": {"Canvas": ["Portrait"]},
    }
    for words, more in wrong.items():
        assert words in form.check(answers | more)[0].message


def test_numbers_texts_and_orders():
    form = Form(
        "About you",
        (
            Tab(
                "",
                (
                    Question("age", "Age", "number", needed=True, least=1, most=120),
                    Question("why", "Why", "text", needed=True),
                    Question("own", "Order", "order", tuple(Option(c, c) for c in "AB")),
                ),
            ),
        ),
    )
    fine = {"age": ["22"], "why": ["so"]}
    assert form.check(fine) == ()
    assert form.check(fine | {"own": ["A=1", "B=1"]}) == ()
    for more, words in (
        ({"age": ["x"]}, "not a number from 1 to 120"),
        ({"age": ["500"]}, "not a number from 1 to 120"),
        ({"age": ["nan"]}, "not a number"),
        ({"age": []}, "needs a number"),
        ({"why": [" "]}, "needs an answer"),
        ({"why": ["x" * 3000]}, "longer than 2000"),
        ({"own": ["A=1"]}, "a place for each"),
        ({"own": ["A=1", "B=3"]}, "from 1 to 2"),
        ({"own": ["A=1", "C=2"]}, "places such as A=1"),
        ({"own": ["A1", "B2"]}, "places such as A=1"),
    ):
        assert words in form.check(fine | more)[0].message


def test_grades_are_saved_at_once_and_have_their_digit_as_key():
    form = grade_form((2, 1, 0))
    assert form.at_once
    assert [o.key for q in form.questions() for o in q.options] == ["2", "1", "0"]
    # 0 is a grade here, so "cannot tell" has another key.
    assert actions_of(form)["cannot"] == "x"
    assert form.check({"grade": ["2"]}) == ()
    for grades in ((1,), (1, 1), (10, 0)):
        with pytest.raises(UsageError):
            grade_form(grades)


def test_meanings_and_wordings_are_shown(tmp_path):
    file = tmp_path / "meanings.csv"
    file.write_text(
        "concept,title,question,definition,example\n"
        'Indoor,Inside,Where was it taken?,"Walls, and a roof.",a kitchen\n'
    )
    question = ontology_form(PTO, meanings=read_meanings(file)).question("Indoor")
    assert question.title == "Where was it taken?"
    assert question.options[0] == Option(
        "Indoor", "Inside", "Walls, and a roof.", "a kitchen", key=question.options[0].key
    )
    for text, words in (
        ("name,title\n", "expected a header"),
        ("concept\na\na\n", "twice"),
        ("concept\na,b\n", "more fields"),
    ):
        file.write_text(text)
        with pytest.raises(InputError, match=words):
            read_meanings(file)


def test_every_concept_of_the_photo_tagging_ontology_is_defined():
    meanings = built_in_meanings()
    assert set(meanings) == set(PTO.concepts)
    assert all(m.definition and m.title for m in meanings.values())
    form = ontology_form(PTO, meanings=meanings)
    assert all(o.definition for q in form.questions() for o in q.options)
    assert form.question("Overexposed").title == "How is the photo illuminated?"
