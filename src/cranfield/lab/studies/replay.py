"""Designs of judging, replayed against judgements that are there: what would they have found?

Every design begins without a judgement, is given those of the truth that it asks for, and is
looked at after each round. What it says then is held against what all judgements say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cranfield.answers import Answer
from cranfield.campaign.adaptive_judging import (
    WORTH,
    AdaptiveJudging,
    CandidateCells,
    CellWeights,
)
from cranfield.campaign.next_judgements import judge_opinions
from cranfield.campaign.pool import ranks_within
from cranfield.errors import UsageError, plural, suggest
from cranfield.io.coerce import JudgementsForm, RunsForm, coerce_judgements, coerce_run, name_runs
from cranfield.measures import measure as parse_measure
from cranfield.measures.base import Measure
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.options import DRAWN_METHODS, JUDGING_DESIGNS, JUDGING_METHODS, JudgingMethod
from cranfield.stats._resample import Floats, all_pairs
from cranfield.stats.corrections import correct
from cranfield.stats.correlation import kendall, overlap_of_scores
from cranfield.stats.paired import t_test
from cranfield.validation import Seed, validate_params


@dataclass(frozen=True, slots=True)
class ReplayPoint:
    """A design after a round, over all replays.

    `judged` is the share of the pool; `significant` the share of the pairs that complete
    judgements find significant and the design has claimed; `false` the share of the replays with a
    claim so far that complete judgements do not confirm; `tau` and `overlap` (rank-biased) hold
    the order of the runs against the complete one.
    """

    judged: float
    significant: float
    false: float
    tau: float
    overlap: float


@dataclass(frozen=True, slots=True)
class DesignReplay:
    """A design over all replays, at its stop.

    `spent` and `judged` are judgements and their share of the pool; `claims` how many pairs were
    claimed. `coverage` is the share of the intervals of pairs that held at every look, `at_stop`
    that of those at the stop, `coverage_runs` that of the runs; None for designs without
    intervals.
    """

    method: str
    judge: bool
    spent: float
    judged: float
    significant: float
    claims: float
    false: float
    tau: float
    overlap: float
    coverage: float | None
    at_stop: float | None
    coverage_runs: float | None
    judge_saves: float | None
    stops: dict[str, int]
    path: tuple[ReplayPoint, ...]


@dataclass(frozen=True, repr=False, eq=False)
class Replay(Answer):
    """Designs of judging against a complete truth."""

    command: ClassVar[str] = "lab replay"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:replay_document"

    measure: str
    runs: tuple[str, ...]
    topics: int
    candidates: int
    pairs: int
    significant: int
    budget: float
    batch: int
    replays: int
    alpha: float
    seed: int
    designs: tuple[DesignReplay, ...]

    def design(self, method: str, *, judge: bool = False) -> DesignReplay:
        """The replays of one design."""
        for design in self.designs:
            if design.method == method and design.judge == judge:
                return design
        raise UsageError(f"no replay of {method!r}")

    def headline(self) -> str:
        best = self.designs[0]
        return (
            f"{best.method}: {best.significant:.1%} of "
            f"{plural(self.significant, 'significant pair')} with {best.judged:.1%} of the "
            f"judgements ({self.measure}, {plural(self.replays, 'replay')})"
        )

    def payload(self, **_: Any) -> dict[str, Any]:
        return {
            "study": "replay",
            "measure": self.measure,
            "runs": list(self.runs),
            "topics": self.topics,
            "candidates": self.candidates,
            "pairs": self.pairs,
            "significant": self.significant,
            "budget": self.budget,
            "batch": self.batch,
            "replays": self.replays,
            "alpha": self.alpha,
            "seed": self.seed,
            "designs": [
                {
                    "method": d.method,
                    "judge": d.judge,
                    "judgements": d.spent,
                    "judged": d.judged,
                    "significant": d.significant,
                    "claims": d.claims,
                    "false": d.false,
                    "tau": d.tau,
                    "overlap": d.overlap,
                    "coverage": d.coverage,
                    "coverage_at_stop": d.at_stop,
                    "coverage_runs": d.coverage_runs,
                    "judge_saves": d.judge_saves,
                    "stops": d.stops,
                    "path": [
                        {
                            "judged": p.judged,
                            "significant": p.significant,
                            "false": p.false,
                            "tau": p.tau,
                            "overlap": p.overlap,
                        }
                        for p in d.path
                    ],
                }
                for d in self.designs
            ],
        }


@dataclass(frozen=True, eq=False)
class CompleteJudgements:
    """What all judgements say: the values of the runs by topic, and the pairs that differ."""

    values: Floats
    difference: Floats
    significant: np.ndarray

    @classmethod
    def of(
        cls, cells: CandidateCells, relevance: Floats, measure: Measure, alpha: float
    ) -> CompleteJudgements:
        values = CellWeights.of(cells, measure).values(relevance)
        rows, p = _tested(values)
        return cls(values, rows, correct(p, "holm") <= alpha)


def _tested(values: Floats) -> tuple[Floats, Floats]:
    """The mean differences of all pairs, and the p-values of the t-test."""
    first, second = all_pairs(values.shape[1]).T
    rows = (values[:, first] - values[:, second]).T
    return rows.mean(axis=1), t_test(rows).p


@dataclass(eq=False)
class _Outcome:
    """One replay of a design: figures by round, and those of its stop."""

    points: list[tuple[float, float, float, float, float]]
    claimed: np.ndarray
    covered: np.ndarray | None
    at_stop: float | None
    covered_runs: np.ndarray | None
    saves: float | None
    stop: str
    spent: int


def replay_design(
    cells: CandidateCells,
    relevance: Floats,
    measure: Measure,
    complete: CompleteJudgements,
    *,
    method: JudgingMethod,
    budget: int,
    batch: int,
    alpha: float = 0.05,
    stops: bool = True,
    seed: int = 0,
) -> _Outcome:
    """Judge by a design until it stops, or the budget is spent; `relevance` is what all say."""
    judging = AdaptiveJudging(
        cells,
        measure,
        method=method,
        alpha=alpha,
        expected=max(budget // batch, 1),
        seed=seed,
    )
    pairs = len(complete.difference)
    claimed, wrong = np.zeros(pairs, dtype=bool), False
    drawn = method in DRAWN_METHODS
    covered = np.ones(pairs, dtype=bool)
    covered_runs = np.ones(len(cells.runs), dtype=bool)
    truth = complete.values.mean(axis=0)
    points: list[tuple[float, float, float, float, float]] = []
    stop, spent, at_stop = "", 0, None
    while not stop:
        proposal = judging.propose(min(batch, budget - spent))
        judging.record(proposal, relevance[proposal.cells])
        spent += len(proposal.cells)
        if drawn:
            look = judging.look()
            difference, claims = look.difference, look.claimed
            inside = np.abs(difference - complete.difference) <= look.radius + 1e-9
            covered, at_stop = covered & inside, float(inside.mean())
            means, radii = judging.intervals()
            covered_runs &= np.abs(means - truth) <= radii + 1e-9
            stop = judging.stop_reason(look, left=budget - spent)
            if stop and not stops and not judging.is_exact and spent < budget:
                stop = ""
        else:
            means = judging.values().mean(axis=0)
            difference, p = _tested(judging.values())
            claims = correct(p, "holm") <= alpha
            stop = "all is judged" if judging.is_exact else ""
            stop = stop or ("the budget is spent" if spent >= budget else "")
        right = complete.significant & (np.sign(difference) == np.sign(complete.difference))
        wrong = wrong or bool((claims & ~right).any())
        # A claim that was published once stays; that of a biased design goes with its bias.
        claimed = (claimed | claims) if drawn else claims
        points.append(
            (
                spent / len(cells),
                _share(claimed & right, complete.significant),
                float(wrong),
                kendall(means, truth).value,
                overlap_of_scores(means, truth),
            )
        )
    return _Outcome(
        points,
        claimed,
        covered if drawn else None,
        at_stop,
        covered_runs if drawn else None,
        judging.judge_saves,
        stop,
        spent,
    )


def _share(part: np.ndarray, whole: np.ndarray) -> float:
    count = np.count_nonzero(whole)
    return float(np.count_nonzero(part & whole) / count) if count else 1.0


@validate_params
@with_progress
def replay_designs(
    judgements: JudgementsForm,
    runs: RunsForm,
    measure: str = "P@10",
    *,
    designs: Sequence[JudgingMethod] = JUDGING_DESIGNS,
    judge: JudgementsForm | None = None,
    budget: float = 0.3,
    batch: int = 100,
    depth: int = 100,
    replays: int = 20,
    alpha: float = 0.05,
    rng: Seed = 0,
    progress: Watcher | None = None,
) -> Replay:
    """Replay designs of judging against complete judgements.

    Each design may spend the share `budget` of the pool to `depth`, in rounds of `batch` cells.
    With `judge`, the judgements of a model, the drawn designs are replayed beside it as well.
    Items of the pool that the judgements do not have count as not relevant.
    """
    for option, value in (("batch", batch), ("depth", depth), ("replays", replays)):
        if value < 1:
            raise UsageError(f"{option}={value} is not a whole number from 1 on")
    if not 0 < budget <= 1:
        raise UsageError(f"budget={budget!r} is not a share above 0 and up to 1")
    if not 0 < alpha < 1:
        raise UsageError(f"alpha={alpha!r} is not between 0 and 1")
    for name in designs:
        if name not in JUDGING_METHODS:
            raise UsageError(f"no design {name!r}.{suggest(name, JUDGING_METHODS)}")
    if not designs:
        raise UsageError("name one design or more")
    watched, notes = Progress.of(progress), Notes()
    named = name_runs(runs)
    read = [coerce_run(source, name) for name, source in named]
    truth = coerce_judgements(judgements).to_dict()
    places = {t: p for t, p in ranks_within(read, depth).items() if t in truth}
    if not places:
        raise UsageError("runs and judgements share no topic")
    measure_object = parse_measure(measure)
    level = float(measure_object.value_of("rel")) if "rel" in measure_object.params else 1.0
    names = [name for name, _ in named]
    plain = CandidateCells.of(names, places)
    variants = [(plain, False)]
    if judge is not None:
        variants.append((CandidateCells.of(names, places, judge_opinions(judge)), True))
    rows = [truth[plain.topics[t]] for t in plain.topic.tolist()]
    grades = [row.get(item) for row, item in zip(rows, plain.items, strict=True)]
    relevance = np.array([g is not None and g >= level for g in grades], dtype=np.float64)
    unjudged = sum(g is None for g in grades)
    if unjudged:
        notes.add(f"{plural(unjudged, 'cell')} of the pool without a judgement: not relevant")
    CellWeights.of(plain, measure_object)
    if len(plain.runs) < 2 or len(plain.topics) < 2:
        raise UsageError("to compare runs takes two of them, on two topics or more")
    complete = CompleteJudgements.of(plain, relevance, measure_object, alpha)
    plans = [
        (method, cells, with_judge)
        for cells, with_judge in variants
        for method in dict.fromkeys(designs)
        if not with_judge or method in DRAWN_METHODS
    ]
    results: list[DesignReplay] = []
    most = max(int(budget * len(plain)), 1)
    for number, (method, cells, with_judge) in enumerate(plans):
        outcomes = []
        for repeat in range(replays):
            outcomes.append(
                replay_design(
                    cells,
                    relevance,
                    measure_object,
                    complete,
                    method=method,
                    budget=most,
                    batch=batch,
                    alpha=alpha,
                    seed=rng + repeat,
                )
            )
            watched((number + (repeat + 1) / replays) / len(plans))
        results.append(summary_of(method, outcomes, len(cells), with_judge))
    for result in results:
        if result.judge_saves is not None and result.judge_saves < WORTH:
            notes.add(f"{result.method}: the model judge is not worth its calls")
    return Replay(
        str(measure_object),
        tuple(names),
        len(plain.topics),
        len(plain),
        len(complete.difference),
        int(np.count_nonzero(complete.significant)),
        budget,
        batch,
        replays,
        alpha,
        rng,
        tuple(results),
        notes=notes.lines(),
    )


def summary_of(
    method: str, outcomes: Sequence[_Outcome], candidates: int, judge: bool = False
) -> DesignReplay:
    """The replays of one design in figures; those that stopped early stay where they stopped."""
    longest = max(len(o.points) for o in outcomes)
    table = np.array([[*o.points, *[o.points[-1]] * (longest - len(o.points))] for o in outcomes])
    path = [ReplayPoint(*map(float, row)) for row in table.mean(axis=0)]
    last = table[:, -1].mean(axis=0)
    stops: dict[str, int] = {}
    for outcome in outcomes:
        stops[outcome.stop] = stops.get(outcome.stop, 0) + 1
    saves = [o.saves for o in outcomes if o.saves is not None]

    def mean(values: Sequence[Any]) -> float | None:
        numbers = [float(np.mean(v)) for v in values if v is not None]
        return float(np.mean(numbers)) if numbers else None

    spent = float(np.mean([o.spent for o in outcomes]))
    return DesignReplay(
        method,
        judge,
        spent,
        spent / candidates,
        float(last[1]),
        float(np.mean([o.claimed.sum() for o in outcomes])),
        float(last[2]),
        float(last[3]),
        float(last[4]),
        mean([o.covered for o in outcomes]),
        mean([o.at_stop for o in outcomes]),
        mean([o.covered_runs for o in outcomes]),
        mean(saves),
        stops,
        tuple(path),
    )
