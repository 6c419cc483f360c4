"""The front page of a site: what the collection is, and the verdict on each of its tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cranfield._version import __version__
from cranfield.campaign.people import People
from cranfield.campaign.results.results_data import ResultPart
from cranfield.campaign.views import View, verdict_of
from cranfield.report.charts.curves import vote_charts
from cranfield.site.links import Address, slug
from cranfield.site.page_view import Block, Link, PageView, Prose
from cranfield.site.pages.graphs import figure
from cranfield.site.render import render_page
from cranfield.site.results import TITLES, Frame, Page, Results
from cranfield.site.tables import part_view

if TYPE_CHECKING:
    from cranfield.data.collection import Collection

ROWS_SHOWN = 5
ABOUT_PEOPLE = (
    "No judgement is behind these figures: people put items into categories, or made lists of "
    "their own, and runs are held against what each of them thinks (Santini, Benchmarking without "
    "Ground Truth). Differences between people are part of the intervals."
)


def home_page(
    frame: Frame,
    collection: Collection,
    tasks: Mapping[str, Results],
    people: People | None = None,
) -> Page:
    """The first rows of every leaderboard, with the way to all of it."""
    parts, blocks = [], []
    for kind, results in tasks.items():
        board = results.boards[results.material.primary]
        total = len(board.rows)
        title = f"The first {ROWS_SHOWN} of {total} runs" if total > ROWS_SHOWN else "All runs"
        part = ResultPart(kind, title, board.columns, board.rows[:ROWS_SHOWN])
        verdict = verdict_of(
            results.material.scores, results.material.comparison, results.material.primary
        )
        parts.append(part)
        blocks += _task(kind, results, part, verdict)
    links = [Link(TITLES.get(k, k), f"results/{slug(k)}/index.html") for k in tasks]
    if people is not None:
        address = "people/index.html"
        whole = Link("All tables and curves", address)
        blocks.append(Prose(people.view.title, people.view.verdict, links=(whole,), kind="lead"))
        blocks.append(part_view(people.view.parts[0], lambda *_: ""))
        parts.append(people.view.parts[0])
        links.append(Link(people.view.title, address))
    facts: list[tuple[str, Link]] = [
        (label, Link(text))
        for label, text in (
            ("Version", collection.version),
            ("Licence", collection.licence),
            ("Items", f"{collection.size:,}" if collection.size else ""),
            ("Series", collection.series),
            ("Year", collection.year),
        )
        if text
    ]
    answer = View("home", frame.site, "", tuple(parts), facts={"tasks": list(tasks)})
    page_view = PageView(
        title="Results",
        site=frame.site,
        style=frame.style,
        icon=frame.icon,
        home=Link(frame.site, frame.home),
        tasks=links,
        facts=facts,
        blocks=blocks,
        data=[Link("JSON", "index.json"), Link("CSV", "index.csv")],
        banner=frame.banner,
        sealed=frame.sealed,
        made_by=f"Made by Cranfield {__version__}.",
    )
    return Page(frame.site, render_page(page_view), answer)


def _task(kind: str, results: Results, part: ResultPart, verdict: tuple[str, ...]) -> list[Block]:
    def find(entity_kind: str, name: str) -> str:
        address = results.find(Address(), entity_kind, name)
        return f"results/{slug(kind)}/{address}" if address else ""

    board_link = Link("The whole leaderboard", f"results/{slug(kind)}/index.html")
    return [
        Prose(TITLES.get(kind, kind), verdict, links=(board_link,), kind="lead"),
        part_view(part, find),
    ]


def people_page(frame: Frame, people: People) -> Page:
    """What people's votes and lists say of the runs: tables, and curves with bands."""
    view = people.view
    blocks: list[Block] = [Prose("In short", [*view.verdict, ABOUT_PEOPLE], kind="lead")]
    if people.votes is not None:
        blocks += [figure(chart) for chart in vote_charts(people.votes)]
    blocks += [part_view(part, lambda *_: "") for part in view.parts]
    if notes := view.facts["notes"]:
        blocks.append(Prose("Notes", notes))
    page_view = PageView(
        title=view.title,
        site=frame.site,
        style=f"../{frame.style}",
        icon=f"../{frame.icon}",
        home=Link(frame.site, f"../{frame.home}"),
        trail=[Link(frame.site, f"../{frame.home}")],
        blocks=blocks,
        data=[Link("JSON", "index.json"), Link("CSV", "index.csv")],
        banner=frame.banner,
        made_by=f"Made by Cranfield {__version__}.",
    )
    return Page(view.title, render_page(page_view), view)
