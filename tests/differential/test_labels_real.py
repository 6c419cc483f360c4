"""Real annotations: NUS-WIDE photos against scikit-learn, X-ray codes against their own paths."""

import itertools

import numpy as np
import pytest

from cranfield.data.labels import LabelMatrix
from cranfield.data.ontology import Ontology
from cranfield.evaluation.labels import evaluate_labels
from cranfield.io.labels import read_labels
from tests.peers import sklearn_metrics as sk


def test_nus_wide_equals_scikit_learn(outside):
    truth = read_labels(
        outside("multilabel/hashnet_nuswide81_test5000.txt.gz", "NUS-WIDE's labels")
    )
    assert truth.shape == (5000, 81)
    rng = np.random.default_rng(81)
    scores = np.clip(0.3 * truth.labels + rng.random(truth.shape) * 0.7, 0, 1).round(3)
    run = LabelMatrix.of(scores, items=truth.items, concepts=truth.concepts, name="run")
    means = evaluate_labels(
        truth, [run], "AUC AP.concept F.concept F.example AP.example Coverage RankingLoss"
    ).mean()["run"]
    labels, predicted = np.asarray(truth.labels), scores >= 0.5
    some, used = labels.any(axis=1), labels.any(axis=0)
    assert 0 < (~used).sum() < 5
    expected = {
        "AUC": sk.roc_auc_score(labels[:, used], scores[:, used]),
        "AP.concept": sk.average_precision_score(labels[:, used], scores[:, used]),
        "F.concept": sk.f1_score(labels, predicted, average="macro", zero_division=1),
        "F.example": sk.f1_score(labels, predicted, average="samples", zero_division=1),
        "AP.example": sk.label_ranking_average_precision_score(labels[some], scores[some]),
        "Coverage": sk.coverage_error(labels[some], scores[some]) - labels[some].sum(1).mean(),
        "RankingLoss": sk.label_ranking_loss(labels[some], scores[some]),
    }
    for name, value in expected.items():
        assert means[name] == pytest.approx(value, rel=0, abs=1e-12), name


@pytest.fixture(scope="module")
def x_rays(outside):
    """The codes of 1,006 X-ray images: chains of a hierarchy of three levels."""
    lines = (
        outside("hier/ImCLEF07D_Test.arff", "the X-ray codes").read_text().split("@DATA")[1].split()
    )
    return [line.rsplit(",", 1)[1].split("@") for line in lines if "," in line]


def test_x_ray_codes(x_rays):
    codes = sorted({code for chain in x_rays for code in chain})
    ontology = Ontology.from_paths((c, c.replace("/", ".")) for c in codes).checked()
    items = [f"x{k}" for k in range(len(x_rays))]
    guesses = x_rays[7:] + x_rays[:7]

    def matrix(chains, name):
        return LabelMatrix.of(
            dict(zip(items, map(set, chains), strict=True)), concepts=codes, name=name
        )

    truth, run = matrix(x_rays, "truth"), matrix(guesses, "run")
    scores = evaluate_labels(
        truth,
        [run],
        "DIMC DDMC HLoss MaxLoss HammingLoss hP hR BalancedDistance",
        ontology=ontology,
    )
    levels = [1, 2, 4]  # what the links of depth 3, 2, 1 cost, in 1/14
    for true, guess, row in zip(x_rays, guesses, scores.per_item(), strict=True):
        a, b = max(true, key=len).split("/"), max(guess, key=len).split("/")
        common = len(list(itertools.takewhile(lambda p: p[0] == p[1], zip(a, b, strict=False))))
        assert row["DIMC"] == len(a) + len(b) - 2 * common
        below = sum(levels[: 3 - common])
        assert row["DDMC"] == pytest.approx(2 * below / 14, abs=1e-15)
        # Of two chains, the first node that differs on either side is the only error that counts.
        assert row["HLoss"] == pytest.approx((2 if common < 3 else 0) / len(codes), abs=1e-15)
        # Chains are closed under ancestors, so nothing is added to them.
        assert row["MaxLoss"] == row["HammingLoss"]
        assert (row["BalancedDistance"] == 1) == (a == b)
        assert (row["BalancedDistance"] == 0) == (common == 0)
    means = scores.mean()["run"]
    true, predicted = np.asarray(truth.labels), np.asarray(run.labels)
    assert means["hP"] == pytest.approx(sk.precision_score(true, predicted, average="micro"))
    assert means["hR"] == pytest.approx(sk.recall_score(true, predicted, average="micro"))
