"""`cranfield index-quality`: its forms of vectors, its JSON, and every way input can be wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cranfield.cli import main

VECTORS = np.array([[2.0, 0.1], [3.0, -0.1], [0.1, 5.0], [-0.1, 1.0], [0.5, 0.5]])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "v.npy", VECTORS)
    (tmp_path / "ids.txt").write_text("a\nb\nc\nd\ne\n")
    np.savez(tmp_path / "v.npz", items=np.array(list("abcde")), vectors=VECTORS)
    (tmp_path / "q").write_text("t 0 a 1\nt 0 b 1\n")
    (tmp_path / "mine.run").write_text("t Q0 c 1 3 x\nt Q0 a 2 2 x\nt Q0 b 3 1 x\n")
    return tmp_path


def call(folder: Path, vectors: str, *args: str, runs: tuple[str, ...] = ("mine.run",)) -> int:
    files = [str(folder / f) for f in (vectors, "q", *runs)]
    return main(["index-quality", *files, *args])


def test_forms_of_vectors(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    lists = {"item": list("abcde"), "vector": VECTORS.tolist()}
    pq.write_table(pa.table(lists), folder / "lists.parquet")
    wide = {"item": list("abcde"), "x": VECTORS[:, 0], "y": VECTORS[:, 1]}
    pq.write_table(pa.table(wide), folder / "wide.parquet")
    answers = []
    for name, extra in (
        ("v.npy", ("--items", str(folder / "ids.txt"))),
        ("v.npz", ()),
        ("lists.parquet", ()),
        ("wide.parquet", ()),
    ):
        assert call(folder, name, *extra, "-m", "AP NAR", "--format", "json") == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert all(a == answers[0] for a in answers)
    best, mine = answers[0]["runs"]
    assert best["name"] == "optimal query"
    assert best["mean"] == {"AP": 1.0, "NAR": 0.0}
    assert mine["lost"]["AP"] == pytest.approx(1 - (1 / 2 + 2 / 3) / 2)
    # Lower is better: what is lost is still positive, and no share of a best value of 0 exists.
    assert mine["lost"]["NAR"] == pytest.approx(0.2)
    assert mine["lost_share"]["NAR"] is None


def test_row_numbers_are_ids(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "q").write_text("t 0 0 1\nt 0 1 1\n")
    assert call(folder, "v.npy", "-m", "AP", runs=()) == 0
    out = capsys.readouterr().out
    assert "optimal query" in out
    assert "1.0000" in out


def test_table_says_what_is_lost(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(folder, "v.npz", "-m", "AP", "--per-topic") == 0
    assert "0.4167 (42%)" in capsys.readouterr().out


def test_faults(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(message: str, vectors: str, *args: str) -> None:
        assert call(folder, vectors, *args) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert message in err

    fails("no vector for item 'a', relevant to topic 't'", "v.npy")
    (folder / "ids.txt").write_text("a\nb\n")
    fails("5 vectors for 2 items", "v.npy", "--items", str(folder / "ids.txt"))
    (folder / "ids.txt").write_text("a\nb\nc\nd\na\n")
    fails("item 'a' has two vectors", "v.npy", "--items", str(folder / "ids.txt"))
    fails("a list of them (--items) is for .npy", "v.npz", "--items", str(folder / "ids.txt"))
    fails("no such file", "absent.npy")
    (folder / "bad.npy").write_text("hello")
    fails("not a NumPy file", "bad.npy")
    (folder / "bad.parquet").write_text("hello")
    fails("not a Parquet file", "bad.parquet")
    fails("expected vectors as .npy, .npz or .parquet", "q")
    np.savez(folder / "half.npz", vectors=VECTORS)
    fails("no array 'items'", "half.npz")
    np.savez(folder / "flat.npz", items=np.array(list("ab")), vectors=np.ones(2))
    fails("expected a table of numbers", "flat.npz")
    np.savez(folder / "zero.npz", items=np.array(list("abcde")), vectors=VECTORS * [[1]] * 0)
    fails("the vector of item 'a' is zero or not finite", "zero.npz")
    (folder / "q").write_text("t 0 a 0\n")
    fails("no topic has a relevant item", "v.npz")
