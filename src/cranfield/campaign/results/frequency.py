"""How often concepts occur: against how well they are found, and in each split."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from cranfield.campaign.results.answer import Cell, ResultColumn, ResultPart, ResultTable
from cranfield.campaign.results.material import Material
from cranfield.campaign.results.order import better, sign, unit_measure
from cranfield.campaign.results.units import best_of_units
from cranfield.errors import NeedsError
from cranfield.stats.correlation import spearman

if TYPE_CHECKING:
    from cranfield.data.labels import LabelMatrix

LEAST_FOR_CORRELATION = 3


def frequency(material: Material, *, measure: str | None = None) -> ResultTable:
    """In how many items each concept is, against the best value that any run has for it."""
    truth = _truth(material)
    chosen = unit_measure(material, "concept", measure)
    scored = set(material.scores.units.get("item", ()))
    # A truth of all splits has items that no run was scored on.
    items = [i for i, item in enumerate(truth.items) if item in scored or not scored]
    counts = _counts(truth, items)
    rows: list[tuple[Cell, ...]] = [
        (best.unit, counts[best.unit], 100 * counts[best.unit] / len(items), best.value)
        for best in best_of_units(material, chosen)
        if best.unit in counts
    ]
    rows.sort(key=lambda row: -float(row[1] or 0))
    facts: dict[str, object] = {"measure": str(chosen), "items": len(items)}
    if len(rows) >= LEAST_FOR_CORRELATION:
        columns = np.array([[float(row[1] or 0), float(row[3] or 0)] for row in rows])
        found = spearman(columns[:, 0], sign(chosen) * columns[:, 1])
        known = not math.isnan(found.value)
        facts["spearman"] = float(found.value) if known else None
        facts["p"] = float(found.p) if known else None
    title = f"Frequency of concepts against their best {chosen}"
    part = ResultPart(
        "concepts",
        title,
        (
            ResultColumn("concept", numeric=False, link="concept"),
            ResultColumn("items", places=0),
            ResultColumn("percent", "%", places=1),
            ResultColumn(str(chosen), f"best {chosen}", better=better(chosen)),
        ),
        tuple(rows),
        _said(facts),
    )
    return ResultTable("frequency", title, "No Figure 10.3", (part,), facts)


def _said(facts: dict[str, object]) -> tuple[str, ...]:
    rho = facts.get("spearman")
    if not isinstance(rho, float):
        return ()
    return (f"Spearman's rho of frequency and goodness: {rho:.3f} (p = {facts['p']:.3g})",)


def occurrence(material: Material) -> ResultTable:
    """In what share of the items of each split every concept is."""
    truth = _truth(material)
    at = {item: i for i, item in enumerate(truth.items)}
    splits = {
        name: [at[item] for item in items if item in at] for name, items in material.splits.items()
    }
    splits = {name: rows for name, rows in splits.items() if rows} or {
        "all": list(range(len(truth.items)))
    }
    counts = {name: _counts(truth, rows) for name, rows in splits.items()}
    rows: list[tuple[Cell, ...]] = [
        (concept, *(100 * counts[name][concept] / len(splits[name]) for name in splits))
        for concept in truth.concepts
    ]
    columns = (
        ResultColumn("concept", numeric=False, link="concept"),
        *(ResultColumn(name, f"{name} %", places=1) for name in splits),
    )
    sizes = ", ".join(f"{name}: {len(rows)} items" for name, rows in splits.items())
    left = [name for name in material.splits if name not in splits]
    notes = [sizes] + ([f"the truth has no item of {', '.join(left)}"] if left else [])
    title = "Occurrence of concepts per split"
    part = ResultPart("concepts", title, columns, tuple(rows), tuple(notes))
    return ResultTable("occurrence", title, "No Figure 10.4", (part,))


def _truth(material: Material) -> LabelMatrix:
    from cranfield.data.labels import LabelMatrix

    if not isinstance(material.truth, LabelMatrix):
        why = "is sealed" if material.task == "labels" else "has no concepts"
        raise NeedsError(f"this table needs the truth, which {why} here (released=True shows it)")
    return material.truth


def _counts(truth: LabelMatrix, rows: list[int]) -> dict[str, int]:
    """In how many of some items each concept is."""
    from cranfield.data.defaults import DEFAULT_THRESHOLD

    labels = truth.with_threshold(DEFAULT_THRESHOLD).labels
    sums = np.asarray(labels[rows].sum(axis=0)).ravel()  # type: ignore[index]
    return {concept: int(n) for concept, n in zip(truth.concepts, sums, strict=True)}
