"""Pairs of words, with people's scores if there are any."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from pathlib import Path

from cranfield.errors import InputError, Problem
from cranfield.io.files import csv_rows, describe, read_text

_COLUMNS = "expected: word1,word2[,human], and a header of these names or none"


@dataclass(frozen=True, slots=True)
class WordPair:
    """Two words and how related people find them, if they were asked."""

    word1: str
    word2: str
    human: float | None = None


def read_pairs(path: str | Path) -> tuple[WordPair, ...]:
    """Pairs from CSV or TSV with the columns word1, word2 and perhaps human.

    A file without that header has two words on each line, and perhaps a number, separated by
    tabs, commas or blanks.
    """
    where = describe(path)
    lines = [
        (number, line)
        for number, line in enumerate(io.StringIO(read_text(path), newline=None), 1)
        if line.strip() and not line.startswith("# ")
    ]
    if not lines:
        raise InputError.single(where, "holds no pair of words")
    delimiter = next((mark for mark in ("\t", ",") if mark in lines[0][1]), "")
    rows = [(number, _cells(line, delimiter, where)) for number, line in lines]
    columns = {name.lower(): i for i, name in enumerate(rows[0][1])}
    at: tuple[int, ...] = (0, 1, 2)
    if "word1" in columns and "word2" in columns:
        at = (columns["word1"], columns["word2"], columns.get("human", -1))
        rows = rows[1:]
    problems: list[Problem] = []
    pairs = [pair for number, row in rows if (pair := _pair(number, row, at, problems))]
    if not pairs and not problems:
        problems.append(Problem(0, "holds no pair of words"))
    if problems:
        raise InputError(where, problems)
    return tuple(pairs)


def _cells(line: str, delimiter: str, where: str) -> list[str]:
    if not delimiter:
        return line.split()
    (_, row), *_ = csv_rows([line], where, delimiter)
    return [cell.strip() for cell in row]


def _pair(
    number: int, row: list[str], at: tuple[int, ...], problems: list[Problem]
) -> WordPair | None:
    first, second, score = at
    if len(row) <= max(first, second) or not row[first] or not row[second]:
        problems.append(Problem(number, f"not a pair of words ({_COLUMNS})"))
        return None
    human: float | None = None
    if 0 <= score < len(row) and row[score]:
        try:
            human = float(row[score])
        except ValueError:
            human = math.nan
        if not math.isfinite(human):
            problems.append(Problem(number, f"score {row[score]!r} is not a number ({_COLUMNS})"))
            return None
    return WordPair(row[first], row[second], human)
