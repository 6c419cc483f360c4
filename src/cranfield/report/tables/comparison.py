"""Tables of comparisons: runs, slices, means from little gold, judges, and the checks of a gate."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from cranfield._lazy import np
from cranfield.comparison.answer import SUCH, THESE
from cranfield.errors import UsageError, suggest
from cranfield.report.document import Bound, Cell, Column, Document, Table
from cranfield.report.render import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cranfield.comparison.answer import Comparison, Family
    from cranfield.comparison.judges import IntervalEstimate, JudgesReport
    from cranfield.comparison.ppi import PoweredPair, PoweredScores
    from cranfield.comparison.regression_gate import Check
    from cranfield.comparison.slices import SlicedScores


PARTS = ("leaderboard", "pairs", "effects", "families")
# What may be concluded, in sentences: shown when asked for, and on pages.
CONCLUSIONS = "conclusions"
# What a paper prints; the other tables say more, so it is shown on request and for LaTeX.
SUMMARY = "summary"
# Formats that people read from the top: they open with the summary.
OPENING = ("table", "markdown")


def chosen_parts(requested: str | None, form: str, *, further: bool = False) -> Sequence[str]:
    """The tables to show: those asked for ("all" of them), or those of the format.

    People see the summary first, and what else they asked about (`further`: an equivalence or a
    difference to detect).
    """
    all_parts = (SUMMARY, *PARTS)
    if requested:
        return _named_parts(requested.split(","))
    if form in OPENING:
        return (SUMMARY, "effects") if further else (SUMMARY,)
    return all_parts if form == "latex" else PARTS


def _named_parts(names: Sequence[str]) -> Sequence[str]:
    """The tables of these names; "all" names all of them."""
    every_part = (SUMMARY, *PARTS, CONCLUSIONS)
    for name in names:
        if name not in (valid := ("all", *every_part)):
            options = ", ".join(valid)
            raise UsageError(f"no table {name!r} (there are: {options}).{suggest(name, valid)}")
    return every_part if "all" in names else names


# A table of more pairs is too long to read.
MOST_PAIRS = 1000
# Beneath a summary so many, where the truth leaves something open.
FIRST_PAIRS = 10
# Of more pairs than these JSON holds the difference and how sure it is, not all there is to know.
FOLDED_PAIRS = 10_000


def comparison_document(comparison: Comparison, *, parts: Sequence[str] = PARTS) -> Document:
    """The answer of the command `compare`, with the tables asked for.

    For programs that read CSV the effect sizes stand in the table of pairs.
    """
    parts = _named_parts([parts] if isinstance(parts, str) else parts)
    tables: list[Table] = []
    if SUMMARY in parts:
        tables.append(_summary(comparison))
    if "leaderboard" in parts:
        tables += [_leaderboard(comparison, str(m["name"])) for m in comparison.measures]
    if "pairs" in parts:
        tables.append(_pairs(comparison))
    if comparison.doubts and {SUMMARY, "pairs"} & set(parts):
        tables.append(_doubts(comparison).first(MOST_PAIRS if "pairs" in parts else FIRST_PAIRS))
    if "effects" in parts:
        tables.append(_effects(comparison))
    if "families" in parts:
        tables.append(_families(comparison))
    if CONCLUSIONS in parts:
        tables.append(_conclusions(comparison))
    if {"pairs", "effects"} & set(parts):
        machine = _wide_pairs
    elif {"leaderboard", SUMMARY} & set(parts):
        machine = _long_leaderboard
    elif CONCLUSIONS in parts and "families" not in parts:
        machine = _conclusions
    else:
        machine = _families
    # With all tables requested by name, each pair is written in full.
    folded = len(comparison.pairs) > FOLDED_PAIRS and SUMMARY not in parts
    return Document(
        partial(comparison.to_dict, folded=folded),
        tables,
        comparison.notes,
        partial(machine, comparison),
        lead=comparison.verdict,
    )


def further_tables(comparison: Comparison) -> list[Table]:
    """What the charts of the report do not show: effect sizes, and all runs together."""
    tables = [_conclusions(comparison), _effects(comparison), _families(comparison)]
    return [_doubts(comparison).first(MOST_PAIRS), *tables] if comparison.doubts else tables


def _conclusions(comparison: Comparison) -> Table:
    """What may be concluded, a sentence a row."""
    columns = [Column("about", numeric=False), Column("statement", numeric=False)]
    return Table(columns, [list(row) for row in comparison.conclusions()], "What may be concluded")


_NAMES = (Column("measure", numeric=False), Column("a", numeric=False), Column("b", numeric=False))
_DIFFERENCE = (
    Column("difference"),
    Column("ci_low", heading="low"),
    Column("ci_high", heading="high"),
    Column("p", below=True),
    Column("p_corrected", heading="p corr.", below=True),
    Column("stars", heading="sig.", numeric=False),
    Column("deviation_percent", heading="dev. %", digits=2),
)
# Shares of a mean, of which people see none beyond this: the mean is next to nothing then.
_PERCENT = ("deviation_percent", "change_percent")
MOST_PERCENT = 1000
# What programs read of a difference beyond what people see.
_FURTHER = (
    Column("mark", numeric=False),
    Column("sure"),
    Column("p_is_floor"),
    Column("p_corrected_is_floor"),
)


def _effect_columns(comparison: Comparison) -> list[Column]:
    columns = [
        Column("mean_a", heading="mean a"),
        Column("mean_b", heading="mean b"),
        Column("change_percent", heading="change %", digits=2),
        Column("cohen_d", heading="d", digits=2),
        Column("cliffs_delta", heading="delta", digits=2),
        Column("wins", heading="win"),
        Column("ties", heading="tie"),
        Column("losses", heading="loss"),
        Column("detectable"),
        Column("detectable_alone", heading="alone"),
    ]
    if comparison.detect is not None:
        columns.append(Column("topics_needed", heading="needed"))
        columns.append(Column("topics_needed_alone", heading="needed alone"))
    if comparison.margin is not None:
        columns.append(Column("p_equivalence", heading="p equiv.", below=True))
    return columns


def _rows(comparison: Comparison, columns: Sequence[Column], count: int | None) -> list[list[Cell]]:
    """The pairs under some columns, all of them or the first ones; for people with `count`."""
    pairs = comparison.pairs
    if count is not None and len(pairs) > count:
        pairs = pairs.chosen(np.arange(count))
    values = pairs.lists()
    ends = values.pop("ci")
    values["ci_low"], values["ci_high"] = ([e[i] for e in ends] for i in (0, 1))
    if count is not None:
        values["stars"] = list(map(_signs, values["stars"], values["mark"], values["sure"]))
        if comparison.tail == "two":
            values["stars"] = [text.split(" ")[0] for text in values["stars"]]
        for name in ("p", "p_corrected"):
            at_floor = values[f"{name}_is_floor"]
            values[name] = [
                Bound(p) if f else p for p, f in zip(values[name], at_floor, strict=True)
            ]
        for name in _PERCENT:
            values[name] = [None if _says_nothing(v) else v for v in values[name]]
    lists = [[_cell(v) for v in values[column.name]] for column in columns]
    return [list(row) for row in zip(*lists, strict=True)]


def _says_nothing(percent: float) -> bool:
    return abs(percent) > MOST_PERCENT


def _hidden_shares_note(comparison: Comparison, name: str) -> list[str]:
    """That shares of a mean near 0 are left out, where there are any."""
    if not any(map(_says_nothing, comparison.pairs.columns[name][:MOST_PAIRS].tolist())):
        return []
    return [f"-: beyond {MOST_PERCENT:,} %, which says only that one of the means is near 0."]


def _signs(stars: str, mark: str, sure: bool) -> str:
    """Stars, whether other draws could give others, and the direction: "**? up"."""
    return f"{stars}{'' if sure else '?'} {mark}".rstrip()


def _cell(value: Any) -> Cell:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    cell: Cell = value
    return cell


def _title(comparison: Comparison, subject: str) -> str:
    return (
        f"{subject} against {comparison.baseline}"
        if comparison.baseline
        else f"{subject}, all pairs"
    )


def _hidden_pairs_note(comparison: Comparison) -> list[str]:
    hidden = len(comparison.pairs) - MOST_PAIRS
    return [f"... and {hidden} more pairs; csv, tsv and json have them all."] if hidden > 0 else []


def _pairs(comparison: Comparison) -> Table:
    columns = [*_NAMES, *_DIFFERENCE]
    return Table(
        columns,
        _rows(comparison, columns, MOST_PAIRS),
        title=_title(comparison, "Differences"),
        notes=[
            *_hidden_pairs_note(comparison),
            *comparison.footnotes(),
            "dev. %: the gap in percent of the smaller mean.",
            *_hidden_shares_note(comparison, "deviation_percent"),
        ],
    )


def _effects(comparison: Comparison) -> Table:
    columns = [*_NAMES, *_effect_columns(comparison)]
    unit = comparison.unit
    notes = [
        *_hidden_pairs_note(comparison),
        *_hidden_shares_note(comparison, "change_percent"),
        "change %: from b to a; d: Cohen's d of the differences; delta: Cliff's delta;",
        f"win, tie, loss: {unit}s on which a is better, level, worse than b;",
        f"detectable: true difference that so many {unit}s find with power "
        f"{comparison.power:g} after the correction for all pairs; alone: without it.",
    ]
    if comparison.detect is not None:
        from cranfield.stats.effects import pilot_note

        notes.append(
            f"needed: {unit}s that a true difference of {comparison.detect:g} needs to be found "
            f"with power {comparison.power:g}, after the correction and alone; "
            + pilot_note(comparison.topics, f"{unit}s")
        )
    if comparison.margin is not None:
        notes.append(
            "p equiv.: two one-sided t-tests; small when the difference lies "
            f"within {comparison.margin:g}."
        )
    return Table(
        columns,
        _rows(comparison, columns, MOST_PAIRS),
        title=_title(comparison, "Effect sizes"),
        notes=notes,
    )


def _wide_pairs(comparison: Comparison) -> Table:
    columns = [*_NAMES, *_DIFFERENCE, *_FURTHER]
    columns += [Column("topics"), *_effect_columns(comparison)]
    rows = _rows(comparison, columns, None)
    headings = [Column(f"{comparison.unit}s") if c.name == "topics" else c for c in columns]
    return Table(headings, rows)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _leaderboard(comparison: Comparison, measure: str) -> Table:
    standings = [s for s in comparison.standings if s.measure == measure]
    lettered = any(s.group for s in standings)
    doubtful = any(s.truth_ci for s in standings)
    columns = [
        Column("place"),
        Column("run", numeric=False),
        Column(measure),
        Column("ci_low", heading="low"),
        Column("ci_high", heading="high"),
        *(_DOUBTFUL if doubtful else ()),
        Column("rank"),
        Column("spread", numeric=False),
        *([Column("group", numeric=False)] if lettered else []),
    ]
    rows: list[list[Cell]] = [
        [
            s.place,
            s.run,
            _number(s.mean),
            *map(_number, s.ci),
            *(_interval_cells(s.truth_ci, s.both_ci) if doubtful else ()),
            s.rank,
            _span(s.rank_spread),
            *([s.group] if lettered else []),
        ]
        for s in standings
    ]
    notes = [
        "place: by the mean; spread: the places that the tests leave open.",
        "rank: 1 + the number of runs that are significantly better"
        + (f" ({_board_tests(comparison)});" if comparison.baseline else ";"),
    ]
    if lettered:
        notes.append("group: two runs share no letter exactly when they differ significantly.")
    if doubtful:
        notes.append(comparison.interval_parts())
    else:
        level = f"{100 * (1 - comparison.alpha):g} %"
        notes.append(f"{level} intervals: {comparison.interval_names()}.")
    return Table(columns, rows, title=f"Leaderboard: {measure}", notes=notes)


# Where the truth has probabilities.
_DOUBTFUL = (
    Column("truth_low", heading="truth low"),
    Column("truth_high", heading="high"),
    Column("both_low", heading="both low"),
    Column("both_high", heading="high"),
)


def _interval_cells(*pairs: tuple[float, float] | None) -> list[Cell]:
    return [cell for ends in pairs for cell in (ends or (None, None))]


def _doubts(comparison: Comparison) -> Table:
    columns = [*_NAMES, Column("difference"), Column("by_truth", heading="± truth")]
    columns += [*_DOUBTFUL, Column("better", heading="a better")]
    rows: list[list[Cell]] = []
    for d in comparison.doubts:
        names: list[Cell] = [d["measure"], d["a"], d["b"], d["difference"], d["by_truth"]]
        rows.append([*names, *_interval_cells(d["truth_ci"], d["both_ci"]), d["better"]])
    notes = [
        "a better: the share of the truths, as probable as they are, under which a is the better",
        "truth: were the truth another one that its probabilities allow; both: and the topics, too",
    ]
    return Table(columns, rows, "Differences under a truth that is not sure", notes)


def _board_tests(comparison: Comparison) -> str:
    tail = "two-tailed" if comparison.tail != "seen" else "as seen"
    return (
        f"with {comparison.baseline} by the tests below, among the others {tail} and corrected "
        "over all pairs"
    )


def _span(ends: tuple[int | None, int | None]) -> str | None:
    low, high = ends
    return None if low is None else str(low) if low == high else f"{low}-{high}"


def _summary(comparison: Comparison) -> Table:
    """Runs by measures, with stars against the baseline or letters of groups."""
    best = {True: "max", False: "min", None: ""}
    columns = [Column("run", numeric=False)]
    columns += [
        Column(str(m["name"]), best=best[m["higher_is_better"]], heading=str(m["mean_name"]))
        for m in comparison.measures
    ]
    means = {(s.run, s.measure): s for s in comparison.standings}
    pairs = comparison.pairs.lists() if comparison.baseline is not None else {}
    against = {
        (run, measure): _signs(stars, "" if comparison.tail == "two" else mark, sure)
        for run, measure, stars, mark, sure in zip(
            *(pairs.get(k, []) for k in ("a", "measure", "stars", "mark", "sure")), strict=True
        )
    }
    rows: list[list[Cell]] = []
    marks: dict[tuple[int, int], str] = {}
    first = str(comparison.measures[0]["name"])
    order = [s.run for s in comparison.standings if s.measure == first]
    for i, run in enumerate(order):
        row: list[Cell] = [run]
        for j, m in enumerate(comparison.measures, 1):
            standing = means.get((run, str(m["name"])))
            row.append(None if standing is None else _number(standing.mean))
            if comparison.baseline is not None:
                mark = against.get((run, str(m["name"])), "")
            else:
                mark = "" if standing is None else standing.group
            if mark:
                marks[i, j] = mark
        rows.append(row)
    _, tests, _ = comparison.footnotes()
    if comparison.baseline is not None:
        signs = f"Stars: differs significantly from {comparison.baseline}." if marks else ""
        note = " ".join(filter(None, [signs, comparison.signs_explained(), tests]))
    elif marks:
        note = f"Two runs share no letter exactly when they differ significantly. {tests}"
    else:
        note = (
            "The pairs show which runs differ significantly: there are more groups than letters. "
            f"{tests}"
        )
    return Table(columns, rows, title="Summary", notes=[note], marks=marks, tested=True)


def _long_leaderboard(comparison: Comparison) -> Table:
    """The leaderboards of all measures in one table."""
    names = ("place", "mean", "ci_low", "ci_high", "place_low", "place_high", "rank", "rank_last")
    columns = [
        Column("measure", numeric=False),
        Column("run", numeric=False),
        *(Column(name) for name in names),
        Column("group", numeric=False),
    ]
    rows: list[list[Cell]] = [
        [
            s.measure,
            s.run,
            s.place,
            s.mean,
            *s.ci,
            *s.place_interval,
            s.rank,
            s.rank_spread[1],
            s.group,
        ]
        for s in comparison.standings
    ]
    return Table(columns, rows)


def _families(comparison: Comparison) -> Table:
    columns = [
        Column("measure", numeric=False),
        Column(comparison.unit + "s"),
        Column("one_way_f", heading="one-way F", digits=3),
        Column("one_way_p", heading="p", below=True),
        Column("two_way_f", heading="two-way F", digits=3),
        Column("two_way_p", heading="p (two-way)", below=True),
        Column("friedman_chi2", heading="Friedman", digits=3),
        Column("friedman_p", heading="p (Friedman)", below=True),
        Column("alpha", digits=3),
        Column("run_percent", heading="run %", digits=1),
        Column(f"{comparison.unit}_percent", heading=f"{comparison.unit} %", digits=1),
        Column("rest_percent", heading="rest %", digits=1),
    ]
    notes = [
        f"On the {comparison.unit}s that every run has. Two-way F is of the runs.",
        "alpha: Cronbach's, the reliability of the collection; "
        f"run, {comparison.unit}, rest %: where the variance of a score comes from.",
    ]
    if any(f.reliability is not None and f.reliability.alpha < 0 for f in comparison.families):
        from cranfield.stats.anova import NEGATIVE_ALPHA

        notes.append(NEGATIVE_ALPHA.format(units=f"{comparison.unit}s"))
    rows = [_family_row(f) for f in comparison.families]
    return Table(columns, rows, title="All runs together", notes=notes)


def _family_row(family: Family) -> list[Cell]:
    row: list[Cell] = [family.measure, family.topics]
    one_way, two_way, ranks, trust = (
        family.one_way,
        family.two_way,
        family.friedman,
        family.reliability,
    )
    row += [None, None] if one_way is None else [_number(one_way.f), one_way.p]
    row += [None, None] if two_way is None else [_number(two_way.f_runs), two_way.p_runs]
    row += [None, None] if ranks is None else [_number(ranks.chi2), ranks.p]
    if trust is None:
        return [*row, None, None, None, None]
    return [*row, _number(trust.alpha), *(_number(100 * share) for share in trust.shares)]


def slices_document(sliced: SlicedScores, **_: Any) -> Document:
    """A table of means for each measure, then the pairs of all slices; programs read the means."""
    tables = [_slice_means(sliced, measure) for measure in sliced.measures]
    if sliced.pairs:
        tables.append(_slice_pairs(sliced))
    return Document(sliced.to_dict(), tables, sliced.notes, _long_slice_means(sliced))


def _slice_means(sliced: SlicedScores, measure: str) -> Table:
    """A row for each slice, a column for each run."""
    columns = [Column("slice", numeric=False), Column(f"{sliced.unit}s", digits=0)]
    columns += [Column(run) for run in sliced.runs]
    values = {(row.slice, row.run): row.mean for row in sliced.means if row.measure == measure}
    rows: list[list[Cell]] = [
        [name, units, *(values[name, run] for run in sliced.runs)]
        for name, units in sliced.slices.items()
    ]
    return Table(columns, rows, f"{measure} by slice")


def _long_slice_means(sliced: SlicedScores) -> Table:
    names = ("slice", "units", "run", "measure", "mean", "ci_low", "ci_high")
    text = ("slice", "run", "measure")
    rows: list[list[Cell]] = [
        [row.slice, row.units, row.run, row.measure, row.mean, *(row.ci or (None, None))]
        for row in sliced.means
    ]
    return Table([Column(name, numeric=name not in text) for name in names], rows)


def _slice_pairs(sliced: SlicedScores) -> Table:
    """The differences, the surest first."""
    names = ("slice", "measure", "a", "b", "difference", "low", "high", "p", "p corr.")
    columns = [
        Column(name, numeric=i > 3, below=name.startswith("p")) for i, name in enumerate(names)
    ]
    ordered = sorted(sliced.pairs, key=lambda p: (p.p_corrected, p.p, p.slice))
    rows: list[list[Cell]] = [
        [p.slice, p.measure, p.a, p.b, p.difference, *p.ci, p.p, p.p_corrected] for p in ordered
    ]
    notes = [f"p corr.: by {sliced.correction} over all slices and pairs of a measure"]
    return Table(columns, rows, "differences by slice", notes)


_INTERVAL_ENDS = (
    Column("these_low", heading="these from"),
    Column("these_high", heading="to"),
    Column("such_low", heading="such from"),
    Column("such_high", heading="to"),
)
_SILVER_COLUMNS = (
    Column("gold_value", heading="gold"),
    Column("gold_these_low", heading="these from"),
    Column("gold_these_high", heading="to"),
    Column("gold_such_low", heading="such from"),
    Column("gold_such_high", heading="to"),
)
_GOLD_WORTH = (
    Column("weight", digits=2),
    Column("correlation", digits=2, heading="corr."),
    Column("effective", digits=1, heading="worth"),
)


def powered_document(answer: PoweredScores, **_: object) -> Document:
    """The estimates, and the differences where they were asked for."""
    tables = [_estimates(answer)]
    if answer.pairs:
        tables = [_powered_pairs(answer), *tables]
    if answer.design == "units" and answer.gold_units < answer.silver_units:
        tables.append(_annotation_curve(answer))
        tables += [t for t in (_needed_gold(answer),) if t.rows]
    return Document(answer.to_dict, tables, answer.notes, tables[0])


def _annotation_curve(answer: PoweredScores) -> Table:
    from cranfield.comparison.annotation_budget import POWER, gold_curve

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


def _needed_gold(answer: PoweredScores) -> Table:
    from cranfield.comparison.annotation_budget import gold_needed
    from cranfield.stats.effects import pilot_note

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


def _estimate_row(estimate: Any) -> list[Cell]:
    cells: list[Cell] = [estimate.value, *estimate.these, *estimate.such]
    cells += [estimate.gold_value, *estimate.gold_these, *estimate.gold_such]
    return [*cells, estimate.weight, estimate.correlation, estimate.effective]


def _powered_notes(answer: PoweredScores) -> list[str]:
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
    columns += [Column("value"), *_INTERVAL_ENDS, *_SILVER_COLUMNS, *_GOLD_WORTH]
    rows: list[list[Cell]] = [[e.measure, e.run, *_estimate_row(e)] for e in answer.estimates]
    title = (
        f"Gold for {answer.gold_units} of {answer.silver_units} {answer.unit}s, silver for all "
        f"({THESE}, {SUCH})"
    )
    return Table(columns, rows, title, _powered_notes(answer))


def _powered_pairs(answer: PoweredScores) -> Table:
    columns = [Column(n, numeric=False) for n in ("measure", "a", "b")]
    columns += [Column("difference"), *_INTERVAL_ENDS, Column("p", below=True)]
    columns += [Column("p_corrected", heading="p corr.", below=True), *_SILVER_COLUMNS]
    columns += [Column("gold_p", heading="gold p", below=True), *_GOLD_WORTH]
    rows = [_pair_row(pair) for pair in answer.pairs]
    notes = [
        f"differences are a - b; p: that of {SUCH} is zero; p corr.: {answer.correction} "
        "correction over the pairs of each measure."
    ]
    against = f" against {answer.baseline}" if answer.baseline else ", all pairs"
    return Table(columns, rows, f"Differences{against}", notes)


def _pair_row(pair: PoweredPair) -> list[Cell]:
    cells = _estimate_row(pair)
    worth_start = len(cells) - len(_GOLD_WORTH)
    gold_start = worth_start - len(_SILVER_COLUMNS)
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


def judges_document(report: JudgesReport, **_: object) -> Document:
    """Agreement, confusion, and what each judge does to means, rankings and single runs."""
    tables = [_judge_agreement(report), _judge_confusion(report)]
    if any(judge.measures for judge in report.judges):
        tables += [_judge_rankings(report), _judged_means(report)]
    tables += [t for t in (_swaps(report), _judge_families(report)) if t.rows]
    return Document(report.to_dict, tables, report.notes)


def _text_columns(*names: str) -> list[Column]:
    return [Column(name, numeric=False) for name in names]


def _interval_cells_of(estimate: IntervalEstimate) -> list[Cell]:
    return [estimate.value, estimate.low, estimate.high]


def _judge_agreement(report: JudgesReport) -> Table:
    columns = [*_text_columns("judge"), Column("judgements")]
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
            row += _interval_cells_of(estimate)
        rows.append(row)
    notes = [
        "same: the share of equal grades; kappa: beyond chance (Cohen); weighted: with squared "
        "distances of grades; shift: mean grade of the judge less that of the gold.",
        f"{100 * (1 - report.alpha):g} % intervals: {report.unit}s drawn anew, {report.resamples} "
        f"resamples, seed {report.seed}.",
    ]
    return Table(columns, rows, "Agreement with the gold", notes)


def _judge_confusion(report: JudgesReport) -> Table:
    levels = sorted({level for judge in report.judges for level in judge.agreement.levels})
    columns = [*_text_columns("judge"), Column("gold", 0)]
    columns += [Column(f"given_{level:g}", heading=f"{level:g}") for level in levels]
    rows: list[list[Cell]] = []
    for judge in report.judges:
        a = judge.agreement
        for level, counts in zip(a.levels, a.confusion, strict=True):
            count_of = dict(zip(a.levels, counts, strict=True))
            rows.append([judge.name, f"{level:g}", *(count_of.get(g, 0) for g in levels)])
    return Table(columns, rows, "What the judge gives (columns) where the gold has (rows)")


def _judge_rankings(report: JudgesReport) -> Table:
    columns = [*_text_columns("judge", "measure"), Column("units"), Column("tau", 3)]
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


def _judged_means(report: JudgesReport) -> Table:
    columns = [*_text_columns("judge", "measure", "run"), Column("gold"), Column("judged")]
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
    columns = [
        *_text_columns("judge", "measure", "a", "b"),
        Column("gold"),
        Column("gold_p", below=True),
    ]
    columns += [Column("judged"), Column("judged_p", below=True)]
    rows: list[list[Cell]] = []
    for judge in report.judges:
        for m in judge.measures:
            for s in m.swaps:
                gold: list[Cell] = [s.gold_difference, s.gold_p]
                judged: list[Cell] = [s.judged_difference, s.judged_p]
                rows.append([judge.name, m.measure, s.a, s.b, *gold, *judged])
    return Table(columns, rows, "Differences that turn round")


def _judge_families(report: JudgesReport) -> Table:
    columns = [
        *_text_columns("judge", "measure", "family"),
        Column("ahead"),
        Column("low"),
        Column("high"),
    ]
    columns.append(Column("p", heading="p corr.", below=True))
    rows: list[list[Cell]] = [
        [judge.name, m.measure, f.name, f.ahead, *f.ci, f.p_corrected]
        for judge in report.judges
        for m in judge.measures
        for f in m.families
    ]
    return Table(columns, rows, "Families of runs")


def junit_xml(checks: Sequence[Check], name: str = "cranfield") -> str:
    """The checks as test cases."""
    bad = sum(not check.holds for check in checks)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites tests="{len(checks)}" failures="{bad}">',
        f'<testsuite name={quoteattr(name)} tests="{len(checks)}" failures="{bad}" errors="0">',
    ]
    for check in checks:
        testcase = f"<testcase classname={quoteattr(check.run)} name={quoteattr(check.measure)}"
        if check.holds:
            lines.append(f"{testcase}/>")
        else:
            failure = f"<failure message={quoteattr(check.said)}>{escape(check.said)}</failure>"
            lines.append(f"{testcase}>{failure}</testcase>")
    return "\n".join([*lines, "</testsuite>", "</testsuites>", ""])


def markdown_summary(checks: Sequence[Check]) -> str:
    """The verdict, and a table of the checks with what fails first."""
    bad = sum(not check.holds for check in checks)
    verdict = f"{bad} of {len(checks)} checks failed" if bad else f"{len(checks)} checks passed"
    names = ("result", "run", "measure", "what was found")
    columns = [Column(name, numeric=False) for name in names]
    rows = [
        ["passed" if check.holds else "FAILED", check.run, check.measure, check.said]
        for check in sorted(checks, key=lambda check: check.holds)
    ]
    return f"**{verdict}**\n\n" + render(Document({}, [Table(columns, rows)]), "markdown")
