"""How far a test collection can be trusted: Cronbach's alpha and the components of variance."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cranfield.stats._resample import Floats
from cranfield.stats.anova import two_way
from cranfield.stats.randomization import as_scores
from cranfield.validation import validate_params

# What a reader must know of such a value; the formula has no lower end.
NEGATIVE_ALPHA = (
    "A negative alpha is no reliability at all: the runs differ by less than chance among the "
    "{units} would make them; read it as 0."
)


@dataclass(frozen=True, slots=True)
class Reliability:
    """Cronbach's alpha over topics, and what part of the variance comes from where.

    The components are of a single score; estimates below zero are reported as zero. Where they
    do not exist (one run, one topic, equal scores throughout) they are NaN.
    """

    alpha: float
    var_run: float
    var_topic: float
    var_residual: float
    runs: int
    topics: int

    @property
    def shares(self) -> tuple[float, float, float]:
        """Run, topic, and interaction with error, as parts of their sum."""
        total = self.var_run + self.var_topic + self.var_residual
        if not total > 0:
            return (math.nan, math.nan, math.nan)
        return (self.var_run / total, self.var_topic / total, self.var_residual / total)

    def with_topics(self, topics: int) -> float:
        """The alpha to expect of a collection with so many such topics (Spearman-Brown)."""
        if math.isnan(self.alpha):
            return math.nan
        factor = topics / self.topics
        return factor * self.alpha / (1 + (factor - 1) * self.alpha)


@validate_params
def cronbach_alpha(values: Floats) -> float:
    """Cronbach's alpha with topics as the items of a test and runs as its subjects (Bodoff).

    NaN for fewer than two topics or runs, or when no run differs from another in its sum.
    """
    scores = as_scores(values)
    runs, topics = scores.shape
    if runs < 2 or topics < 2:
        return math.nan
    total = float(scores.sum(axis=1).var(ddof=1))
    if total <= 1e-24 * float((scores**2).sum()):
        return math.nan
    single = float(scores.var(axis=0, ddof=1).sum())
    return float(topics / (topics - 1) * (1 - single / total))


@validate_params
def reliability(values: Floats) -> Reliability:
    """Alpha and variance components of scores: rows are runs, columns topics."""
    scores = as_scores(values)
    runs, topics = scores.shape
    if runs < 2 or topics < 2:
        return Reliability(math.nan, math.nan, math.nan, math.nan, runs, topics)
    table = two_way(scores)
    return Reliability(
        cronbach_alpha(scores),
        max((table.ms_runs - table.ms_residual) / topics, 0.0),
        max((table.ms_topics - table.ms_residual) / runs, 0.0),
        table.ms_residual,
        runs,
        topics,
    )
