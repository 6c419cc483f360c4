"""Judgements with subtopics: `topic subtopic item grade`, an item once for each subtopic."""

from __future__ import annotations

from itertools import islice

from cranfield.data import Judgements
from cranfield.errors import PROBLEMS_SHOWN, InputError, Problem
from cranfield.io.files import FileForm, Input, describe, input_lines, read_text, text_lines

SHAPE = "topic subtopic item grade"
# As many lines show whether items stand in several subtopics.
LINES_ASKED = 100_000


def has_subtopics(path: FileForm) -> bool:
    """Whether an item is judged for two subtopics. A pipe cannot be asked: it is read once."""
    given = Input.of(path)
    if given.is_standard or not given.can_be_read_again:
        return False
    first: dict[tuple[str, str], str] = {}
    for line in islice(input_lines(given), LINES_ASKED):
        fields = line.split()
        if len(fields) == 4 and not fields[0].startswith("#"):
            topic, subtopic, item, _ = fields
            if first.setdefault((topic, item), subtopic) != subtopic:
                return True
    return False


def read_subtopics(path: FileForm) -> Judgements:
    """Judgements with subtopics; the grade of an item is its best one."""
    problems: list[Problem] = []
    count = 0
    found: dict[str, dict[str, dict[str, float]]] = {}
    for number, line in enumerate(text_lines(read_text(path)), start=1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        fault = _fault(fields)
        if not fault:
            topic, subtopic, item, grade = fields
            graded = found.setdefault(topic, {}).setdefault(subtopic, {})
            if graded.setdefault(item, float(grade)) != float(grade):
                fault = f"item {item!r} of subtopic {subtopic!r} is judged twice, and differently"
        if fault:
            count += 1
            if len(problems) < PROBLEMS_SHOWN:
                problems.append(Problem(number, fault))
    if problems:
        raise InputError(describe(path), problems, count)
    return Judgements.from_subtopics(found, where=describe(path))


def _fault(fields: list[str]) -> str:
    if len(fields) != 4:
        return f"{len(fields)} fields (expected: {SHAPE})"
    if not fields[3].removeprefix("-").isdecimal():
        return f"grade {fields[3]!r} is not a whole number (expected: {SHAPE})"
    return ""
