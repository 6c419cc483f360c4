"""Formulas of declarations as MathML, which browsers draw without script and without style."""

from __future__ import annotations

import html
from functools import lru_cache
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from cranfield.errors import MissingExtraError

if TYPE_CHECKING:
    from markupsafe import Markup


@lru_cache(maxsize=256)
def mathml(formula: str) -> Markup:
    """A formula in LaTeX as an element of a page; its source is read where nothing is drawn."""
    from markupsafe import Markup

    try:
        from latex2mathml.converter import convert_to_element
    except ModuleNotFoundError:
        raise MissingExtraError("latex2mathml", "site", "the formulas of measures") from None
    root = convert_to_element(formula)
    root.set("alttext", formula)
    for element in root.iter():
        # Its texts have entities and no escapes; they are escaped with everything else below.
        element.text = html.unescape(element.text) if element.text else None
        # Pages allow no style of their own.
        element.attrib.pop("style", None)
    root.attrib.pop("xmlns", None)
    return Markup(ElementTree.tostring(root, encoding="unicode", short_empty_elements=False))
