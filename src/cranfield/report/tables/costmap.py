"""Cost maps as tables and drawn: nearest concepts, a heat map, a dendrogram, as text and page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cranfield.data.costmap import CostMap
from cranfield.relatedness.maps import DIFFERENCES, CostMapView, MapComparison
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.render import html_table, still_page

_SHADES = " ░▒▓█"  # far to near
_CELL, _TREE = 14, 220
_LETTER, _MARGIN = 6.6, 16  # width of a letter and what stands around a name
_WIDEST_HEAT_MAP = 120


def document(view: CostMapView, *, form: str = "table", **_: Any) -> Document:
    """The nearest concepts; with the drawing on a terminal, and as a page in HTML."""
    nearest = nearest_table(view.costs, view.nearest, view.count)
    payload = view.to_dict()
    if form == "html":
        page = costmap_page(view, nearest)
        return Document(payload, [nearest], view.notes, page=page)
    if form == "table" and not view.listed:
        nearest = replace(nearest, notes=_drawn(view))
    return Document(payload, [nearest], view.notes)


def _drawn(view: CostMapView) -> list[str]:
    tree = branches(view)
    drawing = ["", "Dendrogram (average cost at which concepts join)"]
    drawing += dendrogram_text(view.costs, tree)
    if len(view.costs.concepts) <= _WIDEST_HEAT_MAP:
        drawing += ["", "Heat map (dark is near)", *heat_map_text(view.costs, view.order)]
    return drawing


def comparison_document(found: MapComparison, *, top: int = DIFFERENCES, **_: Any) -> Document:
    """How alike two maps are, and the pairs that differ most."""
    heads = ("concepts", "Spearman", "p (Mantel)", "Pearson", "mean difference")
    figures = [len(found.concepts), found.spearman, found.p, found.pearson, found.mean_difference]
    tables = [Table(list(map(Column, heads)), [figures], f"{found.first} and {found.second}")]
    rows: list[list[Cell]] = [list(row) for row in found.differing(top)]
    columns = [Column(n, numeric=False) for n in ("concept", "concept")]
    columns += [Column("first", digits=3), Column("second", digits=3)]
    if rows:
        tables.append(Table(columns, rows, "Pairs that differ most"))
    return Document(found.to_dict(top=top), tables, found.notes)


def nearest_table(
    costs: CostMap, nearest: Sequence[tuple[str, Sequence[tuple[str, float]]]], count: int
) -> Table:
    """The nearest concepts of each concept, with their costs."""
    wide = min(count, len(costs.concepts) - 1)
    columns = [Column("concept", numeric=False)]
    for k in range(1, wide + 1):
        columns += [Column(f"nearest {k}", numeric=False), Column("cost", digits=3)]
    rows: list[list[Cell]] = []
    for concept, near in nearest:
        row: list[Cell] = [concept, *(cell for pair in near for cell in pair)]
        rows.append(row + [None] * (2 * (wide - len(near))))
    return Table(columns, rows, f"Nearest concepts, {costs.name}")


def square_table(costs: CostMap) -> Table:
    """The whole matrix: in CSV this is what commands read as a cost map."""
    columns = [Column("concept", numeric=False), *(Column(c) for c in costs.concepts)]
    rows: list[list[Cell]] = [
        [concept, *(float(cost) for cost in row)]
        for concept, row in zip(costs.concepts, costs.costs, strict=True)
    ]
    return Table(columns, rows)


@dataclass(frozen=True)
class Branch:
    """A cluster of concepts: two branches that join at a cost, or one concept."""

    cost: float
    parts: tuple[Branch, ...] = ()
    concept: int = -1

    def bottom_up(self) -> list[Branch]:
        """All branches, parts before the whole; no recursion, for trees can be a single chain."""
        found, waiting = [], [self]
        while waiting:
            branch = waiting.pop()
            found.append(branch)
            waiting += branch.parts
        return found[::-1]


def branches(view: CostMapView) -> Branch:
    """The clusters of a map as a tree."""
    made = [Branch(0.0, (), i) for i in range(len(view.costs.concepts))]
    for first, second, cost in view.merges:
        made.append(Branch(cost, (made[first], made[second])))
    return made[-1]


def dendrogram_text(costs: CostMap, tree: Branch) -> list[str]:
    """The clusters as lines of text, each with the cost at which it joins."""
    drawn: list[list[str]] = []
    for branch in tree.bottom_up():
        if not branch.parts:
            drawn.append([f" {costs.concepts[branch.concept]}"])
            continue
        lower, upper = drawn.pop(), drawn.pop()
        head = f"{branch.cost:.2f} "
        blank = " " * len(head)
        drawn.append(
            [f"{head}┬{upper[0]}"]
            + [f"{blank}│{line}" for line in upper[1:]]
            + [f"{blank}└{lower[0]}"]
            + [f"{blank} {line}" for line in lower[1:]]
        )
    return drawn[0]


def heat_map_text(costs: CostMap, clustered: Sequence[int]) -> list[str]:
    """The matrix in shades, concepts in the order of the clusters; dark is near."""
    order = list(clustered)
    width = max(len(costs.concepts[i]) for i in order)
    lines = []
    for i in order:
        level = np.minimum((1.0 - costs.costs[i, order]) * len(_SHADES), len(_SHADES) - 1)
        shades = "".join(_SHADES[int(k)] * 2 for k in level)
        lines.append(f"{costs.concepts[i]:>{width}} {shades.rstrip()}")
    return lines


def costmap_page(view: CostMapView, nearest: Table) -> str:
    """A page with the dendrogram beside the heat map, in one file without scripts."""
    costs = view.costs
    title = html.escape(costs.name)
    style = (
        ":root{color-scheme:light dark}"
        "body{font:16px/1.5 system-ui,sans-serif;margin:2rem}.wide{overflow-x:auto}"
        "caption{text-align:left;font-weight:600}td,th{padding:0 .75rem 0 0;text-align:left}"
        ".n{text-align:right;font-variant-numeric:tabular-nums}"
        ".scale{display:inline-block;width:8rem;height:.8rem;background:linear-gradient("
        f"to right,{_shade(0.0)},{_shade(1.0)})}}"
    )
    return still_page(
        title,
        style,
        f"<h1>{title}</h1>"
        "<p>Cost 0 <span class=scale></span> 1: dark is near. The tree joins concepts at their "
        f"average cost.</p><div class=wide>{_drawing(costs, branches(view), view.order)}</div>"
        f"<div class=wide>{html_table(nearest)}</div>",
    )


def _shade(cost: float) -> str:
    return f"hsl(215 65% {30 + 66 * cost:.0f}%)"


def _drawing(costs: CostMap, tree: Branch, order: Sequence[int]) -> str:
    size = len(order) * _CELL
    top = _MARGIN + int(_LETTER * max(len(name) for name in costs.concepts))
    left = _TREE + top
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + size + 10}" '
        f'height="{top + size + 10}" font-family="system-ui,sans-serif" font-size="11" role="img" '
        f'aria-label="heat map of {html.escape(costs.name)}">'
    ]
    parts += [
        f'<text x="{_stem(cost):.1f}" y="{top - 6}" text-anchor="middle" '
        f'fill="currentColor">{cost:g}</text>'
        for cost in (0.0, 0.5, 1.0)
    ]
    for row, i in enumerate(order):
        name = html.escape(costs.concepts[i])
        y, x = top + row * _CELL, left + row * _CELL
        parts.append(
            f'<text x="{left - 6}" y="{y + 11}" text-anchor="end" fill="currentColor">{name}</text>'
            f'<text transform="translate({x + 11} {top - 6}) rotate(-90)" '
            f'fill="currentColor">{name}</text>'
        )
        for column, j in enumerate(order):
            cost = float(costs.costs[i, j])
            parts.append(
                f'<rect x="{left + column * _CELL}" y="{y}" width="{_CELL}" height="{_CELL}" '
                f'fill="{_shade(cost)}"><title>{name}, '
                f"{html.escape(costs.concepts[j])}: {cost:.3f}</title></rect>"
            )
    parts += _tree_lines(tree, {leaf: top + (k + 0.5) * _CELL for k, leaf in enumerate(order)})
    return "".join([*parts, "</svg>"])


def _stem(cost: float) -> float:
    """Where the tree has a cost: 0 at its right end."""
    return (_TREE - 4) - cost * (_TREE - 14)


def _tree_lines(tree: Branch, height: dict[int, float]) -> list[str]:
    """One line for every branch that joins two."""
    lines = []
    stems: list[tuple[float, float]] = []
    for branch in tree.bottom_up():
        if not branch.parts:
            stems.append((_stem(0.0), height[branch.concept]))
            continue
        (low_x, low_y), (high_x, high_y) = stems.pop(), stems.pop()
        x = _stem(branch.cost)
        path = f"M{high_x:.1f} {high_y:.1f}H{x:.1f}V{low_y:.1f}H{low_x:.1f}"
        lines.append(f'<path d="{path}" fill="none" stroke="currentColor"/>')
        stems.append((x, (high_y + low_y) / 2))
    return lines
