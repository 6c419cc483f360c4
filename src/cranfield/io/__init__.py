"""Readers and writers, one file per format; the ending of a file name chooses."""

from __future__ import annotations

from cranfield.data import Judgements, Run
from cranfield.errors import InputError, UsageError
from cranfield.io import trec
from cranfield.io.files import (
    THIRD,
    FileForm,
    Input,
    Third,
    can_be_read_again,
    inner_suffix,
    input_lines,
    run_name,
)
from cranfield.io.sniff import TABULAR, detect_other_format, with_detected_format
from cranfield.validation import validate_params


def is_tabular(path: FileForm) -> bool:
    """Whether a file name says JSON, CSV, TSV or Parquet; everything else is TREC's format."""
    return inner_suffix(path) in TABULAR


@validate_params
def read_qrels(path: FileForm, *, jobs: int | None = None) -> Judgements:
    """Read judgements: TREC qrels, or .json, .csv, .tsv, .parquet; also .gz, .zst and '-'.

    A CSV with the columns topic, item, grade and probability has probabilities of grades.
    A TREC file may have a stratum before the grade, for pools that were sampled, or subtopics in
    its second column: an item then stands once for each subtopic it was judged for. A name such as
    `irds:beir/scifact/test` is a data set of ir_datasets, where that package is installed.
    """
    if isinstance(path, str) and path.startswith("irds:"):
        from cranfield.io.trec import read_ir_dataset

        return read_ir_dataset(path)
    path = with_detected_format(path)
    if (ending := inner_suffix(path)) in TABULAR:
        from cranfield.io.soft import is_soft, read_soft_judgements
        from cranfield.io.tabular import READERS

        if is_soft(path):
            return read_soft_judgements(path)
        judgements: Judgements = READERS[ending](path, Judgements)
        return judgements
    try:
        table = trec.read_judgements(path, jobs=jobs)
    except InputError:
        if trec.is_stratified(path):
            return trec.read_stratified(path)
        if trec.has_subtopics(path):
            return trec.read_subtopics(path)
        if can_be_read_again(path) and has_three_columns(path):
            from cranfield.io.delimited import read_plain

            return read_plain(path, Judgements)
        if (source := detect_other_format(path)) is not None:
            return read_qrels(source)
        raise
    # A note says that items are judged twice with one grade: perhaps for two subtopics.
    if table.notes:
        return trec.read_subtopics(path) if trec.has_subtopics(path) else table
    return table


@validate_params
def read_run(path: FileForm, *, jobs: int | None = None, third: Third | None = None) -> Run:
    """Read a run: TREC's format, or .json, .jsonl, .csv, .tsv, .parquet; also .gz, .zst and '-'.

    A file of three columns without a header has topic, item and `third`: a rank where it counts
    from 1 in every topic, unless this says otherwise.
    """
    if third is None and isinstance(path, Input):
        third = path.third
    if third is not None and third not in THIRD:
        raise UsageError(f"third={third!r} is not one of {', '.join(THIRD)}")
    path = with_detected_format(path)
    ending = inner_suffix(path)
    if ending in (".csv", ".tsv"):
        from cranfield.io.delimited import read_separated

        delimiter = "," if ending == ".csv" else "\t"
        return read_separated(path, Run, delimiter, third=third).named(run_name(path))
    if ending in TABULAR:
        from cranfield.io.tabular import READERS

        run: Run = READERS[ending](path, Run)
        return run.named(run_name(path))
    try:
        return trec.read_run(path, jobs=jobs)
    except InputError:
        if (source := detect_other_format(path)) is not None:
            return read_run(source, third=third)
        if not can_be_read_again(path) or not has_three_columns(path):
            raise
        from cranfield.io.delimited import read_plain

        return read_plain(path, Run, third=third).named(run_name(path))


def has_another_form(path: FileForm) -> bool:
    """Whether a file that TREC's reader refused is a run of three columns, or no such file."""
    return can_be_read_again(path) and (
        has_three_columns(path) or detect_other_format(path) is not None
    )


def has_three_columns(path: FileForm) -> bool:
    """Whether the first line of a file that TREC's reader refused has three columns."""
    from cranfield.io.delimited import is_plain_run

    try:
        lines = (line for line in input_lines(path) if line.strip() and line.lstrip()[0] != "#")
        return is_plain_run(next(lines, "").split())
    except InputError:
        return False
