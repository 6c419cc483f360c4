"""Truth and submissions of annotation tasks, from every form they come in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from cranfield.data.labels import LabelMatrix, Threshold
from cranfield.errors import InputError, Problem, UsageError
from cranfield.io.coerce import LabelsForm, is_file
from cranfield.io.compression import compress_blocks
from cranfield.io.convert import is_folder_name
from cranfield.io.fast_csv import PlainRows
from cranfield.io.files import (
    FileForm,
    Input,
    describe,
    exists,
    inner_suffix,
    is_number,
    number,
    read_text,
    run_name,
    text_lines,
    write_atomic,
)
from cranfield.io.labels_csv import long_blocks, read_csv, wide_blocks
from cranfield.io.labels_other import (
    json_blocks,
    jsonl_blocks,
    list_blocks,
    npz_blocks,
    parquet_blocks,
    read_class_files,
    read_json_labels,
    read_jsonl_labels,
    read_npz,
    read_parquet,
    read_text_labels,
    text_blocks,
    write_class_files,
)
from cranfield.io.sniff import separator_of, with_detected_format
from cranfield.options import UNLISTED
from cranfield.validation import describe_value, validate_params

_BINARY: dict[str, Callable[[FileForm, str, bool], LabelMatrix]] = {
    ".parquet": read_parquet,
    ".npz": read_npz,
}
_JSON: dict[str, Callable[[FileForm, str], LabelMatrix]] = {
    ".json": read_json_labels,
    ".jsonl": read_jsonl_labels,
    ".ndjson": read_jsonl_labels,
}
CONFIDENCES = "confidence"
SCORES = (CONFIDENCES, "any", "logistic")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
# Endings of files of labels, and the form that each has; any other is ImageCLEF text.
FORMS = {
    ".csv": "wide",
    ".tsv": "wide",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".npz": "npz",
    ".parquet": "parquet",
}
_WRITERS: dict[str, Callable[[LabelMatrix, str], Iterable[bytes]]] = {
    "wide": wide_blocks,
    "long": long_blocks,
    "lists": list_blocks,
    "semicolons": lambda matrix, where: wide_blocks(matrix, where, ";"),
    "json": json_blocks,
    "jsonl": jsonl_blocks,
    "imageclef": text_blocks,
    "npz": npz_blocks,
    "parquet": parquet_blocks,
}
# Those with a place for cells that were not judged.
_WITH_UNJUDGED = ("wide", "long", "semicolons")


@validate_params
def read_labels(
    path: FileForm,
    *,
    threshold: Threshold | None = None,
    concepts: Sequence[str] | None = None,
    name: str | None = None,
    scores: str = CONFIDENCES,
    unjudged: bool = False,
) -> LabelMatrix:
    """Labels or confidences of items: the truth, or a run.

    By its ending a file is CSV or TSV (wide: one column per concept; long: item,concept,value;
    item,labels with a list of concepts), JSON {item: [concepts]}, JSON Lines, Parquet or NumPy's
    .npz; a folder has a file per concept, as PASCAL VOC. Standard input and pipes are known by
    their start. Any other is CSV when its first line has a comma, or a header with tabs or
    semicolons, else ImageCLEF text: an item and one number per concept. `concepts` names the
    columns of a file that has no names, and is the whole vocabulary of one that has them: concepts
    that it does not mention are absent everywhere. `scores` says what the numbers are: "confidence"
    (in [0, 1]), "any" (scores of any size, whose order counts), or "logistic" (the same, brought to
    [0, 1] by the logistic function). With `unjudged` some cells of a truth in CSV may be `?`: they
    were not judged; a fourth column `sampling` of the long form says with which probability each
    judged cell was drawn.
    """
    if scores not in SCORES:
        raise UsageError(f"scores={scores!r} is not one of {', '.join(SCORES)}")
    unbounded = scores != CONFIDENCES
    if not isinstance(path, str | Path):
        path = Input.of(path)
    path = with_detected_format(path)
    suffix, source_name = inner_suffix(path), describe(path)
    called = name or run_name(path)
    place = path.path if isinstance(path, Input) else path
    # os.path.isdir is False for what no file can be called, where Path.is_dir raises.
    if place is not None and os.path.isdir(place):  # noqa: PTH112
        matrix = read_class_files(Path(place), called, unbounded=unbounded)
    elif suffix in _BINARY:
        matrix = _BINARY[suffix](path, called, unbounded)
    elif suffix in _JSON:
        matrix = _JSON[suffix](path, called)
    else:
        plain_rows = PlainRows(path)
        delimiter = _delimiter(suffix, plain_rows.first_with_text())
        matrix = (
            read_csv(plain_rows, called, source_name, delimiter=delimiter, unbounded=unbounded)
            if delimiter
            else read_text_labels(plain_rows, called, source_name, unbounded=unbounded)
        )
    matrix = replace(matrix, source=source_name)
    if matrix.judged is not None and not unjudged:
        _refuse_unjudged(matrix)
    if scores == "logistic":
        matrix = matrix.squashed()
    if concepts is not None:
        matrix = matrix.with_vocabulary(concepts)
    return matrix if threshold is None else matrix.with_threshold(threshold)


def _refuse_unjudged(matrix: LabelMatrix) -> None:
    unknown = ~np.asarray(matrix.judged)
    if not unknown.any():
        row, column = 0, 0
    else:
        row, column = (int(at[0]) for at in np.nonzero(unknown))
    raise InputError.single(
        matrix.where,
        f"the cell of item {matrix.items[row]!r} and concept {matrix.concepts[column]!r} was not "
        f"judged ({int(unknown.sum())} cells were not): a truth for eval labels and compare may "
        "have such cells, this file may not",
    )


def _delimiter(suffix: str, first: str) -> str:
    """What separates the cells below this first line; nothing in ImageCLEF text."""
    usual = _DELIMITERS.get(suffix)
    if usual == "\t" and usual in first:
        return usual
    separator = separator_of(first, "")
    if usual is not None or separator == ",":
        return separator or usual or ""
    return separator if separator and not is_number(first.split(separator)[1]) else ""


def read_label_runs(paths: Sequence[str | Path], threshold: float) -> list[LabelMatrix]:
    """Annotation runs named by their files, with labels from a confidence on."""
    names = [run_name(path) for path in paths]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two runs are named {name!r}; a run is named by its file")
    return [read_labels(path).with_threshold(threshold) for path in paths]


@validate_params
def write_labels(matrix: LabelMatrix, path: str | Path, *, form: str | None = None) -> None:
    """Write labels: `wide` or `long` CSV, `json`, `jsonl`, `parquet`, `npz` or `imageclef` text.

    Unless `form` says otherwise, the ending of the name does: .csv and .tsv are wide, .json,
    .jsonl, .parquet and .npz what they say, a folder (its name ends with a slash, or it is there)
    has a file per concept as PASCAL VOC, and anything else is ImageCLEF text; .gz and .zst pack
    it. `lists` (item,labels) and `semicolons` are other shapes of a .csv. Labels of which only some
    cells were judged go to CSV alone; with the probabilities by which cells were drawn, a .csv is
    long. The file is written whole or not at all.
    """
    suffix, source_name = inner_suffix(path), str(path)
    partly_judged = matrix.judged is not None and not np.all(matrix.judged)
    if form is None and is_folder_name(path) and not partly_judged:
        write_class_files(matrix, path)
        return
    if form is None and suffix == ".csv" and partly_judged and matrix.sampling is not None:
        form = "long"
    form = form or FORMS.get(suffix, "imageclef")
    if form not in _WRITERS:
        raise UsageError(f"no form {form!r} of labels, expected one of {', '.join(_WRITERS)}")
    if partly_judged and form not in _WITH_UNJUDGED:
        raise UsageError(
            f"{source_name}: cells that were not judged are written to CSV alone, wide or long"
        )
    if form == "wide" and suffix == ".tsv":
        blocks: Iterable[bytes] = wide_blocks(matrix, source_name, "\t")
    else:
        blocks = _WRITERS[form](matrix, source_name)
    write_atomic(Path(path), compress_blocks(blocks, Path(path).suffix.lower()))


def read_concepts(path: FileForm) -> tuple[str, ...]:
    """Names of concepts, one per line, in the order of the columns they name."""
    names = [line.strip() for line in text_lines(read_text(path)) if line.strip()]
    seen: dict[str, int] = {}
    for line, name in enumerate(names, 1):
        if name in seen:
            raise InputError.single(describe(path), f"concept {name!r} given twice", line)
        seen[name] = line
    if not names:
        raise InputError.single(describe(path), "has no names of concepts")
    return tuple(names)


def read_threshold(text: str) -> Threshold:
    """A threshold: a number, or a file with one per concept.

    The file has the numbers in the order of the concepts, or lines `concept,threshold`.
    """
    try:
        return number(text)
    except ValueError:
        pass
    source_name = describe(text)
    if not exists(Path(text)) and text != "-":
        raise InputError.single(text, "neither a number in [0, 1] nor a file of thresholds")
    rows = [(n, line) for n, line in enumerate(text_lines(read_text(text)), 1) if line.strip()]
    if rows and "".join(rows[0][1].split()) in ("concept,threshold",):
        return _named_thresholds(source_name, rows[1:])
    values: list[float] = []
    for line_number, line in rows:
        for cell in line.replace(",", " ").split():
            try:
                values.append(number(cell))
            except ValueError:
                raise InputError.single(
                    source_name,
                    f"threshold {cell!r} is not a number (expected one per concept, or "
                    "a header concept,threshold)",
                    line_number,
                ) from None
    if not values:
        raise InputError.single(source_name, "has no thresholds")
    return values[0] if len(values) == 1 else values


def write_thresholds(thresholds: Mapping[str, float], path: str | Path) -> None:
    """CSV concept,threshold, as `read_threshold` reads it."""
    lines = [f"{concept},{value!r}" for concept, value in thresholds.items()]
    write_atomic(Path(path), ("\n".join(["concept,threshold", *lines]) + "\n").encode())


def _named_thresholds(source_name: str, rows: list[tuple[int, str]]) -> dict[str, float]:
    thresholds: dict[str, float] = {}
    problems: list[Problem] = []
    for line_number, line in rows:
        concept, _, text = (part.strip() for part in line.rpartition(","))
        try:
            value = number(text)
        except ValueError:
            problems.append(Problem(line_number, f"threshold {text!r} is not a number"))
            continue
        if concept in thresholds:
            problems.append(Problem(line_number, f"concept {concept!r} given twice"))
        thresholds[concept] = value
    if problems:
        raise InputError(source_name, problems)
    return thresholds


# A truth that lists more of its cells is taken for complete: some may be missing by mistake.
MOST_LISTED = 0.9
_QUESTION = "and some of them as absent: are the others absent, or were they not judged?"


def resolve_unlisted(truth: LabelMatrix, unlisted: str | None) -> LabelMatrix:
    """The truth with what the cells are that a long file does not list, or a UsageError.

    Where absent concepts are listed one by one, those that are not listed may not have been judged.
    """
    if unlisted is not None and unlisted not in UNLISTED:
        raise UsageError(f"unlisted={unlisted!r} is not one of {', '.join(UNLISTED)}")
    if unlisted == "absent" or truth.listed == 1:
        return truth
    finding = f"{truth.where}: lists {truth.listed:.0%} of its cells"
    if unlisted == "unjudged":
        if truth.listed_cells is None:
            raise UsageError(
                f"{finding}, and has more cells than values are estimated for; choose some of its "
                "concepts with concepts=..."
            )
        judged = truth.listed_cells if truth.judged is None else truth.listed_cells & truth.judged
        return replace(truth, judged=judged, listed=1.0, listed_cells=None)
    if truth.listed > MOST_LISTED:
        return truth
    raise UsageError(f"{finding}, {_QUESTION} Say so by unlisted='absent' or unlisted='unjudged'")


def check_all_listed(truth: LabelMatrix, use: str) -> LabelMatrix:
    """The truth for a use that needs every cell, or a UsageError where cells may be unjudged."""
    if truth.listed > MOST_LISTED:
        return truth
    raise UsageError(
        f"{truth.where}: lists {truth.listed:.0%} of its cells, {_QUESTION} {use} needs every "
        "cell: list the concepts that are there and nothing else, or every cell"
    )


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
