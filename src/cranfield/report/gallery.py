"""A look at a search: queries and what was found for them as pictures, relevant ones marked."""

from __future__ import annotations

import base64
import html
import io
from pathlib import Path

from cranfield._version import __version__
from cranfield.data import Judgements
from cranfield.features.image_folders import list_pictures
from cranfield.features.pictures import BadPictureError, small_picture
from cranfield.features.search import Search
from cranfield.io import read_qrels
from cranfield.report.page import html_file

TOPICS_SHOWN, ITEMS_SHOWN = 30, 10
_SIDE = 96
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
    """`search_page` with judgements of a file; `queries` are pictures where they are a folder."""
    query_folder = queries if queries is not None and Path(queries).is_dir() else None
    judged = None if qrels is None else read_qrels(qrels)
    return search_page(answer, pictures, queries=query_folder, judgements=judged)


def search_page(
    answer: Search,
    pictures: str | Path,
    *,
    queries: str | Path | None = None,
    judgements: Judgements | None = None,
    topics: int = TOPICS_SHOWN,
    items: int = ITEMS_SHOWN,
) -> str:
    """The first topics of a search with the first items of each, as one file.

    `pictures` is the folder of the collection, `queries` that of the queries where they are
    others; items that `judgements` call relevant have a frame and the word.
    """
    places = _places(pictures)
    query_places = (_places(queries) if queries is not None else {}) | places
    grades = judgements.to_dict() if judgements is not None else {}
    parts = [f"<h1>{html.escape(answer.headline())}</h1>"]
    rankings = zip(answer.topics[:topics], answer.found, answer.scores, strict=False)
    for topic, row, scores in rankings:
        figures = [_figure(topic, query_places.get(topic), "query", "query")]
        for number, score in list(zip(row.tolist(), scores.tolist(), strict=True))[:items]:
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


def _thumbnail(path: Path | None) -> str:
    """A small picture that is part of the page, or nothing where it cannot be read."""
    if path is None:
        return ""
    try:
        small = small_picture(path, _SIDE)
    except BadPictureError:
        return ""
    packed = io.BytesIO()
    small.save(packed, "JPEG", quality=80)
    return "data:image/jpeg;base64," + base64.b64encode(packed.getvalue()).decode()
