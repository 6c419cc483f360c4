"""RES, JCN and LIN: relatedness as the information that two senses share.

The information content of a synset is -log of the share of SemCor's tagged words that fall on it
or below it. A count is passed up every link, so a synset below two hypernyms that meet again is
counted once per path, as in the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import NeedsError
from cranfield.relatedness._spec import Method, Source
from cranfield.relatedness.paths import Scores, in_trees, pair_starts
from cranfield.relatedness.taxonomy import Meetings, Taxonomy
from cranfield.relatedness.wordnet import Sense, WordNet

_LEAST_COUNT = 0.01  # by how much less than the root a synset counts for JCN's greatest value


@dataclass(frozen=True, slots=True)
class Information:
    """The information content of every synset and of the virtual roots (the last two entries).

    Zero where nothing was counted: no data is not infinite information.
    """

    content: NDArray[np.float64]
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
    tops: NDArray[np.bool_], source: NDArray[np.int64], targets: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """The synsets below a top one: all but a circle of verbs that has no way to the root."""
    reached = tops.copy()
    while True:
        extended = reached.copy()
        extended[targets[reached[source]]] = True
        if np.array_equal(extended, reached):
            return reached
        reached = extended


def _shared(meetings: Meetings, content: NDArray[np.float64]) -> Scores:
    return np.maximum.reduceat(content[meetings.node], pair_starts(meetings.pair))


def res(wordnet: WordNet, senses1: Sequence[Sense], senses2: Sequence[Sense]) -> Scores:
    """The information content of the most informative meeting."""
    content = information_of(wordnet).content
    return in_trees(wordnet, senses1, senses2, lambda _t, m, _a, _b: _shared(m, content))


def lin(wordnet: WordNet, senses1: Sequence[Sense], senses2: Sequence[Sense]) -> Scores:
    """Shared information over the information of both senses; 0 when one has none."""
    content = information_of(wordnet).content

    def score(_t: Taxonomy, meetings: Meetings, first: list[int], second: list[int]) -> Scores:
        first_content, second_content = content[first], content[second]
        informative = (first_content > 0) & (second_content > 0)
        total = np.where(informative, first_content + second_content, 1.0)
        return np.where(informative, 2.0 * _shared(meetings, content) / total, 0.0)

    return in_trees(wordnet, senses1, senses2, score)


def jcn(wordnet: WordNet, senses1: Sequence[Sense], senses2: Sequence[Sense]) -> Scores:
    """One over the information that is not shared; 0 when a sense has none."""
    information = information_of(wordnet)
    content = information.content
    end_of_nouns = wordnet.part_range("n")[1]

    def score(_t: Taxonomy, meetings: Meetings, first: list[int], second: list[int]) -> Scores:
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


def scale_res(wordnet: WordNet, values: Scores, senses1: Sequence[Sense], _right: object) -> Scores:
    """By the content of a sense that was seen once, the largest there is."""
    counts = information_of(wordnet).root_count
    largest = np.array([np.log(max(counts[sense.part], np.e)) for sense in senses1])
    scaled: Scores = values / largest
    return scaled


def scale_jcn(_wordnet: WordNet, values: Scores, _left: object, _right: object) -> Scores:
    """1 / (1 + distance), as PATH is 1 / (1 + links)."""
    return values / (1.0 + values)


_NEEDS = frozenset({"wordnet", "tag counts"})

METHODS = (
    Method(
        name="RES",
        title="Resnik",
        formula=r"\mathrm{IC}(c),\quad \mathrm{IC}(x)=-\log\frac{n(x)}{n(\mathrm{root})}",
        source=Source("resnik-1995", "WordNet::Similarity 2.05, res"),
        thesis="4.5.1",
        family="wordnet",
        range=(0.0, float("inf")),
        symmetric=True,
        needs=_NEEDS,
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
        needs=_NEEDS,
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
        needs=_NEEDS,
        reads="lexicon",
        score=lin,
        summary="Shared information over the information of both senses.",
        undefined="a sense without a count: 0",
    ),
)
