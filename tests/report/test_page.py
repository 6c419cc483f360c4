"""The interactive report as a file: what it holds, how large it grows, what its policy allows."""

import base64
import hashlib
import html
import json
import re

import numpy as np
import pytest

from cranfield.cli import main
from cranfield.data import Judgements, Run
from cranfield.evaluation.ranked import evaluate
from cranfield.io.samples import SAMPLE
from cranfield.references import REFERENCES
from cranfield.report.cases import ComparedScores, ranked_case
from cranfield.report.html_report import case_section
from cranfield.report.page import report_page
from cranfield.report.sections import score_section, table_section
from cranfield.report.tables.comparison import further_tables
from cranfield.report.tables.evaluation import leaderboard

QRELS = str(SAMPLE / "qrels.txt.gz")
RUNS = [str(SAMPLE / "runs" / f"{name}.run.gz") for name in ("pca", "pixels", "random")]
LABELS = [str(SAMPLE / "labels" / f"{name}.csv.gz") for name in ("tree", "bayes")]


def held(page):
    return json.loads(page.split('id="data">')[1].split("</script>")[0])


@pytest.fixture
def both(tmp_path, capsys):
    """The data of the report of a command, and its JSON."""

    def run(*args, per=()):
        target = tmp_path / "report.html"
        assert main([*args, "--format", "html", "-o", str(target), "--quiet"]) == 0
        capsys.readouterr()
        assert main([*args, *per, "--format", "json", "--quiet"]) == 0
        return held(target.read_text())["sections"], json.loads(capsys.readouterr().out)

    return run


def test_every_number_of_eval(both):
    (section,), said = both("eval", QRELS, *RUNS, "-m", "AP NMRR NumRet", per=["--per-topic"])
    for i, run in enumerate(said["runs"]):
        assert {m: values[i] for m, values in section["means"].items()} == run["mean"]
        assert section["evaluated"][i] == run["topics"]["evaluated"]
    rows = {(r["run"], r["topic"]): r for r in said["per_topic"]}
    for m, values in section["values"].items():
        for i, row in zip(values["runs"], values["rows"], strict=True):
            for topic, value in zip(section["units"]["topic"], row, strict=True):
                assert value == rows[section["runs"][i], topic][m]


def test_every_number_of_label(both):
    (section,), said = both(
        "label",
        str(SAMPLE / "truth.csv"),
        *LABELS,
        "-m",
        "AP.concept F.example",
        per=["--per-item", "--per-concept"],
    )
    for i, run in enumerate(said["runs"]):
        assert {m: values[i] for m, values in section["means"].items()} == run["mean"]
        assert section["density"]["runs"][i] == run["label_density"]
    for m, unit in (("AP.concept", "concept"), ("F.example", "item")):
        rows = {(r["run"], r[unit]): r[m] for r in said[f"per_{unit}"]}
        values = section["values"][m]
        for i, row in zip(values["runs"], values["rows"], strict=True):
            run = section["runs"][i]
            assert row == [rows[run, name] for name in section["units"][unit]]


@pytest.mark.parametrize("more", [["--baseline", "pixels"], ["--tail", "seen"], []])
def test_every_number_of_compare(both, more):
    (section, further), said = both("compare", QRELS, *RUNS, "-m", "AP nDCG@10", *more)
    names = section["runs"]
    pairs = [
        (names[a], names[b], m, *rest)
        for m, rows in section["pairs"].items()
        for a, b, *rest in rows
    ]
    assert pairs == [
        (p["a"], p["b"], p["measure"], p["difference"], *p["ci"], p["p"], p["p_corrected"])
        for p in said["pairs"]
    ]
    for place in said["leaderboard"]:
        i = names.index(place["run"])
        rank, group, low, high, at, *spread = section["standings"][place["measure"]][i]
        assert [rank, group, at] == [place["rank"], place["group"], place["place"]]
        assert [[low, high], spread] == [place["place_interval"], place["rank_spread"]]
        assert section["intervals"][place["measure"]][i] == place["ci"]
        assert section["means"][place["measure"]][i] == pytest.approx(place["mean"], rel=1e-12)
    assert (section["baseline"], section["tail"]) == (said["baseline"], said["tail"])
    assert [t["title"].split()[0] for t in further["tables"]] == ["What", "Effect", "All"]


def test_rankings_are_those_of_the_run(both):
    (section,), _ = both("eval", QRELS, *RUNS, "-m", "AP")
    from cranfield.io import read_qrels, read_run

    grades = read_qrels(QRELS).to_dict()
    shown = section["rankings"]
    for i, path in enumerate(RUNS):
        run = read_run(path)
        for topic, entry in zip(section["units"]["topic"], shown["topics"], strict=True):
            items = [shown["items"][at] for at, _ in entry["runs"][i]]
            assert items == run.ranking(topic)[: shown["depth"]]
            assert [g for _, g in entry["runs"][i]] == [grades[topic].get(x) for x in items]
            assert entry["relevant"] == sum(g > 0 for g in grades[topic].values())


def test_ties_in_the_order_of_the_file_and_judged_only(both, tmp_path):
    (tmp_path / "q.json").write_text(json.dumps({"t": {"a": 1, "b": 0, "c": 0}, "u": {"a": 1}}))
    (tmp_path / "r.run").write_text("t Q0 b 1 2 r\nt Q0 x 2 1 r\nt Q0 a 3 1 r\nt Q0 c 4 1 r\n")
    args = ["eval", str(tmp_path / "q.json"), str(tmp_path / "r.run"), "-m", "AP"]

    def order(*more):
        (section,), _ = both(*args, *more)
        shown = section["rankings"]
        return [shown["items"][i] for i, _ in shown["topics"][0]["runs"][0]]

    assert order() == ["b", "x", "c", "a"]
    assert order("--ties", "file") == ["b", "x", "a", "c"]
    assert order("--judged-only") == ["b", "c", "a"]
    assert order("--max-items", "2") == ["b", "x"]


def test_standard_input_is_read_once_and_the_report_is_whole(tmp_path, monkeypatch):
    import gzip
    import io
    import sys

    lines = gzip.decompress((SAMPLE / "runs" / "pca.run.gz").read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    target = tmp_path / "r.html"
    assert main(["eval", QRELS, "-", "-m", "AP", "--format", "html", "-o", str(target)]) == 0
    section = held(target.read_text())["sections"][0]
    assert section["rankings"]["topics"]
    assert section["left_out"] == []


def test_one_run_one_topic_and_undefined_values(both, tmp_path):
    (tmp_path / "q.json").write_text(json.dumps({"t": {"a": 0}}))
    for name in ("r", "s"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"t": {"a": 1.0}}))
    measures = ["-m", "R@5 NMRR AP"]
    args = ["eval", str(tmp_path / "q.json"), str(tmp_path / "r.json")]
    (section,), said = both(*args, *measures)
    assert section["means"]["NMRR"] == [said["runs"][0]["mean"]["NMRR"]] == [None]
    (section,), _ = both(*args, str(tmp_path / "s.json"), *measures)
    assert section["pairs"]["AP"] == [[0, 1, 0.0, 0.0, 0.0, 1.0, 1.0]]


def test_the_methods_name_what_was_done_and_what_to_cite(both):
    (section,), _ = both("eval", QRELS, *RUNS, "-m", "AP nDCG@10 NMRR", "--collection-size", "1120")
    text = " ".join(section["methods"])
    for said in (
        "3 runs on 80 topics",
        "AP (Average precision)",
        "lower is better",
        "the collection has 1120 items",
        "Paired bootstrap test",
        "seed 0",
    ):
        assert said in text
    cited = [s["bibtex"] for s in section["sources"]]
    assert REFERENCES["jarvelin-kekalainen"].bibtex("jarvelin-kekalainen") in cited


def synthetic(runs, topics, items=20):
    rng = np.random.default_rng(5)
    names = [f"item-{n:04d}" for n in range(items)]
    truth = {
        f"t{t}": dict(zip(names, rng.integers(0, 3, items).tolist(), strict=True))
        for t in range(topics)
    }
    made = [
        Run.from_rows(
            np.repeat([f"t{t}" for t in range(topics)], items),
            names * topics,
            rng.random(items * topics),
        ).named(f"run-{r:03d}")
        for r in range(runs)
    ]
    return Judgements.from_dict(truth), made


def made_page(runs, topics, measures="AP nDCG@10 RR P@10"):
    judgements, made = synthetic(runs, topics)
    case = ranked_case(judgements, made, measures)
    section = case_section(case, title="x", tables=[leaderboard(case.scores)])
    return section, report_page("x", [section])


def test_twenty_runs_on_fifty_topics_are_small_and_whole():
    section, page = made_page(20, 50)
    assert len(page.encode()) < 3_000_000
    assert section.left_out == []


def test_two_hundred_runs_on_a_thousand_topics_are_bounded_and_say_what_is_missing():
    section, page = made_page(200, 1000)
    assert len(page.encode()) < 5_000_000
    assert len(section.data["means"]["AP"]) == 200
    said = " ".join(section.left_out)
    for part in ("200 runs are more than 40", "best of 200 runs", "first 40 of 1000 topics"):
        assert part in said


def test_the_policy_allows_this_script_and_this_style_alone():
    page = report_page("t", [table_section("t", [])])
    policy = html.unescape(re.search(r'Policy" content="([^"]*)"', page).group(1))
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy

    def digest(text):
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    style = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert f"script-src 'sha256-{digest(script[0])}'" in policy
    assert f"style-src 'sha256-{digest(style[0])}'" in policy
    assert len(script) == len(style) == 1
    assert "http" not in re.sub(r"http://www.w3.org/2000/svg", "", script[0])
    assert not re.search(r"innerHTML|AdjacentHTML|document\.write|eval\(|Function\(", script[0])


def test_a_comparison_of_many_runs_is_bounded_too():
    judgements, made = synthetic(160, 6, items=5)
    scores = evaluate(judgements, made, "AP")
    found = scores.compare(test="t", resamples=100)
    assert len(found.pairs) == 12_720
    section = score_section(ComparedScores(scores, found), title="x", tables=[])
    assert len(section.data["pairs"]["AP"]) == 780
    assert any("among the 40 best of 160 runs" in text for text in section.left_out)
    effects = table_section("x", further_tables(found)).data["tables"][1]
    assert len(effects["rows"]) == 1000
    assert effects["notes"][0].startswith("... and 11720 more pairs")
