"""Pages of single runs, teams, topics, concepts and items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from cranfield.campaign.results.results_data import Link as Kind
from cranfield.campaign.results.results_data import ResultPart
from cranfield.campaign.views.answer import View, count, text
from cranfield.campaign.views.subjects import run_view, team_view, unit_view
from cranfield.site.links import Address, slug
from cranfield.site.pages import graphs
from cranfield.site.pages.made import Made
from cranfield.site.sheet import Block, Gallery, Link

if TYPE_CHECKING:
    from cranfield.site.results import Results

# More items have no page of their own; items.csv has them all.
MOST_ITEMS = 500
PICTURES_SHOWN = 100
SEALED_ITEMS = (
    "What single runs do on single items is left out while the truth is sealed: it would give "
    "labels away."
)
LABELS = {
    "team": "Team",
    "tag": "Tag",
    "configuration": "Configuration",
    "features": "Features",
    "classifier": "Classifier",
    "threshold": "Threshold",
    "description": "Description",
    "name": "Name",
    "country": "Country",
    "reference": "Reference",
    "text": "Text",
    "definition": "Definition",
    "labels": "True concepts",
    "relevant": "Relevant items",
    "best": "Best value of any run",
    "mean": "Mean of the runs",
    "frequency": "Items that show it",
}


def names(results: Results, kind: str) -> Sequence[str]:
    """Of whom there are pages."""
    material = results.material
    if kind == "run":
        return material.scores.runs
    if kind == "team":
        listed = (material.facts(run).team for run in material.scores.runs)
        return tuple(dict.fromkeys(team for team in listed if team))
    if kind == "item":
        return tuple(results.linked_items)
    return material.scores.units.get(kind, ())


def addresses(results: Results, kind: str) -> Iterator[Address]:
    for name in names(results, kind):
        yield Address(f"{kind}/{slug(name)}")


def make(results: Results, here: Address) -> Made:
    kind = here.path.partition("/")[0]
    name = results.subject(here)
    maker = {"run": _run, "team": _team}.get(kind, _unit)
    return maker(results, here, name)


def _run(results: Results, here: Address, name: str) -> Made:
    units = ["topic", "concept"]
    answer = run_view(results.values, name, results.boards, units)
    return Made(
        title=name,
        answer=answer,
        kicker="Run",
        verdict=answer.verdict,
        facts=_facts(results, here, answer, skip=("run", "baseline")),
        trail=_trail(results, here),
        columns=True,
    )


def _team(results: Results, here: Address, name: str) -> Made:
    answer = team_view(results.material, name, results.boards)
    return Made(
        title=answer.title,
        answer=answer,
        kicker=f"Team {name}" if answer.title != name else "Team",
        facts=_facts(results, here, answer, skip=("team", "name")),
        trail=_trail(results, here),
    )


def _unit(results: Results, here: Address, name: str) -> Made:
    kind = cast("Kind", here.path.partition("/")[0])
    if kind == "item":
        return _item(results, here, name)
    material = results.material
    answer = unit_view(results.values, kind, name, about=_about(results, kind, name))
    blocks: list[Block] = list(_shown(results, here, kind, name))
    blocks += results.blocks_of(answer, here)
    if kind == "topic":
        blocks += graphs.of_topic(results, name)
        assessed = _assessed(results, name)
        if assessed is not None:
            answer = View(
                answer.name,
                answer.title,
                answer.source,
                (*answer.parts, assessed),
                facts=answer.facts,
                verdict=answer.verdict,
            )
            blocks.append(results.table(assessed, here))
    meaning = material.texts.concepts.get(name) if kind == "concept" else None
    return Made(
        title=(meaning.title if meaning is not None else "") or name,
        answer=answer,
        blocks=blocks,
        kicker=kind.capitalize(),
        verdict=answer.verdict,
        facts=_facts(results, here, answer, skip=(kind,)),
        trail=_trail(results, here),
        columns=True,
    )


def _item(results: Results, here: Address, name: str) -> Made:
    """An item; what single runs do on it is shown only with the truth."""
    material, released = results.material, results.material.truth is not None
    about = _about(results, "item", name)
    if released:
        answer = unit_view(results.values, "item", name, about=about)
    else:
        answer = View("item", name, "", (), facts={"item": name, **about})
    blocks: list[Block] = list(_shown(results, here, "item", name))
    blocks += results.blocks_of(answer, here)
    sealed = not released and material.task == "labels"
    return Made(
        title=name,
        answer=answer,
        blocks=blocks,
        kicker="Item",
        verdict=(SEALED_ITEMS,) if sealed else (),
        facts=_facts(results, here, answer, skip=("item",)),
        trail=_trail(results, here),
    )


def _about(results: Results, kind: str, name: str) -> dict[str, Any]:
    """What is known of a topic, concept or item, and may be shown."""
    material, texts = results.material, results.material.texts
    if kind == "topic":
        return _said({"text": texts.topics.get(name, "")}) | results.released.of_topic(name)
    if kind == "concept":
        meaning = texts.concepts.get(name)
        definition = meaning.definition if meaning is not None else ""
        return _said({"definition": definition}) | results.released.of_concept(name)
    found: dict[str, Any] = _said({"text": texts.items.get(name, "")})
    main = results.values.main("item")
    at = results.values.place.get("item", {}).get(name)
    if main is not None and at is not None and material.task == "labels":
        column = [row[at] for row in results.values.rows(main)]
        known = [v for v in column if v == v]
        if known:
            found["best"] = f"{main} {results.values.best(main)[at]:.4f}"
            found["mean"] = f"{main} {sum(known) / len(known):.4f}"
    return found | results.released.of_item(name)


def _said(facts: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in facts.items() if v}


def _facts(
    results: Results, here: Address, answer: View, skip: Sequence[str]
) -> list[tuple[str, Link]]:
    found = []
    for key, value in answer.facts.items():
        if key in skip or value in ("", None, False) or key not in LABELS:
            continue
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        href = results.find(here, "team", shown) if key == "team" else ""
        found.append((LABELS[key], Link(shown, href)))
    return found


def _trail(results: Results, here: Address) -> list[Link]:
    kind = here.path.partition("/")[0]
    first = Link("Leaderboard", results.link(here, Address()))
    over = {"topic": "errors", "concept": "best-per-concept", "item": "best-per-item"}.get(kind)
    if over is None or not results.has(over):
        return [first]
    return [Link(results.titles[over], results.link(here, Address(over)))]


def _shown(results: Results, here: Address, kind: str, name: str) -> Iterator[Gallery]:
    """The picture of an item, of a topic's query, of a concept's examples."""
    texts = results.material.texts
    asked: Sequence[str] = (name,)
    if kind == "topic":
        asked = [texts.topic_items[name]] if name in texts.topic_items else []
    elif kind == "concept":
        meaning = texts.concepts.get(name)
        asked = meaning.examples if meaning is not None else ()
    pictures = [p for item in asked if (p := results.picture(here, item)) is not None]
    if pictures:
        title = {"topic": "Query", "concept": "Examples"}.get(kind, "")
        yield Gallery(title, pictures)
    relevant = results.released.relevant(name) if kind == "topic" else ()
    marked = [results.picture(here, item, "relevant") for item in relevant[:PICTURES_SHOWN]]
    drawn = [p for p in marked if p is not None]
    if drawn:
        more = len(relevant) - len(drawn)
        note = f"... and {more} more in the table below" if more > 0 else ""
        yield Gallery("Relevant items", drawn, note)


def _assessed(results: Results, topic: str) -> ResultPart | None:
    """The relevance assessment of a topic, where it is released."""
    grades = results.released.grades(topic)
    if not grades:
        return None
    rows = tuple(sorted(grades.items(), key=lambda pair: (-pair[1], pair[0])))
    columns = (text("item", link="item"), count("grade"))
    return ResultPart("assessment", "Relevance assessment", columns, rows)
