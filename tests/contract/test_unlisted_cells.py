"""A long truth that lists only its judged cells is not taken for a complete one in silence."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.errors import InputError, UsageError
from cranfield.io.files import Input

PARTLY = "item,concept,value\na,x,1\na,y,0\nb,z,1\nc,x,0\n"
RUNS = {"r": {"a": {"x"}, "b": {"z"}, "c": {"x"}}}
QUESTION = r"lists 44% of its cells, and some of them as absent: .*unlisted='absent' or unlisted="


def test_the_question_and_its_answers() -> None:
    truth = Input("truth.csv", PARTLY.encode())
    with pytest.raises(UsageError, match=rf"^truth\.csv: {QUESTION}"):
        cf.evaluate_labels(truth, RUNS, "F.example")
    answered = cf.evaluate_labels(truth, RUNS, "F.example", unlisted="absent").mean()
    assert answered == {"r": {"F.example": pytest.approx(2 / 3)}}
    with pytest.raises(InputError, match="4 judged cells, of which 2 are present and 2 absent"):
        cf.evaluate_labels(truth, RUNS, "F.example", unlisted="unjudged")
    with pytest.raises(UsageError, match="unlisted='none' is not one of absent, unjudged"):
        cf.evaluate_labels(truth, RUNS, "F.example", unlisted="none")


@pytest.mark.parametrize(
    "text",
    [
        # Only what is there is listed, as usual; or every cell.
        "item,concept,value\na,x,1\nb,z,1\nc,x,1\n",
        "item,concept,value\na,x,1\na,z,0\nb,z,1\nb,x,0\nc,x,1\nc,z,0\n",
        "item,x,z\na,1,0\nb,0,1\nc,1,0\n",
    ],
)
@pytest.mark.parametrize("unlisted", [None, "absent", "unjudged"])
def test_truths_without_a_question(text: str, unlisted: str | None) -> None:
    truth = Input("truth.csv", text.encode())
    scores = cf.evaluate_labels(truth, RUNS, "F.example", unlisted=unlisted)
    assert scores.mean() == {"r": {"F.example": 1.0}}


def test_rows_that_need_another_reader_and_parquet() -> None:
    odd = PARTLY.replace("a,x", '"a",x').replace("b,z", '" b",z')
    with pytest.raises(UsageError, match=QUESTION):
        cf.evaluate_labels(Input("truth.csv", odd.encode()), RUNS, "F.example")
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    rows = [line.split(",") for line in PARTLY.splitlines()[1:]]
    out = io.BytesIO()
    columns = {"item": [r[0] for r in rows], "concept": [r[1] for r in rows]}
    pq.write_table(pa.table(columns | {"value": [int(r[2]) for r in rows]}), out)
    with pytest.raises(UsageError, match=QUESTION):
        cf.evaluate_labels(Input("truth.parquet", out.getvalue()), RUNS, "F.example")


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truth, run, other, third = (tmp_path / f"{name}.csv" for name in ("truth", "r", "s", "t"))
    truth.write_text(PARTLY)
    run.write_text("item,x,y,z\na,1,0,0\nb,0,0,1\nc,1,0,0\n")
    other.write_text("item,x,y,z\na,1,1,0\nb,0,0,1\nc,0,0,0\n")
    third.write_text("item,x,y,z\na,0,1,0\nb,0,0,1\nc,0,0,1\n")
    runs = [str(run), str(other), str(third)]
    for command in (
        ["label", str(truth), *runs, "-m", "F.example"],
        ["label", str(truth), *runs, "-m", "F.example", "--keep-going"],
        ["compare", "--truth", str(truth), *runs, "-m", "F.example"],
        ["lab", "stability", "--truth", str(truth), *runs, "-m", "F.example HammingLoss"],
    ):
        assert main(command) == 2
        assert "--unlisted absent" in capsys.readouterr().err
        assert main([*command, "--unlisted", "absent", "--quiet"]) == 0, capsys.readouterr().err
        capsys.readouterr()
