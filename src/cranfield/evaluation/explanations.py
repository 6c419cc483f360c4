"""Where the score of a run comes from: one item step by step, and the mistakes of whole runs.

Mistakes are concepts taken for others, and wrong labels, the surest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield.answers import Answer
from cranfield.data.labels import CHUNK_CELLS, LabelMatrix
from cranfield.data.ontology import Knowledge, Violation
from cranfield.errors import NeedsError, UsageError, suggest
from cranfield.evaluation.labels import LabelTask
from cranfield.evaluation.losses import RunLoss, run_losses
from cranfield.io.coerce import LabelsForm
from cranfield.measures.base import Measure
from cranfield.measures.labels.blocks import ItemBlock, PerItem
from cranfield.measures.labels.ontology import matching_of
from cranfield.notes import Notes, Progress
from cranfield.options import DEFAULT_THRESHOLD
from cranfield.validation import validate_params

if TYPE_CHECKING:
    from cranfield.evaluation.scores import Scores
    from cranfield.io.coerce import LabelsForm
    from cranfield.notes import Watcher

PARTNERS_NAMED = 3


@dataclass(frozen=True, slots=True)
class Step:
    """One label on its way into a score: what it was matched with and what that counts.

    `partners` are all labels that are equally near; there is none where the whole cost is paid.
    """

    label: str
    role: str
    partners: tuple[str, ...]
    cost: float
    agreement: float
    counts: float

    @property
    def partner(self) -> str | None:
        """The partners in words, the first few of them by name."""
        first_partners, others = self.partners[:PARTNERS_NAMED], len(self.partners) - PARTNERS_NAMED
        remainder = [f"{others} more"] if others > 0 else []
        return " or ".join([*first_partners, *remainder]) or None


@dataclass(frozen=True, slots=True)
class Derivation:
    """How OS, HS or SRP of an item comes about."""

    measure: Measure
    steps: tuple[Step, ...]
    arithmetic: str
    value: float


@dataclass(frozen=True, slots=True)
class ItemExplanation:
    """Everything a reader needs to check the scores of one item of one run."""

    run: str
    item: str
    truth: tuple[str, ...]
    predicted: tuple[str, ...]
    confidences: dict[str, float] | None
    broken: tuple[Violation, ...]
    derivations: tuple[Derivation, ...]
    values: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "item": self.item,
            "truth": list(self.truth),
            "predicted": list(self.predicted),
            "confidences": self.confidences,
            "broken": [{"concept": v.concept, "rule": v.rule} for v in self.broken],
            "values": self.values,
            "derivations": [
                {
                    "measure": str(d.measure),
                    "steps": [
                        {
                            "label": s.label,
                            "role": s.role,
                            "matched_with": s.partner,
                            "cost": s.cost,
                            "agreement": s.agreement,
                            "counts": s.counts,
                        }
                        for s in d.steps
                    ],
                    "arithmetic": d.arithmetic,
                    "value": d.value,
                }
                for d in self.derivations
            ],
        }


def explain_item(
    item: str,
    truth: LabelMatrix,
    run: LabelMatrix,
    measures: tuple[Measure, ...],
    knowledge: Knowledge,
) -> ItemExplanation:
    """The scores of an item of a run that is aligned to the truth."""
    if item not in truth.items:
        raise UsageError(f"the truth has no item {item!r}.{suggest(item, truth.items)}")
    at = truth.items.index(item)
    block = ItemBlock(truth.rows(at, at + 1)[0], *run.rows(at, at + 1), knowledge)  # type: ignore[arg-type]
    true, predicted = _names(block.truth[0], truth), _names(block.labels[0], truth)
    rules = knowledge.ontology
    broken = tuple(rules.violations(predicted)) if rules is not None else ()
    derivations = []
    for measure in measures:
        if measure.name in ("OS", "HS"):
            derivations.append(_matching(measure, block))
        elif measure.name == "SRP" and true:
            derivations.append(_assignment(measure, block))
    values = {}
    for measure in measures:
        plan = measure.plan(measure)
        if isinstance(plan, PerItem):
            values[str(measure)] = float(plan.values(block)[0])
    return ItemExplanation(
        run.name,
        item,
        true,
        predicted,
        None
        if run.is_binary
        else {c: float(v) for c, v in zip(truth.concepts, block.confidences[0], strict=True)},
        broken,
        tuple(derivations),
        values,
    )


def _names(flags: Any, truth: LabelMatrix) -> tuple[str, ...]:
    return tuple(truth.concepts[j] for j in np.flatnonzero(flags))


ROLES = {"broken": "breaks a rule", "wrong": "wrong", "missed": "missed"}


def _matching(measure: Measure, block: ItemBlock) -> Derivation:
    """The steps of No 7.1 to 7.3, one label at a time, as the kernel takes them."""
    names = block.knowledge.concepts
    steps = tuple(
        Step(
            names[label],
            ROLES[role],
            tuple(names[p] for p in partners),
            cost,
            agreement,
            cost * agreement,
        )
        for label, role, cost, agreement, partners in block.match_parts(matching_of(measure), 0)
    )
    union = int((block.truth | block.labels).sum())
    value = _value(measure, block)
    if not union:
        return Derivation(
            measure, steps, f"{measure} = 1: nothing is true and nothing is predicted", value
        )
    alpha = float(measure.value_of("alpha"))
    power = "" if alpha == 1 else f" to the power {alpha:g}"
    total = sum(s.counts for s in steps)
    arithmetic = f"{measure} = 1 - {total:.4f} / {union}{power} = {value:.4f}"
    return Derivation(measure, steps, arithmetic, value)


def _assignment(measure: Measure, block: ItemBlock) -> Derivation:
    """The best one-to-one assignment of the |Y| best ranked concepts (No 9.3)."""
    knowledge = block.knowledge
    costs = knowledge.costs(str(measure.value_of("cost")))
    pairs = _core.assigned_pairs(block.truth, block.confidences, costs, 0)
    # By confidence, and in the order of the vocabulary among equals, as the measure ranks them.
    pairs.sort(key=lambda pair: (-block.confidences[0, pair[0]], pair[0]))
    steps = tuple(
        Step(knowledge.concepts[a], f"rank {i}", (knowledge.concepts[b],), cost, 1.0, 1.0 - cost)
        for i, (a, b, cost) in enumerate(pairs, 1)
    )
    value = _value(measure, block)
    total = sum(s.counts for s in steps)
    return Derivation(
        measure, steps, f"{measure} = {total:.4f} / {len(steps)} = {value:.4f}", value
    )


def _value(measure: Measure, block: ItemBlock) -> float:
    return float(measure.plan(measure).values(block)[0])


@dataclass(frozen=True, repr=False, eq=False)
class Explanations(Answer):
    """An item under every run: true and predicted labels, and how measures come to their values."""

    command: ClassVar[str] = "label"
    table_maker: ClassVar[str] = "cranfield.report.tables.evaluation:explanations_document"

    explained: tuple[ItemExplanation, ...]

    def payload(self, **_: object) -> dict[str, Any]:
        return {"explain": [explanation.to_dict() for explanation in self.explained]}

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
    task.check_complete("an explanation")
    notes = Notes()
    notes.extend(task.notes)
    explained = tuple(
        explain_item(item, task.truth, task.aligned(run, notes).run, task.measures, task.knowledge)
        for run in task.runs(runs)
    )
    return Explanations(explained, notes=notes.lines())


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
    has the wrong labels of which runs were most sure. `losses` are those of each run by reason,
    under measures with costs or a hierarchy. `named` are the items and concepts that runs
    name themselves; None for concepts where a run has columns without names.
    """

    concepts: tuple[str, ...]
    truth: LabelMatrix | None = None
    confused: NDArray[np.int64] = field(init=False)
    missed: NDArray[np.int64] = field(init=False)
    assigned: NDArray[np.int64] = field(init=False)
    wrong: NDArray[np.int64] = field(init=False)
    worst: list[WrongLabel] = field(default_factory=list)
    losses: list[RunLoss] = field(default_factory=list)
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
        losses = [loss.to_dict() for loss in self.losses]
        record = {"concepts": list(self.concepts), "runs": self.runs, "worst": worst}
        return record | {"losses": losses, **counts}

    @classmethod
    def joined(cls, parts: Sequence[Mapping[str, Any]]) -> Mistakes:
        """The mistakes of runs that were looked at one by one, from their plain counts."""
        total = cls(tuple(parts[0]["concepts"]))
        for part in parts:
            for name in _COUNTS:
                setattr(total, name, getattr(total, name) + np.array(part[name], dtype=np.int64))
            total.runs += int(part["runs"])
            # Counts of an earlier version have no losses.
            total.losses += [RunLoss.from_dict(loss) for loss in part.get("losses", ())]
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
            aligned = task.aligned(run, Notes()).run
            mistakes.add(aligned)
            # Under probabilities a score is a mean over truths, which has no reasons of one.
            if task.chances is None:
                mistakes.losses += run_losses(task.truth, aligned, task.measures, task.knowledge)
            yield run
            report_progress(k / len(runs))

    return task.evaluate(passing(), jobs=jobs), mistakes
