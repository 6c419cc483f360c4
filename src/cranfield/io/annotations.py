"""A truth and runs of annotation in any form, with names of concepts and thresholds given apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from cranfield.data.labels import LabelMatrix, Threshold
from cranfield.errors import UsageError
from cranfield.io.coerce import LabelsForm, is_file
from cranfield.io.files import run_name
from cranfield.io.labels import read_concepts, read_labels, read_threshold
from cranfield.validation import describe_value

# Names of concepts, or the file that lists them.
ConceptsForm: TypeAlias = str | Path | Sequence[str]


def read_truth(source: LabelsForm, *, concepts: ConceptsForm | None = None) -> LabelMatrix:
    """The true concepts of items; `concepts` names all of them, also those that no item has."""
    if not is_file(source):
        return LabelMatrix.of(source, name="truth")
    return read_labels(source, concepts=_names(concepts))


def read_annotation(
    source: LabelsForm,
    name: str,
    *,
    concepts: ConceptsForm | None = None,
    threshold: Threshold | str | None = None,
) -> LabelMatrix:
    """A run under its name; `concepts` names columns without names, `threshold` makes labels."""
    run = read_labels(source) if is_file(source) else LabelMatrix.of(source, name=name)
    names = _names(concepts)
    if names is not None and not run.named:
        run = run.renamed(names)
    if threshold is not None:
        limit = read_threshold(threshold) if isinstance(threshold, str) else threshold
        run = run.with_threshold(limit)
    return replace(run, name=name)


def _names(concepts: ConceptsForm | None) -> tuple[str, ...] | None:
    if concepts is None:
        return None
    if isinstance(concepts, str | Path):
        return read_concepts(concepts)
    if not isinstance(concepts, Iterable) or getattr(concepts, "ndim", 1) == 0:
        raise UsageError(
            f"concepts={describe_value(concepts)} is neither a file nor a list of names"
        )
    return tuple(concepts)


def name_annotations(runs: Any) -> list[tuple[str, Any]]:
    """Annotations with their names: those of a mapping, of files, or of the objects."""
    if isinstance(runs, Mapping):
        return list(runs.items())
    if is_file(runs) or not isinstance(runs, Iterable) or getattr(runs, "ndim", 1) == 0:
        raise UsageError(
            f"runs={describe_value(runs)} is no list of annotations, nor {{name: annotation}}"
        )
    return [(_name(run, number), run) for number, run in enumerate(runs, 1)]


def _name(run: Any, number: int) -> str:
    return run_name(run) if is_file(run) else str(getattr(run, "name", f"run{number}"))
