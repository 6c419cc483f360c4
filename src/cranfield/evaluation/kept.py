"""Going on without the runs that cannot be read: which are good, and why the others are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from cranfield._records import replace
from cranfield.answers import Answer
from cranfield.errors import InputError
from cranfield.io.forms import is_file

if TYPE_CHECKING:
    from cranfield.evaluation.labels import LabelTask

A = TypeVar("A", bound=Answer)
LEFT_OUT = "left out: "


def good_runs(
    runs: Sequence[Any], truth: Any = None, **known: Any
) -> tuple[list[Any], tuple[str, ...]]:
    """The runs that can be read, and a line for every problem of the others.

    With a `truth` they are annotations, and must also fit it; `known` are options of
    `evaluate_labels` that say what its columns are. An InputError when none is left.
    """
    task = None if truth is None else _task(truth, known)
    good: list[Any] = []
    told: list[str] = []
    for run in runs:
        try:
            _try(run, task)
        except InputError as error:
            told += [f"{LEFT_OUT}{line}" for line in str(error).splitlines()]
            last = error
        else:
            good.append(run)
    if runs and not good:
        raise last
    return good, tuple(told)


def keep_good(asked: dict[str, Any]) -> tuple[str, ...]:
    """Leave the good of the `runs` asked for, if `keep_going` is asked for too; what was told of
    the others."""
    if not asked.pop("keep_going"):
        return ()
    known = {name: value for name, value in asked.items() if name not in ("runs", "truth")}
    asked["runs"], told = good_runs(asked["runs"], asked.get("truth"), **known)
    return told


def with_notes(answer: A, lines: Sequence[str]) -> A:
    """An answer that also tells what was left out."""
    return replace(answer, notes=(*answer.notes, *lines)) if lines else answer


def _task(truth: Any, known: dict[str, Any]) -> LabelTask:
    from cranfield.evaluation.labels import LabelTask

    # Any measure will do: only the truth and its columns are looked at.
    names = ("concepts", "scores", "ontology")
    options = {name: known[name] for name in names if known.get(name) is not None}
    return LabelTask(truth, "F.example", unlisted="absent", **options)


def _try(run: Any, task: LabelTask | None) -> None:
    from cranfield.io import read_run
    from cranfield.notes import Notes

    if task is None:
        if is_file(run):
            read_run(run)
        return
    for labels in task.runs([run]):
        task.aligned(labels, Notes())
