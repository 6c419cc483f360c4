"""How people find things with concepts: tasks, a log of what they do, and how content they are.

A person chooses concepts, sees the items that a run of annotations is most sure of, and says which
were looked for. Every step is kept with its time, so that effort can be compared between
vocabularies and between runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cranfield.campaign.annotation_task import Response, Sheet, Unit
from cranfield.campaign.forms import (
    NONE,
    Form,
    Option,
    Question,
    Tab,
    found_items,
    search_steps,
    shown_name,
)
from cranfield.campaign.surveys import SEARCH
from cranfield.campaign.surveys.survey import Cell, Respondents, Survey, SurveyRows
from cranfield.data.labels import LabelMatrix, dense
from cranfield.errors import InputError, UsageError
from cranfield.io.files import csv_rows, describe, open_text
from cranfield.types import JsonObject
from cranfield.work.seeds import generator

TITLE = "Search with concepts"
SCENARIO = (
    "You are told what to look for. Choose concepts: what fits them best is shown. Press each item "
    "that is what you were looking for, then say how content you are with the search."
)
# How content a person is, from 1 on.
SATISFACTION = ("not at all", "little", "in part", "mostly", "fully")
_STREAM = 55


@dataclass(frozen=True, slots=True)
class SearchTask:
    """What a person looks for, and the items that would be right, where these are known."""

    name: str
    text: str
    items: tuple[str, ...] = ()


def read_tasks(path: str | Path) -> tuple[SearchTask, ...]:
    """Tasks from CSV task,text[,items]; items are separated by spaces."""
    source = describe(path)
    with open_text(path) as stream:
        rows = [(line, [c.strip() for c in row]) for line, row in csv_rows(stream, source) if row]
    if not rows or rows[0][1] not in (["task", "text"], ["task", "text", "items"]):
        raise InputError.single(source, "expected a header: task,text[,items]", 1)
    tasks: dict[str, SearchTask] = {}
    for line, row in rows[1:]:
        if len(row) < 2 or not row[0] or not row[1]:
            raise InputError.single(source, "a task has a name and a text", line)
        if row[0] in tasks:
            raise InputError.single(source, f"task {row[0]!r} is there twice", line)
        tasks[row[0]] = SearchTask(row[0], row[1], tuple(" ".join(row[2:]).split()))
    if not tasks:
        raise InputError.single(source, "has no task")
    return tuple(tasks.values())


def search_survey(
    run: LabelMatrix,
    tasks: Sequence[SearchTask],
    *,
    pictures: Mapping[str, str] | None = None,
    rng: int = 0,
) -> Survey:
    """Each task once, in an order that is drawn; items are numbered, as their ids may tell."""
    picture_of = pictures or {}
    strange = next((i for task in tasks for i in task.items if i not in run.items), None)
    if strange is not None:
        raise UsageError(f"{run.name} has no item {strange!r}, which a task looks for")
    values = dense(run.labels if run.confidences is None else run.confidences).astype(float)
    number_of = {item: f"i{n:04d}" for n, item in enumerate(run.items, 1)}
    index = tuple(
        (number_of[item], tuple(round(v, 4) for v in row))
        for item, row in zip(run.items, values.tolist(), strict=True)
    )
    search = Question(
        "search",
        TITLE,
        "search",
        tuple(Option(concept, shown_name(concept)) for concept in run.concepts),
        True,
        "There is none, or I do not find it",
        index=index,
    )
    levels = tuple(Option(str(n), title, key=str(n)) for n, title in enumerate(SATISFACTION, 1))
    content = Question("satisfaction", "How content are you with this search?", "one", levels, True)
    cards = tuple((number_of[i], picture_of[i]) for i in run.items if i in picture_of)
    order = generator(rng, _STREAM).permutation(len(tasks)).tolist()
    drawn = {f"{n:04d}": tasks[k] for n, k in enumerate(order, 1)}
    units = tuple(
        Unit(name, title="What to look for", text=task.text, cards=cards)
        for name, task in drawn.items()
    )
    form = Form(TITLE, (Tab("", (search, content)),))
    key = {
        "survey": SEARCH,
        "units": list(drawn),
        "items": {name: task.name for name, task in drawn.items()},
        "targets": {name: list(task.items) for name, task in drawn.items()},
        "names": {number: i for i, number in number_of.items()},
    }
    sheet = Sheet(TITLE, SEARCH, {"form": form}, units, SCENARIO)
    return Survey(sheet, key)


def count_searches(key: JsonObject, responses: Sequence[Response]) -> SurveyRows:
    """A row for each search: effort, what was found, how much of it was right, and satisfaction.

    `queries` are the changes of the chosen concepts, `first` the seconds until something was
    found, `precision` and `recall` those of what was found at the end; None without known items.
    """
    rows = [
        (response.annotator, key["items"][filled.unit], *_effort(key, filled.unit, filled.answers))
        for response in responses
        for filled in response.done()
    ]
    columns = (
        "subject",
        "task",
        "seconds",
        "first",
        "queries",
        "found",
        "right",
        "precision",
        "recall",
        "satisfaction",
        "items",
    )
    people = Respondents.of(responses, len(key["units"]))
    return SurveyRows(SEARCH, columns, tuple(rows), people)


def _effort(key: JsonObject, unit: str, answers: Mapping[str, Sequence[str]]) -> tuple[Cell, ...]:
    values = [v for v in answers.get("search", ()) if v != NONE]
    steps = search_steps(values)
    items = [key["names"][number] for number in found_items(values)]
    targets = set(key["targets"][unit])
    right = len(targets & set(items)) if targets else None
    queries = sum(step in ("added", "dropped") for _, step, _ in steps)
    return (
        steps[-1][0] if steps else None,
        next((seconds for seconds, step, _ in steps if step == "found"), None),
        queries,
        len(items),
        right,
        None if right is None or not items else right / len(items),
        None if right is None else right / len(targets),
        int(answers["satisfaction"][0]),
        " ".join(items),
    )
