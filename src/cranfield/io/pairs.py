"""Pairs of words, with people's scores if there are any."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cranfield.errors import InputError, Problem
from cranfield.io.fast_csv import PlainRows, plain_columns
from cranfield.io.files import csv_rows, describe, number

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
    source_name = describe(path)
    plain_rows = PlainRows(path)
    plain_pairs = _plain_pairs(plain_rows)
    if plain_pairs is not None:
        return plain_pairs
    rows = _rows(plain_rows.text(), source_name)
    if not rows:
        raise InputError.single(source_name, "holds no pair of words")
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
        raise InputError(source_name, problems)
    return tuple(pairs)


def _plain_pairs(plain_rows: PlainRows) -> tuple[WordPair, ...] | None:
    """The pairs of a file with a header in which all rows are plain; None for any other."""
    first = plain_rows.first or ""
    delimiter = next((mark for mark in ("\t", ",") if mark in first), "")
    header = [cell.strip().lower() for cell in first.split(delimiter or None)]
    if not delimiter or header[:1] != ["word1"]:
        return None
    scored = {"human": "n"} if "human" in header else {}
    columns = plain_columns(plain_rows, delimiter, {"word1": "c", "word2": "c", **scored})
    if columns is None or any(name.split(" ")[0] == "#" for name in columns.texts["word1"].names):
        return None
    words = [columns.texts[name].texts() for name in ("word1", "word2")]
    if columns.numbers is None:
        return tuple(map(WordPair, *words))
    finite = bool(np.isfinite(columns.numbers).all())
    return tuple(map(WordPair, *words, columns.numbers.tolist())) if finite else None


def _rows(text: str, source_name: str) -> list[tuple[int, list[str]]]:
    """The rows that hold anything, with their lines; lines that start with # are remarks."""
    lines = list(io.StringIO(text, newline=None))
    first = next((line for line in lines if line.strip() and not line.startswith("# ")), "")
    delimiter = next((mark for mark in ("\t", ",") if mark in first), "")
    every = (
        csv_rows(lines, source_name, delimiter)
        if delimiter
        else ((number, line.split()) for number, line in enumerate(lines, 1))
    )
    rows = ((number, [cell.strip() for cell in row]) for number, row in every)
    return [(number, row) for number, row in rows if any(row) and row[0].split(" ")[0] != "#"]


def _pair(
    line: int, row: list[str], at: tuple[int, ...], problems: list[Problem]
) -> WordPair | None:
    first, second, score = at
    if len(row) <= max(first, second) or not row[first] or not row[second]:
        problems.append(Problem(line, f"not a pair of words ({_COLUMNS})"))
        return None
    human: float | None = None
    if 0 <= score < len(row) and row[score]:
        try:
            human = number(row[score])
        except ValueError:
            human = math.nan
        if not math.isfinite(human):
            problems.append(Problem(line, f"score {row[score]!r} is not a number ({_COLUMNS})"))
            return None
    return WordPair(row[first], row[second], human)
