"""What measures of annotation promise, over random problems and over the whole registry."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield.data.costmap import CostMap
from cranfield.data.labels import LabelMatrix
from cranfield.errors import InputError, NeedsError, UsageError
from cranfield.evaluation.labels import evaluate_labels
from cranfield.measures.labels.registry import LABEL_MEASURES, LABEL_REGISTRY, LABEL_SETS
from cranfield.ontologies import pto
from cranfield.registry import split_names

PTO = pto(2009)
CONCEPTS = PTO.concepts


def valid_truth(rng, n):
    """Labels that keep every rule: one of each exclusive group, ancestors of what is chosen."""
    labels = np.zeros((n, len(CONCEPTS)), dtype=bool)
    at = {c: j for j, c in enumerate(CONCEPTS)}
    grouped = {c for _, group in PTO.exclusive for member in group for c in member}
    for row in labels:
        for _, group in PTO.exclusive:
            row[at[group[rng.integers(len(group))][0]]] = True
        for c in CONCEPTS:
            if c not in grouped and c != "Portrait" and rng.random() < 0.12:
                row[[at[c], *(at[a] for a in PTO.ancestors(c))]] = True
        if row[at["Animals"]] or not row[at["No_Persons"]]:
            row[at["Portrait"]] = rng.random() < 0.3
    return labels


def matrix(values, name="run", items=None):
    items = items or [f"i{k:04d}" for k in range(len(values))]
    return LabelMatrix.of(values, items=items, concepts=CONCEPTS, name=name)


def quiet(*args, **options):
    return evaluate_labels(*args, **options)


def problem(seed, n=30):
    rng = np.random.default_rng(seed)
    truth = valid_truth(rng, n)
    noise = rng.random(truth.shape)
    return matrix(truth, "truth"), matrix(np.round(0.4 * truth + 0.6 * noise, 3))


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_a_perfect_prediction_has_the_best_value(seed):
    truth, _ = problem(seed, 8)
    perfect = matrix(truth.labels)
    scores = quiet(truth, [perfect], "all", ontology=PTO)
    for measure in scores.measures:
        values = scores.values[measure][0]
        values = values[~np.isnan(values)]
        if measure.higher_is_better is None or measure.name == "P.concept":
            continue
        if measure.higher_is_better:
            assert np.allclose(values, 1.0, atol=1e-12), measure
        else:
            assert np.allclose(values, 0.0, atol=1e-12), measure


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_values_stay_in_the_declared_range(seed):
    truth, run = problem(seed, 8)
    scores = quiet(truth, [run], "all", ontology=PTO)
    for measure in scores.measures:
        values = scores.values[measure][0]
        low, high = measure.range
        kept = values[~np.isnan(values)]
        assert np.all((kept >= low - 1e-12) & (kept <= high + 1e-12)), measure


@pytest.mark.parametrize("name", [*LABEL_REGISTRY])
def test_names_parse_both_ways(name):
    measure = LABEL_REGISTRY[name]
    assert LABEL_REGISTRY.find(str(measure)) == measure
    for text in split_names(measure.example):
        example = LABEL_REGISTRY.find(text)
        assert example.name == name
        assert LABEL_REGISTRY.find(str(example)) == example


def test_declarations_are_complete():
    assert len(LABEL_REGISTRY) == len(LABEL_MEASURES)
    for measure in LABEL_MEASURES:
        for field in ("title", "formula", "family", "summary", "ties", "undefined", "example"):
            assert getattr(measure, field), f"{measure.name} has no {field}"
        assert measure.needs <= {
            *("labels", "confidences", "hierarchy", "costs", "grades", "probabilities"),
        }


def test_sets_name_known_measures():
    assert set(LABEL_SETS) == {"imageclef2009", "imageclef2010", "imageclef2011", "all"}
    assert LABEL_REGISTRY.find("iAP.concept").mean_label == "MiAP"
    assert LABEL_REGISTRY.find("AP.concept").mean_label == "MAP"


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_an_empty_prediction_has_an_ontology_score_of_0(seed):
    truth, _ = problem(seed, 6)
    scores = quiet(truth, [matrix(np.zeros(truth.shape, bool))], "OS HS", ontology=PTO)
    assert scores.mean()["run"] == {"OS": 0.0, "HS": 0.0}


def test_both_empty_is_1_and_one_empty_is_0():
    truth = LabelMatrix.of({"a": set(), "b": {"Sky"}, "c": set()}, concepts=CONCEPTS)
    run = LabelMatrix.of({"a": set(), "b": set(), "c": {"Sky"}}, concepts=CONCEPTS, name="run")
    names = "P.example R.example F.example Accuracy.example OS HS"
    for row in evaluate_labels(truth, [run], names, ontology=PTO).per_item():
        expected = 1.0 if row["item"] == "a" else 0.0
        assert {v for k, v in row.items() if k not in ("run", "item")} == {expected}


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_an_unrelated_label_scores_below_a_related_one(seed):
    # Sea instead of Lake, then a concept of another branch instead of Lake.
    rng = np.random.default_rng(seed)
    others = ["Partylife", "Food", "Canvas", "Sports", "Vehicle", "Fancy"]
    base = {"Water", "Outdoor", "Day", "No_Persons", "No_Blur", "Neutral_Illumination"}
    truth = LabelMatrix.of({"x": base | {"Lake"}}, concepts=CONCEPTS)
    related = LabelMatrix.of({"x": base | {"Sea"}}, concepts=CONCEPTS, name="related")
    swap = others[rng.integers(len(others))]
    unrelated = LabelMatrix.of({"x": base | {swap}}, concepts=CONCEPTS, name="unrelated")
    means = evaluate_labels(truth, [related, unrelated], "OS HS", ontology=PTO).mean()
    assert means["related"]["OS"] > means["unrelated"]["OS"]
    assert means["related"]["HS"] > means["unrelated"]["HS"]


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_semantic_r_precision_is_at_least_r_precision(seed):
    truth, run = problem(seed)
    costs = {"zero_one": CostMap.zero_one(CONCEPTS), "tree": PTO.cost_map}
    scores = quiet(
        truth, [run], "SRP(cost='tree') SRP(cost='zero_one') Rprec.example", costmap=costs
    )
    for row in scores.per_item():
        assert row["SRP(cost='tree')"] >= row["Rprec.example"]
        assert row["SRP(cost='zero_one')"] == row["Rprec.example"]


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_the_order_of_items_and_concepts_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    truth_flags = valid_truth(rng, 12)
    # Distinct confidences: only ties may depend on the order of the vocabulary.
    confidences = rng.permutation(truth_flags.size).reshape(truth_flags.shape) / truth_flags.size
    items = [f"i{k}" for k in range(12)]
    rows, columns = rng.permutation(12), rng.permutation(len(CONCEPTS))

    def shuffled(values, name):
        return LabelMatrix.of(
            values[rows][:, columns],
            items=[items[i] for i in rows],
            concepts=[CONCEPTS[j] for j in columns],
            name=name,
        )

    truth, run = matrix(truth_flags, "truth", items), matrix(confidences, "run", items)
    # Agreement is equal, so that a tie of the argmin costs the same.
    names = "OS HS SRP AUC AP.concept F.example AP.example Rprec.concept"
    plain = quiet(truth, [run], names, ontology=PTO).mean()["run"]
    moved_run = quiet(truth, [shuffled(confidences, "run")], names, ontology=PTO).mean()["run"]
    moved_both = quiet(shuffled(truth_flags, "truth"), [run], names, ontology=PTO).mean()["run"]
    for name, value in plain.items():
        assert moved_run[name] == value, name
        assert moved_both[name] == pytest.approx(value, rel=0, abs=1e-12), name


@given(st.integers(0, 10**6), st.integers(1, 4))
@settings(max_examples=10, deadline=None)
def test_threads_do_not_change_numbers(seed, jobs):
    truth, run = problem(seed, 300)
    one = quiet(truth, [run], "all", ontology=PTO, jobs=1)
    many = quiet(truth, [run], "all", ontology=PTO, jobs=jobs)
    for measure in one.measures:
        np.testing.assert_array_equal(one.values[measure], many.values[measure])


def test_blocks_do_not_change_numbers(monkeypatch):
    from cranfield.measures.labels import blocks

    truth, run = problem(3, 50)
    whole = quiet(truth, [run], "all", ontology=PTO)
    monkeypatch.setattr(blocks, "BLOCK_CELLS", 53 * 7)
    parts = quiet(truth, [run], "all", ontology=PTO)
    for measure in whole.measures:
        np.testing.assert_allclose(
            whole.overall[measure], parts.overall[measure], rtol=0, atol=1e-12
        )


def test_sparse_matrices_give_the_same_numbers(monkeypatch):
    from scipy import sparse

    from cranfield.measures.labels import blocks

    truth, run = problem(4, 40)
    dense = quiet(truth, [run], "all", ontology=PTO)
    monkeypatch.setattr(blocks, "RANKED_BLOCK_CELLS", 40 * 10)
    thin_truth = LabelMatrix.of(
        sparse.csr_array(truth.labels), items=truth.items, concepts=CONCEPTS, name="truth"
    )
    order = np.argsort(run.items)[::-1]
    thin_run = LabelMatrix.of(
        sparse.csr_array(run.confidences[order]),
        items=[run.items[i] for i in order],
        concepts=CONCEPTS,
        name="run",
    )
    thin = quiet(thin_truth, [thin_run], "all", ontology=PTO)
    for measure in dense.measures:
        np.testing.assert_array_equal(dense.values[measure], thin.values[measure])


# -- the two studies of section 7.5 ------------------------------------------------------------


@pytest.fixture(scope="module")
def collection():
    return matrix(valid_truth(np.random.default_rng(2009), 1000), "truth")


def test_overannotation(collection):
    everything = matrix(np.ones(collection.shape, bool), "everything")
    sensible = np.random.default_rng(1).random(collection.shape) < 0.04
    system = matrix(collection.labels ^ sensible, "system")
    means = evaluate_labels(
        collection, [everything, system], "R.concept R.example F.example OS", ontology=PTO
    ).mean()
    assert means["everything"]["R.concept"] == means["everything"]["R.example"] == 1.0
    assert means["everything"]["F.example"] < 0.35
    assert means["everything"]["OS"] < 0.35
    assert means["system"]["F.example"] > 0.75
    assert means["system"]["OS"] > means["everything"]["OS"] + 0.2


def test_random_runs_have_the_shape_of_figure_7_6(collection):
    rng = np.random.default_rng(76)
    densities = [d / 10 for d in range(1, 11)]
    runs = [matrix(rng.random(collection.shape) < d, f"random{d:.1f}") for d in densities]
    scores = evaluate_labels(collection, runs, "HS OS R.example F.example", ontology=PTO)
    value = {str(m): [scores.overall[m][i] for i in range(len(runs))] for m in scores.measures}
    # HS rises with density and ends where good systems are.
    assert all(b > a for a, b in zip(value["HS"][:5], value["HS"][1:6], strict=True))
    assert value["HS"][-1] > value["HS"][0] + 0.1
    # OS does not reward it: from the density of the truth (0.17) on it falls.
    assert all(b < a for a, b in zip(value["OS"][1:], value["OS"][2:], strict=False))
    assert value["OS"][-1] < value["OS"][0]
    # The thesis reports at most 0.49 for random runs.
    assert max(value["OS"]) < 0.55
    assert value["R.example"] == pytest.approx(densities, abs=0.02)


# -- messages -----------------------------------------------------------------------------------


def test_a_hierarchical_measure_asks_for_the_hierarchy():
    with pytest.raises(NeedsError, match=r"HLoss needs a hierarchy.*ontology="):
        evaluate_labels({"a": {"x"}}, [{"a": {"x"}}], "HLoss")


def test_costs_that_nobody_gave_are_said():
    scores = evaluate_labels({"a": {"x", "y"}}, {"r": {"a": {"x"}}}, "OS Accuracy.example")
    assert "every confusion of two concepts costs 1" in scores.notes[0]
    assert scores.mean()["r"]["OS"] == scores.mean()["r"]["Accuracy.example"]


def test_an_unknown_cost_map_is_named():
    with pytest.raises(NeedsError, match=r"no cost map named 'fcs'\. Did you mean 'fts'"):
        evaluate_labels(
            {"a": {"x", "y"}}, {"r": {"a": {"x"}}}, "OS(cost='fcs')",
            costmap={"fts": CostMap.zero_one(["x", "y"])},
        )  # fmt: skip


def test_a_binary_run_under_a_ranked_measure_warns():
    truth = {"a": {"x"}, "b": {"y"}}
    (note,) = evaluate_labels(truth, {"r": truth}, "AUC F.example").notes
    assert re.search(r"r: has labels without confidences.*AUC", note)


def test_an_inconsistent_truth_warns():
    truth = LabelMatrix.of({"a": {"Indoor", "Outdoor"}}, concepts=CONCEPTS)
    (note,) = evaluate_labels(truth, {"r": truth}, "OS", ontology=PTO).notes
    assert "1 of 1 items break a rule" in note


def test_values_that_were_not_kept_are_not_there():
    scores = evaluate_labels({"a": {"x"}}, {"r": {"a": {"x"}}}, "F.example", keep=False)
    assert scores.mean() == {"r": {"F.example": 1.0}}
    with pytest.raises(UsageError, match="not kept"):
        scores.per_item()


def test_files_names_and_matrices_may_be_mixed(tmp_path):
    (tmp_path / "truth.csv").write_text("item,Sky,Sea\na,1,0\nb,0,1\n")
    (tmp_path / "mine.csv").write_text("item,Sky,Sea\na,0.9,0.1\nb,0.2,0.3\n")
    truth, run = tmp_path / "truth.csv", tmp_path / "mine.csv"
    assert evaluate_labels(truth, [run], "F.example").mean() == {"mine": {"F.example": 0.5}}
    named = evaluate_labels(truth, {"x": run, "y": np.eye(2)}, "F.example").mean()
    assert named == {"x": {"F.example": 0.5}, "y": {"F.example": 1.0}}
    assert evaluate_labels(truth, run, "F.example").mean() == {"mine": {"F.example": 0.5}}
    with pytest.raises(UsageError, match="two runs are named 'mine'"):
        evaluate_labels(truth, [run, run], "F.example")


def test_unknown_concepts_are_refused():
    with pytest.raises(InputError, match=r"unknown concept 'Skye'\. Did you mean 'Sky'"):
        evaluate_labels({"a": {"Sky", "Sea"}}, {"r": {"a": {"Skye"}}}, "F.example")


def test_runs_are_dropped_one_by_one():
    """A generator is asked for the next run only after the last one is scored."""
    alive = []

    def runs():
        for k in range(3):
            alive.append(k)
            yield matrix(np.ones((2, len(CONCEPTS)), bool), f"r{k}", ["a", "b"])

    done = []
    truth = matrix(np.ones((2, len(CONCEPTS)), bool), "truth", ["a", "b"])
    evaluate_labels(truth, runs(), "F.example", progress=lambda _: done.append(len(alive)))
    assert done == [1, 2, 3, 3]  # and the end
