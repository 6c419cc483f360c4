"""Local features as visual words: SIFT, its neighbourhoods sorted into a vocabulary by k-means.

The vocabulary is learnt from some of the collection's pictures and kept in the folder of the
vectors, so that pictures which come later are described by the same words.
"""

from __future__ import annotations

import hashlib
import importlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import InputError, MissingExtraError
from cranfield.features._spec import Descriptor, Param, Source
from cranfield.features.image_folders import PictureFile
from cranfield.features.pictures import BadPictureError, DecodedPicture, read_picture
from cranfield.io.arrays import read_archive
from cranfield.io.vectors import write_vectors
from cranfield.notes import Progress

FAMILY = "local"
WORDS = 500
# Of larger pictures the half (the quarter, ...) is taken: the time is then bounded.
_MOST_PIXELS = 1 << 20
_PICTURES, _FEATURES = 400, 60_000
_ROUNDS = 20
_SIFT_LENGTH = 128

SIFT = Descriptor(
    name="SIFT",
    title="Visual words of SIFT",
    summary="How often each of some visual words occurs: features at corners and blobs, which "
    "stay the same when a picture is turned or made smaller, sorted by the nearest word.",
    formula=r"h_w = \sqrt{\tfrac{1}{n} \sum_{f} [w = \mathrm{arg}\min_v \lVert f - c_v \rVert]}",
    source=Source(
        "lowe-2004",
        deviation="the vocabulary is learnt from the collection; roots of shares (Hellinger)",
    ),
    family=FAMILY,
    length=WORDS,
    range=(0.0, 1.0),
    kernel="",
    distance="L2",
    small="a picture without features has no words: all numbers are 0",
    checked="unverified: features by OpenCV, words ours",
    shares=False,
    kind="float32",
    params={
        "words": Param(int, WORDS, "the number of words", low=2, high=65536),
    },
)

DECLARED = (SIFT,)
_of_thread = threading.local()


def _opencv() -> Any:
    try:
        return importlib.import_module("cv2")
    except ModuleNotFoundError:
        raise MissingExtraError("opencv-python-headless", "local", "Local features") from None


def local_features(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """SIFT of one picture: a row of 128 numbers per feature (RootSIFT)."""
    opencv = _opencv()
    if not hasattr(_of_thread, "sift"):
        _of_thread.sift = opencv.SIFT_create()
    grey = opencv.cvtColor(pixels, opencv.COLOR_RGB2GRAY)
    while grey.size > _MOST_PIXELS:
        grey = opencv.resize(grey, None, fx=0.5, fy=0.5, interpolation=opencv.INTER_AREA)
    _, descriptors = _of_thread.sift.detectAndCompute(grey, None)
    if descriptors is None:
        return np.zeros((0, _SIFT_LENGTH), dtype=np.float32)
    sums = descriptors.sum(axis=1, keepdims=True)
    rooted: NDArray[np.float32] = np.sqrt(descriptors / np.where(sums > 0, sums, 1)).astype(
        np.float32
    )
    return rooted


def with_vocabulary(
    descriptor: Descriptor, pictures: Sequence[PictureFile], folder: Path, progress: Progress
) -> Descriptor:
    """The descriptor with its words: those of the folder, or learnt from some of the pictures."""
    path = folder / f"{descriptor}.vocabulary.npz"
    words = int(descriptor.bound.get("words", WORDS))
    if path.is_file():
        centres = np.asarray(read_archive(path)["vectors"], dtype=np.float32)
        if centres.ndim != 2 or centres.shape[1] != _SIFT_LENGTH or len(centres) > words:
            raise InputError.single(str(path), "holds no visual words; remove it to learn others")
    else:
        centres = _learnt(pictures, words, progress)
        about = {"items": np.array([f"word{i}" for i in range(len(centres))], dtype=np.str_)}
        write_vectors(path, iter([centres]), centres.shape, "float32", about)
    return replace(
        descriptor,
        length=len(centres),
        compute=_counting(centres),
        edition=hashlib.sha256(centres.tobytes()).hexdigest(),
    )


def _learnt(pictures: Sequence[PictureFile], words: int, progress: Progress) -> NDArray[np.float32]:
    """Centres of the features of pictures that lie evenly over the collection."""
    step = max(1, len(pictures) // _PICTURES)
    sample = pictures[::step][:_PICTURES]
    each = max(1, _FEATURES // max(1, len(sample)))
    parts = []
    for number, picture in enumerate(sample, 1):
        progress(number / len(sample))
        try:
            descriptors = local_features(read_picture(picture.path).pixels)
        except BadPictureError:
            continue  # told when it is its turn to be described
        parts.append(descriptors[:: max(1, len(descriptors) // each)][:each])
    features = np.concatenate(parts) if parts else np.zeros((0, _SIFT_LENGTH), dtype=np.float32)
    if len(features) == 0:
        raise InputError.single("the pictures", "have no local features to learn words from")
    return _k_means(features, min(words, len(features)))


def _k_means(features: NDArray[np.float32], words: int) -> NDArray[np.float32]:
    rows = np.unique(features, axis=0)
    words = min(words, len(rows))
    start = rows[np.random.default_rng(7).choice(len(rows), words, replace=False)]
    # A word that loses all its features keeps its place.
    centres = start.astype(np.float64)
    for _ in range(_ROUNDS):
        nearest = _nearest(features, centres.astype(np.float32))
        counts = np.bincount(nearest, minlength=words)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, features)
        moved = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
        if np.array_equal(moved, centres):
            break
        centres = moved
    return centres.astype(np.float32)


def _nearest(features: NDArray[np.float32], centres: NDArray[np.float32]) -> NDArray[np.intp]:
    squares = np.einsum("ij,ij->i", centres, centres) / 2
    nearest: NDArray[np.intp] = np.argmax(features @ centres.T - squares, axis=1)
    return nearest


def _counting(centres: NDArray[np.float32]) -> Callable[[DecodedPicture], NDArray[Any]]:
    def compute(decoded: DecodedPicture) -> NDArray[Any]:
        features = local_features(decoded.pixels)
        if len(features) == 0:
            return np.zeros(len(centres), dtype=np.float32)
        counts = np.bincount(_nearest(features, centres), minlength=len(centres))
        return np.sqrt(counts / len(features)).astype(np.float32)

    return compute
