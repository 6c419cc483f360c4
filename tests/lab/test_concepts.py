"""Annotations in studies of rankings, of ranks and of requirements."""

import numpy as np
import pytest

from cranfield.data import Judgements, Run
from cranfield.data.labels import LabelMatrix, concept_judgements, concept_ranking
from cranfield.errors import CranfieldError, MeasureError, UsageError
from cranfield.evaluation.labels import evaluate_labels
from cranfield.evaluation.ranked import evaluate
from cranfield.io.ontology import read_ontology
from cranfield.lab.growing_collections import generality, simulated_generality
from cranfield.lab.measure_correlation import correlate
from cranfield.lab.measure_requirements import (
    ConceptKnowledge,
    chosen_concepts,
    label_cases,
    requirements,
)
from cranfield.lab.rank_curves import curves
from cranfield.lab.ranking_stability import stability
from cranfield.lab.reusability import leave_one_out
from cranfield.lab.study_input import StudyInput
from cranfield.lab.synthetic_runs import random_study
from cranfield.measures import measure
from cranfield.work.executors import Plan
from tests.peers import sklearn_metrics

ITEMS = [f"i{k:02}" for k in range(30)]


def annotations(seed=0, concepts=("Sky", "Sea", "None")):
    rng = np.random.default_rng(seed)
    truth = rng.random((30, len(concepts))) < 0.3
    truth[:, -1] = False
    runs = {n: truth * rng.random() + rng.random(truth.shape) for n in "abc"}
    runs = {n: r / r.max() for n, r in runs.items()}
    made = LabelMatrix.of(truth, items=ITEMS, concepts=list(concepts))
    return made, {
        n: LabelMatrix.of(r, items=ITEMS, concepts=list(concepts), name=n) for n, r in runs.items()
    }


def test_a_concept_is_a_topic_ranked_by_confidence():
    truth, runs = annotations()
    judged = concept_judgements(truth)
    assert judged.topics == ("Sky", "Sea")  # no item has the third: left out
    scores = evaluate(judged, [concept_ranking(r) for r in runs.values()], "AP")
    for i, run in enumerate(runs.values()):
        found = scores.values[scores.measures[0]][i]
        own = [
            sklearn_metrics.average_precision_score(truth.labels[:, c], run.confidences[:, c])
            for c in (0, 1)
        ]
        assert found == pytest.approx(own)
    material = StudyInput.concepts(truth, runs, "AP NAR")
    scored = material.score(material.read_run(runs["a"], "a"))
    assert scored.overall[0] == pytest.approx(scores.overall[scores.measures[0]][0])
    with pytest.raises(CranfieldError, match="no item has a concept"):
        concept_judgements(LabelMatrix.of(np.zeros((2, 2), dtype=bool)))


def test_generality_of_annotations_takes_the_items_for_the_collection():
    truth, runs = annotations()
    material = StudyInput.concepts(truth, runs, "AP NumRet NumRelRet")
    found = generality(material, shares=(0.6, 1.0))
    assert found.sizes == (18, 30)
    # All items are known: the smaller collection has exactly its size in every topic.
    assert found.scores[:, :, 1].tolist() == [[36.0] * 3, [60.0] * 3]
    assert (found.scores[0, :, 2] == found.scores[1, :, 2]).all()
    assert (found.scores[0, :, 0] >= found.scores[1, :, 0]).all()
    with pytest.raises(CranfieldError, match=r"cannot hold.*leave out sizes below 8 items"):
        generality(material, shares=(0.1, 1.0))


def test_judged_items_leave_a_shrunken_collection():
    judged = {"t": {f"d{k}": int(k < 5) for k in range(100)}}
    run = {"t": {f"d{k}": float(k) for k in range(100)}}
    found = generality(
        StudyInput.ranked(judged, {"r": run}, "NumRet NAR"),
        collection_size=100,
        shares=(0.1, 0.5, 1.0),
    )
    assert found.sizes == (10, 50, 100)
    assert tuple(found.scores[:, 0, 0]) == found.sizes


def brute_force(judged, runs, depth):
    """Leave-one-out by hand: AP over the judgements of the pool without one run."""
    order = {
        n: {t: sorted(i, key=lambda d: (-i[d], d)) for t, i in r.items()} for n, r in runs.items()
    }

    def ap(name, known):
        total = 0.0
        for topic in judged:
            good = {i for i, g in judged[topic].items() if g and (topic, i) in known}
            hits, own = 0, 0.0
            for rank, item in enumerate(order[name].get(topic, []), 1):
                if item in good:
                    hits += 1
                    own += hits / rank
            total += own / len(good) if good else 0.0
        return total / len(judged)

    def pool(names):
        return {(t, i) for n in names for t, own in order[n].items() for i in own[:depth]}

    return {n: (ap(n, pool(runs)), ap(n, pool([o for o in runs if o != n]))) for n in runs}


@pytest.mark.parametrize("seed", range(5))
def test_leave_one_out_counted_by_hand(seed):
    rng = np.random.default_rng(seed)
    items = [f"d{k}" for k in range(12)]
    judged = {f"t{t}": {i: int(rng.random() < 0.4) for i in items} for t in range(3)}
    runs = {
        n: {t: {items[k]: float(-p) for p, k in enumerate(rng.permutation(12)[:8])} for t in judged}
        for n in "abcd"
    }
    expected = brute_force(judged, runs, 3)
    material = StudyInput.ranked(judged, runs, "AP")
    for plan in (Plan(), Plan("processes", 2)) if seed == 0 else (Plan(),):
        found = {r.run: r for r in leave_one_out(material, depth=3, plan=plan).runs}
        for name, (score, without) in expected.items():
            assert found[name].score == pytest.approx(score)
            assert found[name].score_without == pytest.approx(without)


def test_pool_of_annotations(labels, digits):
    material = StudyInput.concepts(digits.truth, list(digits.label_runs), "AP")
    found = leave_one_out(material, depth=10)
    assert {r.run for r in found.runs} == set(material.run_names)
    for study in (leave_one_out, generality):
        with pytest.raises(UsageError, match=r"StudyInput\.concepts"):
            study(labels)


def test_every_study_takes_annotations_as_rankings():
    truth, runs = annotations()
    material = StudyInput.concepts(truth, runs, "AP RR NAR")
    assert len(correlate(material, resamples=5).pairs) == 3
    assert stability(material, repeats=2, trials=5, resamples=5).powers
    found = random_study(material, count=2)
    assert [r.kind for r in found.runs] == ["real"] * 3 + ["random"] * 2


@pytest.mark.parametrize("ranks", [(1,), (4,), (7,), (1, 7), (2, 3), (6, 7)])
def test_curves_of_annotation_equal_scikit_learn(ranks):
    found = curves("AP AP.concept AUC RankingLoss OneError EER", size=7, relevant=len(ranks))
    true = np.isin(np.arange(1, 8), ranks)
    sure = -np.arange(1.0, 8)
    assert found.at("AP.concept", *ranks) == pytest.approx(
        sklearn_metrics.average_precision_score(true, sure)
    )
    assert found.at("AP", *ranks) == pytest.approx(found.at("AP.concept", *ranks))
    assert found.at("AUC", *ranks) == pytest.approx(sklearn_metrics.roc_auc_score(true, sure))
    assert found.at("RankingLoss", *ranks) == pytest.approx(
        sklearn_metrics.label_ranking_loss([true], [sure])
    )
    assert found.at("OneError", *ranks) == float(1 not in ranks)


def test_curves_and_requirements_on_any_executor_and_of_any_set(tmp_path):
    whole = curves("image AP.concept", size=40, relevant=2).to_dict()
    parts = curves("image AP.concept", size=40, relevant=2, plan=Plan("processes", 2)).to_dict()
    assert parts == whole
    here = requirements("shrec imageclef2009", ontology="pto-2009")
    assert {"EER", "AUC", "OS"} < set(here.measures)
    plan = Plan(folder=tmp_path / "s")
    for _ in range(2):
        again = requirements("shrec imageclef2009", ontology="pto-2009", plan=plan)
        assert again.to_dict() == here.to_dict()
    sizes = {"sizes": (100, 200), "relevant": 5, "topics": 3}
    made = simulated_generality("AP", **sizes).to_dict()
    assert simulated_generality("AP", **sizes, plan=Plan("processes", 2)).to_dict() == made


SET_MEASURES = "P.example R.example F.example HammingLoss"
RANKED_MEASURES = "OneError Coverage RankingLoss AP.example Rprec.example"


def test_the_user_model_on_the_measures_that_the_thesis_discusses():
    """Thesis 9.2 (One Error, 3.3.4 and 3.3.5), and 9.6 of SRP: it meets all three."""
    found = requirements(f"{SET_MEASURES} {RANKED_MEASURES} OS SRP", ontology="pto-2009")
    ranked, sets = RANKED_MEASURES.split(), SET_MEASURES.split()
    # "One Error fails to fulfil the need to consider the whole ground truth set of labels."
    assert found.of("OneError", "U1").holds is False
    assert "scores as if no true concept were lost" in found.of("OneError", "U1").counter_example
    assert all(found.of(m, "U1").holds for m in ("AP.example", "Rprec.example", "OS", "SRP"))
    # "All measures presented in Chapter 3.3.4 and 3.3.5 violate Requirement 2."
    assert not any(found.of(m, "U2").holds for m in (*ranked, *sets))
    assert all(found.of(m, "U2").holds for m in ("OS", "SRP"))
    # "The label set measures (potentially) violate Requirement 3"; OS needs decisions as well.
    assert not any(found.of(m, "U3").holds for m in (*sets, "OS"))
    assert all(found.of(m, "U3").holds for m in (*ranked, "SRP"))


def test_what_kiritchenko_asks_of_hierarchical_measures():
    found = requirements("OS HS SRP F.example", ontology="pto-2009")
    for number in ("K1", "K2", "K3"):
        assert all(found.of(m, number).holds for m in ("OS", "HS", "SRP"))
        assert found.of("F.example", number).holds is False
    # Without a hierarchy there is nothing to ask, and concepts on their own have no place in it.
    assert not any(str(r.number).startswith("K") for r in requirements("F.example").found)
    assert requirements("AP.concept", ontology="pto-2009").of("AP.concept", "K1").holds is None


def test_semantic_r_precision_against_the_requirements_of_the_thesis():
    """Thesis 9.4.4 (line 2411): highest for perfect quality only, the same for equal inputs.

    Tried on real rankings these hold. "Monotonic" does not, on the costs of the tree.
    """
    found = requirements("SRP", ontology="pto-2009")
    assert found.of("SRP", 1).holds
    assert found.of("SRP", 6).holds
    assert found.of("SRP", 3).holds is False
    concepts = ["Plants", "Flowers", "Building_Sights", "Canvas"]
    truth = LabelMatrix.of(np.array([[1, 0, 0, 1]] * 2), items=["a", "b"], concepts=concepts)
    # a: Building, Flowers, Canvas, Plants. b: Canvas, which is true, one place further up.
    sure = LabelMatrix.of(
        np.array([[0.1, 0.8, 0.9, 0.5], [0.1, 0.5, 0.9, 0.8]]), items=["a", "b"], concepts=concepts
    )
    scores = evaluate_labels(truth, {"run": sure}, "SRP", ontology="pto-2009")
    worse, better = scores.values[scores.measures[0]][0]
    assert (worse, better) == pytest.approx((17 / 28, 16 / 28))


def test_truths_that_break_a_rule_are_no_cases(tmp_path):
    (tmp_path / "o.csv").write_text("concept,path\nDay,Day\nNight,Night\nSea,Water.Sea\nSky,Sky\n")
    (tmp_path / "r.toml").write_text('[[disjoint]]\nconcepts = ["Day", "Night"]\n')
    known = ConceptKnowledge(read_ontology(tmp_path / "o.csv", rules=tmp_path / "r.toml"), {})
    truths = {case[0] for case in next(label_cases(measure("OS"), known)).values}
    names = known.ontology.concepts
    assert len(truths) == 11  # of 14 the three with Day and Night
    assert not any(t[names.index("Day")] and t[names.index("Night")] for t in truths)
    given = {"ontology": tmp_path / "o.csv", "rules": tmp_path / "r.toml"}
    assert (
        requirements("OS", **given).to_dict()
        == requirements("OS", **given, plan=Plan("processes", 1)).to_dict()
    )


def test_chosen_concepts_differ_in_depth_and_in_rules():
    ontology = read_ontology("pto-2009")
    chosen = chosen_concepts(ConceptKnowledge(ontology, {}))
    assert len(chosen) == 8
    assert {ontology.depth(c) for c in chosen} == {ontology.depth(c) for c in ontology.concepts}
    assert any(set(ontology.ancestors(c)) & set(chosen) for c in chosen)
    group = ontology.exclusive[0][1]
    assert sum(any(c in member for member in group) for c in chosen) >= 2


def test_equivalent_inputs_score_the_same():
    found = requirements("OneError F.example HammingLoss")
    for name in ("OneError", "F.example", "HammingLoss"):
        assert found.of(name, 6).holds


def test_requirements_with_few_concepts_and_with_costs(tmp_path):
    few = tmp_path / "few.csv"
    few.write_text("concept,path\nA,A\nB,B\n")
    assert requirements("HS", ontology=few).of("HS", 1).holds
    few.write_text("concept,path\nA,A\n")
    with pytest.raises(CranfieldError, match="two concepts or more"):
        requirements("HS", ontology=few)
    costs = tmp_path / "map.csv"
    costs.write_text("concept,A,B,C\nA,0,0.5,1\nB,0.5,0,1\nC,1,1,0\n")
    assert requirements("OS(cost='mine')", costmap={"mine": costs}).measures == ("OS(cost='mine')",)
    assert requirements("AP AP").measures == ("AP",)
    with pytest.raises(MeasureError, match="no measure was asked for"):
        requirements("")


def test_what_has_no_curve_is_said():
    with pytest.raises(UsageError, match=r"F\.example reads decisions"):
        curves("F.example")
    with pytest.raises(UsageError, match="1 rank make 0 pairs"):
        curves("AP", ranks=[5], relevant=2)


def test_ranked_objects_travel_to_processes():
    judged = Judgements.from_dict({"t": {"a": 1, "b": 0, "c": 1}})
    runs = [
        Run.from_dict({"t": dict(zip("abc", s, strict=True))}).named(f"r{k}")
        for k, s in enumerate([(3, 2, 1), (1, 3, 2), (1.0, 2.0, 3.0)])
    ]
    material = StudyInput.ranked(judged, runs, "AP RR")
    here = leave_one_out(material, depth=1).to_dict()
    assert leave_one_out(material, depth=1, plan=Plan("processes", 2)).to_dict() == here
