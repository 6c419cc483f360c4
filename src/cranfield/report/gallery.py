"""A look at a search: queries and what was found for them as pictures, relevant ones marked."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cranfield._version import __version__
from cranfield.campaign.item_texts import picture_files
from cranfield.data import Judgements
from cranfield.data.collection import ImageSheet
from cranfield.errors import MissingExtraError
from cranfield.features.image_folders import list_pictures
from cranfield.features.item_vectors import ItemTable, query_topics
from cranfield.features.pictures import BadPictureError, small_picture
from cranfield.features.search import Search
from cranfield.io import read_qrels
from cranfield.io.files import inner_suffix
from cranfield.report.page import html_file
from cranfield.report.sections import Section

TOPICS_SHOWN = 30
_SIDE = 96
_BOX_SIDE = 480  # of a picture that boxes are drawn on
_STYLE = """
body { font: 16px/1.4 system-ui, sans-serif; margin: 1.5rem; color-scheme: light dark; }
section { display: flex; flex-wrap: wrap; gap: .5rem; margin: 0 0 1.5rem; align-items: start; }
h2 { flex-basis: 100%; font-size: 1rem; margin: 0; }
figure { margin: 0; width: 104px; padding: 3px; border: 3px solid transparent; }
figure.query { border: 3px dotted currentColor; }
figure.relevant { border: 3px double currentColor; }
figure img { display: block; max-width: 96px; max-height: 96px; }
figcaption { font-size: .75rem; overflow-wrap: anywhere; }
"""


def picture_page(
    answer: Search, pictures: str, *, queries: str | None = None, qrels: str | None = None
) -> str:
    """`search_page` with judgements of a file; `queries` are pictures where they are a folder, and
    items of the collection where they are CSV topic,item."""
    query_folder = queries if queries is not None and Path(queries).is_dir() else None
    query_items: dict[str, str] = {}
    if queries is not None and inner_suffix(queries) in (".csv", ".txt"):
        table = ItemTable(answer.items, np.empty((len(answer.items), 0)), answer.name)
        topics, rows = query_topics(queries, table)
        query_items = {topic: answer.items[row] for topic, row in zip(topics, rows, strict=True)}
    judged = None if qrels is None else read_qrels(qrels)
    return search_page(
        answer, pictures, queries=query_folder, query_items=query_items, judgements=judged
    )


def search_page(
    answer: Search,
    pictures: str | Path,
    *,
    queries: str | Path | None = None,
    query_items: Mapping[str, str] | None = None,
    judgements: Judgements | None = None,
    topics: int = TOPICS_SHOWN,
) -> str:
    """The first topics of a search with all items that were found for each, as one file.

    `pictures` is the folder of the collection, `queries` that of the queries where they are
    others, and `query_items` the items of the collection that topics ask with where they have
    other names; items that `judgements` call relevant have a frame and the word.
    """
    places = _places(pictures)
    query_places = (_places(queries) if queries is not None else {}) | places
    grades = judgements.to_dict() if judgements is not None else {}
    parts = [f"<h1>{html.escape(answer.headline())}</h1>"]
    rankings = zip(answer.topics[:topics], answer.found, answer.scores, strict=False)
    for topic, row, scores in rankings:
        query_item = (query_items or {}).get(topic, topic)
        figures = [_figure(query_item, query_places.get(query_item), "query", "query")]
        for number, score in zip(row.tolist(), scores.tolist(), strict=True):
            if number < 0:
                continue
            item = answer.items[number]
            relevant = grades.get(topic, {}).get(item, 0) > 0
            words = f"{score:.3f}" + (", relevant" if relevant else "")
            figures.append(_figure(item, places.get(item), words, "relevant" if relevant else ""))
        parts.append(f"<section><h2>{html.escape(topic)}</h2>{''.join(figures)}</section>")
    if len(answer.topics) > topics:
        parts.append(f"<p>... and {len(answer.topics) - topics} more topics</p>")
    parts.append(f"<footer>Made by Cranfield {__version__}.</footer>")
    return html_file(answer.headline(), f"<main>{''.join(parts)}</main>", style=_STYLE)


def _places(folder: str | Path) -> dict[str, Path]:
    return {picture.item: picture.path for picture in list_pictures(folder).pictures}


def _figure(item: str, path: Path | None, words: str, kind: str) -> str:
    name = html.escape(item, quote=True)
    picture = _thumbnail(path)
    inside = f'<img src="{picture}" alt="{name}">' if picture else "(no picture)"
    mark = f' class="{kind}"' if kind else ""
    return f"<figure{mark}>{inside}<figcaption>{name}<br>{words}</figcaption></figure>"


def _thumbnail(path: Path | None, side: int = _SIDE) -> str:
    """A small picture that is part of the page, or nothing where it cannot be read."""
    if path is None:
        return ""
    try:
        small = small_picture(path, side)
    except BadPictureError:
        return ""
    packed = io.BytesIO()
    small.save(packed, "JPEG", quality=80)
    return "data:image/jpeg;base64," + base64.b64encode(packed.getvalue()).decode()


# Small pictures of a folder: their side, how many a row of the sheet has, how many there are.
SIDE = 64
COLUMNS = 32
MOST_PICTURES = 2_048
# A tile is shown at least so wide; tiny ones are enlarged.
_DISPLAY_SIDE = 32


def add_box_pictures(files: Mapping[str, Path], sections: Sequence[Section]) -> None:
    """The pictures below boxes that are drawn, of the items that have a file."""
    for section in sections:
        for entry in section.data.get("drawn", {}).get("items", ()):
            names = (entry["item"], entry["file"], Path(entry["file"]).stem)
            path = next((files[name] for name in names if name in files), None)
            try:
                entry["picture"] = _thumbnail(path, _BOX_SIDE)
            except MissingExtraError as error:
                section.left_out.append(f"Pictures of items: {error}.")
                return


def picture_sheet(sheet: ImageSheet, topics: Mapping[str, str]) -> dict[str, Any]:
    """A sheet of pictures to be put into the page; `topics` have the picture of an item."""
    return _inside(sheet, "png", sheet.path.read_bytes(), topics)


def folder_sheet(
    files: Mapping[str, Path], sections: Sequence[Section], topics: Mapping[str, str]
) -> dict[str, Any] | None:
    """The same from files: of topics, and of items in the order in which sections show them.

    A topic that `topics` does not know and that is itself an item has the picture of that item.
    The sections list what is left out of the page.
    """
    topic_pictures = {
        t: t for s in sections for t in s.data.get("units", {}).get("topic", ()) if t in files
    }
    topic_pictures |= {topic: item for topic, item in topics.items() if item in files}
    items = [item for s in sections for item in (*_topic_items(s, topic_pictures), *_items(s))]
    with_files = [item for item in dict.fromkeys(items) if item in files]
    if not with_files:
        return None
    try:
        tiles = _tiles({item: files[item] for item in with_files[:MOST_PICTURES]})
    except MissingExtraError as error:
        sections[0].left_out.append(f"Pictures of items: {error}.")
        return None
    if len(with_files) > MOST_PICTURES:
        note = f"Pictures are shown of the first {MOST_PICTURES:,} of {len(with_files):,} items."
        sections[0].left_out.append(note)
    return None if tiles is None else _inside(*tiles, topic_pictures)


def folder_pictures(
    folder: str | Path | None, sections: Sequence[Section], *, public: bool = False
) -> dict[str, Any] | None:
    """The pictures of a folder for the items of a page; a public one has none."""
    if folder is None or public:
        return None
    files = picture_files(Path(folder))
    add_box_pictures(files, sections)
    return folder_sheet(files, sections, {})


def _topic_items(section: Section, topic_pictures: Mapping[str, str]) -> list[str]:
    return [
        topic_pictures[topic]
        for topic in section.data.get("units", {}).get("topic", ())
        if topic in topic_pictures
    ]


def _items(section: Section) -> list[str]:
    """The items of a section: those of rankings, those whose labels are explained."""
    parts = (section.data.get(name) for name in ("rankings", "explanations"))
    return [item for part in parts if part for item in part["items"]]


def _tiles(files: Mapping[str, Path]) -> tuple[ImageSheet, str, bytes] | None:
    """Small pictures on one, left to right; files that cannot be read are left out."""
    small = {}
    for item, path in files.items():
        try:
            small[item] = small_picture(path, SIDE)
        except BadPictureError:
            continue
    if not small:
        return None
    from PIL import Image

    columns = min(COLUMNS, len(small))
    sheet = ImageSheet(Path(), tuple(small), SIDE, SIDE, columns)
    canvas = Image.new("RGB", sheet.size, (128, 128, 128))
    for item, tile in small.items():
        x, y = sheet.tile(item)
        place = x + (SIDE - tile.width) // 2, y + (SIDE - tile.height) // 2
        canvas.paste(tile, place)
    packed = io.BytesIO()
    canvas.save(packed, "JPEG", quality=80)
    return sheet, "jpeg", packed.getvalue()


def _inside(sheet: ImageSheet, kind: str, data: bytes, topics: Mapping[str, str]) -> dict[str, Any]:
    return {
        "source": f"data:image/{kind};base64,{base64.b64encode(data).decode()}",
        "width": sheet.width,
        "height": sheet.height,
        "columns": sheet.columns,
        "scale": max(1, _DISPLAY_SIDE // sheet.width),
        "sheet": list(sheet.size),
        "items": list(sheet.items),
        "topics": dict(topics),
    }
