"""The survey of a rehearsal: thirty people answer by a link what a paper counted."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from cranfield.campaign.forms import NONE
from cranfield.campaign.surveys.making import make_survey
from cranfield.server.rehearsal.client import Client
from cranfield.server.rehearsal.stage import RehearsalError, Stage
from cranfield.server.rehearsal.world import NAME
from cranfield.server.visitors import WORKER

# Ch Table 4: the votes of thirty people for AP, NMRR, MNRO and an order of their own. With this
# seed no two measures order the lists of any question alike.
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
_HOME = f"/{NAME}/organise/batches"


def play(stage: Stage) -> dict[str, int]:
    """Thirty people answer by a link what the paper counted; gives what the site counts."""
    slug, people = "measures", stage.world.scale.survey_people
    fields = {"kind": "measures", "slug": slug, "questions": str(len(VOTES))}
    stage.organiser.fill_in(_HOME, fields | {"seed": str(SURVEY_SEED)})
    _state(stage, slug, "running")
    here = f"{_HOME}/{slug}"
    page = stage.organiser.fill_in(f"{here}/people", {"kind": "survey"}, form=here)
    found = re.search(rf"/{NAME}/survey/[A-Za-z0-9_-]+", page.text)
    if found is None:
        raise RehearsalError("there is no link to the survey")
    # Who made the survey knows which measure hides behind which method.
    key = make_survey("measures", seed=SURVEY_SEED, questions=len(VOTES)).key["key"]
    choices = [_handed_out(counts, people) for counts in VOTES]
    for number in range(people):
        picked = [choices[question][number] for question in range(len(VOTES))]
        _respond(stage, found[0], str(19 + number % 7), key, picked)
    reply = stage.organiser.again(
        lambda: stage.organiser.send("GET", f"{here}/survey", None, {"Accept": "application/json"})
    )
    _state(stage, slug, "closed")
    _state(stage, slug, "skipped", reason="a survey has no truth")
    return {one["option"]: one["votes"] for one in reply.json()["choices"]}


def _handed_out(counts: tuple[int, ...], people: int) -> list[set[int]]:
    """A set of choices for each person that is counted as wanted; an own order is alone."""
    *methods, other = counts
    given: list[set[int]] = [{len(methods)} for _ in range(other)]
    given += [set() for _ in range(people - other)]
    turn = 0
    for choice, count in enumerate(methods):
        for _ in range(count):
            given[other + turn % (people - other)].add(choice)
            turn += 1
    return given


def _respond(
    stage: Stage, link: str, age: str, key: Mapping[str, Any], picked: list[set[int]]
) -> None:
    """One person: a few words about oneself, then all questions."""
    browser = stage.client()
    begun = browser.fill_in(link, {"age": age, "education": "student"})
    if begun.status != 303:
        raise RehearsalError(f"the survey does not begin ({begun.status})")
    program = stage.client(browser.cookies[WORKER])
    while (given := program.get("/api/v1/work/next").json())["assignment"] is not None:
        hidden = {measure: shown for shown, measure in key[given["item"]].items()}
        chosen = picked[list(key).index(given["item"])]
        methods = [hidden[m] for k, m in enumerate(MEASURES) if k in chosen] or [NONE]
        path, once = f"/api/v1/work/{given['assignment']}", f"{given['assignment']}.1"
        if _put(program, path, {"methods": methods}, 100.0, once) != 200:
            raise RehearsalError("an answer to the survey was not taken")


def _state(stage: Stage, slug: str, state: str, reason: str = "") -> None:
    here = f"{_HOME}/{slug}"
    fields = {"to": state, "reason": reason}
    reply = stage.organiser.fill_in(f"{here}/state", fields, form=here)
    if reply.status != 303:
        raise RehearsalError(f"the batch {slug} does not become {state} ({reply.status})")


def _put(client: Client, path: str, answers: dict[str, list[str]], seconds: float, key: str) -> int:
    body = json.dumps({"answers": answers, "seconds": seconds, "key": key}).encode()
    kind = {"Content-Type": "application/json"}
    return client.again(lambda: client.send("PUT", path, body, kind)).status


def counted(votes: Mapping[str, int]) -> tuple[bool, str]:
    """Whether the site counts what the paper counted, in words."""
    totals = [sum(column) for column in zip(*VOTES, strict=True)]
    wanted = dict(zip((*MEASURES, OTHER), totals, strict=True))
    return dict(votes) == wanted, f"votes of the survey {'/'.join(map(str, votes.values()))}"
