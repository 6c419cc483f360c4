"""Pages as HTML: Jinja2 with everything escaped; drawings are our own and escape their texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from cranfield.errors import MissingExtraError
from cranfield.site.sheet import CellView, Sheet

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

# No script at all, no style inside a page, nothing from elsewhere.
POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'"
# As many columns of a table can be spoken of as a whole.
COLUMNS = 64


@cache
def environment() -> Environment:
    """The templates of the site, which the server uses, too."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError:
        raise MissingExtraError("jinja2", "site", "the pages of results") from None
    made = Environment(
        loader=PackageLoader("cranfield.site", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["policy"] = POLICY
    made.filters["cells"] = cells
    return made


def cells(row: Sequence[CellView]) -> Markup:
    """A row of a table: a board has a thousand cells, and a macro for each cost more than all else.

    Texts and addresses are escaped here; classes and drawings are our own.
    """
    from markupsafe import Markup, escape

    return Markup("".join(_cell(one, escape) for one in row))


def _cell(one: CellView, escape: Callable[[str], str]) -> str:
    begin = f'<td class="{one.kind}">' if one.kind else "<td>"
    text = escape(one.text)
    if one.drawing is not None:
        return f"{begin}{one.drawing}<span>{text}</span>" if text else f"{begin}{one.drawing}"
    shown = f'<a href="{escape(one.href)}">{text}</a>' if one.href else text
    if one.picture is None:
        return f"{begin}{shown}"
    wide, high = one.picture.width, one.picture.height
    size = f' width="{wide // 2}" height="{high // 2}"' if wide and high else ""
    address = escape(one.picture.address)
    image = f'<img src="{address}" alt=""{size} loading="lazy">'
    return f'{begin}<span class="with">{image}{shown}</span>'


def rendered(sheet: Sheet, template: str = "page.html", **more: Any) -> str:
    """The page of a sheet."""
    return environment().get_template(template).render(sheet=sheet, **more)


def style_sheet() -> str:
    """The one style of all pages: the palette, then what is written for the site."""
    from importlib import resources

    from cranfield.report.charts.model import css_classes, css_properties

    own = resources.files("cranfield.site").joinpath("assets", "site.css").read_text("utf-8")
    return css_properties() + css_classes() + own + _columns()


def _columns() -> str:
    """Rules for whole columns, which tables name in their class: numbers, and what may be left."""

    def chosen(letter: str) -> str:
        return ",".join(f".{letter}{j} tr>:nth-child({j})" for j in range(1, COLUMNS + 1))

    numbers = f"{chosen('n')}{{text-align:right;font-variant-numeric:tabular-nums}}"
    return f"{numbers}@media (max-width:40rem){{{chosen('x')}{{display:none}}}}\n"
