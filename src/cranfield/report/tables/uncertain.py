"""Tables of precision and recall under uncertain categories."""

from __future__ import annotations

from typing import Any

from cranfield.evaluation.uncertain.answer import UncertainScores
from cranfield.report.document import Cell, Column, Document, Table


def document(scores: UncertainScores, **_: Any) -> Document:
    """Distributions per topic, bands over depths, categories of the queries, and who is better."""
    tables = [_topics(scores)]
    if scores.bands:
        tables.append(_bands(scores))
    tables.append(_categories(scores))
    if scores.comparisons:
        tables.append(_better(scores))
    return Document(scores.to_dict(), tables, scores.notes)


def _text(name: str) -> Column:
    return Column(name, numeric=False)


def _depth(scores: UncertainScores) -> str:
    return "" if scores.k is None else f"@{scores.k}"


def _topics(scores: UncertainScores) -> Table:
    names = [f"{m}{_depth(scores)}" for m in ("P", "R")]
    heads = [_text("run"), _text("topic")]
    if scores.k is None:
        heads.append(Column("items"))
    heads += [Column(f"{n} {what}") for n in names for what in ("mean", "sd", "5 %", "95 %")]
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
    heads += [Column(f"{m} {what}") for m in ("P", "R") for what in ("mean", "low", "high")]
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
    what = f"P{_depth(scores)}" if scores.k else "R"
    notes = ["p: paired randomisation test of the expected values over topics"]
    return Table(heads, rows, f"Probability that a run has the higher {what}", notes)
