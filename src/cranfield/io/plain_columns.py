"""Columns by the names of a header, through the compiled reader where all rows are plain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cranfield.io.plain_rows import PlainRows, first_row


@dataclass(frozen=True, slots=True)
class Coded:
    """The texts of a column in order of first appearance, and which of them each row has."""

    names: list[str]
    codes: NDArray[np.int64]

    def texts(self) -> list[str]:
        """The text of each row."""
        return [self.names[code] for code in self.codes.tolist()]


@dataclass(frozen=True, slots=True)
class PlainColumns:
    """What was read: columns of texts, and perhaps one of numbers."""

    texts: dict[str, Coded] = field(default_factory=dict)
    numbers: NDArray[np.float64] | None = None

    def repeat(self, *names: str) -> bool:
        """Whether two rows have the same texts in these columns."""
        together = np.zeros(1, dtype=np.int64)
        for name in names:
            column = self.texts[name]
            # Renumbered each time, so that the numbers stay small whatever is put together.
            together = np.unique(together * len(column.names) + column.codes, return_inverse=True)[
                1
            ]
        return int(together.max()) + 1 < together.size


def plain_columns(
    rows: PlainRows, delimiter: str, wanted: Mapping[str, str]
) -> PlainColumns | None:
    """The wanted columns ("c" for texts, "n" for at most one of numbers) of a headed file.

    None where somebody else must read the file: a row is not plain, or a text is empty or has
    blanks around it.
    """
    header = [cell.strip().lower() for cell in first_row(rows, delimiter) or ()]
    if any(header.count(name) != 1 for name in wanted):
        return None
    cells = "".join(wanted.get(name, "-") for name in header)
    reader = rows.columns(delimiter, cells)
    if reader is None:
        return None
    texts = {}
    for at, name in enumerate(header):
        if cells[at] == "c":
            names = reader.names(at)
            if any(not text or text != text.strip() for text in names):
                return None
            texts[name] = Coded(names, np.asarray(reader.codes(at), dtype=np.int64))
    return PlainColumns(texts, np.asarray(reader.numbers()) if "n" in cells else None)
