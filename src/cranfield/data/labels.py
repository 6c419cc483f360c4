"""Concepts of items: the truth about them, or what a run says of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from cranfield.data import Judgements, Run
from cranfield.data.columns import is_masked, plain_array
from cranfield.errors import InputError, Problem, UsageError, suggest
from cranfield.options import DEFAULT_THRESHOLD

Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
# A dense array, or a scipy.sparse.csr_array whose absent cells are 0.
Matrix: TypeAlias = Any
Threshold: TypeAlias = float | Sequence[float] | Mapping[str, float] | Floats

DENSE_CELLS = 100_000_000
CHUNK_CELLS = 1 << 22
NAMES_SHOWN = 5
# The fields of a LabelMatrix that have a value for every cell.
_CELL_FIELDS = ("labels", "confidences", "grades", "judged", "sampling", "listed_cells")


@dataclass(frozen=True, eq=False, repr=False)
class LabelMatrix:
    """Items x concepts: 0/1 labels, confidences in [0, 1], or both.

    The matrices are dense, or sparse rows (scipy.sparse.csr_array) for more than
    `DENSE_CELLS` cells. `named` is False when the source had no names of concepts: then
    `concepts` are positions, and such a matrix is aligned to the truth by position. `source`
    is the file it came from, for messages; `notes` are what its reader noticed. The confidences
    of an `unbounded` matrix are scores of any size, whose order counts. `listed` is the share of
    cells that a file lists, where it lists some as absent, and `listed_cells` says which (unless
    the matrix is sparse); else all of them are known. The `grades`
    of a truth say how much of a concept an item has; its labels are what has a grade high enough.
    Where not every cell was judged, `judged` says which were, and `sampling`, where it is known,
    with which probability a cell was chosen to be judged.

    >>> truth = LabelMatrix.of({"a.jpg": {"Sky", "Sea"}, "b.jpg": {"Sky"}})
    >>> truth.concepts, truth.cardinality, truth.density
    (('Sea', 'Sky'), 1.5, 0.75)
    """

    items: tuple[str, ...]
    concepts: tuple[str, ...]
    labels: Matrix | None = None
    confidences: Matrix | None = None
    name: str = "labels"
    named: bool = True
    source: str = ""
    notes: tuple[str, ...] = ()
    unbounded: bool = False
    listed: float = 1.0
    grades: Floats | None = None
    judged: Bools | None = None
    sampling: Floats | None = None
    listed_cells: Bools | None = None

    @property
    def where(self) -> str:
        """How messages name this matrix: its file, or else its name."""
        return self.source or self.name

    def __post_init__(self) -> None:
        if self.labels is None and self.confidences is None:
            raise InputError.single(self.where, "has neither labels nor confidences")
        _check_names(self.where, "item", self.items)
        _check_names(self.where, "concept", self.concepts)
        shape = (len(self.items), len(self.concepts))
        for kind in _CELL_FIELDS:
            matrix = getattr(self, kind)
            if matrix is None:
                continue
            if tuple(matrix.shape) != shape:
                raise InputError.single(
                    self.where,
                    f"{kind} of shape {tuple(matrix.shape)} for {shape[0]} items and "
                    f"{shape[1]} concepts",
                )
            if isinstance(matrix, np.ndarray):
                frozen = matrix.view()
                frozen.flags.writeable = False
                object.__setattr__(self, kind, frozen)
        if self.confidences is not None:
            self._check_confidences()

    def _check_confidences(self) -> None:
        matrix = self.confidences
        values = matrix if isinstance(matrix, np.ndarray) else cast(Any, matrix).data
        if values.size == 0 or (values.min() >= 0 and values.max() <= 1):
            return
        if self.unbounded and not np.isnan(values).any():
            return
        for row in range(len(self.items)):
            line = self._dense(matrix, slice(row, row + 1), slice(None))[0]
            outside = np.flatnonzero(~((line >= 0) & (line <= 1)))
            if outside.size:
                raise InputError.single(
                    self.where,
                    f"the confidence of item {self.items[row]!r} in concept "
                    f"{self.concepts[outside[0]]!r} is {line[outside[0]]:g}, "
                    "expected a number in [0, 1]",
                )

    @classmethod
    def of(
        cls,
        data: Any,
        *,
        items: Sequence[str] | None = None,
        concepts: Sequence[str] | None = None,
        name: str = "labels",
        unbounded: bool = False,
    ) -> LabelMatrix:
        """A matrix from plain objects.

        `data` is a LabelMatrix, {item: concepts or one class}, {item: {concept: value}}, a NumPy
        or scipy.sparse matrix or a tensor (with `items` and `concepts`, else positions), a class
        of each item ([0, 2, 1], ["cat", "dog"]), a list of labels of each item, or a data frame
        with one column per concept and the items in a column `item` or in the index. The values
        of an `unbounded` one are scores of any size.
        """
        if isinstance(data, LabelMatrix):
            return data
        data = plain_array(data)
        if (listed := _labels_by_item(data)) is not None:
            data = _with_items(listed, items, name)
        if isinstance(data, Mapping):
            return _of_mapping(data, concepts, name, unbounded)
        if hasattr(data, "columns") and hasattr(data, "to_numpy"):
            names = [c for c in data.columns if c != "item"]
            item_names = data["item"] if "item" in data.columns else getattr(data, "index", None)
            return cls.of(
                _frame_values(data[names], name),
                items=items or (None if item_names is None else [str(i) for i in item_names]),
                concepts=concepts or [str(c) for c in names],
                name=name,
                unbounded=unbounded,
            )
        if is_masked(data):
            raise InputError.single(name, "a cell is masked; a label or confidence is a number")
        try:
            matrix = data.tocsr() if hasattr(data, "tocsr") else np.asarray(data)
        except ValueError:  # rows of several lengths
            raise InputError.single(name, "is no matrix: its rows differ in length") from None
        if matrix.ndim == 0:
            raise UsageError(
                f"cannot read labels from {type(data).__name__} ({name}); give a path, a matrix, a "
                "class or a list of labels of each item, a dict or a data frame"
            )
        if matrix.ndim == 1:
            raise InputError.single(
                name,
                "has one number for each item, which may be of any concept; give a column for each "
                "concept (of one concept: array[:, None], in truth and runs)",
            )
        if matrix.ndim != 2:
            raise InputError.single(name, f"an array of {matrix.ndim} dimensions, expected 2")
        labels, confidences = split_values(matrix, name)
        return cls(
            items=_names_or_positions(items, matrix.shape[0]),
            concepts=_names_or_positions(concepts, matrix.shape[1]),
            labels=labels,
            confidences=confidences,
            name=name,
            named=concepts is not None,
            unbounded=unbounded,
        )

    def __repr__(self) -> str:
        size = f"{len(self.items)} items, {len(self.concepts)} concepts"
        return f"<LabelMatrix {self.name}: {size}>"

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.items), len(self.concepts)

    @property
    def cells(self) -> int:
        return len(self.items) * len(self.concepts)

    @property
    def cardinality(self) -> float:
        """Label cardinality: the mean number of labels of an item (No 3.2)."""
        if self.labels is not None:
            return float(self.labels.sum()) / len(self.items)
        if self.unbounded:  # scores of any size are no labels before there is a threshold
            return float("nan")
        # Some rows at a time: the labels of all would be one more matrix in memory.
        count, step = 0, max(1, CHUNK_CELLS // len(self.concepts))
        for start in range(0, len(self.items), step):
            _, confidences = self.rows(start, start + step)
            count += int(np.count_nonzero(np.greater_equal(confidences, DEFAULT_THRESHOLD)))  # type: ignore[arg-type]
        return count / len(self.items)

    @property
    def density(self) -> float:
        """Label density: the cardinality as a fraction of all concepts (No 3.3)."""
        return self.cardinality / len(self.concepts)

    @property
    def is_binary(self) -> bool:
        """True when there are labels and no confidences to rank them by."""
        return self.confidences is None

    def with_threshold(self, threshold: Threshold) -> LabelMatrix:
        """This matrix with labels where the confidence reaches the threshold.

        One number, one per concept in order, or {concept: number}. Labels that the source
        gave itself stay as they are.
        """
        if self.labels is not None:
            return self
        limits = self._limits(threshold)
        if isinstance(self.confidences, np.ndarray):
            labels: Matrix = self.confidences >= limits
        else:
            labels = cast(Any, self.confidences).copy()
            if np.any(limits <= 0):
                raise InputError.single(
                    self.where, "a threshold of 0 labels every cell of a sparse matrix"
                )
            labels.data = labels.data >= np.broadcast_to(limits, (self.shape[1],))[labels.indices]
            labels.eliminate_zeros()
        return replace(self, labels=labels)

    def _limits(self, threshold: Threshold) -> Floats:
        if isinstance(threshold, Mapping):
            unknown = next((c for c in threshold if c not in set(self.concepts)), None)
            if unknown is not None:
                hint = suggest(unknown, self.concepts)
                raise InputError.single(
                    self.where, f"a threshold is for an unknown concept {unknown!r}.{hint}"
                )
            absent = next((c for c in self.concepts if c not in threshold), None)
            if absent is not None:
                raise InputError.single(
                    self.where, f"a threshold is missing for the concept {absent!r}"
                )
            threshold = [threshold[c] for c in self.concepts]
        try:
            limits = np.asarray(threshold, dtype=np.float64)
        except (TypeError, ValueError):
            raise UsageError(
                f"threshold={threshold!r} is neither a number nor one for each concept"
            ) from None
        if limits.ndim and limits.shape != (self.shape[1],):
            raise InputError.single(
                self.where, f"{limits.size} thresholds for {self.shape[1]} concepts"
            )
        outside = limits[~((limits >= 0) & (limits <= 1))]
        if outside.size and not (self.unbounded and np.isfinite(limits).all()):
            raise UsageError(f"the threshold {outside.flat[0]:g} lies outside [0, 1]")
        return limits

    def squashed(self) -> LabelMatrix:
        """Scores of any size as confidences, by the logistic function: 0 becomes 0.5."""
        if self.confidences is None:
            return self
        scores = np.asarray(dense(self.confidences), dtype=np.float64)
        # Of both signs by the side that cannot overflow.
        small = np.exp(-np.abs(scores))
        values = np.where(scores >= 0, 1 / (1 + small), small / (1 + small))
        return replace(self, confidences=values, unbounded=False)

    def renamed(self, concepts: Sequence[str]) -> LabelMatrix:
        """An unnamed matrix with the names of its columns."""
        if len(concepts) != len(self.concepts):
            raise InputError.single(
                self.where,
                f"{len(self.concepts)} values per item, but there are {len(concepts)} concepts",
            )
        return replace(self, concepts=tuple(concepts), named=True)

    def with_vocabulary(self, concepts: Sequence[str]) -> LabelMatrix:
        """This matrix over a whole vocabulary: its columns named, or absent ones added as 0."""
        if not self.named:
            return self.renamed(concepts)
        position = {c: j for j, c in enumerate(concepts)}
        unknown = [c for c in self.concepts if c not in position]
        if unknown:
            raise InputError.single(
                self.where,
                f"concept {unknown[0]!r} is not in the vocabulary.{suggest(unknown[0], concepts)}",
            )
        columns = [position[c] for c in self.concepts]

        def widened(matrix: Matrix) -> Matrix:
            if not isinstance(matrix, np.ndarray):
                from scipy import sparse

                at = np.asarray(columns)[matrix.indices]
                shape = (matrix.shape[0], len(concepts))
                return sparse.csr_array((matrix.data, at, matrix.indptr), shape=shape)
            wide = np.zeros((matrix.shape[0], len(concepts)), dtype=matrix.dtype)
            wide[:, columns] = matrix
            return wide

        return self.map(widened, concepts=tuple(concepts))

    def only(self, concepts: Sequence[str]) -> LabelMatrix:
        """Some of the concepts, in the order given."""
        at = {c: j for j, c in enumerate(self.concepts)}
        columns = [at[c] for c in concepts]
        return self.map(lambda m: m[:, columns], concepts=tuple(concepts))

    def rows(self, start: int, stop: int) -> tuple[Bools | None, Floats | None]:
        """Labels and confidences of some items, dense; views where the matrix is dense."""
        part = slice(start, stop)
        return (
            None if self.labels is None else self._dense(self.labels, part, slice(None)),
            None if self.confidences is None else self._dense(self.confidences, part, slice(None)),
        )

    def columns(self, start: int, stop: int) -> tuple[Bools | None, Floats | None]:
        """Labels and confidences of some concepts, dense; views where the matrix is dense."""
        part = slice(start, stop)
        return (
            None if self.labels is None else self._dense(self.labels, slice(None), part),
            None if self.confidences is None else self._dense(self.confidences, slice(None), part),
        )

    @staticmethod
    def _dense(matrix: Matrix, rows: slice, columns: slice) -> Any:
        return dense(matrix[rows, columns])

    def map(self, change: Callable[[Matrix], Matrix], **fields: Any) -> LabelMatrix:
        """The same change made to labels, confidences, and all that is known of the cells."""
        for name in _CELL_FIELDS:
            part = getattr(self, name)
            fields[name] = None if part is None else change(part)
        return replace(self, **fields)


def dense(matrix: Matrix) -> Any:
    """A matrix as an array, whether it is sparse or one already."""
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def _frame_values(frame: Any, name: str) -> NDArray[Any]:
    """The cells of a data frame as one array, NaN where one is missing."""
    values: NDArray[Any] = frame.to_numpy()
    if values.dtype.kind != "O":
        return values
    # Columns of several kinds, or of pandas' own kinds that know missing values.
    missing = frame.isna().to_numpy() if hasattr(frame, "isna") else values == np.array(None)
    try:
        return np.where(missing, np.nan, values).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError.single(name, f"a value is not a number ({error})") from None


def listed_share(
    shape: tuple[int, ...], items: NDArray[Any], concepts: NDArray[Any], values: NDArray[Any]
) -> float:
    """The share of cells that have one of these values, or 1 where none of them says 0 itself.

    Rows of 0 may only name items that have no concept, each by a row with one and the same
    concept, and concepts that no item has, each by a row with one and the same item: the writer of
    the long form does so.
    """
    absent = values == 0
    names_item = absent & (np.bincount(items, minlength=shape[0])[items] == 1)
    names_concept = absent & ~names_item
    names_concept &= np.bincount(concepts, minlength=shape[1])[concepts] == 1
    is_naming = len(set(concepts[names_item].tolist())) < 2
    is_naming &= len(set(items[names_concept].tolist())) < 2
    if is_naming and not (absent & ~names_item & ~names_concept).any():
        return 1.0
    return len(values) / (shape[0] * shape[1])


def split_values(
    matrix: Matrix, source_name: str = "labels"
) -> tuple[Matrix | None, Matrix | None]:
    """(labels, None) for a matrix of nothing but 0 and 1, else (None, confidences)."""
    if matrix.dtype.kind not in "biuf":
        raise InputError.single(source_name, f"values of type {matrix.dtype}, expected numbers")
    if not isinstance(matrix, np.ndarray):
        if matrix.dtype == np.bool_ or np.all((matrix.data == 0) | (matrix.data == 1)):
            return matrix.astype(bool), None
        return None, matrix.astype(np.float64)
    if matrix.dtype == np.bool_:
        return matrix, None
    if _only_zero_and_one(matrix):
        return matrix.astype(bool), None
    return None, matrix.astype(np.float64, copy=False)


def _only_zero_and_one(matrix: NDArray[Any]) -> bool:
    """Whether a matrix holds labels; a matrix of confidences is known by its first rows."""
    step = max(1, CHUNK_CELLS // max(matrix.shape[1], 1))
    parts = (matrix[start : start + step] for start in range(0, len(matrix), step))
    return all(bool(np.all((part == 0) | (part == 1))) for part in parts)


def sample_names(names: Sequence[str]) -> str:
    """The first few names of a list, for a message."""
    text = ", ".join(repr(n) for n in names[:NAMES_SHOWN])
    hidden = len(names) - NAMES_SHOWN
    return text + (f" and {hidden} more" if hidden > 0 else "")


def _check_names(source_name: str, kind: str, names: Iterable[str]) -> None:
    counts = Counter(names)
    if not counts:
        raise InputError.single(source_name, f"has no {kind}s")
    twice = [n for n, k in counts.items() if k > 1]
    if twice:
        raise InputError.single(source_name, f"{kind} given more than once: {sample_names(twice)}")


def _names_or_positions(names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    return tuple(str(i) for i in range(count)) if names is None else tuple(map(str, names))


def _cell(value: Any) -> float:
    """A label or confidence; what float() would also take for one is refused."""
    if isinstance(value, str | bytes | complex):
        raise TypeError(f"{value!r} is not a number")
    return float(value)


def _labels_by_item(data: Any) -> list[Iterable[Any]] | None:
    """The labels of each item, where the data are a class or a list of labels for each."""
    if getattr(data, "ndim", 0) == 1 and hasattr(data, "tolist"):
        data = data.tolist()
    if not isinstance(data, list | tuple) or not data:
        return None
    if all(isinstance(label, str | int) for label in data):
        return [(label,) for label in data]
    if not all(isinstance(labels, list | tuple | Set) for labels in data):
        return None
    cells = [label for labels in data for label in labels]
    is_table = len({len(labels) for labels in data}) == 1 and {*map(type, data)} <= {list, tuple}
    if not all(isinstance(label, str) for label in cells) and (
        is_table or not all(isinstance(label, str | int) for label in cells)
    ):
        return None
    if cells and {*cells} <= {0, 1}:  # a table of 0 and 1 that misses a cell is no list of labels
        return None
    return list(data)


def _with_items(
    rows: Sequence[Iterable[Any]], items: Sequence[str] | None, name: str
) -> dict[str, set[str]]:
    """The labels by the names of items, or by their positions."""
    names = _names_or_positions(items, len(rows))
    if len(names) != len(rows):
        raise InputError.single(name, f"{len(rows)} rows for {len(names)} items")
    return {
        item: {str(label) for label in labels} for item, labels in zip(names, rows, strict=True)
    }


def _of_mapping(
    data: Mapping[Any, Any], concepts: Sequence[str] | None, name: str, unbounded: bool
) -> LabelMatrix:
    rows: dict[str, dict[str, float]] = {}
    for item, item_labels in data.items():
        try:
            # A single text or number is the class of its item, not a list of letters.
            classes = [item_labels] if isinstance(item_labels, str | Integral) else item_labels
            pairs = classes.items() if isinstance(classes, Mapping) else ((c, 1.0) for c in classes)
            rows[str(item)] = {str(c): _cell(v) for c, v in pairs}
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError.single(
                name, f"item {item!r}: expected concepts, or {{concept: number}} ({error})"
            ) from None
    mentioned_concepts = {c for row in rows.values() for c in row}
    vocabulary = (
        tuple(map(str, concepts)) if concepts is not None else tuple(sorted(mentioned_concepts))
    )
    unknown = sorted(mentioned_concepts.difference(vocabulary))
    if unknown:
        raise InputError.single(
            name,
            f"unknown concept {unknown[0]!r}.{suggest(unknown[0], vocabulary)} A concept that no "
            "item of the truth has must still be named there (concepts=...)",
        )
    position = {c: j for j, c in enumerate(vocabulary)}
    values = np.full((len(rows), len(vocabulary)), -np.inf if unbounded else 0.0)
    for i, row in enumerate(rows.values()):
        for concept, value in row.items():
            values[i, position[concept]] = value
    labels, confidences = split_values(values)
    return LabelMatrix(tuple(rows), vocabulary, labels, confidences, name, unbounded=unbounded)


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
    lowest = -np.inf if run.unbounded else 0.0
    aligned = run.map(
        lambda m: _take_cells(m, rows, columns, lowest), items=truth.items, concepts=truth.concepts
    )
    return Alignment(
        aligned, int((rows < 0).sum()), int((columns < 0).sum()), _notes(run, truth, rows, columns)
    )


def _positions(names: tuple[str, ...], targets: tuple[str, ...]) -> NDArray[np.intp]:
    position = {name: i for i, name in enumerate(names)}
    return np.array([position.get(name, -1) for name in targets], dtype=np.intp)


def _refuse_unknown_concepts(run: LabelMatrix, truth: LabelMatrix) -> None:
    truth_concepts = set(truth.concepts)
    unknown = [c for c in run.concepts if c not in truth_concepts]
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


def _take_cells(
    matrix: Matrix, rows: NDArray[np.intp], columns: NDArray[np.intp], lowest: float
) -> Matrix:
    if isinstance(matrix, np.ndarray):
        submatrix = matrix[rows[:, None], columns[None, :]]
        nothing = lowest if matrix.dtype.kind == "f" else 0
        submatrix[rows < 0] = nothing
        submatrix[:, columns < 0] = nothing
        return submatrix
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
            f"({sample_names(lacking)}); they count as items without a predicted concept"
        )
    truth_items = set(truth.items)
    extra = [i for i in run.items if i not in truth_items]
    if extra:
        notes.append(
            f"{len(extra)} items are not in the truth and are left out ({sample_names(extra)})"
        )
    unused = [truth.concepts[j] for j in np.flatnonzero(columns < 0)]
    if unused:
        notes.append(
            f"{len(unused)} of {len(truth.concepts)} concepts are missing "
            f"({sample_names(unused)}); they count as never predicted"
        )
    return tuple(notes)


def concept_judgements(truth: LabelMatrix) -> Judgements:
    """Every item judged for every concept that some item has."""
    labels = dense(truth.labels)
    column_mask = labels.any(axis=0)
    if not column_mask.any():
        raise InputError.single(truth.where, "no item has a concept: there is nothing to rank")
    return Judgements.from_rows(*_rows(truth, labels.astype(np.float64), column_mask))


def concept_ranking(run: LabelMatrix) -> Run:
    """Every item under every concept, by confidence, or else by label."""
    scores = dense(run.labels if run.confidences is None else run.confidences)
    column_mask = np.ones(len(run.concepts), dtype=bool)
    return Run.from_rows(*_rows(run, scores.astype(np.float64), column_mask)).named(run.name)


def concept_rankings(runs: Sequence[LabelMatrix]) -> list[Run]:
    """Several runs over the same concepts; one without names takes those of one that has them."""
    run_with_names = next((run for run in runs if run.named), None)
    alike = [
        run if run.named or run_with_names is None else run.renamed(run_with_names.concepts)
        for run in runs
    ]
    return [concept_ranking(run) for run in alike]


def _rows(matrix: LabelMatrix, values: Any, column_mask: Any) -> tuple[Any, Any, Any]:
    concepts = np.array(matrix.concepts)[column_mask]
    topics = np.repeat(concepts, len(matrix.items))
    items = np.tile(np.array(matrix.items), len(concepts))
    return topics.tolist(), items.tolist(), values[:, column_mask].T.ravel()
