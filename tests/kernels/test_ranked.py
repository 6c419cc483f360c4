"""Every compiled kernel for ranked retrieval equals its slow twin."""

from __future__ import annotations

import importlib
import math
import pkgutil
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from cranfield import _core
from cranfield.data import Judgements, Run
from cranfield.errors import MeasureError
from tests import reference
from tests.reference import ranked

INF = math.inf
LEVELS = (1.0, 2.0, 0.5, 3.0)
CUTOFFS = (1.0, 2.0, 3.0, 5.0, 1000.0, INF)
GAINS = (
    (0.0, 0.0),
    (1.0, 0.0),
    (2.0, 0.0),
    (0.0, 1.0),
    (1.0, 2.0),
    (0.0, 0.0, 1.0, 3.0, 2.0, 1.5),
    (0.0, 1.0, 0.0, 0.5, 3.0, 0.0),
)


def _levels(*tails: tuple[float, ...]) -> list[tuple[float, ...]]:
    return [(level, *tail) for level in LEVELS for tail in tails or ((),)]


def _at_cutoffs() -> list[tuple[float, ...]]:
    return _levels(*((k,) for k in CUTOFFS))


def _gains() -> list[tuple[float, ...]]:
    return [(k, *kind) for k in CUTOFFS for kind in GAINS]


# Parameters under which each kernel is held against its twin.
PARAMS: dict[str, list[tuple[float, ...]]] = {
    "num_ret": [()],
    "num_rel": _levels(),
    "num_rel_ret": _levels(),
    "num_nonrel_judged_ret": _levels(),
    "set_precision": _levels(),
    "set_recall": _levels(),
    "set_relative_precision": _levels(),
    "set_ap": _levels(),
    "set_f": _levels((1.0,), (0.25,), (4.0,), (0.0,), (INF,)),
    "utility": _levels((1.0, -1.0, 0.0, 0.0, 0.0), (2.0, -0.5, -1.0, 0.25, 100.0)),
    "precision_at": _levels(*((k,) for k in CUTOFFS if k < INF)),
    "recall_at": _at_cutoffs(),
    "success_at": _at_cutoffs(),
    "relative_precision_at": _at_cutoffs(),
    "reciprocal_rank": _at_cutoffs(),
    "average_precision": _at_cutoffs(),
    "yaap": _levels(),
    "r_precision": _levels((1.0,), (0.35,), (0.2,), (2.0,), (5.0,), (0.0,)),
    "interpolated_at": _levels(
        *((r, v) for r in (0.0, 0.1, 0.25, 1 / 3, 0.5, 0.7, 1.0) for v in (0.0, 9.0, 10.0))
    ),
    "interpolated_mean": _levels(
        (10.0, 0.0, 0.5, 1.0), (9.0, 0.2, 0.5, 0.8), (10.0, 0.3), (0.0, 0.2, 0.6, 0.8)
    ),
    "binary_g": _levels(),
    "bpref": _levels(),
    "inferred_ap": _levels(),
    "judged_at": [(k,) for k in CUTOFFS],
    "unjudged_at": [(k,) for k in CUTOFFS if k < INF],
    "grade_at": [(1.0,), (2.0,), (7.0,), (1000.0,)],
    "dcg": _gains(),
    "ideal_dcg": _gains(),
    "ndcg": _gains(),
    "ndcg_rel": _gains(),
    "rndcg": [(level, *gains) for level in LEVELS for gains in _gains()],
    "normalized_g": _gains(),
    "rbp": _levels(*((p, k) for p in (0.8, 0.5, 0.0, 1.0) for k in (2.0, INF))),
    "rbp_graded": [
        (p, k, *pairs)
        for p in (0.8, 0.0)
        for k in (2.0, INF)
        for pairs in ((), (1.0, -1.0), (2, 1))
    ],
    "rbp_residual": [(0.8,), (0.5,), (0.0,), (1.0,)],
    "err": [(k, top) for k in CUTOFFS for top in (4.0, 3.5)],
}

ITEMS = [*"abcdefghij", "B", "Z", "é", "z10", "z9", "aa", "日本"]
GRADES = st.one_of(st.integers(-2, 4), st.sampled_from([0.5, 1.5, 2.25, 3.5, -0.5]))
SCORES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 1.5, -2.0]),
    st.floats(-1e6, 1e6, allow_nan=False),
    st.integers(-3, 3).map(float),
)
judgements_strategy = st.dictionaries(st.sampled_from(ITEMS), GRADES, min_size=1, max_size=12)
scores_strategy = st.dictionaries(st.sampled_from(ITEMS), SCORES, max_size=len(ITEMS))


def compiled(
    scores: dict[str, float],
    judgements: dict[str, float],
    calls: list[tuple[str, tuple[float, ...]]],
    *,
    ties: str = "id",
    judged_only: bool = False,
    max_items: int = 0,
) -> list[float]:
    index = Judgements.from_dict({"t": judgements}).index
    values, _, _ = _core.evaluate_dict(index, {"t": scores}, calls, ties, judged_only, max_items)
    return [float(v) for v in values[0]]


def calls_of(kernel: str) -> list[tuple[str, tuple[float, ...]]]:
    return [(kernel, params) for params in PARAMS[kernel]]


def assert_same(got: float, wanted: float, what: Any) -> None:
    assert got == pytest.approx(wanted, rel=1e-12, abs=1e-12, nan_ok=True), what


def test_every_kernel_of_the_table_has_a_twin() -> None:
    modules = [
        importlib.import_module(f"{reference.__name__}.{module.name}")
        for module in pkgutil.iter_modules(reference.__path__)
    ]
    alone = [n for n in _core.kernels() if not any(hasattr(m, n) for m in modules)]
    assert not alone, f"kernels without a slow twin of their name in tests/reference: {alone}"


def test_every_twin_is_tried_and_has_a_kernel() -> None:
    assert set(PARAMS) == set(ranked.TWINS)
    assert set(PARAMS) <= set(_core.kernels())


def test_an_unknown_kernel_is_refused() -> None:
    with pytest.raises(MeasureError, match="no kernel named nonsense"):
        compiled({"a": 1.0}, {"a": 1}, [("nonsense", ())])


@pytest.mark.parametrize("kernel", sorted(PARAMS))
@given(
    scores=scores_strategy,
    judgements=judgements_strategy,
    ties=st.sampled_from(["id", "file", "best", "worst"]),
    judged_only=st.booleans(),
    max_items=st.sampled_from([0, 0, 1, 3, 50]),
)
@settings(max_examples=40, deadline=None)
@example({}, {"a": 1}, "id", False, 0)
@example({"a": 1.0, "b": 1.0}, {"a": 0, "b": -1}, "best", True, 1)
@example(dict.fromkeys(ITEMS, 1.0), {"a": 1, "z9": 2, "é": -1}, "id", False, 0)
def test_kernel_equals_its_twin(
    kernel: str,
    scores: dict[str, float],
    judgements: dict[str, float],
    ties: str,
    judged_only: bool,
    max_items: int,
) -> None:
    options: dict[str, Any] = {"ties": ties, "judged_only": judged_only, "max_items": max_items}
    grades = ranked.order(scores, judgements, **options)
    judged = list(judgements.values())
    got = compiled(scores, judgements, calls_of(kernel), **options)
    for value, params in zip(got, PARAMS[kernel], strict=True):
        wanted = ranked.TWINS[kernel](grades, judged, *params)
        assert_same(value, wanted, (kernel, params, grades, judged))


few_scores = st.dictionaries(
    st.sampled_from(ITEMS[:8]), st.sampled_from([1.0, 1.0, 2.0, 3.0]), max_size=6
)


@pytest.mark.parametrize("kernel", sorted(set(PARAMS) - {"grade_at"}))
@given(scores=few_scores, judgements=judgements_strategy, judged_only=st.booleans())
@settings(max_examples=12, deadline=None)
@example({"a": 1.0, "b": 1.0, "c": 1.0}, {"a": 1, "c": 0}, False)
@example({"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}, {"a": 3, "b": 2, "c": 1, "d": -1}, False)
def test_average_over_ties_equals_brute_force(
    kernel: str, scores: dict[str, float], judgements: dict[str, float], judged_only: bool
) -> None:
    got = compiled(scores, judgements, calls_of(kernel), ties="average", judged_only=judged_only)
    for value, params in zip(got, PARAMS[kernel], strict=True):
        wanted = ranked.expected(
            ranked.TWINS[kernel], scores, judgements, params, judged_only=judged_only
        )
        assert_same(value, wanted, (kernel, params, scores, judgements))


@given(scores=scores_strategy, judgements=judgements_strategy)
@settings(max_examples=60, deadline=None)
def test_no_order_within_ties_leaves_the_range(
    scores: dict[str, float], judgements: dict[str, float]
) -> None:
    calls = [
        ("average_precision", (1.0, INF)),
        ("ndcg", (INF, 0.0, 0.0)),
        ("precision_at", (1.0, 3.0)),
        ("reciprocal_rank", (1.0, INF)),
        ("bpref", (1.0,)),
        ("err", (INF, 4.0)),
        ("rbp", (1.0, 0.8, INF)),
    ]
    worst, best, mean, by_id = (
        compiled(scores, judgements, calls, ties=ties)
        for ties in ("worst", "best", "average", "id")
    )
    for low, high, average, one in zip(worst, best, mean, by_id, strict=True):
        assert low - 1e-12 <= average <= high + 1e-12
        assert low - 1e-12 <= one <= high + 1e-12


def test_many_arrangements_are_drawn_the_same_way_each_time() -> None:
    scores = {f"i{i}": 1.0 for i in range(60)}
    judgements = {f"i{i}": i % 3 for i in range(60)}
    calls = [("bpref", (1.0,)), ("yaap", (1.0,))]
    first = compiled(scores, judgements, calls, ties="average")
    assert first == compiled(scores, judgements, calls, ties="average")
    low = compiled(scores, judgements, calls, ties="worst")
    high = compiled(scores, judgements, calls, ties="best")
    assert low[0] < first[0] < high[0]
    # Half of the 40 relevant items see half of the 20 others above them: 1 - mean(n)/20.
    assert first[0] == pytest.approx(0.5, abs=0.02)


topic_names = st.sampled_from(["1", "2", "10", "t", "ü", "topic-7"])
qrels_strategy = st.dictionaries(topic_names, judgements_strategy, min_size=1, max_size=4)
run_strategy = st.dictionaries(topic_names, scores_strategy, max_size=5)


@given(qrels=qrels_strategy, run=run_strategy, jobs=st.sampled_from([1, 2]))
@settings(max_examples=80, deadline=None)
def test_topics_are_joined_and_missing_ones_are_empty(
    qrels: dict[str, dict[str, float]], run: dict[str, dict[str, float]], jobs: int
) -> None:
    assume(any(run.values()))
    calls = [("average_precision", (1.0, INF)), ("num_ret", ()), ("ndcg", (3.0, 0.0, 0.0))]
    judgements = Judgements.from_dict(qrels)
    plain, present, unjudged = _core.evaluate_dict(judgements.index, run, calls, "id", False, 0)
    table = Run.from_dict(run)
    columns, also_present, _ = _core.evaluate_table(
        judgements.index,
        list(table.topics),
        table.offsets,
        table.item_bytes,
        table.item_offsets,
        table.values,
        calls,
        "id",
        False,
        0,
        jobs,
        True,
    )
    np.testing.assert_array_equal(plain, columns)
    np.testing.assert_array_equal(present, also_present)
    assert sorted(unjudged) == sorted(set(run) - set(qrels))
    for row, topic in zip(plain, judgements.topics, strict=True):
        grades = ranked.order(run.get(topic, {}), qrels[topic])
        judged = list(qrels[topic].values())
        for value, (kernel, params) in zip(row, calls, strict=True):
            assert_same(value, ranked.TWINS[kernel](grades, judged, *params), (topic, kernel))
