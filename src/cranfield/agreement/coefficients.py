"""Coefficients of agreement, each a function of tallies.

All but the first correct the observed agreement for chance, (Pa - Pe) / (1 - Pe), and differ
in what they take for chance. NaN says that a coefficient does not exist: fewer than two
judgements on every unit, or no chance of disagreeing (all answers the same, where the
coefficient learns the chance from the answers).

Bootstrap intervals of coefficients: items are drawn with replacement.

An item is drawn with all its concepts and all its judgements, because judgements on one item
are not independent of each other.

Coefficients of a whole log: overall, per concept, per annotator, with intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement.majority import NARROW, accuracy_to_majority, row_sum, vote
from cranfield.data.judgement_log import Floats, JudgementLog
from cranfield.errors import NeedsError, UsageError, suggest
from cranfield.notes import Progress
from cranfield.stats._resample import (
    Block,
    Rng,
    blocks,
    bootstrap_counts,
    check_resamples,
    in_threads,
    seed_of,
)
from cranfield.stats.intervals import check_confidence

# Above this many cells a table of counts is kept sparse.
DENSE_CELLS = 40_000_000


@dataclass(frozen=True, eq=False)
class Tallies:
    """Sums over units, for answers 0..q-1; `levels` are the answers as numbers, if they are."""

    units: float
    paired: float
    marginals: Floats
    agreement: Floats
    coincidence: Floats
    levels: Floats | None = None

    @property
    def answers(self) -> int:
        return int(self.marginals.size)

    def one_against_rest(self, value: int) -> Tallies:
        """The same units with only two answers: any other value, or this one."""

        def folded(matrix: Floats) -> Floats:
            row, total, hit = matrix[value].sum(), matrix.sum(), matrix[value, value]
            return np.array([[total - 2 * row + hit, row - hit], [row - hit, hit]])

        share = self.marginals[value]
        return Tallies(
            self.units,
            self.paired,
            np.array([self.marginals.sum() - share, share]),
            folded(self.agreement),
            folded(self.coincidence),
            np.array([0.0, 1.0]),
        )


@dataclass(frozen=True, eq=False)
class UnitCounts:
    """How often each answer was given to each unit: a table units x answers.

    `item` is the item of each unit. The table is an array, or a sparse matrix when it would be
    too large for one.
    """

    table: Any
    item: NDArray[np.int64]
    levels: Floats | None

    @property
    def per_unit(self) -> Floats:
        if isinstance(self.table, np.ndarray):
            return row_sum(self.table)
        return np.asarray(self.table.sum(axis=1), dtype=np.float64).ravel()

    def tallies(self, weight: Floats | None = None) -> Tallies:
        """The tallies of all units, each counted `weight` times."""
        r = self.per_unit
        once = np.ones(r.size) if weight is None else weight
        paired = r >= 2
        share = np.divide(once, r, out=np.zeros(r.size), where=r > 0)
        per_judgement = np.divide(once, r - 1, out=np.zeros(r.size), where=paired)
        per_unit = np.divide(per_judgement, r, out=np.zeros(r.size), where=paired)
        return Tallies(
            float(once[r > 0].sum()),
            float(once[paired].sum()),
            _weighted_sums(self.table, share),
            _pair_sums(self.table, per_unit),
            _pair_sums(self.table, per_judgement),
            self.levels,
        )


def _weighted_sums(table: Any, weight: Floats) -> Floats:
    if isinstance(table, np.ndarray):
        return np.asarray(np.einsum("uk,u->k", table, weight))
    return np.asarray(table.T @ weight, dtype=np.float64).ravel()


def _pair_sums(table: Any, weight: Floats) -> Floats:
    """The sum over units of weight x (n_k n_l - [k=l] n_k)."""
    q = table.shape[1]
    if not isinstance(table, np.ndarray):
        pairs = (table.T @ table.multiply(weight[:, None]).tocsr()).toarray()
    elif q > NARROW:
        pairs = table.T @ (table * weight[:, None])
    else:
        # Few long columns: plain sums of products are faster than a matrix product, which would
        # start threads for next to nothing.
        pairs = np.empty((q, q))
        for k in range(q):
            weighted = table[:, k] * weight
            for column in range(k, q):
                pairs[k, column] = np.einsum("u,u->", weighted, table[:, column])
                pairs[column, k] = pairs[k, column]
    pairs[np.diag_indices(q)] -= _weighted_sums(table, weight)
    return np.asarray(pairs, dtype=np.float64)


def unit_counts(log: JudgementLog, concept: int | None = None) -> UnitCounts:
    """The table of counts of one concept, or of all units of the log."""
    if concept is None:
        item, which, value = log.item, log.concept, log.value
        answers = tuple(range(len(log.values)))
        key = item.astype(np.int64) * len(log.concepts) + which
        span = len(log.items) * len(log.concepts)
    else:
        mask = log.concept == concept
        item, value, answers = log.item[mask], log.value[mask], log.answers_of(concept)
        if answers != tuple(range(len(log.values))):
            place = np.full(len(log.values), -1, dtype=np.int32)
            place[list(answers)] = np.arange(len(answers), dtype=np.int32)
            value = place[value]
        key, span = item.astype(np.int64), len(log.items)
    levels = log.levels
    return _counted(
        key,
        span,
        value,
        len(answers),
        1 if concept is not None else len(log.concepts),
        None if levels is None else levels[list(answers)],
    )


def _counted(
    key: NDArray[np.int64],
    span: int,
    value: NDArray[np.int32],
    answers: int,
    per_item: int,
    levels: Floats | None,
) -> UnitCounts:
    """Counts of the units that occur, from one number for each judgement's unit."""
    present = np.bincount(key, minlength=span) > 0 if span <= DENSE_CELLS else None
    if present is None:
        units, row = np.unique(key, return_inverse=True)
    elif present.all():
        units, row = np.arange(span), key
    else:
        units = np.flatnonzero(present)
        row = (np.cumsum(present) - 1)[key]
    if units.size * answers <= DENSE_CELLS:
        # One column after the other in memory: sums run along columns.
        flat = np.bincount(value * units.size + row, minlength=units.size * answers)
        table: Any = flat.reshape(answers, units.size).T.astype(np.float64)
    else:
        from scipy import sparse

        ones = np.ones(row.size)
        table = sparse.csr_matrix((ones, (row, value)), shape=(units.size, answers))
    return UnitCounts(table, units // per_item, levels)


Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
Weights: TypeAlias = Literal["identity", "linear", "quadratic", "ordinal"]

# The least that says anything of agreement, but for rounding.
LEAST = -1 - 1e-9


def accuracy(tallies: Tallies) -> float:
    """The share of pairs of judgements on a unit that are identical, averaged over units.

    On a complete log this is the mean over all pairs of annotators of their accuracy (thesis,
    equation 6.1), and the mean over items of the accuracy on the item (6.2).
    """
    return _observed(tallies)


def fleiss(tallies: Tallies) -> float:
    """Fleiss' kappa: chance is two draws from the answers of all annotators together.

    Where every unit has two judgements it is never below -1 (`LEAST`). Units with a single one add
    to the chance and not to what is observed: a value below -1 speaks of them alone.
    """
    if tallies.units == 0:
        return math.nan
    share = tallies.marginals / tallies.units
    return _corrected(_observed(tallies), float(share @ share))


def free_marginal(tallies: Tallies) -> float:
    """Free-marginal kappa (Brennan and Prediger; Randolph): every possible answer is as likely."""
    if tallies.answers < 2:
        return math.nan
    return _corrected(_observed(tallies), 1 / tallies.answers)


def gwet(tallies: Tallies, weights: Weights = "identity") -> float:
    """Gwet's AC1 (identity weights) or AC2: chance is guessing on the hard units only."""
    q = tallies.answers
    if q < 2 or tallies.units == 0:
        return math.nan
    matrix = agreement_weights(tallies, weights)
    share = tallies.marginals / tallies.units
    guessing = float((share * (1 - share)).sum()) / (q * (q - 1))
    return _corrected(_observed(tallies, matrix), float(matrix.sum()) * guessing)


def krippendorff(tallies: Tallies, level: Level = "nominal") -> float:
    """Krippendorff's alpha: one minus observed over expected disagreement of judgements.

    Units with a single judgement count for nothing. For "ordinal" the distance of two answers
    is the number of judgements between their middles, for "interval" the difference of numbers.
    """
    marginals = tallies.coincidence.sum(axis=1)
    total = float(marginals.sum())
    if total < 2:
        return math.nan
    if level == "nominal":
        observed = total - float(np.trace(tallies.coincidence))
        expected = (total * total - float(marginals @ marginals)) / (total - 1)
    else:
        place = _levels(tallies) if level == "interval" else np.cumsum(marginals) - marginals / 2
        # Centred first: squared differences of large numbers would lose their digits.
        place = place - float(place @ marginals) / total
        squared = (place[:, None] - place[None, :]) ** 2
        observed = float((tallies.coincidence * squared).sum())
        expected = float(marginals @ squared @ marginals) / (total - 1)
    if expected <= 0:
        return math.nan
    return 1 - observed / expected


def agreement_weights(tallies: Tallies, weights: Weights) -> Floats:
    """How far two answers agree, from 0 to 1: a matrix answers x answers (Gwet 2014)."""
    q = tallies.answers
    if weights == "identity":
        return np.eye(q)
    if weights == "ordinal":
        apart = np.abs(np.subtract.outer(np.arange(q), np.arange(q))) + 1.0
        pairs = apart * (apart - 1) / 2
        return 1 - pairs / max(float(pairs.max()), 1.0)
    place = _levels(tallies)
    apart = np.abs(np.subtract.outer(place, place)) / max(float(np.ptp(place)), 1e-300)
    return 1 - (apart if weights == "linear" else apart**2)


def _levels(tallies: Tallies) -> Floats:
    if tallies.levels is None:
        raise NeedsError(
            "interval coefficients need numbers as answers; declare the order of names "
            "(values=) and use the ordinal ones"
        )
    return tallies.levels


def _observed(tallies: Tallies, matrix: Floats | None = None) -> float:
    if tallies.paired == 0:
        return math.nan
    hits = np.trace(tallies.agreement) if matrix is None else (tallies.agreement * matrix).sum()
    return float(hits) / tallies.paired


def _corrected(observed: float, chance: float) -> float:
    # All answers alike leave 1 - Pe at a rounding error, not exactly at zero.
    if math.isnan(observed) or 1 - chance < 1e-12:
        return math.nan
    return (observed - chance) / (1 - chance)


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient under the name it has in tables and JSON."""

    name: str
    title: str
    value: Callable[[Tallies], float]
    needs: str = ""


STANDARD = ("accuracy", "fleiss", "free_marginal", "krippendorff", "gwet_ac1")

COEFFICIENTS: Mapping[str, Coefficient] = MappingProxyType(
    {
        c.name: c
        for c in (
            Coefficient("accuracy", "observed agreement of pairs of judgements", accuracy),
            Coefficient("fleiss", "Fleiss' kappa", fleiss),
            Coefficient("free_marginal", "free-marginal kappa (Randolph)", free_marginal),
            Coefficient("krippendorff", "Krippendorff's alpha, nominal", krippendorff),
            Coefficient(
                "krippendorff_ordinal",
                "Krippendorff's alpha, ordinal",
                lambda t: krippendorff(t, "ordinal"),
                "order",
            ),
            Coefficient(
                "krippendorff_interval",
                "Krippendorff's alpha, interval",
                lambda t: krippendorff(t, "interval"),
                "numbers",
            ),
            Coefficient("gwet_ac1", "Gwet's AC1", gwet),
            Coefficient(
                "gwet_ac2",
                "Gwet's AC2, quadratic weights",
                lambda t: gwet(t, "quadratic"),
                "numbers",
            ),
            Coefficient(
                "gwet_ac2_linear",
                "Gwet's AC2, linear weights",
                lambda t: gwet(t, "linear"),
                "numbers",
            ),
            Coefficient(
                "gwet_ac2_ordinal",
                "Gwet's AC2, ordinal weights",
                lambda t: gwet(t, "ordinal"),
                "order",
            ),
        )
    }
)


def choose_coefficients(names: str, *, numeric: bool) -> tuple[Coefficient, ...]:
    """The coefficients of a text such as 'fleiss gwet_ac1', 'standard' or 'all'."""
    selection: dict[str, Coefficient] = {}
    for name in names.replace(",", " ").split():
        if name == "standard":
            selection |= {n: COEFFICIENTS[n] for n in STANDARD}
        elif name == "all":
            selection |= {n: c for n, c in COEFFICIENTS.items() if numeric or not c.needs}
        elif name not in COEFFICIENTS:
            raise UsageError(
                f"no coefficient named {name!r}.{suggest(name, COEFFICIENTS)} "
                f"There are: {', '.join(COEFFICIENTS)}, standard, all"
            )
        elif COEFFICIENTS[name].needs == "numbers" and not numeric:
            raise NeedsError(f"{name} needs numbers as answers, the log has names")
        else:
            selection[name] = COEFFICIENTS[name]
    if not selection:
        raise UsageError("no coefficient asked for")
    return tuple(selection.values())


def nominal_names(names: Iterable[str]) -> tuple[str, ...]:
    """Of these coefficients those that need neither order nor numbers."""
    return tuple(name for name in names if not COEFFICIENTS[name].needs)


Key = TypeVar("Key", bound=Hashable)

# Up to this size the contribution of every unit is kept as a row of numbers.
FEATURE_CELLS = 8_000_000


# Up to so many items (or clusters of them) each is left out by itself, of more groups of them.
LEFT_OUT = 300
# A coefficient of 1 has no logarithm of what is missing.
_PERFECT = 1e-9


def agreement_intervals(
    counts: UnitCounts,
    functions: Mapping[Key, Callable[[Tallies], float]],
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: Rng = 0,
    clusters: NDArray[np.int64] | None = None,
    progress: Progress | None = None,
) -> dict[Key, tuple[float, float]]:
    """Intervals of functions of tallies over items like these; NaN where none exists.

    `clusters` has the cluster of each item, where items were sampled in clusters. The ends are
    those of a jackknife of the logarithm of 1 less the coefficient. What few items may not show is
    counted in: at the lower end a unit on which people agree by chance, at the upper one a unit on
    which all agree on the answer that raises the coefficient most, and half a unit of chance.
    Logs too large for that have percentiles of resamples.
    """
    check_confidence(confidence)
    count = check_resamples(resamples)
    if count == "exact":
        raise UsageError("the bootstrap has no exact form; give a number of resamples")
    seed = seed_of(rng)
    if not counts.item.size:
        return dict.fromkeys(functions, (math.nan, math.nan))
    drawn = counts.item if clusters is None else clusters[counts.item]
    names, of_unit = np.unique(drawn, return_inverse=True)
    of_unit = of_unit.ravel()
    q = counts.table.shape[1]
    if not isinstance(counts.table, np.ndarray) or counts.table.size * q > FEATURE_CELLS:
        return _resampled(counts, functions, of_unit, names.size, count, confidence, seed, progress)
    features = _unit_features(counts)
    groups = of_unit
    if names.size > LEFT_OUT:
        draw = np.random.default_rng(seed)
        groups = (draw.permutation(names.size) % LEFT_OUT)[of_unit]
    table = np.zeros((int(groups.max()) + 1, features.shape[1]))
    np.add.at(table, groups, features)
    jackknife = _Jackknife(table, counts, confidence)
    ends = {}
    for number, (key, function) in enumerate(functions.items()):
        ends[key] = jackknife.interval(function)
        if progress is not None:
            progress((number + 1) / len(functions))
    return ends


class _Jackknife:
    """What each item (or group of them) adds to the tallies, and units that were not seen."""

    def __init__(self, table: Floats, counts: UnitCounts, confidence: float) -> None:
        from cranfield.stats._special import stdtrit

        self.table, self.total, self.levels = table, table.sum(axis=0), counts.levels
        self.n, self.q = len(table), counts.table.shape[1]
        self.reach = float(stdtrit(self.n - 1, (1 + confidence) / 2)) if self.n > 1 else math.nan
        several = counts.per_unit[counts.per_unit > 1]
        judges = float(several.mean()) if several.size else 2.0
        share = self.total[2 : 2 + self.q] + 0.5
        share = share / share.sum()
        self.by_chance = self._unit(share, np.outer(share, share), judges)
        identity = np.eye(self.q)
        self.agreed = [self._unit(row, np.outer(row, row), judges) for row in identity]

    def _unit(self, share: Floats, pairs: Floats, judges: float) -> Floats:
        flat = pairs.ravel()
        return np.concatenate([[1.0, 1.0], share, flat, flat * judges])

    def _value(self, row: Floats, function: Callable[[Tallies], float]) -> float:
        """Minus the logarithm of what is missing to perfect agreement."""
        value = function(_tallies_of(row, self.q, self.levels))
        return -math.log(max(1.0 - value, _PERFECT)) if value == value else math.nan

    def interval(self, function: Callable[[Tallies], float]) -> tuple[float, float]:
        plain = function(_tallies_of(self.total, self.q, self.levels))
        if plain != plain or self.n < 2:
            return (math.nan, math.nan)
        lower = self.total + self.by_chance
        uppers = [self.total + unit + 0.5 * self.by_chance for unit in self.agreed]
        upper = max(uppers, key=lambda row: self._value(row, function))
        low, high = (
            1.0 - math.exp(-(self._value(row, function) + sign * self._half(row, function)))
            for row, sign in ((lower, -1), (upper, 1))
        )
        return (max(min(low, plain), -1.0), min(max(high, plain), 1.0))

    def _half(self, row: Floats, function: Callable[[Tallies], float]) -> float:
        left_out = np.array([self._value(row - part, function) for part in self.table])
        spread = float(((left_out - left_out.mean()) ** 2).sum())
        # The pseudo unit stands for one of n + 1, and might as well be two or three.
        more = self._value(row + 1.5 * self.by_chance, function) - self._value(row, function)
        squared = (self.n - 1) / self.n * spread * (self.n + 1) / self.n + more**2
        return self.reach * math.sqrt(squared)


def _resampled(
    counts: UnitCounts,
    functions: Mapping[Key, Callable[[Tallies], float]],
    of_unit: NDArray[np.int64],
    items: int,
    count: int,
    confidence: float,
    seed: int,
    progress: Progress | None,
) -> dict[Key, tuple[float, float]]:
    """Percentiles over resampled items; all functions see the same samples."""
    keys = list(functions)

    def work(block: Block) -> Floats:
        weight = bootstrap_counts(seed, block, items)
        drawn = (counts.tallies(row[of_unit]) for row in weight)
        return np.array([[functions[key](t) for key in keys] for t in drawn])

    resampled = np.concatenate(in_threads(work, blocks(count, items), progress=progress))
    tail = (1 - confidence) / 2
    return {key: _percentiles(resampled[:, k], tail) for k, key in enumerate(keys)}


def _tallies_of(row: Floats, q: int, levels: Floats | None) -> Tallies:
    """Tallies from sums of what units add to them."""
    return Tallies(
        float(row[0]),
        float(row[1]),
        row[2 : 2 + q],
        row[2 + q : 2 + q + q * q].reshape(q, q),
        row[2 + q + q * q :].reshape(q, q),
        levels,
    )


def _unit_features(counts: UnitCounts) -> Floats:
    """What each unit adds to the tallies, as one row of numbers."""
    table, r = counts.table, counts.per_unit
    paired = r >= 2
    per_judgement = np.divide(1.0, r - 1, out=np.zeros(r.size), where=paired)
    per_unit = np.divide(per_judgement, r, out=np.zeros(r.size), where=paired)
    q = table.shape[1]
    pairs = table[:, :, None] * table[:, None, :]
    pairs[:, np.arange(q), np.arange(q)] -= table
    flat = pairs.reshape(r.size, q * q)
    return np.hstack(
        [
            (r > 0)[:, None].astype(np.float64),
            paired[:, None].astype(np.float64),
            np.divide(table, r[:, None], out=np.zeros_like(table), where=r[:, None] > 0),
            flat * per_unit[:, None],
            flat * per_judgement[:, None],
        ]
    )


def _percentiles(values: Floats, tail: float) -> tuple[float, float]:
    defined = values[~np.isnan(values)]
    if not defined.size:
        return (math.nan, math.nan)
    low, high = np.quantile(defined, [tail, 1 - tail])
    return (float(low), float(high))


Values = dict[str, float]
Intervals = dict[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """The coefficients of one concept, group or category, with their intervals if asked for."""

    name: str
    units: int
    values: Values
    intervals: Intervals


@dataclass(frozen=True, slots=True)
class AnnotatorRow:
    """An annotator: how much was judged, and how much of it as the majority did."""

    annotator: str
    judgements: int
    accuracy_to_majority: float


@dataclass(frozen=True, slots=True)
class AgreementFigures:
    """Coefficients of a log; `ties` is the number of units without a clear majority."""

    coefficients: tuple[str, ...]
    overall: AgreementRow
    concepts: tuple[AgreementRow, ...]
    annotators: tuple[AnnotatorRow, ...]
    ties: int


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are drawn."""

    resamples: int = 1000
    confidence: float = 0.95
    seed: int = 0
    # The cluster of each item of the log, where items were sampled in clusters.
    clusters: NDArray[np.int64] | None = None


def assess(
    log: JudgementLog,
    coefficients: str = "standard",
    *,
    resampling: Resampling | None = None,
    progress: Progress | None = None,
) -> AgreementFigures:
    """Coefficients of agreement over all units of a log and for each of its concepts.

    In a category log without groups the rows are the categories, each against all others.
    """
    watcher = Progress.of(progress)
    selection = choose_coefficients(coefficients, numeric=log.levels is not None)
    everything = unit_counts(log)
    if log.kind == "category" and log.allowed is None:
        overall, *rows = _category_rows(log, everything, selection, resampling, watcher)
    else:
        steps = len(log.concepts) + 2
        overall = _row("overall", everything, selection, resampling, watcher.part(0.0, 1 / steps))
        rows = []
        for i, name in enumerate(log.concepts):
            part = watcher.part((i + 1) / steps, (i + 2) / steps)
            rows.append(_row(name, unit_counts(log, i), selection, resampling, part))
    votes = vote(log)
    share, judged = accuracy_to_majority(log, votes)
    people = tuple(
        AnnotatorRow(name, int(judged[a]), float(share[a]))
        for a, name in enumerate(log.annotators)
        if judged[a]
    )
    return AgreementFigures(
        tuple(c.name for c in selection), overall, tuple(rows), people, int(votes.tied.sum())
    )


def _row(
    name: str,
    counts: UnitCounts,
    coefficients: Sequence[Coefficient],
    resampling: Resampling | None,
    progress: Progress,
) -> AgreementRow:
    progress(0.0)
    tallies = counts.tallies()
    values = {c.name: c.value(tallies) for c in coefficients}
    intervals = _drawn(counts, {c.name: c.value for c in coefficients}, resampling, progress)
    return AgreementRow(name, int(tallies.units), values, intervals)


def _category_rows(
    log: JudgementLog,
    counts: UnitCounts,
    coefficients: Sequence[Coefficient],
    resampling: Resampling | None,
    progress: Progress,
) -> list[AgreementRow]:
    """All categories together, then each against all others, from the same samples of items."""

    def value(coefficient: Coefficient, category: int, tallies: Tallies) -> float:
        return coefficient.value(tallies if category < 0 else tallies.one_against_rest(category))

    names = ("overall", *log.values)
    functions = {
        (k, c.name): partial(value, c, k) for k in range(-1, len(log.values)) for c in coefficients
    }
    intervals = _drawn(counts, functions, resampling, progress)
    total = counts.tallies()
    return [
        AgreementRow(
            name,
            int(total.units),
            {c.name: functions[k, c.name](total) for c in coefficients},
            {c.name: intervals[k, c.name] for c in coefficients} if intervals else {},
        )
        for k, name in enumerate(names, start=-1)
    ]


def _drawn(
    counts: UnitCounts,
    functions: Mapping[Key, Callable[[Tallies], float]],
    resampling: Resampling | None,
    progress: Progress,
) -> dict[Key, tuple[float, float]]:
    if resampling is None:
        return {}
    return agreement_intervals(
        counts,
        functions,
        clusters=resampling.clusters,
        resamples=resampling.resamples,
        confidence=resampling.confidence,
        rng=resampling.seed,
        progress=progress,
    )
