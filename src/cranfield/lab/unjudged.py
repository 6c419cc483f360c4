"""Can systems be ordered without judgements? Four ways that say yes, beside the true order.

None of them is an evaluation. Each says how much a run is like the others, by what many have found:
hopeless runs come out last, and a run that finds what no other does comes out low, however
good it is. The study says how far that goes on runs of which the truth is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cranfield.answers import Answer
from cranfield.campaign.pool import ranks_within
from cranfield.data import Judgements, Run
from cranfield.errors import UsageError, check_counts, plural
from cranfield.evaluation.ranked import evaluate
from cranfield.lab.study_input import RankedMaterial, StudyInput
from cranfield.notes import Watcher, with_progress
from cranfield.stats._resample import Floats
from cranfield.stats.correlation import ap_correlation, kendall
from cranfield.validation import Seed, validate_params
from cranfield.work.executors import Plain, Plan, run_pieces
from cranfield.work.serialisation import cache_answers, floats, numbers

TRUE = "judgements"
# What each way takes for relevance, in words.
METHODS = {
    "random": "items drawn from the pool at random are taken for relevant, as many as are relevant "
    "on average (Soboroff, Nicholas and Cahan 2001)",
    "random-weighted": "the same, an item as often in the pool as runs have it there",
    "reference-count": "how many of the other runs have each of the first items of a run (Wu and "
    "Crestani 2003, without weights)",
    "top-items": "the first items of every run are taken for relevant (after Efron 2009, with runs "
    "in the place of aspects of a query)",
    "agreement": "the mean overlap with each other run, of the items that either has (Aslam and "
    "Savell 2003)",
}


@dataclass(frozen=True, slots=True)
class OrderWithoutTruth:
    """How near the order of a way without judgements is to that of a measure with them.

    `tau_ap` weighs errors at the top more. `place_of_best` is where the run stands that is the best
    by the judgements, and `best` who that is.
    """

    method: str
    measure: str
    tau: float
    tau_ap: float
    best: str
    place_of_best: int


@dataclass(frozen=True, repr=False, eq=False)
class UnjudgedStudy(Answer):
    """Runs ordered without judgements, beside the order with them."""

    command: ClassVar[str] = "lab unjudged"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:unjudged_document"

    depth: int
    runs: tuple[str, ...]
    scores: dict[str, dict[str, tuple[float, ...]]]
    orders: tuple[OrderWithoutTruth, ...]

    def headline(self) -> str:
        return f"{plural(len(self.runs), 'run')} ordered without judgements in {len(METHODS)} ways"

    def payload(self, **_: object) -> dict[str, Any]:
        return {
            "study": "unjudged",
            "depth": self.depth,
            "runs": list(self.runs),
            "methods": dict(METHODS),
            "scores": {
                method: {measure: list(values) for measure, values in by_measure.items()}
                for method, by_measure in self.scores.items()
            },
            "orders": [
                {
                    "method": order.method,
                    "measure": order.measure,
                    "tau": order.tau,
                    "tau_ap": order.tau_ap,
                    "best": order.best,
                    "place_of_best": order.place_of_best,
                }
                for order in self.orders
            ],
        }


@dataclass(frozen=True, slots=True)
class _Piece:
    """One way to score all runs."""

    material: RankedMaterial
    method: str
    depth: int
    top: int
    trials: int
    seed: int


@dataclass(frozen=True, eq=False)
class _Pools:
    """Runs with the first items of each, by topic: {topic: {item: {run: rank}}}."""

    runs: list[Run]
    judged: Judgements
    ranks: dict[str, dict[str, dict[int, int]]]


@validate_params
@with_progress
def rank_unjudged(
    material: StudyInput,
    *,
    depth: int = 100,
    top: int = 10,
    trials: int = 50,
    rng: Seed = 0,
    plan: Plan | None = None,
    progress: Watcher | None = None,
) -> UnjudgedStudy:
    """Order runs without judgements, in several ways, and hold that against the true order.

    Pools have the first `depth` items of each run, `top` items of each are taken for relevant by
    "top-items". Random judgements are drawn `trials` times; how many of a pool are relevant is
    normal with the mean and the deviation that the true judgements of the topics have, as in the
    paper.

    >>> truth = {"t": {"a": 1, "b": 1}, "u": {"a": 1}}
    >>> good = {"t": {"a": 3.0, "b": 2.0}, "u": {"a": 1.0}}
    >>> runs = {"x": good, "y": good, "z": {"t": {"c": 1.0}, "u": {"d": 1.0}}}
    >>> study = rank_unjudged(StudyInput.ranked(truth, runs, "AP"), trials=5)
    >>> study.scores["reference-count"]["AP"]
    (0.0075, 0.0075, 0.0)
    """
    check_counts(depth=depth, top=top, trials=trials)
    if not isinstance(material, RankedMaterial):
        raise UsageError("pools are made of rankings; read annotations by StudyInput.concepts")
    material.need_runs(3)
    plan = plan or Plan()
    material = material.for_plan(plan)
    settings = {"depth": depth, "top": top, "trials": trials}
    pieces = {
        method: _Piece(material, method, **settings, seed=int(rng)) for method in (TRUE, *METHODS)
    }
    study = {"study": "unjudged", **material.described(), **settings, "rng": rng}
    answers = run_pieces(
        _run_piece, pieces, plan, study=study, loads=material.loads, progress=progress
    )
    names = [str(m) for m in material.measures]
    values = {method: floats(answers[method]["scores"]) for method in pieces}
    orders = tuple(
        _order(method, name, material, values[TRUE][:, j], values[method][:, j], j)
        for j, name in enumerate(names)
        for method in METHODS
    )
    scores = {
        method: {name: tuple(values[method][:, j].tolist()) for j, name in enumerate(names)}
        for method in pieces
    }
    notes = tuple(answers[TRUE]["notes"])
    return UnjudgedStudy(depth, material.run_names, scores, orders, notes=notes)


# Ways whose score is more for the run that is more like the others, whatever the measure.
_OF_LIKENESS = ("reference-count", "agreement")


def _order(
    method: str, name: str, material: RankedMaterial, true: Floats, estimate: Floats, j: int
) -> OrderWithoutTruth:
    """How well a way reproduces the order by a measure."""
    sign = float(material.signs[j])
    true = sign * true
    estimate = estimate if method in _OF_LIKENESS else sign * estimate
    best = int(np.argmax(true))
    return OrderWithoutTruth(
        method,
        name,
        kendall(true, estimate).value,
        ap_correlation(true, estimate).value,
        material.run_names[best],
        int(1 + (estimate > estimate[best]).sum()),
    )


def _run_piece(task: _Piece) -> Plain:
    """The scores of all runs by one way, under every measure."""
    pools = _pools(task.material, task.depth)
    notes: tuple[str, ...] = ()
    if task.method == TRUE:
        scores, notes = _scored(task.material, pools, pools.judged)
    elif task.method == "top-items":
        scores, _ = _scored(task.material, pools, _top_items(pools, task.top))
    elif task.method in _OF_LIKENESS:
        likeness = _reference_counts if task.method == "reference-count" else _agreements
        column = likeness(pools, task.depth)
        scores = np.repeat(column[:, None], len(task.material.measures), axis=1)
    else:
        rng = np.random.default_rng([task.seed, len(task.method)])
        draws = _random_judgements(pools, task.method == "random-weighted", task.trials, rng)
        scores = np.mean([_scored(task.material, pools, draw)[0] for draw in draws], axis=0)
    return {"scores": [numbers(row) for row in scores], "notes": list(notes)}


@cache_answers(2)
def _pools(material: RankedMaterial, depth: int) -> _Pools:
    judged = material.read_judgements()
    runs = [material.read_run(source, name) for name, source in material.runs]
    topics = set(judged.topics)
    ranks = {t: places for t, places in ranks_within(runs, depth).items() if t in topics}
    if not ranks:
        raise UsageError("no run has a topic that is judged")
    return _Pools(runs, judged, ranks)


def _scored(
    material: RankedMaterial, pools: _Pools, judged: Judgements
) -> tuple[Floats, tuple[str, ...]]:
    """A row per run, a column per measure."""
    scores = evaluate(judged, pools.runs, material.names, jobs=1, **material.evaluation())
    columns = [scores.overall[m] for m in scores.measures]
    return np.stack(columns, axis=1), scores.notes


def _top_items(pools: _Pools, top: int) -> Judgements:
    """All items of the pools, those relevant that some run has among its first."""
    return Judgements.from_dict(
        {
            topic: {item: int(min(places.values()) <= top) for item, places in items.items()}
            for topic, items in pools.ranks.items()
        }
    )


def _random_judgements(
    pools: _Pools, weighted: bool, trials: int, rng: np.random.Generator
) -> list[Judgements]:
    """Judgements of the pools in which chance says what is relevant."""
    true = pools.judged.to_dict()
    shares = [
        np.mean([true[topic].get(item, 0) >= 1 for item in items])
        for topic, items in pools.ranks.items()
    ]
    mean, deviation = float(np.mean(shares)), float(np.std(shares))
    draws = []
    for _ in range(trials):
        grades: dict[str, dict[str, float]] = {}
        for topic, items in pools.ranks.items():
            names = list(items)
            share = float(rng.normal(mean, deviation))
            count = int(np.clip(round(share * len(names)), 1, len(names)))
            finders = np.array([len(items[name]) for name in names], dtype=float)
            chances = finders / finders.sum() if weighted else None
            picks = rng.choice(len(names), count, replace=False, p=chances)
            relevant = np.zeros(len(names), dtype=int)
            relevant[picks] = 1
            grades[topic] = dict(zip(names, relevant.tolist(), strict=True))
        draws.append(Judgements.from_dict(grades))
    return draws


def _reference_counts(pools: _Pools, depth: int) -> Floats:
    """The share of the other runs that have an item, over the first `depth` ranks of a run."""
    counts = np.zeros(len(pools.runs))
    for items in pools.ranks.values():
        for places in items.values():
            counts[list(places)] += len(places) - 1
    most = len(pools.ranks) * depth * (len(pools.runs) - 1)
    return np.asarray(counts / most)


def _agreements(pools: _Pools, _: int) -> Floats:
    """Items that two runs both have, of those that either has; the mean over topics and runs."""
    count = len(pools.runs)
    total = np.zeros((count, count))
    for items in pools.ranks.values():
        holds = np.zeros((len(items), count))
        for row, places in enumerate(items.values()):
            holds[row, list(places)] = 1
        shared = holds.T @ holds
        sizes = np.diag(shared)
        either = sizes[:, None] + sizes - shared
        total += np.divide(shared, either, out=np.zeros_like(shared), where=either > 0)
    np.fill_diagonal(total, 0.0)
    return np.asarray(total.sum(axis=1) / (len(pools.ranks) * (count - 1)))
