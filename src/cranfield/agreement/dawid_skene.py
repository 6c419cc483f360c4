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
        # Table of each voice with what was given before, and that of all its annotator's answers.
        given_by = expected + wrong
        given_by[np.arange(voices.answer.size), voices.answer] += right - wrong
        whole_of = np.empty_like(expected)
        before = right + wrong * (voices.answers - 1)
        for k, column in enumerate(expected.T):
            total = voices.per_annotator(np.maximum(column, LEAST)) + before
            whole_of[:, k] = total[voices.annotator]

        def answering(rows: Integers, own: Floats) -> Floats:
            # In place: this is the costly line of the second round.
            given, whole = given_by[rows], whole_of[rows]
            given -= own
            whole -= own
            np.maximum(given, LEAST, out=given)
            given /= np.maximum(whole, LEAST, out=whole)
            return given

        return answering

    return learn
