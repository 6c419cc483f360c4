"""Truths with probabilities: of grades (topic,item,grade,probability) and of concepts."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, TypeAlias

from cranfield._lazy import np
from cranfield.data import Judgements
from cranfield.data.tables import ChanceRow, soft_judgements
from cranfield.errors import InputError
from cranfield.io.files import (
    FileForm,
    Input,
    csv_rows,
    describe,
    inner_suffix,
    input_lines,
    number,
    read_text,
    run_name,
)

if TYPE_CHECKING:
    from cranfield.data.labels import LabelMatrix

Names: TypeAlias = tuple[tuple[str, ...], ...]
# Names of the columns; what is judged may be topics, or the concepts that stand for them.
GRADES: Names = (("topic", "concept", "query"), ("item",), ("grade", "value"), ("probability",))
CONCEPTS: Names = (("item",), ("concept",), ("value",), ("probability",))
# Of categories an item has exactly one.
CATEGORIES: Names = (("item",), ("category",), ("probability",))
# Lines read to detect units that occur several times.
LOOKED_AT = 500


def is_soft(path: FileForm, *shapes: Names) -> bool:
    """Whether the header of a file has the columns of probabilities, of grades unless said."""
    source = Input.of(path)
    if source.is_standard or not source.can_be_read_again:
        return False
    if inner_suffix(path) not in (".csv", ".tsv"):
        return False
    lines = (_cells(line, path) for line in input_lines(source))
    header = [name.lower() for name in next(lines, [])]
    for shape in shapes or (GRADES,):
        places = _column_positions(header, shape)
        if places is not None:
            # Grades of topics are never decisions; a truth of concepts may say how sure it is of
            # the one answer that it has, and then no unit stands twice.
            return {"topic", "grade"} <= set(header) or _has_repeats(
                islice(lines, LOOKED_AT), places[:1] if shape is CATEGORIES else places[:2]
            )
    return False


def _has_repeats(lines: Iterable[list[str]], places: list[int]) -> bool:
    """Whether two lines one after the other speak of the same unit (item, or item and concept)."""
    complete_lines = (line for line in lines if len(line) > max(places))
    units = (tuple(line[i] for i in places) for line in complete_lines)
    return any(a == b for a, b in pairwise(units))


def _cells(line: str, path: FileForm) -> list[str]:
    return [cell.strip().strip('"') for cell in line.split(_delimiter(path))]


def read_soft_judgements(path: FileForm) -> Judgements:
    """Judgements with probabilities; those of an item must add up to 1."""
    rows = (
        ChanceRow(topic, item, grade, chance, line)
        for line, (topic, item), (grade, chance) in _rows(path, GRADES, 2)
    )
    return soft_judgements(rows, describe(path))


def read_soft_truth(path: FileForm) -> tuple[LabelMatrix, bool]:
    """Probabilities of concepts of items, as `aggregate --soft` writes them, as confidences.

    CSV item,concept,value,probability, where a concept is present by a value above 0, or
    item,category,probability, of which each item has exactly one: so says the second answer.
    """
    source_name = describe(path)
    exclusive = is_soft(path, CATEGORIES)
    if exclusive:
        names: dict[str, int] = {}
        # A category is a grade of the one question that an item has.
        rows = [
            ChanceRow("category", item, names.setdefault(name, len(names)), chance, line)
            for line, (item, name), (chance,) in _rows(path, CATEGORIES, 2)
        ]
        table = soft_judgements(rows, source_name, "category", tuple(names))
        return _matrix(table, tuple(names), exclusive=True, path=path), True
    rows = [
        ChanceRow(concept, item, value, chance, line)
        for line, (item, concept), (value, chance) in _rows(path, CONCEPTS, 2)
    ]
    table = soft_judgements(rows, source_name, "concept")
    return _matrix(table, (), exclusive=False, path=path), False


def _matrix(
    table: Judgements, names: tuple[str, ...], *, exclusive: bool, path: FileForm
) -> LabelMatrix:
    from cranfield.data.labels import LabelMatrix

    concepts = names if exclusive else table.topics
    chances, levels = table.chances, table.levels
    if chances is None or levels is None:
        raise InputError.single(describe(path), "has no probabilities")
    present = chances[:, levels > 0].sum(axis=1)
    column = {concept: i for i, concept in enumerate(concepts)}
    items: dict[str, int] = {}
    rows = [(items.setdefault(item, len(items)), topic) for topic, item, _ in table.rows()]
    values = np.zeros((len(items), len(concepts)))
    for k, (i, topic) in enumerate(rows):
        if exclusive:
            values[i, levels.astype(int)] = chances[k]
        else:
            values[i, column[topic]] = min(float(present[k]), 1.0)
    source_name, name = describe(path), run_name(path)
    return LabelMatrix(tuple(items), concepts, confidences=values, name=name, source=source_name)


def _rows(
    path: FileForm, names: Names, texts: int
) -> Iterator[tuple[int, tuple[str, ...], tuple[float, ...]]]:
    """The line, the texts and the numbers of every row; the first columns are texts."""
    source_name = describe(path)
    lines = csv_rows(io.StringIO(read_text(path), newline=""), source_name, _delimiter(path))
    header = [name.strip().lower() for name in next(lines, (0, []))[1]]
    places = _column_positions(header, names)
    if places is None:
        expected = ",".join(n[0] for n in names)
        raise InputError.single(
            source_name, f"a column is missing in {header} (expected: {expected})", 1
        )
    for line, fields in lines:
        if not fields:
            continue
        if len(fields) != len(header):
            message = f"{len(fields)} fields where the header has {len(header)}"
            raise InputError.single(source_name, message, line)
        cells = [fields[i].strip() for i in places]
        numbers = tuple(_number(text, source_name, line) for text in cells[texts:])
        yield line, tuple(cells[:texts]), numbers


def _number(text: str, source_name: str, line: int) -> float:
    try:
        value = number(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError.single(source_name, f"{text!r} is not a number", line)
    return value


def _delimiter(path: FileForm) -> str:
    return "\t" if inner_suffix(path) == ".tsv" else ","


def _column_positions(header: Sequence[str], names: Names) -> list[int] | None:
    """Where the columns stand, or None where one is missing."""
    positions = [
        next((list(header).index(n) for n in spellings if n in header), -1) for spellings in names
    ]
    return None if -1 in positions else positions
