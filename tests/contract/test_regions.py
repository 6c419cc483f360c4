"""Runs that place boxes: values by hand, sets and names, intervals, the command."""

import json

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.errors import InputError, MeasureError, UsageError
from cranfield.evaluation.regions import region_curves
from cranfield.measures.regions import REGION_SETS, parse_region_measures

TRUTH = {
    "a": [("cat", 0, 0, 10, 10), ("cat", 50, 0, 10, 10)],
    "b": [("cat", 0, 0, 10, 10)],
    "c": [],
}
# Overlaps with the truth: 1, 80/120, none, none.
RUN = {
    "a": [("cat", 0, 0, 10, 10, 0.9), ("cat", 52, 0, 10, 10, 0.6)],
    "b": [("cat", 80, 0, 10, 10, 0.8)],
    "c": [("cat", 0, 0, 10, 10, 0.3)],
}


def value(measure, truth=TRUTH, run=RUN):
    return cf.evaluate_regions(truth, {"r": run}, measure).mean()["r"][
        str(parse_region_measures(measure)[0])
    ]


def lrp(right, wrong, missed, least):
    placed = sum((1 - overlap) / (1 - least) for overlap in right)
    return (placed + wrong + missed) / (len(right) + wrong + missed)


def test_lrp_by_hand():
    near = 80 / 120
    assert value("LRP.region(threshold=0.85)") == pytest.approx(lrp([1], 0, 2, 0.5))
    assert value("LRP.region(threshold=0.5)") == pytest.approx(lrp([1, near], 1, 1, 0.5))
    assert value("LRP.region(threshold=0.5, iou=0.6)") == pytest.approx(lrp([1, near], 1, 1, 0.6))
    every = [lrp([1], 0, 2, 0.5), lrp([1], 1, 2, 0.5), lrp([1, near], 1, 1, 0.5)]
    assert value("LRP.region") == pytest.approx(min([*every, lrp([1, near], 2, 1, 0.5)]))
    assert value("oLRP") == value("LRP.region")


def test_lrp_does_not_part_boxes_that_are_equally_sure():
    run = {"a": [("cat", 0, 0, 10, 10, 0.5)], "b": [("cat", 80, 0, 10, 10, 0.5)], "c": []}
    assert value("LRP.region", run=run) == pytest.approx(lrp([1], 1, 2, 0.5))


def test_lrp_without_a_box_is_1():
    assert value("LRP.region", run={"a": [("dog", 0, 0, 1, 1, 0.5)]}) == 1


def test_panoptic_quality_by_hand():
    near = 80 / 120
    assert value("PQ.region") == pytest.approx((1 + near) / (2 + 1 / 2 + 1 / 2))
    assert value("PQ.region(threshold=0.85)") == pytest.approx(1 / (1 + 2 / 2))
    assert value("PQ.region(iou=0.7)") == pytest.approx(1 / (1 + 2 / 2 + 2 / 2))
    # Recognition times segmentation quality.
    assert value("PQ.region") == pytest.approx(value("F.region") * (1 + near) / 2)
    assert value("PQ.region", run={"a": []}) == 0


def test_f_by_hand():
    assert value("F.region") == pytest.approx(2 * 2 / (2 * 2 + 1 + 1))
    assert value("F.region(threshold=0.85)") == pytest.approx(2 * 1 / (2 * 1 + 0 + 2))
    assert value("F.region(beta=2)") == pytest.approx(5 * 2 / (5 * 2 + 4 * 1 + 1))
    assert value("F.region(iou=0.7)") == pytest.approx(2 * 1 / (2 * 1 + 2 + 2))


def test_precision_and_recall_by_hand():
    # right, wrong, right, wrong: precision 1 up to a third of recall, then 2/3 up to two thirds.
    assert value("AP.region(iou=0.5)") == pytest.approx((34 * 1 + 33 * 2 / 3) / 101)
    assert value("AP.region(rule='voc2010')") == pytest.approx(1 / 3 + 2 / 3 / 3)
    # With both edges 9 * 11 of 11 * 11 pixels are common.
    assert value("AP.region(rule='voc2007')") == pytest.approx((4 + 3 * 2 / 3) / 11)
    assert value("AR.region@1(iou=0.5)") == pytest.approx(1 / 3)
    assert value("AR.region@100(iou=0.5)") == pytest.approx(2 / 3)


def test_names_and_sets():
    assert len(parse_region_measures("coco")) == 12
    assert str(cf.measure("AR@100.region")) == "AR.region@100"
    assert [str(m) for m in parse_region_measures("AR.region@1,10")] == [
        "AR.region@1",
        "AR.region@10",
    ]
    assert set(REGION_SETS) == {"coco", "segm", "voc"}
    for text in ("F.example", "nDCG@10"):
        with pytest.raises(MeasureError, match="is not a measure of regions"):
            parse_region_measures(text)
    with pytest.raises(MeasureError, match="cranfield eval regions"):
        cf.evaluate({"t": {"a": 1}}, {"t": {"a": 1.0}}, "AP.region")
    with pytest.raises(MeasureError, match="VOC know no sizes"):
        value("AP.region(rule='voc2007', size='small')")


def test_scores_travel(tmp_path):
    scores = cf.evaluate_regions(TRUTH, {"r": RUN, "s": RUN}, "AP.region", draws=20)
    scores.save(tmp_path / "saved.json")
    again = cf.load(tmp_path / "saved.json")
    assert again.task == "regions"
    assert again.mean() == scores.mean()
    printed = cf.Scores.from_dict(scores.to_dict(per=("concept",)))
    assert printed.task == "regions"
    assert printed.per_concept() == scores.per_concept()


MANY = (
    "AP.region AP.region(iou=0.5) AP.region(rule='voc2010') AR.region@1 AR.region@100 "
    "F.region(beta=2) LRP.region LRP.region(threshold=0.5) HF.region PQ.region(threshold=0.3) "
    "AP.region(size='small')"
)


def crowded(seed, items, name="run", spread=4):
    """A truth of two concepts and a run whose boxes lie beside, with strays and crowds."""
    rng = np.random.default_rng(seed)
    truth, run = {}, {}
    for i in range(items):
        boxes = [
            (("cat", "dog")[rng.integers(2)], *rng.integers(0, 200, 2), *rng.integers(15, 80, 2))
            for _ in range(rng.integers(0, 5))
        ]
        truth[str(i)] = [(b[0], *map(float, b[1:])) for b in boxes]
        near = [
            (b[0], *(float(v + rng.normal(0, spread)) for v in b[1:3]), *map(float, b[3:]))
            for b in boxes
            if rng.random() < 0.8
        ]
        strays = [
            (("cat", "dog")[rng.integers(2)], *map(float, rng.integers(0, 200, 2)), 30.0, 30.0)
            for _ in range(rng.integers(0, 3))
        ]
        run[str(i)] = [(*b, float(rng.random())) for b in near] + [
            (*b, float(rng.random() * 0.8)) for b in strays
        ]
    return truth, run


def test_parts_of_items_are_derivatives():
    """By differences: the same pictures, one of them counted a little more often."""
    from cranfield.evaluation.regions import MatchedRun, mean_of_concepts
    from cranfield.notes import Notes

    truth, run = (cf.Regions.of(boxes, "r") for boxes in crowded(1, 40))
    measures = parse_region_measures(MANY.replace("AP.region AP.region(iou=0.5) ", ""))
    measures = [m for m in measures if not str(m).startswith("AP.region(size")]
    plans = [m.plan(m) for m in measures]
    matched, step = MatchedRun(truth, run, plans, 1, Notes()), 1e-6
    before = np.array([mean_of_concepts(v) for v in matched.values(plans)])
    parts = np.array([matched.influence(plan, 40) for plan in plans]) / 40
    assert np.abs(parts.sum(axis=1)).max() < 1e-12
    for item in range(0, 40, 7):
        weights = np.ones(40)
        weights[item] += step
        after = np.array([mean_of_concepts(v) for v in matched.values(plans, weights)])
        assert (after - before) / step == pytest.approx(parts[:, item], abs=1e-4)


def test_curves_have_the_figures_of_the_measures():
    """Of each concept: the mean over recall is AP, the least error oLRP, each error LRP."""
    truth, run = (cf.Regions.of(boxes, "r") for boxes in crowded(4, 40))
    rows = {
        row["concept"]: row
        for row in cf.evaluate_regions(
            truth, {"r": run}, "AP.region(iou=0.6) LRP.region(iou=0.6)"
        ).per_concept()
    }
    for concept in truth.concepts:
        (curve,) = region_curves(truth, {"r": run}, iou=0.6, concept=concept)
        assert curve.precision.mean() == pytest.approx(rows[concept]["AP.region(iou=0.6)"])
        assert curve.error[curve.best] == pytest.approx(rows[concept]["LRP.region(iou=0.6)"])
        for at in (3, 9, -1):
            name = f"LRP.region(iou=0.6, threshold={float(curve.confidences[at])!r})"
            values = cf.evaluate_regions(truth, {"r": run}, name).per_concept()
            expected = next(v for v in values if v["concept"] == concept)
            assert curve.error[at] == pytest.approx(list(expected.values())[-1])
    (mean,) = region_curves(truth, {"r": run}, iou=0.6)
    both = [rows[concept]["AP.region(iou=0.6)"] for concept in truth.concepts]
    assert mean.precision.mean() == pytest.approx(np.mean(both))


def test_parts_of_errors_by_hand():
    """Overlaps of 1 and 2 / 3, one box on nothing, one object missed."""
    (curve,) = region_curves(TRUTH, {"r": RUN})
    assert curve.confidences.tolist() == [0.9, 0.8, 0.6, 0.3]
    assert curve.missed == pytest.approx([2 / 3, 2 / 3, 1 / 3, 1 / 3])
    assert curve.wrong == pytest.approx([0, 1 / 2, 1 / 3, 1 / 2])
    assert curve.misplaced == pytest.approx([0, 0, 1 / 6, 1 / 6])
    assert curve.error == pytest.approx([2 / 3, 3 / 4, (2 / 3 + 2) / 4, (2 / 3 + 3) / 5])
    (empty,) = region_curves(TRUTH, {"r": {"a": []}})
    assert empty.error.tolist() == empty.missed.tolist() == [1.0]
    with pytest.raises(UsageError, match=r"no concept 'cta'.*'cat'"):
        region_curves(TRUTH, {"r": RUN}, concept="cta")
    with pytest.raises(UsageError, match="has no box"):
        region_curves({"a": []}, {"r": RUN})


def test_values_of_items_are_those_of_each_alone():
    truth, run = (cf.Regions.of(boxes, "r") for boxes in crowded(4, 12))
    names = f"{MANY} HF.region AP.region(rule='voc2007') AR.region@1"
    costs = cf.CostMap(("cat", "dog"), np.array([[0.0, 0.4], [0.4, 0.0]]))
    scores = cf.evaluate_regions(truth, {"r": run}, names, costmap=costs)
    rows = {row["item"]: row for row in scores.per_item()}
    assert list(rows) == list(truth.items)
    for item in truth.items:
        alone = cf.evaluate_regions(
            truth.of_items([item]), {"r": run.of_items([item])}, names, costmap=costs
        ).mean()["r"]
        for name, value in alone.items():
            row = np.nan if rows[item][name] is None else rows[item][name]
            assert row == pytest.approx(value, nan_ok=True, abs=1e-12), (item, name)


def test_values_of_items_travel(tmp_path):
    truth, run = crowded(4, 12)
    scores = cf.evaluate_regions(truth, {"r": run}, "AP.region LRP.region")
    scores.save(tmp_path / "s.json")
    assert cf.load(tmp_path / "s.json").per_item() == scores.per_item()
    printed = cf.Scores.from_dict(scores.to_dict(per=["item", "concept"]))
    assert printed.per_item() == scores.per_item()
    assert printed.per_concept() == scores.per_concept()
    assert scores.select("LRP.region").to_pandas()["LRP.region"].notna().sum() > 5
    assert "of_item" not in repr(scores.concat([scores]))


def test_parts_of_items_vary_as_resamples_do():
    truth, run = crowded(2, 150)
    scores = cf.evaluate_regions(truth, {"r": run}, MANY, draws=200, rng=3)
    for measure in scores.measures:
        unit, values = scores.sampled(measure)
        assert unit == "item"
        assert values.mean() == pytest.approx(scores.overall[measure][0])
        spread = values.std(ddof=1) / 150**0.5
        low, high = scores.run_facts[0]["ci"][str(measure)]
        added = abs(float(scores.bias[measure][0]))
        drawn = (high - low - added * (2**0.5)) / 2 / 1.96
        assert spread == pytest.approx(drawn, rel=0.25), str(measure)


def test_runs_are_compared_over_items(tmp_path):
    truth, near = crowded(4, 120, spread=3)
    far = crowded(4, 120, spread=9)[1]
    scores = cf.evaluate_regions(
        truth, {"near": near, "far": far, "same": far}, "AP.region F.region"
    )
    comparison = scores.compare(baseline="far")
    better, same = (
        comparison.pair("near", "far", "AP.region"),
        comparison.pair("same", "far", "AP.region"),
    )
    assert comparison.unit == "item"
    assert better.ci[0] > 0
    assert better.p_corrected < 0.01
    assert same.difference == 0
    for test in ("randomization", "t"):
        assert scores.compare(test=test, rng=1).pair("near", "far", "AP.region").p < 0.01
    with pytest.raises(UsageError, match="no values of single items"):
        scores.compare(test="wilcoxon")
    scores.save(tmp_path / "s.json")
    again = cf.load(tmp_path / "s.json").compare(baseline="far")
    assert again.to_dict()["pairs"] == comparison.to_dict()["pairs"]
    joined = cf.Scores.concat(
        [
            cf.evaluate_regions(truth, {n: r}, "AP.region F.region")
            for n, r in (("near", near), ("far", far))
        ]
    )
    pair = joined.compare(baseline="far").pair("near", "far", "AP.region")
    assert (pair.difference, *pair.ci) == pytest.approx((better.difference, *better.ci))
    clusters = scores.with_design({str(i): str(i // 4) for i in range(120)})
    assert "30 clusters" in clusters.compare().design


def test_intervals_of_values_take_the_bias_off():
    truth, run = crowded(5, 60)
    scores = cf.evaluate_regions(truth, {"r": run}, "AP.region(iou=0.9)")
    box = scores.interval()["r"]["AP.region(iou=0.9)"]
    bias = float(scores.bias[scores.measures[0]][0])
    assert bias > 0
    assert box.low < scores.overall[scores.measures[0]][0] - bias < box.high


def test_kinds_of_errors_by_hand():
    truth = {
        "a": [("cat", 0, 0, 10, 10), ("dog", 50, 0, 10, 10), ("cat", 100, 0, 10, 10)],
        "b": [("cat", 0, 0, 10, 10), ("dog", 50, 0, 10, 10)],
    }
    run = {
        "a": [
            ("cat", 0, 0, 10, 10, 0.9),  # right
            ("cat", 1, 0, 10, 10, 0.8),  # a second one of it
            ("cat", 50, 1, 10, 10, 0.7),  # the dog, called a cat
            ("cat", 106, 0, 10, 10, 0.9),  # 4 of 16 columns in common
            ("dog", 300, 0, 10, 10, 0.6),  # nothing
        ],
        "b": [
            ("cat", 56, 0, 10, 10, 0.6),  # near the dog
            ("dog", 200, 0, 10, 10, 0.2),  # not sure enough to count
        ],
    }
    scores = cf.evaluate_regions(truth, {"r": run}, "AP.region", errors=0.5).to_dict()
    assert scores["runs"][0]["errors"] == {
        "right": 1,
        "misplaced": 1,
        "wrong concept": 1,
        "wrong concept, misplaced": 1,
        "double": 1,
        "nothing there": 1,
        "ignored": 0,
        "missed": 2,  # both of b; those of a are misplaced or confused
    }
    # All boxes count here. The first of three cats is met, and none of two dogs: 34 and 0 of 101
    # levels. Gains are of their mean.
    gains = {kind: round(gain * 202) for kind, gain in scores["runs"][0]["effects"].items()}
    assert gains == {
        "misplaced": 67 - 34,  # two of three cats, before any wrong one
        "wrong concept": 51,  # one of two dogs
        "wrong concept, misplaced": 0,
        "double": 0,
        "nothing there": 0,
        "missed": 51 - 34,  # one of two cats, none of the dog
        "all wrong": 0,
        "all missed": 101 - 34,  # the only cat
    }


@pytest.mark.parametrize("seed", range(5))
def test_every_box_has_one_kind(seed):
    rng = np.random.default_rng(seed)

    def boxes(count, sure):
        return [
            (str(rng.integers(3)), *rng.integers(0, 30, 2), *rng.integers(5, 30, 2))
            + ((rng.random(),) if sure else ())
            for _ in range(count)
        ]

    truth = {str(i): boxes(rng.integers(0, 6), False) for i in range(10)} | {"x": boxes(1, False)}
    run = {item: boxes(8, True) for item in truth}
    scores = cf.evaluate_regions(truth, {"r": run}, "AR.region(iou=0.5)", errors=0.0).to_dict()
    counts = scores["runs"][0]["errors"]
    known = {row[0] for rows in truth.values() for row in rows}
    placed = sum(row[0] in known for rows in run.values() for row in rows)
    assert sum(counts.values()) - counts["missed"] == placed
    assert counts["missed"] <= sum(map(len, truth.values())) - counts["right"]


def simulated(seed, items, hit_rates):
    """A truth of a box for each item, and runs that find a share of them."""
    rng = np.random.default_rng(seed)
    truth = {str(i): [("cat", 0.0, 0.0, 10.0, 10.0)] for i in range(items)}
    runs = {
        name: {
            str(i): [("cat", 0.0 if rng.random() < rate else 50.0, 0.0, 10.0, 10.0, rng.random())]
            for i in range(items)
        }
        for name, rate in hit_rates.items()
    }
    return truth, runs


def test_draws_are_weights_of_items():
    """Recall of one box for each item is a mean over items: its resamples are known."""
    items, draws = 40, 50
    truth, runs = simulated(3, items, {"x": 0.6})
    scores = cf.evaluate_regions(truth, runs, "AR.region@1(iou=0.5)", draws=draws, rng=7)
    hits = np.array([runs["x"][str(i)][0][1] == 0 for i in range(items)])
    generator = np.random.default_rng(7)
    means = np.array([hits[generator.integers(0, items, items)].mean() for _ in range(draws)])
    ends = scores.to_dict()["runs"][0]["ci"]["AR.region@1(iou=0.5)"]
    value, added = hits.mean(), means.mean() - hits.mean()
    centres = value - added, value - added / (2**0.5 - 1)
    half = 1.959963984540054 * means.std(ddof=1)
    assert ends == pytest.approx([min(centres) - half, max(centres) + half])


def test_intervals_of_what_does_not_vary():
    truth = {str(i): [("cat", 0.0, 0.0, 10.0, 10.0)] for i in range(5)}
    run = {item: [(*boxes[0], 0.5)] for item, boxes in truth.items()}
    scores = cf.evaluate_regions(truth, {"x": run, "y": run}, "AR.region@1", draws=10).to_dict()
    assert scores["runs"][0]["ci"] == {"AR.region@1": [1.0, 1.0]}
    assert scores["pairs"][0]["ci"] == [0.0, 0.0]
    assert scores["pairs"][0]["p"] == 1.0


def test_differences_of_runs():
    truth, runs = simulated(5, 120, {"good": 0.9, "bad": 0.5, "same": 0.5})
    scores = cf.evaluate_regions(truth, runs, "AP.region(iou=0.5)", draws=200)
    rows = {(r["a"], r["b"]): r for r in scores.to_dict()["pairs"]}
    assert rows["good", "bad"]["p_corrected"] < 0.05
    assert rows["good", "bad"]["ci"][0] > 0
    assert rows["bad", "same"]["p"] > 0.05
    again = cf.evaluate_regions(truth, runs, "AP.region(iou=0.5)", draws=200, jobs=1)
    assert again.to_dict()["pairs"] == scores.to_dict()["pairs"]


@pytest.fixture
def files(tmp_path):
    def rows(boxes):
        return "".join(f"{item},{','.join(map(str, b))}\n" for item in boxes for b in boxes[item])

    header = "item,concept,x,y,width,height"
    truth = {item: boxes or [("dog", 1, 1, 2, 2)] for item, boxes in TRUTH.items()}
    (tmp_path / "truth.csv").write_text(f"{header}\n{rows(truth)}")
    (tmp_path / "run.csv").write_text(f"{header},confidence\n{rows(RUN)}")
    return [str(tmp_path / "truth.csv"), str(tmp_path / "run.csv")]


def test_the_command(files, capsys):
    command = ["eval", "regions", *files, "-m", "AP.region(iou=0.5) AR.region@10"]
    assert main([*command, "--per-concept", "--draws", "20", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["command"] == "eval regions"
    assert answer["runs"][0]["mean"].keys() == {"AP.region(iou=0.5)", "AR.region@10"}
    assert [row["concept"] for row in answer["per_concept"]] == ["cat", "dog"]
    for form in ("table", "csv", "html", "markdown"):
        assert main([*command, "--draws", "20", "--errors", "0.5", "--format", form]) == 0
    assert main([*command, "--fail-under", "AR.region@10=0.9", "--quiet"]) == 1
    assert "failed: run: AR.region@10" in capsys.readouterr().err


def test_what_looks_like_boxes(files, tmp_path):
    from cranfield.io.samples import sample_folder
    from cranfield.io.sniff import holds_regions

    pages, digits = sample_folder("pages"), sample_folder("digits")
    (tmp_path / "voc" / "Annotations").mkdir(parents=True)
    (tmp_path / "voc" / "Annotations" / "a.xml").write_text("<annotation/>")
    (tmp_path / "yolo" / "labels").mkdir(parents=True)
    (tmp_path / "labels.json").write_text('{"a": ["cat"], "b": []}')
    (tmp_path / "results.json").write_text('[{"image_id": 1, "bbox": [1, 2, 3, 4]}]')
    boxes = [*files, pages / "boxes.json", tmp_path / "voc", tmp_path / "yolo"]
    boxes += [tmp_path / "results.json", cf.Regions.of(TRUTH)]
    others = [digits / "truth.csv", tmp_path / "labels.json", tmp_path, "no such file", TRUTH, None]
    assert all(map(holds_regions, boxes))
    assert not any(map(holds_regions, others))


def test_compare_takes_boxes(files, tmp_path, capsys):
    truth, run = files
    same = tmp_path / "same.csv"
    same.write_text((tmp_path / "run.csv").read_text())
    command = ["compare", "--truth", truth, run, str(same), "-m", "AP.region", "--resamples", "50"]
    assert main([*command, "--baseline", "same", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["pairs"][0]["difference"] == 0
    assert main([*command, "--format", "html", "-o", str(tmp_path / "page.html")]) == 0
    assert '"drawn"' in (tmp_path / "page.html").read_text()
    assert main([*command, "--threshold", "0.5"]) == 2
    assert "--threshold is for annotation with labels, not for boxes" in capsys.readouterr().err
    assert main(["lab", "correlate", "--truth", truth, run, str(same)]) == 2
    assert "not of boxes" in capsys.readouterr().err


def masked_files(folder):
    """Objects of 2 x 4 and 4 x 4 pixels, and a run with half of one and all of the other."""
    sides = {"height": 10, "width": 10}

    def square(x, y, width, height):
        return [[x, y, x + width, y, x + width, y + height, x, y + height]]

    def columns(x, y, width, height):
        """Run lengths of the same, column by column."""
        pixels = np.zeros((10, 10), dtype=int)
        pixels[y : y + height, x : x + width] = 1
        flat = pixels.T.ravel()
        edges = np.flatnonzero(np.diff(np.concatenate([[0], flat, [0]])))
        counts = np.diff(np.concatenate([[0], edges, [100]])).tolist()
        return {"size": [10, 10], "counts": counts}

    objects = [(1, 0, 0, 2, 4), (2, 3, 3, 4, 4)]
    truth = {
        "images": [{"id": i, **sides} for i in (1, 2)],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [
            {"id": k, "image_id": i, "category_id": 1, "segmentation": square(*box)}
            for k, (i, *box) in enumerate(objects, 1)
        ],
    }
    placed = [(1, (0, 0, 2, 2), 0.9), (2, (3, 3, 4, 4), 0.8), (2, (0, 0, 1, 1), 0.7)]
    results = [
        {"image_id": i, "category_id": 1, "segmentation": columns(*box), "score": score}
        for i, box, score in placed
    ]
    (folder / "truth.json").write_text(json.dumps(truth))
    (folder / "run.json").write_text(json.dumps(results))
    return folder / "truth.json", folder / "run.json"


def test_masks_by_hand(tmp_path):
    truth, run = masked_files(tmp_path)
    names = (
        "AP.region(iou=0.5, shape='mask') AP.region(iou=0.75, shape='mask') "
        "F.region(shape='mask') LRP.region(threshold=0.5, shape='mask') AR.region@1(shape='mask')"
    )
    scores = cf.evaluate_regions(truth, [run], names, draws=20, errors=0.5)
    # Overlaps of 1/2, 1 and nothing; of the ten thresholds 1/2 meets the first.
    f = 2 * 2 / (2 * 2 + 1)
    assert list(scores.mean()["run"].values()) == pytest.approx(
        [1, (51 * 0.5) / 101, f, lrp([0.5, 1], 1, 0, 0.5), (1 + 9 * 0.5) / 10]
    )
    rows = scores.per_item()
    assert [row["AR.region@1(shape='mask')"] for row in rows] == pytest.approx([0.1, 1])
    assert scores.compare is not None
    boxes = cf.evaluate_regions(truth, [run], "AP.region(iou=0.5)").mean()["run"]
    assert boxes == {"AP.region(iou=0.5)": pytest.approx(1)}
    with pytest.raises(MeasureError, match="VOC know no masks"):
        value("AP.region(rule='voc2007', shape='mask')")
    with pytest.raises(InputError, match="has no masks"):
        value("AP.region(shape='mask')")


def test_the_command_takes_masks(tmp_path, capfd):
    truth, run = map(str, masked_files(tmp_path))
    assert main(["eval", "regions", truth, run, "-m", "segm", "--format", "json"]) == 0
    (answer,) = json.loads(capfd.readouterr().out)["runs"]
    assert answer["mean"]["AP.region(iou=0.5, shape='mask')"] == 1
    page = tmp_path / "page.html"
    command = ["eval", "regions", truth, run, "-m", "AP.region(shape='mask')", "--format", "html"]
    assert main([*command, "-o", str(page)]) == 0
    assert '"drawn"' in page.read_text()
