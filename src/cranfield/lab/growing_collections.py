"""The same topics in growing collections: does a measure stay where it was?

Chatzichristofis et al., section 5.2 (Table 2). Items that are not relevant to a topic are taken
out of its collection, and so of the runs, by chance; the relevant ones always stay.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.data.tables import Judgements, Run, coded_items
from cranfield.errors import UsageError, check_at_most, check_counts, plural
from cranfield.evaluation.scores import aggregate
from cranfield.lab.study_input import RankedMaterial, StudyInput, notes_of
from cranfield.measures import Measure, parse_measures
from cranfield.notes import Notes, Watcher, with_progress
from cranfield.options import COLLECTION_SHARES, LAB_GENERALITY
from cranfield.stats._resample import Floats
from cranfield.validation import Seed, validate_params
from cranfield.work.executors import Plain, Plan, run_pieces
from cranfield.work.seeds import generator
from cranfield.work.serialisation import floats, numbers

# Items of a simulated topic; topics are held one by one.
MOST_SIMULATED = 4_000_000
_SIMULATE = 22
# Items whose numbers are kept.
_KEPT = 1 << 20


def deviation_percent(base: float, value: float) -> float:
    """The difference from the smallest collection in percent of its value (Ch Table 2)."""
    return abs(value - base) / abs(base) * 100 if base else float("nan")


@dataclass(frozen=True, repr=False, eq=False)
class Generality(Answer):
    """`scores` is sizes x runs x measures; deviations are of the mean over runs."""

    command: ClassVar[str] = "lab generality"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:generality_document"

    measures: tuple[str, ...]
    runs: tuple[str, ...]
    sizes: tuple[int, ...]
    scores: Floats
    seed: int

    def mean(self) -> Floats:
        """Sizes x measures: the mean over runs."""
        means: Floats = self.scores.mean(axis=1)
        return means

    def deviation(self, measure: str) -> tuple[float, ...]:
        """Per size, in percent from the smallest."""
        column = self.mean()[:, self.measures.index(measure)]
        return tuple(deviation_percent(float(column[0]), float(v)) for v in column)

    def headline(self) -> str:
        sizes = ", ".join(f"{size:,}" for size in self.sizes)
        return f"{plural(len(self.measures), 'measure')} in collections of {sizes} items"

    def payload(self, **_: object) -> dict[str, Any]:
        return {
            "study": "generality",
            "sizes": list(self.sizes),
            "seed": self.seed,
            "measures": {
                m: {
                    "mean": self.mean()[:, j].tolist(),
                    "deviation_percent": list(self.deviation(m)),
                    "runs": dict(zip(self.runs, self.scores[:, :, j].T.tolist(), strict=True)),
                }
                for j, m in enumerate(self.measures)
            },
        }


@dataclass(frozen=True, slots=True)
class _Piece:
    material: RankedMaterial
    name: str
    source: Any
    shares: tuple[float, ...]
    size: int
    seed: int


@validate_params
@with_progress
def generality(
    material: StudyInput,
    *,
    collection_size: int | None = None,
    shares: tuple[float, ...] = COLLECTION_SHARES,
    rng: Seed = 0,
    plan: Plan | None = None,
    progress: Watcher | None = None,
) -> Generality:
    """Shrink the collection of real runs to each share of its size, and score them again.

    Annotations take part as rankings of items for each concept (`StudyInput.concepts`); their
    collection is the items of the truth.
    """
    if not isinstance(material, RankedMaterial):
        raise UsageError(
            "generality is a study of rankings; read annotations by StudyInput.concepts"
        )
    size = collection_size or material.collection_size
    if size is None:
        raise UsageError("generality needs to know how many items there are (by collection_size=)")
    if (
        len(shares) < 2
        or list(shares) != sorted(set(shares))
        or not 0 < shares[0] <= shares[-1] <= 1
    ):
        raise UsageError("shares of the collection rise from above 0 to at most 1, two or more")
    plan = plan or Plan()
    material = material.for_plan(plan)
    options = tuple(o for o in material.options if o[0] != "collection_size")
    without_runs = replace(material.without_runs(), options=(*options, ("collection_size", size)))
    pieces = {n: _Piece(without_runs, n, s, shares, size, rng) for n, s in material.runs}
    study = {
        "study": "generality",
        **material.described(),
        "shares": list(shares),
        "size": size,
        "seed": rng,
    }
    answers = run_pieces(
        _run_piece, pieces, plan, study=study, loads=material.loads, progress=progress
    )
    scores = floats([a["sizes"] for a in answers.values()]).transpose(1, 0, 2)
    sizes = tuple(round(s * size) for s in shares)
    names = tuple(map(str, material.measures))
    return Generality(names, material.run_names, sizes, scores, rng, notes=notes_of(answers))


def _run_piece(task: _Piece) -> Plain:
    from cranfield.evaluation.ranked import evaluate

    material = task.material
    judged = material.read_judgements()
    run = material.read_run(task.source, task.name)
    if not set(run.topics) & set(judged.topics):
        raise UsageError(
            f"<{task.name}>: none of its topics is judged; do run and judgements belong together?"
        )
    shrinking = _Shrinking(judged, run, task.size, task.seed)
    sizes = [round(share * task.size) for share in task.shares]
    for size in sizes:
        shrinking.check_room(size)
    # The whole collection, and what is noticed there, which holds for all of them.
    notes = Notes()
    _, full_scores = material.examine(task.source, task.name, notes)
    rows: list[list[float | None]] = []
    for size in sizes:
        if size == task.size:
            rows.append(numbers(map(float, full_scores.overall)))
            continue
        truth, smaller = shrinking.to(size)
        options = material.evaluation() | {"collection_size": size}
        scores = evaluate(truth, [smaller], material.names, jobs=1, **options)
        rows.append(numbers(float(scores.overall[m][0]) for m in scores.measures))
    return {"sizes": rows, "notes": list(notes.lines())}


class _Shrinking:
    """Judgements and run over collections of fewer items: for each topic its relevant items, and
    others by chance, the same ones for every run and, where they are relevant to none, every
    topic."""

    def __init__(self, judged: Judgements, run: Run, full: int, seed: int) -> None:
        self.judged, self.run, self.full = judged, run, full
        names, codes = coded_items(judged, run)
        chances = _chances(seed)
        chance = np.array([chances[name] for name in names])
        self.judged_topics, self.run_topics = _topics_of_rows(judged, run)
        judged_codes, run_codes = codes[: len(judged)], codes[len(judged) :]
        # Relevant items are below every limit, items of topics that are not judged above it.
        relevant = judged.values >= 1
        self.judged_chances = np.where(relevant, -1.0, chance[judged_codes])
        places = self.judged_topics * len(names) + judged_codes
        order = np.argsort(places)
        run_places = self.run_topics * len(names) + run_codes
        nearest = order[
            np.minimum(np.searchsorted(places, run_places, sorter=order), len(places) - 1)
        ]
        is_judged = places[nearest] == run_places
        self.run_chances = np.where(is_judged & relevant[nearest], -1.0, chance[run_codes])
        self.run_chances[self.run_topics < 0] = np.inf
        # What is known of each topic beside its relevant items: judged, or retrieved only.
        others = ~is_judged & (self.run_topics >= 0)
        self.other_topics = np.append(self.judged_topics[~relevant], self.run_topics[others])
        self.other_chances = np.append(self.judged_chances[~relevant], self.run_chances[others])
        self.relevant = self._counts(self.judged_topics[relevant])
        self.known = self.relevant + self._counts(self.other_topics)

    def _counts(self, topics: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(topics, minlength=len(self.judged.topics))

    def check_room(self, size: int) -> None:
        """An error where more items are known than there are, or more relevant ones than stay."""
        for t in np.flatnonzero((self.known > self.full) | (self.relevant > size)).tolist():
            topic = self.judged.topics[t]
            _check_room(topic, int(self.known[t]), int(self.relevant[t]), size, self.full)

    def to(self, size: int) -> tuple[Judgements, Run]:
        """Judgements and run in collections of so many items."""
        limits = self._limits(size)
        judged = np.flatnonzero(self.judged_chances < limits[self.judged_topics])
        ranked = np.flatnonzero(self.run_chances < limits[self.run_topics])
        return self.judged.of_rows(judged), self.run.of_rows(ranked)

    def _limits(self, size: int) -> Floats:
        """Per topic: items below it stay."""
        room = size - self.relevant
        # Where all items are known the collection has its size to the item; else on average.
        unsure = np.maximum(self.full - self.relevant, 1)
        limits = np.where(self.known >= self.full, 1.0, room / unsure)
        below = self.other_chances < limits[self.other_topics]
        for t in np.flatnonzero(self._counts(self.other_topics[below]) > room).tolist():
            topic_chances = np.sort(self.other_chances[below & (self.other_topics == t)])
            limits[t] = topic_chances[room[t]]
        return limits


def _topics_of_rows(judged: Judgements, run: Run) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each row's topic among those that are judged, -1 for others."""
    numbers = {topic: n for n, topic in enumerate(judged.topics)}
    of_run = np.array([numbers.get(topic, -1) for topic in run.topics], dtype=np.int64)
    return (
        np.repeat(np.arange(len(numbers)), np.diff(judged.offsets)),
        np.repeat(of_run, np.diff(run.offsets)),
    )


def _check_room(topic: str, known_items: int, relevant: int, size: int, full: int) -> None:
    """An error where more items are known than there are, or more relevant ones than may stay."""
    if known_items > full:
        raise UsageError(
            f"a collection of {full} items cannot hold the {known_items} that are judged or "
            f"retrieved for topic {topic!r}; give its true size (by collection_size=)"
        )
    if relevant > size:
        raise UsageError(
            f"a collection of {size} items cannot hold the {relevant} that are relevant to topic "
            f"{topic!r}; leave out sizes below {relevant} items ({relevant / full:.0%} of all)"
        )


class _Chances(dict[str, float]):
    """A number in [0, 1) that an item has in every run and on every machine."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed

    def __missing__(self, item: str) -> float:
        digest = hashlib.blake2b(f"{self.seed}:{item}".encode(), digest_size=8).digest()
        chance = int.from_bytes(digest, "big") / 2.0**64
        if len(self) < _KEPT:
            self[item] = chance
        return chance


# Every run and size asks for the same items again.
_chances = lru_cache(maxsize=2)(_Chances)


@validate_params
@with_progress
def simulated_generality(
    measures: str | Iterable[str | Measure] = LAB_GENERALITY,
    *,
    sizes: tuple[int, ...] = (1000, 10_000, 100_000),
    relevant: int = 20,
    topics: int = 20,
    quality: float = 1.5,
    rng: Seed = 0,
    plan: Plan | None = None,
    progress: Watcher | None = None,
) -> Generality:
    """Systems whose scores are normal, those of relevant items higher by `quality`.

    The relevant items keep their scores while the collection grows round them.
    """
    check_counts(relevant=relevant, topics=topics)
    if list(sizes) != sorted(set(sizes)) or len(sizes) < 2 or sizes[0] <= relevant:
        raise UsageError(f"sizes rise, two or more, from above the {relevant} relevant items")
    check_at_most(MOST_SIMULATED, sizes=sizes[-1])
    names = tuple(map(str, parse_measures(measures)))
    tasks = {
        str(size): _Simulated(" ".join(names), size, sizes[-1], relevant, topics, quality, rng)
        for size in sizes
    }
    study = {"study": "generality, simulated", "pieces": [repr(p) for p in tasks.values()]}
    answers = run_pieces(_simulated_piece, tasks, plan or Plan(), study=study, progress=progress)
    rows = floats([a["overall"] for a in answers.values()])
    return Generality(names, ("simulated",), tuple(sizes), rows[:, None, :], rng)


@dataclass(frozen=True, slots=True)
class _Simulated:
    names: str
    size: int
    largest: int
    relevant: int
    topics: int
    quality: float
    seed: int


def _simulated_piece(task: _Simulated) -> Plain:
    from cranfield.evaluation.ranked import evaluate

    items = [f"r{k}" for k in range(task.relevant)]
    items += [f"x{k}" for k in range(task.size - task.relevant)]
    parts = []
    for t in range(task.topics):
        draw = generator(task.seed, _SIMULATE, t)
        good = draw.normal(task.quality, 1.0, task.relevant)
        others = draw.normal(0.0, 1.0, task.largest)[: task.size - task.relevant]
        values = [*good.tolist(), *(-np.sort(-others)).tolist()]
        run = {str(t): dict(zip(items, values, strict=True))}
        judged = {str(t): dict.fromkeys(items[: task.relevant], 1)}
        # All topics have as many relevant items, so that none needs to know of the others.
        size = task.size
        parts.append(evaluate(judged, {"simulated": run}, task.names, collection_size=size, jobs=1))
    measures = parts[0].measures
    rows = {m: np.concatenate([part.values[m][0] for part in parts]) for m in measures}
    return {"overall": numbers(aggregate(m, rows[m]) for m in measures)}
