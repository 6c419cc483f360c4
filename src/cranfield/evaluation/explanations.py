"""How the scores of one item come about, run by run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cranfield.answers import Answer
from cranfield.evaluation.explain_labels import ItemExplanation, explain_item
from cranfield.evaluation.labels import LabelTask
from cranfield.io.forms import LabelsForm
from cranfield.measures._spec import Measure
from cranfield.notes import Notes
from cranfield.validation import validate_params


@dataclass(frozen=True, repr=False, eq=False)
class Explanations(Answer):
    """An item under every run: true and predicted labels, and how measures come to their values."""

    command: ClassVar[str] = "label"

    explained: tuple[ItemExplanation, ...]

    def payload(self, **_: Any) -> dict[str, Any]:
        return {"explain": [one.to_dict() for one in self.explained]}

    def headline(self) -> str:
        item = self.explained[0].item if self.explained else "nothing"
        return f"{item} in {len(self.explained)} runs"


@validate_params
def explain_labels(
    truth: LabelsForm,
    runs: Iterable[Any] | Mapping[str, Any],
    item: str,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    **options: Any,
) -> Explanations:
    """How the scores of an item come about; the options are those of `evaluate_labels`.

    >>> truth = {"a": {"Sky", "Sea"}, "b": {"Sky"}}
    >>> found = explain_labels(truth, {"mine": {"a": {"Sky"}, "b": {"Sky"}}}, "a", "F.example")
    >>> found.explained[0].values
    {'F.example': 0.6666666666666666}
    """
    task = LabelTask(truth, measures, **options)
    notes = Notes()
    notes.extend(task.notes)
    explained = tuple(
        explain_item(item, task.truth, task.aligned(run, notes).run, task.measures, task.knowledge)
        for run in task.runs(runs)
    )
    return Explanations(explained, notes=notes.lines())
