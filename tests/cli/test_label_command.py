"""`cranfield label`, as a user types it."""

import csv
import gzip
import io
import json

import numpy as np
import pytest

from cranfield.cli import main
from cranfield.data.labels import LabelMatrix
from cranfield.io.labels import write_labels
from cranfield.ontologies import pto

CONCEPTS = pto(2009).concepts
ITEMS = [f"im{k}.jpg" for k in range(6)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A truth and two runs of six photos; commands run in their folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    labels = rng.random((6, 53)) < 0.2
    truth = LabelMatrix.of(labels, items=ITEMS, concepts=CONCEPTS)
    write_labels(truth, "truth.csv")
    write_labels(truth, "truth.txt", form="imageclef")
    for name, weight in (("good", 0.5), ("poor", 0.1)):
        scores = np.round((1 - weight) * rng.random((6, 53)) + weight * labels, 4)
        run = LabelMatrix.of(scores, items=ITEMS, concepts=CONCEPTS)
        write_labels(run, f"{name}.csv")
        write_labels(run, f"{name}.txt", form="imageclef")
    return tmp_path


def run(capsys, *argv):
    code = main(["label", *argv])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def payload(capsys, *argv):
    code, out, err = run(capsys, *argv, "--format", "json")
    assert code == 0, err
    return json.loads(out)


def test_json_has_the_shape_of_the_contract(folder, capsys):
    found = payload(
        capsys, "truth.csv", "good.csv", "poor.csv", "-m", "AUC AP.concept F.example OS",
        "--ontology", "pto-2009", "--per-item", "--per-concept",
    )  # fmt: skip
    assert found["command"] == "label"
    assert found["measures"][1] == {
        "name": "AP.concept", "mean_name": "MAP", "higher_is_better": True,
    }  # fmt: skip
    first = found["runs"][0]
    assert first["name"] == "good"
    assert first["mean"].keys() == {"AUC", "AP.concept", "F.example", "OS"}
    assert first["items"] == {
        "evaluated": 6, "missing": 0, "left_out": {"F.example": 0, "OS": 0},
    }  # fmt: skip
    assert first["concepts"]["evaluated"] == 53
    assert first["concepts"]["left_out"].keys() == {"AUC", "AP.concept"}
    assert 0 < first["label_density"] < 1
    assert first["label_cardinality"] == pytest.approx(53 * first["label_density"])
    truth = found["truth"]
    assert (truth["items"], truth["concepts"]) == (6, 53)
    assert truth["label_cardinality"] == pytest.approx(53 * truth["label_density"])
    assert len(found["per_item"]) == 12
    assert found["per_item"][0].keys() == {"run", "item", "F.example", "OS"}
    assert len(found["per_concept"]) == 2 * 53
    assert found["per_concept"][0].keys() == {"run", "concept", "AUC", "AP.concept"}
    empty = [r for r in found["per_concept"] if r["AP.concept"] is None]
    assert len(empty) == 2 * first["concepts"]["left_out"]["AP.concept"]


@pytest.mark.parametrize("form", ["table", "csv", "tsv", "latex", "html", "markdown"])
def test_density_is_in_every_output(folder, capsys, form):
    code, out, _ = run(capsys, "truth.csv", "good.csv", "-m", "F.example", "--format", form)
    assert code == 0
    assert "density" in out.lower()
    assert "(truth)" in out


def test_csv_is_one_table(folder, capsys):
    _, out, _ = run(capsys, "truth.csv", "good.csv", "-m", "F.example", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["run"] for row in rows] == ["good", "(truth)"]
    assert rows[1]["F.example"] == ""
    assert 0 < float(rows[1]["LabelDensity"]) < 1


def test_text_and_csv_say_the_same(folder, capsys):
    options = ("-m", "all", "--ontology", "pto-2009", "--quiet")
    one = payload(capsys, "truth.csv", "good.csv", *options)
    other = payload(capsys, "truth.txt", "good.txt", *options)
    assert one["runs"][0]["mean"] == other["runs"][0]["mean"]


def test_the_sets_of_the_campaigns(folder, capsys):
    names = {
        "imageclef2009": {"EER", "AUC", "OS"},
        "imageclef2010": {"iAP.concept", "F.example", "OS", "EER", "AUC"},
        "imageclef2011": {"iAP.concept", "F.example", "SRP"},
    }
    for name, expected in names.items():
        found = payload(capsys, "truth.csv", "good.csv", "-m", name, "--ontology", "pto-2009")
        assert found["runs"][0]["mean"].keys() == expected
        told = [note for note in found["notes"] if note.startswith(name)]
        assert len(told) == (name != "imageclef2009")


def test_the_costs_that_the_campaigns_had(folder, capsys):
    """No, Tables 10.6 and 10.9: OS with FCS in 2010, SRP with FTS in 2011."""
    rows = [f"{a}," + ",".join("0" if a == b else "0.25" for b in CONCEPTS) for a in CONCEPTS]
    (folder / "costs.csv").write_text("concept," + ",".join(CONCEPTS) + "\n" + "\n".join(rows))
    for name, measure, cost in (("imageclef2010", "OS", "fcs"), ("imageclef2011", "SRP", "fts")):
        maps = ("--costmap", f"{cost.upper()}=costs.csv")
        options = ("truth.csv", "good.csv", "-m", name, "--ontology", "pto-2009")
        found = payload(capsys, *options, *maps)
        assert f"{measure}(cost='{cost.upper()}')" in found["runs"][0]["mean"]
        assert not [note for note in found["notes"] if note.startswith(name)]
        _, _, err = run(capsys, *options)
        said = (
            f"{name}: {measure} has the costs of the ontology's tree; the campaign's had those of"
        )
        assert f"{said} {cost.upper()}" in err


def test_all_without_an_ontology_says_what_it_leaves_out(folder, capsys):
    code, _, err = run(capsys, "truth.csv", "good.csv", "-m", "all")
    assert code == 0
    assert "left out of 'all'" in err
    assert "HLoss" in err


def test_thresholds(folder, capsys):
    def density(*options):
        found = payload(capsys, "truth.csv", "good.txt", "-m", "F.example", "--quiet", *options)
        return found["runs"][0]["label_density"]

    (folder / "per.txt").write_text(" ".join(["0.9"] * 53))
    rows = "".join(f"{c},0.9\n" for c in reversed(CONCEPTS))
    (folder / "named.csv").write_text("concept,threshold\n" + rows)
    (folder / "names.txt").write_text("\n".join(CONCEPTS))
    strict = density("--threshold", "0.9")
    assert density("--threshold", "0.1") > density() > strict
    assert density("--threshold", "per.txt") == strict
    assert density("--threshold", "named.csv", "--concepts", "names.txt") == strict
    assert density("--threshold", "0.1", "--threshold", "good=0.9") == strict


def test_the_rows_of_2010_are_the_decisions(folder, capsys):
    confidences = (folder / "good.txt").read_text().splitlines()
    rows = [" ".join([line.split()[0], *["1", *["0"] * 52]]) for line in confidences]
    (folder / "both.txt").write_text("\n".join([*confidences, *reversed(rows)]) + "\n")
    both = payload(capsys, "truth.csv", "both.txt", "-m", "AUC", "--threshold", "0.1", "--quiet")
    plain = payload(capsys, "truth.csv", "good.txt", "-m", "AUC", "--quiet")
    assert both["runs"][0]["label_cardinality"] == 1
    assert both["runs"][0]["mean"] == plain["runs"][0]["mean"]


def test_cost_maps_by_name_and_as_default(folder, capsys):
    zero_one = folder / "zo.csv"
    lines = [",".join(["", *CONCEPTS])]
    for i, c in enumerate(CONCEPTS):
        lines.append(",".join([c, *("0" if i == j else "1" for j in range(53))]))
    zero_one.write_text("\n".join(lines))
    found = payload(
        capsys, "truth.csv", "poor.csv", "-m", "OS OS(cost='zo') HS(cost='zo') Accuracy.example",
        "--ontology", "pto-2009", "--costmap", f"zo={zero_one}",
    )["runs"][0]["mean"]  # fmt: skip
    assert found["OS"] > found["OS(cost='zo')"]
    assert found["HS(cost='zo')"] == pytest.approx(found["Accuracy.example"])
    alone = payload(capsys, "truth.csv", "poor.csv", "-m", "OS", "--costmap", str(zero_one))
    assert alone["runs"][0]["mean"]["OS"] == pytest.approx(found["Accuracy.example"])
    by_file = ("truth.csv", "poor.csv", "-m", "OS(cost='zo')", "--costmap", str(zero_one))
    assert payload(capsys, *by_file)["runs"][0]["mean"] == {
        "OS(cost='zo')": alone["runs"][0]["mean"]["OS"]
    }
    code, _, err = run(capsys, *by_file, "--costmap", "other.csv")
    assert code == 2
    assert "zo.csv and other.csv are both without a name; name them apart: NAME=FILE" in err


def test_agreement_scales_the_costs(folder, capsys):
    (folder / "agree.csv").write_text(
        "concept,agreement\n" + "".join(f"{c},0.5\n" for c in CONCEPTS)
    )
    plain = payload(capsys, "truth.csv", "good.csv", "-m", "HS", "--ontology", "pto-2009")
    half = payload(
        capsys, "truth.csv", "good.csv", "-m", "HS", "--ontology", "pto-2009",
        "--agreement", "agree.csv",
    )  # fmt: skip
    before, after = (p["runs"][0]["mean"]["HS"] for p in (plain, half))
    assert 1 - after == pytest.approx((1 - before) / 2)


def test_rules_without_an_ontology(folder, capsys):
    (folder / "rules.toml").write_text('[[disjoint]]\nconcepts = ["Indoor", "Outdoor"]\n')
    found = payload(capsys, "truth.csv", "poor.csv", "-m", "OS HS", "--rules", "rules.toml")
    mean = found["runs"][0]["mean"]
    assert mean["OS"] <= mean["HS"]


def test_explain_can_be_checked_by_hand(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "truth.csv").write_text("item,concept,value\nx,Water,1\nx,Lake,1\nx,Day,1\n")
    (tmp_path / "run.csv").write_text("item,concept,value\nx,Lake,0.9\nx,Day,0.8\nx,Water,0.1\n")
    argv = ("truth.csv", "run.csv", "--ontology", "pto-2009", "-m", "OS SRP", "--explain", "x")
    code, out, err = run(capsys, *argv, "--quiet")
    assert code == 0, err
    # Lake lacks Water: it breaks a rule (1); Water is missed, nearest to Lake (1/14).
    assert "needs its ancestor Water" in out
    assert "OS = 1 - 1.0714 / 3 = 0.6429" in out
    assert "SRP = 3.0000 / 3 = 1.0000" in out
    found = payload(capsys, *argv)["explain"][0]
    assert found["broken"] == [{"concept": "Lake", "rule": "needs its ancestor Water"}]
    assert found["derivations"][0]["value"] == pytest.approx(found["values"]["OS"])
    assert found["derivations"][1]["value"] == pytest.approx(found["values"]["SRP"])


def test_explained_scores_are_the_scores(folder, capsys):
    options = ("--ontology", "pto-2009", "-m", "OS HS SRP OS(alpha=0.5)", "--quiet")
    rows = payload(capsys, "truth.csv", "poor.csv", *options, "--per-item")["per_item"]
    for row in rows:
        found = payload(capsys, "truth.csv", "poor.csv", *options, "--explain", row["item"])
        for derivation in found["explain"][0]["derivations"]:
            assert derivation["value"] == pytest.approx(row[derivation["measure"]], abs=1e-12)


def test_missing_and_extra_items_are_counted(folder, capsys):
    lines = (folder / "good.csv").read_text().splitlines()
    extra = lines[1].replace(ITEMS[0], "other.jpg")
    (folder / "part.csv").write_text("\n".join([*lines[:-1], extra]) + "\n")
    code, out, err = run(capsys, "truth.csv", "part.csv", "-m", "F.example AUC", "--format", "json")
    assert code == 0
    assert "part: 1 of 6 items are missing ('im5.jpg')" in err
    assert "part: 1 items are not in the truth and are left out ('other.jpg')" in err
    assert json.loads(out)["runs"][0]["items"]["missing"] == 1


def test_a_compressed_run_is_named_without_endings(folder, capsys):
    (folder / "packed.txt.gz").write_bytes(gzip.compress((folder / "good.txt").read_bytes()))
    found = payload(capsys, "truth.csv", "packed.txt.gz", "-m", "F.example", "--quiet")
    assert found["runs"][0]["name"] == "packed"


def test_columns_without_names_must_not_be_guessed(folder, capsys):
    (folder / "names.txt").write_text("\n".join(CONCEPTS))
    code, _, err = run(capsys, "truth.csv", "good.txt", "--concepts", "names.txt", "-m", "AUC")
    assert code == 0
    assert err == ""
    code, _, err = run(capsys, "truth.csv", "good.txt", "-m", "AUC")
    assert "its columns are taken in the order of the truth's" in err


def test_the_order_of_the_truth_and_of_the_ontology_differ(folder, capsys):
    lines = [line.split(",") for line in (folder / "truth.csv").read_text().splitlines()]
    swapped = [",".join([row[0], *reversed(row[1:])]) for row in lines]
    (folder / "swapped.csv").write_text("\n".join(swapped) + "\n")
    argv = ("good.txt", "--ontology", "pto-2009", "-m", "AUC")
    code, _, err = run(capsys, "swapped.csv", *argv)
    assert code == 2
    assert "good.txt: has no names of concepts, and the truth has them in another order" in err
    (folder / "names.txt").write_text("\n".join(CONCEPTS))
    found = payload(capsys, "swapped.csv", *argv, "--concepts", "names.txt")
    assert found["runs"][0]["mean"] == payload(capsys, "truth.csv", *argv)["runs"][0]["mean"]


def test_the_vocabulary_of_a_long_truth(folder, capsys):
    """Concepts that no item has are not in a long file; --concepts adds them."""
    (folder / "long.csv").write_text("item,concept,value\nim0.jpg,Sky,1\nim1.jpg,Sea,1\n")
    (folder / "run.csv").write_text("item,Sky,Sea,Lake\nim0.jpg,1,0,1\nim1.jpg,0,1,0\n")
    code, _, err = run(capsys, "long.csv", "run.csv", "-m", "HammingLoss")
    assert code == 2
    assert "run.csv: concept 'Lake' is not in the truth" in err
    assert "--concepts" in err
    (folder / "names.txt").write_text("Lake\nSea\nSky\n")
    argv = ("long.csv", "run.csv", "-m", "HammingLoss", "--concepts", "names.txt")
    found = payload(capsys, *argv)
    assert found["runs"][0]["mean"]["HammingLoss"] == pytest.approx(1 / 6)
    assert found["truth"]["concepts"] == 3
    (folder / "names.txt").write_text("Lake\nSky\n")
    code, _, err = run(capsys, *argv)
    assert code == 2
    assert "long.csv: has a concept 'Sea' that --concepts does not list" in err


def test_csv_from_standard_input(folder, capsys, monkeypatch):
    text = (folder / "good.csv").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    found = payload(capsys, "truth.csv", "-", "-m", "F.example")
    assert found["runs"][0]["name"] == "stdin"
    file = payload(capsys, "truth.csv", "good.csv", "-m", "F.example")
    assert found["runs"][0]["mean"] == file["runs"][0]["mean"]


BAD_RUNS = {
    "word": ("a.jpg 0.1 x 0.3\n", "bad.txt:1: value 'x' of item 'a.jpg' is not a number"),
    "short": ("a 0.1 0.2\nb 0.1\n", "bad.txt:2: 1 values for item 'b', expected 2"),
    "range": ("a 0.1 1.2\n", "bad.txt:1: value 1.2 of item 'a' is outside [0, 1]"),
    "negative": ("a 0.1 -0.2\n", "bad.txt:1: value -0.2 of item 'a' is outside [0, 1]"),
    "nan": ("a 0.1 nan\n", "bad.txt:1: value nan of item 'a' is outside [0, 1]"),
    "twice": ("a 0.1 0.2\nb 0 1\na 0.3 0.4\n", "bad.txt:3: item 'a' given again (first in line 1)"),
    "decisions": ("a 0.1 0.2\na 0.3 1\n", "bad.txt:2: the second row of item 'a' has values other"),
    "empty": ("", "bad.txt: is empty"),
    "bare": ("a\n", "bad.txt:1: item 'a' has no values"),
    "width": ("im0.jpg 0.1 0.2\n", "bad.txt: 2 values per item, but there are 53 concepts"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_RUNS)
def test_malformed_text(folder, capsys, kind):
    text, message = BAD_RUNS[kind]
    (folder / "bad.txt").write_text(text)
    code, out, err = run(capsys, "truth.csv", "bad.txt", "-m", "F.example", "-o", "out.json")
    assert code == 2
    assert message in err
    assert out == ""
    assert not (folder / "out.json").exists()


BAD_CSV = {
    "header": ("0.1,0.2\n", "bad.csv:1: the first row has numbers where the names"),
    "columns": ("item,Sky,Sky\na,0,1\n", "bad.csv:1: concept 'Sky' has two columns"),
    "unnamed": ("item,Sky,\na,0,1\n", "bad.csv:1: a column has no name"),
    "cell": ("item,Sky,Sea\na,0,\n", "bad.csv:2: value '' of item 'a' is not a number"),
    "long": ("item,concept,value\na,Sky,2\n", "bad.csv:2: value 2 is outside [0, 1]"),
    "long twice": (
        "item,concept,value\na,Sky,1\na,Sky,0\n",
        "bad.csv:3: 'a' with 'Sky' given again (first in line 2)",
    ),
    "long short": ("item,concept,value\na,Sky\n", "bad.csv:2: 2 values, expected item,concept"),
    "long empty": ("item,concept,value\n", "bad.csv: has no rows below its header"),
    "no rows": ("item,Sky\n", "bad.csv: has no item"),
    "unknown": ("item,Skye\nim0.jpg,1\n", "concept 'Skye' is not in the truth. Did you mean 'Sky'"),
    "other items": ("item,Sky\nz,1\n", "has none of the items of the truth"),
    "quote": ('item,Sky\n"a,1\n', "not valid CSV"),
}


@pytest.mark.parametrize("kind", BAD_CSV)
def test_malformed_csv(folder, capsys, kind):
    text, message = BAD_CSV[kind]
    (folder / "bad.csv").write_text(text)
    code, out, err = run(capsys, "truth.csv", "bad.csv", "-m", "F.example")
    assert code == 2
    assert message in err
    assert out == ""


USAGE = {
    "no file": (("truth.csv", "none.csv"), "none.csv: no such file"),
    "measure": (("truth.csv", "good.csv", "-m", "F.exampel"), "Did you mean 'F.example'?"),
    "needs": (("truth.csv", "good.csv", "-m", "hF"), "hF needs a hierarchy of concepts"),
    "cost": (
        ("truth.csv", "good.csv", "-m", "OS(cost='fts')", "--ontology", "pto-2009"),
        "no cost map named 'fts'",
    ),
    "ontology": (("truth.csv", "good.csv", "--ontology", "pto-2012"), "Did you mean 'pto-201"),
    "fit": (("truth.csv", "good.csv", "--ontology", "pto-2010"), "has no concept 'Canvas'"),
    "truth": (
        ("good.csv", "good.csv"),
        "good.csv: the truth has values between 0 and 1, such as 0.",
    ),
    "set of rankings": (("truth.csv", "good.csv", "-m", "trec"), "use cranfield eval"),
    "measure of rankings": (("truth.csv", "good.csv", "-m", "AP"), "or AP.concept or AP.example"),
    "twice": (("truth.csv", "good.csv", "good.txt"), "two runs are named 'good'"),
    "threshold": (
        ("truth.csv", "good.csv", "--threshold", "high"),
        "high: neither a number in [0, 1] nor a file",
    ),
    "threshold range": (
        ("truth.csv", "good.csv", "--threshold", "2"),
        "the threshold 2 lies outside [0, 1]",
    ),
    "threshold run": (("truth.csv", "good.csv", "--threshold", "x=0.5"), "'x', which is not a run"),
    "explain": (("truth.csv", "good.csv", "--explain", "im9.jpg"), "the truth has no item 'im9"),
    "jobs": (("truth.csv", "good.csv", "--jobs", "0"), "'0' is not a whole number from 1 on"),
}  # fmt: skip


def test_a_truth_has_one_row_per_item(folder, capsys):
    (folder / "twice.csv").write_text("item,Sky,Sea\na,1,0\nb,0,1\nb,1,1\na,0,0\n")
    code, out, err = run(capsys, "twice.csv", "twice.csv", "-m", "F.example")
    assert (code, out) == (2, "")
    assert "twice.csv: has two rows for each item, such as 'a'" in err


def test_a_missing_threshold_suggests_nothing(folder, capsys):
    (folder / "t.csv").write_text("item,Sky,Sea\na,1,0\n")
    (folder / "r.csv").write_text("item,Sky,Sea\na,0.1,0.9\n")
    (folder / "limits.csv").write_text("concept,threshold\nSky,0.5\n")
    code, _, err = run(capsys, "t.csv", "r.csv", "-m", "F.example", "--threshold", "limits.csv")
    assert code == 2
    assert err == "r.csv: a threshold is missing for the concept 'Sea'\n"


def test_no_column_stands_twice_in_csv(folder, capsys):
    names = ["-m", "LabelDensity F.example LabelCardinality", "--format", "csv"]
    code, out, _ = run(capsys, "truth.csv", "good.csv", *names)
    header, good, truth = (line.split(",") for line in out.splitlines())
    assert code == 0
    assert header == ["run", "LabelDensity", "F.example", "LabelCardinality", "items"]
    assert float(truth[1]) == pytest.approx(float(truth[3]) / len(CONCEPTS))
    assert truth[2] == ""
    assert float(good[1]) == pytest.approx(float(good[3]) / len(CONCEPTS))


@pytest.mark.parametrize("kind", USAGE)
def test_usage_errors(folder, capsys, kind):
    argv, message = USAGE[kind]
    code, out, err = run(capsys, *argv)
    assert code == 2
    assert message in err
    assert out == ""


COST_MAPS = {
    "square": (",a,b\na,0,1\n", "bad.csv:1: column 'b' has no row of that name"),
    "narrow": (",a,b\na,0\nb,1,0\n", "bad.csv:2: 1 costs for 2 concepts; the map is square"),
    "symmetric": (",a,b\na,0,0.2\nb,0.3,0\n", "bad.csv:3: the cost of 'b' to 'a' is 0.3, but 0.2"),
    "diagonal": (",a,b\na,0.1,1\nb,1,0\n", "bad.csv:2: the cost of 'a' to itself is 0.1"),
    "range": (",a,b\na,0,1.5\nb,1.5,0\n", "bad.csv:2: the cost of 'a' to 'b' is 1.5, expected"),
    "word": (",a,b\na,0,x\nb,1,0\n", "bad.csv:2: the cost of 'a' to 'b' is 'x', expected"),
    "row": (",a,b\na,0,1\nc,1,0\n", "bad.csv:3: row 'c' has no column of that name"),
    "again": (",a,b\na,0,1\na,0,1\n", "bad.csv:3: row 'a' given twice"),
    "empty": ("", "bad.csv: has no costs"),
    "vocabulary": (",a,b\na,0,1\nb,1,0\n", "has no costs for the concept 'Partylife'"),
}


@pytest.mark.parametrize("kind", COST_MAPS)
def test_malformed_cost_maps(folder, capsys, kind):
    text, message = COST_MAPS[kind]
    (folder / "bad.csv").write_text(text)
    code, _, err = run(capsys, "truth.csv", "good.csv", "-m", "OS", "--costmap", "bad.csv")
    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("concept,value\na,1\n", "agree.csv:1: header 'concept,value' lacks"),
        ("concept,agreement\nSky,2\n", "agree.csv:2: the agreement on 'Sky' is '2'"),
        ("concept,agreement\nSky,1\nSky,1\n", "agree.csv:3: concept 'Sky' given twice"),
        ("concept,agreement\nSky\n", "agree.csv:2: 1 field, expected concept,agreement"),
        (f"concept,agreement\n{'x' * 200_000},1\n", "agree.csv:2: not valid CSV"),
        ("concept,agreement\nSky,1\n", "has no agreement for the concept 'Partylife'"),
    ],
)
def test_malformed_agreement(folder, capsys, text, message):
    (folder / "agree.csv").write_text(text)
    code, _, err = run(
        capsys, "truth.csv", "good.csv", "-m", "OS", "--ontology", "pto-2009",
        "--agreement", "agree.csv",
    )  # fmt: skip
    assert code == 2
    assert message in err
