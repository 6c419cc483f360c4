"""Are confidences comparable across concepts? (No 11.3)

Measures of items rank an item's concepts by confidence, as if 0.7 meant the same for each. Here
every concept's confidences become chances by a curve of their own, fitted to other items, and the
runs are scored again: where their order changes, it rested on scales, not on what the runs know.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from cranfield.answers import Answer
from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError, plural
from cranfield.evaluation.calibration import calibrated, reliability
from cranfield.lab.resample import settled
from cranfield.lab.runs import LabelMaterial
from cranfield.lab.study_input import StudyInput, notes_of
from cranfield.notes import Notes, Watcher, with_progress
from cranfield.stats._resample import Floats
from cranfield.stats.correlation import kendall
from cranfield.validation import Seed, validate_params
from cranfield.work.executors import Plain, Plan, run_pieces
from cranfield.work.serialisation import floats, numbers

FOLDS = 5


@dataclass(frozen=True, repr=False, eq=False)
class Comparability(Answer):
    """Scores of runs (runs x measures) as they are and with every concept calibrated.

    `errors` are the expected calibration errors of each run before and after; `taus` say how
    alike the two rankings of the runs are under each measure.
    """

    command: ClassVar[str] = "lab comparable"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:calibration_document"

    measures: tuple[str, ...]
    runs: tuple[str, ...]
    raw: Floats
    made: Floats
    errors: Floats
    taus: tuple[float, ...]
    folds: int
    seed: int

    def payload(self, **_: object) -> dict[str, Any]:
        """Both scores of every run, and how alike the rankings are."""
        return {
            "study": "comparable",
            "folds": self.folds,
            "seed": self.seed,
            "measures": [
                {"measure": m, "kendall": tau}
                for m, tau in zip(self.measures, self.taus, strict=True)
            ],
            "runs": [
                {
                    "name": name,
                    "calibration_error": self.errors[i].tolist(),
                    "scores": dict(zip(self.measures, self.raw[i].tolist(), strict=True)),
                    "calibrated": dict(zip(self.measures, self.made[i].tolist(), strict=True)),
                }
                for i, name in enumerate(self.runs)
            ],
        }

    def headline(self) -> str:
        moved = [m for m, tau in zip(self.measures, self.taus, strict=True) if tau < 1]
        subject = f"{plural(len(self.runs), 'run')}, calibrated concept by concept"
        return f"{subject}; the order changes under {', '.join(moved) or 'no measure'}"


@dataclass(frozen=True, slots=True)
class _Piece:
    material: LabelMaterial
    name: str
    source: Any
    folds: int
    seed: int


def _run_piece(task: _Piece) -> Plain:
    notes = Notes()
    run, scored = task.material.examine(task.source, task.name, notes)
    if run.is_binary:
        return {"skipped": True}
    truth: LabelMatrix = task.material.read_labels()
    calibrated_run = calibrated(truth, run, folds=task.folds, rng=task.seed)
    errors = [diagram.error for diagram in reliability(truth, [run, calibrated_run])]
    return {
        **scored.packed(notes),
        "made": numbers(task.material.score(calibrated_run).overall),
        "errors": numbers(errors),
    }


@validate_params
@with_progress
def comparable(
    material: StudyInput,
    *,
    folds: int = FOLDS,
    rng: Seed = 0,
    plan: Plan | None = None,
    progress: Watcher | None = None,
) -> Comparability:
    """Score runs as they are and with every concept's confidences calibrated on other items."""
    if not isinstance(material, LabelMaterial):
        raise UsageError("confidences across concepts are a matter of annotation: give truth=")
    material.need_runs(3)
    plan = plan or Plan()
    material = material.for_plan(plan)
    without_runs = material.without_runs()
    pieces = {n: _Piece(without_runs, n, s, folds, rng) for n, s in material.runs}
    study = {"study": "comparable", **material.described(), "folds": folds, "seed": rng}
    answers = run_pieces(
        _run_piece, pieces, plan, study=study, loads=material.loads, progress=progress
    )
    compared = {name: answer for name, answer in answers.items() if "skipped" not in answer}
    if len(compared) < 3:
        raise UsageError(f"{plural(len(compared), 'run')} with confidences: give at least 3")
    raw, after, errors = (
        floats([a[key] for a in compared.values()]) for key in ("overall", "made", "errors")
    )
    taus = tuple(
        kendall(settled(sign * raw[:, j]), settled(sign * after[:, j])).value
        for j, sign in enumerate(material.signs)
    )
    names = tuple(map(str, material.measures))
    comparison = Comparability(
        names, tuple(compared), raw, np.asarray(after), errors, taus, folds, rng
    )
    omitted = [name for name in answers if name not in compared]
    omission = (f"left out, without confidences: {', '.join(omitted)}",) if omitted else ()
    return replace(comparison, notes=(*notes_of(compared), *omission))
