"""SURF: blobs by the determinant of a Hessian of boxes, described by sums of Haar wavelets.

From the definition of Bay, Ess, Tuytelaars and Van Gool (2008): all filters are sums over boxes,
which an integral picture gives by four numbers each.

Local features as visual words: SIFT and SURF, sorted into a vocabulary by k-means.

The vocabulary is learnt from some of the collection's pictures and kept in the folder of the
vectors, so that pictures which come later are described by the same words.
"""

from __future__ import annotations

import hashlib
import importlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import InputError, MissingExtraError
from cranfield.features._spec import Descriptor, Floats, Param, Source
from cranfield.features.image_folders import PictureFile
from cranfield.features.pictures import BadPictureError, DecodedPicture, read_picture
from cranfield.io.arrays import read_archive, write_vectors
from cranfield.notes import Progress

SURF_LENGTH = 64
# Sides of the filters of an octave, each of which looks at every other place of the one before.
OCTAVES = ((9, 15, 21, 27), (15, 27, 39, 51), (27, 51, 75, 99))
_FIRST_STEP = 2
# The determinant, of a picture from 0 to 1, from which on a blob counts.
_THRESHOLD = 0.0004
_MOST_BLOBS = 3000
# Pictures with fewer pixels are doubled first, as in the paper: small blobs are found then.
_SMALL = 1 << 16
# The second derivative across is weighed by this for the boxes that stand in for Gaussians.
_ACROSS = 0.9
# The scale that the smallest filter stands for.
_SCALE, _SMALLEST = 1.2, 9
_WINDOW, _TURNS = np.pi / 3, 42


class IntegralPicture:
    """Sums over boxes of a picture; what lies outside of it counts 0."""

    def __init__(self, grey: Floats) -> None:
        self.height, self.width = grey.shape
        self._sums = np.zeros((self.height + 1, self.width + 1))
        np.cumsum(np.cumsum(grey, axis=0), axis=1, out=self._sums[1:, 1:])

    def box(
        self,
        top: NDArray[np.int64],
        left: NDArray[np.int64],
        rows: NDArray[np.int64] | int,
        columns: NDArray[np.int64] | int,
    ) -> Floats:
        """The sums over boxes whose upper left pixels are given; all arrays fit each other."""
        first, last = np.clip(top, 0, self.height), np.clip(top + rows, 0, self.height)
        begin, end = np.clip(left, 0, self.width), np.clip(left + columns, 0, self.width)
        sums = self._sums
        return np.asarray(
            sums[last, end] - sums[first, end] - sums[last, begin] + sums[first, begin]
        )

    def determinants(self, y: NDArray[np.int64], x: NDArray[np.int64], side: int) -> Floats:
        """The determinant of the Hessian at places y (a column) and x (a row), by one filter."""
        lobe, half = side // 3, side // 2
        wide, middle = 2 * lobe - 1, lobe // 2
        across = self.box(y - lobe + 1, x - half, wide, side) - 3 * self.box(
            y - lobe + 1, x - middle, wide, lobe
        )
        down = self.box(y - half, x - lobe + 1, side, wide) - 3 * self.box(
            y - middle, x - lobe + 1, lobe, wide
        )
        diagonal = (
            self.box(y - lobe, x + 1, lobe, lobe)
            + self.box(y + 1, x - lobe, lobe, lobe)
            - self.box(y - lobe, x - lobe, lobe, lobe)
            - self.box(y + 1, x + 1, lobe, lobe)
        )
        area = float(side * side)
        return np.asarray((across * down - (_ACROSS * diagonal) ** 2) / area**2)

    def wavelets(self, y: Floats, x: Floats, side: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Haar wavelets around places: right minus left half, and lower minus upper half."""
        half = side // 2
        top, left = np.rint(y).astype(np.int64) - half, np.rint(x).astype(np.int64) - half
        across = self.box(top, left + half, 2 * half, half) - self.box(top, left, 2 * half, half)
        down = self.box(top + half, left, half, 2 * half) - self.box(top, left, half, 2 * half)
        return across, down


@dataclass(frozen=True)
class Blobs:
    """Places and scales, strongest first."""

    y: Floats
    x: Floats
    scale: Floats


def find_blobs(picture: IntegralPicture) -> Blobs:
    """Largest determinants among their 26 neighbours in place and scale, between the grid points
    where a parabola through the neighbours has its top."""
    parts = [np.zeros((0, 4))]
    for octave, sides in enumerate(OCTAVES):
        step = _FIRST_STEP << octave
        rows = np.arange(0, picture.height, step, dtype=np.int64)
        columns = np.arange(0, picture.width, step, dtype=np.int64)
        if len(rows) < 3 or len(columns) < 3:
            break
        stack = np.stack([picture.determinants(rows[:, None], columns, side) for side in sides])
        parts += [
            _peaks(stack[layer - 1 : layer + 2], sides[layer], sides, step, picture)
            for layer in (1, 2)
        ]
    peaks = np.concatenate(parts)
    strongest = peaks[np.argsort(-peaks[:, 3], kind="stable")][:_MOST_BLOBS]
    return Blobs(strongest[:, 0], strongest[:, 1], strongest[:, 2])


def _peaks(
    cube: Floats, side: int, sides: tuple[int, ...], step: int, picture: IntegralPicture
) -> Floats:
    """Rows of y, x, scale and strength of the peaks in the middle of three layers."""
    middle = cube[1, 1:-1, 1:-1]
    is_peak = middle > _THRESHOLD
    height, width = cube.shape[1:]
    for layer, dy, dx in product(range(3), repeat=3):
        neighbours = cube[layer, dy : height - 2 + dy, dx : width - 2 + dx]
        # Of places that are just as high the first counts.
        if (layer, dy, dx) < (1, 1, 1):
            is_peak &= middle > neighbours
        elif (layer, dy, dx) > (1, 1, 1):
            is_peak &= middle >= neighbours
    y, x = (places + 1 for places in np.nonzero(is_peak))
    # Filters that reach out of the picture see its edge.
    reach = sides[sides.index(side) + 1] // 2
    inside = (y * step >= reach) & (y * step < picture.height - reach)
    inside &= (x * step >= reach) & (x * step < picture.width - reach)
    y, x = y[inside], x[inside]
    offsets, near = _tops(cube, y, x)
    spacing = sides[1] - sides[0]
    sizes = side + offsets[:, 0] * spacing
    values = (
        (y + offsets[:, 1]) * step,
        (x + offsets[:, 2]) * step,
        _SCALE * sizes / _SMALLEST,
        cube[1, y, x],
    )
    return np.stack(values, axis=1)[near]


def _tops(
    cube: Floats, y: NDArray[np.int64], x: NDArray[np.int64]
) -> tuple[Floats, NDArray[np.bool_]]:
    """How far the tops of parabolas lie from grid points, and whether that is a step at the
    most."""

    def at(layer: int, dy: int, dx: int) -> Floats:
        return np.asarray(cube[1 + layer, y + dy, x + dx])

    units = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    slopes = np.stack([(at(*u) - at(*(-k for k in u))) / 2 for u in units], axis=1)
    bends = np.empty((len(y), 3, 3))
    for i, u in enumerate(units):
        bends[:, i, i] = at(*u) - 2 * at(0, 0, 0) + at(*(-k for k in u))
        for j, v in enumerate(units[:i]):
            plus, minus = (
                tuple(a + sign * b for a, b in zip(u, v, strict=True)) for sign in (1, -1)
            )
            both = at(*plus) + at(*(-k for k in plus)) - at(*minus) - at(*(-k for k in minus))
            bends[:, i, j] = bends[:, j, i] = both / 4
    regular = np.abs(np.linalg.det(bends)) > 1e-30
    bends[~regular] = np.eye(3)
    solved: Floats = np.linalg.solve(bends, slopes[:, :, None]).astype(np.float64)
    offsets = -solved[:, :, 0]
    return offsets, regular & (np.abs(offsets) <= 1).all(axis=1)


def _directions(picture: IntegralPicture, blobs: Blobs) -> Floats:
    """The direction of each blob: where wavelets within a window of 60 degrees add up to most."""
    grid = [(v, u) for v in range(-6, 7) for u in range(-6, 7) if u * u + v * v < 36]
    v, u = np.array(grid, dtype=np.float64).T
    weights = np.exp(-(u**2 + v**2) / (2 * 2.0**2))
    scale = blobs.scale[:, None]
    side = np.maximum(2, 2 * np.rint(2 * scale)).astype(np.int64)
    across, down = picture.wavelets(
        blobs.y[:, None] + v * scale, blobs.x[:, None] + u * scale, side
    )
    across, down = across * weights, down * weights
    angles = np.arctan2(down, across)
    best, direction = np.full(len(blobs.y), -1.0), np.zeros(len(blobs.y))
    for turn in range(_TURNS):
        begin = -np.pi + 2 * np.pi * turn / _TURNS
        within = (angles - begin) % (2 * np.pi) < _WINDOW
        sums = (across * within).sum(axis=1), (down * within).sum(axis=1)
        length = sums[0] ** 2 + sums[1] ** 2
        better = length > best
        best = np.where(better, length, best)
        direction = np.where(better, np.arctan2(sums[1], sums[0]), direction)
    return direction


def _doubled(grey: NDArray[np.uint8]) -> Floats:
    """Twice as many rows and columns, the new ones half-way between their neighbours."""
    values = grey.astype(np.float64)
    for axis in (0, 1):
        following = np.concatenate([values, values.take([-1], axis=axis)], axis=axis)
        between = (values + np.delete(following, 0, axis=axis)) / 2
        values = np.stack([values, between], axis=axis + 1).reshape(
            [size * (2 if k == axis else 1) for k, size in enumerate(values.shape)]
        )
    return values


def surf_features(grey: NDArray[np.uint8]) -> NDArray[np.float32]:
    """A row of 64 numbers for each blob: in 4 x 4 fields around it, turned by its direction, the
    sums of wavelets along and across and of their sizes, at unit length."""
    picture = IntegralPicture((_doubled(grey) if grey.size < _SMALL else grey) / 255.0)
    blobs = find_blobs(picture)
    if not len(blobs.y):
        return np.zeros((0, SURF_LENGTH), dtype=np.float32)
    turn = _directions(picture, blobs)
    cosine, sine = np.cos(turn)[:, None], np.sin(turn)[:, None]
    places = np.arange(-9.5, 10.0)
    v, u = (plane.ravel() for plane in np.meshgrid(places, places, indexing="ij"))
    scale = blobs.scale[:, None]
    x = blobs.x[:, None] + scale * (u * cosine - v * sine)
    y = blobs.y[:, None] + scale * (u * sine + v * cosine)
    side = np.maximum(2, 2 * np.rint(scale)).astype(np.int64)
    across, down = picture.wavelets(y, x, side)
    weights = np.exp(-(u**2 + v**2) / (2 * 3.3**2))
    along = weights * (across * cosine + down * sine)
    beside = weights * (down * cosine - across * sine)
    columns = np.stack([along, np.abs(along), beside, np.abs(beside)], axis=2)
    fields = columns.reshape(-1, 4, 5, 4, 5, 4).sum(axis=(2, 4)).reshape(-1, SURF_LENGTH)
    lengths = np.linalg.norm(fields, axis=1, keepdims=True)
    return np.asarray(fields / np.where(lengths > 0, lengths, 1), dtype=np.float32)


FAMILY = "local"
WORDS = 500
# Of larger pictures the half (the quarter, ...) is taken: the time is then bounded.
_MOST_PIXELS = 1 << 20
_PICTURES, _FEATURES = 400, 60_000
_ROUNDS = 20
_SIFT_LENGTH = 128
# Vocabularies up to this size are learnt from the features above in all rounds; larger ones from
# more features, in as many rounds as this much work allows.
_USUAL_WORDS, _MOST_WORK = 65_536, 1e13
_FEATURES_A_WORD = 4
# Products of features and words at a time.
_TOGETHER = 1 << 27

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
        "words": Param(int, WORDS, "the number of words", low=2, high=1_000_000),
    },
)

SURF = replace(
    SIFT,
    name="SURF",
    title="Visual words of SURF",
    summary="How often each of some visual words occurs: blobs, found and described by sums over "
    "boxes, which stay the same when a picture is turned or made smaller, sorted by the nearest "
    "word. Top-Surf has 10,000 and 200,000 words.",
    source=Source(
        "bay-2008",
        deviation="the vocabulary is learnt from the collection; roots of shares (Hellinger), "
        "where Top-Surf keeps the words of most weight",
    ),
    checked="mahotas 1.4.19: directions of the same blobs within 2 degrees, features at a "
    "cosine of 0.975 in the median; words ours",
)

DECLARED = (SIFT, SURF)
# The names of descriptors that learn a vocabulary, and how many numbers a feature of each has.
FEATURE_LENGTHS = {SIFT.name: _SIFT_LENGTH, SURF.name: SURF_LENGTH}
_of_thread = threading.local()


def _opencv() -> Any:
    try:
        return importlib.import_module("cv2")
    except ModuleNotFoundError:
        raise MissingExtraError("opencv-python-headless", "local", "Local features") from None


def local_features(pixels: NDArray[np.uint8], name: str = SIFT.name) -> NDArray[np.float32]:
    """The features of one picture, a row each, by the descriptor of that name."""
    return surf_features(_halved(_plain_grey(pixels))) if name == SURF.name else _sift(pixels)


def _plain_grey(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    weighed = pixels.astype(np.uint32) @ np.array([77, 150, 29], dtype=np.uint32)
    return np.asarray((weighed + 128) >> 8, dtype=np.uint8)


def _halved(grey: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Means of 2 x 2 pixels until there are few enough."""
    while grey.size > _MOST_PIXELS:
        height, width = (side // 2 * 2 for side in grey.shape)
        squares = grey[:height, :width].reshape(height // 2, 2, width // 2, 2)
        grey = np.rint(squares.mean(axis=(1, 3))).astype(np.uint8)
    return grey


def _sift(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
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
    words, length = int(descriptor.bound.get("words", WORDS)), FEATURE_LENGTHS[descriptor.name]
    if path.is_file():
        centres = np.asarray(read_archive(path)["vectors"], dtype=np.float32)
        if centres.ndim != 2 or centres.shape[1] != length or len(centres) > words:
            raise InputError.single(str(path), "holds no visual words; remove it to learn others")
    else:
        centres = _learnt(descriptor.name, pictures, words, progress)
        about = {"items": np.array([f"word{i}" for i in range(len(centres))], dtype=np.str_)}
        write_vectors(path, iter([centres]), centres.shape, "float32", about)
    return replace(
        descriptor,
        length=len(centres),
        compute=_counting(descriptor.name, centres),
        edition=hashlib.sha256(centres.tobytes()).hexdigest(),
    )


def _learnt(
    name: str, pictures: Sequence[PictureFile], words: int, progress: Progress
) -> NDArray[np.float32]:
    """Centres of the features of pictures that lie evenly over the collection."""
    step = max(1, len(pictures) // _PICTURES)
    sample = pictures[::step][:_PICTURES]
    most = _FEATURES if words <= _USUAL_WORDS else _FEATURES_A_WORD * words
    each = max(1, most // max(1, len(sample)))
    parts = []
    for number, picture in enumerate(sample, 1):
        progress(number / len(sample))
        try:
            descriptors = local_features(read_picture(picture.path).pixels, name)
        except BadPictureError:
            continue  # told when it is its turn to be described
        parts.append(descriptors[:: max(1, len(descriptors) // each)][:each])
    features = np.concatenate([np.zeros((0, FEATURE_LENGTHS[name]), dtype=np.float32), *parts])
    if len(features) == 0:
        raise InputError.single("the pictures", "have no local features to learn words from")
    return _k_means(features, min(words, len(features)))


def _k_means(features: NDArray[np.float32], words: int) -> NDArray[np.float32]:
    rows = np.unique(features, axis=0)
    words = min(words, len(rows))
    start = rows[np.random.default_rng(7).choice(len(rows), words, replace=False)]
    # A word that loses all its features keeps its place.
    centres = start.astype(np.float64)
    affordable = int(_MOST_WORK / (len(features) * words * features.shape[1]))
    for _ in range(min(_ROUNDS, max(1, affordable))):
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
    rows = max(1, _TOGETHER // len(centres))
    parts = [
        np.argmax(features[start : start + rows] @ centres.T - squares, axis=1)
        for start in range(0, len(features), rows)
    ]
    return np.concatenate(parts)


def _counting(name: str, centres: NDArray[np.float32]) -> Callable[[DecodedPicture], NDArray[Any]]:
    def compute(decoded: DecodedPicture) -> NDArray[Any]:
        features = local_features(decoded.pixels, name)
        if len(features) == 0:
            return np.zeros(len(centres), dtype=np.float32)
        counts = np.bincount(_nearest(features, centres), minlength=len(centres))
        return np.sqrt(counts / len(features)).astype(np.float32)

    return compute
