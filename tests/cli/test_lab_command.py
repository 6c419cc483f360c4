"""`cranfield lab` and `cranfield pool`: every study through the command line, and bad input."""

import csv
import gzip
import io
import json
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

import cranfield
from cranfield.cli import main
from cranfield.notes import time_left

DIGITS = Path(cranfield.__file__).parent / "samples" / "digits"
QRELS = str(DIGITS / "qrels.txt.gz")
RUNS = [str(p) for p in sorted((DIGITS / "runs").iterdir())]
LABELS = [str(p) for p in sorted((DIGITS / "labels").iterdir())]
TRUTH = ["--truth", str(DIGITS / "truth.csv")]
KNOWN = ["--ontology", str(DIGITS / "ontology.csv"), "--rules", str(DIGITS / "rules.toml")]


def answer(capsys, *argv):
    assert main([*argv, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["command"] == " ".join(argv[:2]) or found["command"] == argv[0]
    return found


def complaint(capsys, *argv):
    assert main(list(argv)) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Traceback" not in shown.err
    return shown.err


def test_correlate_ranked_and_labels(capsys):
    found = answer(
        capsys, "lab", "correlate", QRELS, *RUNS, "-m", "AP NMRR P@10", "--resamples", "20"
    )
    assert [(p["a"], p["b"]) for p in found["pairs"]] == [
        ("AP", "NMRR"),
        ("AP", "P@10"),
        ("NMRR", "P@10"),
    ]
    assert found["pairs"][0]["kendall"] > 0.9
    found = answer(
        capsys,
        "lab",
        "correlate",
        *TRUTH,
        *LABELS,
        *KNOWN,
        "-m",
        "F.example OS",
        "--resamples",
        "20",
    )
    assert len(found["runs"]) == 13


def test_stability_prints_its_tables_and_resumes(capsys, tmp_path):
    argv = [
        "lab",
        "stability",
        QRELS,
        *RUNS,
        "-m",
        "AP RR",
        "--repeats",
        "2",
        "--trials",
        "5",
        "--resamples",
        "20",
        "--folder",
        str(tmp_path / "s"),
    ]
    assert main(argv) == 0
    first = capsys.readouterr().out
    for title in ("Flipped truth", "Incomplete truth", "Fewer units", "swap rate"):
        assert title in first
    assert main([*argv, "--executor", "processes"]) == 0
    assert capsys.readouterr().out == first
    found = answer(capsys, *argv)
    assert [p["pairs"] for p in found["power"]] == [28, 28]
    assert {s["change"] for s in found["stages"]} == {"noise", "judgements", "units"}
    assert found["swaps"][0]["bins"][0]["from"] == 0


def test_random_generality_pool(capsys):
    found = answer(capsys, "lab", "random", *TRUTH, *LABELS, *KNOWN, "-m", "OS HS", "--no-over")
    assert found["measures"][0]["separates"] is True
    found = answer(capsys, "lab", "generality", QRELS, *RUNS[:2], "--collection-size", "1120")
    assert found["sizes"] == [373, 747, 1120]
    found = answer(capsys, "lab", "generality", "--simulate", "500,1000", "-m", "AP")
    assert found["measures"]["AP"]["deviation_percent"][0] == 0
    found = answer(capsys, "lab", "pool", QRELS, *RUNS, "-m", "AP", "--depth", "10")
    assert all(r["score_without"] <= r["score"] for r in found["runs"])
    found = answer(capsys, "lab", "unjudged", QRELS, *RUNS, "-m", "AP", "--trials", "2")
    assert {order["method"] for order in found["orders"]} == set(found["methods"])


@pytest.mark.parametrize("files", [[QRELS, *RUNS[:3]], [*TRUTH, *LABELS[:3]]])
def test_all_measures_are_those_that_have_what_they_need(capsys, files):
    found = answer(capsys, "lab", "correlate", *files, "-m", "all", "--resamples", "2")
    assert {"AP", "RR"} <= set(found["scores"]) or {"F.example", "AUC"} <= set(found["scores"])
    assert not {"xinfAP", "MNRO", "HLoss", "OS"} & set(found["scores"])


def test_curves_and_requirements_of_all_measures(capsys):
    found = answer(capsys, "lab", "curves", "--size", "3", "-m", "all")
    assert {"AP", "MNRO", "NormRecall"} <= set(found["points"][0])
    found = answer(capsys, "lab", "requirements", "all")
    assert "MNRO" in {r["measure"] for r in found["measures"]}


def test_generality_names_a_run_that_belongs_to_other_judgements(capsys, tmp_path):
    (tmp_path / "q").write_text("other 0 a 1\n")
    argv = ["lab", "generality", str(tmp_path / "q"), RUNS[0], "--collection-size", "9"]
    assert "<bits>: none of its topics is judged" in complaint(capsys, *argv)


def test_annotations_in_studies_of_rankings(capsys):
    found = answer(capsys, "lab", "generality", *TRUTH, *LABELS, "-m", "AP", "--shares", "60,100")
    assert found["sizes"] == [240, 400]
    found = answer(
        capsys,
        "lab",
        "pool",
        *TRUTH,
        *LABELS,
        "-m",
        "AP",
        "--depth",
        "20",
        "--executor",
        "processes",
        "--jobs",
        "2",
    )
    assert len(found["runs"]) == len(LABELS)


def test_curves_and_requirements(capsys):
    found = answer(capsys, "lab", "curves", "--size", "30", "-m", "AP", "--ranks", "1,30")
    assert found["points"] == [{"ranks": [1], "AP": 1.0}, {"ranks": [30], "AP": 1 / 30}]
    assert main(["lab", "curves", "--relevant", "2"]) == 0
    assert "last rank" in capsys.readouterr().out
    found = answer(capsys, "lab", "requirements", "RR F.example")
    assert {r["measure"] for r in found["measures"]} == {"RR", "F.example"}


def test_votes_from_a_table_to_a_questionnaire_and_back(capsys, tmp_path):
    table = tmp_path / "votes.csv"
    table.write_text("question,AP,MNRO\n1,5,13\n2,8,12\n")
    assert main(["lab", "votes", "count", str(table), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["choices"][1]["votes"] == 25
    table.write_text("question,votes_a,votes_b,votes_both,SRP_a,SRP_b\n1,5,13,1,0.2,0.4\n")
    assert main(["lab", "votes", "count", str(table), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["measures"][0]["agreed"] == 1
    assert main(["lab", "votes", "make", str(tmp_path / "q"), "--questions", "2"]) == 0
    assert "keep it to yourself" in capsys.readouterr().out
    given = tmp_path / "a.json"
    given.write_text('{"answers": {"1": ["Method 1"], "2": ["none"]}}')
    argv = ["lab", "votes", "tally", str(tmp_path / "q" / "key.json"), str(given)]
    assert main([*argv, "--format", "json"]) == 0
    assert sum(c["votes"] for c in json.loads(capsys.readouterr().out)["choices"]) == 2


def test_simulated_runs_can_be_evaluated(capsys, tmp_path):
    assert main(["lab", "simulate", QRELS, str(tmp_path), "--count", "3"]) == 0
    runs = sorted(map(str, tmp_path.glob("*.run")))
    assert len(runs) == 3
    assert main(["eval", QRELS, *runs]) == 0
    assert (
        main(
            [
                "lab",
                "simulate",
                str(DIGITS / "truth.csv"),
                str(tmp_path / "l"),
                "--labels",
                "--count",
                "2",
            ]
        )
        == 0
    )
    assert main(["label", str(DIGITS / "truth.csv"), str(tmp_path / "l" / "system2.csv")]) == 0


VOTES = "question,AP,MNRO\n1,5,13\n"
SIDES = "question,votes_a,votes_b,votes_both,SRP_a,SRP_b\n1,5,13,1,0.2,0.4\n"
QUICK = ["--resamples", "5"]


@pytest.mark.parametrize(
    "argv, charts",
    [
        # Two trees and a picture for each pair of measures.
        (["correlate", QRELS, *RUNS, "-m", "AP RR NMRR", *QUICK], 5),
        (["correlate", *TRUTH, *LABELS, "-m", "F.example AP.concept", *QUICK], 2),
        (["stability", QRELS, *RUNS, "-m", "AP RR", "--repeats", "2", *QUICK], 4),
        (["stability", *TRUTH, *LABELS, "--repeats", "2", "--noise", "5", "--parts", "noise"], 1),
        (["random", *TRUTH, *LABELS, "-m", "F.example AP.concept", "--densities", "50"], 2),
        (["random", QRELS, *RUNS, "-m", "AP", "--count", "2"], 1),
        (["generality", "--simulate", "100,1000", "-m", "AP NAR"], 1),
        (["curves", "--size", "2000", "--ranks", "1,10,2000"], 1),
        # The envelope, all combined ranks, and a surface for each measure.
        (["curves", "--relevant", "2"], 5),
        (["requirements", "RR F.example"], 1),
        (["votes", "count", VOTES], 1),
        (["votes", "count", SIDES], 1),
        (["pool", QRELS, *RUNS, "-m", "AP RR", "--depth", "10"], 2),
    ],
)
def test_reports_have_charts(capsys, tmp_path, argv, charts):
    if argv[0] == "votes":
        (tmp_path / "votes.csv").write_text(argv[2])
        argv = [*argv[:2], str(tmp_path / "votes.csv")]
    assert main(["lab", *argv, "--format", "html"]) == 0
    page = capsys.readouterr().out
    drawn = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawn) == charts
    for svg in drawn:
        assert list(ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"))
    assert "<table>" in page


def test_pool_lists_items_once_per_topic(capsys):
    assert main(["pool", *RUNS[:3], "--depth", "5"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out), delimiter="\t"))
    assert len(rows) == len({(r["topic"], r["item"]) for r in rows})
    assert {int(r["best_rank"]) for r in rows} == {1, 2, 3, 4, 5}
    assert {r["judged"] for r in rows} == {"0"}
    found = answer(capsys, "pool", *RUNS[:3], "--depth", "5", "--next", "4")
    weights = [i["weight"] for i in found["items"]]
    assert len(weights) == 4
    assert main(["pool", *RUNS[:2], "--judged", QRELS, "--format", "table"]) == 0
    assert "(all)" in capsys.readouterr().out


def test_a_pool_of_annotations_has_items_for_each_concept(capsys):
    timid = next(p for p in LABELS if "timid" in p)  # has no names: it takes those of the others
    runs = [timid, *(p for p in LABELS if p != timid)]
    assert main(["pool", *runs[:3], "--labels", "--depth", "3"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out), delimiter="\t"))
    per_topic = Counter(r["topic"] for r in rows)
    assert "Even" in per_topic
    assert all(3 <= n <= 9 for n in per_topic.values())


@pytest.mark.parametrize("source", ["missing.txt", "bad.txt"])
def test_simulate_makes_no_folder_for_a_source_it_cannot_read(capsys, tmp_path, source):
    (tmp_path / "bad.txt").write_text("301 0 a x\n")
    assert main(["lab", "simulate", str(tmp_path / source), str(tmp_path / "runs")]) == 2
    assert source in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_stability_tells_ranges_and_all_parts_as_csv(capsys):
    argv = [
        "lab",
        "stability",
        QRELS,
        *RUNS[:4],
        "-m",
        "AP RR",
        "--noise",
        "0.5,10",
        "--repeats",
        "3",
        "--resamples",
        "5",
    ]
    assert main(argv) == 0
    shown = capsys.readouterr().out
    assert "Flipped truth: range of the repetitions" in shown
    assert "0.5% low" in shown
    assert main([*argv, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert Counter(r["change"] for r in rows) == {"noise": 4, "judgements": 10, "units": 10}
    for r in rows:
        assert float(r["original_low"]) <= float(r["original"]) <= float(r["original_high"])
    assert main([*argv, "--format", "csv", "--parts", "swap"]) == 0
    assert capsys.readouterr().out.startswith("measure,swap_rate")


@pytest.mark.parametrize(
    "argv, message",
    [
        (["lab"], "required: STUDY"),
        (["lab", "corelate"], "invalid choice"),
        (["lab", "correlate", QRELS], "give judgements and runs"),
        (["lab", "correlate", QRELS, *RUNS[:2]], "at least 3"),
        (["lab", "correlate", QRELS, *RUNS, "-m", "AP RPB"], "No measure named 'RPB'"),
        (["lab", "correlate", QRELS, *RUNS, "--rules", "r.toml"], "--truth"),
        (["lab", "correlate", QRELS, *RUNS, "--executor", "ray"], "is not one of threads"),
        (["lab", "correlate", QRELS, *RUNS[:2], "nothing.run"], "nothing.run: no such file"),
        (["lab", "correlate", QRELS, RUNS[0], *RUNS], "two runs are named"),
        (["lab", "stability", QRELS, *RUNS, "--parts", "noice"], "Did you mean 'noise'"),
        (["lab", "stability", QRELS, *RUNS, "--noise", "0"], "list of percentages"),
        (["lab", "stability", QRELS, *RUNS, "--noise", "5,1"], "must rise"),
        (["lab", "stability", QRELS, *RUNS, "--noise", "100"], "between 0 and 1"),
        (["lab", "stability", QRELS, *RUNS, "--noise", "150"], "list of percentages"),
        (["lab", "stability", QRELS, *RUNS, "--parts", "units", "--dropped", "50,10"], "must rise"),
        (["lab", "stability", QRELS, *RUNS, "--level", "5"], "lies between 0 and 1"),
        (["lab", "stability", QRELS, *RUNS, "--level", "nan"], "lies between 0 and 1"),
        (["lab", "stability", QRELS, *RUNS, "--repeats", "0"], "whole number from 1 on"),
        (["lab", "stability", QRELS, *RUNS, "--seed", "-1"], "whole number from 0 on"),
        (["lab", "pool", QRELS, RUNS[0]], "1 run: too few to compare; give at least 2"),
        (["lab", "stability", *TRUTH, *LABELS, "--collection-size", "9"], "for ranked runs"),
        (["lab", "random", *TRUTH, *LABELS, "-m", "hF"], "needs a hierarchy"),
        (["lab", "generality", QRELS, *RUNS], "--collection-size"),
        (["lab", "generality", QRELS, *RUNS, "--collection-size", "100"], "cannot hold"),
        (["lab", "generality", QRELS, "--simulate", "100,200"], "takes no files"),
        (["lab", "generality", "--simulate", "100,200", *TRUTH], "takes no files"),
        (["lab", "random", *TRUTH, *LABELS, "--densities", "10,10"], "given twice"),
        (["lab", "votes", "make", "q", "--ontology", "pto-2009"], "--truth"),
        (["lab", "votes", "make", "q", *TRUTH], "compares two annotations"),
        (["lab", "votes", "make", "q", *TRUTH, "--size", "9"], "are for ranked lists"),
        (["lab", "curves", "-m", "F.example"], "reads decisions, not ranks"),
        (["lab", "requirements", ""], "no measure was asked for"),
        (["lab", "curves", "--executor", "cloud"], "is not one of threads"),
        (["lab", "curves", "--ranks", "1,x"], "list of whole numbers"),
        (["lab", "curves", "--ranks", "50"], "between 1 and 20"),
        (["lab", "requirements", "HLoss"], "needs a hierarchy"),
        (["lab", "votes", "count", "nothing.csv"], "nothing.csv: no such file"),
        (["pool", "nothing.run"], "nothing.run: no such file"),
        (["pool", RUNS[0], "--depth", "0"], "whole number from 1 on"),
    ],
)
def test_bad_input(capsys, argv, message):
    assert message in complaint(capsys, *argv)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_standard_input_is_read_once_for_all_workers(capsys, monkeypatch, tmp_path, executor):
    argv = ["-m", "AP RR", "--resamples", "5", "--executor", executor, "--jobs", "2"]
    qrels = tmp_path / "q"
    qrels.write_bytes(gzip.decompress(Path(QRELS).read_bytes()))
    assert main(["lab", "correlate", str(qrels), *RUNS[:3], *argv]) == 0
    expected = capsys.readouterr().out
    with qrels.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert main(["lab", "correlate", "-", *RUNS[:3], *argv]) == 0
    assert capsys.readouterr().out == expected
    first = tmp_path / "stdin.run"
    first.write_bytes(gzip.decompress(Path(RUNS[0]).read_bytes()))
    with first.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert main(["lab", "random", str(qrels), "-", *RUNS[1:3], *argv[:2], *argv[4:]]) == 0
    with_stdin = capsys.readouterr().out
    assert main(["lab", "random", str(qrels), str(first), *RUNS[1:3], *argv[:2], *argv[4:]]) == 0
    assert capsys.readouterr().out == with_stdin


def test_the_time_left_does_not_count_what_was_there_before():
    assert time_left(10, 0.0) == ""
    assert time_left(10, 0.5) == "10 s"
    assert time_left(10, 0.75, share_before=0.5) == "10 s"
    assert time_left(60, 0.1) == "9 min"
    assert time_left(3600, 0.1) == "9.0 h"


@pytest.mark.parametrize(
    "text, message",
    [
        ("", ":1: expected a header"),
        ("question,AP,AP\n", "'AP' stands in the header twice"),
        ("question,AP,NMRR\n", "no questions"),
        ("question,AP,NMRR\n1,2\n", ":2: 2 fields, expected 3"),
        ("question,AP,NMRR\n1,2,x\n", ":2: NMRR 'x' is not a whole number"),
        ("question,AP,NMRR\n1,2,-1\n", ":2: NMRR '-1' is not a whole number"),
        ("question,votes_a,votes_b,votes_both\n1,2,3,4\n", "MEASURE_a and MEASURE_b"),
        ("question,votes_a,votes_b,votes_both,S_a\n1,2,3,4,5\n", "S_a and S_b"),
    ],
)
def test_bad_votes(capsys, tmp_path, text, message):
    table = tmp_path / "votes.csv"
    table.write_text(text)
    assert message in complaint(capsys, "lab", "votes", "count", str(table))


def test_bad_answers(capsys, tmp_path):
    key, given = tmp_path / "key.json", tmp_path / "a.json"
    key.write_text('{"measures": ["AP"], "key": {"1": {"Method 1": "AP"}}}')
    given.write_text('{"answers": {"1": ["Method 7"]}}')
    argv = ["lab", "votes", "tally", str(key), str(given)]
    assert "question 1: no 'Method 7' was asked about" in complaint(capsys, *argv)
    given.write_text("[]")
    assert "expected a JSON object with 'answers'" in complaint(capsys, *argv)
    given.write_text("{")
    assert "is not JSON" in complaint(capsys, *argv)
