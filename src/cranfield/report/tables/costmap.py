"""Cost maps as tables and drawn: nearest concepts, a heat map, a dendrogram, as text and page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cranfield.data.costmap import CostMap
from cranfield.relatedness.cost_maps import DIFFERENCES, CostMapView, MapComparison
from cranfield.report.charts.costmaps import cost_map
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.render import html_table, still_page

_SHADES = " ░▒▓█"  # far to near
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
    """A page with the heat map beside the dendrogram, in one file without scripts."""
    return still_page(
        view.costs.name,
        "<p>The stronger the colour, the nearer. The tree joins concepts at their average cost.</p>"
        f"<figure>{cost_map(view).to_svg(standalone=False)}</figure>{html_table(nearest)}",
    )
