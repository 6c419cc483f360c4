"""The tables of annotation: batches of work, who does it, and every judgement that was made."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Table, UniqueConstraint

from cranfield.server.store.tables import METADATA, at, key, must, number, real, text, to

guideline = Table(
    "guideline",
    METADATA,
    key(),
    to("campaign"),
    number("version", 1),
    must("text"),
    at("created"),
    UniqueConstraint("campaign", "version"),
)
batch = Table(
    "batch",
    METADATA,
    key(),
    to("campaign"),
    to("task", optional=True),
    must("slug"),
    must("title"),
    # labels, relevance, screening, ratings, preference, survey, votes, rankings, association
    must("kind"),
    text("state", "draft"),  # draft, pilot, running, paused, closed, merged
    to("guideline", optional=True),
    text("form"),
    number("overlap", 1),
    real("gold_share"),
    real("pay"),
    number("order_seed"),
    text("gate"),
    # Why an unmerged batch does not hold the scoring up: the organiser's words.
    text("skipped"),
    text("link_hash", None),
    at("created"),
    at("changed", optional=True),
    UniqueConstraint("campaign", "slug"),
)
pool_item = Table(
    "pool_item",
    METADATA,
    to("batch"),
    must("topic"),
    must("item"),
    # Never sent to assessors: what they would betray of the runs.
    number("best_rank", None),
    number("runs", None),
    real("weight"),
    UniqueConstraint("batch", "topic", "item"),
)
hit = Table(
    "hit",
    METADATA,
    key(),
    to("batch"),
    number("position"),
    text("topic"),
    text("item"),
    text("content"),  # what else the form shows, as JSON
    text("gold"),  # the known answer, as JSON, if it is a test
    Index("ix_hit_batch_position", "batch", "position"),
)
assessor = Table(
    "assessor",
    METADATA,
    key(),
    to("campaign"),
    to("person", optional=True),
    must("pseudonym"),
    text("kind", "expert"),  # expert, crowd or model
    text("token_hash", None),
    text("state", "active"),  # active, paused or removed
    text("facts"),
    at("created"),
    UniqueConstraint("campaign", "pseudonym"),
    UniqueConstraint("token_hash"),
)
# The batches that an assessor with a link may work on: a link is good for nothing else.
admission = Table(
    "admission",
    METADATA,
    to("assessor"),
    to("batch"),
    text("via"),  # survey: by the public link of the batch; else an organiser made the link
    at("created"),
    UniqueConstraint("assessor", "batch"),
)
assignment = Table(
    "assignment",
    METADATA,
    key(),
    to("hit"),
    to("assessor"),
    text("state", "offered"),  # offered, open, submitted, rejected or expired
    # What one person may see only once, whatever the batch: the item, or topic and item.
    must("subject"),
    at("offered"),
    at("opened", optional=True),
    at("submitted", optional=True),
    at("expires", optional=True),
    Column("active_ms", BigInteger, nullable=False, default=0, server_default="0"),
    to("guideline", optional=True),
    text("reason"),
    text("reissued_as", None),
    UniqueConstraint("assessor", "subject"),
    UniqueConstraint("hit", "assessor"),
)
judgement = Table(
    "judgement",
    METADATA,
    key(),
    to("assignment"),
    to("assessor"),
    must("client_key", unique=True),
    number("revision", 1),
    text("topic"),
    text("item"),
    text("concept"),
    must("value"),
    at("at"),
    Index("ix_judgement_assignment_revision", "assignment", "revision"),
)
comment = Table(
    "comment",
    METADATA,
    key(),
    to("assignment", optional=True),
    to("batch", optional=True),
    to("assessor", optional=True),
    must("text"),
    at("at"),
)
adjudication = Table(
    "adjudication",
    METADATA,
    key(),
    to("batch"),
    text("topic"),
    text("item"),
    text("concept"),
    must("value"),
    text("reason"),
    to("person"),
    at("at"),
    UniqueConstraint("batch", "topic", "item", "concept"),
)
