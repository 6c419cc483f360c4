"""Relatedness from Python: one call for pairs, one for a cost map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

from cranfield.data.costmap import CostMap
from cranfield.errors import UsageError, suggest
from cranfield.relatedness import parse_methods
from cranfield.relatedness._spec import Method
from cranfield.relatedness.concepts import NOUNS_FIRST, Lexicon, read_mapping
from cranfield.relatedness.costmaps import cost_maps
from cranfield.relatedness.counts import HitCounts
from cranfield.relatedness.links import InLinks
from cranfield.relatedness.scoring import PairScores, Resources, score_pairs
from cranfield.relatedness.wordnet import open_wordnet


class Sources(TypedDict, total=False):
    """What methods read. WordNet's: `wordnet` is the folder of the database (default: the one
    that is installed), `pos` the parts of speech of plain words, `mapping` the words that stand
    for concepts, `stop_words` leaves function words out of LESK, `jobs` bounds its threads. The
    others read `counts`, `links` or `tree` (an ontology's cost map).
    """

    wordnet: str | Path
    pos: str
    mapping: Mapping[str, str] | str | Path
    stop_words: bool
    jobs: int
    counts: HitCounts
    links: InLinks
    tree: CostMap


def relatedness(
    pairs: Sequence[tuple[str, str]], method: str = "WUP", **sources: Unpack[Sources]
) -> PairScores:
    """How close the concepts of each pair are, and the senses that decided it.

    The keywords are those of `Sources`: wordnet, pos, mapping, stop_words, jobs, counts, links,
    tree.
    """
    chosen = _one(method)
    return score_pairs([chosen], pairs, _resources(chosen, sources))[0]


def cost_map(concepts: Sequence[str], method: str = "WUP", **sources: Unpack[Sources]) -> CostMap:
    """What it costs to confuse any two of the concepts: 1 - relatedness, scaled to [0, 1].

    The keywords are those of `relatedness`.
    """
    chosen = _one(method)
    return cost_maps([chosen], concepts, _resources(chosen, sources))[0].costs


def _one(method: str) -> Method:
    chosen = parse_methods(method)
    if len(chosen) != 1:
        raise UsageError(f"one method at a time, not {method!r}")
    return chosen[0]


def _resources(method: Method, sources: Sources) -> Resources:
    for name in sources:
        if name not in Sources.__annotations__:
            raise UsageError(
                f"no keyword {name!r}.{suggest(name, Sources.__annotations__)} There are: "
                f"{', '.join(Sources.__annotations__)}"
            )
    jobs = sources.get("jobs", 1)
    if jobs < 1:
        raise UsageError(f"jobs={jobs}: expected a number of threads from 1 on")
    lexicon = None
    if method.family == "wordnet":
        mapping = sources.get("mapping", {})
        words = read_mapping(mapping) if isinstance(mapping, str | Path) else mapping
        database = open_wordnet(sources.get("wordnet"))
        lexicon = Lexicon(database, sources.get("pos", NOUNS_FIRST), words)
    return Resources(
        lexicon=lexicon,
        counts=sources.get("counts"),
        links=sources.get("links"),
        tree=sources.get("tree"),
        jobs=jobs,
        stop_words=sources.get("stop_words", False),
    )
