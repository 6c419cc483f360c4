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
from cranfield.lab.study_input import Material, notes_of
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

    measures: tuple[str, ...]
    runs: tuple[str, ...]
    raw: Floats
    made: Floats
    errors: Floats
    taus: tuple[float, ...]
    folds: int
    seed: int

    def payload(self, **_: Any) -> dict[str, Any]:
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
        what = f"{plural(len(self.runs), 'run')}, calibrated concept by concept"
        return f"{what}; the order changes under {', '.join(moved) or 'no measure'}"


@dataclass(frozen=True, slots=True)
class _Piece:
    material: LabelMaterial
    name: str
    source: Any
    folds: int
    seed: int


def _run_piece(piece: _Piece) -> Plain:
    notes = Notes()
    run, scored = piece.material.examine(piece.source, piece.name, notes)
    if run.is_binary:
        return {"skipped": True}
    truth: LabelMatrix = piece.material.read_labels()
    made = calibrated(truth, run, folds=piece.folds, rng=piece.seed)
    errors = [found.error for found in reliability(truth, [run, made])]
    return {
        **scored.packed(notes),
        "made": numbers(piece.material.score(made).overall),
        "errors": numbers(errors),
    }


@validate_params
@with_progress
def comparable(
    material: Material,
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
    bare = material.without_runs()
    pieces = {n: _Piece(bare, n, s, folds, rng) for n, s in material.runs}
    study = {"study": "comparable", **material.described(), "folds": folds, "seed": rng}
    done = run_pieces(
        _run_piece, pieces, plan, study=study, loads=material.loads, progress=progress
    )
    kept = {name: answer for name, answer in done.items() if "skipped" not in answer}
    if len(kept) < 3:
        raise UsageError(f"{plural(len(kept), 'run')} with confidences: give at least 3")
    raw, made, errors = (
        floats([a[key] for a in kept.values()]) for key in ("overall", "made", "errors")
    )
    taus = tuple(
        kendall(settled(sign * raw[:, j]), settled(sign * made[:, j])).value
        for j, sign in enumerate(material.signs)
    )
    names = tuple(map(str, material.measures))
    found = Comparability(names, tuple(kept), raw, np.asarray(made), errors, taus, folds, rng)
    left = [name for name in done if name not in kept]
    told = (f"left out, without confidences: {', '.join(left)}",) if left else ()
    return replace(found, notes=(*notes_of(kept), *told))
