"""Tables of pools, and of what a pool without a run would have meant."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.campaign.pool import Pool, PooledItem
from cranfield.lab.studies.reusability import Reusability
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables._study import study_document


def pool_document(answer: Pool, *, first: int | None = None) -> Document:
    """The pool by topic, for machines item by item; or the `first` items to judge next."""
    items = _items(answer, answer.items if first is None else answer.next_to_judge(first))
    table = _topics(answer) if first is None else items
    return Document(answer.to_dict(first=first), [table], answer.notes, items)


def reusability_document(answer: Reusability) -> Document:
    """A row per run and measure."""
    return study_document(answer, [_reusability_table(answer)])


def _items(answer: Pool, items: Sequence[PooledItem]) -> Table:
    columns = [
        Column("topic", numeric=False),
        Column("item", numeric=False),
        Column("runs", 0),
        Column("best_rank", 0),
        Column("weight"),
        Column("judged", 0),
    ]
    rows: list[list[Cell]] = [
        [i.topic, i.item, i.runs, i.best_rank, i.weight, int(i.judged)] for i in items
    ]
    return Table(columns, rows, f"Pool of {len(answer.runs)} runs to depth {answer.depth}")


def _topics(answer: Pool) -> Table:
    """Per topic: how many items, how many of them judged."""
    columns = [
        Column("topic", numeric=False),
        Column("items", 0),
        Column("judged", 0),
        Column("by_one_run", 0, heading="by one run only"),
    ]
    rows: list[list[Cell]] = [[t.topic, t.items, t.judged, t.by_one_run] for t in answer.topics()]
    return Table(columns, rows, f"Pool of {len(answer.runs)} runs to depth {answer.depth}")


def _reusability_table(answer: Reusability) -> Table:
    columns = [
        Column("run", numeric=False),
        Column("measure", numeric=False),
        Column("unique", 0, heading="own items"),
        Column("unique_relevant", 0, heading="relevant"),
        Column("score"),
        Column("score_without", heading="without"),
        Column("change_percent", 2, heading="change %"),
        Column("rank", 0),
        Column("rank_without", 0, heading="rank without"),
    ]
    rows: list[list[Cell]] = [
        [
            r.run,
            r.measure,
            r.unique,
            r.unique_relevant,
            r.score,
            r.score_without,
            r.change_percent,
            r.rank,
            r.rank_without,
        ]
        for r in answer.runs
    ]
    notes = [
        "score: judged by the pool of all runs; own items: what this run alone has in it;",
        "without: judged by the pool of all other runs, so that its own items are unjudged",
    ]
    return Table(columns, rows, f"Leaving each run out of the pool of depth {answer.depth}", notes)
