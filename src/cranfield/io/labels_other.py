"""Labels as people keep them: a list of concepts per item, a file per concept, or a few cells."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cranfield import _core
from cranfield.data import Judgements
from cranfield.data.labels import LabelMatrix, dense, listed_share, split_values
from cranfield.errors import InputError, Problem, UsageError, os_message
from cranfield.io.arrays import (
    arrow_bytes,
    column_numbers,
    column_values,
    read_archive,
    read_arrow_table,
)
from cranfield.io.convert import SEPARATED_BY
from cranfield.io.fast_csv import PlainRows
from cranfield.io.files import (
    ARCHIVE,
    LABEL_CSV,
    LABEL_TEXT,
    TREC,
    Caps,
    FileForm,
    Input,
    csv_rows,
    csv_text,
    describe,
    inner_suffix,
    input_lines,
    is_number,
    number,
    open_text,
    read_json_text,
    read_text,
    text_lines,
)
from cranfield.io.labels_csv import (
    LISTED,
    SINGLE,
    UNJUDGED,
    VALUES,
    RowCollector,
    plain_matrix,
    single_matrix,
    value_blocks,
)

# What an item may be called in a record.
_ITEMS = ("item", "item_id", "id", "image", "image_id", "file", "file_name", "filename", "name")
# PASCAL VOC: there, difficult to see, not there.
_VOC = {"1": 1.0, "0": 0.0, "-1": 0.0}


_JSON_SHAPES = "expected {item: [concepts]} or {item: {concept: value}}"
_JSONL_SHAPE = 'expected lines: {"item": "1.jpg", "labels": ["sky", "sea"]}'


def read_json_labels(path: FileForm, name: str) -> LabelMatrix:
    """{item: [concepts]} or {item: {concept: value}}; or a list of records, as in JSON Lines."""
    source_name = describe(path)
    try:
        content = json.loads(read_json_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError.single(source_name, f"is not JSON: {error}") from None
    if isinstance(content, list) and content and all(isinstance(r, dict) for r in content):
        return _of_records(enumerate(content, 1), name, source_name)
    if not isinstance(content, dict) or not content:
        raise InputError.single(source_name, _JSON_SHAPES)
    return _of_json(content, name, source_name)


def read_jsonl_labels(path: FileForm, name: str) -> LabelMatrix:
    """A record on each line, such as {"item": "1.jpg", "labels": ["sky", "sea"]}."""
    source_name = describe(path)

    def records() -> Iterator[tuple[int, Any]]:
        for line, text in enumerate(input_lines(path), 1):
            if text.strip():
                try:
                    yield line, json.loads(text)
                except (ValueError, RecursionError) as error:
                    raise InputError.single(source_name, f"is not JSON: {error}", line) from None

    return _of_records(records(), name, source_name)


def _of_records(records: Iterable[tuple[int, Any]], name: str, source_name: str) -> LabelMatrix:
    labels_by_item: dict[str, Any] = {}
    for place, record in records:
        pairs = _item_and_labels(record)
        if pairs is None:
            raise InputError.single(source_name, f"no item with its labels ({_JSONL_SHAPE})", place)
        for item, labels in pairs.items():
            before = labels_by_item.setdefault(item, labels)
            if before is labels:
                continue
            both_map = isinstance(before, dict) and isinstance(labels, dict)
            if not both_map or before.keys() & labels.keys():
                raise InputError.single(source_name, f"item {item!r} is listed twice", place)
            before |= labels  # a record for each item and concept
    if not labels_by_item:
        raise InputError.single(source_name, f"is empty ({_JSONL_SHAPE})")
    return _of_json(labels_by_item, name, source_name)


def _item_and_labels(record: Any) -> dict[str, Any] | None:
    """{item: labels} of a record, which may name both or be that already."""
    if not isinstance(record, dict) or not record:
        return None
    fields = {str(key).lower(): value for key, value in record.items()}
    label = next((n for n in (*LISTED, "label", "confidences", "scores") if n in fields), None)
    item = next((n for n in _ITEMS if isinstance(fields.get(n), str | int)), None)
    concept = next((n for n in SINGLE if isinstance(fields.get(n), str)), None)
    number = next((n for n in VALUES if isinstance(fields.get(n), int | float)), None)
    if item is not None and concept is not None and number is not None:
        return {str(fields[item]): {fields[concept]: fields[number]}}
    if label is not None and item is not None:
        value = fields[label]
        return {str(fields[item]): [value] if isinstance(value, str) else value}
    return record if all(isinstance(v, list | dict) for v in record.values()) else None


def _of_json(content: dict[str, Any], name: str, source_name: str) -> LabelMatrix:
    are_lists = all(isinstance(value, list) for value in content.values())
    if not are_lists and not all(isinstance(value, dict) for value in content.values()):
        raise InputError.single(source_name, _JSON_SHAPES)
    data: dict[str, Any] = {k: set(map(str, v)) if are_lists else v for k, v in content.items()}
    return LabelMatrix.of(data, name=name)


def json_blocks(matrix: LabelMatrix, source_name: str) -> list[bytes]:
    """{item: [concepts]} for labels, {item: {concept: value}} for confidences.

    Lists know only the concepts that some item has: where one has none, values are written.
    """
    content = dict(_json_rows(matrix, source_name))
    return [(json.dumps(content, ensure_ascii=False, indent=0) + "\n").encode()]


def jsonl_blocks(matrix: LabelMatrix, source_name: str) -> Iterator[bytes]:
    """The same as a record for each item, one on a line."""
    for item, labels in _json_rows(matrix, source_name):
        record = {"item": item, LISTED[0]: labels}
        yield (json.dumps(record, ensure_ascii=False) + "\n").encode()


def _json_rows(matrix: LabelMatrix, source_name: str) -> Iterator[tuple[str, Any]]:
    values = single_matrix(matrix, source_name, "JSON")
    as_lists = values.dtype == np.bool_ and values.any(axis=0).all()
    for item, row in zip(matrix.items, values.tolist(), strict=True):
        cells = zip(matrix.concepts, row, strict=True)
        yield (
            item,
            [c for c, is_present in cells if is_present]
            if as_lists
            else {c: float(v) for c, v in cells},
        )


def read_class_files(folder: Path, name: str, *, unbounded: bool = False) -> LabelMatrix:
    """A folder with one file per concept, as PASCAL VOC has it.

    Each line is an item and 1, 0 (difficult to see) or -1 in a truth, or an item and a score in a
    run. What the names of all files begin and end with is no part of the concepts' names. Items
    that are difficult to see count as not showing the concept, which a note says.
    """
    files = sorted(p for p in folder.iterdir() if p.is_file() and p.suffix == ".txt")
    if not files:
        raise InputError.single(str(folder), "has no .txt files, one per concept")
    concepts = concepts_from_stems([path.stem for path in files])
    rows = [_class_file(path) for path in files]
    items = list(dict.fromkeys(item for class_values in rows for item in class_values))
    is_truth = all(value in _VOC for class_values in rows for value in class_values.values())
    lowest = -np.inf if unbounded and not is_truth else 0.0
    values = np.full((len(items), len(concepts)), lowest)
    place = {item: i for i, item in enumerate(items)}
    for j, class_values in enumerate(rows):
        for item, text in class_values.items():
            values[place[item], j] = _VOC[text] if is_truth else number(text)
    difficult = (
        sum(text == "0" for class_values in rows for text in class_values.values())
        if is_truth
        else 0
    )
    if not is_truth and not unbounded and not (values.min() >= 0 and values.max() <= 1):
        raise InputError.single(
            str(folder),
            "has scores outside [0, 1]; scores='any' takes them for measures of order, "
            "scores='logistic' brings them to [0, 1]",
        )
    labels, confidences = split_values(values)
    notes = (
        (f"{name}: {difficult} labels are marked as difficult, and count as absent",)
        if difficult and "-1" in {text for class_values in rows for text in class_values.values()}
        else ()
    )
    return LabelMatrix(
        tuple(items),
        tuple(concepts),
        labels,
        confidences,
        name,
        notes=notes,
        unbounded=unbounded and not is_truth,
    )


def concepts_from_stems(stems: list[str]) -> list[str]:
    """The names of files without what all of them share: `comp1_cls_val_` and `_train`."""
    if len(stems) < 2:
        return stems
    head, tail = _common_prefix(stems), _common_prefix([stem[::-1] for stem in stems])[::-1]
    begin = head.rfind("_") + 1
    end = len(tail) - tail.find("_") if "_" in tail else 0
    return [stem[begin : len(stem) - end] for stem in stems]


def _common_prefix(texts: list[str]) -> str:
    """What all texts begin with."""
    first, last = min(texts), max(texts)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    return first if same is None else first[:same]


def _class_file(path: Path) -> dict[str, str]:
    values: dict[str, str] = {}
    problems = []
    for line, text in enumerate(text_lines(read_text(path)), 1):
        parts = text.split()
        if not parts:
            continue
        if len(parts) != 2 or not is_number(parts[1]):
            problems.append(Problem(line, f"{text.strip()!r} is not an item and a number"))
        elif parts[0] in values:
            problems.append(Problem(line, f"item {parts[0]!r} is listed twice"))
        else:
            values[parts[0]] = parts[1]
    if problems:
        raise InputError(str(path), problems)
    return values


def read_text_labels(
    plain_rows: PlainRows, name: str, source_name: str, *, unbounded: bool = False
) -> LabelMatrix:
    """ImageCLEF text; its concepts are named by their position, from 0 on."""
    width = len((plain_rows.first or "").split()) - 1
    matrix = plain_matrix(
        plain_rows, " ", [str(j) for j in range(width)], name, has_names=False, unbounded=unbounded
    )
    if matrix is not None:
        return matrix
    rows: RowCollector | None = None
    for line_number, line in enumerate(text_lines(plain_rows.text()), 1):
        item, *cells = line.split() or [""]
        if not item:
            continue
        if rows is None:
            if not cells:
                raise InputError.single(
                    source_name,
                    f"item {item!r} has no values (expected: item, then a number per concept)",
                    line_number,
                )
            rows = RowCollector(source_name, len(cells), unbounded)
        rows.add(line_number, item, cells)
    if rows is None:
        raise InputError.single(source_name, "is empty")
    return rows.matrix([str(j) for j in range(rows.width)], name, has_names=False)


def text_blocks(matrix: LabelMatrix, source_name: str) -> Iterator[bytes]:
    """Confidence rows, 0/1 rows, or the one after the other when there are both."""
    LABEL_TEXT.check(source_name, "item", matrix.items, first=True)
    return (_core.label_rows(items, values, " ", False) for items, values in value_blocks(matrix))


_LONG = ["item", "concept", "value"]
_EXPECTED = "expected arrays items, concepts and labels and/or confidences"


def read_npz(path: FileForm, name: str, unbounded: bool = False) -> LabelMatrix:
    """An archive with `items`, `concepts` and `labels` and/or `confidences`."""
    source_name = describe(path)
    arrays = read_archive(path)
    matrices: dict[str, Any] = {
        key: arrays[key] for key in ("labels", "confidences") if key in arrays
    }
    if not matrices:
        raise InputError.single(source_name, f"has {', '.join(arrays) or 'nothing'}; {_EXPECTED}")
    for key, matrix in matrices.items():
        if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
            raise InputError.single(
                source_name,
                f"{key} is {matrix.ndim}-dimensional {matrix.dtype}, expected a matrix of numbers",
            )
    if "labels" in matrices:
        labels = matrices["labels"]
        if not np.all((labels == 0) | (labels == 1)):
            raise InputError.single(source_name, "labels has values other than 0 and 1")
        matrices["labels"] = labels.astype(bool)
    if "confidences" in matrices:
        matrices["confidences"] = matrices["confidences"].astype(np.float64, copy=False)
    shape = next(iter(matrices.values())).shape
    return _matrix_from_arrays(source_name, name, shape, arrays, matrices, unbounded)


def _matrix_from_arrays(
    source_name: str,
    name: str,
    shape: tuple[int, ...],
    arrays: dict[str, Any],
    matrices: dict[str, Any],
    unbounded: bool,
) -> LabelMatrix:
    names: dict[str, tuple[str, ...]] = {}
    for key, count in zip(("items", "concepts"), shape, strict=True):
        axis_names = arrays.get(key)
        if axis_names is not None and axis_names.shape != (count,):
            raise InputError.single(
                source_name, f"{axis_names.size} {key} for {count} in the matrix"
            )
        names[key] = tuple(map(str, range(count) if axis_names is None else axis_names))
    try:
        return LabelMatrix(
            names["items"],
            names["concepts"],
            matrices.get("labels"),
            matrices.get("confidences"),
            name,
            "concepts" in arrays,
            unbounded=unbounded,
        )
    except InputError as error:
        raise InputError(source_name, error.problems) from None


def npz_blocks(matrix: LabelMatrix, source_name: str) -> list[bytes]:
    """The archive that `read_npz` reads; dense."""
    ARCHIVE.check(source_name, "item", matrix.items)
    ARCHIVE.check(source_name, "concept", matrix.concepts)
    arrays: dict[str, Any] = {"items": np.array(matrix.items)}
    if matrix.named:
        arrays["concepts"] = np.array(matrix.concepts)
    for key in ("labels", "confidences"):
        part = getattr(matrix, key)
        if part is not None:
            arrays[key] = dense(part)
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return [out.getvalue()]


def parquet_blocks(matrix: LabelMatrix, source_name: str) -> list[bytes]:
    """The table that `read_parquet` reads: one column per concept.

    Concepts that are called as the columns of a table would be read as these; such a matrix is
    written as item, concept, value with a row for every cell.
    """
    values = single_matrix(matrix, source_name, "a table")
    numbers = values.astype(np.int8) if values.dtype == np.bool_ else values
    if "item" in matrix.concepts or list(matrix.concepts) == _LONG[1:]:
        items = np.repeat(np.arange(len(matrix.items)), len(matrix.concepts))
        cells = (
            [matrix.items[i] for i in items],
            list(matrix.concepts) * len(matrix.items),
            numbers.ravel(),
        )
        return [arrow_bytes(dict(zip(_LONG, cells, strict=True)))]
    columns = dict(zip(matrix.concepts, numbers.T, strict=True))
    return [arrow_bytes({"item": list(matrix.items), **columns})]


def read_parquet(path: FileForm, name: str, unbounded: bool = False) -> LabelMatrix:
    """A table with an item column and one column per concept, or item, concept, value."""
    source_name = describe(path)
    table = read_arrow_table(path, "Reading Parquet")
    columns = list(table.column_names)
    if columns == _LONG:
        return _long_table(source_name, name, table, unbounded, Input.of(path).caps)
    if len(columns) < 2 or "item" not in columns:
        raise InputError.single(
            source_name,
            f"columns {', '.join(columns)}; expected 'item' and one "
            "per concept, or item, concept, value",
        )
    concepts = [c for c in columns if c != "item"]
    values = [column_numbers(source_name, table, c) for c in concepts]
    labels, confidences = split_values(np.column_stack(values))
    items = _texts(source_name, table, "item")
    try:
        return LabelMatrix(items, tuple(concepts), labels, confidences, name, unbounded=unbounded)
    except InputError as error:
        raise InputError(source_name, error.problems) from None


def _texts(source_name: str, table: Any, column: str) -> tuple[str, ...]:
    """The names in a column."""
    data = table.column(column)
    if data.null_count:
        raise InputError.single(source_name, f"column {column!r} has {data.null_count} empty cells")
    return tuple(str(value) for value in column_values(source_name, table, column))


def _names(source_name: str, table: Any, column: str) -> tuple[tuple[str, ...], np.ndarray]:
    """The names in a column in the order in which they first occur, and the place of each row's."""
    texts = _texts(source_name, table, column)
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return tuple(places), np.array([places[text] for text in texts], dtype=np.int64)


def _long_table(
    source_name: str, name: str, table: Any, unbounded: bool, caps: Caps
) -> LabelMatrix:
    values = column_numbers(source_name, table, "value")
    items, at_item = _names(source_name, table, "item")
    concepts, at_concept = _names(source_name, table, "concept")
    cell = at_item * len(concepts) + at_concept
    if len(np.unique(cell)) < len(cell):
        raise InputError.single(source_name, "an item and concept are given more than once")
    # A row names one cell, and the table has all cells of its items and concepts.
    caps.check_bytes(source_name, len(items) * len(concepts) * values.itemsize)
    matrix = np.full((len(items), len(concepts)), -np.inf if unbounded else 0.0)
    matrix[at_item, at_concept] = values
    labels, confidences = split_values(matrix)
    share, cells = listed_share(matrix.shape, at_item, at_concept, values), None
    if share < 1:
        cells = np.zeros(matrix.shape, dtype=bool)
        cells[at_item, at_concept] = True
    try:
        return LabelMatrix(
            items,
            concepts,
            labels,
            confidences,
            name,
            unbounded=unbounded,
            listed=share,
            listed_cells=cells,
        )
    except InputError as error:
        raise InputError(source_name, error.problems) from None


_BETWEEN = "|"


def list_blocks(matrix: LabelMatrix, name: str) -> Iterator[bytes]:
    """CSV or TSV item,labels, which has the concepts of an item in one cell."""
    values = single_matrix(matrix, name, "a list of concepts")
    LABEL_CSV.check(name, "item", matrix.items)
    LABEL_CSV.check(name, "concept", matrix.concepts)
    if matrix.labels is None:
        raise InputError.single(name, "a list has no place for confidences; write .csv or .json")
    if not values.any(axis=0).all():
        raise InputError.single(name, "a list cannot name a concept that no item has")
    ambiguous = next((concept for concept in matrix.concepts if _BETWEEN in concept), None)
    if ambiguous is not None:
        raise InputError.single(name, f"{_BETWEEN} separates concepts, and {ambiguous!r} has one")
    # Where every list is of one, its end shows that this is a list: names may hold blanks.
    end = "" if (values.sum(axis=1) > 1).any() else _BETWEEN
    rows = [["item", LISTED[0]]]
    for item, flags in zip(matrix.items, values.tolist(), strict=True):
        item_concepts = [c for c, yes in zip(matrix.concepts, flags, strict=True) if yes]
        rows.append([item, _BETWEEN.join(item_concepts) + (end if item_concepts else "")])
    yield csv_text(rows, SEPARATED_BY[inner_suffix(name)]).encode()


def write_class_files(matrix: LabelMatrix, folder: str | Path) -> None:
    """A folder with a file per concept, as PASCAL VOC has it: 1 and -1, or confidences."""
    target = Path(folder)
    values = single_matrix(matrix, str(target), "a folder with a file per concept")
    _check_class_files(matrix, target)
    try:
        if target.exists() and any(target.iterdir()):
            raise UsageError(f"{target}: is a folder with files in it; name a new one")
        with tempfile.TemporaryDirectory(
            dir=target.parent, prefix=f".{target.name}."
        ) as draft_folder:
            inside = Path(draft_folder) / "classes"
            inside.mkdir()
            for concept, column in zip(matrix.concepts, values.T.tolist(), strict=True):
                texts = (_class_value(value) for value in column)
                lines = [f"{i} {t}\n" for i, t in zip(matrix.items, texts, strict=True)]
                (inside / f"{concept}.txt").write_text("".join(lines), encoding="utf-8")
            if target.exists():
                target.rmdir()
            shutil.move(inside, target)
    except OSError as error:
        raise InputError.single(str(target), f"cannot be written: {os_message(error)}") from None


def _class_value(value: bool | float) -> str:
    return (("-1", "1")[value]) if isinstance(value, bool) else repr(value)


def _check_class_files(matrix: LabelMatrix, target: Path) -> None:
    """Refuse concepts that cannot be file names and items that hold blanks."""
    TREC.check(str(target), "item", matrix.items)
    for concept in matrix.concepts:
        if "/" in concept or "\0" in concept or concept.startswith("."):
            raise InputError.single(str(target), f"no file can be named by concept {concept!r}")
    if concepts_from_stems(sorted(matrix.concepts)) != sorted(matrix.concepts):
        raise InputError.single(
            str(target),
            "all names of concepts begin or end with the same word before or after a _, which a "
            "folder of files would lose; write .csv",
        )


_NOT_JUDGED = -1.0
_POOLED_VALUES = {
    "1": 1.0,
    "0": 0.0,
    "": _NOT_JUDGED,
    UNJUDGED: _NOT_JUDGED,
    "-1": _NOT_JUDGED,
}


def read_pooled_cells(path: str | Path) -> Judgements:
    """The cells of a file as judgements, a topic for each concept."""
    source_name = describe(path)
    delimiter = "\t" if inner_suffix(path) == ".tsv" else ","
    with open_text(path) as stream:
        rows = list(csv_rows(stream, source_name, delimiter))
    header = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    if header != ["item", "concept", "value"]:
        return _wide_cells(path)
    cells: dict[str, dict[str, float]] = {}
    problems: list[Problem] = []
    for line, row in rows[1:]:
        values = [cell.strip() for cell in row]
        if not any(values):
            continue
        if len(values) != 3 or not values[0] or not values[1]:
            problems.append(Problem(line, "expected item,concept,value"))
        elif values[2] not in _POOLED_VALUES:
            problems.append(Problem(line, f"value {values[2]!r} is not 1, 0 or ? (not judged)"))
        elif values[0] in cells.setdefault(values[1], {}):
            problems.append(Problem(line, f"item {values[0]!r} twice for {values[1]!r}"))
        else:
            cells[values[1]][values[0]] = _POOLED_VALUES[values[2]]
    if not cells and not problems:
        problems.append(Problem(0, "holds no cell"))
    if problems:
        raise InputError(source_name, problems)
    return Judgements.from_dict(cells)


def _wide_cells(path: str | Path) -> Judgements:
    """The cells of any other file of labels; in wide CSV a cell that was not judged is `?`."""
    from cranfield.io.labels import read_labels

    truth = read_labels(path, unjudged=True)
    if truth.labels is None:
        raise InputError.single(truth.where, "values between 0 and 1, expected 1, 0 or ?")
    grades = np.asarray(dense(truth.labels), dtype=np.float64)
    if truth.judged is not None:
        grades = np.where(truth.judged, grades, _NOT_JUDGED)
    return Judgements.from_dict(
        {
            concept: dict(zip(truth.items, grades[:, j].tolist(), strict=True))
            for j, concept in enumerate(truth.concepts)
        }
    )
