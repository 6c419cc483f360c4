"""PATH, WUP and LCH: relatedness as the length of ways through the hypernym trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from cranfield.relatedness._spec import Method, Source
from cranfield.relatedness.taxonomy import Ints, Meetings, Taxonomy, comparable, taxonomy_of
from cranfield.relatedness.wordnet import Sense, WordNet

Scores = NDArray[np.float64]

# Pairs of senses that are worked on at a time: six million at once took 1.5 GB, so it is 0.3.
_PAIRS = 200_000
LCH_MAXIMUM = float(np.log(40.0))  # of nouns, whose deepest leaf has depth 20


def in_trees(
    wordnet: WordNet,
    senses1: Sequence[Sense],
    senses2: Sequence[Sense],
    score: Callable[[Taxonomy, Meetings, list[int], list[int]], Scores],
) -> Scores:
    """Scores of the pairs that hang in the same tree; NaN for the others."""
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


def pair_starts(pair: Ints) -> Ints:
    """Where the entries of each pair start; every pair has at least one."""
    return np.flatnonzero(np.diff(pair, prepend=-1))


def _synsets_between(meetings: Meetings) -> Scores:
    """The number of synsets on the shortest way, both ends counted."""
    links = np.minimum.reduceat(meetings.up + meetings.down, pair_starts(meetings.pair))
    return links.astype(np.float64) + 1.0


def path(wordnet: WordNet, senses1: Sequence[Sense], senses2: Sequence[Sense]) -> Scores:
    """One over the number of synsets on the shortest way."""
    return in_trees(wordnet, senses1, senses2, lambda _t, m, _a, _b: 1.0 / _synsets_between(m))


def lch(wordnet: WordNet, senses1: Sequence[Sense], senses2: Sequence[Sense]) -> Scores:
    """The shortest way, scaled by twice the greatest depth of its tree."""
    deepest = {part: greatest_depth(wordnet, part) for part in "nv"}

    def score(_t: Taxonomy, m: Meetings, first: list[int], _b: list[int]) -> Scores:
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


def wup(wordnet: WordNet, senses1: Sequence[Sense], senses2: Sequence[Sense]) -> Scores:
    """Twice the depth of the deepest meeting, over the depths of both senses through it."""
    return in_trees(wordnet, senses1, senses2, _wup)


def _wup(taxonomy: Taxonomy, meetings: Meetings, first: list[int], second: list[int]) -> Scores:
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


def _distances(taxonomy: Taxonomy, synsets: Ints, nodes: Ints) -> Ints:
    key = synsets * (int(nodes.max(initial=0)) + 1) + nodes
    _, at, inverse = np.unique(key, return_index=True, return_inverse=True)
    distances = [
        taxonomy.distance(int(s), int(n)) for s, n in zip(synsets[at], nodes[at], strict=True)
    ]
    return np.array(distances, np.int64)[inverse]


METHODS = (
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
