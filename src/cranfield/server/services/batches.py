"""Batches of work: what is asked, of whom, and how far it has come.

Pictures of items as assessors see them: from the public part of a campaign, one by one.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, bindparam, func, insert, select, update

from cranfield._lazy import cached_property
from cranfield.campaign.annotation_task import SHOWN, Grid, Sheet, Suggested, Unit, views_of
from cranfield.campaign.batches import KINDS, Plan, change_batch, order_of
from cranfield.campaign.forms import Form
from cranfield.campaign.surveys import KINDS as SURVEY_KINDS
from cranfield.errors import UsageError, suggest
from cranfield.server.context import Context, hash_of
from cranfield.server.services import audit
from cranfield.server.services.campaigns import Row, checked_slug
from cranfield.server.store.database import store_key
from cranfield.server.store.work_tables import admission, assignment, batch, guideline, hit

# Kinds that ask a person once in a batch of its own, whatever was asked elsewhere.
SURVEYS = frozenset(SURVEY_KINDS)
# The pictures of cards that are arranged are asked for by this and the card.
CARD = "card-"
# Batches that a store keeps at hand.
MAX_CACHED_BATCHES, MAX_CACHED_ORDERS = 50, 1000
_CACHED_FIELDS = ("subjects", "by_subject", "_orders", "swept", "places")
_BATCH_CACHE: WeakKeyDictionary[Engine, dict[str, Batch]] = WeakKeyDictionary()
# Queries of every step of annotation, built once.
_SELECT_RUNNING = (
    select(batch)
    .where(batch.c.campaign == bindparam("of"), batch.c.state.in_(("pilot", "running")))
    .order_by(batch.c.created)
)
_SELECT_ADMITTED = select(admission.c.batch).where(admission.c.assessor == bindparam("who"))
_SELECT_RUNNING_FOR = _SELECT_RUNNING.where(batch.c.id.in_(_SELECT_ADMITTED))
# What a plan holds beyond the columns of a batch.
_PLAN_FIELDS = (
    "pilot",
    "trial",
    "qualification",
    "expires",
    "most_per_person",
    "certainty",
    "least",
)


@dataclass(frozen=True)
class Batch:
    """A batch as work needs it: its row, its forms, and how it is given out."""

    row: Row
    forms: Mapping[str, Form]
    about: Form | None
    plan: Plan
    scenario: str
    guidelines: str
    version: str
    hits: Mapping[str, Row]
    key: Mapping[str, Any]

    @property
    def id(self) -> str:
        return str(self.row["id"])

    @property
    def kind(self) -> str:
        return str(self.row["kind"])

    @cached_property
    def drawing(self) -> Mapping[str, Any]:
        """How the units are drawn round by round; empty where all were there from the start."""
        definition: dict[str, Any] = json.loads(self.row["form"])
        return dict(definition.get("drawing") or {})

    @property
    def drawn(self) -> Mapping[str, tuple[int, float]]:
        """The round of each unit that was drawn, and the probability it had."""
        pairs = {key: _content(row).get("drawn") for key, row in self.hits.items()}
        return {key: (int(pair[0]), float(pair[1])) for key, pair in pairs.items() if pair}

    @cached_property
    def subjects(self) -> Mapping[str, str]:
        """What one person sees only once: the same question about the same thing in any batch."""
        names = {part: self._question(form) for part, form in self.forms.items()}
        return {
            key: f"{names[_content(row).get('form', 'form')]} {row['topic']} {row['item']}"
            for key, row in self.hits.items()
        }

    @cached_property
    def by_subject(self) -> Mapping[str, str]:
        """The unit of each subject."""
        return {subject: key for key, subject in self.subjects.items()}

    @cached_property
    def pictured(self) -> frozenset[str]:
        """The items that have a picture."""
        return frozenset(
            str(hit_row["item"])
            for hit_row in self.hits.values()
            if _content(hit_row).get("picture")
        )

    def order_for(self, pseudonym: str) -> list[str]:
        """The units in the order of one person, worked out once."""
        if pseudonym not in self._orders:
            if len(self._orders) >= MAX_CACHED_ORDERS:
                self._orders.clear()
            self._orders[pseudonym] = order_of(self.plan, pseudonym)
        return self._orders[pseudonym]

    @cached_property
    def swept(self) -> list[int]:
        """When places were last freed of those who did not come back: one moment, or none."""
        return []

    @cached_property
    def places(self) -> dict[str, int]:
        """The places that units want under adaptive overlap, as they were last worked out."""
        return {}

    @cached_property
    def _orders(self) -> dict[str, list[str]]:
        return {}

    def _question(self, form: Form) -> str:
        names = form.concepts or tuple(q.name for q in form.questions())
        if self.kind in SURVEYS:
            names = (self.id, *names)
        return hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()[:16]

    def item_of(self, row: Row, which: str) -> str:
        """The item whose picture is shown: the one to judge, or what its topic asks with."""
        return str(_content(row).get("query", "") if which == "query" else row["item"])

    def picture(self, row: Row, which: str) -> str:
        """A picture that came with a unit ('picture', 'second', 'query'); '' where none did."""
        content = _content(row)
        address = content.get(which) if which in ("picture", "second", "query") else None
        if which.startswith(CARD):
            address = dict(content.get("cards", ())).get(which.removeprefix(CARD))
        return address if isinstance(address, str) and address.startswith("data:") else ""

    def unit(self, row: Row, picture: str = "") -> Unit:
        """What is shown of a unit."""
        content = _content(row)
        grid = content.get("grid")
        shown = self.kind in SURVEYS and any(
            content.get(part) for part in ("picture", "second", "text")
        )
        return Unit(
            str(row["id"]),
            content.get("form", "form"),
            content.get("title") or ("" if shown else str(row["item"])),
            content.get("text", ""),
            picture if content.get("picture") else "",
            f"{picture}?which=second" if content.get("second") else "",
            topic=content.get("topic", ""),
            grid=Grid(tuple(grid[0]), tuple(map(tuple, grid[1]))) if grid else None,
            query=f"{picture}?which=query" if picture and content.get("query") else "",
            cards=tuple(
                (card, f"{picture}?{urlencode({'which': CARD + card})}")
                for card, _ in content.get("cards", ())
            ),
            suggested=self.suggested(row),
        )

    def suggested(self, row: Row) -> Suggested | None:
        """What a run says of a unit, where one was asked."""
        record = _content(row).get("suggested")
        return None if record is None else Suggested.from_dict(record)


def _content(row: Row) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(row["content"] or "{}")
    return content


def add_batch(
    connection: Connection,
    context: Context,
    actor: str,
    campaign_id: str,
    sheet: Sheet,
    *,
    slug: str,
    task: str | None = None,
    kind: str = "",
    gold_answers: Mapping[str, Any] | None = None,
    topics: Mapping[str, tuple[str, str]] | None = None,
    gate: str = "",
    key: Mapping[str, Any] | None = None,
    drawing: Mapping[str, Any] | None = None,
    drawn: Mapping[str, tuple[int, float]] | None = None,
    **planned: Any,
) -> str:
    """A draft of a batch; gives its id. `planned` are the fields of a plan.

    `gold_answers` has the known answers by unit; `topics` the topic and item of units that judge
    relevance; `key` is the key of a survey, which its respondents never see. A batch that draws its
    units round by round has a `drawing`, and of each unit the round and the probability.
    """
    name, kind = checked_slug(slug), kind or sheet.kind
    gold = gold_answers or {}
    _check_new(connection, campaign_id, name, kind, sheet, gold)
    plan = Plan(tuple(u.name for u in sheet.units), gold_units=frozenset(gold), **planned)
    now, new = context.clock.now(), context.new_id()
    connection.execute(
        insert(batch).values(
            id=new,
            campaign=campaign_id,
            task=task,
            slug=name,
            title=sheet.title,
            kind=kind,
            guideline=add_guideline(connection, context, campaign_id, sheet.guidelines),
            form=json.dumps(_form_definition(sheet, plan, key or {}) | {"drawing": drawing or {}}),
            gate=gate,
            created=now,
            **_plan_columns(plan),
        )
    )
    rows = [
        _hit_row(context, new, k, unit, topics or {}, gold, drawn or {}, keep=bool(key))
        for k, unit in enumerate(sheet.units)
    ]
    connection.execute(insert(hit), rows)
    audit.append(connection, now, actor, "batch.add", name, {"units": len(sheet.units)})
    return new


def _plan_columns(plan: Plan) -> dict[str, Any]:
    """What a plan has columns for."""
    return {
        "overlap": plan.overlap,
        "gold_share": plan.gold,
        "pay": plan.pay,
        "order_seed": plan.seed,
    }


def change_drawing(
    connection: Connection, context: Context, batch_row: Row, changes: Mapping[str, Any]
) -> None:
    """Write down how far a drawing is; processes that cached the batch read it again."""
    definition = json.loads(batch_row["form"])
    definition["drawing"] = definition["drawing"] | dict(changes)
    now = max(context.clock.now(), (batch_row["changed"] or 0) + 1)
    connection.execute(
        update(batch)
        .where(batch.c.id == batch_row["id"])
        .values(form=json.dumps(definition), changed=now)
    )


def _form_definition(sheet: Sheet, plan: Plan, key: Mapping[str, Any]) -> dict[str, Any]:
    """What a batch asks and how it is given out, as far as it has no column of its own."""
    return {
        "forms": {part: form.to_dict() for part, form in sheet.forms.items()},
        "about": None if sheet.about is None else sheet.about.to_dict(),
        "scenario": sheet.scenario,
        "plan": {name: getattr(plan, name) for name in _PLAN_FIELDS},
        "key": dict(key),
    }


def _check_new(
    connection: Connection,
    campaign_id: str,
    name: str,
    kind: str,
    sheet: Sheet,
    gold: Mapping[str, Any],
) -> None:
    """A UsageError where a batch cannot be made as it is wanted."""
    kinds = (*KINDS, *SURVEY_KINDS)
    if kind not in kinds:
        raise UsageError(f"no batch of the kind {kind!r}.{suggest(kind, kinds)}")
    query = select(batch.c.id).where(batch.c.campaign == campaign_id, batch.c.slug == name)
    if connection.execute(query).first():
        raise UsageError(f"there is a batch {name!r} already")
    units = {u.name for u in sheet.units}
    unknown = [u for u in gold if u not in units]
    if unknown:
        raise UsageError(f"gold names {unknown[0]!r}, which is no unit of the batch")


def add_units(
    connection: Connection,
    context: Context,
    batch: Batch,
    units: Sequence[Unit],
    topics: Mapping[str, tuple[str, str]],
    drawn: Mapping[str, tuple[int, float]] | None = None,
) -> None:
    """Add units to an existing batch; the caller notes that the batch has changed."""
    rows = [
        _hit_row(context, batch.id, k, unit, topics, {}, drawn or {}, keep=False)
        for k, unit in enumerate(units, len(batch.hits))
    ]
    if rows:
        connection.execute(insert(hit), rows)


def _hit_row(
    context: Context,
    batch_id: str,
    position: int,
    unit: Unit,
    topics: Mapping[str, tuple[str, str]],
    gold: Mapping[str, Any],
    drawn: Mapping[str, tuple[int, float]],
    *,
    keep: bool,
) -> Row:
    """A unit as a row; `keep` keeps the pictures that came with it, others are looked up."""
    topic, item = topics.get(unit.name, ("", unit.name))
    content = {
        "form": unit.form,
        "title": unit.title,
        "text": unit.text,
        "topic": unit.topic,
        "picture": checked_picture(unit.picture) if keep else bool(unit.picture),
        "second": checked_picture(unit.second) if keep else False,
        "grid": None if unit.grid is None else [list(unit.grid.head), list(unit.grid.rows)],
        "query": checked_picture(unit.query) if keep and unit.query else unit.query,
        "suggested": None if unit.suggested is None else unit.suggested.to_dict(),
        "cards": [[card, checked_picture(address)] for card, address in unit.cards if keep],
        # Never sent to assessors.
        "drawn": drawn.get(unit.name),
    }
    return {
        "id": context.new_id(),
        "batch": batch_id,
        "position": position,
        "topic": topic,
        "item": item,
        "content": json.dumps({k: v for k, v in content.items() if v}),
        "gold": json.dumps(gold[unit.name]) if unit.name in gold else "",
    }


def add_guideline(connection: Connection, context: Context, campaign_id: str, text: str) -> str:
    """The guidelines of a campaign; another text is a new version. Gives the id."""
    latest = (
        connection.execute(
            select(guideline)
            .where(guideline.c.campaign == campaign_id)
            .order_by(guideline.c.version.desc())
            .limit(1)
        )
        .mappings()
        .first()
    )
    if latest is not None and latest["text"] == text:
        return str(latest["id"])
    new, version = context.new_id(), (latest["version"] if latest else 0) + 1
    connection.execute(
        insert(guideline).values(
            id=new, campaign=campaign_id, version=version, text=text, created=context.clock.now()
        )
    )
    return new


def read_batch(connection: Connection, campaign_id: str, slug: str) -> Batch | None:
    """A batch of a campaign by its name in addresses."""
    row = (
        connection.execute(
            select(batch).where(batch.c.campaign == campaign_id, batch.c.slug == slug)
        )
        .mappings()
        .first()
    )
    return None if row is None else load_batch(connection, dict(row))


def running_for(connection: Connection, annotator: Row) -> list[Batch]:
    """The batches that give work out to an assessor, the oldest first.

    An expert works on all of the campaign, a worker with a link on the batches of the link.
    """
    of = {"of": annotator["campaign"]}
    if annotator["person"] is None:
        rows = connection.execute(_SELECT_RUNNING_FOR, of | {"who": annotator["id"]})
    else:
        rows = connection.execute(_SELECT_RUNNING, of)
    return [load_batch(connection, dict(row)) for row in rows.mappings().all()]


def read_batch_for(connection: Connection, annotator: Row, slug: str) -> Batch | None:
    """A batch by its name in addresses, if an assessor may work on it."""
    query = select(batch).where(batch.c.campaign == annotator["campaign"], batch.c.slug == slug)
    if annotator["person"] is None:
        query = query.where(
            batch.c.id.in_(select(admission.c.batch).where(admission.c.assessor == annotator["id"]))
        )
    row = connection.execute(query).mappings().first()
    return None if row is None else load_batch(connection, dict(row))


def load_batch(connection: Connection, row: Row) -> Batch:
    """A row of a batch with all that hangs on it, read again when the batch has changed."""
    cache = _BATCH_CACHE.setdefault(store_key(connection), {})
    cached = cache.get(row["id"])
    if cached is None or cached.row["changed"] != row["changed"]:
        if len(cache) >= MAX_CACHED_BATCHES:
            cache.clear()
        cached = cache[row["id"]] = _read_batch_rows(connection, row)
    # Only the row moves: its state, its link.
    current = replace(cached, row=row)
    current.__dict__.update({name: getattr(cached, name) for name in _CACHED_FIELDS})
    return current


def _read_batch_rows(connection: Connection, row: Row) -> Batch:
    definition = json.loads(row["form"])
    hits = {
        str(hit_row["id"]): dict(hit_row)
        for hit_row in connection.execute(
            select(hit).where(hit.c.batch == row["id"]).order_by(hit.c.position)
        ).mappings()
    }
    guide = connection.execute(
        select(guideline.c.text, guideline.c.version).where(guideline.c.id == row["guideline"])
    ).first()
    plan = Plan(
        tuple(hits),
        overlap=row["overlap"],
        gold_units=frozenset(key for key, hit_row in hits.items() if hit_row["gold"]),
        gold=row["gold_share"] or 0.0,
        pay=row["pay"] or 0.0,
        seed=row["order_seed"],
        **definition["plan"],
    )
    return Batch(
        row,
        {key: Form.from_dict(form) for key, form in definition["forms"].items()},
        None if definition["about"] is None else Form.from_dict(definition["about"]),
        plan,
        definition["scenario"],
        guide.text if guide else "",
        str(guide.version) if guide else "1",
        hits,
        definition["key"],
    )


def batches_of(connection: Connection, campaign_id: str) -> list[Row]:
    """The batches of a campaign, with how many forms they want and have."""
    units_query = select(hit.c.batch, func.count()).where(hit.c.gold == "").group_by(hit.c.batch)
    units = {str(key): int(count) for key, count in connection.execute(units_query)}
    forms_query = (
        select(hit.c.batch, func.count())
        .join(assignment, assignment.c.hit == hit.c.id)
        .where(assignment.c.state == "submitted", hit.c.gold == "")
        .group_by(hit.c.batch)
    )
    forms = {str(key): int(count) for key, count in connection.execute(forms_query)}
    rows = connection.execute(
        select(batch).where(batch.c.campaign == campaign_id).order_by(batch.c.created, batch.c.slug)
    )
    return [
        dict(row)
        | {"wanted": units.get(row["id"], 0) * row["overlap"], "done": forms.get(row["id"], 0)}
        for row in rows.mappings()
    ]


def check_transition(connection: Connection, row: Row, target: str) -> str:
    """The state that a batch can be taken to, or a UsageError that says which ways there are."""
    open_count = connection.execute(
        select(func.count())
        .select_from(assignment)
        .join(hit, hit.c.id == assignment.c.hit)
        .where(hit.c.batch == row["id"], assignment.c.state == "open")
    ).scalar_one()
    return change_batch(row["state"], target, open_assignments=int(open_count))


def set_state(connection: Connection, context: Context, actor: str, row: Row, target: str) -> None:
    """Take a batch to another state, or raise a UsageError that says which ways there are."""
    state = check_transition(connection, row, target)
    now = context.clock.now()
    connection.execute(
        update(batch).where(batch.c.id == row["id"]).values(state=state, changed=now)
    )
    detail = {"from": row["state"], "to": state}
    audit.append(connection, now, actor, "batch.state", row["slug"], detail)


def skip(connection: Connection, context: Context, actor: str, row: Row, reason: str) -> None:
    """Say that a batch gives no truth, so that scoring need not wait for it."""
    if not reason.strip():
        raise UsageError("say why the batch is left out of the truth")
    if row["state"] != "closed":
        raise UsageError("a batch is closed before it is left out of the truth")
    connection.execute(
        update(batch).where(batch.c.id == row["id"]).values(skipped=reason.strip()[:1000])
    )
    audit.append(
        connection, context.clock.now(), actor, "batch.skip", row["id"], {"reason": reason.strip()}
    )


def survey_link(connection: Connection, context: Context, actor: str, row: Row) -> str:
    """A new public link to answer a batch; an older one ends."""
    secret = context.new_secret()
    connection.execute(
        update(batch).where(batch.c.id == row["id"]).values(link_hash=hash_of(secret))
    )
    audit.append(connection, context.clock.now(), actor, "batch.link", row["slug"])
    return secret


def batch_by_link(connection: Connection, campaign_id: str, secret: str) -> Batch | None:
    row = (
        connection.execute(
            select(batch).where(
                batch.c.campaign == campaign_id, batch.c.link_hash == hash_of(secret)
            )
        )
        .mappings()
        .first()
    )
    return None if row is None else load_batch(connection, dict(row))


_PICTURE_ADDRESS = re.compile(
    rf"data:image/({'|'.join(sorted(set(SHOWN.values())))});base64,[A-Za-z0-9+/=]+"
)


@lru_cache(maxsize=2000)
def picture_of(folder: Path, item: str) -> tuple[bytes, str] | None:
    """The bytes of an item's picture and their media type; None where there is none."""
    _, addresses = views_of([item], collection=folder)
    if item not in addresses:
        return None
    return decode_picture(addresses[item])


def decode_picture(address: str) -> tuple[bytes, str]:
    """The bytes and the media type of a picture that its address holds."""
    head, _, data = address.partition(",")
    return base64.b64decode(data), head.removeprefix("data:").removesuffix(";base64")


def checked_picture(address: str) -> str:
    """An address that holds a picture of a kind that runs no script, or ''; a UsageError else."""
    if address and not _PICTURE_ADDRESS.fullmatch(address):
        raise UsageError("a picture of a survey is PNG, JPEG, GIF or WebP, inside its file")
    return address
