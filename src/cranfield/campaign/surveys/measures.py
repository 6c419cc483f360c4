"""Which measure orders ranked lists as people would? (Chatzichristofis et al., 5.3)

All people see the same lists, in which relevant items are numbers of ranks. Beside each list stand
the value and the place that each method gives it; which measure a method is changes from question
to question. People choose the methods whose order is theirs, several where they tie, or none, and
may give an order of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cranfield.campaign.annotation_task import Grid, Response, Sheet, Unit
from cranfield.campaign.forms import NONE, Form, Option, Question, Tab, places_of
from cranfield.campaign.surveys import kinds
from cranfield.campaign.surveys.questionnaire import Questionnaire, make_questionnaire
from cranfield.campaign.surveys.survey import Respondents, Survey, about_form
from cranfield.campaign.surveys.votes import Choices, OwnOrders, count_orders
from cranfield.measures import Measure
from cranfield.stats.correlation import kendall
from cranfield.work.seeds import generator

_STREAM = 55

TITLE = "Which order is yours?"
SCENARIO = (
    "{lists} systems on the web search for faces. Each takes a picture and gives back a list of "
    "pictures; for every query the collection of {size} pictures holds {relevant} of the same "
    "face. Each question has the lists of the {lists} systems, A to {last}: the ranks at which "
    "the {relevant} pictures were found.\n\n"
    "Order the systems from best to worst. Each method has given them a value and a place, 1 for "
    "the best. Choose the method whose order is yours; several when they agree with you alike. "
    "When none does, say so and give your own order."
)


def measure_survey(
    measures: str | Sequence[str | Measure] = kinds.OF_RANKINGS, **options: Any
) -> Survey:
    """A survey of the whole kind; `options` are those of `make_questionnaire`."""
    return measure_survey_of(make_questionnaire(measures, **options))


def measure_survey_of(questionnaire: Questionnaire) -> Survey:
    """The survey that asks the questions of a questionnaire on ranked lists."""
    first = questionnaire.questions["questions"][0]
    methods, lists = tuple(first["places"]), tuple(first["lists"])
    choice = Question(
        "methods",
        "Whose order is yours?",
        "any",
        tuple(Option(m, m, key=str(n)) for n, m in enumerate(methods, 1)),
        True,
        "None of them: I order the lists otherwise",
    )
    own_order = Question("own", "Your own order", "order", tuple(Option(n, n) for n in lists))
    form = Form(TITLE, (Tab("", (choice, own_order)),))
    units = tuple(_unit(entry) for entry in questionnaire.questions["questions"])
    scenario = SCENARIO.format(
        lists=len(lists),
        last=lists[-1],
        size=questionnaire.questions["size"],
        relevant=questionnaire.questions["relevant"],
    )
    sheet = Sheet(TITLE, kinds.MEASURES, {"form": form}, units, scenario, about=about_form())
    key = {"survey": kinds.MEASURES, "units": [u.name for u in units], **questionnaire.key}
    # Where each measure puts each list: what people's own orders are compared with.
    key["places"] = {
        str(entry["question"]): {
            questionnaire.key["key"][str(entry["question"])][method]: dict(places)
            for method, places in entry["places"].items()
        }
        for entry in questionnaire.questions["questions"]
    }
    return Survey(sheet, key, questionnaire.notes)


def _unit(entry: Mapping[str, Any]) -> Unit:
    methods = list(entry["places"])
    head = ("list", "ranks of the relevant items", *(f"{m}: value, place" for m in methods))
    rows = tuple(
        (
            name,
            ", ".join(map(str, ranks)),
            *(f"{entry['values'][m][name]:.3f}, {entry['places'][m][name]}" for m in methods),
        )
        for name, ranks in entry["lists"].items()
    )
    number = str(entry["question"])
    return Unit(number, title=f"Question {number}", grid=Grid(head, rows))


def count_measure_survey(key: Mapping[str, Any], responses: Sequence[Response]) -> Choices:
    """Tables 3 and 4: who answered, and the votes of every question for every measure."""
    choices = [
        {f.unit: list(f.answers.get("methods", ())) for f in response.done()}
        for response in responses
    ]
    counted = count_orders(key, choices)
    own_orders = [f for r in responses for f in r.done() if f.answers.get("own")]
    without_choice = [
        f for r in responses for f in r.done() if NONE in f.answers.get("methods", ())
    ]
    note = (
        f"{len(own_orders)} own orders were given, {len(without_choice)} times no method was chosen"
    )
    people = Respondents.of(responses, len(key["key"]))
    return replace(
        counted,
        respondents=people,
        notes=(*counted.notes, note),
        own_orders=compare_own_orders(key, responses),
    )


def compare_own_orders(
    key: Mapping[str, Any], responses: Sequence[Response], *, resamples: int = 2000
) -> tuple[OwnOrders, ...]:
    """How far the orders that people gave agree with those of each measure.

    Kendall's tau-b of each order, its mean over all orders, and an interval from a bootstrap in
    which people are drawn with all that they ordered. Keys of before have no places: no result.
    """
    taus: dict[str, dict[str, list[float]]] = {}
    for response in responses:
        for filled in response.done():
            own = places_of(filled.answers.get("own", ()))
            for measure, places in key.get("places", {}).get(filled.unit, {}).items():
                if own and len(own) == len(places):
                    tau = kendall(
                        np.array([own[name] for name in places], float),
                        np.array(list(places.values()), float),
                    ).value
                    if not np.isnan(tau):
                        person = taus.setdefault(measure, {}).setdefault(response.annotator, [])
                        person.append(float(tau))
    draw = generator(0, _STREAM)
    return tuple(
        OwnOrders(measure, *_clustered_mean(list(by_person.values()), draw, resamples))
        for measure, by_person in taus.items()
    )


def _clustered_mean(
    by_person: Sequence[Sequence[float]], draw: np.random.Generator, resamples: int
) -> tuple[float, tuple[float, float], int, int]:
    sums = np.array([sum(values) for values in by_person])
    counts = np.array([len(values) for values in by_person])
    picks = draw.integers(len(sums), size=(resamples, len(sums)))
    means = sums[picks].sum(axis=1) / counts[picks].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975]).tolist()
    mean = float(sums.sum() / counts.sum())
    return mean, (float(low), float(high)), len(by_person), int(counts.sum())
