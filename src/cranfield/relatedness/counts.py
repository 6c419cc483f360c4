"""Relatedness as how often concepts occur together: NWD, FTS, FCS (No 4.1, 4.2), COOC (No 4.5).

The first three count words, tags or text in a corpus; COOC counts the items of a training set that
carry both labels.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Protocol

from cranfield.data.counts import Snapshot, TaggedItem, normalise_term
from cranfield.errors import UsageError
from cranfield.relatedness import Method, Source

_WORD = re.compile(r"[^\W_]+")  # letters and digits of any script


class HitCounts(Protocol):
    """Anything that knows how many documents of a corpus hold a word, or two words together."""

    @property
    def total(self) -> int:
        """The number of documents in the corpus."""

    def hits(self, *terms: str) -> int:
        """The number of documents that hold all the terms."""


def nwd(first: float, second: float, joint: float, total: float) -> float:
    """The normalised web distance (No 4.1); infinite for words that never occur together.

    Words in every document say nothing about each other; with both counts equal to the total
    their distance is 0, since they always occur together.

    >>> round(nwd(8, 4, 2, 16), 6)
    1.0
    """
    if not 0 <= joint <= min(first, second) or not max(first, second) <= total < math.inf:
        raise UsageError(
            f"counts {first}, {second}, together {joint} of {total} cannot be: expected "
            "together <= each <= total"
        )
    if joint == 0:
        return math.inf
    above = math.log(max(first, second)) - math.log(joint)
    below = math.log(total) - math.log(min(first, second))
    if below > 0:
        return above / below
    return 0.0 if above == 0 else math.inf


def relatedness(counts: HitCounts, first: str, second: str) -> float:
    """exp(-2 NWD) (No 4.2): 1 for words that always, 0 for words that never occur together."""
    if normalise_term(first) == normalise_term(second):
        return 1.0
    first_hits, second_hits = counts.hits(first), counts.hits(second)
    # Search engines estimate: a joint count may come out larger than a single one.
    joint_hits = min(counts.hits(first, second), first_hits, second_hits)
    return math.exp(
        -2.0 * nwd(first_hits, second_hits, joint_hits, max(counts.total, first_hits, second_hits))
    )


def count_tags(
    items: Iterable[TaggedItem], terms: Sequence[str], *, text: bool, source: str = ""
) -> Snapshot:
    """Hit counts of terms in a tag corpus, in one pass.

    A term counts when it is a tag (FTS), or with `text` also when the text holds its words one
    after the other (FCS).
    """
    vocabulary = list(dict.fromkeys(map(normalise_term, terms)))
    single = dict.fromkeys(vocabulary, 0)
    joint = {frozenset(pair): 0 for pair in combinations(vocabulary, 2)}
    total = 0
    for item in items:
        total += 1
        item_terms = [term for term in vocabulary if term in item.tags]
        if text and item.text:
            words = f" {' '.join(_WORD.findall(item.text.lower()))} "
            item_terms = [term for term in vocabulary if term in item.tags or f" {term} " in words]
        for term in item_terms:
            single[term] += 1
        for pair in combinations(item_terms, 2):
            joint[frozenset(pair)] += 1
    return Snapshot(total, single, joint, source)


_FORMULA = r"e^{-2\,\mathrm{NWD}},\quad \mathrm{NWD}=\frac{\max(\log h_x,\log h_y)-\log h_{xy}}{\log N-\min(\log h_x,\log h_y)}"  # noqa: E501


def _method(name: str, title: str, needs: str, summary: str, *, text: bool = False) -> Method:
    return Method(
        name=name,
        title=title,
        formula=_FORMULA,
        source=Source("nowak-thesis", "4.1, 4.2"),
        thesis="4.5.3",
        family="counts",
        range=(0.0, 1.0),
        symmetric=True,
        needs=frozenset({needs}),
        reads="text counts" if text else "counts",
        score=relatedness,
        summary=summary,
        parts="",
        undefined="a word that never occurs, or never with the other: 0",
    )


COUNT_METHODS = (
    _method(
        "NWD",
        "Normalised web distance",
        "counts",
        "exp(-2 NWD) from hit counts of any corpus or search engine.",
    ),
    _method("FTS", "Flickr tag similarity", "tags", "exp(-2 NWD) counted on the tags of items."),
    _method(
        "FCS",
        "Flickr context similarity",
        "tags",
        "exp(-2 NWD) counted on the tags and the text of items.",
        text=True,
    ),
)


def cooccurrence(counts: HitCounts, first: str, second: str) -> float:
    """Items with both concepts over items with either of them.

    >>> from cranfield.data.counts import Snapshot
    >>> counts = Snapshot(10, {"sea": 4, "sky": 5}, {frozenset({"sea", "sky"}): 3})
    >>> cooccurrence(counts, "Sea", "Sky")
    0.5
    """
    if normalise_term(first) == normalise_term(second):
        return 1.0
    first_hits, second_hits = counts.hits(first), counts.hits(second)
    # As for NWD: an estimated joint count may come out larger than a single one.
    joint_hits = min(counts.hits(first, second), first_hits, second_hits)
    either = first_hits + second_hits - joint_hits
    return joint_hits / either if either else 0.0


COOCCURRENCE_METHODS = (
    Method(
        name="COOC",
        title="Co-occurrence in a training set",
        formula=r"\frac{n_{xy}}{n_x+n_y-n_{xy}}",
        source=Source("nowak-thesis", "4.5", "the thesis gives no formula; this is Jaccard's"),
        thesis="4.5",
        family="counts",
        range=(0.0, 1.0),
        symmetric=True,
        needs=frozenset({"tags"}),
        reads="counts",
        score=cooccurrence,
        parts="",
        summary="Items labelled with both concepts, over items labelled with either.",
        undefined="concepts without an item: 0",
    ),
)

METHODS = (*COUNT_METHODS, *COOCCURRENCE_METHODS)
