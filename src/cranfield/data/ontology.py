"""What is known of concepts: is-a links, the rules that tie labels together, costs, agreement."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield._lazy import cached_property
from cranfield.data.costmap import CostMap
from cranfield.data.labels import Bools, Floats
from cranfield.data.toml import parse_toml
from cranfield.errors import InputError, NeedsError, Problem, suggest

# The concepts that each member of an exclusive group stands for.
Group: TypeAlias = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Requirement:
    """A concept that may be assigned only together with one of some others."""

    concept: str
    any_of: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of an ontology beside its is-a links.

    A member of a group or an alternative of a requirement is a concept, or a category, which
    stands for every concept below it.
    """

    exactly_one: tuple[tuple[str, ...], ...] = ()
    disjoint: tuple[tuple[str, ...], ...] = ()
    requires: tuple[Requirement, ...] = ()

    def __add__(self, other: Rules) -> Rules:
        return Rules(
            self.exactly_one + other.exactly_one,
            self.disjoint + other.disjoint,
            self.requires + other.requires,
        )

    def __len__(self) -> int:
        return len(self.exactly_one) + len(self.disjoint) + len(self.requires)

    def groups(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        """(kind, members) of every group that allows one label at most."""
        yield from (("exactly one of", group) for group in self.exactly_one)
        yield from (("disjoint", group) for group in self.disjoint)


@dataclass(frozen=True, slots=True)
class Violation:
    """A predicted label that breaks a rule, and the rule in words."""

    concept: str
    rule: str


@dataclass(frozen=True, eq=False)
class Ontology:
    """Concepts in a hierarchy (a tree or an acyclic graph) and the rules between them.

    `nodes` are the concepts and the categories that only give structure; `parents` has the
    positions of each node's parents, none for a node directly below the root; `concept_nodes`
    says which node is which concept that can be annotated, in the order of the vocabulary;
    `left_out_nodes` are those of concepts that a narrower vocabulary does not use.
    Nothing is checked on the way in: `problems` lists what is wrong, `checked` raises it.
    """

    nodes: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]
    concept_nodes: Mapping[str, int]
    rules: Rules = field(default_factory=Rules)
    name: str = "ontology"
    left_out_nodes: tuple[int, ...] = ()

    @classmethod
    def from_paths(
        cls,
        paths: Iterable[tuple[str, str]],
        *,
        rules: Rules | None = None,
        name: str = "ontology",
        without: Sequence[str] = (),
    ) -> Ontology:
        """Built from (concept, dotted path); the last part of a path is the concept's own node.

        A concept with several paths has several parents. `without` names nodes that are taken
        out; their children move one level up.

        >>> water = Ontology.from_paths([("Water", "Nature.Water"), ("Sea", "Nature.Water.Sea")])
        >>> water.ancestors("Sea"), water.depth("Sea")
        (('Water',), 3)
        """
        concept_paths = [
            (concept, ".".join(p for p in path.split(".") if p not in without))
            for concept, path in paths
        ]
        node_of: dict[str, int] = {}
        names: list[str] = []
        concept_nodes: dict[str, int] = {}
        for concept, path in concept_paths:
            if path in node_of and concept not in concept_nodes:
                concept_nodes[concept] = node_of[path]
            elif concept not in concept_nodes:
                concept_nodes[concept] = len(names)
                names.append(path)
            node_of[path] = concept_nodes[concept]
        links: dict[int, list[int]] = {}
        for _, path in concept_paths:
            above: int | None = None
            parts = path.split(".")
            for depth in range(1, len(parts) + 1):
                prefix = ".".join(parts[:depth])
                if prefix not in node_of:
                    node_of[prefix] = len(names)
                    names.append(prefix)
                node = node_of[prefix]
                parent_nodes = links.setdefault(node, [])
                if above is not None and above not in parent_nodes:
                    parent_nodes.append(above)
                above = node
        parents = tuple(tuple(links.get(i, ())) for i in range(len(names)))
        return cls(tuple(names), parents, MappingProxyType(concept_nodes), rules or Rules(), name)

    @classmethod
    def flat(cls, concepts: Iterable[str], *, name: str = "vocabulary") -> Ontology:
        """Concepts without any structure."""
        concept_nodes = {concept: node for node, concept in enumerate(dict.fromkeys(concepts))}
        return cls(
            tuple(concept_nodes),
            ((),) * len(concept_nodes),
            MappingProxyType(concept_nodes),
            name=name,
        )

    def __reduce__(self) -> Any:
        """Ontologies travel to other processes, which a read-only view of a dict cannot."""
        state = (self.nodes, self.parents, dict(self.concept_nodes), self.rules, self.name)
        return type(self), (*state, self.left_out_nodes)

    # -- what the hierarchy says ------------------------------------------------------------

    @property
    def concepts(self) -> tuple[str, ...]:
        """The concepts that can be annotated, in the order of the vocabulary."""
        return tuple(self.concept_nodes)

    @cached_property
    def concept_at(self) -> Mapping[int, str]:
        return {node: concept for concept, node in self.concept_nodes.items()}

    def label(self, node: int) -> str:
        """The name of a node: the concept it is, or its own name for a category."""
        return self.concept_at.get(node, self.nodes[node])

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        below: list[list[int]] = [[] for _ in self.nodes]
        for node, above in enumerate(self.parents):
            for parent in above:
                below[parent].append(node)
        return tuple(map(tuple, below))

    @cached_property
    def top(self) -> tuple[int, ...]:
        """The nodes directly below the root."""
        return tuple(i for i, above in enumerate(self.parents) if not above)

    @cached_property
    def cycle(self) -> tuple[str, ...]:
        """The names along a cycle of is-a links, or nothing."""
        state = [0] * len(self.nodes)
        for start in range(len(self.nodes)):
            stack = [(start, iter(self.parents[start]))] if not state[start] else []
            trail = [start]
            state[start] = state[start] or 1
            while stack:
                node, rest = stack[-1]
                parent = next(rest, None)
                if parent is None:
                    state[node] = 2
                    stack.pop()
                    trail.pop()
                elif state[parent] == 1:
                    return tuple(self.label(n) for n in [*trail[trail.index(parent) :], parent])
                elif state[parent] == 0:
                    state[parent] = 1
                    trail.append(parent)
                    stack.append((parent, iter(self.parents[parent])))
        return ()

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Links from the root to each node, along the longest way."""
        depth = [0] * len(self.nodes)
        waiting = [len(above) for above in self.parents]
        queue = list(self.top)
        for node in queue:
            depth[node] = max(depth[node], 1)
            for child in self.children[node]:
                depth[child] = max(depth[child], depth[node] + 1)
                waiting[child] -= 1
                if not waiting[child]:
                    queue.append(child)
        return tuple(depth)

    @property
    def levels(self) -> int:
        """L of No 7.2: the links from the deepest node to the root."""
        return max(self.depths, default=0)

    def depth(self, concept: str) -> int:
        """Links from the root to a concept, along the longest way."""
        return self.depths[self.concept_nodes[concept]]

    @cached_property
    def nodes_above(self) -> tuple[frozenset[int], ...]:
        """Every node on a way from each node up to the root, the node itself left out."""
        above: list[frozenset[int]] = [frozenset()] * len(self.nodes)
        for node in sorted(range(len(self.nodes)), key=self.depths.__getitem__):
            above[node] = frozenset(self.parents[node]).union(
                *(above[p] for p in self.parents[node])
            )
        return tuple(above)

    def ancestors(self, concept: str) -> tuple[str, ...]:
        """The concepts that can be annotated above a concept, in the order of the vocabulary."""
        above = self.nodes_above[self.concept_nodes[concept]]
        return tuple(c for c, node in self.concept_nodes.items() if node in above)

    @cached_property
    def ancestor_matrix(self) -> NDArray[np.bool_]:
        """[c, a] is True when concept a is above concept c."""
        nodes = list(self.concept_nodes.values())
        above = [self.nodes_above[n] for n in nodes]
        return np.array([[a in up for a in nodes] for up in above], dtype=bool).reshape(
            len(nodes), len(nodes)
        )

    def link_weight(self, node: int) -> int:
        """The cost of the link above a node, in units of 1 / `link_unit`."""
        weight: int = 2 ** (self.levels - self.depths[node])
        return weight

    @property
    def link_unit(self) -> int:
        unit: int = 2 ** (self.levels + 1) - 2
        return unit

    def distances(self, *, weighted: bool) -> NDArray[np.float64]:
        """Shortest paths between concepts: in links, or in costs of links (No 7.2)."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        root = len(self.nodes)
        links = [
            (child, parent, self.link_weight(child) if weighted else 1)
            for child, above in enumerate(self.parents)
            for parent in (above or (root,))
        ]
        weights = [float(w) for _, _, w in links]
        # Older versions of csgraph take no other whole numbers.
        ends = np.array([(a, b) for a, b, _ in links], dtype=np.int32).T
        graph = csr_array((weights, (ends[0], ends[1])), shape=(root + 1, root + 1))
        nodes = list(self.concept_nodes.values())
        # Whole numbers until the very end, so that 12/14 is 12/14 to the last bit.
        lengths = dijkstra(graph, directed=False, indices=nodes)[:, nodes]
        return np.asarray(lengths / self.link_unit if weighted else lengths, dtype=np.float64)

    @cached_property
    def cost_map(self) -> CostMap:
        """The cost of confusing two concepts: the link costs on the shortest path (No 7.2)."""
        return CostMap(self.concepts, self.distances(weighted=True), f"{self.name} (tree)")

    # -- what the rules say -----------------------------------------------------------------

    def node_of(self, name: str) -> int | None:
        """The node of a concept or of a category, None for a name that is neither."""
        if name in self.concept_nodes:
            return self.concept_nodes[name]
        return self.nodes.index(name) if name in self.nodes else None

    def meant_by(self, name: str) -> tuple[str, ...]:
        """The concepts that a name in a rule stands for: itself, or all below a category."""
        if name in self.concept_nodes:
            return (name,)
        node = self.node_of(name)
        return tuple(
            c for c, n in self.concept_nodes.items() if node in self.nodes_above[n] or n == node
        )

    @cached_property
    def exclusive(self) -> tuple[tuple[str, Group], ...]:
        """Groups of which one member at most may be assigned: (the rule in words, members)."""
        groups = []
        for kind, names in self.rules.groups():
            group = tuple(m for m in (self.meant_by(n) for n in names) if m)
            if len(group) > 1:
                groups.append((f"{kind} {{{', '.join(names)}}}", group))
        return tuple(groups)

    @cached_property
    def requirements(self) -> tuple[tuple[str, Requirement], ...]:
        """Requirements between concepts: (the rule in words, requirement).

        A requirement none of whose alternatives can be annotated cannot be checked.
        """
        rules_in_words = []
        for rule in self.rules.requires:
            options = tuple(dict.fromkeys(c for n in rule.any_of for c in self.meant_by(n)))
            if not options:
                continue
            words = f"requires one of {{{', '.join(rule.any_of)}}}"
            rules_in_words += [
                (words, Requirement(c, options)) for c in self.meant_by(rule.concept)
            ]
        return tuple(rules_in_words)

    def violations(self, labels: Iterable[str]) -> list[Violation]:
        """Every label of a set that breaks a rule, with the rule; a label may break several."""
        label_set = frozenset(labels)
        broken_rules = []
        for words, group in self.exclusive:
            present = [sorted(label_set.intersection(member)) for member in group]
            if sum(map(bool, present)) > 1:
                broken_rules += [Violation(c, words) for member in present for c in member]
        for words, need in self.requirements:
            if need.concept in label_set and label_set.isdisjoint(need.any_of):
                broken_rules.append(Violation(need.concept, words))
        for concept in sorted(label_set):
            absent = [a for a in self.ancestors(concept) if a not in label_set]
            if absent:
                broken_rules.append(Violation(concept, f"needs its ancestor {', '.join(absent)}"))
        return broken_rules

    def restricted_to(self, vocabulary: Sequence[str]) -> Ontology:
        """This ontology where only the given concepts can be annotated, in the given order."""
        unknown = [c for c in vocabulary if self.node_of(c) is None]
        if unknown:
            raise InputError(
                self.name,
                [
                    Problem(
                        0,
                        f"has no concept {c!r}, which the truth uses."
                        f"{suggest(c, [*self.concepts, *self.nodes])}",
                    )
                    for c in unknown
                ],
            )
        if tuple(vocabulary) == self.concepts:
            return self
        concept_nodes = {c: node for c in vocabulary if (node := self.node_of(c)) is not None}
        # A concept outside the vocabulary stays a node, under the name that rules use for it.
        nodes = list(self.nodes)
        for concept, node in self.concept_nodes.items():
            if concept not in concept_nodes:
                nodes[node] = concept
        vocabulary_nodes = set(concept_nodes.values())
        others = [
            n
            for n in (*self.concept_nodes.values(), *self.left_out_nodes)
            if n not in vocabulary_nodes
        ]
        return replace(
            self,
            nodes=tuple(nodes),
            concept_nodes=MappingProxyType(concept_nodes),
            left_out_nodes=tuple(others),
        )

    # -- what is wrong ----------------------------------------------------------------------

    def problems(self) -> list[str]:
        """Cycles, unknown names and rules that cannot be satisfied, one sentence each."""
        if self.cycle:
            return [f"the is-a links form a cycle: {' -> '.join(self.cycle)}"]
        messages = []
        doubled = len(self.concept_nodes) - len(set(self.concept_nodes.values()))
        if doubled:
            messages.append("two concepts share one node of the hierarchy")
        vocabulary = [*self.concepts, *self.nodes]
        for kind, names in self.rules.groups():
            if len(set(names)) < 2:
                messages.append(
                    f"the group '{kind} {{{', '.join(names)}}}' has fewer than 2 members"
                )
            messages += self._unknown(names, f"in '{kind}'", vocabulary)
        for rule in self.rules.requires:
            messages += self._unknown((rule.concept, *rule.any_of), "in 'requires'", vocabulary)
            if not rule.any_of:
                messages.append(f"the requirement of {rule.concept!r} names no alternative")
        return messages or self._contradictions()

    def _unknown(self, names: Sequence[str], place: str, vocabulary: Sequence[str]) -> list[str]:
        return [
            f"{n!r} {place} is not a concept or category.{suggest(n, vocabulary)}"
            for n in names
            if self.node_of(n) is None
        ]

    def _contradictions(self) -> list[str]:
        messages = []
        for concept in self.concepts:
            broken = [
                v.rule
                for v in self.violations({concept, *self.ancestors(concept)})
                if not v.rule.startswith("requires")
            ]
            if broken:
                messages.append(
                    f"{concept!r} can never be assigned: with its ancestors "
                    f"{', '.join(self.ancestors(concept))} it breaks '{broken[0]}'"
                )
            elif not self._assignable({concept}):
                messages.append(
                    f"{concept!r} can never be assigned: every way to meet what it requires "
                    "breaks another rule"
                )
        return messages

    def _assignable(self, labels: set[str]) -> bool:
        """Whether some set with these labels keeps all rules: search over what is required."""
        closed = labels.union(*(self.ancestors(c) for c in labels))
        if any(
            sum(not closed.isdisjoint(member) for member in group) > 1
            for _, group in self.exclusive
        ):
            return False
        for _, need in self.requirements:
            if need.concept in closed and closed.isdisjoint(need.any_of):
                return any(self._assignable(closed | {option}) for option in need.any_of)
        return True

    def checked(self) -> Ontology:
        """This ontology, or an InputError with all its problems."""
        problems = self.problems()
        if problems:
            raise InputError(self.name, [Problem(0, text) for text in problems])
        return self


# A search for the nearest set looks at this many sets at most.
MOST_SETS = 20_000


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule that a set of labels breaks, in words, and the concepts that could mend it."""

    rule: str
    concepts: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class RuleBook:
    """The rules that hold between some concepts.

    Of `at_most_one` (the rule in words, the concepts of each member) one member may be present,
    of `at_least_one` one concept must be.
    """

    concepts: tuple[str, ...]
    at_most_one: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]
    at_least_one: tuple[tuple[str, tuple[str, ...]], ...]
    requirements: tuple[tuple[str, Requirement], ...]
    ancestors: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, rules: Ontology | Rules, concepts: Sequence[str]) -> RuleBook:
        """The rules that mention these concepts."""
        if isinstance(rules, Rules):
            rule_concepts = dict.fromkeys([*concepts, *(n for _, g in rules.groups() for n in g)])
            rules = Ontology.from_paths(((c, c) for c in rule_concepts), rules=rules)
        ontology_names = set(rules.concepts) | set(rules.nodes)
        restricted = rules.restricted_to([c for c in concepts if c in ontology_names])
        vocabulary = set(concepts)
        at_least_one = []
        for names in rules.rules.exactly_one:
            meant = tuple(dict.fromkeys(c for n in names for c in rules.meant_by(n)))
            if vocabulary.intersection(meant):
                at_least_one.append((f"exactly one of {{{', '.join(names)}}}", meant))
        return cls(
            restricted.concepts,
            rules.exclusive,
            tuple(at_least_one),
            restricted.requirements,
            {c: restricted.ancestors(c) for c in restricted.concepts},
        )

    def groups(self) -> dict[str, tuple[str, ...]]:
        """The groups of concepts of which exactly one is present, named by their members."""
        single_concept_groups = {
            tuple(c for member in group for c in member)
            for _, group in self.at_most_one
            if all(len(member) == 1 for member in group)
        }
        return {
            "/".join(names): names
            for _, names in self.at_least_one
            if names in single_concept_groups
        }

    def broken(self, labels: Iterable[str]) -> BrokenRule | None:
        """The first rule that a set of labels breaks."""
        label_set = frozenset(labels)
        for words, group in self.at_most_one:
            present = [label_set.intersection(member) for member in group]
            if sum(map(bool, present)) > 1:
                return BrokenRule(words, tuple(c for member in present for c in sorted(member)))
        for words, names in self.at_least_one:
            if label_set.isdisjoint(names):
                return BrokenRule(words, names)
        for words, need in self.requirements:
            if need.concept in label_set and label_set.isdisjoint(need.any_of):
                return BrokenRule(f"{need.concept} {words}", (need.concept, *need.any_of))
        for concept in sorted(label_set):
            absent = tuple(a for a in self.ancestors.get(concept, ()) if a not in label_set)
            if absent:
                return BrokenRule(
                    f"{concept} needs its ancestor {', '.join(absent)}", (concept, *absent)
                )
        return None

    def broken_rows(
        self, labels: NDArray[np.bool_], concepts: Sequence[str]
    ) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """Every rule in words, and which rows of a table items x concepts break it."""
        column = {name: labels[:, j] for j, name in enumerate(concepts)}
        nothing = np.zeros(len(labels), dtype=bool)

        def any_of(names: Sequence[str]) -> NDArray[np.bool_]:
            is_present = nothing.copy()
            for name in names:
                is_present |= column.get(name, nothing)
            return is_present

        for words, group in self.at_most_one:
            present = np.stack([any_of(member) for member in group])
            yield words, present.sum(axis=0) > 1
        for words, names in self.at_least_one:
            yield words, ~any_of(names)
        for words, need in self.requirements:
            broken = column.get(need.concept, nothing) & ~any_of(need.any_of)
            yield f"{need.concept} {words}", broken
        for concept, above in self.ancestors.items():
            for name in above:
                broken = column.get(concept, nothing) & ~column.get(name, nothing)
                yield f"{concept} needs its ancestor {name}", broken

    def nearest(self, labels: Iterable[str], cost: Mapping[str, float]) -> frozenset[str] | None:
        """The set that keeps all rules and costs least, None when none was found.

        `cost` is what it costs to add or take away a concept. A set that breaks a rule is mended
        by changing one of the rule's concepts, the cheapest change of all first, so that the
        first set that keeps all rules is the cheapest one.
        """
        start = frozenset(labels)
        turn = count()
        waiting: list[tuple[float, int, frozenset[str]]] = [(0.0, next(turn), frozenset())]
        seen = {frozenset[str]()}
        while waiting and len(seen) < MOST_SETS:
            spent, _, changed = heapq.heappop(waiting)
            now = start ^ changed
            problem = self.broken(now)
            if problem is None:
                return now
            for concept in problem.concepts:
                further = changed | {concept}
                if concept not in changed and further not in seen:
                    seen.add(further)
                    heapq.heappush(
                        waiting, (spent + max(cost.get(concept, 0.0), 0.0), next(turn), further)
                    )
        return None


def exclusive_groups(rules: Ontology | Rules) -> dict[str, tuple[str, ...]]:
    """The groups of concepts of which exactly one is present, named by their members."""
    if isinstance(rules, Rules):
        return {"/".join(names): names for names in rules.exactly_one}
    return RuleBook.of(rules, rules.concepts).groups()


_KINDS = ("exactly_one", "disjoint", "requires")


def parse_rules(text: str, source_name: str) -> Rules:
    """Rules written as `[[exactly_one]]`, `[[disjoint]]` and `[[requires]]`."""
    document = parse_toml(text, source_name)
    problems: list[Problem] = [
        Problem(
            0, f"unknown kind of rule {key!r}.{suggest(key, _KINDS)} Expected {', '.join(_KINDS)}"
        )
        for key in document
        if key not in _KINDS
    ]
    groups: dict[str, list[tuple[str, ...]]] = {"exactly_one": [], "disjoint": []}
    for kind, members in groups.items():
        for number, entry in enumerate(_entries(document, kind, problems), 1):
            place = f"[[{kind}]] number {number}"
            members.append(_names(entry, "concepts", place, problems, {"concepts"}))
    requires = []
    for number, entry in enumerate(_entries(document, "requires", problems), 1):
        place = f"[[requires]] number {number}"
        any_of = _names(entry, "any_of", place, problems, {"concept", "any_of"})
        concept = entry.get("concept")
        if isinstance(concept, str):
            requires.append(Requirement(concept, any_of))
        else:
            problems.append(Problem(0, f'{place} lacks a line such as concept = "Portrait"'))
    if problems:
        raise InputError(source_name, problems)
    return Rules(tuple(groups["exactly_one"]), tuple(groups["disjoint"]), tuple(requires))


def _entries(document: dict[str, Any], kind: str, problems: list[Problem]) -> list[dict[str, Any]]:
    entries = document.get(kind, [])
    if isinstance(entries, list) and all(isinstance(e, dict) for e in entries):
        return entries
    problems.append(Problem(0, f"{kind} is written as [[{kind}]] with its lines below"))
    return []


def _names(
    entry: dict[str, Any], key: str, place: str, problems: list[Problem], allowed_keys: set[str]
) -> tuple[str, ...]:
    problems += [
        Problem(
            0, f"{place} has an unknown key {unknown_key!r}.{suggest(unknown_key, allowed_keys)}"
        )
        for unknown_key in sorted(entry.keys() - allowed_keys)
    ]
    names = entry.get(key)
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        problems.append(Problem(0, f'{place} lacks a list such as {key} = ["Indoor", "Outdoor"]'))
        return ()
    return tuple(names)


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
