"""The results of a task as pages: what `publish` writes as files and a server gives one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cranfield._version import __version__
from cranfield.answers import Answer
from cranfield.campaign.results.answer import ResultTable
from cranfield.errors import UsageError
from cranfield.report.render import render
from cranfield.report.tables import document_of
from cranfield.site.links import Address, Links, slug
from cranfield.site.pages.made import Made
from cranfield.site.render import rendered
from cranfield.site.sheet import Block, Link, Sheet
from cranfield.site.tables import part_view, table_view

if TYPE_CHECKING:
    from cranfield.campaign.results import Material
    from cranfield.measures import Measure

# The first part of an address -> the module that makes the page.
PAGES = {
    "": "board",
}
# Pages in the menu, and what stands there; those that a task has nothing for are left out.
MENU = (("", "Leaderboard"),)


class NoPageError(UsageError):
    """There is no page at an address."""


@dataclass(frozen=True)
class Frame:
    """What surrounds the pages: whose site it is, which other tasks there are, what is sealed."""

    site: str = ""
    tasks: Sequence[str] = ()
    banner: str = ""
    sealed: str = ""
    home: str = "index.html"
    style: str = "site.css"


@dataclass(frozen=True)
class Page:
    """A page: its title, the HTML of all of it, and the answer from which its data come."""

    title: str
    html: str
    answer: Answer = field(repr=False)

    def data(self, form: str) -> str:
        """The same as JSON, or its first table as CSV that no spreadsheet obeys."""
        return render(document_of(self.answer), form, spreadsheet=form == "csv")


class Results:
    """The pages of a task; `links` says how they refer to one another."""

    def __init__(self, material: Material, links: Links, frame: Frame | None = None) -> None:
        self.material, self.links = material, links
        self.frame = frame or Frame(site=material.title)

    def addresses(self) -> list[Address]:
        """Every page that a static site has."""
        found = []
        for name in PAGES:
            found += list(self._module(name).addresses(self))
        return found

    def page(self, address: str = "", query: Mapping[str, str] | None = None) -> Page:
        """The page at an address such as `run/a.b`; a NoPageError where there is none."""
        here = Address(address.strip("/"), dict(query or {}))
        kind = here.path.partition("/")[0]
        if kind not in PAGES:
            raise NoPageError(f"there is no page {address!r}")
        made: Made = self._module(kind).make(self, here)
        sheet = self._sheet(made, here)
        return Page(made.title, rendered(sheet), made.answer)

    # ---- what the makers of pages ask for

    def link(self, here: Address, there: Address, ending: str = "html") -> str:
        """From one page to another."""
        return self.links.page(here, there, ending)

    def find(self, here: Address, kind: str, name: str) -> str:
        """The address of the page of a run, team, topic, concept or item, or nothing."""
        if name not in self._subjects.get(kind, ()):
            return ""
        return self.link(here, Address(f"{kind}/{slug(name)}"))

    def subject(self, here: Address) -> str:
        """Of whom a page speaks: the name behind `run/a.b`."""
        kind, _, asked = here.path.partition("/")
        for name, part in self._slugs[kind].items():
            if part == asked:
                return name
        raise NoPageError(f"there is no {kind} {asked!r}")

    def measure(self, name: str | None) -> Measure:
        """A measure by its name, or the primary one."""
        if not name:
            return self.material.primary
        try:
            return self.material.measure(name)
        except UsageError as error:
            raise NoPageError(str(error)) from None

    def run_named(self, name: str | None) -> str | None:
        """A run by its name; a NoPageError where there is none."""
        if name and name not in self.material.scores.runs:
            raise NoPageError(f"there is no run {name!r}")
        return name or None

    @cached_property
    def has_teams(self) -> bool:
        """Whether runs belong to teams."""
        return any(facts.team for facts in self.material.run_facts.values())

    def blocks_of(self, answer: Answer, here: Address) -> list[Block]:
        """The tables of an answer, names with their links."""

        def find(kind: str, name: str) -> str:
            return self.find(here, kind, name)

        if isinstance(answer, ResultTable):
            return [part_view(part, find) for part in answer.parts]
        return [table_view(table, find) for table in document_of(answer).tables]

    # ---- inside

    @cached_property
    def _subjects(self) -> dict[str, frozenset[str]]:
        """Which names have pages, by kind."""
        return {kind: frozenset(names) for kind, names in self._names()}

    @cached_property
    def _slugs(self) -> dict[str, dict[str, str]]:
        return {kind: {n: slug(n) for n in names} for kind, names in self._names()}

    def _names(self) -> Iterator[tuple[str, Sequence[str]]]:
        for kind, module in PAGES.items():
            listed = getattr(self._module(kind), "names", None)
            if listed is not None and module:
                yield kind, tuple(listed(self))

    @staticmethod
    def _module(name: str) -> Any:
        return import_module(f"cranfield.site.pages.{PAGES[name]}")

    def _sheet(self, made: Made, here: Address) -> Sheet:
        frame = self.frame
        return Sheet(
            title=made.title,
            site=frame.site or self.material.title,
            style=self.links.root(here, frame.style),
            home=Link(frame.site, self.links.root(here, frame.home)),
            menu=self._menu(here),
            tasks=[
                Link(TITLES.get(t, t), self.links.task(here, t), t == self.material.task)
                for t in frame.tasks
            ]
            if len(frame.tasks) > 1
            else (),
            trail=made.trail,
            kicker=made.kicker,
            verdict=made.verdict,
            facts=made.facts,
            choices=made.choices,
            blocks=self.blocks_of(made.answer, here) if made.blocks is None else made.blocks,
            data=[Link(e.upper(), self.link(here, here, e)) for e in ("json", "csv")],
            banner=frame.banner,
            sealed=frame.sealed,
            made_by=f"Made by Cranfield {__version__}.",
        )

    def _menu(self, here: Address) -> list[Link]:
        kind = here.path.partition("/")[0]
        return [
            Link(text, self.link(here, Address(path)), path == kind)
            for path, text in MENU
            if path in PAGES
        ]


TITLES = {"ranked": "Retrieval", "labels": "Annotation"}
