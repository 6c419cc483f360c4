"""A comparison of runs as tables: pairs, leaderboard, and the tests over all runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cranfield.comparison import Comparison, Family, Pair, Standing
from cranfield.report.document import Cell, Column, Document, Table

PARTS = ("leaderboard", "pairs", "effects", "families")


def comparison_document(
    comparison: Comparison, *, parts: Sequence[str] = PARTS, wide: bool = False
) -> Document:
    """The answer of the command `compare`, with the tables asked for.

    With `wide` the effect sizes stand in the table of pairs, as a program would read them.
    """
    tables: list[Table] = []
    if "leaderboard" in parts:
        tables += [_leaderboard(comparison, str(m["name"])) for m in comparison.measures]
    if "pairs" in parts:
        tables.append(_wide_pairs(comparison) if wide else _pairs(comparison))
    if "effects" in parts and not wide:
        tables.append(_effects(comparison))
    if "families" in parts:
        tables.append(_families(comparison))
    return Document(comparison.to_dict(), tables)


_NAMES = (Column("measure", numeric=False), Column("a", numeric=False), Column("b", numeric=False))
_DIFFERENCE = (
    Column("difference"), Column("low"), Column("high"), Column("p", below=True),
    Column("p corr.", below=True), Column("sig.", numeric=False), Column("dev. %", digits=2),
)  # fmt: skip


def _effect_columns(comparison: Comparison) -> list[Column]:
    columns = [
        Column("mean a"), Column("mean b"), Column("change %", digits=2), Column("d", digits=2),
        Column("delta", digits=2), Column("win"), Column("tie"), Column("loss"),
        Column("detectable"),
    ]  # fmt: skip
    if comparison.detect is not None:
        columns.append(Column("needed"))
    if comparison.margin is not None:
        columns.append(Column("p equiv.", below=True))
    return columns


def _names(pair: Pair) -> list[Cell]:
    return [pair.measure, pair.a, pair.b]


def _difference(pair: Pair) -> list[Cell]:
    return [
        _number(pair.difference), *map(_number, pair.ci), pair.p, pair.p_corrected, pair.stars,
        _number(pair.deviation_percent),
    ]  # fmt: skip


def _effect(comparison: Comparison, pair: Pair) -> list[Cell]:
    row: list[Cell] = [
        _number(pair.mean_a), _number(pair.mean_b), _number(pair.change_percent),
        _number(pair.cohen_d), pair.cliffs_delta, pair.wins, pair.ties, pair.losses,
        _number(pair.detectable),
    ]  # fmt: skip
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
        notes=[*comparison.notes(), "dev. %: the gap in percent of the smaller mean."],
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
        Column("rank"), Column("run", numeric=False), Column(measure), Column("low"),
        Column("high"), Column("ranks", numeric=False), Column("group", numeric=False),
    ]  # fmt: skip
    rows = [_standing_row(s) for s in comparison.standings if s.measure == measure]
    notes = [
        "rank: 1 + the number of runs that are significantly better (two-tailed, all pairs);",
        "group: runs with a common letter cannot be told apart; "
        f"ranks: {100 * (1 - comparison.alpha):g} % interval from the bootstrap.",
    ]
    return Table(columns, rows, title=f"Leaderboard: {measure}", notes=notes)


def _standing_row(standing: Standing) -> list[Cell]:
    low, high = standing.rank_interval
    ranks = None if low is None else str(low) if low == high else f"{low}-{high}"
    return [
        standing.rank, standing.run, standing.mean, *standing.ci, ranks, standing.group,
    ]  # fmt: skip


def _families(comparison: Comparison) -> Table:
    columns = [
        Column("measure", numeric=False), Column(comparison.unit + "s"),
        Column("one-way F", digits=3), Column("p", below=True),
        Column("two-way F", digits=3), Column("p (two-way)", below=True),
        Column("Friedman", digits=3), Column("p (Friedman)", below=True),
        Column("alpha", digits=3), Column("run %", digits=1),
        Column(comparison.unit + " %", digits=1), Column("rest %", digits=1),
    ]  # fmt: skip
    notes = [
        f"On the {comparison.unit}s that every run has. Two-way F is of the runs.",
        "alpha: Cronbach's, the reliability of the collection; "
        f"run, {comparison.unit}, rest %: where the variance of a score comes from.",
    ]
    rows = [_family_row(f) for f in comparison.families]
    return Table(columns, rows, title="All runs together", notes=notes)


def _family_row(family: Family) -> list[Cell]:
    row: list[Cell] = [family.measure, family.topics]
    one, two, ranks, trust = (
        family.one_way, family.two_way, family.friedman, family.reliability
    )  # fmt: skip
    row += [None, None] if one is None else [_number(one.f), one.p]
    row += [None, None] if two is None else [_number(two.f_runs), two.p_runs]
    row += [None, None] if ranks is None else [_number(ranks.chi2), ranks.p]
    if trust is None:
        return [*row, None, None, None, None]
    return [*row, _number(trust.alpha), *(_number(100 * share) for share in trust.shares)]
