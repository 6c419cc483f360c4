"""Formulas of declarations as MathML, which browsers draw without script and without style.

Tables of answers as pages show them: names lead to their pages, intervals are drawn.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from cranfield.campaign.results.results_data import ResultPart
from cranfield.errors import MissingExtraError
from cranfield.report.document import Cell, Column, Table
from cranfield.report.tables.campaign import table_of
from cranfield.site.page_view import CellView, Picture, TableView

if TYPE_CHECKING:
    from markupsafe import Markup


@lru_cache(maxsize=256)
def mathml(formula: str) -> Markup:
    """A formula in LaTeX as an element of a page, with its source as an annotation."""
    from markupsafe import Markup

    try:
        from latex2mathml.converter import convert_to_element
    except ModuleNotFoundError:
        raise MissingExtraError("latex2mathml", "site", "A formula of a measure") from None
    root = convert_to_element(formula)
    for element in root.iter():
        # Its texts have entities and no escapes; they are escaped with everything else below.
        element.text = html.unescape(element.text) if element.text else None
        # Pages allow no style of their own.
        element.attrib.pop("style", None)
    root.attrib.pop("xmlns", None)
    _annotate(root, formula)
    return Markup(ElementTree.tostring(root, encoding="unicode", short_empty_elements=False))


def _annotate(root: ElementTree.Element, formula: str) -> None:
    """Put the LaTeX beside the drawing, where programs read it and no browser shows it."""
    semantics = ElementTree.Element("semantics")
    row = ElementTree.SubElement(semantics, "mrow")
    for child in list(root):
        root.remove(child)
        row.append(child)
    annotation = ElementTree.SubElement(semantics, "annotation", encoding="application/x-tex")
    annotation.text = formula
    root.append(semantics)


# From the kind of a name and the name to the address of its page, or nothing.
Finder = Callable[[str, str], str]
# From the name of an item to its picture, or nothing.
Drawer = Callable[[str], "Picture | None"]
Scale = tuple[float, float]
LOW, HIGH, STARS, PICTURE = "ci_low", "ci_high", "stars", "picture"
# Where the truth is not sure two further intervals stand in a row, each in one column.
TRUTH, BOTH = ("truth_low", "truth_high"), ("both_low", "both_high")
HEADS = {LOW: "by units", TRUTH[0]: "by the truth", BOTH[0]: "by both"}
HIGHS = {LOW: HIGH, TRUTH[0]: TRUTH[1], BOTH[0]: BOTH[1]}
_WIDTH, _HEIGHT, _EDGE = 180, 12, 4
_LINE_OFFSETS = {"topics": -4, "truth": 4}
SIGNED_COLUMNS = ("difference",)
# What a narrow screen can do without: it is on the page of the run.
HIDDEN_WHEN_NARROW = ("rank", "team", "configuration")
# Texts that may run over several lines.
LONG_TEXTS = ("text", "description", "title", "definition", "sha256")
FORMULA = "formula"
WIDE_COLUMNS = 9
# Long and narrow tables scroll in a box of their own.
TALL_ROWS, NARROW_COLUMNS = 60, 3


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
    return table_view(table_of(part), find, kinds, draw, share=share, scale=scale or part.limits)


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
    with_intervals = LOW in names and HIGH in names
    hidden = {STARS} | ({PICTURE} if draw else set())
    hidden |= {HIGH, TRUTH[1], BOTH[1]} if with_intervals else set()
    visible = [(j, c) for j, c in enumerate(table.columns) if c.name not in hidden]
    ends = (scale or _scale(table, names)) if with_intervals else None
    marks_at = names.index(STARS) if STARS in names else None
    columns: list[list[CellView]] = []
    placed: list[Column] = []
    for j, column in visible:
        if ends is not None and column.name in HIGHS:
            for head, cells in _intervals(table, names, column, share, ends):
                placed.append(head)
                columns.append(cells)
            continue
        marks = [table.mark(i, j) for i in range(len(table.rows))]
        if marks_at is not None and j + 1 == marks_at:
            marks = [str(row[marks_at] or "") for row in table.rows]
        links = partial(find, kinds[j]) if kinds[j] else None
        pictures = draw if kinds[j] == "item" else None
        values = [row[j] for row in table.rows]
        placed.append(column)
        columns.append(_cells(column, values, marks, table.best_rows(j), links, pictures))
    heads = [
        CellView(column.label, drawing=_axis(ends) if ends and column.name == LOW else None)
        for column in placed
    ]
    rows = list(zip(*columns, strict=True))
    tall = len(rows) > TALL_ROWS and len(visible) <= NARROW_COLUMNS
    aligned = _column_classes(placed, with_intervals)
    # A drawn interval takes the room of two columns.
    wide = len(placed) > (WIDE_COLUMNS - 2 if with_intervals else WIDE_COLUMNS)
    return TableView(table.title, heads, rows, table.notes, wide, tall, aligned)


def _intervals(
    table: Table, names: Sequence[str], column: Column, share: str, ends: Scale
) -> Iterator[tuple[Column, list[CellView]]]:
    """The columns of an interval: drawn, and in numbers where the truth is a part of it."""
    if column.name == LOW:
        head = Column(LOW, heading=f"{share} interval")
        yield head, [_interval(row, names, ends) for row in table.rows]
    if TRUTH[0] in names:
        low, high = names.index(column.name), names.index(HIGHS[column.name])
        cells = [CellView(_interval_text(row[low], row[high])) for row in table.rows]
        yield Column(HEADS[column.name]), cells


def _interval_text(low: Cell, high: Cell) -> str:
    defined = isinstance(low, float) and isinstance(high, float)
    return f"{low:.4f} to {high:.4f}" if defined else "-"


def _column_classes(columns: Sequence[Column], with_intervals: bool) -> str:
    """Classes for whole columns: `n2`, the second has numbers; `x3`, narrow screens hide the third.

    One class on the table replaces a class on each of its cells.
    """
    classes = []
    for place, column in enumerate(columns, 1):
        if not (with_intervals and column.name == LOW):
            classes += [f"n{place}"] if column.numeric else []
            # The first column says what its row is about.
            hidden = place > 1 and column.name in HIDDEN_WHEN_NARROW
            classes += [f"x{place}"] if hidden else []
    return " ".join(classes)


def _cells(
    column: Column,
    values: Sequence[Cell],
    marks: Sequence[str],
    best: Collection[int],
    find: Callable[[str], str] | None,
    draw: Drawer | None,
) -> list[CellView]:
    """The cells of a column, each with its mark, its link and its picture."""
    if column.name == FORMULA:
        return [CellView("", "", FORMULA, mathml(str(value))) for value in values]
    base_kind = "long" if column.name in LONG_TEXTS else ""
    best_kind = f"{base_kind} best".strip()
    signed = column.name in SIGNED_COLUMNS
    cells = []
    for i, (value, mark) in enumerate(zip(values, marks, strict=True)):
        text = column.show(value) if value != "" else ""
        if signed and isinstance(value, float) and value > 0:
            text = f"+{text}"
        href = find(str(value)) if find is not None and value else ""
        picture = draw(str(value)) if draw is not None and value else None
        kind = best_kind if i in best else base_kind
        cells.append(CellView(f"{text} {mark}" if mark else text, href, kind, None, picture))
    return cells


def _scale(table: Table, names: Sequence[str]) -> Scale:
    """From the least to the greatest end of the intervals of a table."""
    ends = _known_ends(table.rows, names)
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _known_ends(rows: Sequence[Sequence[Cell]], names: Sequence[str]) -> list[float]:
    interval_columns = [names.index(n) for n in (LOW, HIGH, *TRUTH, *BOTH) if n in names]
    ends = [row[j] for row in rows for j in interval_columns]
    return [end for end in ends if isinstance(end, float)]


def unit_scale(part: ResultPart) -> Scale | None:
    """From 0 to 1, where all intervals of a part of several measures lie there."""
    names = [c.name for c in part.columns]
    if LOW not in names or HIGH not in names:
        return None
    ends = _known_ends(part.rows, names)
    return (0.0, 1.0) if ends and min(ends) >= 0.0 and max(ends) <= 1.0 else None


def _interval(row: Sequence[Cell], names: Sequence[str], scale: Scale) -> CellView:
    """The drawing of the intervals of a row; the mean stands before them."""
    low_column = names.index(LOW)
    low, high, mean = row[low_column], row[names.index(HIGH)], row[low_column - 1]
    if not (isinstance(low, float) and isinstance(high, float) and isinstance(mean, float)):
        return CellView("-", kind="i")
    lines = [(low, high, "")]
    if TRUTH[0] in names and BOTH[0] in names:
        intervals = [[row[names.index(end)] for end in ends] for ends in (BOTH, TRUTH)]
        if all(isinstance(end, float) for ends in intervals for end in ends):
            combined, truth = intervals
            lines = [(low, high, "topics"), (*combined, "both"), (*truth, "truth")]  # type: ignore[list-item]
    return CellView(
        _interval_text(low, high), kind="i", drawing=_interval_drawing(lines, mean, scale)
    )


def _axis(scale: Scale) -> Markup:
    """The ends and the middle of the scale, above the intervals that are drawn on it."""
    from markupsafe import Markup

    left, right = _EDGE, _WIDTH - _EDGE
    middle = (left + right) / 2
    marks = (
        (left, scale[0], "start"),
        (middle, sum(scale) / 2, "middle"),
        (right, scale[1], "end"),
    )
    texts = "".join(
        f'<text x="{x:.4g}" y="9" text-anchor="{anchor}">{value:.3g}</text>'
        for x, value, anchor in marks
    )
    ticks = "".join(f"M{x:.4g} 12V16" for x, _, _ in marks)
    return Markup(
        f'<svg class="axis" viewBox="0 0 {_WIDTH} 16" aria-hidden="true">{texts}'
        f'<path d="M{left} 15.5H{right}{ticks}"/></svg>'
    )


def _interval_drawing(
    lines: Sequence[tuple[float, float, str]], mean: float, scale: Scale
) -> Markup:
    """Lines from end to end and a dot; where both signs occur, a thin rule at 0."""
    from markupsafe import Markup

    def at(value: float) -> str:
        share = min(max((value - scale[0]) / (scale[1] - scale[0]), 0.0), 1.0)
        return f"{_EDGE + share * (_WIDTH - 2 * _EDGE):.4g}"

    zero = f'<path d="M{at(0.0)} 0V{_HEIGHT}"/>' if scale[0] < 0 < scale[1] else ""
    middle = _HEIGHT // 2
    paths = ""
    for low, high, source in lines:
        kind = f' class="{source}"' if source else ""
        paths += f'<path{kind} d="M{at(low)} {middle + _LINE_OFFSETS.get(source, 0)}H{at(high)}"/>'
    return Markup(
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}">{zero}{paths}<circle cx="{at(mean)}"/></svg>'
    )
