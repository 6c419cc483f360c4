"""Arguments of the library that are odd but meant, and those that cannot be meant."""

import dataclasses
import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import cranfield as cf
from cranfield.errors import CranfieldError, InputError, MeasureError, UsageError

QRELS = {"1": {"7": 1, "8": 0}, "2": {"7": 1}}
RUN = {"1": {"7": 2.0, "8": 1.0}, "2": {"8": 1.0, "7": 0.5}}


def numbered(nested, kind=int):
    return {kind(t): {kind(i): value for i, value in items.items()} for t, items in nested.items()}


@pytest.mark.parametrize("kind", [int, np.int64])
def test_ids_of_dicts_may_be_whole_numbers_as_in_columns(kind):
    expected = cf.evaluate(QRELS, RUN, "AP RR").per_topic()
    assert cf.evaluate(numbered(QRELS, kind), numbered(RUN, kind), "AP RR").per_topic() == expected
    assert cf.evaluate(QRELS, numbered(RUN, kind), "AP RR").per_topic() == expected


def test_an_id_as_text_and_as_number_is_refused():
    with pytest.raises(InputError, match="'7' is there as text and as a number"):
        cf.evaluate({"1": {7: 1, "7": 0}}, RUN, "AP")


@pytest.mark.parametrize("key", [b"7", 1.5, None, True, ("7",)])
def test_other_ids_are_refused(key):
    with pytest.raises(InputError, match="with text ids"):
        cf.evaluate(QRELS, {"1": {key: 1.0}}, "AP")


def test_two_runs_of_one_name_are_refused_in_a_dict_too():
    with pytest.raises(UsageError, match="two runs are named '1'"):
        cf.evaluate(QRELS, {1: RUN, "1": RUN}, "AP")


def test_a_lazy_frame_is_collected():
    frame = pl.DataFrame({"topic": ["1", "1"], "item": ["7", "8"], "score": [1.0, 2.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lazy = cf.evaluate(QRELS, frame.lazy(), "AP").mean()
    assert lazy == cf.evaluate(QRELS, frame, "AP").mean()


def test_two_columns_of_one_name_are_refused():
    frame = pd.DataFrame([["1", "7", 1.0, 2.0]], columns=["topic", "item", "score", "score"])
    with pytest.raises(InputError, match="two columns are named 'score'"):
        cf.evaluate(QRELS, frame, "AP")


@pytest.mark.parametrize("option", ["max_items", "jobs", "collection_size", "gmt"])
@pytest.mark.parametrize("value", [0, -5, 1.5, float("nan"), "10", True, [3]])
def test_counts_are_whole_numbers_from_1_on(option, value):
    with pytest.raises(UsageError, match=f"{option}=.* is not a whole number from 1 on"):
        cf.evaluate(QRELS, RUN, "AP", **{option: value})


def test_counts_may_come_from_numpy():
    size = np.int64(10)
    assert cf.evaluate(QRELS, RUN, "NAR", collection_size=size, jobs=np.int32(1)).mean()


def test_without_measures_there_are_usual_ones_of_annotation_only():
    assert cf.evaluate_labels({"a": {"x"}}, [{"a": {"x"}}], None).mean()
    with pytest.raises(MeasureError, match="name of a measure"):
        cf.evaluate(QRELS, RUN, None)


@pytest.mark.parametrize("measures", [5, [5], [None], [["AP"]]])
def test_what_is_no_measure_is_said_to_be_none(measures):
    for evaluate in (
        lambda: cf.evaluate(QRELS, RUN, measures),
        lambda: cf.evaluate_labels({"a": {"x"}}, [{"a": {"x"}}], measures),
    ):
        with pytest.raises(MeasureError, match="name of a measure"):
            evaluate()


@pytest.mark.parametrize("name", [None, 5, "AP(rel={[]: 1})", f"AP(rel={'(' * 500}1{')' * 500})"])
def test_odd_names_of_measures_are_refused(name):
    with pytest.raises(MeasureError):
        cf.measure(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("AP", "AP is a measure of rankings: use cranfield eval .*, or AP.concept or AP.example"),
        ("nDCG(gain='exp')@10", "nDCG@10.* is a measure of rankings"),
        ("trec", "trec is a set of measures of rankings"),
        ("P", "No measure named 'P'"),
    ],
)
def test_measures_of_rankings_say_where_they_belong(name, said):
    with pytest.raises(MeasureError, match=said):
        cf.evaluate_labels({"a": {"x"}}, [{"a": {"x"}}], name)


@pytest.mark.parametrize("name", ["imageclef2009", "imageclef2010", "imageclef2011"])
def test_sets_of_annotation_say_where_they_belong(name):
    with pytest.raises(MeasureError, match=f"{name} is a set of measures of annotation"):
        cf.evaluate(QRELS, RUN, name)


def test_measures_of_a_comparison_may_be_one_text():
    scores = cf.evaluate(QRELS, {"a": RUN, "b": numbered(RUN)}, "AP RR nDCG(gain='exp')@10")
    found = scores.compare(measures="RR nDCG@10(gain='exp')", resamples=50)
    assert [m["name"] for m in found.measures] == ["RR", "nDCG@10(gain='exp')"]
    with pytest.raises(MeasureError, match="no scores under the measure 'R'"):
        scores.compare(measures="R")


# -- labels -----------------------------------------------------------------------------------

TRUTH = pd.DataFrame({"item": ["a", "b"], "Sky": [1, 0], "Sea": [0, 1]})


@pytest.mark.parametrize(
    "frame",
    [
        TRUTH.assign(Sky=[True, False]),
        TRUTH.astype({"Sky": "boolean"}),
        TRUTH.astype({"Sky": "Int64", "Sea": "Float64"}),
        TRUTH.astype({"Sky": object}),
        pl.DataFrame({"item": ["a", "b"], "Sky": [True, False], "Sea": [0, 1]}),
    ],
)
def test_columns_of_a_frame_may_differ_in_kind(frame):
    assert cf.evaluate_labels(frame, [TRUTH], "ExactMatch").mean()["run1"] == {"ExactMatch": 1.0}
    assert cf.evaluate_labels(TRUTH, [frame], "ExactMatch").mean()["run1"] == {"ExactMatch": 1.0}


@pytest.mark.parametrize(
    "column", [pd.array([1, None], dtype="Int64"), [np.nan, 1.0], pd.array([None, True])]
)
def test_a_missing_cell_is_named(column):
    with pytest.raises(InputError, match=r"run1: .* in concept 'Sky' is nan, expected a number"):
        cf.evaluate_labels(TRUTH, [TRUTH.assign(Sky=column)], "ExactMatch")


def test_text_in_a_cell_is_refused():
    with pytest.raises(InputError, match="run1: a value is not a number"):
        cf.evaluate_labels(TRUTH, [TRUTH.assign(Sky=["yes", "no"])], "ExactMatch")


@pytest.mark.parametrize(
    "run",
    [
        {"a": {"Sky"}, "b": {"Sea"}},
        {"a": {"Sky": 0.5}, "b": {}},
        np.eye(2),
        TRUTH,
        pl.DataFrame({"item": ["a"], "Sky": [1], "Sea": [0]}),
    ],
)
def test_one_run_needs_no_list(run):
    alone, listed = (cf.evaluate_labels(TRUTH, r, "HammingLoss") for r in (run, {"run": run}))
    assert alone.mean() == listed.mean()


def test_what_is_no_run_is_told_so():
    with pytest.raises(UsageError, match="runs are one run, a list of runs, or"):
        cf.evaluate_labels(TRUTH, None, "ExactMatch")


@pytest.mark.parametrize(
    "option",
    [{"jobs": 0}, {"jobs": 1.5}, {"costmap": np.zeros((2, 2))}, {"costmap": {"fts": 3}}],
)
def test_odd_options_of_annotation_are_usage_errors(option):
    with pytest.raises(UsageError):
        cf.evaluate_labels(TRUTH, [TRUTH], "OS", **option)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: cf.poisson_binomial([0.5, 2.0]),
        lambda: cf.evaluate_uncertain(None, [], k=0),  # type: ignore[arg-type]
        lambda: cf.evaluate_displacement(None, [], collection_size=0),  # type: ignore[arg-type]
    ],
)
def test_every_refusal_is_a_cranfield_error(wrong):
    with pytest.raises(CranfieldError):
        wrong()


def test_the_arrays_of_scores_are_put_together_once():
    """Rows ask for the values of a measure once, not for each of their cells."""
    scores = cf.evaluate(QRELS, {"a": RUN, "b": numbered(RUN)}, "AP RR")
    looks: list[str] = []

    class Watched(dict[cf.Measure, np.ndarray]):
        def __getitem__(self, measure: cf.Measure) -> np.ndarray:
            looks.append(str(measure))
            return super().__getitem__(measure)

    watched = dataclasses.replace(scores, values=Watched(scores.values))
    assert watched.per_topic() == scores.per_topic()
    assert sorted(looks) == ["AP", "RR"]


def test_results_as_dicts_are_json_to_the_letter():
    nothing = {"1": {"7": 0}, "2": {"7": 0}}
    scores = cf.evaluate(nothing, {"a": RUN, "b": {"1": {"8": 1.0}}}, "Miss@3 AP")
    assert scores.to_dict()["runs"][0]["mean"] == {"Miss@3": None, "AP": 0.0}
    compared = scores.compare(resamples=50).to_dict()
    assert compared["pairs"][0]["difference"] is None
    assert compared["pairs"][0]["ci"] == [None, None]
    for payload in (scores.to_dict(per=["topic"]), compared):
        json.dumps(payload, allow_nan=False)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (lambda s: s.to_markdown(rank=True), "unexpected keyword argument 'rank'"),
        (lambda s: s.to_latex(pre=["topic"]), "unexpected keyword argument 'pre'"),
        (lambda s: s.to_dict(nonsense=1), "unexpected keyword argument 'nonsense'"),
        (lambda s: s.report("x.html", titel="T"), "unexpected keyword argument 'titel'"),
        (lambda s: s.compare().to_markdown(ranks=True), "unexpected keyword argument 'ranks'"),
        (lambda s: s.to_latex(columns=["RR"]), "no such column"),
        (
            lambda s: s.to_markdown(per=["topics"]),
            "no unit 'topics': they are topic, item",
        ),
        (lambda s: s.to_pandas("topics"), "no unit 'topics'"),
    ],
)
def test_an_argument_that_an_answer_does_not_take_is_refused(asked, says, tmp_path, monkeypatch):
    """It was swallowed, and the table was as if it had not been given."""
    monkeypatch.chdir(tmp_path)
    scores = cf.evaluate(QRELS, {"a": RUN, "b": {"1": {"8": 1.0}}}, "AP")
    with pytest.raises((UsageError, TypeError), match=says):
        asked(scores)
    assert not list(tmp_path.iterdir())
