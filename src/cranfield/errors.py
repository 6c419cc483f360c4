"""Every exception that Cranfield raises, and the words its messages share."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

PROBLEMS_SHOWN = 20
# Of a longer message the start says enough: a header may have a million columns.
LONGEST_MESSAGE = 2000
MOST_JOBS = 4096
LARGEST_COUNT = 2**53
# Longer names are no slips of the fingers, and costly to compare with others.
LONGEST_NAME = 200
# Control characters, and marks that turn the direction of what follows.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class CranfieldError(Exception):
    """The root of every error that is the fault of the input, not of the program."""


class UsageError(CranfieldError):
    """An option, argument or combination of them that makes no sense."""


class MeasureError(CranfieldError):
    """A measure name, parameter or cutoff that cannot be understood."""


class NeedsError(CranfieldError):
    """A measure lacks something it needs, such as the size of the collection."""


class CancelledError(CranfieldError):
    """The work was cancelled by its caller."""

    def __init__(self, message: str = "cancelled") -> None:
        super().__init__(message)


class CycleError(UsageError):
    """Categories that stand above themselves; `cycle` lists them, the first one twice."""

    def __init__(self, cycle: Sequence[str]) -> None:
        self.cycle = tuple(cycle)
        super().__init__(f"the categories form a cycle: {' -> '.join(cycle)}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.cycle,)


class MissingExtraError(CranfieldError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self._given = (package, extra, purpose)
        super().__init__(
            f"{purpose} needs the package {package!r}. "
            f"Install it with: pip install 'cranfield[{extra}]'"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._given


class Problem(NamedTuple):
    """One thing wrong with an input file; `line` is 0 when it concerns the whole file."""

    line: int
    message: str


class InputError(CranfieldError):
    """A file or an object that cannot be read as what it should be."""

    def __init__(self, where: str, problems: Sequence[Problem], count: int | None = None) -> None:
        self.where = where
        self.problems = tuple(problems)
        self.count = len(self.problems) if count is None else count
        super().__init__(self._text())

    @classmethod
    def single(cls, where: str, message: str, line: int = 0) -> InputError:
        return cls(where, [Problem(line, message)])

    def __reduce__(self) -> tuple[Any, ...]:
        # An exception is otherwise rebuilt from its text, in another process as in a pickle.
        return type(self), (self.where, self.problems, self.count)

    def _text(self) -> str:
        lines = [
            shorten(
                f"{self.where}:{p.line}: {p.message}" if p.line else f"{self.where}: {p.message}"
            )
            for p in self.problems[:PROBLEMS_SHOWN]
        ]
        hidden = self.count - len(lines)
        if hidden > 0:
            lines.append(f"... and {hidden} more problems ({self.count} in all)")
        return "\n".join(lines)


def shorten(text: str, limit: int = LONGEST_MESSAGE) -> str:
    """A text, or its start and its end, which says what is wrong, where it is too long to be read.

    >>> shorten("a" * 30 + ": no such file", 25)
    'aaaaaaaaaaaaaaaaaaaa... (44 characters) ... file'
    """
    if len(text) <= limit:
        return text
    end = limit // 5
    return f"{text[: limit - end]}... ({len(text):,} characters) ...{text[-end:]}"


def visible(text: str) -> str:
    """A text whose control characters, line ends and tabs aside, are shown and not obeyed.

    >>> visible("red: \\x1b[31m")
    'red: \\\\x1b[31m'
    """
    return _OBEYED.sub(lambda match: ascii(match[0])[1:-1], text)


def os_message(error: OSError) -> str:
    """A sentence for a failed system call."""
    if isinstance(error, IsADirectoryError):
        return "is a directory, expected a file"
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, PermissionError):
        return "permission denied"
    return error.strerror or str(error)


def check_counts(**options: Any) -> None:
    """A UsageError for an option that is given and not a whole number from 1 on.

    None goes beyond what a double holds exactly; threads have a bound of their own.
    """
    for name, value in options.items():
        if value is None:
            continue
        try:
            number = 0 if isinstance(value, bool) else operator.index(value)
        except TypeError:
            number = 0
        if number < 1:
            raise UsageError(f"{name}={_shown(value)} is not a whole number from 1 on")
        limit = MOST_JOBS if name == "jobs" else LARGEST_COUNT
        if number > limit:
            raise UsageError(f"{name}={_shown(value)} is too large: at most {limit:,}")


def check_at_most(limit: int, **options: Any) -> None:
    """A UsageError for an option that is not a whole number from 1 on, or beyond a bound."""
    check_counts(**options)
    for name, value in options.items():
        if value is not None and value > limit:
            raise UsageError(f"{name}={_shown(value)} is too large: at most {limit:,}")


def _shown(value: Any) -> str:
    """A value in a message; one of thousands of digits not in full."""
    if isinstance(value, int) and value.bit_length() > 200:
        return f"a number of {value.bit_length()} bits"
    return repr(value)


def first_duplicate(names: Iterable[str]) -> str | None:
    """The first name that stands there a second time, or none; of a million as well."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def plural(count: int, noun: str) -> str:
    """'1 topic', '2 topics'."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def suggest(name: str, candidates: Iterable[str]) -> str:
    """' Did you mean ...?' for a misspelt name, or the empty string."""
    # Case and swapped letters are the commonest slips: names are compared without case, and one
    # of the same letters comes before one that merely looks alike.
    import difflib  # needed only when something is wrong

    if len(name) > LONGEST_NAME:
        return ""
    target = name.lower()
    spellings = {candidate.lower(): candidate for candidate in reversed(list(candidates))}

    def likeness(candidate: str) -> float:
        same_letters = sorted(candidate) == sorted(target)
        return difflib.SequenceMatcher(None, target, candidate).ratio() + 0.5 * same_letters

    best = max(spellings, key=likeness, default="")
    return f" Did you mean {spellings[best]!r}?" if best and likeness(best) >= 0.55 else ""
