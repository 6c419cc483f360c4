"""The collection samples/pages: pages with digits on them, and boxes that detectors place.

python -m scripts.pages.make

The pages are put together from the pictures of the collection of digits, so that the truth is
known exactly; nothing is downloaded.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from cranfield import read_collection

SAMPLES = Path(__file__).resolve().parents[2] / "src" / "cranfield" / "samples"
FOLDER = SAMPLES / "pages"
SEED, PAGES, WIDTH, HEIGHT, TILE = 36, 60, 160, 120, 8
NAMES = ["Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"]
Grey = NDArray[np.float64]


class Box(NamedTuple):
    digit: int
    x: float
    y: float
    width: float
    height: float
    confidence: float = 1.0


def digits() -> tuple[list[Grey], list[int]]:
    """The pictures of digits with their labels, and which digit each is."""
    folder = SAMPLES / "digits"
    images = read_collection(folder).images
    if images is None:
        raise SystemExit("the digits have no pictures")
    sheet = np.asarray(Image.open(images.path).convert("L"), dtype=float)
    tiles, names = [], []
    for file in ("truth.csv", "truth-training.csv"):
        with (folder / file).open() as stream:
            for row in csv.DictReader(stream):
                if row["item"] in images:
                    x, y = images.tile(row["item"])
                    tiles.append(sheet[y : y + TILE, x : x + TILE])
                    names.append(next(d for d, name in enumerate(NAMES) if row[name] == "1"))
    return tiles, names


def enlarged(tile: Grey, side: int) -> Grey:
    picture = Image.fromarray(tile.astype(np.uint8)).resize((side, side), Image.Resampling.BICUBIC)
    return np.asarray(picture, dtype=float)


def ink(tile: Grey) -> Grey:
    """How dark each pixel is, from 0 to 1; the sheet may have bright digits on black."""
    dark = 255 - tile if tile[0].mean() > 127 else tile
    return dark / 255


def make_page(
    rng: np.random.Generator, tiles: list[Grey], names: list[int]
) -> tuple[Grey, list[Box]]:
    """A page with two to eight digits, some of which touch, and the boxes around their ink."""
    page, boxes = np.zeros((HEIGHT, WIDTH)), []
    taken: list[Box] = []
    for _ in range(int(rng.integers(2, 9))):
        number, side = int(rng.integers(len(tiles))), int(rng.integers(16, 45))
        x, y = int(rng.integers(0, WIDTH - side)), int(rng.integers(0, HEIGHT - side))
        box = Box(names[number], x, y, side, side)
        if any(_overlap(box, other) > 0.05 for other in taken):
            continue
        taken.append(box)
        shape = ink(enlarged(tiles[number], side))
        page[y : y + side, x : x + side] = np.maximum(page[y : y + side, x : x + side], shape)
        rows, columns = (np.flatnonzero((shape > 0.35).any(axis=axis)) for axis in (1, 0))
        width, height = columns[-1] - columns[0] + 1, rows[-1] - rows[0] + 1
        boxes.append(Box(names[number], x + columns[0], y + rows[0], width, height))
    noise = rng.normal(0, 0.06, page.shape) + 0.1 * rng.random() * np.linspace(0, 1, WIDTH)
    for _ in range(int(rng.integers(0, 3))):  # spots that are no digits
        x, y, side = (int(v) for v in (*rng.integers(0, 100, 2), rng.integers(4, 14)))
        page[y : y + side, x : x + side] = np.maximum(page[y : y + side, x : x + side], 0.7)
    return np.clip(page + noise, 0, 1), boxes


def _overlap(a: Box, b: Box) -> float:
    width = min(a.x + a.width, b.x + b.width) - max(a.x, b.x)
    height = min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
    common = max(width, 0) * max(height, 0)
    return common / (a.width * a.height + b.width * b.height - common)


def blobs(page: Grey, least: float) -> Iterator[tuple[slice, slice]]:
    """Rectangles around connected dark pixels."""
    dark, seen = page > least, np.zeros(page.shape, dtype=bool)
    for start in zip(*np.nonzero(dark), strict=True):
        if seen[start]:
            continue
        stack, members = [start], []
        seen[start] = True
        while stack:
            y, x = stack.pop()
            members.append((y, x))
            for at in [(y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]:
                inside = 0 <= at[0] < HEIGHT and 0 <= at[1] < WIDTH
                if inside and dark[at] and not seen[at]:
                    seen[at] = True
                    stack.append(at)
        rows, columns = zip(*members, strict=True)
        if len(members) > 20:
            yield (slice(min(rows), max(rows) + 1), slice(min(columns), max(columns) + 1))


class Classifier:
    """The nearest mean of the digits, cut to their ink."""

    def __init__(self, tiles: list[Grey], names: list[int]) -> None:
        shapes = np.array([self.shape_of(ink(enlarged(tile, 32))) for tile in tiles])
        kinds = np.array(names)
        self.means = np.array([shapes[kinds == d].mean(axis=0) for d in range(10)])

    def shape_of(self, dark: Grey) -> Grey:
        rows, columns = (np.flatnonzero((dark > 0.35).any(axis=axis)) for axis in (1, 0))
        if not len(rows) or not len(columns):
            return np.zeros(144)
        cut = dark[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        picture = Image.fromarray((255 * cut).clip(0, 255).astype(np.uint8)).resize((12, 12))
        shape = np.asarray(picture, dtype=float).ravel()
        return shape / max(float(np.linalg.norm(shape)), 1e-9)

    def __call__(self, dark: Grey) -> tuple[int, float]:
        likeness = self.means @ self.shape_of(dark) / np.linalg.norm(self.means, axis=1)
        return int(likeness.argmax()), float(likeness.max())


def detectors(page: Grey, classify: Classifier, rng: np.random.Generator) -> dict[str, list[Box]]:
    """The boxes of four detectors: connected ink, the same with wide margins, with a threshold that
    merges neighbours, and at random."""

    def of_ink(least: float, margin: float) -> list[Box]:
        placed = []
        for rows, columns in blobs(page, least):
            digit, sure = classify(page[rows, columns])
            height, width = rows.stop - rows.start, columns.stop - columns.start
            x, y = columns.start - margin * width, rows.start - margin * height
            size = (1 + 2 * margin) * width, (1 + 2 * margin) * height
            placed.append(Box(digit, x, y, *size, round(sure * min(1.0, height / 12), 3)))
        return placed

    guesses = [
        Box(
            int(rng.integers(10)),
            float(rng.integers(0, 120)),
            float(rng.integers(0, 80)),
            float(rng.integers(12, 40)),
            float(rng.integers(12, 40)),
            round(float(rng.random()), 3),
        )
        for _ in range(6)
    ]
    return {
        "ink": of_ink(0.35, 0.0),
        "loose": of_ink(0.35, 0.12),
        "faint": of_ink(0.2, 0.0),
        "random": guesses,
    }


def pages() -> tuple[dict[str, bytes], dict[str, str]]:
    """The pictures as JPEG, and the texts of all other files, by name."""
    rng = np.random.default_rng(SEED)
    tiles, names = digits()
    classify = Classifier(tiles, names)
    pictures: dict[str, bytes] = {}
    images, annotations = [], []
    placed: dict[str, list[str]] = {}
    for number in range(1, PAGES + 1):
        page, boxes = make_page(rng, tiles, names)
        picture = Image.fromarray((255 * (1 - page)).astype(np.uint8))
        packed = io.BytesIO()
        picture.save(packed, "JPEG", quality=50)
        file = f"page-{number:02}.jpg"
        pictures[f"pictures/{file}"] = packed.getvalue()
        images.append({"id": number, "file_name": file, "width": WIDTH, "height": HEIGHT})
        for box in boxes:
            sides = [int(v) for v in box[1:5]]
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": number,
                    "category_id": box.digit + 1,
                    "bbox": sides,
                    "area": sides[2] * sides[3],
                    "iscrowd": 0,
                }
            )
        for name, found in detectors(page, classify, rng).items():
            for box in found:
                numbers = ",".join(f"{v:g}" for v in (*np.round(box[1:5], 1), box.confidence))
                placed.setdefault(name, []).append(
                    f"{Path(file).stem},{NAMES[box.digit]},{numbers}\n"
                )
    categories = [{"id": d + 1, "name": name} for d, name in enumerate(NAMES)]
    truth = {"images": images, "annotations": annotations, "categories": categories}
    texts = {"boxes.json": json.dumps(truth, separators=(",", ":")) + "\n"}
    header = "item,concept,x,y,width,height,confidence\n"
    texts |= {f"runs/{name}.csv": header + "".join(rows) for name, rows in placed.items()}
    texts["items.csv"] = "item,picture\n" + "".join(
        f"{Path(name).stem},{name}\n" for name in pictures
    )
    texts["concepts.csv"] = "concept,definition\n" + "".join(
        f"{name},the digit {d} with all of its ink\n" for d, name in enumerate(NAMES)
    )
    return pictures, texts


def main() -> None:
    pictures, texts = pages()
    for name, content in (pictures | {n: t.encode() for n, t in texts.items()}).items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main()
