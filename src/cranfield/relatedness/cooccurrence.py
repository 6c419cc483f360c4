"""COOC: relatedness as how often two concepts label the same item of a training set (No 4.5)."""

from __future__ import annotations

from cranfield.data.counts import normalise_term
from cranfield.relatedness._spec import Method, Source
from cranfield.relatedness.counts import HitCounts


def relatedness(counts: HitCounts, first: str, second: str) -> float:
    """Items with both concepts over items with either of them.

    >>> from cranfield.data.counts import Snapshot
    >>> counts = Snapshot(10, {"sea": 4, "sky": 5}, {frozenset({"sea", "sky"}): 3})
    >>> relatedness(counts, "Sea", "Sky")
    0.5
    """
    if normalise_term(first) == normalise_term(second):
        return 1.0
    first_hits, second_hits = counts.hits(first), counts.hits(second)
    # As for NWD: an estimated joint count may come out larger than a single one.
    joint_hits = min(counts.hits(first, second), first_hits, second_hits)
    either = first_hits + second_hits - joint_hits
    return joint_hits / either if either else 0.0


METHODS = (
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
        score=relatedness,
        parts="",
        summary="Items labelled with both concepts, over items labelled with either.",
        undefined="concepts without an item: 0",
    ),
)
