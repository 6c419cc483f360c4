"""Labels as people keep them: a list of concepts per item, or a file per concept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cranfield.data.labels import LabelMatrix, split_values
from cranfield.errors import InputError, Problem
from cranfield.io.files import FileForm, describe, read_text
from cranfield.io.label_rows import one_part
from cranfield.io.numbers import is_number, number

# What the second column of a list is called.
LISTED = ("labels", "tags", "concepts")
_SEPARATORS = ("|", ";", ",")
# PASCAL VOC: there, difficult to see, not there.
_VOC = {"1": 1.0, "0": 0.0, "-1": 0.0}


def is_list(header: Sequence[str], rows: Sequence[tuple[int, list[str]]]) -> bool:
    """Whether a CSV has a list of concepts per item, not numbers in one column."""
    return (
        len(header) == 2
        and header[1].lower() in LISTED
        and not all(len(row) == 2 and is_number(row[1].strip()) for _, row in rows)
    )


def read_listed(rows: Sequence[tuple[int, list[str]]], name: str, where: str) -> LabelMatrix:
    """item,labels: concepts separated by | ; or commas, or by blanks where there is none of them.

    Which of them separates is decided for the whole file: concepts may have blanks in their names.
    """
    separator = next(
        (s for s in _SEPARATORS if any(s in cell for _, row in rows for cell in row[1:])),
        "," if any(len(row) > 2 for _, row in rows) else None,
    )
    found: dict[str, set[str]] = {}
    problems = []
    for line, (item, *cells) in rows:
        if item.strip() in found:
            problems.append(Problem(line, f"item {item.strip()!r} is listed twice"))
        parts = [part.strip() for cell in cells for part in cell.split(separator)]
        found[item.strip()] = {part for part in parts if part}
    if not found:
        problems.append(Problem(0, "has no rows below its header"))
    elif not any(found.values()):
        problems.append(Problem(0, "has no concept for any item"))
    if problems:
        raise InputError(where, problems)
    return LabelMatrix.of(found, name=name)


def read_json_labels(path: FileForm, name: str) -> LabelMatrix:
    """{item: [concepts]} or {item: {concept: value}}."""
    where = describe(path)
    try:
        content = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError.single(where, f"is not JSON: {error}") from None
    if not isinstance(content, dict) or not content:
        raise InputError.single(where, "expected {item: [concepts]} or {item: {concept: value}}")
    listed = all(isinstance(value, list) for value in content.values())
    if not listed and not all(isinstance(value, dict) for value in content.values()):
        raise InputError.single(where, "expected {item: [concepts]} or {item: {concept: value}}")
    data: dict[str, Any] = {k: set(map(str, v)) if listed else v for k, v in content.items()}
    return LabelMatrix.of(data, name=name)


def json_blocks(matrix: LabelMatrix, where: str) -> list[bytes]:
    """{item: [concepts]} for labels, {item: {concept: value}} for confidences.

    Lists know only the concepts that some item has: where one has none, values are written.
    """
    values = one_part(matrix, where, "JSON")
    rows = zip(matrix.items, values.tolist(), strict=True)
    found: dict[str, Any]
    if values.dtype == np.bool_ and values.any(axis=0).all():
        found = {
            item: [c for c, here in zip(matrix.concepts, row, strict=True) if here]
            for item, row in rows
        }
    else:
        found = {
            item: {c: float(v) for c, v in zip(matrix.concepts, row, strict=True)}
            for item, row in rows
        }
    return [(json.dumps(found, ensure_ascii=False, indent=0) + "\n").encode()]


def read_class_files(folder: Path, name: str, *, free: bool = False) -> LabelMatrix:
    """A folder with one file per concept, as PASCAL VOC has it.

    Each line is an item and 1, 0 (difficult to see) or -1 in a truth, or an item and a score in a
    run. What the names of all files begin and end with is no part of the concepts' names. Items
    that are difficult to see count as not showing the concept, which a note says.
    """
    files = sorted(p for p in folder.iterdir() if p.is_file() and p.suffix == ".txt")
    if not files:
        raise InputError.single(str(folder), "has no .txt files, one per concept")
    concepts = _concepts([path.stem for path in files])
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


def _concepts(stems: list[str]) -> list[str]:
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
    for line, text in enumerate(read_text(path).splitlines(), 1):
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
