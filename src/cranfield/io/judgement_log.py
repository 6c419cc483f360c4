"""Judgement logs: CSV annotator,item,concept,value[,seconds] or annotator,item,category."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, repeat
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.data.judgement_log import (
    SOLE_QUESTION,
    Codes,
    JudgementLog,
    Kind,
    cell_keys,
    describe_judgement,
    number_name,
    ordered_values,
    repeats,
)
from cranfield.errors import PROBLEMS_SHOWN, InputError, Problem, suggest
from cranfield.io.files import FileForm, csv_rows, describe, read_text
from cranfield.io.numbers import number, numbers

Duplicates: TypeAlias = Literal["error", "first", "last", "all"]

# What other tools call the columns.
ALIASES = {
    "worker": "annotator",
    "rater": "annotator",
    "performer": "annotator",
    "judge": "annotator",
    "task": "item",
    "unit": "item",
    "image": "item",
    "document": "item",
    "label": "category",
    "rating": "category",
}
FORMS = "annotator,item,concept,value[,seconds] or annotator,item,category[,seconds]"
TRUTH_FORMS = "item,concept,value or item,category"
# Columns of numbers, not of names.
NUMBERS = ("seconds", "weight")
WORDS = {"true": "1", "yes": "1", "false": "0", "no": "0"}
BLOCK = 1 << 16


def read_judgement_log(
    path: FileForm,
    *,
    values: Sequence[str] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    duplicates: Duplicates = "error",
    progress: Callable[[float], None] | None = None,
) -> JudgementLog:
    """A judgement log from a file.

    `values` declares the answers that can be given, low to high; any other is an error.
    `groups` are the exclusive groups of a category log: each is a question of its own, and a
    category outside of them is an error. In a concept log they change nothing. A second
    judgement of the same annotator on the same cell is an error, or the `first` or
    `last` one counts, or `all` of them count.
    """
    where = describe(path)
    table = _Table(where, read_text(path), progress)
    columns = table.columns(FORMS, required=("annotator", "item"))
    kind = _kind_of(columns, where, FORMS)
    table.read(columns)
    answers = "value" if kind == "concept" else "category"
    lines = table.lines
    declared = None if values is None else [_value_name(v, kind) for v in values]
    names, codes = _answers(table, answers, kind, declared)
    seconds = table.numbers("seconds") if "seconds" in columns else None
    table.raise_problems()
    concepts, concept = (
        table.names("concept")
        if kind == "concept"
        else ((SOLE_QUESTION,), np.zeros(lines.size, dtype=np.int32))
    )
    annotators, annotator = table.names("annotator")
    items, item = table.names("item")
    table.raise_problems()
    log = JudgementLog(
        kind,
        annotators,
        items,
        concepts,
        names,
        annotator,
        item,
        concept,
        codes,
        seconds,
        source=where,
    )
    if kind == "category" and groups:
        log = _grouped(log, lines, groups)
    return _without_repeats(log, lines, duplicates)


def read_gold(path: FileForm, log: JudgementLog) -> NDArray[np.int32]:
    """Known answers as an array items x concepts of value codes, -1 where unknown.

    The file has the columns item,concept,value or item,category, as the log has them.
    """
    where = describe(path)
    table = _Table(where, read_text(path), None)
    columns = table.columns(TRUTH_FORMS, required=("item",), rename={"truth": "category"})
    if _kind_of(columns, where, TRUTH_FORMS) != log.kind:
        raise InputError.single(
            where, f"does not fit the log: expected the columns of a {log.kind} log", 1
        )
    table.read(columns)
    answers = "value" if log.kind == "concept" else "category"
    _, codes = _answers(table, answers, log.kind, log.values)
    items, item = table.names("item")
    concepts, concept = (
        table.names("concept")
        if log.kind == "concept"
        else ((SOLE_QUESTION,), np.zeros(item.size, dtype=np.int32))
    )
    table.raise_problems()
    known = np.full((len(log.items), len(log.concepts)), -1, dtype=np.int32)
    # Truth often covers more items than were judged: what the log does not ask is left aside.
    row_of = {name: i for i, name in enumerate(log.items)}
    column_of = {name: i for i, name in enumerate(log.concepts)}
    rows = np.array([row_of.get(name, -1) for name in items], dtype=np.int64)[item]
    if log.allowed is None:
        cols = np.array([column_of.get(name, -1) for name in concepts], dtype=np.int64)[concept]
    else:
        question = {v: c for c, allowed in enumerate(log.allowed) for v in allowed}
        cols = np.array([question.get(int(v), -1) for v in codes], dtype=np.int64)
    fits = (rows >= 0) & (cols >= 0)
    if not fits.any():
        raise InputError.single(where, f"holds no item and concept of {log.source}")
    known[rows[fits], cols[fits]] = codes[fits]
    return known


def read_annotator_groups(path: FileForm, log: JudgementLog) -> dict[str, tuple[str, ...]]:
    """Groups of annotators (experts, crowd) from CSV annotator,group."""
    where = describe(path)
    table = _Table(where, read_text(path), None)
    columns = table.columns("annotator,group", required=("annotator", "group"))
    table.read(columns)
    annotators, annotator = table.names("annotator")
    groups, group = table.names("group")
    for name in annotators:
        if name not in log.annotators:
            line = int(table.lines[int(np.argmax(annotator == annotators.index(name)))])
            table.add(
                line, f"no annotator {name!r} in {log.source}.{suggest(name, log.annotators)}"
            )
    seen: dict[int, int] = {}
    for row, (a, g) in enumerate(zip(annotator.tolist(), group.tolist(), strict=True)):
        if seen.setdefault(a, g) != g:
            table.add(int(table.lines[row]), f"annotator {annotators[a]!r} is in two groups")
    table.raise_problems()
    return {
        name: tuple(annotators[a] for a, of in seen.items() if of == g)
        for g, name in enumerate(groups)
    }


def read_weights(path: FileForm, log: JudgementLog) -> NDArray[np.float64]:
    """One weight per annotator of the log, from CSV annotator,weight."""
    where = describe(path)
    table = _Table(where, read_text(path), None)
    table.read(table.columns("annotator,weight", required=("annotator", "weight")))
    annotators, annotator = table.names("annotator")
    given = table.numbers("weight")
    table.raise_problems()
    by_name = {annotators[a]: w for a, w in zip(annotator.tolist(), given.tolist(), strict=True)}
    missing = [name for name in log.annotators if name not in by_name]
    if missing:
        raise InputError.single(
            where, f"has no weight for annotator {missing[0]!r} ({len(missing)} without a weight)"
        )
    return np.array([by_name[name] for name in log.annotators])


class _Table:
    """A CSV or TSV text with a header, read into coded columns block by block."""

    def __init__(self, where: str, text: str, progress: Callable[[float], None] | None) -> None:
        self.where, self.count, self._problems = where, 0, list[Problem]()
        self._text = text.replace("\r\n", "\n") if "\r" in text else text
        self._progress = progress
        first, _, self._body = self._text.partition("\n")
        self._separator = "\t" if "\t" in first and "," not in first else ","
        self._header = next(self._rows(first, 1), (0, []))[1]

    def columns(
        self, forms: str, required: Sequence[str], rename: dict[str, str] | None = None
    ) -> dict[str, int]:
        """The position of each known column, or an error that says what a header should be."""
        known = ALIASES | (rename or {})
        heads = [known.get(h.strip().lower(), h.strip().lower()) for h in self._header]
        if not any(heads):
            raise InputError.single(self.where, f"is empty (expected a header: {forms})", 1)
        if twice := [name for name, times in Counter(heads).items() if times > 1]:
            raise InputError.single(self.where, f"the header has two columns {twice[0]!r}", 1)
        for name in required:
            if name not in heads:
                found = ",".join(self._header)
                raise InputError.single(
                    self.where,
                    f"the header {found!r} has no column {name!r} (expected: {forms})",
                    1,
                )
        return {name: i for i, name in enumerate(heads)}

    def read(self, columns: dict[str, int]) -> None:
        """Code every column; rows of a wrong length become problems."""
        # Looking up a new text gives it the next code.
        self._vocabulary: dict[str, dict[str, int]] = {
            name: defaultdict(count().__next__) for name in columns
        }
        parts: dict[str, list[Any]] = {name: [] for name in columns}
        numbers: list[NDArray[np.int64]] = []
        for first_line, fields, lines in self._blocks(len(self._header)):
            numbers.append(lines + first_line)
            for name, at in columns.items():
                column = fields[at :: len(self._header)]
                if name in NUMBERS:
                    parts[name].append(self._parsed(name, column, numbers[-1]))
                    continue
                code_of = self._vocabulary[name].__getitem__
                parts[name].append(np.fromiter(map(code_of, column), np.int32, len(column)))
        self.lines = np.concatenate(numbers) if numbers else np.empty(0, dtype=np.int64)
        if not self.lines.size and not self.count:
            raise InputError.single(self.where, "has a header but no rows")
        self._columns = {
            name: np.concatenate(found) if found else np.empty(0, dtype=np.int32)
            for name, found in parts.items()
        }

    def _parsed(
        self, name: str, column: list[str], lines: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """A column of finite numbers from zero on; anything else is a problem."""
        try:
            values = np.array(numbers(column))
        except ValueError:
            values = np.fromiter(map(_number, column), np.float64, len(column))
        bad = np.flatnonzero(~((values >= 0) & (values < np.inf)))
        self._add(lines[bad], lambda i: f"{name} {column[bad[i]]!r} is not a number from 0 on")
        return values

    def _blocks(self, width: int) -> Iterator[tuple[int, list[str], NDArray[np.int64]]]:
        """Blocks of rows as (first line, all fields in a row, line of each row in the block)."""
        if '"' in self._body:
            yield from self._quoted(width)
            return
        lines = self._body.split("\n")
        for start in range(0, len(lines), BLOCK):
            block = lines[start : start + BLOCK]
            counts = np.fromiter(map(str.count, block, repeat(self._separator)), np.int64)
            good = counts == width - 1
            if width == 1:
                good &= np.fromiter(map(bool, block), bool)
            numbers = np.arange(len(block))
            if not good.all():
                for i in np.flatnonzero(~good):
                    self._check_length(block[i], start + int(i) + 2, int(counts[i]) + 1, width)
                block = [block[i] for i in np.flatnonzero(good)]
                numbers = numbers[good]
            if block:
                yield start + 2, self._separator.join(block).split(self._separator), numbers
            if self._progress is not None:
                self._progress(min(1.0, (start + BLOCK) / len(lines)))

    def _rows(self, text: str, first_line: int) -> Iterator[tuple[int, list[str]]]:
        """The rows of a text with quotes, each with its line."""
        lines = text.splitlines(keepends=True)
        return csv_rows(lines, self.where, self._separator, first_line=first_line)

    def _quoted(self, width: int) -> Iterator[tuple[int, list[str], NDArray[np.int64]]]:
        fields: list[str] = []
        numbers: list[int] = []
        for line, row in self._rows(self._body, 2):
            if len(row) == width:
                fields += row
                numbers.append(line - 2)
            else:
                self._check_length("".join(row), line, len(row), width)
        if numbers:
            yield 2, fields, np.array(numbers, dtype=np.int64)

    def _check_length(self, text: str, line: int, found: int, width: int) -> None:
        if text.strip():
            expected = self._separator.join(self._header)
            self.add(line, f"{found} fields, expected {width} ({expected})")

    def names(self, column: str) -> tuple[tuple[str, ...], Codes]:
        """A column of names and their codes; an empty name is a problem."""
        texts, codes = self.texts(column)
        stripped = {name: i for i, name in enumerate(dict.fromkeys(texts))}
        if texts != list(self._vocabulary[column]):
            codes = np.array([stripped[text] for text in texts], dtype=np.int32)[codes]
        if "" in stripped:
            empty = self.lines[codes == stripped[""]]
            self._add(empty, lambda _: f"the {column} is empty")
        return tuple(stripped), codes

    def texts(self, column: str) -> tuple[list[str], Codes]:
        """The distinct texts of a column and their codes."""
        return list(map(str.strip, self._vocabulary[column])), self._columns[column]

    def numbers(self, column: str) -> NDArray[np.float64]:
        """A column of `NUMBERS`."""
        return np.asarray(self._columns[column])

    def refuse(self, column: str, bad: set[int], message: Callable[[int], str]) -> None:
        """Some distinct texts of a column are a problem wherever they stand."""
        if bad:
            codes = self._columns[column]
            marked = np.zeros(len(self._vocabulary[column]), dtype=bool)
            marked[list(bad)] = True
            rows = np.flatnonzero(marked[codes])
            self._add(self.lines[rows], lambda i: message(int(codes[rows[i]])))

    def _add(self, lines: NDArray[np.int64], message: Callable[[int], str]) -> None:
        """Count problems, and put the first of them into words: message(0), message(1), ..."""
        self.count += int(lines.size)
        self._problems += [
            Problem(int(line), message(i)) for i, line in enumerate(lines[:PROBLEMS_SHOWN])
        ]

    def add(self, line: int, message: str) -> None:
        """One problem."""
        self._add(np.array([line]), lambda _: message)

    def raise_problems(self) -> None:
        """An InputError with the problems met so far, in the order of the file."""
        if self.count:
            raise InputError(self.where, sorted(self._problems, key=lambda p: p.line), self.count)


def _number(text: str) -> float:
    try:
        return number(text)
    except ValueError:
        return math.nan


def _kind_of(columns: dict[str, int], where: str, forms: str) -> Kind:
    if "concept" in columns and "value" in columns:
        return "concept"
    if "category" in columns and "concept" not in columns:
        return "category"
    found = ",".join(columns)
    raise InputError.single(where, f"the header {found!r} is none of {forms}", 1)


def _value_name(text: str, kind: Kind) -> str:
    """The canonical name of an answer, or '' when a value is no number."""
    if kind == "category":
        return text
    value = _number(WORDS.get(text.lower(), text))
    return number_name(value) if math.isfinite(value) else ""


def _answers(
    table: _Table, column: str, kind: Kind, declared: Sequence[str] | None
) -> tuple[tuple[str, ...], Codes]:
    """The answers of a column in their order, and the code of each row's answer."""
    texts, codes = table.texts(column)
    names = [_value_name(text, kind) for text in texts]
    allowed = set(names) if declared is None else set(declared)

    def message(i: int) -> str:
        if not texts[i]:
            return f"the {column} is empty; a missing judgement is a row left out"
        if not names[i]:
            return f"value {texts[i]!r} is not a number (expected 0, 1 or a grade)"
        shown = ", ".join(declared or ())
        return f"{column} {texts[i]!r} is not one of {shown}.{suggest(texts[i], allowed)}"

    bad = {i for i, name in enumerate(names) if not name or name not in allowed}
    table.refuse(column, bad, message)
    table.raise_problems()
    order, by_text = ordered_values(names, kind, declared)
    return order, by_text[codes]


def _grouped(
    log: JudgementLog, lines: NDArray[np.int64], groups: Mapping[str, Sequence[str]]
) -> JudgementLog:
    """A category log with each exclusive group as a question of its own."""
    values = tuple(dict.fromkeys(name for members in groups.values() for name in members))
    place = {name: i for i, name in enumerate(values)}
    question = {name: g for g, members in enumerate(groups.values()) for name in members}
    outside = np.array([name not in place for name in log.values], dtype=bool)
    rows = np.flatnonzero(outside[log.value])
    if rows.size:
        raise InputError(
            log.source,
            [
                Problem(
                    int(lines[row]),
                    f"category {name!r} is outside of every group.{suggest(name, values)}",
                )
                for row in rows[:PROBLEMS_SHOWN].tolist()
                for name in [log.values[log.value[row]]]
            ],
            rows.size,
        )
    return replace(
        log,
        concepts=tuple(groups),
        values=values,
        concept=np.array([question[name] for name in log.values], dtype=np.int32)[log.value],
        value=np.array([place[name] for name in log.values], dtype=np.int32)[log.value],
        allowed=tuple(tuple(place[name] for name in members) for members in groups.values()),
    )


def _without_repeats(log: JudgementLog, lines: NDArray[np.int64], rule: Duplicates) -> JudgementLog:
    again = repeats(log)
    if rule == "all" or not again.any():
        return log
    if rule == "first":
        return log.where(~again)
    key = cell_keys(log)
    if rule == "last":
        _, last = np.unique(key[::-1], return_index=True)
        keep = np.zeros(len(log), dtype=bool)
        keep[len(log) - 1 - last] = True
        return log.where(keep)
    problems = []
    for row in np.flatnonzero(again)[:PROBLEMS_SHOWN].tolist():
        first = lines[np.flatnonzero(key == key[row])[0]]
        problems.append(
            Problem(
                int(lines[row]),
                f"duplicate judgement: {describe_judgement(log, row)} (first on line {first}); "
                "keep one of them with duplicates='first'",
            )
        )
    raise InputError(log.source, problems, int(again.sum()))
