"""Names of measures of either kind, rankings or annotation, in one list."""

from __future__ import annotations

from collections.abc import Iterable

from cranfield.errors import MeasureError
from cranfield.measures import SETS, Measure
from cranfield.measures import measure as parse
from cranfield.measures._parse import split_names
from cranfield.measures.label_registry import LABEL_REGISTRY, LABEL_SETS


def any_measures(wanted: str | Measure | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """Measures from names and sets of both kinds; each once, in the order given."""
    listed = [wanted] if isinstance(wanted, str | Measure) else list(wanted)
    chosen: dict[Measure, None] = {}
    for one in listed:
        for name in split_names(one) if isinstance(one, str) else [one]:
            # `all` is the set of rankings; the sets of campaigns have names of their own.
            members = (LABEL_SETS | SETS).get(name, (name,)) if isinstance(name, str) else (name,)
            for member in members:
                found = parse(member) if isinstance(member, str) else member
                chosen[found.check_complete()] = None
    if not chosen:
        raise MeasureError("no measure was asked for. List them with: cranfield measures")
    return tuple(chosen)


def is_annotation(measure: Measure) -> bool:
    return measure.name in LABEL_REGISTRY
