"""Pictures of the items that a report shows: one sheet of small ones, inside the page."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cranfield.campaign.item_texts import picture_files
from cranfield.data.collection import ImageSheet
from cranfield.errors import MissingExtraError
from cranfield.features.pictures import BadPictureError, small_picture
from cranfield.report.sections import Section

# Small pictures of a folder: their side, how many a row of the sheet has, how many there are.
SIDE = 64
COLUMNS = 32
MOST_PICTURES = 2_048
# A tile is shown at least so wide; tiny ones are enlarged.
_DISPLAY_SIDE = 32


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
    return folder_sheet(picture_files(Path(folder)), sections, {})


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
