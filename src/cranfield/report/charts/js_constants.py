"""What the script that draws charts in a page shares with the drawing in Python."""

from __future__ import annotations

from typing import Any

from cranfield.report.charts import helpers, layout, model, scales, svg

SIZES: tuple[str, ...] = (
    "LINE",
    "ROW",
    "CLOSE_ROW",
    "PLOT",
    "TALL",
    "SQUARE",
    "GAP",
    "EDGE",
    "NAME",
    "ENTRY",
)
SIZES += ("NARROW", "RAMP", "MARK", "STEEP", "MANY", "LARGER", "FARTHEST")


def look() -> dict[str, Any]:
    """Sizes, dashes, markers and steps; colours are in the style sheet."""
    sizes = {name: getattr(layout, name) for name in SIZES}
    sizes |= {"PAD": scales.PAD, "MOST_LABELLED": svg.MOST_LABELLED}
    sizes["MOST_NAMES"] = helpers.MOST_NAMES
    return {
        "sizes": sizes,
        "dashes": model.DASHES,
        "markers": model.MARKERS,
        "shapes": svg.SHAPES,
        "hues": len(model.HUES["light"]),
        "steps": model.STEPS,
        "letters": {
            "narrow": layout.NARROW_LETTERS,
            "wide": layout.WIDE_LETTERS,
            "sizes": layout.LETTER_SIZES,
        },
    }
