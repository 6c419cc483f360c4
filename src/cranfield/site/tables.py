"""Tables of answers as pages show them: names lead to their pages, intervals are drawn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
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
    heads = [
        CellView(f"{share} interval" if drawn and c.name == LOW else c.label) for _, c in shown
    ]
    marks_at = names.index(STARS) if STARS in names else None
    columns: list[list[CellView]] = []
    for j, column in shown:
        if ends is not None and column.name == LOW:
            columns.append([_interval(row, j, names.index(HIGH), ends) for row in table.rows])
            continue
        marks = [table.mark(i, j) for i in range(len(table.rows))]
        if marks_at is not None and j + 1 == marks_at:
            marks = [str(row[marks_at] or "") for row in table.rows]
        links = partial(find, kinds[j]) if kinds[j] else None
        pictures = draw if kinds[j] == "item" else None
        values = [row[j] for row in table.rows]
        columns.append(_cells(column, values, marks, table.best_rows(j), links, pictures))
    rows = list(zip(*columns, strict=True))
    tall = len(rows) > TALL and len(shown) <= FEW
    aligned = _aligned([c for _, c in shown], drawn)
    return TableView(table.title, heads, rows, table.notes, len(shown) > WIDE, tall, aligned)


def _aligned(columns: Sequence[Column], drawn: bool) -> str:
    """What columns are as a whole: `n2` is a second one of numbers, `x3` a third one to do without.

    Said once for the table, it need not be said in each of its thousand cells.
    """
    found = []
    for place, column in enumerate(columns, 1):
        if not (drawn and column.name == LOW):
            found += [f"n{place}"] if column.numeric else []
            found += [f"x{place}"] if column.name in LESS else []
    return " ".join(found)


def _cells(
    column: Column,
    values: Sequence[Cell],
    marks: Sequence[str],
    best: Collection[int],
    find: Callable[[str], str] | None,
    draw: Drawer | None,
) -> list[CellView]:
    """The cells of a column, each with its mark, its link and its picture."""
    own = "long" if column.name in LONG else ""
    top = f"{own} best".strip()
    signed = column.name in SIGNED
    found = []
    for i, (value, mark) in enumerate(zip(values, marks, strict=True)):
        text = column.show(value) if value != "" else ""
        if signed and isinstance(value, float) and value > 0:
            text = f"+{text}"
        href = find(str(value)) if find is not None and value else ""
        picture = draw(str(value)) if draw is not None and value else None
        kind = top if i in best else own
        found.append(CellView(f"{text} {mark}" if mark else text, href, kind, None, picture))
    return found


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


def _interval(row: Sequence[Cell], at: int, end: int, scale: Scale) -> CellView:
    """The drawing of an interval from a column to another; the mean stands before it."""
    low, high, mean = row[at], row[end], row[at - 1]
    if not (isinstance(low, float) and isinstance(high, float) and isinstance(mean, float)):
        return CellView("-", kind="i")
    drawing = _drawn(low, mean, high, scale)
    return CellView(f"{low:.4f} to {high:.4f}", kind="i", drawing=drawing)


def _drawn(low: float, mean: float, high: float, scale: Scale) -> Markup:
    """A line from end to end and a dot; where both signs occur, a thin rule at 0."""
    from markupsafe import Markup

    def at(value: float) -> str:
        share = min(max((value - scale[0]) / (scale[1] - scale[0]), 0.0), 1.0)
        return f"{_EDGE + share * (_WIDTH - 2 * _EDGE):.4g}"

    zero = f'<path d="M{at(0.0)} 0V{_HEIGHT}"/>' if scale[0] < 0 < scale[1] else ""
    middle = _HEIGHT // 2
    return Markup(
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}">{zero}'
        f'<path d="M{at(low)} {middle}H{at(high)}"/><circle cx="{at(mean)}"/></svg>'
    )
