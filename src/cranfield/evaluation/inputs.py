"""What is scored: ranked runs, annotations or saved scores, told apart by what was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

from cranfield.answers import FORMAT, Answer, load
from cranfield.errors import InputError, UsageError
from cranfield.evaluation.scores import Scores
from cranfield.io.coerce import is_file
from cranfield.io.files import (
    FileForm,
    Input,
    can_be_read_again,
    inner_suffix,
    open_input,
    run_name,
)
from cranfield.io.sniff import holds_regions
from cranfield.validation import validate_params

if TYPE_CHECKING:
    from cranfield.evaluation.kernel_plan import Ties
    from cranfield.evaluation.label_inputs import (
        AgreementSource,
        ConceptSource,
        CostSources,
        OntologySource,
        ThresholdSource,
    )
    from cranfield.evaluation.labels import LabelTask
    from cranfield.evaluation.ranked import Missing, Topics
    from cranfield.notes import Progress


class EvaluationOptions(TypedDict, total=False):
    """The options of `evaluate` and `evaluate_labels` by name, for what scores under two truths."""

    topics: Topics
    ties: Ties
    tie_range: bool
    judged_only: bool
    max_items: int | None
    min_score: float | str | None
    ignore_self: bool
    collection_size: int | None
    missing: Missing
    gmt: int | None
    ontology: OntologySource | None
    rules: str | Path | None
    costmap: CostSources | None
    agreement: AgreementSource | None
    concepts: ConceptSource | None
    threshold: ThresholdSource | None
    thresholds: Mapping[str, ThresholdSource] | None
    scores: str
    unlisted: str | None
    soft: bool
    draws: int | None


# How a saved result begins, and what was printed as JSON or saved in the first layout.
_STARTS = (f'{{"format":"{FORMAT}"'.encode(), b'{"cranfield"')


def is_saved(path: FileForm) -> bool:
    """Whether a file holds an answer, by how it begins."""
    if isinstance(path, Input):
        return False
    if inner_suffix(path) != ".json" or not can_be_read_again(path) or not Path(path).is_file():
        return False
    with open_input(path) as stream:
        return b"".join(stream.read(64).split()).startswith(_STARTS)


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

    It is a run among the scores, or other scores of one run, or a file of them; of accepted
    baselines it is the last. Scores are compared on the measures that both have.
    """
    if isinstance(baseline, str) and baseline in scores.runs:
        return scores, baseline
    if isinstance(baseline, Scores):
        baseline_scores, name = baseline, baseline.runs[0]
    elif is_saved(baseline):
        baseline_scores, name = read_scores([baseline]), run_name(baseline)
    else:
        return scores, str(baseline)  # a comparison says what is wrong with it
    if baseline_scores.accepted:
        last = baseline_scores.runs[baseline_scores.accepted - 1]
        name = last if isinstance(baseline, Scores) else name
        baseline_scores = baseline_scores.of_runs([last])
    if len(baseline_scores.runs) != 1:
        raise UsageError(f"a baseline is one run, and these are {', '.join(baseline_scores.runs)}")
    name = f"baseline {name}" if name in scores.runs else name
    baseline_measures = {str(m) for m in baseline_scores.measures}
    shared = [m for m in scores.measures if str(m) in baseline_measures]
    if not shared:
        raise UsageError("the baseline has scores under none of these measures")
    parts = [scores.select(shared), replace(baseline_scores.select(shared), runs=(name,))]
    return Scores.concat(parts), name


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
    "min_score": None,
    "ignore_self": False,
    "collection_size": None,
    "missing": "worst",
    "gmt": None,
}
# Those of `evaluate_labels` that say what is known of the concepts.
LABEL_OPTIONS = (
    *("ontology", "rules", "costmap", "agreement", "concepts", "threshold", "thresholds"),
    "unlisted",
)
# Those of them that say what confusing the concepts of boxes costs.
REGION_OPTIONS = ("ontology", "costmap")
SUBJECT_OPTIONS = frozenset([*RANKED_OPTIONS, *LABEL_OPTIONS, "scores"])


@dataclass(frozen=True)
class EvaluationInput:
    """Runs and what they are scored against, with the options of that kind of runs."""

    kind: Literal["ranked", "labels", "regions", "saved"]
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
            if holds_regions(truth):
                return cls("regions", {"truth": truth, "runs": files} | _of_regions(options))
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
        if self.kind in ("saved", "regions"):
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
        if self.kind == "regions":
            from cranfield.evaluation.regions import evaluate_regions

            return evaluate_regions(**arguments, **self.options)
        from cranfield.evaluation.labels import evaluate_labels

        return evaluate_labels(**arguments, **self.options)


def _of_regions(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that boxes have as well; a UsageError for one that is of labels."""
    for name in (*LABEL_OPTIONS, "scores"):
        if name not in REGION_OPTIONS and options.get(name) not in (None, "confidence", (), {}):
            raise UsageError(f"{name}= is for annotation with labels, not for boxes")
    values = {name: options[name] for name in REGION_OPTIONS if options.get(name) is not None}
    costs = values.get("costmap")
    if isinstance(costs, Mapping) and set(costs) <= {""}:  # costs by name, as labels have them
        if costs:
            values["costmap"] = costs[""]
        else:
            del values["costmap"]
    elif isinstance(costs, Mapping):
        raise UsageError("costmap= has a name, but boxes have one cost map")
    return values


def _runs(min_runs: int) -> str:
    return "runs" if min_runs == 1 else "two runs or more"
