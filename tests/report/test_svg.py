"""Charts as SVG: well formed, safe, legible, and marks where they should be."""

import math
import re
import time
from xml.etree import ElementTree

import numpy as np
import pytest

from cranfield.evaluation.precision_recall import Curve, count_at_cutoffs
from cranfield.evaluation.ranked import evaluate
from cranfield.report import charts
from cranfield.report.charts import model
from cranfield.report.charts.curves import (
    Marks,
    curve_chart,
    dot_chart,
    grid_chart,
    line_chart,
    row_chart,
    tree_chart,
)
from cranfield.report.charts.layout import lay_out, place_labels, text_width
from cranfield.report.charts.model import Axis, Cell, Dot, Line, Ramp, chart

SVG = "{http://www.w3.org/2000/svg}"
NAUGHTY = 'a<b>&"c'
NAN = math.nan


def parsed(drawn):
    root = ElementTree.fromstring(drawn.to_svg())
    assert root.get("role") == "img"
    assert root.get("aria-label") == drawn.title
    assert root.find(f"{SVG}title").text == drawn.title
    assert root.find(f"{SVG}desc").text == drawn.description
    ElementTree.fromstring(drawn.to_svg(standalone=False))
    drawn.to_vega()
    return root


def words(root):
    return [e.text for e in root.iter(f"{SVG}text")]


def circles(root):
    return [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter(f"{SVG}circle")]


def test_lines_skip_what_is_unknown_and_bands_lie_behind():
    line = Curve(NAUGHTY, ((0, 1.0), (1, NAN), (2, 3.0)), ((0, 0.5, 1.5), (2, 2.0, 4.0)))
    root = parsed(line_chart([line], title=NAUGHTY, x="x", y="y"))
    assert NAUGHTY in words(root)
    (x0, y0), (x1, y1) = circles(root)[:2]
    assert x0 < x1
    assert y0 > y1  # more is higher up
    filled = [p for p in root.iter(f"{SVG}path") if p.get("opacity") == ".13"]
    assert len(filled) == 1


def test_a_band_alone_has_its_ends_drawn():
    line = Curve("AP", (), ((1, 0.0, 1.0), (10, 0.2, 0.8), (1000, 0.3, 0.7)))
    drawn = line_chart([line], title=NAUGHTY, x="x", y="y", logarithmic=True)
    assert len(next(drawn.marks(Line)).points) == 6
    assert {"1", "10", "100", "1,000"} <= set(words(parsed(drawn)))


@pytest.mark.parametrize("values", [[], [NAN], [0.5, 0.5], [0.0, 1e-9], [-1e6, 1e6]])
def test_any_numbers_can_be_drawn(values):
    dots = [("run", v, v) for v in values]
    parsed(dot_chart({"runs": dots}, title=NAUGHTY, x="x", y="y"))
    parsed(line_chart([Curve("a", tuple((v, v) for v in values))], title=NAUGHTY, x="x", y="y"))
    parsed(row_chart([Marks("r", [v], (NAN, v)) for v in values], title=NAUGHTY, x="x"))


def test_rows_have_a_mark_for_each_value():
    rows = [Marks("bits", [0.2, 0.1]), Marks("x" * 40, [0.4, 0.3], (0.2, 0.5))]
    root = parsed(row_chart(rows, title=NAUGHTY, x="AP", marks=("with", "without")))
    said = [e.text for e in root.iter(f"{SVG}title")]
    assert [s for s in said if s.startswith("bits")] == ["bits, with: 0.2", "bits, without: 0.1"]
    assert len(circles(root)) == 2 + 1  # the second kind has another shape
    assert "x" * 40 in said
    assert any(w.startswith("xxxx") and w.endswith("…") for w in words(root))


def test_branches_of_a_tree_do_not_cross():
    joins = [(("b",), ("d",), 0.1), (("a",), ("c",), 0.2), (("a", "c"), ("b", "d"), 0.6)]
    drawn = tree_chart(joins, title=NAUGHTY, x="1 - tau")
    assert [w for w in words(parsed(drawn)) if w in "abcd"] == ["a", "c", "b", "d"]
    stems = [line.points[1][0] for line in drawn.marks(Line)]
    assert stems == [0.1, 0.2, 0.6]
    parsed(tree_chart([(("a",), ("b",), 0.0)], title=NAUGHTY, x="1 - tau"))


def test_grids_colour_words():
    fills = {"yes": "g11", "no": "g4"}
    root = parsed(grid_chart({"AP": ["yes", "no"]}, ["1", "2"], fills, title=NAUGHTY))
    cells = [r.get("class") for r in root.iter(f"{SVG}rect")]
    assert cells[-2:] == ["f-g11", "f-g4"]


def test_a_file_of_its_own_brings_both_themes_and_plain_colours():
    text = line_chart([Curve("a", ((0, 1), (1, 2)))], title="t", x="x", y="y").to_svg()
    assert "prefers-color-scheme:dark" in text
    used = set(re.findall(r'class="([fk]-\w+)"', text))
    for name in used:
        assert f".{name}{{" in text
        assert f"--{name[2:]}:{model.colour(name[2:], 'dark')}" in text
    # Programs that know no style sheets still find the light colours.
    for element in ElementTree.fromstring(text).iter():
        if (element.get("class") or "").startswith(("f-", "k-")):
            assert (element.get("fill") or element.get("stroke") or "").startswith(("#", "none"))
    inside = line_chart([Curve("a", ((0, 1), (1, 2)))], title="t", x="x", y="y")
    assert "<style" not in inside.to_svg(standalone=False)


def test_every_colour_can_be_seen_on_its_paper():
    for theme in ("light", "dark"):
        colours = model.properties(theme)
        for hue in model.HUES[theme]:
            assert model.contrast(hue, colours["paper"]) >= 3
        for name in ("ink", "quiet", "accent", "good", "bad"):
            assert model.contrast(colours[name], colours["paper"]) >= 4.5
        for name in (n for n in colours if n.endswith("t") and f"{n[:-1]}" in colours):
            assert model.contrast(colours[name], colours[name[:-1]]) >= 4.5


def test_sixty_series_can_be_told_apart():
    assert len({(model.colour(i), model.dash(i)) for i in range(60)}) == 60
    assert len({(model.colour(i), model.marker(i)) for i in range(60)}) == 60


def test_labels_of_near_dots_do_not_collide():
    dots = [(100 + 3 * (k % 8), 100 + 4 * (k // 8), 50.0) for k in range(24)]
    placed = place_labels(dots, (0, 0, 400, 400))
    areas = [(p.x, p.y - 10, p.x + 50, p.y + 3) for p in placed if p]
    assert len(areas) >= 20
    for k, a in enumerate(areas):
        for b in areas[k + 1 :]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def sixty(width=None):
    curves = [
        Curve(f"group{k // 10}-run{k % 10}", tuple((x / 10, k / 60) for x in range(11)))
        for k in range(60)
    ]
    axes = {"x": Axis("recall", "recall", (0, 1)), "y": Axis("precision", "precision", (0, 1))}
    drawn = curve_chart(curves, title="Sixty", description="Sixty lines.", **axes)
    return drawn.sized(width=width)


@pytest.mark.parametrize("width", [None, 800, 390])
def test_sixty_names_stand_in_the_picture_without_covering_each_other(width):
    drawn = sixty(width)
    layout = lay_out(drawn)
    assert width is None or layout.width == width
    root = parsed(drawn)
    names = [t for t in root.iter(f"{SVG}text") if (t.text or "").startswith("group")]
    assert len(names) == 60
    places = [(float(t.get("x")), float(t.get("y")), text_width(t.text)) for t in names]
    for k, (x, y, wide) in enumerate(places):
        assert x >= 0
        assert x + wide <= layout.width
        assert layout.bottom < y <= layout.height
        for a, b, _ in places[k + 1 :]:
            assert abs(b - y) >= 12 or abs(a - x) >= wide


@pytest.mark.slow
def test_sixty_runs_on_two_hundred_topics_are_drawn_in_little_time():
    rng = np.random.default_rng(7)
    topics = [f"t{t:03d}" for t in range(200)]
    truth = {t: {f"d{i}": int(rng.random() < 0.3) for i in range(30)} for t in topics}
    runs = {
        f"run{r:02d}": {
            t: {i: g * r / 60 + float(rng.random()) for i, g in truth[t].items()} for t in topics
        }
        for r in range(60)
    }
    scores = evaluate(truth, runs, "AP nDCG@10")
    counts = count_at_cutoffs(truth, runs)
    makers = [
        lambda: charts.heatmap(scores),
        lambda: charts.measures(scores, "AP", "nDCG@10"),
        lambda: charts.effectiveness(counts),
        lambda: charts.topics(counts),
        lambda: charts.critical_difference(scores),
    ]
    for make in makers:
        start = time.process_time()
        make().to_svg()
        make().to_vega()
        assert time.process_time() - start < 30


def test_sizes_and_titles_are_those_asked_for():
    root = parsed(sixty().sized(title="Another", width=700, height=900))
    assert (root.get("width"), root.get("height")) == ("700", "900")
    assert "Another" in words(root)


def test_cells_take_the_steps_of_the_ramp():
    cells = [Cell(k, 0, value) for k, value in enumerate((0.0, 0.5, 1.0, NAN))]
    axes = Axis("", "x", names=tuple("abcd")), Axis("", "y", names=("r",))
    drawn = chart("t", "d", *axes, [cells], ramp=Ramp("v", 0.0, 1.0))
    classes = [r.get("class") for r in parsed(drawn).iter(f"{SVG}rect")]
    assert classes[1:4] == ["f-h0", "f-h8", "f-h15"]
    turned = chart("t", "d", *axes, [cells], ramp=Ramp("v", 0.0, 1.0, reverse=True))
    assert [r.get("class") for r in parsed(turned).iter(f"{SVG}rect")][1] == "f-h15"


def test_dots_without_a_place_are_left_out():
    drawn = chart("t", "d", Axis("x"), Axis("y"), [[Dot(1, 1), Dot(NAN, 2), Dot(3, 3)]])
    assert len(circles(parsed(drawn))) == 2


def test_cells_between_names_have_their_size_in_vega_lite():
    """Beside marks that lie between names an axis counts in numbers, and cells need their ends."""
    cells = [Cell(x, y, 0.5) for x in range(2) for y in range(2)]
    axes = Axis("", "x", names=("a", "b")), Axis("", "y", names=("c", "d"))
    between = [Line(((0.5, 0.5), (1.0, 1.0)), "ink")]
    drawn = chart("t", "d", *axes, [cells, between], ramp=Ramp("v", 0.0, 1.0))
    layer = drawn.to_vega()["layer"][0]
    assert layer["encoding"]["x"]["scale"]["domain"] == [-0.5, 1.5]
    first = layer["data"]["values"][0]
    assert (first[layer["encoding"]["x"]["field"]], first["x_high"]) == (-0.5, 0.5)
    assert (first[layer["encoding"]["y"]["field"]], first["y_high"]) == (-0.5, 0.5)
    plain_cells = chart("t", "d", *axes, [cells], ramp=Ramp("v", 0.0, 1.0)).to_vega()["layer"][0]
    assert plain_cells["encoding"]["x"]["type"] == "nominal"
