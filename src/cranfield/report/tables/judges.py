"""Tables of judges beside the gold."""

from __future__ import annotations

from cranfield.comparison.judges import IntervalEstimate, JudgesReport
from cranfield.report.document import Cell, Column, Document, Table


def document(report: JudgesReport, **_: object) -> Document:
    """Agreement, confusion, and what each judge does to means, rankings and single runs."""
    tables = [_agreement(report), _confusion(report)]
    if any(judge.measures for judge in report.judges):
        tables += [_rankings(report), _means(report)]
    tables += [t for t in (_swaps(report), _families(report)) if t.rows]
    return Document(report.to_dict, tables, report.notes)


def _text(*names: str) -> list[Column]:
    return [Column(name, numeric=False) for name in names]


def _three(estimate: IntervalEstimate) -> list[Cell]:
    return [estimate.value, estimate.low, estimate.high]


def _agreement(report: JudgesReport) -> Table:
    columns = [*_text("judge"), Column("judgements")]
    for name, heading in (
        ("share", "same"),
        ("kappa", "kappa"),
        ("weighted", "weighted"),
        ("shift", "shift"),
    ):
        columns += [Column(name, 3, heading=heading), Column(f"{name}_low", 3, heading="from")]
        columns += [Column(f"{name}_high", 3, heading="to")]
    rows: list[list[Cell]] = []
    for judge in report.judges:
        a = judge.agreement
        row: list[Cell] = [judge.name, a.judgements]
        for estimate in (a.share, a.kappa, a.weighted, a.shift):
            row += _three(estimate)
        rows.append(row)
    notes = [
        "same: the share of equal grades; kappa: beyond chance (Cohen); weighted: with squared "
        "distances of grades; shift: mean grade of the judge less that of the gold.",
        f"{100 * (1 - report.alpha):g} % intervals: {report.unit}s drawn anew, {report.resamples} "
        f"resamples, seed {report.seed}.",
    ]
    return Table(columns, rows, "Agreement with the gold", notes)


def _confusion(report: JudgesReport) -> Table:
    levels = sorted({level for judge in report.judges for level in judge.agreement.levels})
    columns = [*_text("judge"), Column("gold", 0)]
    columns += [Column(f"given_{level:g}", heading=f"{level:g}") for level in levels]
    rows: list[list[Cell]] = []
    for judge in report.judges:
        a = judge.agreement
        for level, counts in zip(a.levels, a.confusion, strict=True):
            count_of = dict(zip(a.levels, counts, strict=True))
            rows.append([judge.name, f"{level:g}", *(count_of.get(g, 0) for g in levels)])
    return Table(columns, rows, "What the judge gives (columns) where the gold has (rows)")


def _rankings(report: JudgesReport) -> Table:
    columns = [*_text("judge", "measure"), Column("units"), Column("tau", 3)]
    columns += [Column("tau_ap", 3, heading="tau AP"), Column("swaps"), Column("pairs")]
    columns.append(Column("interaction_p", heading="p alike", below=True))
    rows: list[list[Cell]] = []
    for judge in report.judges:
        for m in judge.measures:
            row: list[Cell] = [judge.name, m.measure, m.units, m.tau, m.tau_ap]
            rows.append([*row, len(m.swaps), m.pairs, m.interaction_p])
    notes = [
        "tau, tau AP: of the runs by their means under judge and gold; swaps: pairs of which one "
        "truth is sure (t, Holm) and the other says the opposite.",
        "p alike: that the judge changes all runs alike; a small one says that it favours some.",
    ]
    return Table(columns, rows, "What the judges do to the ranking of the runs", notes)


def _means(report: JudgesReport) -> Table:
    columns = [*_text("judge", "measure", "run"), Column("gold"), Column("judged")]
    columns += [Column("shift_low", heading="shift from"), Column("shift_high", heading="to")]
    columns += [Column("ahead"), Column("ahead_low", heading="from")]
    columns += [Column("ahead_high", heading="to"), Column("p", heading="p corr.", below=True)]
    rows: list[list[Cell]] = []
    for judge in report.judges:
        for m in judge.measures:
            for i, run in enumerate(m.runs):
                row: list[Cell] = [judge.name, m.measure, run, m.gold[i], m.judged[i], *m.shift[i]]
                favour = m.favours[i] if m.favours else None
                rows.append(
                    [*row, None, None, None, None]
                    if favour is None
                    else [*row, favour.ahead, *favour.ci, favour.p_corrected]
                )
    note = "shift: judged less gold; ahead: how much more than the other runs this one gains"
    return Table(columns, rows, "Means under gold and judge", [note])


def _swaps(report: JudgesReport) -> Table:
    columns = [*_text("judge", "measure", "a", "b"), Column("gold"), Column("gold_p", below=True)]
    columns += [Column("judged"), Column("judged_p", below=True)]
    rows: list[list[Cell]] = []
    for judge in report.judges:
        for m in judge.measures:
            for s in m.swaps:
                gold: list[Cell] = [s.gold_difference, s.gold_p]
                judged: list[Cell] = [s.judged_difference, s.judged_p]
                rows.append([judge.name, m.measure, s.a, s.b, *gold, *judged])
    return Table(columns, rows, "Differences that turn round")


def _families(report: JudgesReport) -> Table:
    columns = [*_text("judge", "measure", "family"), Column("ahead"), Column("low"), Column("high")]
    columns.append(Column("p", heading="p corr.", below=True))
    rows: list[list[Cell]] = [
        [judge.name, m.measure, f.name, f.ahead, *f.ci, f.p_corrected]
        for judge in report.judges
        for m in judge.measures
        for f in m.families
    ]
    return Table(columns, rows, "Families of runs")
