"""The sources place by place: every row is worked out, and its figure and status hold."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "sources"
sys.path.insert(0, str(FOLDER))

import rows  # noqa: E402

LEAST = {"ch": 25, "no": 60, "ro": 15, "sa": 15, "sh": 20}
EVERY = [(source, row) for source in rows.SOURCES for row in rows.read_rows(source)]


def cases():
    for source, row in EVERY:
        marks = [pytest.mark.wordnet] if row.needs == "wordnet" else []
        yield pytest.param(row, id=f"{source} {row.name}", marks=marks)


@pytest.mark.parametrize("row", list(cases()))
def test_the_row_holds(row):
    if row.needs and row.needs != "wordnet":
        pytest.importorskip(row.needs)
    _, wrong = rows.check(row)
    assert not wrong


@pytest.mark.parametrize("source", LEAST)
def test_enough_places_and_none_twice(source):
    names = [row.name for of, row in EVERY if of == source]
    assert len(names) >= LEAST[source]
    assert len(set(names)) == len(names)


def test_a_row_that_no_longer_holds_is_told():
    row = rows.Row("eq. 3", "AP", "equal", call="at('AP', [1, 3], 4)", printed=["0.84"])
    assert rows.check(row)[1]
    assert not rows.check(rows.Row("eq. 3", "AP", "equal", call=row.call, printed=["0.83"]))[1]
    call, ours = "at('P@1', [1], 4)", 1.0
    differs = rows.Row(
        "x", "y", "differs", call=call, printed=["2"], ours=ours, why="z", erratum="?!"
    )
    assert rows.check(differs)[1] == ["has no erratum '?!'"]


def test_a_row_that_runs_nothing_of_the_product_is_told():
    by_hand = rows.Row("x", "y", "equal", call="1 + 1", printed=["2"])
    assert rows.check(by_hand)[1] == ["runs nothing of Cranfield: its status is 'recounted'"]
    assert not rows.check(replace(by_hand, status="recounted"))[1]
    assert rows.check(replace(by_hand, status="recounted", printed=["3"]))[1]
    own = rows.Row("x", "y", "recounted", call="at('AP', [1, 3], 4)", printed=["0.83"])
    assert rows.check(own)[1] == ["runs Cranfield: it is not 'recounted'"]


def test_pages_have_a_line_for_every_row(tmp_path):
    text = rows.page("sa")
    assert text.count("\n| ") == len(rows.read_rows("sa")) + 1
    index = rows.index_page()
    for letters, _ in rows.SOURCES.values():
        assert f"[{letters}]" in index
    assert "`at(names" in index
