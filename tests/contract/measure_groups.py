"""Measures by what they need, and with every value that their parameters can have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cranfield.measures import REGISTRY, Measure, Param

# What measures may need, by the group whose properties are tested.
GROUPS = {
    "ranking": frozenset({"ranking", "judgements", "grades", "binary", "collection_size"}),
    # Judgements are people's own rankings or votes: tested with the readers of those.
    "opinions": frozenset({"ranking", "subjects", "votes"}),
    # Judgements of samples: tested with their reader in test_stratified.py.
    "samples": frozenset({"ranking", "strata"}),
    # Judgements with subtopics: tested in kernels/test_diversity.py.
    "subtopics": frozenset({"ranking", "subtopics"}),
    # Runs against a run: tested in golden/test_rbo.py.
    "reference": frozenset({"ranking", "reference"}),
    # Annotations of which some cells were judged: tested in test_pooled_labels.py.
    "cells": frozenset({"cells", "strata"}),
    # Boxes of items: tested in kernels/test_regions.py and test_regions_from_files.py.
    "regions": frozenset({"regions"}),
    # Runs that assign concepts: tested in test_labels_properties.py.
    "annotation": frozenset(
        {"labels", "confidences", "hierarchy", "costs", "grades", "probabilities"}
    ),
}
TEXTS = {"gain": ["grade", "exp", "binary", "1=3,2=9"]}
NUMBERS = (0, 0.25, 1, 0.5, 2, 3, 0.95, 4, 1.5, 10, 1e-7, 123456.75)


def groups_of(m: Measure) -> list[str]:
    return [
        name
        for name, known in GROUPS.items()
        if m.needs <= known and (name == "ranking") == ("judgements" in m.needs)
    ]


# Grades below go up to 4, and a measure with fewer levels refuses them.
PLAIN = [
    m.bind(levels=4) if "levels" in m.params else m
    for m in REGISTRY.values()
    if "ranking" in groups_of(m)
]


def cutoffs_of(m: Measure) -> list[float | None]:
    return {
        "none": [None],
        "optional": [None, 1, 3, 10, 1000],
        "required": [1, 3, 10, 1000],
        "recall": [0, 0.2, 0.5, 1],
    }[m.cutoff]


def values_of(name: str, param: Param) -> list[Any]:
    if param.choices:
        return list(param.choices)
    if param.kind is bool:
        return [False, True]
    if param.kind is str:
        return TEXTS.get(name, [param.default])
    numbers = [x for x in NUMBERS if param.low <= x <= param.high]
    return [int(x) for x in numbers if x == int(x)] if param.kind is int else numbers


def bindings(m: Measure) -> Iterator[Measure]:
    """The measure at every cutoff, and with every parameter changed alone and all together."""
    for at in cutoffs_of(m):
        plain = m.bind(at=at)
        yield plain
        for name, param in m.params.items():
            for value in values_of(name, param):
                yield plain.bind(**{name: value})
        yield plain.bind(**{n: values_of(n, p)[-1] for n, p in m.params.items()})
