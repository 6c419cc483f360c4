"""The sample campaigns: collections that ship with the package, to be clicked through."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from cranfield.errors import MissingExtraError
from cranfield.io.collection import read_collection, write_collection
from cranfield.io.samples import sample_folder
from cranfield.server.context import SECOND, Context
from cranfield.server.jobs.worker import work_all
from cranfield.server.services import campaigns, organiser_dashboard
from cranfield.server.services.importing import import_collection
from cranfield.server.services.site import SiteTexts, change_site_texts, site_texts
from cranfield.server.store.tables import campaign

DAY = 24 * 3600 * SECOND
DIGITS_CALL = """Which of these handwritten digits show what the query shows, and which concepts \
does an image have? Two tasks on one small collection of real images.

This campaign ships with Cranfield: **register a team**, download the data, submit a run, and \
look at the organiser's board."""
PHOTOS_CALL = """Twelve photographs were cut into twelve tiles each. To a tile as query, the other \
tiles of the same photograph are relevant.

The runs are Cranfield's own descriptors of colour and texture, so the results answer a question \
of their own: *how far does colour alone get, and is the difference to texture real?*"""
CONCEPTS_CALL = """Fifteen concepts follow from a digit: the digit itself, whether it is even or \
prime, whether it has a loop. Systems say how sure they are of each concept.

This campaign is **closed**: runs are no longer taken, and its results follow when the organisers \
release them."""
SITE = SiteTexts(
    "Sample campaigns",
    "Three small campaigns to click through: one that takes runs, one that is closed, and one "
    "whose results are out. Log in as `organiser` with the password that the command printed to "
    "see them from behind.",
)
DIGIT_SAMPLES = " ".join(f"d{number:04d}" for number in range(12))
# Descriptors of the photographs: whose run it is, its tag, and what it looks at.
PHOTO_RUNS = {
    "CEDD": ("FERN", "r1", "colour and edges together"),
    "FCTH": ("FERN", "r2", "colour and texture together"),
    "JCD": ("OTTER", "r1", "colour, edges and texture together"),
    "Tamura": ("LUMEN", "r1", "texture alone"),
    "RGBHistogram": ("", "colours", "a histogram of colours"),
}
PHOTO_TOPICS, PHOTO_SEED = 24, 7


def ensure_demo(context: Context, say: Callable[[str], None] = lambda _: None) -> None:
    """Three campaigns in three states, unless they are there already; `say` is told of each."""
    now = context.clock.now()
    dates = {"opens": now - 20 * DAY, "closes": now + 30 * DAY, "release": now + 45 * DAY}
    past = dates | {"opens": now - 90 * DAY}
    contact = "The organisers of the sample"
    if site_texts(context) == SiteTexts():
        context.store.write(lambda c: change_site_texts(c, context, "demo", SITE))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _ensure(
            context,
            say,
            "digits",
            lambda: sample_folder("digits"),
            ("open",),
            dates
            | {
                "summary": "Find the digit that a query shows, and say what is true of it.",
                "call": DIGITS_CALL,
                "samples": DIGIT_SAMPLES,
                "contact": contact,
                "citation": "E. Alpaydin and C. Kaynak (1998). Optical Recognition of Handwritten "
                "Digits. UCI Machine Learning Repository.",
            },
        )
        _ensure(
            context,
            say,
            "photos",
            lambda: _photo_collection(folder / "photos"),
            ("open", "closed", "scoring", "released"),
            past
            | {
                "summary": "Which tiles were cut from the same photograph?",
                "call": PHOTOS_CALL,
                "contact": contact,
                "samples": " ".join(f"p{number:03d}" for number in range(1, 13)),
            },
        )
        _ensure(
            context,
            say,
            "digit-concepts",
            lambda: _concept_collection(folder / "concepts"),
            ("open", "closed"),
            past
            | {
                "title": "What is true of a digit?",
                "summary": "Fifteen concepts of handwritten digits, from even to loops.",
                "call": CONCEPTS_CALL,
                "contact": contact,
                "samples": " ".join(f"d{number:04d}" for number in range(20, 32)),
            },
        )


def _ensure(
    context: Context,
    say: Callable[[str], None],
    slug: str,
    make_source: Callable[[], Path],
    moves: tuple[str, ...],
    values: dict[str, Any],
) -> None:
    with context.store.read() as connection:
        if connection.execute(select(campaign.c.id).where(campaign.c.slug == slug)).first():
            return
    say(f"preparing the sample campaign {slug} ...")
    try:
        source = make_source()
    except MissingExtraError as error:
        say(f"the sample campaign {slug} is left out: {error}")
        return
    import_collection(context, source, name=slug, **values)
    for end in moves:
        work_all(context)
        context.store.write(lambda c, e=end: _move(c, context, slug, e))  # type: ignore[misc]
    work_all(context)
    if "closed" in moves:
        # A campaign opens only with a closing date that is still to come.
        context.store.write(lambda c: _set_closing(c, context, slug))


def _set_closing(connection: Connection, context: Context, slug: str) -> None:
    row = campaigns.by_slug(connection, slug)
    closes = context.clock.now() - DAY
    campaigns.change(connection, context, "demo", row["id"], {"closes": closes})


def _concept_collection(folder: Path) -> Path:
    """The annotations of the digits without their rankings."""
    digits = read_collection(sample_folder("digits"))
    write_collection(
        replace(
            digits,
            name="digit-concepts",
            topics=None,
            judgements=None,
            runs=(),
            measures=(),
            primary="",
            baseline="",
            retrieved="",
            design=None,
            subject_categories=None,
            category_parents=None,
            subject_rankings=None,
        ),
        folder,
    )
    return folder


def _photo_collection(folder: Path) -> Path:
    """The tiles under names that tell nothing, some of them as topics, and runs over them."""
    from cranfield.features.extract import describe_pictures
    from cranfield.features.search import search

    source = sample_folder("photos")
    tiles = sorted((source / "pictures").iterdir())
    random.Random(PHOTO_SEED).shuffle(tiles)
    names = {tile.stem: f"p{number:03d}" for number, tile in enumerate(tiles, 1)}
    pictures = folder / "pictures"
    pictures.mkdir(parents=True)
    for tile in tiles:
        shutil.copyfile(tile, pictures / f"{names[tile.stem]}{tile.suffix}")
    topics = [f"p{number:03d}" for number in range(1, PHOTO_TOPICS + 1)]
    topic_rows = "".join(f"{topic},{topic},Tiles of the same photograph\n" for topic in topics)
    (folder / "topics.csv").write_text(f"topic,item,text\n{topic_rows}", encoding="utf-8")
    relevant = (line.split() for line in (source / "qrels.txt").read_text("utf-8").splitlines())
    (folder / "qrels.txt").write_text(
        "".join(
            sorted(
                f"{names[topic]} 0 {names[item]} {grade}\n"
                for topic, _, item, grade in relevant
                if names[topic] in topics
            )
        ),
        encoding="utf-8",
    )
    describe_pictures(pictures, list(PHOTO_RUNS), folder / "vectors")
    (folder / "runs").mkdir()
    facts = ["run,team,tag,configuration,description,features,classifier,threshold,baseline"]
    for name, (team, tag, about) in PHOTO_RUNS.items():
        run = search(folder / "vectors" / f"{name}.npz", folder / "topics.csv")
        (folder / "runs" / f"{name}.run").write_bytes(run.to_bytes())
        facts.append(f"{name},{team},{tag},V,Nearest by {about},{name},,,{'no' if team else 'yes'}")
    (folder / "run-facts.csv").write_text("\n".join(facts) + "\n", encoding="utf-8")
    shutil.copyfile(sample_folder("digits") / "teams.csv", folder / "teams.csv")
    runs = ", ".join(f'"runs/{name}.run"' for name in PHOTO_RUNS)
    (folder / "collection.toml").write_text(
        f"""name = "photos"
title = "Tiles of photographs"
version = "1"
licence = "CC0-1.0"
year = "2026"
layout = 2
size = {len(tiles)}
pictures = "pictures"
topics = "topics.csv"
judgements = "qrels.txt"
teams = "teams.csv"
run_facts = "run-facts.csv"
runs = [{runs}]
measures = ["AP", "nDCG@10", "P@10"]
primary = "AP"
baseline = "RGBHistogram"
""",
        encoding="utf-8",
    )
    return folder


def _move(connection: Connection, context: Context, slug: str, end: str) -> None:
    row = campaigns.by_slug(connection, slug)
    campaigns.move(connection, context, "demo", row["id"], end)
    organiser_dashboard.start_jobs_of_state(connection, context, row, end)  # type: ignore[arg-type]
