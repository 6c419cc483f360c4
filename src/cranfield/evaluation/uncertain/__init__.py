"""Evaluation when the ground truth is a matter of opinion: votes instead of judgements."""

from cranfield.evaluation.uncertain.distribution import Distribution, poisson_binomial
from cranfield.evaluation.uncertain.precision import (
    Comparison,
    Odds,
    TopicScore,
    UncertainScores,
    evaluate_uncertain,
)

__all__ = [
    "Comparison",
    "Distribution",
    "Odds",
    "TopicScore",
    "UncertainScores",
    "evaluate_uncertain",
    "poisson_binomial",
]
