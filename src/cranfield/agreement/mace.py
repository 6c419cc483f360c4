"""MACE (Hovy et al. 2013): an annotator either knows the truth or spams.

With probability theta the annotator gives the true answer, otherwise an answer drawn from
habits of its own, the truth notwithstanding. The true answers are equally likely beforehand.
"""

from __future__ import annotations

import numpy as np

from cranfield.agreement._em import LEAST, Voices, normalised
from cranfield.data.judgement_log import Floats


def mace(voices: Voices, expected: Floats, previous: Floats | None) -> Floats:
    """The maximisation step, with the hidden choice between knowing and spamming summed out."""
    said = expected.sum(axis=1)
    # Of the answers that fit the truth, the part that was known rather than spammed.
    known = voices.hits(expected) * (
        voices.answers / (voices.answers + 1)
        if previous is None
        else 1 - _spam(voices, previous) / voices.hits(previous)
    )
    theta = voices.per_annotator(known) / np.maximum(voices.per_annotator(said), LEAST)
    habit = normalised(voices, np.maximum(said - known, LEAST)[:, None])[:, 0]
    spam = (1 - theta[voices.annotator]) * habit
    probability = np.repeat(spam[:, None], voices.answers, axis=1)
    probability[np.arange(voices.answer.size), voices.answer] += theta[voices.annotator]
    return np.maximum(probability, LEAST)


def _spam(voices: Voices, probability: Floats) -> Floats:
    """The probability of a voice when its answer is wrong: then it can only be spam."""
    wrong = np.where(voices.answer == 0, 1, 0) if voices.answers > 1 else voices.answer
    return np.asarray(probability[np.arange(voices.answer.size), wrong])
