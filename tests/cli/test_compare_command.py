"""`cranfield compare` as people call it."""

import csv
import io
import json
import shutil

import numpy as np
import pytest
from scipy.stats import ttest_rel, wilcoxon

from cranfield.cli import main
from cranfield.comparison.compare import TESTS
from cranfield.report.render import FORMATS

TOPICS, ITEMS = 20, 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Judgements and runs of rising quality; `short` misses three topics, `copy` is bm25."""
    path = tmp_path_factory.mktemp("compare")
    rng = np.random.default_rng(1)
    grades = rng.random((TOPICS, ITEMS)) < 0.2
    grades[:, 0] = True
    with (path / "qrels.txt").open("w") as out:
        for t in range(TOPICS):
            out.writelines(f"{t} 0 d{i} {int(grades[t, i])}\n" for i in range(ITEMS))
    for name, quality in (("bm25", 1.0), ("dense", 2.0), ("short", 1.0)):
        with (path / f"{name}.run").open("w") as out:
            for t in range(3 if name == "short" else 0, TOPICS):
                value = rng.normal(0, 1, ITEMS) + quality * grades[t]
                out.writelines(f"{t} Q0 d{i} 0 {value[i]:.6f} {name}\n" for i in range(ITEMS))
    shutil.copy(path / "bm25.run", path / "copy.run")
    return path


def run(capsys, folder, *args, runs=("bm25", "dense", "short", "copy")):
    paths = [str(folder / "qrels.txt"), *(str(folder / f"{r}.run") for r in runs)]
    code = main(["compare", *paths, *args])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def answer(capsys, folder, *args, **options):
    code, out, err = run(capsys, folder, "--format", "json", *args, **options)
    assert code == 0, err
    return json.loads(out)


def per_topic(capsys, folder, name):
    assert main(["eval", str(folder / "qrels.txt"), str(folder / f"{name}.run"), "-m", "AP",
                 "--per-topic", "--format", "json"]) == 0  # fmt: skip
    rows = json.loads(capsys.readouterr().out)["per_topic"]
    return {row["topic"]: row["AP"] for row in rows}


def test_the_numbers_are_those_of_eval_and_scipy(capsys, folder):
    a, b = (per_topic(capsys, folder, n) for n in ("dense", "bm25"))
    x, y = (np.array([s[t] for t in sorted(a)]) for s in (a, b))
    found = answer(capsys, folder, "-m", "AP", "--baseline", "bm25", "--test", "t")
    pair = next(p for p in found["pairs"] if p["a"] == "dense")
    assert pair["difference"] == pytest.approx((x - y).mean(), abs=1e-12)
    expected = ttest_rel(x, y)
    interval = expected.confidence_interval(0.95)
    assert pair["p"] == pytest.approx(expected.pvalue, rel=1e-9)
    assert pair["ci"] == pytest.approx([interval.low, interval.high], rel=1e-9)
    one = answer(capsys, folder, "-m", "AP", "--baseline", "bm25", "--test", "wilcoxon",
                 "--tail", "one")  # fmt: skip
    pair = next(p for p in one["pairs"] if p["a"] == "dense")
    assert pair["p"] == pytest.approx(wilcoxon(x, y, alternative="greater").pvalue, rel=1e-9)


@pytest.mark.parametrize("test", TESTS)
def test_a_copy_of_the_baseline_is_equal(capsys, folder, test):
    found = answer(capsys, folder, "-m", "AP", "--baseline", "bm25", "--test", test,
                   "--resamples", "500", runs=("bm25", "copy"))  # fmt: skip
    (pair,) = found["pairs"]
    assert (pair["p"], pair["p_corrected"], pair["ci"]) == (1.0, 1.0, [0.0, 0.0])


def test_jobs_do_not_change_the_answer(capsys, folder):
    one = answer(capsys, folder, "--jobs", "1", "--seed", "7", "-m", "AP nDCG@10")
    two = answer(capsys, folder, "--jobs", "2", "--seed", "7", "-m", "AP nDCG@10")
    assert one == two
    assert one["seed"] == 7
    other = answer(capsys, folder, "--seed", "8", "-m", "AP nDCG@10")
    assert [p["p"] for p in other["pairs"]] != [p["p"] for p in one["pairs"]]


def test_missing_topics_score_zero_or_are_left_out(capsys, folder):
    args = ("-m", "AP", "--baseline", "bm25", "--test", "t")
    code, _, err = run(capsys, folder, *args)
    assert code == 0
    assert "short: misses 3 of 20 judged topics (0, 1, 2), scored as an empty ranking" in err
    judged = answer(capsys, folder, *args)
    assert [p["topics"] for p in judged["pairs"]] == [20, 20, 20]
    shared = answer(capsys, folder, *args, "--topics", "run")
    counts = {p["a"]: p["topics"] for p in shared["pairs"]}
    assert counts == {"dense": 20, "short": 17, "copy": 20}
    assert shared["pairing"] == "each pair on the topics for which both runs have a value"
    code, out, err = run(capsys, folder, *args, "--topics", "run", "--show", "all")
    assert "n: 17 to 20 of 20 topics, by pair; each pair on the topics for which both" in out
    assert "(0, 1, 2), left out" in err


@pytest.mark.parametrize("form", FORMATS)
def test_every_format(capsys, folder, form):
    code, out, _ = run(capsys, folder, "--format", form, "-m", "AP RR", "--resamples", "200")
    assert code == 0
    assert "bm25" in out
    if form not in ("json", "csv", "tsv"):
        assert "Paired bootstrap test, two-tailed, 200 resamples, seed 0" in out
        assert "Romano-Wolf step-down correction" in out
    if form in ("latex", "html"):
        assert "20 topics in every pair" in out


def test_latex_is_ready_to_paste(capsys, folder):
    _, out, _ = run(capsys, folder, "--format", "latex", "--baseline", "bm25", "-m", "AP",
                    "--show", "pairs")  # fmt: skip
    assert out.startswith("\\begin{table}\n\\centering\n\\caption{")
    assert "\\begin{tabular}{lllrrrrrlr}\n\\toprule\nmeasure & a & b & " in out
    assert "\\midrule" in out
    assert "\\bottomrule\n\\end{tabular}\n" in out
    assert "\\par{\\footnotesize ***: p at most 0.001 after correction." in out
    assert "dev. \\%" in out


def test_csv_holds_one_table_with_all_digits(capsys, folder):
    _, out, _ = run(capsys, folder, "--format", "csv", "-m", "AP RR")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 12
    assert {"ci_low", "ci_high", "p_corrected", "cohen_d", "wins"} <= rows[0].keys()
    found = answer(capsys, folder, "-m", "AP RR")
    assert [float(r["p"]) for r in rows] == [p["p"] for p in found["pairs"]]
    _, out, _ = run(capsys, folder, "--format", "csv", "-m", "AP RR", "--show", "leaderboard")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [r["measure"] for r in rows] == ["AP"] * 4 + ["RR"] * 4
    assert [int(r["rank"]) for r in rows] == [s["rank"] for s in found["leaderboard"]]
    _, out, _ = run(capsys, folder, "--format", "tsv", "-m", "AP RR", "--show", "families")
    assert out.startswith("measure\ttopics\tone_way_f\t")


def test_equivalence_and_needed_topics(capsys, folder):
    found = answer(capsys, folder, "-m", "AP", "--equivalence", "0.1", "--detect", "0.05",
                   "--baseline", "bm25")  # fmt: skip
    copy = next(p for p in found["pairs"] if p["a"] == "copy")
    assert copy["p_equivalence"] == 0.0
    assert copy["topics_needed"] == 2
    dense = next(p for p in found["pairs"] if p["a"] == "dense")
    assert dense["topics_needed"] > 2
    assert 0 < dense["p_equivalence"] <= 1


def test_options_may_stand_between_the_files(capsys, folder):
    path = str(folder / "qrels.txt")
    code = main(["compare", path, "--baseline", "bm25", str(folder / "bm25.run"), "-m", "AP",
                 str(folder / "dense.run"), "--resamples", "100"])  # fmt: skip
    assert code == 0
    assert "Stars: differs significantly from bm25" in capsys.readouterr().out


def test_exact_randomization_of_few_topics(capsys, folder):
    found = answer(capsys, folder, "-m", "AP", "--test", "randomization", "--resamples", "exact",
                   runs=("bm25", "dense"))  # fmt: skip
    (pair,) = found["pairs"]
    assert (pair["p"] * 2**20) == round(pair["p"] * 2**20)
    assert found["resamples"] == "exact"


def test_measures_without_a_test_are_left_out_and_named(capsys, folder):
    code, out, err = run(capsys, folder, "-m", "AP AP(mean='geometric')", "--test", "sign")
    assert code == 0
    assert "AP(mean='geometric') has no values of single topics" in err
    code, out, err = run(capsys, folder, "-m", "AP(mean='geometric')", "--test", "sign")
    assert code == 2
    assert out == ""
    assert "take bootstrap, randomization or t" in err


@pytest.mark.parametrize("args, message", [
    (("--baseline", "bm2"), "no run named 'bm2'. Did you mean 'bm25'?"),
    (("--test", "bootstrp"), "invalid choice: 'bootstrp'"),
    (("--correction", "sidak"), "invalid choice: 'sidak'"),
    (("--tail", "three"), "invalid choice: 'three'"),
    (("--alpha", "5"), "'5' is not a number between 0 and 1"),
    (("--alpha", "x"), "'x' is not a number between 0 and 1"),
    (("--power", "1"), "'1' is not a number between 0 and 1"),
    (("--power", "0.01"), "must lie between alpha (0.05) and 1"),
    (("--resamples", "0"), "'0' is not a whole number from 1 on, nor 'exact'"),
    (("--resamples", "many"), "'many' is not a whole number from 1 on, nor 'exact'"),
    (("--resamples", "exact"), "only the randomization test has an exact form"),
    (("--equivalence", "-1"), "must be greater than 0"),
    (("--detect", "nan"), "must be greater than 0"),
    (("--seed", "-3"), "'-3' is not a whole number from 0 on"),
    (("--jobs", "0"), "'0' is not a whole number from 1 on"),
    (("--show", "pair"), "no table 'pair'"),
    (("--test", "tukey", "--correction", "bh"), "corrects for all pairs itself"),
    (("--test", "nemenyi", "--tail", "one"), "two-tailed"),
    (("-m", "APP"), "No measure named 'APP'. Did you mean 'AP'?"),
    (("--ontology", "pto-2009"), "--ontology is for annotation; name the truth with --truth"),
    (("--collection-size", "0"), "'0' is not a whole number from 1 on"),
])  # fmt: skip
def test_bad_usage_ends_with_two_and_a_sentence(capsys, folder, args, message, tmp_path):
    target = tmp_path / "out.txt"
    code, out, err = run(capsys, folder, "-o", str(target), *args)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert not target.exists()


def test_too_few_runs_or_twice_the_same_name(capsys, folder):
    code, out, err = run(capsys, folder, runs=("bm25",))
    assert (code, out) == (2, "")
    assert "two runs or more" in err
    code, out, err = run(capsys, folder, runs=("bm25", "bm25"))
    assert code == 2
    assert "two runs are named 'bm25'" in err


def test_a_bad_file_is_named_with_its_line(capsys, folder, tmp_path):
    bad = tmp_path / "bad.run"
    bad.write_text("0 Q0 d1 1 0.5 x\n0 Q0 d2 1 oops x\n")
    code = main(["compare", str(folder / "qrels.txt"), str(folder / "bm25.run"), str(bad)])
    err = capsys.readouterr().err
    assert code == 2
    assert f"{bad}:2:" in err


@pytest.fixture(scope="module")
def annotation(tmp_path_factory):
    """A truth of 40 items and 4 concepts, and three runs with confidences."""
    path = tmp_path_factory.mktemp("annotation")
    rng = np.random.default_rng(2)
    names = ("Sky", "Sea", "Dog", "Car")
    truth = (rng.random((40, 4)) < 0.4).astype(int)
    truth[:2] = [[1, 0, 1, 0], [0, 1, 0, 1]]

    def write(name, rows, form):
        lines = [",".join(["item", *names])]
        lines += [",".join([f"i{i}", *(format(v, form) for v in r)]) for i, r in enumerate(rows)]
        (path / f"{name}.csv").write_text("\n".join(lines) + "\n")

    write("truth", truth, "d")
    for name, quality in (("weak", 0.1), ("strong", 0.6), ("same", 0.1)):
        noise = np.random.default_rng(3 if name == "same" else 5).random(truth.shape)
        write(name, np.clip(0.8 * noise + quality * truth, 0, 1), ".4f")
    shutil.copy(path / "weak.csv", path / "twin.csv")
    return path


def label(capsys, annotation, *args, runs=("weak", "strong", "twin")):
    paths = [str(annotation / f"{r}.csv") for r in runs]
    code = main(["compare", "--truth", str(annotation / "truth.csv"), *paths, *args])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_annotation_is_compared_by_item_unless_concepts_are_asked_for(capsys, annotation):
    args = ("-m", "F.example AP.concept HammingLoss", "--baseline", "weak", "--tail", "one")
    code, out, err = label(capsys, annotation, *args, "--format", "json")
    assert code == 0, err
    found = json.loads(out)
    assert [(m["name"], m["unit"], m["units"]) for m in found["measures"]] == [
        ("F.example", "item", 40), ("AP.concept", "item", 40), ("HammingLoss", "item", 40),
    ]  # fmt: skip
    pairs = {(p["measure"], p["a"]): p for p in found["pairs"]}
    assert pairs["F.example", "twin"]["p"] == 1.0
    assert pairs["F.example", "twin"]["ci"] == [0.0, 0.0]
    assert pairs["F.example", "strong"]["difference"] > 0
    # Less is better here: a negative difference is a win.
    assert pairs["HammingLoss", "strong"]["difference"] < 0
    for name in ("F.example", "HammingLoss"):
        assert pairs[name, "strong"]["p"] < 0.05
        assert pairs[name, "strong"]["wins"] > pairs[name, "strong"]["losses"]
    code, out, _ = label(capsys, annotation, *args, "--show", "all")
    assert "n: 40 items in every pair" in out
    args = ("-m", "AP.concept", "--units", "concepts", "--show", "all")
    assert "n: 4 concepts in every pair" in label(capsys, annotation, *args)[1]


def test_annotation_takes_the_options_of_label(capsys, annotation):
    code, out, err = label(capsys, annotation, "--threshold", "0.3", "--test", "t", "--show",
                           "pairs", "--format", "json")  # fmt: skip
    assert code == 0, err
    assert {m["name"] for m in json.loads(out)["measures"]} >= {
        "AP.concept", "F.concept", "F.example", "HammingLoss",
    }  # fmt: skip
    code, _, err = label(capsys, annotation, "--threshold", "0.9", "-m", "F.example",
                         "--test", "t")  # fmt: skip
    assert code == 0, err


@pytest.mark.parametrize("args, message", [
    (("--topics", "run"), "is for ranked runs"),
    (("--collection-size", "9"), "is for ranked runs"),
    (("-m", "AP"), "AP"),
    (("-m", "F.concept(mean='micro')", "--units", "both"), "is not a mean over concepts"),
    (("-m", "F.concept", "--test", "wilcoxon"), "has no values of single items"),
    (("--threshold", "nobody=0.5"), "'nobody', which is not a run"),
    (("--ontology", "no-such-file.csv"), "no-such-file.csv"),
])  # fmt: skip
def test_bad_usage_of_annotation(capsys, annotation, args, message):
    code, out, err = label(capsys, annotation, *args)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_annotation_needs_two_runs_of_different_names(capsys, annotation):
    code, _, err = label(capsys, annotation, "-m", "F.example", runs=("weak",))
    assert code == 2
    assert "two runs or more" in err
    code, _, err = label(capsys, annotation, "-m", "F.example", runs=("weak", "weak"))
    assert code == 2
    assert "two runs are named 'weak'" in err


def test_the_direction_seen_is_tested_and_marked_as_table_8_of_chatzichristofis_does(
    capsys, folder
):
    args = ("-m", "AP", "--tail", "seen", "--correction", "none", "--test", "bootstrap")
    up = answer(capsys, folder, *args, runs=("dense", "bm25"))["pairs"][0]
    down = answer(capsys, folder, *args, runs=("bm25", "dense"))["pairs"][0]
    assert (up["mark"], down["mark"]) == ("up", "down")
    assert up["stars"] == down["stars"] != ""
    assert up["p"] == down["p"]
    assert up["deviation_percent"] == pytest.approx(down["deviation_percent"])
    _, out, _ = run(capsys, folder, *args, "--show", "all", runs=("bm25", "dense"))
    assert f"{down['stars']} down" in out
    assert "one-tailed in the direction seen (its level over both directions is twice the p)" in out


def test_one_tailed_without_a_baseline_is_refused_with_the_reason(capsys, folder):
    code, out, err = run(capsys, folder, "-m", "AP", "--tail", "one")
    assert (code, out) == (2, "")
    assert "asks whether a run is better than the baseline" in err


def test_the_leaderboard_has_the_keys_of_the_contract(capsys, folder):
    for row in answer(capsys, folder, "-m", "AP")["leaderboard"]:
        assert list(row)[:8] == [
            "measure",
            "run",
            "mean",
            "ci",
            "place",
            "place_interval",
            "rank",
            "group",
        ]


def test_shares_of_next_to_nothing_are_a_dash_with_a_sentence(capsys, tmp_path, monkeypatch):
    """4379.60 % above a random run says nothing; an alpha of -12 is no reliability."""
    monkeypatch.chdir(tmp_path)
    qrels = {str(t): {"a": 1} for t in range(6)}
    good = {t: {"a": 2.0, "b": 1.0} for t in qrels}
    poor = {t: {"a": 0.0, **{f"x{i}": 9.0 - i / 99 for i in range(60 + int(t))}} for t in qrels}
    turned = {t: good[t] if int(t) % 2 else poor[t] for t in qrels}
    back = {t: poor[t] if int(t) % 2 else good[t] for t in qrels}
    for name, content in {"q": qrels, "g": good, "p": poor, "t": turned, "u": back}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    assert main(["compare", "q.json", "g.json", "p.json", "-m", "AP", "--show", "all"]) == 0
    told = capsys.readouterr().out
    assert told.count("-: beyond 1,000 %, which says only that one of the means is near 0.") == 2
    assert main(["compare", "q.json", "g.json", "p.json", "-m", "AP", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"][0]["deviation_percent"] > 1000
    assert main(["compare", "q.json", "t.json", "u.json", "-m", "AP", "--show", "all"]) == 0
    told = capsys.readouterr().out
    assert "A negative alpha is no reliability at all" in told
    assert "beyond 1,000 %" not in told
