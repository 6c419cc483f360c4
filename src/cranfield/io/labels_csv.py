"""Rows of numbers on their way to a LabelMatrix: what all text forms of labels share.

Labels as CSV: wide (item, one column per concept) or long (item,concept,value).
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield.data.labels import DENSE_CELLS, Bools, LabelMatrix, dense, listed_share, split_values
from cranfield.errors import InputError, Problem
from cranfield.io.fast_csv import PlainRows, first_row
from cranfield.io.files import LABEL_CSV, csv_rows, csv_text, is_number, number, numbers

PROBLEMS_KEPT = 200
# What stands for a cell of a truth that was not judged.
UNJUDGED = "?"
# Rows written at a time.
_BLOCK = 1 << 10
# Messages for a value that is no confidence, or no score of any size.
OUTSIDE = {
    False: "is outside [0, 1] (expected a confidence or 0/1; scores='any' takes scores of any "
    "size for measures of order, scores='logistic' brings them to [0, 1])",
    True: "is not a score (expected a number)",
}


def is_unjudged(cell: str) -> bool:
    return cell.strip() == UNJUDGED


def without_cells(matrix: LabelMatrix, cells: tuple[Any, Any]) -> LabelMatrix:
    """A truth in which some cells, given by rows and columns, were not judged."""
    judged = np.ones(matrix.shape, dtype=bool) if matrix.judged is None else matrix.judged.copy()
    judged[cells] = False
    return replace(matrix, judged=judged)


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
    unjudged: list[tuple[int, int]] = field(default_factory=list)

    def add(self, line: int, item: str, cells: Sequence[str]) -> None:
        if len(cells) != self.width:
            self.complain(
                line,
                f"{len(cells)} values for item {item!r}, expected {self.width} (one per concept)",
            )
            return
        unknown = [j for j, cell in enumerate(cells) if is_unjudged(cell)]
        if unknown:
            cells = ["0" if is_unjudged(cell) else cell for cell in cells]
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
        self.unjudged += [(len(self.items), j) for j in unknown]
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
        if half and self.unjudged:
            self.complain(0, "confidences followed by labels have a value for every cell, not ?")
        if self.problems:
            raise InputError(self.source_name, self.problems, self.count)
        if half:
            return self._labels_with_confidences(half, concepts, name, has_names)
        labels, confidences = split_values(np.array(self.values))
        matrix = LabelMatrix(
            tuple(self.items),
            tuple(concepts),
            labels,
            confidences,
            name,
            has_names,
            unbounded=self.unbounded,
        )
        if not self.unjudged:
            return matrix
        rows, columns = np.array(self.unjudged, dtype=np.intp).T
        return without_cells(matrix, (rows, columns))

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


# What the second column of a list is called, and where it holds one concept, on many rows.
LISTED = ("labels", "tags", "concepts")
SINGLE = ("concept", "label", "tag", "class")
# What the value of an item and a concept is called in a row of its own.
VALUES = ("value", "confidence", "score")
_SEPARATORS = ("|", ";", ",")


def is_concept_list(header: Sequence[str], rows: Sequence[tuple[int, list[str]]]) -> bool:
    """Whether a CSV has a list of concepts per item, not numbers in one column."""
    return (
        len(header) == 2
        and header[1].lower() in (*LISTED, *SINGLE)
        and not all(len(row) == 2 and is_number(row[1].strip()) for _, row in rows)
    )


def read_concept_lists(
    rows: Sequence[tuple[int, list[str]]], name: str, source_name: str, *, single: bool = False
) -> LabelMatrix:
    """item,labels: concepts separated by | ; or commas, or by blanks where there is none of them.

    Which of them separates is decided for the whole file: concepts may have blanks in their names.
    A column for a `single` concept may name an item on many rows, and has blanks only in names.
    Lists as Python writes them, in brackets and quotes, are lists too.
    """
    rows = [(line, [item, *map(_without_brackets, cells)]) for line, (item, *cells) in rows]
    separator = next(
        (s for s in _SEPARATORS if any(s in cell for _, row in rows for cell in row[1:])),
        "," if any(len(row) > 2 for _, row in rows) else None,
    )
    concepts_of_item: dict[str, set[str]] = {}
    problems = []
    for line, (item, *cells) in rows:
        if item.strip() in concepts_of_item and not single:
            problems.append(Problem(line, f"item {item.strip()!r} is listed twice"))
        split = [[cell] if single and not separator else cell.split(separator) for cell in cells]
        parts = {part.strip() for cell in split for part in cell} - {""}
        concepts_of_item.setdefault(item.strip(), set()).update(parts)
    if not concepts_of_item:
        problems.append(Problem(0, "has no rows below its header"))
    elif not any(concepts_of_item.values()):
        problems.append(Problem(0, "has no concept for any item"))
    if problems:
        raise InputError(source_name, problems)
    return LabelMatrix.of(concepts_of_item, name=name)


def _without_brackets(cell: str) -> str:
    """['sky', 'sea'] as sky,sea."""
    text = cell.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return cell
    return ",".join(part.strip().strip("'\"") for part in text[1:-1].split(","))


LONG_HEADER = ["item", "concept", "value"]
# What `cranfield truth aggregate` writes: a truth with its probability, no confidence of a run.
AGGREGATED_HEADER = [*LONG_HEADER, "probability"]
# What it writes for a concept whose votes are tied.
UNDECIDED = "undecided"
# A truth of which some cells were judged, each drawn with this probability.
SAMPLED_HEADER = [*LONG_HEADER, "sampling"]


def read_csv(
    plain_rows: PlainRows, name: str, source_name: str, *, delimiter: str, unbounded: bool = False
) -> LabelMatrix:
    """Wide, long, or a list of concepts per item, as the header says."""
    matrix = _plain_labels(plain_rows, name, source_name, delimiter, unbounded)
    if matrix is not None:
        return matrix
    lines = io.StringIO(plain_rows.text(), newline="")
    every = csv_rows(lines, source_name, delimiter, strict=True)
    rows: Iterator[tuple[int, list[str]]] = (
        (line, row) for line, row in every if any(cell.strip() for cell in row)
    )
    line, header = next(rows, (0, []))
    header = [cell.strip() for cell in header]
    lower_header = [cell.lower() for cell in header]
    if len(header) == 2 and lower_header[1] in (*LISTED, *SINGLE):
        body = list(rows)
        if is_concept_list(header, body):
            return read_concept_lists(body, name, source_name, single=lower_header[1] in SINGLE)
        rows = iter(body)
    if delimiter == ";":
        rows = _with_decimal_points(rows)
    if lower_header in (LONG_HEADER, AGGREGATED_HEADER, SAMPLED_HEADER):
        return _read_long(rows, name, source_name, lower_header, unbounded)
    if len(header) == 3 and lower_header[1] in SINGLE and lower_header[2] in VALUES:
        body = list(rows)
        if not all(len(row) == 3 and is_number(row[1]) for _, row in body):
            return _read_long(iter(body), name, source_name, LONG_HEADER, unbounded)
        rows = iter(body)
    return _read_wide(line, header, rows, name, source_name, unbounded)


def _with_decimal_points(rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """Rows with decimal points: where `;` separates cells, a comma may stand for one."""
    for line, (item, *cells) in rows:
        pointed = (cell.replace(",", ".", 1) for cell in cells)
        cell_pairs = zip(cells, pointed, strict=True)
        yield line, [item, *(new if is_number(new) else old for old, new in cell_pairs)]


def _plain_labels(
    plain_rows: PlainRows, name: str, source_name: str, delimiter: str, unbounded: bool
) -> LabelMatrix | None:
    """Read the wide or long form with the compiled reader; None if a row is not plain."""
    header = [cell.strip() for cell in first_row(plain_rows, delimiter, strict=True) or ()]
    if not any(header):
        return None
    if [cell.lower() for cell in header] in (LONG_HEADER, AGGREGATED_HEADER):
        return _plain_triples(plain_rows, name, delimiter, len(header), unbounded)
    try:
        concepts, has_names = _wide_header(1, header, source_name)
    except InputError:  # said again when the whole text is known to be one
        return None
    return plain_matrix(
        plain_rows, delimiter, concepts, name, has_names=has_names, unbounded=unbounded
    )


def _plain_triples(
    plain_rows: PlainRows, name: str, delimiter: str, width: int, unbounded: bool
) -> LabelMatrix | None:
    reader = plain_rows.columns(delimiter, "ccn-"[:width])
    if reader is None:
        return None
    values = np.asarray(reader.numbers())
    items, concepts = reader.names(0), reader.names(1)
    at_item, at_concept = np.asarray(reader.codes(0)), np.asarray(reader.codes(1))
    cells = np.sort(at_item.astype(np.int64) * len(concepts) + at_concept)
    if (
        not (unbounded or (values.min() >= 0 and values.max() <= 1))
        or np.isnan(values).any()
        or any(text != text.strip() for text in (*items, *concepts))
        or (cells[1:] == cells[:-1]).any()
    ):
        return None
    item_codes, concept_codes = (
        {text: i for i, text in enumerate(texts)} for texts in (items, concepts)
    )
    return _from_triples(item_codes, concept_codes, (at_item, at_concept, values), name, unbounded)


def _wide_header(line: int, header: list[str], source_name: str) -> tuple[list[str], bool]:
    """The concepts of the wide form, and whether they are names or only positions."""
    if len(header) < 2:
        raise InputError.single(
            source_name,
            "has no header with the item and a column per concept (or item,concept,value)",
            line,
        )
    concepts = header[1:]
    seen: set[str] = set()
    for concept in concepts:
        if not concept or concept in seen:
            message = f"concept {concept!r} has two columns" if concept else "a column has no name"
            raise InputError.single(source_name, message, line)
        seen.add(concept)
    # Columns that were never named are written by their positions.
    unnamed = concepts == [str(j) for j in range(len(concepts))]
    if all(is_number(c) for c in concepts) and header[0].lower() != "item":
        raise InputError.single(
            source_name,
            "the first row has numbers where the names of the concepts should stand",
            line,
        )
    return concepts, not unnamed


def _read_wide(
    line: int,
    header: list[str],
    rows: Iterator[tuple[int, list[str]]],
    name: str,
    source_name: str,
    unbounded: bool,
) -> LabelMatrix:
    concepts, has_names = _wide_header(line, header, source_name)
    collected = RowCollector(source_name, len(concepts), unbounded)
    for place, row in rows:
        collected.add(place, row[0].strip(), row[1:])
    return collected.matrix(concepts, name, has_names=has_names)


def _read_long(
    rows: Iterator[tuple[int, list[str]]],
    name: str,
    source_name: str,
    header: list[str],
    unbounded: bool,
) -> LabelMatrix:
    items: dict[str, int] = {}
    concepts: dict[str, int] = {}
    at_item, at_concept, values = [], [], []
    unjudged: list[tuple[int, int]] = []
    sampling: list[float] = []
    problems: list[Problem] = []
    seen: dict[tuple[int, int], int] = {}
    count = undecided = 0
    for line, row in rows:
        message = ""
        value = -1.0
        if len(row) != len(header):
            message = f"{len(row)} values, expected {','.join(header)}"
        else:
            # A concept whose votes are tied counts as absent.
            tied = header == AGGREGATED_HEADER and row[2] == UNDECIDED
            undecided += tied
            value_text = "0" if tied or is_unjudged(row[2]) else row[2]
            try:
                value = number(value_text)
            except ValueError:
                message = f"value {row[2]!r} is not a number"
            else:
                if not (unbounded or 0 <= value <= 1) or value != value:
                    message = f"value {row[2]} {OUTSIDE[unbounded]}"
            if header == SAMPLED_HEADER and not message:
                message = _add_sampling(row[3], sampling)
        if not message:
            i = items.setdefault(row[0].strip(), len(items))
            j = concepts.setdefault(row[1].strip(), len(concepts))
            if (i, j) in seen:
                message = f"{row[0]!r} with {row[1]!r} given again (first in line {seen[i, j]})"
            else:
                seen[i, j] = line
                at_item.append(i)
                at_concept.append(j)
                values.append(value)
                if is_unjudged(row[2]):
                    unjudged.append((i, j))
        if message:
            count += 1
            if len(problems) < PROBLEMS_KEPT:
                problems.append(Problem(line, message))
    if not problems and not values:
        problems, count = [Problem(0, "has no rows below its header")], 1
    if problems:
        raise InputError(source_name, problems, count)
    matrix = _from_triples(items, concepts, (at_item, at_concept, values), name, unbounded)
    columns = {concept: j for j, concept in enumerate(matrix.concepts)}
    column = np.array([columns[concept] for concept in concepts], dtype=np.intp)
    if sampling:
        matrix = _with_sampling(matrix, (at_item, column[at_concept]), sampling)
    if unjudged:
        rows_of, codes = np.array(unjudged, dtype=np.intp).T
        matrix = without_cells(matrix, (rows_of, column[codes]))
    if not undecided:
        return matrix
    note = f"{name}: {undecided} concepts of items are undecided, and count as absent"
    return replace(matrix, notes=(note,))


def _add_sampling(text: str, sampling: list[float]) -> str:
    """Add a probability of being drawn to a list, or return what is wrong with it."""
    try:
        probability = number(text)
    except ValueError:
        probability = 0.0
    if not 0 < probability <= 1:
        return f"sampling {text!r} is not a probability above 0"
    sampling.append(probability)
    return ""


def _with_sampling(
    matrix: LabelMatrix, cells: tuple[Any, Any], sampling: list[float]
) -> LabelMatrix:
    """A truth whose listed cells were drawn with known probabilities; the others are unjudged."""
    if not isinstance(matrix.labels, np.ndarray):
        raise InputError.single(
            matrix.name, "a truth with a column sampling has 0 or 1 for each cell that is judged"
        )
    probabilities = np.ones(matrix.shape)
    probabilities[cells] = sampling
    judged = np.zeros(matrix.shape, dtype=bool)
    judged[cells] = True
    return replace(matrix, sampling=probabilities, judged=judged, listed=1.0, listed_cells=None)


def _from_triples(
    items: dict[str, int],
    concepts: dict[str, int],
    triples: tuple[Any, Any, Any],
    name: str,
    unbounded: bool,
) -> LabelMatrix:
    # Sorted by name, so that the order does not depend on the order of rows in the file.
    order = sorted(concepts)
    column = np.empty(len(order), dtype=np.intp)
    for j, concept in enumerate(order):
        column[concepts[concept]] = j
    shape = (len(items), len(order))
    at_item, at_concept, values = triples
    if shape[0] * shape[1] > DENSE_CELLS and not unbounded:
        from scipy import sparse

        matrix = sparse.csr_array((values, (at_item, column[at_concept])), shape=shape)
    else:
        matrix = np.full(shape, -np.inf if unbounded else 0.0)
        matrix[at_item, column[at_concept]] = values
    labels, confidences = split_values(matrix)
    places = np.asarray(at_item), np.asarray(at_concept)
    share, cells = listed_share(shape, *places, np.asarray(values)), None
    if share < 1 and isinstance(matrix, np.ndarray):
        cells = np.zeros(shape, dtype=bool)
        cells[at_item, column[at_concept]] = True
    return LabelMatrix(
        tuple(items),
        tuple(order),
        labels,
        confidences,
        name,
        unbounded=unbounded,
        listed=share,
        listed_cells=cells,
    )


def _check_names(matrix: LabelMatrix, source_name: str) -> None:
    LABEL_CSV.check(source_name, "item", matrix.items)
    LABEL_CSV.check(source_name, "concept", matrix.concepts)


def wide_blocks(matrix: LabelMatrix, source_name: str, delimiter: str = ",") -> Iterator[bytes]:
    """One row per item; with confidences and labels, rows of 0/1 follow as in ImageCLEF 2010."""
    _check_names(matrix, source_name)
    if [c.lower() for c in matrix.concepts] in (LONG_HEADER[1:], AGGREGATED_HEADER[1:]):
        raise InputError.single(
            source_name, "these names of concepts are the header of the long form; rename them"
        )
    return _wide_blocks(matrix, delimiter)


def _wide_blocks(matrix: LabelMatrix, delimiter: str) -> Iterator[bytes]:
    yield csv_text([["item", *matrix.concepts]], delimiter).encode()
    if matrix.judged is not None and matrix.labels is not None:
        for item, labels, judged in zip(
            matrix.items, dense(matrix.labels), matrix.judged, strict=True
        ):
            cells = np.where(judged, labels.astype(int).astype(str), UNJUDGED).tolist()
            yield csv_text([[item, *cells]], delimiter).encode()
        return
    for items, values in value_blocks(matrix):
        yield _core.label_rows(items, values, delimiter, True)


def long_blocks(matrix: LabelMatrix, source_name: str) -> Iterator[bytes]:
    """One row per item and concept with a value above 0; an item without any gets a 0 row."""
    refuse_labels_with_confidences(matrix, source_name, "the long form")
    _check_names(matrix, source_name)
    if matrix.judged is not None and matrix.labels is not None:
        return _judged_blocks(matrix, matrix.judged, dense(matrix.labels))
    return _long_blocks(matrix)


def _judged_blocks(matrix: LabelMatrix, judged: Bools, labels: Bools) -> Iterator[bytes]:
    """Every cell, `?` where it was not judged; where cells were drawn, those with probabilities."""
    yield csv_text([LONG_HEADER if matrix.sampling is None else SAMPLED_HEADER]).encode()
    for i, item in enumerate(matrix.items):
        rows: list[list[object]] = []
        for j, concept in enumerate(matrix.concepts):
            value = int(labels[i, j]) if judged[i, j] else UNJUDGED
            if matrix.sampling is None:
                rows.append([item, concept, value])
            elif judged[i, j] or j == 0:  # the first one so that the item is known
                rows.append([item, concept, value, float(matrix.sampling[i, j])])
        yield csv_text(rows).encode()


def _long_blocks(matrix: LabelMatrix) -> Iterator[bytes]:
    yield csv_text([LONG_HEADER]).encode()
    concepts = list(matrix.concepts)
    absent = np.ones(len(concepts), dtype=bool)
    for items, values in value_blocks(matrix):
        yield _core.long_label_rows(items, concepts, values)
        is_present = values != 0
        absent &= ~is_present.any(axis=0)
        # An item without any concept has a row of the first.
        absent[0] &= is_present.any(axis=1).all()
    # A concept that no item has is part of the vocabulary all the same.
    rows = [[matrix.items[0], concepts[j], 0] for j in np.flatnonzero(absent)]
    yield csv_text(rows).encode()
