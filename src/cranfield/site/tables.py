"""Tables of answers as pages show them: names lead to their pages, intervals are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cranfield.campaign.results.answer import ResultPart
from cranfield.report.document import Cell, Column, Table
from cranfield.report.tables.results import table_of
from cranfield.site.sheet import CellView, Picture, TableView

if TYPE_CHECKING:
    from markupsafe import Markup

# From the kind of a name and the name to the address of its page, or nothing.
Finder = Callable[[str, str], str]
# From the name of an item to its picture, or nothing.
Drawer = Callable[[str], "Picture | None"]
Scale = tuple[float, float]
LOW, HIGH, STARS, PICTURE = "ci_low", "ci_high", "stars", "picture"
_WIDTH, _HEIGHT, _EDGE = 180, 12, 4
SIGNED = ("difference",)
# What a narrow screen can do without: it is on the page of the run.
LESS = ("rank", "team", "configuration")
# Texts that may run over several lines.
LONG = ("text", "description", "formula", "title", "definition", "sha256")
WIDE = 9
# Long and narrow tables scroll in a box of their own.
TALL, FEW = 60, 3


def part_view(
    part: ResultPart,
    find: Finder,
    draw: Drawer | None = None,
    *,
    share: str = "95 %",
    scale: Scale | None = None,
) -> TableView:
    """A part of an answer as a page shows it; `scale` are the ends of its intervals' axis."""
    kinds = [c.link for c in part.columns]
    return table_view(table_of(part), find, kinds, draw, share=share, scale=scale)


def table_view(
    table: Table,
    find: Finder,
    kinds: Sequence[str] = (),
    draw: Drawer | None = None,
    *,
    share: str = "95 %",
    scale: Scale | None = None,
) -> TableView:
    """A table with links and drawings; its intervals stand in one column behind the mean.

    `kinds` says of each column what its names are of, such as "run".
    """
    names = [c.name for c in table.columns]
    kinds = kinds or [""] * len(names)
    drawn = LOW in names and HIGH in names
    hidden = {STARS} | ({HIGH} if drawn else set()) | ({PICTURE} if draw else set())
    shown = [(j, c) for j, c in enumerate(table.columns) if c.name not in hidden]
    ends = (scale or _scale(table, names)) if drawn else None
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
            value = row[j]
            if ends is not None and column.name == LOW:
                cells.append(_interval(row, names, ends))
                continue
            mark = table.mark(i, j)
            if marks_at is not None and j + 1 == marks_at:
                mark = str(row[marks_at] or "")
            href = find(kinds[j], str(value)) if kinds[j] and value else ""
            picture = draw(str(value)) if draw and kinds[j] == "item" and value else None
            cells.append(_cell(column, value, mark, href, i in best[j], picture))
        rows.append(cells)
    tall = len(rows) > TALL and len(shown) <= FEW
    return TableView(table.title, heads, rows, table.notes, len(shown) > WIDE, tall)


def _class(column: Column, drawn: bool) -> str:
    if drawn and column.name == LOW:
        return "i"
    kinds = ["n"] if column.numeric else []
    kinds += ["less"] if column.name in LESS else []
    kinds += ["long"] if column.name in LONG else []
    return " ".join(kinds)


def _cell(
    column: Column, value: Cell, mark: str, href: str, best: bool, picture: Picture | None
) -> CellView:
    text = column.show(value) if value != "" else ""
    if column.name in SIGNED and isinstance(value, float) and value > 0:
        text = f"+{text}"
    kind = _class(column, False)
    if best:
        kind = f"{kind} best".strip()
    return CellView(f"{text} {mark}" if mark else text, href, kind, None, picture)


def _scale(table: Table, names: Sequence[str]) -> Scale:
    """From the least to the greatest end of the intervals of a table."""
    ends = [row[names.index(name)] for row in table.rows for name in (LOW, HIGH)]
    known = [float(v) for v in ends if isinstance(v, float)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def unit_scale(part: ResultPart) -> Scale | None:
    """From 0 to 1, where all intervals of a part of several measures lie there."""
    names = [c.name for c in part.columns]
    if LOW not in names or HIGH not in names:
        return None
    ends = [row[names.index(name)] for row in part.rows for name in (LOW, HIGH)]
    known = [v for v in ends if isinstance(v, float)]
    return (0.0, 1.0) if known and min(known) >= -0.1 and max(known) <= 1.1 else None


def _interval(row: Sequence[Cell], names: Sequence[str], scale: Scale) -> CellView:
    low, high = row[names.index(LOW)], row[names.index(HIGH)]
    mean = row[names.index(LOW) - 1]
    if not (isinstance(low, float) and isinstance(high, float) and isinstance(mean, float)):
        return CellView("-", kind="i")
    drawing = _drawn(low, mean, high, scale)
    return CellView(f"{low:.4f} to {high:.4f}", kind="i", drawing=drawing)


def _drawn(low: float, mean: float, high: float, scale: Scale) -> Markup:
    """A line from end to end and a dot; where both signs occur, a thin rule at 0."""
    from markupsafe import Markup

    def at(value: float) -> str:
        share = min(max((value - scale[0]) / (scale[1] - scale[0]), 0.0), 1.0)
        return f"{_EDGE + share * (_WIDTH - 2 * _EDGE):.1f}"

    zero = f'<path class="zero" d="M{at(0.0)} 0V{_HEIGHT}"/>' if scale[0] < 0 < scale[1] else ""
    middle = _HEIGHT // 2
    return Markup(
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}">{zero}'
        f'<path d="M{at(low)} {middle}H{at(high)}"/><circle cx="{at(mean)}"/></svg>'
    )
