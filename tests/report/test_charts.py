"""Charts are data: what they hold equals what the scores say."""

import json
import math
import re
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from cranfield.cli import main
from cranfield.comparison.compare import compare
from cranfield.data import Run
from cranfield.data.labels import LabelMatrix
from cranfield.data.regions import Regions
from cranfield.errors import UsageError
from cranfield.evaluation.labels import evaluate_labels
from cranfield.evaluation.precision_recall import RECALL_MEASURES, gain_curves, roc_curve
from cranfield.evaluation.ranked import evaluate
from cranfield.io.labels import read_labels
from cranfield.io.samples import SAMPLE, sample_folder
from cranfield.options import CHARTS, CHARTS_OF_BOXES, CHARTS_OF_MEASURES
from cranfield.report import charts
from cranfield.report.charts.curves import thin_points
from cranfield.report.charts.model import VEGA_LITE, Band, Bar, Cell, Dot, Line, Region, Rule, draw
from cranfield.report.charts.registry import request_chart
from tests.reference import labels as twin

RUNS = [str(SAMPLE / "runs" / f"{name}.run.gz") for name in ("pca", "pixels", "random")]
LABELS = [str(SAMPLE / "labels" / f"{name}.csv.gz") for name in ("logistic", "chance")]
QRELS, TRUTH = str(SAMPLE / "qrels.txt.gz"), str(SAMPLE / "truth.csv")


@pytest.fixture(scope="module")
def scores():
    return evaluate(QRELS, RUNS, "AP NMRR nDCG@10", collection_size=1120)


@pytest.fixture(scope="module")
def comparison(scores):
    return compare(scores, resamples=500)


def checked(chart):
    """The chart, after looking at what every chart must have and can do."""
    assert chart.title
    assert chart.description.endswith(".")
    json.dumps(chart.to_dict(), allow_nan=False)
    spec = chart.to_vega()
    assert spec["$schema"] == charts.SCHEMA
    json.dumps(spec, allow_nan=False)
    ElementTree.fromstring(chart.to_svg())
    return chart


def test_leaderboard(scores, comparison):
    drawn = checked(charts.leaderboard(comparison, "AP"))
    means = {r: m["AP"] for r, m in scores.mean().items()}
    dots = {drawn.y.names[d.y]: d.x for d in drawn.marks(Dot)}
    assert dots == means
    assert list(dots) == sorted(means, key=means.get, reverse=True)
    best = [s.run for s in comparison.standings if s.measure == "AP" and s.rank == 1]
    assert [drawn.y.names[round((r.y0 + r.y1) / 2)] for r in drawn.marks(Region)] == best
    for rule in drawn.marks(Rule):
        assert rule.x0 <= means[drawn.y.names[round(rule.y0)]] <= rule.x1
    with pytest.raises(UsageError, match="no comparison under 'AB'"):
        charts.leaderboard(comparison, "AB")


def test_vega_rows_have_names_of_runs_and_measures(scores, comparison):
    spec = charts.leaderboard(comparison, "AP").to_vega()
    rows = spec["hconcat"][0]["layer"][-1]["data"]["values"]
    assert {r["run"]: r["mean"] for r in rows} == {r: m["AP"] for r, m in scores.mean().items()}


def test_significance_shows_both_directions(comparison):
    drawn = checked(charts.significance(comparison, "AP"))
    runs = drawn.y.names
    shown = {(runs[c.y], runs[c.x]): c for c in drawn.marks(Cell)}
    assert len(shown) == 6
    for pair in (p for p in comparison.pairs if p.measure == "AP"):
        assert shown[pair.a, pair.b].value == pair.difference
        assert shown[pair.b, pair.a].value == -pair.difference
        assert shown[pair.b, pair.a].text == pair.stars


@pytest.mark.parametrize("measure, sign", [("AP", 1), ("NMRR", -1)])
def test_the_better_row_is_blue(comparison, measure, sign):
    drawn = charts.significance(comparison, measure)
    for cell in drawn.marks(Cell):
        assert drawn.ramp.share(cell.value) * cell.value * sign >= 0


def test_significance_one_tailed_shows_what_was_asked(scores):
    found = compare(scores, measures=["AP"], tail="one", baseline="pca", resamples=500)
    assert len(list(charts.significance(found).marks(Cell))) == 2


def test_heatmap(scores):
    drawn = checked(charts.heatmap(scores, "nDCG@10"))
    runs, topics = drawn.y.names, drawn.panels[0].x.names
    shown = {(runs[c.y], topics[c.x]): c.value for c in drawn.marks(Cell)}
    assert shown == {(r["run"], r["topic"]): r["nDCG@10"] for r in scores.per_topic()}


def test_differences_are_sorted_and_know_the_good_end(scores):
    bars = list(checked(charts.differences(scores, "pca", "pixels", "AP")).marks(Bar))
    gaps = [b.value for b in bars]
    assert gaps == sorted(gaps, reverse=True)
    mean = scores.mean()
    assert sum(gaps) / len(gaps) == pytest.approx(mean["pca"]["AP"] - mean["pixels"]["AP"])
    assert {b.style for b in bars if b.value > 0} == {"good"}
    lower = charts.differences(scores, "pca", "pixels", "NMRR").marks(Bar)
    assert {b.style for b in lower if b.value < 0} == {"good"}


def test_precision_recall_is_the_mean_of_interpolated_precision():
    curve = evaluate(QRELS, RUNS, RECALL_MEASURES)
    drawn = checked(charts.precision_recall(curve))
    means = curve.mean()
    for line, band in zip(drawn.marks(Line), drawn.marks(Band), strict=True):
        assert len(line.points) == 11
        for (recall, precision), (at, low, high) in zip(line.points, band.points, strict=True):
            assert at == recall
            assert precision == means[drawn.series[line.style]][f"iP@{recall:g}"]
            assert 0 <= low <= precision <= high <= 1
    with pytest.raises(UsageError, match="needs the measures iP@0"):
        charts.precision_recall(evaluate(QRELS, RUNS, "AP"))


def test_roc_against_the_slow_twin():
    rng = np.random.default_rng(3)
    for _ in range(20):
        truth = rng.random(40) < 0.4
        scores = np.round(rng.random(40), 1)
        found = roc_curve(truth, scores)
        assert found.eer == pytest.approx(twin.eer(truth.tolist(), scores.tolist()))
        slow = twin.roc_points(truth.tolist(), scores.tolist())
        np.testing.assert_allclose(found.points, slow)


def test_roc_of_one_concept_has_the_eer_of_the_measure():
    truth = read_labels(TRUTH)
    run = read_labels(LABELS[0])
    values = evaluate_labels(truth, [run], "EER AUC").per_concept()
    drawn = checked(charts.roc(truth, [run], "Prime"))
    eer = next(r["EER"] for r in values if r["concept"] == "Prime")
    assert next(drawn.marks(Dot)).x == pytest.approx(eer)
    points = next(drawn.marks(Line)).points
    assert (points[0], points[-1]) == ((0.0, 0.0), (1.0, 1.0))
    with pytest.raises(UsageError, match="no concept 'Sky'"):
        charts.roc(truth, [run], "Sky")
    with pytest.raises(UsageError, match="needs runs with confidences"):
        charts.roc(truth, [truth])


def test_a_long_curve_is_thinned_and_keeps_its_ends():
    points = [(i / 5000, (i / 5000) ** 0.5) for i in range(5001)]
    kept = thin_points(points)
    assert len(kept) <= 200
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    assert set(kept) <= set(points)


def test_scatter_and_density(scores):
    drawn = checked(charts.measures(scores, "AP", "nDCG@10"))
    mean = scores.mean()
    assert [(d.label, d.x, d.y) for d in drawn.marks(Dot)] == [
        (run, mean[run]["AP"], mean[run]["nDCG@10"]) for run in scores.runs
    ]
    with pytest.raises(UsageError, match="a matter of annotation"):
        charts.density(scores)
    labels = evaluate_labels(TRUTH, LABELS, "F.example")
    assert [d.x for d in checked(charts.density(labels)).marks(Dot)] == [
        facts["label_density"] for facts in labels.run_facts
    ]


def test_concepts_with_truth_frequency():
    truth = LabelMatrix.of({"i1": {"A", "B"}, "i2": {"A"}, "i3": {"A"}, "i4": {"B"}})
    scores = evaluate_labels(
        truth, {"m": {"i1": {"A"}, "i2": {"A"}, "i3": {"A"}, "i4": set()}}, "F.concept F.example"
    )
    drawn = checked(charts.concepts(scores, truth))
    names = drawn.panels[0].x.names
    assert {names[b.x]: b.value for b in drawn.marks(Bar)}["A"] == 1.0
    shares = {names[round((r.x0 + r.x1) / 2)]: r.y0 for r in drawn.marks(Rule)}
    assert shares == {"A": 0.75, "B": 0.5}
    with pytest.raises(UsageError, match="no value per concept"):
        charts.concepts(scores, truth, measure="F.example")


def test_behaviour_of_known_measures():
    drawn = checked(charts.behaviour("RR P@5", size=20))
    values = {drawn.series[m.style]: [p[1] for p in m.points] for m in drawn.marks(Line)}
    assert values["RR"] == [1 / rank for rank in range(1, 21)]
    assert values["P@5"] == [0.2] * 5 + [0.0] * 15
    with pytest.raises(UsageError, match="expected 1 to 20"):
        charts.behaviour("RR", size=20, relevant=21)


def gain_by_hand(truth, run, level):
    """The mean over topics of the gain with which each reaches a level of recall, or ends."""
    gains, reached = [], False
    for topic, grades in truth.items():
        relevant = sum(grade > 0 for grade in grades.values())
        gain = hits = 0
        for item in sorted(run[topic], key=run[topic].get, reverse=True):
            gain += grades.get(item, 0)
            hits += grades.get(item, 0) > 0
            if hits >= level * relevant - 1e-9:
                reached = True
                break
        gains.append(gain)
    return sum(gains) / len(gains) if reached else None


@pytest.mark.parametrize("seed", range(3))
def test_gain_against_recall_is_of_the_whole_run_and_ends_with_its_recall(seed):
    rng = np.random.default_rng(seed)
    topics = [f"t{i}" for i in range(5)]
    items = [f"d{i}" for i in range(1000)]
    truth = {
        t: {d: int(rng.integers(0, 4)) for d in rng.choice(items, 120, replace=False)}
        for t in topics
    }
    # Rankings of different lengths, none with all relevant items.
    run = {
        t: dict(zip(rng.choice(items, size, replace=False), rng.random(size), strict=True))
        for t, size in zip(topics, (950, 900, 600, 300, 40), strict=True)
    }
    (curve,) = gain_curves(truth, {"r": run}, "CG", against="recall")
    expected = [(k / 20, gain_by_hand(truth, run, k / 20)) for k in range(1, 21)]
    shown = [point for point in expected if point[1] is not None]
    assert len(shown) < 20
    assert [level for level, _ in curve.points] == [level for level, _ in shown]
    assert [gain for _, gain in curve.points] == pytest.approx([gain for _, gain in shown])
    (alone,) = gain_curves({"t0": truth["t0"]}, {"r": run}, "CG", against="recall")
    found = [d for d in run["t0"] if truth["t0"].get(d, 0) > 0]
    assert len(alone.points) == len(found)
    total = sum(grade > 0 for grade in truth["t0"].values())
    assert alone.points[-1][0] == pytest.approx(len(found) / total)
    (cut,) = gain_curves(truth, {"r": run}, "CG", against="recall", depth=100)
    assert cut.points[-1][0] < curve.points[-1][0]


def test_a_value_that_does_not_exist_is_no_number():
    runs = {"r": {"t": {"a": 1.0}}, "s": {"t": {"a": 1.0}, "u": {"a": 1.0}}}
    one = evaluate({"t": {"a": 1}, "u": {"a": 1}}, runs, "R@5", topics="run")
    drawn = checked(charts.heatmap(one))
    assert any(math.isnan(c.value) for c in drawn.marks(Cell))
    assert "nan" not in drawn.to_svg().replace(": nan<", "")


PAGES = str(sample_folder("pages"))
OF_ANNOTATION = {"roc", "density", "concepts", "concept-curves", "reliability"}


def asked(name):
    """The files and options with which a chart is drawn in these tests."""
    if name in CHARTS_OF_MEASURES:
        return []
    if name in OF_ANNOTATION:
        return ["--truth", TRUTH, *LABELS]
    if name in CHARTS_OF_BOXES:
        return [PAGES]
    return [QRELS, *RUNS, "--collection-size", "1120"]


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_through_the_command(name, tmp_path, capsys):
    target = tmp_path / "chart.json"
    assert main(["chart", name, *asked(name), "-o", str(target), "--quiet"]) == 0
    assert json.loads(target.read_text())["$schema"] == charts.SCHEMA


def test_curves_of_concepts_are_of_the_best_run(tmp_path):
    found = evaluate_labels(TRUTH, LABELS, "AP.concept")
    best = found.runs[found.best_first()[0]]
    target = tmp_path / "chart.svg"
    worst_first = [LABELS[i] for i in reversed(found.best_first())]
    asked = ["chart", "concept-curves", "--truth", TRUTH, *worst_first, "-o", str(target)]
    assert main([*map(str, asked), "--quiet"]) == 0
    assert f"concepts, {best}<" in target.read_text()


@pytest.mark.parametrize("kind, start", [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_pictures(kind, start, tmp_path):
    pytest.importorskip("vl_convert", reason="vl-convert-python (extra: report) is not installed")
    target = tmp_path / f"chart.{kind}"
    assert main(["chart", "behaviour", "-m", "AP RR", "-o", str(target)]) == 0
    assert target.read_bytes().startswith(start)


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_is_drawn_without_other_programs(name, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    target = tmp_path / "chart.svg"
    assert main(["chart", name, *asked(name), "-o", str(target), "--quiet"]) == 0
    root = ElementTree.fromstring(target.read_text())
    assert root.find("{http://www.w3.org/2000/svg}title").text
    assert root.find("{http://www.w3.org/2000/svg}desc").text
    assert "NaN" not in target.read_text()


@pytest.mark.parametrize(
    "name", ["leaderboard", "cutoffs", "perspective", "surface", "rank-changes", "concepts"]
)
def test_vega_lite_understands_every_kind_of_mark(name, tmp_path):
    pytest.importorskip("vl_convert", reason="vl-convert-python (extra: report) is not installed")
    target = tmp_path / "chart.png"
    assert main(["chart", name, *asked(name), "-o", str(target), "--quiet"]) == 0
    assert target.read_bytes().startswith(b"\x89PNG")


AWKWARD = ("a[0].b", 'it\'s "so"', "naïve ☃ (x=1)", "<b>&amp;\\n", "日本 語")
# Measures whose names are no plain words, by the kind of runs.
AWKWARD_MEASURES = {
    "gain": "DCG(discount='jk')",
    "generality-sizes": "Rprec",
    "concepts": "AP.concept",
    "density": "F.example",
}
OWN_MEASURES = {"precision-recall", "effectiveness", "topics", "cutoffs", "joint", "operating"}
OWN_MEASURES |= {
    "thresholds",
    "detections",
    "generality",
    "roc",
    "concept-curves",
    "reliability",
    *CHARTS_OF_BOXES,
}


def awkward(name):
    """A chart of runs, topics, items and concepts whose names are full of signs."""
    usual = "nDCG@5(discount='jk') RBP(p=0.8)"
    measures = None if name in OWN_MEASURES else AWKWARD_MEASURES.get(name, usual)
    rng = np.random.default_rng(2)
    if name in CHARTS_OF_MEASURES:
        return request_chart(name, measures=measures)
    if name in OF_ANNOTATION:
        items = [f"{n} {k}" for n in AWKWARD for k in range(4)]
        truth = {i: {c for c in AWKWARD if rng.random() < 0.5} for i in items}
        confidences = {n: {i: {c: rng.random() for c in AWKWARD} for i in items} for n in AWKWARD}
        runs = [LabelMatrix.of(labels, name=n) for n, labels in confidences.items()]
        return request_chart(name, runs, LabelMatrix.of(truth), measures=measures)
    if name in CHARTS_OF_BOXES:
        places = {i: [(c, *rng.integers(0, 9, 2), 9, 9) for c in AWKWARD] for i in AWKWARD}
        placed = {i: [(*b, rng.random()) for b in boxes] for i, boxes in places.items()}
        boxes = [Regions.of(placed, n) for n in AWKWARD]
        return request_chart(name, boxes, Regions.of(places), measures=measures)
    truth = {t: {f"{d} {k}": (k + len(d)) % 3 for d in AWKWARD for k in range(3)} for t in AWKWARD}
    rankings = {r: {t: {d: rng.random() for d in truth[t]} for t in AWKWARD} for r in AWKWARD}
    runs = [Run.from_dict(lists).named(r) for r, lists in rankings.items()]
    return request_chart(name, [truth, *runs], measures=measures, collection_size=100)


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_in_every_form_whatever_the_names(name):
    vl_convert = pytest.importorskip("vl_convert", reason="extra: report")
    drawn = checked(awkward(name).build())
    picture = draw(drawn, "png")
    assert picture.startswith(b"\x89PNG")
    assert draw(drawn, "pdf").startswith(b"%PDF")
    # Every field that a channel names is one of the rows, so that nothing is left undrawn.
    assert vl_convert.vegalite_to_vega(drawn.to_vega(), vl_version=VEGA_LITE)["marks"]
    for view in views_of(drawn.to_vega()):
        rows = view["data"]["values"]
        for channel in view["encoding"].values():
            if rows and "field" in channel:
                assert re.fullmatch(r"[\w@ +-]+", channel["field"])
                assert any(channel["field"] in row for row in rows)


def views_of(spec):
    """The layers of a specification."""
    for view in spec.get("hconcat", [spec]):
        yield from view["layer"]


def test_without_vl_convert_the_extra_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert main(["chart", "behaviour", "-o", str(tmp_path / "c.png")]) == 2
    assert "pip install 'cranfield[report]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "args, said",
    [
        (["heatmap", QRELS, *RUNS, "-o", "c.gif"], "a chart is written as .svg, .png, .pdf"),
        (["heatmap", "-o", "c.json"], "needs judgements and runs"),
        (["roc", QRELS, *RUNS, "-o", "c.json"], "name the truth with --truth"),
        (["scatter", QRELS, *RUNS, "-m", "AP", "-o", "c.json"], "scatter needs two measures"),
        (["differences", QRELS, RUNS[0], "-o", "c.json"], "two runs or more"),
        (["differences", QRELS, *RUNS, "--baseline", "pcs", "-o", "c.json"], "no run named 'pcs'"),
        (["behaviour", QRELS, "-o", "c.json"], "it takes no files"),
        (
            ["precision-recall", QRELS, *RUNS, "-m", "AP", "-o", "c.json"],
            "leave out --truth and -m",
        ),
        (["roc", "--truth", TRUTH, *LABELS, "-m", "AUC", "-o", "c.json"], "leave out -m"),
    ],
)
def test_what_cannot_be_drawn(args, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["chart", *args]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_notebook_display(scores, comparison):
    bundle = scores._repr_mimebundle_()
    assert "MAP" in bundle["text/plain"]
    assert "<table>" in bundle["text/html"]
    shown = comparison._repr_mimebundle_()
    drawn = charts.leaderboard(comparison)
    assert shown[charts.MIME] == drawn.to_vega() == drawn._repr_mimebundle_()[charts.MIME]
    assert shown["image/svg+xml"] == drawn.to_svg()
    named = evaluate({"t": {"a": 1}}, {"<script>": {"t": {"a": 1.0}}}, "AP")
    assert "<script>" not in named._repr_mimebundle_()["text/html"]
