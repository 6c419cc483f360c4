"""Numbers in text, the same in every format."""

from __future__ import annotations

from collections.abc import Sequence


def number(text: str) -> float:
    """A number as programs write it; ValueError for what only Python takes for one.

    >>> number(" 1e3 ")
    1000.0
    >>> number("1_000")
    Traceback (most recent call last):
    ...
    ValueError: '1_000' is not a number
    """
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def numbers(texts: Sequence[str]) -> list[float]:
    """Many numbers; ValueError when one of them is none."""
    values = list(map(float, texts))
    together = "".join(texts)
    if "_" in together or not together.isascii():
        for text in texts:
            number(text)
    return values


def is_number(text: str) -> bool:
    try:
        number(text)
    except ValueError:
        return False
    return True


def is_whole(text: str) -> bool:
    """Whether a text is a whole number from 0 on, in the digits 0 to 9."""
    return text.isascii() and text.isdecimal()
