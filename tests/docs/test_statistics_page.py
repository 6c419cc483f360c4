"""The tables of the page on statistics come from the checks, and none of them is missing."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_check_of_the_statistics_has_its_table_on_the_page():
    folder = ROOT / "docs" / "explanation"
    pages = [(folder / f"{n}.md").read_text() for n in ("statistics", "truth", "agreement", "lab")]
    source = (ROOT / "benchmarks" / "check_stats.py").read_text()
    listed = source[source.index("CHECKS: ") :]
    names = re.findall(r'^    "([a-z-]+)": ', listed, re.MULTILINE)
    assert len(names) > 5
    for name in names:
        begin, end = f"<!-- check:{name} -->\n", f"<!-- /check:{name} -->"
        page = next(page for page in pages if begin in page)
        assert page.count(begin) == page.count(end) == 1, name
        assert "|---|" in page[page.index(begin) : page.index(end)], name
