"""What annotators answered: a columnar log of single judgements, with any cell missing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield.errors import InputError, NeedsError, UsageError

Codes: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]
Kind: TypeAlias = Literal["concept", "category"]

# In a category log without groups every judgement answers one and the same question.
SOLE_QUESTION = "category"
BINARY = ("0", "1")


@dataclass(frozen=True, eq=False)
class JudgementLog:
    """Judgements as integer codes, in the order in which they were given.

    A log of kind "concept" says for a concept on an item which value an annotator gave: 0 or 1
    for absent and present, or a grade. A log of kind "category" says which of several exclusive
    categories an annotator chose; the question behind them stands in `concepts`. `values` are
    the answers that can be given, in their order: numbers low to high, other names as declared
    or alphabetical.
    """

    kind: Kind
    annotators: tuple[str, ...]
    items: tuple[str, ...]
    concepts: tuple[str, ...]
    values: tuple[str, ...]
    annotator: Codes
    item: Codes
    concept: Codes
    value: Codes
    seconds: Floats | None = None
    # For each concept the codes of the answers it allows; None: every concept allows all.
    allowed: tuple[tuple[int, ...], ...] | None = None
    source: str = "judgement log"
    # Whether the file names the question of each category: questions may share answers then.
    names_questions: bool = False
    # What was noticed while it was read.
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for column in (self.annotator, self.item, self.concept, self.value, self.seconds):
            if column is not None:
                column.setflags(write=False)

    def __len__(self) -> int:
        return int(self.annotator.size)

    def __repr__(self) -> str:
        return (
            f"JudgementLog({len(self)} judgements by {len(self.annotators)} annotators on "
            f"{len(self.items)} items, {len(self.concepts)} concepts)"
        )

    @property
    def levels(self) -> Floats | None:
        """The values as numbers, or None when they are names without a number."""
        return levels_of(self.values)

    @property
    def selected(self) -> NDArray[np.bool_]:
        """Which judgements select their concept, that is, give it a value above zero."""
        levels = self.levels
        if self.kind == "category" or levels is None:
            raise NeedsError(
                "selected and deselected concepts exist only in a log with the columns "
                "annotator,item,concept,value and numbers as values"
            )
        return levels[self.value] > 0

    def where(self, mask: NDArray[np.bool_]) -> JudgementLog:
        """The judgements under a mask; names and codes stay as they are."""
        return replace(
            self,
            annotator=self.annotator[mask],
            item=self.item[mask],
            concept=self.concept[mask],
            value=self.value[mask],
            seconds=None if self.seconds is None else self.seconds[mask],
        )

    def of_annotators(self, names: Iterable[str]) -> JudgementLog:
        """The judgements of some annotators."""
        selection = set(names)
        is_selected = np.array([name in selection for name in self.annotators], dtype=bool)
        return self.where(is_selected[self.annotator])

    def answers_of(self, concept: int) -> tuple[int, ...]:
        """The codes of the answers that a concept allows."""
        if self.allowed is None:
            return tuple(range(len(self.values)))
        return self.allowed[concept]

    def rows(self) -> Iterable[tuple[str, ...]]:
        """The log as the text of its file, row by row without the header."""
        times = [] if self.seconds is None else [[f"{s:g}" for s in self.seconds]]
        names = [
            [self.annotators[i] for i in self.annotator],
            [self.items[i] for i in self.item],
            [self.values[i] for i in self.value],
        ]
        if self.kind == "concept" or self.names_questions:
            names.insert(2, [self.concepts[i] for i in self.concept])
        return zip(*names, *times, strict=True)

    @property
    def header(self) -> tuple[str, ...]:
        """The columns of `rows`."""
        middle: tuple[str, ...] = ("concept", "value") if self.kind == "concept" else ("category",)
        if self.names_questions:
            middle = ("question", "category")
        return ("annotator", "item", *middle, *(() if self.seconds is None else ("seconds",)))


def judgement_log(
    annotators: Sequence[str],
    items: Sequence[str],
    values: Sequence[str | int | float],
    *,
    concepts: Sequence[str] | None = None,
    questions: Sequence[str] | None = None,
    order: Sequence[str] | None = None,
    seconds: Sequence[float] | None = None,
) -> JudgementLog:
    """A log from plain columns of equal length; without `concepts` the values are categories.

    `questions` names what each category answers, where a form has several questions of which
    each has one answer.
    """
    if concepts is not None and questions is not None:
        raise InputError.single("judgement log", "has concepts or questions, not both")
    kind: Kind = "category" if concepts is None else "concept"
    asked_about = questions if concepts is None else concepts
    columns = [annotators, items, values] + ([] if asked_about is None else [asked_about])
    if len({len(c) for c in columns}) != 1 or (seconds and len(seconds) != len(items)):
        raise InputError.single("judgement log", "the columns have different lengths")
    names, codes = order_values([number_name(v) for v in values], kind, order)
    annotator_names, annotator = _encode_names(annotators)
    item_names, item = _encode_names(items)
    if asked_about is None:
        concept_names: tuple[str, ...] = (SOLE_QUESTION,)
        concept = np.zeros(len(items), dtype=np.int32)
    else:
        concept_names, concept = _encode_names(asked_about)
    log = JudgementLog(
        kind,
        annotator_names,
        item_names,
        concept_names,
        names,
        annotator,
        item,
        concept,
        codes,
        None if seconds is None else np.asarray(seconds, dtype=np.float64),
        None if questions is None else answers_by_question(concept, codes, len(concept_names)),
        names_questions=questions is not None,
    )
    repeated = find_repeats(log)
    if repeated.any():
        row = int(np.flatnonzero(repeated)[0])
        raise InputError.single(
            "judgement log", f"row {row} judges again: {describe_judgement(log, row)}"
        )
    return log


def answers_by_question(
    question: Codes, answer: Codes, questions: int
) -> tuple[tuple[int, ...], ...]:
    """The codes of the answers that each question was given, in the order of the codes."""
    return tuple(
        tuple(int(code) for code in np.unique(answer[question == number]))
        for number in range(questions)
    )


def levels_of(values: Sequence[str]) -> Floats | None:
    """Answers as numbers, or None when they are names without a number."""
    try:
        return np.array([float(v) for v in values])
    except ValueError:
        return None


def number_name(value: object) -> str:
    """The name of an answer: 1 for 1, 1.0 and True, otherwise its text."""
    if isinstance(value, bool | int | float | np.number):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return str(value)


def order_values(
    raw: Sequence[str], kind: Kind, order: Sequence[str] | None
) -> tuple[tuple[str, ...], Codes]:
    """The possible answers in their order, and the code of each given one.

    A concept log that holds nothing but 0 and 1 has both as possible answers even when all
    annotators said the same: the chance of agreement depends on what could have been said.
    """
    distinct_values = list(dict.fromkeys(raw))
    if order is not None:
        names = tuple(dict.fromkeys(order))
    elif kind == "concept" and set(distinct_values) <= set(BINARY):
        names = BINARY
    else:
        names = tuple(sorted(distinct_values, key=_numbers_first))
    position = {name: i for i, name in enumerate(names)}
    unknown = [name for name in distinct_values if name not in position]
    if unknown:
        raise InputError.single(
            "judgement log", f"value {unknown[0]!r} is not one of {', '.join(names)}"
        )
    return names, np.fromiter(map(position.__getitem__, raw), np.int32, len(raw))


def _numbers_first(name: str) -> tuple[int, float, str]:
    try:
        return (0, float(name), name)
    except ValueError:
        return (1, 0.0, name)


def _encode_names(names: Sequence[str]) -> tuple[tuple[str, ...], Codes]:
    text = [str(n) for n in names]
    position = {name: i for i, name in enumerate(dict.fromkeys(text))}
    return tuple(position), np.fromiter(map(position.__getitem__, text), np.int32, len(text))


def find_repeats(log: JudgementLog) -> NDArray[np.bool_]:
    """Which judgements answer what the same annotator has answered before."""
    is_repeat = np.zeros(len(log), dtype=bool)
    last = log.value if _groups_answers(log) else log.concept
    if _core.rows_differ(log.annotator, log.item, last):
        return is_repeat
    key = cell_keys(log)
    by_key = np.argsort(key, kind="stable")
    is_repeat[by_key[1:]] = key[by_key[1:]] == key[by_key[:-1]]
    return is_repeat


def cell_keys(log: JudgementLog) -> NDArray[np.int64]:
    """One number for each combination of annotator, item and concept.

    Where categories stand in groups, also of the answer: a form with two answers to one
    question is no repetition, it breaks the rule of the group.
    """
    key = log.annotator.astype(np.int64) * len(log.items) + log.item
    if _groups_answers(log):
        return key * len(log.values) + log.value
    return key * len(log.concepts) + log.concept


def _groups_answers(log: JudgementLog) -> bool:
    """Whether exclusive groups of rules, and not a column of the file, say what was asked."""
    return log.allowed is not None and not log.names_questions


def describe_judgement(log: JudgementLog, row: int) -> str:
    """A judgement for a message: who on what."""
    text = f"annotator {log.annotators[log.annotator[row]]!r}, item {log.items[log.item[row]]!r}"
    if log.kind == "concept" or log.names_questions:
        word = "question" if log.names_questions else "concept"
        text += f", {word} {log.concepts[log.concept[row]]!r}"
    return text


@dataclass(frozen=True, slots=True)
class FilledForm:
    """All that one person said about one item in one go.

    `values` has the answer to each concept, `categories` the one answer to each question that
    has exactly one. `rejected` says why a form does not
    count, '' for one that does. Times are NaN where they are not known: `seconds` of work,
    `given` and `done` in seconds since 1970. `suggested` is what a run said of the item.
    """

    annotator: str
    item: str
    values: Mapping[str, str]
    batch: str = ""
    rejected: str = ""
    seconds: float = math.nan
    given: float = math.nan
    done: float = math.nan
    comment: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[str, str] = field(default_factory=dict)
    suggested: Mapping[str, float] = field(default_factory=dict)
    saw_suggestions: bool = False


def log_of_forms(forms: Sequence[FilledForm]) -> tuple[JudgementLog, list[FilledForm]]:
    """The log of the forms that count, and those on an item that the same person did before."""
    first_forms, repeated = _split_repeated([f for f in forms if not f.rejected])
    rows = [
        (f.annotator, f.item, question, answer, f.seconds / (len(f.values) + len(f.categories)))
        for f in first_forms
        for question, answer in (*f.values.items(), *f.categories.items())
    ]
    if not rows:
        raise UsageError("no form counts, so there is no log")
    annotators, items, concepts, values, seconds = zip(*rows, strict=True)
    times = None if any(map(math.isnan, seconds)) else seconds
    if not any(f.categories for f in first_forms):
        log = judgement_log(annotators, items, values, concepts=concepts, seconds=times)
    else:
        questions = None if len(set(concepts)) == 1 else concepts
        log = judgement_log(annotators, items, values, questions=questions, seconds=times)
    return log, repeated


def _split_repeated(forms: Sequence[FilledForm]) -> tuple[list[FilledForm], list[FilledForm]]:
    """The first form of each person and item, and the others."""
    seen: set[tuple[str, str]] = set()
    first_forms: list[FilledForm] = []
    repeated: list[FilledForm] = []
    for form in forms:
        cell = (form.annotator, form.item)
        (repeated if cell in seen else first_forms).append(form)
        seen.add(cell)
    return first_forms, repeated
