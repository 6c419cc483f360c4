"""Bars beside the numbers, on a terminal only."""

from cranfield.report.document import Column, Document, Table
from cranfield.report.render import render

TABLE = Table([Column("run", numeric=False), Column("AP", bar=True)], [["a", 0.5], ["b", 0.25]])
DOCUMENT = Document({}, [TABLE])


def bars(text: str) -> list[int]:
    return [line.count("█") for line in text.splitlines()[2:]]


def test_the_largest_value_has_the_full_bar_and_half_of_it_half():
    assert bars(render(DOCUMENT, "table", colour=True)) == [20, 10]


def test_no_bars_where_a_program_reads():
    assert "█" not in render(DOCUMENT, "table", colour=False)
    assert "█" not in render(DOCUMENT, "csv", colour=True)


def test_missing_and_zero_values_have_no_bar():
    empty = Table(TABLE.columns, [["a", None], ["b", 0.0]])
    assert bars(render(Document({}, [empty]), "table", colour=True)) == [0, 0]
