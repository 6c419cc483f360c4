"""Which of the requirements on a metric hold (King 2003, thesis 4.6), tried out on small cases.

By machine: 1 best value for perfect quality and only there, 2 worst value only for the worst
quality, 3 better quality never scores lower, 6 equivalent inputs score the same. Requirements 7
and 8 (cheap, automated) hold for all that Cranfield computes; 4, 5 and 9 (clear, close to human
judgement, valid) are for people, and `lab votes` helps with the fifth. Measures of annotation are
also tried on what the user model and, with an ontology, Kiritchenko ask of them (thesis 7.2, 9.2).

Small cases on which requirements on a metric are tried: every ranking, every labelling.

Ranked retrieval: all rankings of 8 items with 1 to 3 relevant ones. Annotation: four concepts at
a time, chosen so that they differ in depth and in the rules that hold between them; measures of
decisions see every set of labels, measures of confidences every order of the concepts, without
ties. A truth that breaks a rule of the ontology is no case.

What a hierarchy and a user ask of a measure of annotation, tried out.

Kiritchenko (thesis, 7.2.2): K1 a wrong concept of the same subtree costs less than one of
another, K2 the error grows with the distance in the hierarchy, K3 it is higher at the top than at
the bottom. The user model (thesis, 7.2.1 and 9.2): U1 the whole set of true concepts counts, U2
sets with as many mistakes can score differently, U3 predictions are read as they are used, ranked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations, product
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.data.costmap import CostMap
from cranfield.data.labels import LabelMatrix
from cranfield.data.ontology import Ontology
from cranfield.errors import NeedsError, UsageError, plural
from cranfield.evaluation.labels import evaluate_labels
from cranfield.evaluation.ranked import evaluate
from cranfield.io.costmap import read_costmap
from cranfield.io.ontology import read_ontology
from cranfield.lab.study_input import DISTANCES, any_measures, is_annotation, label_options_once
from cranfield.measures import Measure
from cranfield.notes import Watcher, with_progress
from cranfield.validation import validate_params
from cranfield.work.executors import Plain, Plan, run_pieces
from cranfield.work.serialisation import full_path, stamp

SIZE = 8
WIDTH = 4
# So many concepts of an ontology or a map take part, four at a time.
CONCEPTS = 8
Set: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Cases:
    """Values of every small case. `steps` are pairs (worse, better) that differ in one way.

    `task` says what a case is a solution of, such as a truth: perfect and worst are matters of
    one task. `twins` are the values of the same cases under other names, or in another order.
    """

    values: Mapping[Any, float]
    perfect: frozenset[Any]
    worst: frozenset[Any]
    steps: tuple[tuple[Any, Any], ...]
    twins: Mapping[Any, float]
    show: Callable[[Any], str]
    task: Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class ConceptKnowledge:
    """What is known of the concepts: an ontology, cost maps by name, or nothing."""

    ontology: Ontology | None
    costmaps: Mapping[str, CostMap]

    @property
    def concepts(self) -> tuple[str, ...]:
        """Those that the ontology or the first map knows, or any four."""
        if self.ontology is not None:
            return self.ontology.concepts
        first = next(iter(self.costmaps.values()), None)
        return tuple("ABCD") if first is None else first.concepts

    def score(
        self, measure: Measure, truth: NDArray[Any], run: NDArray[Any], names: Sequence[str]
    ) -> NDArray[np.float64]:
        """The value of each row: an item with its truth and what a run says of it."""
        items = [f"i{k}" for k in range(len(truth))]
        pair = (LabelMatrix.of(m, items=items, concepts=list(names)) for m in (truth, run))
        true, predicted = pair
        scores = evaluate_labels(
            true,
            {"run": predicted},
            [measure],
            ontology=self.ontology,
            costmap=dict(self.costmaps) or None,
            jobs=1,
        )
        return np.asarray(scores.values[measure][0], dtype=np.float64)


def ranked_cases(measure: Measure) -> Cases:
    """Every ranking of 8 items with 1 to 3 relevant ones, as the ranks of these."""
    cases = [c for k in (1, 2, 3) for c in combinations(range(1, SIZE + 1), k)]

    def scored(prefix: str) -> dict[Any, float]:
        judged: dict[str, dict[str, int]] = {}
        run: dict[str, dict[str, float]] = {}
        for ranks in cases:
            topic = " ".join(map(str, ranks))
            run[topic] = {f"{prefix}{r}": -float(r) for r in range(1, SIZE + 1)}
            judged[topic] = {f"{prefix}{r}": int(r in ranks) for r in range(1, SIZE + 1)}
        scores = evaluate(judged, {"run": run}, [measure], collection_size=SIZE, jobs=1)
        at = {t: i for i, t in enumerate(scores.units["topic"])}
        row = scores.values[measure][0]
        return {ranks: float(row[at[" ".join(map(str, ranks))]]) for ranks in cases}

    steps = tuple(
        (ranks, better)
        for ranks in cases
        for r in ranks
        if r > 1 and r - 1 not in ranks
        for better in [tuple(sorted({*ranks, r - 1} - {r}))]
    )
    return Cases(
        scored("a"),
        frozenset(tuple(range(1, k + 1)) for k in (1, 2, 3)),
        frozenset(tuple(range(SIZE - k + 1, SIZE + 1)) for k in (1, 2, 3)),
        steps,
        scored("z"),
        lambda c: f"relevant at {', '.join(map(str, c))} of {SIZE}",
        len,
    )


def label_cases(measure: Measure, knowledge: ConceptKnowledge) -> Iterator[Cases]:
    """The cases of one group of concepts after the other; of items where they are the unit."""
    plan: Any = measure.plan(measure)
    make = _orders if plan.ranked else _decisions
    if plan.unit == "concept":
        yield make(_of_one_concept(measure), [f"i{k}" for k in range(WIDTH)], None)
        return
    for names in concept_groups(knowledge):
        yield make(_of_one_item(measure, knowledge), names, knowledge.ontology)


Scorer: TypeAlias = Callable[[NDArray[Any], NDArray[Any], Sequence[str]], NDArray[np.float64]]


def _of_one_item(measure: Measure, knowledge: ConceptKnowledge) -> Scorer:
    return lambda truth, run, names: knowledge.score(measure, truth, run, names)


def _of_one_concept(measure: Measure) -> Scorer:
    """A case is a concept, and what stands for its row are the items."""

    def score(truth: NDArray[Any], run: NDArray[Any], names: Sequence[str]) -> NDArray[np.float64]:
        concepts = [f"c{k}" for k in range(len(truth))]
        pair = (
            LabelMatrix.of(m.T.copy(), items=list(names), concepts=concepts) for m in (truth, run)
        )
        true, predicted = pair
        scores = evaluate_labels(true, {"run": predicted}, [measure], jobs=1)
        return np.asarray(scores.values[measure][0], dtype=np.float64)

    return score


def _truths(names: Sequence[str], ontology: Ontology | None) -> list[Set]:
    """Some of the concepts, not all, and no set that breaks a rule."""
    patterns = [p for p in product((0, 1), repeat=len(names)) if any(p) and not all(p)]
    if ontology is None:
        return patterns
    restricted = ontology.restricted_to(names)
    return [
        p
        for p in patterns
        if not restricted.violations(n for n, b in zip(names, p, strict=True) if b)
    ]


def _decisions(score: Scorer, names: Sequence[str], ontology: Ontology | None) -> Cases:
    """Every set of labels for every truth."""
    truths, width = _truths(names, ontology), len(names)
    cases = [(t, p) for t in truths for p in product((0, 1), repeat=width)]
    steps = tuple(
        ((t, p), (t, (*p[:k], t[k], *p[k + 1 :])))
        for t, p in cases
        for k in range(width)
        if p[k] != t[k]
    )

    def scored(step: int) -> dict[Any, float]:
        pairs = np.array(cases, dtype=bool).reshape(-1, 2, width)[:, :, ::step]
        values = score(pairs[:, 0], pairs[:, 1], names[::step])
        return dict(zip(cases, values.tolist(), strict=True))

    def show(labels: tuple[Set, Set]) -> str:
        return f"truth {_some(names, labels[0])}, run {_some(names, labels[1])}"

    return Cases(
        scored(1),
        frozenset((t, t) for t in truths),
        frozenset((t, tuple(1 - b for b in t)) for t in truths),
        steps,
        scored(-1),
        show,
        lambda case: case[0],
    )


def _orders(score: Scorer, names: Sequence[str], ontology: Ontology | None) -> Cases:
    """Every order of the concepts for every truth, best first.

    Worst are the orders with as few true concepts among the |Y| best as there can be.
    """
    truths, width = _truths(names, ontology), len(names)
    cases = [(t, order) for t in truths for order in permutations(range(width))]
    steps = []
    for t, order in cases:
        for k in range(width - 1):
            if not t[order[k]] and t[order[k + 1]]:
                better = (*order[:k], order[k + 1], order[k], *order[k + 2 :])
                steps.append(((t, order), (t, better)))

    def scored(step: int) -> dict[Any, float]:
        truth = np.array([t for t, _ in cases], dtype=bool)[:, ::step]
        sure = np.array([[width - order.index(k) for k in range(width)] for _, order in cases])
        run = (sure / (width + 1.0))[:, ::step]
        return dict(zip(cases, score(truth, run, names[::step]).tolist(), strict=True))

    def right(labels: tuple[Set, Set]) -> int:
        truth, order = labels
        return sum(truth[k] for k in order[: sum(truth)])

    fewest = {t: min(right((t, o)) for o in permutations(range(width))) for t in truths}
    return Cases(
        scored(1),
        frozenset(c for c in cases if right(c) == sum(c[0])),
        frozenset(c for c in cases if right(c) == fewest[c[0]]),
        tuple(steps),
        scored(-1),
        lambda c: f"truth {_some(names, c[0])}, ranking {' > '.join(names[k] for k in c[1])}",
        lambda c: c[0],
    )


def _some(names: Sequence[str], pattern: Set) -> str:
    return "{" + ", ".join(n for n, b in zip(names, pattern, strict=True) if b) + "}"


def concept_groups(knowledge: ConceptKnowledge) -> list[tuple[str, ...]]:
    """Groups of four concepts, from some that differ in depth and in the rules about them."""
    concepts = chosen_concepts(knowledge)
    if len(concepts) < 2:
        raise UsageError("the requirements are tried on two concepts or more; these are too few")
    if knowledge.ontology is None and not knowledge.costmaps:
        return [concepts]
    return list(combinations(concepts, min(WIDTH, len(concepts))))


def chosen_concepts(knowledge: ConceptKnowledge) -> tuple[str, ...]:
    """Two of an exclusive group, a concept below another one, and others of all depths."""
    concepts, ontology = knowledge.concepts, knowledge.ontology
    if ontology is None:
        return concepts[:CONCEPTS]
    picked: dict[str, None] = {}
    for _, group in ontology.exclusive[:1]:
        picked |= dict.fromkeys(member[0] for member in group[:2])
    nested = next((c for c in concepts if ontology.ancestors(c)), None)
    if nested is not None:
        picked |= dict.fromkeys((ontology.ancestors(nested)[0], nested))
    by_depth = sorted(concepts, key=ontology.depth)
    spread = np.linspace(0, len(by_depth) - 1, min(CONCEPTS, len(by_depth)))
    for at in spread:
        if len(picked) < CONCEPTS:
            picked[by_depth[round(float(at))]] = None
    return tuple(c for c in concepts if c in picked)


MODEL_TITLES = {
    "K1": "a wrong concept of the same subtree costs less than one of another",
    "K2": "the error grows with the distance in the hierarchy",
    "K3": "the error is higher at the top of the hierarchy than at the bottom",
    "U1": "the whole set of true concepts counts",
    "U2": "sets with as many mistakes can score differently",
    "U3": "predictions are read as they are used: ranked",
}
# Concepts of a hierarchy that take part, each as a truth and as a prediction.
MOST = 40
TINY = 1e-12


def user_faults(measure: Measure, cases: Iterable[Cases], sign: float) -> dict[str, str]:
    """The counter-example to each requirement of the user model, empty where there is none."""
    plan: Any = measure.plan(measure)
    cut = "" if plan.ranked else "reads decisions: confidences must be cut before it sees them"
    if plan.unit == "concept":
        alone = "judges each concept on its own"
        return {"U1": alone, "U2": alone, "U3": cut}
    blind, fine = "", False
    for group in cases:
        values = {c: sign * v for c, v in group.values.items() if not np.isnan(v)}
        blind = blind or _overlooked(group, values, ranked=plan.ranked)
        fine = fine or _tells_apart(values, ranked=plan.ranked)
    return {"U1": blind, "U2": "" if fine else "sets with as many mistakes score alike", "U3": cut}


def _overlooked(cases: Cases, values: Mapping[Any, float], *, ranked: bool) -> str:
    """A true concept that can be lost from a perfect prediction without a loss of score."""
    for perfect in sorted(cases.perfect):
        truth, prediction = perfect
        if perfect not in values or sum(truth) < 2:
            continue
        for k in (k for k, b in enumerate(truth) if b):
            worse = (
                _moved_last(prediction, k) if ranked else (*prediction[:k], 0, *prediction[k + 1 :])
            )
            lost = truth, worse
            if lost in values and values[lost] >= values[perfect] - TINY:
                return f"{cases.show(lost)} scores as if no true concept were lost"
    return ""


def _moved_last(order: tuple[int, ...], concept: int) -> tuple[int, ...]:
    return (*(k for k in order if k != concept), concept)


def _tells_apart(values: Mapping[Any, float], *, ranked: bool) -> bool:
    """Whether the same mistakes of other concepts score otherwise somewhere."""
    seen: dict[Any, float] = {}
    for (truth, prediction), value in values.items():
        if ranked:
            kind: Any = tuple(truth[k] for k in prediction)
        else:
            wrong = sum(p and not t for t, p in zip(truth, prediction, strict=True))
            kind = wrong, sum(t and not p for t, p in zip(truth, prediction, strict=True))
        first = seen.setdefault((truth, kind), value)
        if abs(first - value) > TINY:
            return True
    return False


def hierarchy_faults(measure: Measure, knowledge: ConceptKnowledge, sign: float) -> dict[str, str]:
    """The counter-example to each requirement on hierarchical measures that can be tried."""
    plan: Any = measure.plan(measure)
    if knowledge.ontology is None or plan.unit == "concept":
        return {}
    tried = _Confusions(measure, knowledge, knowledge.ontology, sign)
    faults = {"K1": tried.subtrees(), "K2": tried.distances(), "K3": tried.depths()}
    return {name: text for name, text in faults.items() if text is not None}


class _Confusions:
    """One concept for another, each with its ancestors: the value of every such mistake."""

    def __init__(
        self, measure: Measure, knowledge: ConceptKnowledge, ontology: Ontology, sign: float
    ) -> None:
        self.ontology, self.sign = ontology, sign
        valid = [
            concept
            for concept in ontology.concepts
            if not ontology.violations(_with_ancestors(ontology, concept))
        ]
        # Evenly spread over the vocabulary, in its order.
        step = max(1.0, len(valid) / MOST)
        self.names = [valid[int(k * step)] for k in range(min(MOST, len(valid)))]
        self.values = self._scored(measure, knowledge)
        at = [ontology.concepts.index(c) for c in self.names]
        self.far = ontology.distances(weighted=False)[np.ix_(at, at)]

    def _scored(self, measure: Measure, knowledge: ConceptKnowledge) -> NDArray[np.float64]:
        """Truths down, predictions across, more being better; NaN where none can be compared."""
        concepts, count = self.ontology.concepts, len(self.names)
        column = {c: k for k, c in enumerate(concepts)}
        sets = np.zeros((count, len(concepts)), dtype=bool)
        for row, name in enumerate(self.names):
            sets[row, [column[c] for c in _with_ancestors(self.ontology, name)]] = True
        plan: Any = measure.plan(measure)
        truth, run = np.repeat(sets, count, axis=0), np.tile(sets, (count, 1))
        if plan.ranked:
            # All confidences differ: the predicted concepts first, then the others.
            run = run + np.linspace(0.4, 0.0, len(concepts))
            run = run / 2
        values = self.sign * knowledge.score(measure, truth, run, concepts).reshape(count, count)
        if plan.ranked:
            # The |Y| best are the predicted ones only where there are as many.
            sizes = sets.sum(axis=1)
            values[sizes[:, None] != sizes[None, :]] = np.nan
        np.fill_diagonal(values, np.nan)
        return np.asarray(values)

    def subtrees(self) -> str | None:
        top = frozenset(self.ontology.top)
        nodes = [self.ontology.concept_nodes[c] for c in self.names]
        roots = [top & ({n} | self.ontology.nodes_above[n]) for n in nodes]
        same_subtree = np.array([[bool(a & b) for b in roots] for a in roots]).reshape(
            len(nodes), -1
        )
        return self._ordered(same_subtree.astype(int) * -1, "lies in its subtree", "does not")

    def distances(self) -> str | None:
        return self._ordered(np.asarray(self.far), "is nearer", "is farther")

    def _ordered(self, rank: NDArray[Any], better: str, worse: str) -> str | None:
        """A truth with a prediction of a lower rank that does not score above a higher one."""
        tried = False
        for t, name in enumerate(self.names):
            row, ranks = self.values[t], rank[t]
            usable = np.flatnonzero(~np.isnan(row))
            classes = sorted({float(ranks[k]) for k in usable})
            for low, high in pairwise(classes):
                tried = True
                close = min((k for k in usable if ranks[k] == low), key=lambda k: row[k])
                distant = max((k for k in usable if ranks[k] == high), key=lambda k: row[k])
                if row[close] <= row[distant] + TINY:
                    return (
                        f"truth {name}: {self.names[close]} {better} and scores "
                        f"{self.sign * row[close]:g}, {self.names[distant]} {worse} and scores "
                        f"{self.sign * row[distant]:g}"
                    )
        return "" if tried else None

    def depths(self) -> str | None:
        """Sisters deep down for each other must score above sisters at the top."""
        parents = self.ontology.parents
        nodes = [self.ontology.concept_nodes[c] for c in self.names]
        by_depth: dict[int, list[tuple[float, int, int]]] = {}
        for a, b in zip(*np.where(~np.isnan(self.values)), strict=True):
            if set(parents[nodes[a]]) == set(parents[nodes[b]]):
                depth = self.ontology.depth(self.names[a])
                by_depth.setdefault(depth, []).append((float(self.values[a, b]), int(a), int(b)))
        order = sorted(by_depth)
        for high, deep in pairwise(order):
            top, bottom = max(by_depth[high]), min(by_depth[deep])
            if bottom[0] <= top[0] + TINY:
                return (
                    f"{self._mistake(bottom)} at depth {deep}, {self._mistake(top)} at depth {high}"
                )
        return "" if len(order) > 1 else None

    def _mistake(self, confusion: tuple[float, int, int]) -> str:
        value, truth, run = confusion
        return f"{self.names[run]} for {self.names[truth]} scores {self.sign * value:g}"


def _with_ancestors(ontology: Ontology, concept: str) -> tuple[str, ...]:
    return (concept, *ontology.ancestors(concept))


Number: TypeAlias = int | str
KING = {
    1: "best value for perfect quality only",
    2: "worst value for the worst quality only",
    3: "better quality never scores lower",
    4: "clear and intuitive",
    5: "correlates with human judgement",
    6: "equivalent inputs score the same",
    7: "cheap to set up and apply",
    8: "automated",
    9: "measures what it should",
}
TITLES: dict[Number, str] = {n: t for part in (KING, MODEL_TITLES) for n, t in part.items()}
MONOTONIC = 3
# Hold for all that Cranfield computes.
AUTOMATIC = (7, 8)
# Differences below this are the last digits of a sum, not a change of quality.

# Items of other names are added in another order, which moves more digits than that.
SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement on one measure; `holds` is None where only people can tell."""

    measure: str
    number: Number
    holds: bool | None
    counter_example: str = ""


@dataclass(frozen=True, repr=False, eq=False)
class Requirements(Answer):
    """King's nine requirements for every measure; for those of annotation also the models'."""

    command: ClassVar[str] = "lab requirements"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:requirements_document"

    measures: tuple[str, ...]
    found: tuple[Requirement, ...]

    def of(self, measure: str, number: Number) -> Requirement:
        """What was found; one that was not tried neither holds nor fails."""
        key = measure, number
        tried = (r for r in self.found if (r.measure, r.number) == key)
        return next(tried, Requirement(measure, number, None))

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The requirements that at least one measure was tried on."""
        tried = {r.number for r in self.found}
        return tuple(n for n in TITLES if n in tried)

    def headline(self) -> str:
        failed = sum(r.holds is False for r in self.found)
        return f"{plural(len(self.measures), 'measure')}, {plural(failed, 'requirement')} not met"

    def payload(self, **_: object) -> dict[str, Any]:
        return {
            "study": "requirements",
            "requirements": {str(n): TITLES[n] for n in self.numbers},
            "measures": [
                {
                    "measure": r.measure,
                    "requirement": r.number,
                    "holds": r.holds,
                    "counter_example": r.counter_example or None,
                }
                for r in self.found
            ],
        }


@validate_params
@with_progress
def requirements(
    measures: str | Iterable[str | Measure],
    *,
    ontology: Any = None,
    rules: Any = None,
    costmap: Any = None,
    plan: Plan | None = None,
    progress: Watcher | None = None,
) -> Requirements:
    """Try the requirements on every ranking of 8 items, or on labels of 4 concepts at a time.

    The names may be of ranked measures or of measures of annotation, which take the ontology
    with its rules and the cost maps. Of their concepts some are chosen that differ in depth and
    in the rules about them.
    """
    plan = plan or Plan()
    settings = label_options_once({"ontology": ontology, "rules": rules, "costmap": costmap})
    knowledge = (settings["ontology"], settings["rules"], settings["costmap"])
    paths = knowledge if plan.is_local else full_path(knowledge)
    pieces = {str(m): _Piece(str(m), *paths) for m in any_measures(measures)}
    study = {"study": "requirements", "measures": list(pieces), "known": stamp(knowledge)}
    loads = DISTANCES if ontology is not None else ()
    answers = run_pieces(_run_piece, pieces, plan, study=study, loads=loads, progress=progress)
    verdicts = [Requirement(m, *row) for m, answer in answers.items() for row in answer["found"]]
    return Requirements(tuple(pieces), tuple(verdicts), notes=_order_notes(verdicts))


def _order_notes(verdicts: Sequence[Requirement]) -> tuple[str, ...]:
    """On which order the verdict rests that a measure of decisions is not monotonic."""
    failed = [
        r.measure
        for r in verdicts
        if r.number == MONOTONIC and r.holds is False and _reads_decisions(r.measure)
    ]
    if not failed:
        return ()
    return (
        f"{', '.join(failed)}: requirement {MONOTONIC} is tried on the order by single labels, in "
        "which one wrong label less is always better, so that an empty set is better than a near "
        "miss. The user model rejects this order: there a near concept is worth more than none",
    )


def _reads_decisions(name: str) -> bool:
    (measure,) = any_measures([name])
    if not is_annotation(measure):
        return False
    plan: Any = measure.plan(measure)
    return not plan.ranked and plan.unit != "concept"


@dataclass(frozen=True, slots=True)
class _Piece:
    name: str
    ontology: Any
    rules: Any
    costmap: Any

    def known(self) -> ConceptKnowledge:
        ontology, maps = self.ontology, self.costmap
        if isinstance(ontology, str | Path):
            ontology = read_ontology(ontology, rules=self.rules)
        pairs = maps if isinstance(maps, tuple) else () if maps is None else (("", maps),)
        return ConceptKnowledge(ontology, {name: _map(source) for name, source in pairs})


def _map(source: Any) -> CostMap:
    return source if isinstance(source, CostMap) else read_costmap(source)


def _run_piece(task: _Piece) -> Plain:
    (measure,) = any_measures([task.name])
    verdicts = _of_labels(measure, task.known()) if is_annotation(measure) else _of_ranks(measure)
    return {"found": [[r.number, r.holds, r.counter_example] for r in verdicts]}


def _of_ranks(measure: Measure) -> list[Requirement]:
    return list(_king(measure, [ranked_cases(measure)]))


def _of_labels(measure: Measure, knowledge: ConceptKnowledge) -> list[Requirement]:
    if "hierarchy" in measure.needs and knowledge.ontology is None:
        raise NeedsError(f"{measure} needs a hierarchy of concepts: give one with ontology=...")
    cases = list(label_cases(measure, knowledge))
    verdicts = list(_king(measure, cases))
    if measure.higher_is_better is not None:
        sign = _sign(measure)
        faults = user_faults(measure, cases, sign) | hierarchy_faults(measure, knowledge, sign)
        verdicts += [Requirement(str(measure), n, not text, text) for n, text in faults.items()]
    return verdicts


def _sign(measure: Measure) -> float:
    return -1.0 if measure.higher_is_better is False else 1.0


def _king(measure: Measure, groups: Sequence[Cases]) -> Iterator[Requirement]:
    """All nine: those for a machine tried out, the others as people must find them."""
    sign = _sign(measure)
    faults: dict[Number, str] = {}
    for cases in groups:
        values = {c: sign * v for c, v in cases.values.items() if not np.isnan(v)}
        if measure.higher_is_better is not None and values:
            for number, text in _faults(cases, values, sign).items():
                faults[number] = faults.get(number) or text
    for number in KING:
        if number in faults:
            yield Requirement(str(measure), number, not faults[number], faults[number])
        else:
            yield Requirement(str(measure), number, True if number in AUTOMATIC else None)


def _faults(cases: Cases, values: Mapping[Any, float], sign: float) -> dict[int, str]:
    """The counter-example to each requirement that can be tried, empty where there is none."""
    # Perfect and worst are a matter of the task: as many relevant items, or the same truth.
    tops: dict[Any, float] = {}
    bottoms: dict[Any, float] = {}
    for c, v in values.items():
        task = cases.task(c)
        tops[task] = max(v, tops.get(task, v))
        bottoms[task] = min(v, bottoms.get(task, v))
    # A perfect case below the best value leaves another one on top, which is then found here.
    reach = (
        c for c, v in values.items() if v >= tops[cases.task(c)] - TINY and c not in cases.perfect
    )
    low = (
        c for c, v in values.items() if v <= bottoms[cases.task(c)] + TINY and c not in cases.worst
    )
    fallen = (
        (a, b)
        for a, b in cases.steps
        if a in values and b in values and values[b] < values[a] - TINY
    )
    moved = (
        c
        for c, v in cases.twins.items()
        if c in values and not np.isnan(v) and abs(sign * v - values[c]) > SAME
    )

    def first(wrong: Iterator[Any], text: str) -> str:
        return next((f"{cases.show(c)} {text}" for c in wrong), "")

    return {
        1: first(reach, "is not perfect and reaches the best value all the same"),
        2: first(low, "is not the worst and gets the worst value all the same"),
        3: next(
            (
                f"{cases.show(b)} is better than {cases.show(a)} and scores {sign * values[b]:g}, "
                f"not {sign * values[a]:g}"
                for a, b in fallen
            ),
            "",
        ),
        6: first(moved, "scores otherwise when names or their order change"),
    }
