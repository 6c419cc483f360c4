"""WLM: relatedness as links that two articles share, after Milne and Witten."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cranfield.data.counts import term_of
from cranfield.errors import UsageError
from cranfield.io.links import read_link_pairs
from cranfield.notes import Progress
from cranfield.relatedness._spec import Method, Source
from cranfield.relatedness.counts import nwd

# Article numbers that are kept before they are merged into the sorted set of all.
_BUFFER = 1_000_000


@dataclass(frozen=True)
class InLinks:
    """The articles that link to each concept, and how many articles there are."""

    sources: dict[str, frozenset[int]]
    articles: int

    def knows(self, concept: str) -> bool:
        return bool(self.sources.get(term_of(concept)))

    def relatedness(self, first: str, second: str) -> float:
        """1 - distance of the sets of links, and 0 where that is negative."""
        one, other = self.sources[term_of(first)], self.sources[term_of(second)]
        if term_of(first) == term_of(second):
            return 1.0
        shared = len(one & other)
        return max(0.0, 1.0 - nwd(len(one), len(other), shared, self.articles))


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
    found: dict[str, set[int]] = {term_of(concept): set() for concept in concepts}
    known = np.zeros(0, np.int64)
    fresh: list[int] = []
    for source, target in pairs:
        # Numbers of 64 bits stand for the names: two of ten million articles are taken for one
        # with a chance of 3 in a million.
        number = hash(term_of(source))
        goal = term_of(target)
        if goal in found:
            found[goal].add(number)
        if articles is None:
            fresh += (number, hash(goal))
            if len(fresh) >= _BUFFER:
                known, fresh = _merged(known, fresh), []
    if articles is None:
        articles = len(_merged(known, fresh))
    for name, linking in found.items():
        if len(linking) > articles:
            raise UsageError(
                f"{len(linking)} articles link to {name!r}, but there are said to be {articles} in "
                "all; expected the number of all articles, or none (it is counted then)"
            )
    return InLinks({name: frozenset(sources) for name, sources in found.items()}, articles)


def _merged(known: NDArray[np.int64], fresh: list[int]) -> NDArray[np.int64]:
    # A stable sort takes the sorted numbers as they are and merges the others into them; the
    # set functions of numpy hash everything anew, which is four times as slow.
    every = np.concatenate([known, np.sort(np.array(fresh, np.int64))])
    every.sort(kind="stable")
    first = np.ones(len(every), np.bool_)
    first[1:] = every[1:] != every[:-1]
    return every[first]


METHODS = (
    Method(
        name="WLM",
        title="Wikipedia links (Milne and Witten)",
        formula=r"1-\frac{\log\max(|A|,|B|)-\log|A\cap B|}{\log W-\log\min(|A|,|B|)}",
        source=Source(
            "milne-witten-2008",
            "in-link measure",
            "the thesis speaks of the angle of link vectors, the other half of the same paper",
        ),
        thesis="4.5.2",
        family="links",
        range=(0.0, 1.0),
        symmetric=True,
        needs=frozenset({"links"}),
        score=InLinks.relatedness,
        parts="",
        summary="Articles that link to both concepts, against those that link to one.",
        undefined="no shared link: 0",
    ),
)
