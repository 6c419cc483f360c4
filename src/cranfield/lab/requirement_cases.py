"""Small cases on which requirements on a metric are tried: every ranking, every labelling.

Ranked retrieval: all rankings of 8 items with 1 to 3 relevant ones. Annotation: four concepts at
a time, chosen so that they differ in depth and in the rules that hold between them; measures of
decisions see every set of labels, measures of confidences every order of the concepts, without
ties. A truth that breaks a rule of the ontology is no case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.data.costmap import CostMap
from cranfield.data.labels import LabelMatrix
from cranfield.data.ontology import Ontology
from cranfield.errors import UsageError
from cranfield.evaluation.labels import evaluate_labels
from cranfield.evaluation.ranked import evaluate
from cranfield.measures import Measure

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
