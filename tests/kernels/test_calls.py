"""Calls of kernels: what does not fit in number or kind is refused before it is run."""

from __future__ import annotations

import math

import pytest

import cranfield as cf
from cranfield import _core
from cranfield.errors import MeasureError

INDEX = cf.Judgements.from_dict({"t": {"a": 1, "b": 0}}).index


def evaluated(name: str, params: list[float]) -> float:
    run = {"t": {"a": 2.0, "b": 1.0}}
    values, _, _ = _core.evaluate_dict(INDEX, run, [(name, params)], "id", False, 0)
    return float(values[0][0])


@pytest.mark.parametrize(
    "name, params, message",
    [
        ("precision_at", [], "0 parameters do not fit it (parameters: level, cutoff)"),
        ("precision_at", [1.0], "1 parameters do not fit it"),
        ("precision_at", [1.0, 5.0, 5.0], "3 parameters do not fit it"),
        ("utility", [1.0], "weight, weight, weight, weight, size)"),
        ("precision_at", [math.nan, 5.0], "level cannot be nan"),
        ("precision_at", [1.0, -5.0], "cutoff cannot be -5"),
        ("ndcg", [10.0, 7.0, 0.0], "gain cannot be 7"),
        ("ndcg", [10.0, 0.0, 0.0, 1.0], "pairs of a grade and its gain"),
        ("interpolated_mean", [1.0, 10.0], "numbers..."),
        ("nar", [1.0, 10.0, 3.0], "missing cannot be 3"),
        ("adr", [1e18], "levels cannot be 1000000000000000000"),
        ("nonsense", [], "no kernel named nonsense"),
    ],
)
def test_a_call_that_does_not_fit(name: str, params: list[float], message: str) -> None:
    with pytest.raises(MeasureError) as refused:
        evaluated(name, params)
    assert message in str(refused.value)


def test_calls_that_fit() -> None:
    assert evaluated("precision_at", [1.0, 5.0]) == 0.2
    assert evaluated("num_ret", []) == 2
    assert evaluated("ndcg", [math.inf, 0.0, 0.0, 1.0, 3.0]) == 1.0


def test_every_kernel_names_its_parameters() -> None:
    kernels = _core.kernels()
    assert kernels["precision_at"] == (("level", "cutoff"), False)
    assert kernels["dcg"] == (("cutoff", "gain", "discount"), True)
    assert len(kernels["counts_ratio"][0]) == 17


@pytest.mark.parametrize(
    "offsets, item_bytes, item_offsets",
    [
        ([0, 3], b"ab", [0, 1, 2]),
        ([0, 2], b"ab", [0, 9, 2]),
        ([1, 2], b"ab", [0, 1, 2]),
        ([0, 2], b"ab", [0, 1, 9]),
    ],
)
def test_columns_that_lead_out_of_their_memory(
    offsets: list[int], item_bytes: bytes, item_offsets: list[int]
) -> None:
    import numpy as np

    with pytest.raises(ValueError, match="do not fit together"):
        _core.JudgementIndex(
            ["t"],
            np.array(offsets),
            np.frombuffer(item_bytes, np.uint8),
            np.array(item_offsets),
            np.zeros(2),
        )
