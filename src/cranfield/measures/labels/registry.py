"""Every measure of annotation, and the sets of them that campaigns used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from cranfield.errors import MeasureError
from cranfield.measures import ANNOTATION, POOLED, RANKED, SETS
from cranfield.measures.base import Measure
from cranfield.measures.labels import (
    chance,
    concept,
    example,
    graded,
    hierarchy,
    ontology,
    probability,
    ranked,
)
from cranfield.measures.parse import listed_measures
from cranfield.options import ALL_LABEL_MEASURES, OFFICIAL_SETS
from cranfield.registry import split_names

LABEL_MEASURES: tuple[Measure, ...] = (
    *concept.DECLARED,
    *chance.DECLARED,
    *example.DECLARED,
    *ranked.DECLARED,
    *graded.DECLARED,
    *probability.DECLARED,
    *hierarchy.DECLARED,
    *ontology.DECLARED,
)
LABEL_REGISTRY = ANNOTATION

LABEL_SETS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **OFFICIAL_SETS,
        ALL_LABEL_MEASURES: (
            "P.concept",
            "P.concept(mean='micro')",
            "P@10.concept",
            *(m.name for m in LABEL_MEASURES if m.name != "P.concept"),
        ),
    }
)


# Which costs the campaigns' measures had (No 10.4.2, 10.9): the set's own have another meaning.
OFFICIAL_COSTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"imageclef2010": ("OS", "fcs"), "imageclef2011": ("SRP", "fts")}
)


def parse_label_measures(names: str | Measure | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """Measures from a text of names and sets, or a sequence of names and declarations."""
    parsed: dict[Measure, None] = {}
    for entry in listed_measures(names):
        if isinstance(entry, Measure):
            parsed[_known(entry)] = None
            continue
        for name in LABEL_REGISTRY.members(entry):
            parsed[_named(name)] = None
    if not parsed:
        raise MeasureError("no measure was asked for. List them with: cranfield measures")
    return tuple(parsed)


def without_needs(names: str, lacking: frozenset[str]) -> tuple[str, tuple[str, ...]]:
    """The set `all` in a text spelt out without what lacks its needs; those left out as well."""
    usable: list[str] = []
    dropped: list[str] = []
    for name in split_names(names):
        if name != "all":
            usable.append(name)
            continue
        for member in LABEL_SETS["all"]:
            needs = LABEL_REGISTRY.find(member).needs
            (dropped if needs & lacking else usable).append(member)
    return " ".join(usable), tuple(dropped)


def _named(name: str) -> Measure:
    if name.partition("(")[0] in POOLED:
        raise MeasureError(
            f"{name} reads a truth of which some cells were judged: use cranfield eval labels with "
            "that file (in Python: evaluate_pooled_labels)"
        )
    if name in SETS:
        raise MeasureError(
            f"{name} is a set of measures of rankings: use cranfield eval (in Python: evaluate)"
        )
    try:
        return LABEL_REGISTRY.find(name)
    except MeasureError:
        try:
            ranked = RANKED.find(name)
        except MeasureError:
            ranked = None
        if ranked is None:
            raise
    alike = [m for m in LABEL_REGISTRY if m.partition(".")[0] == ranked.name]
    instead = f", or {' or '.join(alike)}" if alike else ""
    raise MeasureError(
        f"{ranked} is a measure of rankings: use cranfield eval (in Python: evaluate){instead}"
    )


def _known(measure: Measure) -> Measure:
    if measure.name not in LABEL_REGISTRY:
        raise MeasureError(f"{measure} is not a measure of annotation")
    return measure.check_complete()
