"""Vectors of items as search takes them: from files of any kind, from pictures, from arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.data.columns import is_matrix, plain_array
from cranfield.errors import InputError, UsageError
from cranfield.features import DESCRIPTORS
from cranfield.features._spec import Descriptor
from cranfield.features.image_folders import list_pictures, shown, vectors_of
from cranfield.features.pictures import BadPictureError, read_picture
from cranfield.io.arrays import read_vectors
from cranfield.io.files import FileForm, csv_rows, describe, read_text, run_name


@dataclass(frozen=True, eq=False)
class ItemTable:
    """Items and the vector of each; `descriptor` and `distance` where they are known."""

    items: tuple[str, ...]
    vectors: NDArray[Any]
    name: str = "vectors"
    descriptor: Descriptor | None = None
    distance: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, items: Sequence[str], vectors: Any, name: str = "vectors") -> ItemTable:
        """Checked: one finite vector for each of the different items."""
        table = np.asarray(vectors)
        if table.ndim != 2 or table.dtype.kind not in "iufb":
            raise InputError.single(
                name,
                f"expected a table of numbers, a row per item; found shape {table.shape} "
                f"of {table.dtype}",
            )
        if len(items) != len(table):
            raise InputError.single(name, f"{len(table)} vectors for {len(items)} items")
        if len(set(items)) < len(items):
            twice = Counter(items).most_common(1)[0][0]
            raise InputError.single(name, f"item {twice!r} has two vectors")
        if table.dtype.kind == "f" and not np.isfinite(table).all():
            row = int(np.argmin(np.isfinite(table).all(axis=1)))
            raise InputError.single(name, f"the vector of item {items[row]!r} is not finite")
        return cls(tuple(items), table, name)

    @property
    def length(self) -> int:
        return int(self.vectors.shape[1])


# A file of vectors, a table of items, or an array or tensor with a row for each item.
ItemVectorsForm: TypeAlias = "FileForm | ItemTable | Any"


def item_table(source: ItemVectorsForm, ids: str | Path | Sequence[str] | None) -> ItemTable:
    """Items and vectors from any form that `search` takes; rows of arrays are called by `ids`."""
    if isinstance(source, ItemTable):
        return source
    if is_matrix(source):
        vectors = plain_array(source)
        if isinstance(ids, str | Path):
            ids = read_text(ids).split()
        names = range(len(vectors)) if ids is None else ids
        return ItemTable.of([str(name) for name in names], vectors)
    if ids is not None and not isinstance(ids, str | Path):
        raise UsageError("items= as a list is for arrays; a file of vectors has a file of ids")
    return read_items(source, ids)


def read_items(path: FileForm, ids: str | Path | None = None) -> ItemTable:
    """Vectors from .npz, .npy (with `ids`, one a line) or Parquet, named by their file."""
    items, vectors, arrays = read_vectors(path, ids)
    table = replace(ItemTable.of(items, vectors, describe(path)), name=run_name(path))
    distance = str(arrays["distance"]) if "distance" in arrays else ""
    called = str(arrays["descriptor"]) if "descriptor" in arrays else ""
    descriptor = DESCRIPTORS.get(called)
    if descriptor is not None and descriptor.length != table.length:
        descriptor = None
    return replace(table, descriptor=descriptor, distance=distance)


def query_pictures(folder: str | Path, like: ItemTable) -> ItemTable:
    """The pictures of a folder, described as a collection was."""
    if like.descriptor is None or not like.descriptor.kernel:
        raise UsageError(
            f"{like.name}: which descriptor made these vectors is not known, so pictures cannot "
            "be described like them; give vectors of the queries"
        )
    return replace(described_folder(folder, [like.descriptor]), descriptor=like.descriptor)


def described_folder(folder: str | Path, descriptors: Sequence[Descriptor]) -> ItemTable:
    """The pictures of a folder with the numbers of all descriptors one after the other.

    Its notes say which pictures could not be read.
    """
    listing = list_pictures(folder)
    items, rows, skipped = [], [], dict(listing.skipped)
    for picture in listing.pictures:
        try:
            pixels = read_picture(picture.path).pixels
        except BadPictureError as error:
            skipped[picture.file] = str(error)
            continue
        items.append(picture.item)
        rows.append(np.concatenate(vectors_of(pixels, descriptors)))
    if not items:
        raise InputError.single(str(folder), "holds no picture that can be read")
    notes = tuple(f"{shown(file)} {reason}" for file, reason in sorted(skipped.items()))
    return replace(ItemTable.of(items, np.array(rows), str(folder)), notes=notes)


def picture_features(
    folder: str | Path, descriptors: str = "CEDD EHD Tamura"
) -> tuple[tuple[str, ...], NDArray[np.float64], tuple[str, ...]]:
    """Ids, features and notes of the pictures of a folder: colour, edges and texture, unless other
    descriptors are named."""
    table = described_folder(folder, DESCRIPTORS.find_all(descriptors))
    return table.items, table.vectors.astype(np.float64), table.notes


def query_topics(path: FileForm, collection: ItemTable) -> tuple[list[str], list[int]]:
    """Topics, and the row of the item that each asks with, from CSV topic,item."""
    source = describe(path)
    rows = list(csv_rows(iter(read_text(path).splitlines(keepends=True)), source, ","))
    header = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    if header[:2] != ["topic", "item"]:
        raise InputError.single(source, "expected a header topic,item", 1)
    place = {item: row for row, item in enumerate(collection.items)}
    topics: dict[str, int] = {}
    for line, cells in rows[1:]:
        topic, item = cells[0].strip(), cells[1].strip() if len(cells) > 1 else ""
        if item not in place:
            raise InputError.single(source, f"{collection.name} has no item {item!r}", line)
        if topic in topics:
            raise InputError.single(source, f"topic {topic!r} has two items", line)
        topics[topic] = place[item]
    if not topics:
        raise InputError.single(source, "has a header but no topics")
    return list(topics), list(topics.values())
