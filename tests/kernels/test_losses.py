"""Where the loss comes from: the parts sum to it, and are what single items show."""

import json
from collections import defaultdict

import numpy as np
import pytest

import cranfield as cf
from cranfield.evaluation.explanations import Mistakes, score_with_mistakes
from cranfield.evaluation.losses import BROKEN, KINDS, MISSED, WRONG
from cranfield.io.samples import SAMPLE

KNOWN = {
    "ontology": SAMPLE / "ontology.csv",
    "rules": SAMPLE / "rules.toml",
    "costmap": SAMPLE / "costmap.csv",
    "agreement": SAMPLE / "agreement.csv",
}
MEASURES = (
    "OS HS SRP OS(alpha=2) OS(rules=False) hP hR hF hF(mean='arithmetic') hP(average='macro') "
    "hR(average='macro') hF(average='macro') hF(average='macro',mean='arithmetic') "
    "hF(expand='nodes') hF(expand='descendants') HLoss MaxLoss WeightedEuclidean"
)


def some(rng, concepts, share):
    return {f"i{n}": {c for c in concepts if rng.random() < share} for n in range(12)}


@pytest.mark.parametrize("share", [0.05, 0.3, 0.8])
def test_the_parts_sum_to_the_loss(share):
    """Also of items where nothing is true or nothing is predicted."""
    rng = np.random.default_rng(2)
    concepts = list(cf.read_labels(SAMPLE / "truth.csv").concepts)
    truth = some(rng, concepts, 0.2) | {"none": set()}
    runs = {"mine": some(rng, concepts, share) | {"none": {concepts[0]}}, "empty": {"i0": set()}}
    runs["perfect"] = truth
    scores, mistakes = score_with_mistakes(truth, runs, MEASURES, concepts=concepts, **KNOWN)
    assert {loss.measure for loss in mistakes.losses} == {str(m) for m in scores.measures}
    for loss in mistakes.losses:
        value = scores.mean()[loss.run][loss.measure]
        perfect = 1.0 if cf.measure(loss.measure).higher_is_better else 0.0
        assert loss.value == pytest.approx(value)
        assert loss.loss == pytest.approx(abs(perfect - value))
        assert sum(part.loss for part in loss.parts) == pytest.approx(loss.loss, abs=1e-12)
        assert sum(loss.of(kind) for kind in KINDS) == pytest.approx(loss.loss, abs=1e-12)


def test_the_parts_are_those_of_single_items():
    """The steps that explain each item, summed over the items by what they say."""
    truth = SAMPLE / "truth.csv"
    runs = [SAMPLE / "labels" / "eager.csv.gz"]
    _, mistakes = score_with_mistakes(truth, runs, "OS SRP", **KNOWN)
    items = cf.read_labels(truth).items[:400:8]
    cut = {item: labels for item, labels in labels_of(truth).items() if item in items}
    _, mistakes = score_with_mistakes(cut, runs, "OS SRP", concepts=concepts_of(truth), **KNOWN)
    total = defaultdict(float)
    for item in items:
        (explained,) = cf.explain_labels(
            cut, runs, item, "OS SRP", concepts=concepts_of(truth), **KNOWN
        ).explained
        for derivation in explained.derivations:
            paid = [s.cost * s.agreement for s in derivation.steps]
            for step, cost in zip(derivation.steps, paid, strict=True):
                kind = {"breaks a rule": BROKEN, "missed": MISSED}.get(step.role, WRONG)
                share = (1 - derivation.value) * cost / sum(paid) if sum(paid) else 0.0
                total[str(derivation.measure), kind] += share / len(items)
    for loss in mistakes.losses:
        for kind in KINDS:
            assert loss.of(kind) == pytest.approx(total[loss.measure, kind], abs=1e-12)


def labels_of(path):
    labels = cf.read_labels(path)
    return {
        item: {c for c, v in zip(labels.concepts, row, strict=True) if v}
        for item, row in zip(labels.items, np.asarray(labels.labels), strict=True)
    }


def concepts_of(path):
    return list(cf.read_labels(path).concepts)


def test_an_example_by_hand(tmp_path):
    """One item is {a}, predicted {b, c}: b and c are exclusive, so both break a rule and pay 1,
    and a, missed, pays its cost to b. The union has three labels."""
    costs = tmp_path / "costs.csv"
    costs.write_text("concept,a,b,c\na,0,0.3,0.9\nb,0.3,0,1\nc,0.9,1,0\n")
    rules = tmp_path / "rules.toml"
    rules.write_text('[[disjoint]]\nconcepts = ["b", "c"]\n')
    truth, run = {"x": {"a"}, "y": {"a"}}, {"mine": {"x": {"b", "c"}, "y": {"a"}}}
    _, mistakes = score_with_mistakes(
        truth, run, "OS", concepts=["a", "b", "c"], rules=rules, costmap=costs
    )
    (loss,) = mistakes.losses
    assert loss.loss == pytest.approx(2.3 / 3 / 2)
    assert loss.of(BROKEN) == pytest.approx(2 / 3 / 2)
    (missed,) = (part for part in loss.parts if part.kind == MISSED)
    assert (missed.true, missed.assigned, missed.times) == ("a", "b", 1)
    assert missed.loss == pytest.approx(0.3 / 3 / 2)
    assert {(p.rule, p.assigned, p.items) for p in loss.parts if p.kind == BROKEN} == {
        ("disjoint {b, c}", "b", 1),
        ("disjoint {b, c}", "c", 1),
    }


def test_runs_that_were_scored_one_by_one():
    names = ("tree", "eager")
    runs = [SAMPLE / "labels" / f"{name}.csv.gz" for name in names]
    _, together = score_with_mistakes(SAMPLE / "truth.csv", runs, "OS hF", **KNOWN)
    parts = []
    for run in runs:
        _, alone = score_with_mistakes(SAMPLE / "truth.csv", [run], "OS hF", **KNOWN)
        parts.append(json.loads(json.dumps(alone.to_plain())))
    assert Mistakes.joined(parts).losses == together.losses
    for part in parts:
        del part["losses"]  # as written before there were any
    assert Mistakes.joined(parts).losses == []


def test_the_errors_of_runs_show_it():
    found = cf.find_errors([SAMPLE], kind="labels", measures="OS AP.concept", shown=2)
    rows = {row["run"]: row for row in found.part("loss_parts").records()}
    assert set(rows["tree"]) == {"run", "measure", "value", "loss", *KINDS}
    assert rows["tree"]["loss"] == pytest.approx(sum(rows["tree"][kind] for kind in KINDS))
    rules = [row for row in found.part("rules").records() if row["run"] == "eager"]
    assert rules[0]["rule"] == "disjoint {Even, Odd}"
    costs = found.part("costs").records()
    assert all(row["true"] or row["assigned"] for row in costs)
