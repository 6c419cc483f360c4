"""Replays: what would fewer judgements, or fewer opinions of each item, have told?

Designs of judging are replayed against judgements that are there. Every design begins without a
judgement, gets those of the truth that it asks for, and is looked at after each round. What it
says then is compared with what all judgements say.

A log of opinions is replayed with fewer of them. With fixed overlap every item gets as many; with
adaptive overlap a pilot shows which annotators are reliable, and then an item gets another opinion
only while a model is not sure of its answers (Welinder and Perona 2010).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement.adaptive_overlap import (
    AdaptiveOverlap,
    annotator_reliability,
    estimate_answers,
    form_codes,
    opinions_per_item,
    winners,
)
from cranfield.answers import Answer
from cranfield.campaign.adaptive_judging import (
    WORTH,
    AdaptiveJudging,
    CandidateCells,
    CellWeights,
)
from cranfield.campaign.next_judgements import judge_opinions
from cranfield.campaign.pool import ranks_within
from cranfield.data.judgement_log import JudgementLog
from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError, plural, suggest
from cranfield.io.coerce import JudgementsForm, RunsForm, coerce_judgements, coerce_run, name_runs
from cranfield.io.files import FileForm
from cranfield.io.judgement_log import Duplicates, read_gold, read_judgement_log
from cranfield.io.labels import read_label_runs
from cranfield.measures import measure as parse_measure
from cranfield.measures.base import Measure
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.options import (
    CERTAINTIES,
    DRAWN_METHODS,
    JUDGING_DESIGNS,
    JUDGING_METHODS,
    AggregationMethod,
    JudgingMethod,
    OverlapMethod,
    People,
)
from cranfield.stats._resample import Floats, all_pairs
from cranfield.stats.corrections import correct
from cranfield.stats.correlation import kendall, overlap_of_scores
from cranfield.stats.paired import t_test
from cranfield.validation import Seed, validate_params
from cranfield.work.seeds import generator


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


_STREAM = 46
Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class OverlapPoint:
    """One way to collect opinions, as the mean of all repetitions.

    `setting` is the number of opinions of each item (`policy` is "votes" or "fixed") or how sure
    the model must be ("adaptive"). `opinions` is the mean number per item, `spread` the standard
    deviation of the accuracy, `tau` the rank correlation of systems with the reference.
    """

    policy: str
    setting: float
    opinions: float
    accuracy: float
    spread: float
    kappa: float
    tau: float


@dataclass(frozen=True, repr=False, eq=False)
class OverlapStudy(Answer):
    """Accuracy, kappa and rank correlation against the number of opinions."""

    command: ClassVar[str] = "lab replay"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:overlap_document"
    judgements: int
    items: int
    annotators: int
    known: int
    reference: str
    method: str
    fixed: int
    pilot: float
    most: int
    people: People
    repeats: int
    seed: int
    points: tuple[OverlapPoint, ...]

    def of(self, policy: str) -> tuple[OverlapPoint, ...]:
        """The points of one policy: votes, fixed or adaptive."""
        return tuple(p for p in self.points if p.policy == policy)

    def target(self, policy: str = "fixed") -> OverlapPoint:
        """The point of the overlap that is compared with."""
        return next(p for p in self.of(policy) if p.setting == self.fixed)

    def cheapest(self, policy: str = "fixed") -> OverlapPoint | None:
        """The adaptive point with the fewest opinions that is as accurate as the target."""
        target = self.target(policy)
        equal = [p for p in self.of("adaptive") if p.accuracy >= target.accuracy]
        return min(equal, key=lambda p: p.opinions, default=None)

    def share(self, policy: str = "fixed") -> float:
        """The share of the target's judgements that the cheapest point takes."""
        point = self.cheapest(policy)
        return math.nan if point is None else point.opinions / self.target(policy).opinions

    def headline(self) -> str:
        point, target = self.cheapest(), self.target()
        start = f"{self.fixed} opinions per item: accuracy {target.accuracy:.3f}; "
        if point is None:
            return f"{start}no adaptive overlap that was tried is as accurate"
        return (
            f"{start}adaptive overlap (sure {point.setting:g}): {point.accuracy:.3f} "
            f"with {self.share():.0%} of the judgements"
        )

    def payload(self, **_: Any) -> dict[str, Any]:
        return {
            "study": "replay",
            "judgements": self.judgements,
            "items": self.items,
            "annotators": self.annotators,
            "known": self.known,
            "reference": self.reference,
            "method": self.method,
            "fixed": self.fixed,
            "pilot": self.pilot,
            "most": self.most,
            "people": self.people,
            "repeats": self.repeats,
            "seed": self.seed,
            "share": self.share(),
            "share_of_votes": self.share("votes"),
            "points": [
                {
                    "policy": p.policy,
                    "setting": p.setting,
                    "opinions": p.opinions,
                    "accuracy": p.accuracy,
                    "spread": p.spread,
                    "kappa": p.kappa,
                    "tau": p.tau,
                }
                for p in self.points
            ],
        }


def _known_answers(gold: NDArray[np.int32], log: JudgementLog) -> NDArray[np.int32]:
    """The array, if it has an answer of the log, or -1, for each item and concept."""
    shape = (len(log.items), len(log.concepts))
    if gold.shape != shape or gold.dtype.kind not in "iu":
        raise UsageError(
            f"gold is an array of {gold.dtype} and shape {gold.shape} (expected: whole numbers, "
            f"{shape[0]} items x {shape[1]} concepts, -1 where unknown)"
        )
    return gold


@validate_params(skip=("log", "gold"))
@with_progress
def replay_overlap(
    log: JudgementLog | FileForm,
    gold: NDArray[np.int32] | FileForm | None = None,
    *,
    systems: Sequence[LabelMatrix | str | Path] = (),
    measures: str = "F.example",
    fixed: int = 5,
    most: int = 10,
    pilot: float = 0.1,
    sure: Sequence[float] = CERTAINTIES,
    people: People = "best",
    method: OverlapMethod = "dawid-skene",
    repeats: int = 10,
    values: Sequence[str] | None = None,
    duplicates: Duplicates = "error",
    rng: Seed = 0,
    progress: Watcher | None = None,
) -> OverlapStudy:
    """Play a log again with fewer opinions, and with adaptive overlap.

    Parameters
    ----------
    log
        Judgements, or their file.
    gold
        Known answers (items x concepts of codes, -1 for unknown) or their file; without them the
        reference is what all opinions together say, and a note says so.
    systems
        Annotation runs, ranked by every truth; `tau` correlates their order with that by the
        reference. Three or more.
    measures
        The measure of the systems.
    fixed
        Opinions per item to compare with.
    most
        Opinions that an item gets at most under adaptive overlap.
    pilot
        The share of the items that `fixed` people judge first, to learn who is reliable.
    sure
        How probable every answer about an item must be before it is closed: all are tried.
    people
        Who is asked next: of those with an opinion on the item the "best" so far, or "any".
    method
        The model that says what the answers are.
    repeats
        How often opinions are drawn.
    values, duplicates
        As in `read_judgement_log`.
    rng
        Seed of the draws.
    progress
        Is told the share that is done.
    """
    if fixed < 1 or most < 1 or repeats < 1:
        raise UsageError("fixed=, most= and repeats= are whole numbers from 1 on")
    if not 0 < pilot <= 1:
        raise UsageError(f"pilot={pilot} is not above 0 and at most 1")
    if 0 < len(systems) < 3:
        raise UsageError(f"{len(systems)} runs make no ranking to correlate; give at least three")
    rules = [AdaptiveOverlap(s, most, 1) for s in sure]
    if not rules:
        raise UsageError("sure= has no value to try")
    if not isinstance(log, JudgementLog):
        log = read_judgement_log(log, values=values, duplicates=duplicates)
    if not len(log):
        raise UsageError("the log has no judgements")
    notes, watcher = Notes(), Progress.of(progress)
    reference = "gold"
    if gold is not None:
        known = _known_answers(gold, log) if isinstance(gold, np.ndarray) else read_gold(gold, log)
        answers = known.astype(np.int64)
    else:
        answers, reference = winners(log, estimate_answers(log, method)), "all opinions"
        notes.add(
            "the reference is what all opinions say, which favours what comes near to it: "
            "known answers (gold) are better"
        )
    replay = _Replay(log, answers, method, tuple(systems), measures, people)
    opinions = opinions_per_item(log)
    if int(opinions.max()) < fixed:
        raise UsageError(f"no item has {fixed} opinions; the largest number is {opinions.max()}")
    short = int((opinions < fixed).sum())
    if short:
        notes.add(f"{plural(short, 'item')} of {opinions.size} have fewer than {fixed} opinions")
    results: dict[tuple[str, float], list[_OverlapOutcome]] = {}
    for number in range(repeats):
        draw = generator(rng, _STREAM, number)
        order = draw.random(replay.forms)
        for overlap in range(1, fixed + 1):
            collected = replay.fixed(order, overlap)
            for policy in ("votes", "fixed"):
                outcome = replay.outcome(collected, "majority" if policy == "votes" else method)
                results.setdefault((policy, overlap), []).append(outcome)
        first = draw.permutation(len(log.items))[: max(1, round(pilot * len(log.items)))]
        for step, rule in enumerate(rules, 1):
            collected = replay.adaptive(order, first, fixed, rule)
            results.setdefault(("adaptive", rule.sure), []).append(
                replay.outcome(collected, method)
            )
            watcher((number + step / len(rules)) / repeats)
    ordered = sorted(results, key=lambda key: (_POLICIES.index(key[0]), key[1]))
    return OverlapStudy(
        len(log),
        int((opinions > 0).sum()),
        len(log.annotators),
        int((replay.reference >= 0).sum()),
        reference,
        method,
        fixed,
        float(pilot),
        most,
        people,
        repeats,
        int(rng),
        tuple(_point(policy, setting, results[policy, setting]) for policy, setting in ordered),
        notes=notes.lines(),
    )


_POLICIES = ("votes", "fixed", "adaptive")


@dataclass(frozen=True, slots=True)
class _OverlapOutcome:
    opinions: float
    accuracy: float
    kappa: float
    tau: float


def _point(policy: str, setting: float, outcomes: Sequence[_OverlapOutcome]) -> OverlapPoint:
    accuracy = [o.accuracy for o in outcomes]
    return OverlapPoint(
        policy,
        setting,
        float(np.mean([o.opinions for o in outcomes])),
        float(np.mean(accuracy)),
        float(np.std(accuracy, ddof=1)) if len(accuracy) > 1 else math.nan,
        float(np.mean([o.kappa for o in outcomes])),
        float(np.mean([o.tau for o in outcomes])),
    )


class _Replay:
    """A log whose forms (a person on an item) are asked for one by one."""

    def __init__(
        self,
        log: JudgementLog,
        reference: Integers,
        method: AggregationMethod,
        systems: Sequence[LabelMatrix | str | Path],
        measure: str,
        people: People,
    ) -> None:
        self._log, self.reference, self._method = log, reference, method
        first, self._form = form_codes(log)
        self._item = log.item[first].astype(np.int64)
        self._person = log.annotator[first].astype(np.int64)
        self.forms = first.size
        self._items = len(log.items)
        self._judged = int((opinions_per_item(log) > 0).sum())
        self._best = people == "best"
        self._measure = measure
        self._runs = [
            run
            for system in systems
            for run in (
                [system] if isinstance(system, LabelMatrix) else read_label_runs([system], 0.5)
            )
        ]
        self._scores = self._system_scores(reference) if self._runs else None

    def fixed(self, order: Floats, overlap: int) -> NDArray[np.bool_]:
        """The forms of the first `overlap` people of each item, in a drawn order."""
        return self._places(order) < overlap

    def _places(self, order: Floats) -> Integers:
        ranked = np.lexsort((order, self._item))
        starts = np.flatnonzero(np.diff(self._item[ranked], prepend=-1))
        sizes = np.diff(np.append(starts, ranked.size))
        places = np.empty(self.forms, dtype=np.int64)
        places[ranked] = np.arange(self.forms) - np.repeat(starts, sizes)
        return places

    def adaptive(
        self, order: Floats, pilot: Integers, overlap: int, rule: AdaptiveOverlap
    ) -> NDArray[np.bool_]:
        """The forms that adaptive overlap collects, the pilot first, until every item is closed."""
        in_pilot = np.zeros(self._items, dtype=bool)
        in_pilot[pilot] = True
        collected = self.fixed(order, overlap) & in_pilot[self._item]
        while True:
            log = self._log.where(collected[self._form])
            estimate = estimate_answers(log, self._method)
            wants = rule.open_items(log, estimate)[self._item] & ~collected
            if not wants.any():
                return collected
            worth = annotator_reliability(estimate)[self._person] if self._best else None
            rest = np.flatnonzero(wants)
            keys = (order[rest],) if worth is None else (order[rest], -worth[rest])
            ranked = rest[np.lexsort((*keys, self._item[rest]))]
            collected[ranked[np.flatnonzero(np.diff(self._item[ranked], prepend=-1))]] = True

    def outcome(self, collected: NDArray[np.bool_], method: AggregationMethod) -> _OverlapOutcome:
        log = self._log.where(collected[self._form])
        answers = winners(log, estimate_answers(log, method))
        known = (self.reference >= 0) & (answers >= 0)
        accuracy, kappa = _accuracy_and_kappa(answers[known], self.reference[known])
        tau = math.nan
        if self._scores is not None:
            tau = kendall(self._scores, self._system_scores(answers)).value
        return _OverlapOutcome(collected.sum() / self._judged, accuracy, kappa, tau)

    def _system_scores(self, answers: Integers) -> Floats:
        """The scores of the systems by some answers; a cell without one is absent."""
        from cranfield.evaluation.labels import evaluate_labels

        levels = self._log.levels
        if self._log.kind != "concept" or levels is None:
            raise UsageError("systems are ranked by a log of concepts, present or absent")
        present = (answers >= 0) & (levels[np.maximum(answers, 0)] > 0)
        judged = np.flatnonzero((answers >= 0).any(axis=1))
        names = tuple(self._log.items[i] for i in judged)
        truth = LabelMatrix.of(
            present[judged].astype(int), items=names, concepts=self._log.concepts, name="truth"
        )
        row_of = {item: i for i, item in enumerate(names)}
        runs = []
        for run in self._runs:
            rows = [i for i, item in enumerate(run.items) if item in row_of]
            items = tuple(run.items[i] for i in rows)
            runs.append(run.map(partial(_some_rows, rows), items=items))
        scores = evaluate_labels(truth, runs, self._measure, keep=False)
        if len(scores.measures) > 1:
            raise UsageError("systems are ranked by one measure")
        (measure,) = scores.measures
        sign = -1.0 if measure.higher_is_better is False else 1.0
        return sign * np.asarray(scores.overall[measure])


def _some_rows(rows: list[int], matrix: Any) -> Any:
    return matrix[rows]


def _accuracy_and_kappa(answers: Integers, reference: Integers) -> tuple[float, float]:
    """The share of right answers, and Cohen's kappa of the answers with the reference."""
    if not answers.size:
        return math.nan, math.nan
    accuracy = float((answers == reference).mean())
    size = int(max(answers.max(), reference.max())) + 1
    first, second = (np.bincount(codes, minlength=size) for codes in (answers, reference))
    chance = float((first * second).sum()) / answers.size**2
    return accuracy, (accuracy - chance) / (1 - chance) if chance < 1 else math.nan
