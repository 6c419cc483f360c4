"""The slow twin of the overlap kernel; it reads like the description of the procedure."""

from __future__ import annotations

from collections.abc import Sequence

_TAKEN = -2


def overlap_score(first: Sequence[int], second: Sequence[int]) -> int:
    """Shared runs of words, longest first, each counting its length squared.

    A run is a stretch of the first text that stands in what is left of the second. Negative
    numbers are boundaries and equal nothing. Among runs of one length the one that starts first
    in the first text goes first, and it takes its first place in the second text.
    """
    left = list(second)
    longest = [_longest_run(first, at, left) for at in range(len(first))]
    score = 0
    while length := max(longest, default=0):
        for at in range(len(first)):
            if longest[at] < length:
                continue
            place = _place(first[at : at + length], left)
            if place is None:
                longest[at] = min(_longest_run(first, at, left), length - 1)
                continue
            left[place : place + length] = [_TAKEN] * length
            score += length * length
            longest[at : at + length] = [0] * length
            before = at - 1
            while before >= 0 and longest[before] > at - before:
                longest[before] = at - before
                before -= 1
    return score


def _place(run: Sequence[int], text: Sequence[int]) -> int | None:
    if any(word < 0 for word in run):
        return None
    for place in range(len(text) - len(run) + 1):
        if list(text[place : place + len(run)]) == list(run):
            return place
    return None


def _longest_run(first: Sequence[int], at: int, text: Sequence[int]) -> int:
    length = 0
    while at + length < len(first) and _place(first[at : at + length + 1], text) is not None:
        length += 1
    return length
