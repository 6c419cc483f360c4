"""What visitors see first: the card of each campaign, and what its overview tells of the tasks."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Select, func, select

from cranfield.campaign.item_texts import read_texts
from cranfield.campaign.workflow import PUBLISHED
from cranfield.errors import UsageError, plural
from cranfield.io.collection import read_collection
from cranfield.measures import measure_for
from cranfield.server.context import Context
from cranfield.server.services import scoring
from cranfield.server.services.campaigns import Row, tasks_of
from cranfield.server.store.tables import membership, public_set, run, score, team
from cranfield.site.pictures import Pictures
from cranfield.site.tables import mathml

if TYPE_CHECKING:
    from markupsafe import Markup

    from cranfield.data.collection import Collection, Kind
    from cranfield.measures import Measure

MOST_SAMPLES = 24
# How many runs the card of a task's results names.
FIRST_RUNS = 3
# Bytes: larger pictures are sent as JPEG.
SMALL_PICTURE = 4096
# How many items of each topic a sample submission ranks, and how many lines a page shows of it.
SAMPLE_DEPTH, SAMPLE_LINES = 10, 3
# Measures of a task whose collection names none.
USUAL_MEASURES: dict[str, str] = {"ranked": "AP", "labels": "AP.concept", "regions": "AP.region"}
FORMATS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "ranked": (
        "a line for each item that was found, in six columns",
        (
            ("topic", "the topic that was asked"),
            ("Q0", "as it stands"),
            ("item", "the item that was found"),
            ("rank", "its place, from 1 on"),
            ("score", "higher is better; items are ordered by it"),
            ("tag", "the name of the run"),
        ),
    ),
    "labels": (
        "CSV with a line for each item and a column for each concept",
        (
            ("item", "the item"),
            ("one column for each concept", "the confidence that the item shows it, from 0 to 1"),
        ),
    ),
    "regions": (
        "CSV with a line for each box",
        (
            ("item", "the item"),
            ("concept", "what the box is around"),
            ("x, y", "the pixels of its upper left corner, from the left and from above"),
            ("width, height", "its sides in pixels"),
            ("confidence", "how sure the run is of it; surer boxes come first"),
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class Leader:
    """The best run of a task, and whether it can be told apart from the next ones."""

    task: str
    run: str
    measure: str
    mean: float
    verdict: str


@dataclass(frozen=True, slots=True)
class Card:
    """A campaign as the home page shows it."""

    campaign: Row
    teams: int
    runs: int
    samples: tuple[str, ...]
    leaders: tuple[Leader, ...]


@dataclass(frozen=True, slots=True)
class TaskCard:
    """A task as the overview tells it; `topics` are the first of those that have a text."""

    task: Row
    counts: tuple[tuple[str, int], ...]
    measure: str
    measure_title: str
    formula: Markup
    form: str
    columns: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]
    topics: tuple[str, ...]
    baselines: tuple[tuple[str, float], ...]


# ---- cards of the home page


def campaign_cards(
    connection: Connection, context: Context, campaigns: Sequence[Row]
) -> list[Card]:
    """A card for each campaign; who leads is on it once the results are out."""
    return [
        Card(
            campaign,
            _team_count(connection, campaign["id"]),
            _run_count(connection, campaign["id"]),
            sample_items(campaign),
            tuple(leaders(connection, context, campaign)),
        )
        for campaign in campaigns
    ]


def _team_count(connection: Connection, campaign_id: str) -> int:
    """How many teams registered: one without people has the organisers' baselines."""
    query = (
        select(func.count(func.distinct(team.c.id)))
        .join(membership, membership.c.team == team.c.id)
        .where(team.c.campaign == campaign_id)
    )
    with_people = connection.execute(query).scalar_one()
    imported = (
        select(func.count(func.distinct(team.c.id)))
        .join(run, run.c.team == team.c.id)
        .where(team.c.campaign == campaign_id, team.c.acronym != "", run.c.state == "accepted")
    )
    return max(with_people, connection.execute(imported).scalar_one())


def _run_count(connection: Connection, campaign_id: str) -> int:
    query = (
        select(func.count())
        .select_from(run)
        .join(team, team.c.id == run.c.team)
        .where(team.c.campaign == campaign_id, run.c.state == "accepted")
    )
    return connection.execute(query).scalar_one()


def leaders(connection: Connection, context: Context, campaign: Row) -> Iterator[Leader]:
    """The best run of each task of a campaign whose results are out."""
    if campaign["state"] not in PUBLISHED:
        return
    for task_row in tasks_of(connection, campaign["id"]):
        measure = primary_measure(context, campaign, task_row["kind"])
        rows = connection.execute(_standings(connection, task_row["id"], str(measure))).all()
        if rows:
            first = rows[0]
            name = scoring.name_of(first.acronym, first.tag)
            verdict = _verdict([row.group_letters for row in rows])
            yield Leader(task_row["title"], name, measure.mean_label, first.mean, verdict)


def _standings(connection: Connection, task_id: str, measure: str) -> Select[tuple[object, ...]]:
    """The ranked runs under a measure, best first."""
    current = scoring.current_set(connection, task_id)
    return (
        select(score.c.mean, score.c.group_letters, run.c.tag, team.c.acronym)
        .join(run, run.c.id == score.c.run)
        .join(team, team.c.id == run.c.team)
        .where(
            score.c.score_set == (current["id"] if current else ""),
            score.c.measure == measure,
            score.c.mean.is_not(None),
            run.c.baseline == 0,
        )
        .order_by(score.c.place.is_(None), score.c.place, score.c.mean.desc())
    )


def _verdict(letters: Sequence[str]) -> str:
    """Whether the first run stands alone, by the letters of the groups.

    >>> _verdict(["a", "ab", "b"])
    '1 other run cannot be told apart from it'
    >>> _verdict(["a", "b"])
    'ahead of all other runs'
    """
    if not letters[0] or len(letters) == 1:
        return ""
    alike = sum(1 for other in letters[1:] if set(other) & set(letters[0]))
    if not alike:
        return "ahead of all other runs"
    return f"{plural(alike, 'other run')} cannot be told apart from it"


@dataclass(frozen=True, slots=True)
class ResultCard:
    """A task on the page that leads to its results; `first` is empty until there are tables."""

    task: Row
    measure: str
    measure_title: str
    runs: int
    first: tuple[tuple[str, float], ...]
    verdict: str


def result_cards(connection: Connection, context: Context, campaign: Row) -> list[ResultCard]:
    """A card for each task with its first runs, whether or not the results are public."""
    cards = []
    for task_row in tasks_of(connection, campaign["id"]):
        measure = primary_measure(context, campaign, task_row["kind"])
        rows = connection.execute(_standings(connection, task_row["id"], str(measure))).all()
        first = [(scoring.name_of(row.acronym, row.tag), row.mean) for row in rows[:FIRST_RUNS]]
        verdict = _verdict([row.group_letters for row in rows]) if rows else ""
        cards.append(
            ResultCard(
                task_row, measure.mean_label, measure.title, len(rows), tuple(first), verdict
            )
        )
    return cards


def run_standings(connection: Connection, context: Context, campaign: Row) -> dict[str, Row]:
    """Where each run stands once the results are out: its measure, mean, place and page."""
    from cranfield.server.services.results import CampaignLinks
    from cranfield.site.links import Address, slug

    if campaign["state"] not in PUBLISHED:
        return {}
    standings: dict[str, Row] = {}
    for task_row in tasks_of(connection, campaign["id"]):
        measure = primary_measure(context, campaign, task_row["kind"])
        current = scoring.current_set(connection, task_row["id"])
        links = CampaignLinks(campaign["slug"], task_row["slug"])
        rows = connection.execute(
            select(score.c.run, score.c.mean, score.c.place, run.c.tag, team.c.acronym)
            .join(run, run.c.id == score.c.run)
            .join(team, team.c.id == run.c.team)
            .where(
                score.c.score_set == (current["id"] if current else ""),
                score.c.measure == str(measure),
                score.c.mean.is_not(None),
            )
        )
        for row in rows:
            name = scoring.name_of(row.acronym, row.tag)
            standings[row.run] = {
                "measure": measure.mean_label,
                "mean": row.mean,
                "place": row.place,
                "address": links.page(Address(), Address(f"run/{slug(name)}")),
            }
    return standings


# ---- the overview of a campaign


def task_cards(connection: Connection, context: Context, campaign: Row) -> list[TaskCard]:
    """What a team has to know of each task before it begins."""
    return [
        _task_card(connection, context, campaign, task_row)
        for task_row in tasks_of(connection, campaign["id"])
    ]


def _task_card(
    connection: Connection,
    context: Context,
    campaign: Row,
    task_row: Row,
) -> TaskCard:
    measure = primary_measure(context, campaign, task_row["kind"])
    form, columns = FORMATS[task_row["kind"]]
    topics = connection.execute(_public(task_row["id"], "topic")).all()
    topic_texts = list(dict.fromkeys(row.text for row in topics if row.text))
    counts = [
        (kind, _public_count(connection, task_row["id"], kind))
        for kind in ("topic", "item", "concept")
    ]
    return TaskCard(
        task=task_row,
        counts=tuple((kind, count) for kind, count in counts if count),
        measure=measure.mean_label,
        measure_title=measure.title,
        formula=mathml(measure.formula),
        form=form,
        columns=columns,
        lines=tuple(sample_lines(connection, task_row, most=SAMPLE_LINES)),
        topics=tuple(topic_texts[:SAMPLE_LINES]),
        baselines=tuple(_baselines(connection, campaign, task_row, str(measure))),
    )


def _public(task_id: str, kind: str) -> Select[tuple[str, str]]:
    return (
        select(public_set.c.name, public_set.c.text)
        .where(public_set.c.task == task_id, public_set.c.kind == kind)
        .order_by(public_set.c.position)
    )


def _public_count(connection: Connection, task_id: str, kind: str) -> int:
    query = (
        select(func.count())
        .select_from(public_set)
        .where(public_set.c.task == task_id, public_set.c.kind == kind)
    )
    return connection.execute(query).scalar_one()


def _baselines(
    connection: Connection, campaign: Row, task_row: Row, measure: str
) -> Iterator[tuple[str, float]]:
    """The scores of the baselines once the results are out: before, no score of a test is shown."""
    current = scoring.current_set(connection, task_row["id"])
    if campaign["state"] not in PUBLISHED or current is None:
        return
    rows = connection.execute(
        select(score.c.mean, run.c.tag, team.c.acronym)
        .join(run, run.c.id == score.c.run)
        .join(team, team.c.id == run.c.team)
        .where(score.c.score_set == current["id"], score.c.measure == measure, run.c.baseline == 1)
        .order_by(score.c.mean.desc())
    )
    for row in rows:
        yield scoring.name_of(row.acronym, row.tag), row.mean


def primary_measure(context: Context, campaign: Row, kind: Kind) -> Measure:
    """The measure by which a task is ranked first."""
    part = _collection(context, campaign).part(kind)
    name = part.primary or (part.measures[0] if part.measures else USUAL_MEASURES[kind])
    return measure_for(name, kind)


def sample_lines(
    connection: Connection, task_row: Row, *, most: int | None = None
) -> Iterator[str]:
    """The lines of a submission that the check takes: its values mean nothing.

    Nothing where the campaign does not tell which ids there are.
    """
    names = {
        kind: [row.name for row in connection.execute(_public(task_row["id"], kind))]
        for kind in ("topic", "item", "concept")
    }
    lines = SAMPLES[task_row["kind"]]
    for number, line in enumerate(lines(names)):
        if number == most:
            return
        yield line


def _ranked_lines(names: dict[str, list[str]]) -> Iterator[str]:
    for topic in names["topic"]:
        for rank, item in enumerate(names["item"][:SAMPLE_DEPTH], 1):
            yield f"{topic} Q0 {item} {rank} {1 - rank / 100:.2f} sample"


def _label_lines(names: dict[str, list[str]]) -> Iterator[str]:
    if not names["item"] or not names["concept"]:
        return
    yield ",".join(("item", *map(_csv_cell, names["concept"])))
    values = ",".join(["0.5"] * len(names["concept"]))
    for item in names["item"]:
        yield f"{_csv_cell(item)},{values}"


def _box_lines(names: dict[str, list[str]]) -> Iterator[str]:
    if not names["item"] or not names["concept"]:
        return
    yield "item,concept,x,y,width,height,confidence"
    concept = _csv_cell(names["concept"][0])
    for item in names["item"]:
        yield f"{_csv_cell(item)},{concept},0,0,10,10,0.5"


SAMPLES = {"ranked": _ranked_lines, "labels": _label_lines, "regions": _box_lines}


def _csv_cell(text: str) -> str:
    if any(character in text for character in ',"\n'):
        quoted = text.replace('"', '""')
        return f'"{quoted}"'
    return text


# ---- sample pictures


def sample_items(campaign: Row) -> tuple[str, ...]:
    """The items whose pictures everybody may see, as the settings name them."""
    return tuple(dict.fromkeys(campaign["samples"].split()))


def check_samples(context: Context, campaign: Row, text: str) -> str:
    """The ids of sample pictures as the store keeps them, or a UsageError."""
    items = tuple(dict.fromkeys(text.replace(",", " ").split()))
    if len(items) > MOST_SAMPLES:
        raise UsageError(
            f"{len(items)} sample pictures are named; at most {MOST_SAMPLES} are shown"
        )
    pictures = _pictures(context.settings.public / campaign["slug"])
    lacking = [item for item in items if item not in pictures]
    if lacking:
        raise UsageError(f"there is no picture of {lacking[0]!r} in the public data")
    return " ".join(items)


def sample_picture(context: Context, campaign: Row, item: str) -> tuple[bytes, str] | None:
    """The picture of a sample item without metadata, and its media type; None for other items."""
    if item not in sample_items(campaign):
        return None
    return _drawn(context.settings.public / campaign["slug"], item)


def has_tiny_pictures(context: Context, campaign: Row) -> bool:
    """Whether the pictures are tiles of few pixels, which are shown as squares."""
    return bool(campaign["samples"]) and _collection(context, campaign).images is not None


@lru_cache(maxsize=200)
def _drawn(folder: Path, item: str) -> tuple[bytes, str] | None:
    picture = _pictures(folder).draw(item)
    if picture is None:
        return None
    if len(picture.data) <= SMALL_PICTURE:
        return picture.data, "image/png"
    from PIL import Image

    # A page shows many: a photograph takes a fifth of the bytes so.
    packed = io.BytesIO()
    with Image.open(io.BytesIO(picture.data)) as opened:
        opened.convert("RGB").save(packed, "JPEG", quality=80)
    return packed.getvalue(), "image/jpeg"


@lru_cache(maxsize=8)
def _pictures(folder: Path) -> Pictures:
    return Pictures(read_texts(read_collection(folder)))


def _collection(context: Context, campaign: Row) -> Collection:
    return _read_public(context.settings.public / campaign["slug"])


@lru_cache(maxsize=32)
def _read_public(folder: Path) -> Collection:
    return read_collection(folder)
