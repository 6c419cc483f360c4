"""What is scored: ranked runs, annotations or saved scores, told apart by what was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from cranfield._records import dataclass, replace
from cranfield.answers import Answer
from cranfield.errors import InputError, UsageError
from cranfield.evaluation.saved_scores import is_saved, read_scores
from cranfield.io.coerce import is_file

if TYPE_CHECKING:
    from cranfield.evaluation.labels import LabelTask
    from cranfield.evaluation.scores import Scores
    from cranfield.notes import Progress

A = TypeVar("A", bound=Answer)
LEFT_OUT = "left out: "


def select_readable_runs(
    runs: Sequence[Any], truth: Any = None, **options: Any
) -> tuple[list[Any], tuple[str, ...]]:
    """The runs that can be read, and a line for every problem of the others.

    With a `truth` they are annotations, and must also fit it; `options` are options of
    `evaluate_labels` that say what its columns are. An InputError when none is left.
    """
    task = None if truth is None else _task(truth, options)
    good: list[Any] = []
    messages: list[str] = []
    for run in runs:
        try:
            _try(run, task)
        except InputError as error:
            messages += [f"{LEFT_OUT}{line}" for line in str(error).splitlines()]
            last = error
        else:
            good.append(run)
    if runs and not good:
        raise last
    return good, tuple(messages)


def drop_unreadable_runs(request: dict[str, Any]) -> tuple[str, ...]:
    """Leave the good of the `runs` asked for, if `keep_going` is asked for too; what was told of
    the others."""
    if not request.pop("keep_going"):
        return ()
    options = {name: value for name, value in request.items() if name not in ("runs", "truth")}
    request["runs"], messages = select_readable_runs(
        request["runs"], request.get("truth"), **options
    )
    return messages


def with_notes(answer: A, lines: Sequence[str]) -> A:
    """An answer that also tells what was left out."""
    return replace(answer, notes=(*answer.notes, *lines)) if lines else answer


def _task(truth: Any, label_options: dict[str, Any]) -> LabelTask:
    from cranfield.evaluation.labels import LabelTask

    # Any measure will do: only the truth and its columns are looked at.
    names = ("concepts", "scores", "ontology")
    options = {name: label_options[name] for name in names if label_options.get(name) is not None}
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


# Options of `evaluate` that ask for something of the rankings, with their usual values.
RANKED_OPTIONS: Mapping[str, Any] = {
    "topics": "judged",
    "ties": "id",
    "judged_only": False,
    "max_items": None,
    "collection_size": None,
    "missing": "worst",
    "gmt": None,
}
# Those of `evaluate_labels` that say what is known of the concepts.
LABEL_OPTIONS = (
    *("ontology", "rules", "costmap", "agreement", "concepts", "threshold", "thresholds"),
    "unlisted",
)
SUBJECT_OPTIONS = frozenset([*RANKED_OPTIONS, *LABEL_OPTIONS, "scores"])


@dataclass(frozen=True)
class EvaluationInput:
    """Runs and what they are scored against, with the options of that kind of runs."""

    kind: Literal["ranked", "labels", "saved"]
    options: Mapping[str, Any]

    @classmethod
    def of(
        cls, files: Sequence[Any], truth: Any = None, *, min_runs: int = 1, **options: Any
    ) -> EvaluationInput:
        """The runs of `files` against `truth`; without one, against the judgements, the first file.

        Files of saved scores need neither. `min_runs` runs must be there. `options` are those of
        `evaluate` and `evaluate_labels`; one that the other kind alone knows is refused.
        """
        if truth is not None:
            ranked = RANKED_OPTIONS.items()
            foreign = [name for name, usual in ranked if options.pop(name, usual) != usual]
            if foreign:
                raise UsageError(f"{foreign[0]}= is for ranked runs, not for annotation")
            if len(files) < min_runs:
                raise UsageError(f"give {_runs(min_runs)} beside the truth")
            return cls("labels", {"truth": truth, "runs": files, **options})
        for name in (*LABEL_OPTIONS, "scores"):
            if options.pop(name, None) not in (None, "confidence", (), {}):
                raise UsageError(f"{name}= is for annotation; name the truth with truth=")
        if len(files) and all(map(is_saved, files)):
            return cls("saved", {"paths": files})
        if len(files) < min_runs + 1:
            raise UsageError(
                f"give judgements and {_runs(min_runs)}; for annotation, truth= and runs"
            )
        return cls("ranked", {"judgements": files[0], "runs": files[1:], **options})

    def without_bad(self) -> tuple[EvaluationInput, tuple[str, ...]]:
        """The same with the runs that can be read, and what is wrong with the others."""
        if self.kind == "saved":
            return self, ()
        options = dict(self.options)
        options["runs"], messages = select_readable_runs(
            **{k: v for k, v in options.items() if k != "judgements"}
        )
        return replace(self, options=options), messages

    def wanted(self, measures: str | None) -> str | None:
        """The measures asked for, or the usual ones where their names are known beforehand."""
        if measures is None and self.kind == "ranked":
            from cranfield.evaluation.ranked import DEFAULT_MEASURES

            return DEFAULT_MEASURES
        return measures

    def scores(
        self, measures: str | None, jobs: int | None = None, progress: Progress | None = None
    ) -> Scores:
        """The scores under some measures, or the usual ones."""
        if self.kind == "saved":
            return read_scores(self.options["paths"])
        arguments: dict[str, Any] = {
            "measures": self.wanted(measures),
            "jobs": jobs,
            "progress": progress,
        }
        if self.kind == "ranked":
            from cranfield.evaluation.ranked import evaluate

            return evaluate(**arguments, **self.options)
        from cranfield.evaluation.labels import evaluate_labels

        return evaluate_labels(**arguments, **self.options)


def _runs(min_runs: int) -> str:
    return "runs" if min_runs == 1 else "two runs or more"
