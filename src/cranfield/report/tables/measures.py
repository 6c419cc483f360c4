"""The catalogue of measures as tables, and all about one of them."""

from __future__ import annotations

import textwrap

from cranfield.evaluation.measure_catalogue import (
    MeasureCard,
    MeasureCatalogue,
    describe,
    dimensions,
    show_range,
    signature,
)
from cranfield.options import DIMENSIONS
from cranfield.report.document import Cell, Column, Document, Table

_BEST = {True: "high", False: "low", None: ""}
_WIDTH, _SET_WIDTH = 76, 90
_NOT_IN_THE_TABLE = ("params", "higher_is_better", "worked_example")


def document(catalogue: MeasureCatalogue, *, by_dimension: bool = False, **_: object) -> Document:
    """A table per family, and the sets; or one by dimensions."""
    if by_dimension:
        return Document(catalogue.to_dict, [_by_dimension(catalogue)], catalogue.notes)
    columns = [Column(n, numeric=False) for n in ("name", "mean", "what it is", "range", "best")]
    tables = []
    for family in dict.fromkeys(m.family for m in catalogue.measures):
        rows: list[list[Cell]] = [
            [
                signature(m),
                m.mean_name or m.name,
                m.title,
                show_range(m),
                _BEST[m.higher_is_better],
            ]
            for m in catalogue.measures
            if m.family == family
        ]
        tables.append(Table(columns, rows, family[:1].upper() + family[1:]))
    all_rows = [row for table in tables for row in table.rows]
    sets: list[list[Cell]] = [
        [name, textwrap.shorten(" ".join(members), _SET_WIDTH, placeholder=" ...")]
        for name, members in catalogue.sets.items()
    ]
    if sets:
        tables.append(Table([Column(c, numeric=False) for c in ("set", "members")], sets, "Sets"))
    return Document(catalogue.to_dict, tables, catalogue.notes, machine=Table(columns, all_rows))


def _by_dimension(catalogue: MeasureCatalogue) -> Table:
    """Where measures stand: a row for each place that has any."""
    places: dict[tuple[str, ...], list[str]] = {}
    for m in catalogue.measures:
        places.setdefault(tuple(dimensions(m).values()), []).append(signature(m))
    rows: list[list[Cell]] = [[*place, " ".join(places[place])] for place in sorted(places)]
    return Table([Column(name, numeric=False) for name in (*DIMENSIONS, "measures")], rows)


def card_document(card: MeasureCard, **_: object) -> Document:
    """What is known of a measure, line by line."""
    facts = describe(card.measure)
    rows: list[list[Cell]] = []
    for key, value in facts.items():
        if key in _NOT_IN_THE_TABLE or value in ("", []):
            continue
        if isinstance(value, dict):
            value = [f"{name}: {part}" for name, part in value.items()]
        text = ", ".join(value) if isinstance(value, list) else str(value)
        rows += _wrap_fact(key.replace("_", " "), text)
    for param, about in facts["params"].items():
        rows += _wrap_fact("parameter", f"{param}={about['default']!r}: {about['doc']}")
    if card.worked is not None:
        rows += _wrap_fact("worked example", card.worked.given)
        rows += [["", f"{name} = {value:.6f}"] for name, value in card.worked.values.items()]
    columns = [Column("measure", numeric=False), Column(str(card.measure), numeric=False)]
    return Document(card.to_dict, [Table(columns, rows)], card.notes)


def _wrap_fact(key: str, text: str) -> list[list[Cell]]:
    lines = textwrap.wrap(text, _WIDTH) or [""]
    return [["" if i else key, line] for i, line in enumerate(lines)]
