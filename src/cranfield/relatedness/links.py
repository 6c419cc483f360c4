"""WLM and WIKI: relatedness by the links to and from two articles, after Milne and Witten."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cranfield.data.counts import normalise_term
from cranfield.errors import UsageError
from cranfield.io.counts import read_link_pairs
from cranfield.notes import Progress
from cranfield.relatedness import Method, Source
from cranfield.relatedness.counts import nwd

# Article numbers that are kept before they are merged into the sorted set of all.
_BUFFER = 1_000_000


@dataclass(frozen=True)
class InLinks:
    """The articles that link to each concept, and how many articles there are."""

    sources: dict[str, frozenset[int]]
    articles: int

    def knows(self, concept: str) -> bool:
        return bool(self.sources.get(normalise_term(concept)))

    def relatedness(self, first: str, second: str) -> float:
        """1 - distance of the sets of links, and 0 where that is negative."""
        first_sources, second_sources = (
            self.sources[normalise_term(first)],
            self.sources[normalise_term(second)],
        )
        if normalise_term(first) == normalise_term(second):
            return 1.0
        shared = len(first_sources & second_sources)
        return max(0.0, 1.0 - nwd(len(first_sources), len(second_sources), shared, self.articles))


def read_links(
    path: str | Path,
    concepts: Sequence[str],
    *,
    articles: int | None = None,
    progress: Progress | None = None,
) -> InLinks:
    """The links to the concepts, from a table `source,target` of any size.

    Only links to the concepts are kept. Without `articles` the distinct sources and targets are
    counted on the way, in eight bytes each.
    """
    return collect_links(read_link_pairs(path, progress=progress), concepts, articles=articles)


def collect_links(
    pairs: Iterable[tuple[str, str]], concepts: Sequence[str], *, articles: int | None = None
) -> InLinks:
    """The links to the concepts, from pairs (source, target)."""
    sources_of: dict[str, set[int]] = {normalise_term(concept): set() for concept in concepts}
    names = _Distinct()
    for source, target in pairs:
        # Numbers of 64 bits stand for the names: two of ten million articles are taken for one
        # with a chance of 3 in a million.
        number = hash(normalise_term(source))
        goal = normalise_term(target)
        if goal in sources_of:
            sources_of[goal].add(number)
        if articles is None:
            names.add(number, hash(goal))
    if articles is None:
        articles = len(names)
    for name, linking in sources_of.items():
        if len(linking) > articles:
            raise UsageError(
                f"{len(linking)} articles link to {name!r}, but there are said to be {articles} in "
                "all; expected the number of all articles, or none (it is counted then)"
            )
    return InLinks({name: frozenset(sources) for name, sources in sources_of.items()}, articles)


@dataclass(frozen=True)
class LinkVectors:
    """The links out of each concept, each with its weight: the rarer its target, the heavier."""

    weights: dict[str, dict[int, float]]

    def knows(self, concept: str) -> bool:
        return bool(self.weights.get(normalise_term(concept)))

    def relatedness(self, first: str, second: str) -> float:
        """The cosine of the angle between two vectors of links."""
        if normalise_term(first) == normalise_term(second):
            return 1.0
        vectors = self.weights[normalise_term(first)], self.weights[normalise_term(second)]
        first_weights, second_weights = vectors
        # Exact sums, for the numbers that stand for targets come in another order in each process.
        lengths = [
            math.sqrt(math.fsum(w * w for w in v.values())) for v in (first_weights, second_weights)
        ]
        shared = math.fsum(
            weight * second_weights[t] for t, weight in first_weights.items() if t in second_weights
        )
        # Targets that every article links to weigh nothing.
        return min(1.0, shared / (lengths[0] * lengths[1])) if all(lengths) else 0.0


def read_link_vectors(
    path: str | Path,
    concepts: Sequence[str],
    *,
    articles: int | None = None,
    progress: Progress | None = None,
) -> LinkVectors:
    """The weighted links out of the concepts, from a table `source,target` that is read twice."""
    reporter = Progress.of(progress)
    first = partial(read_link_pairs, path, progress=reporter.part(0.0, 0.5))
    second = partial(read_link_pairs, path, progress=reporter.part(0.5, 1.0))
    return collect_vectors(first, second, concepts, articles=articles)


def collect_vectors(
    first: Callable[[], Iterable[tuple[str, str]]],
    second: Callable[[], Iterable[tuple[str, str]]],
    concepts: Sequence[str],
    *,
    articles: int | None = None,
) -> LinkVectors:
    """The weighted links out of the concepts, from two walks over pairs (source, target).

    A link weighs log(articles / articles that link to its target). The first walk finds the links
    out of the concepts, the second counts the links to their targets; each link is listed once.
    """
    terms = {normalise_term(concept) for concept in concepts}
    out: dict[str, set[int]] = {}
    names = _Distinct()
    for source, target in first():
        name, goal = normalise_term(source), hash(normalise_term(target))
        if name in terms:
            out.setdefault(name, set()).add(goal)
        if articles is None:
            names.add(hash(name), goal)
    total = len(names) if articles is None else articles
    linking = dict.fromkeys((goal for goals in out.values() for goal in goals), 0)
    for _, target in second():
        goal = hash(normalise_term(target))
        if goal in linking:
            linking[goal] += 1
    if linking and max(linking.values()) > total:
        raise UsageError(
            f"{max(linking.values())} links lead to one article, but there are said to be {total} "
            "in all; expected the number of all articles, or none (it is counted then)"
        )
    return LinkVectors(
        {
            name: {goal: math.log(total / linking[goal]) for goal in sorted(goals)}
            for name, goals in out.items()
        }
    )


class _Distinct:
    """How many different numbers there are, in eight bytes each."""

    def __init__(self) -> None:
        self._known = np.zeros(0, np.int64)
        self._fresh: list[int] = []

    def add(self, *numbers: int) -> None:
        self._fresh += numbers
        if len(self._fresh) >= _BUFFER:
            self._known, self._fresh = _merged(self._known, self._fresh), []

    def __len__(self) -> int:
        return len(_merged(self._known, self._fresh))


def _merged(numbers: NDArray[np.int64], additions: list[int]) -> NDArray[np.int64]:
    # A stable sort takes the sorted numbers as they are and merges the others into them; the
    # set functions of numpy hash everything anew, which is four times as slow.
    every = np.concatenate([numbers, np.sort(np.array(additions, np.int64))])
    every.sort(kind="stable")
    first = np.ones(len(every), np.bool_)
    first[1:] = every[1:] != every[:-1]
    return every[first]


METHODS = (
    Method(
        name="WLM",
        title="Wikipedia links (Milne and Witten)",
        formula=r"1-\frac{\log\max(|A|,|B|)-\log|A\cap B|}{\log W-\log\min(|A|,|B|)}",
        source=Source("milne-witten-2008", "in-link measure"),
        thesis="4.5.2",
        family="links",
        range=(0.0, 1.0),
        symmetric=True,
        needs=frozenset({"links"}),
        reads="links",
        score=InLinks.relatedness,
        parts="",
        summary="Articles that link to both concepts, against those that link to one.",
        undefined="no shared link: 0",
    ),
    Method(
        name="WIKI",
        title="Angle of link vectors (Milne and Witten)",
        formula=r"\cos(\vec a,\vec b),\quad a_t=\log\frac{W}{|T|}\ \text{where}\ a\ "
        r"\text{links to}\ t,\ T\ \text{all that link to}\ t",
        source=Source(
            "milne-witten-2008", "out-link measure", "the cosine of the angle, not the angle"
        ),
        thesis="4.5.2",
        family="links",
        range=(0.0, 1.0),
        symmetric=True,
        needs=frozenset({"links"}),
        reads="vectors",
        score=LinkVectors.relatedness,
        parts="",
        summary="Articles that both concepts link to, the rarer the better.",
        undefined="no shared link: 0",
    ),
)
