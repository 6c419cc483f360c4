"""Tables of precision and recall under uncertain categories."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from cranfield.evaluation.category_votes import UncertainScores
from cranfield.evaluation.displacement import DisplacementScores
from cranfield.evaluation.index_quality import BEST, OPTIMAL, IndexQuality
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables.scores import leaderboard, per_unit


def category_votes_document(scores: UncertainScores, **_: object) -> Document:
    """Distributions per topic, bands over depths, categories of the queries, and who is better."""
    tables = [_topics(scores)]
    if scores.bands:
        tables.append(_bands(scores))
    tables.append(_categories(scores))
    if scores.comparisons:
        tables.append(_better(scores))
    return Document(scores.to_dict, tables, scores.notes)


def _text(name: str) -> Column:
    return Column(name, numeric=False)


def _depth(scores: UncertainScores) -> str:
    return "" if scores.k is None else f"@{scores.k}"


def _topics(scores: UncertainScores) -> Table:
    names = [f"{m}{_depth(scores)}" for m in ("P", "R")]
    heads = [_text("run"), _text("topic")]
    if scores.k is None:
        heads.append(Column("items"))
    heads += [
        Column(f"{n} {statistic}") for n in names for statistic in ("mean", "sd", "5 %", "95 %")
    ]
    rows: list[list[Cell]] = []
    for name, topics in scores.runs.items():
        for t in topics:
            row: list[Cell] = [name, t.topic, *([t.retrieved] if scores.k is None else [])]
            for d in (t.precision, t.recall):
                row += (
                    [None] * 4 if d is None else [d.mean, d.sd, d.quantile(0.05), d.quantile(0.95)]
                )
            rows.append(row)
        p, r = scores.mean(name, "precision"), scores.mean(name, "recall")
        blank: list[Cell] = [None] if scores.k is None else []
        rows.append([name, "all", *blank, *p, None, None, *r, None, None])
    which = "all items" if scores.k is None else f"the first {scores.k} items"
    return Table(heads, rows, f"Uncertain precision and recall of {which}")


def _bands(scores: UncertainScores) -> Table:
    heads = [_text("run"), Column("k")]
    heads += [
        Column(f"{m} {statistic}") for m in ("P", "R") for statistic in ("mean", "low", "high")
    ]
    rows: list[list[Cell]] = [[b.run, b.k, *b.precision, *b.recall] for b in scores.bands]
    note = "low, high: the band of nine tenths around the mean over topics"
    return Table(heads, rows, "Precision and recall over depths", [note])


def _categories(scores: UncertainScores) -> Table:
    seen: dict[str, list[list[Cell]]] = {}
    for topics in scores.runs.values():
        for t in topics:
            seen.setdefault(
                t.topic, [[t.topic, c.category, c.probability, c.size] for c in t.categories]
            )
    heads = [_text("topic"), _text("category"), Column("probability"), Column("size", digits=2)]
    rows = [row for rows_of in seen.values() for row in rows_of]
    note = "probability: that the query is of it; size: expected number of its items"
    return Table(heads, rows, "Categories of the queries", [note])


def _better(scores: UncertainScores) -> Table:
    heads = [_text("a"), _text("b"), _text("topic")]
    heads += [Column(c) for c in ("a better", "equal", "b better")] + [Column("p", below=True)]
    rows: list[list[Cell]] = []
    for c in scores.comparisons:
        for topic, o in [*c.topics.items(), ("all", c.overall)]:
            p = c.p if topic == "all" else None
            rows.append([c.a, c.b, topic, o.better, o.equal, o.worse, p])
    measure = f"P{_depth(scores)}" if scores.k else "R"
    notes = ["p: paired randomisation test of the expected values over topics"]
    return Table(heads, rows, f"Probability that a run has the higher {measure}", notes)


def displacement_document(
    scores: DisplacementScores, *, per: Sequence[str] = (), **_: object
) -> Document:
    """Means over subjects, what they are made of, tests between runs, and more if asked for."""
    tables = [_overview(scores)]
    parts = _parts(scores)
    if parts is not None:
        tables.append(parts)
    if scores.pairs:
        tables.append(_pairs(scores))
    machine = tables[0]
    if "subject" in per:
        machine = _listing(scores, scores.subject_rows(), ("run", "subject"), "Per subject")
        tables.append(machine)
    if "topic" in per:
        keys = ("run", "subject", "topic")
        machine = _listing(scores, scores.topic_rows(), keys, "Per subject and topic")
        tables.append(machine)
    return Document(partial(scores.to_dict, per=per), tables, scores.notes, machine)


def _overview(scores: DisplacementScores) -> Table:
    columns = [Column("run", numeric=False)]
    for m in scores.measures:
        columns.append(Column(str(m), best="max" if m.higher_is_better else "min"))
        columns.append(Column(f"sd of {m}", heading="sd"))
    columns += [Column("subjects"), Column("topics")]
    rows: list[list[Cell]] = []
    for r, run in enumerate(scores.runs):
        row: list[Cell] = [run]
        for m in scores.measures:
            row += [float(scores.mean(m)[r]), _number(scores.spread(m)[r])]
        rows.append([*row, len(scores.subjects), len(scores.topics)])
    return Table(columns, rows, notes=["sd: between subjects"])


def _parts(scores: DisplacementScores) -> Table | None:
    """What the displacement is made of, under each supposition."""
    sums = [(m, parts) for m in scores.measures if (parts := scores.parts(m)) is not None]
    if not sums:
        return None
    columns = [Column("run", numeric=False), Column("listed"), Column("not retrieved")]
    columns += [Column(f"{m} {part}") for m, _ in sums for part in ("retrieved", "other items")]
    rows: list[list[Cell]] = [
        [run, scores.listed, scores.absent[r], *(x for _, parts in sums for x in parts[r])]
        for r, run in enumerate(scores.runs)
    ]
    note = "listed: items of all lists; the two parts of each sum: of items retrieved, and not"
    return Table(columns, rows, "What the displacement is made of", [note])


def _pairs(scores: DisplacementScores) -> Table:
    columns = [Column(name, numeric=False) for name in ("measure", "a", "b")]
    columns += [Column("difference"), Column("p", below=True)]
    rows: list[list[Cell]] = [
        [p.measure, p.a, p.b, p.difference, _number(p.p)] for p in scores.pairs
    ]
    note = "paired randomisation test over subjects"
    return Table(columns, rows, "Differences between runs", [note])


def _listing(
    scores: DisplacementScores,
    rows: Iterable[dict[str, Any]],
    keys: Sequence[str],
    title: str,
) -> Table:
    columns = [Column(k, numeric=False) for k in keys]
    columns += [Column(str(m)) for m in scores.measures]
    return Table(columns, [list(row.values()) for row in rows], title)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def index_quality_document(
    answer: IndexQuality, *, per: Sequence[str] = (), **_: object
) -> Document:
    """The scores of queries that know the answer and of runs, and what the runs lose."""
    scores = answer.scores
    board = leaderboard(scores)
    notes = [f"{OPTIMAL}: Rocchio's, best for the difference of mean cosines, not for a measure"]
    if answer.reference == BEST:
        notes.append(f"{BEST}: found by descent on a loss of the ranking")
    tables = [replace(board, notes=[*board.notes, *notes])]
    if answer.others:
        rows: list[list[Cell]] = []
        for run in answer.others:
            lost = [answer.lost(run, m) for m in scores.measures]
            rows.append([run, *(f"{value:.4f} ({share:.0%})" for value, share in lost)])
        columns = [Column("run", numeric=False)]
        columns += [Column(str(m), heading=m.mean_label) for m in scores.measures]
        title = f"Lost in the query (and as a share of what the {answer.reference} reaches)"
        tables.append(Table(columns, rows, title))
    unit_tables = [per_unit(scores, unit) for unit in per]
    return Document(
        partial(answer.to_dict, per=per),
        [*tables, *unit_tables],
        answer.notes,
        unit_tables[0] if unit_tables else None,
    )
