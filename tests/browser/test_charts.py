"""The script of the report draws a model as Python draws it."""

import json
import re
from xml.etree import ElementTree

import pytest

from cranfield.comparison.compare import compare
from cranfield.evaluation.precision_recall import RECALL_MEASURES
from cranfield.evaluation.ranked import evaluate
from cranfield.io.samples import SAMPLE
from cranfield.report import charts
from cranfield.report.cases import ComparedScores
from cranfield.report.page import report_page
from cranfield.report.render import still_page
from cranfield.report.sections import score_section

SVG = "{http://www.w3.org/2000/svg}"
QRELS = str(SAMPLE / "qrels.txt.gz")
RUNS = [str(SAMPLE / "runs" / f"{name}.run.gz") for name in ("pca", "pixels", "random")]
NUMBERS = ("d", "x", "y", "cx", "cy", "width", "height", "transform")


@pytest.fixture(scope="module")
def scores():
    return evaluate(QRELS, RUNS, "AP NMRR")


@pytest.fixture(scope="module")
def comparison(scores):
    return compare(scores, resamples=500)


@pytest.fixture(scope="module")
def page(tmp_path_factory, scores, comparison):
    section = score_section(ComparedScores(scores, comparison), title="Part", tables=())
    recall = charts.precision_recall(evaluate(QRELS, RUNS, RECALL_MEASURES))
    levels = {"levels": [], "curves": []}
    section.data |= {"charts": {"recall": recall.to_dict()}, "recall": levels}
    target = tmp_path_factory.mktemp("page") / "page.html"
    target.write_text(report_page("Charts", [section]))
    return target


def by_python(chart):
    root = ElementTree.fromstring(chart.to_svg(standalone=False))
    return [
        (e.tag.removeprefix(SVG), e.get("class"), numbers(e.get), e.text or "")
        for e in root.iter()
        if e.tag.removeprefix(SVG) in ("path", "rect", "circle", "text")
    ]


def numbers(attribute):
    text = " ".join(attribute(name) or "" for name in NUMBERS)
    return [float(n) for n in re.findall(r"-?[.\d]+(?:e-?\d+)?", text)]


def by_script(page, position):
    found = page.js(
        """return [...document.querySelectorAll("#part-1 svg.chart")][arguments[0]]
        .querySelectorAll("path, rect, circle, text").values().map((e) => [e.tagName,
        e.getAttribute("class").replace(" choose", ""),
        Object.fromEntries(arguments[1].map((n) => [n, e.getAttribute(n)])),
        e.tagName === "text" ? e.firstChild.textContent : ""]).toArray()""",
        position,
        NUMBERS,
    )
    return [(tag, name, numbers(attributes.get), text) for tag, name, attributes, text in found]


def test_the_script_draws_what_python_draws(open_page, page, scores, comparison):
    # In the order of the page: the best by AP first, as in the comparison.
    drawn = {
        0: charts.leaderboard(comparison, "AP"),
        1: charts.significance(comparison, "AP"),
        2: charts.heatmap(scores, "AP"),
        -1: charts.precision_recall(evaluate(QRELS, RUNS, RECALL_MEASURES)),
    }
    shown = open_page(page)
    count = shown.js("return document.querySelectorAll('#part-1 svg.chart').length")
    for position, chart in drawn.items():
        expected, found = by_python(chart), by_script(shown, position % count)
        assert len(found) == len(expected)
        for (tag, name, places, text), (tag2, name2, places2, text2) in zip(
            sorted_marks(expected), sorted_marks(found), strict=True
        ):
            assert (tag2, name2) == (tag, name)
            assert places2 == pytest.approx(places, abs=0.06)
            assert text2 == text or tag != "text" or text in ("AP", "MAP")


def sorted_marks(marks):
    return sorted(marks, key=lambda m: (m[0], str(m[1]), [round(n) for n in m[2]]))


def test_the_model_in_the_page_is_that_of_python(page):
    data = json.loads(page.read_text().split('id="data">')[1].split("</script>")[0])
    chart = charts.precision_recall(evaluate(QRELS, RUNS, RECALL_MEASURES))
    assert data["sections"][0]["charts"]["recall"] == json.loads(json.dumps(chart.to_dict()))


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_in_charts(open_page, tmp_path, comparison, scores, axe, dark):
    """Pictures inside a page without a script: named, described, with enough contrast."""
    drawn = [
        charts.leaderboard(comparison),
        charts.significance(comparison),
        charts.measures(scores, "AP", "NMRR"),
        charts.differences(scores, "pca", "random"),
        charts.precision_recall(evaluate(QRELS, RUNS, RECALL_MEASURES)),
    ]
    figures = "".join(f"<figure>{c.to_svg(standalone=False)}</figure>" for c in drawn)
    target = tmp_path / "still.html"
    # The page says by itself that it is ready: it has no script that would.
    page = still_page("Charts", figures).replace("<html", '<html data-ready="yes"', 1)
    target.write_text(page)
    shown = open_page(target, dark=dark)
    shown.driver.set_script_timeout(120)
    shown.js(axe + "; window.axe = axe;")
    found = shown.driver.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run(document, {resultTypes: ['violations']}).then((r) => done(r.violations.map("
        "(v) => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 200)])));"
    )
    assert found == []
    assert shown.logged() == []
