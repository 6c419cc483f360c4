"""Which unit of a crowd to show next, and to whom: where an opinion tells the most.

The posterior of each answer comes from a model of the annotators. What an opinion is expected to
tell about an answer is the information between the two, in bits: it is high where the posterior
is a toss-up and the person usually right, and nothing where all is sure or the person guesses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cranfield.agreement.adaptive_overlap import (
    AdaptiveOverlap,
    annotator_reliability,
    estimate_answers,
    item_confidence,
    opinions_per_item,
)
from cranfield.agreement.aggregation import recommended_method
from cranfield.answers import Answer
from cranfield.data.judgement_log import Floats, JudgementLog
from cranfield.errors import UsageError, plural, suggest
from cranfield.io.files import FileForm
from cranfield.io.judgement_log import Duplicates, read_judgement_log
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.options import AggregationMethod
from cranfield.validation import validate_params


@dataclass(frozen=True, slots=True)
class NextOpinion:
    """A unit to show next, to whom, and what that opinion is expected to tell, in bits.

    `confidence` is the probability of the least certain answer so far, of `opinions` people.
    """

    item: str
    annotator: str
    information: float
    confidence: float
    opinions: int


@dataclass(frozen=True, repr=False, eq=False)
class NextOpinions(Answer):
    """The opinions to ask for next, the most telling first, and whether any is needed."""

    command: ClassVar[str] = "truth next"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:next_opinions_document"

    method: str
    sure: float
    least: int
    most: int
    items: int
    open: int
    opinions: tuple[NextOpinion, ...]
    stop: str

    def headline(self) -> str:
        if self.stop:
            return self.stop
        return (
            f"{plural(len(self.opinions), 'opinion')} to ask for; "
            f"{self.open} of {plural(self.items, 'item')} open"
        )

    def payload(self, **_: Any) -> dict[str, Any]:
        return {
            "method": self.method,
            "sure": self.sure,
            "least": self.least,
            "most": self.most,
            "items": self.items,
            "open": self.open,
            "stop": self.stop,
            "opinions": [
                {
                    "item": o.item,
                    "annotator": o.annotator,
                    "information": o.information,
                    "confidence": o.confidence,
                    "opinions": o.opinions,
                }
                for o in self.opinions
            ],
        }


def expected_information(answers: Floats, reliability: Floats) -> Floats:
    """The bits that one opinion tells of each answer (rows) by each annotator (columns).

    An annotator is right with the own reliability, and else gives any other answer.

    >>> expected_information(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([1.0, 0.5])).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    count = answers.shape[1]
    if count < 2:
        return np.zeros((len(answers), len(reliability)))
    wrong = (1.0 - reliability) / (count - 1)
    likelihoods = answers[:, None, :] * (reliability - wrong)[:, None] + wrong[:, None]
    # What the person's errors alone spread is no information.
    noise = _bits(reliability) + (count - 1) * _bits(wrong)
    return np.asarray(np.maximum(_bits(likelihoods).sum(axis=2) - noise, 0.0))


def _bits(chances: Floats) -> Floats:
    return np.asarray(-chances * np.log2(np.where(chances > 0, chances, 1.0)))


@validate_params
@with_progress
def next_opinions(
    log: JudgementLog | FileForm,
    *,
    count: int = 100,
    sure: float = 0.9,
    least: int = 2,
    most: int = 5,
    people: Sequence[str] = (),
    method: AggregationMethod | None = None,
    duplicates: Duplicates = "error",
    progress: Watcher | None = None,
) -> NextOpinions:
    """The items of a crowd that want another opinion, and who should give it.

    An item is open until a model of the annotators is `sure` of all its answers, or `most` people
    gave theirs; each has `least`. Of all open items and of all `people` (as many as judged, unless
    they are named) who have not judged them, the pair is next that is expected to tell the most.
    No annotator gets more than an even share of the `count` opinions, rounded up.
    """
    if count < 1:
        raise UsageError(f"count={count} is not a whole number from 1 on")
    rule = AdaptiveOverlap(sure, most, least)
    watched = Progress.of(progress)
    opinions = (
        log if isinstance(log, JudgementLog) else read_judgement_log(log, duplicates=duplicates)
    )
    strangers = [name for name in people if name not in opinions.annotators]
    if strangers:
        suggestion = suggest(strangers[0], list(opinions.annotators))
        raise UsageError(f"people has {strangers[0]!r}, who has judged nothing.{suggestion}")
    notes = Notes()
    name = method or recommended_method(opinions)[0]
    estimate = estimate_answers(opinions, name)
    watched(0.6)
    open_items = np.flatnonzero(rule.open_items(opinions, estimate))
    confidence = item_confidence(opinions, estimate)
    counts = opinions_per_item(opinions)
    annotators = [opinions.annotators.index(p) for p in people] or list(
        range(len(opinions.annotators))
    )
    reliability = annotator_reliability(estimate)[annotators]
    information = np.zeros((len(opinions.items), len(annotators)))
    is_open = np.isin(estimate.item, open_items)
    bits = expected_information(estimate.probability[is_open], reliability)
    np.add.at(information, estimate.item[is_open], bits)
    column = np.full(len(opinions.annotators), -1)
    column[annotators] = np.arange(len(annotators))
    theirs = column[opinions.annotator] >= 0
    information[opinions.item[theirs], column[opinions.annotator[theirs]]] = -1.0
    watched(0.9)
    best_pairs = _best_pairs(information[open_items], counts[open_items] < least, count)
    rows = [
        NextOpinion(
            opinions.items[open_items[i]],
            opinions.annotators[annotators[a]],
            float(information[open_items[i], a]),
            float(confidence[open_items[i]]),
            int(counts[open_items[i]]),
        )
        for i, a in best_pairs
    ]
    stop = "" if open_items.size else f"every item is {sure:.0%} sure, or has {most} opinions"
    if open_items.size and not rows:
        notes.add("every annotator has judged the open items: ask other people")
    return NextOpinions(
        name,
        sure,
        least,
        most,
        len(opinions.items),
        int(open_items.size),
        tuple(rows),
        stop,
        notes=notes.lines(),
    )


def _best_pairs(information: Floats, wanting: np.ndarray, count: int) -> list[tuple[int, int]]:
    """Items (rows) and people for the next opinions, each item once; those wanting come first."""
    items, people = information.shape
    share = math.ceil(min(count, items) / max(people, 1))
    best = np.lexsort((-information.max(axis=1, initial=0.0), ~wanting))
    opinion_counts = np.zeros(people, dtype=np.int64)
    pairs: list[tuple[int, int]] = []
    for item in best.tolist():
        if len(pairs) == count:
            break
        gains = np.where(opinion_counts < share, information[item], -1.0)
        person = int(np.argmax(gains)) if people else -1
        if person >= 0 and gains[person] >= 0:
            opinion_counts[person] += 1
            pairs.append((item, person))
    return pairs
