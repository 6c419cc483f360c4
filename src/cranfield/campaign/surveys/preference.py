"""Which of two concept sets fits an item better? (thesis, 9.5)

The items are those on which two runs differ under one measure and, if so asked, not under
another. At the end stands a question in words, vague on purpose: what matters in a search for
pictures of several things, and what is expected of the results (Table 9.6).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cranfield.campaign.annotation_task import Grid, Response, Sheet, Unit
from cranfield.campaign.forms import Form, Option, Question, Tab
from cranfield.campaign.surveys import kinds
from cranfield.campaign.surveys.questionnaire import Questionnaire, make_concept_survey
from cranfield.campaign.surveys.survey import Respondents, Survey
from cranfield.campaign.surveys.votes import BOTH, Preferences, chosen_on, count_sets

TITLE = "Which concepts fit better?"
SCENARIO = (
    "Two systems were asked what a picture shows. Each question has the concepts that the picture "
    "truly has, and what each system made of them: right, wrong, and missed. Compare what is wrong "
    "with what was missed, and say whose suggestion is better."
)
LAST = "expectations"
ASKED = (
    "When you search for pictures that show several things, what is most important to you, and "
    "what do you expect of the results?"
)
# Classes of expectations (Table 9.6) and the words that tell them, the first that has one.
CLASSES = ("correct matches", "partly correct matches", "nothing", "others")
_WORDS = {
    "nothing": r"\b(no expectations?|nothing|none)\b",
    "partly correct matches": r"\b(at least|partly|some of|most keywords|having the most)\b",
    "correct matches": r"\b(all|match(es)?|relevant|accuracy|correct|exact|searched|mentioned|"
    r"contain(s)?)\b",
}


def preference_survey(truth: Any, runs: Any, measures: Any = None, **options: Any) -> Survey:
    """Questions about two runs; the arguments are those of `make_concept_survey`.

    With `pictures` ({item: address}) the items are shown.
    """
    pictures = options.pop("pictures", None) or {}
    return preference_survey_of(make_concept_survey(truth, runs, measures, **options), pictures)


def preference_survey_of(
    questionnaire: Questionnaire, pictures: Mapping[str, str] | None = None
) -> Survey:
    """The survey that asks the questions of a questionnaire on concept sets."""
    picture_of = pictures or {}
    entries = questionnaire.questions["questions"]
    sets = tuple(entries[0]["sets"])
    options_shown = tuple(Option(s, s, key=str(n)) for n, s in enumerate(sets, 1))
    equal = Option(BOTH, "Both are equally good", key=str(len(sets) + 1))
    better = Question("better", "Which set is better?", "one", (*options_shown, equal))
    words = Question("words", ASKED, "text")
    forms = {
        "form": Form(TITLE, (Tab("", (better,)),)),
        LAST: Form("A last question", (Tab("", (words,)),)),
    }
    units = (
        *(_unit(e, picture_of.get(str(e["item"]), "")) for e in entries),
        Unit(LAST, LAST, "A last question"),
    )
    key = {"survey": kinds.PREFERENCE, "units": [u.name for u in units], **questionnaire.key}
    key["wrong"] = {str(e["question"]): _wrong(e) for e in entries}
    return Survey(Sheet(TITLE, kinds.PREFERENCE, forms, units, SCENARIO), key, questionnaire.notes)


def _wrong(entry: Mapping[str, Any]) -> int:
    """How many concepts a set got wrong; in the design of the thesis both as many."""
    return max(len(parts["wrong"]) for parts in entry["sets"].values())


def _unit(entry: Mapping[str, Any], picture: str) -> Unit:
    rows = tuple(
        (name, *(", ".join(parts[k]) or "-" for k in ("right", "wrong", "missed")))
        for name, parts in entry["sets"].items()
    )
    number = str(entry["question"])
    subject = "The picture" if picture else entry["item"]
    text = f"{subject} shows: {', '.join(entry['true']) or '-'}"
    grid = Grid(("", "right", "wrong", "missed"), rows)
    return Unit(number, title=f"Question {number}", text=text, picture=picture, grid=grid)


def count_preference_survey(
    key: Mapping[str, Any],
    responses: Sequence[Response],
    classes: Mapping[str, str] | None = None,
) -> Preferences:
    """Tables 9.5 and 9.6: votes beside scores, and expectations by class."""
    counted = count_sets(key, [chosen_on(response, key["key"]) for response in responses])
    texts = [
        text
        for response in responses
        for f in response.done()
        if f.unit == LAST
        for text in response.form_of(f.unit).texts(f.answers).values()
    ]
    class_by_text = classes or {}
    return replace(
        counted,
        wrong=tuple(key["wrong"][question] for question in key["key"]),
        expectations=tuple((text, class_by_text.get(text) or class_of(text)) for text in texts),
        respondents=Respondents.of(responses, len(key["key"])),
    )


def class_of(text: str) -> str:
    """The class of an expectation by its words; a guess that a file of classes can correct.

    >>> class_of("No expectations!"), class_of("all of them match")
    ('nothing', 'correct matches')
    """
    for name, words in _WORDS.items():
        if re.search(words, text, re.IGNORECASE):
            return name
    return "others"
