"""Truths of concepts in which not every cell was judged: CSV item,concept,value.

A cell that was drawn into the sample and not judged has no value, or `?`; a cell that is not listed
was never drawn. Both are unknown, but an inferred measure uses the difference.
"""

from __future__ import annotations

from pathlib import Path

from cranfield.data import Judgements
from cranfield.errors import InputError, Problem
from cranfield.io.files import csv_rows, describe, inner_suffix, open_text

_VALUES = {"1": 1.0, "0": 0.0, "": -1.0, "?": -1.0, "-1": -1.0}


def read_pooled_cells(path: str | Path) -> Judgements:
    """The cells of a file as judgements, a topic for each concept."""
    source_name = describe(path)
    delimiter = "\t" if inner_suffix(path) == ".tsv" else ","
    with open_text(path) as stream:
        rows = list(csv_rows(stream, source_name, delimiter))
    header = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    if header != ["item", "concept", "value"]:
        raise InputError.single(source_name, "expected a header item,concept,value", 1)
    cells: dict[str, dict[str, float]] = {}
    problems: list[Problem] = []
    for line, row in rows[1:]:
        values = [cell.strip() for cell in row]
        if not any(values):
            continue
        if len(values) != 3 or not values[0] or not values[1]:
            problems.append(Problem(line, "expected item,concept,value"))
        elif values[2] not in _VALUES:
            problems.append(Problem(line, f"value {values[2]!r} is not 1, 0 or ? (not judged)"))
        elif values[0] in cells.setdefault(values[1], {}):
            problems.append(Problem(line, f"item {values[0]!r} twice for {values[1]!r}"))
        else:
            cells[values[1]][values[0]] = _VALUES[values[2]]
    if not cells and not problems:
        problems.append(Problem(0, "holds no cell"))
    if problems:
        raise InputError(source_name, problems)
    return Judgements.from_dict(cells)
