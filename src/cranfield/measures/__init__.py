"""Measures, a chapter of families per file; `REGISTRY` is the list of all of them.

The measures of annotation compute with arrays: their families are loaded when one is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from cranfield.errors import MeasureError
from cranfield.measures.base import Measure, Param
from cranfield.measures.own import OWN
from cranfield.measures.parse import (
    BARE_ALIASES,
    LABEL_ALIASES,
    RANKED_ALIASES,
    REGION_ALIASES,
    listed_measures,
)
from cranfield.measures.ranked import (
    contingency,
    diversity,
    extensions,
    gain,
    image,
    incomplete,
    precision,
    shrec,
    smart,
    without_judgements,
)
from cranfield.references import Source
from cranfield.registry import ChainRegistry, Registry, Value

FAMILIES = (
    precision,
    gain,
    incomplete,
    contingency,
    smart,
    image,
    shrec,
    diversity,
    extensions,
    without_judgements,
)

RANKED = Registry(
    Measure,
    lambda: (m for family in FAMILIES for m in family.DECLARED),
    RANKED_ALIASES,
    lambda: SETS,
    BARE_ALIASES,
    lambda: (OWN,),
)


def _annotation() -> Iterable[Measure]:
    from cranfield.measures.labels.registry import LABEL_MEASURES

    return LABEL_MEASURES


def _annotation_sets() -> Mapping[str, Iterable[str]]:
    from cranfield.measures.labels.registry import LABEL_SETS

    return LABEL_SETS


def _pooled() -> Iterable[Measure]:
    from cranfield.measures.labels.ranked import RANKED_AS

    return RANKED_AS


def _regions() -> Iterable[Measure]:
    from cranfield.measures.regions import DECLARED

    return DECLARED


def _region_sets() -> Mapping[str, Iterable[str]]:
    from cranfield.measures.regions import REGION_SETS

    return REGION_SETS


ANNOTATION = Registry(
    Measure, _annotation, LABEL_ALIASES, _annotation_sets, unlisted=lambda: (OWN,)
)
# Annotations of which only some cells were judged.
POOLED = Registry(Measure, _pooled)
# Boxes that runs place in items.
REGIONS = Registry(Measure, _regions, REGION_ALIASES, _region_sets)
# All measures, ranked ones first.
REGISTRY = ChainRegistry(RANKED, ANNOTATION, POOLED, REGIONS)
_OF_TASK = {"ranked": RANKED, "labels": ANNOTATION, "regions": REGIONS}

_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_RECALLS = ("0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1")

_LEVELS = ("rel=2, ", "")  # highly relevant, then relevant
_SHREC_SETS = ("ShrecAP", "FirstTier", "SecondTier", "SetP", "SetR", "TP", "FP", "FN", "TN")
_SHREC_GAINS = (("CG", ""), ("DCG", "discount='jk', "), ("nCG", ""), ("nDCG", "discount='jk', "))
# Those of the set that leave out topics without relevant items of themselves.
_DEFINED_THERE = ("FirstTier", "SecondTier", "ShrecAP")


def _out(name: str, params: str) -> str:
    """A name of the set shrec, whose means are all over the topics that have relevant items."""
    inside = params.rstrip(", ") if name in _DEFINED_THERE else f"{params}empty='out'"
    return f"{name}({inside})" if inside else name


# What the evaluation of runs against judgements can offer.
_OFFERED = {"ranking", "judgements", "grades", "collection_size", "strata", "subtopics"}

# Sets that `label_registry` has, where the measures of annotation are.
ANNOTATION_SETS = ("imageclef2009", "imageclef2010", "imageclef2011")

_ELSEWHERE = "use cranfield eval labels (in Python: evaluate_labels)"
_OF_BOXES = "use cranfield eval regions (in Python: evaluate_regions)"

# Members of a set that are left out when their needs are not met.
OPTIONAL: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"shrec": tuple(_out("TN", level) for level in _LEVELS)}
)

# Sets of measures under one name.
SETS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "trec": (
            "NumRet",
            "NumRel",
            "NumRelRet",
            "AP",
            "AP(mean='geometric')",
            "Rprec",
            "Bpref",
            "RR",
            *(f"iP@{r}(version=10)" for r in _RECALLS),
            *(f"P@{k}" for k in _CUTOFFS),
        ),
        "image": ("NMRR", "NAR", "MNRO", "AP", "P@10", "P@20"),
        "smart": (
            "NormRecall",
            "NormRecall(scale=5)",
            "NormPrecision",
            "RankRecall",
            "LogPrecision",
        ),
        "shrec": (
            # The first orders the runs: one number of all ranks and both levels.
            "ADR",
            *(_out(name, level) for name in _SHREC_SETS for level in _LEVELS),
            *(
                _out(f"{name}@{k}", discount)
                for name, discount in _SHREC_GAINS
                for k in (5, 10, 25, 50, 100)
            ),
        ),
        # Of these, evaluation leaves out those whose needs are not met, and says so. Whether Rank
        # has what it needs depends on the run.
        "all": tuple(
            {"required": f"{m.name}@10", "recall": f"{m.name}@0.5"}.get(m.cutoff, m.name)
            for m in RANKED.values()
            if m.needs <= _OFFERED and m.name != "Rank"
        ),
    }
)


def measure(name: str) -> Measure:
    """The measure that a name such as `nDCG@10` or `SetF(beta=2)` stands for.

    >>> str(measure("nDCG(gain='exp')@10"))
    "nDCG@10(gain='exp')"
    """
    return REGISTRY.find(name)


def measure_for(name: str, task: str) -> Measure:
    """The measure of a name where "ranked" runs, "labels" or "regions" are evaluated.

    MAP is of rankings and of annotations.

    >>> str(measure_for("F1", "labels")), str(measure_for("F1", "ranked"))
    ('F.example', 'SetF')
    """
    try:
        return _OF_TASK[task].find(name)
    except MeasureError:
        return measure(name)


def rebound(name: str, at: float | None, params: Mapping[str, Value]) -> Measure:
    """A measure by its canonical name and what it is bound to, as it comes out of a pickle."""
    return REGISTRY[name].bind(at=at, **params)


def names_measures(text: str) -> bool:
    """Whether a text names measures of any kind, or sets of them."""
    from cranfield.measures.labels.registry import parse_label_measures
    from cranfield.measures.regions import parse_region_measures

    for parse in (parse_measures, parse_label_measures, parse_region_measures):
        try:
            return bool(parse(text))
        except MeasureError:
            continue
    return False


def parse_measures(measures: str | Measure | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """Ranked measures from names, sets of them, or a mixture; each once, in the order given."""
    return parse_with_optional(measures)[0]


def parse_with_optional(
    measures: str | Measure | Iterable[str | Measure],
) -> tuple[tuple[Measure, ...], frozenset[Measure]]:
    """Ranked measures, and those of them that only a set names, which can do without them."""
    optional: dict[Measure, bool] = {}
    for entry in listed_measures(measures):
        names: Iterable[str | Measure] = (
            SETS.get(entry, (entry,)) if isinstance(entry, str) else (entry,)
        )
        dispensable = names if entry == "all" else OPTIONAL.get(str(entry), ())
        for name in names:
            parsed = _ranked(name)
            optional[parsed] = name in dispensable and optional.get(parsed, True)
    if not optional:
        raise MeasureError("no measure was asked for. List them with: cranfield measures")
    return tuple(optional), frozenset(m for m, spared in optional.items() if spared)


def _ranked(name: str | Measure) -> Measure:
    """A measure of rankings; others are known by name, and it is said where they belong."""
    if name in ANNOTATION_SETS:
        raise MeasureError(f"{name} is a set of measures of annotation: {_ELSEWHERE}")
    try:
        declaration = RANKED.find(name) if isinstance(name, str) else name
    except MeasureError:
        declaration = measure(str(name))
    if declaration.name in RANKED:
        return declaration
    if declaration.name in REGIONS:
        raise MeasureError(f"{declaration} is a measure of regions: {_OF_BOXES}")
    raise MeasureError(f"{declaration} is a measure of annotation: {_ELSEWHERE}")


def optional_measures(measures: str | Measure | Iterable[str | Measure]) -> frozenset[Measure]:
    """Those that were asked for as members of a set that can do without them."""
    return parse_with_optional(measures)[1]


__all__ = [
    "ANNOTATION",
    "POOLED",
    "RANKED",
    "REGIONS",
    "REGISTRY",
    "SETS",
    "Measure",
    "Param",
    "Source",
    "measure",
    "optional_measures",
    "parse_measures",
    "parse_with_optional",
]
