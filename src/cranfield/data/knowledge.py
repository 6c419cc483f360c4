"""What is known of concepts beside truth and runs: their hierarchy, costs, and agreement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield._lazy import cached_property
from cranfield.data.costmap import CostMap
from cranfield.data.labels import Bools, Floats
from cranfield.data.ontology import Ontology
from cranfield.errors import NeedsError, suggest

# The map given without a name, and the costs of the ontology's own tree.
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
        cost_names = [*self.costmaps, *([TREE_COST] if self.ontology else [])]
        raise NeedsError(
            f"no cost map named {name!r}.{suggest(name, cost_names)} Give a map of that name with "
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
        """The agreement of annotators on each concept; 1 where it is not known."""
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
            hierarchy = self.hierarchy
            concept_nodes = list(hierarchy.concept_nodes.values())
            added = range(len(hierarchy.nodes)) if kind == "nodes" else hierarchy.left_out_nodes
            width = dict.fromkeys([*concept_nodes, *added])
            lower, upper = (
                (width, concept_nodes) if kind == "descendants" else (concept_nodes, width)
            )
            column = {node: j for j, node in enumerate(upper)}
            holds = np.zeros((len(lower), len(upper)), dtype=np.float32)
            for row, node in enumerate(lower):
                above = (node, *hierarchy.nodes_above[node])
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
        violations = np.zeros(labels.shape, dtype=bool)
        for group in self.groups:
            present = [labels[:, member].any(axis=1) for member in group]
            several = np.sum(present, axis=0) > 1
            for member in group:
                violations[:, member] |= labels[:, member] & several[:, None]
        for concept, options in self.requires:
            violations[:, concept] |= labels[:, concept] & ~labels[:, options].any(axis=1)
        for concept, needed in self.ancestors:
            violations[:, concept] |= labels[:, concept] & ~labels[:, needed].all(axis=1)
        return violations
