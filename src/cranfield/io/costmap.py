"""Cost maps (square CSV with names) and agreement maps (CSV concept,agreement)."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import numpy as np

from cranfield.data.costmap import AgreementMap, CostMap, cost_problems
from cranfield.errors import InputError, Problem, plural
from cranfield.io.files import NAME_CSV, csv_rows, describe, number, read_text, write_atomic
from cranfield.io.sniff import separator_of
from cranfield.validation import validate_params


@validate_params
def read_costmap(path: str | Path) -> CostMap:
    """A cost map: a header of names, then one row of costs per name, in any order."""
    source_name = describe(path)
    rows = _rows(path)
    names = [cell.strip() for cell in rows[0][1][1:]]
    problems = [
        Problem(rows[0][0], f"column {number} has no name, expected that of a concept")
        for number, name in enumerate(names, 2)
        if not name
    ]
    rows_by_name: dict[str, tuple[int, list[float]]] = {}
    for line, row in rows[1:]:
        name = row[0].strip()
        if name not in names:
            problems.append(Problem(line, f"row {name!r} has no column of that name"))
        elif name in rows_by_name:
            problems.append(Problem(line, f"row {name!r} given twice"))
        elif len(row) != len(names) + 1:
            problems.append(
                Problem(line, f"{len(row) - 1} costs for {len(names)} concepts; the map is square")
            )
        else:
            rows_by_name[name] = line, _numbers(row[1:], name, names, line, problems)
    if not problems:
        problems += [
            Problem(1, f"column {n!r} has no row of that name")
            for n in names
            if n not in rows_by_name
        ]
    if not problems:
        costs = np.array([rows_by_name[n][1] for n in names])
        problems += [
            Problem(rows_by_name[names[i]][0], text) for i, text in cost_problems(names, costs)
        ]
    if problems:
        raise InputError(source_name, sorted(problems, key=lambda p: p.line))
    return CostMap.of(names, costs, name=source_name)


def _rows(path: str | Path) -> list[tuple[int, list[str]]]:
    text = read_text(path)
    with io.StringIO(text, newline="") as stream:
        rows = [
            (line, row)
            for line, row in csv_rows(stream, describe(path), separator_of(text))
            if any(cell.strip() for cell in row)
        ]
    if len(rows) < 2 or len(rows[0][1]) < 2:
        raise InputError.single(
            describe(path), "has no costs, expected a header of names and a row for each of them"
        )
    return rows


def _numbers(
    cells: list[str], name: str, names: list[str], line: int, problems: list[Problem]
) -> list[float]:
    values = []
    for column, cell in zip(names, cells, strict=True):
        try:
            values.append(number(cell))
        except ValueError:
            problems.append(
                Problem(
                    line,
                    f"the cost of {name!r} to {column!r} is {cell!r}, expected a number in [0, 1]",
                )
            )
    return values


@validate_params
def write_costmap(costs: CostMap, path: str | Path) -> None:
    """Write a cost map as square CSV, in full precision."""
    NAME_CSV.check(str(path), "the concept", costs.concepts)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["concept", *costs.concepts])
    for name, row in zip(costs.concepts, costs.costs, strict=True):
        writer.writerow([name, *(repr(float(v)) for v in row)])
    write_atomic(Path(path), out.getvalue().encode())


@validate_params
def read_agreement(path: str | Path) -> AgreementMap:
    """An agreement map: CSV `concept,agreement` with numbers in [0, 1]."""
    source_name = describe(path)
    agreement: dict[str, float] = {}
    problems: list[Problem] = []
    text = read_text(path)
    with io.StringIO(text, newline="") as stream:
        rows = csv_rows(stream, source_name, separator_of(text))
        filled = (row for _, row in rows if any(row))
        header = [cell.strip() for cell in next(filled, [])]
        if not {"concept", "agreement"} <= set(header):
            raise InputError.single(
                source_name, f"header {','.join(header)!r} lacks 'concept' or 'agreement'", 1
            )
        for line, row in rows:
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(header):
                fault = f"{plural(len(row), 'field')}, expected {','.join(header)}"
            else:
                cells = dict(zip(header, row, strict=True))
                fault = _add_agreement(cells["concept"].strip(), cells["agreement"], agreement)
            if fault:
                problems.append(Problem(line, fault))
    if problems:
        raise InputError(source_name, problems)
    return AgreementMap(agreement, source_name)


def _add_agreement(concept: str, text: str, agreement: dict[str, float]) -> str:
    """Puts a value into `agreement`, or says what is wrong with it."""
    try:
        value = number(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        return f"the agreement on {concept!r} is {text!r}, expected a number in [0, 1]"
    if concept in agreement:
        return f"concept {concept!r} given twice"
    agreement[concept] = value
    return ""
