"""Precision and recall as distributions, when nobody knows for certain what is relevant.

Santini, Benchmarking without ground truth, section 4. An item is of the query's category with
the probability that the votes give it, independently of other items; so the number of such
items among those retrieved has a Poisson-binomial distribution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.data import Run
from cranfield.data.categories import Categorisation
from cranfield.errors import UsageError, check_counts, suggest
from cranfield.evaluation.uncertain.distribution import (
    Distribution,
    convolve,
    mixture,
    poisson_binomial,
    product_of,
)

Mixing: TypeAlias = Literal["votes", "printed"]
Unvoted: TypeAlias = Literal["error", "zero"]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TopicScore:
    """Precision and recall of one ranking. Recall is None when the category has no items."""

    topic: str
    retrieved: int
    precision: Distribution
    recall: Distribution | None


@dataclass(frozen=True)
class Odds:
    """How likely run a finds more items of the query's category than run b does."""

    better: float
    equal: float
    worse: float


@dataclass(frozen=True)
class Comparison:
    """Two runs topic by topic, and by the mean of precision over the topics both have."""

    a: str
    b: str
    overall: Odds
    topics: Mapping[str, Odds]


@dataclass(frozen=True)
class UncertainScores:
    """What runs reach at cutoff k under uncertain categories."""

    k: int
    runs: Mapping[str, tuple[TopicScore, ...]]
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...] = ()

    def mean(self, run: str, what: Literal["precision", "recall"]) -> tuple[float, float]:
        """Mean over topics of the expectation, and the standard deviation of that mean."""
        parts = [getattr(score, what) for score in self.runs[run]]
        known = [p for p in parts if p is not None]
        if not known:
            return float("nan"), float("nan")
        mean = sum(p.mean for p in known) / len(known)
        return mean, float(np.sqrt(sum(p.variance for p in known))) / len(known)


def evaluate_uncertain(
    categorisation: Categorisation,
    runs: Sequence[Run],
    *,
    k: int = 10,
    queries: Mapping[str, str] | None = None,
    mixing: Mixing = "votes",
    unvoted: Unvoted = "error",
) -> UncertainScores:
    """Score runs whose topics are items with votes, or categories.

    `queries` gives the item or category of topics whose name is neither. With mixing='votes' a
    query is of a category with the share of votes that name it; 'printed' follows eq. 13, where
    categories above those count too, divided by the sum to make it a distribution. Items without
    votes are an error, or with unvoted='zero' of no category.
    """
    check_counts(k=k)
    known = dict(queries or {})
    weights: dict[str, Floats] = {}
    chances: list[dict[str, tuple[tuple[str, ...], Floats]]] = []
    for run in runs:
        tops: dict[str, tuple[tuple[str, ...], Floats]] = {}
        for topic in run.topics:
            if topic not in weights:
                weights[topic] = _weights(categorisation, known.get(topic, topic), topic, mixing)
            items = tuple(run.ranking(topic)[:k])
            tops[topic] = items, _probabilities(categorisation, items, run.name, topic, unvoted)
        chances.append(tops)
    scores = {
        run.name: tuple(
            _score(topic, table, weights[topic], categorisation.sizes, k)
            for topic, (_, table) in tops.items()
        )
        for run, tops in zip(runs, chances, strict=True)
    }
    comparisons = tuple(
        _compare(runs[i].name, runs[j].name, chances[i], chances[j], weights)
        for i, j in combinations(range(len(runs)), 2)
    )
    return UncertainScores(k, scores, comparisons, _notes(runs))


def _weights(categorisation: Categorisation, query: str, topic: str, mixing: Mixing) -> Floats:
    """How likely the query is of each category."""
    categories = categorisation.graph.categories
    is_item, is_category = query in categorisation.position, query in categories
    if is_item and is_category:
        raise UsageError(
            f"topic {topic!r}: {query!r} is the name of an item and of a category; rename one"
        )
    if is_category:
        return np.array([float(c == query) for c in categories])
    if not is_item:
        near = suggest(query, [*categorisation.items, *categories])
        raise UsageError(
            f"topic {topic!r} is neither an item with votes nor a category.{near} Name its query "
            "with --queries FILE (topic,query)"
        )
    table = categorisation.direct if mixing == "votes" else categorisation.probability
    row: Floats = table[categorisation.position[query]]
    return np.asarray(row / row.sum(), dtype=np.float64)


def _probabilities(
    categorisation: Categorisation, items: Sequence[str], run: str, topic: str, unvoted: Unvoted
) -> Floats:
    """A row per item: the chance that it is of each category."""
    strangers = [item for item in items if item not in categorisation.position]
    if strangers and unvoted == "error":
        raise UsageError(
            f"{run}: item {strangers[0]!r} of topic {topic!r} has no votes ({len(strangers)} such "
            "items in this topic); pass --unvoted zero to count them as of no category"
        )
    table = np.zeros((len(items), len(categorisation.graph.categories)))
    for i, item in enumerate(items):
        if item in categorisation.position:
            table[i] = categorisation.probability[categorisation.position[item]]
    return table


def _score(topic: str, table: Floats, weights: Floats, sizes: Floats, k: int) -> TopicScore:
    chosen = np.flatnonzero(weights)
    counts = {c: poisson_binomial(table[:, c]) for c in chosen}
    steps = np.arange(len(table) + 1)
    precision = mixture((weights[c], Distribution(steps / k, counts[c])) for c in chosen)
    recall = None
    if all(sizes[c] > 0 for c in chosen):
        recall = mixture((weights[c], Distribution(steps / sizes[c], counts[c])) for c in chosen)
    return TopicScore(topic, len(table), precision, recall)


def _compare(
    a: str,
    b: str,
    tops_a: Mapping[str, tuple[tuple[str, ...], Floats]],
    tops_b: Mapping[str, tuple[tuple[str, ...], Floats]],
    weights: Mapping[str, Floats],
) -> Comparison:
    topics: dict[str, Odds] = {}
    differences: list[Floats] = []
    zero = 0
    for topic in (t for t in tops_a if t in tops_b):
        difference, at = _difference(tops_a[topic], tops_b[topic], weights[topic])
        topics[topic] = _odds(difference, at)
        differences.append(difference)
        zero += at
    overall = _odds(product_of(differences), zero) if differences else Odds(0.0, 1.0, 0.0)
    return Comparison(a, b, overall, topics)


def _difference(
    a: tuple[tuple[str, ...], Floats], b: tuple[tuple[str, ...], Floats], weights: Floats
) -> tuple[Floats, int]:
    """The distribution of the difference of the counts, and where difference 0 stands in it.

    Items that both runs retrieved are what they are for both, so only the others count.
    """
    items_a, items_b = set(a[0]), set(b[0])
    only_a = a[1][[i for i, item in enumerate(a[0]) if item not in items_b]]
    only_b = b[1][[i for i, item in enumerate(b[0]) if item not in items_a]]
    total = np.zeros(len(only_a) + len(only_b) + 1)
    for c in np.flatnonzero(weights):
        gain, loss = poisson_binomial(only_a[:, c]), poisson_binomial(only_b[:, c])
        total += weights[c] * convolve(gain, loss[::-1])
    return total, len(only_b)


def _odds(difference: Floats, zero: int) -> Odds:
    return Odds(
        float(difference[zero + 1 :].sum()), float(difference[zero]), float(difference[:zero].sum())
    )


def _notes(runs: Sequence[Run]) -> tuple[str, ...]:
    everything = dict.fromkeys(t for run in runs for t in run.topics)
    return tuple(
        f"{run.name} has {len(run.topics)} of the {len(everything)} topics of all runs; its means "
        "are over those"
        for run in runs
        if len(run.topics) < len(everything)
    )
