"""Which category does an item belong to? Votes for uncertain truth (Santini, 4).

People see the categories and nothing of their tree, nor the root that holds them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cranfield.campaign.annotation_task import Response, Sheet, Unit
from cranfield.campaign.forms import Form, Option, Question, Tab, shown_name
from cranfield.campaign.surveys import kinds
from cranfield.campaign.surveys.survey import Respondents, Survey, SurveyRows
from cranfield.data.categories import CategoryGraph
from cranfield.errors import UsageError
from cranfield.io.votes import read_categories

TITLE = "Which category fits best?"
_KEYS = "qwertyuiopasdfghjklzxcvbnm"


def category_survey(
    categories: Any,
    items: Sequence[str],
    *,
    texts: Mapping[str, str] | None = None,
    pictures: Mapping[str, str] | None = None,
    rng: int = 0,
) -> Survey:
    """Every item once; `categories` is CSV category,parent or a graph of them."""
    graph = categories if isinstance(categories, CategoryGraph) else read_categories(categories)
    names = [name for name in graph.parents if name != graph.root]
    if len(names) < 2 or not items:
        raise UsageError("votes need two categories and an item at least")
    options = tuple(
        Option(name, shown_name(name), key=_KEYS[k] if k < len(_KEYS) else "")
        for k, name in enumerate(names)
    )
    question = Question("category", TITLE, "one", options, True)
    form = Form(TITLE, (Tab("", (question,)),), at_once=True)
    words, picture_of = texts or {}, pictures or {}
    named = Sheet(TITLE, kinds.CATEGORIES, {"form": form}, tuple(Unit(i) for i in items))
    # Numbered as they are shown: the id of an item, or its place in a file, may tell its category.
    item_of = {f"{n:04d}": unit.name for n, unit in enumerate(named.shuffled(rng).units, 1)}
    units = tuple(
        Unit(
            number,
            title="" if i in words or i in picture_of else i,
            text=words.get(i, ""),
            picture=picture_of.get(i, ""),
        )
        for number, i in item_of.items()
    )
    key = {
        "survey": kinds.CATEGORIES,
        "units": list(item_of),
        "items": item_of,
        "categories": names,
    }
    return Survey(Sheet(TITLE, kinds.CATEGORIES, {"form": form}, units), key)


def count_categories(key: Mapping[str, Any], responses: Sequence[Response]) -> SurveyRows:
    """Votes as `uncertain` reads them: CSV subject,item,category."""
    # Keys of before units were numbered have no table of items.
    item_of = key.get("items", {})
    rows = [
        (response.annotator, item_of.get(filled.unit, filled.unit), filled.answers["category"][0])
        for response in responses
        for filled in response.done()
    ]
    people = Respondents.of(responses, len(key["units"]))
    return SurveyRows(kinds.CATEGORIES, ("subject", "item", "category"), tuple(rows), people)
