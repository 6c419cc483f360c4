"""Judging where it counts: which cell next, with which probability, and what may be said meanwhile.

A cell is a topic and an item that some run has within the depth of the pool. Each round draws some
of them, each with a probability that is written down. What a measure would be were every cell
judged is then estimated anew from that round: predicted relevance stands in for what is not
judged, and the cells that were drawn correct it, divided by their probabilities (Horvitz and
Thompson 1952). Whatever the predictions are worth, the error of a round has the mean 0 given all
rounds before it, as long as the measure is a sum over cells. So the errors are a martingale, and
their sum has an interval that holds at every look (`cranfield.stats.anytime`).

Measures that divide by the number of relevant items (AP, nDCG, recall) are no such sums: their
errors are biased while that number is not known, in simulations by more than their intervals. They
are refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield._lazy import cached_property
from cranfield.errors import MeasureError, UsageError, suggest
from cranfield.measures.base import Measure
from cranfield.options import DRAWN_METHODS, JUDGING_METHODS, JudgingMethod
from cranfield.stats import _special
from cranfield.stats._resample import Floats, Ints, all_pairs
from cranfield.stats.anytime import best_rho, e_value, mixture_radius
from cranfield.stats.corrections import correct
from cranfield.stats.paired import t_statistic, t_test
from cranfield.work.seeds import generator

Bools: TypeAlias = NDArray[np.bool_]

# Predicted probabilities are never surer than this.
LEAST, MOST = 0.02, 0.98
# The parts of each round that are spread evenly over the cells, and by what they weigh alone.
EVEN, BY_WEIGHT = 0.05, 0.05
# Cells that move much are drawn sooner than in proportion: one that is judged late has left its
# errors in all rounds before.
STEEPNESS = 1.3
# The part of a round that is drawn for all pairs of runs; the rest is for those that are open.
FOR_ALL = 0.2
# The predicted variance of a round counts as much as so many surprises that were seen in it.
EXPECTED = 1.0
# A judge that saves less than this share of the judgements is not worth its calls.
WORTH = 0.05
# Beyond so many numbers each run is no feature of its own.
_MOST_FEATURES = 20_000_000
_BLOCK = 500_000
_STEPS = 4
_DRAW, _BANDIT = 61, 62
# Judgements to come are taken to be worth so many times the last ones: less and less is open.
AHEAD = 2.0
# So much of what matters is judged before anybody says that nothing can be settled.
BEFORE_GIVING_UP = 0.05


@dataclass(frozen=True, eq=False)
class CandidateCells:
    """The cells of a pool, ordered by topic.

    `ranks` has a row for each cell and a column for each run: 0 where the run has the item not
    within the depth. `items` names the cells. `judge` is the relevance that a model judge gives,
    from 0 to 1.
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    topic: Ints
    items: Sequence[str]
    ranks: Ints
    judge: Floats | None = None

    def __len__(self) -> int:
        return len(self.topic)

    @classmethod
    def of(
        cls,
        runs: Sequence[str],
        places: Mapping[str, Mapping[str, Mapping[int, int]]],
        judge: Mapping[str, Mapping[str, float]] | None = None,
    ) -> CandidateCells:
        """From {topic: {item: {position of the run: rank}}}, as `ranks_within` gives it."""
        # Sorted: the same cells are drawn whatever the order of the runs.
        topics = tuple(sorted(t for t, items in places.items() if items))
        cells = [(n, item) for n, t in enumerate(topics) for item in sorted(places[t])]
        deepest = max(
            (r for t in topics for p in places[t].values() for r in p.values()), default=0
        )
        ranks = np.zeros((len(cells), len(runs)), dtype=np.min_scalar_type(deepest))
        for row, (n, item) in enumerate(cells):
            for run, rank in places[topics[n]][item].items():
                ranks[row, run] = rank
        opinion = None
        if judge is not None:
            opinion = np.array(
                [float(judge.get(topics[n], {}).get(item, 0.0)) for n, item in cells]
            )
        numbers = np.array([n for n, _ in cells], dtype=np.int64)
        return cls(tuple(runs), topics, numbers, [item for _, item in cells], ranks, opinion)

    @cached_property
    def position(self) -> Mapping[tuple[str, str], int]:
        """The row of each topic and item."""
        return {
            (self.topics[t], item): row
            for row, (t, item) in enumerate(zip(self.topic.tolist(), self.items, strict=True))
        }

    @cached_property
    def starts(self) -> Ints:
        """The first cell of each topic."""
        return np.searchsorted(self.topic, np.arange(len(self.topics)))


@dataclass(frozen=True, eq=False)
class CellWeights:
    """What a relevant item adds to a run's value in its topic, by its rank; 0 without a rank.

    The measure is the sum of the weights of the relevant items: P@k, RBP.
    """

    cells: CandidateCells
    by_rank: Floats

    @classmethod
    def of(cls, cells: CandidateCells, measure: Measure) -> CellWeights:
        """The weights of a measure; a MeasureError where it is no sum over cells."""
        ranks = np.arange(1, int(cells.ranks.max(initial=0)) + 1)
        cutoff = math.inf if measure.at is None else float(measure.at)
        if measure.name == "P":
            weights = np.where(ranks <= cutoff, 1.0 / cutoff, 0.0)
        elif measure.name == "RBP" and measure.value_of("gain") == "binary":
            p = float(measure.value_of("p"))
            weights = np.where(ranks <= cutoff, (1.0 - p) * p ** (ranks - 1.0), 0.0)
        else:
            raise MeasureError(
                f"{measure}: claims while judging goes on are promised for P@k and RBP, which are "
                "sums over items; what divides by the number of relevant items is biased until all "
                "are judged"
            )
        return cls(cells, np.concatenate([[0.0], weights]))

    def rows(self, positions: Ints | slice) -> Floats:
        """The weights of some cells, a column for each run."""
        return np.asarray(self.by_rank[self.cells.ranks[positions]])

    @cached_property
    def movement(self) -> NDArray[np.float32]:
        """How far a cell can move the differences of all pairs of runs, and the runs themselves."""
        runs = len(self.cells.runs)
        return self.movement_within((runs + 1) * np.eye(runs) - 1.0)

    def movement_within(self, graph: Floats) -> NDArray[np.float32]:
        """How far a cell can move some pairs of runs, given as the Laplacian of their graph."""
        size = np.empty(len(self.cells), dtype=np.float32)
        for start in range(0, len(size), _BLOCK):
            part = self.rows(slice(start, start + _BLOCK))
            square = np.einsum("ij,ij->i", part @ graph, part)
            size[start : start + _BLOCK] = np.sqrt(np.maximum(square, 0.0))
        return size

    def values(self, relevance: Floats) -> Floats:
        """The value of each run (columns) in each topic (rows)."""
        values = np.zeros((len(self.cells.topics), len(self.cells.runs)))
        starts = self.cells.starts
        first, ends = 0, np.append(starts[1:], len(self.cells))
        while first < len(starts):
            # As many topics as fit into a block, one at least.
            last = max(first + 1, int(np.searchsorted(ends, starts[first] + _BLOCK, side="right")))
            part = slice(int(starts[first]), int(ends[last - 1]))
            rows = self.rows(part) * np.asarray(relevance[part], dtype=np.float64)[:, None]
            values[first:last] = np.add.reduceat(rows, starts[first:last] - part.start, axis=0)
            first = last
        return values


class RelevancePrediction:
    """Relevance by logistic regression on ranks and a model judge, with a level for each topic.

    Coefficients are shrunken; the estimate stays unbiased however bad it is, it is only wider.
    """

    def __init__(self, cells: CandidateCells, judge: Floats | None = None) -> None:
        runs, size = len(cells.runs), len(cells)
        deepest = int(cells.ranks.max(initial=0))
        discount = np.concatenate([[0.0], 1.0 / np.log2(np.arange(1, deepest + 1) + 1.0)]).astype(
            np.float32
        )
        each = size * runs <= _MOST_FEATURES
        shared = np.empty((size, 3 + (judge is not None)), dtype=np.float32)
        for start in range(0, size, _BLOCK):
            ranks = cells.ranks[start : start + _BLOCK]
            rows, part = discount[ranks], shared[start : start + _BLOCK]
            part[:, 0] = (ranks > 0).mean(axis=1)
            part[:, 1] = rows.mean(axis=1)
            part[:, 2] = rows.max(axis=1, initial=0.0)
        if judge is not None:
            shared[:, 3] = judge
        columns = np.hstack([shared, discount[cells.ranks]]) if each else shared
        for number in range(columns.shape[1]):
            column = columns[:, number]
            column -= np.float32(column.mean(dtype=np.float64))
            column /= np.float32(column.std(dtype=np.float64) or 1.0)
        self.columns, self.topic = columns, cells.topic
        self.level = -1.0
        self.slopes = np.zeros(columns.shape[1])
        self.by_topic = np.zeros(len(cells.topics))
        light = np.full(shared.shape[1], 0.1)
        heavy = np.full(columns.shape[1] - shared.shape[1], 3.0)
        self._penalty = np.concatenate([[0.01], light, heavy])
        self._topic_penalty = 1.0

    def predict(self, positions: Ints | slice = slice(None)) -> Floats:
        """The probability of each cell, or of some, to be relevant."""
        height = self.columns[positions] @ self.slopes.astype(np.float32)
        height += (self.level + self.by_topic).astype(np.float32)[self.topic[positions]]
        np.negative(height, out=height)
        np.exp(np.clip(height, -30.0, 30.0, out=height), out=height)
        height += 1.0
        return np.asarray(np.clip(np.reciprocal(height, out=height), LEAST, MOST, out=height))

    def learn(self, positions: Ints, relevance: Floats) -> None:
        """Fit to what is judged, beginning where the last fit ended.

        Newton's steps; those of the levels of topics are solved apart, as their block is diagonal.
        """
        topic = self.topic[positions]
        shared = np.ones((len(positions), 1 + self.columns.shape[1]))
        shared[:, 1:] = self.columns[positions]
        # Cells are ordered by topic, and so are positions: sums by topic are sums of slices.
        judged, starts = np.unique(topic, return_index=True)
        slopes = np.concatenate([[self.level], self.slopes])
        for _ in range(_STEPS):
            height = shared @ slopes + self.by_topic[topic]
            expected = 1.0 / (1.0 + np.exp(-np.clip(height, -12.0, 12.0)))
            weights = np.maximum(expected * (1.0 - expected), 1e-4)
            weighted = shared * weights[:, None]
            across = np.add.reduceat(weighted, starts, axis=0)
            topic_weights = self._topic_penalty + np.add.reduceat(weights, starts)
            curvature = shared.T @ weighted
            curvature[np.diag_indices_from(curvature)] += self._penalty
            missed = relevance - expected
            slope = shared.T @ missed - self._penalty * slopes
            of_topics = (
                np.add.reduceat(missed, starts) - self._topic_penalty * self.by_topic[judged]
            )
            share = across / topic_weights[:, None]
            step = np.linalg.solve(curvature - share.T @ across, slope - share.T @ of_topics)
            slopes = slopes + step
            self.by_topic[judged] += (of_topics - across @ step) / topic_weights
        self.level, self.slopes = float(slopes[0]), slopes[1:]


def inclusion_probabilities(sizes: Floats, count: int) -> Floats:
    """Probabilities in proportion to sizes, of which none is above 1, that add up to `count`.

    >>> inclusion_probabilities(np.array([8.0, 1.0, 1.0, 0.0]), 2).tolist()
    [1.0, 0.5, 0.5, 0.0]
    """
    sizes = np.asarray(sizes, dtype=np.float64)
    positive = sizes > 0
    if np.count_nonzero(positive) <= count:
        return positive.astype(np.float64)
    total, left = float(sizes.sum()), float(count)
    sure = np.zeros(0, dtype=np.int64)
    while True:
        over = np.flatnonzero(sizes >= total / left) if left > 0 else sure
        if over.size == sure.size:
            break
        sure = over
        left = count - over.size
        total = float(sizes.sum() - sizes[over].sum())
    chances = sizes * (left / total) if total > 0 else np.zeros(len(sizes))
    chances[sure] = 1.0
    return chances


def systematic_sample(chances: Floats, start: float) -> Ints:
    """The positions that a comb of step 1 meets, its first tooth at `start` from 0 to 1.

    Each position comes with its probability, and as many come as the probabilities add up to.
    """
    edges = np.cumsum(chances)
    count = round(float(edges[-1])) if edges.size else 0
    teeth = np.minimum(start + np.arange(count), edges[-1] * (1 - 1e-12) if edges.size else 0.0)
    return np.unique(np.searchsorted(edges, teeth, side="right"))


def border_slopes(rows: Floats, highest: float) -> Floats:
    """How far an error in one topic moves what decides a t-test, times the number of topics.

    That is mean - t sd / sqrt(topics), where t is the test's own or `highest`: an error moves the
    standard deviation as well as the mean. Rows are the differences of a pair, by topic.
    """
    topics = rows.shape[1]
    mean = rows.mean(axis=1, keepdims=True)
    sd = np.maximum(rows.std(axis=1, ddof=1, keepdims=True), 1e-12)
    border = np.sign(mean) * np.minimum(np.abs(mean) / sd * math.sqrt(topics), highest)
    return np.asarray(1.0 - border * (rows - mean) / sd * math.sqrt(topics) / (topics - 1))


@dataclass(frozen=True, eq=False)
class Round:
    """The cells of a round, by position, and the probability that each of them had."""

    number: int
    cells: Ints
    probabilities: Floats

    @property
    def is_drawn(self) -> bool:
        """Whether the cells were drawn: without probabilities nothing can be promised."""
        return bool(np.isfinite(self.probabilities).all())


@dataclass(frozen=True, eq=False)
class PairStates:
    """What may be said about every pair of runs at a look: arrays with one entry for each pair.

    `difference` is the estimate, `radius` that of its interval, which holds at all looks together.
    `claimed` pairs would be significant were everything judged; that any claim at any look is wrong
    has the probability alpha at most. `excluded` pairs would not be significant. `evidence` is the
    e-value of the order.
    """

    pairs: Ints
    difference: Floats
    radius: Floats
    claimed: Bools
    excluded: Bools
    evidence: Floats

    @property
    def open(self) -> Bools:
        return ~(self.claimed | self.excluded)


class AdaptiveJudging:
    """One campaign that is judged in rounds: `propose` a round, `record` its judgements, look.

    `method` chooses the cells. `sampled` draws them in proportion to what a judgement is expected
    to move, `even` evenly; only these two come with intervals and claims. `movement` takes the
    largest expected movement of the differences first (as in minimal test collections), `doubt`
    the most doubtful cells, `move-to-front` the next items of the run with the largest share of
    relevant ones, `bandit` those of runs drawn by their chance to have them. `alpha` is the level
    of the test and the chance of a false claim; `expected` is the number of rounds that are
    planned, for which the intervals are the narrowest.
    """

    def __init__(
        self,
        cells: CandidateCells,
        measure: Measure,
        *,
        method: JudgingMethod = "sampled",
        alpha: float = 0.05,
        expected: int = 20,
        seed: int = 0,
    ) -> None:
        if method not in JUDGING_METHODS:
            raise UsageError(f"no method {method!r}.{suggest(method, JUDGING_METHODS)}")
        if len(cells.runs) < 2 or len(cells.topics) < 2:
            raise UsageError("to compare runs takes two of them, on two topics or more")
        self.cells, self.measure, self.method = cells, measure, method
        self.alpha, self.seed, self.expected = alpha, seed, max(expected, 1)
        self.weights = CellWeights.of(cells, measure)
        self.relevance = np.full(len(cells), np.nan, dtype=np.float32)
        self.rounds = 0
        self._models = [RelevancePrediction(cells)]
        if cells.judge is not None:
            self._models.append(RelevancePrediction(cells, cells.judge))
        # What each model leaves open, estimated on every round before it was learned from.
        self.left_open = np.zeros(len(self._models))
        runs = len(cells.runs)
        self._sum = np.zeros((len(cells.topics), runs))
        self._precision = 0.0
        # The variances of the sums of all rounds, by topic where that fits.
        many = len(cells.topics) * runs**2 > _MOST_FEATURES
        self._spread = np.zeros((1 if many else len(cells.topics), runs, runs))
        self._movement = self.weights.movement
        self._last_rate = 0.0
        self._first_variance = math.nan
        self._rho_pair = math.nan
        self.promises = method in DRAWN_METHODS

    @property
    def judged(self) -> Bools:
        return ~np.isnan(self.relevance)

    @cached_property
    def _matter(self) -> Bools:
        return np.asarray(self.weights.movement > 0)

    @property
    def is_exact(self) -> bool:
        """Whether all that matters for the measure is judged."""
        return not np.isnan(self.relevance[self._matter]).any()

    @property
    def uses_judge(self) -> bool:
        """Whether the model judge has predicted better so far than ranks alone."""
        return len(self._models) > 1 and bool(self.left_open[1] < self.left_open[0])

    @property
    def judge_saves(self) -> float | None:
        """The share of the judgements that the model judge saves; None without one."""
        if len(self._models) < 2 or not self.left_open[0]:
            return None
        return max(0.0, 1.0 - float(self.left_open[1] / self.left_open[0]))

    def predictions(self) -> Floats:
        """The probability of each cell to be relevant, by the better model."""
        return self._models[1 if self.uses_judge else 0].predict()

    def propose(self, count: int) -> Round:
        """The cells to judge next; none where all that matters is judged."""
        if count < 1:
            raise UsageError(f"count={count} is not a whole number from 1 on")
        number = self.rounds + 1
        if self.method in DRAWN_METHODS:
            cells, chances = self._draw(count, number)
            return Round(number, cells, chances)
        cells = self._best(count, number)
        return Round(number, cells, np.full(len(cells), math.nan))

    def _sizes(self) -> Floats:
        """What is expected of judging each cell, in proportion to which cells are drawn."""
        weight = np.where(np.isnan(self.relevance), self._movement, np.float32(0.0))
        if self.method == "even":
            return np.asarray(weight > 0, dtype=np.float32)
        chance = self.predictions()
        moved = chance * (1.0 - chance)
        np.sqrt(moved, out=moved)
        moved *= weight
        moved /= max(float(moved.max(initial=0.0)), 1e-30)
        np.power(moved, np.float32(STEEPNESS), out=moved)
        total, weights = float(moved.sum(dtype=np.float64)), float(weight.sum(dtype=np.float64))
        some = np.count_nonzero(weight)
        if not some:
            return moved
        moved *= 1.0 - EVEN - BY_WEIGHT
        moved += weight * np.float32(BY_WEIGHT * total / weights)
        moved += (weight > 0) * np.float32(EVEN * total / some)
        return moved

    def _draw(self, count: int, number: int) -> tuple[Ints, Floats]:
        chances = inclusion_probabilities(self._sizes(), count)
        start = float(generator(self.seed, _DRAW, number).random())
        cells = systematic_sample(chances, start)
        return cells, chances[cells]

    def _best(self, count: int, number: int) -> Ints:
        """The first cells by a method that promises nothing."""
        open_cells = np.isnan(self.relevance)
        if self.method in ("movement", "doubt"):
            chance = self.predictions()
            value = chance * (1.0 - chance)
            if self.method == "movement":
                value = value * np.asarray(self.weights.movement) ** 2
            value = np.where(open_cells, value, -1.0)
            first = np.argpartition(-value, min(count, len(value) - 1))[:count]
            return np.sort(first[value[first] >= 0])
        return self._by_runs(count, number)

    def _by_runs(self, count: int, number: int) -> Ints:
        """The next unjudged items of runs, chosen by what their judged items were."""
        ranks, known = self.cells.ranks, self.judged
        rng = generator(self.seed, _BANDIT, number)
        hits = (ranks[known] > 0).T @ self.relevance[known].astype(np.float64)
        tries = (ranks[known] > 0).sum(axis=0).astype(np.float64)
        queues = []
        for r in range(ranks.shape[1]):
            rows = np.flatnonzero((ranks[:, r] > 0) & ~known)
            queues.append(iter(rows[np.argsort(ranks[rows, r], kind="stable")].tolist()))
        taken: dict[int, None] = {}
        alive = set(range(len(queues)))
        while alive and len(taken) < count:
            order = sorted(alive)
            if self.method == "bandit":
                chance = rng.beta(1.0 + hits[order], 1.0 + tries[order] - hits[order])
            else:
                # Of late: the share of relevant ones, less where a run was asked much already.
                chance = (1.0 + hits[order]) / (2.0 + tries[order]) + 1e-6 * rng.random(len(order))
            run = order[int(np.argmax(chance))]
            cell = next((c for c in queues[run] if c not in taken), None)
            if cell is None:
                alive.discard(run)
                continue
            taken[cell] = None
            tries[run] += 1
        return np.array(sorted(taken), dtype=np.int64)

    def know(self, cells: Ints, relevance: Floats) -> None:
        """Judgements from before the first round, taken as they are."""
        self.relevance[cells] = relevance
        self._learn()

    def record(self, judged: Round, relevance: Floats) -> None:
        """Take the judgements of a round, in the order of its cells, each from 0 to 1."""
        values = np.asarray(relevance, dtype=np.float64)
        if values.shape != judged.cells.shape or not ((values >= 0) & (values <= 1)).all():
            raise UsageError("a round takes one judgement from 0 to 1 for each of its cells")
        if judged.is_drawn:
            self._estimate(judged, values)
        else:
            self.promises = False
        self.relevance[judged.cells] = values
        self.rounds += 1
        self._learn()
        self._aim()

    def _aim(self) -> None:
        """Draw for the pairs that are open: what a cell can move among them."""
        runs = len(self.cells.runs)
        if not self.promises or len(self.cells) * runs > _MOST_FEATURES:
            return
        look = self.look()
        if not look.open.any():
            return
        first, second = look.pairs.T
        graph = np.zeros((runs, runs))
        pair_shares = look.open / np.count_nonzero(look.open)
        graph[first, second] = graph[second, first] = -pair_shares
        graph[np.diag_indices(runs)] = -graph.sum(axis=1)
        # All of them together count as much as before, so that rounds stay comparable.
        graph *= runs * (runs + 1) / 2 * (1.0 - FOR_ALL)
        graph += FOR_ALL * ((runs + 1) * np.eye(runs) - 1.0)
        self._movement = self.weights.movement_within(graph)

    def _learn(self) -> None:
        positions = np.flatnonzero(self.judged)
        if positions.size:
            for model in self._models:
                model.learn(positions, self.relevance[positions].astype(np.float64))

    def _estimate(self, judged: Round, values: Floats) -> None:
        """Add the estimate of a round, weighted by what it is expected to be worth."""
        expected = self.predictions()
        variance = self._expected_variance(expected, len(judged.cells))
        if math.isnan(self._first_variance):
            self._first_variance = max(variance, 1e-12)
        # What is certain counts as a million first rounds.
        precision = 1.0 / max(variance, 1e-6 * self._first_variance)
        if math.isnan(self._rho_pair):
            pairs = len(self.cells.runs) * (len(self.cells.runs) + 1)
            self._rho_pair = 2.0 * precision**2 * max(variance, 1e-12) / pairs
        rows = self.weights.rows(judged.cells)
        gaps = values - expected[judged.cells]
        estimate = self.weights.values(np.where(np.isnan(self.relevance), expected, self.relevance))
        np.add.at(
            estimate,
            self.cells.topic[judged.cells],
            rows * (gaps / judged.probabilities)[:, None],
        )
        self._sum += precision * estimate
        self._precision += precision
        self._last_rate = AHEAD * precision / max(len(judged.cells), 1)
        share = gaps**2 * (1.0 - judged.probabilities) / judged.probabilities**2
        self._add_variances(judged.cells, rows, share, precision, variance)
        squares = np.asarray(self.weights.movement, dtype=np.float64)[judged.cells] ** 2
        for number, model in enumerate(self._models):
            missed = (values - model.predict(judged.cells)) ** 2
            self.left_open[number] += float((squares * missed / judged.probabilities).sum())

    def _add_variances(
        self, cells: Ints, rows: Floats, share: Floats, precision: float, variance: float
    ) -> None:
        """The variances and covariances of a round, as it shows them and as they were expected."""
        parts, runs = len(self._spread), rows.shape[1]
        # A few surprises, or none, say little of how many there might have been.
        surprises = share * (rows**2).sum(axis=1)
        squares = float((surprises**2).sum())
        many = float(surprises.sum()) ** 2 / squares if squares else 0.0
        seen = many / (many + EXPECTED)
        self._spread += precision**2 * np.eye(runs) * ((1.0 - seen) * variance / runs**2 / parts)
        topic = self.cells.topic[cells] if parts > 1 else np.zeros(len(cells), dtype=np.int64)
        order = np.argsort(topic, kind="stable")
        ends = np.flatnonzero(np.diff(topic[order], append=-1)) + 1
        for part in np.split(order, ends[:-1]):
            products = (rows[part] * share[part, None]).T @ rows[part]
            self._spread[topic[part[0]]] += precision**2 * seen * products

    def _expected_variance(self, expected: Floats, count: int) -> float:
        """The variance of a round of so many cells, summed over pairs and runs, as predicted."""
        chances = inclusion_probabilities(self._sizes(), count)
        total = 0.0
        for start in range(0, len(chances), _BLOCK):
            part = slice(start, start + _BLOCK)
            drawn = chances[part] > 0
            chance, doubt = chances[part][drawn], expected[part][drawn].astype(np.float64)
            size = self._movement[part][drawn].astype(np.float64)
            total += float((size**2 * doubt * (1 - doubt) * (1 / chance - 1)).sum())
        return total

    def values(self) -> Floats:
        """The estimated value of each run (columns) in each topic (rows), were all judged."""
        if self.is_exact or not self._precision:
            return self.weights.values(np.nan_to_num(self.relevance, nan=0.0))
        return self._sum / self._precision

    def _errors(self, variances: Floats, alpha: float, claims: int = 1) -> Floats:
        """The radius of means over topics whose summed errors have these variances.

        It is the narrowest where so many share the level; all levels have one mixture.
        """
        if self.is_exact:
            return np.zeros(len(variances))
        if not self._precision:
            return np.full(len(variances), math.inf)
        rho = best_rho(np.full(len(variances), self._rho()), self.alpha / claims)
        # Nothing drawn by chance has moved these yet: they are as open as the others.
        some = np.where(variances > 0, variances, self._rho_pair)
        return mixture_radius(some, rho, alpha) / self._precision / len(self.cells.topics)

    def _rho(self) -> float:
        """The variance that the planned number of rounds is expected to add up to.

        Later rounds are worth more than the first: their predictions are better, less is left.
        """
        return float(max(self._rho_pair * self.expected**1.5, 1e-300))

    def intervals(self) -> tuple[Floats, Floats]:
        """The mean of each run were everything judged, and its radius, at all looks together."""
        variances = np.diag(self._spread.sum(axis=0))
        return self.values().mean(axis=0), self._errors(variances, self.alpha)

    def look(self, *, ahead: int = 0) -> PairStates:
        """What may be said of each pair now; or so many judgements later, if all stays so."""
        if not self.promises:
            raise UsageError(f"cells were chosen by {self.method!r}, without known probabilities")
        values, pairs = self.values(), all_pairs(len(self.cells.runs))
        first, second = pairs.T
        rows = (values[:, first] - values[:, second]).T
        mean = rows.mean(axis=1)
        by_topic = np.array(
            [s[first, first] + s[second, second] - 2 * s[first, second] for s in self._spread]
        )
        variances = by_topic.sum(axis=0)
        radius = self._errors(variances, self.alpha)
        tested = self._test_variances(rows, by_topic)
        growth = 1.0 + self._last_rate * ahead / max(self._precision, 1e-300)
        claimed = np.zeros(len(pairs), dtype=bool)
        while True:
            # Holm over the claims: what is claimed already leaves its share to the others. A claim
            # is wrong on one side only: on the other, the error would have to cross the border too.
            share = 2.0 * self.alpha / max(int(np.count_nonzero(~claimed)), 1)
            wide = self._errors(tested * growth, min(share, self.alpha), len(pairs)) / growth
            towards = np.sign(mean) * np.minimum(wide, np.abs(mean))
            certain = t_test(rows - towards[:, None]).p
            certain[np.abs(mean) <= wide] = 1.0
            rejected = correct(certain, "holm") <= self.alpha
            if not (rejected & ~claimed).any():
                break
            claimed |= rejected
        best_case = t_test(rows + np.where(np.isfinite(wide), np.sign(mean) * wide, 0.0)[:, None]).p
        best_case[~np.isfinite(wide)] = 0.0
        # Holm would have to leave at least this much for the pair, were all claimed ones rejected.
        excluded = correct(best_case, "holm") > self.alpha
        total = np.abs(mean) * self._precision * len(self.cells.topics)
        rho = best_rho(np.full(len(pairs), self._rho()), self.alpha)
        evidence = e_value(total, np.where(variances > 0, variances, self._rho_pair), rho)
        return PairStates(pairs, mean, radius, claimed, excluded & ~claimed, evidence)

    def _test_variances(self, rows: Floats, by_topic: Floats) -> Floats:
        """The variances of what decides a test, given those of the topics."""
        pairs, topics = rows.shape
        highest = float(_special.stdtrit(topics - 1, 1.0 - self.alpha / (2 * pairs)))
        if len(by_topic) == 1:
            t = np.minimum(np.abs(t_statistic(rows)), highest)
            return np.asarray(by_topic[0] * (1.0 + t**2 / topics))
        return np.asarray((border_slopes(rows, highest) ** 2 * by_topic.T).sum(axis=1))

    def stop_reason(
        self, look: PairStates, *, first: int | None = None, left: int | None = None
    ) -> str:
        """Why judging may stop now, or '' where it should go on.

        `first` asks for the order of the best runs only; `left` is what the budget has left.
        """
        if self.is_exact:
            return "all that matters for the measure is judged"
        in_question = np.ones(len(look.pairs), dtype=bool)
        if first is not None:
            means = self.intervals()[0]
            best = np.argsort(-means, kind="stable")[:first]
            in_question = np.asarray(np.isin(look.pairs, best).any(axis=1))
        open_pairs = look.open & in_question
        if not open_pairs.any():
            if first is None:
                return "every pair of runs is settled"
            return f"the order of the first {first} is settled"
        if left is None:
            return ""
        if left <= 0:
            return "the budget is spent"
        matter = np.count_nonzero(self._matter)
        if np.count_nonzero(self.judged) < BEFORE_GIVING_UP * matter or left >= matter:
            return ""
        later = self.look(ahead=left)
        if not (open_pairs & ~later.open).any():
            return "what is left of the budget would settle no other pair"
        return ""
