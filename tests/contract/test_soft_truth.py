"""A truth with probabilities: exact expectations, draws, and what scores say of their doubt."""

import itertools

import numpy as np
import pytest

import cranfield as cf
from cranfield.errors import InputError, UsageError
from cranfield.evaluation.probabilistic_truth import exact_distribution
from cranfield.evaluation.truth_uncertainty import run_doubts
from cranfield.report.tables.comparison import comparison_document
from tests.cluster import local_cluster

MEASURES = "P@5 R@5 DCG@5 RBP nDCG@5 AP RR ERR@5 Rprec NumRelRet Bpref"


def soft_truth(topics=6, items=12, seed=0):
    rng = np.random.default_rng(seed)
    truth = {}
    for t in range(topics):
        rows = rng.dirichlet([0.5, 0.4, 0.3], size=items)
        truth[f"t{t}"] = {
            f"d{i}": {g: float(p) for g, p in enumerate(r)} for i, r in enumerate(rows)
        }
    return truth


def runs_for(truth, count=3, seed=1, missing=4):
    rng = np.random.default_rng(seed)
    return {
        f"r{k}": {
            t: {d: float(rng.random()) for d in [*row, "x1", "x2"][: len(row) - missing + 2]}
            for t, row in truth.items()
        }
        for k in range(count)
    }


def test_expectations_are_those_over_all_truths():
    """With few items all truths can be listed, each with its probability."""
    truth = soft_truth(topics=1, items=5)
    runs = runs_for(truth, missing=1)
    scores = cf.evaluate(truth, runs, MEASURES, draws=20_000)
    items = truth["t0"]
    expected = {run: dict.fromkeys(map(str, scores.measures), 0.0) for run in runs}
    squares = {run: dict.fromkeys(map(str, scores.measures), 0.0) for run in runs}
    for grades in itertools.product(range(3), repeat=len(items)):
        chance = np.prod([items[d][g] for d, g in zip(items, grades, strict=True)])
        one = {"t0": dict(zip(items, grades, strict=True))}
        for run, row in cf.evaluate(one, runs, MEASURES).mean().items():
            for m, value in row.items():
                expected[run][m] += chance * value
                squares[run][m] += chance * value**2
    for m in scores.measures:
        for i, run in enumerate(runs):
            value, true = float(scores.overall[m][i]), expected[run][str(m)]
            spread = np.sqrt(max(squares[run][str(m)] - true**2, 0.0))
            if str(m) in scores.doubt.exact:
                assert value == pytest.approx(true, abs=1e-12)
                assert scores.doubt.spread[m][i] == pytest.approx(spread, abs=1e-9)
            else:
                assert abs(value - true) <= 4 * spread / np.sqrt(20_000) + 1e-12
                assert scores.doubt.spread[m][i] == pytest.approx(spread, rel=0.05, abs=1e-3)
    assert scores.doubt.exact == ("P@5", "R@5", "DCG@5", "RBP", "NumRelRet")


def test_exact_expectations_are_the_average_over_a_million_draws():
    truth = soft_truth(topics=2, items=6)
    scores = cf.evaluate(truth, runs_for(truth, 1), "P@5 DCG@5 RBP R@5", draws=1_000_000)
    for m in scores.measures:
        drawn = scores.doubt.means[m][0]
        error = drawn.std() / 1000
        assert abs(float(scores.overall[m][0]) - drawn.mean()) <= 4 * error


def test_p_and_r_have_their_exact_distribution():
    truth = soft_truth(topics=2, items=7)
    (run,) = runs_for(truth, 1, missing=2).values()
    drawn = cf.evaluate({"t1": truth["t1"]}, {"r": run}, "P@4 R@4", draws=40_000).doubt.means
    for m, values in drawn.items():
        found = exact_distribution({"t1": truth["t1"]}, run, str(m))["t1"]
        assert found.mass.sum() == pytest.approx(1.0)
        for value, mass in zip(found.values, found.mass, strict=True):
            share = (np.abs(values[0] - value) < 1e-9).mean()
            assert share == pytest.approx(mass, abs=0.015)
    with pytest.raises(UsageError, match="no exact distribution"):
        exact_distribution(truth, run, "AP")


def test_a_truth_without_doubt_gives_the_same_numbers_to_the_last_bit():
    rng = np.random.default_rng(3)
    hard = {f"t{t}": {f"d{i}": int(rng.integers(3)) for i in range(20)} for t in range(9)}
    sure = {t: {d: {g: 1.0} for d, g in row.items()} for t, row in hard.items()}
    runs = runs_for(hard)
    names = f"{MEASURES} GMAP SetP"
    plain, soft = cf.evaluate(hard, runs, names), cf.evaluate(sure, runs, names)
    assert plain.mean() == soft.mean()
    assert plain.per_topic() == soft.per_topic()
    assert all((s == 0).all() for s in soft.doubt.spread.values())
    # One topic in doubt leaves the others as they are.
    sure["t8"]["d0"] = {0: 0.5, 2: 0.5}
    mixed = cf.evaluate(sure, runs, names, draws=50)
    rows = [r for r in mixed.per_topic() if r["topic"] != "t8"]
    assert rows == [r for r in plain.per_topic() if r["topic"] != "t8"]


def test_draws_are_the_same_on_any_number_of_threads_and_processes():
    truth = soft_truth(topics=8, items=30)
    runs = runs_for(truth)
    asked = {"measures": "AP nDCG@5 P@5", "draws": 100, "rng": 5}
    one, two, eight = (cf.evaluate(truth, runs, jobs=n, **asked) for n in (1, 2, 8))
    assert one == two == eight
    apart = cf.Scores.concat([cf.evaluate(truth, {n: r}, **asked) for n, r in runs.items()])
    for m in one.measures:
        assert np.array_equal(one.doubt.means[m], apart.doubt.means[m])
    assert one != cf.evaluate(truth, runs, **asked | {"rng": 6})


def test_draws_tell_how_far_they_are():
    truth = soft_truth(topics=10, items=100)
    runs = runs_for(truth)
    seen: list[float] = []
    told = cf.evaluate(truth, runs, "AP nDCG@5", draws=4000, progress=seen.append, jobs=1)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert any(0 < share < 1 for share in seen)
    assert told == cf.evaluate(truth, runs, "AP nDCG@5", draws=4000, jobs=1)

    def enough(_: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        cf.evaluate(truth, runs, "AP", draws=100_000, progress=enough, jobs=1)


def test_draws_on_processes_are_the_same():
    truth = soft_truth(topics=4, items=10)
    runs = runs_for(truth, 2)
    here = cf.evaluate(truth, runs, "AP", draws=40)
    there = cf.evaluate(truth, runs, "AP", draws=40, executor="processes", jobs=2)
    m = here.measures[0]
    assert np.array_equal(here.doubt.means[m], there.doubt.means[m])


def test_label_draws_are_the_same_on_any_number_of_threads_and_elsewhere():
    rng = np.random.default_rng(4)
    truth = {f"i{k}": {c: round(float(rng.random()), 2) for c in "abcd"} for k in range(60)}
    runs = {
        name: {i: {c: float(rng.random()) for c in row} for i, row in truth.items()}
        for name in ("x", "y")
    }
    asked = {"measures": "F.example AP.concept HammingLoss", "draws": 30, "rng": 5, "soft": True}
    one, two, eight = (cf.evaluate_labels(truth, runs, jobs=n, **asked) for n in (1, 2, 8))
    assert one == two == eight
    there = cf.evaluate_labels(truth, runs, executor="processes", jobs=2, **asked)
    for m in one.measures:
        assert np.array_equal(one.doubt.means[m], there.doubt.means[m])


@pytest.mark.slow
def test_draws_on_dask_are_the_same():
    truth = soft_truth(topics=4, items=10)
    runs = runs_for(truth, 2)
    labels = {f"i{k}": {"a": 0.1 * (k % 10), "b": 0.5} for k in range(20)}
    said = {i: {"a": 0.7, "b": 0.2} for i in labels}
    asked = {"draws": 20, "rng": 5}
    with local_cluster(2) as cluster:
        there = {"executor": cluster.scheduler_address.replace("tcp://", "dask://")}
        places = ({"jobs": 1}, {"jobs": 2}, {"jobs": 8}, there)
        ranked = [cf.evaluate(truth, runs, "AP P@5", **asked, **more) for more in places]
        both = {"x": said, "y": labels}
        annotated = [
            cf.evaluate_labels(labels, both, "F.example", soft=True, **asked, **more)
            for more in places
        ]
    for *here, elsewhere in (ranked, annotated):
        for m in elsewhere.measures:
            for one in here:
                assert np.array_equal(one.doubt.means[m], elsewhere.doubt.means[m])
                assert np.array_equal(one.values[m], elsewhere.values[m])


def test_what_scores_say_of_their_doubt(tmp_path):
    truth = soft_truth()
    scores = cf.evaluate(truth, runs_for(truth), "AP P@5", draws=200)
    for row in run_doubts(scores):
        low, high = row.interval
        assert low <= row.truth_interval[0] <= row.expected <= row.truth_interval[1] <= high
        assert low <= row.topics_interval[0]
        assert high >= row.topics_interval[1]
    said = scores.to_dict()["doubt"]
    assert said["draws"] == 200
    assert said["exact"] == ["P@5"]
    for row in said["places"]:
        assert sum(row["probability"]) == pytest.approx(1.0)
    assert {"measure", "topic", "item", "share"} == set(said["items"][0])
    assert sum(u["share"] for u in said["units"] if u["measure"] == "AP") == pytest.approx(1.0)
    text = str(scores)
    for words in ("How far the values are sure", "Probability of each place", "carry the doubt"):
        assert words in text
    scores.save(tmp_path / "s.json")
    assert cf.load(tmp_path / "s.json") == scores
    assert scores.select(scores.measures[:1]).doubt.exact == ()


def test_a_truth_that_its_probabilities_draw_is_held_at_the_stated_rate():
    """For runs that know no more than the probabilities; a run that knows the truth is put low."""
    rng = np.random.default_rng(11)
    chances = {f"i{k}": {"a": float(p)} for k, p in enumerate(rng.beta(0.5, 0.5, size=300))}
    runs = {
        f"r{s}": {i: {"a": float(rng.random() < s / 50)} for i in chances} for s in range(1, 50)
    }
    scores = cf.evaluate_labels(chances, runs, "HammingLoss", soft=True, draws=400)
    held = []
    for _ in range(20):
        true = {i: {"a": int(rng.random() < row["a"])} for i, row in chances.items()}
        plain = cf.evaluate_labels(true, runs, "HammingLoss").mean()
        for row in run_doubts(scores):
            low, high = row.truth_interval
            held.append(low - 1e-9 <= plain[row.run]["HammingLoss"] <= high + 1e-9)
    assert 0.92 <= np.mean(held) <= 0.985
    knowing = cf.evaluate_labels(chances, {"knows": true}, "HammingLoss", soft=True, draws=400)
    assert run_doubts(knowing)[0].truth_interval[0] > 0
    assert any("put too low" in note for note in knowing.notes)
    sure = cf.evaluate_labels(true, {"knows": true}, "HammingLoss", soft=True)
    assert not any("put too low" in note for note in sure.notes)


def test_items_that_carry_the_doubt_are_those_in_doubt():
    truth = {"t0": {f"d{i}": {1: 1.0} if i % 2 else {0: 1.0} for i in range(10)}}
    truth["t0"]["d1"] = {0: 0.5, 1: 0.5}
    truth["t0"]["d9"] = {0: 0.02, 1: 0.98}
    run = {"t0": {f"d{i}": 10.0 - i for i in range(10)}}
    scores = cf.evaluate(truth, {"r": run}, "AP", draws=500)
    assert scores.doubt.items[0].item == "d1"
    assert {i.item for i in scores.doubt.items} <= {"d1", "d9"}
    assert scores.doubt.items[0].share > 0.8


def test_comparison_under_doubt():
    truth = soft_truth()
    scores = cf.evaluate(truth, runs_for(truth), "AP", draws=200)
    found = scores.compare(resamples=200)
    assert len(found.doubts) == 3
    for row, pair in zip(found.doubts, found.pairs, strict=True):
        assert row["both_ci"][0] <= min(pair.ci[0], row["truth_ci"][0])
        assert 0 <= row["better"] <= 1
    assert found.standings[0].both_ci[0] < found.standings[0].ci[0]
    assert "under a truth that is not sure" in str(found)
    opening = [t.title for t in comparison_document(found, parts=("summary",)).tables]
    assert opening == ["Summary", "Differences under a truth that is not sure"]


def test_annotation_under_doubt():
    rng = np.random.default_rng(0)
    chances = {f"i{k}": {c: float(rng.random()) for c in "abc"} for k in range(20)}
    runs = {n: {i: {c: float(rng.random()) for c in "abc"} for i in chances} for n in "xy"}
    names = "HammingLoss F.example AUC"
    scores = cf.evaluate_labels(chances, runs, names, soft=True, draws=300)
    assert scores.doubt.exact == ("HammingLoss",)
    for m in scores.measures:
        drawn = scores.doubt.means[m]
        error = drawn.std(axis=1) / np.sqrt(300)
        assert (np.abs(scores.overall[m] - drawn.mean(axis=1)) <= 4 * error).all()
    sure = {i: {c: round(p) for c, p in row.items()} for i, row in chances.items()}
    plain = cf.evaluate_labels(sure, runs, names)
    assert cf.evaluate_labels(sure, runs, names, soft=True).mean() == plain.mean()
    with pytest.raises(InputError, match="expected 0 or 1"):
        cf.evaluate_labels(chances, runs, names)


def test_wrong_labels_of_categories_have_their_exact_expectation(tmp_path):
    rng = np.random.default_rng(5)
    chances = rng.dirichlet([0.6] * 3, size=40)
    lines = [
        f"i{k},{c},{p!r}"
        for k, row in enumerate(chances.tolist())
        for c, p in zip("abc", row, strict=True)
    ]
    path = tmp_path / "soft.csv"
    path.write_text("item,category,probability\n" + "\n".join(lines) + "\n")
    runs = {
        n: {f"i{k}": {c: float(rng.random() < 0.4) for c in "abc"} for k in range(40)} for n in "xy"
    }
    scores = cf.evaluate_labels(path, runs, "HammingLoss", draws=3000)
    assert scores.doubt.exact == ("HammingLoss",)
    measure = scores.measures[0]
    drawn = scores.doubt.means[measure]
    assert (
        np.abs(scores.overall[measure] - drawn.mean(axis=1)) <= 4 * drawn.std() / 3000**0.5
    ).all()
    assert scores.doubt.spread[measure] == pytest.approx(drawn.std(axis=1), rel=0.06)


def test_files_of_probabilities(tmp_path):
    path = tmp_path / "soft.csv"
    path.write_text("topic,item,grade,probability\nt,a,0,0.25\nt,a,2,0.75\nt,b,1,1\n")
    table = cf.read_qrels(path)
    assert table.levels.tolist() == [0, 1, 2]
    assert table.chances.tolist() == [[0.25, 0, 0.75], [0, 1, 0]]
    assert table.to_dict() == {"t": {"a": 2, "b": 1}}
    (tmp_path / "labels.csv").write_text("item,concept,value,probability\ni,a,0,0.4\ni,a,1,0.6\n")
    run = {"r": {"i": {"a": 1.0}}}
    found = cf.evaluate_labels(tmp_path / "labels.csv", run, "HammingLoss")
    assert found.mean()["r"]["HammingLoss"] == pytest.approx(0.4)
    # One answer for each unit, and how sure it is: a truth of decisions, as before.
    (tmp_path / "decided.csv").write_text("item,concept,value,probability\ni,a,1,0.6\nj,a,0,0.9\n")
    decided = cf.evaluate_labels(
        tmp_path / "decided.csv", {"r": {"i": {"a": 1.0}, "j": {"a": 0.0}}}, "HammingLoss"
    )
    assert decided.doubt is None
    (tmp_path / "kinds.csv").write_text("item,category,probability\ni,a,0.4\ni,b,0.6\n")
    kinds = cf.evaluate_labels(
        tmp_path / "kinds.csv", {"r": {"i": {"a": 1.0, "b": 0.0}}}, "ExactMatch", draws=2000
    )
    assert kinds.mean()["r"]["ExactMatch"] == pytest.approx(0.4, abs=0.05)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("t,a,0,0.5\nt,a,1,0.4\n", r"soft.csv:2: the probabilities of item 'a' .* add up to 0.9"),
        ("t,a,0,1.5\n", "probability 1.5 .* is not between 0 and 1"),
        ("t,a,-1,1\n", "grade -1 of item 'a' is negative"),
        ("t,a,0,0.5\nt,a,0,0.5\n", "stands twice"),
        ("t,a,0,x\n", "'x' is not a number"),
        ("t,a,0\n", "3 fields where the header has 4"),
        ("", "is empty"),
    ],
)
def test_bad_probabilities_are_told(tmp_path, lines, said):
    path = tmp_path / "soft.csv"
    path.write_text("topic,item,grade,probability\n" + lines)
    with pytest.raises(InputError, match=said):
        cf.read_qrels(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "item,concept,value,probability\nx,Sky,1,0.5\nx,Sky,0,0.4\n",
            r"probabilities of item 'x' for concept 'Sky' add up to 0\.9, not to 1",
        ),
        (
            "item,category,probability\nx,Sky,0.5\nx,Sea,0.4\n",
            r"probabilities of item 'x' add up to 0\.9, not to 1",
        ),
        ("item,category,probability\nx,Sky,0.5\nx,Sky,0.5\n", "category 'Sky' of item 'x' stands"),
        ("item,category,probability\nx,Sky,1.5\nx,Sea,0.4\n", "1.5 of item 'x' is not between"),
    ],
)
def test_bad_probabilities_of_labels_are_told(tmp_path, text, said):
    path = tmp_path / "soft.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        cf.evaluate_labels(path, {"r": {"x": {"Sky": 1.0, "Sea": 0.0}}}, "HammingLoss")


def test_categories_may_be_numbers_in_any_order(tmp_path):
    soft, run = tmp_path / "soft.csv", tmp_path / "run.csv"
    soft.write_text("item,category,probability\nx,1,0.9\nx,0,0.1\ny,1,0.2\ny,0,0.8\n")
    run.write_text("item,0,1\nx,0,1\ny,1,0\n")
    scores = cf.evaluate_labels(soft, [run], "HammingLoss", draws=50)
    assert scores.mean()["run"]["HammingLoss"] == pytest.approx(0.15)
    assert not any("no names of concepts" in note for note in scores.notes)


def test_the_soft_truth_of_a_log_is_read_again(tmp_path, capsys):
    from cranfield.cli import main
    from cranfield.io.samples import SAMPLE

    log, path = str(SAMPLE / "judgement-log.csv.gz"), str(tmp_path / "soft.csv")
    assert main(["aggregate", log, "--method", "dawid-skene", "--soft", "-o", path]) == 0
    found = cf.aggregate_judgements(cf.read_judgement_log(log), "dawid-skene")
    table = cf.read_qrels(path)
    assert len(table) == len(found.item)
    assert table.chances.shape[1] == len(found.values)
    run = str(SAMPLE / "labels" / "logistic.csv.gz")
    assert main(["label", path, run, "-m", "HammingLoss", "--draws", "5"]) == 0
    assert "± truth" in capsys.readouterr().out


def test_what_does_not_go_with_probabilities():
    truth = soft_truth(2)
    with pytest.raises(UsageError, match="ties='average'"):
        cf.evaluate(truth, runs_for(truth), "AP", ties="average")
    with pytest.raises(InputError, match=r"add up to 0\.8"):
        cf.evaluate({"t": {"a": {0: 0.4, 1: 0.4}}}, {"r": {"t": {"a": 1.0}}}, "AP")


def test_the_pool_asks_for_items_in_doubt_first():
    truth = {"t": {"a": {0: 0.5, 1: 0.5}, "b": {1: 1.0}, "c": {0: 0.99, 1: 0.01}}}
    runs = {"x": {"t": {"a": 3.0, "b": 2.0}}, "y": {"t": {"c": 3.0, "b": 2.0, "d": 1.0}}}
    pool = cf.lab.make_pool(runs, depth=3, judged=truth)
    by_item = {i.item: i for i in pool.items}
    assert by_item["b"].judged
    assert not by_item["a"].judged
    assert by_item["a"].weight == pytest.approx(1.0)
    assert by_item["c"].weight == pytest.approx(2 * np.sqrt(0.99 * 0.01))
    assert [i.item for i in pool.next_to_judge(2)] == ["a", "d"]


def test_reports_show_both_parts_of_the_interval(tmp_path):
    from cranfield.cli import main

    rng = np.random.default_rng(0)
    rows = ["topic,item,grade,probability"]
    runs = {"a": [], "b": []}
    for t in range(8):
        for i in range(10):
            p = float(rng.random())
            rows += [f"t{t},d{i},0,{1 - p:.6f}", f"t{t},d{i},1,{p:.6f}"]
            for name, skill in (("a", 2.0), ("b", 0.0)):
                runs[name].append(f"t{t} Q0 d{i} 0 {skill * p + rng.normal():.5f} {name}")
    soft, page = tmp_path / "soft.csv", tmp_path / "page.html"
    soft.write_text("\n".join(rows) + "\n")
    for name, lines in runs.items():
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    files = [str(soft), str(tmp_path / "a.run"), str(tmp_path / "b.run")]
    asked = ["-m", "AP", "--draws", "50", "--format", "html", "-o", str(page), "--quiet"]
    assert main(["compare", *files, *asked, "--resamples", "100"]) == 0
    text = page.read_text()
    assert "Differences under a truth that is not sure" in text
    assert '"doubts":{"AP":[[' in text.replace(" ", "")
    assert main(["eval", *files, *asked]) == 0
    assert "How far the values are sure" in page.read_text()
