"""The front page of a site: what the collection is, and the verdict on each of its tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cranfield._version import __version__
from cranfield.campaign.results.results_data import ResultPart
from cranfield.campaign.views.answer import View
from cranfield.campaign.views.board import verdict_of
from cranfield.site.links import Address, slug
from cranfield.site.page_view import Block, Link, PageView, Prose
from cranfield.site.render import render_page
from cranfield.site.results import TITLES, Frame, Page, Results
from cranfield.site.tables import part_view

if TYPE_CHECKING:
    from cranfield.data.collection import Collection

ROWS_SHOWN = 5


def home_page(frame: Frame, collection: Collection, tasks: Mapping[str, Results]) -> Page:
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
        tasks=[Link(TITLES.get(k, k), f"results/{slug(k)}/index.html") for k in tasks],
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
