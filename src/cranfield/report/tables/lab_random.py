"""Tables of random runs beside real ones."""

from __future__ import annotations

from cranfield.lab.studies.random_runs import RandomStudy
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables._study import study_document


def random_document(answer: RandomStudy, *, all_runs: bool = False) -> Document:
    """A row per measure; with `all_runs` also the scores of every run."""
    tables = [_verdicts(answer), *_densities(answer), *([_runs(answer)] if all_runs else [])]
    return study_document(answer, tables)


def _densities(answer: RandomStudy) -> list[Table]:
    """What random runs of a density reach: mean, least and most, where there are several."""
    groups = answer.by_density()
    if not any(count > 1 for _, count, _ in groups):
        return []
    columns = [Column("density", 2), Column("runs")]
    for m in answer.measures:
        columns += [
            Column(m),
            Column(f"{m} low", heading="low"),
            Column(f"{m} high", heading="high"),
        ]
    rows: list[list[Cell]] = [
        [
            density,
            count,
            *(
                float(end)
                for values in scores.T
                for end in (values.mean(), values.min(), values.max())
            ),
        ]
        for density, count, scores in groups
    ]
    return [Table(columns, rows, "Random runs by label density")]


def _verdicts(answer: RandomStudy) -> Table:
    over = any(r.kind == "over" for r in answer.runs)
    columns = [
        Column("measure", numeric=False),
        Column("median_real", heading="median real"),
        Column("best_random", heading="best random"),
        Column("run", numeric=False),
        Column("beaten", 2, heading="real runs beaten"),
        Column("separates", numeric=False),
    ]
    if over:
        columns.append(Column("over_pays", 2, heading="over-annotation pays"))
    says = {True: "yes", False: "NO", None: "-"}
    rows: list[list[Cell]] = [
        [
            v.measure,
            v.median_real,
            v.best_random,
            v.best_random_run,
            v.beaten,
            says[v.separates],
            *([v.over_pays] if over else []),
        ]
        for v in answer.verdicts
    ]
    notes = ["separates: the best random run stays below the median of the real ones"]
    return Table(columns, rows, "Random runs beside real ones", notes)


def _runs(answer: RandomStudy) -> Table:
    """Every run with its label density and scores."""
    columns = [
        Column("run", numeric=False),
        Column("kind", numeric=False),
        Column("density", 3),
        *(Column(m) for m in answer.measures),
    ]
    rows: list[list[Cell]] = [
        [r.name, r.kind, r.density, *map(float, s)]
        for r, s in zip(answer.runs, answer.scores, strict=True)
    ]
    return Table(columns, rows, "Score against label density")
