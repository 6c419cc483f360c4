"""Class folders, as many collections come: the folder of a picture says what it shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cranfield.data import Judgements
from cranfield.data.labels import LabelMatrix
from cranfield.errors import InputError, UsageError
from cranfield.features.folders import list_pictures
from cranfield.io.convert import encoded
from cranfield.io.files import write_whole
from cranfield.io.labels import write_labels


def _classes(folder: str | Path) -> dict[str, str]:
    """The class of each picture: the first folder on its way."""
    found = {
        p.item: p.item.partition("/")[0] for p in list_pictures(folder).pictures if "/" in p.item
    }
    if not found:
        raise InputError.single(
            str(folder), "has no pictures in folders below it, which would name their classes"
        )
    return found


def class_judgements(folder: str | Path) -> Judgements:
    """To each picture as topic, the others of its class are relevant."""
    members: dict[str, list[str]] = {}
    for item, name in _classes(folder).items():
        members.setdefault(name, []).append(item)
    nested = {
        item: {other: 1.0 for other in items if other != item}
        for items in members.values()
        for item in items
        if len(items) > 1
    }
    if not nested:
        raise InputError.single(str(folder), "no class has two pictures")
    return Judgements.from_dict(nested)


def class_labels(folder: str | Path) -> LabelMatrix:
    """Each picture with its class as the one concept it has."""
    classes = _classes(folder)
    concepts = tuple(sorted(set(classes.values())))
    labels = np.array([[name == concept for concept in concepts] for name in classes.values()])
    return LabelMatrix(tuple(classes), concepts, labels=labels, name=Path(folder).name)


def convert_classes(
    folder: str | Path, target: str | Path | None, *, kind: str | None, long: bool = False
) -> bytes:
    """Write class folders as judgements or labels; without a target, the bytes of judgements."""
    if kind == "labels" and target is not None:
        write_labels(class_labels(folder), target, form="long" if long else None)
        return b""
    if kind != "qrels":
        raise UsageError("folders become kind='qrels', or kind='labels' in a file")
    data = encoded(class_judgements(folder), None if target is None else str(target))
    if target is not None:
        write_whole(Path(target), data)
    return data
