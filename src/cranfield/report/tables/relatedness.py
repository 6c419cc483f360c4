"""Relatedness as tables: pairs, correlations with people, cost maps, the list of methods."""

from __future__ import annotations

import math
from typing import Any

from cranfield.relatedness.cost_maps import NEAREST, nearest_concepts
from cranfield.relatedness.results import ConceptCosts, MethodCatalogue, PairRelatedness
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables.costmap import nearest_table, square_table


def pairs_document(found: PairRelatedness, *, human: bool = False, **_: Any) -> Document:
    """The pairs by every method, and the correlations; with `human` the correlations alone."""
    payload = found.to_dict(human=human)
    tables = [] if human else [_pair_table(found)]
    if found.judged:
        tables.append(_human_table(found))
    machine = _human_figures(found) if human else None
    return Document(payload, tables, found.notes, machine)


def costs_document(found: ConceptCosts, *, form: str = "table", **_: Any) -> Document:
    """The whole square for programs, the nearest concepts of each for people."""
    if form in ("csv", "tsv"):
        table = square_table(found.costs)
    else:
        table = nearest_table(found.costs, nearest_concepts(found.costs), NEAREST)
    return Document(found.to_dict(), [table], found.notes)


def catalogue_document(found: MethodCatalogue, **_: Any) -> Document:
    """The methods, and what they need."""
    rows: list[list[Cell]] = []
    for m in found.methods:
        low, high = (f"{x:.4g}" if math.isfinite(x) else "inf" for x in m.range)
        needs = ", ".join(sorted(m.needs))
        rows.append([m.name, m.title, f"[{low}, {high}]", needs, m.source.key, m.summary])
    heads = ("method", "title", "range", "needs", "source", "what it is")
    table = Table([Column(h, numeric=False) for h in heads], rows)
    return Document(found.to_dict(), [table], found.notes)


def _pair_table(found: PairRelatedness) -> Table:
    first, *others = found.results
    alone = not others and first.method.family == "wordnet"
    columns = [Column("word1", numeric=False), Column("word2", numeric=False)]
    columns += [Column("relatedness" if alone else r.name) for r in found.results]
    if alone:
        columns += [Column("sense1", numeric=False), Column("sense2", numeric=False)]
    if found.judged:
        columns.append(Column("human", digits=2))
    rows: list[list[Cell]] = []
    for k, pair in enumerate(first.pairs):
        row: list[Cell] = [pair.word1, pair.word2]
        row += [result.pairs[k].relatedness for result in found.results]
        row += [pair.sense1, pair.sense2] if alone else []
        rows.append([*row, pair.human] if found.judged else row)
    return Table(columns, rows, "" if others else first.method.title)


def _human_table(found: PairRelatedness) -> Table:
    columns = [
        Column("method", numeric=False),
        Column("Spearman", best="max"),
        Column("95 % interval", numeric=False),
        Column("Pearson", best="max"),
        Column("95 % interval", numeric=False),
        Column("pairs"),
        Column("left out"),
    ]
    rows: list[list[Cell]] = [
        [
            result.name,
            people.spearman,
            _span(people.spearman_interval),
            people.pearson,
            _span(people.pearson_interval),
            people.pairs,
            people.left_out,
        ]
        for result in found.results
        if (people := result.people) is not None
    ]
    return Table(columns, rows, "Correlation with people's scores")


def _human_figures(found: PairRelatedness) -> Table:
    """The same for programs: the ends of the intervals are columns of their own."""
    names = ("spearman", "pearson")
    heads = [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
    rows: list[list[Cell]] = [
        [
            result.name,
            people.spearman,
            *people.spearman_interval,
            people.pearson,
            *people.pearson_interval,
            people.pairs,
            people.left_out,
        ]
        for result in found.results
        if (people := result.people) is not None
    ]
    columns = [Column("method", numeric=False), *map(Column, (*heads, "pairs", "left_out"))]
    return Table(columns, rows)


def _span(interval: tuple[float, float]) -> str:
    low, high = interval
    return "-" if math.isnan(low) else f"{low:.3f} to {high:.3f}"
