"""The results of a task as pages: what `publish` writes as files and a server gives one by one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NoReturn

from cranfield._lazy import cached_property
from cranfield._version import __version__
from cranfield.answers import Answer
from cranfield.campaign.results.results_data import ResultPart, ResultTable
from cranfield.campaign.views import Values, leaderboard
from cranfield.errors import CranfieldError, UsageError
from cranfield.report.document import document_of
from cranfield.report.render import render
from cranfield.site.extras import Extras
from cranfield.site.links import Address, Links, slug
from cranfield.site.page_view import Block, Link, PageContent, PageView, Picture, TableView
from cranfield.site.pictures import Pictures
from cranfield.site.render import render_page
from cranfield.site.tables import part_view, table_view, unit_scale
from cranfield.site.truth_visibility import VisibleTruth

if TYPE_CHECKING:
    from cranfield.campaign.results import ResultsData
    from cranfield.measures import Measure

TITLES = {"ranked": "Retrieval", "labels": "Annotation", "regions": "Regions"}
SUBJECTS = ("run", "team", "topic", "concept", "item")
# The first part of an address -> the module that makes the page, and the words of the menu.
PAGES: dict[str, tuple[str, str]] = {
    "": ("board", "Leaderboard"),
    "best-per-group": ("result_tables", "Teams"),
    "per-configuration": ("result_tables", "Configurations"),
    "errors": ("result_tables", "Where runs fail"),
    "best-per-topic": ("result_tables", "Topics"),
    "best-per-concept": ("result_tables", "Concepts"),
    "best-per-item": ("result_tables", "Hardest items"),
    "frequency": ("result_tables", "Frequency"),
    "occurrence": ("result_tables", "Occurrence"),
    "rank-changes": ("result_tables", "Changes of rank"),
    "compare": ("compare", "Compare"),
    "participation": ("result_tables", "Participation"),
    "years": ("result_tables", "Years"),
    "method": ("about", "Method"),
    "files": ("about", "Files"),
    "changes": ("about", "Changes"),
    **dict.fromkeys(SUBJECTS, ("entity", "")),
}
# The tabs of a task and the pages behind each; the first page that there is opens a tab.
TABS: dict[str, tuple[str, ...]] = {
    "Leaderboard": ("",),
    "Analysis": (
        "errors",
        "compare",
        "rank-changes",
        "per-configuration",
        "frequency",
        "occurrence",
        "best-per-item",
    ),
    "Topics": ("best-per-topic",),
    "Concepts": ("best-per-concept",),
    "Teams": ("best-per-group", "participation", "years"),
    "About": ("method", "files", "changes"),
}
# Under which tab the pages of single subjects stand.
SUBJECT_TABS = {
    "run": "Leaderboard",
    "team": "Teams",
    "topic": "Topics",
    "concept": "Concepts",
    "item": "Analysis",
}
# The query parameters of each page; other pages have none.
PAGE_QUERIES = {"": ("measure", "conf", "best", "baseline"), "compare": ("measure", "runs")}
MOST_ITEMS, MOST_BOARDS = 500, 8


def page_query(path: str, query: Mapping[str, str]) -> dict[str, str]:
    """The parameters of a query that the page at an address knows.

    >>> page_query("compare", {"runs": "a,b", "x": "1"})
    {'runs': 'a,b'}
    """
    return {k: query[k] for k in PAGE_QUERIES.get(path.strip("/"), ()) if k in query}


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
    icon: str = "icon.svg"
    # What lies above the site.
    above: Sequence[Link] = ()
    # What stands where a server puts the header of whoever looks; a static page has its own.
    header: str = ""


@dataclass(frozen=True)
class Page:
    """A page: its title, the HTML of all of it, and the answer from which its data come."""

    title: str
    html: str
    answer: Answer = field(repr=False)

    def data(self, form: str) -> str:
        """The same as JSON, or its first table as CSV that no spreadsheet obeys."""
        document = document_of(self.answer)
        if form == "csv" and not document.tables:
            return ""
        return render(document, form, spreadsheet=form == "csv")


class Results:
    """The pages of a task; `links` says how they refer to one another.

    Answers are cached, so that one `Results` serves many pages.
    """

    def __init__(
        self,
        material: ResultsData,
        links: Links,
        frame: Frame | None = None,
        extras: Extras | None = None,
    ) -> None:
        self.material, self.links = material, links
        self.frame, self.extras = frame or Frame(site=material.title), extras or Extras()
        self.values, self.pictures = Values(material), Pictures(material.texts)
        self.visible_truth = VisibleTruth(material.truth)
        # Answers of pages that were made already, None where there is nothing to show.
        self.answers: dict[str, Answer | None] = {}
        self._boards: OrderedDict[Hashable, PageContent] = OrderedDict()
        self._slugs: dict[str, dict[str, str]] = {}

    def cached_board(self, key: Hashable, make: Callable[[], PageContent]) -> PageContent:
        """The leaderboard page of a key, from the cache of the last ones or built now."""
        content = self._boards.get(key)
        if content is None:
            content = self._boards[key] = make()
            while len(self._boards) > MOST_BOARDS:
                self._boards.popitem(last=False)
        return content

    def addresses(self) -> list[Address]:
        """Every page that a static site has."""
        return [address for kind in PAGES for address in self._module(kind).addresses(self, kind)]

    def page(self, address: str = "", query: Mapping[str, str] | None = None) -> Page:
        """The page at an address such as `run/a.b`; a NoPageError where there is none."""
        page_address = Address(address.strip("/"), page_query(address, query or {}))
        kind, _, name_slug = page_address.path.partition("/")
        if kind not in PAGES or bool(name_slug) != (kind in SUBJECTS):
            self.raise_no_page(page_address)
        content: PageContent = self._module(kind).make(self, page_address)
        return Page(
            content.title, render_page(self._page_view(content, page_address)), content.answer
        )

    # ---- used by the modules of pages

    def raise_no_page(self, address: Address) -> NoReturn:
        """Raise the NoPageError of an address."""
        raise NoPageError(f"there is no page {address.path!r}")

    def link(self, origin: Address, target: Address, ending: str = "html") -> str:
        """From one page to another."""
        return self.links.page(origin, target, ending)

    def find(self, origin: Address, kind: str, name: str) -> str:
        """The address of the page of a run, team, topic, concept, item or file, or nothing."""
        if kind == "file":
            address = next((f.address for f in self.extras.files if f.name == name), "")
            return self.links.root(origin, address) if address else ""
        part = self._slugs_of(kind).get(name)
        return "" if part is None else self.link(origin, Address(f"{kind}/{part}"))

    def entity_name(self, address: Address) -> str:
        """The name of the run, team, topic, concept or item at an address such as `run/a.b`."""
        kind, _, name_slug = address.path.partition("/")
        slugs = self._slugs_of(kind).items()
        name = next((name for name, address_part in slugs if address_part == name_slug), None)
        if name is None:
            self.raise_no_page(address)
        return name

    def measure(self, name: str | None) -> Measure:
        """A measure by its name, or the primary one."""
        if not name:
            return self.material.primary
        try:
            return self.material.measure(name)
        except CranfieldError as error:
            raise NoPageError(str(error)) from None

    def run_named(self, name: str | None) -> str | None:
        """A run by its name; a NoPageError where there is none."""
        if name and name not in self.values.at:
            raise NoPageError(f"there is no run {name!r}")
        return name or None

    @property
    def titles(self) -> dict[str, str]:
        """What pages are called in the menu."""
        return {kind: text for kind, (_, text) in PAGES.items()}

    def has(self, kind: str) -> bool:
        """Whether there is anything to show at an address without a subject.

        A menu asks this of every page, so no page is made to answer it.
        """
        return bool(self._module(kind).is_possible(self, kind))

    def shows(self, measure: Measure) -> bool:
        """Whether the values of single units may be listed: those of items with the truth only."""
        unit = self.material.scores.unit_of[measure]
        has_values = measure in self.material.scores.values and unit != "whole"
        return has_values and (unit != "item" or self.material.truth is not None)

    @cached_property
    def has_teams(self) -> bool:
        """Whether runs belong to teams."""
        return any(self.material.facts(run).team for run in self.material.scores.runs)

    @cached_property
    def boards(self) -> dict[Measure, ResultPart]:
        """The leaderboard under every measure."""
        material = self.material
        return {
            m: leaderboard(
                material.scores,
                material.comparison,
                material.run_facts,
                measure=m,
                baseline=material.baseline or None,
            ).parts[0]
            for m in material.scores.measures
        }

    @cached_property
    def curve_values(self) -> dict[float, list[list[float]]] | None:
        """Interpolated precision by level of recall: a list of topics per run."""
        scores = self.extras.curve
        if scores is None:
            return None
        return {float(m.at or 0.0): scores.plain_values(m) for m in scores.measures}

    def best_runs(self, count: int) -> list[str]:
        """The best runs by the primary measure."""
        order = self.material.scores.best_first(self.material.primary)
        return [self.material.scores.runs[i] for i in order[:count]]

    @cached_property
    def linked_items(self) -> list[str]:
        """The items with a page: those that tables lead to, at most so many."""
        texts = self.material.texts
        linked = dict.fromkeys(
            texts.topic_items[t] for t in self._topics_with_items(texts.topic_items)
        )
        for concept in self.material.scores.units.get("concept", ()):
            meaning = texts.concepts.get(concept)
            linked |= dict.fromkeys(meaning.examples if meaning is not None else ())
        result_tables = import_module("cranfield.site.pages.result_tables")
        for kind in ("best-per-item", "errors"):
            answer = result_tables.answer_of(self, kind)
            for part in answer.parts if isinstance(answer, ResultTable) else ():
                item_columns = [j for j, c in enumerate(part.columns) if c.link == "item"]
                linked |= dict.fromkeys(str(row[j]) for row in part.rows for j in item_columns)
        relevant = [
            self.visible_truth.relevant(t) for t in self.material.scores.units.get("topic", ())
        ]
        # The first of every topic, then the second: each topic has some.
        for items in zip_longest(*relevant) if any(relevant) else ():
            linked |= dict.fromkeys(item for item in items if item is not None)
            if len(linked) >= MOST_ITEMS:
                break
        return list(linked)[:MOST_ITEMS]

    def _topics_with_items(self, topic_items: Mapping[str, str]) -> list[str]:
        return [t for t in self.material.scores.units.get("topic", ()) if t in topic_items]

    def picture(self, origin: Address, item: str, mark: str = "") -> Picture | None:
        """The picture of an item, which leads to its page."""
        if item not in self.pictures or item not in self._slugs_of("item"):
            return None
        width, height = self.pictures.size(item) or (None, None)
        address = self.link(origin, Address(f"picture/{slug(item)}"), "png")
        href = self.find(origin, "item", item)
        on_own_page = origin.path == f"item/{slug(item)}"
        link = "" if on_own_page else href
        return Picture(address, f"Item {item}", item, width, height, mark, link)

    def table(self, part: ResultPart, origin: Address) -> TableView:
        """A part of an answer as this page shows it."""
        return part_view(
            part,
            lambda kind, name: self.find(origin, kind, name),
            lambda item: self.picture(origin, item),
            scale=unit_scale(part) if part.name == "measures" else None,
        )

    def blocks_of(self, answer: Answer, origin: Address) -> list[Block]:
        """The tables of an answer, names with their links."""
        if isinstance(answer, ResultTable):
            return [self.table(part, origin) for part in answer.parts]
        find = lambda kind, name: self.find(origin, kind, name)  # noqa: E731
        return [table_view(table, find) for table in document_of(answer).tables]

    # ---- inside

    def _slugs_of(self, kind: str) -> dict[str, str]:
        """The address of every name of a kind with a page; those of items need other pages."""
        if kind not in SUBJECTS:
            return {}
        if kind not in self._slugs:
            names = self._module("run").names(self, kind)
            self._slugs[kind] = {name: slug(name) for name in names}
        return self._slugs[kind]

    @staticmethod
    def _module(kind: str) -> Any:
        return import_module(f"cranfield.site.pages.{PAGES[kind][0]}")

    def _page_view(self, content: PageContent, origin: Address) -> PageView:
        frame, site = self.frame, self.frame.site or self.material.title
        return PageView(
            title=content.title,
            site=site,
            style=self.links.root(origin, frame.style),
            icon=self.links.root(origin, frame.icon),
            home=Link(site, self.links.root(origin, frame.home)),
            menu=list(self._menu(origin)),
            pages=list(self._pages_of_tab(origin)),
            header=frame.header,
            tasks=list(self._tasks(origin)),
            trail=self._trail(content, origin),
            kicker=content.kicker,
            verdict=content.verdict,
            facts=content.facts,
            choices=content.choices,
            blocks=self.blocks_of(content.answer, origin)
            if content.blocks is None
            else content.blocks,
            columns=content.columns,
            data=[Link(e.upper(), self.link(origin, origin, e)) for e in ("json", "csv")],
            banner=frame.banner,
            sealed=frame.sealed,
            made_by=f"Made by Cranfield {__version__}.",
        )

    def _trail(self, content: PageContent, origin: Address) -> list[Link]:
        """The way from the first page to this one."""
        frame, task = self.frame, self.material.task
        site = Link(frame.site or self.material.title, self.links.root(origin, frame.home))
        board = Link(TITLES.get(task, task), self.link(origin, Address()))
        between = [link for link in content.trail if link.href != board.href]
        return [*frame.above, site, *([board, *between] if origin.path else [])]

    def _tasks(self, origin: Address) -> Iterator[Link]:
        if len(self.frame.tasks) > 1:
            for task in self.frame.tasks:
                address = self.links.task(origin, task)
                yield Link(TITLES.get(task, task), address, task == self.material.task)

    def _menu(self, origin: Address) -> Iterator[Link]:
        """The tabs that have a page."""
        current = self._tab(origin)
        for tab in TABS:
            kinds = self._kinds_of(tab)
            if kinds:
                yield Link(tab, self.link(origin, Address(kinds[0])), tab == current)

    def _pages_of_tab(self, origin: Address) -> Iterator[Link]:
        """The pages behind the tab of a page, where there are several."""
        kinds = self._kinds_of(self._tab(origin))
        current = origin.path.partition("/")[0]
        if len(kinds) > 1:
            for kind in kinds:
                yield Link(PAGES[kind][1], self.link(origin, Address(kind)), kind == current)

    def _kinds_of(self, tab: str) -> list[str]:
        return [kind for kind in TABS[tab] if self.has(kind)]

    @staticmethod
    def _tab(origin: Address) -> str:
        kind = origin.path.partition("/")[0]
        if kind in SUBJECT_TABS:
            return SUBJECT_TABS[kind]
        return next(tab for tab, kinds in TABS.items() if kind in kinds)
