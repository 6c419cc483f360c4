"""What a page shows, ready for the template: no template computes anything.

The content of a page: the answer, and how the page shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cranfield.answers import Answer

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Link:
    """A text that leads somewhere; `here` marks the choice that is shown."""

    text: str
    href: str = ""
    here: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of an item or a topic."""

    address: str
    text: str
    caption: str = ""
    width: int | None = None
    height: int | None = None
    mark: str = ""
    href: str = ""


class CellView(NamedTuple):
    """A cell: its text, where it leads, its classes, and a drawing beside it.

    A tuple, because a page has a thousand of them.
    """

    text: str
    href: str = ""
    kind: str = ""
    drawing: Markup | None = None
    picture: Picture | None = None


@dataclass(frozen=True, slots=True)
class TableView:
    """A table with its caption; `heads` are cells without links. A wide one spans the page.

    `aligned` are classes that say of whole columns what else each of their cells would have to.
    """

    title: str
    heads: Sequence[CellView]
    rows: Sequence[Sequence[CellView]]
    notes: Sequence[str] = ()
    wide: bool = False
    tall: bool = False
    aligned: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart as SVG."""

    title: str
    drawing: Markup
    note: str = ""


@dataclass(frozen=True, slots=True)
class Gallery:
    """Pictures side by side."""

    title: str
    pictures: Sequence[Picture]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Prose:
    """Paragraphs, and perhaps lines as they stand in a file, and where more is."""

    title: str
    paragraphs: Sequence[str]
    verbatim: str = ""
    links: Sequence[Link] = ()
    kind: str = ""


Block: TypeAlias = TableView | Figure | Gallery | Prose


@dataclass(frozen=True, slots=True)
class Choice:
    """A row of links of which one is shown."""

    label: str
    options: Sequence[Link]


@dataclass(frozen=True, slots=True)
class PageView:
    """A whole page."""

    title: str
    site: str
    style: str
    icon: str
    home: Link
    menu: Sequence[Link] = ()
    # The pages behind the chosen tab of the menu.
    pages: Sequence[Link] = ()
    # Stands for the header of whoever looks, which a server puts in.
    header: str = ""
    tasks: Sequence[Link] = ()
    trail: Sequence[Link] = ()
    kicker: str = ""
    verdict: Sequence[str] = ()
    facts: Sequence[tuple[str, Link]] = ()
    choices: Sequence[Choice] = ()
    blocks: Sequence[Block] = ()
    # Blocks stand beside one another where the page is wide enough.
    columns: bool = False
    data: Sequence[Link] = ()
    banner: str = ""
    sealed: str = ""
    made_by: str = ""


@dataclass(frozen=True)
class PageContent:
    """A page before its surroundings; without blocks the parts of the answer are shown."""

    title: str
    answer: Answer
    blocks: Sequence[Block] | None = None
    kicker: str = ""
    verdict: Sequence[str] = ()
    facts: Sequence[tuple[str, Link]] = ()
    choices: Sequence[Choice] = ()
    trail: Sequence[Link] = ()
    columns: bool = False
