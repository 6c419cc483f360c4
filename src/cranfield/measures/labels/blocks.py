"""What a measure of annotation sees: blocks of the matrices, and what is known of the concepts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield.data.costmap import CostMap
from cranfield.data.labels import DEFAULT_THRESHOLD, Bools, Floats, LabelMatrix
from cranfield.data.ontology import Ontology
from cranfield.errors import NeedsError, suggest

T = TypeVar("T")

BLOCK_CELLS = 1 << 22
RANKED_BLOCK_CELLS = 1 << 24
DEFAULT_COST, TREE_COST = "", "tree"


@dataclass(frozen=True, eq=False)
class Knowledge:
    """All that measures may use beside truth and run, in the order of the truth's concepts.

    `numbering` is the ontology's own order of the same concepts, if it has one.
    """

    concepts: tuple[str, ...]
    ontology: Ontology | None = None
    numbering: tuple[str, ...] | None = None
    costmaps: Mapping[str, CostMap] = field(default_factory=lambda: MappingProxyType({}))
    agreement: Floats | None = None

    @property
    def hierarchy(self) -> Ontology:
        if self.ontology is None:
            raise NeedsError("no hierarchy of concepts is given: give one with ontology=...")
        return self.ontology

    def costs(self, name: str) -> Floats:
        """The costs of a name: '' is the map given without a name, else the ontology's tree."""
        return self._costs(self.cost_name(name))

    def cost_name(self, name: str) -> str:
        """Which costs a name stands for: a given map, 'tree', or '0/1' when there are none."""
        if name in self.costmaps:
            return name
        if name in (DEFAULT_COST, TREE_COST) and self.ontology is not None:
            return TREE_COST
        if name == DEFAULT_COST:
            # A single map is meant whatever it is called; of several one must be chosen.
            if len(self.costmaps) == 1:
                return next(iter(self.costmaps))
            if self.costmaps:
                raise NeedsError(
                    f"which cost map? There are {', '.join(map(repr, self.costmaps))}; "
                    "choose one with cost='...'"
                )
            return "0/1"
        known = [*self.costmaps, *([TREE_COST] if self.ontology else [])]
        raise NeedsError(
            f"no cost map named {name!r}.{suggest(name, known)} Give a map of that name with "
            "costmap=..."
        )

    def _costs(self, name: str) -> Floats:
        if name not in self._aligned:
            if name == TREE_COST and name not in self.costmaps:
                self._aligned[name] = self.hierarchy.cost_map.aligned(self.concepts)
            elif name == "0/1":
                self._aligned[name] = CostMap.zero_one(self.concepts).costs
            else:
                self._aligned[name] = self.costmaps[name].aligned(self.concepts)
        return self._aligned[name]

    @cached_property
    def _aligned(self) -> dict[str, Floats]:
        return {}

    def table(self, make: Callable[[Ontology], NDArray[Any]]) -> NDArray[Any]:
        """A matrix over pairs of concepts that depends on the hierarchy alone, made once."""
        if make not in self._tables:
            self._tables[make] = make(self.hierarchy)
        return self._tables[make]

    @cached_property
    def _tables(self) -> dict[Any, NDArray[Any]]:
        return {}

    @cached_property
    def factors(self) -> Floats:
        """How far people agree on each concept; 1 where nobody asked them."""
        return self.full_agreement if self.agreement is None else self.agreement

    @cached_property
    def full_agreement(self) -> Floats:
        return np.ones(len(self.concepts))

    @cached_property
    def above(self) -> NDArray[np.float32]:
        """[c, a] is 1 when concept a is above concept c."""
        return self.hierarchy.ancestor_matrix.astype(np.float32)

    def closure(self, kind: str) -> NDArray[np.float32]:
        """[c, v] is 1 when v is concept c itself or is added to it: 'ancestors', 'descendants'.

        What may be added are the concepts of the ontology, whether a label file mentions them or
        not, the truth's own first; 'nodes' are the ancestors with the categories among them.
        """
        if kind not in self._closures:
            known = self.hierarchy
            own = list(known.concept_nodes.values())
            added = range(len(known.nodes)) if kind == "nodes" else known.left_out_nodes
            width = dict.fromkeys([*own, *added])
            lower, upper = (width, own) if kind == "descendants" else (own, width)
            column = {node: j for j, node in enumerate(upper)}
            holds = np.zeros((len(lower), len(upper)), dtype=np.float32)
            for row, node in enumerate(lower):
                above = (node, *known.nodes_above[node])
                holds[row, [column[n] for n in above if n in column]] = 1
            self._closures[kind] = holds.T if kind == "descendants" else holds
        return self._closures[kind]

    @cached_property
    def _closures(self) -> dict[str, NDArray[np.float32]]:
        return {}

    @cached_property
    def rules(self) -> CompiledRules:
        return CompiledRules.of(self.ontology, self.concepts)


@dataclass(frozen=True, eq=False)
class CompiledRules:
    """The rules of an ontology as positions in the vocabulary."""

    groups: tuple[tuple[NDArray[np.intp], ...], ...]
    requires: tuple[tuple[int, NDArray[np.intp]], ...]
    ancestors: tuple[tuple[int, NDArray[np.intp]], ...]

    @classmethod
    def of(cls, ontology: Ontology | None, concepts: tuple[str, ...]) -> CompiledRules:
        if ontology is None:
            return cls((), (), ())
        at = {c: j for j, c in enumerate(concepts)}

        def positions(names: tuple[str, ...]) -> NDArray[np.intp]:
            return np.array([at[n] for n in names], dtype=np.intp)

        return cls(
            tuple(tuple(map(positions, group)) for _, group in ontology.exclusive),
            tuple((at[need.concept], positions(need.any_of)) for _, need in ontology.requirements),
            tuple(
                (at[c], positions(ontology.ancestors(c)))
                for c in ontology.concepts
                if ontology.ancestors(c)
            ),
        )

    def broken(self, labels: Bools) -> Bools:
        """Which predicted labels break a rule."""
        found = np.zeros(labels.shape, dtype=bool)
        for group in self.groups:
            present = [labels[:, member].any(axis=1) for member in group]
            several = np.sum(present, axis=0) > 1
            for member in group:
                found[:, member] |= labels[:, member] & several[:, None]
        for concept, options in self.requires:
            found[:, concept] |= labels[:, concept] & ~labels[:, options].any(axis=1)
        for concept, needed in self.ancestors:
            found[:, concept] |= labels[:, concept] & ~labels[:, needed].all(axis=1)
        return found


@dataclass(frozen=True, slots=True)
class Matching:
    """How label sets are matched (No 7.1): a cost map, and which plug-ins take part."""

    cost: str
    rules: bool = True
    agreement: bool = True


class ItemBlock:
    """Some items with all concepts; what several measures ask for is worked out once."""

    def __init__(
        self,
        truth: Bools,
        labels: Bools | None,
        confidences: Floats | None,
        knowledge: Knowledge,
        jobs: int = 1,
    ) -> None:
        self.truth, self.knowledge, self.jobs = truth, knowledge, jobs
        self._labels, self._confidences = labels, confidences
        self._cache: dict[Any, Any] = {}

    @cached_property
    def labels(self) -> Bools:
        """The run's decisions; from the default threshold where it has confidences only."""
        if self._labels is not None:
            return self._labels
        return self.confidences >= DEFAULT_THRESHOLD

    @cached_property
    def confidences(self) -> Floats:
        if self._confidences is not None:
            return self._confidences
        return self.labels.astype(np.float64)

    @property
    def width(self) -> int:
        return int(self.truth.shape[1])

    @cached_property
    def both(self) -> Bools:
        return self.truth & self.labels

    @cached_property
    def tp(self) -> Floats:
        return _row_sums(self.both)

    @cached_property
    def true(self) -> Floats:
        return _row_sums(self.truth)

    @cached_property
    def predicted(self) -> Floats:
        return _row_sums(self.labels)

    @cached_property
    def concept_counts(self) -> Floats:
        """Rows: true and predicted, predicted, true; one column per concept."""
        return np.array([m.sum(axis=0) for m in (self.both, self.labels, self.truth)], dtype=float)

    @cached_property
    def ranked(self) -> Floats:
        """Columns: OneError, Coverage, RankingLoss, AP, the best concept."""
        return _core.item_ranked(self.truth, self.confidences, self.jobs)

    def match_cost(self, matching: Matching) -> Floats:
        """The cost of each item's prediction (No 7.1)."""
        return self.once(
            ("match", self.knowledge.cost_name(matching.cost), matching.rules, matching.agreement),
            lambda: _core.match_costs(*self._matched(matching), self.jobs),
        )

    def match_parts(
        self, matching: Matching, item: int
    ) -> list[tuple[int, str, float, float, list[int]]]:
        """What each label of an item adds to that cost: (concept, role, cost, agreement, to)."""
        return _core.match_parts(*self._matched(matching), item)

    def _matched(self, matching: Matching) -> tuple[Bools, Bools, Bools, Floats, Floats]:
        known = self.knowledge
        return (
            self.truth,
            self.labels,
            self.broken if matching.rules else self.nothing,
            known.costs(matching.cost),
            known.factors if matching.agreement else known.full_agreement,
        )

    @cached_property
    def broken(self) -> Bools:
        return self.knowledge.rules.broken(self.labels)

    @cached_property
    def nothing(self) -> Bools:
        return np.zeros(self.truth.shape, dtype=bool)

    def expanded(self, kind: str) -> tuple[Bools, Bools]:
        """Truth and prediction with what `Knowledge.closure` adds to them."""
        links = self.knowledge.closure(kind)
        return self.once(
            ("expanded", kind), lambda: (reached(self.truth, links), reached(self.labels, links))
        )

    def once(self, key: Any, work: Callable[[], T]) -> T:
        """A value that several measures share, worked out by the first that asks."""
        if key not in self._cache:
            self._cache[key] = work()
        found: T = self._cache[key]
        return found


def reached(flags: Bools, links: NDArray[np.float32]) -> Bools:
    """[n, b] is True when a concept that n has is linked to b."""
    return (flags.astype(np.float32) @ links) > 0


def _row_sums(flags: Bools) -> Floats:
    return np.asarray(flags.sum(axis=1, dtype=np.int32), dtype=np.float64)


class ConceptBlock:
    """Some concepts with all items."""

    def __init__(
        self,
        truth: Bools,
        confidences: Floats,
        order: NDArray[np.int64],
        cutoffs: tuple[int, ...],
        jobs: int = 1,
    ) -> None:
        self.truth, self.confidences = truth, confidences
        self._order, self._cutoffs, self._jobs = order, cutoffs, jobs

    @cached_property
    def ranked(self) -> Floats:
        """Columns: AUC, EER, AP, iAP, Rprec, then P at each cutoff."""
        return _core.concept_ranked(
            self.truth, self.confidences, self._order, list(self._cutoffs), self._jobs
        )

    def precision_at(self, cutoff: int) -> Floats:
        values: Floats = self.ranked[:, 5 + self._cutoffs.index(cutoff)]
        return values


@dataclass(frozen=True)
class PerItem:
    """One value per item; the run's value is their mean, or `total` of pooled sums."""

    values: Callable[[ItemBlock], Floats]
    ranked: bool = False
    sums: Callable[[ItemBlock], Floats] | None = None
    total: Callable[[Floats], float] | None = None
    unit = "item"


@dataclass(frozen=True)
class PerConcept:
    """One value per concept, from sums over items: `finish(sums, number of items)`."""

    sums: Callable[[ItemBlock], Floats]
    finish: Callable[[Floats, int], Floats]
    total: Callable[[Floats], float] | None = None
    ranked = False
    unit = "concept"


@dataclass(frozen=True)
class PerRankedConcept:
    """One value per concept, from the ranking of all items."""

    values: Callable[[ConceptBlock], Floats]
    ranked = True
    unit = "concept"


LabelPlan: TypeAlias = PerItem | PerConcept | PerRankedConcept


def item_blocks(
    truth: LabelMatrix, run: LabelMatrix, knowledge: Knowledge, jobs: int
) -> Iterator[ItemBlock]:
    """The matrices, some items at a time, so that what is worked out stays small."""
    height = max(1, BLOCK_CELLS // truth.shape[1])
    for start in range(0, truth.shape[0], height):
        true, _ = truth.rows(start, start + height)
        if true is None:
            raise NeedsError("the truth has confidences, not labels")
        yield ItemBlock(true, *run.rows(start, start + height), knowledge, jobs)


def concept_blocks(
    truth: LabelMatrix, run: LabelMatrix, cutoffs: tuple[int, ...], jobs: int
) -> Iterator[ConceptBlock]:
    """All items, some concepts at a time when the matrices are sparse."""
    # trec_eval's order among equals: the larger id first.
    order = np.array(sorted(range(len(truth.items)), key=truth.items.__getitem__, reverse=True))
    matrices = [truth.labels, run.labels if run.is_binary else run.confidences]
    dense = all(isinstance(m, np.ndarray) for m in matrices)
    width = truth.shape[1] if dense else max(1, RANKED_BLOCK_CELLS // truth.shape[0])
    if not dense:
        truth, run = (
            m.map(lambda x: x if isinstance(x, np.ndarray) else x.tocsc()) for m in (truth, run)
        )
    for start in range(0, truth.shape[1], width):
        true, _ = truth.columns(start, start + width)
        labels, confidences = run.columns(start, start + width)
        if true is None:
            raise NeedsError("the truth has confidences, not labels")
        scores = labels if confidences is None else confidences
        if scores is None:
            raise NeedsError("the run has neither labels nor confidences")
        yield ConceptBlock(true, np.asarray(scores, dtype=np.float64), order, cutoffs, jobs)
