"""The interface of pytrec_eval: its documented examples, its errors, and where ours is kinder."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import numpy as np
import pytest

from cranfield.compat import pytrec_eval
from cranfield.errors import CranfieldError, UsageError

QREL = {"q1": {"d1": 0, "d2": 1, "d3": 0}, "q2": {"d2": 1, "d3": 1}}
RUN = {"q1": {"d1": 1.0, "d2": 0.0, "d3": 1.5}, "q2": {"d1": 1.5, "d2": 0.2, "d3": 0.5}}


def test_readme_example() -> None:
    """The snippet of pytrec_eval's README gives the values printed there."""
    evaluator = pytrec_eval.RelevanceEvaluator(QREL, {"map", "ndcg"})
    printed = json.loads(json.dumps(evaluator.evaluate(RUN), indent=1))
    assert printed == {
        "q1": {"ndcg": 0.5, "map": 0.3333333333333333},
        "q2": {"ndcg": 0.6934264036172708, "map": 0.5833333333333333},
    }


def test_example_with_parametrized_measures() -> None:
    """examples/simple_cut.py of pytrec_eval; a perfect cut of three items is the whole ranking."""
    results = pytrec_eval.RelevanceEvaluator(QREL, {"map_cut", "ndcg_cut"}).evaluate(RUN)
    cuts = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
    names = [f"ndcg_cut_{k}" for k in cuts] + [f"map_cut_{k}" for k in cuts]
    assert list(results["q1"]) == names
    assert results["q2"]["ndcg_cut_5"] == pytest.approx(0.6934264036172708)
    assert results["q1"]["map_cut_1000"] == pytest.approx(1 / 3)


def test_trec_eval_front_end_example(tmp_path: Path) -> None:
    """The steps of examples/trec_eval.py: parse both files, evaluate, aggregate, print."""
    qrel_file, run_file = tmp_path / "qrel", tmp_path / "run"
    qrel_file.write_text("q1 0 d1 0\nq1 0 d2 1\nq2 0 d2 1\n")
    run_file.write_text("q1 Q0 d2 1 2.5 x\nq1 Q0 d1 2 1.5 x\nq2 Q0 d1 1 1 x\n")
    with qrel_file.open() as f_qrel:
        qrel = pytrec_eval.parse_qrel(f_qrel)
    with run_file.open() as f_run:
        run = pytrec_eval.parse_run(f_run)
    evaluator = pytrec_eval.RelevanceEvaluator(qrel, pytrec_eval.supported_measures)
    results = evaluator.evaluate(run)
    means = {
        measure: pytrec_eval.compute_aggregated_measure(
            measure, [values[measure] for values in results.values()]
        )
        for measure in sorted(next(iter(results.values())))
    }
    assert (means["map"], means["num_ret"], means["num_q"]) == (0.5, 3.0, 2.0)
    assert means["gm_map"] == pytest.approx(math.sqrt(1 * 0.00001))


def test_significance_example() -> None:
    """examples/statistical_significance.py: a measure of two runs, topic by topic."""
    stats = pytest.importorskip("scipy.stats", reason="the example tests with scipy")
    evaluator = pytrec_eval.RelevanceEvaluator(QREL, {"map"})
    second = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}
    first_results, second_results = evaluator.evaluate(RUN), evaluator.evaluate(second)
    topics = sorted(set(first_results) & set(second_results))
    first = [first_results[t]["map"] for t in topics]
    assert stats.ttest_rel(first, [second_results[t]["map"] for t in topics]).pvalue > 0.05


def test_topics_are_those_that_are_judged_and_retrieved_in_the_runs_order() -> None:
    run = {"q2": {"d2": 1}, "other": {"d1": 1}, "q1": {"d1": 1}}
    evaluator = pytrec_eval.RelevanceEvaluator(QREL | {"q3": {"d1": 1}, "empty": {}}, ["map"])
    assert list(evaluator.evaluate(run)) == ["q2", "q1"]
    assert evaluator.evaluate({}) == {}


def test_empty_ranking_and_negative_grades_give_zeros() -> None:
    evaluator = pytrec_eval.RelevanceEvaluator(
        {"q1": {"d1": 1}, "q2": {"d1": -1}}, ["map", "iprec_at_recall_0.00", "ndcg", "num_ret"]
    )
    results = evaluator.evaluate({"q1": {}, "q2": {"d1": 1.0}})
    assert set(results["q1"].values()) == {0.0}
    assert results["q2"] == {"num_ret": 1.0, "map": 0.0, "iprec_at_recall_0.00": 0.0, "ndcg": 0.0}


def test_scores_of_numpy_and_infinities_are_taken() -> None:
    evaluator = pytrec_eval.RelevanceEvaluator({"q": {"a": np.int64(1), "b": 0}}, ["recip_rank"])
    assert evaluator.evaluate({"q": {"a": np.float32(1), "b": -math.inf}})["q"] == {
        "recip_rank": 1.0
    }


@pytest.mark.parametrize(
    "run",
    [
        {"q1": {"d1": "x"}},
        {"q1": {1: 1.0}},
        {1: {"d1": 1.0}},
        {"q1": [1]},
        {"q1": {"d1": None}},
        {"q1": {"d1": 10**400}},
    ],
)
def test_runs_of_a_wrong_type(run: object) -> None:
    with pytest.raises(TypeError, match="Unable to extract query/object scores"):
        pytrec_eval.RelevanceEvaluator(QREL, ["map"]).evaluate(run)  # type: ignore[arg-type]


def test_a_run_that_is_no_dict_and_a_score_that_is_no_number() -> None:
    evaluator = pytrec_eval.RelevanceEvaluator(QREL, ["map"])
    with pytest.raises(TypeError, match="should be of type dictionary"):
        evaluator.evaluate([1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="nan"):
        evaluator.evaluate({"q1": {"d1": math.nan}})


@pytest.mark.parametrize(
    "judged, message",
    [
        ({"q1": {"d1": 1.0}}, "Expected relevance to be integer"),
        ({"q1": {"d1": "1"}}, "Expected relevance to be integer"),
        ({"q1": {1: 1}}, "Expected mapping of document id"),
        ({1: {"d1": 1}}, "Expected string as key"),
        ({"q1": [1]}, "Expected dictionary as value"),
    ],
)
def test_judgements_of_a_wrong_type(judged: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        pytrec_eval.RelevanceEvaluator(judged, ["map"])  # type: ignore[arg-type]


@pytest.mark.parametrize("level, message", [(0, "positive"), (-1, "positive"), (1.5, "integer")])
def test_levels_of_relevance_that_make_no_sense(level: int, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        pytrec_eval.RelevanceEvaluator(QREL, ["map"], relevance_level=level)


@pytest.mark.parametrize(
    "measure, message",
    [
        ("ndgc", "unsupported measure ndgc Did you mean 'ndcg'"),
        ("ndcg_5", "write ndcg_cut_k"),
        ("P_0", "a cutoff is at least 1"),
        ("utility.1,2", "2 coefficients, expected 4"),
        ("prefs", "unsupported measure"),
    ],
)
def test_measures_that_do_not_exist(measure: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pytrec_eval.RelevanceEvaluator(QREL, [measure])


BAD_RUNS = {
    "q1 Q0 d1 1 0.5\n": ValueError,
    "q1 Q0 d1 1 abc x\n": ValueError,
    "\n": ValueError,
    "q1 Q0 d1 1 0.5 x\nq1 Q0 d1 2 0.4 x\n": AssertionError,
}


@pytest.mark.parametrize("text", BAD_RUNS)
@pytest.mark.parametrize("opened", [True, False])
def test_bad_lines_name_their_number(text: str, opened: bool) -> None:
    with pytest.raises(BAD_RUNS[text], match=rf"<run>:{text.count(chr(10))}: ") as caught:
        pytrec_eval.parse_run(io.StringIO(text) if opened else text.splitlines())
    assert isinstance(caught.value, CranfieldError)


@pytest.mark.parametrize("opened", [True, False])
def test_bad_judgements(opened: bool) -> None:
    for text, kind in (("q1 0 d1 0.5\n", ValueError), ("q 0 d 1\nq 0 d 1\n", AssertionError)):
        with pytest.raises(kind):
            pytrec_eval.parse_qrel(io.StringIO(text) if opened else text.splitlines())


def test_opened_files_and_lines_are_read_alike() -> None:
    text = "q1 Q0 dä 1 3.5 x\r\nq2\tQ0  d2 2 -1e3 x\nq1 Q0 d1 1 inf x"
    from_file, from_lines = (
        pytrec_eval.parse_run(io.StringIO(text)),
        pytrec_eval.parse_run(text.splitlines()),
    )
    assert from_file == from_lines
    assert from_file["not there"] == {}  # a defaultdict, as pytrec_eval returns


def test_from_pytrec() -> None:
    assert pytrec_eval.from_pytrec(RUN, "run").to_dict() == RUN
    assert pytrec_eval.from_pytrec(QREL, "judgements").to_dict() == QREL
    with pytest.raises(UsageError, match="is not 'run' or 'judgements'"):
        pytrec_eval.from_pytrec(RUN, "qrel")  # type: ignore[call-overload]
