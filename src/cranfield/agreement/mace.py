"""MACE (Hovy et al. 2013): an annotator either knows the truth or spams.

With probability theta the annotator gives the true answer, otherwise an answer drawn from
habits of its own, the truth notwithstanding.
"""

from __future__ import annotations

import numpy as np

from cranfield.agreement._em import LEAST, Answering, Integers, Model, Voices
from cranfield.data.judgement_log import Floats


def mace(known: float = 0.0, spammed: float = 0.0, habit: float = 0.0) -> Model:
    """The maximisation step, with the hidden choice between knowing and spamming summed out.

    Everybody is taken to have given `known` answers by knowing and `spammed` by spamming
    before, and `habit` spammed answers of every kind.
    """

    def learn(voices: Voices, expected: Floats, previous: Floats | None) -> Answering:
        said = expected.sum(axis=1)
        # Of the answers that fit the truth, the part that was known rather than spammed.
        part = (
            np.full(said.size, voices.answers / (voices.answers + 1))
            if previous is None
            else 1 - _spam(voices, previous) / voices.hits(previous)
        )
        knew = voices.hits(expected) * part
        every = voices.per_annotator(said) + known + spammed
        knowing = voices.per_annotator(knew) + known
        spam = np.maximum(said - knew, 0.0)
        spamming = voices.per_annotator(spam) + habit * voices.answers

        def answering(rows: Integers, own: Floats) -> Floats:
            line, who, answer = np.arange(rows.size), voices.annotator[rows], voices.answer[rows]
            mine = np.broadcast_to(own, (rows.size, voices.answers))
            judged = mine.sum(axis=1)
            hit = mine[line, answer] * part[rows]
            theta = (knowing[who] - hit) / np.maximum(every[who] - judged, LEAST)
            theta = np.clip(theta, 0.0, 1.0)
            left = np.maximum(spamming[who] - judged + hit, LEAST)
            habits = np.maximum(spam[rows] - judged + hit + habit, LEAST) / left
            probability = np.repeat(
                ((1 - theta) * np.minimum(habits, 1.0))[:, None], voices.answers, axis=1
            )
            probability[line, answer] += theta
            return np.asarray(np.maximum(probability, LEAST))

        return answering

    return learn


def _spam(voices: Voices, probability: Floats) -> Floats:
    """The probability of a voice when its answer is wrong: then it can only be spam."""
    wrong = np.where(voices.answer == 0, 1, 0) if voices.answers > 1 else voices.answer
    return np.asarray(probability[np.arange(voices.answer.size), wrong])
