"""Runs and judgements as rows of three and as arrays with names."""

import numpy as np
import pytest

import cranfield as cf
from cranfield.errors import CranfieldError

QRELS = {"1": {"a": 1, "b": 0}, "2": {"b": 2}}
RUN = {"1": {"b": 2.5, "a": 1.5}, "2": {"b": 2.0, "c": 1.0}}
ROWS = [(t, i, s) for t, items in RUN.items() for i, s in items.items()]
GRADES = [(t, i, g) for t, items in QRELS.items() for i, g in items.items()]
NAMED = np.array(ROWS, dtype=[("topic", "U9"), ("item", "U9"), ("score", "f8")])
FORMS = {
    "rows": lambda: ROWS,
    "lists": lambda: [list(row) for row in ROWS],
    "generator": lambda: iter(ROWS),
    "array of objects": lambda: np.array(ROWS, dtype=object),
    "array with names": lambda: NAMED,
    "records": lambda: NAMED.view(np.recarray),
    "generator of runs": lambda: (run for run in [RUN]),
    "under a name": lambda: {"run": ROWS},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_run(form):
    expected = cf.evaluate(QRELS, {"run": RUN}, "AP nDCG@10").mean()
    assert cf.evaluate(iter(GRADES), FORMS[form](), "AP nDCG@10").mean() == expected


def test_an_array_of_several_runs():
    names = [("run", "U9"), ("qid", "U9"), ("docno", "U9"), ("score", "f8")]
    rows = [(name, *row) for name in ("x", "y") for row in ROWS]
    found = cf.evaluate(QRELS, np.array(rows, dtype=names), "AP").mean()
    assert found == cf.evaluate(QRELS, {"x": RUN, "y": RUN}, "AP").mean()


@pytest.mark.parametrize(
    "given",
    [
        [("1", "a", "2.5")],
        [("1", "a")],
        [("1", "a", 1.0), "b"],
        np.ma.array(NAMED, mask=False),
        np.ma.array(np.array(ROWS, dtype=object), mask=False),
        np.array([1.0, 2.0]),
    ],
)
def test_what_is_no_run(given):
    with pytest.raises(CranfieldError):
        cf.evaluate(QRELS, {"run": given}, "AP")


def test_runs_of_three_rows_are_no_rows():
    pd = pytest.importorskip("pandas")
    run = cf.Run.from_rows(["1", "1", "2"], ["b", "a", "b"], [2.5, 1.5, 2.0])
    frame = pd.DataFrame(ROWS[:3], columns=["topic", "item", "score"])
    expected = cf.evaluate(QRELS, {"run": run}, "AP").mean()["run"]
    assert cf.evaluate(QRELS, [run.named("x")], "AP").mean() == {"x": expected}
    assert cf.evaluate(QRELS, [frame], "AP").mean() == {"run": expected}
