"""The measures that there are, and all about one of them: formula, source, a worked example."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from cranfield.answers import Answer
from cranfield.errors import UsageError, suggest
from cranfield.measures import ANNOTATION, RANKED, REGISTRY, SETS, Measure, measure
from cranfield.references import REFERENCES
from cranfield.validation import validate_params

if TYPE_CHECKING:
    from cranfield.evaluation.worked_example import Worked

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


def matches_filters(m: Measure, filters: Mapping[str, str]) -> bool:
    """Whether a measure stands where it is wanted in every dimension that is named."""
    for name, value in filters.items():
        if name not in DIMENSIONS:
            raise UsageError(
                f"no dimension {name!r}.{suggest(name, DIMENSIONS)} There are: "
                f"{', '.join(DIMENSIONS)}"
            )
        if value not in DIMENSIONS[name]:
            raise UsageError(f"{name}={value!r} is not one of {', '.join(DIMENSIONS[name])}")
    positions = dimensions(m)
    return all(positions[name] == value for name, value in filters.items())


DIRECTION = {True: "higher is better", False: "lower is better", None: "neither"}
_CUTOFFS = {"none": "", "optional": "[@k]", "required": "@k", "recall": "@r"}


@dataclass(frozen=True, repr=False, eq=False)
class MeasureCatalogue(Answer):
    """Every measure, and the sets of them that have a name."""

    command: ClassVar[str] = "measures"
    measures: tuple[Measure, ...]
    sets: Mapping[str, tuple[str, ...]]

    def payload(self, **_: Any) -> dict[str, Any]:
        """All that the declarations say, and the members of the sets."""
        return {
            "measures": [describe(m) for m in self.measures],
            "sets": {name: list(members) for name, members in self.sets.items()},
        }

    def headline(self) -> str:
        return f"{len(self.measures)} measures, {len(self.sets)} sets"


@dataclass(frozen=True, repr=False, eq=False)
class MeasureCard(Answer):
    """All about one measure, with an example that is worked out."""

    command: ClassVar[str] = "measures"
    measure: Measure
    worked: Worked | None = None

    def payload(self, **_: Any) -> dict[str, Any]:
        """What the declaration says, and the example."""
        facts = describe(self.measure)
        if self.worked is not None:
            facts["worked_example"] = {"given": self.worked.given, "values": self.worked.values}
        return {"measures": [facts]}

    def headline(self) -> str:
        return f"{self.measure}: {self.measure.title}"


@validate_params
def list_measures(**filters: str) -> MeasureCatalogue:
    """Every measure of rankings and of annotation, and the sets of them.

    `direction=`, `prediction=`, `relevance=` and `score=` keep those that stand there:
    "concept", "example" or "topic"; "binary" or "ranked"; "binary" or "graded"; "binary" or
    "semantic".

    >>> [m.name for m in list_measures(score="semantic", prediction="ranked").measures]
    ['ParentOneAccuracy', 'SRP']
    """
    matching = tuple(m for m in REGISTRY.values() if matches_filters(m, filters))
    return MeasureCatalogue(matching, {} if filters else all_sets())


@validate_params
def describe_measure(name: str | Measure) -> MeasureCard:
    """All about the measure of a name such as nDCG, `nDCG@10` or MAP."""
    declaration = name if isinstance(name, Measure) else REGISTRY.get(name) or measure(name)
    # The examples are computed with arrays, which the list of measures does without.
    from cranfield.evaluation.worked_example import worked_example

    return MeasureCard(declaration, worked_example(declaration))


def all_sets() -> dict[str, tuple[str, ...]]:
    """The sets of ranked measures and of measures of annotation; both have one called `all`."""
    ranked = {name: members for name, members in SETS.items() if name != "all"}
    # The measures of labels work on arrays, which the choices of the command do without.
    from cranfield.measures.labels.registry import LABEL_SETS

    annotation = {name: members for name, members in LABEL_SETS.items() if name != "all"}
    return ranked | annotation | {"all": SETS["all"], "all (label)": LABEL_SETS["all"]}


def signature(m: Measure) -> str:
    """The name with its cutoff: P@k, iP@r, nDCG[@k]."""
    stem, dot, direction = m.name.partition(".")
    return f"{stem}{_CUTOFFS[m.cutoff]}{dot}{direction}"


def show_range(m: Measure) -> str:
    return "[" + ", ".join(f"{end:g}" for end in m.range) + "]"


def describe(m: Measure) -> dict[str, Any]:
    """All that a declaration says, as plain data."""
    reference = REFERENCES.get(m.source.key)
    registry = RANKED if m.name in RANKED else ANNOTATION
    return {
        "name": str(m),
        "mean_name": m.mean_label,
        "title": m.title,
        "family": m.family,
        "summary": m.summary,
        "formula": m.formula,
        "source": str(reference) if reference else m.source.key,
        "equations": m.source.equations,
        "deviation": m.source.deviation,
        "range": show_range(m),
        "direction": DIRECTION[m.higher_is_better],
        "higher_is_better": m.higher_is_better,
        "average": m.averaging,
        "dimensions": dimensions(m),
        "needs": sorted(m.needs),
        "ties": m.ties,
        "missing": m.missing,
        "undefined": m.undefined,
        "example": m.example,
        "trec_eval": m.trec_name,
        "also_called": [alias for alias, name in registry.aliases.items() if name == m.name],
        "params": {n: {"default": p.default, "doc": p.doc} for n, p in m.params.items()},
    }
