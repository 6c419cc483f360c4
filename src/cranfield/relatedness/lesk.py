"""LESK: relatedness as overlaps of extended glosses, after Banerjee and Pedersen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield.relatedness._spec import Method, Source
from cranfield.relatedness.gloss_vector import (
    STOP_WORDS,
    GlossReader,
    Text,
    definition,
    examples,
    synonyms,
)
from cranfield.relatedness.wordnet import Sense, WordNet

Scores = NDArray[np.float64]

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
_EXAMPLES = len(_RELATIONS)
_WORDS = _EXAMPLES + 1
_TEXTS = _WORDS + 1
_SELF = 0
# Which texts are compared: all glosses with all glosses, and examples, words and own glosses
# with each other, except words with words and own glosses once more.
_COMPARED = (
    *((a, b) for a in range(len(_RELATIONS)) for b in range(len(_RELATIONS))),
    (_EXAMPLES, _EXAMPLES),
    (_EXAMPLES, _SELF),
    (_EXAMPLES, _WORDS),
    (_SELF, _EXAMPLES),
    (_SELF, _WORDS),
    (_WORDS, _EXAMPLES),
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
) -> Scores:
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
        _TEXTS,
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
        for text in _texts(wordnet, glosses, sense):
            for i, part in enumerate(text):
                if i:
                    words.append(_BOUNDARY)
                words += [
                    number.setdefault(word, len(number)) for word in part if word not in stop_words
                ]
            starts.append(len(words))
    return np.array(words, np.int32), np.array(starts, np.int64)


def _texts(wordnet: WordNet, glosses: GlossReader, sense: Sense) -> list[list[Text]]:
    # The reference joins the glosses of a relation in an order that changes from run to run, and
    # with it now and then a value by a few points. Shortest first gives one value for good.
    return [
        *(sorted(glosses.around(sense, relation), key=len) for relation in _RELATIONS),
        examples(wordnet.gloss(sense.synset)),
        synonyms(wordnet, sense),
    ]


def scale_lesk(
    wordnet: WordNet, values: Scores, senses1: Sequence[Sense], senses2: Sequence[Sense]
) -> Scores:
    """By what the senses share with themselves: the root of the product."""
    senses = list(dict.fromkeys((*senses1, *senses2)))
    self_scores = dict(zip(senses, lesk(wordnet, senses, senses), strict=True))
    limits = np.array(
        [np.sqrt(self_scores[a] * self_scores[b]) for a, b in zip(senses1, senses2, strict=True)]
    )
    scaled: Scores = values / np.maximum(limits, 1.0)
    return scaled


METHODS = (
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
