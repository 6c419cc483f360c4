"""`cranfield agreement` as a user meets it: shapes, tables, side files, bad logs."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cranfield.agreement.simulate import SPAMMERS, simulate_log
from cranfield.cli import main

GOOD = """annotator,item,concept,value
ann,x,Sky,1
ben,x,Sky,1
cid,x,Sky,0
ann,y,Sky,0
ben,y,Sky,0
cid,y,Sky,0
ann,x,Sea,1
ben,x,Sea,0
cid,x,Sea,1
"""
STANDARD = {"accuracy", "fleiss", "free_marginal", "krippendorff", "gwet_ac1"}
RULES = '[[exactly_one]]\nconcepts = ["Indoor", "Outdoor"]\n'


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(GOOD)
    return path


def answer(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, Any]:
    assert main(["agreement", *args, "--format", "json"]) == 0
    loaded: dict[str, Any] = json.loads(capsys.readouterr().out)
    return loaded


def refusal(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert main(["agreement", *args]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Traceback" not in shown.err
    return shown.err


def test_json_has_the_shape_of_the_contract(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, str(log))
    assert found["command"] == "agreement"
    assert found["overall"].keys() == STANDARD
    assert [c["concept"] for c in found["concepts"]] == ["Sky", "Sea"]
    assert all(c.keys() == STANDARD | {"concept"} for c in found["concepts"])
    assert all(
        a.keys() == {"annotator", "judgements", "accuracy_to_majority"} for a in found["annotators"]
    )
    assert found["concepts"][0]["accuracy"] == pytest.approx((1 / 3 + 1) / 2)
    assert found["annotators"][1]["accuracy_to_majority"] == pytest.approx(2 / 3)


def test_a_coefficient_that_does_not_exist_is_null(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "snow.csv"
    path.write_text("annotator,item,concept,value\na,x,Snow,0\nb,x,Snow,0\n")
    found = answer(capsys, str(path))["concepts"][0]
    assert found["fleiss"] is None
    assert found["krippendorff"] is None
    assert found["free_marginal"] == found["gwet_ac1"] == 1
    assert main(["agreement", str(path)]) == 0
    assert "undefined for some concepts" in capsys.readouterr().err


def test_a_category_log_lists_its_categories(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "log.csv.gz"
    with gzip.open(path, "wt") as out:
        out.write("worker,task,label\na,x,dog\nb,x,dog\na,y,cat\nb,y,dog\n")
    found = answer(capsys, str(path), "--coefficients", "all")
    assert [c["concept"] for c in found["concepts"]] == ["cat", "dog"]
    assert found["overall"]["accuracy"] == 0.5
    assert found["overall"].keys() == STANDARD


@pytest.mark.parametrize("form", ["table", "csv", "tsv", "latex", "html", "markdown", "json"])
def test_every_format_shows_every_table(
    log: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    extra = ["--pairs", "--per-item", "--majority", "--quality", "--intervals"]
    assert main(["agreement", str(log), *extra, "--resamples", "20", "--format", form]) == 0
    shown = capsys.readouterr().out
    # CSV and TSV are one table, the first that was asked for beyond the usual ones.
    for word in ("cohen",) if form in ("csv", "tsv") else ("Sky", "ann", "cohen", "should not"):
        assert word in shown or (form == "json" and word == "should not")


def test_more_tables(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "map.csv"
    found = answer(capsys, str(log), "--pairs", "--per-item", "--majority", "--map", str(target))
    pair = found["pairs"][0]
    assert (pair["a"], pair["b"], pair["units"]) == ("ann", "ben", 3)
    assert pair["accuracy"] == pytest.approx(2 / 3)
    x, y = found["per_item"]
    assert (x["item"], x["judgements"]) == ("x", 6)
    assert x["accuracy"] == pytest.approx(1 / 3)
    assert y["accuracy_selected"] is None
    majority = {c["concept"]: c for c in found["majority"]["concepts"]}
    assert majority["Sky"]["all"] == pytest.approx((2 / 3 + 1) / 2)
    assert majority["Sky"]["selected"] == pytest.approx(2 / 3)
    with target.open() as stream:
        rows = {r["concept"]: float(r["agreement"]) for r in csv.DictReader(stream)}
    assert rows == pytest.approx({"Sky": 5 / 6, "Sea": 2 / 3})
    # The map alone adds nothing to what is printed.
    assert "majority" not in answer(capsys, str(log), "--map", str(target))


def test_intervals_repeat_with_their_seed(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    once = answer(capsys, str(log), "--intervals", "--resamples", "50", "--seed", "3")
    again = answer(capsys, str(log), "--intervals", "--resamples", "50", "--seed", "3")
    assert once == again
    low, high = once["intervals"]["overall"]["accuracy"]
    assert low <= once["overall"]["accuracy"] <= high


def test_groups_are_compared_by_their_majorities(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    groups = tmp_path / "groups.csv"
    groups.write_text("annotator,group\nann,experts\nben,experts\ncid,crowd\n")
    found = answer(capsys, str(log), "--groups", str(groups))
    assert [g["group"] for g in found["groups"]] == ["experts", "crowd"]
    assert found["groups"][1]["accuracy"] is None
    assert [c["concept"] for c in found["groups"][0]["concepts"]] == ["Sky", "Sea"]
    assert found["groups"][0]["concepts"][0]["accuracy"] == 1
    # x Sky: 1 against 0; y Sky: alike; x Sea: a tied 1-0 of the experts goes to 0, against 1.
    assert found["between_groups"][0]["accuracy"] == pytest.approx(1 / 3)
    groups.write_text("annotator,group\nanne,experts\nben,experts\nben,crowd\n")
    said = refusal(capsys, str(log), "--groups", str(groups))
    assert "groups.csv:2: no annotator 'anne'" in said
    assert "Did you mean 'ann'?" in said
    assert "groups.csv:4: annotator 'ben' is in two groups" in said


def spam_log(path: Path) -> None:
    made = simulate_log(spammers=SPAMMERS, rng=0)
    with path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(made.log.header)
        writer.writerows(made.log.rows())


def test_quality_names_the_rejected_and_writes_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, clean = tmp_path / "spam.csv", tmp_path / "clean.csv"
    spam_log(path)
    # One sign is a reason to look, two kinds of signs are one to exclude.
    found = answer(capsys, str(path), "--quality")
    verdicts = {p["annotator"]: p["verdict"] for p in found["quality"]["annotators"]}
    noticed = [f"a{i:04d}" for i in range(20, 25)]
    assert [name for name, verdict in verdicts.items() if verdict != "keep"] == noticed
    assert found["quality"]["rejected"] == [n for n in noticed if verdicts[n] == "exclude"]
    assert {"a0021", "a0022"} <= set(found["quality"]["rejected"])
    strict = ["--quality", "--strict", "--reward", "0.05", "--clean", str(clean)]
    found = answer(capsys, str(path), *strict)
    quality = found["quality"]
    assert quality["rejected"] == noticed
    assert quality["overall_without_rejected"]["fleiss"] > found["overall"]["fleiss"]
    assert quality["effort"]["cost"] == pytest.approx(0.05 * quality["effort"]["forms"])
    again = answer(capsys, str(clean), "--quality")
    assert again["quality"]["rejected"] == []
    assert again["log"]["annotators"] == 20
    assert main(["agreement", str(path), "--quality"]) == 0
    assert "of 25 annotators should not count" in capsys.readouterr().out


def test_gold_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, gold = tmp_path / "log.csv", tmp_path / "gold.csv"
    rng = np.random.default_rng(0)
    rows = ["annotator,item,category"]
    rows += [f"{who},i{i},{v}" for who in "abc" for i, v in enumerate("XY" * 10)]
    rows += [f"z,i{i},{'XY'[rng.integers(2)]}" for i in range(20)]
    path.write_text("\n".join(rows) + "\n")
    gold.write_text("item,category\n" + "".join(f"i{i},{v}\n" for i, v in enumerate("XY" * 10)))
    found = answer(capsys, str(path), "--quality", "--gold", str(gold), "--gold-minimum", "0.9")
    by_name = {p["annotator"]: p for p in found["quality"]["annotators"]}
    assert by_name["a"]["gold_correct"] == by_name["a"]["gold_asked"] == 20
    assert "misses gold questions" in by_name["z"]["reasons"][0]
    gold.write_text("item,category\ni0,Z\n")
    said = refusal(capsys, str(path), "--quality", "--gold", str(gold))
    assert "gold.csv:2: category 'Z' is not one of X, Y" in said


BAD = {
    "": "is empty",
    "annotator,item\na,x\n": "is none of",
    "who,item,category\na,x,1\n": "has no column 'annotator'",
    "annotator,item,category,category\na,x,1,1\n": "two columns 'category'",
    "annotator,item,category\n": "has a header but no rows",
    "annotator,item,concept,value\na,x,Sky,1\na,x,Sky,0\n": ":3: duplicate judgement",
    "annotator,item,category\na,x,dog\na,x,cat\n": ":3: duplicate judgement: annotator 'a'",
    "annotator,item,concept,value\na,x,Sky,maybe\n": ":2: value 'maybe' is not a number",
    "annotator,item,concept,value\na,x,Sky,nan\n": ":2: value 'nan' is not a number",
    "annotator,item,concept,value\na,x,Sky,\n": ":2: the value is empty",
    "annotator,item,concept,value\na,x,Sky\n": ":2: 3 fields, expected 4",
    "annotator,item,concept,value\n,x,Sky,1\n": ":2: the annotator is empty",
    "annotator,item,category,seconds\na,x,dog,-3\n": ":2: seconds '-3' is not a number from 0",
    'annotator,item,category\n"a,b",x,dog\n"a,b",x\n': ":3: 2 fields, expected 3",
}


@pytest.mark.parametrize("text", BAD, ids=BAD.values())
def test_bad_logs(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    out = tmp_path / "out.json"
    said = refusal(capsys, str(path), "-o", str(out))
    assert "bad.csv" in said
    assert BAD[text] in said
    assert not out.exists()


def test_every_problem_is_counted_and_twenty_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.csv"
    rows = "".join(f"a,i{k},Sky,{'x' if k % 2 else 1}\n" for k in range(60))
    path.write_text("annotator,item,concept,value\n" + rows)
    said = refusal(capsys, str(path))
    assert len(said.splitlines()) == 21
    assert "... and 10 more problems (30 in all)" in said


def test_declared_values(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, str(log), "--values", "0 1 2")
    assert found["overall"]["free_marginal"] == pytest.approx(
        (found["overall"]["accuracy"] - 1 / 3) / (2 / 3)
    )
    said = refusal(capsys, str(log), "--values", "1 2")
    assert ":4: value '0' is not one of 1, 2" in said


def test_duplicates_kept_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("annotator,item,category\na,x,dog\na,x,cat\nb,x,cat\n")
    assert answer(capsys, str(path), "--duplicates", "first")["overall"]["accuracy"] == 0
    assert answer(capsys, str(path), "--duplicates", "last")["overall"]["accuracy"] == 1


def test_warnings_count_what_cannot_agree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lonely.csv"
    path.write_text("annotator,item,category\na,x,dog\nb,x,cat\na,y,cat\n")
    assert main(["agreement", str(path)]) == 0
    said = capsys.readouterr().err
    assert "1 annotator with a single judgement, such as 'b'" in said
    assert "1 of 2 units have a single judgement" in said
    assert main(["agreement", str(path), "--quiet"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "options, expected",
    [
        (["--coefficients", "fleis"], "no coefficient named 'fleis'. Did you mean 'fleiss'?"),
        (["--gold", "gold.csv"], "belong to --quality"),
        (["--confidence", "2"], "not a number between 0 and 1"),
        (["--costmap", "c.csv"], "belongs to --systems"),
        (["--intervals", "--seed", "-1"], "'-1' is not a whole number from 0 on"),
    ],
)
def test_bad_options(
    options: list[str], expected: str, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert expected in refusal(capsys, str(log), *options)


def test_interval_coefficients_need_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "log.csv"
    path.write_text("annotator,item,category\na,x,low\nb,x,high\na,y,low\nb,y,low\n")
    said = refusal(capsys, str(path), "--coefficients", "krippendorff_interval")
    assert "needs numbers" in said
    found = answer(
        capsys, str(path), "--values", "low high", "--coefficients", "krippendorff_ordinal"
    )
    assert found["overall"]["krippendorff_ordinal"] == 0


def concept_forms(path: Path) -> None:
    rows = ["annotator,item,concept,value,seconds"]
    for who in "abcd":
        for k in range(4):
            inside = int((who, k) in {("b", 0), ("a", 1), ("b", 1), ("c", 1), ("d", 1)})
            outside = 1 - inside
            if (who, k) == ("d", 2):
                outside = 0
            if (who, k) == ("d", 3):
                inside = 1
            rows += [f"{who},i{k},Indoor,{inside},2", f"{who},i{k},Outdoor,{outside},3"]
            rows.append(f"{who},i{k},Sky,{outside},1")
    path.write_text("\n".join(rows) + "\n")


def test_forms_that_break_a_group_are_left_out_and_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, rules = tmp_path / "log.csv", tmp_path / "rules.toml"
    concept_forms(path)
    rules.write_text(RULES)
    args = [str(path), "--rules", str(rules), "--quality", "--reward", "0.05"]
    found = answer(capsys, *args)
    assert found["forms"]["cost_of_rejected"] == 0
    assert found["forms"]["cost"] == pytest.approx(14 * 0.05)
    found = answer(capsys, *args, "--pay-rejected")
    assert found["forms"]["total"] == 16
    assert found["forms"]["rejected"] == 2
    assert found["forms"]["cost_of_rejected"] == pytest.approx(0.10)
    assert found["forms"]["seconds_per_kept_form"] == 6
    assert [(b["annotator"], b["item"], b["answers"]) for b in found["forms"]["broken"]] == [
        ("d", "i2", []), ("d", "i3", ["Indoor", "Outdoor"]),
    ]  # fmt: skip
    assert found["log"]["judgements"] == 14 * 3
    clean = tmp_path / "clean.csv"
    assert main(["agreement", *args, "--clean", str(clean), "--quiet"]) == 0
    capsys.readouterr()
    assert len(clean.read_text().splitlines()) == 1 + 14 * 3
    category = found["categories"][0]
    assert category["category"] == "Indoor/Outdoor"
    # i0: three of four pairs of six agree; i1, i2 and i3 agree throughout.
    assert category["accuracy"] == pytest.approx((0.5 + 3) / 4)
    assert main(["agreement", str(path), "--rules", str(rules)]) == 0
    shown = capsys.readouterr()
    assert "2 of 16 forms rejected (12.50%)" in shown.out
    assert "2 of 16 forms break a rule" in shown.err


def test_category_log_with_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, rules = tmp_path / "log.csv", tmp_path / "rules.toml"
    rules.write_text(RULES + '[[exactly_one]]\nconcepts = ["Day", "Night"]\n')
    path.write_text(
        "annotator,item,category\na,x,Indoor\na,x,Day\nb,x,Indoor\nb,x,Night\n"
        "c,x,Indoor\nc,x,Outdoor\nc,x,Day\n"
    )
    found = answer(capsys, str(path), "--rules", str(rules))
    assert found["forms"]["rejected"] == 1
    by_name = {c["concept"]: c for c in found["concepts"]}
    assert by_name["Indoor/Outdoor"]["accuracy"] == 1
    assert by_name["Day/Night"]["accuracy"] == 0
    path.write_text("annotator,item,category\na,x,Indor\na,x,Day\n")
    said = refusal(capsys, str(path), "--rules", str(rules))
    assert "log.csv:2: category 'Indor' is outside of every group. Did you mean 'Indoor'?" in said


def test_rules_that_do_not_fit(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(RULES)
    assert "the rules name no concept of the log" in refusal(
        capsys, str(log), "--rules", str(rules)
    )
    rules.write_text('[[disjoint]]\nconcepts = ["Sky", "Sea"]\n')
    assert "no exclusive group (exactly_one)" in refusal(capsys, str(log), "--rules", str(rules))


def test_an_ontology_that_knows_the_concepts_fits_without_a_group_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sky and Clouds are in the Photo Tagging Ontology, and in none of its exclusive groups."""
    path = tmp_path / "log.csv"
    rows = ("a,x,Sky,1", "a,x,Clouds,1", "b,x,Sky,1", "b,x,Clouds,0")
    path.write_text("\n".join(["annotator,item,concept,value", *rows]) + "\n")
    found = answer(capsys, str(path), "--ontology", "pto-2009")
    assert {c["concept"]: c["accuracy"] for c in found["concepts"]} == {"Sky": 1, "Clouds": 0}
    assert main(["aggregate", str(path), "--ontology", "pto-2009", "--quiet"]) == 0
    assert "x,Sky,1,0.8333333333333334" in capsys.readouterr().out
    path.write_text("\n".join(["annotator,item,concept,value", "a,x,Stone,1"]) + "\n")
    said = refusal(capsys, str(path), "--ontology", "pto-2009")
    assert "the rules name no concept of the log" in said


def test_groups_agree_per_exclusive_category(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Thesis, Figure 6.5: kappa of each exclusive category within and between groups."""
    path, rules, groups = (tmp_path / n for n in ("log.csv", "rules.toml", "groups.csv"))
    concept_forms(path)
    rules.write_text(RULES)
    groups.write_text("annotator,group\na,experts\nb,experts\nc,crowd\nd,crowd\n")
    args = [str(path), "--rules", str(rules), "--groups", str(groups)]
    found = answer(capsys, *args)
    within = {g["group"]: g["categories"][0] for g in found["groups"]}
    assert {name: row["category"] for name, row in within.items()} == {
        "experts": "Indoor/Outdoor",
        "crowd": "Indoor/Outdoor",
    }
    # Of four shared items a and b differ on i0; c and d agree on the two that d has left.
    assert within["experts"]["free_marginal"] == pytest.approx((3 / 4 - 1 / 2) / (1 / 2))
    assert within["crowd"]["free_marginal"] == 1
    assert len(found["between_groups"][0]["categories"]) == 1
    assert main(["agreement", *args]) == 0
    assert "Groups of annotators per exclusive group: free_marginal" in capsys.readouterr().out
