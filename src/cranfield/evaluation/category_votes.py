"""What an evaluation under uncertain categories answers with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.data import Run
from cranfield.data.categories import Categorisation
from cranfield.errors import UsageError, check_counts, suggest
from cranfield.io.coerce import RunsForm, coerce_run, name_runs, read_runs
from cranfield.io.files import FileForm
from cranfield.io.votes import (
    read_categories,
    read_category_votes,
    read_queries,
    read_soft_labels,
)
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.stats._resample import Rng
from cranfield.stats.randomization import randomization_test
from cranfield.validation import as_array, validate_params

Floats = NDArray[np.float64]

# Up to this length polynomials are multiplied many at a time, above it pair by pair.
_BATCHED = 64
# Above this length of the shorter factor, products go through the Fourier transform.
_DIRECT = 8192


@dataclass(frozen=True)
class Distribution:
    """Values in increasing order and the probability of each."""

    values: Floats
    mass: Floats

    @property
    def mean(self) -> float:
        return float(self.values @ self.mass)

    @property
    def variance(self) -> float:
        return float((self.values - self.mean) ** 2 @ self.mass)

    @property
    def sd(self) -> float:
        return float(np.sqrt(self.variance))

    def quantile(self, q: float) -> float:
        """The smallest value that is not exceeded with probability q or more."""
        # The sum may end an ulp below 1.
        at = int(np.searchsorted(np.cumsum(self.mass), q - 1e-12))
        return float(self.values[min(at, len(self.values) - 1)])


def mixture(parts: Iterable[tuple[float, Distribution]]) -> Distribution:
    """The distribution that is `part` with probability `weight`; weights sum to 1."""
    weighted = [(w, d) for w, d in parts if w > 0]
    values = np.concatenate([d.values for _, d in weighted])
    mass = np.concatenate([w * d.mass for w, d in weighted])
    merged, inverse = np.unique(values, return_inverse=True)
    summed: Floats = np.bincount(inverse, weights=mass, minlength=len(merged)).astype(np.float64)
    return Distribution(merged, summed)


def poisson_binomial(chances: Sequence[float] | Floats) -> Floats:
    """The probability of each number of successes in independent trials.

    The product of the polynomials (1-p) + p x by halves. All terms are positive, so every
    probability keeps its relative precision, however small it is.

    >>> poisson_binomial([0.5, 0.5]).tolist()
    [0.25, 0.5, 0.25]
    """
    p: Floats = as_array("chances", chances, ndim=1)
    if p.size and not (p.min() >= 0 and p.max() <= 1):
        raise UsageError("chances lie in [0, 1]")
    certain = int((p == 1).sum())
    open_ = p[(p > 0) & (p < 1)]
    factors = np.stack([1 - open_, open_], axis=1)
    while len(factors) > 1 and factors.shape[1] <= _BATCHED:
        if len(factors) % 2:
            neutral = np.zeros((1, factors.shape[1]))
            neutral[0, 0] = 1.0
            factors = np.concatenate([factors, neutral])
        factors = _multiply_pairs(factors[0::2], factors[1::2])
    product = product_of(list(factors)) if len(factors) else np.ones(1)
    mass = np.zeros(len(p) + 1)
    mass[certain : certain + len(open_) + 1] = product[: len(open_) + 1]
    return mass


def product_of(polynomials: list[Floats]) -> Floats:
    """The product of polynomials with coefficients that are probabilities."""
    while len(polynomials) > 1:
        paired = [
            convolve(polynomials[i], polynomials[i + 1]) for i in range(0, len(polynomials) - 1, 2)
        ]
        polynomials = paired + polynomials[2 * len(paired) :]
    return polynomials[0]


def convolve(a: Floats, b: Floats) -> Floats:
    """The distribution of the sum of two independent whole numbers."""
    if min(len(a), len(b)) <= _DIRECT:
        return np.convolve(a, b)
    from scipy.signal import fftconvolve

    result: Floats = np.maximum(fftconvolve(a, b), 0.0)
    return result


def _multiply_pairs(a: Floats, b: Floats) -> Floats:
    width = a.shape[1]
    product = np.zeros((len(a), 2 * width - 1))
    for i in range(width):
        product[:, i : i + width] += a[:, i : i + 1] * b
    return product


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# Half of the width of a band that holds nine tenths of a normal distribution.
NINE_TENTHS = 1.6448536269514722
What: TypeAlias = Literal["precision", "recall"]


@dataclass(frozen=True, slots=True)
class QueryCategory:
    """A category that a query may be of: how likely, and how many items are of it."""

    category: str
    probability: float
    size: float


@dataclass(frozen=True, slots=True)
class TopicScore:
    """Precision and recall of one ranking. Recall is None when the category has no items."""

    topic: str
    retrieved: int
    precision: Distribution
    recall: Distribution | None
    categories: tuple[QueryCategory, ...] = ()


@dataclass(frozen=True, slots=True)
class Odds:
    """How likely run a finds more items of the query's category than run b does."""

    better: float
    equal: float
    worse: float

    def to_dict(self) -> dict[str, float]:
        return {"better": self.better, "equal": self.equal, "worse": self.worse}


@dataclass(frozen=True, slots=True)
class UncertainPair:
    """Two runs topic by topic, and by the mean of precision over the topics both have.

    `p` is of the paired randomisation test of the expected values over these topics: whether
    other topics would say the same. The odds say it of these topics and other people.
    """

    a: str
    b: str
    overall: Odds
    topics: Mapping[str, Odds]
    p: float


@dataclass(frozen=True, slots=True)
class BandPoint:
    """The mean of a run over topics at one depth, within a band of nine tenths of the chances."""

    run: str
    k: int
    precision: tuple[float, float, float]
    recall: tuple[float, float, float]


@dataclass(frozen=True, repr=False, eq=False)
class UncertainScores(Answer):
    """What runs reach under uncertain categories in their first k items (None: in all)."""

    command: ClassVar[str] = "uncertain"
    table_maker: ClassVar[str] = "cranfield.report.tables.evaluation:category_votes_document"
    k: int | None
    runs: Mapping[str, tuple[TopicScore, ...]]
    comparisons: tuple[UncertainPair, ...]
    bands: tuple[BandPoint, ...] = ()

    @property
    def measure(self) -> str:
        """What the runs are compared by."""
        return "UncertainR" if self.k is None else f"UncertainP@{self.k}"

    def mean(self, run: str, quantity: What) -> tuple[float, float]:
        """Mean over topics of the expectation, and the standard deviation of that mean."""
        return mean_of([getattr(score, quantity) for score in self.runs[run]])

    def payload(self, **_: object) -> dict[str, Any]:
        depth = "all" if self.k is None else self.k
        parts: dict[str, Any] = {
            "k": depth,
            "runs": [self._run(name, topics) for name, topics in self.runs.items()],
            "better": {
                "measure": self.measure,
                "pairs": [
                    {
                        "a": c.a,
                        "b": c.b,
                        **c.overall.to_dict(),
                        "p": c.p,
                        "topics": [{"topic": t, **o.to_dict()} for t, o in c.topics.items()],
                    }
                    for c in self.comparisons
                ],
            },
        }
        if self.bands:
            parts["bands"] = [
                {"run": b.run, "k": b.k, "precision": list(b.precision), "recall": list(b.recall)}
                for b in self.bands
            ]
        return parts

    def _run(self, name: str, topics: tuple[TopicScore, ...]) -> dict[str, Any]:
        entry: dict[str, Any] = {"name": name}
        for quantity in ("precision", "recall"):
            value, sd = self.mean(name, "precision" if quantity == "precision" else "recall")
            entry[quantity] = {"mean": value, "sd": sd}
        entry["topics"] = [
            {
                "topic": t.topic,
                "retrieved": t.retrieved,
                "precision": self._distribution(t, t.precision),
                "recall": self._distribution(t, t.recall),
                "categories": [
                    {"category": c.category, "probability": c.probability, "size": c.size}
                    for c in t.categories
                ],
            }
            for t in topics
        ]
        return entry

    def _distribution(self, topic: TopicScore, d: Distribution | None) -> dict[str, Any] | None:
        if d is None:
            return None
        return {
            "k": topic.retrieved if self.k is None else self.k,
            "mean": d.mean,
            "sd": d.sd,
            "quantiles": {str(q): d.quantile(q) for q in QUANTILES},
            "values": d.values.tolist(),
            "mass": d.mass.tolist(),
        }

    def headline(self) -> str:
        means = ", ".join(f"{run} {self.mean(run, 'precision')[0]:.4f}" for run in self.runs)
        return f"expected precision of the first {self.k or 'all'} items: {means}"


def mean_of(parts: list[Distribution | None]) -> tuple[float, float]:
    """The mean of expectations, and the standard deviation of that mean."""
    defined = [p for p in parts if p is not None]
    if not defined:
        return math.nan, math.nan
    mean = sum(p.mean for p in defined) / len(defined)
    return mean, math.sqrt(sum(p.variance for p in defined)) / len(defined)


def band_of(parts: list[Distribution | None]) -> tuple[float, float, float]:
    """The mean of expectations between the ends of its band."""
    mean, sd = mean_of(parts)
    return mean, max(mean - NINE_TENTHS * sd, 0.0), mean + NINE_TENTHS * sd


Mixing: TypeAlias = Literal["votes", "printed"]
Unvoted: TypeAlias = Literal["error", "zero"]
Query: TypeAlias = Literal["counts", "left out"]


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
    progress: Watcher | None = None,
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
    report_progress = Progress.of(progress)
    run_list = [coerce_run(run, name) for name, run in name_runs(runs)]
    query_names = dict(queries or {})
    topic_queries: dict[str, _TopicQuery] = {}
    tops: list[dict[str, _Top]] = []
    deepest = None if k is None else max(k, *bands) if bands else k
    for number, run in enumerate(run_list):
        run_tops: dict[str, _Top] = {}
        for topic in run.topics:
            if topic not in topic_queries:
                topic_queries[topic] = _TopicQuery.of(
                    categorisation, query_names.get(topic, topic), topic, mixing, query
                )
            items = [i for i in run.ranking(topic) if i != topic_queries[topic].left_out][:deepest]
            table = _probabilities(categorisation, items, run.name, topic, unvoted)
            run_tops[topic] = _Top(tuple(items), table)
        tops.append(run_tops)
        report_progress((number + 1) / (len(run_list) + 1))
    scores = {
        run.name: tuple(
            _score(topic, top.first(k), topic_queries[topic], k) for topic, top in run_tops.items()
        )
        for run, run_tops in zip(run_list, tops, strict=True)
    }
    firsts = [{t: top.first(k) for t, top in run_tops.items()} for run_tops in tops]
    comparisons = tuple(
        _compare(
            run_list[i].name, run_list[j].name, firsts[i], firsts[j], topic_queries, scores, k, rng
        )
        for i, j in combinations(range(len(run_list)), 2)
    )
    points = tuple(
        _band(run.name, depth, run_tops, topic_queries)
        for run, run_tops in zip(run_list, tops, strict=True)
        for depth in bands
    )
    notes = _notes(run_list, query_names, any(a.counts_itself for a in topic_queries.values()))
    return UncertainScores(k, scores, comparisons, points, notes=notes)


@dataclass(frozen=True, eq=False)
class _Top:
    """Retrieved items, and for each the chance that it is of each category."""

    items: tuple[str, ...]
    table: Floats

    def first(self, k: int | None) -> _Top:
        return _Top(self.items[:k], self.table[:k])


@dataclass(frozen=True, eq=False)
class _TopicQuery:
    """How likely a query is of each category, and how many items are of each."""

    weights: Floats
    sizes: Floats
    names: tuple[str, ...]
    left_out: str | None
    counts_itself: bool

    @classmethod
    def of(
        cls, categorisation: Categorisation, name: str, topic: str, mixing: Mixing, query: Query
    ) -> _TopicQuery:
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
        suggestion = suggest(query, [*categorisation.items, *categories])
        raise UsageError(
            f"topic {topic!r} is neither an item with votes nor a category.{suggestion} "
            "Name the query "
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


def _score(topic: str, top: _Top, query: _TopicQuery, k: int | None) -> TopicScore:
    weighted = np.flatnonzero(query.weights)
    counts = {c: poisson_binomial(top.table[:, c]) for c in weighted}
    steps = np.arange(len(top.items) + 1)
    depth = k or max(len(top.items), 1)
    precision = mixture(
        (query.weights[c], Distribution(steps / depth, counts[c])) for c in weighted
    )
    recall = None
    if all(query.sizes[c] > 0 for c in weighted):
        recall = mixture(
            (query.weights[c], Distribution(steps / query.sizes[c], counts[c])) for c in weighted
        )
    return TopicScore(topic, len(top.items), precision, recall, query.categories())


def _band(
    run: str, depth: int, tops: Mapping[str, _Top], topic_queries: Mapping[str, _TopicQuery]
) -> BandPoint:
    scores = [_score(t, top.first(depth), topic_queries[t], depth) for t, top in tops.items()]
    return BandPoint(
        run, depth, band_of([s.precision for s in scores]), band_of([s.recall for s in scores])
    )


def _compare(
    a: str,
    b: str,
    tops_a: Mapping[str, _Top],
    tops_b: Mapping[str, _Top],
    topic_queries: Mapping[str, _TopicQuery],
    scores: Mapping[str, tuple[TopicScore, ...]],
    k: int | None,
    rng: Rng,
) -> UncertainPair:
    topics: dict[str, Odds] = {}
    differences: list[Floats] = []
    zero = 0
    for topic in (t for t in tops_a if t in tops_b):
        difference, at = _difference(tops_a[topic], tops_b[topic], topic_queries[topic].weights)
        topics[topic] = _odds(difference, at)
        differences.append(difference)
        zero += at
    overall = _odds(product_of(differences), zero) if differences else Odds(0.0, 1.0, 0.0)
    means = [
        {
            s.topic: s.precision.mean if k else s.recall.mean if s.recall else math.nan
            for s in run_scores
        }
        for run_scores in (scores[a], scores[b])
    ]
    rows = np.array([[by_topic[t] for t in topics] for by_topic in means])
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


def evaluate_opinions(
    votes: FileForm,
    tree: FileForm,
    runs: Sequence[FileForm],
    *,
    soft: bool = False,
    skipped: Literal["error", "abstain"] = "error",
    queries: FileForm | Mapping[str, str] | None = None,
    jobs: int | None = None,
    **options: Any,
) -> UncertainScores:
    """`evaluate_uncertain` of files; with `soft` the votes are item,category,probability."""
    graph = read_categories(tree)
    opinions = (
        read_soft_labels(votes, graph)
        if soft
        else read_category_votes(votes, graph, skipped=skipped)
    )
    query_names = (
        queries if queries is None or isinstance(queries, Mapping) else read_queries(queries)
    )
    return evaluate_uncertain(
        opinions,
        read_runs(runs, jobs=jobs),
        queries=query_names,
        **options,
    )
