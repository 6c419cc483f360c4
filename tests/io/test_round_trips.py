"""What a writer writes is read back the same, or is refused with a sentence: for any id."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import cranfield as cf
from cranfield.cli import main
from cranfield.errors import InputError
from cranfield.io.convert import encode_table
from cranfield.io.files import Input
from cranfield.io.labels import read_labels, write_labels

ODD = st.sampled_from(
    [
        *("", " ", "#", "a b", "#tag", "\t", "a\tb", "\n", "\r", "a\rb", "\0", "\x1f", '"', "'"),
        *(",", "a,b", "\ufeff", "\ufeffa", "é", "日本", "\u2028", "\x85", "\xa0", "=1", "nan"),
        *("1_0", "a" * 70_000),
    ]
)
IDS = st.one_of(ODD, st.text(max_size=4), st.text("ab1", min_size=1, max_size=3))
SCORES = st.one_of(
    st.floats(allow_nan=False), st.integers(-5, 5).map(float), st.sampled_from([np.inf, -np.inf])
)
GRADES = st.one_of(st.integers(-2, 5), st.floats(-10, 10))
SLOW = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def nested(numbers: st.SearchStrategy[float]) -> st.SearchStrategy[dict[str, dict[str, float]]]:
    inner = st.dictionaries(IDS, numbers, min_size=0, max_size=3)
    return st.dictionaries(IDS, inner, min_size=1, max_size=3)


@pytest.mark.parametrize("name", ["x y.run", "x.json", "x.csv", "x.tsv", "x.parquet", "x.run.gz"])
@SLOW
@given(content=nested(SCORES))
@example(content={"#tag": {"a": 3.0}, "t": {"b": 1.0}})
@example(content={"": {"a b": 3.0}})
@example(content={"t": {}})
@example(content={"a" * 70_000: {}})
@example(content={"t": {"a": np.inf, "b": -np.inf}})
def test_runs(name: str, content: dict[str, dict[str, float]]) -> None:
    run = cf.Run.from_dict(content).named("x y")
    try:
        data = encode_table(run, name)
    except InputError as error:
        refused = str(error)
    else:
        refused = ""
    if refused:
        assert refused.startswith(f"{name}: ")
        assert "cannot hold; " in refused or "which only .json can hold" in refused
        return
    back = cf.read_run(Input(name, data))
    assert back.to_dict() == run.to_dict()


@pytest.mark.parametrize("name", ["q.qrels", "q.json", "q.csv", "q.tsv", "q.parquet"])
@SLOW
@given(content=nested(GRADES))
@example(content={"t": {"b 2": 1}})
def test_judgements(name: str, content: dict[str, dict[str, float]]) -> None:
    judgements = cf.Judgements.from_dict(content)
    try:
        data = encode_table(judgements, name)
    except InputError:
        return
    assert cf.read_qrels(Input(name, data)).to_dict() == judgements.to_dict()


def test_strata_are_kept_or_refused() -> None:
    given_ = cf.read_qrels(Input("q", b"t 0 a 0 1\nt 0 b 2 -1\n"))
    assert encode_table(given_, "again") == b"t 0 a 0 1\nt 0 b 2 -1\n"
    for name in ("q.csv", "q.json", "q.parquet"):
        with pytest.raises(InputError, match="only TREC's format holds strata"):
            encode_table(given_, name)


NAMES = st.lists(IDS, min_size=1, max_size=3, unique=True)


@pytest.mark.parametrize("name", ["l.csv", "long.csv", "l.npz", "l.parquet", "l.txt"])
@SLOW
@given(items=NAMES, concepts=NAMES, seed=st.integers(0, 99), kind=st.sampled_from(["01", "c", "2"]))
@example(items=["i"], concepts=["concept", "value"], seed=0, kind="01")
@example(items=["i"], concepts=["0"], seed=0, kind="c")
@example(items=[";0"], concepts=["0"], seed=0, kind="01")
@example(items=["i"], concepts=["item", "value"], seed=0, kind="01")
def test_labels(
    tmp_path: Path, name: str, items: list[str], concepts: list[str], seed: int, kind: str
) -> None:
    rng = np.random.default_rng(seed)
    confidences = rng.integers(0, 5, (len(items), len(concepts))) / 4
    labels = confidences > 0.4
    matrix = cf.LabelMatrix(
        tuple(items),
        tuple(concepts),
        labels if kind != "c" else None,
        confidences if kind != "01" else None,
    )
    path = tmp_path / name
    path.unlink(missing_ok=True)
    try:
        write_labels(matrix, path, form="long" if name == "long.csv" else None)
    except InputError as error:
        refused = str(error)
    else:
        refused = ""
    if refused:
        assert refused.startswith(str(path))
        assert not path.exists()
        return
    back = read_labels(path)
    assert back.items == matrix.items
    named = name != "l.txt" and tuple(concepts) != tuple(map(str, range(len(concepts))))
    if name == "long.csv":
        assert sorted(back.concepts) == sorted(matrix.concepts)
    elif named:
        assert back.concepts == matrix.concepts
    order = [back.concepts.index(c) for c in matrix.concepts] if named else slice(None)
    for part in ("confidences", "labels"):
        wanted, found = getattr(matrix, part), getattr(back, part)
        # Confidences that are all 0 or 1 cannot be told from labels.
        if wanted is not None and found is not None:
            np.testing.assert_array_equal(found[:, order], wanted)


def test_convert_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "x y.json", tmp_path / "o.txt"
    source.write_text(json.dumps({"t": {"b 2": 1}}))
    assert main(["convert", "--kind", "qrels", str(source), str(target)]) == 2
    assert capsys.readouterr().err == (
        f"{target}: item 'b 2' holds a blank, which TREC's format cannot hold; rename it, or "
        "write .json or .parquet\n"
    )
    assert not target.exists()
    source.write_text(json.dumps({"t": {"b": 1.5}}))
    assert main(["convert", "--kind", "run", str(source), str(target)]) == 0
    assert target.read_text() == "t Q0 b 1 1.5 x_y\n"
