"""A long truth that lists only its judged cells is not taken for a complete one in silence."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.errors import CranfieldError, InputError, UsageError
from cranfield.io.files import Input

PARTLY = "item,concept,value\na,x,1\na,z,0\nb,z,1\nc,y,0\n"
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


# A row of 0 that is the only one of its item or concept names these and says nothing of others.
NAMED = "item,concept,value\na,x,1\nb,z,1\nc,x,0\nb,y,0\n"


def test_rows_that_only_name_an_item_or_a_concept() -> None:
    truth = Input("truth.csv", NAMED.replace("b,y,0\n", "").encode())
    scores = cf.evaluate_labels(truth, RUNS, "HammingLoss")
    assert scores.mean() == {"r": {"HammingLoss": pytest.approx(1 / 6)}}
    matrix = cf.read_labels(Input("truth.csv", NAMED.encode()))
    assert matrix.listed == 1.0
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    out = io.BytesIO()
    rows = [line.split(",") for line in NAMED.splitlines()[1:]]
    columns = {name: [row[k] for row in rows] for k, name in enumerate(("item", "concept"))}
    pq.write_table(pa.table(columns | {"value": [int(row[2]) for row in rows]}), out)
    assert cf.read_labels(Input("truth.parquet", out.getvalue())).listed == 1.0


def _collection(folder: Path, more: str = "") -> Path:
    folder.mkdir()
    (folder / "truth.csv").write_text(PARTLY)
    (folder / "r.csv").write_text("item,x,y,z\na,1,0,0\nb,0,0,1\nc,1,0,0\n")
    (folder / "s.csv").write_text("item,x,y,z\na,1,1,0\nb,0,0,1\nc,0,0,0\n")
    (folder / "collection.toml").write_text(
        f'{more}truth = "truth.csv"\nlabel_runs = ["r.csv", "s.csv"]\n'
        'label_measures = ["F.example"]\n'
    )
    return folder


@pytest.mark.parametrize(
    "command",
    [["eval", "labels"], ["compare"], ["report", "page"], ["report", "errors"], ["report", "site"]],
)
def test_the_folder_of_a_collection(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["-o", str(tmp_path / "out"), "--quiet"]
    assert main([*command, str(_collection(tmp_path / "asks")), *out]) == 2
    assert "lists 44% of its cells" in capsys.readouterr().err
    absent = _collection(tmp_path / "absent", 'unlisted = "absent"\n')
    assert main([*command, str(absent), *out]) == 0, capsys.readouterr().err
    unjudged = _collection(tmp_path / "unjudged", 'unlisted = "unjudged"\n')
    assert main([*command, str(unjudged), *out]) == 2
    message = capsys.readouterr().err
    assert "4 judged cells" in message or "needs every cell judged" in message


def test_the_check_of_a_collection(tmp_path: Path) -> None:
    (problem,) = cf.check_collection(_collection(tmp_path / "asks")).problems
    assert problem.message == (
        'lists 44% of its cells, and some of them as absent: say with unlisted = "absent" or '
        'unlisted = "unjudged" in collection.toml what the others are'
    )
    check = cf.check_collection(_collection(tmp_path / "said", 'unlisted = "unjudged"\n'))
    assert not check.problems
    assert ("judged cells", "44%") in [(fact.what, fact.figure) for fact in check.facts]
    wrong = _collection(tmp_path / "wrong", 'unlisted = "maybe"\n')
    (problem,) = cf.check_collection(wrong).problems
    assert problem.message == "unlisted is 'maybe' (expected: absent or unjudged)"


def test_what_needs_every_cell_refuses(tmp_path: Path) -> None:
    truth = tmp_path / "truth.csv"
    truth.write_text(PARTLY)
    vectors = tmp_path / "vectors.npz"
    np.savez(vectors, items=np.array(["a", "b", "c"]), vectors=np.eye(3))
    for call in (
        lambda: cf.judge_concepts({"t": "x"}, str(truth)),
        lambda: cf.annotate(vectors, str(truth), vectors),
        lambda: cf.lab.simulate_runs(str(truth), tmp_path / "runs", labels=True),
        lambda: cf.lab.leave_one_out(
            cf.lab.StudyInput.concepts(str(truth), {"r": RUNS["r"], "s": RUNS["r"]}, "AP")
        ),
    ):
        with pytest.raises(CranfieldError, match=r"lists 44% of its cells.* needs every cell"):
            call()


def test_forms_of_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cells that were not judged stay so in another form, or the form is refused."""
    truth, wide, long, text = (tmp_path / n for n in ("t.csv", "wide.csv", "long.csv", "t.txt"))
    truth.write_text(PARTLY)
    assert main(["convert", str(truth), str(wide), "--kind", "labels"]) == 0
    assert "the others are written as absent (--unlisted unjudged" in capsys.readouterr().err
    said = ["--kind", "labels", "--unlisted", "unjudged"]
    assert main(["convert", str(truth), str(wide), *said]) == 0
    assert wide.read_text() == "item,x,y,z\na,1,?,0\nb,?,?,1\nc,?,0,?\n"
    assert main(["convert", str(wide), str(long), "--kind", "labels", "--long"]) == 0
    matrix = cf.read_labels(wide, unjudged=True)
    again = cf.read_labels(long, unjudged=True)
    assert (matrix.judged == again.judged).all()
    assert again.listed == 1.0
    assert main(["convert", str(wide), str(text), "--kind", "labels"]) == 2
    assert "written to CSV alone" in capsys.readouterr().err


def test_probabilities_of_drawn_cells_are_written(tmp_path: Path) -> None:
    drawn, again = tmp_path / "drawn.csv", tmp_path / "again.csv"
    drawn.write_text("item,concept,value,sampling\na,x,1,0.5\na,y,0,0.25\nb,y,1,0.1\nc,x,0,0.5\n")
    matrix = cf.read_labels(drawn, unjudged=True)
    cf.write_labels(matrix, again)
    copy = cf.read_labels(again, unjudged=True)
    assert (copy.judged == matrix.judged).all()
    assert (copy.sampling[copy.judged] == matrix.sampling[matrix.judged]).all()


def test_what_the_writer_of_the_long_form_wrote(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    labels = {"a": {"x"}, "b": set(), "c": {"y"}, "d": set()}
    cf.write_labels(cf.LabelMatrix.of(labels, concepts=["w", "x", "y", "z"]), path, form="long")
    assert cf.read_labels(path).listed == 1.0
    path.write_text(path.read_text() + "d,y,0\n")
    assert cf.read_labels(path).listed == 6 / 16
