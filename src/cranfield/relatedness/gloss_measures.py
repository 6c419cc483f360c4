"""Relatedness through the glosses of WordNet: LESK, their overlaps, and VEC, their word vectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield.relatedness import Method, Param, Source
from cranfield.relatedness.wordnet_database import Sense, WordNet
from cranfield.relatedness.wordnet_files import cached
from cranfield.types import FloatArray

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
    spaced = _LOOSE_APOSTROPHE.sub(" ", text.translate(_PUNCTUATION))
    return spaced.replace("--", " ").lower().split()


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


_LONGEST_COMPOUND = 9
_OTHER = re.compile(r"[^a-z0-9]+")
_QUOTED = re.compile(r'".*"')
# The texts of a sense, in this order; "examples", "gloss" and "words" are its own.
_VECTOR_RELATIONS = (
    "also",
    "attribute",
    "examples",
    "self",
    "gloss",
    "holonym",
    "hypernym",
    "hyponym",
    "meronym",
    "pertainym",
    "similar",
    "words",
)
# Senses and dimensions that are held in memory as one dense block.
_SENSES, _DIMENSIONS = 2000, 8192


class WordVectors:
    """The word vectors of a database, and the words around its senses."""

    def __init__(self, wordnet: WordNet) -> None:
        from scipy import sparse

        self._wordnet = wordnet
        self._compounds = Compounds(frozenset().union(*wordnet.lemmas.values()))
        made_from = "\n".join((wordnet.fingerprint, *sorted(STOP_WORDS)))
        arrays = cached("vector", made_from, self._count)
        words = arrays["words"].tobytes().decode("ascii").split("\n")
        self._number = {word: i for i, word in enumerate(words)}
        ones = np.ones(len(arrays["columns"]))
        shape = (len(arrays["starts"]) - 1, len(words))
        # One row per gloss; a word that occurs twice has two entries, which add up.
        positions = (arrays["columns"].copy(), arrays["starts"].copy())
        glosses = sparse.csr_array((ones, *positions), shape)
        glosses.sum_duplicates()
        self._glosses = glosses
        self._by_word = glosses.T.tocsr()
        # In how many glosses each word stands.
        self._spread = np.diff(self._by_word.indptr)
        self._reader = GlossReader(wordnet, clean)
        self._around: dict[Sense, list[int]] = {}

    def _count(self) -> dict[str, NDArray[Any]]:
        number: dict[str, int] = {}
        numbers: dict[str, int] = {}
        columns: list[int] = []
        starts = [0]
        for gloss in self._wordnet.glosses():
            for part in _QUOTED.sub("", gloss.lower()).split(";"):
                for word in self._compounds.join(only_letters(part)):
                    if word not in numbers:
                        stem = self._stem(word)
                        numbers[word] = number.setdefault(stem, len(number)) if stem else -1
                    if numbers[word] >= 0:
                        columns.append(numbers[word])
            starts.append(len(columns))
        return {
            "words": np.frombuffer("\n".join(number).encode("ascii"), np.uint8),
            "columns": np.array(columns, np.int32),
            "starts": np.array(starts, np.int32),
        }

    def _stem(self, word: str) -> str | None:
        """A word's only noun, or its only base form if it is no noun, or itself.

        None for a stop word.
        """
        if _is_stop_word(word):
            return None
        forms = self._wordnet.valid_forms(word, "n")
        if not forms:
            forms = [f for part in "var" for f in self._wordnet.valid_forms(word, part)]
        stem = forms[0] if len(forms) == 1 else word
        return None if _is_stop_word(stem) else stem

    def around(self, sense: Sense) -> list[int]:
        """The words around a sense that have a vector, each once."""
        if sense not in self._around:
            words: set[str] = set()
            text: list[str] = []
            for kind in _VECTOR_RELATIONS:
                # Compounds are not looked for across glosses, but across kinds of text.
                for i, part in enumerate(self._texts(sense, kind)):
                    if i:
                        words.update(self._compounds.join(text))
                        text = []
                    text += only_letters(" ".join(part))
            words.update(self._compounds.join(text))
            self._around[sense] = sorted(self._number[w] for w in words if w in self._number)
        return self._around[sense]

    def _texts(self, sense: Sense, kind: str) -> list[list[str]]:
        if kind == "examples":
            return examples(self._wordnet.gloss(sense.synset))
        if kind == "gloss":
            return [definition(self._wordnet.gloss(sense.synset))]
        if kind == "words":
            return synonyms(self._wordnet, sense)
        return self._reader.around(sense, kind)

    def within(self, rare: int, frequent: int) -> NDArray[np.bool_]:
        """The words that stand in `rare` glosses at least and in `frequent` at most (0: any)."""
        mask: NDArray[np.bool_] = self._spread >= rare
        return mask & (self._spread <= frequent) if frequent else mask

    def cosines(
        self, rows: Sequence[Sense], columns: Sequence[Sense], mask: NDArray[np.bool_]
    ) -> FloatArray:
        """The cosine of the vectors of every row with every column, of the words that are kept."""
        from scipy import sparse

        number = {sense: i for i, sense in enumerate(dict.fromkeys((*rows, *columns)))}
        every = (np.array(self.around(sense), np.int64) for sense in number)
        around = [words[mask[words]] for words in every]
        words = np.concatenate(around)
        used_words, at = np.unique(words, return_inverse=True)
        starts = np.cumsum([0, *map(len, around)])
        member = sparse.csr_array((np.ones(len(at)), at, starts), (len(number), len(used_words)))
        glosses = self._glosses if mask.all() else self._glosses[:, np.flatnonzero(mask)]
        vectors = (self._by_word[used_words] @ glosses).tocsc()
        row = [number[sense] for sense in rows]
        column = [number[sense] for sense in columns]
        products = np.zeros((len(row), len(column)))
        squares = np.zeros(len(number))
        for start in range(0, vectors.shape[1], _DIMENSIONS):
            block = (member @ vectors[:, start : start + _DIMENSIONS]).toarray()
            products += block[row] @ block[column].T
            squares += np.einsum("ij,ij->i", block, block)
        lengths = np.sqrt(np.where(squares > 0, squares, 1.0))
        cosines: FloatArray = products / lengths[row][:, None] / lengths[column]
        return cosines


def _is_stop_word(word: str) -> bool:
    return all(part in STOP_WORDS for part in word.split("_"))


def only_letters(text: str) -> list[str]:
    """The stretches of lower-case letters and digits in a text, apostrophes left out."""
    return _OTHER.sub(" ", text.replace("'", "")).split()


class Compounds:
    """Finds the words of several parts that WordNet lists, the longest first."""

    def __init__(self, lemmas: Iterable[str]) -> None:
        self._whole = {lemma for lemma in lemmas if "_" in lemma}
        self._begun: set[str] = set()
        for lemma in self._whole:
            at = lemma.find("_")
            while at >= 0:
                self._begun.add(lemma[:at])
                at = lemma.find("_", at + 1)

    def join(self, words: Sequence[str]) -> list[str]:
        """The words with every compound as one word."""
        joined: list[str] = []
        prefixes, compounds = self._begun, self._whole
        at, size = 0, len(words)
        while at < size:
            best = text = words[at]
            end = i = at + 1
            while text in prefixes and i < size and i < at + _LONGEST_COMPOUND:
                text = f"{text}_{words[i]}"
                i += 1
                if text in compounds:
                    best, end = text, i
            joined.append(best)
            at = end
        return joined


def vec(
    wordnet: WordNet,
    senses1: Sequence[Sense],
    senses2: Sequence[Sense],
    *,
    rare: int = 0,
    frequent: int = 0,
) -> FloatArray:
    """The cosine of the gloss vectors of two senses, of words neither too rare nor too frequent."""
    if "vector" not in wordnet.derived:
        wordnet.derived["vector"] = WordVectors(wordnet)
    vectors: WordVectors = wordnet.derived["vector"]
    mask = vectors.within(rare, frequent)
    rows = {sense: i for i, sense in enumerate(dict.fromkeys(senses1))}
    columns = {sense: i for i, sense in enumerate(dict.fromkeys(senses2))}
    row = np.array([rows[sense] for sense in senses1], np.int64)
    column = np.array([columns[sense] for sense in senses2], np.int64)
    values = np.zeros(len(senses1))
    row_senses, column_senses = list(rows), list(columns)
    for i in range(0, len(rows), _SENSES):
        for j in range(0, len(columns), _SENSES):
            inside = (row // _SENSES == i // _SENSES) & (column // _SENSES == j // _SENSES)
            if inside.any():
                cosines = vectors.cosines(
                    row_senses[i : i + _SENSES], column_senses[j : j + _SENSES], mask
                )
                values[inside] = cosines[row[inside] - i, column[inside] - j]
    return np.minimum(values, 1.0)


VECTOR_METHODS = (
    Method(
        name="VEC",
        title="Gloss vectors (Patwardhan)",
        formula=r"\cos(\vec a, \vec b),\quad \vec a=\sum_{w \in \text{glosses around } a}\vec w",
        source=Source(
            "patwardhan-2003",
            "WordNet::Similarity 2.05, vector",
            "word vectors from definitions without examples and without function words",
        ),
        thesis="4.5.1",
        family="wordnet",
        range=(0.0, 1.0),
        symmetric=True,
        needs=frozenset({"wordnet"}),
        reads="lexicon",
        score=vec,
        parts="nvar",
        summary="Cosine of the co-occurrence vectors of the glosses around two senses.",
        undefined="no known word around a sense: 0",
        params=MappingProxyType(
            {
                "rare": Param(int, 0, "words in fewer glosses have no vector", low=0),
                "frequent": Param(int, 0, "nor have words in more glosses; 0: any number", low=0),
            }
        ),
    ),
)


# The texts of a sense: glosses that relations lead to, then its examples and its words.
_RELATIONS = (
    "self",
    "also",
    "attribute",
    "holonym",
    "hypernym",
    "hyponym",
    "meronym",
    "pertainym",
    "similar",
)
_EXAMPLE_TEXTS = len(_RELATIONS)
_WORDS = _EXAMPLE_TEXTS + 1
_TEXT_COUNT = _WORDS + 1
_SELF = 0
# Which texts are compared: all glosses with all glosses, and examples, words and own glosses
# with each other, except words with words and own glosses once more.
_COMPARED = (
    *((a, b) for a in range(len(_RELATIONS)) for b in range(len(_RELATIONS))),
    (_EXAMPLE_TEXTS, _EXAMPLE_TEXTS),
    (_EXAMPLE_TEXTS, _SELF),
    (_EXAMPLE_TEXTS, _WORDS),
    (_SELF, _EXAMPLE_TEXTS),
    (_SELF, _WORDS),
    (_WORDS, _EXAMPLE_TEXTS),
    (_WORDS, _SELF),
)
_BOUNDARY = -1


def lesk(
    wordnet: WordNet,
    senses1: Sequence[Sense],
    senses2: Sequence[Sense],
    *,
    jobs: int = 1,
    stop_words: bool = False,
) -> FloatArray:
    """The overlaps of all texts around two senses, runs of n words counting n squared.

    With `stop_words` articles, pronouns, prepositions and conjunctions are taken out first.
    """
    number: dict[Sense, int] = {}
    for sense in (*senses1, *senses2):
        number.setdefault(sense, len(number))
    left_out = STOP_WORDS if stop_words else frozenset()
    words, starts = _numbered_texts(wordnet, list(number), left_out)
    compared = np.array(_COMPARED, np.int32)
    return _core.gloss_overlaps(
        words,
        starts,
        _TEXT_COUNT,
        np.array([number[sense] for sense in senses1], np.int32),
        np.array([number[sense] for sense in senses2], np.int32),
        np.ascontiguousarray(compared[:, 0]),
        np.ascontiguousarray(compared[:, 1]),
        jobs,
    )


def _numbered_texts(
    wordnet: WordNet, senses: Sequence[Sense], stop_words: frozenset[str]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The texts of all senses as numbers of words, one after the other."""
    if "lesk" not in wordnet.derived:
        wordnet.derived["lesk"] = GlossReader(wordnet, definition)
    glosses: GlossReader = wordnet.derived["lesk"]
    number: dict[str, int] = {}
    words: list[int] = []
    starts = [0]
    for sense in senses:
        for text in _lesk_texts(wordnet, glosses, sense):
            for i, part in enumerate(text):
                if i:
                    words.append(_BOUNDARY)
                words += [
                    number.setdefault(word, len(number)) for word in part if word not in stop_words
                ]
            starts.append(len(words))
    return np.array(words, np.int32), np.array(starts, np.int64)


def _lesk_texts(wordnet: WordNet, glosses: GlossReader, sense: Sense) -> list[list[Text]]:
    # The reference joins the glosses of a relation in an order that changes from run to run, and
    # with it now and then a value by a few points. Shortest first gives one value for good.
    return [
        *(sorted(glosses.around(sense, relation), key=len) for relation in _RELATIONS),
        examples(wordnet.gloss(sense.synset)),
        synonyms(wordnet, sense),
    ]


def scale_lesk(
    wordnet: WordNet, values: FloatArray, senses1: Sequence[Sense], senses2: Sequence[Sense]
) -> FloatArray:
    """By what the senses share with themselves: the root of the product."""
    senses = list(dict.fromkeys((*senses1, *senses2)))
    self_scores = dict(zip(senses, lesk(wordnet, senses, senses), strict=True))
    limits = np.array(
        [np.sqrt(self_scores[a] * self_scores[b]) for a, b in zip(senses1, senses2, strict=True)]
    )
    scaled: FloatArray = values / np.maximum(limits, 1.0)
    return scaled


OVERLAP_METHODS = (
    Method(
        name="LESK",
        title="Extended gloss overlaps (Banerjee and Pedersen)",
        formula=r"\sum_{R, S}\ \sum_{\text{shared runs}} n^2",
        source=Source("banerjee-pedersen-2003", "WordNet::Similarity 2.05, lesk"),
        thesis="4.5.1",
        family="wordnet",
        range=(0.0, float("inf")),
        symmetric=False,
        needs=frozenset({"wordnet"}),
        reads="lexicon",
        score=lesk,
        scale=scale_lesk,
        parts="nvar",
        summary="Words that the glosses around two senses share, runs counting squared.",
        undefined="no shared word: 0",
    ),
)

METHODS = (*OVERLAP_METHODS, *VECTOR_METHODS)
