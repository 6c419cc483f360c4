"""A cost map: every pair of concepts as a cell, and the tree that joins them."""

from __future__ import annotations

from cranfield.relatedness.cost_maps import CostMapView
from cranfield.report.charts.model import Axis, Cell, Chart, Panel, Ramp
from cranfield.report.charts.plots import Join, tree_lines
from cranfield.validation import validate_params


@validate_params
def cost_map(view: CostMapView) -> Chart:
    """The heat map, strong in colour where concepts are near, with the dendrogram at its right."""
    concepts, rows = view.costs.concepts, view.costs.costs.tolist()
    names = tuple(concepts[i] for i in view.order)
    cells = tuple(
        Cell(column, row, rows[i][j], said=f"{concepts[i]}, {concepts[j]}: {rows[i][j]:.3f}")
        for row, i in enumerate(view.order)
        for column, j in enumerate(view.order)
    )
    groups: list[tuple[str, ...]] = [(concept,) for concept in concepts]
    joins: list[Join] = []
    for first, second, cost in view.merges:
        joins.append((groups[first], groups[second], cost))
        groups.append((*groups[first], *groups[second]))
    heat = Panel(Axis("", "other", names=names, top=True), (cells,))
    tree = Panel(Axis("average cost", "cost", (0.0, 1.0)), (tuple(tree_lines(joins, names)),), 0.45)
    return Chart(
        view.costs.name,
        f"The costs between {len(names)} concepts, strong in colour where they are near; the tree "
        "joins them at their average cost.",
        (heat, tree) if joins else (heat,),
        Axis("", "concept", names=names),
        ramp=Ramp("cost", 0.0, 1.0, "heat", reverse=True),
    )
