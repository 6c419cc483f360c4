"""HSO: relatedness as a chain of links with few turns, after Hirst and St-Onge.

Links go up (hypernyms, meronyms), down (hyponyms, holonyms, causes, entailments) or across
(also-see, antonyms, attributes, pertainyms, similar). A chain has two to five links and one of
the shapes U* A* D* or D+ A+, where U, A, D are links up, across and down. Going up from one side
and down backwards from the other keeps both halves small, so all chains between many senses are a
few products of sparse matrices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.relatedness._spec import Method, Source
from cranfield.relatedness.wordnet import Sense, WordNet
from cranfield.relatedness.wordnet.database import pattern_of
from cranfield.relatedness.wordnet.parse import cached

Scores = NDArray[np.float64]

STRONG = 16.0
_CONSTANT = 8
_LONGEST = 5
_UP = ("hypernym", "meronym")
_DOWN = ("holonym", "hyponym", "entailment", "cause")
# How many pairs of senses one dense block of results may hold.
_BLOCK = 4_000_000


def hso(wordnet: WordNet, senses1: Sequence[Sense], senses2: Sequence[Sense]) -> Scores:
    """Strong relations 16, chains 8 - links - turns, everything else 0."""
    first = np.array([sense.synset for sense in senses1], np.int64)
    second = np.array([sense.synset for sense in senses2], np.int64)
    values = _chains(wordnet, first, second)
    neighbours = _Neighbours(wordnet)
    for k, (sense1, sense2) in enumerate(zip(senses1, senses2, strict=True)):
        if neighbours.strong(sense1, sense2):
            values[k] = STRONG
    return values


class _Neighbours:
    """The synsets next to a synset by direction, worked out once for each."""

    def __init__(self, wordnet: WordNet) -> None:
        self._wordnet = wordnet
        self._across: dict[int, frozenset[int]] = {}
        self._upright: dict[int, frozenset[int]] = {}

    def strong(self, sense1: Sense, sense2: Sense) -> bool:
        """The same synset, a link across, or a direct link between a word and its compound."""
        a, b = sense1.synset, sense2.synset
        if a == b or a in self.across(b) or b in self.across(a):
            return True
        # The reference forgets to answer when only the first sense has the upright link, which
        # matters for the few links that have no converse.
        return a in self.upright(b) and (
            pattern_of(sense2.lemma.lower()).search(sense1.lemma.lower()) is not None
            or pattern_of(sense1.lemma.lower()).search(sense2.lemma.lower()) is not None
        )

    def across(self, synset: int) -> frozenset[int]:
        if synset not in self._across:
            self._across[synset] = frozenset(links_across(self._wordnet, synset))
        return self._across[synset]

    def upright(self, synset: int) -> frozenset[int]:
        if synset not in self._upright:
            synsets: set[int] = set()
            for direction in (_UP, _DOWN):
                starts, targets = self._wordnet.links(*direction)
                synsets.update(targets[starts[synset] : starts[synset + 1]].tolist())
            self._upright[synset] = frozenset(synsets)
        return self._upright[synset]


def links_across(wordnet: WordNet, synset: int) -> Iterator[int]:
    """The synsets one link across; links between words are those of the first word."""
    word = wordnet.words(synset)[0]
    for relation in ("also", "antonym", "pertainym"):
        yield from wordnet.word_related(synset, word, relation)
    for relation in ("attribute", "similar"):
        yield from wordnet.related(synset, relation)


class _Steps:
    """The links of a database by direction, as sparse matrices from synset to synset."""

    def __init__(self, wordnet: WordNet) -> None:
        self._size = wordnet.size
        self.up = self._matrix(*wordnet.links(*_UP))
        down = self._matrix(*wordnet.links(*_DOWN))
        arrays = cached("hso", wordnet.fingerprint, lambda: _across_arrays(wordnet))
        self.across = self._matrix(arrays["starts"], arrays["targets"])
        self.back_down = down.T.tocsr()
        self.back_across = self.across.T.tocsr()

    def _matrix(self, starts: NDArray[np.int32], targets: NDArray[np.int32]) -> Any:
        from scipy import sparse

        ones = np.ones(len(targets), np.float32)
        return sparse.csr_array((ones, targets, starts), (self._size, self._size))

    def at(self, synsets: NDArray[np.int64]) -> Any:
        """One row per synset that stands on that synset."""
        from scipy import sparse

        starts = np.arange(len(synsets) + 1)
        ones = np.ones(len(synsets), np.float32)
        return sparse.csr_array((ones, synsets, starts), (len(synsets), self._size))


def _across_arrays(wordnet: WordNet) -> dict[str, NDArray[Any]]:
    starts, targets = [0], list[int]()
    linked = wordnet.with_links("^", "!", "\\", "=", "&")
    for synset in range(wordnet.size):
        if linked[synset]:
            targets += dict.fromkeys(links_across(wordnet, synset))
        starts.append(len(targets))
    return {"starts": np.array(starts, np.int32), "targets": np.array(targets, np.int32)}


def _chains(wordnet: WordNet, first: NDArray[np.int64], second: NDArray[np.int64]) -> Scores:
    """The best chain of each pair (first[k], second[k]), 0 where there is none."""
    if "hso" not in wordnet.derived:
        wordnet.derived["hso"] = _Steps(wordnet)
    steps: _Steps = wordnet.derived["hso"]
    rows, row_of = np.unique(first, return_inverse=True)
    order = np.argsort(row_of, kind="stable")
    values = np.zeros(len(first))
    # A block takes as many rows as its dense result allows, and only the columns they need.
    height = max(1, _BLOCK // max(1, len(np.unique(second))))
    for start in range(0, len(rows), height):
        low, high = np.searchsorted(row_of[order], [start, start + height])
        pairs = order[low:high]
        columns, column_of = np.unique(second[pairs], return_inverse=True)
        best = _best_chains(steps, rows[start : start + height], columns)
        values[pairs] = best[row_of[pairs] - start, column_of]
    return values


def _best_chains(steps: _Steps, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Scores:
    best = np.zeros((len(rows), len(columns)))
    falls = _powers(steps.at(columns), steps.back_down, _LONGEST)
    for shape, length, reached in _rises(steps, rows):
        for fall in range(_LONGEST - length + 1):
            if length + fall < 2:
                continue
            worth = _CONSTANT - length - fall - _turns(shape, fall)
            met = (reached @ falls[fall].T).tocoo()
            np.maximum.at(best, (met.row, met.col), worth)
    for across, reverse in enumerate(_powers(steps.at(columns), steps.back_across, _LONGEST - 1)):
        for fall, reached in enumerate(_powers(reverse, steps.back_down, _LONGEST - across)):
            if across and fall:
                worth = _CONSTANT - across - fall - (across > 1)
                met = reached[:, rows].tocoo()
                np.maximum.at(best, (met.col, met.row), worth)
    return best


def _rises(steps: _Steps, rows: NDArray[np.int64]) -> Iterator[tuple[str, int, Any]]:
    """The part of chains before the way down: its shape, its links, and where it leads."""
    for up, risen in enumerate(_powers(steps.at(rows), steps.up, _LONGEST)):
        for across, reached in enumerate(_powers(risen, steps.across, _LONGEST - up)):
            yield "U" * (up > 0) + "A" * (across > 0), up + across, reached


def _turns(shape: str, fall: int) -> int:
    """The turns that the reference counts.

    It forgets a turn in two places: the first link down after a way across that began the
    chain is no turn, and a second link down after up and across takes a turn back.
    """
    if fall == 0:
        return int(shape == "UA")
    return {"": 0, "U": 1, "A": int(fall > 1), "UA": 2 if fall == 1 else 1}[shape]


def _powers(start: Any, step: Any, count: int) -> list[Any]:
    """Where 0, 1, ..., `count` steps lead."""
    reached = [start]
    for _ in range(count):
        further = (reached[-1] @ step).tocsr()
        further.data[:] = 1.0
        reached.append(further)
    return reached


METHODS = (
    Method(
        name="HSO",
        title="Hirst and St-Onge",
        formula=r"8 - \mathrm{links} - \mathrm{turns}\quad(16\ \text{if strong})",
        source=Source("hirst-st-onge-1998", "WordNet::Similarity 2.05, hso"),
        thesis="4.5.1",
        family="wordnet",
        range=(0.0, STRONG),
        maximum=STRONG,
        symmetric=False,
        needs=frozenset({"wordnet"}),
        reads="lexicon",
        score=hso,
        parts="nvar",
        summary="Chains of at most five links with few changes of direction.",
        undefined="no chain: 0",
    ),
)
