"""Every form of labels, read and written."""

import numpy as np
import pytest

from cranfield.data import labels as data_labels
from cranfield.data.labels import LabelMatrix
from cranfield.errors import InputError, UsageError
from cranfield.io.labels import read_concepts, read_labels, write_labels
from cranfield.io.labels_csv import DENSE_CELLS

ITEMS, CONCEPTS = ("b.jpg", "a.jpg", "c.jpg"), ("Sky", "Big, wide Sea", "Dog")
CONFIDENCES = np.array([[0.25, 0.5, 1.0], [0.0, 0.125, 0.3], [0.1, 0.2, 0.9]])
LABELS = np.array([[True, False, True], [False, False, False], [False, True, True]])


def matrix(*, labels=None, confidences=None):
    return LabelMatrix(ITEMS, CONCEPTS, labels, confidences, "m")


@pytest.mark.parametrize("form", ["wide", "long", "imageclef", "npz"])
@pytest.mark.parametrize("kind", ["labels", "confidences", "both"])
def test_round_trip(tmp_path, form, kind):
    original = matrix(
        labels=None if kind == "confidences" else LABELS,
        confidences=None if kind == "labels" else CONFIDENCES,
    )
    path = tmp_path / {"wide": "m.csv", "long": "m.csv", "imageclef": "m.txt", "npz": "m.npz"}[form]
    if form == "long" and kind == "both":
        with pytest.raises(InputError, match="one value per cell"):
            write_labels(original, path, form=form)
        return
    write_labels(original, path, form=form)
    found = read_labels(path, concepts=CONCEPTS)
    assert found.name == "m"
    assert found.items == ITEMS
    assert set(found.concepts) == set(CONCEPTS)
    order = [found.concepts.index(c) for c in CONCEPTS]
    for part in ("labels", "confidences"):
        expected = getattr(original, part)
        if expected is None:
            assert getattr(found, part) is None
        else:
            np.testing.assert_array_equal(getattr(found, part)[:, order], expected)


def test_parquet(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    wide = {"item": list(ITEMS)} | {c: CONFIDENCES[:, j] for j, c in enumerate(CONCEPTS)}
    pq.write_table(pa.table(wide), tmp_path / "wide.parquet")
    long = {
        "item": [i for i in ITEMS for _ in CONCEPTS],
        "concept": [c for _ in ITEMS for c in CONCEPTS],
        "value": CONFIDENCES.ravel(),
    }
    pq.write_table(pa.table(long), tmp_path / "long.parquet")
    for name in ("wide", "long"):
        found = read_labels(tmp_path / f"{name}.parquet")
        rows = [found.items.index(i) for i in ITEMS]
        columns = [found.concepts.index(c) for c in CONCEPTS]
        np.testing.assert_array_equal(found.confidences[np.ix_(rows, columns)], CONFIDENCES)


@pytest.mark.parametrize("concepts", [("item", "b"), ("concept", "value"), ("value", "item")])
@pytest.mark.parametrize("kind", ["labels", "confidences"])
def test_concepts_that_are_called_as_columns_of_a_table(tmp_path, concepts, kind):
    values = np.array([[1, 0], [0, 1], [0, 0]]) * (1 if kind == "labels" else 0.25)
    matrix = LabelMatrix.of(values, items=["z", "x", "y"], concepts=concepts)
    write_labels(matrix, tmp_path / "a.parquet")
    again = read_labels(tmp_path / "a.parquet")
    assert (again.items, again.concepts) == (matrix.items, matrix.concepts)
    assert np.array_equal(getattr(again, kind), getattr(matrix, kind))


def test_items_without_a_name_in_a_table(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"item": ["a", None], "x": [1, 0]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet: column 'item' has 1 empty cells"):
        read_labels(tmp_path / "a.parquet")


def test_broken_parquet_and_npz(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="not a Parquet file"):
        read_labels(tmp_path / "x.parquet")
    (tmp_path / "x.npz").write_bytes(b"PK no")
    with pytest.raises(InputError, match="not a NumPy archive"):
        read_labels(tmp_path / "x.npz")
    np.savez(tmp_path / "y.npz", scores=CONFIDENCES)
    with pytest.raises(InputError, match="expected arrays items, concepts and labels"):
        read_labels(tmp_path / "y.npz")
    np.savez(tmp_path / "z.npz", labels=CONFIDENCES)
    with pytest.raises(InputError, match="values other than 0 and 1"):
        read_labels(tmp_path / "z.npz")
    np.savez(tmp_path / "v.npz", confidences=CONFIDENCES * 2)
    with pytest.raises(InputError, match=r"v\.npz: the confidence of item '0' in concept '2' is 2"):
        read_labels(tmp_path / "v.npz")


def test_threshold_forms():
    run = matrix(confidences=CONFIDENCES)
    np.testing.assert_array_equal(run.with_threshold(0.5).labels, CONFIDENCES >= 0.5)
    limits = [0.2, 0.6, 0.9]
    expected = np.greater_equal(CONFIDENCES, limits)
    np.testing.assert_array_equal(run.with_threshold(limits).labels, expected)
    named = dict(zip(CONCEPTS, limits, strict=True))
    np.testing.assert_array_equal(run.with_threshold(named).labels, expected)
    with pytest.raises(InputError, match="2 thresholds for 3 concepts"):
        run.with_threshold([0.1, 0.2])
    with pytest.raises(InputError, match="unknown concept 'Skye'"):
        run.with_threshold(named | {"Skye": 0.1})
    with pytest.raises(InputError, match="missing for the concept 'Dog'"):
        run.with_threshold({"Sky": 0.1, "Big, wide Sea": 0.2})
    with pytest.raises(UsageError, match=r"the threshold 1.5 lies outside \[0, 1\]"):
        run.with_threshold(1.5)
    with pytest.raises(UsageError, match="threshold='half' is neither a number nor"):
        run.with_threshold("half")


def test_long_files_beyond_the_dense_limit_are_sparse(tmp_path, monkeypatch):

    write_labels(matrix(confidences=CONFIDENCES), tmp_path / "m.csv", form="long")
    dense = read_labels(tmp_path / "m.csv")
    monkeypatch.setattr("cranfield.io.labels_csv.DENSE_CELLS", 5)
    sparse = read_labels(tmp_path / "m.csv")
    assert not isinstance(sparse.confidences, np.ndarray)
    np.testing.assert_array_equal(sparse.confidences.toarray(), dense.confidences)
    np.testing.assert_array_equal(
        sparse.with_threshold(0.5).labels.toarray(), dense.with_threshold(0.5).labels
    )
    assert sparse.with_threshold(0.5).density == dense.with_threshold(0.5).density
    assert DENSE_CELLS == data_labels.DENSE_CELLS == 100_000 * 1_000


def test_plain_objects():
    sets = LabelMatrix.of({"x": {"Sky"}, "y": set()}, concepts=["Sky", "Sea"])
    np.testing.assert_array_equal(sets.labels, [[True, False], [False, False]])
    scored = LabelMatrix.of({"x": {"Sky": 0.4}})
    assert scored.confidences[0, 0] == 0.4
    import pandas as pd

    frame = pd.DataFrame(CONFIDENCES, index=list(ITEMS), columns=list(CONCEPTS))
    assert LabelMatrix.of(frame).concepts == CONCEPTS
    assert LabelMatrix.of(frame).items == ITEMS
    import polars as pl

    column = pl.DataFrame({"item": list(ITEMS)} | dict(zip(CONCEPTS, CONFIDENCES.T, strict=True)))
    assert LabelMatrix.of(column).items == ITEMS
    np.testing.assert_array_equal(LabelMatrix.of(column).confidences, CONFIDENCES)
    with pytest.raises(InputError, match="3 dimensions"):
        LabelMatrix.of(np.zeros((1, 1, 1)))
    with pytest.raises(InputError, match="expected numbers"):
        LabelMatrix.of(np.array([["a"]]))
    with pytest.raises(InputError, match="item given more than once: 'x'"):
        LabelMatrix(("x", "x"), ("a",), np.zeros((2, 1), bool))
    with pytest.raises(InputError, match="labels of shape"):
        LabelMatrix(("x",), ("a",), np.zeros((2, 1), bool))
    with pytest.raises(InputError, match="neither labels nor confidences"):
        LabelMatrix(("x",), ("a",))


def test_matrices_cannot_be_changed():
    frozen = matrix(confidences=CONFIDENCES)
    with pytest.raises(ValueError, match="read-only"):
        frozen.confidences[0, 0] = 1.0
    assert CONFIDENCES.flags.writeable


def test_names_of_concepts(tmp_path):
    (tmp_path / "n.txt").write_text("Sky\nSea\n\n")
    assert read_concepts(tmp_path / "n.txt") == ("Sky", "Sea")
    (tmp_path / "n.txt").write_text("Sky\nSky\n")
    with pytest.raises(InputError, match=r"n\.txt:2: concept 'Sky' given twice"):
        read_concepts(tmp_path / "n.txt")
    (tmp_path / "n.txt").write_text("\n")
    with pytest.raises(InputError, match="no names"):
        read_concepts(tmp_path / "n.txt")


def test_unknown_form(tmp_path):
    with pytest.raises(UsageError, match="no form 'excel'"):
        write_labels(matrix(labels=LABELS), tmp_path / "x", form="excel")


@pytest.mark.parametrize("name", ["m.csv", "m.txt"])
def test_byte_order_mark_and_windows_lines(tmp_path, name):
    plain = "item,Sky,Sea\na,0.5,1\n" if name == "m.csv" else "a 0.5 1\n"
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + plain.replace("\n", "\r\n").encode())
    found = read_labels(tmp_path / name)
    assert found.items == ("a",)
    np.testing.assert_array_equal(found.confidences, [[0.5, 1.0]])


def test_bytes_that_are_not_text(tmp_path):
    (tmp_path / "m.txt").write_bytes(b"a 0.5 1\nb \xff 0\n")
    with pytest.raises(InputError, match=r"m\.txt:2: byte 0xff is not UTF-8 text"):
        read_labels(tmp_path / "m.txt")
