"""Dawid and Skene (1979): every annotator has a full table of how answers are confused."""

from __future__ import annotations

import numpy as np

from cranfield.agreement._em import LEAST, Answering, Integers, Model, Voices
from cranfield.data.judgement_log import Floats


def dawid_skene(right: float = 0.0, wrong: float = 0.0) -> Model:
    """The maximisation step, with judgements that everybody is taken to have given before.

    For each true answer these are `right` on the true one and `wrong` on each of the others;
    none of them is the estimate of the paper.
    """

    def learn(voices: Voices, expected: Floats, _previous: Floats | None) -> Answering:
        total = np.empty((voices.annotators, voices.answers))
        before = right + wrong * (voices.answers - 1)
        for k, column in enumerate(expected.T):
            total[:, k] = voices.per_annotator(np.maximum(column, LEAST)) + before

        def answering(rows: Integers, own: Floats) -> Floats:
            given = expected[rows] - own + wrong
            given[np.arange(rows.size), voices.answer[rows]] += right - wrong
            whole = total[voices.annotator[rows]] - own
            return np.asarray(np.maximum(given, LEAST) / np.maximum(whole, LEAST))

        return answering

    return learn
