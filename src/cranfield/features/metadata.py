"""What is known about pictures beside their pixels, as vectors: how they were taken, their tags."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import check_counts
from cranfield.features._spec import Descriptor, Source
from cranfield.features.pictures import Decoded
from cranfield.io.tags import read_tags

FAMILY = "metadata"
# The tags of EXIF, by their numbers.
_EXPOSURE, _F_NUMBER, _ISO, _FOCAL, _FLASH = 33434, 33437, 34855, 37386, 37385
_TAKEN = (36867, 36868, 306)
MOST_TAGS = 1000


def _exif_of(decoded: Decoded) -> NDArray[Any]:
    height, width = decoded.pixels.shape[:2]
    return exif_vector(decoded.exif, width, height)


EXIF = Descriptor(
    name="EXIF",
    title="How the picture was taken",
    summary="Exposure, aperture, sensitivity and focal length as powers of two, whether they are "
    "known, the flash, the hour and the month as points on a circle, the shape and the size.",
    formula=r"\log_2 t, \log_2 f, \log_2 S, \log_2 l, \text{known}_4, \text{flash}, "
    r"\sin h, \cos h, \sin m, \cos m, \log_2 \tfrac{w}{h}, \log_2 w h",
    source=Source("nowak-thesis", "10.2.3", deviation="the thesis names no features"),
    family=FAMILY,
    length=15,
    range=(-64.0, 64.0),
    kernel="",
    distance="L1",
    small="what the file does not say is 0",
    checked="unverified: ours",
    shares=False,
    kind="float32",
    compute=_exif_of,
)

DECLARED = (EXIF,)


def exif_vector(exif: Mapping[int, Any], width: int, height: int) -> NDArray[np.float64]:
    """The numbers of a picture's EXIF data; 0 for what it does not say."""
    powers = [_power_of_two(exif.get(tag)) for tag in (_EXPOSURE, _F_NUMBER, _ISO, _FOCAL)]
    flash = exif.get(_FLASH)
    fired = 1.0 if isinstance(flash, int) and flash & 1 else 0.0
    taken = next((t for tag in _TAKEN if (t := _moment(exif.get(tag))) is not None), None)
    circles = [0.0] * 4
    if taken is not None:
        hour = 2 * math.pi * (taken.hour + taken.minute / 60) / 24
        month = 2 * math.pi * (taken.month - 1) / 12
        circles = [math.sin(hour), math.cos(hour), math.sin(month), math.cos(month)]
    return np.array(
        [
            *(p or 0.0 for p in powers),
            *(float(p is not None) for p in powers),
            fired,
            *circles,
            math.log2(width / height),
            math.log2(width * height),
        ]
    )


def _power_of_two(value: Any) -> float | None:
    if isinstance(value, tuple):
        value = value[0] if value else None
    try:
        number = float(value)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return math.log2(number) if math.isfinite(number) and 2**-64 < number < 2**64 else None


def _moment(value: Any) -> datetime | None:
    try:
        return datetime.strptime(str(value).strip("\0 ")[:19], "%Y:%m:%d %H:%M:%S")
    except ValueError:
        return None


@dataclass(frozen=True)
class TagVectors:
    """Which of the most frequent tags each item has, and how rare these are."""

    terms: tuple[str, ...]
    present: NDArray[np.uint8]
    weighted: NDArray[np.float32]
    untagged: int
    unknown: int


def tag_vectors(
    items: Sequence[str], names: Mapping[str, str], path: str | Path, most: int = MOST_TAGS
) -> TagVectors:
    """The tags of some items, from a corpus that names them by id or by file.

    `names` leads from file names to ids. A tag weighs ln(N / n) where n of N items have it, and
    the weights of an item have length 1.
    """
    check_counts(most_tags=most)
    place = {item: i for i, item in enumerate(items)}
    held: dict[int, frozenset[str]] = {}
    unknown = 0
    for tagged in read_tags(path):
        row = place.get(names.get(tagged.item, tagged.item))
        if row is None:
            unknown += 1
        else:
            held[row] = tagged.tags
    counts = Counter(tag for tags in held.values() for tag in tags)
    terms = tuple(sorted(counts, key=lambda t: (-counts[t], t))[:most])
    column = {term: i for i, term in enumerate(terms)}
    present = np.zeros((len(items), len(terms)), dtype=np.uint8)
    for row, tags in held.items():
        present[row, [column[tag] for tag in tags if tag in column]] = 1
    rarity = np.array([math.log(len(items) / counts[term]) for term in terms])
    weights = present * rarity
    lengths = np.sqrt((weights**2).sum(axis=1, keepdims=True))
    weighted = (weights / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return TagVectors(terms, present, weighted, len(items) - len(held), unknown)
