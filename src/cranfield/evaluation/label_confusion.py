"""What annotation runs get wrong: concepts taken for others, and wrong labels by confidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cranfield.data.labels import CHUNK_CELLS, LabelMatrix
from cranfield.errors import NeedsError
from cranfield.notes import Notes, Progress
from cranfield.options import DEFAULT_THRESHOLD

if TYPE_CHECKING:
    from cranfield.evaluation.scores import Scores
    from cranfield.io.coerce import LabelsForm
    from cranfield.notes import Watcher

BINS = 10
KEPT = 50
_COUNTS = ("confused", "missed", "assigned", "wrong")


@dataclass(frozen=True, order=True, slots=True)
class WrongLabel:
    """A label that an item does not have, and how sure a run was of it."""

    confidence: float
    run: str
    item: str
    concept: str


@dataclass
class Mistakes:
    """Collects the mistakes of runs, one aligned run after the other.

    `confused[i, j]` counts, over items and runs, where concept i was missed and concept j was
    assigned instead of it: both in one item. `assigned` and `wrong` count labels by the tenth
    of the confidence that the run gave them; runs without confidences are not in them. `worst`
    has the wrong labels of which runs were most sure. `named` are the items and concepts that runs
    name themselves; None for concepts where a run has columns without names.
    """

    concepts: tuple[str, ...]
    truth: LabelMatrix | None = None
    confused: NDArray[np.int64] = field(init=False)
    missed: NDArray[np.int64] = field(init=False)
    assigned: NDArray[np.int64] = field(init=False)
    wrong: NDArray[np.int64] = field(init=False)
    worst: list[WrongLabel] = field(default_factory=list)
    runs: int = 0
    named: dict[str, set[str] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        count = len(self.concepts)
        self.confused = np.zeros((count, count), dtype=np.int64)
        self.missed = np.zeros(count, dtype=np.int64)
        self.assigned = np.zeros(BINS, dtype=np.int64)
        self.wrong = np.zeros(BINS, dtype=np.int64)

    def to_plain(self) -> dict[str, Any]:
        """The counts as JSON has them; the truth is not among them."""
        counts = {name: getattr(self, name).tolist() for name in _COUNTS}
        worst = [[w.confidence, w.run, w.item, w.concept] for w in self.worst]
        return {"concepts": list(self.concepts), "runs": self.runs, "worst": worst, **counts}

    @classmethod
    def joined(cls, parts: Sequence[Mapping[str, Any]]) -> Mistakes:
        """The mistakes of runs that were looked at one by one, from their plain counts."""
        total = cls(tuple(parts[0]["concepts"]))
        for part in parts:
            for name in _COUNTS:
                setattr(total, name, getattr(total, name) + np.array(part[name], dtype=np.int64))
            total.runs += int(part["runs"])
            total.worst = _surest([*total.worst, *(WrongLabel(*w) for w in part["worst"])])
        return total

    def add(self, run: LabelMatrix) -> None:
        """Count the mistakes of a run that is aligned to the truth."""
        if self.truth is None:
            raise NeedsError("mistakes are counted against a truth")
        decided = run.with_threshold(DEFAULT_THRESHOLD)
        items, concepts = self.truth.shape
        step = max(1, CHUNK_CELLS // max(concepts, 1))
        for start in range(0, items, step):
            true, _ = self.truth.rows(start, start + step)
            labels, sure = decided.rows(start, start + step)
            if true is None or labels is None:
                raise NeedsError("mistakes are counted on a truth of labels")
            false, missed = labels & ~true, true & ~labels
            # Whole numbers below 2**24 are exact in single precision, which multiplies fast.
            pairs = missed.astype(np.float32).T @ false.astype(np.float32)
            self.confused += pairs.astype(np.int64)
            self.missed += missed.sum(axis=0)
            if sure is not None:
                names = self.truth.items[start : start + step]
                self._add_confidences(run.name, names, labels, false, sure)
        self.runs += 1

    def heard(self, run: LabelMatrix) -> None:
        """Remember what a run names, before it is brought to the truth's items and concepts."""
        concepts = set(run.concepts) if run.named else None
        for unit, unit_names in (("item", set(run.items)), ("concept", concepts)):
            previous = self.named.get(unit, set())
            self.named[unit] = (
                None if unit_names is None or previous is None else previous | unit_names
            )

    def _add_confidences(
        self,
        name: str,
        items: Sequence[str],
        labels: Any,
        false: Any,
        sure: NDArray[np.float64],
    ) -> None:
        for counts, mask in ((self.assigned, labels), (self.wrong, false)):
            at = np.minimum((sure[mask] * BINS).astype(np.int64), BINS - 1)
            counts += np.bincount(at, minlength=BINS)
        rows, columns = np.nonzero(false)
        if not rows.size:
            return
        values = sure[rows, columns]
        # The surest, and of equally sure ones the first.
        order = np.lexsort((columns, rows, -values))[:KEPT]
        wrong_labels = [
            WrongLabel(
                float(values[k]),
                name,
                items[int(rows[k])],
                self.concepts[int(columns[k])],
            )
            for k in order.tolist()
        ]
        self.worst = _surest([*self.worst, *wrong_labels])


def _surest(labels: Sequence[WrongLabel]) -> list[WrongLabel]:
    return sorted(labels, key=lambda w: (-w.confidence, w.run, w.item, w.concept))[:KEPT]


def score_with_mistakes(
    truth: LabelsForm,
    runs: Sequence[Any] | Mapping[str, Any],
    measures: Any = None,
    *,
    jobs: int | None = None,
    progress: Watcher | None = None,
    **options: Any,
) -> tuple[Scores, Mistakes]:
    """The scores of runs, as `evaluate_labels` gives them, and their mistakes; read once."""
    from cranfield.evaluation.labels import LabelTask

    report_progress = Progress.of(progress)
    task = LabelTask(truth, measures, **options)
    task.check_complete("a list of mistakes")
    mistakes = Mistakes(task.truth.concepts, task.truth)

    def passing() -> Iterator[LabelMatrix]:
        for k, run in enumerate(task.runs(runs), 1):
            report_progress.check()
            mistakes.heard(run)
            mistakes.add(task.aligned(run, Notes()).run)
            yield run
            report_progress(k / len(runs))

    return task.evaluate(passing(), jobs=jobs), mistakes
