"""From the names of concepts to senses of WordNet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cranfield.errors import UsageError
from cranfield.relatedness.wordnet import Sense, WordNet

PARTS = "nvar"
# Nouns where a word has any, else whatever it is: concepts are things before anything else.
NOUNS_FIRST = "auto"
ALTERNATIVE = "|"


@dataclass(frozen=True)
class Lexicon:
    """How concepts are looked up: which parts of speech count, and what stands for what.

    `mapping` gives the word that stands for a concept which WordNet does not list; several
    words, separated by a bar, mean any of them. An empty word takes the concept out.
    """

    wordnet: WordNet
    parts: str = NOUNS_FIRST
    mapping: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.parts != NOUNS_FIRST and not (self.parts and set(self.parts) <= set(PARTS)):
            raise UsageError(
                f"no parts of speech {self.parts!r} (expected {NOUNS_FIRST!r}, or letters of "
                f"{PARTS!r})"
            )

    def senses(self, concept: str) -> list[Sense]:
        """All senses of a concept; none when WordNet does not know it."""
        distinct: dict[Sense, None] = {}
        for word in self.mapping.get(concept, concept).split(ALTERNATIVE):
            if word.strip():
                distinct.update(dict.fromkeys(_senses(self.wordnet, word, self.parts)))
        return list(distinct)


def _senses(wordnet: WordNet, text: str, parts: str) -> list[Sense]:
    word, *marks = text.strip().lower().split("#")
    word = "_".join(word.split())
    if len(marks) == 2 and marks[0] in tuple(PARTS):
        return [s for s in _listed(wordnet, word, marks[0]) if str(s.number) == marks[1]]
    if len(marks) == 1 and marks[0] and set(marks[0]) <= set(PARTS):
        return _listed(wordnet, word, marks[0])
    if marks or not word:
        return []
    if parts != NOUNS_FIRST:
        return _listed(wordnet, word, parts)
    return _listed(wordnet, word, "n") or _listed(wordnet, word, "var")


def _listed(wordnet: WordNet, word: str, parts: str) -> list[Sense]:
    """The senses of a word as it stands, or else of its base form in each part of speech.

    An irregular form that is an entry of its own (teeth) has the senses of its base form too. A
    compound that is not listed with its hyphens is looked up with blanks.
    """
    for spelling in dict.fromkeys((word, word.replace("-", "_"))):
        senses = [sense for part in parts for sense in wordnet.senses(spelling, part)]
        if senses:
            bases = ((part, base) for part in parts for base in wordnet.irregular(spelling, part))
            return senses + [sense for part, base in bases for sense in wordnet.senses(base, part)]
        for part in parts:
            forms = wordnet.valid_forms(spelling, part)
            if forms:
                senses += wordnet.senses(forms[0], part)
        if senses:
            return senses
    return []
