"""Tables of answers as pages show them: names lead to their pages, intervals are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cranfield.campaign.results.answer import ResultPart
from cranfield.report.document import Cell, Column, Table
from cranfield.report.tables.results import table_of
from cranfield.site.sheet import CellView, TableView

if TYPE_CHECKING:
    from markupsafe import Markup

# From the kind of a name and the name to the address of its page, or nothing.
Finder = Callable[[str, str], str]
LOW, HIGH, STARS = "ci_low", "ci_high", "stars"
_WIDTH, _HEIGHT, _EDGE = 120, 12, 4
SIGNED = ("difference",)


def part_view(part: ResultPart, find: Finder, *, share: str = "95 %") -> TableView:
    """A part of an answer as a page shows it."""
    return table_view(table_of(part), find, [c.link for c in part.columns], share=share)


def table_view(
    table: Table, find: Finder, kinds: Sequence[str] = (), *, share: str = "95 %"
) -> TableView:
    """A table with links and drawings; its intervals stand in one column behind the mean.

    `kinds` says of each column what its names are of, such as "run".
    """
    names = [c.name for c in table.columns]
    kinds = kinds or [""] * len(names)
    drawn = LOW in names and HIGH in names
    hidden = {HIGH, STARS} if drawn else {STARS}
    shown = [(j, c) for j, c in enumerate(table.columns) if c.name not in hidden]
    scale = _scale(table, names) if drawn else None
    best = {j: table.best_rows(j) for j, _ in shown}
    heads = [
        CellView(f"{share} interval" if drawn and c.name == LOW else c.label, kind=_class(c, drawn))
        for _, c in shown
    ]
    marks_at = names.index(STARS) if STARS in names else None
    rows = []
    for i, row in enumerate(table.rows):
        cells = []
        for j, column in shown:
            if scale is not None and column.name == LOW:
                cells.append(_interval(row, names, scale))
                continue
            mark = table.mark(i, j)
            if marks_at is not None and j + 1 == marks_at:
                mark = str(row[marks_at] or "")
            href = find(kinds[j], str(row[j])) if kinds[j] and row[j] else ""
            cells.append(_cell(column, row[j], mark, href, i in best[j]))
        rows.append(cells)
    return TableView(table.title, heads, rows, table.notes)


def _class(column: Column, drawn: bool) -> str:
    if drawn and column.name == LOW:
        return "interval"
    return "n" if column.numeric else ""


def _cell(column: Column, value: Cell, mark: str, href: str, best: bool) -> CellView:
    text = column.show(value) if value != "" else ""
    if column.name in SIGNED and isinstance(value, float) and value > 0:
        text = f"+{text}"
    kind = "n" if column.numeric else ""
    if best:
        kind = f"{kind} best".strip()
    return CellView(f"{text} {mark}" if mark else text, href, kind)


def _scale(table: Table, names: Sequence[str]) -> tuple[float, float]:
    """From the least to the greatest end of the intervals of a table."""
    ends = [row[names.index(name)] for row in table.rows for name in (LOW, HIGH)]
    known = [float(v) for v in ends if isinstance(v, float)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _interval(row: Sequence[Cell], names: Sequence[str], scale: tuple[float, float]) -> CellView:
    low, high = row[names.index(LOW)], row[names.index(HIGH)]
    mean = row[names.index(LOW) - 1]
    if not (isinstance(low, float) and isinstance(high, float) and isinstance(mean, float)):
        return CellView("-", kind="interval")
    drawing = _drawn(low, mean, high, scale)
    return CellView(f"{low:.4f} to {high:.4f}", kind="interval", drawing=drawing)


def _drawn(low: float, mean: float, high: float, scale: tuple[float, float]) -> Markup:
    from markupsafe import Markup

    def at(value: float) -> str:
        share = (value - scale[0]) / (scale[1] - scale[0])
        return f"{_EDGE + share * (_WIDTH - 2 * _EDGE):.1f}"

    return Markup(
        '<svg viewBox="0 0 {w} {h}" aria-hidden="true"><path d="M{a} {m}H{b}"/>'
        '<circle cx="{c}" cy="{m}" r="3"/></svg>'
    ).format(w=_WIDTH, h=_HEIGHT, m=_HEIGHT // 2, a=at(low), b=at(high), c=at(mean))
