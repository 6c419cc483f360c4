"""What ir_datasets and ir_measures hand over: named tuples, and objects that yield them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest

import cranfield as cf


class TrecQrel(NamedTuple):
    """The fields of ir_datasets.formats.TrecQrel."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class GenericScoredDoc(NamedTuple):
    """The fields of ir_datasets.formats.GenericScoredDoc."""

    query_id: str
    doc_id: str
    score: float


QRELS = [TrecQrel("1", "a", 1), TrecQrel("1", "b", 0), TrecQrel("2", "a", 2)]
DOCS = [
    GenericScoredDoc("1", "b", 2.0),
    GenericScoredDoc("2", "a", 1.0),
    GenericScoredDoc("1", "a", 1.0),
]
EXPECTED = {"run": {"RR": 0.75}}


class Dataset:
    """The methods of ir_datasets.Dataset that are read."""

    def qrels_iter(self) -> Iterator[TrecQrel]:
        return iter(QRELS)

    def scoreddocs_iter(self) -> Iterator[GenericScoredDoc]:
        return iter(DOCS)


def test_iterators_lists_and_data_sets() -> None:
    data = Dataset()
    assert cf.evaluate(data.qrels_iter(), data.scoreddocs_iter(), "RR").mean() == EXPECTED
    assert cf.evaluate(QRELS, DOCS, "RR").mean() == EXPECTED
    assert cf.evaluate(data, data, "RR").mean() == EXPECTED
    named = {"bm25": DOCS, "first": DOCS[:2]}
    assert cf.evaluate(QRELS, named, "RR").mean() == {"bm25": {"RR": 0.75}, "first": {"RR": 0.5}}


def test_tuples_of_ir_measures() -> None:
    im = pytest.importorskip("ir_measures", reason="ir_measures is absent")
    qrels = [im.Qrel(*row) for row in QRELS]
    docs = [im.ScoredDoc(*row) for row in DOCS]
    assert cf.evaluate(qrels, docs, "RR").mean() == EXPECTED


def test_ir_datasets_itself(tmp_path: object) -> None:
    formats = pytest.importorskip("ir_datasets.formats", reason="ir_datasets is no dependency")
    qrels = [formats.TrecQrel(*row) for row in QRELS]
    docs = [formats.GenericScoredDoc(*row) for row in DOCS]
    assert cf.evaluate(qrels, docs, "RR").mean() == EXPECTED


def test_other_objects_are_refused() -> None:
    with pytest.raises(cf.UsageError, match="cannot read judgements from int"):
        cf.evaluate(3, DOCS, "RR")
    with pytest.raises(cf.UsageError, match="cannot read a run from list"):
        cf.evaluate(QRELS, [[1, 2]], "RR")


def test_repeated_judgements_in_columns() -> None:
    scores = cf.evaluate([*QRELS, QRELS[0]], DOCS, "NumRel")
    assert "item 'a' is judged twice for topic '1'" in scores.notes[0]
    assert scores.mean() == {"run": {"NumRel": 2.0}}
    with pytest.raises(cf.InputError, match="item 'a' is judged 1 and 0 for topic '1'"):
        cf.evaluate([*QRELS, TrecQrel("1", "a", 0)], DOCS, "RR")


@pytest.mark.parametrize(
    "items",
    [
        np.array(["ä", "b", "日本", "𝄞x", ""]),
        np.array(["ä", "b", "日本", "𝄞x", ""]).astype(">U5"),
        np.array(["ä", "b", "日本", "𝄞x", ""], dtype=object),
        np.array(["ä", "-", "b", "-", "日本", "-", "𝄞x", "-", "", "-"])[::2],
    ],
    ids=["text", "big endian", "objects", "strided"],
)
def test_numpy_text(items: np.ndarray) -> None:
    run = cf.Run.from_rows(np.full(5, "t"), items, np.arange(5.0))
    assert run.to_dict() == {"t": {"ä": 0.0, "b": 1.0, "日本": 2.0, "𝄞x": 3.0, "": 4.0}}


@pytest.mark.parametrize("kind", ["int64", "int8", "uint16", "uint64", ">i4"])
def test_numpy_whole_numbers_are_ids(kind: str) -> None:
    run = cf.Run.from_rows(np.array([7, 7], kind), np.array([0, 120], kind), [1, 2])
    assert run.to_dict() == {"7": {"0": 1.0, "120": 2.0}}


def test_numpy_ids_of_a_wrong_kind() -> None:
    for ids in (np.array([0.5, 1.5]), np.array([b"a", b"b"]), np.array([["a"], ["b"]])):
        with pytest.raises(cf.InputError, match="topics and items must be"):
            cf.Run.from_rows(np.array(["t", "t"]), ids, [1.0, 2.0])
