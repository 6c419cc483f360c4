"""What a hierarchy and a user ask of a measure of annotation, tried out.

Kiritchenko (thesis, 7.2.2): K1 a wrong concept of the same subtree costs less than one of
another, K2 the error grows with the distance in the hierarchy, K3 it is higher at the top than at
the bottom. The user model (thesis, 7.2.1 and 9.2): U1 the whole set of true concepts counts, U2
sets with as many mistakes can score differently, U3 predictions are read as they are used, ranked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.data.ontology import Ontology
from cranfield.lab.requirement_cases import Cases, ConceptKnowledge
from cranfield.measures import Measure

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
