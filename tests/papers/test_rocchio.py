"""Rocchio, chapter 5: Tables 5.1 and 5.2, eq. 5.1-5.23, ranks of tied documents."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cranfield as cf
from cranfield.data.item_vectors import ItemVectors
from cranfield.evaluation.index_quality import evaluate_index, optimal_query

# Table 5.1: relevant and retrieved, others retrieved, relevant and not retrieved.
TABLE_5_1 = {"1": (7, 3, 3), "2": (5, 5, 5), "3": (9, 1, 9), "4": (5, 45, 45)}


def table_5_1() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    judgements, run = {}, {}
    for query, (n1, n2, n3) in TABLE_5_1.items():
        judgements[query] = {f"r{i}": 1 for i in range(n1 + n3)}
        run[query] = {f"r{i}": 1.0 for i in range(n1)} | {f"n{i}": 0.5 for i in range(n2)}
    return judgements, run


def test_table_5_2() -> None:
    judgements, run = table_5_1()
    names = "SetP SetR SetP(mean='micro') SetR(mean='micro') P@50(mean='micro') R@50(mean='micro')"
    scores = cf.evaluate(judgements, run, names)
    mean = scores.mean()["run"]
    # (a) query dependent statistics, eq. 5.11 and 5.12
    assert [row["SetP"] for row in scores.per_topic()] == [0.7, 0.5, 0.9, 0.1]
    assert [row["SetR"] for row in scores.per_topic()] == [0.7, 0.5, 0.5, 0.1]
    assert mean["SetP"] == pytest.approx(0.55)
    assert mean["SetR"] == pytest.approx(0.45)
    # (b) population dependent statistics, eq. 5.13 and 5.14
    for name in ("SetP", "P@50"):
        assert mean[f"{name}(mean='micro')"] == 26 / 80
    for name in ("SetR", "R@50"):
        assert mean[f"{name}(mean='micro')"] == 26 / 88
    # The micro mean leaves the values of the topics as they are.
    assert scores.per_topic()[3]["SetP(mean='micro')"] == 0.1


def test_equations_5_1_to_5_8() -> None:
    judgements, run = table_5_1()
    names = (
        "TP FP FN TN Fallout Miss CorrectRejection Generality TP(mean='sum') FP(mean='sum') "
        "FN(mean='sum') Fallout(mean='micro') Miss(mean='micro') CorrectRejection(mean='micro')"
    )
    scores = cf.evaluate(judgements, run, names, collection_size=200)
    first = scores.per_topic()[0]
    assert [first[n] for n in ("TP", "FP", "FN", "TN")] == [7, 3, 3, 187]
    assert first["Fallout"] == 3 / 190
    assert first["Miss"] == 3 / 10
    assert first["CorrectRejection"] == 187 / 190
    assert first["Generality"] == 10 / 200
    mean = scores.mean()["run"]
    assert mean["TP"] == 26 / 4
    assert [mean[f"{n}(mean='sum')"] for n in ("TP", "FP", "FN")] == [26, 54, 62]
    assert mean["Fallout(mean='micro')"] == 54 / (800 - 88)
    assert mean["Miss(mean='micro')"] == 62 / 88
    assert mean["CorrectRejection(mean='micro')"] == (800 - 88 - 54) / (800 - 88)


def test_ranks_of_tied_documents() -> None:
    """d1 > d2 > {d3, d4, d5} > d6 has ranks 1, 2, 4, 4, 4, 6."""
    run = {"q": {"d1": 5, "d2": 4, "d3": 3, "d4": 3, "d5": 3, "d6": 2}}
    ranks = []
    for document in run["q"]:
        scores = cf.evaluate(
            {"q": {document: 1}}, run, "RankRecall NormRecall", ties="average", collection_size=6
        )
        rank = 1 / scores.mean()["run"]["RankRecall"]
        ranks.append(rank)
        assert scores.mean()["run"]["NormRecall"] == pytest.approx(1 - (rank - 1) / 5)
    assert ranks == [1, 2, 4, 4, 4, 6]


def indices(places: list[int], size: int) -> dict[str, float]:
    run = {"q": {f"d{i}": float(-i) for i in range(1, size + 1)}}
    judgements = {"q": {f"d{i}": 1 for i in places}}
    names = "NormRecall NormRecall(scale=5) NormPrecision RankRecall LogPrecision"
    return cf.evaluate(judgements, run, names, collection_size=size).mean()["run"]


def test_equations_5_18_to_5_23() -> None:
    got = indices([2, 5, 6], 10)
    assert got["NormRecall"] == pytest.approx(1 - (13 / 3 - 2) / 7)
    assert got["NormRecall(scale=5)"] == pytest.approx(1 - 5 * (13 / 3 - 2) / 7)
    assert got["NormPrecision"] == pytest.approx(1 - math.log(60 / 6) / math.log(120))
    assert got["RankRecall"] == pytest.approx(2 / (13 / 3))
    assert got["LogPrecision"] == pytest.approx(math.log(6) / math.log(60))


def test_worst_order_has_the_greatest_errors() -> None:
    """The greatest precision error is that of N - (i - 1), not N - (i + 1)."""
    got = indices([8, 9, 10], 10)
    assert got["NormRecall"] == pytest.approx(0, abs=1e-12)
    assert got["NormPrecision"] == pytest.approx(0, abs=1e-12)


def test_perfect_order_and_all_relevant() -> None:
    assert set(indices([1, 2, 3], 10).values()) == {1.0}
    assert set(indices([1, 2, 3], 3).values()) == {1.0}
    assert set(indices([1], 10).values()) == {1.0}


def test_optimal_query_of_section_3() -> None:
    """The difference of the means of the unit vectors beats every other query."""
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(60, 5))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    relevant = np.arange(60) < 6

    def separation(query: np.ndarray) -> float:
        cosines = unit @ query / np.linalg.norm(query)
        return float(cosines[relevant].mean() - cosines[~relevant].mean())

    best = separation(optimal_query(unit, relevant))
    assert all(separation(rng.normal(size=5)) < best for _ in range(200))


def test_index_quality_ranks_the_whole_collection_by_cosine() -> None:
    vectors = np.array([[2.0, 0.1], [3.0, -0.1], [0.1, 5.0], [-0.1, 1.0], [0.5, 0.5]])
    items = ["a", "b", "c", "d", "e"]
    judgements = cf.Judgements.from_dict({"t": {"a": 1, "b": 1}, "none": {"c": 0}})
    run = cf.Run.from_dict({"t": {"c": 3.0, "a": 2.0, "b": 1.0}}).named("mine")
    quality = evaluate_index(ItemVectors.of(items, vectors), judgements, [run], "AP NormRecall")
    best, mine = quality.scores.mean().values()
    assert best == {"AP": 1.0, "NormRecall": 1.0}
    assert mine["AP"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    lost, share = quality.lost("mine", cf.measure("AP"))
    assert lost == share == pytest.approx(1 - mine["AP"])
    assert quality.notes == ("1 topics without a relevant item are left out",)


def test_errors_before_they_are_normalized() -> None:
    """Equations 5.18 and 5.21: relevant items at ranks 2, 4 and 9 among 20."""
    judgements = {"q": {f"i{p}": 1 for p in (2, 4, 9)}}
    run = {"q": {f"i{p}": -float(p) for p in range(1, 21)}}
    names = "RecallError PrecisionError NormRecall NormPrecision"
    found = cf.evaluate(judgements, run, names, collection_size=20).mean()["run"]
    assert found["RecallError"] == pytest.approx(5 - 2, abs=1e-15)
    assert found["PrecisionError"] == pytest.approx(math.log(2 * 4 * 9 / 6), abs=1e-15)
    # Divided by their maxima they are what the normalized indices lack to 1 (5.20, 5.23).
    assert found["NormRecall"] == pytest.approx(1 - found["RecallError"] / 17, abs=1e-15)
    greatest = math.log(math.comb(20, 3))
    assert found["NormPrecision"] == pytest.approx(1 - found["PrecisionError"] / greatest)


def test_the_four_probabilities_of_section_2b() -> None:
    """Equations 5.1 to 5.4: n1 = 1, n2 = 2, n3 = 2 and n4 = 15 of 20 items."""
    judgements = {"q": {f"i{p}": 1 for p in (2, 4, 9)}}
    run = {"q": {f"i{p}": -float(p) for p in range(1, 21)}}
    names = [f"Share{cell}@3" for cell in ("TP", "FP", "FN", "TN")]
    found = cf.evaluate(judgements, run, names, collection_size=20).mean()["run"]
    assert list(found.values()) == [1 / 20, 2 / 20, 2 / 20, 15 / 20]


def test_indices_that_cannot_be_averaged_say_so() -> None:
    """Section 4B: "impossible to average the unnormalized indices"."""
    judgements, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 1.0}, "r": {"b": 1.0}}
    scores = cf.evaluate(judgements, run, "RankRecall LogPrecision NormRecall", collection_size=9)
    assert [n.partition(":")[0] for n in scores.notes] == ["RankRecall", "LogPrecision"]
    assert not cf.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RankRecall").notes


@pytest.mark.parametrize("scale", [1, 2.5, 5])
def test_the_range_of_the_scaled_recall_reaches_down_to_its_worst_order(scale: float) -> None:
    """Section 4B: 1 - s (1 - r), so that the worst order has 1 - s."""
    m = cf.measure(f"NormRecall(scale={scale})")
    run = {"t": {f"d{i}": -float(i) for i in range(10)}}
    found = cf.evaluate({"t": {"d8": 1, "d9": 1}}, run, m, collection_size=10)
    (means,) = found.mean().values()
    assert m.range == (means[str(m)], 1.0) == (1 - scale, 1.0)
    assert m.bind(scale=1).range == (0.0, 1.0)
