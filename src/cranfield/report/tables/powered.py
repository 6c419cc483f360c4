"""Tables of little gold and much silver: two intervals for every value, plain gold beside them."""

from __future__ import annotations

from typing import Any

from cranfield.comparison.annotation_budget import POWER, gold_curve, gold_needed
from cranfield.comparison.answer import SUCH, THESE
from cranfield.comparison.ppi import PoweredPair, PoweredScores
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.stats.effects import pilot_note

_ENDS = (
    Column("these_low", heading="these from"),
    Column("these_high", heading="to"),
    Column("such_low", heading="such from"),
    Column("such_high", heading="to"),
)
_PLAIN = (
    Column("gold_value", heading="gold"),
    Column("gold_these_low", heading="these from"),
    Column("gold_these_high", heading="to"),
    Column("gold_such_low", heading="such from"),
    Column("gold_such_high", heading="to"),
)
_WORTH = (
    Column("weight", digits=2),
    Column("correlation", digits=2, heading="corr."),
    Column("effective", digits=1, heading="worth"),
)


def document(answer: PoweredScores, **_: object) -> Document:
    """The estimates, and the differences where they were asked for."""
    tables = [_estimates(answer)]
    if answer.pairs:
        tables = [_pairs(answer), *tables]
    if answer.design == "units" and answer.gold_units < answer.silver_units:
        tables.append(_curve(answer))
        tables += [t for t in (_needed(answer),) if t.rows]
    return Document(answer.to_dict, tables, answer.notes, tables[0])


def _curve(answer: PoweredScores) -> Table:
    columns = [Column("measure", numeric=False), Column("units", heading=f"gold {answer.unit}s")]
    columns += [Column("these_width", heading="width these"), Column("such_width", heading="such")]
    decided = bool(answer.pairs)
    if decided:
        columns.append(Column("detectable"))
    rows: list[list[Cell]] = []
    for c in gold_curve(answer):
        row: list[Cell] = [c.measure, c.units, c.these_width, c.such_width]
        rows.append([*row, c.detectable] if decided else row)
    notes = [f"width: of the intervals of {THESE} and {SUCH}, averaged over runs."]
    if decided:
        notes.append(
            f"detectable: the difference of {SUCH} that a test finds with power {POWER:g}, "
            "averaged over the pairs above."
        )
    if answer.next_units:
        notes.append(f"judge next, drawn at random over the silver: {', '.join(answer.next_units)}")
    return Table(columns, rows, "How much more gold?", notes)


def _needed(answer: PoweredScores) -> Table:
    names = ("measure", "what", "target", "goal")
    columns = [*(Column(n, numeric=False) for n in names), Column("units", heading="gold needed")]
    rows: list[list[Cell]] = [
        [n.measure, n.what, n.target, n.goal, n.units if n.units is not None else "never"]
        for n in gold_needed(answer, width=answer.width, detect=answer.detect)
    ]
    notes = [
        f"never: not even with gold for all {answer.silver_units} {answer.unit}s; needed "
        + pilot_note(answer.gold_units, f"gold {answer.unit}s")
    ]
    return Table(columns, rows, "Gold that is needed", notes)


def _row(estimate: Any) -> list[Cell]:
    cells: list[Cell] = [estimate.value, *estimate.these, *estimate.such]
    cells += [estimate.gold_value, *estimate.gold_these, *estimate.gold_such]
    return [*cells, estimate.weight, estimate.correlation, estimate.effective]


def _notes(answer: PoweredScores) -> list[str]:
    targets = [f"{name}: {text}" for name, text in answer.targets().items()]
    method = f"{100 * (1 - answer.alpha):g} % intervals: {answer.interval}"
    if answer.interval == "studentized":
        method += f", {answer.resamples} resamples, seed {answer.seed}"
    return [
        f"{targets[0]}; {targets[1]}.",
        f"gold: the {answer.gold_units} {answer.unit}s that people judged, alone, with the same "
        "two intervals.",
        f"weight: how much of the silver is used; corr.: of gold and silver over {answer.unit}s; "
        f"worth: how many gold {answer.unit}s alone would say as much.",
        f"{method}.",
    ]


def _estimates(answer: PoweredScores) -> Table:
    columns = [Column("measure", numeric=False), Column("run", numeric=False)]
    columns += [Column("value"), *_ENDS, *_PLAIN, *_WORTH]
    rows: list[list[Cell]] = [[e.measure, e.run, *_row(e)] for e in answer.estimates]
    title = (
        f"Gold for {answer.gold_units} of {answer.silver_units} {answer.unit}s, silver for all "
        f"({THESE}, {SUCH})"
    )
    return Table(columns, rows, title, _notes(answer))


def _pairs(answer: PoweredScores) -> Table:
    columns = [Column(n, numeric=False) for n in ("measure", "a", "b")]
    columns += [Column("difference"), *_ENDS, Column("p", below=True)]
    columns += [Column("p_corrected", heading="p corr.", below=True), *_PLAIN]
    columns += [Column("gold_p", heading="gold p", below=True), *_WORTH]
    rows = [_pair_row(pair) for pair in answer.pairs]
    notes = [
        f"differences are a - b; p: that of {SUCH} is zero; p corr.: {answer.correction} "
        "correction over the pairs of each measure."
    ]
    against = f" against {answer.baseline}" if answer.baseline else ", all pairs"
    return Table(columns, rows, f"Differences{against}", notes)


def _pair_row(pair: PoweredPair) -> list[Cell]:
    cells = _row(pair)
    worth_start = len(cells) - len(_WORTH)
    gold_start = worth_start - len(_PLAIN)
    tests: list[Cell] = [pair.p, pair.p_corrected]
    names: list[Cell] = [pair.measure, pair.a, pair.b]
    return [
        *names,
        *cells[:gold_start],
        *tests,
        *cells[gold_start:worth_start],
        pair.gold_p,
        *cells[worth_start:],
    ]
