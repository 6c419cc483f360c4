"""The graphs of the sources: each figure by name, with values that the text or a formula gives."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from cranfield import lab
from cranfield.comparison.standings import mean_ranks, rank_changes
from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError
from cranfield.evaluation.calibration import concept_curves, reliability
from cranfield.evaluation.labels import evaluate_labels
from cranfield.evaluation.precision_recall import (
    above_score,
    count_at_cutoffs,
    cutoff_curves,
    detection_curves,
    effectiveness_curves,
    gain_curves,
    generality_points,
    joint_points,
    operating_curves,
    threshold_curves,
    topic_curves,
)
from cranfield.evaluation.ranked import evaluate
from cranfield.io.samples import SAMPLE
from cranfield.measures import measure
from cranfield.report import charts
from cranfield.report.charts.model import Cell, Dot, Face, Line, Rule
from cranfield.report.document import document_of
from cranfield.report.tables.evaluation import rank_table

QRELS = str(SAMPLE / "qrels.txt.gz")
RUNS = [str(SAMPLE / "runs" / f"{name}.run.gz") for name in ("pca", "pixels", "random")]


def lines(chart):
    return {chart.series[m.style]: dict(m.points) for m in chart.marks(Line)}


# ---- Rocchio 2B, Table 5.1 and 5.2: (n1, n2, n3) of four query types.
TYPES = {"1": (7, 3, 3), "2": (5, 5, 5), "3": (9, 1, 9), "4": (5, 45, 45)}


@pytest.fixture(scope="module")
def rocchio():
    truth, run = {}, {}
    for topic, (hits, false, missed) in TYPES.items():
        truth[topic] = {f"r{k}": 1 for k in range(hits + missed)}
        items = [f"r{k}" for k in range(hits)] + [f"x{k}" for k in range(false)]
        run[topic] = {item: -float(n) for n, item in enumerate(items)}
    return count_at_cutoffs(truth, {"run": run}, collection_size=1000)


def test_rocchio_table_5_2_macro_and_micro(rocchio):
    """Sample means .55 and .45; population ratios 26/80 and 26/88."""
    (macro,) = effectiveness_curves(rocchio, mean="macro")
    (micro,) = effectiveness_curves(rocchio, mean="micro")
    assert macro.points[-1] == pytest.approx((0.45, 0.55))
    assert micro.points[-1] == pytest.approx((26 / 88, 26 / 80))
    assert len(macro.points) == 50


def test_rocchio_2b_joint_distribution(rocchio):
    points = {t: (p, r) for t, p, r in joint_points(rocchio, 50)}
    wanted = {"1": (0.7, 0.7), "2": (0.5, 0.5), "3": (0.9, 0.5), "4": (0.1, 0.1)}
    assert points == {t: pytest.approx(pair) for t, pair in wanted.items()}
    drawn = charts.joint(rocchio, 50)
    assert {d.label: (d.y, d.x) for d in drawn.marks(Dot)} == {
        t: pytest.approx(pair) for t, pair in wanted.items()
    }
    crossing = list(drawn.marks(Rule))
    assert crossing[0].x0 == pytest.approx(0.45)
    assert crossing[1].y0 == pytest.approx(0.55)


def test_rocchio_2d_recall_rises_and_precision_is_that_of_every_cutoff():
    """Un-interpolated: every point is (R@k, P@k) of the measures, per topic and as their mean."""
    counts = count_at_cutoffs(QRELS, RUNS)
    wanted = [f"{m}@{k}" for k in (1, 7, 50) for m in "PR"]
    scores = evaluate(QRELS, RUNS, wanted)
    means = scores.mean()
    for curve in effectiveness_curves(counts):
        recalls = [p[0] for p in curve.points]
        assert recalls == sorted(recalls)
        for k in (1, 7, 50):
            recall, precision = curve.points[k - 1]
            assert recall == pytest.approx(means[curve.name][f"R@{k}"])
            assert precision == pytest.approx(means[curve.name][f"P@{k}"])
            _, low, high = curve.band[k - 1]
            assert low <= precision <= high
    by_cutoff = cutoff_curves(counts, "recall")
    assert by_cutoff[0].points[6] == (7.0, pytest.approx(means["pca"]["R@7"]))
    own = topic_curves(counts, "pca")
    values = scores.values[measure("P@7")][0]
    assert [c.points[6][1] for c in own] == pytest.approx(values.tolist())


def test_rocchio_2c_retrieved_sets_by_score():
    run = {"t": {"a": 1.0, "b": 0.6, "c": 0.5, "d": 0.0}, "u": {"a": 10.0, "b": 2.0}}
    (absolute,) = above_score({"run": run}, 0.6)
    assert absolute.to_dict() == {"t": {"a": 1.0, "b": 0.6}, "u": {"a": 10.0, "b": 2.0}}
    (relative,) = above_score({"run": run}, "50%")
    assert relative.to_dict() == {"t": {"a": 1.0, "b": 0.6, "c": 0.5}, "u": {"a": 10.0}}
    with pytest.raises(UsageError, match="expected a number"):
        above_score({"run": run}, "half")


def test_rocchio_2c_precision_and_recall_against_the_threshold():
    truth = {"t": {"a": 1, "b": 0, "c": 1}, "u": {"x": 1, "y": 1}}
    # Shares of the way from the lowest to the highest score: 1, 0.6, 0.5, 0 and 1, 0.
    run = {"t": {"a": 1.0, "b": 0.6, "c": 0.5, "d": 0.0}, "u": {"x": 10.0, "z": 2.0}}
    precision, recall = threshold_curves(truth, {"r": run})
    by_hand = {
        0: (2 / 4 + 1 / 2, 2 / 2 + 1 / 2),
        5: (2 / 3 + 1, 1.5),
        50: (2 / 3 + 1, 1.5),
        55: (1.5, 1.0),
    }
    by_hand |= {60: (1.5, 1.0), 65: (2.0, 1.0), 100: (2.0, 1.0)}
    for share, sums in by_hand.items():
        shown = (dict(precision[0].points)[share], dict(recall[0].points)[share])
        assert shown == pytest.approx([total / 2 for total in sums])
    drawn = charts.thresholds(precision, recall)
    assert [panel.x.title for panel in drawn.panels] == [
        "threshold, % of the scores (precision)",
        "threshold, % of the scores (recall)",
    ]
    means = evaluate(QRELS, RUNS, "SetP SetR", min_score="80%").mean()
    sample = threshold_curves(QRELS, RUNS)
    for curves, name in zip(sample, ("SetP", "SetR"), strict=True):
        assert {c.name: dict(c.points)[80.0] for c in curves} == pytest.approx(
            {run: values[name] for run, values in means.items()}
        )


# ---- Chatzichristofis et al., section 2


def whole_ranking(relevant_ranks, size):
    items = {f"i{k:04d}": -float(k) for k in range(1, size + 1)}
    truth = {f"i{k:04d}": 1 for k in relevant_ranks}
    return truth, items


def test_operating_characteristic_has_the_area_of_normalised_recall():
    """Of whole rankings the area under recall against fallout is Rocchio's normalised recall."""
    truth, run = {}, {}
    rng = np.random.default_rng(5)
    for t in range(6):
        ranks = rng.choice(np.arange(1, 61), size=4 + t, replace=False).tolist()
        truth[f"t{t}"], run[f"t{t}"] = whole_ranking(ranks, 60)
    counts = count_at_cutoffs(truth, {"run": run}, collection_size=60)
    curve = operating_curves(counts)["run"]
    expected = evaluate(truth, {"run": run}, "NormRecall", collection_size=60).mean()
    assert curve.auc == pytest.approx(expected["run"]["NormRecall"])
    assert (curve.points[0], curve.points[-1]) == ((0.0, 0.0), (1.0, 1.0))
    assert "area" in charts.operating(counts).series[0]
    with pytest.raises(UsageError, match="how many items there are"):
        operating_curves(count_at_cutoffs(truth, {"run": run}))


def test_receiver_operating_characteristic_counts_a_and_b():
    """A_k detections against B_k = k - A_k false alarms."""
    truth, run = whole_ranking([1, 3, 4], 6)
    (curve,) = detection_curves(count_at_cutoffs({"t": truth}, {"r": {"t": run}}))
    assert curve.points == ((0, 1), (1, 1), (1, 2), (1, 3), (2, 3), (3, 3))


def test_generality_graph_of_huijsmans_and_sebe():
    """At normalised scope 1 precision = recall = R-precision, at generality NG / N."""
    counts = count_at_cutoffs(QRELS, RUNS, collection_size=1120, depth=200)
    scores = evaluate(QRELS, RUNS, "Rprec NumRel", collection_size=1120)
    rprec, relevant = (scores.values[measure(m)][0] for m in ("Rprec", "NumRel"))
    points = generality_points(counts, "pca")
    assert [p.generality for p in points] == pytest.approx((relevant / 1120).tolist())
    assert [p.precision for p in points] == [pytest.approx(p.recall) for p in points]
    deep_enough = relevant <= counts.cutoffs[-1]
    held = np.array([p.precision for p in points])[deep_enough]
    assert held.tolist() == pytest.approx(rprec[deep_enough].tolist())
    half = generality_points(counts, "pca", scope=0.5)
    assert all(p.recall <= p.precision for p in half)
    dots = list(charts.generality(counts, "pca", scope=0.5).marks(Dot))
    assert [d.y for d in dots[: len(half)]] == [p.precision for p in half]


def test_generality_over_collection_sizes():
    study = lab.generality(
        lab.StudyInput.ranked(QRELS, RUNS[:1], "Generality Rprec"), collection_size=1120
    )
    drawn = charts.generality_sizes(study)
    (line,) = lines(drawn).values()
    # The relevant items stay while the collection grows: generality falls.
    assert list(line) == sorted(line, reverse=True)
    assert max(line) / min(line) == pytest.approx(1120 / study.sizes[0], rel=0.01)
    assert list(line.values()) == [float(v) for v in study.scores[:, 0, 1]]


# ---- SHREC 2006: the worked example, grades by rank and two that were not retrieved
GRADES = (2, 2, 1, 2, 2, 1, 0, 1, 0, 1, 2, 0, 0, 0)
CG = (2, 4, 5, 7, 9, 10, 10, 11, 11, 12, 14, 14, 14, 14)
DCG = (
    2.0,
    4.0,
    4.63093,
    5.63093,
    6.492283,
    6.8791356,
    6.8791356,
    7.212469,
    7.212469,
    7.5134993,
    8.091629,
    8.091629,
    8.091629,
    8.091629,
)


@pytest.fixture(scope="module")
def shrec():
    truth = {f"i{n:02d}": g for n, g in enumerate(GRADES)} | {"m0": 2, "m1": 1}
    return {"q": truth}, {"run": {"q": {f"i{n:02d}": -float(n) for n in range(len(GRADES))}}}


@pytest.mark.parametrize("gain, printed", [("CG", CG), ("DCG(discount='jk')", DCG)])
def test_shrec_gain_vectors_against_rank(shrec, gain, printed):
    (curve,) = gain_curves(*shrec, gain)
    assert [v for _, v in curve.points] == pytest.approx(list(printed), abs=1e-5)


def test_shrec_gain_against_recall_at_each_relevant_item(shrec):
    (curve,) = gain_curves(*shrec, "CG", against="recall")
    ranks = [k for k, g in enumerate(GRADES) if g > 0]
    assert [v for _, v in curve.points] == [CG[k] for k in ranks]
    assert [r for r, _ in curve.points] == pytest.approx([n / 11 for n in range(1, 10)])
    drawn = charts.gains([curve], gain="CG", against="recall")
    assert drawn.title == "Average cumulated gain against recall"


def test_gain_against_recall_is_the_mean_of_topics():
    curves = gain_curves(QRELS, RUNS, "DCG", against="recall")
    recall = evaluate(QRELS, RUNS, "SetR").values[measure("SetR")]
    for curve, reached in zip(curves, recall, strict=True):
        levels = [level for level, _ in curve.points]
        # A curve ends where the recall of the best topic does.
        assert levels == [k / 20 for k in range(1, 21) if k / 20 <= reached.max() + 1e-9]
    assert all(a[1] <= b[1] + 1e-12 for c in curves for a, b in pairwise(c.points))


# ---- Chatzichristofis et al., Figures 1 to 8


@pytest.fixture(scope="module")
def two_items():
    return lab.curves("AP NMRR MNRO", size=20, relevant=2)


def test_figures_1_and_5_one_relevant_item_of_20():
    drawn = charts.one_relevant([lab.curves("AP NMRR MNRO", size=20)])
    shown = lines(drawn)
    assert list(shown) == ["1 - AP", "NMRR", "MNRO"]
    assert [shown["1 - AP"][r] for r in (1.0, 2.0, 20.0)] == pytest.approx([0, 0.5, 0.95])
    # NMRR is 1 behind its K, MNRO approaches 1 and never reaches it.
    assert shown["NMRR"][20.0] == 1.0
    assert 0.95 < shown["MNRO"][20.0] < 1.0
    assert all(values[1.0] == pytest.approx(0, abs=0.01) for values in shown.values())


def test_figures_2_and_7_combined_ranks(two_items):
    """190 combinations; the counter runs over i = 2..20 and within it over j = 1..i-1."""
    drawn = charts.combined_ranks(two_items)
    shown = lines(drawn)
    assert all(len(values) == 190 for values in shown.values())
    combined = {
        (j, i): n for n, (i, j) in enumerate(((i, j) for i in range(2, 21) for j in range(1, i)), 1)
    }
    for pair in ((1, 2), (1, 3), (4, 9), (19, 20)):
        n = float(combined[pair])
        assert shown["1 - AP"][n] == pytest.approx(1 - two_items.at("AP", *pair))
        assert shown["MNRO"][n] == pytest.approx(two_items.at("MNRO", *pair))
    assert shown["1 - AP"][1.0] == pytest.approx(0.0)


def test_figures_3_and_8_surfaces_with_curves_a_and_b(two_items):
    for name, shown in (("AP", "1 - AP"), ("NMRR", "NMRR"), ("MNRO", "MNRO")):
        drawn = charts.surface(two_items, name)
        assert drawn.ramp.title == shown
        cells = {(c.y + 1, c.x + 1): c.value for c in drawn.marks(Cell)}
        assert len(cells) == 190
        turned = (lambda v: 1 - v) if name == "AP" else (lambda v: v)
        assert cells[3, 7] == pytest.approx(turned(two_items.at(name, 3, 7)))
        best, worst = drawn.marks(Line)
        assert all(x == y + 1 for x, y in best.points)
        assert {x for x, _ in worst.points} == {19.0}
    edges = lines(charts.surface_edges(two_items))
    assert edges["MNRO, curve A"][3.0] == pytest.approx(two_items.at("MNRO", 3, 4))
    assert edges["MNRO, curve B"][3.0] == pytest.approx(two_items.at("MNRO", 3, 20))
    for name in ("1 - AP", "MNRO"):
        # A is the best case for each rank of the earlier item.
        a, b = edges[f"{name}, curve A"], edges[f"{name}, curve B"]
        assert all(a[j] <= b[j] + 1e-12 for j in a)


def test_figures_3_and_8_in_perspective(two_items):
    for name in ("AP", "NMRR", "MNRO"):
        drawn = charts.perspective(two_items, name)
        faces = list(drawn.marks(Face))
        # A square for ranks (j, i) to (j + 1, i + 1), and a triangle beside curve A for each j.
        assert Counter(len(face.points) for face in faces) == {4: 153, 3: 18}
        a, b = (mark.points for mark in drawn.marks(Line) if mark.style == "bad")
        assert len(a) == len(b) == 19
        # All placements lie on the surface, each at one place.
        corners = {point for face in faces for point in face.points}
        assert len(corners) == 190
        assert {*a, *b} < corners
        # Nearer faces are painted later: of those between the same ranks i, that of the lowest j.
        order = {face.said: n for n, face in enumerate(faces)}
        said = {said.split(":")[0]: n for said, n in order.items()}
        assert said["ranks 5 and 12"] < said["ranks 4 and 12"] < said["ranks 1 and 12"]


def test_a_higher_value_is_drawn_higher(two_items):
    """Over one place of the floor, height grows in proportion to the value but for perspective."""
    low, high = (charts.perspective(two_items, name) for name in ("NMRR", "MNRO"))
    tops = []
    for drawn in (low, high):
        curve = next(mark for mark in drawn.marks(Line) if mark.said.startswith("B"))
        tops.append([y for _, y in curve.points])
    values = [[two_items.at(n, j, 20) for j in range(1, 20)] for n in ("NMRR", "MNRO")]
    for j in range(19):
        assert (tops[0][j] < tops[1][j]) == (values[0][j] < values[1][j])


def nmrr_by_hand(j, i):
    """NMRR of two relevant items with K = 8: ranks behind K count as 1.25 K."""
    mean = sum(rank if rank <= 8 else 10.0 for rank in (j, i)) / 2
    return (mean - 1.5) / (10.0 - 1.5)


def test_figure_4_the_other_image_first_or_right_before(two_items):
    shown = lines(charts.envelope(two_items))
    low, high = shown["NMRR, j = 1"], shown["NMRR, j right before i"]
    assert (low[5.0], high[5.0]) == pytest.approx((0.1765, 0.3529), abs=5e-5)
    ranks = [2, 3, 4, 5, 6, 8, 9, 12, 16, 20]
    for i in ranks:
        assert low[i] == pytest.approx(nmrr_by_hand(1, i))
        assert high[i] == pytest.approx(nmrr_by_hand(i - 1, i))
        assert shown["1 - AP, j = 1"][i] == pytest.approx(1 - (1 + 2 / i) / 2)
        before = 1 - (1 / (i - 1) + 2 / i) / 2
        assert shown["1 - AP, j right before i"][i] == pytest.approx(before)
    # All placements lie between the two.
    for (j, i), values in zip(two_items.ranks, two_items.values, strict=True):
        value = values[two_items.measures.index("NMRR")]
        assert low[i] - 1e-12 <= value <= high[i] + 1e-12, (j, i)


def test_figure_8_by_value_at_ten_points(two_items):
    edges = lines(charts.surface_edges(two_items, low_is_good=True))
    for j in (1, 2, 3, 5, 7, 8, 9, 12, 16, 19):
        assert edges["NMRR, curve A"][j] == pytest.approx(nmrr_by_hand(j, j + 1))
        assert edges["NMRR, curve B"][j] == pytest.approx(nmrr_by_hand(j, 20))
        assert edges["1 - AP, curve A"][j] == pytest.approx(1 - (1 / j + 2 / (j + 1)) / 2)


def test_figure_6_keeps_its_shape_in_collections_of_any_size():
    sizes = (1000, 10_000, 100_000)
    drawn = charts.one_relevant([lab.curves("MNRO", size=n) for n in sizes])
    assert drawn.series == tuple(f"MNRO, N = {n:,}" for n in sizes)
    halves = [
        next(rank for rank, value in values.items() if value >= 0.5)
        for values in lines(drawn).values()
    ]
    assert halves == sorted(halves)
    # Ten times the items: half of the value is reached about ten times as deep.
    assert all(4 < b / a < 25 for a, b in pairwise(halves))


def test_table_1_values_with_their_rank_columns():
    """Figure 9 and Table 1: five ranked lists, NG = 5, N = 100."""
    places = {
        "A": (1, 2, 3, 4, 5),
        "B": (1, 3, 4, 5, 6),
        "C": (1, 2, 3, 4, 100),
        "D": (1, 2, 3, 30, 31),
        "E": (1, 2, 3, 40, 41),
    }
    runs = {}
    for name, ranks in places.items():
        at = {rank: f"r{k}" for k, rank in enumerate(ranks)}
        runs[name] = {"q": {at.get(n, f"x{n:03d}"): -float(n) for n in range(1, 101)}}
    truth = {"q": {f"r{k}": 1 for k in range(5)}}
    scores = evaluate(truth, runs, "AP NMRR MNRO", collection_size=100, gmt=10)
    table = rank_table(scores)
    assert [c.label for c in table.columns][2::2] == ["rank"] * 3
    shown = [
        [row[0], *(c.show(v) for c, v in zip(table.columns[1:], row[1:], strict=True))]
        for row in table.rows
    ]
    ranks = {row[0]: tuple(row[2::2]) for row in shown}
    assert ranks == {
        "A": ("1", "1", "1"),
        "B": ("2", "2", "2"),
        "C": ("2", "3", "3"),
        "D": ("4", "4", "4"),
        "E": ("5", "4", "5"),
    }
    assert [row[1] for row in shown] == ["1.0000", "0.8100", "0.8100", "0.6589", "0.6444"]
    assert [row[3] for row in shown] == ["0.0000", "0.0364", "0.1818", "0.3727", "0.3727"]


def test_the_generality_study_has_a_row_per_run():
    study = lab.generality(
        lab.StudyInput.ranked(QRELS, RUNS, "AP"), collection_size=1120, shares=(0.5, 1.0)
    )
    every = document_of(study).tables[1]
    assert [row[0] for row in every.rows] == ["pca", "pixels", "random"]
    assert every.rows[1][1:] == [float(v) for v in study.scores[:, 1, 0]]


# ---- Nowak


def test_figure_9_1_ranks_by_two_measures():
    runs = {
        f"r{k}": {"t": {"a": float(k), "b": 1.5}, "u": {"a": 2.0, "b": float(k)}} for k in range(4)
    }
    scores = evaluate({"t": {"a": 1}, "u": {"b": 1}}, runs, "AP P@1 RR")
    found = rank_changes(scores, measure("AP"), measure("RR"))
    assert [row.first for row in found.runs] == [1, 2, 3, 4]
    assert found.tau == pytest.approx(1.0)
    sample = evaluate(QRELS, RUNS, "AP NMRR")
    changes = rank_changes(sample, measure("AP"), measure("NMRR"))
    best = {
        m: min(sample.runs, key=lambda r: s * sample.mean()[r][m])
        for m, s in (("AP", -1), ("NMRR", 1))
    }
    assert next(r.run for r in changes.runs if r.first == 1) == best["AP"]
    assert next(r.run for r in changes.runs if r.second == 1) == best["NMRR"]
    drawn = charts.rank_changes(sample, "AP", "NMRR")
    for line, row in zip(drawn.marks(Line), changes.runs, strict=True):
        assert line.points == ((0.0, row.first - 1), (1.0, row.second - 1))


TRUTH = {"i1": {"A", "B"}, "i2": {"A"}, "i3": {"B"}, "i4": {"A"}}
LABELS = {"i1": {"A"}, "i2": {"A"}, "i3": {"A"}, "i4": {"A", "B"}}


def test_figures_9_4_and_9_5_items_under_two_measures():
    scores = evaluate_labels(TRUTH, {"m": LABELS}, "P.example R.example")
    drawn = charts.units(scores, "P.example", "R.example", ["m"])
    dots = {d.said.split(":")[0]: (d.x, d.y) for d in drawn.marks(Dot)}
    assert dots == {
        "m, i1": (1.0, 0.5),
        "m, i2": (1.0, 1.0),
        "m, i3": (0.0, 0.0),
        "m, i4": (0.5, 1.0),
    }


def test_a_run_against_a_run_topic_by_topic():
    scores = evaluate(QRELS, RUNS, "AP")
    drawn = charts.against(scores, "pca", "random", "AP")
    values = scores.values[measure("AP")]
    assert [(d.x, d.y) for d in drawn.marks(Dot)] == [
        (b, a) for a, b in zip(values[0].tolist(), values[2].tolist(), strict=True)
    ]


def test_critical_differences_after_demsar():
    """Demšar 2006, section 3.2.2: four classifiers on 14 data sets, mean ranks of Table 6.

    CD = 2.569 sqrt(4 * 5 / (6 * 14)) = 1.25.
    """
    rng = np.random.default_rng(1)
    runs = {
        f"r{k}": {f"t{t:02d}": {"a": 1.0 + k * 0.1 + rng.random(), "b": 1.5} for t in range(14)}
        for k in range(4)
    }
    truth = {f"t{t:02d}": {"a": 1} for t in range(14)}
    found = mean_ranks(evaluate(truth, runs, "RR"), measure("RR"))
    assert found.difference == pytest.approx(1.25, abs=0.005)
    assert sum(rank for _, rank in found.runs) == pytest.approx(1 + 2 + 3 + 4)
    drawn = charts.critical_difference(evaluate(truth, runs, "RR"), "RR")
    assert [d.x for d in drawn.marks(Dot)] == [rank for _, rank in found.runs]
    for start, end in found.groups:
        assert found.runs[end][1] - found.runs[start][1] < found.difference


def test_groups_of_mean_ranks_are_the_longest_that_do_not_differ():
    scores = evaluate(QRELS, RUNS, "AP")
    found = mean_ranks(scores, measure("AP"))
    assert found.runs[-1][0] == "random"
    assert all(end < 2 for _, end in found.groups)


@pytest.fixture(scope="module")
def confident():
    items = [f"i{k}" for k in range(4)]
    truth = LabelMatrix.of(
        np.array([[1, 0], [1, 1], [0, 1], [0, 0]], dtype=bool), items=items, concepts=["A", "B"]
    )
    sure = np.array([[0.9, 0.1], [0.85, 0.55], [0.95, 0.5], [0.1, 0.05]])
    return truth, LabelMatrix.of(sure, items=items, concepts=["A", "B"])


def test_reliability_counts_what_is_true_in_every_bin(confident):
    (found,) = reliability(*[confident[0], [confident[1]]], bins=10)
    rows = {round(sure, 4): (share, count) for sure, share, count in found.bins}
    assert rows[0.525] == (1.0, 2)
    assert rows[0.925] == (0.5, 2)
    assert rows[0.85] == (1.0, 1)
    expected = sum(abs(sure - share) * count for sure, share, count in found.bins) / 8
    assert found.error == pytest.approx(expected)
    line = next(charts.reliability(confident[0], [confident[1]]).marks(Line))
    assert line.points == tuple((sure, share) for sure, share, _ in found.bins)


def test_precision_against_recall_of_a_concept(confident):
    first, second = concept_curves(*confident)
    assert first.points == ((0.0, 0.0), (0.5, 0.5), (1.0, pytest.approx(2 / 3)), (1.0, 0.5))
    assert second.points[:2] == ((0.5, 1.0), (1.0, 1.0))
    drawn = charts.concept_precision_recall(*confident)
    assert drawn.series == ("A", "B")
    assert not any(math.isnan(v) for m in drawn.marks(Line) for p in m.points for v in p)
