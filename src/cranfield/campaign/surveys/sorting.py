"""How people would arrange things: cards in groups, words for items, concepts in a tree.

After the studies that a vocabulary comes from (thesis, 5.3): in card sorting a person puts items
into groups and names them, in free tagging every item gets words of a person's own, and in sorting
a hierarchy each concept is put below another or at the top. All three come back in the form that
`cranfield concepts card-sort` reads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cranfield.campaign.annotation_task import Response, Sheet, Unit
from cranfield.campaign.forms import (
    TOP,
    Answers,
    Form,
    Option,
    Question,
    Tab,
    parents_of,
    places_of,
    shown_name,
)
from cranfield.campaign.surveys import GROUPING, HIERARCHY, TAGGING
from cranfield.campaign.surveys.survey import Respondents, Survey, SurveyRows
from cranfield.errors import UsageError, first_duplicate
from cranfield.types import JsonObject
from cranfield.work.seeds import generator

SCENARIOS = {
    GROUPING: (
        "Put together what belongs together. There is no right or wrong: make as many groups as "
        "you like, and say what they are. Drag a card into a group, or give its number."
    ),
    TAGGING: "Describe each item in words of your own, as if you wanted to find it again.",
    HIERARCHY: (
        "Put each concept below the one that it is a kind of, or at the top. Drag one onto "
        "another, or choose from its list."
    ),
}
TITLES = {
    GROUPING: "What belongs together?",
    TAGGING: "Which words describe it?",
    HIERARCHY: "What is a kind of what?",
}
_STREAM = 54
_BETWEEN_TAGS = re.compile(r"[,;\n]")


def grouping_survey(
    items: Sequence[str],
    *,
    texts: Mapping[str, str] | None = None,
    pictures: Mapping[str, str] | None = None,
    rng: int = 0,
) -> Survey:
    """All items as cards on one table, in an order that is drawn; their ids are not shown."""
    words, picture_of = texts or {}, pictures or {}
    cards = {f"c{n}": item for n, item in enumerate(_drawn(items, rng), 1)}
    options = tuple(
        Option(card, words.get(item, "") or (f"Card {card[1:]}" if item in picture_of else item))
        for card, item in cards.items()
    )
    groups = Question("groups", TITLES[GROUPING], "groups", options, True)
    names = Question("names", "What are the groups called? A line for each, in their order", "text")
    shown = tuple((c, picture_of[item]) for c, item in cards.items() if item in picture_of)
    unit = Unit("cards", title="The cards", cards=shown)
    return _survey(GROUPING, (groups, names), (unit,), {"cards": cards})


def tagging_survey(
    items: Sequence[str],
    *,
    texts: Mapping[str, str] | None = None,
    pictures: Mapping[str, str] | None = None,
    rng: int = 0,
) -> Survey:
    """Every item once, in an order that is drawn; words are separated by commas."""
    words, picture_of = texts or {}, pictures or {}
    item_of = {f"{n:04d}": item for n, item in enumerate(_drawn(items, rng), 1)}
    units = tuple(
        Unit(
            number,
            title="" if item in words or item in picture_of else item,
            text=words.get(item, ""),
            picture=picture_of.get(item, ""),
        )
        for number, item in item_of.items()
    )
    title = f"{TITLES[TAGGING]} Separate them by commas"
    return _survey(
        TAGGING, (Question("tags", title, "text", needed=True),), units, {"items": item_of}
    )


def hierarchy_survey(concepts: Sequence[str], *, rng: int = 0) -> Survey:
    """All concepts in an order that is drawn, each to be put below another or at the top."""
    if TOP in concepts or any("=" in concept for concept in concepts):
        raise UsageError(f"a concept is not called {TOP!r} and has no '=' in its name")
    options = tuple(Option(concept, shown_name(concept)) for concept in _drawn(concepts, rng))
    tree = Question("tree", TITLES[HIERARCHY], "tree", options, True)
    return _survey(HIERARCHY, (tree,), (Unit("tree", title="The concepts"),), {})


def _drawn(names: Sequence[str], rng: int) -> list[str]:
    if len(names) < 2:
        raise UsageError("there must be two things to arrange at least")
    twice = first_duplicate(names)
    if twice is not None:
        raise UsageError(f"{twice!r} is there twice")
    return [names[int(k)] for k in generator(rng, _STREAM).permutation(len(names))]


def _survey(
    kind: str, questions: tuple[Question, ...], units: tuple[Unit, ...], hidden: JsonObject
) -> Survey:
    form = Form(TITLES[kind], (Tab("", questions),))
    sheet = Sheet(TITLES[kind], kind, {"form": form}, units, SCENARIOS[kind])
    return Survey(sheet, {"survey": kind, "units": [u.name for u in units], **hidden})


def _rows(
    kind: str,
    column: str,
    rows: Sequence[tuple[str, str, str]],
    key: JsonObject,
    responses: Sequence[Response],
) -> SurveyRows:
    people = Respondents.of(responses, len(key["units"]))
    return SurveyRows(kind, ("subject", "item", column), tuple(rows), people)


def count_grouping(key: JsonObject, responses: Sequence[Response]) -> SurveyRows:
    """Where each person put each item, as `concepts card-sort` reads it: the name of its group."""
    rows = []
    for response in responses:
        for filled in response.done():
            places = places_of(filled.answers.get("groups", ())) or {}
            # A slash would make a group within a group of what a person wrote.
            names = [
                line.strip().replace("/", "-")
                for line in "".join(filled.answers.get("names", ())).split("\n")
            ]
            for card, item in key["cards"].items():
                number = places[card]
                name = names[number - 1] if number <= len(names) else ""
                rows.append((response.annotator, item, name or f"group {number}"))
    return _rows(GROUPING, "group", rows, key, responses)


def count_tagging(key: JsonObject, responses: Sequence[Response]) -> SurveyRows:
    """The words of each person for each item, every one once, in lower case."""
    rows = []
    for response in responses:
        for filled in response.done():
            written = _BETWEEN_TAGS.split(filled.answers["tags"][0])
            tags = dict.fromkeys(" ".join(tag.split()).lower() for tag in written)
            item = key["items"][filled.unit]
            rows += [(response.annotator, item, tag) for tag in tags if tag]
    return _rows(TAGGING, "tag", rows, key, responses)


def count_hierarchy(key: JsonObject, responses: Sequence[Response]) -> SurveyRows:
    """The way from the top to each concept; one that has others below it stands with them."""
    rows = [
        (response.annotator, concept, path)
        for response in responses
        for filled in response.done()
        for concept, path in _paths(filled.answers).items()
    ]
    return _rows(HIERARCHY, "group", rows, key, responses)


def _paths(answers: Answers) -> dict[str, str]:
    parents = parents_of(answers.get("tree", ())) or {}
    inner = set(parents.values())
    paths = {}
    for concept in parents:
        way, above = [], concept
        while above != TOP:
            way.append(above)
            above = parents[above]
        way.reverse()
        paths[concept] = "/".join(way if concept in inner or len(way) == 1 else way[:-1])
    return paths
