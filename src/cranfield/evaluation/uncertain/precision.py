"""Precision and recall as distributions, when nobody knows for certain what is relevant.

Santini, Benchmarking without ground truth, section 4. An item is of the query's category with
the probability that the votes give it, independently of other items; so the number of such
items among those retrieved has a Poisson-binomial distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.data import Run
from cranfield.data.categories import Categorisation
from cranfield.errors import UsageError, check_counts, suggest
from cranfield.evaluation.uncertain.answer import (
    BandPoint,
    Odds,
    QueryCategory,
    TopicScore,
    UncertainPair,
    UncertainScores,
    band_of,
)
from cranfield.evaluation.uncertain.distribution import (
    Distribution,
    convolve,
    mixture,
    poisson_binomial,
    product_of,
)
from cranfield.io.forms import RunsForm, coerce_run, name_runs
from cranfield.notes import Notes, Progress, with_progress
from cranfield.stats._resample import Rng
from cranfield.stats.randomization import randomization_test
from cranfield.validation import validate_params

Mixing: TypeAlias = Literal["votes", "printed"]
Unvoted: TypeAlias = Literal["error", "zero"]
Query: TypeAlias = Literal["counts", "left out"]
Floats = NDArray[np.float64]


@validate_params
@with_progress
def evaluate_uncertain(
    categorisation: Categorisation,
    runs: RunsForm,
    *,
    k: int | None = 10,
    queries: Mapping[str, str] | None = None,
    mixing: Mixing = "votes",
    unvoted: Unvoted = "error",
    query: Query = "counts",
    bands: Sequence[int] = (),
    rng: Rng = 0,
    progress: Progress | Callable[[float], None] | None = None,
) -> UncertainScores:
    """Score runs whose topics are items with votes, or categories.

    The first `k` items of a ranking are looked at, or all of them (None), over whose number
    precision is then taken. `queries` gives the item or category of topics whose name is
    neither. With mixing='votes' a query is of a category with the share of votes that name it;
    'printed' follows eq. 13, where categories above those count too, divided by the sum to make
    it a distribution. Items without votes are an error, or with unvoted='zero' of no category.
    An item that is a query counts as an item of its own category, in rankings and in the size of
    the category, unless query='left out'. `bands` are more depths to tell the means at.
    """
    if k is not None:
        check_counts(k=k)
    for depth in bands:
        check_counts(k=depth)
    told = Progress.of(progress)
    chosen = [coerce_run(run, name) for name, run in name_runs(runs)]
    known = dict(queries or {})
    asked: dict[str, _Asked] = {}
    tops: list[dict[str, _Top]] = []
    deepest = None if k is None else max(k, *bands) if bands else k
    for done, run in enumerate(chosen):
        found: dict[str, _Top] = {}
        for topic in run.topics:
            if topic not in asked:
                asked[topic] = _Asked.of(
                    categorisation, known.get(topic, topic), topic, mixing, query
                )
            items = [i for i in run.ranking(topic) if i != asked[topic].left_out][:deepest]
            table = _probabilities(categorisation, items, run.name, topic, unvoted)
            found[topic] = _Top(tuple(items), table)
        tops.append(found)
        told((done + 1) / (len(chosen) + 1))
    scores = {
        run.name: tuple(
            _score(topic, top.first(k), asked[topic], k) for topic, top in found.items()
        )
        for run, found in zip(chosen, tops, strict=True)
    }
    firsts = [{t: top.first(k) for t, top in found.items()} for found in tops]
    comparisons = tuple(
        _compare(chosen[i].name, chosen[j].name, firsts[i], firsts[j], asked, scores, k, rng)
        for i, j in combinations(range(len(chosen)), 2)
    )
    points = tuple(
        _band(run.name, depth, found, asked)
        for run, found in zip(chosen, tops, strict=True)
        for depth in bands
    )
    notes = _notes(chosen, known, any(a.counts_itself for a in asked.values()))
    return UncertainScores(k, scores, comparisons, points, notes=notes)


@dataclass(frozen=True, eq=False)
class _Top:
    """Retrieved items, and for each the chance that it is of each category."""

    items: tuple[str, ...]
    table: Floats

    def first(self, k: int | None) -> _Top:
        return _Top(self.items[:k], self.table[:k])


@dataclass(frozen=True, eq=False)
class _Asked:
    """How likely a query is of each category, and how many items are of each."""

    weights: Floats
    sizes: Floats
    names: tuple[str, ...]
    left_out: str | None
    counts_itself: bool

    @classmethod
    def of(
        cls, categorisation: Categorisation, name: str, topic: str, mixing: Mixing, query: Query
    ) -> _Asked:
        weights = _weights(categorisation, name, topic, mixing)
        is_item = name in categorisation.position
        sizes = categorisation.sizes
        if is_item and query == "left out":
            sizes = sizes - categorisation.probability[categorisation.position[name]]
            return cls(weights, sizes, categorisation.graph.categories, name, False)
        return cls(weights, sizes, categorisation.graph.categories, None, is_item)

    def categories(self) -> tuple[QueryCategory, ...]:
        return tuple(
            QueryCategory(self.names[c], float(self.weights[c]), float(self.sizes[c]))
            for c in np.flatnonzero(self.weights)
        )


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
            f"topic {topic!r} is neither an item with votes nor a category.{near} Name the query "
            "behind it (queries=)"
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
            "items in this topic); unvoted='zero' counts them as of no category"
        )
    table = np.zeros((len(items), len(categorisation.graph.categories)))
    for i, item in enumerate(items):
        if item in categorisation.position:
            table[i] = categorisation.probability[categorisation.position[item]]
    return table


def _score(topic: str, top: _Top, asked: _Asked, k: int | None) -> TopicScore:
    chosen = np.flatnonzero(asked.weights)
    counts = {c: poisson_binomial(top.table[:, c]) for c in chosen}
    steps = np.arange(len(top.items) + 1)
    depth = k or max(len(top.items), 1)
    precision = mixture((asked.weights[c], Distribution(steps / depth, counts[c])) for c in chosen)
    recall = None
    if all(asked.sizes[c] > 0 for c in chosen):
        recall = mixture(
            (asked.weights[c], Distribution(steps / asked.sizes[c], counts[c])) for c in chosen
        )
    return TopicScore(topic, len(top.items), precision, recall, asked.categories())


def _band(
    run: str, depth: int, found: Mapping[str, _Top], asked: Mapping[str, _Asked]
) -> BandPoint:
    scores = [_score(t, top.first(depth), asked[t], depth) for t, top in found.items()]
    return BandPoint(
        run, depth, band_of([s.precision for s in scores]), band_of([s.recall for s in scores])
    )


def _compare(
    a: str,
    b: str,
    tops_a: Mapping[str, _Top],
    tops_b: Mapping[str, _Top],
    asked: Mapping[str, _Asked],
    scores: Mapping[str, tuple[TopicScore, ...]],
    k: int | None,
    rng: Rng,
) -> UncertainPair:
    topics: dict[str, Odds] = {}
    differences: list[Floats] = []
    zero = 0
    for topic in (t for t in tops_a if t in tops_b):
        difference, at = _difference(tops_a[topic], tops_b[topic], asked[topic].weights)
        topics[topic] = _odds(difference, at)
        differences.append(difference)
        zero += at
    overall = _odds(product_of(differences), zero) if differences else Odds(0.0, 1.0, 0.0)
    means = [
        {s.topic: s.precision.mean if k else s.recall.mean if s.recall else math.nan for s in own}
        for own in (scores[a], scores[b])
    ]
    rows = np.array([[found[t] for t in topics] for found in means])
    rows = rows[:, ~np.isnan(rows).any(axis=0)] if rows.size else rows
    p = math.nan
    if rows.shape[1] > 1:
        p = float(randomization_test(rows, np.array([[0, 1]]), rng=rng).p[0])
    return UncertainPair(a, b, overall, topics, p)


def _difference(a: _Top, b: _Top, weights: Floats) -> tuple[Floats, int]:
    """The distribution of the difference of the counts, and where difference 0 stands in it.

    Items that both runs retrieved are what they are for both, so only the others count.
    """
    items_a, items_b = set(a.items), set(b.items)
    only_a = a.table[[i for i, item in enumerate(a.items) if item not in items_b]]
    only_b = b.table[[i for i, item in enumerate(b.items) if item not in items_a]]
    total = np.zeros(len(only_a) + len(only_b) + 1)
    for c in np.flatnonzero(weights):
        gain, loss = poisson_binomial(only_a[:, c]), poisson_binomial(only_b[:, c])
        total += weights[c] * convolve(gain, loss[::-1])
    return total, len(only_b)


def _odds(difference: Floats, zero: int) -> Odds:
    return Odds(
        float(difference[zero + 1 :].sum()), float(difference[zero]), float(difference[:zero].sum())
    )


def _notes(runs: Sequence[Run], queries: Mapping[str, str], itself: bool) -> tuple[str, ...]:
    notes = Notes()
    everything = dict.fromkeys(t for run in runs for t in run.topics)
    for run in runs:
        if len(run.topics) < len(everything):
            notes.add(
                f"{run.name} has {len(run.topics)} of the {len(everything)} topics of all runs; "
                "its means are over those"
            )
    unused = [topic for topic in queries if topic not in everything]
    if unused:
        notes.add(
            f"{len(unused)} topics with a query are in no run ({', '.join(unused[:5])}"
            f"{', ...' * (len(unused) > 5)})"
        )
    if itself:
        notes.add(
            "a query that is an item counts as an item of its own category (query='counts'), in "
            "the size of the category and where it is retrieved"
        )
    return notes.lines()
