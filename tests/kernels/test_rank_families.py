"""Compiled kernels of the image, SMART, SHREC and contingency families equal their slow twins."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield as cf
from cranfield import _core
from tests.reference import rank_families as slow

GRADES = st.sampled_from([None, None, -1.0, 0.0, 1.0, 2.0])
JUDGED = st.sampled_from([0.0, 1.0, 2.0])


@st.composite
def cases(draw: st.DrawFn, *, tied: bool) -> tuple[list[list[float | None]], list[float], int]:
    sizes = st.integers(1, 3) if tied else st.just(1)
    groups = draw(
        st.lists(
            sizes.flatmap(lambda n: st.lists(GRADES, min_size=n, max_size=n)),
            max_size=4 if tied else 12,
        )
    )
    rest = draw(st.lists(JUDGED, max_size=4))
    known = sum(map(len, groups)) + len(rest)
    size = known + draw(st.sampled_from([0, 1, 7, 1000]))
    if known == 0:
        return [[None]], [1.0], size + 2
    return groups, rest, size


def evaluate(
    case: tuple[list[list[float | None]], list[float], int], names: str, **options: object
) -> dict[str, float]:
    groups, rest, size = case
    run, grades = {}, {f"x{i}": g for i, g in enumerate(rest)}
    for g, group in enumerate(groups):
        for i, grade in enumerate(group):
            run[f"g{g}i{i}"] = float(-g)
            if grade is not None:
                grades[f"g{g}i{i}"] = grade
    # A topic of its own keeps the run from being empty or unjudged.
    judgements = {"t": grades or {"other": 0.0}, "anchor": {"a": 1}}
    runs = {"t": run, "anchor": {"a": 1.0}} if run else {"anchor": {"a": 1.0}}
    scores = cf.evaluate(judgements, runs, names, collection_size=size + 1, **options)
    row = next(r for r in scores.per_topic() if r["topic"] == "t")
    return {k: math.nan if v is None else v for k, v in row.items() if k not in ("run", "topic")}


def same(fast: float, twin: float) -> bool:
    return fast == pytest.approx(twin, rel=1e-9, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("ties", ["id", "average"])
@pytest.mark.parametrize("missing", ["worst", "average", "optimist"])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_ranks(data: st.DataObject, ties: str, missing: str) -> None:
    case = data.draw(cases(tied=ties == "average"))
    groups, rest, size = case
    size += 1
    names = (
        "NMRR(gmt=16) NMRR(gmt=20, rel=2) NAR MNRO MNRO(generality='printed', rel=2) NormRecall "
        "MNRO(depth='nmrr') AVR(gmt=16) ModifiedRank(rel=2) Rank@1 Rank@3(rel=2) "
        "NormRecall(scale=5) NormPrecision RankRecall LogPrecision RecallError PrecisionError"
    )
    got = evaluate(case, names, ties=ties, missing=missing, gmt=20)
    one = slow.ranks(groups, rest, rel=1, size=size, missing=missing)
    two = slow.ranks(groups, rest, rel=2, size=size, missing=missing)
    assert same(got["NMRR(gmt=16)"], slow.nmrr(groups, rest, rel=1, gmt=16))
    assert same(got["NMRR(rel=2, gmt=20)"], slow.nmrr(groups, rest, rel=2, gmt=20))
    assert same(got["AVR(gmt=16)"], slow.average_rank(groups, rest, rel=1, gmt=16))
    assert same(got["ModifiedRank(rel=2)"], slow.modified_rank(groups, rest, rel=2, gmt=20))
    assert same(got["Rank@1"], slow.rank_of(one, 1))
    assert same(got["Rank@3(rel=2)"], slow.rank_of(two, 3))
    assert same(got["NAR"], slow.nar(one, size))
    assert same(got["MNRO"], slow.mnro(groups, one, rel=1, size=size, printed=False))
    by_text = slow.mnro(groups, one, rel=1, size=size, printed=False, gmt=20)
    assert same(got["MNRO(depth='nmrr')"], by_text)
    name = "MNRO(rel=2, generality='printed')"
    assert same(got[name], slow.mnro(groups, two, rel=2, size=size, printed=True))
    assert same(got["NormRecall"], slow.norm_recall(one, size))
    assert same(got["NormRecall(scale=5)"], slow.norm_recall(one, size, 5))
    assert same(got["NormPrecision"], slow.norm_precision(one, size))
    assert same(got["RecallError"], slow.recall_error(one))
    assert same(got["PrecisionError"], slow.precision_error(one))
    assert same(got["RankRecall"], slow.rank_recall(one))
    assert same(got["LogPrecision"], slow.log_precision(one))


@pytest.mark.parametrize("ties", ["id", "average"])
@given(data=st.data())
@settings(max_examples=80, deadline=None)
def test_positions(data: st.DataObject, ties: str) -> None:
    case = data.draw(cases(tied=ties == "average"))
    groups, rest, size = case
    size += 1
    names = (
        "FirstTier FirstTier(rel=2) SecondTier ShrecAP ShrecAP(rel=2) ADR TP@3 FP@3 FN@3 TN@3 TP "
        "FN(rel=2) Fallout@3 Miss@3 CorrectRejection@3 Generality Generality@3"
    )
    got = evaluate(case, names, ties=ties)

    def mean(value: Callable[[list[float | None]], float]) -> float:
        return slow.over_orders(groups, value)

    for rel, suffix in ((1, ""), (2, "(rel=2)")):
        assert same(
            got[f"FirstTier{suffix}"], mean(lambda g, rel=rel: slow.tier(g, rest, rel=rel, tier=1))
        )
        assert same(got[f"ShrecAP{suffix}"], mean(lambda g, r=rel: slow.shrec_ap(g, rest, rel=r)))
    assert same(got["SecondTier"], mean(lambda g: slow.tier(g, rest, rel=1, tier=2)))
    assert same(got["ADR"], mean(lambda g: slow.adr(g, rest, levels=2)))

    def cell(i: int, k: int = 3, rel: float = 1) -> float:
        return mean(lambda g: slow.contingency(g, rest, rel=rel, k=k, size=size)[i])

    tp, fp, fn, tn = (cell(i) for i in range(4))
    assert same(got["TP@3"], tp)
    assert same(got["FP@3"], fp)
    assert same(got["FN@3"], fn)
    assert same(got["TN@3"], tn)
    assert same(got["TP"], cell(0, k=99))
    assert same(got["FN(rel=2)"], cell(2, k=99, rel=2))
    assert same(got["Fallout@3"], fp / (fp + tn) if fp + tn else math.nan)
    assert same(got["CorrectRejection@3"], tn / (fp + tn) if fp + tn else math.nan)
    assert same(got["Miss@3"], fn / (tp + fn) if tp + fn else math.nan)
    assert same(got["Generality"], (tp + fn) / size)
    assert same(got["Generality@3"], tp / size)


WEIGHTS = st.lists(st.sampled_from([0.0, 0.0, 1.0, -1.0, 2.5]), min_size=14, max_size=14)


@pytest.mark.parametrize("ties", ["id", "average"])
@given(data=st.data(), weights=WEIGHTS)
@settings(max_examples=80, deadline=None)
def test_counts(data: st.DataObject, weights: list[float], ties: str) -> None:
    groups, rest, _ = data.draw(cases(tied=ties == "average"))
    level = data.draw(st.sampled_from([-math.inf, 0.0, 1.0, 2.0]))
    cutoff = float(data.draw(st.sampled_from([1, 2, 5, 100])))
    multiple = data.draw(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0]))
    weights[7:10] = [0.0, 0.0, 0.0]  # a denominator does not depend on the order within ties
    run, grades = {}, {f"x{i}": g for i, g in enumerate(rest)}
    for g, group in enumerate(groups):
        for i, grade in enumerate(group):
            run[f"g{g}i{i}"] = float(-g)
            if grade is not None:
                grades[f"g{g}i{i}"] = grade
    if not grades:
        return
    index = cf.Judgements.from_dict({"t": grades}).index
    calls = [
        ("counts", [level, cutoff, multiple, *weights[:7]]),
        ("counts_ratio", [level, cutoff, multiple, *weights]),
        ("judged_count", [cutoff]),
    ]
    values, _, _ = _core.evaluate_dict(index, {"t": run}, calls, ties, False, 0)
    for got, (name, params) in zip(values[0], calls, strict=True):
        twin = getattr(slow, name)
        wanted = slow.over_orders(groups, lambda g, t=twin, p=params: t(g, rest, *p))
        assert same(float(got), wanted), (name, params)
