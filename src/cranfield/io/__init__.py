"""Readers and writers, one file per format; the ending of a file name chooses."""

from __future__ import annotations

from cranfield.data import Judgements, Run
from cranfield.data.columns import HEADERS
from cranfield.errors import InputError
from cranfield.io import trec
from cranfield.io.files import FileForm, inner_suffix, peek_standard, run_name

_TABULAR = (".json", ".csv", ".tsv", ".parquet")


def is_tabular(path: FileForm) -> bool:
    """Whether a file name says JSON, CSV, TSV or Parquet; everything else is TREC's format."""
    return str(path) != "-" and inner_suffix(path) in _TABULAR


def _ending(path: FileForm) -> str:
    """The ending that chooses a reader; standard input has none and is known by its start."""
    return _standard_ending() if str(path) == "-" else inner_suffix(path)


def _standard_ending() -> str:
    start = peek_standard().lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"{"):
        return ".json"
    header = start.split(b"\n", 1)[0].decode(errors="replace").lower()
    for ending, delimiter in ((".csv", ","), (".tsv", "\t")):
        names = {cell.strip().strip('"') for cell in header.split(delimiter)}
        if names & set(HEADERS["topic"]) and names & set(HEADERS["item"]):
            return ending
    return ""


def read_qrels(path: FileForm, *, jobs: int | None = None) -> Judgements:
    """Read judgements: TREC qrels, or .json, .csv, .tsv, .parquet; also .gz, .zst and '-'.

    A TREC file may have a stratum before the grade, for pools that were sampled, or subtopics in
    its second column: an item then stands once for each subtopic it was judged for.
    """
    if (ending := _ending(path)) in _TABULAR:
        from cranfield.io.tabular import READERS

        judgements: Judgements = READERS[ending](path, Judgements)
        return judgements
    from cranfield.io import strata, subtopics

    try:
        found = trec.read_judgements(path, jobs=jobs)
    except InputError:
        if strata.is_stratified(path):
            return strata.read_stratified(path)
        if subtopics.has_subtopics(path):
            return subtopics.read_subtopics(path)
        raise
    # What is noted are items that are judged twice, with one grade: for two subtopics?
    return (
        subtopics.read_subtopics(path) if found.notes and subtopics.has_subtopics(path) else found
    )


def read_run(path: FileForm, *, jobs: int | None = None) -> Run:
    """Read a run: TREC's format, or .json, .csv, .tsv, .parquet; also .gz, .zst and '-'."""
    if (ending := _ending(path)) in _TABULAR:
        from cranfield.io.tabular import READERS

        run: Run = READERS[ending](path, Run)
        return run.named(run_name(path))
    return trec.read_run(path, jobs=jobs)
