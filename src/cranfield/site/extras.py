"""Optional data that pages show in addition to the material of result tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cranfield.campaign.results.years import YearPair
    from cranfield.evaluation.explanations import Mistakes
    from cranfield.evaluation.scores import Scores


@dataclass(frozen=True, slots=True)
class FileFact:
    """A file that belongs to the results: what it is, how long, its check sum."""

    kind: str
    name: str
    bytes: int
    sha256: str
    run: str = ""
    address: str = ""


@dataclass(frozen=True)
class Extras:
    """Further material of a task.

    `curve` has precision at levels of recall, for the graphs of topics; `mistakes` what
    annotation runs confuse; `earlier` other years beside this one; `changes` what was changed
    since the results were first published, a line each; `settings` how runs were scored.
    """

    curve: Scores | None = None
    mistakes: Mistakes | None = None
    files: Sequence[FileFact] = ()
    changes: Sequence[str] = ()
    settings: Sequence[str] = ()
    earlier: Mapping[str, YearPair] = field(default_factory=dict)
    licence: str = ""
    version: str = ""
