"""Labels as people keep them: a list of concepts per item, or a file per concept."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cranfield import _core
from cranfield.data.labels import LabelMatrix, dense, listed_share, split_values
from cranfield.errors import InputError, Problem, UsageError, os_message
from cranfield.io.arrays import (
    arrow_bytes,
    column_numbers,
    column_values,
    read_archive,
    read_arrow_table,
)
from cranfield.io.atomic import csv_text
from cranfield.io.export_layouts import SEPARATED_BY
from cranfield.io.fast_csv import PlainRows
from cranfield.io.files import (
    Caps,
    FileForm,
    Input,
    describe,
    inner_suffix,
    input_lines,
    read_json_text,
    read_text,
    text_lines,
)
from cranfield.io.ids import ARCHIVE, LABEL_CSV, LABEL_TEXT, TREC
from cranfield.io.label_rows import RowCollector, one_part, plain_matrix, value_blocks
from cranfield.io.numbers import is_number, number

# What the second column of a list is called, and where it holds one concept, on many rows.
LISTED = ("labels", "tags", "concepts")
SINGLE = ("concept", "label", "tag", "class")
# What the value of an item and a concept is called in a row of its own.
VALUES = ("value", "confidence", "score")
_SEPARATORS = ("|", ";", ",")
# What an item may be called in a record.
_ITEMS = ("item", "item_id", "id", "image", "image_id", "file", "file_name", "filename", "name")
# PASCAL VOC: there, difficult to see, not there.
_VOC = {"1": 1.0, "0": 0.0, "-1": 0.0}


def is_list(header: Sequence[str], rows: Sequence[tuple[int, list[str]]]) -> bool:
    """Whether a CSV has a list of concepts per item, not numbers in one column."""
    return (
        len(header) == 2
        and header[1].lower() in (*LISTED, *SINGLE)
        and not all(len(row) == 2 and is_number(row[1].strip()) for _, row in rows)
    )


def read_listed(
    rows: Sequence[tuple[int, list[str]]], name: str, where: str, *, single: bool = False
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
    found: dict[str, set[str]] = {}
    problems = []
    for line, (item, *cells) in rows:
        if item.strip() in found and not single:
            problems.append(Problem(line, f"item {item.strip()!r} is listed twice"))
        split = [[cell] if single and not separator else cell.split(separator) for cell in cells]
        parts = {part.strip() for cell in split for part in cell} - {""}
        found.setdefault(item.strip(), set()).update(parts)
    if not found:
        problems.append(Problem(0, "has no rows below its header"))
    elif not any(found.values()):
        problems.append(Problem(0, "has no concept for any item"))
    if problems:
        raise InputError(where, problems)
    return LabelMatrix.of(found, name=name)


def _without_brackets(cell: str) -> str:
    """['sky', 'sea'] as sky,sea."""
    text = cell.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return cell
    return ",".join(part.strip().strip("'\"") for part in text[1:-1].split(","))


_JSON_SHAPES = "expected {item: [concepts]} or {item: {concept: value}}"
_JSONL_SHAPE = 'expected lines: {"item": "1.jpg", "labels": ["sky", "sea"]}'


def read_json_labels(path: FileForm, name: str) -> LabelMatrix:
    """{item: [concepts]} or {item: {concept: value}}; or a list of records, as in JSON Lines."""
    where = describe(path)
    try:
        content = json.loads(read_json_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError.single(where, f"is not JSON: {error}") from None
    if isinstance(content, list) and content and all(isinstance(r, dict) for r in content):
        return _of_records(enumerate(content, 1), name, where)
    if not isinstance(content, dict) or not content:
        raise InputError.single(where, _JSON_SHAPES)
    return _of_json(content, name, where)


def read_jsonl_labels(path: FileForm, name: str) -> LabelMatrix:
    """A record on each line, such as {"item": "1.jpg", "labels": ["sky", "sea"]}."""
    where = describe(path)

    def records() -> Iterator[tuple[int, Any]]:
        for line, text in enumerate(input_lines(path), 1):
            if text.strip():
                try:
                    yield line, json.loads(text)
                except (ValueError, RecursionError) as error:
                    raise InputError.single(where, f"is not JSON: {error}", line) from None

    return _of_records(records(), name, where)


def _of_records(records: Iterable[tuple[int, Any]], name: str, where: str) -> LabelMatrix:
    found: dict[str, Any] = {}
    for place, record in records:
        pairs = _item_and_labels(record)
        if pairs is None:
            raise InputError.single(where, f"no item with its labels ({_JSONL_SHAPE})", place)
        for item, labels in pairs.items():
            before = found.setdefault(item, labels)
            if before is labels:
                continue
            both_map = isinstance(before, dict) and isinstance(labels, dict)
            if not both_map or before.keys() & labels.keys():
                raise InputError.single(where, f"item {item!r} is listed twice", place)
            before |= labels  # a record for each item and concept
    if not found:
        raise InputError.single(where, f"is empty ({_JSONL_SHAPE})")
    return _of_json(found, name, where)


def _item_and_labels(record: Any) -> dict[str, Any] | None:
    """{item: labels} of a record, which may name both or be that already."""
    if not isinstance(record, dict) or not record:
        return None
    lowered = {str(key).lower(): value for key, value in record.items()}
    label = next((n for n in (*LISTED, "label", "confidences", "scores") if n in lowered), None)
    item = next((n for n in _ITEMS if isinstance(lowered.get(n), str | int)), None)
    one = next((n for n in SINGLE if isinstance(lowered.get(n), str)), None)
    number = next((n for n in VALUES if isinstance(lowered.get(n), int | float)), None)
    if item is not None and one is not None and number is not None:
        return {str(lowered[item]): {lowered[one]: lowered[number]}}
    if label is not None and item is not None:
        value = lowered[label]
        return {str(lowered[item]): [value] if isinstance(value, str) else value}
    return record if all(isinstance(v, list | dict) for v in record.values()) else None


def _of_json(content: dict[str, Any], name: str, where: str) -> LabelMatrix:
    listed = all(isinstance(value, list) for value in content.values())
    if not listed and not all(isinstance(value, dict) for value in content.values()):
        raise InputError.single(where, _JSON_SHAPES)
    data: dict[str, Any] = {k: set(map(str, v)) if listed else v for k, v in content.items()}
    return LabelMatrix.of(data, name=name)


def json_blocks(matrix: LabelMatrix, where: str) -> list[bytes]:
    """{item: [concepts]} for labels, {item: {concept: value}} for confidences.

    Lists know only the concepts that some item has: where one has none, values are written.
    """
    found = dict(_json_rows(matrix, where))
    return [(json.dumps(found, ensure_ascii=False, indent=0) + "\n").encode()]


def jsonl_blocks(matrix: LabelMatrix, where: str) -> Iterator[bytes]:
    """The same as a record for each item, one on a line."""
    for item, labels in _json_rows(matrix, where):
        record = {"item": item, LISTED[0]: labels}
        yield (json.dumps(record, ensure_ascii=False) + "\n").encode()


def _json_rows(matrix: LabelMatrix, where: str) -> Iterator[tuple[str, Any]]:
    values = one_part(matrix, where, "JSON")
    listed = values.dtype == np.bool_ and values.any(axis=0).all()
    for item, row in zip(matrix.items, values.tolist(), strict=True):
        cells = zip(matrix.concepts, row, strict=True)
        yield item, [c for c, here in cells if here] if listed else {c: float(v) for c, v in cells}


def read_class_files(folder: Path, name: str, *, free: bool = False) -> LabelMatrix:
    """A folder with one file per concept, as PASCAL VOC has it.

    Each line is an item and 1, 0 (difficult to see) or -1 in a truth, or an item and a score in a
    run. What the names of all files begin and end with is no part of the concepts' names. Items
    that are difficult to see count as not showing the concept, which a note says.
    """
    files = sorted(p for p in folder.iterdir() if p.is_file() and p.suffix == ".txt")
    if not files:
        raise InputError.single(str(folder), "has no .txt files, one per concept")
    concepts = concepts_of([path.stem for path in files])
    rows = [_class_file(path) for path in files]
    items = list(dict.fromkeys(item for one in rows for item in one))
    is_truth = all(value in _VOC for one in rows for value in one.values())
    lowest = -np.inf if free and not is_truth else 0.0
    values = np.full((len(items), len(concepts)), lowest)
    place = {item: i for i, item in enumerate(items)}
    for j, one in enumerate(rows):
        for item, text in one.items():
            values[place[item], j] = _VOC[text] if is_truth else number(text)
    difficult = sum(text == "0" for one in rows for text in one.values()) if is_truth else 0
    if not is_truth and not free and not (values.min() >= 0 and values.max() <= 1):
        raise InputError.single(
            str(folder),
            "has scores outside [0, 1]; scores='any' takes them for measures of order, "
            "scores='logistic' brings them to [0, 1]",
        )
    labels, confidences = split_values(values)
    notes = (
        (f"{name}: {difficult} labels are marked as difficult, and count as absent",)
        if difficult and "-1" in {text for one in rows for text in one.values()}
        else ()
    )
    return LabelMatrix(
        tuple(items),
        tuple(concepts),
        labels,
        confidences,
        name,
        notes=notes,
        free=free and not is_truth,
    )


def concepts_of(stems: list[str]) -> list[str]:
    """The names of files without what all of them share: `comp1_cls_val_` and `_train`."""
    if len(stems) < 2:
        return stems
    head, tail = _shared(stems), _shared([stem[::-1] for stem in stems])[::-1]
    begin = head.rfind("_") + 1
    end = len(tail) - tail.find("_") if "_" in tail else 0
    return [stem[begin : len(stem) - end] for stem in stems]


def _shared(texts: list[str]) -> str:
    """What all texts begin with."""
    first, last = min(texts), max(texts)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    return first if same is None else first[:same]


def _class_file(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    problems = []
    for line, text in enumerate(text_lines(read_text(path)), 1):
        parts = text.split()
        if not parts:
            continue
        if len(parts) != 2 or not is_number(parts[1]):
            problems.append(Problem(line, f"{text.strip()!r} is not an item and a number"))
        elif parts[0] in found:
            problems.append(Problem(line, f"item {parts[0]!r} is listed twice"))
        else:
            found[parts[0]] = parts[1]
    if problems:
        raise InputError(str(path), problems)
    return found


def read_text_labels(plain: PlainRows, name: str, where: str, *, free: bool = False) -> LabelMatrix:
    """ImageCLEF text; its concepts are named by their position, from 0 on."""
    width = len((plain.first or "").split()) - 1
    found = plain_matrix(plain, " ", [str(j) for j in range(width)], name, named=False, free=free)
    if found is not None:
        return found
    rows: RowCollector | None = None
    for line_number, line in enumerate(text_lines(plain.text()), 1):
        item, *cells = line.split() or [""]
        if not item:
            continue
        if rows is None:
            if not cells:
                raise InputError.single(
                    where,
                    f"item {item!r} has no values (expected: item, then a number per concept)",
                    line_number,
                )
            rows = RowCollector(where, len(cells), free)
        rows.add(line_number, item, cells)
    if rows is None:
        raise InputError.single(where, "is empty")
    return rows.matrix([str(j) for j in range(rows.width)], name, named=False)


def text_blocks(matrix: LabelMatrix, where: str) -> Iterator[bytes]:
    """Confidence rows, 0/1 rows, or the one after the other when there are both."""
    LABEL_TEXT.check(where, "item", matrix.items, first=True)
    return (_core.label_rows(items, values, " ", False) for items, values in value_blocks(matrix))


_LONG = ["item", "concept", "value"]
_EXPECTED = "expected arrays items, concepts and labels and/or confidences"


def read_npz(path: FileForm, name: str, free: bool = False) -> LabelMatrix:
    """An archive with `items`, `concepts` and `labels` and/or `confidences`."""
    where = describe(path)
    arrays = read_archive(path)
    matrices: dict[str, Any] = {
        key: arrays[key] for key in ("labels", "confidences") if key in arrays
    }
    if not matrices:
        raise InputError.single(where, f"has {', '.join(arrays) or 'nothing'}; {_EXPECTED}")
    for key, matrix in matrices.items():
        if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
            raise InputError.single(
                where,
                f"{key} is {matrix.ndim}-dimensional {matrix.dtype}, expected a matrix of numbers",
            )
    if "labels" in matrices:
        labels = matrices["labels"]
        if not np.all((labels == 0) | (labels == 1)):
            raise InputError.single(where, "labels has values other than 0 and 1")
        matrices["labels"] = labels.astype(bool)
    if "confidences" in matrices:
        matrices["confidences"] = matrices["confidences"].astype(np.float64, copy=False)
    shape = next(iter(matrices.values())).shape
    return _named(where, name, shape, arrays, matrices, free)


def _named(
    where: str,
    name: str,
    shape: tuple[int, ...],
    arrays: dict[str, Any],
    matrices: dict[str, Any],
    free: bool,
) -> LabelMatrix:
    names: dict[str, tuple[str, ...]] = {}
    for key, count in zip(("items", "concepts"), shape, strict=True):
        given = arrays.get(key)
        if given is not None and given.shape != (count,):
            raise InputError.single(where, f"{given.size} {key} for {count} in the matrix")
        names[key] = tuple(map(str, range(count) if given is None else given))
    try:
        return LabelMatrix(
            names["items"],
            names["concepts"],
            matrices.get("labels"),
            matrices.get("confidences"),
            name,
            "concepts" in arrays,
            free=free,
        )
    except InputError as error:
        raise InputError(where, error.problems) from None


def npz_blocks(matrix: LabelMatrix, where: str) -> list[bytes]:
    """The archive that `read_npz` reads; dense."""
    ARCHIVE.check(where, "item", matrix.items)
    ARCHIVE.check(where, "concept", matrix.concepts)
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


def parquet_blocks(matrix: LabelMatrix, where: str) -> list[bytes]:
    """The table that `read_parquet` reads: one column per concept.

    Concepts that are called as the columns of a table would be read as these; such a matrix is
    written as item, concept, value with a row for every cell.
    """
    values = one_part(matrix, where, "a table")
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


def read_parquet(path: FileForm, name: str, free: bool = False) -> LabelMatrix:
    """A table with an item column and one column per concept, or item, concept, value."""
    where = describe(path)
    table = read_arrow_table(path, "Reading Parquet")
    columns = list(table.column_names)
    if columns == _LONG:
        return _long_table(where, name, table, free, Input.of(path).caps)
    if len(columns) < 2 or "item" not in columns:
        raise InputError.single(
            where,
            f"columns {', '.join(columns)}; expected 'item' and one "
            "per concept, or item, concept, value",
        )
    concepts = [c for c in columns if c != "item"]
    values = [column_numbers(where, table, c) for c in concepts]
    labels, confidences = split_values(np.column_stack(values))
    items = _texts(where, table, "item")
    try:
        return LabelMatrix(items, tuple(concepts), labels, confidences, name, free=free)
    except InputError as error:
        raise InputError(where, error.problems) from None


def _texts(where: str, table: Any, column: str) -> tuple[str, ...]:
    """The names in a column."""
    data = table.column(column)
    if data.null_count:
        raise InputError.single(where, f"column {column!r} has {data.null_count} empty cells")
    return tuple(str(value) for value in column_values(where, table, column))


def _names(where: str, table: Any, column: str) -> tuple[tuple[str, ...], np.ndarray]:
    """The names in a column in the order in which they first occur, and the place of each row's."""
    texts = _texts(where, table, column)
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return tuple(places), np.array([places[text] for text in texts], dtype=np.int64)


def _long_table(where: str, name: str, table: Any, free: bool, caps: Caps) -> LabelMatrix:
    values = column_numbers(where, table, "value")
    items, at_item = _names(where, table, "item")
    concepts, at_concept = _names(where, table, "concept")
    cell = at_item * len(concepts) + at_concept
    if len(np.unique(cell)) < len(cell):
        raise InputError.single(where, "an item and concept are given more than once")
    # A row names one cell, and the table has all cells of its items and concepts.
    caps.check_bytes(where, len(items) * len(concepts) * values.itemsize)
    matrix = np.full((len(items), len(concepts)), -np.inf if free else 0.0)
    matrix[at_item, at_concept] = values
    labels, confidences = split_values(matrix)
    try:
        return LabelMatrix(
            items,
            concepts,
            labels,
            confidences,
            name,
            free=free,
            listed=listed_share(matrix.shape, values),
        )
    except InputError as error:
        raise InputError(where, error.problems) from None


_BETWEEN = "|"


def listed_blocks(matrix: LabelMatrix, name: str) -> Iterator[bytes]:
    """CSV or TSV item,labels, which has the concepts of an item in one cell."""
    values = one_part(matrix, name, "a list of concepts")
    LABEL_CSV.check(name, "item", matrix.items)
    LABEL_CSV.check(name, "concept", matrix.concepts)
    if matrix.labels is None:
        raise InputError.single(name, "a list has no place for confidences; write .csv or .json")
    if not values.any(axis=0).all():
        raise InputError.single(name, "a list cannot name a concept that no item has")
    odd = next((concept for concept in matrix.concepts if _BETWEEN in concept), None)
    if odd is not None:
        raise InputError.single(name, f"{_BETWEEN} separates concepts, and {odd!r} has one")
    # Where every list is of one, its end shows that this is a list: names may hold blanks.
    end = "" if (values.sum(axis=1) > 1).any() else _BETWEEN
    rows = [["item", LISTED[0]]]
    for item, here in zip(matrix.items, values.tolist(), strict=True):
        there = [c for c, yes in zip(matrix.concepts, here, strict=True) if yes]
        rows.append([item, _BETWEEN.join(there) + (end if there else "")])
    yield csv_text(rows, SEPARATED_BY[inner_suffix(name)]).encode()


def write_class_files(matrix: LabelMatrix, folder: str | Path) -> None:
    """A folder with a file per concept, as PASCAL VOC has it: 1 and -1, or confidences."""
    target = Path(folder)
    values = one_part(matrix, str(target), "a folder with a file per concept")
    _check_class_files(matrix, target)
    try:
        if target.exists() and any(target.iterdir()):
            raise UsageError(f"{target}: is a folder with files in it; name a new one")
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as made:
            inside = Path(made) / "classes"
            inside.mkdir()
            for concept, column in zip(matrix.concepts, values.T.tolist(), strict=True):
                texts = (_there(value) for value in column)
                lines = [f"{i} {t}\n" for i, t in zip(matrix.items, texts, strict=True)]
                (inside / f"{concept}.txt").write_text("".join(lines), encoding="utf-8")
            if target.exists():
                target.rmdir()
            shutil.move(inside, target)
    except OSError as error:
        raise InputError.single(str(target), f"cannot be written: {os_message(error)}") from None


def _there(value: bool | float) -> str:
    return (("-1", "1")[value]) if isinstance(value, bool) else repr(value)


def _check_class_files(matrix: LabelMatrix, target: Path) -> None:
    """What names of files and lines of two words cannot hold is refused."""
    TREC.check(str(target), "item", matrix.items)
    for concept in matrix.concepts:
        if "/" in concept or "\0" in concept or concept.startswith("."):
            raise InputError.single(str(target), f"no file can be named by concept {concept!r}")
    if concepts_of(sorted(matrix.concepts)) != sorted(matrix.concepts):
        raise InputError.single(
            str(target),
            "all names of concepts begin or end with the same word before or after a _, which a "
            "folder of files would lose; write .csv",
        )
