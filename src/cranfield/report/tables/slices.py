"""Tables of scores by slices: a mean for each run and slice, and the differences."""

from __future__ import annotations

from typing import Any

from cranfield.comparison.slices import SlicedScores
from cranfield.report.document import Cell, Column, Document, Table


def document(sliced: SlicedScores, **_: Any) -> Document:
    """A table of means for each measure, then the pairs of all slices; programs read the means."""
    tables = [_means(sliced, measure) for measure in sliced.measures]
    if sliced.pairs:
        tables.append(_pairs(sliced))
    return Document(sliced.to_dict(), tables, sliced.notes, _long_means(sliced))


def _means(sliced: SlicedScores, measure: str) -> Table:
    """A row for each slice, a column for each run."""
    columns = [Column("slice", numeric=False), Column(f"{sliced.unit}s", digits=0)]
    columns += [Column(run) for run in sliced.runs]
    values = {(row.slice, row.run): row.mean for row in sliced.means if row.measure == measure}
    rows: list[list[Cell]] = [
        [name, units, *(values[name, run] for run in sliced.runs)]
        for name, units in sliced.slices.items()
    ]
    return Table(columns, rows, f"{measure} by slice")


def _long_means(sliced: SlicedScores) -> Table:
    names = ("slice", "units", "run", "measure", "mean", "ci_low", "ci_high")
    text = ("slice", "run", "measure")
    rows: list[list[Cell]] = [
        [row.slice, row.units, row.run, row.measure, row.mean, *(row.ci or (None, None))]
        for row in sliced.means
    ]
    return Table([Column(name, numeric=name not in text) for name in names], rows)


def _pairs(sliced: SlicedScores) -> Table:
    """The differences, the surest first."""
    names = ("slice", "measure", "a", "b", "difference", "low", "high", "p", "p corr.")
    columns = [
        Column(name, numeric=i > 3, below=name.startswith("p")) for i, name in enumerate(names)
    ]
    ordered = sorted(sliced.pairs, key=lambda p: (p.p_corrected, p.p, p.slice))
    rows: list[list[Cell]] = [
        [p.slice, p.measure, p.a, p.b, p.difference, *p.ci, p.p, p.p_corrected] for p in ordered
    ]
    notes = [f"p corr.: by {sliced.correction} over all slices and pairs of a measure"]
    return Table(columns, rows, "differences by slice", notes)
