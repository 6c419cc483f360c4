"""Rocchio, chapter 5: Tables 5.1 and 5.2, eq. 5.1-5.23, ranks of tied documents."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import cranfield as cf
from cranfield.data.item_vectors import ItemVectors
from cranfield.errors import UsageError
from cranfield.evaluation.feedback import apply_feedback
from cranfield.evaluation.index_quality import evaluate_index, optimal_query
from cranfield.features.item_vectors import ItemTable

SAMPLE = Path(cf.__file__).parent / "samples" / "digits"

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


TERMS = np.array([[2, 1, 0, 5], [1, 1, 1, 0], [0, 3, 0, 1], [0, 0, 0, 0], [1, 0, 9, 0]])
NAMES = ["a", "b", "c", "d", "e"]


def _terms_of(row: int) -> set[int]:
    return set(np.flatnonzero(TERMS[row]).tolist())


def _sets(k: int) -> dict[str, set[str]]:
    """R(k) of section 2C: what has at least k of the query's terms; every item asks."""
    return {
        NAMES[q]: {NAMES[d] for d in range(5) if d != q and len(_terms_of(q) & _terms_of(d)) >= k}
        for q in range(5)
    }


def test_section_2c_overlap_is_inclusion_relaxed_term_by_term() -> None:
    table = ItemTable.of(NAMES, TERMS)
    overlap = cf.search(table, distance="overlap").run().to_dict()
    for q, name in enumerate(NAMES):
        count = len(_terms_of(q))
        for d, other in enumerate(NAMES):
            shared = len(_terms_of(q) & _terms_of(d))
            if d != q:
                assert overlap[name][other] == (shared / count if count else 1.0)
    for k in (1, 2, 3):
        answer = cf.search(table, distance="overlap", min_terms=k)
        empty = sum(not items for items in _sets(k).values())
        assert any(
            note.startswith(f"nothing is retrieved for {empty} topic") for note in answer.notes
        )
        found = answer.run().to_dict()
        expected = {topic: items for topic, items in _sets(k).items() if items}
        assert {topic: set(items) for topic, items in found.items()} == expected
    # Inclusion is R(n_q): all terms of the query.
    included = cf.search(table, distance="inclusion").run().to_dict()
    expected = {}
    for q, name in enumerate(NAMES):
        items = {NAMES[d] for d in range(5) if d != q and _terms_of(q) <= _terms_of(d)}
        if items:
            expected[name] = dict.fromkeys(items, 1.0)
    assert included == expected


def test_overlap_of_many_sets_equals_own_counts() -> None:
    rng = np.random.default_rng(3)
    sets = (rng.random((300, 40)) < 0.2).astype(np.float64)
    names = [f"i{n:03}" for n in range(300)]
    found = cf.search(ItemTable.of(names, sets), distance="overlap", k=20)
    missing = sets @ (1 - sets).T
    for q in range(300):
        others = np.delete(missing[q], q)
        count = sets[q].sum()
        np.testing.assert_allclose(found.scores[q], (count - np.sort(others)[:20]) / count)


def test_section_2c_in_queries_over_concepts() -> None:
    labels = {"x": {"Sea", "Night", "Sky"}, "y": {"Sea", "Sky"}, "z": {"Night"}, "w": set()}
    labels["w"] = {"Dog"}
    query = {"t": "Sea AND Night AND Sky"}
    ranking = cf.query_concepts(query, labels, reading="overlap").run.to_dict()
    assert ranking == {"t": {"x": 3.0, "y": 2.0, "z": 1.0}}
    for k in (1, 2, 3):
        kept = cf.query_concepts(query, labels, reading="overlap", min_terms=k).run.to_dict()["t"]
        assert set(kept) == {item for item, score in ranking["t"].items() if score >= k}
    included = cf.query_concepts(query, labels, reading="inclusion").run.to_dict()
    assert included == {"t": {"x": 1.0}}
    with pytest.raises(UsageError, match="has no NOT"):
        cf.query_concepts({"t": "Sea AND NOT Sky"}, labels, reading="overlap")
    with pytest.raises(UsageError, match="min_terms= is for"):
        cf.query_concepts(query, labels, min_terms=2)


def test_cutoff_by_score_equals_own_arithmetic() -> None:
    rng = np.random.default_rng(5)
    judgements, run, own = {}, {}, {}
    for t in range(8):
        scores = rng.integers(0, 40, 60)
        relevant = set(rng.choice(60, 12, replace=False).tolist())
        judgements[f"t{t}"] = {f"d{i}": 1 for i in relevant}
        run[f"t{t}"] = {f"d{i}": float(s) for i, s in enumerate(scores)}
        kept = {i for i in range(60) if scores[i] >= 30}
        own[f"t{t}"] = len(kept & relevant) / len(kept)
    scored = cf.evaluate(judgements, run, "SetP", min_score=30)
    assert {row["topic"]: row["SetP"] for row in scored.per_topic()} == own
    # A topic of which nothing is left has an empty ranking, also where missing topics are out.
    nothing = cf.evaluate(judgements, run, "SetP NumRet", min_score=99, topics="run")
    assert nothing.mean()["run"]["SetP"] == 0
    assert len(nothing.per_topic()) == 8
    with pytest.raises(UsageError, match="min_score='half'"):
        cf.evaluate(judgements, run, "SetP", min_score="half")


def test_rocchio_moves_queries_and_counts_what_was_not_seen() -> None:
    vectors = np.array([[4.0, 0.0], [3.0, 1.0], [2.0, 2.0], [1.0, 3.0], [0.0, 4.0], [5.0, 1.0]])
    names = [f"v{i}" for i in range(6)]
    table, query = ItemTable.of(names, vectors), ItemTable.of(["q"], np.array([[3.1, 2.05]]))
    judgements = {"q": {"v2": 1, "v3": 1, "v4": 1}}
    options = {"distance": "L2", "depth": 2, "weights": (1.0, 0.5, 0.25)}
    # Seen first: v1 and v2, of which v2 is relevant.
    moved = (1.0 * np.array([3.1, 2.05]) + 0.5 * vectors[2] - 0.25 * vectors[1]) / 1.25
    order = np.argsort(np.linalg.norm(vectors - moved, axis=1), kind="stable")
    residual = apply_feedback(table, judgements, query, **options)
    assert residual.run.ranking("q") == [names[i] for i in order if i not in (1, 2)]
    assert residual.judgements is not None
    assert residual.judgements.to_dict() == {"q": {"v3": 1, "v4": 1}}
    (gain,) = residual.gains
    ranks = [residual.run.ranking("q").index(item) + 1 for item in ("v3", "v4")]
    assert gain.after == pytest.approx(sum(n / r for n, r in enumerate(sorted(ranks), 1)) / 2)
    frozen = apply_feedback(table, judgements, query, counted="frozen", **options)
    first = frozen.before.ranking("q")
    assert frozen.run.ranking("q") == first[:2] + [names[i] for i in order if i not in (1, 2)]
    whole = apply_feedback(table, judgements, query, counted="whole", **options)
    assert whole.run.ranking("q") == [names[i] for i in order]
    pseudo = apply_feedback(table, None, query, pseudo=True, **options)
    mean = (np.array([3.1, 2.05]) + 0.5 * vectors[[1, 2]].mean(axis=0)) / 1.5
    order = np.argsort(np.linalg.norm(vectors - mean, axis=1), kind="stable")
    assert pseudo.run.ranking("q") == [names[i] for i in order]
    with pytest.raises(UsageError, match="needs judgements"):
        apply_feedback(table, None, query)


def test_frozen_ranks_stay_where_they_were_also_in_ties() -> None:
    rng = np.random.default_rng(8)
    names = [f"i{n:02}" for n in range(60)]
    table = ItemTable.of(names, rng.integers(0, 2, (60, 5)))
    judgements = {
        name: dict.fromkeys(rng.choice(names, 20, replace=False).tolist(), 1) for name in names[:12]
    }
    answer = apply_feedback(table, judgements, measures="P@4 P@8", depth=8, counted="frozen")
    assert [gain.gain for gain in answer.gains] == [0.0, 0.0]
    assert [(gain.low, gain.high) for gain in answer.gains] == [(0.0, 0.0)] * 2


def test_feedback_raises_average_precision_on_residual_collections_of_digits() -> None:
    sheet = np.asarray(Image.open(SAMPLE / "images.png").convert("L"), dtype=np.float64)
    across = sheet.shape[1] // 8
    qrels = cf.read_qrels(SAMPLE / "qrels.txt.gz")
    judged = {item for grades in qrels.to_dict().values() for item in grades}

    def ink(item: str) -> np.ndarray:
        row, column = divmod(int(item[1:]), across)
        return 255 - sheet[8 * row : 8 * row + 8, 8 * column : 8 * column + 8].ravel()

    names = sorted(judged)
    items = ItemTable.of(names, np.array([ink(item) for item in names]))
    with (SAMPLE / "topics.csv").open() as file:
        topics = list(csv.DictReader(file))
    queries = ItemTable.of(
        [row["topic"] for row in topics], np.array([ink(row["item"]) for row in topics])
    )
    answer = apply_feedback(items, qrels, queries, distance="cosine")
    (gain,) = answer.gains
    assert gain.topics == 80
    assert gain.after > gain.before
    assert gain.low > 0
