"""Soft ground truth: probabilities of grades and of concepts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from cranfield.data.tables import Judgements
from cranfield.errors import PROBLEMS_SHOWN, InputError, Problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    from cranfield._lazy import np

Floats: TypeAlias = "NDArray[np.float64]"
# Probabilities of one item may miss 1 by so much, for those that were rounded to be written.
SLACK = 1e-3
MOST_LEVELS = 250


class ChanceRow(NamedTuple):
    """The probability of one grade of one item, and the line where it was read."""

    topic: str
    item: str
    grade: float
    probability: float
    line: int = 0


def soft_judgements(
    rows: Iterable[ChanceRow],
    source_name: str,
    question_kind: Literal["topic", "concept", "category"] = "topic",
    categories: Sequence[str] = (),
) -> Judgements:
    """Judgements with probabilities, or an InputError that names the items that have none.

    `question_kind` names the unit in messages; `categories` are the names of grades, if any.
    """
    all_rows = list(rows)

    def unit(topic: str, item: str) -> str:
        return f"item {item!r}" + (
            "" if question_kind == "category" else f" for {question_kind} {topic!r}"
        )

    levels = sorted({row.grade for row in all_rows})
    if len(levels) > MOST_LEVELS:
        raise InputError.single(
            source_name, f"has {len(levels)} grades; at most {MOST_LEVELS} can be"
        )
    at = {grade: i for i, grade in enumerate(levels)}
    chances_by_unit: dict[tuple[str, str], list[float]] = {}
    lines: dict[tuple[str, str], int] = {}
    problems: list[Problem] = []
    for row in all_rows:
        key = (row.topic, row.item)
        chances = chances_by_unit.setdefault(key, [0.0] * len(levels))
        lines.setdefault(key, row.line)
        answer = f"category {categories[int(row.grade)]!r}" if categories else ""
        answer = answer or f"{'grade' if question_kind == 'topic' else 'value'} {row.grade:g}"
        fault = _chance_fault(row, chances[at[row.grade]], answer, unit(row.topic, row.item))
        if fault:
            problems.append(Problem(row.line, fault))
        chances[at[row.grade]] = row.probability
    for key, chances in chances_by_unit.items():
        total = sum(chances)
        if not problems and abs(total - 1.0) > SLACK:
            problems.append(
                Problem(
                    lines[key],
                    f"the probabilities of {unit(*key)} add up to {total:.6g}, not to 1",
                )
            )
    if problems:
        raise InputError(source_name, problems[:PROBLEMS_SHOWN], len(problems))
    if not chances_by_unit:
        raise InputError.single(source_name, "is empty: no probability of any grade")
    return _table(chances_by_unit, np.array(levels, dtype=np.float64))


def _chance_fault(row: ChanceRow, before: float, answer: str, unit: str) -> str:
    if not 0.0 <= row.probability <= 1.0:
        return f"probability {row.probability:g} of {unit} is not between 0 and 1"
    if row.grade < 0:
        return f"{answer} of item {row.item!r} is negative: {answer.split()[0]}s start at 0"
    return f"{answer} of {unit} stands twice" if before else ""


def _table(chances_by_unit: Mapping[tuple[str, str], list[float]], levels: Floats) -> Judgements:
    order = {
        topic: i for i, topic in enumerate(dict.fromkeys(topic for topic, _ in chances_by_unit))
    }
    keys = sorted(chances_by_unit, key=lambda key: order[key[0]])
    chances = np.array([chances_by_unit[key] for key in keys], dtype=np.float64)
    chances /= chances.sum(axis=1, keepdims=True)
    modal_grades = levels[chances.argmax(axis=1)]
    table = Judgements.from_rows([k[0] for k in keys], [k[1] for k in keys], modal_grades)
    return replace(table, levels=levels, chances=chances)


def nested_rows(source: Any) -> Iterable[ChanceRow]:
    """The rows of {topic: {item: {grade: probability}}}."""
    for topic, items in source.items():
        for item, chances in items.items():
            for grade, probability in chances.items():
                yield ChanceRow(str(topic), str(item), float(grade), float(probability))


def is_nested_chances(source: Any) -> bool:
    """Whether this is {topic: {item: {grade: probability}}}."""
    inner = next(iter(source.values()), None) if isinstance(source, Mapping) else None
    deepest = next(iter(inner.values()), None) if isinstance(inner, Mapping) else None
    return isinstance(deepest, Mapping)


def cumulative_chances(chances: Floats) -> Floats:
    """The probability of at most each level; the last one is 1."""
    upto = np.cumsum(chances, axis=1)
    # A level that is sure is so to the last bit, whatever the sum of the others is.
    upto = np.where(np.cumsum(chances[:, ::-1], axis=1)[:, ::-1] - chances <= 0.0, 1.0, upto)
    upto[:, -1] = 1.0
    return np.ascontiguousarray(np.minimum(upto, 1.0))
