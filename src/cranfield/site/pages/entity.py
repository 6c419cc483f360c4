"""Pages of single runs, teams, topics, concepts and items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from cranfield.campaign.results.results_data import Link as Kind
from cranfield.campaign.results.results_data import ResultPart
from cranfield.campaign.views import View, count, run_view, team_view, text, unit_view
from cranfield.site.links import Address, slug
from cranfield.site.page_view import Block, Gallery, Link, PageContent
from cranfield.site.pages import graphs

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
    """The names of all runs, teams, topics, concepts or items that have a page."""
    material = results.material
    if kind == "run":
        return material.scores.runs
    if kind == "team":
        teams = (material.facts(run).team for run in material.scores.runs)
        return tuple(dict.fromkeys(team for team in teams if team))
    if kind == "item":
        return tuple(results.linked_items)
    return material.scores.units.get(kind, ())


def addresses(results: Results, kind: str) -> Iterator[Address]:
    for name in names(results, kind):
        yield Address(f"{kind}/{slug(name)}")


def make(results: Results, address: Address) -> PageContent:
    kind = address.path.partition("/")[0]
    name = results.entity_name(address)
    maker = {"run": _run, "team": _team}.get(kind, _unit)
    return maker(results, address, name)


def _run(results: Results, address: Address, name: str) -> PageContent:
    units = ["topic", "concept"]
    answer = run_view(results.values, name, results.boards, units)
    return PageContent(
        title=name,
        answer=answer,
        kicker="Run",
        verdict=answer.verdict,
        facts=_facts(results, address, answer, skip=("run", "baseline")),
        trail=_trail(results, address),
        columns=True,
    )


def _team(results: Results, address: Address, name: str) -> PageContent:
    answer = team_view(results.material, name, results.boards)
    return PageContent(
        title=answer.title,
        answer=answer,
        kicker=f"Team {name}" if answer.title != name else "Team",
        facts=_facts(results, address, answer, skip=("team", "name")),
        trail=_trail(results, address),
    )


def _unit(results: Results, address: Address, name: str) -> PageContent:
    kind = cast("Kind", address.path.partition("/")[0])
    if kind == "item":
        return _item(results, address, name)
    material = results.material
    answer = unit_view(results.values, kind, name, about=_about(results, kind, name))
    blocks: list[Block] = list(_galleries(results, address, kind, name))
    blocks += results.blocks_of(answer, address)
    if kind == "topic":
        blocks += graphs.topic_figures(results, name)
        assessed = _assessment(results, name)
        if assessed is not None:
            answer = View(
                answer.name,
                answer.title,
                answer.source,
                (*answer.parts, assessed),
                facts=answer.facts,
                verdict=answer.verdict,
            )
            blocks.append(results.table(assessed, address))
    meaning = material.texts.concepts.get(name) if kind == "concept" else None
    return PageContent(
        title=(meaning.title if meaning is not None else "") or name,
        answer=answer,
        blocks=blocks,
        kicker=kind.capitalize(),
        verdict=answer.verdict,
        facts=_facts(results, address, answer, skip=(kind,)),
        trail=_trail(results, address),
        columns=True,
    )


def _item(results: Results, address: Address, name: str) -> PageContent:
    """An item; what single runs do on it is shown only with the truth."""
    material, released = results.material, results.material.truth is not None
    about = _about(results, "item", name)
    if released:
        answer = unit_view(results.values, "item", name, about=about)
    else:
        answer = View("item", name, "", (), facts={"item": name, **about})
    blocks: list[Block] = list(_galleries(results, address, "item", name))
    blocks += results.blocks_of(answer, address)
    sealed = not released and material.task == "labels"
    return PageContent(
        title=name,
        answer=answer,
        blocks=blocks,
        kicker="Item",
        verdict=(SEALED_ITEMS,) if sealed else (),
        facts=_facts(results, address, answer, skip=("item",)),
        trail=_trail(results, address),
    )


def _about(results: Results, kind: str, name: str) -> dict[str, Any]:
    """What is known of a topic, concept or item, and may be shown."""
    material, texts = results.material, results.material.texts
    if kind == "topic":
        return _non_empty({"text": texts.topics.get(name, "")}) | results.visible_truth.of_topic(
            name
        )
    if kind == "concept":
        meaning = texts.concepts.get(name)
        definition = meaning.definition if meaning is not None else ""
        return _non_empty({"definition": definition}) | results.visible_truth.of_concept(name)
    facts: dict[str, Any] = _non_empty({"text": texts.items.get(name, "")})
    main = results.values.main("item")
    position = results.values.place.get("item", {}).get(name)
    if main is not None and position is not None and material.task == "labels":
        column = [row[position] for row in results.values.rows(main)]
        values = [v for v in column if v == v]
        if values:
            facts["best"] = f"{main} {results.values.best(main)[position]:.4f}"
            facts["mean"] = f"{main} {sum(values) / len(values):.4f}"
    return facts | results.visible_truth.of_item(name)


def _non_empty(facts: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in facts.items() if v}


def _facts(
    results: Results, address: Address, answer: View, skip: Sequence[str]
) -> list[tuple[str, Link]]:
    facts = []
    for key, value in answer.facts.items():
        if key in skip or value in ("", None, False) or key not in LABELS:
            continue
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        href = results.find(address, "team", text) if key == "team" else ""
        facts.append((LABELS[key], Link(text, href)))
    return facts


def _trail(results: Results, address: Address) -> list[Link]:
    kind = address.path.partition("/")[0]
    first = Link("Leaderboard", results.link(address, Address()))
    over = {"topic": "errors", "concept": "best-per-concept", "item": "best-per-item"}.get(kind)
    if over is None or not results.has(over):
        return [first]
    return [Link(results.titles[over], results.link(address, Address(over)))]


def _galleries(results: Results, address: Address, kind: str, name: str) -> Iterator[Gallery]:
    """The picture of an item, of a topic's query, of a concept's examples."""
    texts = results.material.texts
    items: Sequence[str] = (name,)
    if kind == "topic":
        items = [texts.topic_items[name]] if name in texts.topic_items else []
    elif kind == "concept":
        meaning = texts.concepts.get(name)
        items = meaning.examples if meaning is not None else ()
    pictures = [p for item in items if (p := results.picture(address, item)) is not None]
    if pictures:
        title = {"topic": "Query", "concept": "Examples"}.get(kind, "")
        yield Gallery(title, pictures)
    relevant = results.visible_truth.relevant(name) if kind == "topic" else ()
    marked = [results.picture(address, item, "relevant") for item in relevant[:PICTURES_SHOWN]]
    relevant_pictures = [p for p in marked if p is not None]
    if relevant_pictures:
        remaining = len(relevant) - len(relevant_pictures)
        note = f"... and {remaining} more in the table below" if remaining > 0 else ""
        yield Gallery("Relevant items", relevant_pictures, note)


def _assessment(results: Results, topic: str) -> ResultPart | None:
    """The relevance assessment of a topic, where it is released."""
    grades = results.visible_truth.grades(topic)
    if not grades:
        return None
    rows = tuple(sorted(grades.items(), key=lambda pair: (-pair[1], pair[0])))
    columns = (text("item", link="item"), count("grade"))
    return ResultPart("assessment", "Relevance assessment", columns, rows)
