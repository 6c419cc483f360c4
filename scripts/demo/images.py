"""The images, who serves for what, and the files that say so."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SEED = 1967  # the year of the Cranfield tests' final report
NAMES = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
SIDE, LEVELS = 8, 16
SHEET_COLUMNS = 43

TRAINING = 597  # the first images in scikit-learn's order; never retrieved and never a topic
TOPICS_PER_DIGIT = 8
ANNOTATED_PER_DIGIT = 40
JUDGED_BY_ANNOTATORS = 99


@dataclass(frozen=True)
class Digits:
    """The images, their digits, and who serves for what; all are positions in `items`."""

    pixels: Floats
    digits: Ints
    training: Ints
    topics: Ints
    collection: Ints
    annotated: Ints
    agreement: Ints

    @property
    def splits(self) -> dict[str, Ints]:
        names = ("training", "topics", "collection", "annotated", "agreement")
        return {name: getattr(self, name) for name in names}

    def topic_names(self) -> list[str]:
        """zero-1 to nine-8, in the order of `topics`."""
        return [
            f"{NAMES[self.digits[t]].lower()}-{i % TOPICS_PER_DIGIT + 1}"
            for i, t in enumerate(self.topics)
        ]


def item_id(position: int) -> str:
    return f"d{position:04d}"


def stream(name: str) -> np.random.Generator:
    """A random stream of its own for each use, so that one use does not move another."""
    return np.random.default_rng([SEED, zlib.crc32(name.encode())])


def load() -> Digits:
    """The images and the splits."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    digits = bunch.target.astype(np.int64)
    rest = np.arange(TRAINING, len(digits))
    topics = _per_digit(rest, digits, TOPICS_PER_DIGIT, stream("topics"))
    collection = np.setdiff1d(rest, topics)
    chosen = _per_digit(collection, digits, ANNOTATED_PER_DIGIT, stream("annotated"))
    order = np.argsort(stream("agreement").random(len(chosen)))
    return Digits(
        pixels=bunch.data.astype(np.float64),
        digits=digits,
        training=np.arange(TRAINING),
        topics=topics,
        collection=collection,
        annotated=np.sort(chosen),
        agreement=np.sort(chosen[order[:JUDGED_BY_ANNOTATORS]]),
    )


def _per_digit(pool: Ints, digits: Ints, count: int, rng: np.random.Generator) -> Ints:
    """As many positions of each digit, the digits in order."""
    keys = rng.random(len(pool))
    parts = [
        np.sort(pool[of][np.argsort(keys[of])[:count]])
        for of in (np.flatnonzero(digits[pool] == d) for d in range(len(NAMES)))
    ]
    return np.concatenate(parts)


def image_sheet(pixels: Floats) -> bytes:
    """All images as one grey PNG: tiles of 8 x 8 in rows of 43, ink dark on white."""
    rows = -(-len(pixels) // SHEET_COLUMNS)
    tiles = np.zeros((rows * SHEET_COLUMNS, SIDE, SIDE))
    tiles[: len(pixels)] = pixels.reshape(-1, SIDE, SIDE)
    sheet = tiles.reshape(rows, SHEET_COLUMNS, SIDE, SIDE).swapaxes(1, 2)
    grey = (255 - np.round(sheet.reshape(rows * SIDE, -1) * 255 / LEVELS)).astype(np.uint8)
    lines = b"".join(b"\0" + line.tobytes() for line in grey)
    header = struct.pack(">IIBBBBB", grey.shape[1], grey.shape[0], 8, 0, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


def item_files(data: Digits) -> dict[str, str]:
    files = {
        f"splits/{name}.txt": "".join(f"{item_id(i)}\n" for i in of)
        for name, of in data.splits.items()
    }
    files["items.csv"] = csv_text(
        ["item,digit"], ((item_id(i), digit) for i, digit in enumerate(data.digits))
    )
    return files


def csv_text(head: list[str], rows: Iterable[Iterable[object]]) -> str:
    return "\n".join([*head, *(",".join(map(str, row)) for row in rows)]) + "\n"


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        # Without a time stamp the same text gives the same archive.
        path.write_bytes(gzip.compress(data, 9, mtime=0) if path.suffix == ".gz" else data)
