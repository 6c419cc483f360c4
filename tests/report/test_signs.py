"""Stars, question marks and notes beside numbers: each has one meaning, and the page says which."""

from __future__ import annotations

import re

import pytest

import cranfield as cf
from cranfield.io.samples import SAMPLE
from cranfield.report.document import Column, Table
from cranfield.report.render import render, text_table
from cranfield.report.rendering import arrange_tables, transpose_table
from cranfield.report.tables.comparison import comparison_document

QRELS = str(SAMPLE / "qrels.txt.gz")


def sample_runs(*names: str) -> list[str]:
    return [str(SAMPLE / "runs" / f"{name}.run.gz") for name in names]


def summary(comparison, form="table"):
    return render(comparison_document(comparison, parts=("summary",)), form)


@pytest.fixture(scope="module")
def level():
    """Runs of which no pair differs significantly."""
    truth = {f"t{i}": {"a": 1} for i in range(4)}
    runs = {
        "base": {f"t{i}": {"a": 1.0, "b": 2.0 * (i % 2)} for i in range(4)},
        "other": {f"t{i}": {"a": 1.0, "b": 2.0 * (i == 1)} for i in range(4)},
    }
    return cf.evaluate(truth, runs, "AP P@1").compare(test="t", baseline="base")


@pytest.fixture(scope="module")
def apart():
    scores = cf.evaluate(QRELS, sample_runs("pca", "pixels", "random"), "AP P@10")
    return scores.compare(test="t", baseline="pixels")


def test_no_star_marks_the_best_where_stars_are_about_significance(level):
    assert "*" not in summary(level)
    table = comparison_document(level, parts=("summary",)).tables[0]
    assert "*" not in text_table(transpose_table(table), colour=False)
    assert "*" not in text_table(table.first(1), colour=False)
    for view in ({"sort": "AP"}, {"digits": 2}, {"transpose": True}):
        shown = render(
            arrange_tables(comparison_document(level, parts=("summary",)), **view), "table"
        )
        assert "*" not in shown


def test_no_star_where_there_are_more_groups_than_letters():
    columns = [Column("run", numeric=False), Column("AP", best="max")]
    table = Table(columns, [["a", 0.1], ["b", 0.2]], tested=True)
    assert "*" not in text_table(table, colour=False)
    # 60 runs, each a little better than the next one on every topic: 60 groups.
    topics = [f"t{i}" for i in range(30)]
    truth = {t: {f"d{j}": 1 for j in range(60)} for t in topics}
    runs = {
        f"r{n:02d}": {t: {f"d{j}": 100.0 - j for j in range(n + 1)} for t in topics}
        for n in range(60)
    }
    shown = summary(cf.evaluate(truth, runs, "R@100").compare(test="sign"))
    assert "*" not in shown
    assert "no letter" not in shown
    assert "more groups than letters" in shown


def test_stars_of_significance_are_still_explained(apart):
    shown = summary(apart)
    signs = set(re.findall(r"(?<!\*)(\*{1,3})(?!\*)", shown.split("Stars:")[0]))
    note = re.search(r"(\*[*, ]*): p at most ([\d., ]+) after", shown)
    assert signs
    assert set(note[1].split(", ")) >= signs
    levels = {"*": "0.05", "**": "0.01", "***": "0.001"}
    assert note[2].split(", ") == [levels[sign] for sign in note[1].split(", ")]


def test_footnotes_explain_only_what_is_there(level, apart):
    for text in (summary(level), " ".join(level.footnotes())):
        assert "*" not in text
        assert "?" not in text
        assert "No p is at most 0.05 after correction" in text
    assert "Stars:" not in summary(level)
    assert "Differences" not in summary(apart)
    there = {pair.stars for pair in apart.pairs}
    for sign in ("*", "**", "***"):
        named = re.search(rf"(?<!\*){re.escape(sign)}(?!\*)", apart.footnotes()[0])
        assert bool(named) == (sign in there)


def test_what_other_draws_could_change_is_marked_in_the_summary_as_in_the_pairs():
    scores = cf.evaluate(QRELS, sample_runs("pca", "pixels", "random", "network"), "AP P@10")
    found = scores.compare(baseline="pca", resamples=20)
    unsure = [pair for pair in found.pairs if not pair.sure]
    assert unsure
    table = comparison_document(found, parts=("summary",)).tables[0]
    names = [row[0] for row in table.rows]
    for pair in found.pairs:
        column = 1 + ["AP", "P@10"].index(pair.measure)
        mark = table.mark(names.index(pair.a), column)
        assert mark == pair.stars + ("" if pair.sure else "?")
    assert "?: other draws" in summary(found)


def test_every_verdict_about_tests_names_its_measure(apart):
    by_tests = [line for line in apart.verdict if "significantly" in line.lower()]
    assert len(by_tests) == 2
    assert all("MAP" in line for line in by_tests)
    assert "baseline pixels by MAP: " in " ".join(apart.verdict)


def test_notes_are_in_every_rendering():
    scores = cf.evaluate(
        {"t1": {"a": 1}, "t2": {"a": 1}}, {"<run>": {"t1": {"a": 1.0, "b": 0.5}}}, "AP"
    )
    missing = [note for note in scores.notes if "t2" in note or "topic" in note]
    assert missing
    shown = scores._repr_mimebundle_()
    for note in scores.notes:
        assert note in shown["text/plain"]
        assert note.replace("<", "&lt;").replace(">", "&gt;") in shown["text/html"]
