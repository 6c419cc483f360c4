"""A cost map drawn: nearest concepts, a heat map and a dendrogram, as text and as a page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cranfield.data.costmap import CostMap
from cranfield.report.document import Cell, Column, Table

_SHADES = " ░▒▓█"  # far to near
_CELL, _NAMES, _TREE = 14, 170, 220


def nearest_table(costs: CostMap, count: int, only: Sequence[str] = ()) -> Table:
    """The nearest concepts of each concept, with their costs."""
    columns = [Column("concept", numeric=False)]
    for k in range(1, min(count, len(costs.concepts) - 1) + 1):
        columns += [Column(f"nearest {k}", numeric=False), Column("cost", digits=3)]
    rows: list[list[Cell]] = []
    for i, concept in enumerate(costs.concepts):
        if only and concept not in only:
            continue
        order = [int(j) for j in np.argsort(costs.costs[i], kind="stable") if j != i]
        row: list[Cell] = [concept]
        for j in order[:count]:
            far = costs.costs[i, j] >= 1.0
            # At cost 1 nothing is near, and which concept comes first is chance.
            row += [None, None] if far else [costs.concepts[j], float(costs.costs[i, j])]
        rows.append(row)
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

    def leaves(self) -> list[int]:
        if not self.parts:
            return [self.concept]
        return [leaf for part in self.parts for leaf in part.leaves()]


def cluster(costs: CostMap) -> Branch:
    """The concepts joined one by one at the least average cost."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    branches = [Branch(0.0, (), i) for i in range(len(costs.concepts))]
    if len(branches) < 2:
        return branches[0]
    for first, second, cost, _ in linkage(squareform(costs.costs, checks=False), "average"):
        branches.append(Branch(float(cost), (branches[int(first)], branches[int(second)])))
    return branches[-1]


def dendrogram_text(costs: CostMap, tree: Branch) -> list[str]:
    """The clusters as lines of text, each with the cost at which it joins."""

    def lines(branch: Branch) -> list[str]:
        if not branch.parts:
            return [f" {costs.concepts[branch.concept]}"]
        upper, lower = (lines(part) for part in branch.parts)
        head = f"{branch.cost:.2f} "
        blank = " " * len(head)
        return (
            [f"{head}┬{upper[0]}"]
            + [f"{blank}│{line}" for line in upper[1:]]
            + [f"{blank}└{lower[0]}"]
            + [f"{blank} {line}" for line in lower[1:]]
        )

    return lines(tree)


def heat_map_text(costs: CostMap, tree: Branch) -> list[str]:
    """The matrix in shades, concepts in the order of the clusters; dark is near."""
    order = tree.leaves()
    width = max(len(costs.concepts[i]) for i in order)
    lines = []
    for i in order:
        level = np.minimum((1.0 - costs.costs[i, order]) * len(_SHADES), len(_SHADES) - 1)
        shades = "".join(_SHADES[int(k)] * 2 for k in level)
        lines.append(f"{costs.concepts[i]:>{width}} {shades.rstrip()}")
    return lines


def costmap_page(costs: CostMap, tree: Branch) -> str:
    """A page with the dendrogram beside the heat map, in one file without scripts."""
    order = tree.leaves()
    size = len(order) * _CELL
    left, top = _TREE + _NAMES, _NAMES
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + size + 10}" '
        f'height="{top + size + 10}" font-family="system-ui,sans-serif" font-size="11" role="img" '
        f'aria-label="heat map of {html.escape(costs.name)}">'
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
                f'fill="hsl(215 65% {30 + 66 * cost:.0f}%)"><title>{name}, '
                f"{html.escape(costs.concepts[j])}: {cost:.3f}</title></rect>"
            )
    _draw_tree(tree, {leaf: top + (k + 0.5) * _CELL for k, leaf in enumerate(order)}, parts)
    parts.append("</svg>")
    return (
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width, initial-scale=1'>"
        "<meta http-equiv=Content-Security-Policy "
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{html.escape(costs.name)}</title><style>:root{{color-scheme:light dark}}"
        "body{font:16px/1.5 system-ui,sans-serif;margin:2rem}</style></head><body><main>"
        f"<h1>{html.escape(costs.name)}</h1><p>Dark is near. The tree joins concepts at their "
        f"average cost, from 0 (right) to 1 (left).</p>{''.join(parts)}</main></body></html>\n"
    )


def _draw_tree(branch: Branch, height: dict[int, float], parts: list[str]) -> tuple[float, float]:
    """Draws a branch, and says where its stem begins."""
    if not branch.parts:
        return float(_TREE - 4), height[branch.concept]
    ends = [_draw_tree(part, height, parts) for part in branch.parts]
    x = (_TREE - 4) - branch.cost * (_TREE - 14)
    path = f"M{ends[0][0]:.1f} {ends[0][1]:.1f}H{x:.1f}V{ends[1][1]:.1f}H{ends[1][0]:.1f}"
    parts.append(f'<path d="{path}" fill="none" stroke="currentColor"/>')
    return x, (ends[0][1] + ends[1][1]) / 2
