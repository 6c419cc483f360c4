"""What an adjudicator decided, which stands above votes and models."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cranfield.agreement.aggregation import Aggregated
from cranfield.data.judgement_log import number_name
from cranfield.errors import InputError, UsageError, suggest
from cranfield.io.files import FileForm, describe, open_text

RATINGS = ("mean", "median")


@dataclass(frozen=True, slots=True)
class Decision:
    """What an adjudicator decided about a concept of an item, and why."""

    item: str
    concept: str
    value: str
    reason: str = ""


def adjudicated(truth: Aggregated, decisions: Sequence[Decision]) -> Aggregated:
    """A truth with what was decided in place of what was estimated."""
    unit_of = {
        (truth.items[i], truth.concepts[c]): u
        for u, (i, c) in enumerate(zip(truth.item.tolist(), truth.concept.tolist(), strict=True))
    }
    winner, probability = truth.winner.copy(), truth.probability.copy()
    means = None if truth.numbers is None else truth.numbers.copy()
    for decision in decisions:
        unit = unit_of.get((decision.item, decision.concept))
        if unit is None:
            raise UsageError(f"no annotator judged {decision.concept!r} of item {decision.item!r}")
        if means is not None:
            means[unit] = _number(decision, truth.method)
            continue
        if decision.value not in truth.values:
            raise UsageError(
                f"{decision.value!r} is no answer to {decision.concept!r}."
                f"{suggest(decision.value, truth.values)}"
            )
        winner[unit] = truth.values.index(decision.value)
        probability[unit] = 0.0
        probability[unit, winner[unit]] = 1.0
    note = f"{len(decisions)} of {len(unit_of)} units are as an adjudicator decided"
    return replace(
        truth,
        winner=winner,
        probability=probability,
        numbers=means,
        ties=int(np.count_nonzero(winner < 0)) if truth.method not in RATINGS else truth.ties,
        notes=(*truth.notes, note),
    )


def _number(decision: Decision, method: str) -> float:
    try:
        return float(decision.value)
    except ValueError:
        raise UsageError(f"{decision.value!r} is not a number, as a {method} needs") from None


def read_decisions(path: FileForm) -> tuple[Decision, ...]:
    """Decisions from CSV item,concept,value[,reason]."""
    source = describe(path)
    with open_text(path) as stream:
        rows = csv.DictReader(stream)
        if not {"item", "concept", "value"} <= set(rows.fieldnames or ()):
            raise InputError.single(source, "expected a header: item,concept,value[,reason]", 1)
        decisions: dict[tuple[str, str], Decision] = {}
        for row in rows:
            item, concept, value = ((row[n] or "").strip() for n in ("item", "concept", "value"))
            if not item or not concept or not value:
                raise InputError.single(source, "item, concept or value is empty", rows.line_num)
            if (item, concept) in decisions:
                raise InputError.single(
                    source, f"{concept!r} of item {item!r} is decided twice", rows.line_num
                )
            reason = (row.get("reason") or "").strip()
            decisions[item, concept] = Decision(item, concept, number_name(value), reason)
    return tuple(decisions.values())
