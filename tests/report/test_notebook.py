"""What a notebook shows of answers, and the pages and charts that they make of themselves."""

import re

import pytest

import cranfield as cf
from cranfield.errors import UsageError
from cranfield.io.samples import SAMPLE

QRELS = str(SAMPLE / "qrels.txt.gz")
RUNS = [str(SAMPLE / "runs" / f"{n}.run.gz") for n in ("pca", "pixels", "random")]


@pytest.fixture(scope="module")
def scores():
    return cf.evaluate(QRELS, RUNS, "AP NMRR")


def test_the_best_are_bold_and_the_verdict_comes_first(scores):
    shown = scores._repr_mimebundle_()["text/html"]
    assert shown.startswith("<p>pca leads")
    means = scores.mean().values()
    best = max(m["AP"] for m in means), min(m["NMRR"] for m in means)
    assert re.findall(r"<b>([\d.]+)</b>", shown) == [f"{value:.4f}" for value in best]


def test_charts_draw_themselves_everywhere(scores):
    for chart in (scores.plot(), scores.plot("NMRR"), scores.compare(test="t").plot()):
        bundle = chart._repr_mimebundle_()
        assert bundle["image/svg+xml"].startswith("<svg")
        assert "leads" not in bundle["text/plain"]
    one = cf.evaluate(QRELS, RUNS[:1], "AP").plot()
    assert "AP of every topic" in one.title
    assert "image/svg+xml" in scores.compare(test="t")._repr_mimebundle_()


def test_reports_are_files(scores, tmp_path):
    scores.report(tmp_path / "scores.html")
    assert 'id="data"' in (tmp_path / "scores.html").read_text()
    scores.compare(test="t").report(tmp_path / "compared.html")
    text = (tmp_path / "compared.html").read_text()
    assert "<svg" in text
    assert "Leaderboard: AP" in text
    assert "<script" not in text


def test_answers_without_a_chart_say_so():
    with pytest.raises(UsageError, match="no chart of a MeasureCatalogue"):
        cf.list_measures().plot()


def test_latex_is_a_table_with_caption_and_label(scores):
    text = scores.compare(test="t").to_latex()
    labels = re.findall(r"\\label\{(.+?)\}", text)
    assert len(labels) == len(set(labels)) == text.count(r"\begin{table}") > 3
    assert r"\caption{Leaderboard: AP}" in text
    assert "| run |" in scores.to_markdown()
