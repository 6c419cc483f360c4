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
    units = [Unit(i, text=words.get(i, ""), picture=picture_of.get(i, "")) for i in items]
    sheet = Sheet(TITLE, kinds.CATEGORIES, {"form": form}, tuple(units)).shuffled(rng)
    return Survey(sheet, {"survey": kinds.CATEGORIES, "units": list(items), "categories": names})


def count_categories(key: Mapping[str, Any], responses: Sequence[Response]) -> SurveyRows:
    """Votes as `uncertain` reads them: CSV subject,item,category."""
    rows = [
        (response.annotator, filled.unit, filled.answers["category"][0])
        for response in responses
        for filled in response.done()
    ]
    people = Respondents.of(responses, len(key["units"]))
    return SurveyRows(kinds.CATEGORIES, ("subject", "item", "category"), tuple(rows), people)
