"""Regions written as COCO, VOC, YOLO and CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from cranfield.data.regions import CROWD, DIFFICULT, Regions
from cranfield.errors import InputError, UsageError
from cranfield.io.atomic import make_folder, write_atomic
from cranfield.io.compression import compress_blocks
from cranfield.io.files import describe, inner_suffix
from cranfield.validation import validate_params

REGION_FORMS = (".json", ".csv", ".tsv")


@validate_params
def write_regions(regions: Regions, path: str | Path, *, yolo: bool = False) -> tuple[str, ...]:
    """Write boxes in the format that the name says.

    Parameters
    ----------
    regions
        The boxes of a truth or of a run.
    path
        `.json` for COCO (a truth, or the list of results of a run), `.csv` or `.tsv`, or a name
        that ends with a slash for a folder: a VOC XML file for each item.
    yolo
        The folder holds YOLO's text files and `classes.txt` instead.

    Returns
    -------
    tuple of str
        What the format has no place for.
    """
    target = str(path)
    if target.endswith("/"):
        return _write_yolo(regions, target) if yolo else _write_voc(regions, target)
    if yolo:
        raise UsageError(f"{target}: YOLO's format is a folder, so its name ends with a slash")
    suffix = inner_suffix(path)
    if suffix not in REGION_FORMS:
        raise UsageError(
            f"{target}: boxes are written as {', '.join(REGION_FORMS)}, or to a folder with a slash"
            " at its end"
        )
    if suffix == ".json":
        content = _coco_results(regions) if regions.confidences is not None else _coco(regions)
        blocks: Iterator[bytes] = iter([json.dumps(content).encode(), b"\n"])
    else:
        blocks = iter([_csv(regions, "\t" if suffix == ".tsv" else ",").encode()])
    write_atomic(Path(path), compress_blocks(blocks, Path(path).suffix.lower()))
    lost = len(regions.items) - len(np.unique(regions.item))
    if suffix != ".json" and lost and regions.confidences is None:
        return (f"{describe(path)}: {lost:,} items without a box have no place in it",)
    return ()


def _numbers(regions: Regions) -> tuple[dict[str, int], dict[str, int]]:
    """Numbers of items and concepts: those that they have already, or from 1 on."""
    items = _numbers_of(regions.items)
    codes = {label: code for code, label in regions.concept_aliases.items() if code.isdecimal()}
    if all(label in codes for label in regions.concepts):
        return items, {label: int(codes[label]) for label in regions.concepts}
    return items, _numbers_of(regions.concepts)


def _numbers_of(names: tuple[str, ...]) -> dict[str, int]:
    if all(name.isascii() and name.isdecimal() for name in names):
        return {name: int(name) for name in names}
    return {name: number for number, name in enumerate(names, 1)}


def _file_names(regions: Regions) -> Mapping[str, str]:
    """The longest other name of each item, which is that of its file."""
    names: dict[str, str] = {}
    for alias, item in regions.item_aliases.items():
        if len(alias) > len(names.get(item, "")):
            names[item] = alias
    return names


def _coco(regions: Regions) -> dict[str, object]:
    _refuse_shares(regions, "COCO")
    items, concepts = _numbers(regions)
    files = _file_names(regions)
    images: list[dict[str, object]] = []
    for i, name in enumerate(regions.items):
        image: dict[str, object] = {"id": items[name], "file_name": files.get(name, name)}
        if regions.picture_sizes is not None and not math.isnan(regions.picture_sizes[i, 0]):
            image["width"], image["height"] = map(int, regions.picture_sizes[i])
        images.append(image)
    annotations = [
        {
            "id": number + 1,
            "image_id": items[regions.items[regions.item[number]]],
            "category_id": concepts[regions.concepts[regions.concept[number]]],
            "bbox": regions.boxes[number].tolist(),
            "area": float(regions.areas[number]),
            "iscrowd": int(bool(regions.flags[number] & CROWD)),
            **_keypoint(regions, number),
        }
        for number in range(len(regions))
    ]
    categories = [{"id": concepts[name], "name": name} for name in regions.concepts]
    return {"images": images, "annotations": annotations, "categories": categories}


def _keypoint(regions: Regions, number: int) -> dict[str, object]:
    """A box without a size is a point, which COCO has as a visible keypoint."""
    x, y, width, height = regions.boxes[number].tolist()
    return {} if width or height else {"keypoints": [x, y, 2], "num_keypoints": 1}


def _coco_results(regions: Regions) -> list[dict[str, object]]:
    _refuse_shares(regions, "COCO")
    for noun, names in (("item", regions.items), ("concept", regions.concepts)):
        wordy = next((name for name in names if not name.isdecimal()), None)
        if wordy is not None:
            raise InputError.single(
                regions.where,
                f"the {noun} {wordy!r} is no number, as results of COCO have it: write CSV",
            )
    sure = regions.confidences if regions.confidences is not None else np.zeros(len(regions))
    return [
        {
            "image_id": int(regions.items[regions.item[number]]),
            "category_id": int(regions.concepts[regions.concept[number]]),
            "bbox": regions.boxes[number].tolist(),
            "score": float(sure[number]),
        }
        for number in range(len(regions))
    ]


def _refuse_shares(regions: Regions, format_name: str) -> None:
    if regions.relative:
        raise InputError.single(
            regions.where,
            f"has shares of the pictures, and {format_name} has pixels: the sizes are not known",
        )


def _csv(regions: Regions, separator: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    sure = regions.confidences
    header = ["item", "concept", "x", "y", "width", "height"]
    extra = ["confidence"] if sure is not None else ["area", "crowd", "difficult"]
    writer.writerow([*header, *extra])
    for number in range(len(regions)):
        row: list[str | float | int] = [
            regions.items[regions.item[number]],
            regions.concepts[regions.concept[number]],
            *regions.boxes[number].tolist(),
        ]
        if sure is not None:
            row.append(float(sure[number]))
        else:
            flags = int(regions.flags[number])
            row += [
                float(regions.areas[number]),
                int(flags & CROWD > 0),
                int(flags & DIFFICULT > 0),
            ]
        writer.writerow(row)
    return text.getvalue()


def _rows_of(regions: Regions) -> list[list[int]]:
    """The numbers of the boxes of each item."""
    rows: list[list[int]] = [[] for _ in regions.items]
    for number, item in enumerate(regions.item.tolist()):
        rows[item].append(number)
    return rows


def _plain_names(regions: Regions, target: str) -> list[str]:
    """Names of the items' files, which must be names and not ways to other folders."""
    names = [Path(item).stem for item in regions.items]
    bad = next(
        (item for item, name in zip(regions.items, names, strict=True)
         if item != Path(item).name or name in ("", ".", "..") or "\0" in name),
        None,
    )  # fmt: skip
    if bad is not None:
        raise InputError.single(regions.where, f"{bad!r} cannot be the name of a file in {target}")
    if len(set(names)) != len(names):
        raise InputError.single(regions.where, "two items would have the same file")
    return names


def _write_voc(regions: Regions, target: str) -> tuple[str, ...]:
    if regions.confidences is not None:
        raise UsageError(f"{target}: VOC's XML is for a truth; a run is written as .csv or .json")
    _refuse_shares(regions, "VOC")
    names, rows = _plain_names(regions, target), _rows_of(regions)
    files = _file_names(regions)
    folder = make_folder(target)
    for i, name in enumerate(names):
        file_name = files.get(regions.items[i], regions.items[i])
        text = f"<annotation>\n<filename>{escape(file_name)}</filename>\n"
        if regions.picture_sizes is not None and not math.isnan(regions.picture_sizes[i, 0]):
            width, height = regions.picture_sizes[i]
            text += f"<size><width>{width:g}</width><height>{height:g}</height></size>\n"
        for number in rows[i]:
            x, y, width, height = regions.boxes[number].tolist()
            ends = {"xmin": x, "ymin": y, "xmax": x + width, "ymax": y + height}
            corners = "".join(f"<{key}>{value!r}</{key}>" for key, value in ends.items())
            concept = escape(regions.concepts[regions.concept[number]])
            difficult = int(regions.flags[number] & DIFFICULT > 0)
            text += (
                f"<object><name>{concept}</name><difficult>{difficult}</difficult>"
                f"<bndbox>{corners}</bndbox></object>\n"
            )
        write_atomic(folder / f"{name}.xml", f"{text}</annotation>\n".encode())
    crowds = int((regions.flags & CROWD > 0).sum())
    return (f"{target}: VOC has no crowds ({crowds:,} boxes)",) if crowds else ()


def _write_yolo(regions: Regions, target: str) -> tuple[str, ...]:
    names, rows = _plain_names(regions, target), _rows_of(regions)
    boxes = regions.boxes
    if not regions.relative:
        sizes = regions.picture_sizes
        if sizes is None or np.isnan(sizes).any():
            raise InputError.single(
                regions.where,
                "YOLO has shares of the pictures, whose sizes are not known here",
            )
        boxes = boxes / np.tile(sizes[regions.item], 2)
    folder = make_folder(target)
    for i, name in enumerate(names):
        lines = []
        for number in rows[i]:
            x, y, width, height = boxes[number].tolist()
            numbers = [x + width / 2, y + height / 2, width, height]
            if regions.confidences is not None:
                numbers.append(float(regions.confidences[number]))
            lines.append(f"{regions.concept[number]} {' '.join(map(repr, numbers))}\n")
        write_atomic(folder / f"{name}.txt", "".join(lines).encode())
    classes = "".join(f"{concept}\n" for concept in regions.concepts)
    write_atomic(folder / "classes.txt", classes.encode())
    flagged = int((regions.flags > 0).sum())
    return (f"{target}: YOLO has no crowds and difficult boxes ({flagged:,})",) if flagged else ()
