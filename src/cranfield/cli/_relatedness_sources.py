"""What `cranfield relatedness` reads for its methods, by the options given."""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from cranfield.cli._common import Watch
from cranfield.errors import UsageError
from cranfield.io.files import can_be_read_again

if TYPE_CHECKING:
    from cranfield.relatedness._spec import Method
    from cranfield.relatedness.concepts import Lexicon
    from cranfield.relatedness.costmaps import ScoredMap
    from cranfield.relatedness.counts import HitCounts
    from cranfield.relatedness.scoring import PairScores, Resources

T = TypeVar("T")

# The options that only one family of methods reads.
_READ_BY = {
    "wordnet": ("wordnet", "mapping", "stop_words"),
    "counts": ("counts", "tags", "save_counts", "provider"),
    "links": ("links", "articles"),
    "ontology": ("ontology",),
}


def unread_options(args: argparse.Namespace, methods: Sequence[Method]) -> list[str]:
    """A warning if options are given that no method asked for reads."""
    families = {method.family for method in methods}
    unread = [
        f"--{name.replace('_', '-')}"
        for family, names in _READ_BY.items()
        if family not in families
        for name in names
        if getattr(args, name)
    ]
    if not unread:
        return []
    asked = ", ".join(method.name for method in methods)
    return [f"{', '.join(unread)} not read: no use to {asked} (choose others with --method)"]


def concepts_of(source: str) -> tuple[str, ...]:
    """The concepts of a file, or of an ontology that is built in."""
    from cranfield.ontologies import BUILT_IN, built_in
    from cranfield.relatedness.concepts import check_name, read_concepts

    if source in BUILT_IN:
        return built_in(source).concepts
    check_name(source, BUILT_IN, "list of concepts")
    return read_concepts(source)


def score_with(
    args: argparse.Namespace, methods: Sequence[Method], pairs: Sequence[tuple[str, str]]
) -> list[PairScores]:
    """The pairs scored by every method."""
    from cranfield.relatedness.scoring import score_pairs

    names = [name for pair in pairs for name in pair]
    return _in_groups(args, methods, names, lambda m, r: score_pairs(m, pairs, r))


def map_with(
    args: argparse.Namespace, methods: Sequence[Method], concepts: Sequence[str]
) -> list[ScoredMap]:
    """The cost map of every method."""
    from cranfield.relatedness.costmaps import cost_maps

    return _in_groups(args, methods, concepts, lambda m, r: cost_maps(m, concepts, r))


def _in_groups(
    args: argparse.Namespace,
    methods: Sequence[Method],
    names: Sequence[str],
    work: Callable[[Sequence[Method], Resources], list[T]],
) -> list[T]:
    """Methods that read the same things are worked on together."""
    groups: dict[str, list[Method]] = {}
    for method in methods:
        # FCS counts more of a corpus than the others do.
        kind = method.family + (" and text" if method.name == "FCS" else "")
        groups.setdefault(kind, []).append(method)
    _check_counting(args, groups)
    found: dict[str, T] = {}
    done = [0.0]
    for kind, members in groups.items():
        with Watch("relating", lambda: done[0], quiet=args.quiet):
            results = _one_group(args, members, kind, names, work, partial(done.__setitem__, 0))
        found.update(zip((m.name for m in members), results, strict=True))
    return [found[method.name] for method in methods]


def _one_group(
    args: argparse.Namespace,
    methods: Sequence[Method],
    kind: str,
    names: Sequence[str],
    work: Callable[[Sequence[Method], Resources], list[T]],
    progress: Callable[[float], None],
) -> list[T]:
    resources = replace(_resources(args, kind, names, progress), progress=progress)
    try:
        return work(methods, resources)
    finally:
        # Answers of a live source cost time: what was learnt is kept even if the rest fails.
        if args.provider and resources.counts is not None:
            resources.counts.save()  # type: ignore[attr-defined]


def _check_counting(args: argparse.Namespace, groups: Mapping[str, Sequence[Method]]) -> None:
    """A corpus is counted once with its text and once without, if methods want both."""
    ways = sum(kind.startswith("counts") for kind in groups)
    if args.save_counts and not (args.tags and ways):
        raise UsageError(
            "--save-counts keeps what NWD, FTS, FCS or COOC count on --tags, and there is no such "
            "method or no --tags"
        )
    if ways < 2 or not args.tags:
        return
    if args.save_counts:
        raise UsageError("--save-counts keeps counts with text or without: ask for FCS by itself")
    if not can_be_read_again(args.tags):
        raise UsageError("FCS reads --tags once more, which a pipe cannot: ask for it by itself")


def _resources(
    args: argparse.Namespace, kind: str, names: Sequence[str], progress: Callable[[float], None]
) -> Resources:
    from cranfield.relatedness.scoring import Resources

    if kind == "wordnet":
        return Resources(lexicon=_lexicon(args), jobs=args.jobs, stop_words=args.stop_words)
    if kind == "links":
        if args.links is None:
            return Resources()
        from cranfield.relatedness.links import read_links

        return Resources(
            links=read_links(args.links, names, articles=args.articles, progress=progress)
        )
    if kind == "ontology":
        if args.ontology is None:
            return Resources()
        from cranfield.io.ontology import read_ontology

        return Resources(tree=read_ontology(args.ontology).cost_map)
    return Resources(counts=_counts(args, names, progress, text=kind.endswith("text")))


def _lexicon(args: argparse.Namespace) -> Lexicon:
    from cranfield.relatedness.concepts import Lexicon, read_mapping
    from cranfield.relatedness.wordnet import open_wordnet

    mapping = read_mapping(args.mapping) if args.mapping else {}
    return Lexicon(open_wordnet(args.wordnet), args.pos, mapping)


def _counts(
    args: argparse.Namespace,
    names: Sequence[str],
    progress: Callable[[float], None],
    *,
    text: bool,
) -> HitCounts | None:
    if args.provider:
        return _live_counts(args)
    if args.tags and args.counts:
        raise UsageError("give --counts or --tags, not both: they say the same thing")
    if args.tags:
        return _counted_tags(args, names, progress, text=text)
    if args.counts:
        from cranfield.io.counts import read_counts

        return read_counts(args.counts)
    return None


def _counted_tags(
    args: argparse.Namespace,
    names: Sequence[str],
    progress: Callable[[float], None],
    *,
    text: bool,
) -> HitCounts:
    from cranfield.io.counts import write_counts
    from cranfield.io.tags import read_tags
    from cranfield.relatedness.counts import count_tags

    columns = concepts_of(args.concepts) if args.concepts else ()
    items = read_tags(args.tags, concepts=columns, progress=progress)
    kind = "tags and text" if text else "tags"
    snapshot = count_tags(items, names, text=text, source=f"{args.tags}, {kind}")
    if args.save_counts:
        today = datetime.date.today().isoformat()
        write_counts(replace(snapshot, date=today), args.save_counts)
    return snapshot


def _live_counts(args: argparse.Namespace) -> HitCounts:
    from cranfield.relatedness.providers import read_provider

    if not args.counts:
        raise UsageError("--provider needs --counts FILE, where the answers are remembered")
    return read_provider(args.provider, remember=args.counts)
