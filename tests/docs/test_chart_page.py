"""The pages on charts and reports name what there is, and the limits that hold."""

import runpy
from pathlib import Path

from cranfield.options import CHARTS
from cranfield.report import drilldown, sections

PAGES = Path(__file__).parents[2] / "docs" / "how-to"


def test_every_chart_is_listed_as_the_command_says_it():
    page = (PAGES / "charts.md").read_text()
    listed = dict(
        line.strip("|").replace("`", "").split("|")
        for line in page.splitlines()
        if line.startswith("| `")
    )
    found = {name.strip(): what.strip() for name, what in listed.items()}
    assert found == CHARTS


def test_the_limits_of_the_report():
    page = (PAGES / "report.md").read_text()
    for limit in (
        sections.MOST_COMPARED,
        sections.MOST_VALUES,
        sections.CURVES_SHOWN,
        sections.MOST_PAIRS,
        sections.MOST_ROWS,
        drilldown.MOST_RANKED,
        drilldown.DEPTH,
        drilldown.LEAST_DEPTH,
        drilldown.MOST_EXPLAINED,
    ):
        assert f"{limit:,}" in page


def test_every_chart_is_in_the_gallery_and_drawn():
    generate = runpy.run_path(str(PAGES.parent / "generate.py"))
    assert {chart for chart, _, _ in generate["GALLERY"]} == set(CHARTS)
    page = generate["gallery_page"]()
    for name in CHARTS:
        assert f"\n## {name}\n" in page


def test_the_pictures_of_the_gallery_can_be_made(tmp_path):
    generate = runpy.run_path(str(PAGES.parent / "generate.py"))
    generate["draw_gallery"](tmp_path)
    assert len(list(tmp_path.glob("*.svg"))) == 2 * len(generate["GALLERY"])  # and for phones
