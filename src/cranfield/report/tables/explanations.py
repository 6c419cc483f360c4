"""Tables of how the scores of an item come about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cranfield.evaluation.explain_labels import Derivation, ItemExplanation
from cranfield.evaluation.explanations import Explanations
from cranfield.report.document import Cell, Column, Document, Table


def document(answer: Explanations, **_: Any) -> Document:
    """Labels, derivations and values of the item, run by run."""
    tables = [table for one in answer.explained for table in _explanation_tables(one)]
    return Document(answer.to_dict(), tables, answer.notes)


def _explanation_tables(one: ItemExplanation) -> Iterator[Table]:
    union = [*one.truth, *(c for c in one.predicted if c not in one.truth)]
    reasons = {c: "; ".join(v.rule for v in one.broken if v.concept == c) for c in union}
    rows: list[list[Cell]] = []
    for concept in union:
        true, predicted = concept in one.truth, concept in one.predicted
        verdict = "right" if true and predicted else "missed" if true else "wrong"
        confidence = None if one.confidences is None else one.confidences[concept]
        rows.append(
            [
                concept,
                "yes" if true else "",
                "yes" if predicted else "",
                confidence,
                verdict,
                reasons[concept],
            ]
        )
    columns = [
        Column(n, numeric=n == "confidence")
        for n in ("concept", "true", "predicted", "confidence", "verdict", "broken rule")
    ]
    yield Table(columns, rows, f"{one.item} in {one.run}")
    for derivation in one.derivations:
        yield _derivation_table(derivation)
    if one.values:
        values: list[list[Cell]] = [[name, value] for name, value in one.values.items()]
        yield Table(
            [Column("measure", numeric=False), Column("value")], values, "Values of this item"
        )


def _derivation_table(derivation: Derivation) -> Table:
    ranked = derivation.measure.name == "SRP"
    columns = [
        Column("label", numeric=False),
        Column("role", numeric=False),
        Column("assigned to" if ranked else "nearest", numeric=False),
        Column("cost"),
        *([] if ranked else [Column("agreement")]),
        Column("relatedness" if ranked else "pays"),
    ]
    rows: list[list[Cell]] = [
        [s.label, s.role, s.partner, s.cost, *([] if ranked else [s.agreement]), s.counts]
        for s in derivation.steps
    ]
    return Table(columns, rows, str(derivation.measure), [derivation.arithmetic])
