"""Labels in shapes that other programs want: lists of concepts, or a file per concept."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cranfield.data.labels import LabelMatrix
from cranfield.errors import InputError, UsageError, os_message
from cranfield.io.files import inner_suffix
from cranfield.io.ids import LABEL_CSV, TREC
from cranfield.io.label_lists import LISTED, concepts_of
from cranfield.io.label_rows import one_part
from cranfield.io.shapes import SEPARATED_BY
from cranfield.io.written import csv_text

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
