"""Which known id a wrong one may stand for, among as many as a collection has."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cranfield.errors import suggest

# Comparing with every id takes its time: of more than so many, only those that begin or end alike.
MOST_COMPARED = 1000
_ENDING = re.compile(r"\.[a-z]{2,5}$")
_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")


class Near:
    """Suggests ids; the common slips (case, endings, leading zeros) are found at once.

    >>> Near(["im0007", "im0008"])("IM7.jpg")
    " Did you mean 'im0007'?"
    """

    def __init__(self, known: Sequence[str]) -> None:
        self._known = known
        self._plain: dict[str, str] | None = None

    def __call__(self, name: str) -> str:
        if self._plain is None:
            self._plain = {_plain(one): one for one in reversed(self._known)}
        same = self._plain.get(_plain(name))
        if same is not None:
            return f" Did you mean {same!r}?"
        return suggest(name, self._candidates(name))

    def _candidates(self, name: str) -> Sequence[str]:
        if len(self._known) <= MOST_COMPARED:
            return self._known
        start, end = name[:3], name[-3:]
        alike = [k for k in self._known if k.startswith(start) and abs(len(k) - len(name)) <= 1]
        alike = [k for k in alike if k.endswith(end[-1:])] or alike
        return alike[:MOST_COMPARED]


def _plain(name: str) -> str:
    return _ZEROS.sub("", _ENDING.sub("", name.strip().casefold()))
