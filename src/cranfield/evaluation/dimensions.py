"""Measures by the dimensions in which they differ (No 4.3, Figure 4.1 and Table 4.3).

*Direction*: whether a value belongs to a concept, an example (item) or a topic. *Prediction*:
whether sets or rankings are judged. *Relevance*: whether the truth is binary or graded. *Score*:
whether a wrong prediction is wrong once and for all, or by how far it is from the truth (4.3.2).
"""

from __future__ import annotations

from collections.abc import Mapping

from cranfield.errors import UsageError, suggest
from cranfield.measures import RANKED, Measure

DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    "direction": ("concept", "example", "topic"),
    "prediction": ("binary", "ranked"),
    "relevance": ("binary", "graded"),
    "score": ("binary", "semantic"),
}
_PER_CONCEPT = "annotation, per concept"
# Families of rankings that look at the set of what was retrieved, where no cutoff is given.
_OF_SETS = ("contingency table", "counts")
_GRADED = frozenset({"grades", "subjects", "votes"})
_SEMANTIC = frozenset({"costs", "hierarchy"})


def dimensions(m: Measure) -> dict[str, str]:
    """Where a measure stands in each dimension.

    >>> from cranfield.measures import measure
    >>> dimensions(measure("SRP"))["score"], dimensions(measure("P@10.concept"))["prediction"]
    ('semantic', 'ranked')
    """
    if m.name in RANKED:
        direction = "topic"
        of_a_set = m.family in _OF_SETS or m.name.startswith("Set")
    else:
        direction = "concept" if m.family == _PER_CONCEPT else "example"
        of_a_set = "labels" in m.needs
    return {
        "direction": direction,
        "prediction": "binary" if of_a_set and m.at is None else "ranked",
        "relevance": "graded" if m.needs & _GRADED else "binary",
        "score": "semantic" if m.needs & _SEMANTIC else "binary",
    }


def fits(m: Measure, wanted: Mapping[str, str]) -> bool:
    """Whether a measure stands where it is wanted in every dimension that is named."""
    for name, value in wanted.items():
        if name not in DIMENSIONS:
            raise UsageError(
                f"no dimension {name!r}.{suggest(name, DIMENSIONS)} There are: "
                f"{', '.join(DIMENSIONS)}"
            )
        if value not in DIMENSIONS[name]:
            raise UsageError(f"{name}={value!r} is not one of {', '.join(DIMENSIONS[name])}")
    found = dimensions(m)
    return all(found[name] == value for name, value in wanted.items())
