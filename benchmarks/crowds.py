"""Made-up crowds whose truth is known: honest people of several kinds, and others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.data.judgement_log import SOLE_QUESTION, JudgementLog

Ints = NDArray[np.int64]
JUDGEMENTS = 200
HONEST = 15


@dataclass(frozen=True, eq=False)
class Crowd:
    """A log and its truth; `odd` are the annotators that the kind of crowd is named after."""

    name: str
    log: JudgementLog
    odd: tuple[int, ...] = ()


def log_of(
    said: Sequence[Ints], values: int, *, concept: bool = False, seconds: NDArray | None = None
) -> JudgementLog:
    """Everybody judges every item of one question; row a of `said` has the answers of a."""
    people, items = len(said), len(said[0])
    return JudgementLog(
        "concept" if concept else "category",
        tuple(f"a{i:03d}" for i in range(people)),
        tuple(f"i{i:05d}" for i in range(items)),
        ("grade" if concept else SOLE_QUESTION,),
        tuple(str(v) for v in range(values)),
        np.repeat(np.arange(people), items).astype(np.int32),
        np.tile(np.arange(items), people).astype(np.int32),
        np.zeros(people * items, dtype=np.int32),
        np.concatenate(said).astype(np.int32),
        seconds,
    )


def answered(right: float, truth: Ints, values: int, rng: np.random.Generator) -> Ints:
    """Right with one probability, and else evenly wrong."""
    hit = rng.random(truth.size) < right
    return np.where(hit, truth, (truth + rng.integers(1, values, truth.size)) % values)


def careful(
    people: int, truth: Ints, values: int, skill: tuple[float, float], rng: np.random.Generator
) -> list[Ints]:
    return [answered(p, truth, values, rng) for p in rng.uniform(*skill, people)]


def graded(
    people: int, truth: Ints, shifts: dict[int, int], rng: np.random.Generator
) -> list[Ints]:
    """Grades 0 to 4 that are one off in a third of the cases, and shifted for some people."""
    return [
        np.clip(
            truth
            + shifts.get(a, 0)
            + (rng.random(truth.size) < 0.35) * rng.choice([-1, 1], truth.size),
            0,
            4,
        )
        for a in range(people)
    ]


def only_easy(rng: np.random.Generator) -> JudgementLog:
    """Ten people, twenty concepts on twenty items; the first two mark only the easy concepts."""
    items, concepts, people = 20, 20, 10
    truth = rng.random((items, concepts)) < np.linspace(0.05, 0.4, concepts)
    rows = []
    for a in range(people):
        slips = rng.random(truth.shape) < (0.03 if a < 2 else 0.08)
        said = truth ^ slips
        if a < 2:
            said[:, 8:] = False
        rows.append(said.ravel())
    cells = items * concepts
    return JudgementLog(
        "concept",
        tuple(f"a{i:03d}" for i in range(people)),
        tuple(f"i{i:05d}" for i in range(items)),
        tuple(f"c{i:02d}" for i in range(concepts)),
        ("0", "1"),
        np.repeat(np.arange(people), cells).astype(np.int32),
        np.tile(np.repeat(np.arange(items), concepts), people).astype(np.int32),
        np.tile(np.arange(concepts), people * items).astype(np.int32),
        np.concatenate(rows).astype(np.int32),
    )


def hard_queue(rng: np.random.Generator) -> JudgementLog:
    """Fourteen people, three answers, items from easy to hard, which take longer.

    Hard items go mostly to the first three people, and the last two are four times as quick.
    """
    people, items, answers = 14, 350, 3
    difficulty = rng.beta(0.8, 1.6, items)
    truth = rng.integers(0, answers, items)
    rows = []
    for i in range(items):
        is_hard = difficulty[i] > 0.55
        weight = np.where(np.arange(people) < 3, 6.0 if is_hard else 0.15, 1.0)
        for a in rng.choice(people, rng.integers(4, 7), replace=False, p=weight / weight.sum()):
            right = rng.random() < 0.97 - 0.5 * difficulty[i]
            value = truth[i] if right else (truth[i] + rng.integers(1, answers)) % answers
            seconds = (4 + 30 * difficulty[i]) * rng.gamma(5, 0.2) / (4 if a >= people - 2 else 1)
            rows.append((a, i, value, seconds))
    annotator, item, value, times = map(np.array, zip(*sorted(rows), strict=True))
    return JudgementLog(
        "category",
        tuple(f"a{i:03d}" for i in range(people)),
        tuple(f"i{i:05d}" for i in range(items)),
        (SOLE_QUESTION,),
        tuple(str(v) for v in range(answers)),
        annotator.astype(np.int32),
        item.astype(np.int32),
        np.zeros(len(item), dtype=np.int32),
        value.astype(np.int32),
        times,
    )


def honest_crowds(rng: np.random.Generator) -> Iterator[Crowd]:
    """Crowds without a bad annotator; some of their members are unlike the others."""
    truth = rng.integers(0, 4, JUDGEMENTS)
    rare = (rng.random(JUDGEMENTS) < 0.15).astype(np.int64)
    weak = careful(12, truth, 4, (0.35, 0.5), rng)
    leaning = careful(11, truth, 4, (0.7, 0.95), rng)
    for _ in range(4):
        taken = np.where((truth == 1) & (rng.random(JUDGEMENTS) < 0.8), 2, truth)
        leaning.append(answered(0.9, taken, 4, rng))
    experts = [answered(0.96, truth, 4, rng) for _ in range(2)]
    grades = rng.integers(0, 5, JUDGEMENTS)
    shifted = graded(HONEST, grades, {0: -1, 1: 1, 2: 1}, rng)
    for name, said, values, concept, odd in (
        ("right in 70 to 95 %", careful(20, truth, 4, (0.7, 0.95), rng), 4, False, ()),
        ("right in 50 to 70 %", careful(20, truth, 4, (0.5, 0.7), rng), 4, False, ()),
        ("two answers", careful(20, truth % 2, 2, (0.7, 0.95), rng), 2, False, ()),
        ("present in 15 %", careful(20, rare, 2, (0.8, 0.97), rng), 2, True, ()),
        ("strict and lenient graders", shifted, 5, True, (0, 1, 2)),
        ("two experts in a weak crowd", weak + experts, 4, False, (12, 13)),
        ("four with the same leaning", leaning, 4, False, (11, 12, 13, 14)),
    ):
        yield Crowd(name, log_of(said, values, concept=concept), odd)
    yield Crowd("two who mark only the easy concepts", only_easy(rng), (0, 1))
    queue = hard_queue(rng)
    yield Crowd("three on the hard queue", queue, (0, 1, 2))
    yield Crowd("two who are quick and right", queue, (12, 13))


def bad_crowds(rng: np.random.Generator) -> Iterator[Crowd]:
    """Crowds of honest people and one who is not, the last."""
    truth = rng.integers(0, 4, JUDGEMENTS)
    guess = rng.integers(0, 4, JUDGEMENTS)
    half = answered(0.85, truth, 4, rng)
    half[JUDGEMENTS // 2 :] = guess[JUDGEMENTS // 2 :]
    binary = truth % 2
    binary_half = answered(0.88, binary, 2, rng)
    binary_half[JUDGEMENTS // 2 :] = guess[JUDGEMENTS // 2 :] % 2
    rarest = (rng.random(JUDGEMENTS) < 0.03).astype(np.int64)
    rare = (rng.random(JUDGEMENTS) < 0.15).astype(np.int64)
    usual = (0.7, 0.95)
    people = careful(HONEST, truth, 4, usual, rng)
    slips = rng.random(JUDGEMENTS) < 0.02
    copied = np.where(slips, guess, people[3])
    kinds: list[tuple[str, Ints, Ints, int, tuple[float, float], bool]] = [
        ("guesses", guess, truth, 4, usual, False),
        ("always the same", np.ones(JUDGEMENTS, dtype=np.int64), truth, 4, usual, False),
        ("in a pattern", np.arange(JUDGEMENTS) % 4, truth, 4, usual, False),
        ("tires half-way", half, truth, 4, usual, False),
        ("tires half-way, two answers", binary_half, binary, 2, usual, False),
        (
            "right in 40 %, else guesses",
            np.where(rng.random(JUDGEMENTS) < 0.4, truth, guess),
            truth,
            4,
            usual,
            False,
        ),
        (
            "selects nothing at 3 %",
            np.zeros(JUDGEMENTS, dtype=np.int64),
            rarest,
            2,
            (0.93, 0.99),
            True,
        ),
        (
            "guesses by the shares at 15 %",
            (rng.random(JUDGEMENTS) < 0.15).astype(np.int64),
            rare,
            2,
            (0.8, 0.97),
            True,
        ),
    ]
    last = (HONEST,)
    for name, bad, true, values, skill, concept in kinds:
        said = [*careful(HONEST, true, values, skill, rng), bad]
        yield Crowd(name, log_of(said, values, concept=concept), last)
    yield Crowd("copies", log_of([*people, copied], 4), last)
    grades = graded(HONEST, rng.integers(0, 5, JUDGEMENTS), {}, rng)
    random = rng.integers(0, 5, JUDGEMENTS)
    yield Crowd("guesses grades", log_of([*grades, random], 5, concept=True), last)
    times = rng.lognormal(np.log(20), 0.4, (HONEST + 1) * JUDGEMENTS)
    times[-JUDGEMENTS:] /= 10
    hasty = np.where(rng.random(JUDGEMENTS) < 0.5, truth, guess)
    yield Crowd("too fast", log_of([*people, hasty], 4, seconds=times), last)


@dataclass(frozen=True, eq=False)
class Sparse:
    """A log in which everybody judges as many items, and few judge each item."""

    log: JudgementLog
    truth: Ints


def sparse_crowd(
    items: int,
    per_annotator: int,
    per_item: int,
    answers: int,
    tables: bool,
    rng: np.random.Generator,
) -> Sparse:
    """People with one skill each, or with tables of confusions of their own."""
    people = max(per_item, round(items * per_item / per_annotator))
    truth = rng.integers(0, answers, items)
    right = rng.uniform(0.5 if answers > 2 else 0.55, 0.9, (people, answers if tables else 1))
    confusion = np.empty((people, answers, answers))
    for k in range(answers):
        share = rng.dirichlet(np.ones(answers - 1), people) if tables else None
        off = np.full((people, answers - 1), 1 / (answers - 1)) if share is None else share
        hit = right[:, k if tables else 0]
        confusion[:, k] = np.insert(off * (1 - hit)[:, None], k, 0.0, axis=1)
        confusion[:, k, k] = hit
    given = np.zeros(people)
    who = np.empty((items, per_item), dtype=np.int64)
    for i in range(items):
        who[i] = np.lexsort((rng.random(people), given))[:per_item]
        given[who[i]] += 1
    annotator, item = who.ravel(), np.repeat(np.arange(items), per_item)
    reached = confusion[annotator, truth[item]].cumsum(axis=1)
    said = (reached < rng.random((annotator.size, 1))).sum(axis=1).clip(0, answers - 1)
    log = JudgementLog(
        "category",
        tuple(f"a{i:03d}" for i in range(people)),
        tuple(f"i{i:05d}" for i in range(items)),
        (SOLE_QUESTION,),
        tuple(str(v) for v in range(answers)),
        annotator.astype(np.int32),
        item.astype(np.int32),
        np.zeros(item.size, dtype=np.int32),
        said.astype(np.int32),
    )
    return Sparse(log, truth)
