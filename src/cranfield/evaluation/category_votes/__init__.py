"""Evaluation when the ground truth is a matter of opinion: votes instead of judgements."""

from cranfield.evaluation.category_votes.answer import (
    Distribution,
    Odds,
    TopicScore,
    UncertainPair,
    UncertainScores,
    evaluate_opinions,
    evaluate_uncertain,
    poisson_binomial,
)

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
