"""Formulas of declarations as MathML: all of them are understood, and none is obeyed."""

import re
from xml.etree import ElementTree

import pytest

pytest.importorskip("jinja2")

from cranfield.features import DESCRIPTORS, DISTANCES
from cranfield.io.samples import SAMPLE
from cranfield.measures import REGISTRY
from cranfield.site.publish import publish
from cranfield.site.tables import mathml

DECLARED = {
    str(one): one.formula for kind in (REGISTRY, DESCRIPTORS, DISTANCES) for one in kind.values()
}
# A measure with a choice among its parameters has a formula for each.
DECLARED |= {
    str(variant): variant.formula
    for one in REGISTRY.values()
    for name, param in one.params.items()
    for choice in param.choices or ()
    if (variant := one.bind(**{name: choice})).formula != one.formula
}


@pytest.mark.parametrize("name", DECLARED)
def test_no_command_of_latex_is_left_in_a_formula(name):
    root = ElementTree.fromstring(mathml(DECLARED[name]))
    assert root.tag == "math"
    annotation = root.find("semantics/annotation")
    assert annotation.text == DECLARED[name]
    annotation.text = ""
    assert "\\" not in "".join(root.itertext())
    assert not [
        value for element in root.iter() for value in element.attrib.values() if "\\" in value
    ]
    assert not [element for element in root.iter() if "style" in element.attrib]


def test_what_looks_like_markup_in_a_formula_is_text():
    drawn = mathml("a < b </math><script>alert(1)</script>")
    assert "<script" not in drawn
    assert ElementTree.fromstring(drawn) is not None
    assert "a<b</math>" in "".join(ElementTree.fromstring(drawn).itertext())


def test_published_pages_draw_formulas_and_have_the_icon(tmp_path):
    publish(SAMPLE, tmp_path / "site", resamples=200)
    assert (tmp_path / "site/icon.svg").read_text().startswith("<svg")
    for page in (tmp_path / "site").rglob("*.html"):
        text = page.read_text()
        icon = re.search('<link rel="icon" href="([^"]*)">', text)[1]
        assert (page.parent / icon).resolve() == (tmp_path / "site/icon.svg").resolve()
    (method,) = (tmp_path / "site/results/ranked").glob("method.html")
    text = method.read_text()
    assert "<math " in text
    assert "\\frac" not in re.sub("<annotation.*?</annotation>", "", text, flags=re.S)
