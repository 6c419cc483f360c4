"""Texts around a sense: the glosses of the synsets that relations lead to."""

from __future__ import annotations

import re
from collections.abc import Callable

from cranfield.relatedness.wordnet import Sense, WordNet

# Articles, pronouns, prepositions and conjunctions stand with every word and say nothing of it.
# Verbs, numerals and adverbs stay, and so do the words that can go either way (my, your, their,
# every, one, where, out): with these kept, VEC is nearest to the values that the reference prints.
_STOP_WORD_TEXT = """
a an the
i you he she it we they me him her us them his its our own mine yours hers ours theirs
myself yourself himself herself itself ourselves yourselves themselves oneself
this that these those who whom whose which what whoever whatever whichever there
all another any anybody anyone anything both each either everybody everyone everything few many more
most much neither nobody none nothing other others several some somebody someone something such
various
about above across after against along among around as at before behind below beneath beside
besides between beyond by despite down during except for from in inside into like near of off on
onto outside over past per round since than through throughout till to toward towards under
underneath until up upon via with within without
and but or nor so yet if although though because unless whereas when while whether
"""
STOP_WORDS = frozenset(_STOP_WORD_TEXT.split())
_PUNCTUATION = str.maketrans(dict.fromkeys('.;:,?!(){}"`$%@<>', " "))
_LOOSE_APOSTROPHE = re.compile(r"(?<!\w)'|'(?!\w)", re.ASCII)
_EXAMPLE = re.compile(r'"([^"]*)"')

Text = list[str]


def clean(text: str) -> Text:
    """The words of a text, in lower case and without punctuation; hyphens stay."""
    plain = _LOOSE_APOSTROPHE.sub(" ", text.translate(_PUNCTUATION))
    return plain.replace("--", " ").lower().split()


def definition(gloss: str) -> Text:
    """The words of a gloss up to its first example."""
    return clean(gloss.partition('"')[0])


def examples(gloss: str) -> list[Text]:
    """The words of each example in a gloss."""
    return [clean(example) for example in _EXAMPLE.findall(gloss)]


def around(wordnet: WordNet, sense: Sense, relation: str) -> list[int]:
    """The synsets that a relation leads to from a sense; "self" is its own synset."""
    if relation == "self":
        return [sense.synset]
    if relation in ("also", "pertainym"):
        return list(wordnet.word_related(sense.synset, sense.lemma, relation))
    return wordnet.related(sense.synset, relation)


def synonyms(wordnet: WordNet, sense: Sense) -> list[Text]:
    """The words of the synset, each a text of its own."""
    return [[word] for word in sorted(set(wordnet.words(sense.synset)))]


class GlossReader:
    """Cleaned glosses, each cleaned once."""

    def __init__(self, wordnet: WordNet, cleaner: Callable[[str], Text]) -> None:
        self._wordnet, self._cleaner = wordnet, cleaner
        self._known: dict[int, Text] = {}

    def __getitem__(self, synset: int) -> Text:
        if synset not in self._known:
            self._known[synset] = self._cleaner(self._wordnet.gloss(synset))
        return self._known[synset]

    def around(self, sense: Sense, relation: str) -> list[Text]:
        """The glosses of the synsets that a relation leads to."""
        return [self[synset] for synset in around(self._wordnet, sense, relation)]
