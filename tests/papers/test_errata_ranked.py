"""Both values of every erratum in docs/errata.md: as printed, and as Cranfield has it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import cranfield as cf
from cranfield.data.categories import Categorisation, CategoryGraph
from cranfield.evaluation.category_votes import evaluate_uncertain, poisson_binomial
from cranfield.evaluation.measure_catalogue import GRADES, NOT_RETRIEVED
from cranfield.measures.ranked.without_judgements import displacement

PAGE = (Path(__file__).parents[2] / "docs" / "errata.md").read_text()


def check(where: str, printed: float, ours: float) -> None:
    """The row of the page has both values, to four decimals."""
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {where} |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[-2:] == [f"{printed:.4f}", f"{ours:.4f}"]


def value(name: str, places: tuple[int, ...], size: int) -> float:
    judgements = {"q": {f"i{p}": 1 for p in places}}
    run = {"q": {f"i{p}": float(-p) for p in range(1, size + 1)}}
    return float(
        cf.evaluate(judgements, run, [name], collection_size=size).overall[cf.measure(name)][0]
    )


def test_generality_of_mnro_jumps() -> None:
    ours, printed = (value(name, (3, 9), 201) for name in ("MNRO", "MNRO(generality='printed')"))
    before = value("MNRO", (3, 9), 200)
    assert abs(ours - before) < 0.01 < abs(printed - before)
    assert f"at N = 200 it is {before:.4f} either way" in PAGE
    check("Ch eq. 14, 15", printed, ours)


def test_depth_of_mnro_by_the_equation_and_by_the_text() -> None:
    places = tuple(range(2, 121, 2))
    ours, text = (value(name, places, 1000) for name in ("MNRO", "MNRO(depth='nmrr')"))

    def by_depth(depth: int) -> float:
        return (
            sum(math.exp(-9.3668 * math.exp(-5.2074 * (r - 1) / (depth - 1))) for r in places) / 60
        )

    assert ours == pytest.approx(by_depth(4 * 60), rel=1e-12)
    assert text == pytest.approx(by_depth(2 * 60), rel=1e-12)
    check("Ch eq. 14 and the text below", text, ours)
    # Where relevant items are rare the depth follows the collection, by both.
    assert value("MNRO(depth='nmrr')", (3, 9), 201) == value("MNRO", (3, 9), 201)


def test_f_measure() -> None:
    p, r, beta = 0.5, 1.0, 2
    ours = value("SetF(beta=2)", (1, 2), 4)
    assert ours == pytest.approx((1 + beta**2) * p * r / (beta**2 * p + r))
    check("Ch eq. 2", (1 + beta) ** 2 * p * r / (beta**2 * p + r), ours)


def test_nar_and_recall_error() -> None:
    nar, recall = value("NAR", (3, 9), 20), value("NormRecall", (3, 9), 20)
    check("Ch eq. 10 and Ro 5.19", nar, 1 - recall)


def test_greatest_precision_error() -> None:
    ours = value("NormPrecision", (8, 9, 10), 10)
    printed_maximum = math.log(math.prod(10 - (i + 1) for i in (1, 2, 3)) / 6)
    printed = 1 - math.log(8 * 9 * 10 / 6) / printed_maximum
    check("Ro before 5.22", printed, abs(round(ours, 12)))


def test_recall_with_a_union() -> None:
    """Four items retrieved, three relevant, two of them found."""
    ours = cf.evaluate(
        {"q": {"a": 1, "b": 1, "c": 1}},
        {"q": {"a": 4.0, "b": 3.0, "x": 2.0, "y": 1.0}},
        "SetR SetP",
    ).mean()["run"]
    union = len({"a", "b", "c"} | {"a", "b", "x", "y"})
    check("Sa eq. 1", union / 3, ours["SetR"])
    check("Sa eq. 2", union / 4, ours["SetP"])


TREE = CategoryGraph.from_pairs(
    [("people", "all"), ("crowd", "people"), ("city", "all"), ("nature", "all")]
)
VOTES = [
    (f"s{s}", item, category)
    for item, given in {
        "q": ("people", "people", "crowd", "city", "city"),
        "a": ("people", "crowd", "crowd", "crowd", "people"),
        "b": ("city", "city", "city", "city", "nature"),
    }.items()
    for s, category in enumerate(given)
]


def test_votes_below_the_children() -> None:
    """Eq. 8 as printed adds the votes of the children alone, so the root misses crowd's."""
    ours = Categorisation.from_votes(VOTES, TREE).of("q")["all"]
    children = sum(category in ("people", "city") for s, i, category in VOTES if i == "q")
    check("Sa eq. 8", children / 5, ours)


def test_probability_divided_by_n() -> None:
    mass = poisson_binomial([0.6, 0.8])
    check("Sa eq. 11, 12", float(mass.sum()) / 2, float(mass.sum()))


def test_weights_of_nested_categories() -> None:
    table = Categorisation.from_votes(VOTES, TREE)
    run = cf.Run.from_dict({"q": {"a": 2.0, "b": 1.0}})
    printed, ours = (
        evaluate_uncertain(table, [run], k=2, mixing=mixing).runs["run"][0].precision.mean
        for mixing in ("printed", "votes")
    )
    total = sum(table.of("q").values())
    assert total == pytest.approx(2.2)
    check("Sa eq. 13", printed * total, ours)


def test_displacement_of_missing_items() -> None:
    person = [("x", 1.0), ("y", 0.8)]
    printed, ours = (
        displacement(person, {"x": 1}, missing=missing, size=100)
        for missing in ("printed", "worst")
    )
    check("Sa eq. 23", printed, ours)


def test_fractions_of_the_gain_tables() -> None:
    judgements = {f"m{i}": g for i, g in enumerate([*GRADES, *NOT_RETRIEVED])}
    run = {f"m{i}": float(-i) for i in range(len(GRADES))}
    got = cf.evaluate(
        {"q": judgements},
        {"q": run},
        "nCG@8 nCG@9 nCG@10 nCG@11 nDCG@3(discount='jk') FirstTier",
    ).mean()["run"]
    for k, above, below in ((8, 11, 13), (9, 11, 14), (10, 12, 15), (11, 14, 16)):
        check(f"SH NCG, rank {k}", above / below, got[f"nCG@{k}"])
    check("SH NDCG, rank 3", 5.2618594 / 5.2618594, got["nDCG@3(discount='jk')"])
    # Ch = 6 items all relevant, where Cr = 11 has 9.
    check("SH first tier (relevant)", 6 / 6, got["FirstTier"])


def test_interpolated_precision_by_its_definition() -> None:
    """No 3.3.3: precision at recall r or beyond; trec_eval's rounding has a name of its own."""
    ours, version_10, version_9 = (
        value(f"iP@0.8{version}", (1, 2, 100), 100)
        for version in ("", "(version=10)", "(version=9)")
    )
    assert (ours, version_10, version_9) == (0.03, 1.0, 0.03)
    assert f"`iP@0.8` {ours:.4f}, `iP@0.8(version=10)` {version_10:.4f}" in PAGE
    # 7 of 25 items are 0.28 of them, though the product 0.28 * 25 is a hair above 7.
    assert 0.28 * 25 > 7
    assert value("iP@0.28", (*range(1, 8), *range(183, 201)), 200) == 1.0
    assert value("iAP", (1, 2, 100), 100) == pytest.approx((7 * 1 + 4 * 0.03) / 11)
    assert value("AP3", (1, 2, 100), 100) == pytest.approx((1 + 1 + 0.03) / 3)
