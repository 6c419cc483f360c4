"""The official measures of the Photo Annotation tasks (No 10.4, 10.9); no numpy to know them."""

from __future__ import annotations

OFFICIAL: dict[str, tuple[str, ...]] = {
    "imageclef2009": ("EER", "AUC", "OS"),
    "imageclef2010": ("iAP.concept", "F.example", "OS", "EER", "AUC"),
    "imageclef2011": ("iAP.concept", "F.example", "SRP"),
}
# And the set of all measures of annotation.
ALL = "all"
SET_NAMES = (*OFFICIAL, ALL)
