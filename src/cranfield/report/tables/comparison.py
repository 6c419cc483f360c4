"""A comparison of runs as tables: pairs, leaderboard, and the tests over all runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cranfield.comparison.answer import Comparison, Family, Pair, Standing
from cranfield.report.document import Cell, Column, Document, Table

PARTS = ("leaderboard", "pairs", "effects", "families")
# What a paper prints; the other tables say more, so it is shown on request and for LaTeX.
SUMMARY = "summary"


def comparison_document(comparison: Comparison, *, parts: Sequence[str] = PARTS) -> Document:
    """The answer of the command `compare`, with the tables asked for.

    For programs that read CSV the effect sizes stand in the table of pairs.
    """
    tables: list[Table] = []
    if SUMMARY in parts:
        tables.append(_summary(comparison))
    if "leaderboard" in parts:
        tables += [_leaderboard(comparison, str(m["name"])) for m in comparison.measures]
    if "pairs" in parts:
        tables.append(_pairs(comparison))
    if "effects" in parts:
        tables.append(_effects(comparison))
    if "families" in parts:
        tables.append(_families(comparison))
    if {"pairs", "effects"} & set(parts):
        machine = _wide_pairs(comparison)
    elif {"leaderboard", SUMMARY} & set(parts):
        machine = _long_leaderboard(comparison)
    else:
        machine = _families(comparison)
    return Document(comparison.to_dict(), tables, comparison.notes, machine)


def further_tables(comparison: Comparison) -> list[Table]:
    """What the charts of the report do not show: effect sizes, and all runs together."""
    return [_effects(comparison), _families(comparison)]


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
    ]
    if comparison.detect is not None:
        columns.append(Column("topics_needed", heading="needed"))
    if comparison.margin is not None:
        columns.append(Column("p_equivalence", heading="p equiv.", below=True))
    return columns


def _names(pair: Pair) -> list[Cell]:
    return [pair.measure, pair.a, pair.b]


def _difference(pair: Pair) -> list[Cell]:
    return [
        _number(pair.difference),
        *map(_number, pair.ci),
        pair.p,
        pair.p_corrected,
        pair.stars,
        _number(pair.deviation_percent),
    ]


def _effect(comparison: Comparison, pair: Pair) -> list[Cell]:
    row: list[Cell] = [
        _number(pair.mean_a),
        _number(pair.mean_b),
        _number(pair.change_percent),
        _number(pair.cohen_d),
        pair.cliffs_delta,
        pair.wins,
        pair.ties,
        pair.losses,
        _number(pair.detectable),
    ]
    if comparison.detect is not None:
        row.append(pair.topics_needed)
    if comparison.margin is not None:
        row.append(pair.p_equivalence)
    return row


def _title(comparison: Comparison, what: str) -> str:
    return f"{what} against {comparison.baseline}" if comparison.baseline else f"{what}, all pairs"


def _pairs(comparison: Comparison) -> Table:
    rows = [[*_names(pair), *_difference(pair)] for pair in comparison.pairs]
    return Table(
        [*_NAMES, *_DIFFERENCE],
        rows,
        title=_title(comparison, "Differences"),
        notes=[*comparison.footnotes(), "dev. %: the gap in percent of the smaller mean."],
    )


def _effects(comparison: Comparison) -> Table:
    rows = [[*_names(pair), *_effect(comparison, pair)] for pair in comparison.pairs]
    notes = [
        "change %: from b to a; d: Cohen's d of the differences; delta: Cliff's delta;",
        f"win, tie, loss: {comparison.unit}s on which a is better, level, worse than b;",
        f"detectable: true difference that so many {comparison.unit}s find "
        f"with power {comparison.power:g} (before correction).",
    ]
    if comparison.detect is not None:
        notes.append(
            f"needed: {comparison.unit}s that a true difference of {comparison.detect:g} "
            f"needs to be found with power {comparison.power:g}."
        )
    if comparison.margin is not None:
        notes.append(
            "p equiv.: two one-sided t-tests; small when the difference lies "
            f"within {comparison.margin:g}."
        )
    return Table(
        [*_NAMES, *_effect_columns(comparison)],
        rows,
        title=_title(comparison, "Effect sizes"),
        notes=notes,
    )


def _wide_pairs(comparison: Comparison) -> Table:
    columns = [*_NAMES, *_DIFFERENCE, Column(f"{comparison.unit}s"), *_effect_columns(comparison)]
    rows = [
        [*_names(pair), *_difference(pair), pair.topics, *_effect(comparison, pair)]
        for pair in comparison.pairs
    ]
    return Table(columns, rows)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _leaderboard(comparison: Comparison, measure: str) -> Table:
    columns = [
        Column("rank"),
        Column("run", numeric=False),
        Column(measure),
        Column("ci_low", heading="low"),
        Column("ci_high", heading="high"),
        Column("ranks", numeric=False),
        Column("group", numeric=False),
    ]
    rows = [_standing_row(s) for s in comparison.standings if s.measure == measure]
    notes = [
        "rank: 1 + the number of runs that are significantly better (two-tailed, all pairs);",
        "group: runs with a common letter cannot be told apart; "
        f"ranks: {100 * (1 - comparison.alpha):g} % interval from the bootstrap.",
    ]
    return Table(columns, rows, title=f"Leaderboard: {measure}", notes=notes)


def _summary(comparison: Comparison) -> Table:
    """Runs by measures, with stars against the baseline or letters of groups."""
    best = {True: "max", False: "min", None: ""}
    columns = [Column("run", numeric=False)]
    columns += [
        Column(str(m["name"]), best=best[m["higher_is_better"]], heading=str(m["mean_name"]))
        for m in comparison.measures
    ]
    means = {(s.run, s.measure): s for s in comparison.standings}
    against = {(p.a, p.measure): p.stars for p in comparison.pairs}
    rows: list[list[Cell]] = []
    marks: dict[tuple[int, int], str] = {}
    for i, run in enumerate(comparison.runs):
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
    if comparison.baseline is not None:
        said = [f"Stars: differs from {comparison.baseline}.", *comparison.footnotes()]
    else:
        said = ["Runs with a common letter cannot be told apart.", *comparison.footnotes()[1:]]
    return Table(columns, rows, title="Summary", notes=said, marks=marks)


def _long_leaderboard(comparison: Comparison) -> Table:
    """The leaderboards of all measures in one table."""
    names = ("rank", "mean", "ci_low", "ci_high", "rank_low", "rank_high")
    columns = [
        Column("measure", numeric=False),
        Column("run", numeric=False),
        *(Column(name) for name in names),
        Column("group", numeric=False),
    ]
    rows = [
        [s.measure, s.run, s.rank, s.mean, *s.ci, *s.rank_interval, s.group]
        for s in comparison.standings
    ]
    return Table(columns, rows)


def _standing_row(standing: Standing) -> list[Cell]:
    low, high = standing.rank_interval
    ranks = None if low is None else str(low) if low == high else f"{low}-{high}"
    return [standing.rank, standing.run, standing.mean, *standing.ci, ranks, standing.group]


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
    rows = [_family_row(f) for f in comparison.families]
    return Table(columns, rows, title="All runs together", notes=notes)


def _family_row(family: Family) -> list[Cell]:
    row: list[Cell] = [family.measure, family.topics]
    one, two, ranks, trust = (family.one_way, family.two_way, family.friedman, family.reliability)
    row += [None, None] if one is None else [_number(one.f), one.p]
    row += [None, None] if two is None else [_number(two.f_runs), two.p_runs]
    row += [None, None] if ranks is None else [_number(ranks.chi2), ranks.p]
    if trust is None:
        return [*row, None, None, None, None]
    return [*row, _number(trust.alpha), *(_number(100 * share) for share in trust.shares)]
