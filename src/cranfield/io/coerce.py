"""Every form in which a run, judgements or labels may be given, and what is made of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, TypeVar

from cranfield.data import Judgements, Run, Table
from cranfield.data.columns import (
    HEADERS,
    collect_frame,
    frame_column,
    frame_columns,
    is_frame,
    is_matrix,
    is_search_result,
)
from cranfield.data.tables import is_nested_chances, nested_rows, soft_judgements
from cranfield.errors import InputError, UsageError, first_duplicate
from cranfield.io import read_qrels, read_run
from cranfield.io.files import FileForm, Input, Third, run_name

if TYPE_CHECKING:
    from cranfield.data.labels import LabelMatrix


def is_list_of_ids(items: Any) -> bool:
    if getattr(items, "ndim", 0) == 1 and hasattr(items, "tolist") and not is_frame(items):
        items = items.tolist()
    return isinstance(items, list | tuple | Set) and all(isinstance(i, str | int) for i in items)


def is_mapping_of_lists(source: Any) -> TypeGuard[Mapping[Any, Any]]:
    """Whether this is {topic: [item, ...]}."""
    return (
        isinstance(source, Mapping) and bool(source) and all(map(is_list_of_ids, source.values()))
    )


def list_as_mapping(items: Any, kind: type[Table], source_name: str, topic: str) -> Any:
    """A list of ids as {item: number}, anything else as it is. A set has no order."""
    if not is_list_of_ids(items):
        return items
    names = [str(item) for item in (items.tolist() if hasattr(items, "tolist") else items)]
    twice = first_duplicate(names)
    if twice is not None:
        raise InputError.single(
            source_name, f"item {twice!r} is listed twice for topic {topic!r}; keep one of them"
        )
    if kind is Judgements or isinstance(items, Set):
        return dict.fromkeys(names, 1 if kind is Judgements else 1.0)
    return {name: float(-place) for place, name in enumerate(names, 1)}


def lists_as_mappings(source: Any, kind: type[Table], source_name: str) -> Any:
    """{topic: [item, ...]} as {topic: {item: number}}, any other form as it is."""
    if not is_mapping_of_lists(source):
        return source
    return {
        topic: list_as_mapping(items, kind, source_name, str(topic))
        for topic, items in source.items()
    }


# {topic: {item: number}}.
NestedForm: TypeAlias = "Mapping[Any, Mapping[Any, float]]"
# {topic: [item, ...]}: the items retrieved, best first, or the relevant ones.
ListedForm: TypeAlias = "Mapping[Any, Any]"
# Topics, items and numbers, of one length.
ColumnsForm: TypeAlias = "tuple[Sequence[Any], Sequence[Any], Sequence[float]]"
# A pandas or polars data frame, an Arrow table or a structured array of NumPy; or what ir_datasets
# and ir_measures have: a data set, or tuples with query_id and doc_id; or rows of three; a matrix
# or tensor with a row per topic and a column per item; scores and row numbers as faiss has them.
ForeignForm: TypeAlias = Any

JudgementsForm: TypeAlias = (
    "Judgements | FileForm | NestedForm | ListedForm | ColumnsForm | ForeignForm"
)
RunForm: TypeAlias = "Run | FileForm | NestedForm | ListedForm | ColumnsForm | ForeignForm"
# One run, a list of them, or {name: run}.
RunsForm: TypeAlias = "RunForm | Iterable[RunForm] | Mapping[str, RunForm]"
# {item: concepts}, {item: {concept: value}}, a matrix of NumPy or scipy.sparse, or a data frame.
LabelsForm: TypeAlias = "LabelMatrix | FileForm | Mapping[Any, Any] | ForeignForm"


# One run, a list of them, or {name: run}.
LabelRunsForm: TypeAlias = "LabelsForm | Iterable[LabelsForm] | Mapping[str, LabelsForm]"


def is_file(source: Any) -> TypeGuard[FileForm]:
    """Whether a source names a file that is yet to be read, or is an open one."""
    return isinstance(source, str | Path | Input)


def coerce_judgements(source: JudgementsForm) -> Judgements:
    """Judgements from any of the forms that `evaluate` takes."""
    if isinstance(source, Judgements):
        return source
    if is_file(source):
        return read_qrels(source)
    source = collect_frame(source)
    if is_matrix(source):
        return Judgements.from_matrix(source)
    if _is_sparse(source):
        return _of_sparse(Judgements, source)
    if is_nested_chances(source):
        return soft_judgements(nested_rows(source), "<judgements>")
    if isinstance(source, Mapping):
        return Judgements.from_dict(lists_as_mappings(source, Judgements, "<judgements>"))
    if is_frame(source):
        return Judgements.from_frame(source)
    if isinstance(source, tuple) and len(source) == 3:
        return Judgements.from_rows(*source)
    if hasattr(source, "qrels_iter"):
        source = source.qrels_iter()
    return Judgements.from_rows(*_from_tuples(source, "relevance", "judgements"))


def coerce_run(source: RunForm, name: str) -> Run:
    """A run from any of the forms that `evaluate` takes."""
    if isinstance(source, Run):
        return source.named(name)
    if is_file(source):
        return read_run(source).named(name)
    source = collect_frame(source)
    if is_matrix(source):
        return Run.from_matrix(source).named(name)
    if _is_sparse(source):
        return _of_sparse(Run, source).named(name)
    if is_search_result(source):
        return Run.from_search(*source).named(name)
    if isinstance(source, Mapping):
        return Run.from_dict(lists_as_mappings(source, Run, f"<{name}>")).named(name)
    if is_frame(source):
        return Run.from_frame(source).named(name)
    if isinstance(source, tuple) and len(source) == 3:
        return Run.from_rows(*source).named(name)
    if hasattr(source, "scoreddocs_iter"):
        source = source.scoreddocs_iter()
    return Run.from_rows(*_from_tuples(source, "score", "a run")).named(name)


def coerce_labels(
    source: LabelsForm,
    name: str,
    *,
    items: Sequence[str] | None = None,
    concepts: Sequence[str] | None = None,
    scores: str = "confidence",
    unjudged: bool = False,
) -> LabelMatrix:
    """Labels from any of the forms that `evaluate_labels` takes.

    A file has the name that it was given; `name` is for the others. `items` and `concepts`
    name the rows and columns of a source that does not say them itself. With `unjudged` a file may
    have cells that were not judged.
    """
    from cranfield.data.labels import LabelMatrix
    from cranfield.io.labels import read_labels

    if is_file(source):
        return read_labels(source, scores=scores, unjudged=unjudged)
    unbounded = scores != "confidence"
    matrix = LabelMatrix.of(source, items=items, concepts=concepts, name=name, unbounded=unbounded)
    return matrix.squashed() if scores == "logistic" else matrix


def _from_tuples(source: Any, number: str, noun: str) -> tuple[list[str], list[str], list[float]]:
    """Columns of rows: named tuples as ir_datasets and ir_measures yield them, or plain ones."""
    try:
        rows: list[Any] = list(source) if not hasattr(source, "mask") else [None]
        if not all(map(_is_triple, rows)):
            rows = [(r.query_id, r.doc_id, getattr(r, number)) for r in rows]
    except (AttributeError, TypeError):
        raise UsageError(
            f"cannot read {noun} from {type(source).__name__}; give a path, a dict, a data frame, "
            "three columns, rows of three, or tuples with query_id and doc_id"
        ) from None
    return [r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows]


def _is_sparse(source: Any) -> bool:
    """Whether this is a matrix of scipy.sparse."""
    return hasattr(source, "tocoo") and getattr(source, "ndim", 0) == 2


TableKind = TypeVar("TableKind", bound=Table)


def _of_sparse(kind: type[TableKind], source: Any) -> TableKind:
    """The cells that a sparse matrix stores, topics by items."""
    cells = source.tocoo()
    return kind.from_rows(cells.row, cells.col, cells.data)


def _is_triple(row: Any) -> bool:
    """Whether a row is a topic, an item and a number, in that order and without names."""
    # Asked of the class: data frames and runs have a length, too.
    if not isinstance(row, tuple | list) and type(row).__name__ != "ndarray":
        return False
    from numbers import Integral, Real

    return (
        len(row) == 3
        and not hasattr(row, "query_id")
        and isinstance(row[2], Real)
        and all(isinstance(part, str | Integral) for part in (row[0], row[1]))
    )


def name_runs(runs: RunsForm) -> list[tuple[str, Any]]:
    """Pairs of a name and a run; two runs of one name are an error."""
    if isinstance(runs, list) and runs and all(map(is_file, runs)):
        return _check_distinct_names([(run_name(file), file) for file in runs])
    runs = collect_frame(runs)
    if isinstance(runs, Iterator):
        runs = list(runs)
    if is_mapping_of_lists(runs):
        runs = [runs]
    elif isinstance(runs, Mapping):
        first = next(iter(runs.values()), None)
        inner = next(iter(first.values()), None) if isinstance(first, Mapping) and first else None
        if (
            isinstance(first, Mapping)
            and not isinstance(inner, Mapping)
            and not is_mapping_of_lists(first)
        ):
            runs = [runs]
        elif runs:
            pairs = [(str(name), run) for name, run in runs.items()]
            return _check_distinct_names(
                [(n, lists_as_mappings(run, Run, f"<{n}>")) for n, run in pairs]
            )
    elif is_frame(runs) and (column := _run_column(runs)) is not None:
        return _split_by_run(runs, column)
    elif (
        not isinstance(runs, list | tuple)
        or is_search_result(runs)
        or _is_columns(runs)
        or _is_rows(runs)
    ):
        runs = [runs]
    if not runs:
        raise UsageError("no run was given")
    pairs = [(_name_of(run, i, len(runs)), run) for i, run in enumerate(runs)]
    return _check_distinct_names([(n, lists_as_mappings(run, Run, f"<{n}>")) for n, run in pairs])


def parse_named_input(text: FileForm, third: Third | None = None) -> FileForm:
    """NAME=FILE as an input of that name; anything else as it is, but with what is known of it.

    >>> parse_named_input("bm25=runs/2026.run.gz").name
    'bm25.run.gz'
    """
    source = _split_named_input(text)
    if third is None or str(source) == "-" or Path(str(source)).is_dir():
        return source
    return replace(Input.of(source), third=third)


def _split_named_input(text: FileForm) -> FileForm:
    if not isinstance(text, str) or "=" not in text or Path(text).exists():
        return text
    name, _, file = text.partition("=")
    if not name or "/" in name or not file or file == "-":
        return text
    return Input(name + Path(file).name[len(run_name(file)) :], Path(file))


def read_runs(runs: RunsForm, *, jobs: int | None = None) -> dict[str, Run]:
    """The runs by name, each read where it is a file; none at all is allowed."""
    named_runs = [] if isinstance(runs, list | tuple) and not runs else name_runs(runs)
    return {
        name: read_run(run, jobs=jobs) if is_file(run) else coerce_run(run, name)
        for name, run in named_runs
    }


def _run_column(frame: Any) -> str | None:
    """The column of a frame that says to which run a row belongs, if it has one."""
    if hasattr(frame, "collect"):  # a lazy frame is one run: its columns are not known yet
        return None
    by_lower_name = {name.lower(): name for name in frame_columns(frame)}
    return next((by_lower_name[name] for name in HEADERS["run"] if name in by_lower_name), None)


def _split_by_run(frame: Any, column: str) -> list[tuple[str, Any]]:
    """The runs of a frame that holds several, in the order in which they begin."""
    values = frame_column(frame, column)
    labels = [str(v) for v in (values.to_pylist() if hasattr(values, "to_pylist") else values)]
    rows: dict[str, list[int]] = {}
    for row, label in enumerate(labels):
        rows.setdefault(label, []).append(row)
    if hasattr(frame, "iloc"):
        return [(name, frame.iloc[at]) for name, at in rows.items()]
    if hasattr(frame, "take"):  # Arrow
        return [(name, frame.take(at)) for name, at in rows.items()]
    return [(name, frame[at]) for name, at in rows.items()]


def _check_distinct_names(named_runs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The same runs, or an error when two have one name."""
    seen: dict[str, Any] = {}
    for name, run in named_runs:
        if name in seen:
            raise UsageError(
                f"two runs are named {name!r} ({_origin(seen[name])} and {_origin(run)}); "
                "rename one of them"
            )
        seen[name] = run
    return named_runs


def _is_columns(runs: Sequence[Any]) -> bool:
    return (
        isinstance(runs, tuple)
        and len(runs) == 3
        and not isinstance(runs[0], str | Path | Input | Run)
    )


def _is_rows(runs: Sequence[Any]) -> bool:
    """Whether these are the rows of one run, with the names of ir_measures or without any."""
    if not runs:
        return False
    return _is_triple(runs[0]) or (hasattr(runs[0], "query_id") and hasattr(runs[0], "doc_id"))


def _name_of(run: Any, position: int, total: int) -> str:
    if isinstance(run, Run):
        return run.name
    if is_file(run):
        return run_name(run)
    return "run" if total == 1 else f"run{position + 1}"


def _origin(run: Any) -> str:
    return str(run) if is_file(run) else type(run).__name__
