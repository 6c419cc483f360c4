"""Evaluation when the ground truth is a matter of opinion: votes instead of judgements."""

from cranfield.evaluation.uncertain.answer import Odds, TopicScore, UncertainPair, UncertainScores
from cranfield.evaluation.uncertain.distribution import Distribution, poisson_binomial
from cranfield.evaluation.uncertain.files import evaluate_opinions
from cranfield.evaluation.uncertain.precision import evaluate_uncertain

__all__ = [
    "Distribution",
    "Odds",
    "TopicScore",
    "UncertainPair",
    "UncertainScores",
    "evaluate_opinions",
    "evaluate_uncertain",
    "poisson_binomial",
]
