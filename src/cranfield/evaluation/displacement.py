"""How far a system's ranking is from the ranking that a person made.

Santini, Benchmarking without ground truth, section 5: every item of the person's list counts
with the distance between its two ranks, weighed by how significant it is to that person.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.data import Run
from cranfield.data.subjects import SubjectRankings
from cranfield.errors import InputError, UsageError, check_counts
from cranfield.measures import Measure, parse_measures

DEFAULT_MEASURES = "Displacement DisplacementQuality"


@dataclass(frozen=True)
class DisplacementScores:
    """Values per run, subject and topic; NaN where the subject has no list for the topic."""

    measures: tuple[Measure, ...]
    runs: tuple[str, ...]
    subjects: tuple[str, ...]
    topics: tuple[str, ...]
    values: Mapping[Measure, NDArray[np.float64]]
    notes: tuple[str, ...] = ()

    def per_subject(self, measure: Measure) -> NDArray[np.float64]:
        """The mean over the topics that each subject answered: a row per run."""
        values = self.values[measure]
        answered = ~np.isnan(values)
        total = np.where(answered, values, 0.0).sum(axis=2)
        return np.asarray(total / answered.sum(axis=2), dtype=np.float64)

    def mean(self, measure: Measure) -> NDArray[np.float64]:
        """The mean over subjects for each run."""
        return np.asarray(self.per_subject(measure).mean(axis=1), dtype=np.float64)

    def spread(self, measure: Measure) -> NDArray[np.float64]:
        """The standard deviation between subjects for each run; NaN for a single one."""
        if len(self.subjects) < 2:
            return np.full(len(self.runs), math.nan)
        return np.asarray(self.per_subject(measure).std(axis=1, ddof=1), dtype=np.float64)


def evaluate_displacement(
    rankings: SubjectRankings,
    runs: Sequence[Run],
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    collection_size: int | None = None,
) -> DisplacementScores:
    """Compare runs with the ranked list of every subject.

    A topic that a run misses counts as an empty ranking.
    """
    check_counts(collection_size=collection_size)
    chosen = parse_measures(measures)
    for m in chosen:
        if "subjects" not in m.needs:
            raise UsageError(
                f"{m} does not compare rankings with those of people; here are: {DEFAULT_MEASURES}"
            )
    shape = (len(runs), len(rankings.subjects), len(rankings.topics))
    values = {m: np.full(shape, math.nan) for m in chosen}
    notes: list[str] = []
    for r, run in enumerate(runs):
        known = set(run.topics)
        absent = [t for t in rankings.topics if t not in known]
        if len(absent) == len(rankings.topics):
            raise InputError.single(
                run.name, f"none of its topics ({', '.join(run.topics[:5])}) has a subject's list"
            )
        if absent:
            notes.append(
                f"{run.name} misses {len(absent)} of {len(rankings.topics)} topics "
                f"({', '.join(absent[:5])}), scored as empty rankings"
            )
        for t, topic in enumerate(rankings.topics):
            order = run.ranking(topic) if topic in known else []
            _check_size(order, rankings, topic, run.name, collection_size)
            place = {item: i for i, item in enumerate(order, start=1)}
            for s, subject in enumerate(rankings.subjects):
                wanted = rankings.lists[subject].get(topic)
                if wanted is None:
                    continue
                for m in chosen:
                    values[m][r, s, t] = m.plan(m, None)(wanted, place, collection_size)
    skipped = [
        (s, [t for t in rankings.topics if t not in rankings.lists[s]]) for s in rankings.subjects
    ]
    notes += [
        f"subject {s} has no list for {len(topics)} of {len(rankings.topics)} topics; the mean of "
        "this subject is over the others"
        for s, topics in skipped
        if topics
    ]
    return DisplacementScores(
        chosen,
        tuple(r.name for r in runs),
        rankings.subjects,
        rankings.topics,
        values,
        tuple(notes),
    )


def _check_size(
    order: Sequence[str],
    rankings: SubjectRankings,
    topic: str,
    run: str,
    collection_size: int | None,
) -> None:
    if collection_size is None:
        return
    known = set(order)
    for topics in rankings.lists.values():
        known.update(item for item, _ in topics.get(topic, ()))
    if len(known) > collection_size:
        raise UsageError(
            f"collection size {collection_size} is too small: {run} and the subjects know "
            f"{len(known)} items for topic {topic!r}"
        )
