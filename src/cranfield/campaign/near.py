"""Which known id a wrong one may stand for, among as many as a collection has."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from cranfield.errors import suggest

# Comparing with every id takes its time: of more than so many, only those that begin or end alike,
# and only for the first few wrong ones.
MOST_COMPARED = 1000
MOST_SEARCHES = 3
LONGEST_NUMBER = 12
_ENDING = re.compile(r"\.[A-Za-z]{2,5}$")
_NUMBER = re.compile(r"\d+")


class NameSuggester:
    """Suggests ids; the common slips (case, endings, leading zeros) are found at once.

    >>> NameSuggester(["im0007", "im0008"])("IM7.jpg")
    " Did you mean 'im0007'?"
    """

    def __init__(self, names: Sequence[str], as_set: Collection[str] | None = None) -> None:
        self._known = names
        self._set = as_set if as_set is not None else frozenset(names)
        self._searches = 0

    def __call__(self, name: str) -> str:
        same = next((spelling for spelling in _spellings(name) if spelling in self._set), None)
        if same is not None:
            return f" Did you mean {same!r}?"
        if len(self._known) <= MOST_COMPARED:
            return suggest(name, self._known)
        self._searches += 1
        return suggest(name, self._alike(name)) if self._searches <= MOST_SEARCHES else ""

    def _alike(self, name: str) -> Sequence[str]:
        """Ids of nearly the same length that begin alike, and of those the ones that end alike."""
        start, lengths = name[:3], range(len(name) - 1, len(name) + 2)
        candidates = [
            candidate
            for candidate in self._known
            if candidate.startswith(start) and len(candidate) in lengths
        ]
        return (
            [candidate for candidate in candidates if candidate.endswith(name[-1:])] or candidates
        )[:MOST_COMPARED]


def _spellings(name: str) -> Iterator[str]:
    """The id in other cases, without an ending, and with more or fewer leading zeros."""
    stem = _ENDING.sub("", name.strip())
    for base in dict.fromkeys((stem, stem.lower(), stem.upper(), name.lower(), name.upper())):
        yield base
        for last in list(_NUMBER.finditer(base))[-1:]:
            digits = last[0].lstrip("0") or "0"
            for width in range(len(digits), LONGEST_NUMBER + 1):
                yield base[: last.start()] + digits.zfill(width) + base[last.end() :]
