"""Charts are data: what they hold equals what the scores say."""

import json
import math

import numpy as np
import pytest

from cranfield._reference import labels as twin
from cranfield.cli import main
from cranfield.cli.chart import CHARTS
from cranfield.cli.demo import SAMPLE
from cranfield.comparison.compare import compare
from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError
from cranfield.evaluation.labels import evaluate_labels
from cranfield.evaluation.ranked import evaluate
from cranfield.io.labels import read_labels
from cranfield.report import charts
from cranfield.report.charts.curves import RECALL_MEASURES, roc_curve, thinned

RUNS = [str(SAMPLE / "runs" / f"{name}.run.gz") for name in ("pca", "pixels", "random")]
LABELS = [str(SAMPLE / "labels" / f"{name}.csv.gz") for name in ("logistic", "chance")]
QRELS, TRUTH = str(SAMPLE / "qrels.txt.gz"), str(SAMPLE / "truth.csv")


@pytest.fixture(scope="module")
def scores():
    return evaluate(QRELS, RUNS, "AP NMRR nDCG@10", collection_size=1120)


@pytest.fixture(scope="module")
def comparison(scores):
    return compare(scores, resamples=500)


def rows(spec):
    assert spec["$schema"] == charts.SCHEMA
    assert spec["title"]
    assert spec["description"]
    json.dumps(spec, allow_nan=False)
    return spec["data"]["values"]


def test_leaderboard(scores, comparison):
    shown = rows(charts.leaderboard(comparison, "AP"))
    assert {r["run"]: r["mean"] for r in shown} == {r: m["AP"] for r, m in scores.mean().items()}
    assert [r["run"] for r in shown if r["best"]] == [
        s.run for s in comparison.standings if s.measure == "AP" and s.rank == 1
    ]
    assert all(r["low"] <= r["mean"] <= r["high"] for r in shown)
    with pytest.raises(UsageError, match="no comparison under 'AB'"):
        charts.leaderboard(comparison, "AB")


def test_significance_shows_both_directions(comparison):
    shown = {(r["a"], r["b"]): r for r in rows(charts.significance(comparison, "AP"))}
    assert len(shown) == 6
    for pair in (p for p in comparison.pairs if p.measure == "AP"):
        assert shown[pair.a, pair.b]["difference"] == pair.difference
        assert shown[pair.b, pair.a]["difference"] == -pair.difference
        assert shown[pair.b, pair.a]["stars"] == pair.stars


def test_significance_one_tailed_shows_what_was_asked(scores):
    found = compare(scores, measures=["AP"], tail="one", resamples=500)
    assert len(rows(charts.significance(found))) == 3


def test_heatmap(scores):
    shown = {(r["run"], r["topic"]): r["value"] for r in rows(charts.heatmap(scores, "nDCG@10"))}
    assert shown == {(r["run"], r["topic"]): r["nDCG@10"] for r in scores.per_topic()}


def test_differences_are_sorted_and_know_the_good_end(scores):
    spec = charts.differences(scores, "pca", "pixels", "AP")
    gaps = [r["difference"] for r in rows(spec)]
    assert gaps == sorted(gaps, reverse=True)
    mean = scores.mean()
    assert sum(gaps) / len(gaps) == pytest.approx(mean["pca"]["AP"] - mean["pixels"]["AP"])
    assert spec["encoding"]["color"]["condition"]["test"] == "datum.difference > 0"
    lower = charts.differences(scores, "pca", "pixels", "NMRR")
    assert lower["encoding"]["color"]["condition"]["test"] == "datum.difference < 0"


def test_precision_recall_is_the_mean_of_interpolated_precision():
    curve = evaluate(QRELS, RUNS, RECALL_MEASURES)
    shown = rows(charts.precision_recall(curve))
    assert len(shown) == 33
    means = curve.mean()
    for r in shown:
        assert r["precision"] == means[r["run"]][f"iP@{r['recall']:g}"]
        assert 0 <= r["low"] <= r["precision"] <= r["high"] <= 1
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
    spec = charts.roc(truth, [run], "Prime")
    eer = next(r["EER"] for r in values if r["concept"] == "Prime")
    assert spec["layer"][2]["data"]["values"][0]["eer"] == pytest.approx(eer)
    points = rows(spec)
    assert (points[0]["fpr"], points[-1]["tpr"]) == (0.0, 1.0)
    with pytest.raises(UsageError, match="no concept 'Sky'"):
        charts.roc(truth, [run], "Sky")
    with pytest.raises(UsageError, match="needs runs with confidences"):
        charts.roc(truth, [truth])


def test_a_long_curve_is_thinned_and_keeps_its_ends():
    points = [(i / 5000, (i / 5000) ** 0.5) for i in range(5001)]
    kept = thinned(points)
    assert len(kept) <= 200
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    assert set(kept) <= set(points)


def test_scatter_and_density(scores):
    shown = rows(charts.measures(scores, "AP", "nDCG@10"))
    assert shown[0] == {
        "run": "pca", "x": scores.mean()["pca"]["AP"], "y": scores.mean()["pca"]["nDCG@10"],
    }  # fmt: skip
    with pytest.raises(UsageError, match="a matter of annotation"):
        charts.density(scores)
    labels = evaluate_labels(TRUTH, LABELS, "F.example")
    assert [r["x"] for r in rows(charts.density(labels))] == [
        facts["label_density"] for facts in labels.run_facts
    ]


def test_concepts_with_truth_frequency():
    truth = LabelMatrix.of({"i1": {"A", "B"}, "i2": {"A"}, "i3": {"A"}, "i4": {"B"}})
    scores = evaluate_labels(
        truth, {"m": {"i1": {"A"}, "i2": {"A"}, "i3": {"A"}, "i4": set()}}, "F.concept F.example"
    )
    shown = {r["concept"]: r for r in rows(charts.concepts(scores, truth))}
    assert shown["A"] == {"concept": "A", "value": 1.0, "frequency": 0.75}
    assert shown["B"]["frequency"] == 0.5
    with pytest.raises(UsageError, match="no value per concept"):
        charts.concepts(scores, truth, measure="F.example")


def test_behaviour_of_known_measures():
    shown = rows(charts.behaviour("RR P@5", size=20))
    by_name = {name: [r["value"] for r in shown if r["measure"] == name] for name in ("RR", "P@5")}
    assert by_name["RR"] == [1 / rank for rank in range(1, 21)]
    assert by_name["P@5"] == [0.2] * 5 + [0.0] * 15
    with pytest.raises(UsageError, match="expected 1 to 20"):
        charts.behaviour("RR", size=20, relevant=21)


def test_a_value_that_does_not_exist_is_null():
    one = evaluate({"t": {"a": 1}, "u": {"a": 0}}, {"r": {"t": {"a": 1.0}}}, "R@5")
    assert not any(
        isinstance(r["value"], float) and math.isnan(r["value"]) for r in rows(charts.heatmap(one))
    )


OF_ANNOTATION = {"roc", "density", "concepts"}


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_through_the_command(name, tmp_path, capsys):
    target = tmp_path / "chart.json"
    files = ["--truth", TRUTH, *LABELS] if name in OF_ANNOTATION else [QRELS, *RUNS]
    files = [] if name == "behaviour" else files
    assert main(["chart", name, *files, "-o", str(target), "--quiet"]) == 0
    assert rows(json.loads(target.read_text()))


@pytest.mark.parametrize("kind, start", [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_pictures(kind, start, tmp_path):
    pytest.importorskip("vl_convert", reason="vl-convert-python (extra: report) is not installed")
    target = tmp_path / f"chart.{kind}"
    assert main(["chart", "behaviour", "-m", "AP RR", "-o", str(target)]) == 0
    assert target.read_bytes().startswith(start)


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_is_drawn(name, tmp_path):
    pytest.importorskip("vl_convert", reason="vl-convert-python (extra: report) is not installed")
    target = tmp_path / "chart.svg"
    files = ["--truth", TRUTH, *LABELS] if name in OF_ANNOTATION else [QRELS, *RUNS]
    files = [] if name == "behaviour" else files
    assert main(["chart", name, *files, "-o", str(target), "--quiet"]) == 0
    drawn = target.read_text()
    assert drawn.count("<path") > 3
    assert "NaN" not in drawn


def test_without_vl_convert_the_extra_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    assert main(["chart", "behaviour", "-o", str(tmp_path / "c.svg")]) == 2
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
    assert bundle["text/html"].startswith("<table>")
    shown = comparison._repr_mimebundle_()
    assert shown[charts.MIME] == charts.leaderboard(comparison)
    named = evaluate({"t": {"a": 1}}, {"<script>": {"t": {"a": 1.0}}}, "AP")
    assert "<script>" not in named._repr_mimebundle_()["text/html"]
