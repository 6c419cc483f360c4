"""Systems of graded quality that are made up from a truth."""

from scipy import stats

from cranfield.evaluation.labels import evaluate_labels
from cranfield.evaluation.ranked import evaluate
from cranfield.io import read_qrels
from cranfield.io.labels import read_labels
from cranfield.lab.synthetic_runs import graded_labels, graded_rankings


def test_simulated_systems_are_graded_and_seeded(digits):
    judged = read_qrels(digits.judgements)
    runs = list(graded_rankings(judged, count=20, rng=2))
    again = list(graded_rankings(judged, count=20, rng=2))
    scores = evaluate(judged, runs, "AP")
    skill = stats.kendalltau(range(20), scores.overall[scores.measures[0]]).statistic
    assert skill > 0.6
    assert runs[7].to_dict() == again[7].to_dict()
    truth = read_labels(digits.truth)
    labelled = evaluate_labels(truth, graded_labels(truth, count=20), "AP.concept")
    skill = stats.kendalltau(range(20), labelled.overall[labelled.measures[0]]).statistic
    assert skill > 0.6
