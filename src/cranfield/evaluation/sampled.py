"""Judgements that are a sample: topics of which the sample found nothing relevant."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from cranfield.errors import plural

if TYPE_CHECKING:
    from cranfield.data import Judgements
    from cranfield.measures import Measure
    from cranfield.notes import Notes

# Measures that estimate what all judgements would say from those of a sample.
ESTIMATES = ("infAP", "xinfAP")


def note_empty_samples(measures: Sequence[Measure], judgements: Judgements, notes: Notes) -> None:
    """Note how many topics count 0 for want of a relevant item in the sample, and what of it."""
    for measure in measures:
        if measure.name not in ESTIMATES or measure.value_of("empty") == "out":
            continue
        least = float(measure.value_of("rel"))
        total = len(judgements.topics)
        ends = pairwise(judgements.offsets.tolist())
        empty = sum(not (judgements.values[a:b] >= least).any() for a, b in ends)
        if 0 < empty < total:
            notes.add(
                f"{measure}: the sample of {plural(empty, 'topic')} of {total} holds no relevant "
                f"item, and counts 0; over the others the mean of a run is "
                f"{total / (total - empty):.4g} times as high (empty='out' takes that mean)"
            )
