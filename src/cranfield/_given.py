"""Which argument of a public function was not what it should be, once the function has failed.

Only then is anything here loaded. Annotations are read as they are written: `str | Path | None`,
`Sequence[str]`, names of classes, and names of other annotations where these can be found.
"""

from __future__ import annotations

import ast
import inspect
import math
import numbers
import os
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

SHOWN, LOOKED_AT, DEPTH = 60, 1000, 6
# Names that stand for other annotations, or for what can be anything with these methods.
ALIASES = {
    "Watcher": "Callable | Progress",
    "Rng": "int | Generator",
    "Resamples": "int | str",
    "FileForm": "str | Path | Input",
    "Executor": "str | Executor",
}
ARRAYS = ("Floats", "Ints", "Bools", "NDArray", "Values", "Codes")
Check = Callable[[Any], bool]


def unusable(
    function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any], error: Exception
) -> str | None:
    """A sentence about the argument that cannot be used; none where all of them are sound."""
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **named).arguments
    except TypeError:  # too many, too few, or none of this name: Python says it best
        return None
    given: dict[str, tuple[Any, str]] = {}
    for name, value in bound.items():
        parameter = signature.parameters[name]
        if parameter.kind is parameter.VAR_KEYWORD:
            given |= {key: (one, "Any") for key, one in value.items()}
        elif value is not parameter.default:
            given[name] = value, str(parameter.annotation)
    found = next((n for n, (v, text) in given.items() if not _fits(v, text, function)), None)
    found = found or next((n for n, (v, _) in given.items() if _is_odd(v)), None)
    found = found or next((n for n, (v, text) in given.items() if _is_bare(v, text)), None)
    if found is None:
        return None
    value, text = given[found]
    wanted = "" if text in ("Any", str(inspect.Parameter.empty)) else f", expected {text}"
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return f"{function.__name__}: {found}={_shown(value)} cannot be used{wanted} ({reason})"


def _shown(value: Any) -> str:
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a number of too many digits, or an object that cannot be shown
        text = f"<{type(value).__name__}>"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _fits(value: Any, text: str, function: Callable[..., Any], depth: int = 0) -> bool:
    """Whether a value is what an annotation says, as far as can be told."""
    if depth > DEPTH:
        return True
    return any(_fits_one(value, part, function, depth) for part in _parts(text, "|"))


def _fits_one(value: Any, text: str, function: Callable[..., Any], depth: int) -> bool:
    text = text.strip().strip("\"'")
    head, _, inner = text.partition("[")
    head, inner = head.rpartition(".")[2], inner.rpartition("]")[0]
    if head in PLAIN:
        return PLAIN[head](value)
    if head == "Literal":
        return _is_among(value, ast.literal_eval(f"[{inner}]"))
    if head in ARRAYS:
        return _is_array(value)
    if head in CONTAINERS:
        return CONTAINERS[head](value) and _holds(value, inner, function, depth)
    if head in ALIASES:
        return _fits(value, ALIASES[head], function, depth + 1)
    meant = function.__globals__.get(head) if hasattr(function, "__globals__") else None
    if isinstance(meant, type):
        return isinstance(value, meant)
    if isinstance(meant, str):
        return _fits(value, meant, function, depth + 1)
    if typing.get_origin(meant) is typing.Literal:
        return _is_among(value, typing.get_args(meant))
    if meant is not None and not isinstance(meant, type):
        return _fits(value, str(meant).replace("typing.", ""), function, depth + 1)
    return any(kind.__name__ == head for kind in type(value).__mro__)


def _holds(value: Any, inner: str, function: Callable[..., Any], depth: int) -> bool:
    """Whether what is in a container fits; of very much the first ones."""
    wanted = [part for part in _parts(inner, ",") if part.strip() != "..."]
    if not wanted or not isinstance(value, (Sequence, Mapping, Set)):
        return True
    if isinstance(value, Mapping):
        rows = list(value.items())[:LOOKED_AT]
        return all(
            _fits(one, text, function, depth + 1)
            for row in rows
            for one, text in zip(row, wanted, strict=False)
        )
    if len(wanted) > 1 and isinstance(value, tuple):
        same = len(value) == len(wanted)
        return same and all(
            _fits(one, text, function, depth + 1) for one, text in zip(value, wanted, strict=True)
        )
    return all(_fits(one, wanted[0], function, depth + 1) for one in list(value)[:LOOKED_AT])


def _parts(text: str, separator: str) -> list[str]:
    """A text cut where a separator is in no bracket."""
    parts, level = [""], 0
    for letter in text:
        level += (letter in "[(") - (letter in "])")
        if letter == separator and not level:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip()]


def _is_number(value: Any) -> bool:
    """A real number that is neither missing, infinite nor too large to be counted with."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return False
    if isinstance(value, np.complexfloating):
        return False
    return bool(-(2**53) <= value <= 2**53) if _counts(value) else math.isfinite(value)


def _counts(value: Any) -> bool:
    return isinstance(value, numbers.Integral)


def _is_whole(value: Any) -> bool:
    return _counts(value) and _is_number(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not _is_odd(value)


def _is_array(value: Any) -> bool:
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):
        return False
    return array.dtype.kind in "biuf" and array.ndim > 0 and bool(np.isfinite(array).all())


def _is_among(value: Any, known: Iterable[Any]) -> bool:
    return isinstance(value, (str, int, bool)) and value in list(known)


def _is_odd(value: Any) -> bool:
    """What hardly anyone means: nothing, no number, a text that no name can be."""
    if isinstance(value, str):
        return not value or "\0" in value or len(value) > 4000 or not _can_be_written(value)
    if isinstance(value, complex | float | int | np.number):
        return value is not True and (not _is_number(value) or bool(float(value.real) <= 0))
    if isinstance(value, np.ndarray):
        return not value.size or value.ndim > 2 or not value.ndim or not _is_array(value)
    if isinstance(value, (Mapping, Sequence, Set)):
        held = value.values() if isinstance(value, Mapping) else value
        return not value or isinstance(value, bytes) or any(map(_is_odd, held))
    return value is None or isinstance(value, type) or type(value) is object


def _is_bare(value: Any, text: str) -> bool:
    """Numbers, sets or functions where anything may be meant; columns where tables are."""
    anything = "Any" in text or any(head in text for head in (*ARRAYS, "Hashable", "tuple"))
    if not anything or isinstance(value, (str, Mapping)):
        return anything and isinstance(value, Mapping) and _is_bare(list(value.values()), text)
    if isinstance(value, Sequence):
        return any(_is_bare(one, text) or isinstance(one, str) for one in value)
    return isinstance(value, (numbers.Number, Set, np.ndarray)) or callable(value)


def _can_be_written(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


PLAIN: dict[str, Check] = {
    "Any": lambda _: True,
    "None": lambda value: value is None,
    "int": _is_whole,
    "float": _is_number,
    "str": _is_text,
    "bool": lambda value: isinstance(value, (bool, np.bool_)),
    "Path": lambda value: isinstance(value, os.PathLike) and _is_text(str(value)),
    "Callable": callable,
    "Hashable": lambda _: True,
}
CONTAINERS: dict[str, Check] = {
    "Mapping": lambda value: isinstance(value, Mapping),
    "dict": lambda value: isinstance(value, Mapping),
    "Sequence": lambda value: isinstance(value, Sequence) and not isinstance(value, (str, bytes)),
    "list": lambda value: isinstance(value, list),
    "tuple": lambda value: isinstance(value, (tuple, list)),
    "Iterable": lambda value: isinstance(value, Iterable) and not isinstance(value, (str, bytes)),
    "Set": lambda value: isinstance(value, Set),
}
