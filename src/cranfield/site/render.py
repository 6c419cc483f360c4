"""Pages as HTML: Jinja2 with everything escaped; drawings escape their texts themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from cranfield.errors import MissingExtraError
from cranfield.site.page_view import CellView, PageView

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

# No script at all, no style inside a page, nothing from elsewhere.
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; form-action 'self'; "
    "base-uri 'none'"
)
FONT_FILES = ("figtree.woff2", "OFL.txt")
# As many columns of a table can be spoken of as a whole.
COLUMNS = 64


@cache
def environment() -> Environment:
    """The templates of the site, which the server uses, too."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError:
        raise MissingExtraError("jinja2", "site", "A page of results") from None
    templates = Environment(
        loader=PackageLoader("cranfield.site", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals["policy"] = POLICY
    templates.filters["cells"] = cells
    return templates


def cells(row: Sequence[CellView]) -> Markup:
    """A row of a table: a board has a thousand cells, and a macro for each cost more than all else.

    Texts and addresses are escaped here; classes and drawings come from this package.
    """
    from markupsafe import Markup, escape

    return Markup("".join(_cell(cell, escape) for cell in row))


def _cell(cell: CellView, escape: Callable[[str], str]) -> str:
    begin = f'<td class="{cell.kind}">' if cell.kind else "<td>"
    text = escape(cell.text)
    if cell.drawing is not None:
        return f"{begin}{cell.drawing}<span>{text}</span>" if text else f"{begin}{cell.drawing}"
    content = f'<a href="{escape(cell.href)}">{text}</a>' if cell.href else text
    if cell.picture is None:
        return f"{begin}{content}"
    wide, high = cell.picture.width, cell.picture.height
    size = f' width="{wide // 2}" height="{high // 2}"' if wide and high else ""
    address = escape(cell.picture.address)
    image = f'<img src="{address}" alt=""{size} loading="lazy">'
    return f'{begin}<span class="with">{image}{content}</span>'


def render_page(view: PageView, template: str = "page.html", **context: Any) -> str:
    """The HTML of a page."""
    return environment().get_template(template).render(page=view, **context)


def style_sheet() -> str:
    """The one style of all pages: the palette, then what is written for the site."""
    from importlib import resources

    from cranfield.report.charts.model import css_classes, css_properties

    site_css = resources.files("cranfield.site").joinpath("assets", "site.css").read_text("utf-8")
    return css_properties() + css_classes() + site_css + _columns()


def _columns() -> str:
    """Rules for whole columns, which tables name in their class: numbers, and what may be left."""

    def chosen(letter: str) -> str:
        return ",".join(f".{letter}{j} tr>:nth-child({j})" for j in range(1, COLUMNS + 1))

    numbers = f"{chosen('n')}{{text-align:right;font-variant-numeric:tabular-nums}}"
    return f"{numbers}@media (max-width:40rem){{{chosen('x')}{{display:none}}}}\n"


def font_files() -> dict[str, bytes]:
    """The font of the style and its licence, by where they lie beside the style sheet."""
    from importlib import resources

    folder = resources.files("cranfield.site").joinpath("static", "fonts")
    return {f"fonts/{name}": folder.joinpath(name).read_bytes() for name in FONT_FILES}
