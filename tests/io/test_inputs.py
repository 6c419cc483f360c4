"""Inputs under their user's name and within limits, packed or not, for every format."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cranfield as cf
from cranfield.errors import InputError
from cranfield.io.arrays import read_arrow_table, read_features, read_vectors
from cranfield.io.counts import read_tags
from cranfield.io.files import Caps, Input, input_lines, read_text
from cranfield.io.judgement_log import read_judgement_log
from cranfield.io.votes import read_subject_rankings

RUN = b"t1 Q0 a 1 2.0 x\nt1 Q0 b 2 1.0 x\n"
MANY = 3_000


def parquet(**columns: Any) -> bytes:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return bytes(sink.getvalue())


def npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


ITEMS = [f"i{k}" for k in range(MANY)]
# Every kind of file with thousands of lines or rows: its name, its bytes, its reader.
FORMATS: dict[str, tuple[Callable[[], bytes], Callable[[Any], Any]]] = {
    "a.run": (lambda: "".join(f"t{k} Q0 a 1 2 x\n" for k in range(MANY)).encode(), cf.read_run),
    "one-topic.run": (lambda: "".join(f"t Q0 {i} 1 2 x\n" for i in ITEMS).encode(), cf.read_run),
    "a.qrels": (lambda: "".join(f"t 0 {i} 1\n" for i in ITEMS).encode(), cf.read_qrels),
    "strata.qrels": (lambda: "".join(f"t 0 {i} 0 1\n" for i in ITEMS).encode(), cf.read_qrels),
    "a.csv": (
        lambda: ("topic,item,score\n" + "".join(f"t,{i},2\n" for i in ITEMS)).encode(),
        cf.read_run,
    ),
    "a.json": (
        lambda: ('{"t": {' + ",\n".join(f'"{i}": 1' for i in ITEMS) + "}}").encode(),
        cf.read_run,
    ),
    "a.parquet": (
        lambda: parquet(topic=["t"] * MANY, item=ITEMS, score=[1.0] * MANY),
        cf.read_run,
    ),
    "labels.txt": (lambda: "".join(f"{i} 0 1\n" for i in ITEMS).encode(), cf.read_labels),
    "wide.csv": (
        lambda: ("item,Sky,Sea\n" + "".join(f"{i},0,1\n" for i in ITEMS)).encode(),
        cf.read_labels,
    ),
    "labels.npz": (
        lambda: npz(items=np.array(ITEMS), labels=np.zeros((MANY, 2), bool)),
        cf.read_labels,
    ),
    "labels.parquet": (
        lambda: parquet(item=ITEMS, Sky=[0.5] * MANY, Sea=[0.1] * MANY),
        cf.read_labels,
    ),
    "log.csv": (
        lambda: ("annotator,item,category\n" + "".join(f"p,{i},x\n" for i in ITEMS)).encode(),
        read_judgement_log,
    ),
    "subjects.csv": (
        lambda: (
            "subject,topic,item,significance\n" + "".join(f"p,t,{i},1\n" for i in ITEMS)
        ).encode(),
        read_subject_rankings,
    ),
    "vectors.npz": (
        lambda: npz(items=np.array(ITEMS), vectors=np.zeros((MANY, 2))),
        read_vectors,
    ),
    "features.csv": (
        lambda: ("item,x\n" + "".join(f"{i},1\n" for i in ITEMS)).encode(),
        read_features,
    ),
    "tags.csv": (
        lambda: ("item,tag\n" + "".join(f"{i},x\n" for i in ITEMS)).encode(),
        read_tags,
    ),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_caps_hold_inside_of_every_reader(name: str, packed: bool) -> None:
    make, read = FORMATS[name]
    data = gzip.compress(make()) if packed else make()
    called = name + (".gz" if packed else "")
    read(Input(called, data, Caps(unpacked_bytes=10**7, lines=MANY + 1)))
    with pytest.raises(InputError) as refused:
        read(Input(called, data, Caps(unpacked_bytes=2_000)))
    assert str(refused.value) == f"{called}: holds more than 2,000 bytes, the most that is read"
    with pytest.raises(InputError, match="the most that is read") as refused:
        read(Input(called, data, Caps(lines=MANY - 1)))
    what = "rows" if name.endswith(("npz", "parquet")) else "lines"
    assert str(refused.value) == f"{called}: has more than 2,999 {what}, the most that is read"


@pytest.mark.parametrize("name", [n for n in FORMATS if not n.endswith(("npz", "parquet", "json"))])
def test_a_line_without_end(name: str) -> None:
    _, read = FORMATS[name]
    short = b"x" * 5_000
    with pytest.raises(InputError, match=r":1: the line is longer than 4,000 bytes and begins"):
        read(Input(name, short, Caps(line_bytes=4_000)))


def test_lines_one_by_one_have_caps() -> None:
    data = b"ab\n" * 10
    assert len(list(input_lines(Input("a.txt", data, Caps(lines=10, line_bytes=2))))) == 10
    with pytest.raises(InputError, match="more than 9 lines"):
        list(input_lines(Input("a.txt", data, Caps(lines=9))))
    with pytest.raises(InputError, match=r"a.txt:1: the line is longer than 1 bytes"):
        list(input_lines(Input("a.txt", data, Caps(line_bytes=1))))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000])
def test_long_lines_are_found_wherever_blocks_end(size: int) -> None:
    text = b"ab\ncdefg\n\nhi"
    watched = Input("a.txt", text, Caps(line_bytes=size))
    if size < 5:
        line = 1 if size == 1 else 2
        with pytest.raises(InputError, match=f"a.txt:{line}: the line is longer"):
            read_text(watched)
    else:
        assert read_text(watched) == text.decode()


def test_the_name_is_the_users_own(tmp_path: Path) -> None:
    stored = tmp_path / "upload-7f3a"
    stored.write_bytes(gzip.compress(RUN))
    run = cf.read_run(Input("my system.run.gz", stored))
    assert run.name == "my system"
    stored.write_bytes(b"nonsense")
    with pytest.raises(InputError, match=r"^my system.run:1: too few fields in 'nonsense'"):
        cf.read_run(Input("my system.run", stored))


def test_inputs_from_bytes_streams_and_paths(tmp_path: Path) -> None:
    path = tmp_path / "mine.run"
    path.write_bytes(RUN)
    with path.open("rb") as stream:
        stream.read(0)
        inputs = [
            Input.of(path),
            Input.of(str(path)),
            Input.of(RUN, "mine.run"),
            Input.of(io.BytesIO(RUN), "mine.run"),
            Input.of(stream, "mine.run"),
        ]
        scores = cf.evaluate({"t1": {"a": 1}}, inputs[0], "AP")
        for given in inputs:
            assert cf.read_run(given).name == "mine"
            assert cf.evaluate({"t1": {"a": 1}}, given, "AP").mean() == scores.mean()


def test_a_stream_is_read_from_where_it_stood() -> None:
    stream = io.BytesIO(b"a title\n" + RUN)
    stream.readline()
    given = Input("mine.run", stream)
    assert cf.read_run(given).topics == cf.read_run(given).topics == ("t1",)


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(InputError, match="no file can have such a name"):
        cf.read_run("a\0b")
    with pytest.raises(InputError, match="File name too long"):
        cf.read_run("a" * 5000)
    with pytest.raises(InputError, match="File name too long"):
        cf.read_labels("a" * 5000)


def test_archives_that_say_little_and_hold_much() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        vectors = io.BytesIO()
        np.save(vectors, np.zeros((2, 1_000_000)))
        archive.writestr("vectors.npy", vectors.getvalue())
    assert len(out.getvalue()) < 100_000
    with pytest.raises(InputError, match="holds more than 1,000,000 bytes"):
        read_vectors(Input("v.npz", out.getvalue(), Caps(unpacked_bytes=1_000_000)))


BOMB = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (900_000_000, 900_000_000))
from cranfield.cli import main
code = main(sys.argv[1:])
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(code, int(peak.split()[1]) // 1024)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, command",
    [
        ("b.run.gz", ["eval", "q", "b.run.gz"]),
        ("b.csv.gz", ["eval", "q", "b.csv.gz"]),
        ("b.json.gz", ["eval", "q", "b.json.gz"]),
        ("b.txt.gz", ["label", "b.txt.gz", "b.txt.gz"]),
        ("b.csv.gz", ["agreement", "b.csv.gz"]),
        ("b.parquet.gz", ["eval", "q", "b.parquet.gz"]),
        ("b.npz.gz", ["label", "b.npz.gz", "b.npz.gz"]),
    ],
)
def test_a_small_file_that_unpacks_to_one_endless_line(
    tmp_path: Path, name: str, command: list[str]
) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n")
    piece = gzip.compress(b"a" * (1 << 24), 1)
    with (tmp_path / name).open("wb") as packed:
        for _ in range(120):  # 2 GB in members of 16 MB
            packed.write(piece)
    done = subprocess.run(
        [sys.executable, "-c", BOMB, *command],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
    )
    code, megabytes = map(int, done.stdout.split())
    assert code == 2, done.stderr
    assert megabytes < (200 if "parquet" in name else 100)  # pyarrow alone takes 100
    assert done.stderr.startswith(name)


def test_endless_zeros(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n")
    for name in ("zero", "zero.csv", "zero.json"):
        (tmp_path / name).symlink_to("/dev/zero")
        with pytest.raises(InputError):
            cf.evaluate(tmp_path / "q", tmp_path / name, "AP")


def test_an_ontology_of_endless_zeros(tmp_path: Path) -> None:
    pytest.importorskip("rdflib")
    (tmp_path / "zero.ttl").symlink_to("/dev/zero")
    with pytest.raises(InputError, match="not valid RDF"):
        cf.read_ontology(tmp_path / "zero.ttl")


@pytest.mark.parametrize("data", [b"\n\n", b"\n", b",\n"])
def test_a_blank_line_for_a_header(data: bytes) -> None:
    with pytest.raises(InputError):
        cf.read_run(Input("a.csv", data))


def test_a_file_that_is_cut_short_while_it_is_read(tmp_path: Path) -> None:
    """A mapped file would end the process here; this one says what happened."""
    code = """
import os, sys, threading
import cranfield as cf
path = sys.argv[1]
stop = threading.Event()
def cut():
    while not stop.is_set():
        os.truncate(path, 1000)
        os.truncate(path, size)
size = os.path.getsize(path)
threading.Thread(target=cut, daemon=True).start()
for _ in range(30):
    try:
        cf.read_run(path)
    except cf.InputError as error:
        print(str(error).splitlines()[0])
stop.set()
"""
    path = tmp_path / "a.run"
    with path.open("w") as out:
        for t in range(400):
            out.writelines(f"{t} Q0 item-{i} {i} {-i} x\n" for i in range(300))
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert os.path.basename(path) in done.stdout  # noqa: PTH119


def packed_parquet(columns: dict[str, Any], **how: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, compression="zstd", **how)
    return out.getvalue()


def one_text_for_all(length: int, rows: int = 900) -> dict[str, Any]:
    """A dictionary with one entry, which all rows name: some 3 KB, whatever its length."""
    texts = pa.DictionaryArray.from_arrays(
        pa.array([0] * rows, pa.int32()), pa.array(["x" * length])
    )
    return {"topic": ["1"] * rows, "item": texts, "score": [float(i) for i in range(rows)]}


PARQUET_BOMBS = {
    "a dictionary larger than the limit": lambda: packed_parquet(one_text_for_all(16 << 20)),
    "a dictionary within the limit": lambda: packed_parquet(one_text_for_all(7 << 20)),
    "many rows of a short text": lambda: packed_parquet(one_text_for_all(1000, 100_000)),
    "texts in lists": lambda: packed_parquet(
        {"item": pa.ListArray.from_arrays(pa.array([0, 900]), one_text_for_all(1 << 20)["item"])}
    ),
    "numbers": lambda: packed_parquet({"item": pa.array(np.zeros(10_000_000))}),
    "stored differences": lambda: packed_parquet(
        {"item": ["x" * 100_000 + str(i) for i in range(1000)]},
        use_dictionary=False,
        column_encoding="DELTA_BYTE_ARRAY",
    ),
}


@pytest.mark.parametrize("kind", PARQUET_BOMBS)
def test_a_small_parquet_file_that_unfolds_is_refused_in_little_memory(kind: str) -> None:
    data = PARQUET_BOMBS[kind]()
    assert len(data) < 300_000
    before = pa.default_memory_pool()
    counted = pa.proxy_memory_pool(before)
    pa.set_memory_pool(counted)
    try:
        with pytest.raises(InputError, match="more than 8,388,608 bytes"):
            read_arrow_table(Input("bomb.parquet", data, Caps(unpacked_bytes=8 << 20)))
    finally:
        pa.set_memory_pool(before)
    assert counted.max_memory() < 64 << 20


def test_a_parquet_file_within_limits_is_the_same_table() -> None:
    columns = {
        "text": pa.array(["a", None, "b"]),
        "entries": pa.array(["a", "a", "b"]).dictionary_encode(),
        "texts": pa.array([["x", "y"], [], None]),
        "vector": pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        "record": pa.array([{"a": "x", "b": 1}] * 3),
        "nothing": pa.nulls(3),
    }
    for how in ({}, {"use_dictionary": False}):
        data = packed_parquet(columns, **how)
        within = read_arrow_table(Input("t.parquet", data, Caps(unpacked_bytes=8 << 20)))
        assert within.to_pydict() == read_arrow_table(Input("t.parquet", data)).to_pydict()


def test_json_of_many_small_values_is_refused_before_it_is_parsed() -> None:
    text = b"{" + b",".join(b'"%d":[]' % i for i in range(100_000)) + b"}"
    with pytest.raises(InputError, match="more than 16,000 values"):
        cf.read_run(Input("r.json", text, Caps(lines=1000)))
    with pytest.raises(InputError, match="more than 16,000 values"):
        cf.read_labels(Input("l.json", text, Caps(lines=1000)))


def test_a_long_table_whose_cells_unfold_is_refused() -> None:
    names = [str(i) for i in range(5_000)]
    data = packed_parquet({"item": names, "concept": names, "value": [1.0] * len(names)})
    with pytest.raises(InputError, match="more than 8,388,608 bytes"):
        cf.read_labels(Input("l.parquet", data, Caps(unpacked_bytes=8 << 20)))
