"""`cranfield aggregate` as a user meets it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from cranfield.cli import main

CONCEPTS = """annotator,item,concept,value
ann,x,Sky,1
ben,x,Sky,1
cid,x,Sky,0
ann,y,Sky,0
ben,y,Sky,1
"""
CATEGORIES = "annotator,item,category\nann,x,dog\nben,x,cat\ncid,x,cat\nann,y,dog\nben,y,dog\n"


@pytest.fixture
def concepts(tmp_path: Path) -> str:
    (tmp_path / "concepts.csv").write_text(CONCEPTS)
    return str(tmp_path / "concepts.csv")


@pytest.fixture
def categories(tmp_path: Path) -> str:
    (tmp_path / "categories.csv").write_text(CATEGORIES)
    return str(tmp_path / "categories.csv")


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_concepts_as_csv(concepts: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aggregate", concepts]) == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines()[0] == "item,concept,value,probability"
    assert rows(shown.out) == [
        {"item": "x", "concept": "Sky", "value": "1", "probability": repr(2.5 / 4)},
        {"item": "y", "concept": "Sky", "value": "undecided", "probability": "0.5"},
    ]
    assert "1 of 2 units are tied and stay undecided" in shown.err
    assert main(["aggregate", concepts, "--ties", "lowest"]) == 0
    shown = capsys.readouterr()
    assert rows(shown.out)[1]["value"] == "0"
    assert "1 of 2 units are tied and go to the lowest answer" in shown.err


@pytest.mark.parametrize(
    "method", ["majority", "weighted-majority", "dawid-skene", "one-coin", "mace"]
)
def test_categories_as_csv(
    method: str, categories: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["aggregate", categories, "--method", method, "--quiet"]) == 0
    found = rows(capsys.readouterr().out)
    assert list(found[0]) == ["item", "category", "probability"]
    assert [r["category"] for r in found] == ["cat", "dog"]


def test_soft_labels_and_confidences(
    concepts: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["aggregate", concepts, "--soft", "--quiet"]) == 0
    found = rows(capsys.readouterr().out)
    assert [(r["value"], float(r["probability"])) for r in found[:2]] == [
        ("0", pytest.approx(1.5 / 4)), ("1", pytest.approx(2.5 / 4)),
    ]  # fmt: skip
    target = tmp_path / "confidences.csv"
    assert main(["aggregate", concepts, "--confidences", "--quiet", "-o", str(target)]) == 0
    assert target.read_text().splitlines()[:2] == ["item,concept,value", f"x,Sky,{2.5 / 4!r}"]


def test_the_truth_it_writes_is_a_truth_for_label(
    concepts: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truth, run = tmp_path / "truth.csv", tmp_path / "run.csv"
    assert main(["aggregate", concepts, "--quiet", "-o", str(truth)]) == 0
    run.write_text("item,Sky\nx,1\ny,1\n")
    assert main(["label", str(truth), str(run), "-m", "P.concept", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["runs"][0]["mean"] == {"P.concept": 0.5}
    truth.write_text("item,concept,value,probability\nx,Sky,1\n")
    assert main(["label", str(truth), str(run), "-m", "P.concept"]) == 2
    assert "truth.csv:2: 3 values, expected item,concept,value,probability" in (
        capsys.readouterr().err
    )


def test_side_files(categories: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people, tables = tmp_path / "people.csv", tmp_path / "tables.csv"
    args = ["aggregate", categories, "--method", "dawid-skene", "--prior", "0", "--quiet"]
    assert main([*args, "--annotators", str(people), "--confusion", str(tables)]) == 0
    found = rows(people.read_text())
    assert [r["annotator"] for r in found] == ["ann", "ben", "cid"]
    assert all(0 <= float(r["reliability"]) <= 1 for r in found)
    total: dict[tuple[str, str], float] = {}
    for r in rows(tables.read_text()):
        key = r["annotator"], r["true"]
        total[key] = total.get(key, 0) + float(r["probability"])
    assert list(total.values()) == pytest.approx([1.0] * 6)
    capsys.readouterr()
    half, none = tmp_path / "half.csv", tmp_path / "none.csv"
    args = ["aggregate", categories, "--annotators", str(half), "--confusion", str(none)]
    assert main(args) == 2
    assert "estimates no confusions" in capsys.readouterr().err
    assert not half.exists()
    assert not none.exists()


def test_json(categories: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aggregate", categories, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["truth"][0] == {"item": "x", "category": "cat", "probability": 2.5 / 4}
    assert found["log"] == {"judgements": 5, "annotators": 3, "items": 2}


def test_gold_and_weights_files(
    categories: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, weights = tmp_path / "gold.csv", tmp_path / "weights.csv"
    gold.write_text("item,category\nx,dog\nunjudged,cat\n")
    args = ["aggregate", categories, "--quiet", "--method"]
    assert main([*args, "dawid-skene", "--gold", str(gold)]) == 0
    assert rows(capsys.readouterr().out)[0] == {
        "item": "x",
        "category": "dog",
        "probability": "1.0",
    }
    weights.write_text("annotator,weight\nann,5\nben,1\ncid,1\n")
    assert main([*args, "weighted-majority", "--weights", str(weights)]) == 0
    assert rows(capsys.readouterr().out)[0]["category"] == "dog"


@pytest.mark.parametrize(
    "text, expected",
    [
        ("annotator,weight\nann,5\n", "no weight for annotator 'ben' (2 without"),
        ("annotator,weight\nann,x\nben,1\ncid,1\n", "weights.csv:2: weight 'x' is not a number"),
        ("annotator,w\nann,1\n", "no column 'weight'"),
    ],
)
def test_bad_weights(
    text: str, expected: str, categories: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = tmp_path / "weights.csv"
    weights.write_text(text)
    args = ["aggregate", categories, "--method", "weighted-majority", "--weights", str(weights)]
    assert main(args) == 2
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize(
    "options, expected",
    [
        (["--method", "voting"], "invalid choice"),
        (["--gold", "nowhere.csv"], "nowhere.csv: no such file"),
        (["--smoothing", "1"], "has no use for smoothing"),
        (["--smoothing", "-1"], "is not a number from 0 on"),
        (["--confidences"], "confidences need a log"),
        (["--method", "mean", "--ties", "omit"], "has no use for ties"),
        (["--method", "median"], "the median needs numbers"),
    ],
)
def test_bad_options(
    options: list[str], expected: str, categories: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["aggregate", categories, *options]) == 2
    assert expected in capsys.readouterr().err


def test_not_converged_is_said(categories: str, capsys: pytest.CaptureFixture[str]) -> None:
    args = ["aggregate", categories, "--method", "dawid-skene", "--iterations", "1"]
    assert main(args) == 0
    assert "not settled after 1 iterations: category" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["majority", "dawid-skene"])
def test_the_truth_of_concepts_is_read_as_it_was_written(
    method: str, concepts: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truth = str(tmp_path / "truth.csv")
    assert main(["aggregate", concepts, "--method", method, "-o", truth, "--quiet"]) == 0
    assert main(["label", truth, truth, "-m", "ExactMatch", "--format", "csv", "--quiet"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("truth,1.0,")


FORMS = """annotator,item,concept,value
{rows}"""
EXCLUSIVE = ("Day", "Night", "None")


def forms(chosen: dict[tuple[str, str], str]) -> str:
    """A log in which each form (annotator, item) chooses one concept of the group."""
    rows = [
        f"{who},{item},{concept},{int(concept == picked)}"
        for (who, item), picked in chosen.items()
        for concept in EXCLUSIVE
    ]
    return FORMS.format(rows="\n".join(rows) + "\n")


@pytest.mark.parametrize(
    "method", ["majority", "weighted-majority", "dawid-skene", "one-coin", "mace"]
)
@pytest.mark.parametrize("ties", ["undecided", "lowest", "highest", "random", "omit"])
def test_exclusive_groups_have_one_answer_and_probabilities_that_add_to_one(
    method: str, ties: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three valid forms Day, Night, None used to become 0, 0, 0."""
    log, rules = tmp_path / "log.csv", tmp_path / "rules.toml"
    said = {(a, f"i{k}"): c for k in range(4) for a, c in zip("abc", EXCLUSIVE, strict=True)}
    said |= {(a, "clear"): "Day" for a in "ab"} | {("c", "clear"): "Night"}
    log.write_text(forms(said))
    rules.write_text(f"[[exactly_one]]\nconcepts = {json.dumps(EXCLUSIVE)}\n")
    args = ["aggregate", str(log), "--rules", str(rules), "--method", method, "--ties", ties]
    assert main([*args, "--quiet"]) == 0
    chosen: dict[str, list[str]] = {}
    for row in rows(capsys.readouterr().out):
        if row["value"] == "1":
            chosen.setdefault(row["item"], []).append(row["concept"])
    assert sorted(chosen) == ["clear", "i0", "i1", "i2", "i3"]
    assert all(len(names) == 1 for names in chosen.values())
    assert main([*args, "--confidences", "--quiet"]) == 0
    total: dict[str, float] = {}
    for row in rows(capsys.readouterr().out):
        total[row["item"]] = total.get(row["item"], 0) + float(row["value"])
    assert list(total.values()) == pytest.approx([1.0] * 5)


def test_what_aggregate_writes_is_said(
    concepts: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truth, run = tmp_path / "truth.csv", tmp_path / "run.csv"
    assert main(["aggregate", concepts, "-o", str(truth)]) == 0
    assert f"wrote {truth} (3 lines)" in capsys.readouterr().err
    run.write_text("item,Sky\nx,1\ny,1\n")
    assert main(["label", str(truth), str(run), "-m", "P.concept"]) == 0
    assert "1 concepts of items are undecided, and count as absent" in capsys.readouterr().err


def test_mean_and_median_of_ratings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.csv"
    ratings = {"a": 1, "b": 2, "c": 2, "d": 5}
    log.write_text(
        "annotator,item,concept,value\n"
        + "".join(f"{who},x,grade,{v}\n" for who, v in ratings.items())
    )
    for method, expected in (("mean", 2.5), ("median", 2.0)):
        assert main(["aggregate", str(log), "--method", method, "--quiet"]) == 0
        (row,) = rows(capsys.readouterr().out)
        assert (float(row["value"]), row["probability"]) == (expected, "")
