"""Thresholds as teams give them: a number, a word, or a number for each concept."""

from __future__ import annotations

import re
from typing import Any

from cranfield.errors import UsageError

ROWS = "rows"
HEADER = "concept,threshold"


def threshold_lines(text: str) -> list[str]:
    """The lines of a threshold per concept, as a file of thresholds has them; none for others."""
    lines = [line.strip() for line in re.split(r"[\n;]", text) if line.strip()]
    if len(lines) < 2 and "," not in text:
        return []
    has_concepts = "," in lines[0]
    return [HEADER, *lines] if has_concepts and lines[0] != HEADER else lines


def threshold_of(text: str) -> Any:
    """A threshold as it was given: nothing, a number, "rows", or one for each concept."""
    if not text or text == ROWS:
        return text or None
    lines = threshold_lines(text)
    try:
        if not lines:
            return float(text)
        if lines[0] != HEADER:
            return [float(line) for line in lines]
        pairs = [line.rpartition(",") for line in lines[1:]]
        return {name.strip(): float(value) for name, _, value in pairs}
    except ValueError:
        message = "a threshold is a number, 'rows', or lines such as Sky,0.4"
        raise UsageError(message) from None
