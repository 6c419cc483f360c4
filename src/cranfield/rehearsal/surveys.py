"""The surveys of a rehearsal: people answer by a link what the papers counted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from cranfield.campaign.forms import NONE
from cranfield.campaign.surveys.making import make_survey
from cranfield.campaign.surveys.votes import BOTH
from cranfield.io.files import csv_text
from cranfield.rehearsal import annotation
from cranfield.rehearsal.stage import Stage
from cranfield.rehearsal.world import World

# Ch Table 4: the votes of thirty people for AP, NMRR, MNRO and an order of their own. With this
# seed no two measures order the lists of any question alike. Table 3: means and deviations.
VOTES = (
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
)
MEASURES, OTHER, SURVEY_SEED = ("AP", "NMRR", "MNRO"), "OTHER", 609
SURVEYED = {"age": (22.0, 1.3870), "minutes": (18.0, 4.6710)}
# No Table 9.5: votes for system 1, for system 2 and for both; the rest of twenty said nothing.
PREFERENCES = (
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
)
SYSTEMS = ("one", "two")
_ITEMS, _FREQUENT = 80, 0.12
_NO_TRUTH = "a survey has no truth"


@dataclass(frozen=True)
class SurveyOutcome:
    """What the site counts of both surveys."""

    measures: Mapping[str, Any]
    preference: Mapping[str, Any]

    def summary(self) -> list[tuple[bool, str]]:
        """Whether the tables of the papers come out, in words."""
        return [_table_3(self.measures), _table_4(self.measures), _table_9_5(self.preference)]


def play_surveys(stage: Stage) -> SurveyOutcome:
    """Both surveys, answered by their public links."""
    return SurveyOutcome(_measures(stage), _preference(stage))


def _measures(stage: Stage) -> dict[str, Any]:
    """Thirty people say which measure orders lists as they would."""
    slug, count = "measures", stage.world.scale.survey_people
    fields = {"questions": str(len(VOTES)), "seed": str(SURVEY_SEED)}
    annotation.new_batch(stage, "measures", slug, fields)
    annotation.to_state(stage, slug, "running")
    link = annotation.survey_link(stage, slug)
    # The maker of the survey knows which measure hides behind which method.
    key = make_survey("measures", seed=SURVEY_SEED, questions=len(VOTES)).key["key"]
    choices = [_handed_out(counts, count) for counts in VOTES]
    for number, (age, minutes) in enumerate(_spread(count)):
        picked = {q: choices[place][number] for place, q in enumerate(key)}
        about = {"age": f"{age:.6f}", "education": "student"}
        seconds = 60 * minutes / len(VOTES)
        annotation.respond(stage, slug, link, about, partial(_chosen, key, picked), seconds)
    tally = annotation.counted(stage, slug)
    annotation.finish(stage, slug, _NO_TRUTH)
    return tally


def _spread(count: int) -> list[tuple[float, float]]:
    """Ages and minutes with the means and deviations of Ch Table 3."""
    turns = np.where(np.arange(count) % 2, 1.0, -1.0)
    turns /= turns.std(ddof=1)
    (age, older), (minutes, longer) = SURVEYED["age"], SURVEYED["minutes"]
    return [(age + older * t, minutes + longer * t) for t in turns.tolist()]


def _chosen(
    key: Mapping[str, Mapping[str, str]], picked: Mapping[str, set[int]], question: str
) -> dict[str, list[str]]:
    hidden = {measure: method for method, measure in key[question].items()}
    methods = [hidden[m] for k, m in enumerate(MEASURES) if k in picked[question]]
    return {"methods": methods or [NONE]}


def _preference(stage: Stage) -> dict[str, Any]:
    """Twenty people compare the concept sets of two systems that R-precision cannot tell apart.

    The survey is made by the command from a truth that the site never sees, and its key is sent.
    """
    slug, folder = "preference", stage.folder / "preference"
    folder.mkdir()
    for name, text in _concept_sets(stage.world).items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    files = [folder / f"{name}.csv" for name in ("truth", *SYSTEMS)]
    words = ["-m", "SRP", "--alike", "Rprec.example", "--ontology", "pto-2009", "--seed", "4"]
    stage.run("survey", "preference", *files, *words, "-o", folder / "survey")
    content = (folder / "survey" / "key.json").read_bytes()
    annotation.new_batch(stage, "survey", slug, {}, file=("key.json", content))
    annotation.to_state(stage, slug, "running")
    link = annotation.survey_link(stage, slug)
    key = json.loads(content)["key"]
    for number in range(stage.world.scale.preference_people):
        annotation.respond(stage, slug, link, {}, partial(_preferred, key, number), 30.0)
    tally = annotation.counted(stage, slug)
    annotation.finish(stage, slug, _NO_TRUTH)
    return tally


def _concept_sets(world: World) -> dict[str, str]:
    """A truth and what two systems are sure of, as CSV; all about items of their own."""
    draw = world.draw(8)
    shape = (_ITEMS, len(world.concepts))
    truth = draw.random(shape) < _FREQUENT
    truth[:, 0] |= ~truth.any(axis=1)
    tables = {"truth": truth.astype(int)}
    for name in SYSTEMS:
        tables[name] = np.round(0.4 * truth + 0.6 * draw.random(shape), 4)
    return {
        name: csv_text(
            [
                ("item", *world.concepts),
                *((f"seen{n:02d}", *row) for n, row in enumerate(table.tolist(), 1)),
            ]
        )
        for name, table in tables.items()
    }


def _preferred(
    key: Mapping[str, Mapping[str, str]], number: int, question: str
) -> dict[str, list[str]]:
    """What one of twenty says, so that the counts are those of the table."""
    if question not in key:
        return {"words": ["all keywords match"] if number % 2 else ["no expectations"]}
    first_votes, second_votes, both_votes = PREFERENCES[list(key).index(question)]
    labels = {system: label for label, system in key[question].items()}
    answers = (
        [labels[SYSTEMS[0]]] * first_votes
        + [labels[SYSTEMS[1]]] * second_votes
        + [BOTH] * both_votes
    )
    return {"better": [answers[number]]} if number < len(answers) else {}


def _handed_out(counts: tuple[int, ...], respondents: int) -> list[set[int]]:
    """A set of choices for each person that is counted as wanted; an own order is alone."""
    *methods, own_orders = counts
    choices: list[set[int]] = [{len(methods)} for _ in range(own_orders)]
    choices += [set() for _ in range(respondents - own_orders)]
    turn = 0
    for choice, count in enumerate(methods):
        for _ in range(count):
            choices[own_orders + turn % (respondents - own_orders)].add(choice)
            turn += 1
    return choices


def _table_3(tally: Mapping[str, Any]) -> tuple[bool, str]:
    """Ch Table 3: who answered."""
    respondents = tally["respondents"]
    figures = [
        respondents["age"],
        respondents["age_deviation"],
        respondents["minutes"],
        respondents["minutes_deviation"],
    ]
    expected = [*SURVEYED["age"], *SURVEYED["minutes"]]
    same = all(abs(a - b) < 1e-4 for a, b in zip(figures, expected, strict=True))
    age, older, minutes, longer = figures
    return (
        same and (respondents["people"], respondents["questions"]) == (30, 10),
        f"Ch Table 3: {respondents['people']} people, age {age:.4g} ({older:.4f}), "
        f"{minutes:.4g} minutes ({longer:.4f})",
    )


def _table_4(tally: Mapping[str, Any]) -> tuple[bool, str]:
    """Ch Table 4: the votes of every question."""
    names = (*MEASURES, OTHER)
    rows = [tuple(row["votes"][name] for name in names) for row in tally["rows"]]
    equal = sum(a == b for a, b in zip(rows, VOTES, strict=True))
    totals = "/".join(str(sum(column)) for column in zip(*rows, strict=True))
    return equal == len(VOTES), f"Ch Table 4: {equal} of {len(VOTES)} rows, in all {totals}"


def _table_9_5(tally: Mapping[str, Any]) -> tuple[bool, str]:
    """No Table 9.5: the votes for either system and for both."""
    rows = [tuple(row["votes"].values()) for row in tally["rows"]]
    equal = sum(a == b for a, b in zip(rows, PREFERENCES, strict=True))
    totals = "/".join(str(sum(column)) for column in zip(*rows, strict=True))
    words = len(tally.get("expectations", ()))
    return (
        equal == len(PREFERENCES),
        f"No Table 9.5: {equal} of {len(PREFERENCES)} rows, in all {totals}, {words} in words",
    )
