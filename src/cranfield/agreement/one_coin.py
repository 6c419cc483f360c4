"""The one-coin model: an annotator is right with one probability, whatever the true answer.

Wrong answers are spread evenly over the other answers.
"""

from __future__ import annotations

import numpy as np

from cranfield.agreement._em import LEAST, Voices
from cranfield.data.judgement_log import Floats


def one_coin(voices: Voices, expected: Floats, _previous: Floats | None) -> Floats:
    """The maximisation step: the expected share of right answers of each annotator."""
    judged = voices.per_annotator(expected.sum(axis=1))
    share = voices.per_annotator(voices.hits(expected)) / np.maximum(judged, LEAST)
    share = np.clip(share, LEAST, 1 - LEAST)
    others = max(voices.answers - 1, 1)
    probability = np.repeat((1 - share[voices.annotator, None]) / others, voices.answers, axis=1)
    probability[np.arange(voices.answer.size), voices.answer] = share[voices.annotator]
    return probability
