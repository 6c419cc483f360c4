"""Queries as logical expressions over concepts: `Sea AND NOT (Night OR Indoor)`.

An expression is evaluated with the confidences of a run in one of two readings. *Fuzzy* takes the
smallest confidence for AND, the largest for OR and 1 - x for NOT (Zadeh, 1965). *Probability* takes
confidences for chances of concepts that are independent of each other, and gives the chance that
the expression holds: a concept that occurs twice is one event, so that `Sea AND NOT Sea` is 0.

Two other readings take the query for a set of keywords, whatever stands between them, and an item
for the set of its labels (Rocchio, 2C): *overlap* counts the keywords that the item has, and
*inclusion* is 1 where it has all of them, else 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

from cranfield._lazy import np
from cranfield.errors import UsageError, suggest

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[float64]
SET_READINGS = ("overlap", "inclusion")
READINGS = ("fuzzy", "probability", *SET_READINGS)
# Each concept that occurs again doubles the work of the reading as probability.
MOST_REPEATED = 12
_DEEPEST = 100
_TOKEN = re.compile(r'\s*(?:"([^"]*)"|([()&|!])|([^\s()&|!"]+))')
_WORDS = {"and": "&", "or": "|", "not": "!"}


@dataclass(frozen=True, slots=True)
class Expression:
    """A concept (`kind` is "concept"), or AND, OR or NOT over others."""

    kind: str
    concept: str = ""
    parts: tuple[Expression, ...] = ()

    def concepts(self) -> Iterator[str]:
        """The concepts in the order in which they stand, as often as they do."""
        if self.kind == "concept":
            yield self.concept
        for part in self.parts:
            yield from part.concepts()

    def __str__(self) -> str:
        if self.kind == "concept":
            needs_no_quotes = _TOKEN.fullmatch(self.concept) and self.concept.lower() not in _WORDS
            return self.concept if needs_no_quotes else f'"{self.concept}"'
        texts = [str(p) if p.kind in ("concept", "not") else f"({p})" for p in self.parts]
        return f"NOT {texts[0]}" if self.kind == "not" else f" {self.kind.upper()} ".join(texts)


def parse_expression(text: str) -> Expression:
    """An expression of concepts with AND, OR, NOT (or `&`, `|`, `!`), parentheses and quotes.

    >>> str(parse_expression("Sea & !(Night | Indoor)"))
    'Sea AND NOT (Night OR Indoor)'
    """
    tokens = list(_tokens(text))
    expression, rest = _parse_or(tokens, 0, text, 0)
    if rest < len(tokens):
        raise UsageError(f"query {text!r}: {tokens[rest][1]!r} is not expected there")
    return expression


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise UsageError(f"query {text!r}: a quote is not closed")
        at = match.end()
        quoted, sign, word = match.groups()
        if quoted is not None:
            yield "concept", quoted
        elif sign is not None:
            yield sign, sign
        else:
            yield _WORDS.get(word.lower(), "concept"), word


Tokens: TypeAlias = list[tuple[str, str]]


def _parse_or(tokens: Tokens, at: int, text: str, depth: int) -> tuple[Expression, int]:
    """One or more parts with OR between them."""
    return _parse_chain("or", "|", _parse_and, tokens, at, text, depth)


def _parse_and(tokens: Tokens, at: int, text: str, depth: int) -> tuple[Expression, int]:
    """One or more parts with AND between them, which binds closer than OR."""
    return _parse_chain("and", "&", _parse_operand, tokens, at, text, depth)


def _parse_chain(
    kind: str,
    sign: str,
    part: Callable[[Tokens, int, str, int], tuple[Expression, int]],
    tokens: Tokens,
    at: int,
    text: str,
    depth: int,
) -> tuple[Expression, int]:
    first, at = part(tokens, at, text, depth)
    parts = [first]
    while at < len(tokens) and tokens[at][0] == sign:
        operand, at = part(tokens, at + 1, text, depth)
        parts.append(operand)
    return (parts[0] if len(parts) == 1 else Expression(kind, parts=tuple(parts))), at


def _parse_operand(tokens: Tokens, at: int, text: str, depth: int) -> tuple[Expression, int]:
    """A concept, NOT of something, or something in parentheses."""
    if depth > _DEEPEST:
        raise UsageError(f"a query is nested more than {_DEEPEST} times")
    if at >= len(tokens):
        raise UsageError(f"query {text!r} ends where a concept is expected")
    kind, word = tokens[at]
    if kind == "!":
        inner, at = _parse_operand(tokens, at + 1, text, depth + 1)
        return Expression("not", parts=(inner,)), at
    if kind == "(":
        inner, at = _parse_or(tokens, at + 1, text, depth + 1)
        if at >= len(tokens) or tokens[at][0] != ")":
            raise UsageError(f"query {text!r}: a parenthesis is not closed")
        return inner, at + 1
    if kind != "concept" or not word:
        raise UsageError(f"query {text!r}: a concept is expected, not {word!r}")
    return Expression("concept", word), at + 1


def check_concepts(expression: Expression, concepts: Mapping[str, object], topic: str) -> None:
    """Raise UsageError for a concept that does not exist."""
    for concept in expression.concepts():
        if concept not in concepts:
            raise UsageError(f"topic {topic}: no concept {concept!r}.{suggest(concept, concepts)}")


def keywords_of(expression: Expression) -> tuple[str, ...]:
    """The concepts of a query that is taken for a set of keywords, each once; NOT has no place.

    >>> keywords_of(parse_expression("Sea AND Night AND Sea"))
    ('Sea', 'Night')
    """
    if _has_negation(expression):
        raise UsageError(f"query {str(expression)!r}: a set of keywords has no NOT")
    return tuple(dict.fromkeys(expression.concepts()))


def _has_negation(expression: Expression) -> bool:
    return expression.kind == "not" or any(map(_has_negation, expression.parts))


def evaluate_expression(
    expression: Expression, values: Mapping[str, Floats], reading: str
) -> Floats:
    """How far the expression holds for each item; `values` has the confidences of a concept."""
    if reading == "fuzzy":
        return _combine(expression, values, np.minimum, np.maximum)
    if reading in SET_READINGS:
        keywords = keywords_of(expression)
        overlap: Floats = np.sum([values[keyword] for keyword in keywords], axis=0)
        return overlap if reading == "overlap" else (overlap >= len(keywords)).astype(np.float64)
    if reading != "probability":
        raise UsageError(f"reading={reading!r} is not one of {', '.join(READINGS)}")
    repeated = [c for c, n in Counter(expression.concepts()).items() if n > 1]
    if len(repeated) > MOST_REPEATED:
        raise UsageError(
            f"{len(repeated)} concepts stand in a query more than once; the reading as probability "
            f"takes {MOST_REPEATED}"
        )
    return _probability(expression, dict(values), repeated)


def _probability(expression: Expression, values: dict[str, Floats], repeated: list[str]) -> Floats:
    """The chance of an expression: by cases of what occurs again, then by products."""
    if not repeated:
        return _combine(expression, values, np.multiply, lambda a, b: 1 - (1 - a) * (1 - b))
    concept, rest = repeated[0], repeated[1:]
    confidences = values[concept]
    yes, no = np.ones_like(confidences), np.zeros_like(confidences)
    return confidences * _probability(expression, values | {concept: yes}, rest) + (
        1 - confidences
    ) * _probability(expression, values | {concept: no}, rest)


def _combine(
    expression: Expression,
    values: Mapping[str, Floats],
    conjunction: Callable[[Floats, Floats], Floats],
    disjunction: Callable[[Floats, Floats], Floats],
) -> Floats:
    if expression.kind == "concept":
        return values[expression.concept]
    parts = [_combine(part, values, conjunction, disjunction) for part in expression.parts]
    if expression.kind == "not":
        return 1.0 - parts[0]
    return reduce(conjunction if expression.kind == "and" else disjunction, parts)
