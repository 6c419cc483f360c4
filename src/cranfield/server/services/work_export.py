"""What an export holds of the people: logs under pseudonyms, decisions, pools, survey answers.

Nothing personal is in it: no names, no accounts, and of surveys no ages.
"""

from __future__ import annotations

import json
from pathlib import Path

from sqlalchemy import Connection, select

from cranfield.campaign.surveys.making import count_survey
from cranfield.errors import CranfieldError
from cranfield.io.files import csv_text
from cranfield.server.context import Context
from cranfield.server.services import batch_results, batches
from cranfield.server.services.batches import Batch
from cranfield.server.services.campaigns import Row
from cranfield.server.store.work_tables import pool_item


def export_work(connection: Connection, context: Context, campaign: Row, folder: Path) -> None:  # noqa: ARG001
    """Write a folder for each batch that has begun."""
    for row in batches.batches_of(connection, campaign["id"]):
        if row["state"] == "draft":
            continue
        batch = batches.load_batch(connection, row)
        target = folder / "work" / str(row["slug"])
        target.mkdir(parents=True)
        _write(connection, batch, target)


def _write(connection: Connection, batch: Batch, target: Path) -> None:
    try:
        log = batch_results.collect_forms(connection, batch).log
    except CranfieldError:
        log = None
    if log is not None:
        # By name, not by time: the same judgements give the same bytes.
        rows = sorted(log.rows())
        (target / "log.csv").write_text(csv_text([log.header, *rows]), encoding="utf-8")
    decided = batch_results.decisions(connection, batch)
    if decided:
        head = ("item", "concept", "value", "reason")
        decision_rows = sorted((d.item, d.concept, d.value, d.reason) for d in decided)
        (target / "decisions.csv").write_text(csv_text([head, *decision_rows]), encoding="utf-8")
    pooled = connection.execute(
        select(pool_item.c.topic, pool_item.c.item, pool_item.c.best_rank, pool_item.c.runs)
        .where(pool_item.c.batch == batch.id)
        .order_by(pool_item.c.topic, pool_item.c.item)
    ).all()
    if pooled:
        names = ("topic", "item", "best_rank", "runs")
        (target / "pool.csv").write_text(csv_text([names, *map(tuple, pooled)]), encoding="utf-8")
    if batch.key:
        _write_survey(connection, batch, target)


def _write_survey(connection: Connection, batch: Batch, target: Path) -> None:
    """The answers with their key, and what they come to."""
    survey_responses = sorted(batch_results.responses(connection, batch), key=lambda r: r.annotator)
    answers = [
        {
            "annotator": r.annotator,
            "answers": {f.unit: {k: list(v) for k, v in f.answers.items()} for f in r.filled},
        }
        for r in survey_responses
    ]
    texts = {"key.json": dict(batch.key), "answers.json": answers}
    if survey_responses:
        texts["counted.json"] = count_survey(batch.key, survey_responses).to_dict()
    for name, content in texts.items():
        text = json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True)
        (target / name).write_text(text + "\n", encoding="utf-8")
