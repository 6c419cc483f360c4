"""Pages as HTML: Jinja2 with everything escaped; drawings are our own and escape their texts."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from cranfield.errors import MissingExtraError
from cranfield.site.sheet import Sheet

if TYPE_CHECKING:
    from jinja2 import Environment

# No script at all, no style inside a page, nothing from elsewhere.
POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'"


@cache
def environment() -> Environment:
    """The templates of the site, which the server uses, too."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("jinja2", "site", "the pages of results") from None
    made = Environment(
        loader=PackageLoader("cranfield.site", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["policy"] = POLICY
    return made


def rendered(sheet: Sheet, template: str = "page.html", **more: Any) -> str:
    """The page of a sheet."""
    return environment().get_template(template).render(sheet=sheet, **more)


def style_sheet() -> str:
    """The one style of all pages: the palette, then what is written for the site."""
    from importlib import resources

    from cranfield.report.charts.palette import css_classes, css_properties

    own = resources.files("cranfield.site").joinpath("assets", "site.css").read_text("utf-8")
    return css_properties() + css_classes() + own
