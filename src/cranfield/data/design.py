"""How units were sampled."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Design:
    """For every unit by name its cluster and its stratum ("" where there is none) and the
    probability with which it was chosen. Units are topics, or items of annotations."""

    units: tuple[str, ...]
    clusters: tuple[str, ...]
    strata: tuple[str, ...]
    probabilities: tuple[float, ...]
    source: str = "the design"
