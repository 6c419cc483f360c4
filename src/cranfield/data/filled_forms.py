"""Forms that came back from people, whatever platform or page they were filled in on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FilledForm:
    """All that one person said about one item in one go.

    `values` has the answer to each concept or question. `rejected` says why a form does not
    count, '' for one that does. Times are NaN where they are not known: `seconds` of work,
    `given` and `done` in seconds since 1970.
    """

    annotator: str
    item: str
    values: Mapping[str, str]
    batch: str = ""
    rejected: str = ""
    seconds: float = math.nan
    given: float = math.nan
    done: float = math.nan
    comment: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
