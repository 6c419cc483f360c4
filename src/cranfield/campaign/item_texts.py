"""What is public of a collection without its truth: ids, and what people read and see of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cranfield.data.collection import Collection, ConceptText, Kind, Texts
from cranfield.errors import InputError, Problem
from cranfield.io.collection import file_in_collection, read_items
from cranfield.io.files import csv_rows, describe, inner_suffix, open_text

TOPIC, ITEM, CONCEPT = "topic", "item", "concept"


def public_items(collection: Collection, kind: Kind) -> tuple[str, ...] | None:
    """The ids of the items that runs of a kind may speak of; None where nothing tells them."""
    split = collection.part(kind).split
    if split:
        return collection.splits[split]
    if collection.items is not None:
        return read_items(collection.items)
    if collection.pictures is not None:
        return tuple(picture_files(collection.pictures))
    return None if collection.images is None else collection.images.items


def public_topics(collection: Collection) -> tuple[str, ...] | None:
    """The ids of the topics; None where no file of topics tells them."""
    return None if collection.topics is None else read_items(collection.topics, column=TOPIC)


def public_concepts(collection: Collection) -> tuple[str, ...] | None:
    """The names of the concepts, from their file or else from the ontology."""
    if collection.concepts is not None:
        return read_items(collection.concepts, column=CONCEPT)
    if collection.ontology is not None:
        from cranfield.io.ontology import read_ontology

        return tuple(read_ontology(collection.ontology).concepts)
    return None


def picture_files(folder: Path) -> dict[str, Path]:
    """The picture of each item in a folder, by the item's id."""
    from cranfield.features.image_folders import list_pictures

    return {picture.item: picture.path for picture in list_pictures(folder).pictures}


def read_texts(collection: Collection) -> Texts:
    """Texts of topics, items and concepts, and where the pictures are."""
    topics = _rows(collection.topics, TOPIC)
    items = _rows(collection.items, ITEM)
    concepts = _rows(collection.concepts, CONCEPT)
    pictures = {} if collection.pictures is None else picture_files(collection.pictures)
    for item, row in items.items():
        if row.get("picture"):
            pictures[item] = file_in_collection(
                collection, row["picture"], f"the picture of {item!r}"
            )
    return Texts(
        topics=_topic_texts(topics),
        topic_items=_column(topics, ITEM),
        items=_column(items, "text"),
        concepts={name: _meaning(row) for name, row in concepts.items()},
        pictures=pictures,
        sheet=collection.images,
        narratives=_column(topics, "narrative"),
    )


def _topic_texts(topics: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The text of each topic, or its title and its description as TREC has them."""
    texts = {}
    for topic, row in topics.items():
        parts = [row[name] for name in ("title", "description") if row.get(name)]
        text = row.get("text") or ": ".join(parts)
        if text:
            texts[topic] = text
    return texts


def read_item_texts(path: str | Path) -> dict[str, str]:
    """The texts of items in the column `text` of a CSV file, if it has one."""
    return _column(_rows(Path(path), ITEM), "text")


def _meaning(row: Mapping[str, str]) -> ConceptText:
    examples = tuple(row.get("examples", "").split())
    return ConceptText(row.get("definition", ""), examples, row.get("title", ""))


def _column(rows: Mapping[str, Mapping[str, str]], name: str) -> dict[str, str]:
    return {key: row[name] for key, row in rows.items() if row.get(name)}


def _rows(path: Path | None, name: str) -> dict[str, dict[str, str]]:
    """The rows of a CSV file by one of its columns; a list of ids has no other."""
    if path is None or inner_suffix(path) not in (".csv", ".tsv"):
        return {}
    source = describe(path)
    cells_of: dict[str, dict[str, str]] = {}
    problems: list[Problem] = []
    with open_text(path) as stream:
        rows = csv_rows(stream, source, "\t" if inner_suffix(path) == ".tsv" else ",")
        header = [cell.strip() for cell in next(rows, (0, []))[1]]
        if name not in header:
            message = f"the header {','.join(header)!r} has no column {name!r}"
            raise InputError.single(source, message, 1)
        for line, row in rows:
            cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
            key = cells.get(name, "")
            if key in cells_of:
                problems.append(Problem(line, f"{name} {key!r} is listed twice"))
            elif key:
                cells_of[key] = cells
    if problems:
        raise InputError(source, problems)
    return cells_of
