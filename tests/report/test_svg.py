"""Charts as SVG: well formed, safe, and where they should be."""

import math
import re
from xml.etree import ElementTree

import pytest

from cranfield.report.svg import (
    Line,
    Marks,
    dot_chart,
    grid_chart,
    line_chart,
    row_chart,
    tree_chart,
)

SVG = "{http://www.w3.org/2000/svg}"
NAUGHTY = 'a<b>&"c'
NAN = math.nan


def parsed(text):
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img"
    assert root.get("aria-label") == NAUGHTY
    return root


def words(root):
    return [e.text for e in root.iter(f"{SVG}text")]


def circles(root):
    return [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter(f"{SVG}circle")]


def test_lines_skip_what_is_unknown_and_bands_lie_behind():
    line = Line(NAUGHTY, [(0, 1.0), (1, NAN), (2, 3.0)], [(0, 0.5, 1.5), (2, 2.0, 4.0)])
    root = parsed(line_chart([line], title=NAUGHTY, x="x", y="y"))
    assert NAUGHTY in words(root)
    (x0, y0), (x1, y1) = circles(root)
    assert x0 < x1
    assert y0 > y1  # more is higher up
    filled = [p for p in root.iter(f"{SVG}path") if p.get("opacity") == ".13"]
    assert len(filled) == 1


def test_a_band_alone_has_its_ends_drawn():
    line = Line("AP", band=[(1, 0.0, 1.0), (10, 0.2, 0.8), (1000, 0.3, 0.7)])
    root = parsed(line_chart([line], title=NAUGHTY, x="x", y="y", logarithmic=True))
    assert len([p for p in root.iter(f"{SVG}path") if p.get("fill") == "none"]) == 2
    assert {"1", "10", "100", "1,000"} <= set(words(root))


@pytest.mark.parametrize("values", [[], [NAN], [0.5, 0.5], [0.0, 1e-9], [-1e6, 1e6]])
def test_any_numbers_can_be_drawn(values):
    dots = [("run", v, v) for v in values]
    parsed(dot_chart({"runs": dots}, title=NAUGHTY, x="x", y="y"))
    parsed(line_chart([Line("a", [(v, v) for v in values])], title=NAUGHTY, x="x", y="y"))
    parsed(row_chart([Marks("r", [v], (NAN, v)) for v in values], title=NAUGHTY, x="x"))


def test_rows_have_a_mark_for_each_value():
    rows = [Marks("bits", [0.2, 0.1]), Marks("x" * 40, [0.4, 0.3], (0.2, 0.5))]
    root = parsed(row_chart(rows, title=NAUGHTY, x="AP", marks=("with", "without")))
    said = [e.text for e in root.iter(f"{SVG}title")]
    assert said[-2:] == ["with", "without"]  # the legend
    assert [s for s in said if s.startswith("bits")] == ["bits, with: 0.2", "bits, without: 0.1"]
    assert len(circles(root)) == 2 + 1  # the second kind has another shape
    assert "x" * 21 + "…" in words(root)


def test_branches_of_a_tree_do_not_cross():
    joins = [(("b",), ("d",), 0.1), (("a",), ("c",), 0.2), (("a", "c"), ("b", "d"), 0.6)]
    root = parsed(tree_chart(joins, title=NAUGHTY, x="1 - tau"))
    assert [w for w in words(root) if w in "abcd"] == ["a", "c", "b", "d"]
    ends = [re.findall(r"H([\d.]+)V", p.get("d")) for p in root.iter(f"{SVG}path")]
    stems = [float(e[0]) for e in ends if e]
    assert stems == sorted(stems)
    same = [(("a",), ("b",), 0.0)]
    parsed(tree_chart(same, title=NAUGHTY, x="1 - tau"))


def test_grids_colour_words():
    root = parsed(grid_chart({"AP": ["yes", "no"]}, ["1", "2"], {"yes": "#0f0", "no": "#f00"},
                             title=NAUGHTY))  # fmt: skip
    assert [r.get("fill") for r in root.iter(f"{SVG}rect")] == ["#0f0", "#f00"]
