"""`cranfield convert`: every format to every other and back."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import os
import sys
import threading
from pathlib import Path

import pytest

from cranfield.cli import main
from cranfield.io import read_qrels, read_run

QRELS = {"t1": {"a": 1, "b": 0, "é": -1}, "t2": {"a": 0.5}}
RUN = {"t1": {"b": 3.0, "a": 2.5, "é": 0.1}, "t2": {"a": -1e-7}}
ENDINGS = ["txt", "json", "jsonl", "csv", "tsv", "parquet", "gz", "json.gz", "jsonl.gz"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "q.json").write_text(json.dumps(QRELS))
    (tmp_path / "r.json").write_text(json.dumps(RUN))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("one", "other"), [*itertools.permutations(ENDINGS, 2)])
def test_there_and_back(one: str, other: str, folder: Path) -> None:
    for kind, source in (("qrels", "q.json"), ("run", "r.json")):
        chain = [source, f"{kind}1.{one}", f"{kind}2.{other}", f"{kind}3.{one}"]
        for start, end in itertools.pairwise(chain):
            assert main(["convert", "--kind", kind, start, end]) == 0
        # TREC's format alone holds the name of a run, which the others take from the file's.
        if kind == "qrels" or one not in ("txt", "gz"):
            assert Path(chain[1]).read_bytes() == Path(chain[3]).read_bytes()
        elif other in ("txt", "gz"):
            assert read_run(chain[1]).tag == read_run(chain[3]).tag == "r"
    assert read_qrels(f"qrels2.{other}").to_dict() == QRELS
    assert read_run(f"run2.{other}").to_dict() == RUN


def test_the_order_of_a_ranking_is_written(folder: Path) -> None:
    (folder / "r.json").write_text('{"1": {"a": 1, "b": 2, "c": 2}}')
    assert main(["convert", "--kind", "run", "r.json", "named.run"]) == 0
    assert (folder / "named.run").read_text() == (
        "1 Q0 c 1 2.0 r\n1 Q0 b 2 2.0 r\n1 Q0 a 3 1.0 r\n"
    )
    assert main(["convert", "named.run", "again.txt"]) == 0
    assert (folder / "again.txt").read_bytes() == (folder / "named.run").read_bytes()


def test_the_kind_is_found_out(folder: Path) -> None:
    (folder / "qrels").write_text("# comment\n\n1 0 a 1\n")
    (folder / "run").write_text("1 Q0 a 1 2.5 x\n")
    assert main(["convert", "qrels", "q.csv"]) == 0
    assert (folder / "q.csv").read_text() == "topic,item,grade\n1,a,1\n"
    assert main(["convert", "run", "r.csv"]) == 0
    assert (folder / "r.csv").read_text() == "topic,item,score\n1,a,2.5\n"
    assert main(["convert", "r.csv", "back.run"]) == 0
    assert (folder / "back.run").read_text() == "1 Q0 a 1 2.5 r\n"
    assert main(["convert", "q.csv", "back.qrels"]) == 0
    assert (folder / "back.qrels").read_text() == "1 0 a 1\n"


def test_to_and_from_standard_streams(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1 0 a 1\n")))
    assert main(["convert", "--kind", "qrels", "-", "-"]) == 0
    assert capfdbinary.readouterr().out == b"1 0 a 1\n"
    assert not (folder / "-").exists()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["-", "out"], "say what <stdin> holds: --kind run, --kind qrels"),
        (["r.json", "out"], "say what r.json holds"),
        (["absent", "out"], "absent: no such file"),
        (["empty", "out"], "empty: is empty"),
        (["seven", "out"], "seven: 7 fields in the first line: neither 4 (judgements) nor 6"),
        (["broken", "out"], "broken:2: too few fields"),
        (["broken", "out.csv"], "broken:2: too few fields"),
        (["r.json", "absent/out", "--kind", "run"], "cannot be written: no such directory"),
        (["q.json", "out", "--kind", "nonsense"], "invalid choice: 'nonsense'"),
    ],
)
def test_what_cannot_be_converted(
    args: list[str], says: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "empty").write_text("# nothing\n")
    (folder / "seven").write_text("1 2 3 4 5 6 7\n")
    (folder / "broken").write_text("1 0 a 1\n1 0 b\n")
    before = sorted(p.name for p in folder.iterdir())
    assert main(["convert", *args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert "Traceback" not in err
    assert sorted(p.name for p in folder.iterdir()) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_pipe_is_not_looked_into_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(folder / "pipe")
    assert main(["convert", "pipe", "out"]) == 2
    assert "say what pipe holds" in capsys.readouterr().err
    feeder = threading.Thread(target=(folder / "pipe").write_text, args=("1 0 a 1\n",), daemon=True)
    feeder.start()
    assert main(["convert", "--kind", "qrels", "pipe", "out"]) == 0
    feeder.join(timeout=60)
    assert (folder / "out").read_text() == "1 0 a 1\n"


def test_the_same_input_packs_to_the_same_bytes(folder: Path) -> None:
    for name in ("one.gz", "two.gz"):
        assert main(["convert", "--kind", "run", "r.json", name]) == 0
    assert (folder / "one.gz").read_bytes() == (folder / "two.gz").read_bytes()
    assert gzip.decompress((folder / "one.gz").read_bytes()).count(b"\n") == 4


def test_warnings_are_printed_unless_quiet(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "twice").write_text("1 0 a 1\n1 0 a 1\n")
    assert main(["convert", "twice", "once"]) == 0
    assert "judged twice" in capsys.readouterr().err
    assert (folder / "once").read_text() == "1 0 a 1\n"
    assert main(["convert", "--quiet", "twice", "once"]) == 0
    assert capsys.readouterr().err == ""


def test_labels_survive_every_form(tmp_path, capsys):
    wide = tmp_path / "wide.csv"
    wide.write_text("item,Sky,Trees,Dog,Car\na,1,0,1,0\nb,0,0,1,1\n")
    for name, options in (
        ("long.csv", ["--long"]),
        ("text.txt", []),
        ("packed.npz", []),
    ):
        assert main(["convert", str(wide), str(tmp_path / name), *options]) == 0
    assert main(["convert", str(tmp_path / "long.csv"), str(tmp_path / "back.csv")]) == 0
    assert main(["convert", str(tmp_path / "packed.npz"), str(tmp_path / "again.csv")]) == 0
    assert (tmp_path / "again.csv").read_text() == wide.read_text()
    rows = {line.split(",")[0] for line in (tmp_path / "back.csv").read_text().splitlines()}
    assert rows == {"item", "a", "b"}
    assert (tmp_path / "text.txt").read_text().split()[:5] == ["a", "1", "0", "1", "0"]


FORMS_OF_LABELS = ["csv", "csv.gz", "tsv", "tsv.zst", "json", "json.gz", "npz", "parquet"]


@pytest.mark.parametrize("form", FORMS_OF_LABELS)
@pytest.mark.parametrize(
    "text",
    [
        "item,Sky,Blue Sea\na,1,1\nb,0,1\nc,0,0\n",
        "item,Sky,Nowhere\na,1,0\nb,0,0\n",
        "item,Sky,Blue Sea\na,0.25,1.0\nb,0.1,0.0\n",
    ],
    ids=["labels", "a concept that no item has", "confidences"],
)
def test_labels_come_back_from_every_form(tmp_path, text, form):
    wide = tmp_path / "wide.csv"
    wide.write_text(text)
    there, back = tmp_path / f"there.{form}", tmp_path / "back.csv"
    assert main(["convert", "--kind", "labels", str(wide), str(there)]) == 0
    assert main(["convert", "--kind", "labels", str(there), str(back)]) == 0
    found = [line.split(",") for line in back.read_text().splitlines()]
    given = [line.split(",") for line in text.splitlines()]
    # Lists of labels name concepts in an order of their own.
    columns = [found[0].index(name) for name in given[0]]
    assert [[row[k] for k in columns] for row in found] == given


def test_scores_beyond_confidences_are_converted_on_request(tmp_path, capsys):
    wide = tmp_path / "wide.csv"
    wide.write_text("item,Sky\na,3.5\nb,-2.0\n")
    asked = ["convert", "--kind", "labels", str(wide), str(tmp_path / "out.tsv")]
    assert main(asked) == 2
    assert "--scores any" in capsys.readouterr().err
    assert main([*asked, "--scores", "any"]) == 0
    assert (tmp_path / "out.tsv").read_text() == "item\tSky\na\t3.5\nb\t-2.0\n"


def test_a_labels_file_needs_a_name(tmp_path, capsys):
    wide = tmp_path / "wide.csv"
    wide.write_text("item,Sky\na,1\n")
    assert main(["convert", str(wide), "-"]) == 2
    assert "labels are written to a file" in capsys.readouterr().err
