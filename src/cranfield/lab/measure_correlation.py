"""Cost maps as complete measures and by themselves, side by side (No 8.3.3, Tables 8.1, 8.2).

A *complete* measure is OS with the rules, the agreements and a cost map; the *cost-map* measure of
the same map is HS, which has neither. `F.example` is the baseline that needs no map.

Do measures rank systems alike? Every pair of measures over runs, and within runs over units.

Thesis 8.4.1 and 9.4.1: the runs are ranked by every measure, and the rankings correlated; the
units (topics, items) of every run are ranked as well, and the correlations averaged over runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from cranfield.answers import Answer
from cranfield.errors import UsageError, plural
from cranfield.lab.resample import Draws, drawn_means, drawn_table, settled
from cranfield.lab.study_input import StudyInput, notes_of
from cranfield.measures import Measure, measure
from cranfield.notes import Notes, Watcher, with_progress
from cranfield.stats._resample import Floats
from cranfield.stats.correlation import (
    ap_correlation,
    concordant,
    kendall,
    kolmogorov_smirnov,
    overlap_of_scores,
    pearson,
    spearman,
)
from cranfield.validation import Seed, as_array, validate_params
from cranfield.work.executors import Plain, Plan, run_pieces
from cranfield.work.serialisation import floats, numbers

BASELINE = "F.example"
TREE = "tree"


def both_ways(costmap: Any, ontology: Any = None) -> str:
    """The measures of every cost map in both ways, and the baseline.

    `costmap` are maps by name; an ontology adds its own tree.

    >>> both_ways({"fts": "fts.csv"}, "pto-2009")
    "OS(cost='fts') OS(cost='tree') HS(cost='fts') HS(cost='tree') F.example"
    """
    names = list(costmap) if isinstance(costmap, Mapping) else [""] * (costmap is not None)
    if ontology is not None:
        names.append(TREE)
    if not names:
        raise UsageError("both ways of a cost map need costmap= or ontology=")
    arguments = [f"(cost={name!r})" if name else "" for name in names]
    return " ".join([*(f"OS{s}" for s in arguments), *(f"HS{s}" for s in arguments), BASELINE])


def forms_of(measures: Iterable[str]) -> tuple[tuple[str, str, str], ...]:
    """The cost maps that some measures use in both ways: (map, complete, alone)."""
    forms: dict[str, dict[str, str]] = {}
    for name in measures:
        declared = measure(name)
        if declared.name in ("OS", "HS") and _plain(declared):
            forms.setdefault(str(declared.value_of("cost")), {})[declared.name] = name
    return tuple(
        (cost or "costs", ways["OS"], ways["HS"]) for cost, ways in forms.items() if len(ways) == 2
    )


def _plain(declared: Measure) -> bool:
    """Whether nothing but the cost map is set: OS without rules is neither way."""
    return set(declared.bound) <= {"cost"}


CONFIDENCE = 0.95
# How much further tau may lie from what it estimates than its resamples lie from it: they have
# twice the variance of the noise, and a tau near 1 falls with its root.
_AWAY = 1 / (math.sqrt(2) - 1)
SHOWN_AS = ("kendall", "spearman", "pearson", "ap", "ap_reverse", "rbo", "distance")


@dataclass(frozen=True, slots=True)
class MeasurePair:
    """How alike two measures rank the runs.

    `kendall_name` is tau, or tau-b where runs tie. `ap` takes the ranking of `a` as the one to
    be reproduced, `ap_reverse` that of `b`. `distance` is Kolmogorov-Smirnov's D; `concordant`
    is the decision of its test, whose null hypothesis is that the rankings agree, None for fewer
    than 12 runs. `within` is
    the mean over runs of tau-b over the units of a run, NaN where the measures speak of
    different units.
    """

    a: str
    b: str
    runs: int
    kendall: float
    kendall_name: str
    kendall_p: float
    interval: tuple[float, float]
    spearman: float
    pearson: float
    ap: float
    ap_reverse: float
    rbo: float
    distance: float
    distance_p: float
    within: float
    within_runs: int

    @property
    def concordant(self) -> bool | None:
        return concordant(self.distance_p, self.runs)


@dataclass(frozen=True, slots=True)
class Join:
    """A step of the clustering: two groups of measures at a distance of 1 - tau."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    distance: float

    def to_dict(self) -> dict[str, Any]:
        return {"left": list(self.left), "right": list(self.right), "distance": self.distance}


@dataclass(frozen=True, repr=False, eq=False)
class Correlations(Answer):
    """Every pair of measures, and the trees that average linkage of 1 - tau gives.

    `tree` comes from the rankings of runs, `within_tree` from those of topics, items or concepts
    within runs; it leaves out measures that have no such ranking in common with the others.
    """

    command: ClassVar[str] = "lab correlate"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:correlations_document"

    measures: tuple[str, ...]
    runs: tuple[str, ...]
    scores: Floats
    pairs: tuple[MeasurePair, ...]
    tree: tuple[Join, ...]
    within_tree: tuple[Join, ...]
    seed: int
    resamples: int

    def pair(self, a: str, b: str) -> MeasurePair:
        """The pair of two measures, in either order."""
        for pair in self.pairs:
            if {pair.a, pair.b} == {a, b}:
                return pair
        raise UsageError(f"no pair of {a!r} and {b!r} (there are: {', '.join(self.measures)})")

    def matrix(self, coefficient: str = "kendall") -> Floats:
        """Measures x measures; AP correlation has the row's measure as the one to reproduce."""
        if coefficient not in (*SHOWN_AS, "within"):
            raise UsageError(
                f"no coefficient {coefficient!r} (there are: {', '.join(SHOWN_AS)}, within)"
            )
        at = {m: i for i, m in enumerate(self.measures)}
        diagonal = 0.0 if coefficient == "distance" else 1.0
        square = np.full((len(at), len(at)), diagonal)
        mirrored = {"ap": "ap_reverse", "ap_reverse": "ap"}.get(coefficient, coefficient)
        for p in self.pairs:
            square[at[p.a], at[p.b]] = getattr(p, coefficient)
            square[at[p.b], at[p.a]] = getattr(p, mirrored)
        return square

    def headline(self) -> str:
        return f"{plural(len(self.measures), 'measure')} over {plural(len(self.runs), 'run')}"

    def payload(self, **_: object) -> dict[str, Any]:
        return {
            "study": "correlate",
            "runs": list(self.runs),
            "scores": {m: self.scores[:, j].tolist() for j, m in enumerate(self.measures)},
            "pairs": [
                {
                    "a": p.a,
                    "b": p.b,
                    "runs": p.runs,
                    "kendall": p.kendall,
                    "kendall_kind": p.kendall_name,
                    "kendall_p": p.kendall_p,
                    "kendall_ci": list(p.interval),
                    "spearman": p.spearman,
                    "pearson": p.pearson,
                    "ap": p.ap,
                    "ap_reverse": p.ap_reverse,
                    "rbo": p.rbo,
                    "ks_distance": p.distance,
                    "ks_p": p.distance_p,
                    "concordant": p.concordant,
                    "within": p.within,
                    "within_runs": p.within_runs,
                }
                for p in self.pairs
            ],
            "tree": [j.to_dict() for j in self.tree],
            "within_tree": [j.to_dict() for j in self.within_tree],
            "seed": self.seed,
            "resamples": self.resamples,
        }


@dataclass(frozen=True, slots=True)
class _Piece:
    material: StudyInput
    name: str
    source: Any
    draws: Draws


def _run_piece(task: _Piece) -> Plain:
    """The values of one run, its resampled means, and the correlations within it."""
    material, notes = task.material, Notes()
    _, scored = material.examine(task.source, task.name, notes)
    signs = material.signs
    within = []
    for i, j in combinations(range(len(signs)), 2):
        x, y = scored.values[i], scored.values[j]
        if x is None or y is None or scored.units[i] != scored.units[j]:
            within.append(float("nan"))
            continue
        present = ~np.isnan(x) & ~np.isnan(y)
        a, b = settled(signs[i] * x[present]), settled(signs[j] * y[present])
        within.append(kendall(a, b).value)
    return {
        **scored.packed(notes),
        "drawn": drawn_means(scored, task.draws),
        "within": numbers(within),
    }


@validate_params
@with_progress
def correlate(
    material: StudyInput,
    *,
    resamples: int = 1000,
    rng: Seed = 0,
    rbo_p: float = 0.9,
    plan: Plan | None = None,
    progress: Watcher | None = None,
) -> Correlations:
    """Correlate the rankings of runs by every pair of measures.

    The interval of tau comes from `resamples` bootstrap samples of the units (topics, items or
    concepts), which all runs share. `rbo_p` is the persistence of rank-biased overlap.
    """
    material.need_runs(3)
    if len(material.measures) < 2:
        raise UsageError("correlation needs two measures or more")
    draws = Draws("bootstrap", resamples, rng)
    plan = plan or Plan()
    material = material.for_plan(plan)
    without_runs = material.without_runs()
    pieces = {n: _Piece(without_runs, n, s, draws) for n, s in material.runs}
    study = {"study": "correlate", **material.described(), "seed": rng, "resamples": resamples}
    answers_by_run = run_pieces(
        _run_piece,
        pieces,
        plan,
        study=study,
        loads=(*material.loads, "scipy.stats"),
        progress=progress,
    )
    answers = list(answers_by_run.values())
    scores = floats([a["overall"] for a in answers])
    resampled = drawn_table([a["drawn"] for a in answers], draws)
    within = floats([a["within"] for a in answers])
    correlations = correlate_scores(
        tuple(map(str, material.measures)),
        material.run_names,
        scores,
        material.signs,
        resampled=resampled,
        within=within,
        rbo_p=rbo_p,
        seed=rng,
    )
    return replace(correlations, notes=notes_of(answers_by_run))


@validate_params
def correlate_scores(
    measures: Sequence[str],
    runs: Sequence[Any],
    scores: Floats,
    signs: Floats,
    *,
    resampled: Floats | None = None,
    within: Floats | None = None,
    rbo_p: float = 0.9,
    seed: Seed = 0,
) -> Correlations:
    """The same from a table of scores alone (runs x measures), such as a published one.

    `signs` are +1 for measures of which more is better and -1 for the others.
    """
    count = len(measures)
    scores = as_array("scores", scores, ndim=2)
    signs = as_array("signs", signs, ndim=1)
    resampled = None if resampled is None else as_array("resampled", resampled, ndim=3)
    within = None if within is None else as_array("within", within, ndim=2)
    if scores.shape != (len(runs), count) or signs.shape != (count,):
        raise UsageError(f"scores and signs do not fit {len(runs)} runs and {count} measures")
    if resampled is not None and resampled.shape[:2] != scores.shape:
        raise UsageError("resampled does not have the runs and measures of scores")
    if within is not None and within.shape[1] != count * (count - 1) // 2:
        raise UsageError("within needs a column for each pair of measures")
    if resampled is None:
        resampled = np.full((*scores.shape, 0), np.nan)
    pairs = tuple(
        _pair(
            (measures[i], measures[j]),
            settled(scores[:, [i, j]] * signs[[i, j]]),
            resampled[:, [i, j]] * signs[[i, j]][:, None],
            np.zeros(0) if within is None else within[:, k],
            rbo_p,
        )
        for k, (i, j) in enumerate(combinations(range(len(measures)), 2))
    )
    tree, within_tree = (_tree(tuple(measures), pairs, by) for by in ("kendall", "within"))
    names = tuple(measures), tuple(runs)
    return Correlations(*names, scores, pairs, tree, within_tree, seed, resampled.shape[2])


def _pair(
    names: tuple[str, str], signed: Floats, resampled: Floats, within: Floats, rbo_p: float
) -> MeasurePair:
    """A pair of measures, more being better for both."""
    scored_runs = np.flatnonzero(~np.isnan(signed).any(axis=1))
    x, y = signed[scored_runs].T
    tau, distance = kendall(x, y), kolmogorov_smirnov(x, y)
    inside = within[~np.isnan(within)]
    return MeasurePair(
        *names,
        scored_runs.size,
        tau.value,
        tau.name,
        tau.p,
        _interval(tau.value, resampled[scored_runs]),
        spearman(x, y).value,
        pearson(x, y).value,
        ap_correlation(x, y).value,
        ap_correlation(y, x).value,
        overlap_of_scores(x, y, p=rbo_p),
        distance.value,
        distance.p,
        float(inside.mean()) if inside.size else float("nan"),
        int(inside.size),
    )


def _interval(tau: float, resampled: Floats) -> tuple[float, float]:
    """Interval of tau from resampled units (runs x 2 measures x resamples).

    Resampling adds its own noise to that of the units, and noise pulls tau towards 0: as the
    resamples lie nearer to 0 than tau, tau lies nearer to 0 than what it estimates. The interval
    therefore holds the percentiles and their mirror image at tau, enlarged away from 0.
    """
    usable = ~np.isnan(resampled).any(axis=(0, 1))
    if usable.sum() < 2 or np.isnan(tau):
        return float("nan"), float("nan")
    taus = fast_tau(resampled[:, 0, usable].T, resampled[:, 1, usable].T)
    taus = taus[~np.isnan(taus)]
    if taus.size < 2:
        return float("nan"), float("nan")
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(taus, [tail, 100 - tail]).tolist()
    up, down = (_AWAY if tau > 0 else 1.0), (_AWAY if tau < 0 else 1.0)
    ends = min(low, tau - down * (high - tau)), max(high, tau + up * (tau - low))
    return max(ends[0], -1.0), min(ends[1], 1.0)


def fast_tau(x: Floats, y: Floats) -> Floats:
    """tau-b of many pairs of short lists at once: rows are lists."""
    a, b = np.triu_indices(x.shape[1], 1)
    dx, dy = np.sign(x[:, a] - x[:, b]), np.sign(y[:, a] - y[:, b])
    with np.errstate(invalid="ignore", divide="ignore"):
        taus: Floats = (dx * dy).sum(axis=1) / np.sqrt(
            (dx * dx).sum(axis=1) * (dy * dy).sum(axis=1)
        )
    return taus


def _tree(measures: tuple[str, ...], pairs: tuple[MeasurePair, ...], by: str) -> tuple[Join, ...]:
    """The clustering of measures by a coefficient of their pairs."""
    at = {m: i for i, m in enumerate(measures)}
    square = np.full((len(measures), len(measures)), np.nan)
    for p in pairs:
        square[at[p.a], at[p.b]] = square[at[p.b], at[p.a]] = float(getattr(p, by))
    return cluster_measures(measures, square)


@validate_params
def cluster_measures(measures: Sequence[str], taus: Floats) -> tuple[Join, ...]:
    """Average linkage of 1 - tau, from a square of taus such as a published one.

    A measure without a tau to the others (NaN) stands outside.

    >>> square = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.3], [0.2, 0.3, 1.0]])
    >>> [(join.left, join.right) for join in cluster_measures(["A", "B", "C"], square)]
    [(('A',), ('B',)), (('C',), ('A', 'B'))]
    """
    gap = 1.0 - as_array("taus", taus, ndim=2)
    if gap.shape != (len(measures), len(measures)):
        raise UsageError(f"taus has the shape {gap.shape}, expected a square of the measures")
    inside = list(range(len(measures)))
    while inside:
        lacking = {m: sum(bool(np.isnan(gap[m, o])) for o in inside if o != m) for m in inside}
        worst = max(inside, key=lambda m: lacking[m])
        if not lacking[worst]:
            break
        inside.remove(worst)
    joins: list[Join] = []
    grown: list[tuple[int, ...]] = [(m,) for m in inside]
    while len(grown) > 1:
        distance, i, j = min(
            (float(np.mean([gap[m, o] for m in grown[i] for o in grown[j]])), i, j)
            for i, j in combinations(range(len(grown)), 2)
        )
        first, second = (tuple(measures[m] for m in grown[k]) for k in (i, j))
        joins.append(Join(first, second, distance))
        merged = (*grown[i], *grown[j])
        grown = [g for k, g in enumerate(grown) if k not in (i, j)] + [merged]
    return tuple(joins)
