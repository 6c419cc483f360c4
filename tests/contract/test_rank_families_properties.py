"""What the image, SMART, SHREC and contingency families promise over random rankings."""

from __future__ import annotations

import math
import random
import time
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield as cf
from cranfield.measures import REGISTRY

BEST = {
    "NMRR": 0.0,
    "NAR": 0.0,
    "MNRO": 0.0,
    "NormRecall": 1.0,
    "NormPrecision": 1.0,
    "RankRecall": 1.0,
    "LogPrecision": 1.0,
    "FirstTier": 1.0,
    "ShrecAP": 1.0,
    "ADR": 1.0,
}
# Reached by perfect rankings alone: of all relevant items, or of the grades too (ADR).
ONLY_PERFECT = ("NMRR", "NAR", "MNRO", "NormRecall", "NormPrecision", "RankRecall", "FirstTier")


def ranked(grades: list[int]) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """The whole collection, in this order."""
    return (
        {"t": {f"i{n}": g for n, g in enumerate(grades)}},
        {"t": {f"i{n}": float(-n) for n in range(len(grades))}},
    )


def value(grades: list[int], name: str, **options: object) -> float:
    scores = cf.evaluate(*ranked(grades), name, collection_size=len(grades), **options)
    return float(scores.mean()["run"][str(cf.measure(name))])


@given(grades=st.lists(st.sampled_from([0, 0, 1, 2]), min_size=2, max_size=14))
@settings(max_examples=150, deadline=None)
def test_best_value_is_reached_by_the_perfect_ranking(grades: list[int]) -> None:
    if not any(grades):
        return
    perfect = sorted(grades, reverse=True)
    for name, best in BEST.items():
        assert value(perfect, name) == pytest.approx(best, abs=1e-12), name
        low, high = REGISTRY[name].range
        assert low - 1e-12 <= value(grades, name) <= high + 1e-12, name


@given(grades=st.lists(st.sampled_from([0, 0, 1]), min_size=2, max_size=14))
@settings(max_examples=150, deadline=None)
def test_best_value_is_reached_only_there(grades: list[int]) -> None:
    if not any(grades) or grades == sorted(grades, reverse=True):
        return
    for name in ONLY_PERFECT:
        assert abs(value(grades, name) - BEST[name]) > 1e-9, name
    # A single relevant item has no product of better ranks to fall short of but rank 1 itself.
    if sum(grades) > 1:
        assert value(grades, "LogPrecision") < 1


@pytest.mark.parametrize("n, relevant", [(4, 1), (5, 2), (6, 3)])
def test_norm_recall_of_all_orders_averages_one_half(n: int, relevant: int) -> None:
    orders = set(permutations([1] * relevant + [0] * (n - relevant)))
    mean = sum(value(list(order), "NormRecall") for order in orders) / len(orders)
    assert mean == pytest.approx(0.5)


def test_norm_recall_of_random_orders_averages_one_half() -> None:
    rng = random.Random(4)
    grades = [1] * 20 + [0] * 180
    judgements, run = {}, {}
    for topic in range(400):
        rng.shuffle(grades)
        judgements[f"{topic}"], run[f"{topic}"] = (d["t"] for d in ranked(list(grades)))
    mean = cf.evaluate(judgements, run, "NormRecall", collection_size=200).mean()
    assert mean["run"]["NormRecall"] == pytest.approx(0.5, abs=0.01)


@given(grades=st.lists(st.sampled_from([0, 0, 1]), min_size=2, max_size=20))
@settings(max_examples=100, deadline=None)
def test_nar_and_norm_recall_agree_through_their_definitions(grades: list[int]) -> None:
    n0, n = sum(grades), len(grades)
    if 0 < n0 < n:
        assert value(grades, "NAR") * n == pytest.approx(
            (1 - value(grades, "NormRecall")) * (n - n0)
        )


@given(
    grades=st.lists(st.sampled_from([0, 0, 1]), min_size=2, max_size=12),
    kept=st.integers(1, 12),
    size=st.integers(12, 40),
)
@settings(max_examples=100, deadline=None)
def test_policies_for_missing_items_are_ordered(grades: list[int], kept: int, size: int) -> None:
    if not any(grades):
        return
    judgements, run = ranked(grades)
    run["t"] = dict(list(run["t"].items())[:kept])
    for name in ("NAR", "MNRO", "NormRecall", "NormPrecision", "RankRecall", "LogPrecision"):
        worst, middle, best = (
            cf.evaluate(judgements, run, name, collection_size=size, missing=policy).mean()["run"][
                name
            ]
            for policy in ("worst", "average", "optimist")
        )
        sign = 1 if REGISTRY[name].higher_is_better else -1
        # The mean of logarithms is not the logarithm of the mean: only the ends are ordered.
        assert sign * worst <= sign * best + 1e-12, name
        if name in ("NAR", "NormRecall", "RankRecall"):
            assert sign * worst - 1e-12 <= sign * middle <= sign * best + 1e-12, name


def test_large_collections_keep_their_digits() -> None:
    judgements, run = {"t": {"r": 1}}, {"t": {"n": 2.0, "r": 1.0}}
    size = 2_000_000_000
    got = cf.evaluate(judgements, run, "NormPrecision", collection_size=size).mean()["run"]
    assert got["NormPrecision"] == pytest.approx(1 - math.log(2) / math.log(size), rel=1e-14)


MICRO = [
    "P@3",
    "R@3",
    "F@3",
    "F@3(beta=0.5)",
    "RelativeP@3",
    "Rprec",
    "Rprec(multiple=0.5)",
    "SetP",
    "SetR",
    "SetF",
    "ShareTP@3",
    "ShareFP@3",
    "ShareFN@3",
    "ShareTN@3",
    "SetF(beta=2)",
    "SetRelativeP",
    "Judged@3",
    "Fallout@3",
    "Miss@3",
    "CorrectRejection@3",
    "Generality",
    "FirstTier",
    "SecondTier",
]


def micro(name: str) -> cf.Measure:
    return cf.measure(name).bind(mean="micro")


def test_every_ratio_has_a_micro_mean() -> None:
    assert {cf.measure(n).name for n in MICRO} == {
        m.name for m in REGISTRY.values() if m.ratio is not None
    }


@pytest.mark.parametrize("name", MICRO)
@pytest.mark.parametrize("ties", ["id", "average"])
def test_micro_mean_of_one_topic_is_its_value(name: str, ties: str) -> None:
    judgements = {"t": {"a": 1, "b": 0, "c": 2, "d": 1}}
    run = {"t": {"a": 3.0, "b": 2.0, "c": 2.0, "e": 1.0}}
    scores = cf.evaluate(judgements, run, [name, micro(name)], ties=ties, collection_size=9)
    plain, summed = scores.mean()["run"].values()
    assert summed == pytest.approx(plain, rel=1e-12)
    assert scores.per_topic()[0][str(micro(name))] == plain


@pytest.mark.parametrize("name", MICRO)
def test_micro_mean_is_the_mean_weighed_by_the_denominators(name: str) -> None:
    rng = random.Random(11)
    (
        judgements,
        run,
    ) = {}, {}
    for t in range(6):
        names = [f"i{n}" for n in range(12)]
        judgements[f"t{t}"] = {n: rng.choice([0, 0, 1, 2]) for n in rng.sample(names, 9)}
        judgements[f"t{t}"][rng.choice(names)] = 1
        run[f"t{t}"] = {n: rng.random() for n in rng.sample(names, rng.randint(3, 12))}
    m = micro(name)
    got = cf.evaluate(judgements, run, [m], collection_size=30)
    above = below = 0.0
    for t in judgements:
        ng = sum(g >= 1 for g in judgements[t].values())
        order = sorted(run[t], key=lambda n, t=t: -run[t][n])
        depth = {
            "P@3": 3,
            "R@3": ng,
            "F@3": ng + 3,
            "F@3(beta=0.5)": 0.25 * ng + 3,
            "ShareTP@3": 30,
            "ShareFP@3": 30,
            "ShareFN@3": 30,
            "ShareTN@3": 30,
            "RelativeP@3": min(3, ng),
            "Rprec": ng,
            "Rprec(multiple=0.5)": math.floor(0.5 * ng + 0.9),
            "SetP": len(order),
            "SetR": ng,
            "SetF": ng + len(order),
            "SetF(beta=2)": 4 * ng + len(order),
            "SetRelativeP": min(ng, len(order)),
            "Judged@3": 3,
            "Fallout@3": 30 - ng,
            "Miss@3": ng,
            "CorrectRejection@3": 30 - ng,
            "Generality": 30,
            "FirstTier": min(ng, len(order)),
            "SecondTier": min(2 * ng, len(order)),
        }[name]
        value = next(r for r in got.per_topic() if r["topic"] == t)[str(m)]
        above, below = above + value * depth, below + depth
    assert got.mean()["run"][str(m)] == pytest.approx(above / below, rel=1e-12)


def test_gmt_is_of_the_data_set() -> None:
    """Ch eq. 6: one GMT for all runs of a comparison, whichever topics a run has."""
    judgements = {
        "small": {f"s{i}": 1 for i in range(4)},
        "large": {f"l{i}": 1 for i in range(40)},
    }
    run = {"small": {**{f"n{i}": 20.0 - i for i in range(9)}, "s0": 1.0}}
    more = {"small": run["small"], "large": {f"l{i}": -float(i) for i in range(40)}}
    scores = cf.evaluate(judgements, {"few": run, "all": more}, "NMRR AP", topics="run")
    values = {(r["run"], r["topic"]): r["NMRR"] for r in scores.per_topic()}
    assert values["few", "small"] == values["all", "small"]
    assert values["few", "large"] is None
    assert scores.evaluated == (1, 2)
    small = {t: judgements[t] for t in ("small",)}
    alone = cf.evaluate(small, run, "NMRR")
    assert alone.mean()["run"]["NMRR"] != values["few", "small"]
    given = cf.evaluate(small, run, "NMRR", gmt=40)
    assert given.mean()["run"]["NMRR"] == values["few", "small"]


def test_topics_without_relevant_items_are_left_out_and_counted() -> None:
    judgements = {"t": {"a": 1}, "empty": {"b": 0}}
    run = {"t": {"a": 1.0}, "empty": {"b": 1.0}}
    names = "NMRR NAR MNRO NormRecall NormPrecision RankRecall LogPrecision FirstTier ShrecAP ADR"
    scores = cf.evaluate(judgements, run, names, collection_size=5)
    for m in scores.measures:
        assert scores.left_out(m) == [1], m
        assert not np.isnan(scores.overall[m]).any()


def test_measures_without_relevant_items_anywhere_have_no_mean() -> None:
    scores = cf.evaluate({"t": {"a": 0}}, {"t": {"a": 1.0}}, "NMRR Miss@3(mean='micro')")
    assert all(math.isnan(v) for v in scores.mean()["run"].values())


def test_what_a_policy_for_missing_items_placed_is_told() -> None:
    """Two of three relevant items are missing: NAR depends on the policy alone."""
    judgements = {"t": {"a": 1, "b": 2, "c": 1}, "u": {"d": 1}}
    run = {"t": {"a": 1.0}}
    names = "NAR NormRecall(missing='optimist') MNRO(rel=2) NMRR AP"
    scores = cf.evaluate(judgements, {"mine": run}, names, collection_size=50)
    facts = scores.to_dict()["runs"][0]["missing_items"]
    assert [(f["missing"], f["measures"], f["placed"], f["relevant"]) for f in facts] == [
        ("worst", ["NAR"], 3, 4),
        ("optimist", ["NormRecall(missing='optimist')"], 3, 4),
        ("worst", ["MNRO(rel=2)"], 1, 1),
    ]
    said = "mine: does not retrieve 3 of 4 relevant items, which missing='worst' places for NAR"
    assert said in scores.notes
    own = cf.evaluate(judgements, {"mine": run}, "NAR", collection_size=50, topics="run")
    assert own.to_dict()["runs"][0]["missing_items"][0]["placed"] == 2
    whole = {"t": dict.fromkeys("abc", 1.0), "u": {"d": 1.0}}
    assert not cf.evaluate(judgements, whole, "NAR", collection_size=50).notes


@pytest.mark.parametrize("name", ["CG@5", "nCG@5", "nDCG", "DCG", "IdealDCG", "G", "RnDCG"])
def test_gains_that_no_number_holds_are_refused(name: str) -> None:
    judgements, run = {"t": {"a": 1e308, "b": 1e308}}, {"t": {"a": 1.0}}
    with pytest.raises(cf.CranfieldError, match="add up to more than a number can hold"):
        cf.evaluate(judgements, run, name)
    if "gain" in cf.measure(name).params:
        again = cf.measure(name).bind(gain="exp")
        with pytest.raises(cf.CranfieldError, match="add up to more than a number can hold"):
            cf.evaluate({"t": {"a": 2000}}, run, [again])


def test_f_with_a_beta_beyond_all_squares_is_recall() -> None:
    judgements, run = {"t": {"a": 1, "b": 1}, "u": {"c": 0}}, {"t": {"a": 1.0, "x": 2.0}}
    names = ["SetF(beta=1e200)", "SetF(beta=1e200, mean='micro')", "F@5(beta=1e200)"]
    found = cf.evaluate(judgements, run, names).mean()["run"]
    assert list(found.values()) == [0.25, 0.5, 0.25]


@pytest.mark.slow
def test_ties_of_a_million_items() -> None:
    """Draws place judged items alone, and ERR goes no further than anyone reads."""
    items = [f"i{n}" for n in range(10**6)]
    run = cf.Run.from_rows(["t"] * len(items), items, np.ones(len(items)))
    judgements = {"t": {f"i{n}": 1 for n in range(100)}}
    started = time.process_time()
    found = cf.evaluate(judgements, run, "AP ERR Bpref iAP RnDCG", ties="average").mean()["run"]
    assert time.process_time() - started < 100
    assert found["AP"] == pytest.approx(1e-4, rel=0.2)
    assert 0 < found["ERR"] < 1e-4
