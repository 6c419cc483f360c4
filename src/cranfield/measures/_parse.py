"""Names of measures: from text to declarations and back.

`nDCG@10`, `nDCG(gain='exp')@10` and `nDCG@10(gain='exp')` are the same measure; `str` prints
the last form, `P@10.concept(mean='micro')` for a measure with a direction.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from cranfield.errors import MeasureError, suggest
from cranfield.measures._spec import Measure, Value

_CUTOFF = re.compile(r"@([0-9.]*[0-9])")
_STEM = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DIRECTION = re.compile(r"\.[A-Za-z]+")


def split_names(text: str) -> list[str]:
    """The measure names in a text, separated by blanks or commas outside of parentheses."""
    names: list[str] = []
    start, depth, quote = 0, 0, ""
    for i, char in enumerate(text + " "):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif depth <= 0 and (char.isspace() or char == ","):
            if i > start:
                names.append(text[start:i])
            start = i + 1
    if start < len(text):
        raise MeasureError(f"unbalanced parenthesis or quote in {text[start:].strip()!r}")
    return names


def listed_measures(wanted: str | Measure | Iterable[str | Measure]) -> list[str | Measure]:
    """Names and declarations one by one; a text may hold several names."""
    if not isinstance(wanted, str | Measure | Iterable):
        raise MeasureError(f"{wanted!r} is neither the name of a measure nor a list of names")
    listed: list[str | Measure] = []
    for one in [wanted] if isinstance(wanted, str | Measure) else wanted:
        if isinstance(one, str):
            listed += split_names(one)
        elif isinstance(one, Measure):
            listed.append(one)
        else:
            raise MeasureError(f"{one!r} is not the name of a measure")
    return listed


def parse_measure(text: str, registry: Mapping[str, Measure]) -> Measure:
    """The declaration that a name such as `nDCG@10` stands for, bound to its parameters."""
    if not isinstance(text, str):
        raise MeasureError(f"{text!r} is not the name of a measure")
    rest = text.strip()
    stem = _STEM.match(rest)
    if stem is None:
        raise MeasureError(f"{text!r} is not the name of a measure")
    name, rest = stem.group(), rest[stem.end() :]
    at: float | None = None
    params: dict[str, Value] = {}
    while rest:
        if cut := _CUTOFF.match(rest):
            if at is not None:
                raise MeasureError(f"{text!r} has two cutoffs")
            at, rest = _number(cut.group(1), text), rest[cut.end() :]
        elif direction := _DIRECTION.match(rest):
            name, rest = name + direction.group(), rest[direction.end() :]
        elif rest.startswith("("):
            inside, rest = _matching(rest, text)
            _parse_params(inside, text, params)
        else:
            raise MeasureError(f"cannot read {rest!r} in the measure name {text!r}")
    if name not in registry:
        raise MeasureError(
            f"No measure named {name!r}.{suggest(name, registry)} "
            "List them with: cranfield measures"
        )
    return registry[name].bind(at=at, **params).check_complete()


def _number(text: str, whole: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise MeasureError(f"cannot read the cutoff {text!r} in {whole!r}") from None


def _matching(rest: str, whole: str) -> tuple[str, str]:
    depth, quote = 0, ""
    for i, char in enumerate(rest):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                return rest[1:i], rest[i + 1 :]
    raise MeasureError(f"unbalanced parenthesis or quote in {whole!r}")


def _parse_params(inside: str, whole: str, values: dict[str, Value]) -> None:
    """Add the parameters written between parentheses to `values`."""
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise MeasureError(f"cannot read the parameters ({inside}) in {whole!r}") from None
    if not isinstance(call, ast.Call) or call.args or any(k.arg is None for k in call.keywords):
        raise MeasureError(f"parameters are written name=value, not ({inside}) as in {whole!r}")
    for keyword in call.keywords:
        if keyword.arg in values:
            raise MeasureError(f"{keyword.arg} is given twice in {whole!r}")
        try:
            value = ast.literal_eval(keyword.value)
        except (ValueError, TypeError, RecursionError):
            raise MeasureError(
                f"the value of {keyword.arg} in {whole!r} is not a number or a quoted string"
            ) from None
        if not isinstance(value, str | int | float | bool):
            raise MeasureError(f"the value of {keyword.arg} in {whole!r} is not a simple value")
        values[str(keyword.arg)] = value
