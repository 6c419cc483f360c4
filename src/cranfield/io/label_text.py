"""The text form of ImageCLEF: an item, then one number per concept, without names.

2009: confidences. ICPR 2010: the same, with a threshold per concept beside it. 2010: the
confidence rows of all items followed by as many 0/1 rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from cranfield import _core
from cranfield.data.labels import LabelMatrix
from cranfield.errors import InputError
from cranfield.io.files import text_lines
from cranfield.io.ids import LABEL_TEXT
from cranfield.io.label_rows import RowCollector, plain_matrix, value_blocks
from cranfield.io.plain_rows import PlainRows


def read_text_labels(plain: PlainRows, name: str, where: str, *, free: bool = False) -> LabelMatrix:
    """ImageCLEF text; its concepts are named by their position, from 0 on."""
    width = len((plain.first or "").split()) - 1
    found = plain_matrix(plain, " ", [str(j) for j in range(width)], name, named=False, free=free)
    if found is not None:
        return found
    rows: RowCollector | None = None
    for number, line in enumerate(text_lines(plain.text()), 1):
        item, *cells = line.split() or [""]
        if not item:
            continue
        if rows is None:
            if not cells:
                raise InputError.single(
                    where,
                    f"item {item!r} has no values (expected: item, then a number per concept)",
                    number,
                )
            rows = RowCollector(where, len(cells), free)
        rows.add(number, item, cells)
    if rows is None:
        raise InputError.single(where, "is empty")
    return rows.matrix([str(j) for j in range(rows.width)], name, named=False)


def text_blocks(matrix: LabelMatrix, where: str) -> Iterator[bytes]:
    """Confidence rows, 0/1 rows, or the one after the other when there are both."""
    LABEL_TEXT.check(where, "item", matrix.items, first=True)
    return (_core.label_rows(items, values, " ", False) for items, values in value_blocks(matrix))
