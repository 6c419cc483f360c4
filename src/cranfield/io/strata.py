"""Judgements of a stratified sample: `topic iteration item stratum grade`."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from cranfield._lazy import np
from cranfield.data import Judgements
from cranfield.errors import PROBLEMS_SHOWN, InputError, Problem
from cranfield.io.files import FileForm, Input, describe, input_lines, read_text, text_lines
from cranfield.io.numbers import is_whole

SHAPE = "topic iteration item stratum grade"
MOST_STRATA = 2**19


def is_stratified(path: FileForm) -> bool:
    """Whether most lines at the start have five fields. A pipe cannot be asked: it is read once."""
    given = Input.of(path)
    if given.is_standard or not given.can_be_read_again:
        return False
    lines = [line.split() for line in islice(input_lines(given), 20)]
    widths = [len(fields) for fields in lines if fields and not fields[0].startswith("#")]
    return 2 * widths.count(5) > len(widths)


def read_stratified(path: FileForm) -> Judgements:
    """Judgements with strata; grade -1 is an item of the pool that was not in the sample."""
    problems: list[Problem] = []
    count = 0
    seen: dict[tuple[str, str], int] = {}
    rows: list[tuple[str, str, int, float]] = []
    for number, line in enumerate(text_lines(read_text(path)), start=1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        fault = _fault(fields)
        if not fault:
            first = seen.setdefault((fields[0], fields[2]), number)
            if first != number:
                fault = f"item {fields[2]!r} of topic {fields[0]!r} is judged on line {first} too"
        if fault:
            count += 1
            if len(problems) < PROBLEMS_SHOWN:
                problems.append(Problem(number, fault))
            continue
        rows.append((fields[0], fields[2], int(fields[3]), float(int(fields[4]))))
    if problems:
        raise InputError(describe(path), problems, count)
    # Topics may be scattered: their first mention gives their order.
    order = {topic: i for i, topic in enumerate(dict.fromkeys(r[0] for r in rows))}
    rows.sort(key=lambda r: order[r[0]])
    table = Judgements.from_rows(*([r[i] for r in rows] for i in (0, 1, 3)))
    return replace(table, strata=np.array([r[2] for r in rows], dtype=np.int64))


def _fault(fields: list[str]) -> str:
    if len(fields) != 5:
        return f"{len(fields)} fields (expected: {SHAPE})"
    stratum, grade = fields[3:]
    if not (is_whole(stratum) and len(stratum) < 9 and int(stratum) < MOST_STRATA):
        return f"stratum {stratum!r} is not a whole number from 0 on (expected: {SHAPE})"
    if not is_whole(grade.removeprefix("-")) or len(grade) > 15:
        return f"grade {grade!r} is not a whole number (expected: {SHAPE})"
    return ""
