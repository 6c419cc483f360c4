"""What people tag: how many tags items have, of which kinds, and which could become concepts.

The analysis behind a vocabulary (No 5.4, 5.5, 10.3): tags per item, tags that enough items share,
their classes in WordNet, what a lexicon covers of them, and proposals with their counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

from cranfield.answers import Answer
from cranfield.data.counts import TaggedItem, normalise_term
from cranfield.data.ontology import Ontology
from cranfield.errors import NeedsError, UsageError, check_counts
from cranfield.io.concepts import read_mapping
from cranfield.io.counts import read_tagged_items
from cranfield.io.files import describe
from cranfield.io.ontology import read_vocabulary
from cranfield.notes import with_progress
from cranfield.relatedness.hierarchies import CategoryPart, count_categories
from cranfield.relatedness.scoring import ALTERNATIVE, Lexicon
from cranfield.relatedness.wordnet import Sense, open_wordnet
from cranfield.relatedness.wordnet.database import BROAD_CLASSES, broad_class
from cranfield.validation import validate_params

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
