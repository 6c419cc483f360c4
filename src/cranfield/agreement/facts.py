"""The size of a log, and what a user should know about one that is still usable."""

from __future__ import annotations

import numpy as np

from cranfield.agreement.exclusive import Forms
from cranfield.agreement.majority import unit_rows
from cranfield.data.judgement_log import Codes, JudgementLog
from cranfield.notes import Notes


def log_facts(log: JudgementLog) -> dict[str, int]:
    """The size of a log, for the head of an answer."""
    facts = {
        "judgements": len(log),
        "annotators": _distinct(log.annotator),
        "items": _distinct(log.item),
    }
    if log.kind == "concept" or log.allowed is not None:
        facts["concepts"] = _distinct(log.concept)
    return facts


def _distinct(codes: Codes) -> int:
    return int(np.count_nonzero(np.bincount(codes)))


def note_log(notes: Notes, log: JudgementLog, forms: Forms | None) -> None:
    """Note forms that were left out, and judgements that nobody can agree with."""
    if forms is not None and forms.rejected:
        notes.add(
            f"{forms.rejected} of {forms.total} forms break a rule and are left out "
            f"(such as {forms.broken[0].annotator!r} on {forms.broken[0].item!r}: "
            f"{forms.broken[0].reason})"
        )
    judged = np.bincount(log.annotator, minlength=len(log.annotators))
    lonely = np.flatnonzero(judged == 1)
    if lonely.size:
        notes.add(
            f"{lonely.size} annotator{'s' * (lonely.size > 1)} with a single judgement, "
            f"such as {log.annotators[lonely[0]]!r}"
        )
    units, row = unit_rows(log)
    single = int(np.count_nonzero(np.bincount(row, minlength=units.size) == 1))
    if single:
        notes.add(f"{single} of {units.size} units have a single judgement: no pair to agree")
