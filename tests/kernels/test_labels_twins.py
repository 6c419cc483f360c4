"""The measures of annotation equal their slow twins."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import _core
from cranfield.data.costmap import CostMap
from cranfield.data.labels import LabelMatrix
from cranfield.data.ontology import Ontology, Requirement, Rules
from cranfield.evaluation.labels import evaluate_labels
from cranfield.measures.labels.hierarchy import balanced_distance
from tests.reference import labels as slow

PATHS = [
    ("Animal", "Thing.Animal"),
    ("Dog", "Thing.Animal.Dog"),
    ("Cat", "Thing.Animal.Cat"),
    ("Person", "Thing.Person"),
    ("Indoor", "Place.Indoor"),
    ("Outdoor", "Place.Outdoor"),
    ("Portrait", "Style.Portrait"),
]
CONCEPTS = [c for c, _ in PATHS]
RULES = Rules(
    exactly_one=(("Indoor", "Outdoor"),),
    disjoint=(("Dog", "Cat"),),
    requires=(Requirement("Portrait", ("Person", "Animal")),),
)
ONTOLOGY = Ontology.from_paths(PATHS, rules=RULES).checked()
AGREEMENT = {c: 0.5 + j / 20 for j, c in enumerate(CONCEPTS)}
CLOSE = {"rel": 0, "abs": 1e-12}


@st.composite
def problems(draw):
    """Truth and confidences with many ties, empty rows and empty columns."""
    n = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth = rng.random((n, len(CONCEPTS))) < draw(st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]))
    steps = draw(st.sampled_from([1, 2, 4, 1000]))
    return truth, rng.integers(0, steps + 1, truth.shape) / steps


@given(problems(), st.integers(1, 2))
def test_what_was_sorted_before_gives_the_same_to_the_letter(problem, jobs):
    truth, confidences = problem
    order = np.arange(len(truth))[::-1].copy()
    known = _core.ConceptOrder(confidences, jobs)
    for true in (truth, ~truth):
        sorted_anew = _core.concept_ranked(true, confidences, order, [1, 3], jobs)
        assert (
            _core.concept_ranked(true, confidences, order, [1, 3], jobs, known).tobytes()
            == sorted_anew.tobytes()
        )
    other = np.zeros((len(truth) + 1, truth.shape[1]))
    with pytest.raises(ValueError, match="does not fit"):
        _core.concept_ranked(truth, confidences, order, [], 1, _core.ConceptOrder(other, 1))


def evaluate(problem, measures, **options):
    truth, confidences = problem
    items = [f"i{k:02d}" for k in range(len(truth))]
    return evaluate_labels(
        LabelMatrix.of(truth, items=items, concepts=CONCEPTS),
        [LabelMatrix.of(confidences, items=items, concepts=CONCEPTS, name="run")],
        measures,
        jobs=2,
        **options,
    )


def same(found, expected):
    if expected is None or math.isnan(expected):
        assert found is None
    else:
        assert found == pytest.approx(expected, **CLOSE)


def sets(flags):
    return [{CONCEPTS[j] for j in np.flatnonzero(row)} for row in flags]


@given(problems())
@settings(max_examples=120, deadline=None)
def test_ranked_measures_per_concept(problem):
    truth, confidences = problem
    items = [f"i{k:02d}" for k in range(len(truth))]
    scores = evaluate(
        problem, "AUC EER AP.concept iAP.concept Rprec.concept P@1.concept P@3.concept"
    )
    for j, row in enumerate(scores.per_concept()):
        y, s = truth[:, j].tolist(), confidences[:, j].tolist()
        same(row["AUC"], slow.auc(y, s))
        same(row["EER"], slow.eer(y, s))
        same(row["AP.concept"], slow.average_precision(y, s))
        same(row["iAP.concept"], slow.interpolated_ap(y, s))
        same(row["P@1.concept"], slow.precision_at(y, s, items, 1))
        same(row["P@3.concept"], slow.precision_at(y, s, items, 3))
        if any(y):
            same(row["Rprec.concept"], slow.precision_at(y, s, items, sum(y)))


@given(problems())
@settings(max_examples=120, deadline=None)
def test_ranked_measures_per_item(problem):
    truth, confidences = problem
    scores = evaluate(
        problem,
        "OneError Coverage RankingLoss AP.example Rprec.example P@1.example P@3.example "
        "P@20.example SRP ParentOneAccuracy",
        ontology=ONTOLOGY,
    )
    cost = ONTOLOGY.cost_map.cost
    for y, conf, row in zip(sets(truth), confidences, scores.per_item(), strict=True):
        z = dict(zip(CONCEPTS, conf.tolist(), strict=True))
        same(row["OneError"], slow.one_error(y, z))
        same(row["Coverage"], slow.coverage(y, z))
        same(row["RankingLoss"], slow.ranking_loss(y, z))
        same(row["AP.example"], slow.item_average_precision(y, z))
        same(row["Rprec.example"], slow.item_rprec(y, z))
        for k in (1, 3, 20):
            same(row[f"P@{k}.example"], slow.item_precision_at(y, z, k))
        same(row["SRP"], slow.semantic_rprec(y, z, cost))
        parents = {c: path.rpartition(".")[0] for c, path in PATHS}
        best = slow.ranking(z)[0]
        hit = any(parents[best] == parents[t] for t in y)
        same(row["ParentOneAccuracy"], float(hit) if y else math.nan)


@given(problems(), st.sampled_from([0.5, 1.0, 2.0]))
@settings(max_examples=120, deadline=None)
def test_scores_with_costs(problem, alpha):
    truth, confidences = problem
    scores = evaluate(
        problem,
        f"OS(alpha={alpha:g}) OS(alpha={alpha:g}, rules=False) HS(alpha={alpha:g}) "
        "LabelSetDistance LabelSetDistance(dummy=0.3)",
        ontology=ONTOLOGY,
        agreement=AGREEMENT,
    )
    cost = ONTOLOGY.cost_map.cost
    ones = dict.fromkeys(CONCEPTS, 1.0)
    os_name, free_name, hs_name, *_ = (str(m) for m in scores.measures)
    predicted = sets(confidences >= 0.5)
    for y, z, row in zip(sets(truth), predicted, scores.per_item(), strict=True):
        broken = slow.broken_labels(z, ONTOLOGY)
        same(row[os_name], slow.ontology_score(y, z, cost, AGREEMENT, broken, alpha))
        same(row[free_name], slow.ontology_score(y, z, cost, AGREEMENT, frozenset(), alpha))
        same(row[hs_name], slow.ontology_score(y, z, cost, ones, frozenset(), alpha))
        same(row["LabelSetDistance"], slow.label_set_distance(y, z, cost, 1.0))
        same(row["LabelSetDistance(dummy=0.3)"], slow.label_set_distance(y, z, cost, 0.3))


@given(problems(), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_any_cost_map(problem, seed):
    truth, confidences = problem
    rng = np.random.default_rng(seed)
    raw = rng.random((len(CONCEPTS),) * 2)
    costs = CostMap.of(CONCEPTS, np.triu(raw, 1) + np.triu(raw, 1).T)
    scores = evaluate(
        problem,
        "OS(cost='mine') SRP(cost='mine') CategorySimilarityF(cost='mine')",
        costmap={"mine": costs},
    )
    ones = dict.fromkeys(CONCEPTS, 1.0)
    for y, z, conf, row in zip(
        sets(truth), sets(confidences >= 0.5), confidences, scores.per_item(), strict=True
    ):
        ranked = dict(zip(CONCEPTS, conf.tolist(), strict=True))
        same(row["OS(cost='mine')"], slow.ontology_score(y, z, costs.cost, ones))
        same(row["SRP(cost='mine')"], slow.semantic_rprec(y, ranked, costs.cost))
    expected = slow.category_similarity_f(
        sets(truth), sets(confidences >= 0.5), CONCEPTS, costs.cost
    )
    for row in scores.per_concept():
        found = row["CategorySimilarityF(cost='mine')"]
        assert found == pytest.approx(expected[row["concept"]], rel=0, abs=1e-9)


@given(problems())
@settings(max_examples=100, deadline=None)
def test_hierarchical_measures(problem):
    truth, confidences = problem
    names = "HLoss MaxLoss WeightedEuclidean DIMC DDMC BalancedDistance"
    expanded = [
        f"{h}(expand='{e}', average='{a}')"
        for h in ("hP", "hR", "hF")
        for e in ("ancestors", "nodes", "descendants")
        for a in ("micro", "macro")
    ]
    scores = evaluate(problem, f"{names} {' '.join(expanded)}", ontology=ONTOLOGY)
    links, costs = ONTOLOGY.distances(weighted=False), ONTOLOGY.cost_map
    balanced = balanced_distance(ONTOLOGY)
    pairs = list(zip(sets(truth), sets(confidences >= 0.5), strict=True))
    for (y, z), row in zip(pairs, scores.per_item(), strict=True):
        same(row["HLoss"], slow.h_loss(y, z, ONTOLOGY))
        same(row["MaxLoss"], slow.max_loss(y, z, ONTOLOGY))
        same(row["WeightedEuclidean"], slow.weighted_euclidean(y, z, ONTOLOGY))
        one, other = slow.only_class(y, ONTOLOGY), slow.only_class(z, ONTOLOGY)
        if one is None or other is None:
            assert row["DIMC"] is row["DDMC"] is row["BalancedDistance"] is None
        else:
            i, j = CONCEPTS.index(one), CONCEPTS.index(other)
            same(row["DIMC"], links[i, j])
            same(row["DDMC"], costs.cost(one, other))
            same(row["BalancedDistance"], balanced[i, j])
    for direction in ("ancestors", "nodes", "descendants"):
        grown = [[slow.expand(s, ONTOLOGY, direction) for s in pair] for pair in pairs]
        counts = np.array([[len(y & z), len(z), len(y)] for y, z in grown], dtype=float)
        means = scores.mean()["run"]
        for average in ("micro", "macro"):
            rows = counts.sum(axis=0, keepdims=True) if average == "micro" else counts
            p = [tp / z if z else float(y == 0) for tp, z, y in rows]
            r = [tp / y if y else float(z == 0) for tp, z, y in rows]
            f = [2 * tp / (z + y) if z + y else 1.0 for tp, z, y in rows]
            for name, values in (("hP", p), ("hR", r), ("hF", f)):
                text = next(
                    str(m)
                    for m in scores.measures
                    if m.name == name
                    and m.value_of("expand") == direction
                    and m.value_of("average") == average
                )
                same(means[text], float(np.mean(values)))


@given(problems())
@settings(max_examples=60, deadline=None)
def test_ancestors_that_no_file_mentions(problem):
    """Label files that name leaves only: the ontology's concepts are still the vocabulary."""
    truth, confidences = problem
    leaves = [c for c in CONCEPTS if c != "Animal"]
    wider = [("Thing", "Thing"), *PATHS, ("Style", "Style")]
    ontology = Ontology.from_paths(wider).checked()
    keep = [CONCEPTS.index(c) for c in leaves]
    items = [f"i{k:02d}" for k in range(len(truth))]
    scores = evaluate_labels(
        LabelMatrix.of(truth[:, keep], items=items, concepts=leaves),
        [LabelMatrix.of(confidences[:, keep] >= 0.5, items=items, concepts=leaves, name="run")],
        "MaxLoss hF(average='macro') hF(average='macro', expand='nodes') "
        "hF(average='macro', expand='descendants')",
        ontology=ontology,
    )
    names = {m.value_of("expand"): str(m) for m in scores.measures if m.name == "hF"}
    for t, c, row in zip(truth, confidences, scores.per_item(), strict=True):
        y, z = ({leaf for leaf in leaves if f[CONCEPTS.index(leaf)]} for f in (t, c >= 0.5))
        same(row["MaxLoss"], slow.max_loss(y, z, ontology))
        for kind, name in names.items():
            grown_y, grown_z = (slow.expand(s, ontology, kind) for s in (y, z))
            both = len(grown_y) + len(grown_z)
            same(row[name], 2 * len(grown_y & grown_z) / both if both else 1.0)


@given(problems(), st.sampled_from([(1.0, 0.25), (0.0, 1.0), (1.0, 1.0)]))
@settings(max_examples=60, deadline=None)
def test_alpha_with_weights(problem, weights):
    missed, false = weights
    truth, confidences = problem
    name = f"Alpha(alpha=0.5, missed={missed:g}, false={false:g})"
    scores = evaluate(problem, [name])
    name = str(scores.measures[0])
    for y, z, row in zip(sets(truth), sets(confidences >= 0.5), scores.per_item(), strict=True):
        same(row[name], slow.alpha_score(y, z, 0.5, missed, false))


def test_distances_of_the_small_tree():
    # Thing.Animal.Dog and Place.Indoor: 3 + 2 links, (4 + 2 + 1 + 4 + 2) / 14.
    i, j = CONCEPTS.index("Dog"), CONCEPTS.index("Indoor")
    assert ONTOLOGY.distances(weighted=False)[i, j] == 5
    assert ONTOLOGY.cost_map.costs[i, j] == 13 / 14


def test_balanced_distance_by_hand():
    # Dog and Cat meet in Animal (depth 2). Inner nodes: root 3, Thing 2, Animal 2, Place 2,
    # Style 1 children: mean 2. BR = 1, CP/n1 = 2/3, DPK/n2 = DPR/n3 = 1/3.
    dog, cat = CONCEPTS.index("Dog"), CONCEPTS.index("Cat")
    table = balanced_distance(ONTOLOGY)
    assert table[dog, cat] == pytest.approx((2 / 3) / (2 / 3 + 2 / 3))
    # Dog and Portrait meet at the root only.
    assert table[dog, CONCEPTS.index("Portrait")] == 0
    assert np.all(np.diag(table) == 1)


@given(problems(), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_similarities_of_label_sets(problem, seed):
    rng = np.random.default_rng(seed)
    steps = rng.integers(0, 5, (len(CONCEPTS), len(CONCEPTS))) / 4
    costs = CostMap.of(CONCEPTS, np.triu(steps, 1) + np.triu(steps, 1).T)
    scores = evaluate(problem, "HausdorffSimilarity PathSimilarity", costmap=costs)
    truth, confidences = problem
    rows = zip(sets(truth), sets(confidences >= 0.5), scores.per_item(), strict=True)
    for true, predicted, row in rows:
        same(row["HausdorffSimilarity"], slow.hausdorff_similarity(true, predicted, costs.cost))
        twin = slow.path_similarity(true, predicted, CONCEPTS, costs.cost)
        same(row["PathSimilarity"], twin)


def test_similarity_along_the_links_of_an_ontology():
    """Dog to Cat over Animal: each link costs 1/14 (No 7.2); Dog to Person over Thing."""
    truth = LabelMatrix.of({"a": {"Cat"}, "b": {"Person"}}, concepts=CONCEPTS)
    run = LabelMatrix.of({"a": {"Dog"}, "b": {"Dog", "Person"}}, concepts=CONCEPTS, name="run")
    rows = evaluate_labels(truth, [run], "PathSimilarity", ontology=ONTOLOGY).per_item()
    near, middle = 1 - 1 / 14, 1 - 2 / 14
    assert rows[0]["PathSimilarity"] == pytest.approx(near**2)
    assert rows[1]["PathSimilarity"] == pytest.approx((near * middle**2 + 1) / 2)
