"""Vocabularies: how two of them differ, and what the tags of a collection would make of one.

Versions of one ontology (No 5.5.2, 5.5.3) differ by what was added, removed and moved and by their
rules; vocabularies of different collections (No Table 5.2) by what one covers of the other.
The analysis of tags (No 5.4, 5.5, 10.3) is of tags per item, tags that enough items share, their
classes in WordNet, what a lexicon covers of them, and proposals with their counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, ClassVar, TypeAlias, Unpack

from cranfield.answers import Answer
from cranfield.data.counts import TaggedItem, normalise_term
from cranfield.data.ontology import Ontology
from cranfield.errors import NeedsError, UsageError, check_counts
from cranfield.io.concepts import read_mapping
from cranfield.io.counts import read_tagged_items
from cranfield.io.files import describe
from cranfield.io.ontology import read_vocabulary
from cranfield.notes import with_progress
from cranfield.relatedness import Method
from cranfield.relatedness.api import Watcher, relate_pairs
from cranfield.relatedness.concept_sources import SourceOptions
from cranfield.relatedness.hierarchies import CategoryPart, count_categories
from cranfield.relatedness.scoring import ALTERNATIVE, Lexicon
from cranfield.relatedness.wordnet_database import BROAD_CLASSES, Sense, broad_class, open_wordnet
from cranfield.validation import validate_params

Vocabulary: TypeAlias = Ontology | Sequence[str] | str | Path
Rule: TypeAlias = tuple[str, tuple[str, ...]]
# Words of one synset, or of neighbouring ones deep in the hierarchy, by WUP.
NEAR = 0.9


@dataclass(frozen=True, slots=True)
class NearConcept:
    """A concept that the other vocabulary lacks, and the nearest one that it has."""

    concept: str
    nearest: str
    relatedness: float


@dataclass(frozen=True, slots=True)
class MovedConcept:
    """A concept of both that hangs at another place: the paths above it, before and after."""

    concept: str
    before: str
    after: str


@dataclass(frozen=True, repr=False, eq=False)
class VocabularyComparison(Answer):
    """What the second vocabulary shares with the first, what it lacks and what it adds.

    `near` has the concepts of the first that the second has nearly, by `method`; they are in
    `removed` too, because no name is kept. Categories are nodes that are no concepts.
    """

    command: ClassVar[str] = "ontology compare"
    table_maker: ClassVar[str] = "cranfield.report.tables.concepts:comparison_document"
    first: str
    second: str
    concepts: tuple[int, int]
    same: tuple[str, ...]
    near: tuple[NearConcept, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]
    moved: tuple[MovedConcept, ...]
    categories_removed: tuple[str, ...]
    categories_added: tuple[str, ...]
    rules_removed: tuple[Rule, ...]
    rules_added: tuple[Rule, ...]
    method: str | None = None

    @property
    def same_share(self) -> float:
        """The share of the first vocabulary that the second has by name."""
        return len(self.same) / self.concepts[0]

    @property
    def covered_share(self) -> float:
        """The share of the first vocabulary that the second has by name or nearly."""
        return (len(self.same) + len(self.near)) / self.concepts[0]

    def payload(self, **_: object) -> dict[str, Any]:
        """The counts and shares, then the names."""
        return {
            "a": self.first,
            "b": self.second,
            "concepts": list(self.concepts),
            "same": list(self.same),
            "same_share": self.same_share,
            "method": self.method,
            "near": [
                {"concept": n.concept, "nearest": n.nearest, "relatedness": n.relatedness}
                for n in self.near
            ],
            "covered_share": self.covered_share,
            "removed": list(self.removed),
            "added": list(self.added),
            "moved": [
                {"concept": m.concept, "before": m.before, "after": m.after} for m in self.moved
            ],
            "categories_removed": list(self.categories_removed),
            "categories_added": list(self.categories_added),
            "rules_removed": _listed(self.rules_removed),
            "rules_added": _listed(self.rules_added),
        }

    def headline(self) -> str:
        return (
            f"{self.first} and {self.second}: {len(self.same)} concepts in both, "
            f"{len(self.removed)} removed, {len(self.added)} added, {len(self.moved)} moved"
        )


def _listed(rules: Sequence[Rule]) -> list[dict[str, Any]]:
    return [{"rule": kind, "concepts": list(names)} for kind, names in rules]


@validate_params
@with_progress
def compare_vocabularies(
    first: Vocabulary,
    second: Vocabulary,
    *,
    method: str | Method | None = None,
    near: float = NEAR,
    rules: tuple[str | Path | None, str | Path | None] = (None, None),
    progress: Watcher = None,
    **sources: Unpack[SourceOptions],
) -> VocabularyComparison:
    """Put two vocabularies side by side: ontologies, built-in names, files or lists of names.

    Names are the same without regard to case and to underscores. With a `method` of relatedness,
    which reads `sources`, concepts that the second lacks are near when one of its concepts is
    related by at least `near`. `rules` are TOML files with the rules of the two.

    >>> found = compare_vocabularies("pto-2009", "pto-2010")
    >>> len(found.same), found.removed, len(found.added)
    (52, ('Canvas',), 41)
    """
    if len(rules) != 2:
        raise UsageError("rules are two files or None: those of the first and of the second")
    if not 0 <= near <= 1:
        raise UsageError(f"near={near} is not in [0, 1]")
    a, b = (_vocabulary(v, r) for v, r in zip((first, second), rules, strict=True))
    name_in_a, name_in_b = ({normalise_term(c): c for c in o.concepts} for o in (a, b))
    same = {c: name_in_b[normalise_term(c)] for c in a.concepts if normalise_term(c) in name_in_b}
    removed = tuple(c for c in a.concepts if c not in same)
    close: tuple[NearConcept, ...] = ()
    notes: tuple[str, ...] = ()
    if method is not None and removed:
        pairs = [(c, candidate) for c in removed for candidate in b.concepts]
        related = relate_pairs(pairs, method, progress=progress, **sources)
        notes = related.notes
        close = tuple(_near(related.result().pairs, len(b.concepts), near))
    elif method is None and sources:
        raise UsageError(f"{next(iter(sources))}= is read by a method of relatedness: add method=")
    flat = [o.name for o in (a, b) if not any(o.parents)]
    if flat:
        notes = (
            *notes,
            f"{' and '.join(flat)}: no structure, so places and categories are not compared",
        )
    gone, come = ((), ()) if flat else _without_common(_categories(a), _categories(b))
    old_rules, new_rules = _without_common(_rules(a), _rules(b))
    return VocabularyComparison(
        a.name,
        b.name,
        (len(a.concepts), len(b.concepts)),
        tuple(same),
        close,
        removed,
        tuple(c for c in b.concepts if normalise_term(c) not in name_in_a),
        () if flat else tuple(_moved(a, b, same)),
        gone,
        come,
        old_rules,
        new_rules,
        None if method is None else str(method),
        notes=notes,
    )


def _vocabulary(vocabulary: Vocabulary, rules: str | Path | None) -> Ontology:
    if isinstance(vocabulary, str | Path):
        return read_vocabulary(vocabulary, rules=rules)
    if rules is not None:
        raise UsageError("rules= belongs to a vocabulary that is read from a file")
    return vocabulary.checked() if isinstance(vocabulary, Ontology) else Ontology.flat(vocabulary)


def _near(pairs: Sequence[Any], width: int, threshold: float) -> Iterator[NearConcept]:
    """The nearest partner of each concept, whose pairs stand one after the other."""
    for start in range(0, len(pairs), width):
        row = [p for p in pairs[start : start + width] if p.relatedness is not None]
        best = max(row, key=lambda p: p.relatedness, default=None)
        # The last bits of a measure's value are no reason to leave a concept out.
        if best is not None and best.relatedness >= threshold - 1e-12:
            yield NearConcept(best.word1, best.word2, best.relatedness)


def _moved(a: Ontology, b: Ontology, same: dict[str, str]) -> Iterator[MovedConcept]:
    for old, new in same.items():
        before, after = _place(a, old), _place(b, new)
        if before != after:
            yield MovedConcept(old, before[0], after[0])


def _place(ontology: Ontology, concept: str) -> tuple[str, frozenset[str]]:
    """Where a concept hangs: in words, and the names of all nodes above it.

    A graph can have more ways up than can be shown: one for each parent, all nodes compared.
    """
    node = ontology.concept_nodes[concept]
    ways = []
    for parent in ontology.parents[node]:
        route = [parent]
        while ontology.parents[route[0]]:
            route.insert(0, ontology.parents[route[0]][0])
        ways.append(" > ".join(_short(ontology, n) for n in route))
    above = frozenset(_short(ontology, n) for n in ontology.nodes_above[node])
    return " | ".join(sorted(ways)) or "(top)", above


def _short(ontology: Ontology, node: int) -> str:
    """The own name of a node, without the path that may be part of it."""
    return ontology.concept_at.get(node, ontology.nodes[node].rsplit(".", 1)[-1])


def _categories(ontology: Ontology) -> tuple[str, ...]:
    return tuple(n for i, n in enumerate(ontology.nodes) if i not in ontology.concept_at)


def _rules(ontology: Ontology) -> tuple[Rule, ...]:
    """The rules as they are compared: the order of their members is of no effect."""
    rules = [(kind, tuple(sorted(members))) for kind, members in ontology.rules.groups()]
    rules += [
        (f"{r.concept} requires one of", tuple(sorted(r.any_of))) for r in ontology.rules.requires
    ]
    return tuple(rules)


def _without_common(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, Any]:
    """What only one of two has, in its order."""
    return tuple(x for x in first if x not in second), tuple(x for x in second if x not in first)


# Tags in at least 20 images (No 10.3).
MIN_ITEMS = 20
UNKNOWN = "not in WordNet"


@dataclass(frozen=True, slots=True)
class TagClass:
    """A class of tags: how many there are, and how often they were given."""

    name: str
    tags: int
    assignments: int


@dataclass(frozen=True, slots=True)
class TagCount:
    """A tag and the number of items that have it; `kind` is its class in WordNet."""

    tag: str
    items: int
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class LexiconPart:
    """A part of a lexicon, and how much of the corpus its concepts are tags of."""

    part: CategoryPart
    tagged_concepts: int
    items: int


@dataclass(frozen=True, repr=False, eq=False)
class TagCorpus(Answer):
    """A tag corpus in figures.

    `classes` and the kinds of tags are there with WordNet only. `lexicon` has the parts of a
    vocabulary; `proposals` are the tags of enough items that are no concept of it.
    """

    command: ClassVar[str] = "tags"
    table_maker: ClassVar[str] = "cranfield.report.tables.concepts:tags_document"
    corpus: str
    items: int
    untagged: int
    assignments: int
    distinct: int
    median_per_item: float
    most_per_item: int
    min_items: int
    frequent: int
    classes: tuple[TagClass, ...]
    unknown: tuple[TagCount, ...]
    lexicon: tuple[LexiconPart, ...]
    proposals: tuple[TagCount, ...]

    @property
    def per_item(self) -> float:
        """The mean number of tags of an item."""
        return self.assignments / self.items

    def payload(self, **_: object) -> dict[str, Any]:
        """The figures, then classes, lexicon, proposals and what WordNet does not know."""
        return {
            "corpus": self.corpus,
            "items": self.items,
            "untagged": self.untagged,
            "assignments": self.assignments,
            "distinct": self.distinct,
            "per_item": self.per_item,
            "median_per_item": self.median_per_item,
            "most_per_item": self.most_per_item,
            "min_items": self.min_items,
            "frequent": self.frequent,
            "classes": [
                {
                    "class": c.name,
                    "tags": c.tags,
                    "assignments": c.assignments,
                    "share": c.assignments / max(self.assignments, 1),
                }
                for c in self.classes
            ],
            "lexicon": [
                {
                    "category": p.part.category,
                    "part": p.part.part,
                    "concepts": len(p.part.concepts),
                    "tagged_concepts": p.tagged_concepts,
                    "items": p.items,
                }
                for p in self.lexicon
            ],
            "proposals": _counts(self.proposals),
            "unknown": _counts(self.unknown),
        }

    def headline(self) -> str:
        return (
            f"{self.corpus}: {self.items} items, {self.per_item:.2f} tags per item, "
            f"{self.frequent} tags in at least {self.min_items} items"
        )


def _counts(tags: Sequence[TagCount]) -> list[dict[str, Any]]:
    return [{"tag": t.tag, "items": t.items, "class": t.kind} for t in tags]


@validate_params
@with_progress
def analyse_tags(
    corpus: str | Path | Iterable[TaggedItem],
    *,
    vocabulary: Ontology | str | Path | None = None,
    mapping: str | Path | None = None,
    min_items: int = MIN_ITEMS,
    wordnet: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> TagCorpus:
    """Analyse a tag corpus: a file as `relatedness --tags` takes it, or items.

    `vocabulary` is an ontology or a list of concepts whose share of the tags is counted, and
    which proposals leave out; `mapping` has the words that stand for its concepts. `wordnet` is
    the folder of WordNet where it is not at its usual place.
    """
    check_counts(min_items=min_items)
    if mapping is not None and vocabulary is None:
        raise UsageError("mapping= has the words of concepts: it needs vocabulary=")
    if isinstance(corpus, str | Path):
        name, items = describe(corpus), list(read_tagged_items(corpus, progress=progress))
    else:
        name, items = "corpus", list(corpus)
    if not items:
        raise UsageError("the corpus holds no item")
    counts = Counter(tag for item in items for tag in item.tags)
    sizes = [len(item.tags) for item in items]
    kind_of, notes = _kinds(counts, wordnet)
    words: dict[str, tuple[str, ...]] = {}
    lexicon: tuple[LexiconPart, ...] = ()
    if vocabulary is not None:
        word_of = read_mapping(mapping) if mapping is not None else {}
        names = vocabulary if isinstance(vocabulary, Ontology) else read_vocabulary(vocabulary)
        words = {c: _words(word_of.get(c, c)) for c in names.concepts}
        lexicon = _lexicon(names, words, counts, items)
    covered = {form for forms in words.values() for word in forms for form in _forms(word)}
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    tag_counts = tuple(TagCount(tag, n, kind_of.get(tag)) for tag, n in ranked)
    return TagCorpus(
        name,
        len(items),
        sizes.count(0),
        sum(sizes),
        len(counts),
        float(median(sizes)),
        max(sizes),
        min_items,
        sum(n >= min_items for n in counts.values()),
        _classes(tag_counts) if kind_of else (),
        tuple(replace(t, kind=None) for t in tag_counts if t.kind == UNKNOWN),
        lexicon,
        tuple(t for t in tag_counts if t.items >= min_items and covered.isdisjoint(_forms(t.tag))),
        notes=notes,
    )


def _kinds(
    counts: Counter[str], folder: str | Path | None
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The class of each tag by its first sense, the commonest one; nothing without WordNet."""
    try:
        lexicon = Lexicon(open_wordnet(folder))
    except NeedsError as error:
        return {}, (f"without classes of tags: {error}",)
    return {tag: _kind(lexicon, lexicon.senses(tag)) for tag in counts}, ()


def _kind(lexicon: Lexicon, senses: list[Sense]) -> str:
    return lexicon.wordnet.lexicographer_file(senses[0].synset) if senses else UNKNOWN


def _classes(tags: Sequence[TagCount]) -> tuple[TagClass, ...]:
    """The broad classes of tags, how many and how often."""
    groups: dict[str, list[int]] = {name: [] for name in (*BROAD_CLASSES, UNKNOWN)}
    for tag in tags:
        kind = str(tag.kind)
        groups[kind if kind == UNKNOWN else broad_class(kind)].append(tag.items)
    return tuple(TagClass(name, len(counts), sum(counts)) for name, counts in groups.items())


def _words(text: str) -> tuple[str, ...]:
    """The words that stand for a concept, as tags are written; marks of senses are left out."""
    parts = (part.split("#")[0] for part in text.split(ALTERNATIVE))
    return tuple(normalise_term(part) for part in parts if part.strip())


def _forms(word: str) -> tuple[str, ...]:
    """A tag in singular and plural, and written in one: people tag trees, tree, still life."""
    stem = word[:-1] if word.endswith("s") and len(word) > 3 else word
    return (word, stem, f"{stem}s", word.replace(" ", ""))


def _lexicon(
    names: Ontology,
    words: dict[str, tuple[str, ...]],
    counts: Counter[str],
    items: Sequence[TaggedItem],
) -> tuple[LexiconPart, ...]:
    forms = {
        c: {form for word in concept_words for form in _forms(word)}
        for c, concept_words in words.items()
    }
    parts = []
    for part in count_categories(names).parts:
        part_forms = set().union(*(forms[c] for c in part.concepts))
        tagged = sum(not forms[c].isdisjoint(counts) for c in part.concepts)
        items_with = sum(not part_forms.isdisjoint(item.tags) for item in items)
        parts.append(LexiconPart(part, tagged, items_with))
    return tuple(parts)
