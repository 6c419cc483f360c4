"""Uncertain categories, displaced rankings, indexes of vectors and weak labels: what they add."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import cranfield as cf
from cranfield.data.categories import Categorisation, CategoryGraph, SubjectRankings
from cranfield.data.item_vectors import ItemVectors
from cranfield.data.judgement_log import judgement_log
from cranfield.evaluation.index_quality import average_precision, best_query

GRAPH = CategoryGraph.from_pairs([("people", "all"), ("city", "all")])
VOTES = [
    (f"s{s}", item, category)
    for item, given in {
        "q": ("people", "people", "city"),
        "a": ("people", "people", "people"),
        "b": ("city", "people", "city"),
        "c": ("city", "city", "city"),
    }.items()
    for s, category in enumerate(given)
]
RUNS = {
    "one": {"q": {"q": 4.0, "a": 3.0, "b": 2.0, "c": 1.0}},
    "two": {"q": {"c": 3.0, "b": 2.0, "a": 1.0}},
}


def uncertain(**options):
    return cf.evaluate_uncertain(Categorisation.from_votes(VOTES, GRAPH), RUNS, **options)


def test_all_items_are_over_their_number_and_bands_are_the_means_at_depths() -> None:
    whole = uncertain(k=None)
    assert whole.to_dict()["k"] == "all"
    (topic,) = whole.runs["two"]
    assert topic.retrieved == 3
    # people with 2/3: chances 0, 1/3, 1; city with 1/3: chances 1, 2/3, 0.
    assert topic.precision.mean == pytest.approx((2 / 3 * (4 / 3) + 1 / 3 * (5 / 3)) / 3)
    banded = uncertain(k=2, bands=(1, 2, 4))
    for point in banded.bands:
        again = uncertain(k=point.k)
        assert point.precision[0] == pytest.approx(again.mean(point.run, "precision")[0])
        assert point.precision[1] <= point.precision[0] <= point.precision[2]


def test_the_query_counts_in_its_own_category_or_is_left_out() -> None:
    counted, left = uncertain(k=2), uncertain(k=2, query="left out")
    sizes = {c.category: c.size for c in counted.runs["one"][0].categories}
    assert sizes == pytest.approx({"people": 2 / 3 + 1 + 1 / 3, "city": 1 / 3 + 2 / 3 + 1})
    fewer = {c.category: c.size for c in left.runs["one"][0].categories}
    assert fewer == pytest.approx({"people": 1 + 1 / 3, "city": 2 / 3 + 1})
    assert any("counts as an item of its own category" in note for note in counted.notes)
    assert not any("own category" in note for note in left.notes)
    # q itself is no longer retrieved: a and b are the first two.
    assert left.mean("one", "precision")[0] == pytest.approx((2 / 3 * 4 / 3 + 1 / 3 * 2 / 3) / 2)


def test_named_topics_that_no_run_has_are_told() -> None:
    assert any(
        "1 topics with a query are in no run (other)" in note
        for note in uncertain(queries={"other": "a"}).notes
    )


ROWS = [("s", "t", item, weight) for item, weight in (("a", 1.0), ("b", 0.5), ("c", 0.5))]


def displaced(order: list[str], **options):
    run = {"t": {item: float(-n) for n, item in enumerate(order)}}
    rows = [*ROWS, *(("u", topic, item, s) for _, topic, item, s in ROWS)]
    return cf.evaluate_displacement(SubjectRankings.from_rows(rows), {"r": run}, **options)


def test_ties_of_a_subject_are_averaged_over_their_orders() -> None:
    mean = np.mean(
        [
            abs(1 - 3) * 1.0
            + sum(0.5 * abs(rank - {"b": 1, "c": 2}[item]) for rank, item in enumerate(order, 2))
            for order in permutations("bc")
        ]
    )
    scores = displaced(["b", "c", "a"], measures="Displacement", ties="average")
    assert scores.mean(scores.measures[0])[0] == pytest.approx(mean)


def test_parts_and_suppositions_stand_side_by_side() -> None:
    scores = displaced(["b", "x"], measures="Displacement", hypotheses=True, collection_size=10)
    names = [str(m) for m in scores.measures]
    assert names == [
        "Displacement",
        "Displacement(missing='optimist')",
        "Displacement(missing='average')",
    ]
    found = scores.to_dict()["runs"][0]
    assert found["items"] == {"listed": 6, "not_retrieved": 4}
    for name, parts in found["parts"].items():
        assert parts["retrieved"] == pytest.approx(0.5)
        assert sum(parts.values()) == pytest.approx(found["mean"][name])
    # a and c right after the two retrieved, or at the very end of ten.
    assert found["mean"][names[1]] == pytest.approx(0.5 + abs(1 - 3) + 0.5 * abs(3 - 4))
    assert found["mean"][names[0]] == pytest.approx(0.5 + abs(1 - 9) + 0.5 * abs(3 - 10))


def test_systems_are_tested_over_subjects() -> None:
    rows = [
        (f"s{k}", "t", item, weight) for k in range(8) for item, weight in (("a", 1.0), ("b", 0.5))
    ]
    runs = {"good": {"t": {"a": 2.0, "b": 1.0}}, "bad": {"t": {"b": 2.0, "a": 1.0}}}
    scores = cf.evaluate_displacement(SubjectRankings.from_rows(rows), runs, "Displacement")
    (pair,) = scores.pairs
    assert pair.difference == pytest.approx(-1.5)
    assert pair.p == pytest.approx(2 / 2**8, rel=0.5)
    assert displaced(["a", "b", "c"]).pairs == ()


def hidden_direction(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Relevant items lie beyond a plane whose direction varies little in the collection."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(0, 1, (200, 6))
    vectors[:, 0] *= 0.2
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    relevant = np.zeros(200, dtype=bool)
    relevant[np.argsort(-(unit[:, 0] + 0.1 * unit[:, 1]))[:15]] = True
    return unit, relevant


def test_the_best_vector_query_beats_the_optimal_one() -> None:
    unit, relevant = hidden_direction()
    items = [f"i{k}" for k in range(200)]
    judged = {"t": {items[i]: 1 for i in np.flatnonzero(relevant)}}
    found = cf.evaluate_index(ItemVectors.of(items, unit), judged, measures="AP", best=True)
    means = {run: values["AP"] for run, values in found.scores.mean().items()}
    assert means["optimal query"] < 0.99
    assert means["best vector query"] == 1.0
    assert found.reference == "best vector query"


@pytest.mark.parametrize("seed", range(5))
def test_the_best_query_is_never_worse_than_where_it_began(seed: int) -> None:
    rng = np.random.default_rng(seed)
    unit = rng.normal(0, 1, (60, 4))
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    relevant = rng.random(60) < 0.3
    start = rng.normal(0, 1, 4)
    best = best_query(unit, relevant, start)
    assert np.linalg.norm(best) == pytest.approx(1)
    assert average_precision(unit @ best, relevant) >= average_precision(unit @ start, relevant)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_query_looks_at_the_top_where_no_query_is_perfect(seed: int) -> None:
    """Outside witness: of 4,000 steps at random those are taken that raise average precision."""
    rng = np.random.default_rng(seed)
    unit = rng.normal(0, 1, (150, 8))
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    relevant = np.arange(150) % 10 == 0
    start = unit[relevant].mean(axis=0) - unit[~relevant].mean(axis=0)
    witness, reached = start, average_precision(unit @ start, relevant)
    for _ in range(4000):
        tried = witness / np.linalg.norm(witness) + rng.normal(0, 0.1, 8)
        if average_precision(unit @ tried, relevant) >= reached:
            witness, reached = tried, average_precision(unit @ tried, relevant)
    found = average_precision(unit @ best_query(unit, relevant, start), relevant)
    assert found > 0.9 * reached > 1.2 * average_precision(unit @ start, relevant)


def test_the_median_is_not_carried_away_by_near_duplicates() -> None:
    rng = np.random.default_rng(0)
    good = rng.normal(0, 1, (70, 8))
    wrong = rng.normal(0, 0.02, (30, 8)) + 4
    items = [f"i{k}" for k in range(100)]
    shares = {}
    for method in ("svm", "median"):
        found = cf.filter_weak_labels(
            items,
            np.vstack([good, wrong]),
            {"tag": items},
            truth={"tag": items[:70]},
            method=method,
        )
        shares[method] = found.tags[0].precision
        assert found.tags[0].kept.sum() >= 65
    assert shares["median"] > 0.95 > 0.8 > shares["svm"]


LOG = judgement_log(["a", "b", "a", "b"], ["x", "x", "y", "y"], [0, 1, 1, 1])
CALLS = {
    "aggregate": lambda p: cf.aggregate_judgements(LOG, "dawid-skene", progress=p),
    "agreement": lambda p: cf.assess_agreement(
        LOG, resampling=cf.Resampling(50), pairs=True, progress=p
    ),
    "weaklabel": lambda p: cf.filter_weak_labels(
        ["a"], np.zeros((1, 2)), {"t": ["a"]}, method="median", progress=p
    ),
    "uncertain": lambda p: uncertain(progress=p),
    "displacement": lambda p: displaced(["a", "b", "c"], progress=p),
    "index": lambda p: cf.evaluate_index(
        ItemVectors.of(["a", "b"], np.eye(2)), {"t": {"a": 1}}, measures="AP", progress=p
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_long_call_can_be_cancelled(name: str) -> None:
    progress = cf.Progress()
    progress.cancel()
    with pytest.raises(cf.CancelledError):
        CALLS[name](progress)
    seen: list[float] = []
    CALLS[name](seen.append)
    assert seen
    assert 0 <= min(seen) <= max(seen) <= 1
