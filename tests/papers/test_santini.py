"""Santini, Benchmarking without ground truth: figure 1's votes, eq. 6-14 and 17-23."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import cranfield as cf
from cranfield.data.categories import Categorisation, CategoryGraph, SubjectRankings
from cranfield.evaluation.category_votes import evaluate_uncertain, poisson_binomial
from cranfield.evaluation.displacement import evaluate_displacement

TREE = CategoryGraph.from_pairs(
    [("people", "all"), ("crowd", "people"), ("city", "all"), ("nature", "all")]
)
# Figure 1: people by 2 subjects, crowd by one, city by two.
FIGURE_1 = ["people", "people", "crowd", "city", "city"]
OTHERS = {
    "a": ["people", "crowd", "crowd", "crowd", "people"],
    "b": ["city", "city", "city", "city", "nature"],
    "c": ["nature"] * 5,
}


def votes() -> list[tuple[str, str, str]]:
    given = {"figure1": FIGURE_1, **OTHERS}
    return [(f"s{i}", item, c) for item, cs in given.items() for i, c in enumerate(cs)]


@pytest.fixture
def categorisation() -> Categorisation:
    return Categorisation.from_votes(votes(), TREE)


def run(name: str, *items: str) -> cf.Run:
    scores = {item: float(-i) for i, item in enumerate(items)}
    return cf.Run.from_dict({"figure1": scores}).named(name)


def test_figure_1_votes_over_the_tree(categorisation: Categorisation) -> None:
    """Eq. 6-8 from the bottom up; the root has probability one."""
    got = categorisation.of("figure1")
    assert got == pytest.approx(
        {"people": 0.6, "crowd": 0.2, "city": 0.4, "nature": 0.0, "all": 1.0}
    )
    assert sum(got.values()) > 1


def test_votes_count_once_on_every_path_of_an_acyclic_graph() -> None:
    graph = CategoryGraph.from_pairs(
        [("indoor", "all"), ("people", "all"), ("party", "indoor"), ("party", "people")]
    )
    got = Categorisation.from_votes([("s", "x", "party")], graph).of("x")
    assert got == {"indoor": 1.0, "all": 1.0, "people": 1.0, "party": 1.0}


def test_equation_9(categorisation: Categorisation) -> None:
    sizes = dict(zip(TREE.categories, categorisation.sizes, strict=True))
    assert sizes == pytest.approx(
        {"people": 1.6, "all": 4, "crowd": 0.8, "city": 1.2, "nature": 1.2}
    )


def test_equation_10_is_the_sum_over_subsets() -> None:
    chances = [0.1, 0.5, 0.9, 0.3]
    mass = [0.0] * 5
    for outcome in product((0, 1), repeat=4):
        weight = math.prod(p if x else 1 - p for x, p in zip(outcome, chances, strict=True))
        mass[sum(outcome)] += weight
    assert poisson_binomial(chances).tolist() == pytest.approx(mass, abs=1e-15)


def test_equations_11_to_14(categorisation: Categorisation) -> None:
    """p(k) is the probability of the value k/n, so that the mass sums to one."""
    scores = evaluate_uncertain(categorisation, [run("A", "a", "b")], k=2)
    got = scores.runs["A"][0]
    # For people (0.4 of the votes): a is for certain, b is not. For crowd (0.2): a with 0.6.
    # For city (0.4): b with 0.8.
    half = 0.4 * 1 + 0.2 * 0.6 + 0.4 * 0.8
    assert got.precision.values.tolist() == [0, 0.5, 1]
    assert got.precision.mass.tolist() == pytest.approx([1 - half, half, 0])
    assert got.precision.mean == pytest.approx(half / 2)
    assert got.recall is not None
    assert got.recall.mean == pytest.approx(0.4 / 1.6 + 0.2 * 0.6 / 0.8 + 0.4 * 0.8 / 1.2)
    assert got.recall.mass.sum() == pytest.approx(1, abs=1e-12)


def test_equation_13_as_printed_weighs_the_root_too(categorisation: Categorisation) -> None:
    printed = evaluate_uncertain(categorisation, [run("A", "a", "b")], k=2, mixing="printed")
    # p(w | q) is 0.6, 0.2, 0.4 and 1 for all; the root holds everything.
    mean = (0.6 * 1 + 0.2 * 0.6 + 0.4 * 0.8 + 1 * 2) / 2 / 2.2
    assert printed.runs["A"][0].precision.mean == pytest.approx(mean)


def test_topic_may_be_a_category(categorisation: Categorisation) -> None:
    system = cf.Run.from_dict({"city": {"b": 2.0, "figure1": 1.0}}).named("A")
    got = evaluate_uncertain(categorisation, [system], k=2).runs["A"][0].precision
    assert got.mass.tolist() == pytest.approx([0.2 * 0.6, 0.2 * 0.4 + 0.8 * 0.6, 0.8 * 0.4])


def test_certain_votes_give_ordinary_precision_and_recall() -> None:
    sure = [("s", f"i{n}", "people" if n % 3 == 0 else "city") for n in range(12)]
    categorisation = Categorisation.from_votes(sure, TREE)
    order = {f"i{n}": float(n) for n in range(12)}
    system = cf.Run.from_dict({"i0": order}).named("A")
    got = evaluate_uncertain(categorisation, [system], k=5).runs["A"][0]
    judgements = {"i0": {f"i{n}": int(n % 3 == 0) for n in range(12)}}
    wanted = cf.evaluate(judgements, {"i0": order}, "P@5 R@5").mean()["run"]
    assert got.precision.mean == pytest.approx(wanted["P@5"])
    assert got.recall is not None
    assert got.recall.mean == pytest.approx(wanted["R@5"])
    assert got.precision.sd == got.recall.sd == 0


def test_better_counts_shared_items_once(categorisation: Categorisation) -> None:
    """b is in both rankings, so only a against c decides."""
    scores = evaluate_uncertain(categorisation, [run("A", "a", "b"), run("B", "b", "c")], k=2)
    odds = scores.comparisons[0].topics["figure1"]
    a_counts = 0.4 * 1 + 0.2 * 0.6
    assert odds.better == pytest.approx(a_counts)
    assert odds.worse == 0
    assert odds.better + odds.equal + odds.worse == pytest.approx(1)


def test_better_over_topics_equals_enumeration() -> None:
    rng = np.random.default_rng(2)
    items = [f"i{n}" for n in range(6)]
    given = [
        (f"s{s}", item, str(rng.choice(["people", "city"]))) for item in items for s in range(4)
    ]
    table = Categorisation.from_votes(given, TREE)
    runs = [
        cf.Run.from_dict(
            {
                "people": dict(zip(a, (3.0, 2.0), strict=True)),
                "city": dict(zip(b, (3.0, 2.0), strict=True)),
            }
        ).named(name)
        for name, a, b in (("A", items[:2], items[2:4]), ("B", items[1:3], items[4:6]))
    ]
    odds = evaluate_uncertain(table, runs, k=2).comparisons[0].overall
    people = [table.of(i)["people"] for i in items]
    city = [table.of(i)["city"] for i in items]
    better = worse = 0.0
    for x in product((0, 1), repeat=3):
        for y in product((0, 1), repeat=4):
            chance = math.prod(p if v else 1 - p for v, p in zip(x, people[:3], strict=True))
            chance *= math.prod(p if v else 1 - p for v, p in zip(y, city[2:], strict=True))
            a, b = x[0] + x[1] + y[0] + y[1], x[1] + x[2] + y[2] + y[3]
            better += chance * (a > b)
            worse += chance * (a < b)
    assert (odds.better, odds.worse) == pytest.approx((better, worse))


LIST = [("s", "q", "x", 1.0), ("s", "q", "y", 0.8), ("s", "q", "z", 0.5)]


def displaced(*items: str, name: str = "Displacement", size: int | None = None) -> float:
    system = cf.Run.from_dict({"q": {item: float(-i) for i, item in enumerate(items)}})
    rankings = SubjectRankings.from_rows(LIST)
    scores = evaluate_displacement(rankings, [system], name, collection_size=size)
    return float(scores.mean(scores.measures[0])[0])


def test_equation_17_full_lists() -> None:
    assert displaced("x", "y", "z") == 0
    assert displaced("z", "y", "x") == pytest.approx(1.0 * 2 + 0.8 * 0 + 0.5 * 2)


def test_equation_18_qualities() -> None:
    assert displaced("z", "y", "x", name="DisplacementQuality") == pytest.approx(1 / 4)
    assert displaced("z", "y", "x", name="DisplacementQuality(p=2)") == pytest.approx(1 / 16)
    name = "DisplacementQuality(g='exponential', lam=0.1)"
    assert displaced("z", "y", "x", name=name) == pytest.approx(math.exp(-0.3))


def test_equations_21_to_23_partial_lists() -> None:
    """x found at rank 2; y and z are missing from a list of three in a collection of 100."""
    found = ("u", "x", "v")
    optimist = 1.0 * 1 + 0.8 * abs(2 - 4) + 0.5 * abs(3 - 5)
    pessimist = 1.0 * 1 + 0.8 * abs(2 - 99) + 0.5 * abs(3 - 100)
    printed = 1.0 * 1 + 0.8 * 100 + 0.5 * 100
    mean = 1.0 * 1 + 0.8 * abs(2 - 52) + 0.5 * abs(3 - 52)
    assert displaced(*found, name="Displacement(missing='optimist')") == pytest.approx(optimist)
    for name in ("Displacement", "Displacement(missing='pessimist')"):
        assert displaced(*found, name=name, size=100) == pytest.approx(pessimist)
    name = "Displacement(missing='printed')"
    assert displaced(*found, name=name, size=100) == pytest.approx(printed)
    name = "Displacement(missing='average')"
    assert displaced(*found, name=name, size=100) == pytest.approx(mean)


def test_subjects_are_averaged_after_their_topics() -> None:
    rows = [*LIST, ("t", "q", "z", 1.0), ("t", "q", "y", 0.5), ("t", "p", "x", 1.0)]
    systems = cf.Run.from_dict({"q": {"x": 3.0, "y": 2.0, "z": 1.0}, "p": {"x": 1.0}})
    scores = evaluate_displacement(SubjectRankings.from_rows(rows), [systems], "Displacement")
    m = scores.measures[0]
    # Subject t: z and y are displaced by 2 and 0 in q, x by 0 in p.
    assert scores.per_subject(m).tolist() == [[0.0, 1.0]]
    assert scores.mean(m)[0] == 0.5
    assert scores.spread(m)[0] == pytest.approx(math.sqrt(0.5))
    assert scores.notes == (
        "subject s has no list for 1 of 2 topics; the mean of this subject is over the others",
    )
