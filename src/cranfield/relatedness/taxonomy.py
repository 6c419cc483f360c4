"""The hypernym trees of nouns and verbs under one virtual root each, and where senses meet.

As WordNet::Similarity has it: every way from a synset up to the root is a path of its own, and
two paths meet in the first synset of the second path that lies on the first one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.relatedness.wordnet import Sense, WordNet

Ints = NDArray[np.int64]

ROOTED = "nv"
_NOTHING = -1  # fills the end of a path's row
# Comparing all steps of two paths takes length^2 bytes a pair; this many pairs at a time.
_BLOCK = 20_000


@dataclass(frozen=True, slots=True)
class Meetings:
    """Where the paths of pairs of senses meet, one entry per pair of paths.

    `pair[k]` is the pair of senses that entry k belongs to, ascending; `node` the synset in
    which the paths meet (the root of a part of speech is the number of synsets plus 0 or 1);
    `up`, `down` the numbers of links to it.
    """

    pair: Ints
    node: Ints
    up: Ints
    down: Ints


class Taxonomy:
    """The paths to the root of the nouns and verbs of a WordNet database."""

    def __init__(self, wordnet: WordNet) -> None:
        self._starts, self._targets = (a.tolist() for a in wordnet.links("hypernym"))
        self._paths: dict[int, list[tuple[int, ...]]] = {}
        self._parts = {part: wordnet.part_range(part) for part in ROOTED}
        self._size = wordnet.size
        self._distances: dict[tuple[int, int], int] = {}

    def root(self, part: str) -> int:
        """The number of the virtual root above all synsets of a part of speech."""
        return self._size + ROOTED.index(part)

    def root_of(self, synset: int) -> int:
        for part, (start, end) in self._parts.items():
            if start <= synset < end:
                return self.root(part)
        return synset

    def hypernyms(self, synset: int) -> list[int]:
        above: list[int] = self._targets[self._starts[synset] : self._starts[synset + 1]]
        return above

    def paths(self, synset: int) -> list[tuple[int, ...]]:
        """Every way from a synset to the root, both included."""
        if synset >= self._size:
            return [(synset,)]
        if synset not in self._paths:
            self._paths[synset] = self._climb(synset, frozenset())
        return self._paths[synset]

    def _climb(self, synset: int, below: frozenset[int]) -> list[tuple[int, ...]]:
        seen = below | {synset}
        # Princeton's WordNet 3.0 has a circle among its verbs: a path ends where it would close.
        parents = [h for h in self.hypernyms(synset) if h not in seen]
        if not parents:
            return [(synset, self.root_of(synset))]
        return [(synset, *path) for h in parents for path in self._climb(h, seen)]

    def depths(self, synset: int) -> set[int]:
        """The numbers of synsets on the ways down from the root, itself and the root counted."""
        return {len(path) for path in self.paths(synset)}

    def distance(self, first: int, second: int) -> int:
        """The number of links of the shortest way over a common ancestor."""
        key = (first, second)
        if key not in self._distances:
            up = self._steps_up(first)
            down = self._steps_up(second)
            self._distances[key] = min(up[n] + down[n] for n in up.keys() & down.keys())
        return self._distances[key]

    def _steps_up(self, synset: int) -> dict[int, int]:
        steps: dict[int, int] = {}
        for path in self.paths(synset):
            for i, node in enumerate(path):
                if i < steps.get(node, len(path)):
                    steps[node] = i
        return steps

    def meetings(self, synsets1: Sequence[int], synsets2: Sequence[int]) -> Meetings:
        """Where the paths of each pair (left[k], right[k]) of synsets meet."""
        synsets = sorted({*synsets1, *synsets2})
        rows = [path for synset in synsets for path in self.paths(synset)]
        counts = np.array([len(self.paths(synset)) for synset in synsets], np.int64)
        starts = dict(zip(synsets, np.cumsum(counts) - counts, strict=True))
        number = dict(zip(synsets, counts, strict=True))
        table = np.full((len(rows), max(map(len, rows), default=1)), _NOTHING, np.int32)
        for row, path in zip(table, rows, strict=True):
            row[: len(path)] = path
        many_left = np.array([number[s] for s in synsets1], np.int64)
        many_right = np.array([number[s] for s in synsets2], np.int64)
        many = many_left * many_right
        pair = np.repeat(np.arange(len(many)), many)
        within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        first = np.array([starts[s] for s in synsets1], np.int64)[pair] + within // many_right[pair]
        second = np.array([starts[s] for s in synsets2], np.int64)[pair] + within % many_right[pair]
        up, down = np.empty_like(pair), np.empty_like(pair)
        for start in range(0, len(pair), _BLOCK):
            block = slice(start, start + _BLOCK)
            up[block], down[block] = _meet(table[first[block]], table[second[block]])
        return Meetings(pair, table[second, down].astype(np.int64), up, down)


def _meet(first: NDArray[np.int32], second: NDArray[np.int32]) -> tuple[Ints, Ints]:
    """The steps up each path to the first synset of the second that lies on the first."""
    equal = first[:, :, None] == second[:, None, :]
    equal &= (second != _NOTHING)[:, None, :]
    down = equal.any(axis=1).argmax(axis=1)
    up = equal[np.arange(len(down)), :, down].argmax(axis=1)
    return up, down


def taxonomy_of(wordnet: WordNet) -> Taxonomy:
    """The taxonomy of a database, worked out once."""
    if "taxonomy" not in wordnet.derived:
        wordnet.derived["taxonomy"] = Taxonomy(wordnet)
    taxonomy: Taxonomy = wordnet.derived["taxonomy"]
    return taxonomy


def comparable(first: Sense, second: Sense) -> bool:
    """Whether two senses hang in the same tree: both nouns, or both verbs."""
    return first.part == second.part and first.part in ROOTED
