"""Inputs that can be read only once are read when a material is made, for workers cannot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from cranfield.io.annotations import name_annotations
from cranfield.io.costmap import read_agreement, read_costmap
from cranfield.io.files import can_be_read_again
from cranfield.io.forms import coerce_labels, is_file
from cranfield.io.labels import read_concepts, read_threshold
from cranfield.io.ontology import read_ontology


def read_once(source: Any, read: Callable[[Any], Any]) -> Any:
    """A file stays a name; a pipe and standard input become what they hold."""
    return read(source) if is_file(source) and not can_be_read_again(source) else source


def annotations_once(runs: Any) -> list[tuple[str, Any]]:
    """Annotations under their names, files as names and pipes as matrices."""
    return [
        (name, read_once(run, partial(coerce_labels, name=name)))
        for name, run in name_annotations(runs)
    ]


def label_options_once(options: Mapping[str, Any]) -> dict[str, Any]:
    """What is known beside annotations: {name: cost map} as pairs, for a dict is no key."""
    given = dict(options)
    ontology: Any = given.get("ontology")
    rules: Any = given.get("rules")
    costs = given.get("costmap")
    if isinstance(ontology, str | Path) and rules is not None and not can_be_read_again(rules):
        given |= {"ontology": read_ontology(ontology, rules=rules), "rules": None}
    else:
        given["ontology"] = read_once(ontology, read_ontology)
    if isinstance(costs, Mapping):
        given["costmap"] = tuple((n, read_once(file, read_costmap)) for n, file in costs.items())
    else:
        given["costmap"] = read_once(costs, read_costmap)
    readers = {"agreement": read_agreement, "concepts": read_concepts, "threshold": read_threshold}
    for name, read in readers.items():
        given[name] = read_once(given.get(name), read)
    return given
