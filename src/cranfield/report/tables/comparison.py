"""A comparison of runs as tables: pairs, leaderboard, and the tests over all runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from cranfield._lazy import np
from cranfield.errors import UsageError, suggest
from cranfield.report.document import Bound, Cell, Column, Document, Table

if TYPE_CHECKING:
    from cranfield.comparison.answer import Comparison, Family

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
