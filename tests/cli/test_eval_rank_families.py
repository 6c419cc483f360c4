"""`cranfield eval` with the sets image, smart and shrec."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cranfield.cli import main


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Two graded topics; the second has one relevant item that is not retrieved."""
    qrels, run = tmp_path / "graded.qrels", tmp_path / "mine.run"
    qrels.write_text("1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 d 1\n2 0 e 1\n")
    run.write_text(
        "1 Q0 a 1 3.0 x\n1 Q0 b 2 2.0 x\n1 Q0 c 3 1.0 x\n2 Q0 d 1 3.0 x\n2 Q0 f 2 2.0 x\n"
    )
    return str(qrels), str(run)


def evaluated(capsys: pytest.CaptureFixture[str], *args: str) -> dict:
    assert main(["eval", *args, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", ["image", "smart"])
def test_sets_work_with_a_collection_size(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    payload = evaluated(capsys, *files, "-m", name, "--collection-size", "10")
    assert all(v is not None for v in payload["runs"][0]["mean"].values())
    if name == "image":
        means = {m["name"]: m["mean_name"] for m in payload["measures"]}
        assert (means["NMRR"], means["NAR"], means["MNRO"]) == ("ANMRR", "ANAR", "AMNRO")


def test_shrec_needs_no_collection_size(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    payload = evaluated(capsys, *files, "-m", "shrec", "--per-topic")
    assert payload["runs"][0]["mean"]["ADR"] == pytest.approx((0.75 + 0.75) / 2)
    # The second topic has no highly relevant item.
    assert payload["runs"][0]["topics"]["left_out"]["FirstTier(rel=2)"] == 1
    assert payload["per_topic"][1]["FirstTier(rel=2)"] is None


def test_shrec_on_binary_judgements(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n1 0 b 1\n")
    (tmp_path / "r.run").write_text("1 Q0 a 1 2 x\n1 Q0 c 2 1 x\n")
    payload = evaluated(capsys, str(tmp_path / "q"), str(tmp_path / "r.run"), "-m", "shrec")
    assert payload["runs"][0]["mean"]["ADR"] == pytest.approx((1 + 0.5) / 2)
    assert payload["runs"][0]["mean"]["ADR"] is not None
    assert payload["runs"][0]["mean"]["ShrecAP(rel=2)"] is None


@pytest.mark.parametrize(
    "measure", ["MNRO", "NAR", "NormRecall", "NormPrecision", "Fallout@10", "TN", "Generality"]
)
def test_without_collection_size_one_sentence_says_what_to_pass(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], measure: str
) -> None:
    assert main(["eval", *files, "-m", measure]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        f"{measure} needs the number of items in the collection: pass --collection-size N\n"
    )


def test_rank_recall_needs_the_size_only_for_missing_items(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", *files, "-m", "RankRecall"]) == 2
    err = capsys.readouterr().err
    assert "does not retrieve all relevant items of topic '2'" in err
    assert "pass --collection-size N or --missing optimist" in err
    payload = evaluated(capsys, *files, "-m", "RankRecall", "--missing", "optimist")
    assert payload["runs"][0]["mean"]["RankRecall"] == pytest.approx((1.5 / 2 + 1.5 / 2) / 2)


def test_policies_can_be_given_for_all_measures_or_for_one(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    names = "NAR NAR(missing='worst') NAR(missing='average')"
    payload = evaluated(
        capsys, *files, "-m", names, "--collection-size", "10", "--missing", "optimist",
        "--per-topic",
    )  # fmt: skip
    second = payload["per_topic"][1]
    assert second["NAR"] == pytest.approx((1 + 3 - 3) / 20)
    assert second["NAR(missing='worst')"] == pytest.approx((1 + 10 - 3) / 20)
    assert second["NAR(missing='average')"] == pytest.approx((1 + 6.5 - 3) / 20)


def test_collection_smaller_than_what_is_known(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", *files, "-m", "MNRO", "--collection-size", "2"]) == 2
    err = capsys.readouterr().err
    assert "collection size 2 is too small: mine and the judgements know 3 items" in err


def test_gmt_below_the_number_of_relevant_items(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", *files, "-m", "NMRR", "--gmt", "1"]) == 2
    assert "GMT 1 is smaller than the 2 relevant items of topic '1'" in capsys.readouterr().err


@pytest.mark.parametrize("measure, fix", [("ADR", "ADR(levels=3)"), ("ERR(max_grade=2)", "3")])
def test_grades_above_the_declared_levels(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], measure: str, fix: str
) -> None:
    with Path(files[0]).open("a") as out:
        out.write("2 0 z 3\n")
    assert main(["eval", *files, "-m", measure]) == 2
    err = capsys.readouterr().err
    assert f"{measure} knows grades up to 2, but item 'z' of topic '2' has grade 3" in err
    assert fix in err


@pytest.mark.parametrize("measure", ["Displacement", "UncertainP@10"])
def test_measures_of_opinions_say_which_command_has_them(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], measure: str
) -> None:
    assert main(["eval", *files, "-m", measure]) == 2
    command = "displacement" if measure == "Displacement" else "votes"
    assert f"use cranfield eval {command}" in capsys.readouterr().err


def test_topics_of_the_run_from_standard_input(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io
    import sys

    text = io.TextIOWrapper(io.BytesIO(b"1 Q0 a 1 1.0 x\n"))
    monkeypatch.setattr(sys, "stdin", text)
    payload = evaluated(capsys, files[0], "-", "-m", "NMRR", "--topics", "run")
    assert payload["runs"][0]["topics"]["evaluated"] == 1
    assert payload["runs"][0]["name"] == "stdin"


def test_all_leaves_out_what_is_not_possible(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", *files, "-m", "all", "--format", "json"]) == 0
    out, err = capsys.readouterr()
    names = {m["name"] for m in json.loads(out)["measures"]}
    assert {"AP", "NMRR", "ADR", "Miss"} <= names
    assert not {"MNRO", "NormRecall", "RankRecall", "Fallout", "xinfAP", "Displacement"} & names
    assert "left out, as more is needed for them:" in err
    assert "MNRO" in err
    payload = evaluated(capsys, *files, "-m", "all", "--collection-size", "10")
    names = {m["name"] for m in payload["measures"]}
    assert {"MNRO", "NormRecall", "RankRecall", "Fallout"} <= names
    # What is named is wanted, set or no set.
    assert main(["eval", *files, "-m", "all MNRO"]) == 2
