"""Scores that were saved, or printed as JSON, read and joined."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cranfield._records import replace
from cranfield.answers import load
from cranfield.errors import UsageError
from cranfield.evaluation.scores import Scores
from cranfield.io.files import (
    FileForm,
    Input,
    can_be_read_again,
    inner_suffix,
    open_input,
    run_name,
)
from cranfield.validation import validate_params

_START = b'{"cranfield"'


def is_saved(path: FileForm) -> bool:
    """Whether a file holds an answer, by how it begins."""
    if isinstance(path, Input):
        return False
    if inner_suffix(path) != ".json" or not can_be_read_again(path) or not Path(path).is_file():
        return False
    with open_input(path) as stream:
        return b"".join(stream.read(64).split()).startswith(_START)


@validate_params
def read_scores(paths: Sequence[str | Path]) -> Scores:
    """The scores of several files as one.

    Where two files have runs of one name, as for two states of a system, a run is named by its
    file: `old` and `new` of one run each, or `old/bm25` and `new/bm25`.
    """
    parts = []
    for path in paths:
        answer = load(path)
        if not isinstance(answer, Scores):
            raise UsageError(f"{path} holds {answer!r}, not scores")
        parts.append(answer)
    runs = [run for part in parts for run in part.runs]
    if len(set(runs)) < len(runs):
        parts = [_named_by(part, run_name(p)) for part, p in zip(parts, paths, strict=True)]
    return Scores.concat(parts)


def _named_by(scores: Scores, file: str) -> Scores:
    if len(scores.runs) == 1:
        return replace(scores, runs=(file,))
    return replace(scores, runs=tuple(f"{file}/{run}" for run in scores.runs))


def baseline_measures(baseline: Any) -> str | None:
    """The measures of a baseline that was saved; None for any other."""
    if baseline is None or not is_saved(baseline):
        return None
    return " ".join(map(str, read_scores([baseline]).measures))


def with_baseline(scores: Scores, baseline: Any) -> tuple[Scores, str]:
    """The scores with those of a baseline, and its name.

    It is a run among the scores, or other scores of one run, or a file of them; those are
    compared on the measures that both have.
    """
    if isinstance(baseline, str) and baseline in scores.runs:
        return scores, baseline
    if isinstance(baseline, Scores):
        baseline_scores, name = baseline, baseline.runs[0]
    elif is_saved(baseline):
        baseline_scores, name = read_scores([baseline]), run_name(baseline)
    else:
        return scores, str(baseline)  # a comparison says what is wrong with it
    if len(baseline_scores.runs) != 1:
        raise UsageError(f"a baseline is one run, and these are {', '.join(baseline_scores.runs)}")
    name = f"baseline {name}" if name in scores.runs else name
    baseline_measures = {str(m) for m in baseline_scores.measures}
    shared = [m for m in scores.measures if str(m) in baseline_measures]
    if not shared:
        raise UsageError("the baseline has scores under none of these measures")
    parts = [scores.select(shared), replace(baseline_scores.select(shared), runs=(name,))]
    return Scores.concat(parts), name
