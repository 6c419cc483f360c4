"""A run brought into the order of the truth, and what did not fit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cranfield.data.labels import LabelMatrix, Matrix, some_names
from cranfield.errors import InputError, Problem, suggest


@dataclass(frozen=True)
class Alignment:
    """A run in the order of the truth; items or concepts it lacks are never predicted."""

    run: LabelMatrix
    missing_items: int
    missing_concepts: int
    notes: tuple[str, ...]


def align(run: LabelMatrix, truth: LabelMatrix) -> Alignment:
    """Rows and columns of a run by the names of the truth, whatever their order was."""
    if not run.named:
        run = run.renamed(truth.concepts)
    elif not truth.named and len(run.concepts) == len(truth.concepts):
        # The truth has positions only; the names of the run can say no more than those.
        run = replace(run, concepts=truth.concepts)
    if run.items == truth.items and run.concepts == truth.concepts:
        return Alignment(run, 0, 0, ())
    columns = _positions(run.concepts, truth.concepts)
    _refuse_unknown_concepts(run, truth)
    rows = _positions(run.items, truth.items)
    if np.all(rows < 0):
        raise InputError.single(
            run.where,
            f"has none of the items of the truth (the truth has {truth.items[0]!r}, "
            f"the run has {run.items[0]!r})",
        )
    lowest = -np.inf if run.free else 0.0
    aligned = run.map(
        lambda m: _taken(m, rows, columns, lowest), items=truth.items, concepts=truth.concepts
    )
    return Alignment(
        aligned, int((rows < 0).sum()), int((columns < 0).sum()), _notes(run, truth, rows, columns)
    )


def _positions(names: tuple[str, ...], wanted: tuple[str, ...]) -> NDArray[np.intp]:
    where = {name: i for i, name in enumerate(names)}
    return np.array([where.get(name, -1) for name in wanted], dtype=np.intp)


def _refuse_unknown_concepts(run: LabelMatrix, truth: LabelMatrix) -> None:
    known = set(truth.concepts)
    unknown = [c for c in run.concepts if c not in known]
    if unknown:
        raise InputError(
            run.where,
            [
                Problem(
                    0,
                    f"concept {c!r} is not in the truth.{suggest(c, truth.concepts)} A concept "
                    "that no item has must still be named there (concepts=...)",
                )
                for c in unknown
            ],
        )


def _taken(
    matrix: Matrix, rows: NDArray[np.intp], columns: NDArray[np.intp], lowest: float
) -> Matrix:
    if isinstance(matrix, np.ndarray):
        taken = matrix[rows[:, None], columns[None, :]]
        nothing = lowest if matrix.dtype.kind == "f" else 0
        taken[rows < 0] = nothing
        taken[:, columns < 0] = nothing
        return taken
    # Sparse: an empty row and an empty column stand for whatever the run lacks.
    from scipy import sparse

    count, width = matrix.shape
    padded = sparse.csr_array(
        (matrix.data, matrix.indices, np.append(matrix.indptr, matrix.indptr[-1])),
        shape=(count + 1, width + 1),
    )
    return padded[np.where(rows < 0, count, rows)][:, np.where(columns < 0, width, columns)]


def _notes(
    run: LabelMatrix, truth: LabelMatrix, rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> tuple[str, ...]:
    notes = []
    lacking = [truth.items[i] for i in np.flatnonzero(rows < 0)]
    if lacking:
        notes.append(
            f"{len(lacking)} of {len(truth.items)} items are missing "
            f"({some_names(lacking)}); they count as items without a predicted concept"
        )
    known = set(truth.items)
    extra = [i for i in run.items if i not in known]
    if extra:
        notes.append(
            f"{len(extra)} items are not in the truth and are left out ({some_names(extra)})"
        )
    unused = [truth.concepts[j] for j in np.flatnonzero(columns < 0)]
    if unused:
        notes.append(
            f"{len(unused)} of {len(truth.concepts)} concepts are missing "
            f"({some_names(unused)}); they count as never predicted"
        )
    return tuple(notes)
