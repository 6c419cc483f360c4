"""Rows of numbers on their way to a LabelMatrix: what all text forms of labels share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.data.labels import LabelMatrix, dense, split_values
from cranfield.errors import InputError, Problem
from cranfield.io.fast_csv import PlainRows
from cranfield.io.numbers import is_number, numbers

PROBLEMS_KEPT = 200
# Rows written at a time.
_BLOCK = 1 << 10
# Messages for a value that is no confidence, or no score of any size.
OUTSIDE = {
    False: "is outside [0, 1] (expected a confidence or 0/1; scores='any' takes scores of any "
    "size for measures of order, scores='logistic' brings them to [0, 1])",
    True: "is not a score (expected a number)",
}


def plain_matrix(
    plain_rows: PlainRows,
    separator: str,
    concepts: Sequence[str],
    name: str,
    *,
    has_names: bool,
    unbounded: bool,
) -> LabelMatrix | None:
    """Read rows of item and numbers with the compiled reader; None if a row is not plain."""
    reader = plain_rows.columns(separator, "t" + "n" * len(concepts), headed=separator != " ")
    if reader is None:
        return None
    items = [item.strip() for item in reader.texts(0)]
    values = np.asarray(reader.numbers()).reshape(len(items), len(concepts))
    if not (unbounded or (values.min() >= 0 and values.max() <= 1)) or np.isnan(values).any():
        return None
    rows = len(items)
    if len(set(items)) == rows:
        labels, confidences = split_values(values)
        return LabelMatrix(
            tuple(items), tuple(concepts), labels, confidences, name, has_names, unbounded=unbounded
        )
    half = rows // 2
    first, second = items[:half], items[half:]
    decided = values[half:]
    if (
        2 * half != rows
        or len(set(first)) != half
        or set(first) != set(second)
        or not ((decided == 0) | (decided == 1)).all()
    ):
        return None
    position = {item: i for i, item in enumerate(second)}
    order = [position[item] for item in first]
    return LabelMatrix(
        tuple(first),
        tuple(concepts),
        decided[order] > 0,
        values[:half],
        name,
        has_names,
        unbounded=unbounded,
    )


def value_blocks(matrix: LabelMatrix) -> Iterator[tuple[list[str], NDArray[Any]]]:
    """Items and their rows of confidences, then those of labels, as the core writes them."""
    items = list(matrix.items)
    for part in (matrix.confidences, matrix.labels):
        if part is None:
            continue
        kind = np.uint8 if part.dtype == np.bool_ else np.float64
        for start in range(0, len(items), _BLOCK):
            rows = dense(part[start : start + _BLOCK])
            yield items[start : start + _BLOCK], np.ascontiguousarray(rows, dtype=kind)


@dataclass
class RowCollector:
    """Collects rows (item, numbers), every complaint with its line.

    A file may hold every item twice: first the confidences of all items, then as many rows of
    0 and 1, the decisions (the submissions of ImageCLEF 2010).
    """

    source_name: str
    width: int
    unbounded: bool = False
    items: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    count: int = 0

    def add(self, line: int, item: str, cells: Sequence[str]) -> None:
        if len(cells) != self.width:
            self.complain(
                line,
                f"{len(cells)} values for item {item!r}, expected {self.width} (one per concept)",
            )
            return
        try:
            row = np.array(numbers(cells))
        except ValueError:
            bad = next(cell for cell in cells if not is_number(cell))
            self.complain(line, f"value {bad!r} of item {item!r} is not a number")
            return
        good = ~np.isnan(row) if self.unbounded else (row >= 0) & (row <= 1)
        if not good.all():
            outside = cells[int(np.flatnonzero(~good)[0])]
            self.complain(line, f"value {outside} of item {item!r} {OUTSIDE[self.unbounded]}")
            return
        self.items.append(item)
        self.lines.append(line)
        self.values.append(row)

    def complain(self, line: int, message: str) -> None:
        self.count += 1
        if len(self.problems) < PROBLEMS_KEPT:
            self.problems.append(Problem(line, message))

    def matrix(self, concepts: Sequence[str], name: str, *, has_names: bool) -> LabelMatrix:
        """The matrix, or an InputError with every problem found on the way."""
        if not self.problems and not self.items:
            self.complain(0, "has no item")
        half = self._count_doubled() if not self.problems else 0
        if self.problems:
            raise InputError(self.source_name, self.problems, self.count)
        if half:
            return self._labels_with_confidences(half, concepts, name, has_names)
        labels, confidences = split_values(np.array(self.values))
        return LabelMatrix(
            tuple(self.items),
            tuple(concepts),
            labels,
            confidences,
            name,
            has_names,
            unbounded=self.unbounded,
        )

    def _count_doubled(self) -> int:
        """The number of items when each stands in the file twice, else 0; complains of others."""
        half, rest = divmod(len(self.items), 2)
        first = self.items[:half]
        if not rest and len(set(first)) == half and set(first) == set(self.items[half:]):
            for line, item, row in zip(
                self.lines[half:], self.items[half:], self.values[half:], strict=True
            ):
                if not np.all((row == 0) | (row == 1)):
                    self.complain(
                        line,
                        f"the second row of item {item!r} has values other than 0 and 1 "
                        "(confidence rows are followed by as many 0/1 rows)",
                    )
            return half
        seen: dict[str, int] = {}
        for line, item in zip(self.lines, self.items, strict=True):
            if item in seen:
                self.complain(line, f"item {item!r} given again (first in line {seen[item]})")
            seen.setdefault(item, line)
        return 0

    def _labels_with_confidences(
        self, half: int, concepts: Sequence[str], name: str, has_names: bool
    ) -> LabelMatrix:
        position = {item: i for i, item in enumerate(self.items[half:], half)}
        labels = np.array([self.values[position[item]] for item in self.items[:half]]) > 0
        return LabelMatrix(
            tuple(self.items[:half]),
            tuple(concepts),
            labels,
            np.array(self.values[:half]),
            name,
            has_names,
            unbounded=self.unbounded,
        )


def refuse_labels_with_confidences(matrix: LabelMatrix, source_name: str, form: str) -> None:
    """Refuse labels beside confidences, where a form has room for one of them."""
    if matrix.confidences is not None and matrix.labels is not None:
        raise InputError.single(
            source_name, f"{form} has one value per cell, not a confidence and a label"
        )


def single_matrix(matrix: LabelMatrix, source_name: str, form: str) -> Any:
    """The labels or the confidences as an array, whichever there are."""
    refuse_labels_with_confidences(matrix, source_name, form)
    part = matrix.labels if matrix.confidences is None else matrix.confidences
    if part is None:
        raise InputError.single(source_name, "there is neither a label nor a confidence to write")
    return dense(part)
