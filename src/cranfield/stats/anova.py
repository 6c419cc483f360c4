"""Many runs at once: one-way and two-way analysis of variance, and Friedman's test.

How far a test collection can be trusted: Cronbach's alpha and the components of variance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cranfield.errors import UsageError
from cranfield.stats._resample import Floats
from cranfield.stats.paired import average_ranks
from cranfield.stats.randomization import as_scores
from cranfield.validation import validate_params


@dataclass(frozen=True, slots=True)
class OneWay:
    """One-way analysis of variance: is any group mean unlike the others?"""

    f: float
    p: float
    df_between: int
    df_within: int


@dataclass(frozen=True, slots=True)
class TwoWay:
    """Two-way analysis of variance, runs by topics, one value in each cell."""

    f_runs: float
    p_runs: float
    f_topics: float
    p_topics: float
    df_runs: int
    df_topics: int
    df_residual: int
    ms_runs: float
    ms_topics: float
    ms_residual: float


@validate_params
def sphericity(values: Floats) -> float:
    """Greenhouse and Geisser's epsilon of runs by topics: 1 where all differences of runs vary
    alike, down to 1 / (runs - 1) where one contrast has all of the variance.

    Degrees of freedom of the two-way analysis are multiplied by it where runs do not vary alike.

    >>> round(sphericity([[1, 2, 3, 4], [2, 1, 4, 3], [1, 9, 2, 5]]), 3)
    0.522
    """
    rows = as_scores(values)
    if len(rows) < 2 or rows.shape[1] < 2:
        raise UsageError("sphericity needs two runs or more on two topics or more")
    centred = rows - rows.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    # The squares of a matrix have the same trace as those of its transpose: take the smaller one.
    product = centred @ centred.T if len(rows) <= rows.shape[1] else centred.T @ centred
    total = float((product * product).sum())
    if total == 0:
        return 1.0
    return float(np.trace(product)) ** 2 / ((len(rows) - 1) * total)


@dataclass(frozen=True, slots=True)
class Friedman:
    """Friedman's test on the ranks of the runs in each topic; rank 1 is the smallest value."""

    chi2: float
    p: float
    df: int
    mean_ranks: tuple[float, ...]


@validate_params
def one_way(groups: Sequence[Floats]) -> OneWay:
    """One-way analysis of variance of groups that may differ in size."""
    arrays = [np.asarray(g, dtype=np.float64) for g in groups]
    total = sum(g.size for g in arrays)
    if len(arrays) < 2 or min(g.size for g in arrays) < 1:
        raise UsageError("an analysis of variance needs two groups or more, none of them empty")
    # Moved to one of the values first, so that large offsets do not eat the digits.
    moved = [g - arrays[0][0] for g in arrays]
    centre = sum(float(g.sum()) for g in moved) / total
    between = sum(g.size * (float(g.mean()) - centre) ** 2 for g in moved)
    within = sum(float(((g - g.mean()) ** 2).sum()) for g in moved)
    df_between, df_within = len(arrays) - 1, total - len(arrays)
    if not any(g.any() for g in moved):
        between = within = 0.0
    f, p = _f_ratio(between, df_between, within, df_within)
    return OneWay(f, p, df_between, df_within)


@validate_params
def two_way(values: Floats) -> TwoWay:
    """Two-way analysis of variance without repetition: rows are runs, columns topics."""
    scores = _blocks_of(values)
    runs, topics = scores.shape
    # Moved to one of the values, then shifted per topic: changes no sum of squares, saves digits.
    scores = scores - scores[0, 0]
    centred = scores - scores.mean(axis=0)
    run_means, topic_means = centred.mean(axis=1), scores.mean(axis=0)
    ss_runs = topics * float((run_means**2).sum())
    ss_topics = runs * float(((topic_means - topic_means.mean()) ** 2).sum())
    residual = centred - run_means[:, None]
    ss_residual = float((residual**2).sum())
    if (scores == scores[:1]).all():
        ss_runs = ss_residual = 0.0
    if (scores == scores[:, :1]).all():
        ss_topics = ss_residual = 0.0
    df_runs, df_topics = runs - 1, topics - 1
    df_residual = df_runs * df_topics
    f_runs, p_runs = _f_ratio(ss_runs, df_runs, ss_residual, df_residual)
    f_topics, p_topics = _f_ratio(ss_topics, df_topics, ss_residual, df_residual)
    return TwoWay(
        f_runs,
        p_runs,
        f_topics,
        p_topics,
        df_runs,
        df_topics,
        df_residual,
        ss_runs / df_runs,
        ss_topics / df_topics if df_topics else 0.0,
        ss_residual / df_residual if df_residual else 0.0,
    )


def _f_ratio(effect: float, df_effect: int, error: float, df_error: int) -> tuple[float, float]:
    """F and its p; no effect is p = 1, an effect without any error p = 0."""
    from cranfield.stats._special import fdtrc

    if effect == 0 or df_effect == 0 or df_error == 0:
        return 0.0, 1.0
    if error == 0:
        return float("inf"), 0.0
    f = (effect / df_effect) / (error / df_error)
    return f, float(fdtrc(df_effect, df_error, f))


@validate_params
def friedman(values: Floats) -> Friedman:
    """Friedman's test with the correction for ties: rows are runs, columns topics."""
    from cranfield.stats._special import chdtrc

    scores = _blocks_of(values)
    runs, topics = scores.shape
    ranks = np.empty_like(scores)
    ties = 0.0
    for j, column in enumerate(scores.T):
        ranks[:, j], sizes = average_ranks(column)
        ties += float((sizes**3 - sizes).sum())
    mean_ranks = ranks.mean(axis=1)
    correction = 1 - ties / (runs * (runs * runs - 1) * topics)
    means = tuple(float(r) for r in mean_ranks)
    if correction <= 0:
        return Friedman(0.0, 1.0, runs - 1, means)
    squares = float(((ranks.sum(axis=1)) ** 2).sum())
    chi2 = (12 * squares / (runs * topics * (runs + 1)) - 3 * topics * (runs + 1)) / correction
    # Equal rank sums leave a rounding error on either side of zero.
    chi2 = max(chi2, 0.0)
    return Friedman(chi2, float(chdtrc(runs - 1, chi2)), runs - 1, means)


def _blocks_of(values: Floats) -> Floats:
    scores = as_scores(values)
    if scores.shape[0] < 2 or scores.shape[1] < 1:
        raise UsageError("this test needs two runs or more with a common topic")
    return scores


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
