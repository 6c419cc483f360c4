"""Which measure orders ranked lists as people would? (Chatzichristofis et al., 5.3)

All people see the same lists, in which relevant items are numbers of ranks. Beside each list stand
the value and the place that each method gives it; which measure a method is changes from question
to question. People choose the methods whose order is theirs, several where they tie, or none, and
may give an order of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from cranfield.campaign.annotation_task import Grid, Response, Sheet, Unit
from cranfield.campaign.forms import NONE, Form, Option, Question, Tab, places_of
from cranfield.campaign.surveys import MEASURES, OF_RANKINGS
from cranfield.campaign.surveys.survey import Respondents, Survey, about_form
from cranfield.campaign.surveys.votes import Choices, OwnOrders, count_orders
from cranfield.errors import UsageError, check_at_most
from cranfield.evaluation.precision_recall import ranking
from cranfield.evaluation.ranked import evaluate
from cranfield.measures import Measure, parse_measures
from cranfield.stats.correlation import kendall
from cranfield.types import JsonObject
from cranfield.validation import Seed, validate_params
from cranfield.work.seeds import generator

MOST_QUESTIONS = 10_000
MOST_ITEMS = 100_000
# Values that are nearer than this are the same.
SAME = 1e-12
_LISTS_STREAM = 41
_RESAMPLING_STREAM = 55

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


@validate_params
def make_questionnaire(
    measures: str | Sequence[str | Measure] = OF_RANKINGS,
    *,
    questions: int = 10,
    lists: int = 5,
    relevant: int = 5,
    size: int = 100,
    rng: Seed = 0,
) -> Survey:
    """A blind questionnaire about random ranked lists.

    Parameters
    ----------
    measures
        Two measures or more, hidden behind "Method 1", "Method 2", ... in an order that is drawn
        anew for each question.
    questions, lists
        How many questions, and how many lists in each of them.
    relevant, size
        How many relevant items each list has, in a collection of how many.
    rng
        Seed of all random draws.
    """
    compared = parse_measures(measures)
    if len(compared) < 2:
        raise UsageError("a questionnaire compares two measures or more")
    if not 1 <= relevant < size or not 2 <= lists <= 26 or questions < 1:
        raise UsageError(
            "a questionnaire has questions from 1 on, 2 to 26 lists, and fewer relevant items "
            "than the collection"
        )
    check_at_most(MOST_QUESTIONS, questions=questions)
    check_at_most(MOST_ITEMS, size=size)
    entries, key, alike = [], {}, {}
    for q in range(1, questions + 1):
        draw = generator(rng, _LISTS_STREAM, q)
        ranks = {
            chr(65 + n): sorted(int(r) for r in 1 + draw.choice(size, relevant, replace=False))
            for n in range(lists)
        }
        values = _values(compared, ranks, size)
        places = _places(values)
        order = [compared[int(m)] for m in draw.permutation(len(compared))]
        methods = {f"Method {n}": m for n, m in enumerate(order, 1)}
        method_places = {method: places[m] for method, m in methods.items()}
        beside = {method: values[m] for method, m in methods.items()}
        entries.append({"question": q, "lists": ranks, "places": method_places, "values": beside})
        key[str(q)] = {method: str(m) for method, m in methods.items()}
        groups = _same_orders(places)
        if groups:
            alike[str(q)] = groups
    hidden = {"measures": [str(m) for m in compared], "key": key, "alike": alike, "seed": rng}
    return _survey({"size": size, "relevant": relevant, "questions": entries}, hidden)


def _same_orders(places: Mapping[Measure, Mapping[str, int]]) -> list[list[str]]:
    """The measures that give all lists the same places: who votes for one votes for all."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for measure, order in places.items():
        groups.setdefault(tuple(order.values()), []).append(str(measure))
    return [group for group in groups.values() if len(group) > 1]


def _values(
    measures: Sequence[Measure], ranks: Mapping[str, Sequence[int]], size: int
) -> dict[Measure, dict[str, float]]:
    """The value that each measure gives each list; less is better in all that is shown.

    As in the survey of the paper, AP and its like are shown as 1 - AP.
    """
    relevant = len(next(iter(ranks.values())))
    judged = {"t": {f"r{k}": 1 for k in range(relevant)}}
    runs = {name: {"t": ranking(places, size)} for name, places in ranks.items()}
    # As in the survey of the paper, NMRR looks at the first 4 NG items.
    scores = evaluate(judged, runs, list(measures), collection_size=size, gmt=2 * relevant, jobs=1)
    values = {}
    for m in scores.measures:
        means = scores.overall[m]
        losses = means if m.higher_is_better is False else 1 - means
        values[m] = dict(zip(runs, map(float, losses), strict=True))
    return values


def _places(values: Mapping[Measure, Mapping[str, float]]) -> dict[Measure, dict[str, int]]:
    """The place that each measure gives each list: 1 and how many are better."""
    return {
        m: {
            name: 1 + sum(v < list_values[name] - SAME for v in list_values.values())
            for name in list_values
        }
        for m, list_values in values.items()
    }


def _survey(shown: JsonObject, hidden: JsonObject) -> Survey:
    """The page that asks about what is shown, and the key with what is hidden."""
    entries = shown["questions"]
    methods, lists = tuple(entries[0]["places"]), tuple(entries[0]["lists"])
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
    units = tuple(_unit(entry) for entry in entries)
    scenario = SCENARIO.format(
        lists=len(lists), last=lists[-1], size=shown["size"], relevant=shown["relevant"]
    )
    sheet = Sheet(TITLE, MEASURES, {"form": form}, units, scenario, about=about_form())
    key = {"survey": MEASURES, "units": [u.name for u in units], **hidden}
    # Where each measure puts each list: what people's own orders are compared with.
    key["places"] = {
        str(entry["question"]): {
            hidden["key"][str(entry["question"])][method]: dict(places)
            for method, places in entry["places"].items()
        }
        for entry in entries
    }
    return Survey(sheet, key, shown)


def _unit(entry: JsonObject) -> Unit:
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


def count_measure_survey(key: JsonObject, responses: Sequence[Response]) -> Choices:
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
    key: JsonObject, responses: Sequence[Response], *, resamples: int = 2000
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
    draw = generator(0, _RESAMPLING_STREAM)
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
