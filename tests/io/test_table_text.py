"""The compiled writers beside what Python's own repr, csv and json make of the same rows."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import cranfield as cf
from cranfield import _core
from cranfield.io.compression import compress_gzip
from cranfield.io.convert import convert, encode_table
from cranfield.io.files import Input
from cranfield.io.labels import write_labels

IDS = st.text(st.characters(min_codepoint=33, exclude_categories=["Cs"]), min_size=1, max_size=6)
NUMBERS = st.one_of(
    st.floats(allow_nan=False),
    st.floats(-1e3, 1e3).map(lambda x: round(x, 6)),
    st.integers(-9, 9).map(float),
    st.sampled_from([1e15, 1e16, 1e-4, 9.999999e-5, 999999999.999999, 5e-324, -0.0, 1e22, 2.0**53]),
)
GRADES = st.one_of(st.integers(-3, 9).map(float), st.floats(allow_nan=False, allow_infinity=False))
FEW = settings(max_examples=100, deadline=None)


@FEW
@given(st.lists(NUMBERS, min_size=1, max_size=50))
@example([2.0**k for k in range(-1074, 1024)])
@example([10.0**k for k in range(-323, 309)])
def test_numbers_are_written_as_repr_writes_them(numbers: list[float]) -> None:
    column = np.array(numbers).reshape(-1, 1)
    text = _core.label_rows(["i"] * len(numbers), column, " ", False).decode()
    assert text.split("\n")[:-1] == [f"i {x!r}" for x in numbers]


def test_many_numbers_of_any_bits() -> None:
    bits = np.random.default_rng(3).integers(0, 2**64, 20_000, dtype=np.uint64)
    numbers = bits.view(np.float64)[np.isfinite(bits.view(np.float64))]
    text = _core.label_rows(["i"] * len(numbers), numbers.reshape(-1, 1), " ", False).decode()
    assert text.split("\n")[:-1] == [f"i {x!r}" for x in numbers.tolist()]


def as_trec(content: dict[str, dict[str, float]], tag: str) -> str:
    lines = []
    for topic, items in content.items():
        ordered = sorted(items.items(), key=lambda pair: (pair[1], pair[0].encode()), reverse=True)
        for rank, (item, score) in enumerate(ordered, 1):
            lines.append(f"{topic} Q0 {item} {rank} {score!r} {tag}\n")
    return "".join(lines)


def as_csv(content: dict[str, dict[str, float]], number: str, separator: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    writer.writerow(["topic", "item", number])
    for topic, items in content.items():
        writer.writerows((topic, item, value) for item, value in items.items())
    return out.getvalue()


def nested(numbers: st.SearchStrategy[float]) -> st.SearchStrategy[dict[str, dict[str, float]]]:
    inner = st.dictionaries(IDS, numbers, min_size=1, max_size=5)
    # A line that begins with these would be a comment, or no longer begin with its topic.
    topics = IDS.filter(lambda text: text[0] not in "#\ufeff")
    return st.dictionaries(topics, inner, min_size=1, max_size=4)


@FEW
@given(nested(NUMBERS))
@example({"t": {"a": 0.0, "b": -0.0, "c": 0.0}, 'a"b': {"x,y": 1.0}})
def test_runs(content: dict[str, dict[str, float]]) -> None:
    run = cf.Run.from_dict(content).named("x y")
    assert encode_table(run, None).decode() == as_trec(content, "x_y")
    assert encode_table(run, "a.csv").decode() == as_csv(content, "score", ",")
    assert encode_table(run, "a.tsv").decode() == as_csv(content, "score", "\t")
    shown = json.dumps(content, ensure_ascii=False, indent=0).replace("Infinity", "1e999")
    assert "Infinity" in str(content) or encode_table(run, "a.json").decode() == shown + "\n"


@FEW
@given(nested(GRADES))
@example({"t": {"a": 1e300, "b": -0.0, "c": 2.0**53, "d": 0.5, "e": -(2.0**62)}})
def test_judgements(content: dict[str, dict[str, float]]) -> None:
    judgements = cf.Judgements.from_dict(content)
    whole = {
        topic: {i: int(g) if g.is_integer() else g for i, g in items.items()}
        for topic, items in content.items()
    }
    lines = [f"{t} 0 {i} {g}\n" for t, items in whole.items() for i, g in items.items()]
    assert encode_table(judgements, None).decode() == "".join(lines)
    assert encode_table(judgements, "a.csv").decode() == as_csv(whole, "grade", ",")
    shown = json.dumps(judgements.to_dict(), ensure_ascii=False, indent=0)
    assert encode_table(judgements, "a.json").decode() == shown + "\n"


def test_every_character_of_a_json_string() -> None:
    content = {"".join(map(chr, range(128))): {chr(c): 1.0 for c in range(300)}, "none": {}}
    shown = json.dumps(content, ensure_ascii=False, indent=0)
    assert encode_table(cf.Run.from_dict(content), "a.json").decode() == shown + "\n"


def test_the_last_row_of_an_item_that_stands_twice() -> None:
    run = cf.Run.from_rows(["t"] * 3, ["a", "b", "a"], [1.0, 2.0, 3.0])
    assert encode_table(run, None) == b"t Q0 a 1 3.0 run\nt Q0 b 2 2.0 run\n"
    assert json.loads(encode_table(run, "a.json")) == {"t": {"a": 3.0, "b": 2.0}}


def test_a_text_of_many_blocks(tmp_path: Path) -> None:
    content = {f"t{t}": {f"item-{i}": (i * 7919 % 1000) / 8 for i in range(900)} for t in range(99)}
    source = tmp_path / "in.json"
    source.write_text(json.dumps(content))
    for name, expected in {
        "a.run": as_trec(content, "in"),
        "a.csv": as_csv(content, "score", ","),
        "a.json": json.dumps(content, indent=0) + "\n",
    }.items():
        assert len(expected) > 1 << 20
        assert convert(source, tmp_path / name, kind="run") == ((), b"")
        assert (tmp_path / name).read_text() == expected


@pytest.mark.parametrize("fast", [True, False])
def test_packed_text_is_the_text(fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if fast:
        pytest.importorskip("isal")
    else:
        monkeypatch.setitem(sys.modules, "isal", None)
    blocks = [f"{i} Q0 a 1 0.5 x\n".encode() * 500 for i in range(50)]
    packed = b"".join(compress_gzip(blocks))
    assert gzip.decompress(packed) == b"".join(blocks)
    assert packed == b"".join(compress_gzip(blocks))
    if not fast:
        assert packed == gzip.compress(b"".join(blocks), mtime=0)


def test_what_is_written_packed_is_read_back() -> None:
    run = cf.Run.from_dict({"t": {"a": 1.0, "b": 0.5}})
    assert cf.read_run(Input("a.run.gz", encode_table(run, "a.run.gz"))).to_dict() == run.to_dict()


@FEW
@given(
    st.lists(IDS, min_size=1, max_size=4, unique=True),
    st.lists(IDS, min_size=1, max_size=4, unique=True),
    st.data(),
)
def test_labels(
    tmp_path_factory: pytest.TempPathFactory,
    items: list[str],
    concepts: list[str],
    data: st.DataObject,
) -> None:
    cells = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0]))
    row = st.lists(cells, min_size=len(concepts), max_size=len(concepts))
    rows = data.draw(st.lists(row, min_size=len(items), max_size=len(items)))
    matrix = cf.LabelMatrix(tuple(items), tuple(concepts), None, np.array(rows))
    path = tmp_path_factory.mktemp("labels") / "l.csv"
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["item", *concepts])
    writer.writerows([item, *row] for item, row in zip(items, rows, strict=True))
    try:
        write_labels(matrix, path)
    except cf.InputError:  # blanks at the ends of a name
        return
    assert path.read_text() == out.getvalue()
    write_labels(matrix, path, form="long")
    assert path.read_text() == as_long(matrix, rows)


def as_long(matrix: cf.LabelMatrix, rows: list[list[float]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["item", "concept", "value"])
    absent = dict.fromkeys(matrix.concepts)
    for item, row in zip(matrix.items, rows, strict=True):
        for j in [j for j, value in enumerate(row) if value] or [0]:
            writer.writerow([item, matrix.concepts[j], row[j]])
            absent.pop(matrix.concepts[j], None)
    writer.writerows([matrix.items[0], concept, 0] for concept in absent)
    return out.getvalue()
