"""Names of measures of either kind, rankings or annotation, in one list."""

from __future__ import annotations

from collections.abc import Iterable

from cranfield.errors import MeasureError, NeedsError
from cranfield.measures import SETS, Measure, optional_measures, parse_measures
from cranfield.measures import measure as parse
from cranfield.measures.labels.registry import LABEL_REGISTRY, LABEL_SETS
from cranfield.registry import split_names


def any_measures(wanted: str | Measure | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """Measures from names and sets of both kinds; each once, in the order given."""
    listed = [wanted] if isinstance(wanted, str | Measure) else list(wanted)
    chosen: dict[Measure, None] = {}
    for one in listed:
        for name in split_names(one) if isinstance(one, str) else [one]:
            for found in _members(name):
                chosen[found.check_complete()] = None
    if not chosen:
        raise MeasureError("no measure was asked for. List them with: cranfield measures")
    return tuple(chosen)


def _members(name: str | Measure) -> Iterable[Measure]:
    """A measure, or those of a set; `all` is the set of rankings."""
    if isinstance(name, Measure):
        return (name,)
    if name in SETS:
        return possible_measures(name, collection_size=2)
    return (parse(member) for member in LABEL_SETS.get(name, (name,)))


def possible_measures(
    wanted: str | Measure | Iterable[str | Measure], *, collection_size: int | None = None
) -> tuple[Measure, ...]:
    """Measures of rankings; of the set `all` those that have what they need."""
    given = [wanted] if isinstance(wanted, str | Measure) else list(wanted)
    optional = optional_measures(given)
    return tuple(
        m for m in parse_measures(given) if m not in optional or _has_needs(m, collection_size)
    )


def _has_needs(measure: Measure, collection_size: int | None) -> bool:
    """Tried on a run of one item that misses another one."""
    from cranfield.evaluation.ranked import evaluate

    try:
        evaluate(
            {"t": {"a": 1, "b": 1}},
            {"run": {"t": {"a": 1.0}}},
            [measure],
            jobs=1,
            collection_size=collection_size and 2,
        )
    except NeedsError:
        return False
    return True


def is_annotation(measure: Measure) -> bool:
    return measure.name in LABEL_REGISTRY
