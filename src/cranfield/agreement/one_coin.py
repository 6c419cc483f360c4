"""The one-coin model: an annotator is right with one probability, whatever the true answer.

Wrong answers are spread evenly over the other answers.
"""

from __future__ import annotations

import numpy as np

from cranfield.agreement._em import LEAST, Answering, Integers, Model, Voices
from cranfield.data.judgement_log import Floats


def one_coin(right: float = 0.0, wrong: float = 0.0) -> Model:
    """The maximisation step: the expected share of right answers of each annotator.

    `right` and `wrong` are answers that everybody is taken to have given before.
    """

    def learn(voices: Voices, expected: Floats, _previous: Floats | None) -> Answering:
        judged = voices.per_annotator(expected.sum(axis=1)) + right + wrong
        hits = voices.per_annotator(voices.hits(expected)) + right

        def answering(rows: Integers, own: Floats) -> Floats:
            line, who, said = np.arange(rows.size), voices.annotator[rows], voices.answer[rows]
            mine = np.broadcast_to(own, (rows.size, voices.answers))
            share = (hits[who] - mine[line, said]) / np.maximum(
                judged[who] - mine.sum(axis=1), LEAST
            )
            share = np.clip(share, LEAST, 1 - LEAST)
            others = max(voices.answers - 1, 1)
            probability = np.repeat((1 - share)[:, None] / others, voices.answers, axis=1)
            probability[line, said] = share
            return probability

        return answering

    return learn
