"""Names of measures as people type them on a line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def joined_measures(argv: Sequence[str]) -> list[str]:
    """The arguments with the names after -m in one, where they were not quoted: -m AP nDCG@10."""
    joined: list[str] = []
    at = 0  # of the names of measures, while more may follow
    for text in argv:
        if at and not text.startswith("-") and not Path(text).exists():
            from cranfield.measures import names_measures

            if names_measures(text):
                joined[at] += f" {text}"
                continue
        joined.append(text)
        follows = len(joined) > 1 and joined[-2] in ("-m", "--measures")
        at = len(joined) - 1 if follows else 0
    return joined
