"""Relatedness through the links of WordNet: PATH, WUP, LCH, RES, LIN, JCN and HSO.

Trees: the hypernyms of nouns and verbs hang under one virtual root each. As WordNet::Similarity
has it, every way from a synset up to the root is a path of its own, and two paths meet in the
first synset of the second path that lies on the first one. PATH, WUP and LCH count the links
between.

Information: the content of a synset is -log of the share of SemCor's tagged words that fall on it
or below it. A count is passed up every link, so a synset below two hypernyms that meet again is
counted once per path, as in the reference. RES, LIN and JCN compare by it.

Chains: HSO follows links up (hypernyms, meronyms), down (hyponyms, holonyms, causes, entailments)
or across (also-see, antonyms, attributes, pertainyms, similar), after Hirst and St-Onge. A chain
has two to five links and one of the shapes U* A* D* or D+ A+, where U, A, D are links up, across
and down. Going up from one side and down backwards from the other keeps both halves small, so all
chains between many senses are a few products of sparse matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import NeedsError
from cranfield.relatedness import Method, Source
from cranfield.relatedness.wordnet_database import Sense, WordNet, pattern_of
from cranfield.relatedness.wordnet_files import cached
from cranfield.types import FloatArray, IntArray

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

    pair: IntArray
    node: IntArray
    up: IntArray
    down: IntArray


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


def _meet(first: NDArray[np.int32], second: NDArray[np.int32]) -> tuple[IntArray, IntArray]:
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


# Pairs of senses that are worked on at a time: six million at once took 1.5 GB, so it is 0.3.
_PAIRS = 200_000
LCH_MAXIMUM = float(np.log(40.0))  # of nouns, whose deepest leaf has depth 20


def in_trees(
    wordnet: WordNet,
    senses1: Sequence[Sense],
    senses2: Sequence[Sense],
    score: Callable[[Taxonomy, Meetings, list[int], list[int]], FloatArray],
) -> FloatArray:
    """FloatArray of the pairs that hang in the same tree; NaN for the others."""
    values = np.full(len(senses1), np.nan)
    for start in range(0, len(senses1), _PAIRS):
        block = range(start, min(start + _PAIRS, len(senses1)))
        pairs = [k for k in block if comparable(senses1[k], senses2[k])]
        if pairs:
            first = [senses1[k].synset for k in pairs]
            second = [senses2[k].synset for k in pairs]
            taxonomy = taxonomy_of(wordnet)
            values[pairs] = score(taxonomy, taxonomy.meetings(first, second), first, second)
    return values


def pair_starts(pair: IntArray) -> IntArray:
    """Where the entries of each pair start; every pair has at least one."""
    return np.flatnonzero(np.diff(pair, prepend=-1))


def _synsets_between(meetings: Meetings) -> FloatArray:
    """The number of synsets on the shortest way, both ends counted."""
    links = np.minimum.reduceat(meetings.up + meetings.down, pair_starts(meetings.pair))
    return links.astype(np.float64) + 1.0


def path(wordnet: WordNet, senses1: Sequence[Sense], senses2: Sequence[Sense]) -> FloatArray:
    """One over the number of synsets on the shortest way."""
    return in_trees(wordnet, senses1, senses2, lambda _t, m, _a, _b: 1.0 / _synsets_between(m))


def lch(wordnet: WordNet, senses1: Sequence[Sense], senses2: Sequence[Sense]) -> FloatArray:
    """The shortest way, scaled by twice the greatest depth of its tree."""
    deepest = {part: greatest_depth(wordnet, part) for part in "nv"}

    def score(_t: Taxonomy, m: Meetings, first: list[int], _b: list[int]) -> FloatArray:
        end_of_nouns = wordnet.part_range("n")[1]
        depth = np.where(np.array(first) < end_of_nouns, deepest["n"], deepest["v"])
        return np.log(2.0 * depth / _synsets_between(m))

    return in_trees(wordnet, senses1, senses2, score)


def greatest_depth(wordnet: WordNet, part: str) -> int:
    """The depth of the deepest leaf below the virtual root, by each leaf's shortest way.

    20 for the nouns of WordNet 3.0 and 14 for its verbs.
    """
    name = f"greatest depth {part}"
    if name not in wordnet.derived:
        wordnet.derived[name] = _greatest_depth(wordnet, part)
    depth: int = wordnet.derived[name]
    return depth


def _greatest_depth(wordnet: WordNet, part: str) -> int:
    start, end = wordnet.part_range(part)
    if start == end:
        return 1
    starts, targets = wordnet.links("hypernym")
    counts = np.diff(starts)
    source = np.repeat(np.arange(wordnet.size), counts)
    unknown = wordnet.size
    depth = np.where(counts == 0, 2, unknown)
    while True:
        deeper = depth.copy()
        np.minimum.at(deeper, source, depth[targets] + 1)
        if np.array_equal(deeper, depth):
            break
        depth = deeper
    hyponyms, _ = wordnet.links("hyponym")
    leaf = np.diff(hyponyms)[start:end] == 0
    reached = depth[start:end] < unknown
    return int(depth[start:end][leaf & reached].max(initial=1))


def wup(wordnet: WordNet, senses1: Sequence[Sense], senses2: Sequence[Sense]) -> FloatArray:
    """Twice the depth of the deepest meeting, over the depths of both senses through it."""
    return in_trees(wordnet, senses1, senses2, _wup)


def _wup(taxonomy: Taxonomy, meetings: Meetings, first: list[int], second: list[int]) -> FloatArray:
    nodes, inverse = np.unique(meetings.node, return_inverse=True)
    depth = np.array([listed_depth(taxonomy, int(node)) for node in nodes])[inverse]
    up = _distances(taxonomy, np.array(first)[meetings.pair], meetings.node)
    down = _distances(taxonomy, np.array(second)[meetings.pair], meetings.node)
    value = 2.0 * depth / (2 * depth + up + down)
    starts = pair_starts(meetings.pair)
    deepest = np.maximum.reduceat(depth, starts)
    # Several meetings may be equally deep; the best of them counts.
    value[depth < deepest[meetings.pair]] = 0.0
    return np.maximum.reduceat(value, starts)


def listed_depth(taxonomy: Taxonomy, node: int) -> int:
    """The depth of a synset as the reference lists it, the virtual root being at 1.

    A synset with several ways to the root has several depths. The reference means to take the
    least, but sorts them as text, so that 14 comes before 9; its figures follow from that.
    """
    depths = [depth - 1 for depth in taxonomy.depths(node)]
    return int(min(f"{depth}:" for depth in depths)[:-1]) + 1


def _distances(taxonomy: Taxonomy, synsets: IntArray, nodes: IntArray) -> IntArray:
    key = synsets * (int(nodes.max(initial=0)) + 1) + nodes
    _, at, inverse = np.unique(key, return_index=True, return_inverse=True)
    distances = [
        taxonomy.distance(int(s), int(n)) for s, n in zip(synsets[at], nodes[at], strict=True)
    ]
    return np.array(distances, np.int64)[inverse]


PATH_METHODS = (
    Method(
        name="PATH",
        title="Inverse path length",
        formula=r"\frac{1}{\mathrm{len}(a, b)}",
        source=Source("pedersen-2004", "WordNet::Similarity 2.05, path"),
        thesis="4.5.1",
        family="wordnet",
        range=(0.0, 1.0),
        symmetric=True,
        needs=frozenset({"wordnet"}),
        reads="lexicon",
        score=path,
        summary="One over the number of synsets on the shortest way between two senses.",
    ),
    Method(
        name="WUP",
        title="Wu and Palmer",
        formula=r"\frac{2\,d(c)}{(d(c)+l(a,c))+(d(c)+l(b,c))}",
        source=Source("wu-palmer-1994", "WordNet::Similarity 2.05, wup"),
        thesis="4.5.1",
        family="wordnet",
        range=(0.0, 1.0),
        symmetric=True,
        needs=frozenset({"wordnet"}),
        reads="lexicon",
        score=wup,
        summary="Depth of the deepest common ancestor against the depths of both senses.",
    ),
    Method(
        name="LCH",
        title="Leacock and Chodorow",
        formula=r"-\log\frac{\mathrm{len}(a, b)}{2D}",
        source=Source("leacock-chodorow-1998", "WordNet::Similarity 2.05, lch"),
        thesis="4.5.1",
        family="wordnet",
        range=(0.0, LCH_MAXIMUM),
        maximum=LCH_MAXIMUM,
        symmetric=True,
        needs=frozenset({"wordnet"}),
        reads="lexicon",
        score=lch,
        summary="Shortest way, scaled by twice the depth D of the tree (nouns: 20).",
    ),
)


_LEAST_COUNT = 0.01  # by how much less than the root a synset counts for JCN's greatest value


@dataclass(frozen=True, slots=True)
class Information:
    """The information content of every synset and of the virtual roots (the last two entries).

    Zero where nothing was counted: no data is not infinite information.
    """

    content: FloatArray
    root_count: dict[str, float]


def information_of(wordnet: WordNet) -> Information:
    """The information content of a database by its SemCor counts, worked out once."""
    if "information" not in wordnet.derived:
        if wordnet.tag_counts.size == 0:
            raise NeedsError(
                "RES, JCN and LIN need how often senses were tagged: the file cntlist.rev or "
                "cntlist of the WordNet database, which is missing."
            )
        wordnet.derived["information"] = _information(wordnet)
    information: Information = wordnet.derived["information"]
    return information


def _information(wordnet: WordNet) -> Information:
    starts, targets = wordnet.links("hyponym")
    source = np.repeat(np.arange(wordnet.size), np.diff(starts))
    tops = np.diff(wordnet.links("hypernym")[0]) == 0
    reached = _reached(tops, source, targets)
    inside = reached[source]
    source, targets = source[inside], targets[inside]
    tag_counts = np.where(reached, wordnet.tag_counts, 0).astype(np.float64)
    total = tag_counts
    while True:
        passed = tag_counts + np.bincount(source, total[targets], wordnet.size)
        if np.array_equal(passed, total):
            break
        total = passed
    content = np.zeros(wordnet.size + 2)
    root_count: dict[str, float] = {}
    for part in "nv":
        start, end = wordnet.part_range(part)
        counts = total[start:end]
        root_count[part] = float(counts[tops[start:end]].sum())
        seen = counts > 0
        content[start:end][seen] = -np.log(counts[seen] / root_count[part])
    return Information(np.abs(content), root_count)


def _reached(
    tops: NDArray[np.bool_], source: IntArray, targets: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """The synsets below a top one: all but a circle of verbs that has no way to the root."""
    reached = tops.copy()
    while True:
        extended = reached.copy()
        extended[targets[reached[source]]] = True
        if np.array_equal(extended, reached):
            return reached
        reached = extended


def _shared(meetings: Meetings, content: FloatArray) -> FloatArray:
    return np.maximum.reduceat(content[meetings.node], pair_starts(meetings.pair))


def res(wordnet: WordNet, senses1: Sequence[Sense], senses2: Sequence[Sense]) -> FloatArray:
    """The information content of the most informative meeting."""
    content = information_of(wordnet).content
    return in_trees(wordnet, senses1, senses2, lambda _t, m, _a, _b: _shared(m, content))


def lin(wordnet: WordNet, senses1: Sequence[Sense], senses2: Sequence[Sense]) -> FloatArray:
    """Shared information over the information of both senses; 0 when one has none."""
    content = information_of(wordnet).content

    def score(_t: Taxonomy, meetings: Meetings, first: list[int], second: list[int]) -> FloatArray:
        first_content, second_content = content[first], content[second]
        informative = (first_content > 0) & (second_content > 0)
        total = np.where(informative, first_content + second_content, 1.0)
        return np.where(informative, 2.0 * _shared(meetings, content) / total, 0.0)

    return in_trees(wordnet, senses1, senses2, score)


def jcn(wordnet: WordNet, senses1: Sequence[Sense], senses2: Sequence[Sense]) -> FloatArray:
    """One over the information that is not shared; 0 when a sense has none."""
    information = information_of(wordnet)
    content = information.content
    end_of_nouns = wordnet.part_range("n")[1]

    def score(_t: Taxonomy, meetings: Meetings, first: list[int], second: list[int]) -> FloatArray:
        first_content, second_content = content[first], content[second]
        informative = (first_content > 0) & (second_content > 0)
        apart = first_content + second_content - 2.0 * _shared(meetings, content)
        noun = np.array(first) < end_of_nouns
        top = np.where(noun, jcn_maximum(wordnet, "n"), jcn_maximum(wordnet, "v"))
        value = np.where(apart == 0, top, 1.0 / np.where(apart == 0, 1.0, apart))
        return np.where(informative, value, 0.0)

    return in_trees(wordnet, senses1, senses2, score)


def jcn_maximum(wordnet: WordNet, part: str = "n") -> float:
    """What JCN answers in place of infinity when all information is shared."""
    count = information_of(wordnet).root_count[part]
    if count <= _LEAST_COUNT:
        return 0.0
    return float(1.0 / -np.log((count - _LEAST_COUNT) / count))


def scale_res(
    wordnet: WordNet, values: FloatArray, senses1: Sequence[Sense], _right: object
) -> FloatArray:
    """By the content of a sense that was seen once, the largest there is."""
    counts = information_of(wordnet).root_count
    largest = np.array([np.log(max(counts[sense.part], np.e)) for sense in senses1])
    scaled: FloatArray = values / largest
    return scaled


def scale_jcn(_wordnet: WordNet, values: FloatArray, _left: object, _right: object) -> FloatArray:
    """1 / (1 + distance), as PATH is 1 / (1 + links)."""
    return values / (1.0 + values)


_COUNT_NEEDS = frozenset({"wordnet", "tag counts"})

INFORMATION_METHODS = (
    Method(
        name="RES",
        title="Resnik",
        formula=r"\mathrm{IC}(c),\quad \mathrm{IC}(x)=-\log\frac{n(x)}{n(\mathrm{root})}",
        source=Source("resnik-1995", "WordNet::Similarity 2.05, res"),
        thesis="4.5.1",
        family="wordnet",
        range=(0.0, float("inf")),
        symmetric=True,
        needs=_COUNT_NEEDS,
        reads="lexicon",
        score=res,
        scale=scale_res,
        summary="Information content of the most informative common ancestor.",
        undefined="senses without a SemCor count below them have content 0",
    ),
    Method(
        name="JCN",
        title="Jiang and Conrath",
        formula=r"\frac{1}{\mathrm{IC}(a)+\mathrm{IC}(b)-2\,\mathrm{IC}(c)}",
        source=Source("jiang-conrath-1997", "WordNet::Similarity 2.05, jcn"),
        thesis="4.5.1",
        family="wordnet",
        range=(0.0, float("inf")),
        symmetric=True,
        needs=_COUNT_NEEDS,
        reads="lexicon",
        score=jcn,
        scale=scale_jcn,
        summary="One over the information that two senses do not share.",
        undefined="a sense without a count: 0; nothing unshared: a finite maximum, "
        "1 / -log((n - 0.01) / n) with n the count of the root",
    ),
    Method(
        name="LIN",
        title="Lin",
        formula=r"\frac{2\,\mathrm{IC}(c)}{\mathrm{IC}(a)+\mathrm{IC}(b)}",
        source=Source("lin-1998", "WordNet::Similarity 2.05, lin"),
        thesis="4.5.1",
        family="wordnet",
        range=(0.0, 1.0),
        symmetric=True,
        needs=_COUNT_NEEDS,
        reads="lexicon",
        score=lin,
        summary="Shared information over the information of both senses.",
        undefined="a sense without a count: 0",
    ),
)


STRONG = 16.0
_CONSTANT = 8
_LONGEST = 5
_UP = ("hypernym", "meronym")
_DOWN = ("holonym", "hyponym", "entailment", "cause")
# How many pairs of senses one dense block of results may hold.
_CHAIN_BLOCK = 4_000_000


def hso(wordnet: WordNet, senses1: Sequence[Sense], senses2: Sequence[Sense]) -> FloatArray:
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

    def at(self, synsets: IntArray) -> Any:
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


def _chains(wordnet: WordNet, first: IntArray, second: IntArray) -> FloatArray:
    """The best chain of each pair (first[k], second[k]), 0 where there is none."""
    if "hso" not in wordnet.derived:
        wordnet.derived["hso"] = _Steps(wordnet)
    steps: _Steps = wordnet.derived["hso"]
    rows, row_of = np.unique(first, return_inverse=True)
    order = np.argsort(row_of, kind="stable")
    values = np.zeros(len(first))
    # A block takes as many rows as its dense result allows, and only the columns they need.
    height = max(1, _CHAIN_BLOCK // max(1, len(np.unique(second))))
    for start in range(0, len(rows), height):
        low, high = np.searchsorted(row_of[order], [start, start + height])
        pairs = order[low:high]
        columns, column_of = np.unique(second[pairs], return_inverse=True)
        best = _best_chains(steps, rows[start : start + height], columns)
        values[pairs] = best[row_of[pairs] - start, column_of]
    return values


def _best_chains(steps: _Steps, rows: IntArray, columns: IntArray) -> FloatArray:
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


def _rises(steps: _Steps, rows: IntArray) -> Iterator[tuple[str, int, Any]]:
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


CHAIN_METHODS = (
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

METHODS = (*PATH_METHODS, *INFORMATION_METHODS, *CHAIN_METHODS)
