"""Several runs into one: rankings, or confidences of labels, with weights that may be tuned.

Tuning never sees what is reported: topics are cut into folds, and the ranking of a topic is made
with the weights that did best on the topics of the other folds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.data import Judgements, Run
from cranfield.data.labels import LabelMatrix, dense
from cranfield.errors import InputError, UsageError, check_counts, plural
from cranfield.evaluation.ranked import evaluate
from cranfield.io.coerce import (
    JudgementsForm,
    LabelsForm,
    RunsForm,
    coerce_judgements,
    coerce_labels,
    coerce_run,
    name_runs,
)
from cranfield.measures import Measure, measure
from cranfield.notes import Progress, Watcher, with_progress
from cranfield.references import Source
from cranfield.registry import Param, Registry, Spec
from cranfield.validation import Seed, validate_params
from cranfield.work.seeds import generator

Floats = NDArray[np.float64]
# Sums of squares of larger numbers might be infinite; these are brought down exactly.
_SQUARED_AT_MOST, _SMALLER = 1e140, 2.0**-600


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FusionMethod(Spec):
    """How runs are fused: `level(scores, method)` makes the scores of runs comparable, `join`
    turns them and the weights of the runs into one score an item."""

    noun: ClassVar[str] = "fusion method"
    catalogue: ClassVar[str] = "cranfield runs fuse --help"

    level: Callable[[Floats, FusionMethod], Floats] = field(repr=False)
    join: Callable[[Floats, Floats], Floats] = field(repr=False)
    missing: str = "adds nothing"

    def __reduce__(self) -> tuple[Any, ...]:
        return fusion_method, (str(self),)

    def __saved__(self) -> str:
        """How a saved answer names the method."""
        return str(self)

    @classmethod
    def __restored__(cls, name: str) -> FusionMethod:
        return METHODS.find(name)


def _as_they_are(scores: Floats, _: FusionMethod) -> Floats:
    return _finite(scores)


def _from_zero_to_one(scores: Floats, _: FusionMethod) -> Floats:
    """From the lowest to the highest score of the run; one score for all items is 1."""
    scores = _manageable(scores)
    low, high = _lowest(scores), np.nanmax(_filled(scores, -np.inf), axis=1, keepdims=True)
    spread = high - low
    return np.asarray(np.where(np.isnan(scores), np.nan, _ratio(scores - low, spread, same=1.0)))


def _standard(scores: Floats, _: FusionMethod) -> Floats:
    """Deviations from the mean; a run that lacks an item counts as its lowest score."""
    scores = _manageable(scores)
    present = ~np.isnan(scores)
    count = np.maximum(present.sum(axis=1, keepdims=True), 1)
    mean = np.where(present, scores, 0.0).sum(axis=1, keepdims=True) / count
    away = np.where(present, scores - mean, 0.0)
    deviation = np.sqrt((away**2).sum(axis=1, keepdims=True) / count)
    standard = _ratio(scores - mean, deviation, same=0.0)
    lowest = np.where(present.any(axis=1, keepdims=True), _lowest(standard), 0.0)
    return np.asarray(np.where(present, standard, lowest))


def _reciprocal(scores: Floats, method: FusionMethod) -> Floats:
    return np.asarray(1.0 / (method.value_of("k") + _ranks(scores)))


def _borda(scores: Floats, _: FusionMethod) -> Floats:
    """A point for each item that stands behind; those that a run lacks share what is left."""
    items = scores.shape[1]
    points = items - _ranks(scores)
    lacking = np.isnan(points)
    rest = np.maximum(lacking.sum(axis=1, keepdims=True) - 1, 0) / 2
    present = (~lacking).any(axis=1, keepdims=True)
    return np.asarray(np.where(lacking & present, rest, points))


def _finite(scores: Floats) -> Floats:
    """Scores of which the infinite ones are the largest numbers there are."""
    largest = np.finfo(np.float64).max
    return np.asarray(np.clip(scores, -largest, largest))


def _manageable(scores: Floats) -> Floats:
    """Finite scores whose squares are finite, too: a run of large ones by a power of two."""
    finite = _finite(scores)
    large = np.nanmax(np.abs(_filled(finite, 0.0)), axis=1, keepdims=True) > _SQUARED_AT_MOST
    return np.asarray(np.where(large, finite * _SMALLER, finite))


def _filled(scores: Floats, value: float) -> Floats:
    return np.asarray(np.where(np.isnan(scores), value, scores))


def _lowest(scores: Floats) -> Floats:
    return np.asarray(_filled(scores, np.inf).min(axis=1, keepdims=True))


def _ratio(part: Floats, total: Floats, same: float) -> Floats:
    usable = np.isfinite(total) & (total > 0)
    return np.asarray(np.where(usable, part / np.where(usable, total, 1.0), same))


def _ranks(scores: Floats) -> Floats:
    """Ranks from 1 on; the items are in the order in which ties are broken."""
    order = np.argsort(-_filled(scores, -np.inf), axis=1, kind="stable")
    ranks = np.empty(scores.shape)
    np.put_along_axis(ranks, order, np.arange(1.0, scores.shape[1] + 1)[None, :], axis=1)
    return np.asarray(np.where(np.isnan(scores), np.nan, ranks))


def _weighted(scores: Floats, weights: Floats) -> Floats:
    return np.asarray(scores * weights[:, None])


def _sum(scores: Floats, weights: Floats) -> Floats:
    with np.errstate(over="ignore"):  # beyond the largest number a sum is infinite
        return np.asarray(np.nansum(_weighted(scores, weights), axis=0))


def _count(scores: Floats, weights: Floats) -> Floats:
    counted = (~np.isnan(scores)) & (weights[:, None] != 0)
    return np.asarray(counted.sum(axis=0, dtype=np.float64))


def _sum_times_count(scores: Floats, weights: Floats) -> Floats:
    return _sum(scores, weights) * _count(scores, weights)


def _mean(scores: Floats, weights: Floats) -> Floats:
    return _sum(scores, weights) / np.maximum(_count(scores, weights), 1)


def _largest(scores: Floats, weights: Floats) -> Floats:
    return np.asarray(_filled(_weighted(scores, weights), 0.0).max(axis=0))


def _smallest(scores: Floats, weights: Floats) -> Floats:
    return np.asarray(_filled(_weighted(scores, weights), 0.0).min(axis=0))


_FOX = Source("fox-shaw-1994")
_SCALED = Source("fox-shaw-1994", deviation="scores are brought to [0, 1] in each run and topic")
_N = r"\frac{s_r(i) - \min_r}{\max_r - \min_r}"


def _declared() -> Iterable[FusionMethod]:
    return (
        FusionMethod(
            name="zsum",
            title="Sum of standard scores",
            formula=r"\sum_r w_r \frac{s_r(i) - \mu_r}{\sigma_r}",
            source=Source("montague-aslam-2001"),
            level=_standard,
            join=_sum,
            missing="as the lowest score of the run",
        ),
        FusionMethod(
            name="combsum",
            title="Sum of scores from 0 to 1",
            formula=rf"\sum_r w_r {_N}",
            source=_SCALED,
            level=_from_zero_to_one,
            join=_sum,
        ),
        FusionMethod(
            name="combmnz",
            title="Sum of scores from 0 to 1, times the number of runs that have the item",
            formula=rf"|\{{r : i \in r\}}| \sum_r w_r {_N}",
            source=_SCALED,
            level=_from_zero_to_one,
            join=_sum_times_count,
        ),
        FusionMethod(
            name="combanz",
            title="Mean score from 0 to 1 of the runs that have the item",
            formula=rf"\frac{{1}}{{|\{{r : i \in r\}}|}} \sum_r w_r {_N}",
            source=_SCALED,
            level=_from_zero_to_one,
            join=_mean,
        ),
        FusionMethod(
            name="combmax",
            title="Largest score from 0 to 1",
            formula=rf"\max_r w_r {_N}",
            source=_SCALED,
            level=_from_zero_to_one,
            join=_largest,
        ),
        FusionMethod(
            name="combmin",
            title="Smallest score from 0 to 1",
            formula=rf"\min_r w_r {_N}",
            source=_SCALED,
            level=_from_zero_to_one,
            join=_smallest,
            missing="counts 0",
        ),
        FusionMethod(
            name="sum",
            title="Sum of the scores as they are",
            formula=r"\sum_r w_r s_r(i)",
            source=_FOX,
            level=_as_they_are,
            join=_sum,
        ),
        FusionMethod(
            name="rrf",
            title="Reciprocal rank fusion",
            formula=r"\sum_r \frac{w_r}{k + \mathrm{rank}_r(i)}",
            source=Source("cormack-2009"),
            params=MappingProxyType(
                {"k": Param(float, 60, "how much the first ranks are held back", low=0.0)}
            ),
            level=_reciprocal,
            join=_sum,
        ),
        FusionMethod(
            name="borda",
            title="Borda count",
            formula=r"\sum_r w_r (n - \mathrm{rank}_r(i))",
            source=Source("aslam-montague-2001"),
            level=_borda,
            join=_sum,
            missing="the mean of the points that are left",
        ),
    )


METHODS: Registry[FusionMethod] = Registry(
    FusionMethod, _declared, {"minmax": "combsum", "zscore": "zsum", "mnz": "combmnz"}
)


def fusion_method(name: str) -> FusionMethod:
    """The fusion method that a name such as `rrf(k=10)` stands for."""
    return METHODS.find(name)


def fused_scores(scores: Floats, weights: Floats, method: FusionMethod) -> Floats:
    """One score an item, from a row of scores for each run.

    >>> scores = np.array([[2.0, 1.0, np.nan], [np.nan, 5.0, 9.0]])
    >>> fused_scores(scores, np.ones(2), METHODS.find("combsum")).tolist()
    [1.0, 0.0, 1.0]
    """
    return method.join(method.level(scores, method), weights)


Weights = Sequence[float] | Mapping[str, float]
DEFAULT_METHOD, DEFAULT_FOLDS, DEFAULT_MEASURE = "zsum", 5, "AP"
# What a weight may become when it is tuned, the others staying as they are.
STEPS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
_PASSES = 3
# The share of the work that is reading the runs.
READ = 0.5


@dataclass(frozen=True)
class Fold:
    """Topics that were ranked with weights tuned on all others, and how these do on both."""

    topics: tuple[str, ...]
    weights: tuple[float, ...]
    tuned: float
    held_out: float


@dataclass(frozen=True, repr=False, eq=False)
class Fusion(Answer):
    """A run made of several. `folds` are there when the weights were tuned."""

    command: ClassVar[str] = "fuse"
    table_maker: ClassVar[str] = "cranfield.report.tables.evaluation:fusion_document"
    method: FusionMethod
    names: tuple[str, ...]
    weights: tuple[float, ...]
    run: Run
    measure: str = ""
    folds: tuple[Fold, ...] = ()

    @property
    def held_out(self) -> float | None:
        """The mean of the measure over all topics, each with weights tuned without it."""
        if not self.folds:
            return None
        sizes = np.array([len(fold.topics) for fold in self.folds])
        return float(np.average([fold.held_out for fold in self.folds], weights=sizes))

    def payload(self, **_: object) -> dict[str, Any]:
        """The method, the weights, and what tuning found."""
        fields: dict[str, Any] = {
            "method": str(self.method),
            "runs": [
                {"name": name, "weight": weight}
                for name, weight in zip(self.names, self.weights, strict=True)
            ],
            "topics": len(self.run.topics),
        }
        if self.folds:
            fields["tuned"] = {
                "measure": self.measure,
                "held_out": self.held_out,
                "folds": [
                    {
                        "topics": list(fold.topics),
                        "weights": dict(zip(self.names, fold.weights, strict=True)),
                        "tuned": fold.tuned,
                        "held_out": fold.held_out,
                    }
                    for fold in self.folds
                ],
            }
        return fields

    def headline(self) -> str:
        return f"{plural(len(self.names), 'run')} by {self.method}"


@validate_params
@with_progress
def fuse(
    runs: RunsForm,
    method: str | FusionMethod = DEFAULT_METHOD,
    *,
    weights: Weights | None = None,
    tune: JudgementsForm | None = None,
    measure: str | Measure = DEFAULT_MEASURE,
    folds: int = DEFAULT_FOLDS,
    k: int | None = None,
    name: str = "fused",
    seed: Seed = 0,
    progress: Watcher | None = None,
) -> Fusion:
    """One run of several ranked runs, of the `k` best items of each topic (default: all).

    `weights` has a number for each run. With judgements to `tune` on, the weights are those that
    do best under `measure` on the topics of the other folds; topics without judgements get those
    that do best on all.

    >>> first, second = {"t": {"a": 2.0, "b": 1.0}}, {"t": {"b": 9.0, "c": 3.0}}
    >>> fuse({"first": first, "second": second}, "rrf").run.ranking("t")
    ['b', 'a', 'c']
    """
    check_counts(k=k, folds=folds)
    fusion_method = METHODS.find(method) if isinstance(method, str) else method
    report_progress = Progress.of(progress)
    sources = name_runs(runs)
    by_name = {}
    for number, (label, run) in enumerate(sources):
        report_progress(READ * number / len(sources))
        by_name[label] = coerce_run(run, label)
    run_weights = _weights(weights, tuple(by_name))
    tables = _Tables(tuple(by_name.values()), fusion_method, k)
    report_progress = report_progress.part(READ, 1.0)
    if tune is None:
        fused = tables.run(dict.fromkeys(tables.topics, run_weights), name, report_progress)
        return Fusion(fusion_method, tuple(by_name), tuple(run_weights.tolist()), fused)
    if weights is not None:
        raise UsageError("give weights= or tune=, not both")
    judged = coerce_judgements(tune)
    return _tuned(
        tables, fusion_method, tuple(by_name), judged, measure, folds, name, seed, report_progress
    )


def _weights(weights: Weights | None, names: tuple[str, ...]) -> Floats:
    if weights is None:
        return np.ones(len(names))
    if isinstance(weights, Mapping):
        unknown = [n for n in weights if n not in names]
        if unknown:
            raise UsageError(f"a weight for {unknown[0]!r}, which is none of the runs")
        weights = [weights.get(n, 1.0) for n in names]
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (len(names),) or not np.isfinite(values).all():
        raise UsageError(f"weights= needs {len(names)} numbers, one for each run")
    return values


class _Tables:
    """The scores of all runs, topic by topic, ready to be fused with any weights."""

    def __init__(self, runs: Sequence[Run], method: FusionMethod, k: int | None) -> None:
        self._method, self._k = method, k
        nested = [run.to_dict() for run in runs]
        self.topics = tuple(dict.fromkeys(t for run in nested for t in run))
        self._items: dict[str, list[str]] = {}
        self._levels: dict[str, Floats] = {}
        for topic in self.topics:
            rankings = [run.get(topic, {}) for run in nested]
            # As ties are broken everywhere: the larger id first.
            items = sorted({i for r in rankings for i in r}, key=str.encode, reverse=True)
            scores = np.array([[r.get(i, np.nan) for i in items] for r in rankings])
            self._items[topic] = items
            self._levels[topic] = method.level(scores, method)

    def ranking(self, topic: str, weights: Floats) -> dict[str, float]:
        scores = self._method.join(self._levels[topic], weights)
        items = self._items[topic]
        best = np.argsort(-scores, kind="stable")[: self._k]
        return {items[i]: float(scores[i]) for i in best}

    def run(
        self, weights: Mapping[str, Floats], name: str, progress: Progress | None = None
    ) -> Run:
        nested = {}
        for number, topic in enumerate(self.topics):
            if progress is not None:
                progress(number / len(self.topics))
            nested[topic] = self.ranking(topic, weights[topic])
        return Run.from_dict(nested).named(name)


def _tuned(
    tables: _Tables,
    method: FusionMethod,
    names: tuple[str, ...],
    judged: Judgements,
    measure_name: str | Measure,
    folds: int,
    name: str,
    seed: int,
    progress: Progress,
) -> Fusion:
    goal = measure(measure_name) if isinstance(measure_name, str) else measure_name
    if goal.higher_is_better is None:
        raise UsageError(f"{goal} is neither better high nor low: no weights can be tuned for it")
    judged_topics = [t for t in judged.topics if t in set(tables.topics)]
    if len(judged_topics) < 2 * folds:
        raise UsageError(
            f"{plural(len(judged_topics), 'judged topic')} for {folds} folds: at least "
            "two of each are "
            "needed (folds=)"
        )
    search = _WeightSearch(tables, judged, goal, len(names))
    shuffled = generator(seed).permutation(len(judged_topics))
    parts = [[judged_topics[i] for i in sorted(shuffled[f::folds].tolist())] for f in range(folds)]
    fold_results: list[Fold] = []
    weights: dict[str, Floats] = {}
    for number, part in enumerate(parts):
        others = [t for t in judged_topics if t not in set(part)]
        best = search.best(others, progress.part(number / (folds + 1), (number + 1) / (folds + 1)))
        fold_results.append(
            Fold(
                tuple(part),
                tuple(best.tolist()),
                search.mean(others, best),
                search.mean(part, best),
            )
        )
        weights |= dict.fromkeys(part, best)
    overall = search.best(judged_topics, progress.part(folds / (folds + 1), 1.0))
    fused = tables.run(dict.fromkeys(tables.topics, overall) | weights, name)
    note = (
        f"weights tuned for {goal.mean_label} in {folds} folds: each judged topic is ranked with "
        "those of the other folds; weights tells what does best on all, which is for new topics"
    )
    return Fusion(
        method, names, tuple(overall.tolist()), fused, str(goal), tuple(fold_results), notes=(note,)
    )


class _WeightSearch:
    """Weights that do best on some topics, one weight after the other, by the steps."""

    def __init__(self, tables: _Tables, judged: Judgements, measure: Measure, runs: int) -> None:
        self._tables, self._judged, self._measure, self._runs = tables, judged, measure, runs
        self._seen: dict[tuple[float, ...], dict[str, float]] = {}

    def _per_topic(self, weights: Floats) -> dict[str, float]:
        key = tuple(weights.tolist())
        if key not in self._seen:
            run = self._tables.run(dict.fromkeys(self._tables.topics, weights), "tuned")
            scores = evaluate(self._judged, run, self._measure)
            values = scores.plain_values(scores.measures[0])[0]
            self._seen[key] = dict(zip(scores.units["topic"], values, strict=True))
        return self._seen[key]

    def mean(self, topics: Sequence[str], weights: Floats) -> float:
        values = self._per_topic(weights)
        defined = [v for t in topics if (v := values.get(t)) is not None and not math.isnan(v)]
        return float(np.mean(defined)) if defined else float("nan")

    def best(self, topics: Sequence[str], progress: Progress) -> Floats:
        sign = 1.0 if self._measure.higher_is_better else -1.0
        weights = np.ones(self._runs)
        best = sign * self.mean(topics, weights)
        for turn in range(_PASSES):
            before = weights.copy()
            for place in range(self._runs):
                for step in STEPS:
                    tried = weights.copy()
                    tried[place] = step
                    if not tried.any():
                        continue
                    value = sign * self.mean(topics, tried)
                    if value > best:
                        best, weights = value, tried
                progress((turn * self._runs + place + 1) / (_PASSES * self._runs))
            if np.array_equal(before, weights):
                break
        progress(1.0)
        return weights


LABEL_METHODS = ("mean", "max", "min", "product", "borda", "zsum")


@validate_params
def fuse_labels(
    runs: Sequence[LabelsForm],
    method: str = "mean",
    *,
    weights: Sequence[float] | None = None,
    name: str = "fused",
) -> LabelMatrix:
    """One annotation of several, by their confidences: of the items and concepts that all have.

    `mean`, `max`, `min` and `product` (a geometric mean) are of confidences; `borda` and `zsum`
    of ranks and standard scores within a concept, brought to [0, 1].
    """
    if method not in LABEL_METHODS:
        raise UsageError(f"no method {method!r}, expected one of {', '.join(LABEL_METHODS)}")
    matrices = [coerce_labels(run, f"run {i}") for i, run in enumerate(runs, 1)]
    matrix_weights = _weights(weights, tuple(m.where for m in matrices))
    if (matrix_weights < 0).any() or not matrix_weights.any():
        raise UsageError("weights= of labels are not below 0, and not all 0")
    first = matrices[0]
    for matrix in matrices[1:]:
        if set(matrix.items) != set(first.items) or set(matrix.concepts) != set(first.concepts):
            raise InputError.single(matrix.where, f"has other items or concepts than {first.where}")
    cube = np.stack([_aligned(m, first) for m in matrices])
    return LabelMatrix(
        first.items,
        first.concepts,
        confidences=np.clip(_joined_labels(cube, matrix_weights, method), 0.0, 1.0),
        name=name,
        named=first.named,
    )


def _aligned(matrix: LabelMatrix, like: LabelMatrix) -> Floats:
    values = matrix.confidences if matrix.confidences is not None else matrix.labels
    table = np.asarray(dense(values), dtype=np.float64)
    rows = {item: i for i, item in enumerate(matrix.items)}
    columns = {concept: i for i, concept in enumerate(matrix.concepts)}
    return table[np.ix_([rows[i] for i in like.items], [columns[c] for c in like.concepts])]


def _joined_labels(cube: Floats, weights: Floats, method: str) -> Floats:
    shares = (weights / weights.sum())[:, None, None]
    if method == "mean":
        return np.asarray((cube * shares).sum(axis=0))
    if method in ("max", "min"):
        weighted = cube[weights > 0]
        return np.asarray(weighted.max(axis=0) if method == "max" else weighted.min(axis=0))
    if method == "product":
        # A run without weight takes no part: its 0 would count as no number.
        weighty = weights > 0
        with np.errstate(divide="ignore"):
            return np.asarray(np.exp((np.log(cube[weighty]) * shares[weighty]).sum(axis=0)))
    from scipy.stats import rankdata

    from cranfield.stats._special import ndtr

    if method == "borda":
        ranks = (rankdata(cube, axis=1) - 1) / max(cube.shape[1] - 1, 1)
        return np.asarray((ranks * shares).sum(axis=0))
    spread = cube.std(axis=1, keepdims=True)
    away = (cube - cube.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(ndtr((away * shares).sum(axis=0)))
