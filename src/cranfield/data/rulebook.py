"""Rules over sets of labels: which rule a set breaks, and the nearest set that breaks none."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from cranfield.data.ontology import Ontology, Requirement, Rules

# A search for the nearest set looks at this many sets at most.
MOST_SETS = 20_000


@dataclass(frozen=True, slots=True)
class Broken:
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
        """The rules that speak of these concepts; others were not asked for."""
        if isinstance(rules, Rules):
            named = dict.fromkeys([*concepts, *(n for _, g in rules.groups() for n in g)])
            rules = Ontology.from_paths(((c, c) for c in named), rules=rules)
        known = set(rules.concepts) | set(rules.nodes)
        asked = rules.restricted_to([c for c in concepts if c in known])
        vocabulary = set(concepts)
        least = []
        for names in rules.rules.exactly_one:
            meant = tuple(dict.fromkeys(c for n in names for c in rules.meant_by(n)))
            if vocabulary.intersection(meant):
                least.append((f"exactly one of {{{', '.join(names)}}}", meant))
        return cls(
            asked.concepts,
            rules.exclusive,
            tuple(least),
            asked.requirements,
            {c: asked.ancestors(c) for c in asked.concepts},
        )

    def groups(self) -> dict[str, tuple[str, ...]]:
        """The groups of concepts of which exactly one is present, named by their members."""
        plain = {
            tuple(c for member in group for c in member)
            for _, group in self.at_most_one
            if all(len(member) == 1 for member in group)
        }
        return {"/".join(names): names for _, names in self.at_least_one if names in plain}

    def broken(self, labels: Iterable[str]) -> Broken | None:
        """The first rule that a set of labels breaks."""
        chosen = frozenset(labels)
        for words, group in self.at_most_one:
            present = [chosen.intersection(member) for member in group]
            if sum(map(bool, present)) > 1:
                return Broken(words, tuple(c for member in present for c in sorted(member)))
        for words, names in self.at_least_one:
            if chosen.isdisjoint(names):
                return Broken(words, names)
        for words, need in self.requirements:
            if need.concept in chosen and chosen.isdisjoint(need.any_of):
                return Broken(f"{need.concept} {words}", (need.concept, *need.any_of))
        for concept in sorted(chosen):
            absent = tuple(a for a in self.ancestors.get(concept, ()) if a not in chosen)
            if absent:
                return Broken(
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
            found = nothing.copy()
            for name in names:
                found |= column.get(name, nothing)
            return found

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
