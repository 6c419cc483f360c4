"""Hit counts from a live source: a search engine or a photo site, asked gently and only once.

A provider is anything with `total` and `hits(*terms)`. This file has one for services that answer
a web address with JSON, and two wrappers: one that waits between questions, one that remembers
the answers in a file, so that a study can be repeated when the service has changed or gone.
"""

from __future__ import annotations

import datetime
import json
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from http.client import HTTPException
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from cranfield.data.costmap import CostMap
from cranfield.data.counts import Snapshot, normalise_term
from cranfield.data.ontology import Ontology
from cranfield.errors import InputError, NeedsError, UsageError, check_counts, suggest
from cranfield.io.concepts import read_concepts, read_mapping
from cranfield.io.counts import (
    ProviderSettings,
    read_counts,
    read_provider,
    read_tagged_items,
    write_counts,
)
from cranfield.io.files import can_be_read_again
from cranfield.io.ontology import read_ontology
from cranfield.notes import Progress
from cranfield.relatedness import Method
from cranfield.relatedness.counts import HitCounts, count_tags
from cranfield.relatedness.links import InLinks, LinkVectors, read_link_vectors, read_links
from cranfield.relatedness.scoring import NOUNS_FIRST, Lexicon, Resources, Tree
from cranfield.relatedness.wordnet_database import open_wordnet

Fetch = Callable[[str], bytes]

_TIMEOUT = 30.0
# An answer with a number of hits is short, however many results it lists.
_MOST_BYTES = 4 << 20


class UrlProvider:
    """A service that answers a web address with JSON that holds the number of hits."""

    def __init__(self, settings: ProviderSettings, *, fetch: Fetch | None = None) -> None:
        self.name, self.total = settings.name, settings.total
        self._url, self._join = settings.url, settings.join
        self._count = settings.count.split(".")
        self._fetch = fetch or _download

    def hits(self, *terms: str) -> int:
        query = urllib.parse.quote(self._join.join(map(normalise_term, terms)), safe="")
        try:
            data = self._fetch(self._url.replace("{query}", query))
            if len(data) > _MOST_BYTES:
                raise NeedsError(
                    f"the answer of {self.name} for {' and '.join(terms)} has more than "
                    f"{_MOST_BYTES:,} bytes, the most that is read"
                )
            answer: Any = json.loads(data)
            for key in self._count:
                answer = answer[int(key)] if isinstance(answer, list) else answer[key]
            count = int(answer)
        except (OSError, HTTPException) as error:
            raise NeedsError(f"{self.name} does not answer: {error}") from None
        except RecursionError:
            raise NeedsError(
                f"the answer of {self.name} for {' and '.join(terms)} is nested too deep"
            ) from None
        except (ValueError, KeyError, IndexError, TypeError, OverflowError):
            raise NeedsError(
                f"the answer of {self.name} for {' and '.join(terms)} has no number at "
                f"{'.'.join(self._count)}"
            ) from None
        if not 0 <= count <= self.total:
            raise NeedsError(
                f"{self.name} counts {count} for {' and '.join(terms)}, expected 0 to "
                f"{self.total}, the total of its file; set total to the size of the corpus"
            )
        return count


def _download(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=_TIMEOUT) as answer:
        # One byte more tells that there is more.
        data: bytes = answer.read(_MOST_BYTES + 1)
    return data


class RateLimited:
    """A provider that is asked at most once in `seconds`."""

    def __init__(
        self,
        provider: HitCounts,
        *,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._provider, self._seconds = provider, seconds
        self._clock, self._sleep = clock, sleep
        self._next = -float("inf")

    @property
    def total(self) -> int:
        return self._provider.total

    def hits(self, *terms: str) -> int:
        wait = self._next - self._clock()
        if wait > 0:
            self._sleep(wait)
        self._next = self._clock() + self._seconds
        return self._provider.hits(*terms)


class RememberedCounts:
    """A provider whose answers are kept in a counts file, and asked for only once.

    `save` writes the file; it is written even when the provider fails half-way, so that the
    next attempt goes on from there.
    """

    def __init__(self, provider: HitCounts, path: str | Path, *, source: str) -> None:
        self._provider, self._path, self._source = provider, Path(path), source
        saved = read_counts(path) if self._path.exists() else None
        if saved and saved.total != provider.total:
            raise InputError.single(
                str(path),
                f"counts of a corpus of {saved.total}, but {source} has "
                f"{provider.total} now; start a new file for its counts",
            )
        self._single: dict[str, int] = dict(saved.single) if saved else {}
        self._joint: dict[frozenset[str], int] = dict(saved.joint) if saved else {}
        self._date = saved.date if saved else datetime.date.today().isoformat()
        self.total = provider.total

    def hits(self, *terms: str) -> int:
        names = frozenset(map(normalise_term, terms))
        if len(names) == 1:
            (name,) = names
            if name not in self._single:
                self._single[name] = self._provider.hits(name)
            return self._single[name]
        if names not in self._joint:
            self._joint[names] = self._provider.hits(*sorted(names))
        return self._joint[names]

    def save(self) -> None:
        if self._single:
            write_counts(
                Snapshot(self.total, self._single, self._joint, self._source, self._date),
                self._path,
            )


def remembered_provider(path: str | Path, *, remember: str | Path) -> RememberedCounts:
    """The provider that a TOML file describes, asked gently, its answers kept in a counts file."""
    settings = read_provider(path)
    gentle = RateLimited(UrlProvider(settings), seconds=settings.seconds)
    return RememberedCounts(gentle, remember, source=settings.name)


File = str | Path
T = TypeVar("T")

# The parameters that only some families of methods read.
_READ_BY = {
    "wordnet": ("wordnet",),
    "mapping": ("wordnet", "ontology"),
    "stop_words": ("wordnet",),
    "counts": ("counts",),
    "tags": ("counts",),
    "save_counts": ("counts",),
    "provider": ("counts",),
    "links": ("links",),
    "articles": ("links",),
    "ontology": ("ontology",),
}
_COUNTING = "NWD, FTS, FCS or COOC"


class SourceOptions(TypedDict, total=False):
    """What methods read, as keywords; `Sources` says what they mean."""

    wordnet: File | None
    pos: str
    mapping: Mapping[str, str] | File | None
    stop_words: bool
    counts: HitCounts | File | Mapping[str, HitCounts | File] | None
    tags: File | Mapping[str, File] | None
    columns: Sequence[str] | File
    save_counts: File | None
    provider: File | None
    links: InLinks | LinkVectors | File | None
    articles: int | None
    ontology: Ontology | CostMap | File | None
    jobs: int


@dataclass(frozen=True, kw_only=True)
class Sources:
    """What methods read.

    `wordnet` is the folder of the database (default: the one that is installed), `pos` the parts
    of speech of plain words, `mapping` what stands for names that a source does not know (words
    for WordNet, concepts for an ontology), `stop_words` leaves function words out of LESK, `jobs`
    bounds its threads. Counts come from `counts` (a file or an object), from `tags`, a corpus
    that is counted (`columns` names its columns where it has no header, `save_counts` keeps what
    was counted), or from `provider`, a live source whose answers are remembered in the file
    `counts`. Several counts or corpora are given by name: each method that counts is then worked
    out on each of them. `links` is a link table or its in-links, `articles` the number of articles
    behind it, `ontology` a name, a file, an ontology or a cost map.
    """

    wordnet: File | None = None
    pos: str = NOUNS_FIRST
    mapping: Mapping[str, str] | File | None = None
    stop_words: bool = False
    counts: HitCounts | File | Mapping[str, HitCounts | File] | None = None
    tags: File | Mapping[str, File] | None = None
    columns: Sequence[str] | File = ()
    save_counts: File | None = None
    provider: File | None = None
    links: InLinks | LinkVectors | File | None = None
    articles: int | None = None
    ontology: Ontology | CostMap | File | None = None
    jobs: int = 1

    @classmethod
    def of(cls, options: SourceOptions) -> Sources:
        """Sources from keywords; a UsageError for one that there is not."""
        names = [f.name for f in fields(cls)]
        for name in options:
            if name not in names:
                raise UsageError(
                    f"no keyword {name!r}.{suggest(name, names)} There are: {', '.join(names)}"
                )
        sources = cls(**{name: _unnamed(source) for name, source in options.items()})
        check_counts(jobs=sources.jobs, articles=sources.articles)
        return sources

    def apart(self, methods: Sequence[Method]) -> list[tuple[str, Sources, list[Method]]]:
        """Methods by what they count on: (name of the source, the sources, methods)."""
        named_sources = {
            n: g for n in ("counts", "tags") if isinstance(g := getattr(self, n), Mapping)
        }
        if not named_sources:
            return [("", self, list(methods))]
        if self.provider or self.save_counts or len(named_sources) > 1:
            raise UsageError(
                "several sources by name are counts= or tags=, without provider= and save_counts="
            )
        ((kind, sources),) = named_sources.items()
        counting = [m for m in methods if m.family == "counts"]
        others = [m for m in methods if m.family != "counts"]
        parts = [("", replace(self, counts=None, tags=None), others)] if others else []
        for name, source in sources.items():
            part = replace(self, counts=source) if kind == "counts" else replace(self, tags=source)
            parts.append((name, part, counting))
        return parts

    def shared(self, methods: Sequence[Method]) -> list[str]:
        """A note where methods come from one source: that they agree says little."""
        counting = [str(m) for m in methods if m.family == "counts"]
        source = self.tags or self.counts
        if len(counting) < 2 or source is None:
            return []
        place = f" ({source})" if isinstance(source, str | Path) else ""
        return [
            f"{', '.join(counting)} are counted on one source{place}: that they agree says little"
        ]

    def unread(self, methods: Sequence[Method]) -> list[str]:
        """A note if something is given that no method asked for reads."""
        families = {method.family for method in methods}
        options = [
            f"{name}="
            for name, readers in _READ_BY.items()
            if getattr(self, name) not in (None, False) and families.isdisjoint(readers)
        ]
        if not options:
            return []
        names = ", ".join(map(str, methods))
        return [f"{', '.join(options)} not read: no use to {names} (choose others with method=)"]


def _unnamed(source: Any) -> Any:
    """What was given by no name, as it is."""
    return source[""] if isinstance(source, Mapping) and list(source) == [""] else source


def with_sources(
    sources: Sources,
    methods: Sequence[Method],
    names: Sequence[str],
    work: Callable[[Sequence[Method], Resources], list[T]],
    progress: Progress,
) -> list[T]:
    """The work of all methods; those that read the same things are worked on together."""
    groups: dict[str, list[Method]] = {}
    for method in methods:
        groups.setdefault(method.reads, []).append(method)
    _check_counting(sources, groups)
    result_of: dict[Method, T] = {}
    for number, (kind, members) in enumerate(groups.items()):
        step = progress.part(number / len(groups), (number + 1) / len(groups))
        with _opened(sources, kind, names, step) as resources:
            results = work(members, replace(resources, progress=step))
        result_of.update(zip(members, results, strict=True))
    return [result_of[method] for method in methods]


def _check_counting(sources: Sources, groups: Mapping[str, Sequence[Method]]) -> None:
    """What is read in two ways, as a corpus with its text and without, must be there twice."""
    ways = sum(kind in ("counts", "text counts") for kind in groups)
    if sources.save_counts and not (sources.tags and ways):
        raise UsageError(
            f"save_counts= keeps what {_COUNTING} count on tags=, and there is no such method or "
            "no tags="
        )
    link_table = sources.links if isinstance(sources.links, str | Path) else None
    if "vectors" in groups and link_table and not can_be_read_again(link_table):
        raise UsageError("WIKI reads links= twice, which a pipe cannot: give a file")
    if {"links", "vectors"} <= set(groups) and not isinstance(sources.links, str | Path | None):
        raise UsageError("WLM and WIKI read links= in two ways: ask for each by itself")
    if ways < 2 or not sources.tags:
        return
    if sources.save_counts:
        raise UsageError("save_counts= keeps counts with text or without: ask for FCS by itself")
    if isinstance(sources.tags, str | Path) and not can_be_read_again(sources.tags):
        raise UsageError("FCS reads tags= once more, which a pipe cannot: ask for it by itself")


@contextmanager
def _opened(
    sources: Sources, kind: str, names: Sequence[str], progress: Progress
) -> Iterator[Resources]:
    counts: HitCounts | None = None
    if kind == "lexicon":
        resources = Resources(
            lexicon=_lexicon(sources), jobs=sources.jobs, stop_words=sources.stop_words
        )
    elif kind == "links":
        resources = Resources(links=_links(sources, names, progress))
    elif kind == "vectors":
        resources = Resources(vectors=_vectors(sources, names, progress))
    elif kind == "tree":
        resources = Resources(tree=_tree(sources))
    else:
        counts = _counts(sources, names, progress, text=kind == "text counts")
        resources = Resources(counts=counts)
    try:
        yield resources
    finally:
        # Answers of a live source cost time: what was learnt is kept even if the rest fails.
        if sources.provider and isinstance(counts, RememberedCounts):
            counts.save()


def _lexicon(sources: Sources) -> Lexicon:
    mapping = _mapping(sources, "words")
    return Lexicon(open_wordnet(sources.wordnet), sources.pos, mapping)


def _mapping(sources: Sources, to: str) -> Mapping[str, str]:
    mapping = sources.mapping
    if mapping is None:
        return {}
    if isinstance(mapping, str | Path):
        return read_mapping(mapping, to="words" if to == "words" else "concepts")
    return mapping


def _links(sources: Sources, names: Sequence[str], progress: Progress) -> InLinks | None:
    links = sources.links
    if isinstance(links, str | Path):
        return read_links(links, names, articles=sources.articles, progress=progress)
    return links if isinstance(links, InLinks) else None


def _vectors(sources: Sources, names: Sequence[str], progress: Progress) -> LinkVectors | None:
    links = sources.links
    if isinstance(links, str | Path):
        return read_link_vectors(links, names, articles=sources.articles, progress=progress)
    return links if isinstance(links, LinkVectors) else None


def _tree(sources: Sources) -> Tree | None:
    ontology = sources.ontology
    if ontology is None:
        return None
    if isinstance(ontology, str | Path):
        ontology = read_ontology(ontology)
    costs = ontology if isinstance(ontology, CostMap) else ontology.cost_map
    return Tree(costs, _mapping(sources, "concepts"))


def _counts(
    sources: Sources, names: Sequence[str], progress: Progress, *, text: bool
) -> HitCounts | None:
    counts, tags = sources.counts, sources.tags
    if isinstance(counts, Mapping) or isinstance(tags, Mapping):
        raise UsageError("several sources by name are for pairs: a cost map is made of one")
    if sources.provider:
        if not isinstance(counts, str | Path):
            raise UsageError("provider= needs counts=, a file where the answers are remembered")
        return remembered_provider(sources.provider, remember=counts)
    if tags:
        if counts is not None:
            raise UsageError("give counts= or tags=, not both: they say the same thing")
        return _counted_tags(tags, sources, names, progress, text=text)
    return read_counts(counts) if isinstance(counts, str | Path) else counts


def _counted_tags(
    tags: File, sources: Sources, names: Sequence[str], progress: Progress, *, text: bool
) -> HitCounts:
    columns = sources.columns
    if isinstance(columns, str | Path):
        columns = read_concepts(columns)
    items = read_tagged_items(tags, concepts=columns, progress=progress)
    kind = "tags and text" if text else "tags"
    snapshot = count_tags(items, names, text=text, source=f"{tags}, {kind}")
    if sources.save_counts:
        today = datetime.date.today().isoformat()
        write_counts(replace(snapshot, date=today), sources.save_counts)
    return snapshot
