"""Regions read from COCO, VOC, YOLO, Label Studio and CSV, and written as such."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield.data.regions import (
    CROWD,
    DIFFICULT,
    BoxLists,
    Masks,
    Regions,
    areas_of,
    check_boxes,
    make_regions,
)
from cranfield.errors import (
    PROBLEMS_SHOWN,
    InputError,
    Problem,
    UsageError,
    first_duplicate,
    suggest,
)
from cranfield.io.compression import compress_blocks
from cranfield.io.files import (
    LONGEST_ID,
    FileForm,
    Input,
    csv_rows,
    describe,
    inner_suffix,
    is_folder,
    make_folder,
    open_text,
    read_json_bytes,
    read_text,
    run_name,
    write_atomic,
)
from cranfield.validation import validate_params

RegionsForm: TypeAlias = Regions | FileForm | BoxLists
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Floats: TypeAlias = NDArray[np.float64]

# Names of columns that people have, by what they are.
_COLUMNS = {
    "item": ("item", "image", "image_id", "imageid", "filename", "file_name", "file", "img"),
    "concept": ("concept", "label", "class", "category", "name", "labelname", "category_name"),
    "x": ("x", "left", "bbox_x"),
    "y": ("y", "top", "bbox_y"),
    "width": ("width", "w", "bbox_width"),
    "height": ("height", "h", "bbox_height"),
    "xmin": ("xmin", "x_min", "x1"),
    "ymin": ("ymin", "y_min", "y1"),
    "xmax": ("xmax", "x_max", "x2"),
    "ymax": ("ymax", "y_max", "y2"),
    "confidence": ("confidence", "score", "conf", "probability"),
    "area": ("area",),
    "crowd": ("crowd", "iscrowd", "isgroupof"),
    "difficult": ("difficult", "ignore"),
}
_SIDES = ("x", "y", "width", "height")
_ENDS = ("xmin", "ymin", "xmax", "ymax")
_NO_MASKS = "has no masks: they are read from COCO's JSON (segmentation)"
_SHARES = "places are shares of the pictures, so all boxes are small ones"
_CSV = "item,concept,x,y,width,height (or xmin,ymin,xmax,ymax), and confidence for a run"


@validate_params
def read_regions(path: FileForm, *, name: str | None = None, masks: bool = False) -> Regions:
    """Read boxes of items from a file or a folder.

    Parameters
    ----------
    path
        JSON of COCO (a truth or a list of results), a folder of VOC's XML files, a folder of
        YOLO's text files, answers to a form with boxes, an export of Label Studio, or CSV and TSV
        with a header; files may be packed.
    name
        What messages and tables call the run; usually that of the file.
    masks
        Also read the masks (`segmentation`: polygons, or run lengths packed or as numbers), which
        COCO's JSON has; regions without one are refused.

    Returns
    -------
    Regions
        With the items in the order of their numbers where their ids are numbers.
    """
    source = Input.of(path)  # says what is wrong with anything else than a file
    label = name or run_name(source)
    folder = source.path if source.path and source.name and is_folder(source.path) else None
    if masks and (folder is not None or inner_suffix(source) in (".csv", ".tsv")):
        raise InputError.single(describe(source), _NO_MASKS)
    if folder is not None:
        return _read_folder(folder, label)
    if inner_suffix(source) in (".csv", ".tsv"):
        return _read_csv(source, label)
    return _read_coco(source, label, masks)


def check_form(source: object, parameter: str) -> None:
    """A UsageError for what can be no regions."""
    if not isinstance(source, Regions | Input | Mapping | str | Path) and not is_frame(source):
        raise UsageError(
            f"{parameter}={source!r:.60} is neither Regions, nor a file or a data frame, nor "
            "{item: [(concept, x, y, width, height), ...]}"
        )


def is_frame(source: object) -> bool:
    """Whether something is a data frame of pandas or polars, or an Arrow table."""
    return hasattr(source, "columns") and hasattr(source, "shape")


def is_placed(value: object) -> bool:
    """Whether something is what a detector gives for one item: see `detections_of`."""
    return hasattr(value, "xyxy") or (isinstance(value, Mapping) and "boxes" in value)


def detections_of(item: str, value: Any, where: str) -> list[tuple[str | float, ...]]:
    """Rows of the boxes of an item.

    They come as an object with `xyxy`, `class_id` (or names under `data["class_name"]`) and
    `confidence`, as supervision has it, or as {"boxes", "labels", "scores"} with corners, as
    torchvision and torchmetrics do.
    """
    if isinstance(value, Mapping):
        corners, labels, scores = value["boxes"], value.get("labels"), value.get("scores")
    else:
        names = (getattr(value, "data", None) or {}).get("class_name")
        labels = value.class_id if names is None else names
        corners, scores = value.xyxy, value.confidence
    try:
        table = np.asarray(corners, dtype=np.float64).reshape(-1, 4)
        sure = None if scores is None else np.asarray(scores, dtype=np.float64).ravel()
        concepts = [str(label) for label in ([] if labels is None else np.asarray(labels).tolist())]
    except (TypeError, ValueError) as error:
        raise InputError.single(where, f"{item!r:.60} has no boxes: {error}") from None
    lengths = {len(table), len(concepts), len(table) if sure is None else len(sure)}
    if len(lengths) > 1:
        raise InputError.single(
            where,
            f"{item!r:.60} has {len(table)} boxes, but {len(concepts)} labels or as many scores",
        )
    rows = []
    for k, (x, y, right, below) in enumerate(table.tolist()):
        row: tuple[str | float, ...] = (concepts[k], x, y, right - x, below - y)
        rows.append(row if sure is None else (*row, float(sure[k])))
    return rows


def _of_frame(frame: Any, name: str) -> Regions:
    """The rows of a data frame, whose columns have the names that those of CSV have."""
    where = f"<{name}>"
    names = [str(column) for column in getattr(frame, "column_names", frame.columns)]
    at = box_columns(names, where)
    columns = {key: _column(frame, names[place]) for key, place in at.items()}
    numbers, problems = [], []
    keys = [key for key in at if key not in ("item", "concept")]
    for key in keys:
        try:
            numbers.append(np.asarray(columns[key], dtype=np.float64))
        except (TypeError, ValueError):
            problems.append(Problem(0, f"the column {key} has something else than numbers"))
    if problems:
        raise InputError(where, problems)
    table = np.stack(numbers, axis=1) if numbers else np.zeros((0, len(keys)))
    texts = [
        (str(item), str(concept))
        for item, concept in zip(columns["item"], columns["concept"], strict=True)
    ]
    return _of_columns(where, name, keys, texts, table, [f"row {i}" for i in range(len(texts))])


def _column(frame: Any, name: str) -> list[Any]:
    values = frame[name]
    return list(values.to_pylist() if hasattr(values, "to_pylist") else values.to_list())


def coerce_regions(source: RegionsForm, name: str, *, masks: bool = False) -> Regions:
    """Regions from any form that they may have; with `masks` they have masks."""
    if masks and not isinstance(source, str | Path | Input):
        if isinstance(source, Regions) and source.masks is not None:
            return source
        where = source.where if isinstance(source, Regions) else f"<{name}>"
        raise InputError.single(where, f"{_NO_MASKS} with cf.read_regions(path, masks=True)")
    if isinstance(source, Regions):
        return source
    if isinstance(source, Mapping):
        placed: dict[str, Any] = {
            str(item): detections_of(str(item), rows, f"<{name}>") if is_placed(rows) else rows
            for item, rows in source.items()
        }
        return Regions.of(placed, name)
    if is_frame(source):
        return _of_frame(source, name)
    return read_regions(source, masks=masks)


# JSON of COCO


def _read_coco(path: FileForm, name: str, masks: bool) -> Regions:
    where = describe(path)
    text = read_json_bytes(path)
    if masks:
        return _slow_coco(text, where, name, masks=True)
    columns = _core.coco_boxes(text.removeprefix(b"\xef\xbb\xbf"))
    if columns is None:
        return _slow_coco(text, where, name)
    results, ids, images, categories, boxes, numbers, crowds, others = columns
    if results:
        return _coco_results(where, name, images, categories, boxes, numbers)
    try:
        lists: dict[str, Json] = {
            key: json.loads(text.removeprefix(b"\xef\xbb\xbf")[first:last].decode())
            for key, (first, last) in others.items()
        }
    except (UnicodeDecodeError, json.JSONDecodeError):
        return _slow_coco(text, where, name)
    return _coco_truth(where, name, lists, ids, images, categories, boxes, numbers, crowds)


def _slow_coco(text: bytes, where: str, name: str, *, masks: bool = False) -> Regions:
    """The same by Python's own reader, which reads masks, and finds what is wrong and where."""
    content = _json_content(text, where)
    if masks and (_is_responses(content) or _is_label_studio(content)):
        raise InputError.single(where, _NO_MASKS)
    if _is_responses(content):
        return _one_annotator(_drawn_in_responses(content), where, name)
    if _is_label_studio(content):
        return _one_annotator(_drawn_by_annotator(content, where), where, name)
    if isinstance(content, list):
        fields = _Fields(where, "result", content)
        images = fields.whole("image_id")
        categories = fields.whole("category_id")
        masked = fields.masks({}) if masks or fields.lack_boxes() else None
        boxes, scores = fields.boxes(masked), fields.numbers("score")
        fields.check()
        regions = _coco_results(where, name, images, categories, boxes, scores)
        return regions if masked is None else replace(regions, masks=masked.masks)
    annotations = content.get("annotations") if isinstance(content, dict) else None
    if not isinstance(content, dict) or not isinstance(annotations, list):
        raise InputError.single(
            where,
            "is neither a truth of COCO (an object with images, annotations and categories) nor a "
            "list of results",
        )
    fields = _Fields(where, "annotations", annotations)
    ids, images = fields.whole("id"), fields.whole("image_id")
    categories = fields.whole("category_id")
    masked = fields.masks(_sides_of(content)) if masks or fields.lack_boxes() else None
    boxes = fields.boxes(masked)
    own_areas = areas_of(boxes) if masked is None else masked.areas
    areas = fields.numbers("area", own_areas)
    crowds = fields.numbers("iscrowd", np.zeros(len(boxes)))
    fields.check()
    truth = _coco_truth(
        where, name, content, ids, images, categories, boxes, areas, (crowds != 0).astype(np.uint8)
    )
    return truth if masked is None else _with_masks(truth, masked.masks)


def write_coco_part(source: Path, items: Sequence[str], target: Path) -> None:
    """Write the images of some items, by their numbers, and their annotations."""
    content = _json_content(read_json_bytes(source), describe(source))
    if not isinstance(content, dict):
        raise InputError.single(describe(source), "is no truth of COCO")
    item_ids = set(items)
    images = [r for r in _records_of(content, "images") if str(r.get("id")) in item_ids]
    records = [r for r in _records_of(content, "annotations") if str(r.get("image_id")) in item_ids]
    part = content | {"images": images, "annotations": records}
    write_atomic(target, json.dumps(part).encode())


def _sides_of(content: Mapping[str, Json]) -> dict[int, tuple[int, int]]:
    """Height and width of each image that tells them."""
    sides = {}
    for record in _records_of(content, "images"):
        number, height, width = (record.get(key) for key in ("id", "height", "width"))
        if isinstance(number, int) and isinstance(height, int) and isinstance(width, int):
            sides[number] = (height, width)
    return sides


def _with_masks(truth: Regions, masks: Masks) -> Regions:
    """A truth with its masks, which also tell the sizes of pictures that nothing else tells."""
    unknown = np.full((len(truth.items), 2), math.nan)
    sizes = unknown if truth.picture_sizes is None else truth.picture_sizes.copy()
    lacking = np.isnan(sizes[truth.item]).any(axis=1)
    sizes[truth.item[lacking]] = masks.sizes[lacking, ::-1]
    check_mask_sizes(truth.where, masks, truth.item, sizes, truth.items)
    return replace(truth, masks=masks, picture_sizes=sizes)


def check_mask_sizes(
    where: str,
    masks: Masks,
    item: NDArray[np.int32],
    picture_sizes: Floats | None,
    items: Sequence[str],
) -> None:
    """An InputError for masks of other sizes than their pictures."""
    if picture_sizes is None or not len(item):
        return
    expected = picture_sizes[item][:, ::-1]
    wrong = np.flatnonzero((masks.sizes != expected).any(axis=1) & ~np.isnan(expected).any(axis=1))
    if wrong.size:
        problems = []
        for i in wrong[:PROBLEMS_SHOWN].tolist():
            (height, width), (its_height, its_width) = masks.sizes[i], expected[i]
            problems.append(
                Problem(
                    0,
                    f"mask {i} of {width} x {height} pixels is of the item {items[item[i]]!r} of "
                    f"{its_width:g} x {its_height:g}",
                )
            )
        raise InputError(where, problems, int(wrong.size))


def _json_content(text: bytes, where: str) -> Json:
    try:
        content: Json = json.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError.single(where, "is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise InputError.single(where, f"not valid JSON ({error.msg})", error.lineno) from None
    except RecursionError:
        raise InputError.single(where, "not valid JSON (nested too deeply)") from None
    except ValueError:  # of Python, which takes no number of more than 4,300 digits
        raise InputError.single(where, "not valid JSON (a number has too many digits)") from None
    return content


class _Fields:
    """Columns of records, and what is wrong with them."""

    def __init__(self, where: str, noun: str, records: Sequence[Json]) -> None:
        self._where, self._noun = where, noun
        self._records: list[dict[str, Json]] = []
        self._problems: list[Problem] = []
        self._count = 0
        for i, record in enumerate(records):
            if not isinstance(record, dict):
                self._add(i, "is not an object")
            self._records.append(record if isinstance(record, dict) else {})
        self.check()

    def _add(self, i: int, message: str) -> None:
        self._count += 1
        if len(self._problems) < PROBLEMS_SHOWN:
            self._problems.append(Problem(0, f"{self._noun}[{i}] {message}"))

    def check(self) -> None:
        if self._problems:
            raise InputError(self._where, self._problems, self._count)

    def whole(self, key: str) -> NDArray[np.int64]:
        column = np.zeros(len(self._records), dtype=np.int64)
        for i, record in enumerate(self._records):
            value = record.get(key)
            if isinstance(value, str) and value.isascii() and value.isdecimal():
                value = int(value[:19])
            if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**62:
                self._add(i, f"has no whole number as {key}")
            else:
                column[i] = value
        return column

    def numbers(self, key: str, default: Floats | None = None) -> Floats:
        column = np.zeros(len(self._records)) if default is None else default.copy()
        for i, record in enumerate(self._records):
            value = record.get(key)
            if value is None and default is not None:
                continue
            if not isinstance(value, int | float):
                self._add(i, f"has no number as {key}")
            else:
                column[i] = _double(value)
        return column

    def sides(self, key: str, default: Floats) -> Floats:
        """Widths or heights of pictures, NaN where a record has none."""
        column = self.numbers(key, default)
        for i in np.flatnonzero(np.isinf(column) | (column < 0)).tolist():
            self._add(i, f"has a {key} that no picture has: {column[i]:g}")
        return column

    def lack_boxes(self) -> bool:
        """Whether a record has a mask alone, whose box is that around the mask."""
        return any(r.get("bbox") is None and "segmentation" in r for r in self._records)

    def masks(self, sides: Mapping[int, tuple[int, int]]) -> MaskColumns:
        """The masks of all records; `sides` are heights and widths of images by their ids."""
        masks = _core.MaskList()
        sizes = np.zeros((len(self._records), 2), dtype=np.int64)
        for i, record in enumerate(self._records):
            image = record.get("image_id")
            own = sides.get(image) if isinstance(image, int) else None
            try:
                sizes[i] = _add_mask(masks, record.get("segmentation"), own)
            except ValueError as error:
                self._add(i, f"has a segmentation {error}")
        self.check()
        runs, starts, areas, boxes = masks.columns()
        return MaskColumns(Masks(runs, starts, sizes), areas, boxes)

    def boxes(self, masked: MaskColumns | None = None) -> Floats:
        """Their boxes; of those without one the box around its mask, where masks were read."""
        table = np.zeros((len(self._records), 4))
        for i, record in enumerate(self._records):
            box = record.get("bbox")
            if box is None and masked is not None:
                table[i] = masked.boxes[i]
                continue
            numbers = (
                [v for v in box if isinstance(v, int | float)] if isinstance(box, list) else []
            )
            if not isinstance(box, list) or len(box) != 4 or len(numbers) != 4:
                self._add(i, "has no bbox of four numbers")
            else:
                table[i] = [_double(v) for v in numbers]
        return table


class MaskColumns(NamedTuple):
    """Masks, their pixels, and the boxes around them."""

    masks: Masks
    areas: Floats
    boxes: Floats


_MOST_PIXELS = 2**32


def _add_mask(masks: _core.MaskList, value: Json, sides: tuple[int, int] | None) -> tuple[int, int]:
    """Add a `segmentation`: height and width, or a ValueError that says what is wrong with it."""
    if isinstance(value, dict):
        sides, counts = _sides_of_mask(value), value.get("counts")
        if isinstance(counts, str):
            fits = counts.isascii() and masks.add_text(counts.encode(), *sides)
        elif isinstance(counts, list) and all(_is_length(length) for length in counts):
            fits = masks.add_runs(counts, *sides)  # type: ignore[arg-type]
        else:
            raise ValueError("whose counts are neither a text nor a list of whole numbers")
        if not fits:
            raise ValueError(f"whose runs do not fill {sides[1]} x {sides[0]} pixels")
        return sides
    if not isinstance(value, list) or not value:
        raise ValueError("that is neither polygons nor run lengths (size and counts)")
    if sides is None:
        raise ValueError("of polygons, for which the image must tell its width and height")
    _check_sides(sides)
    for polygon in value:
        if not isinstance(polygon, list) or len(polygon) < _SHORTEST or len(polygon) % 2:
            raise ValueError("with a polygon of less than three corners (x1, y1, x2, y2, ...)")
        limit = _FARTHEST * max(sides)
        if not all(isinstance(v, int | float) and abs(v) <= limit for v in polygon):
            raise ValueError("with a corner that is no number, or far from its picture")
    masks.add_polygons(value, *sides)  # type: ignore[arg-type]
    return sides


_SHORTEST = 6  # numbers of a polygon of three corners
_FARTHEST = 2  # sides of a picture that a corner may lie away


def _is_length(value: Json) -> bool:
    return isinstance(value, int) and 0 <= value < _MOST_PIXELS


def _sides_of_mask(value: Mapping[str, Json]) -> tuple[int, int]:
    size = value.get("size")
    numbers = [v for v in size if isinstance(v, int)] if isinstance(size, list) else []
    if not isinstance(size, list) or len(size) != 2 or len(numbers) != 2:
        raise ValueError("without a size (height and width)")
    _check_sides((numbers[0], numbers[1]))
    return numbers[0], numbers[1]


def _check_sides(sides: tuple[int, int]) -> None:
    if min(sides) < 1 or sides[0] * sides[1] >= _MOST_PIXELS:
        raise ValueError(f"of {sides[1]} x {sides[0]} pixels")


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _coco_results(
    where: str,
    name: str,
    images: NDArray[np.int64],
    categories: NDArray[np.int64],
    boxes: Floats,
    scores: Floats,
) -> Regions:
    places = _Places("result", None)
    check_boxes(where, boxes, scores, places)
    item_ids, item = np.unique(images, return_inverse=True)
    concept_ids, concept = np.unique(categories, return_inverse=True)
    return Regions(
        items=tuple(map(str, item_ids.tolist())),
        concepts=tuple(map(str, concept_ids.tolist())),
        item=item.astype(np.int32),
        concept=concept.astype(np.int32),
        boxes=boxes,
        areas=areas_of(boxes),
        flags=np.zeros(len(boxes), dtype=np.uint8),
        confidences=scores,
        name=name,
        where=where,
    )


class _Places(Sequence[str]):
    """What the records of a list are called, put into words when one is asked for."""

    def __init__(self, noun: str, ids: NDArray[np.int64] | None) -> None:
        self._noun, self._ids = noun, ids

    def __getitem__(self, i: int) -> str:  # type: ignore[override]  # never a slice
        text = f"{self._noun}[{i}]"
        return text if self._ids is None else f"{text} (id {self._ids[i]})"

    def __len__(self) -> int:
        return 0 if self._ids is None else len(self._ids)


def _coco_truth(
    where: str,
    name: str,
    lists: Mapping[str, Json],
    ids: NDArray[np.int64],
    images: NDArray[np.int64],
    categories: NDArray[np.int64],
    boxes: Floats,
    areas: Floats,
    crowds: NDArray[np.uint8],
) -> Regions:
    places = _Places("annotations", ids)
    check_boxes(where, boxes, areas, places)
    _check_apart(where, ids)
    pictures = _Fields(where, "images", _list_of(lists, "images", where))
    picture_ids = pictures.whole("id")
    unknown = np.full(len(picture_ids), math.nan)
    picture_sizes = np.stack(
        [pictures.sides("width", unknown), pictures.sides("height", unknown)], axis=1
    )
    pictures.check()
    kinds = _Fields(where, "categories", _list_of(lists, "categories", where))
    kind_ids = kinds.whole("id")
    kinds.check()
    file_names = [_text(r, "file_name") for r in _records_of(lists, "images")]
    labels = [
        _text(record, "name") or str(number)
        for record, number in zip(_records_of(lists, "categories"), kind_ids.tolist(), strict=True)
    ]
    for noun, numbers in (("image", picture_ids), ("category", kind_ids)):
        twice = first_duplicate(map(str, numbers.tolist()))
        if twice is not None:
            raise InputError.single(where, f"two entries of {noun} have the id {twice}")
    # Names that stand twice are told apart by their numbers.
    labels = [
        f"{label} ({number})" if labels.count(label) > 1 else label
        for label, number in zip(labels, kind_ids.tolist(), strict=True)
    ]
    order = np.argsort(picture_ids)
    item = _positions(where, places, images, picture_ids[order], "image")
    kind_order = np.argsort(kind_ids)
    concept = kind_order[_positions(where, places, categories, kind_ids[kind_order], "category")]
    items = tuple(map(str, picture_ids[order].tolist()))
    aliases = {file_names[i]: str(picture_ids[i]) for i in range(len(file_names)) if file_names[i]}
    return Regions(
        items=items,
        concepts=tuple(labels),
        item=item.astype(np.int32),
        concept=concept.astype(np.int32),
        boxes=boxes,
        areas=areas,
        flags=(crowds * CROWD).astype(np.uint8),
        picture_sizes=picture_sizes[order],
        item_aliases={Path(file).stem: item for file, item in aliases.items()} | aliases,
        concept_aliases={str(n): label for n, label in zip(kind_ids.tolist(), labels, strict=True)},
        name=name,
        where=where,
    )


def _list_of(lists: Mapping[str, Json], key: str, where: str) -> list[Json]:
    entries = lists.get(key)
    if not isinstance(entries, list):
        raise InputError.single(where, f"has no list of {key}")
    return entries


def _records_of(lists: Mapping[str, Json], key: str) -> Iterator[dict[str, Json]]:
    entries = lists.get(key)
    if isinstance(entries, list):
        yield from (entry for entry in entries if isinstance(entry, dict))


def _text(record: Mapping[str, Json], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


def _check_apart(where: str, ids: NDArray[np.int64]) -> None:
    """An InputError that names an id that two annotations have."""
    values, first, counts = np.unique(ids, return_index=True, return_counts=True)
    twice = np.flatnonzero(counts > 1)
    problems = []
    for k in twice[:PROBLEMS_SHOWN].tolist():
        second = int(np.flatnonzero(ids == values[k])[1])
        problems.append(
            Problem(0, f"annotations[{second}] has the id {values[k]} of annotations[{first[k]}]")
        )
    if problems:
        raise InputError(where, problems, int(twice.size))


def _positions(
    where: str,
    places: Sequence[str],
    numbers: NDArray[np.int64],
    known: NDArray[np.int64],
    noun: str,
) -> NDArray[np.int64]:
    """Where numbers stand in a rising list; an InputError names those that do not."""
    if not len(known):
        known = np.array([np.iinfo(np.int64).min])
    place = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    strangers = np.flatnonzero(known[place] != numbers)
    if strangers.size:
        problems = [
            Problem(0, f"{places[i]} is of the {noun} {numbers[i]}, which is not listed")
            for i in strangers[:PROBLEMS_SHOWN].tolist()
        ]
        raise InputError(where, problems, int(strangers.size))
    return place


# Folders of VOC and YOLO


def _read_folder(folder: Path, name: str) -> Regions:
    """What is in a folder: VOC's XML files, or YOLO's text files."""
    inner = folder / "Annotations"
    xml = sorted((inner if inner.is_dir() else folder).glob("*.xml"))
    if xml:
        return _read_voc(folder, xml, name)
    labels = folder / "labels"
    top = labels if labels.is_dir() else folder
    texts = sorted(path for path in top.rglob("*.txt") if path.name not in _CLASS_FILES)
    if texts or labels.is_dir():
        return _read_yolo(folder, top, texts, name)
    raise InputError.single(
        describe(folder), "holds neither .xml files (VOC) nor .txt files (YOLO) of annotations"
    )


def _read_voc(folder: Path, files: Sequence[Path], name: str) -> Regions:
    """A truth as PASCAL VOC writes it: an XML file for each picture."""
    from xml.etree import ElementTree

    rows: list[tuple[str, str, list[float], int]] = []
    sizes: list[tuple[float, float]] = []
    for file in files:
        where, text = describe(file), read_text(file)
        if "<!DOCTYPE" in text:
            raise InputError.single(where, "has a DOCTYPE, which annotations do without")
        try:
            root = ElementTree.fromstring(text)
        except ElementTree.ParseError as error:
            raise InputError.single(where, f"not valid XML ({error})", error.position[0]) from None
        size = [_number_of(root.findtext(f"size/{side}")) for side in ("width", "height")]
        sizes.append((size[0], size[1]))
        for number, element in enumerate(root.findall("object")):
            ends = [_number_of(element.findtext(f"bndbox/{end}")) for end in _ENDS]
            label = (element.findtext("name") or "").strip()
            box = [ends[0], ends[1], ends[2] - ends[0], ends[3] - ends[1]]
            if not label:
                raise InputError.single(where, f"object[{number}] has no name")
            check_boxes(where, np.array([box]), None, [f"object[{number}] ({label})"])
            difficult = (element.findtext("difficult") or "0").strip() == "1"
            rows.append((file.stem, label, box, DIFFICULT * difficult))
    return make_regions(
        tuple(file.stem for file in files),
        tuple(sorted({label for _, label, _, _ in rows})),
        [item for item, _, _, _ in rows],
        [label for _, label, _, _ in rows],
        np.array([box for _, _, box, _ in rows], dtype=np.float64),
        flags=np.array([flag for _, _, _, flag in rows], dtype=np.uint8),
        picture_sizes=np.array(sizes),
        name=name,
        where=describe(folder),
    )


_CLASS_FILES = ("classes.txt", "obj.names", "labels.txt", "train.txt", "val.txt", "test.txt")
_PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp")


def _read_yolo(folder: Path, top: Path, files: Sequence[Path], name: str) -> Regions:
    """Boxes as YOLO writes them: a text file for each picture, with shares of its size.

    The pictures themselves tell their sizes where they stand beside; pictures without a text file
    are items without a box.
    """
    classes = _class_names(folder, top)
    pictures = _pictures_of(folder, top)
    rows: list[tuple[str, str, list[float]]] = []
    for file in files:
        rows += ((file.stem, *row) for row in _yolo_rows(file, classes))
    lengths = {len(numbers) for _, _, numbers in rows}
    if len(lengths) > 1:
        raise InputError.single(
            describe(folder), "some boxes have a confidence and others have none"
        )
    table = np.array([numbers for _, _, numbers in rows], dtype=np.float64)
    table = table.reshape(len(rows), lengths.pop() if lengths else 4)
    items = tuple(dict.fromkeys([*(file.stem for file in files), *pictures]))
    boxes = np.concatenate([table[:, :2] - table[:, 2:4] / 2, table[:, 2:4]], axis=1)
    sizes = _picture_sizes(items, pictures)
    notes: tuple[str, ...] = ()
    if sizes is None:
        notes = (f"{describe(folder)}: {_SHARES}",)
    elif rows:
        of_item = {item: i for i, item in enumerate(items)}
        boxes = boxes * np.tile(sizes[[of_item[item] for item, _, _ in rows]], 2)
    return make_regions(
        items,
        tuple(dict.fromkeys([*classes, *(concept for _, concept, _ in rows)])),
        [item for item, _, _ in rows],
        [concept for _, concept, _ in rows],
        boxes,
        confidences=table[:, 4] if table.shape[1] > 4 else None,
        picture_sizes=sizes,
        name=name,
        where=describe(folder),
        notes=notes,
        relative=sizes is None,
    )


def _yolo_rows(file: Path, classes: Sequence[str]) -> Iterator[tuple[str, list[float]]]:
    """Class and numbers of each line of a file."""
    where = describe(file)
    problems: list[Problem] = []
    for line, text in enumerate(read_text(file).split("\n"), 1):
        fields = text.split()
        if not fields:
            continue
        numbers = [_number_of(field) for field in fields[1:]]
        if len(fields) not in (5, 6) or not fields[0].isascii() or not fields[0].isdecimal():
            expected = "class x-centre y-centre width height [confidence]"
            problems.append(Problem(line, f"is no box (expected: {expected})"))
        elif not all(map(math.isfinite, numbers)) or min(numbers[2:4]) < 0:
            problems.append(Problem(line, f"the box ({' '.join(fields[1:5])}) cannot be"))
        elif max(numbers[:4]) > _LARGEST_SHARE:
            problems.append(Problem(line, "places are shares of the picture, at most 1"))
        else:
            number = int(fields[0][:9])
            yield classes[number] if number < len(classes) else fields[0], numbers
    if problems:
        raise InputError(where, problems[:PROBLEMS_SHOWN], len(problems))


_LARGEST_SHARE = 1.5  # boxes of a detector may reach beyond the picture


def _class_names(folder: Path, top: Path) -> list[str]:
    """Names of classes in the order of their numbers, from the files in which YOLO has them."""
    for parent in dict.fromkeys((folder, top, folder.parent)):
        for file in (parent / "classes.txt", parent / "obj.names"):
            if file.is_file():
                return [line.strip() for line in read_text(file).splitlines() if line.strip()]
        for file in sorted(parent.glob("*.y*ml")):
            names = yaml_names(read_text(file))
            if names:
                return names
    return []


def yaml_names(text: str) -> list[str]:
    """The entry `names` of a data set's YAML: a list in one line or several, or numbered.

    >>> yaml_names("nc: 2\\nnames: [cat, 'big dog']\\n")
    ['cat', 'big dog']
    >>> yaml_names("names:\\n  0: cat\\n  1: dog\\ntrain: images\\n")
    ['cat', 'dog']
    """
    names: list[str] = []
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith("names:")), None)
    if start is None:
        return names
    first = lines[start].removeprefix("names:").split(" #")[0].strip()
    if first:
        return [name.strip().strip("'\"") for name in first.strip("[]").split(",") if name.strip()]
    for line in lines[start + 1 :]:
        entry = line.split(" #")[0].strip()
        if not entry:
            continue
        if not line.startswith((" ", "-", "\t")):
            break
        name = entry.removeprefix("-") if entry.startswith("-") else entry.partition(":")[2]
        names.append(name.strip().strip("'\""))
    return names


def _pictures_of(folder: Path, top: Path) -> dict[str, Path]:
    """The pictures that stand beside text files, by their names without endings."""
    images = folder / "images"
    places = [images, top.parent / "images", top] if not images.is_dir() else [images]
    return {
        path.stem: path
        for place in places
        if place.is_dir()
        for path in sorted(place.rglob("*"))
        if path.suffix.lower() in _PICTURES
    }


def _picture_sizes(items: Sequence[str], pictures: Mapping[str, Path]) -> Floats | None:
    """Width and height of every item, or None where a picture or the means to open it lack."""
    if not items or any(item not in pictures for item in items):
        return None
    try:
        from PIL import Image, UnidentifiedImageError
    except ModuleNotFoundError:
        return None
    sizes = np.zeros((len(items), 2))
    for i, item in enumerate(items):
        try:
            with Image.open(pictures[item]) as picture:
                sizes[i] = picture.size
        except (OSError, UnidentifiedImageError, Image.DecompressionBombError):
            return None
    return sizes


# Exports of Label Studio


def _is_label_studio(content: Json) -> bool:
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(task, dict) and "annotations" in task for task in content)
    )


@validate_params
def read_all_drawn_regions(files: Sequence[FileForm]) -> dict[str, Regions]:
    """Read the boxes of people from several files, each as `read_drawn_regions` takes it."""
    people: dict[str, Regions] = {}
    for file in files:
        for annotator, regions in read_drawn_regions(file).items():
            if annotator in people:
                raise InputError.single(describe(file), f"{annotator!r} is in another file, too")
            people[annotator] = regions
    return people


@validate_params
def read_drawn_regions(path: FileForm) -> dict[str, Regions]:
    """Read the boxes that each annotator drew: answers to our forms, or Label Studio's JSON.

    Parameters
    ----------
    path
        The answers of a person, a list of such answers, or the export; it may be packed.

    Returns
    -------
    dict
        {annotator: the boxes, and the items that this person annotated}.
    """
    where = describe(path)
    content = _json_content(read_json_bytes(path), where)
    if _is_responses(content):
        people = _drawn_in_responses(content)
        if not any(sizes for _, sizes in people.values()):
            raise InputError.single(where, "holds answers without a box")
    elif _is_label_studio(content):
        people = _drawn_by_annotator(content, where)
    else:
        raise InputError.single(
            where, "is neither answers to a form nor a list of tasks with annotations"
        )
    return {
        annotator: _drawn_regions(drawn, annotator, where) for annotator, drawn in people.items()
    }


# {item: boxes with their concepts}, and the sizes of pictures, of an annotator.
_Drawn: TypeAlias = tuple[dict[str, list[tuple[str, list[float]]]], dict[str, tuple[float, float]]]


# Answers to forms of this package: CONCEPT=X,Y,WIDTH,HEIGHT@WIDTHxHEIGHT, in pixels.
_NUMBER = r"(\d+(?:\.\d+)?)"
_DRAWN_BOX = re.compile(rf"(.+)={_NUMBER},{_NUMBER},{_NUMBER},{_NUMBER}@(\d+)x(\d+)")
_RESPONSE = "cranfield-response"


def _is_responses(content: Json) -> bool:
    responses = content if isinstance(content, list) else [content]
    return bool(responses) and all(isinstance(r, dict) and _RESPONSE in r for r in responses)


def _drawn_in_responses(content: Json) -> dict[str, _Drawn]:
    """The boxes of each person; items on which somebody drew nothing are among that one's."""
    people: dict[str, _Drawn] = {}
    for response in content if isinstance(content, list) else [content]:
        if not isinstance(response, dict):
            continue
        boxes, sizes = people.setdefault(str(response.get("annotator")), ({}, {}))
        for entry in _records_of(response, "filled"):
            answers = entry.get("answers")
            if entry.get("state") != "done" or not isinstance(answers, dict):
                continue
            item = str(entry.get("unit"))
            rows = boxes.setdefault(item, [])
            texts = [t for values in answers.values() if isinstance(values, list) for t in values]
            for text in texts:
                match = _DRAWN_BOX.fullmatch(text) if isinstance(text, str) else None
                if match is not None:
                    rows.append((match[1], [float(match[k]) for k in range(2, 6)]))
                    sizes[item] = (float(match[6]), float(match[7]))
    return people


def _drawn_by_annotator(content: Json, where: str) -> dict[str, _Drawn]:
    """The boxes of each annotator of an export."""
    from cranfield.io.crowd import annotator_name, task_item

    drawn: dict[str, _Drawn] = {}
    for number, task in enumerate(content if isinstance(content, list) else []):
        annotations = task.get("annotations") if isinstance(task, dict) else None
        if not isinstance(task, dict) or not isinstance(annotations, list):
            raise InputError.single(where, f"task[{number}] has no list of annotations")
        item = task_item(task, where)
        for annotation in annotations:
            if not isinstance(annotation, dict):
                raise InputError.single(where, f"task[{number}] has an annotation without fields")
            if annotation.get("was_cancelled"):
                continue
            boxes, sizes = drawn.setdefault(annotator_name(annotation), ({}, {}))
            rows = boxes.setdefault(item, [])
            results = annotation.get("result")
            for result in results if isinstance(results, list) else []:
                box = _studio_box(result, f"task[{number}]", where)
                if box is not None:
                    rows.append(box[0])
                    sizes[item] = box[1]
    return drawn


def _studio_box(
    result: Json, place: str, where: str
) -> tuple[tuple[str, list[float]], tuple[float, float]] | None:
    """Concept, box in pixels and size of the picture; None for other kinds of answers."""
    value = result.get("value") if isinstance(result, dict) else None
    if not isinstance(result, dict) or not isinstance(value, dict):
        return None
    labels = value.get("rectanglelabels")
    if not isinstance(labels, list) or not labels:
        return None
    shares = [value.get(key) for key in ("x", "y", "width", "height")]
    size = [result.get(f"original_{side}") for side in ("width", "height")]
    numbers = [float(v) for v in (*shares, *size) if isinstance(v, int | float)]
    if len(numbers) != 6:
        raise InputError.single(
            where, f"{place}: a rectangle lacks its place, or the size of its picture"
        )
    if value.get("rotation"):
        raise InputError.single(where, f"{place}: a rectangle is turned, which no measure takes")
    width, height = numbers[4:]
    box = [numbers[0] * width, numbers[1] * height, numbers[2] * width, numbers[3] * height]
    return (str(labels[0]), [side / 100 for side in box]), (width, height)


def _one_annotator(drawn: Mapping[str, _Drawn], where: str, name: str) -> Regions:
    """The boxes of an export as one truth; an InputError where two people drew on an item."""
    boxes: dict[str, list[tuple[str, list[float]]]] = {}
    sizes: dict[str, tuple[float, float]] = {}
    for rows, picture_sizes in drawn.values():
        twice = next((item for item in rows if item in boxes), None)
        if twice is not None:
            raise InputError.single(
                where,
                f"several people annotated {twice!r}: cf.region_agreement compares them, and makes "
                "one truth of what they drew",
            )
        boxes |= rows
        sizes |= picture_sizes
    return _drawn_regions((boxes, sizes), name, where)


def _drawn_regions(drawn: _Drawn, name: str, where: str) -> Regions:
    boxes, sizes = drawn
    rows = [(item, concept, box) for item, its_rows in boxes.items() for concept, box in its_rows]
    table = np.array([box for _, _, box in rows], dtype=np.float64).reshape(len(rows), 4)
    check_boxes(where, table, None, [f"a box of {item!r}" for item, _, _ in rows])
    unknown = (math.nan, math.nan)
    return make_regions(
        tuple(boxes),
        tuple(sorted({concept for _, concept, _ in rows})),
        [item for item, _, _ in rows],
        [concept for _, concept, _ in rows],
        table,
        picture_sizes=np.array([sizes.get(item, unknown) for item in boxes]).reshape(-1, 2),
        name=name,
        where=where,
    )


def _number_of(text: str | None) -> float:
    try:
        return float(text) if text is not None else math.nan
    except ValueError:
        return math.nan


# CSV


def _read_csv(path: FileForm, name: str) -> Regions:
    where = describe(path)
    separator = "\t" if inner_suffix(path) == ".tsv" else ","
    with open_text(path) as stream:
        rows = csv_rows(stream, where, separator)
        _, header = next(rows, (0, []))
        at = box_columns(header, where)
        lines: list[int] = []
        texts: list[tuple[str, str]] = []
        numbers: list[list[float]] = []
        problems: list[Problem] = []
        keys = [key for key in at if key not in ("item", "concept")]
        for line, row in rows:
            if not row:
                continue
            if len(row) != len(header):
                problems.append(Problem(line, f"{len(row)} columns, expected {len(header)}"))
                continue
            values = [_number_of(row[at[key]] or None) for key in keys]
            bad = [key for key, v in zip(keys, values, strict=True) if not math.isfinite(v)]
            if bad:
                problems.append(Problem(line, f"{bad[0]} is not a number: {row[at[bad[0]]]!r}"))
                continue
            lines.append(line)
            texts.append((row[at["item"]].strip(), row[at["concept"]].strip()))
            numbers.append(values)
    if problems:
        raise InputError(where, problems[:PROBLEMS_SHOWN], len(problems))
    table = np.array(numbers, dtype=np.float64).reshape(len(numbers), len(keys))
    return _of_columns(where, name, keys, texts, table, lines)


def _of_columns(
    where: str,
    name: str,
    keys: Sequence[str],
    texts: Sequence[tuple[str, str]],
    table: Floats,
    places: Sequence[str | int],
) -> Regions:
    """Regions from rows: items and concepts, numbers under `keys`, and what rows are called."""
    column = {key: table[:, i] for i, key in enumerate(keys)}
    if "xmin" in column:
        corners = [column["xmin"], column["ymin"]]
        corners += [column["xmax"] - column["xmin"], column["ymax"] - column["ymin"]]
    else:
        corners = [column[side] for side in _SIDES]
    boxes = np.stack(corners, axis=1)
    check_boxes(where, boxes, column.get("confidence"), places)
    zeros = np.zeros(len(boxes))
    flags = CROWD * (column.get("crowd", zeros) > 0) + DIFFICULT * (
        column.get("difficult", zeros) > 0
    )
    notes: tuple[str, ...] = ()
    relative = bool(len(boxes)) and float(boxes.max()) <= 1
    if relative:
        notes = (f"{where}: {_SHARES}",)
    names = {item for item, _ in texts}
    numbered = all(text.isascii() and text.isdecimal() for text in names)
    return make_regions(
        tuple(sorted(names, key=lambda text: (int(text[:18]) if numbered else 0, text))),
        tuple(sorted({concept for _, concept in texts})),
        [item for item, _ in texts],
        [concept for _, concept in texts],
        boxes,
        confidences=column.get("confidence"),
        areas=column.get("area"),
        flags=flags.astype(np.uint8),
        name=name,
        where=where,
        notes=notes,
        relative=relative,
    )


def box_columns(header: Sequence[str], where: str) -> dict[str, int]:
    """The places of the columns that are known."""
    lowered = [text.strip().lower() for text in header]
    places: dict[str, int] = {}
    for key, spellings in _COLUMNS.items():
        matching = [lowered.index(spelling) for spelling in spellings if spelling in lowered]
        if matching:
            places[key] = matching[0]
    has_box = all(k in places for k in _ENDS) or all(k in places for k in _SIDES)
    if not has_box or "item" not in places or "concept" not in places:
        raise InputError.single(where, f"the header lacks columns (expected: {_CSV})", 1)
    unused: tuple[str, ...] = _SIDES if all(k in places for k in _ENDS) else _ENDS
    if "isgroupof" in lowered:
        unused = (*unused, "confidence")  # of the people who drew a truth of Open Images
    return {key: place for key, place in places.items() if key not in unused}


def check_run(run: Regions) -> None:
    """A UsageError for a truth in the place of a run."""
    if run.confidences is None and len(run):
        raise UsageError(
            f"{run.where} has no confidences: is it a truth? The truth comes first, runs after it"
        )


def align_regions(
    run: Regions, truth: Regions
) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats, tuple[str, ...]]:
    """Items, concepts and places of a run's boxes as the truth has them; -1 for unknown concepts.

    An InputError names items that the truth does not have, and a run in shares of pictures whose
    sizes are not known; notes tell of unknown concepts and of boxes outside of their pictures.
    """
    items = _lookup(truth.items, truth.item_aliases)
    item_numbers = [_number_in(items, text) for text in run.items]
    strangers = [text for text, at in zip(run.items, item_numbers, strict=True) if at < 0]
    if strangers:
        problems = [
            Problem(0, f"the truth has no item {text!r}.{suggest(text, truth.items[:1000])}")
            for text in strangers[:PROBLEMS_SHOWN]
        ]
        raise InputError(run.where, problems, len(strangers))
    concepts = _lookup(truth.concepts, truth.concept_aliases)
    concept_numbers = [concepts.get(text, -1) for text in run.concepts]
    notes = list(run.notes)
    if run.masks is not None and truth.masks is not None:
        numbers = np.array(item_numbers, dtype=np.int32)[run.item] if len(run) else run.item
        check_mask_sizes(run.where, run.masks, numbers, truth.picture_sizes, truth.items)
    unknown = [text for text, at in zip(run.concepts, concept_numbers, strict=True) if at < 0]
    concept = np.array(concept_numbers, dtype=np.int32)[run.concept] if len(run) else run.concept
    item = np.array(item_numbers, dtype=np.int32)[run.item] if len(run) else run.item
    if unknown:
        shown = ", ".join(unknown[:3]) + (", ..." if len(unknown) > 3 else "")
        count = int((concept < 0).sum())
        notes.append(f"{count:,} boxes are of concepts that the truth does not have ({shown})")
    boxes = _in_units_of(truth, run, item)
    outside = boxes_outside(boxes, item, truth.picture_sizes)
    if outside:
        notes.append(f"{outside:,} boxes lie outside of their pictures")
    return item, concept, boxes, tuple(notes)


def _in_units_of(truth: Regions, run: Regions, item: NDArray[np.int32]) -> Floats:
    """The places of a run's boxes in pixels where the truth has pixels, in shares where shares."""
    if run.relative == truth.relative or not len(run):
        return run.boxes
    sizes = truth.picture_sizes if run.relative else run.picture_sizes
    rows = item if run.relative else run.item
    if sizes is None or np.isnan(sizes[rows]).any():
        shares, pixels = (run, truth) if run.relative else (truth, run)
        raise InputError.single(
            run.where,
            f"{shares.where} has shares of the pictures, {pixels.where} has pixels, and the "
            "sizes of the pictures are not known",
        )
    factors = np.tile(sizes[rows], 2)
    return run.boxes * factors if run.relative else run.boxes / factors


def boxes_outside(boxes: Floats, item: NDArray[np.int32], picture_sizes: Floats | None) -> int:
    """How many boxes have nothing in common with their pictures."""
    if picture_sizes is None or not len(boxes):
        return 0
    limits = picture_sizes[item]
    beyond = (boxes[:, :2] >= limits).any(axis=1)
    return int((beyond | (boxes[:, :2] + boxes[:, 2:] <= 0).any(axis=1)).sum())


def _lookup(names: Sequence[str], aliases: Mapping[str, str]) -> dict[str, int]:
    numbers = {text: i for i, text in enumerate(names)}
    return {alias: numbers[text] for alias, text in aliases.items()} | numbers


def _number_in(items: Mapping[str, int], text: str) -> int:
    return items.get(text, items.get(Path(text).stem, -1))


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
    masks = (f"{target}: masks have no place in it",) if regions.masks is not None else ()
    if target.endswith("/"):
        return masks + (_write_yolo(regions, target) if yolo else _write_voc(regions, target))
    if yolo:
        raise UsageError(f"{target}: YOLO's format is a folder, so its name ends with a slash")
    suffix = inner_suffix(path)
    if suffix not in REGION_FORMS:
        raise UsageError(
            f"{target}: boxes are written as {', '.join(REGION_FORMS)}, or to a folder with a slash"
            " at its end"
        )
    if suffix == ".json":
        content = _coco_result_list(regions) if regions.confidences is not None else _coco(regions)
        blocks: Iterator[bytes] = iter([json.dumps(content).encode(), b"\n"])
    else:
        blocks = iter([_csv(regions, "\t" if suffix == ".tsv" else ",").encode()])
    write_atomic(Path(path), compress_blocks(blocks, Path(path).suffix.lower()))
    difficult = int((regions.flags & DIFFICULT > 0).sum())
    if suffix != ".json" and masks:
        return masks
    if suffix == ".json" and difficult:
        return (f"{describe(path)}: COCO has no difficult boxes ({difficult:,} count as wanted)",)
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
        if regions.picture_sizes is not None and not np.isnan(regions.picture_sizes[i]).any():
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
            **_segmentation(regions, number),
        }
        for number in range(len(regions))
    ]
    categories = [{"id": concepts[name], "name": name} for name in regions.concepts]
    return {"images": images, "annotations": annotations, "categories": categories}


def _segmentation(regions: Regions, number: int) -> dict[str, object]:
    """The mask of a region, where there is one."""
    if regions.masks is None:
        return {}
    mask = regions.masks.of(np.array([number]))
    return {"segmentation": {"size": mask.sizes[0].tolist(), "counts": mask.runs.tolist()}}


def _keypoint(regions: Regions, number: int) -> dict[str, object]:
    """A box without a size is a point, which COCO has as a visible keypoint."""
    x, y, width, height = regions.boxes[number].tolist()
    return {} if width or height else {"keypoints": [x, y, 2], "num_keypoints": 1}


def _coco_result_list(regions: Regions) -> list[dict[str, object]]:
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
            **_segmentation(regions, number),
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
    long = next(
        (name for name in (*regions.items, *regions.concepts) if len(name) > LONGEST_ID), ""
    )
    if long:
        raise InputError.single(
            regions.where, f"{long[:60]!r} is longer than the {LONGEST_ID:,} letters of a name"
        )
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
        if regions.picture_sizes is not None and not np.isnan(regions.picture_sizes[i]).any():
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
