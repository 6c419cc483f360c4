"""Readers answer damaged files with an InputError that names the file, and the line there is."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cranfield as cf
from cranfield.errors import InputError
from cranfield.io.arrays import read_item_vectors
from cranfield.io.files import Caps, Input, text_lines
from cranfield.io.soft import read_soft_judgements, read_soft_truth

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

# Three texts that are no UTF-8, and dates that Python has no place for.
NO_UTF8 = pa.Array.from_buffers(
    pa.string(), 3, [None, pa.py_buffer(np.arange(4, dtype="i4")), pa.py_buffer(b"\xff\xfe\xfd")]
)
FAR = pa.array([2**61] * 3, pa.int64()).cast(pa.timestamp("us"))
TEXTS, NUMBERS, LISTS = pa.array(["a", "b", "c"]), pa.array([0.5] * 3), pa.array([[1.0]] * 3)


def parquet(**columns: Any) -> Input:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return Input("x.parquet", out.getvalue())


@pytest.mark.parametrize("damaged", [NO_UTF8, FAR], ids=["no UTF-8", "far dates"])
@pytest.mark.parametrize(
    ("read", "columns", "name"),
    [
        (cf.read_labels, {"item": TEXTS, "x": NUMBERS}, "item"),
        (cf.read_labels, {"item": TEXTS, "x": NUMBERS}, "x"),
        (cf.read_labels, {"item": TEXTS, "concept": TEXTS, "value": NUMBERS}, "concept"),
        (cf.read_labels, {"item": TEXTS, "concept": TEXTS, "value": NUMBERS}, "value"),
        (read_item_vectors, {"item": TEXTS, "vector": LISTS}, "item"),
        (read_item_vectors, {"item": TEXTS, "vector": LISTS}, "vector"),
        (read_item_vectors, {"item": TEXTS, "x": NUMBERS, "y": NUMBERS}, "y"),
        (cf.read_run, {"topic": TEXTS, "item": TEXTS, "score": NUMBERS}, "score"),
        (cf.read_qrels, {"topic": TEXTS, "item": TEXTS, "grade": NUMBERS}, "grade"),
    ],
)
def test_parquet(
    read: Callable[[Input], object], columns: dict[str, Any], name: str, damaged: Any
) -> None:
    read(parquet(**columns))
    with pytest.raises(InputError, match=r"^x\.parquet: "):
        read(parquet(**columns | {name: damaged}))


@pytest.mark.parametrize("read", [read_soft_truth, read_soft_judgements])
def test_a_cell_that_is_longer_than_csv_allows(read: Callable[[Input], object]) -> None:
    header = b"topic,item,grade,probability\n"
    if read is read_soft_truth:
        header = b"item,concept,value,probability\n"
    with pytest.raises(InputError, match=r"^x\.csv:2: not valid CSV"):
        read(Input("x.csv", header + b"a" * 140_000 + b",b,1,1\n"))


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("q", "t 1 a\u2028 1\nt 2 a\x85 1\nt 1 b x\nt 2 a\x85 1\n", cf.read_qrels),
        ("q", "t 0 a\x85b 1 1\nt 0 b 1 1\nt 0 c 1 x\n", cf.read_qrels),
        ("l.txt", "a\x85 1 0\nb 1 0\nc 1 x\n", cf.read_labels),
        ("r", "t a\u2028 1\nt b 2\nt c x\n", cf.read_run),
    ],
)
def test_lines_are_those_of_an_editor(
    name: str, text: str, read: Callable[[Input], object]
) -> None:
    with pytest.raises(InputError) as refused:
        read(Input(name, text.encode()))
    assert 3 in [problem.line for problem in refused.value.problems], str(refused.value)
    assert max(problem.line for problem in refused.value.problems) <= text.count("\n")


def test_ends_of_lines() -> None:
    assert text_lines("") == []
    assert text_lines("a\r\nb\rc\n\nd\x85e\u2028f\x0cg") == [
        "a",
        "b",
        "c",
        "",
        "d\x85e\u2028f\x0cg",
    ]
    assert text_lines("a\n") == ["a"]


def test_lines_of_any_length() -> None:
    caps = Caps(line_bytes=None)
    with pytest.raises(InputError, match=r"^a:2: "):
        cf.read_run(Input("a", b"t Q0 a 1 1 x\nt Q0 b 1 y x\n", caps))
    long = b"t Q0 " + b"a" * (1 << 21) + b" 1 1 x\n"
    assert len(cf.read_run(Input("a", long, caps))) == 1


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inside:
        yield (*path, key)
        if isinstance(part, dict | list):
            yield from _places(part, (*path, key))


def test_saved_answers(tmp_path: Path) -> None:
    truth = {"t": {"a": 1, "b": 0}, "u": {"b": 1}}
    runs = {"r": {"t": {"a": 0.5, "b": 0.7}, "u": {"b": 1.0}}, "s": {"t": {"b": 0.2}}}
    path = tmp_path / "scores.json"
    cf.evaluate(truth, runs, "AP P@1").save(path)
    document = json.loads(path.read_text())
    refused: list[str] = []
    for place in _places(document):
        for other in (None, 1, "x", [], {}):
            damaged = copy.deepcopy(document)
            part = damaged
            for key in place[:-1]:
                part = part[key]
            part[place[-1]] = other
            try:
                # What is read can be shown.
                path.write_text(json.dumps(damaged))
                str(cf.load(path))
            except InputError as error:
                refused.append(str(error))
    assert len(refused) > 100
    assert all(message.startswith(f"{path}: ") for message in refused)
