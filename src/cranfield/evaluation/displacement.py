"""How far a system's ranking is from the ranking that a person made.

Santini, Benchmarking without ground truth, section 5: every item of the person's list counts
with the distance between its two ranks, weighed by how significant it is to that person.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby, permutations, product
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.data import Run
from cranfield.data.categories import RankedList, SubjectRankings
from cranfield.errors import InputError, UsageError, check_counts
from cranfield.io.coerce import RunsForm, coerce_run, name_runs
from cranfield.measures import Measure, parse_measures
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.options import DISPLACEMENT
from cranfield.stats._resample import Rng
from cranfield.stats.randomization import randomization_test
from cranfield.validation import validate_params

Floats: TypeAlias = NDArray[np.float64]
Ties: TypeAlias = Literal["file", "average"]
# What may be supposed of items that were not retrieved: next, in the middle, last.
HYPOTHESES = tuple(f"Displacement(missing='{m}')" for m in ("optimist", "average", "worst"))
# Orders of equally significant items that are looked at for their mean.
MOST_ORDERS = 720


@dataclass(frozen=True, slots=True)
class DisplacementPair:
    """Two runs under a measure; `p` is of the paired randomisation test over subjects."""

    a: str
    b: str
    measure: str
    difference: float
    p: float


@dataclass(frozen=True, repr=False, eq=False)
class DisplacementScores(Answer):
    """Values per run, subject and topic; NaN where the subject has no list for the topic.

    `retrieved` has the part of the displacement that comes from items that the run retrieved,
    before any measure makes something else of it; the rest comes from those it did not.
    `listed` and `absent` count the items of all lists, and those of them not retrieved.
    """

    command: ClassVar[str] = "displacement"
    table_maker: ClassVar[str] = "cranfield.report.tables.evaluation:displacement_document"
    measures: tuple[Measure, ...]
    runs: tuple[str, ...]
    subjects: tuple[str, ...]
    topics: tuple[str, ...]
    values: Mapping[Measure, Floats]
    retrieved: Floats
    listed: int
    absent: tuple[int, ...]
    pairs: tuple[DisplacementPair, ...]

    def per_subject(self, measure: Measure) -> Floats:
        """The mean over the topics that each subject answered: a row per run."""
        return _mean_over_topics(self.values[measure])

    def mean(self, measure: Measure) -> Floats:
        """The mean over subjects for each run."""
        return np.asarray(self.per_subject(measure).mean(axis=1), dtype=np.float64)

    def spread(self, measure: Measure) -> Floats:
        """The standard deviation between subjects for each run; NaN for a single one."""
        if len(self.subjects) < 2:
            return np.full(len(self.runs), math.nan)
        return np.asarray(self.per_subject(measure).std(axis=1, ddof=1), dtype=np.float64)

    def parts(self, measure: Measure) -> list[tuple[float, float]] | None:
        """For each run the mean displacement of retrieved and of other items, if it is a sum."""
        if measure.name != "Displacement":
            return None
        of_retrieved = _mean_over_topics(self.retrieved).mean(axis=1)
        return [
            (float(f), float(t - f)) for f, t in zip(of_retrieved, self.mean(measure), strict=True)
        ]

    def subject_rows(self) -> Iterator[dict[str, Any]]:
        """The mean of each run and subject."""
        tables = {str(m): self.per_subject(m) for m in self.measures}
        for r, run in enumerate(self.runs):
            for s, subject in enumerate(self.subjects):
                values = {name: float(table[r, s]) for name, table in tables.items()}
                yield {"run": run, "subject": subject, **values}

    def topic_rows(self) -> Iterator[dict[str, Any]]:
        """Every run, subject and topic."""
        for r, run in enumerate(self.runs):
            for s, subject in enumerate(self.subjects):
                for t, topic in enumerate(self.topics):
                    values = {str(m): float(self.values[m][r, s, t]) for m in self.measures}
                    yield {"run": run, "subject": subject, "topic": topic, **values}

    def payload(self, *, per: Sequence[str] = (), **_: object) -> dict[str, Any]:
        parts: dict[str, Any] = {
            "measures": [
                {
                    "name": str(m),
                    "mean_name": m.mean_label,
                    "higher_is_better": m.higher_is_better,
                }
                for m in self.measures
            ],
            "runs": [self._run(r, run) for r, run in enumerate(self.runs)],
        }
        if self.pairs:
            parts["pairs"] = [
                {
                    "a": p.a,
                    "b": p.b,
                    "measure": p.measure,
                    "difference": p.difference,
                    "p": p.p,
                }
                for p in self.pairs
            ]
        if "subject" in per:
            parts["per_subject"] = list(self.subject_rows())
        if "topic" in per:
            parts["per_topic"] = list(self.topic_rows())
        return parts

    def _run(self, r: int, run: str) -> dict[str, Any]:
        sums = {str(m): parts[r] for m in self.measures if (parts := self.parts(m)) is not None}
        return {
            "name": run,
            "mean": {str(m): float(self.mean(m)[r]) for m in self.measures},
            "sd": {str(m): float(self.spread(m)[r]) for m in self.measures},
            "subjects": len(self.subjects),
            "topics": len(self.topics),
            "items": {"listed": self.listed, "not_retrieved": self.absent[r]},
            "parts": {m: {"retrieved": f, "not_retrieved": g} for m, (f, g) in sums.items()},
        }

    def headline(self) -> str:
        first = self.measures[0]
        means = ", ".join(f"{n} {v:.4f}" for n, v in zip(self.runs, self.mean(first), strict=True))
        return f"{first} over {len(self.subjects)} subjects: {means}"


def _mean_over_topics(values: Floats) -> Floats:
    answered = ~np.isnan(values)
    total = np.where(answered, values, 0.0).sum(axis=2)
    return np.asarray(total / answered.sum(axis=2), dtype=np.float64)


@validate_params
@with_progress
def evaluate_displacement(
    rankings: SubjectRankings,
    runs: RunsForm,
    measures: str | Measure | Sequence[str | Measure] = DISPLACEMENT,
    *,
    collection_size: int | None = None,
    hypotheses: bool = False,
    ties: Ties = "file",
    rng: Rng = 0,
    progress: Watcher | None = None,
) -> DisplacementScores:
    """Compare runs with the ranked list of every subject.

    A topic that a run misses counts as an empty ranking. With `hypotheses` the displacement is
    also told under each assumption about items that were not retrieved. Items that are equally
    significant to a subject stand as in the file, or with ties='average' the mean over their
    orders is taken.
    """
    check_counts(collection_size=collection_size)
    parsed = parse_measures(measures)
    if hypotheses:
        parsed = (*parsed, *(m for m in parse_measures(" ".join(HYPOTHESES)) if m not in parsed))
    for m in parsed:
        if "subjects" not in m.needs:
            raise UsageError(
                f"{m} does not compare rankings with those of people; here are: {DISPLACEMENT}"
            )
    run_list = [coerce_run(run, name) for name, run in name_runs(runs)]
    report_progress, notes = Progress.of(progress), Notes()
    shape = (len(run_list), len(rankings.subjects), len(rankings.topics))
    values = {m: np.full(shape, math.nan) for m in parsed}
    retrieved = np.full(shape, math.nan)
    absent = []
    for r, run in enumerate(run_list):
        _note_topics(notes, run, rankings)
        missed = 0
        run_topics = set(run.topics)
        for t, topic in enumerate(rankings.topics):
            order = run.ranking(topic) if topic in run_topics else []
            _check_size(order, rankings, topic, run.name, collection_size)
            place = {item: i for i, item in enumerate(order, start=1)}
            for s, subject in enumerate(rankings.subjects):
                ideal = rankings.lists[subject].get(topic)
                if ideal is None:
                    continue
                missed += sum(item not in place for item, _ in ideal)
                orders = [ideal] if ties == "file" else list(_orders(ideal))
                retrieved[r, s, t] = np.mean([_of_retrieved(w, place) for w in orders])
                for m in parsed:
                    plan = m.plan(m, None)
                    distances = [plan(w, place, collection_size) for w in orders]
                    values[m][r, s, t] = distances[0] if len(distances) == 1 else np.mean(distances)
        absent.append(missed)
        report_progress((r + 1) / len(run_list))
    _note_subjects(notes, rankings)
    names = tuple(run.name for run in run_list)
    return DisplacementScores(
        parsed,
        names,
        rankings.subjects,
        rankings.topics,
        values,
        retrieved,
        sum(len(w) for lists in rankings.lists.values() for w in lists.values()),
        tuple(absent),
        _pairs(names, values, rng),
        notes=notes.lines(),
    )


def _orders(ideal: RankedList) -> Iterator[RankedList]:
    """The orders of a list in which only equally significant items change places."""
    groups = [tuple(group) for _, group in groupby(ideal, key=lambda pair: pair[1])]
    turned: Iterable[tuple[RankedList, ...]]
    if math.prod(math.factorial(len(g)) for g in groups) <= MOST_ORDERS:
        turned = product(*(permutations(g) for g in groups))
    else:
        # Every item of a group in every place of it, as often.
        places = range(min(math.lcm(*map(len, groups)), MOST_ORDERS))
        turned = (tuple(g[i % len(g) :] + g[: i % len(g)] for g in groups) for i in places)
    for parts in turned:
        yield tuple(pair for part in parts for pair in part)


def _of_retrieved(ideal: RankedList, place: Mapping[str, int]) -> float:
    """The part of the weighted displacement that comes from items that were retrieved."""
    return math.fsum(
        significance * abs(rank - place[item])
        for rank, (item, significance) in enumerate(ideal, start=1)
        if item in place
    )


def _pairs(
    names: tuple[str, ...], values: Mapping[Measure, Floats], rng: Rng
) -> tuple[DisplacementPair, ...]:
    combined = list(combinations(range(len(names)), 2))
    if not combined:
        return ()
    pairs = []
    for measure, table in values.items():
        means = _mean_over_topics(table)
        p = np.full(len(combined), math.nan)
        if means.shape[1] > 1:
            p = randomization_test(means, np.array(combined), rng=rng).p
        pairs += [
            DisplacementPair(
                names[a], names[b], str(measure), float((means[a] - means[b]).mean()), float(p[i])
            )
            for i, (a, b) in enumerate(combined)
        ]
    return tuple(pairs)


def _note_topics(notes: Notes, run: Run, rankings: SubjectRankings) -> None:
    run_topics = set(run.topics)
    absent = [t for t in rankings.topics if t not in run_topics]
    if len(absent) == len(rankings.topics):
        raise InputError.single(
            run.name, f"none of its topics ({', '.join(run.topics[:5])}) has a subject's list"
        )
    if absent:
        notes.add(
            f"{run.name} misses {len(absent)} of {len(rankings.topics)} topics "
            f"({', '.join(absent[:5])}), scored as empty rankings"
        )


def _note_subjects(notes: Notes, rankings: SubjectRankings) -> None:
    for subject in rankings.subjects:
        skipped = [t for t in rankings.topics if t not in rankings.lists[subject]]
        if skipped:
            notes.add(
                f"subject {subject} has no list for {len(skipped)} of {len(rankings.topics)} "
                "topics; the mean of this subject is over the others"
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
    items = set(order)
    for topics in rankings.lists.values():
        items.update(item for item, _ in topics.get(topic, ()))
    if len(items) > collection_size:
        raise UsageError(
            f"collection size {collection_size} is too small: {run} and the subjects know "
            f"{len(items)} items for topic {topic!r}"
        )


# What a system answers: the items of a topic, best first, as many as were asked for or fewer.
Ask = Callable[[str, int], Sequence[str]]


@dataclass(frozen=True)
class SearchDepths:
    """A run that is long enough, how many items each topic took, and what was never found."""

    run: Run
    depths: dict[str, int]
    never: dict[str, tuple[str, ...]]


@validate_params
def ask_until_found(
    people: SubjectRankings,
    ask: Ask,
    *,
    first: int = 10,
    most: int | None = None,
    name: str = "run",
) -> SearchDepths:
    """Ask for `first` items of every topic, then twice as many and so on, until all are there.

    It ends when every item that any person listed is found, when the system has no more to
    give, or at `most` items. Answers must grow: what was given before comes first again.

    >>> people = SubjectRankings.from_rows([("s", "q", "x", 1.0), ("s", "q", "z", 0.5)])
    >>> found = ask_until_found(people, lambda topic, count: "abxcdez"[:count], first=2)
    >>> found.depths, found.never
    ({'q': 7}, {})
    """
    check_counts(first=first, most=most)
    rankings: dict[str, dict[str, float]] = {}
    depths, never = {}, {}
    for topic in people.topics:
        targets = {item for lists in people.lists.values() for item, _ in lists.get(topic, ())}
        items = _enough(topic, targets, ask, first, most)
        places = {item: place for place, item in enumerate(items, 1)}
        missed = tuple(sorted(targets - places.keys()))
        if missed:
            never[topic] = missed
        depths[topic] = len(items)
        rankings[topic] = {item: -float(place) for item, place in places.items()}
    return SearchDepths(Run.from_dict(rankings).named(name), depths, never)


def _enough(topic: str, targets: set[str], ask: Ask, first: int, limit: int | None) -> list[str]:
    count, before = first, list[str]()
    while True:
        count = count if limit is None else min(count, limit)
        items = list(ask(topic, count))[:count]
        if len(set(items)) < len(items):
            raise UsageError(f"topic {topic}: the system gives an item twice")
        if items[: len(before)] != before:
            raise UsageError(f"topic {topic}: asked for {count} items, the first ones changed")
        if targets <= set(items) or len(items) < count or count == limit:
            return items
        count, before = 2 * count, items
