"""A WordNet database in memory: senses of words, words and glosses of synsets, relations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield._lazy import cached_property
from cranfield.relatedness.wordnet_files import (
    SYMBOLS,
    Arrays,
    DatabaseFiles,
    cached,
    find_database,
    parse_database,
)

Links = tuple[NDArray[np.int32], NDArray[np.int32]]

# Relations that hold between synsets, by the names that measures use.
RELATIONS = {
    "hypernym": ("@", "@i"),
    "hyponym": ("~", "~i"),
    "meronym": ("%m", "%s", "%p"),
    "holonym": ("#m", "#s", "#p"),
    "attribute": ("=",),
    "entailment": ("*",),
    "cause": (">",),
    "similar": ("&",),
}
# Relations that hold between words of synsets.
LEXICAL = {"also": "^", "antonym": "!", "pertainym": "\\"}

_MARKER = re.compile(r"\(.*\)$")
_ENCODING = "latin-1"  # every byte is a character, so positions in text and bytes agree


@dataclass(frozen=True, slots=True)
class Sense:
    """One sense of a word, written river#n#1."""

    lemma: str
    part: str
    number: int
    synset: int

    def __str__(self) -> str:
        return f"{self.lemma}#{self.part}#{self.number}"


class WordNet:
    """A WordNet database; it reads what it is asked for, and keeps what was costly to work out."""

    def __init__(self, arrays: Arrays, fingerprint: str = "") -> None:
        self._arrays = arrays
        self.fingerprint = fingerprint
        self._lexical: dict[tuple[int, str, str], tuple[int, ...]] = {}
        self._forms: dict[tuple[str, str], list[str]] = {}
        # Tables that single measures derive from the database, by the name of the measure.
        self.derived: dict[str, Any] = {}

    @property
    def size(self) -> int:
        """The number of synsets."""
        return int(self._arrays["part_start"][-1])

    @property
    def tag_counts(self) -> NDArray[np.int64]:
        """How often each synset was tagged in SemCor; empty when the database does not say."""
        return self._arrays["tag_count"]

    def part_range(self, part: str) -> tuple[int, int]:
        """The first synset of a part of speech, and the first one after it."""
        number = PARTS.index(part)
        starts = self._arrays["part_start"]
        return int(starts[number]), int(starts[number + 1])

    def part_of(self, synset: int) -> str:
        starts = self._arrays["part_start"]
        return PARTS[int(np.searchsorted(starts, synset, side="right")) - 1]

    def lexicographer_file(self, synset: int) -> str:
        """The file in which a synset was written: its broad class, such as noun.animal."""
        return LEXICOGRAPHER_FILES[self._arrays["lexicographer_file"][synset]]

    def _text(self, name: str, index: int) -> str:
        starts = self._arrays[f"{name}_text_start"]
        text = self._arrays[f"{name}_text"][starts[index] : starts[index + 1]]
        return text.tobytes().decode(_ENCODING)

    def gloss(self, synset: int) -> str:
        """The definition of a synset, with its examples in quotes."""
        return self._text("gloss", synset)

    def glosses(self) -> list[str]:
        """Every gloss, in the order of the synsets."""
        return _texts(self._arrays, "gloss")

    def words(self, synset: int) -> list[str]:
        """The words of a synset, as written, blanks as underscores."""
        start = self._arrays["word_start"]
        return [
            _MARKER.sub("", self._text("word", i)) for i in range(start[synset], start[synset + 1])
        ]

    @cached_property
    def lemmas(self) -> dict[str, frozenset[str]]:
        """All words that are listed, by part of speech."""
        words = _texts(self._arrays, "lemma")
        starts = self._arrays["lemma_part_start"].tolist()
        return {
            part: frozenset(words[a:b])
            for part, (a, b) in zip(PARTS, pairwise(starts), strict=True)
        }

    def synsets_of(self, word: str, part: str) -> list[int]:
        """The synsets of a word as it stands, in the order of its senses."""
        key = word.lower().encode(_ENCODING, "replace")
        starts = self._arrays["lemma_text_start"]
        blob = self._arrays["lemma_text"]
        number = PARTS.index(part)
        low, high = map(int, self._arrays["lemma_part_start"][number : number + 2])
        end = high
        while low < high:
            middle = (low + high) // 2
            if blob[starts[middle] : starts[middle + 1]].tobytes() < key:
                low = middle + 1
            else:
                high = middle
        if low == end or blob[starts[low] : starts[low + 1]].tobytes() != key:
            return []
        senses = self._arrays["sense_start"]
        return [int(s) for s in self._arrays["sense_synset"][senses[low] : senses[low + 1]]]

    def senses(self, word: str, part: str) -> list[Sense]:
        """The senses of a word as it stands."""
        synsets = self.synsets_of(word, part)
        return [Sense(word, part, i, synset) for i, synset in enumerate(synsets, 1)]

    @cached_property
    def _exceptions(self) -> Exceptions:
        return read_exceptions({part: self._text("exception", i) for i, part in enumerate(PARTS)})

    def valid_forms(self, word: str, part: str) -> list[str]:
        """The base forms of a word that are listed, itself first if it is."""
        key = (word, part)
        if key not in self._forms:
            forms = base_forms(word, part, self._exceptions)
            self._forms[key] = [form for form in forms if self._lists(form, part)]
        return self._forms[key]

    def irregular(self, word: str, part: str) -> list[str]:
        """The listed base forms of an irregular form, without the word itself."""
        bases = self._exceptions[part].get(word, ())
        return [base for base in bases if base != word and self._lists(base, part)]

    def _lists(self, word: str, part: str) -> bool:
        # A set of all words is the faster way, but takes a tenth of a second to build: it is
        # used once something else has asked for it.
        if "lemmas" in self.__dict__:
            return word in self.lemmas[part]
        return bool(self.synsets_of(word, part))

    def links(self, *relations: str) -> Links:
        """The synsets that relations lead to, as (starts, targets): one row per synset.

        The rows keep the order of the relations named, then that of the database.
        """
        name = "links " + " ".join(relations)
        if name not in self.derived:
            self.derived[name] = self._build_links(relations)
        links: Links = self.derived[name]
        return links

    def _build_links(self, relations: tuple[str, ...]) -> Links:
        kinds = self._arrays["pointer_kind"]
        counts = np.diff(self._arrays["pointer_start"])
        source = np.repeat(np.arange(self.size, dtype=np.int32), counts)
        between_synsets = self._arrays["pointer_source_word"] == 0
        rows, columns = [], []
        for relation in relations:
            numbers = [SYMBOLS.index(symbol) for symbol in RELATIONS[relation]]
            mask = np.isin(kinds, numbers) & between_synsets
            rows.append(source[mask])
            columns.append(self._arrays["pointer_target"][mask])
        row, column = np.concatenate(rows), np.concatenate(columns)
        order = np.argsort(row, kind="stable")
        starts = np.zeros(self.size + 1, np.int32)
        np.cumsum(np.bincount(row, minlength=self.size), out=starts[1:])
        return starts, column[order]

    def with_links(self, *symbols: str) -> NDArray[np.bool_]:
        """Which synsets have a pointer of one of these symbols, between words or synsets."""
        mask = np.isin(self._arrays["pointer_kind"], [SYMBOLS.index(s) for s in symbols])
        counts = np.diff(self._arrays["pointer_start"])
        source = np.repeat(np.arange(self.size), counts)[mask]
        return np.bincount(source, minlength=self.size) > 0

    def related(self, synset: int, relation: str) -> list[int]:
        """The synsets that a relation leads to from one synset, each once."""
        starts, targets = self.links(relation)
        return list(dict.fromkeys(targets[starts[synset] : starts[synset + 1]].tolist()))

    def word_related(self, synset: int, word: str, relation: str) -> tuple[int, ...]:
        """The synsets that a relation between words leads to, for one word of a synset.

        A synset that is reached through several of its words is there once for each of them.

        As in WordNet::QueryData a pointer belongs to a word when the word, read as a pattern,
        occurs in the pointer's source word, and a pointer of the whole synset belongs to its
        last word.
        """
        key = (synset, word.lower(), relation)
        if key not in self._lexical:
            reached = dict.fromkeys(self._find_lexical(*key))
            self._lexical[key] = tuple(synset for synset, _ in reached)
        return self._lexical[key]

    def _find_lexical(self, synset: int, word: str, relation: str) -> list[tuple[int, int]]:
        start = self._arrays["pointer_start"]
        rows = slice(start[synset], start[synset + 1])
        number = SYMBOLS.index(LEXICAL[relation])
        hits = np.flatnonzero(self._arrays["pointer_kind"][rows] == number)
        if hits.size == 0:
            return []
        matches = pattern_of(word).search
        word_start = self._arrays["word_start"]
        first, last = int(word_start[synset]), int(word_start[synset + 1])
        links = []
        for hit in hits + start[synset]:
            source = int(self._arrays["pointer_source_word"][hit])
            at = last - 1 if source == 0 else first + source - 1
            if matches(self._text("word", at)):
                target = int(self._arrays["pointer_target"][hit])
                links.append((target, int(self._arrays["pointer_target_word"][hit])))
        return links


@lru_cache(maxsize=4096)
def pattern_of(word: str) -> re.Pattern[str]:
    """A word read as a pattern, which is what its full stops are to the reference."""
    try:
        return re.compile(word, re.IGNORECASE)
    except re.error:
        return re.compile(re.escape(word), re.IGNORECASE)


def _texts(arrays: Arrays, name: str) -> list[str]:
    text = arrays[f"{name}_text"].tobytes().decode(_ENCODING)
    starts = arrays[f"{name}_text_start"].tolist()
    return [text[a:b] for a, b in pairwise(starts)]


@lru_cache(maxsize=4)
def _open(files: DatabaseFiles, fingerprint: str) -> WordNet:
    return WordNet(cached("wordnet", fingerprint, lambda: parse_database(files)), fingerprint)


def open_wordnet(folder: str | Path | None = None) -> WordNet:
    """The WordNet database in a folder, or the one that is installed."""
    files = find_database(folder)
    return _open(files, files.fingerprint())


# The files in the order in which the database numbers them (man 5 lexnames).
LEXICOGRAPHER_FILES = (
    *("adj.all", "adj.pert", "adv.all", "noun.Tops", "noun.act", "noun.animal"),
    *("noun.artifact", "noun.attribute", "noun.body", "noun.cognition", "noun.communication"),
    *("noun.event", "noun.feeling", "noun.food", "noun.group", "noun.location", "noun.motive"),
    *("noun.object", "noun.person", "noun.phenomenon", "noun.plant", "noun.possession"),
    *("noun.process", "noun.quantity", "noun.relation", "noun.shape", "noun.state"),
    *("noun.substance", "noun.time", "verb.body", "verb.change", "verb.cognition"),
    *("verb.communication", "verb.competition", "verb.consumption", "verb.contact"),
    *("verb.creation", "verb.emotion", "verb.motion", "verb.perception", "verb.possession"),
    *("verb.social", "verb.stative", "verb.weather", "adj.ppl"),
)
OTHER = "other"
# The classes of Sigurbjörnsson and van Zwol (2008), as No 5.4 reports them.
BROAD = {
    "noun.location": "location",
    "noun.artifact": "artefact or object",
    "noun.object": "artefact or object",
    "noun.person": "person or group",
    "noun.group": "person or group",
    "noun.act": "action or event",
    "noun.event": "action or event",
    "noun.time": "time",
}
BROAD_CLASSES = (*dict.fromkeys(BROAD.values()), OTHER)


def broad_class(file: str) -> str:
    """The broad class of what stands in a lexicographers' file."""
    return BROAD.get(file, OTHER)


PARTS = "nvar"

# (ending, what replaces it, what must stand before the ending)
_RULES: dict[str, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}

Exceptions = dict[str, dict[str, list[str]]]


def read_exceptions(texts: dict[str, str]) -> Exceptions:
    """Irregular forms: part of speech -> form -> base forms."""
    exceptions: Exceptions = {part: {} for part in PARTS}
    for part, text in texts.items():
        for form, *bases in filter(None, map(str.split, text.splitlines())):
            exceptions[part].setdefault(form, []).extend(bases)
    return exceptions


def base_forms(word: str, part: str, exceptions: Exceptions) -> list[str]:
    """The forms under which a word may be listed, itself first; nothing is looked up."""
    irregular = exceptions[part].get(word)
    if irregular is not None:
        return [word, *irregular]
    tokens = word.split("_")
    if len(tokens) == 1:
        return _detach(word, part)
    choices = [base_forms(token, part, exceptions) for token in tokens]
    # The first token varies fastest.
    return ["_".join(reversed(combination)) for combination in product(*reversed(choices))]


def _detach(word: str, part: str) -> list[str]:
    forms = [word]
    for ending, replacement in _RULES[part]:
        # An ending is taken off only if something is left before it.
        if word.endswith(ending) and len(word) > len(ending):
            forms.append(word[: -len(ending)] + replacement)
    # Of equal forms the last one stays, which decides the order of the look-up.
    return [form for i, form in enumerate(forms) if form not in forms[i + 1 :]]
