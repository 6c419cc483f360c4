"""The tables of a campaign: campaigns, people, runs, scores, jobs and the audit.

Those of annotation are in `work_tables`. Rows are read and written with these tables and every
filter written out; nothing is loaded behind one's back.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

# Constraints have names, so that a migration can speak of them on any database.
METADATA = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


def key() -> Column[str]:
    """The id of a row: random letters, so that ids tell nothing of how many there are."""
    return Column("id", Text, primary_key=True)


def to(table: str, name: str = "", *, optional: bool = False) -> Column[str]:
    """A reference to a row of another table."""
    target = f"{table}.id"
    return Column(name or table, Text, ForeignKey(target), nullable=optional, index=True)


def text(name: str, default: str | None = "") -> Column[str]:
    """A text; `None` as the default makes it one that may be missing."""
    return Column(name, Text, nullable=default is None, default=default, server_default=default)


def must(name: str, **options: Any) -> Column[str]:
    """A text that has to be given."""
    return Column(name, Text, nullable=False, **options)


def number(name: str, default: int | None = 0) -> Column[int]:
    default_text = None if default is None else str(default)
    return Column(
        name, Integer, nullable=default is None, default=default, server_default=default_text
    )


def real(name: str) -> Column[float]:
    """A double that may be missing."""
    return Column(name, Float(53))


def at(name: str, *, optional: bool = False) -> Column[int]:
    """A time: milliseconds since 1970, by the clock of the server."""
    return Column(name, BigInteger, nullable=optional)


campaign = Table(
    "campaign",
    METADATA,
    key(),
    must("slug", unique=True),
    must("title"),
    number("year", None),
    text("series"),
    text("state", "draft"),
    # One line for cards, then the call in Markdown.
    text("summary"),
    text("call"),
    text("licence"),
    number("licence_version", 1),
    text("guidelines"),
    text("contact"),
    text("citation"),
    # Ids of items whose pictures everybody may see.
    text("samples"),
    at("opens", optional=True),
    at("closes", optional=True),
    at("release", optional=True),
    number("runs_per_team", 5),
    # What a live board is scored on: nothing, a share such as 30%, or a split of the collection.
    text("live_part"),
    # Letters of the configurations a run may have, such as "V T M"; none: any word.
    text("configurations"),
    text("measures"),
    text("label_measures"),
    text("box_measures"),
    text("primary_measure"),
    number("seed", 0),
    # 1: runs are pooled and judged after the closing.
    number("pooled", 0),
    # 1: members of teams may assess, which the call says publicly.
    number("teams_assess", 0),
    at("created"),
)
phase = Table(
    "phase",
    METADATA,
    key(),
    to("campaign"),
    must("name"),
    at("opens"),
    at("closes"),
    # Runs of a team for each task: in all, and on one day (0: no limit of its own).
    number("runs", 5),
    number("runs_per_day"),
    # 1: its runs stand on the live board.
    number("live"),
)
task = Table(
    "task",
    METADATA,
    key(),
    to("campaign"),
    must("slug"),
    must("title"),
    must("kind"),  # ranked, labels or regions
    text("split"),
    text("run_form"),
    text("threshold_form"),
    text("baseline"),
    UniqueConstraint("campaign", "slug"),
)
public_set = Table(
    "public_set",
    METADATA,
    to("task"),
    must("kind"),  # topic, item or concept
    must("name"),
    number("position"),
    text("text"),
    text("media"),
    text("meta"),
    UniqueConstraint("task", "kind", "name"),
)
truth_version = Table(
    "truth_version",
    METADATA,
    key(),
    to("task"),
    number("n", 1),
    must("sha"),
    must("file"),  # its name in sealed/
    text("source"),
    text("note"),
    at("created"),
    UniqueConstraint("task", "n"),
)
announcement = Table(
    "announcement",
    METADATA,
    key(),
    to("campaign"),
    must("title"),
    text("text"),
    at("at"),
)

person = Table(
    "person",
    METADATA,
    key(),
    must("login", unique=True),
    must("name"),
    text("contact"),
    text("email"),
    at("email_verified", optional=True),
    must("password"),
    number("disabled"),
    at("created"),
)
session = Table(
    "session",
    METADATA,
    Column("hash", Text, primary_key=True),
    to("person"),
    at("created"),
    at("expires"),
    at("confirmed", optional=True),  # when the password was last entered again
)
password_link = Table(
    "password_link",
    METADATA,
    Column("hash", Text, primary_key=True),
    to("person"),
    at("expires"),
)
email_link = Table(
    "email_link",
    METADATA,
    Column("hash", Text, primary_key=True),
    to("person"),
    must("email"),
    at("expires"),
)
invitation = Table(
    "invitation",
    METADATA,
    key(),
    must("hash", unique=True),
    to("campaign"),
    text("role"),  # none: to register a team
    text("email"),
    at("created"),
    at("expires"),
    at("used", optional=True),
)
webhook = Table(
    "webhook",
    METADATA,
    key(),
    to("campaign"),
    must("url"),
    must("events"),
    at("created"),
    text("outcome"),  # of the last call
    at("called", optional=True),
)
extension = Table(
    "extension",
    METADATA,
    key(),
    to("campaign"),
    to("team"),
    at("until"),
    must("reason"),
    at("created"),
)
api_token = Table(
    "api_token",
    METADATA,
    key(),
    must("hash", unique=True),
    to("person"),
    to("team", optional=True),
    text("scope", "submit"),
    text("label"),
    at("created"),
    at("expires", optional=True),
    at("revoked", optional=True),
)
login_failure = Table(
    "login_failure",
    METADATA,
    Column("name", Text, primary_key=True),  # hash of the address and the name that were tried
    number("failures"),
    at("until"),
    at("at"),
)
team = Table(
    "team",
    METADATA,
    key(),
    to("campaign"),
    must("acronym"),
    must("name"),
    text("country"),
    text("reference"),
    must("invitation", unique=True),  # hash of the link that members join by
    at("created"),
    UniqueConstraint("campaign", "acronym"),
)
membership = Table(
    "membership",
    METADATA,
    to("team"),
    to("person"),
    text("rank", "member"),  # member or lead
    at("created"),
    UniqueConstraint("team", "person"),
)
agreement_signed = Table(
    "agreement_signed",
    METADATA,
    key(),
    to("campaign"),
    to("person"),
    number("version", 1),
    must("sha"),
    must("name"),
    at("at"),
    UniqueConstraint("campaign", "person", "version"),
)
role = Table(
    "role",
    METADATA,
    to("person"),
    to("campaign", optional=True),  # none: of the whole site
    must("role"),
    at("created"),
    UniqueConstraint("person", "campaign", "role"),
)

blob = Table(
    "blob",
    METADATA,
    Column("sha", Text, primary_key=True),
    Column("bytes", BigInteger, nullable=False),
    at("created"),
)
run = Table(
    "run",
    METADATA,
    key(),
    to("task"),
    to("team"),
    must("tag"),
    text("configuration"),
    text("description"),
    text("features"),
    text("classifier"),
    number("precedence"),
    text("threshold"),
    must("blob"),
    must("form"),  # the ending of the file, which says how it is read
    number("lines"),
    number("units"),
    text("missing"),
    text("notes"),  # what the check warned of, a line for each
    text("state", "accepted"),
    text("reason"),
    number("baseline"),
    text("phase"),
    number("late"),  # 1: taken after the closing, by a decision of the organisers
    text("via", "page"),
    to("person", optional=True),
    at("created"),
    UniqueConstraint("task", "team", "tag"),
)
rejected_upload = Table(
    "rejected_upload",
    METADATA,
    key(),
    to("task"),
    to("team", optional=True),
    text("tag"),
    text("problems"),
    number("count"),
    at("at"),
)
idempotency = Table(
    "idempotency",
    METADATA,
    Column("key", Text, primary_key=True),
    must("request"),
    number("status"),
    text("body"),
    at("at"),
)

score_set = Table(
    "score_set",
    METADATA,
    key(),
    to("task"),
    number("n", 1),
    to("truth_version"),
    must("key"),
    text("measures"),
    must("version"),  # of Cranfield
    text("state", "building"),
    text("note"),
    at("created"),
    at("switched", optional=True),
    UniqueConstraint("task", "n"),
    UniqueConstraint("task", "key"),
)
score = Table(
    "score",
    METADATA,
    to("score_set"),
    to("run"),
    must("measure"),
    real("mean"),
    real("low"),
    real("high"),
    number("place", None),
    number("rank", None),
    number("rank_first", None),
    number("rank_last", None),
    text("group_letters"),
    number("n", None),
    number("left_out", None),
    UniqueConstraint("score_set", "run", "measure"),
)
run_score = Table(
    "run_score",
    METADATA,
    must("key", primary_key=True),
    to("run"),
    to("truth_version"),
    at("created"),
)

job = Table(
    "job",
    METADATA,
    key(),
    must("kind"),
    must("key", unique=True),
    to("campaign", optional=True),
    to("run", optional=True),
    text("input"),
    text("state", "queued"),  # queued, running, done, failed, cancelled
    text("worker", None),
    number("attempt"),
    at("lease", optional=True),
    text("error"),
    Column("progress", Float, nullable=False, default=0.0, server_default="0"),
    at("created"),
    at("finished", optional=True),
    Index("ix_job_state", "state"),
)
audit = Table(
    "audit",
    METADATA,
    Column("n", Integer, primary_key=True, autoincrement=False),
    at("at"),
    must("actor"),
    must("action"),
    must("object"),
    text("detail"),
    must("previous"),
    must("hash"),
)
export = Table(
    "export",
    METADATA,
    key(),
    to("campaign", optional=True),
    must("kind"),  # export, backup or publication
    must("place"),
    must("sha"),
    at("created"),
)
setting = Table(
    "setting",
    METADATA,
    Column("name", Text, primary_key=True),
    must("value"),
)
