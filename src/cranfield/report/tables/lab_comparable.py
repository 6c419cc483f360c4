"""Tables of runs as they are and with every concept calibrated."""

from __future__ import annotations

from cranfield.lab.studies.calibration import Comparability
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables._study import study_document


def calibration_document(answer: Comparability) -> Document:
    """How alike the rankings are, and both scores of every run."""
    verdicts: list[list[Cell]] = [
        [m, tau] for m, tau in zip(answer.measures, answer.taus, strict=True)
    ]
    columns = [Column("measure", numeric=False), Column("kendall", 3, heading="tau")]
    notes = [
        f"tau between the rankings of {len(answer.runs)} runs before and after each concept's "
        f"confidences were fitted to the truth of other items ({answer.folds} folds)"
    ]
    alike = Table(columns, verdicts, "Are confidences comparable across concepts?", notes)
    heads = [Column("run", numeric=False), Column("error", 3), Column("after", 3)]
    for m in answer.measures:
        heads += [Column(m), Column(f"{m} calibrated", heading="calibrated")]
    rows: list[list[Cell]] = [
        [
            name,
            *answer.errors[i].tolist(),
            *(
                v
                for j in range(len(answer.measures))
                for v in (answer.raw[i, j], answer.made[i, j])
            ),
        ]
        for i, name in enumerate(answer.runs)
    ]
    return study_document(answer, [alike, Table(heads, rows, "Runs, and their calibration error")])
