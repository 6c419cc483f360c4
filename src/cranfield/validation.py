"""Checks of the arguments of public functions, made when a function is entered.

The annotations say what a parameter takes. Numbers, texts, paths, switches, choices and containers
of these are checked here; runs, judgements, tables and arrays have readers of their own
(`as_run`, `as_judgements`, ...), which say more. Nothing that fails later is caught.
"""

from __future__ import annotations

import functools
import math
import operator
import os
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar

from cranfield._lazy import np
from cranfield.errors import UsageError

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")
Check = Callable[[Any], bool]
# A whole number from 0 on, as the generators of NumPy take it.
Seed: TypeAlias = int
# A number that may be infinite or NaN.
Real: TypeAlias = float

# A value in a message is cut to this length, and this many entries of a container are looked at.
VALUE_LENGTH, ENTRIES, LONGEST_TEXT = 60, 1000, 4000
# Beyond this a double no longer holds every whole number.
LARGEST_INTEGER = 2**53
# NumPy's kinds that hold no real numbers: complex, spans of time, dates. NumPy would drop the
# imaginary half of the one and count the days of the other.
NOT_REAL = "cmM"


@typing.overload
def validate_params(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]: ...


@typing.overload
def validate_params(
    *, skip: Sequence[str]
) -> Callable[[Callable[Arguments, Returned]], Callable[Arguments, Returned]]: ...


def validate_params(function: Any = None, *, skip: Sequence[str] = ()) -> Any:
    """Check the arguments of `function` against its annotations before it runs.

    A value that does not fit raises a UsageError with the names of function and parameter, the
    value and what was expected. An annotation that is not understood admits everything. `skip`
    names parameters that the function checks itself, with a message that says more.

    >>> @validate_params
    ... def double(number: int) -> int:
    ...     return 2 * number
    >>> double("two")
    Traceback (most recent call last):
        ...
    cranfield.errors.UsageError: double: number='two' is not a valid value (expected: int)
    """
    if function is None:
        return functools.partial(validate_params, skip=skip)
    parameters: dict[str, _Parameter] = {}

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if not parameters:
            parameters.update(_parameters(function, skip))
        for name, value in (*zip(parameters, args, strict=False), *kwargs.items()):
            parameter = parameters.get(name)
            if parameter is not None and value is not parameter.default:
                _check_value(function.__name__, name, value, parameter)
        return function(*args, **kwargs)

    return checked


class _Parameter(NamedTuple):
    annotation: str
    default: Any
    fits: Check


def _parameters(function: Callable[..., Any], skip: Sequence[str]) -> dict[str, _Parameter]:
    """The parameters that can be given by position or by name, in their order."""
    # A wrapped function keeps its signature; `inspect` takes longer to load than most calls take.
    inner = function
    while hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    code = inner.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    positional = inner.__defaults__ or ()
    defaults = dict(zip(names[code.co_argcount - len(positional) :], positional, strict=False))
    defaults |= inner.__kwdefaults__ or {}
    annotations = {
        name: "Any" if name in skip else str(inner.__annotations__.get(name, "Any"))
        for name in names
    }
    return {
        name: _Parameter(text, defaults.get(name, _REQUIRED), _check_of(text, inner.__globals__))
        for name, text in annotations.items()
    }


_REQUIRED = object()


def _check_value(function: str, name: str, value: Any, parameter: _Parameter) -> None:
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if isinstance(value, complex) or (isinstance(kind, str) and kind and kind in NOT_REAL):
        raise UsageError(
            f"{function}: {name} holds complex numbers or dates, expected real numbers"
        )
    if kind and getattr(value, "ndim", 1) == 0 and value.__hash__ is None:
        raise UsageError(f"{function}: {name} is an array without dimensions")
    if not parameter.fits(value):
        if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
            raise UsageError(f"{function}: {name}={describe_value(value)} is too large")
        raise UsageError(
            f"{function}: {name}={describe_value(value)} is not a valid value "
            f"(expected: {parameter.annotation})"
        )


def as_array(name: str, value: Any, *, ndim: int, dtype: Any = float) -> Any:
    """A value as an array of so many dimensions, or a UsageError that names the parameter.

    Numbers become integers or truth values only where nothing is lost.
    """
    if not _is_array(value) and not _is_number(value):
        raise UsageError(f"{name}={describe_value(value)} is not an array of numbers")
    array = np.asarray(value)
    if array.dtype.kind == "f" and np.dtype(dtype).kind != "f" and not np.isfinite(array).all():
        raise UsageError(f"{name}={describe_value(value)} has numbers that are not finite")
    if array.dtype.kind == "O":
        array = array.astype(float)
    converted = array.astype(dtype) if array.dtype.kind in "biuf" else None
    if array.ndim == ndim and array.size == 0:
        return np.zeros(array.shape, dtype)
    if array.ndim != ndim or converted is None or not _is_lossless(array, converted):
        raise UsageError(
            f"{name}={describe_value(value)} is not an array of {ndim} dimensions "
            f"of type {np.dtype(dtype).name}"
        )
    return converted


def _is_lossless(array: Any, converted: Any) -> bool:
    return converted.dtype.kind == "f" or bool((array == converted).all())


def describe_value(value: Any) -> str:
    """A value as part of a message, short enough to be read."""
    if isinstance(value, int) and value.bit_length() > 200:
        return f"a number of {value.bit_length()} bits"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # an object whose own `repr` fails
        text = f"<{type(value).__name__}>"
    return text if len(text) <= VALUE_LENGTH else f"{text[:VALUE_LENGTH]}..."


def _check_of(annotation: str, names: Mapping[str, Any], depth: int = 0) -> Check:
    """The check that an annotation stands for; `names` are those of the function's module."""
    if depth > 6:
        return _anything
    checks = [_check_of_one(part, names, depth) for part in _split(annotation, "|")]
    return checks[0] if len(checks) == 1 else _any_of(checks)


def _any_of(checks: Sequence[Check]) -> Check:
    return lambda value: any(check(value) for check in checks)


def _check_of_one(text: str, names: Mapping[str, Any], depth: int) -> Check:
    text = text.strip().strip("\"'")
    head, _, inner = text.partition("[")
    head, inner = head.rpartition(".")[2], inner.rpartition("]")[0]
    if head in PLAIN:
        return PLAIN[head]
    if head == "Literal":
        return _is_choice
    if head in CONTAINERS:
        parts = [part for part in _split(inner, ",") if part.strip() != "..."]
        return _container(CONTAINERS[head], [_check_of(p, names, depth + 1) for p in parts])
    if head in ALIASES:
        return _check_of(ALIASES[head], names, depth + 1)
    meaning = names.get(head)
    if isinstance(meaning, str):
        return _check_of(meaning, names, depth + 1)
    if isinstance(meaning, type):
        return lambda value: isinstance(value, meaning)
    if typing.get_origin(meaning) is typing.Literal:
        return _is_choice
    if isinstance(meaning, types.UnionType) or typing.get_origin(meaning) is not None:
        return _check_of(re.sub(r"\btyping\.", "", str(meaning)), names, depth + 1)
    return _anything


def _container(is_container: Check, entries: Sequence[Check]) -> Check:
    """A container and what is in it; of a long one the first entries."""

    def check(value: Any) -> bool:
        if not is_container(value):
            return False
        if not entries:
            return True
        if isinstance(value, Mapping):
            rows = [row for row, _ in zip(value.items(), range(ENTRIES), strict=False)]
            return all(
                fits(entry) for row in rows for fits, entry in zip(entries, row, strict=False)
            )
        if isinstance(value, Sequence) and len(entries) > 1:
            return len(value) == len(entries) and all(map(_apply, entries, value))
        if isinstance(value, Sequence | Set) or _is_sequence(value):
            return all(entries[0](entry) for entry, _ in zip(value, range(ENTRIES), strict=False))
        return True

    return check


def _apply(check: Check, value: Any) -> bool:
    return check(value)


def _split(text: str, separator: str) -> list[str]:
    """A text cut at the separators that stand in no bracket.

    >>> _split("int | Mapping[str, int | None]", "|")
    ['int ', ' Mapping[str, int | None]']
    """
    parts, level = [""], 0
    for letter in text:
        level += (letter in "[(") - (letter in "])")
        if letter == separator and not level:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip()]


def _anything(_: Any) -> bool:
    return True


def _is_integer(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    try:
        return abs(operator.index(value)) <= LARGEST_INTEGER
    except TypeError:
        return False


def _is_number(value: Any) -> bool:
    """A real number that is not NaN, infinite or too large to be counted with."""
    if _is_integer(value):
        return True
    if isinstance(value, int | str | bytes) or value.__hash__ is None:
        return False  # of arrays only NumPy's own numbers can be hashed
    try:
        return math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False


def is_text(value: Any) -> bool:
    """A text that can be a name: no NUL, no half of a character, no book."""
    if not isinstance(value, str) or "\0" in value or len(value) > LONGEST_TEXT:
        return False
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        return False
    return True


def _is_choice(value: Any) -> bool:
    """A word: the function knows the choices, and lists them in its message."""
    return is_text(value)


def _is_executor(value: Any) -> bool:
    return is_text(value) or hasattr(value, "submit")


def _is_sequence(value: Any) -> bool:
    """Entries in an order: also those of NumPy, pandas and polars."""
    if isinstance(value, str | bytes | Mapping):
        return False
    return isinstance(value, Sequence) or getattr(value, "ndim", 0) > 0


def _is_iterable(value: Any) -> bool:
    if isinstance(value, str | bytes) or getattr(value, "ndim", 1) != 1:
        return False
    return isinstance(value, Iterable)


def _is_array(value: Any) -> bool:
    """An array of numbers, or lists that become one; functions check the shape they need."""
    if not _is_sequence(value) and not hasattr(value, "__array__"):
        return False
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O" and not any(isinstance(entry, str) for entry in array.flat):
            array = array.astype(float)  # fractions, decimals, and None for NaN
    except (TypeError, ValueError, OverflowError):  # also rows of different lengths
        return False
    return array.dtype.kind in "biuf" and array.ndim > 0


def _is_seed(value: Any) -> bool:
    """A whole number from 0 on, of any size: NumPy advises to draw 128 bits."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return False
    try:
        return operator.index(value) >= 0
    except TypeError:  # an array has the method and refuses
        return False


def _is_log(value: Any) -> bool:
    """A judgement log, a file of one, or a data frame."""
    if is_text(value) or isinstance(value, os.PathLike):
        return True
    names = ("annotators", "caps", "columns", "column_names", "collect")
    return any(hasattr(value, name) for name in names) or bool(
        getattr(getattr(value, "dtype", None), "names", None)
    )


# Names that stand for other annotations.
ALIASES = {
    "Watcher": "Callable | Progress | bool",
    "Rng": "Seed | Generator",
    "Resamples": "int | str",
}
PLAIN: dict[str, Check] = {
    "Any": _anything,
    "Hashable": _anything,
    "object": _anything,
    "FileForm": _anything,  # an Input checks what it is made of
    "Executor": _is_executor,
    "LogForm": _is_log,
    "ItemVectorsForm": _anything,
    "None": lambda value: value is None,
    "int": _is_integer,
    "Seed": _is_seed,
    "float": _is_number,
    "Real": lambda value: isinstance(value, float) or _is_number(value),
    "str": is_text,
    "bool": lambda value: isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"),
    "Path": lambda value: isinstance(value, os.PathLike) and is_text(os.fspath(value)),
    "Callable": callable,
    "Progress": callable,  # a Progress is one, and a plain function becomes one
    "Generator": lambda value: any(kind.__name__ == "Generator" for kind in type(value).__mro__),
    **dict.fromkeys(("Floats", "Ints", "Bools", "NDArray", "Values", "Codes"), _is_array),
}
CONTAINERS: dict[str, Check] = {
    "Mapping": lambda value: isinstance(value, Mapping),
    "dict": lambda value: isinstance(value, Mapping),
    "Sequence": _is_sequence,
    "list": _is_sequence,
    "tuple": _is_sequence,
    "Iterable": _is_iterable,
    "Set": lambda value: isinstance(value, Set),
    "set": lambda value: isinstance(value, Set),
    "frozenset": lambda value: isinstance(value, Set),
}
