"""Readers and writers, one file per format; the ending of a file name chooses."""

from __future__ import annotations

from pathlib import Path

from cranfield.data import Judgements, Run
from cranfield.errors import InputError
from cranfield.io import trec
from cranfield.io.files import inner_suffix, run_name

_TABULAR = (".json", ".csv", ".tsv", ".parquet")


def is_tabular(path: str | Path) -> bool:
    """Whether a file name says JSON, CSV, TSV or Parquet; everything else is TREC's format."""
    return str(path) != "-" and inner_suffix(path) in _TABULAR


def read_qrels(path: str | Path, *, jobs: int | None = None) -> Judgements:
    """Read judgements: TREC qrels, or .json, .csv, .tsv, .parquet; also .gz, .zst and '-'.

    A TREC file may have a stratum before the grade, for pools that were sampled.
    """
    if is_tabular(path):
        from cranfield.io.tabular import READERS

        judgements: Judgements = READERS[inner_suffix(path)](path, Judgements)
        return judgements
    try:
        return trec.read_judgements(path, jobs=jobs)
    except InputError:
        from cranfield.io import strata

        if not strata.is_stratified(path):
            raise
        return strata.read_stratified(path)


def read_run(path: str | Path, *, jobs: int | None = None) -> Run:
    """Read a run: TREC's format, or .json, .csv, .tsv, .parquet; also .gz, .zst and '-'."""
    if is_tabular(path):
        from cranfield.io.tabular import READERS

        run: Run = READERS[inner_suffix(path)](path, Run)
        return run.named(run_name(path))
    return trec.read_run(path, jobs=jobs)
