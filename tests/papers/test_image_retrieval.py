"""Chatzichristofis et al., Mean Normalized Retrieval Order: Table 1, Figure 9, eq. 5-19."""

from __future__ import annotations

import math

import pytest

import cranfield as cf

# Figure 9: where the five relevant images stand among 100.
LISTS = {
    "A": (1, 2, 3, 4, 5),
    "B": (1, 3, 4, 5, 6),
    "C": (1, 2, 3, 4, 100),
    "D": (1, 2, 3, 30, 31),
    "E": (1, 2, 3, 40, 41),
}
# Table 1: AP, NMRR, MNRO.
TABLE_1 = {
    "A": (1.0000, 0.0000, 0.0000),
    "B": (0.8100, 0.0364, 0.0314),
    "C": (0.8100, 0.1818, 0.2000),
    "D": (0.6589, 0.3727, 0.3988),
    "E": (0.6444, 0.3727, 0.3999),
}


def ranking(relevant: tuple[int, ...], size: int) -> dict[str, float]:
    return {f"{'r' if i in relevant else 'n'}{i}": float(-i) for i in range(1, size + 1)}


def values(relevant: tuple[int, ...], size: int, names: str, **options: object) -> list[float]:
    judgements = {"q": {f"r{i}": 1 for i in relevant}}
    run = {"q": ranking(relevant, size)}
    scores = cf.evaluate(judgements, run, names, collection_size=size, **options)
    return list(scores.mean()["run"].values())


@pytest.mark.parametrize("name", LISTS)
def test_table_1(name: str) -> None:
    """K = 20 = 4 NG, so GMT is at least 10 there."""
    got = values(LISTS[name], 100, "AP NMRR MNRO", gmt=10)
    assert [round(v, 4) for v in got] == list(TABLE_1[name])


def test_equation_6_takes_gmt_from_the_topics() -> None:
    """With the five images of Figure 9 as the only topic K is 2 GMT = 10, not 20."""
    from_topics, given = (values(LISTS["B"], 100, name)[0] for name in ("NMRR", "NMRR(gmt=5)"))
    assert from_topics == given == pytest.approx((19 / 5 - 3) / (12.5 - 3))


def test_equation_6_has_smaller_k_for_large_ground_truths() -> None:
    """X = 2 when NG > 50: items beyond rank 2 NG count 1.25 K."""
    relevant = (*range(1, 51), 104)
    k = 2 * 51
    expected = ((sum(range(1, 51)) + 1.25 * k) / 51 - 26) / (1.25 * k - 26)
    assert values(relevant, 200, "NMRR")[0] == pytest.approx(expected)


@pytest.mark.parametrize("size", [20, 100, 1000, 1_000_000])
def test_one_relevant_item_has_0_95_at_rank_k_and_0_50_half_way(size: int) -> None:
    """The two assumptions before eq. 14, within the rounding of b and c; eq. 17 counts rank
    from 0 to K - 1."""
    k = 4 if size <= 100 else round(0.04 * size)
    judgements = {"q": {"r": 1}}
    for rank, wanted in ((k, 0.95), ((k + 1) / 2, 0.5)):
        # Ranks between two places come from a tie.
        low, high = math.floor(rank), math.ceil(rank)
        scores = {f"n{i}": float(-i) for i in range(1, high) if i != low}
        scores["r"] = scores["tied"] = -low
        if low == high:
            scores = {f"n{i}": float(-i) for i in range(1, low)} | {"r": float(-low)}
        got = cf.evaluate(judgements, {"q": scores}, "MNRO", collection_size=size, ties="average")
        assert got.mean()["run"]["MNRO"] == pytest.approx(wanted, abs=2e-5)


def test_equation_16_is_0_only_in_place() -> None:
    assert values((1, 2, 3), 50, "MNRO") == [0.0]
    assert values((1, 2, 4), 50, "MNRO")[0] > 0


def test_equation_10_and_rocchio_5_19_differ_by_their_divisor() -> None:
    nar, recall = values(LISTS["D"], 100, "NAR NormRecall")
    assert nar == pytest.approx((1 + 2 + 3 + 30 + 31 - 15) / (100 * 5))
    assert 1 - recall == pytest.approx(nar * 100 / 95)


def test_equation_2_is_the_usual_f() -> None:
    """(1 + beta)^2 would give 9/5 of this for beta = 2."""
    got = values((1, 3, 5, 7, 9), 10, "SetF(beta=2) SetP SetR")
    assert got[0] == pytest.approx(5 * 0.5 * 1 / (4 * 0.5 + 1))
