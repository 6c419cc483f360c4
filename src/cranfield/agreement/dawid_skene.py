"""Dawid and Skene (1979): every annotator has a full table of how answers are confused."""

from __future__ import annotations

import numpy as np

from cranfield.agreement._em import LEAST, Maximise, Voices, normalised
from cranfield.data.judgement_log import Floats


def dawid_skene(smoothing: float = 0.0) -> Maximise:
    """The maximisation step; `smoothing` judgements are added to each cell of a table.

    Zero is the estimate of the paper. With few judgements per annotator a value such as 0.01
    keeps a table from being certain of what it saw once.
    """

    def maximise(voices: Voices, expected: Floats, _previous: Floats | None) -> Floats:
        # What an annotator never said has its pseudo-counts too, though no voice stands for it.
        unsaid = voices.answers - np.bincount(voices.annotator, minlength=voices.annotators)
        return normalised(
            voices, np.maximum(expected + smoothing, LEAST), (smoothing * unsaid).astype(np.float64)
        )

    return maximise
