"""The visual descriptors of MPEG-7 as their definitions read, slow and plain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from tests.reference.features import Numbers, Picture, even_below, numbers

EDGE_TABLES = [
    numbers(".010867 .057915 .099526 .144849 .195573 .260504 .358031 .530128"),
    numbers(".012266 .069934 .125879 .182307 .243396 .314563 .411728 .564319"),
    numbers(".004193 .025852 .046860 .068519 .093286 .123490 .161505 .228960"),
    numbers(".004174 .025924 .046232 .067163 .089655 .115391 .151904 .217745"),
    numbers(".006778 .051667 .108650 .166257 .224226 .285691 .356375 .450972"),
]


def light_of(picture: Picture) -> Numbers:
    r, g, b = (picture[:, :, c].astype(float) for c in range(3))
    return (0.299 * r + 0.587 * g + 0.114 * b) / 256


def video_luminance(picture: Picture) -> Numbers:
    return (219 * light_of(picture) + 16.5).astype(int)


def _edges(grey: Numbers, without_blocks: float) -> Numbers:
    height, width = grey.shape
    side = max(2, even_below(math.isqrt(width * height // 1100)))
    seen: dict[tuple[int, int], list[int]] = {}
    for y in range(0, height - side + 1, side):
        for x in range(0, width - side + 1, side):
            h = side // 2
            block = grey[y : y + side, x : x + side]
            a1, a2, a3, a4 = (
                int(q.sum()) for q in (block[:h, :h], block[:h, h:], block[h:, :h], block[h:, h:])
            )
            strengths = [
                abs(a1 - a2 + a3 - a4),
                abs(a1 + a2 - a3 - a4),
                math.sqrt(2) * abs(a1 - a4),
                math.sqrt(2) * abs(a2 - a3),
                2 * abs(a1 - a2 - a3 + a4),
            ]
            strongest = max(strengths)
            kind = strengths.index(strongest) if strongest >= 11 * h * h else -1
            seen.setdefault((4 * y // height, 4 * x // width), []).append(kind)
    levels = []
    for row in range(4):
        for column in range(4):
            kinds = seen.get((row, column), [])
            for kind, table in enumerate(EDGE_TABLES):
                middles = [(a + b) / 2 for a, b in pairwise(table)]
                share = kinds.count(kind) / len(kinds) if kinds else 0.0
                level = float(sum(share > middle for middle in middles))
                levels.append(level if kinds else without_blocks)
    return np.array(levels)


def edge_histogram(picture: Picture) -> Numbers:
    return _edges(video_luminance(picture), 0.0)


def edge_histogram_lire(picture: Picture) -> Numbers:
    return _edges(video_luminance(picture), 7.0)


def edge_histogram_xm(picture: Picture) -> Numbers:
    grey = picture.astype(int).sum(axis=2) // 3
    shorter = min(grey.shape)
    if shorter < 70:
        grey = enlarged(grey, *((2 * n * 70 + shorter) // (2 * shorter) for n in grey.shape))
    return _edges(grey, 0.0)


def enlarged(grey: Numbers, height: int, width: int) -> Numbers:
    """With lines between the centres of pixels, to the nearest grey."""

    def at(i: int, old: int, new: int) -> tuple[int, int, float]:
        place = min(max((i + 0.5) * (old / new) - 0.5, 0.0), old - 1.0)
        return int(place), min(int(place) + 1, old - 1), place - int(place)

    columns = [at(x, grey.shape[1], width) for x in range(width)]
    left, right = (np.array([c[i] for c in columns]) for i in (0, 1))
    along = np.array([c[2] for c in columns])
    rows = []
    for y in range(height):
        top, bottom, down = at(y, grey.shape[0], height)
        upper = grey[top][left] + (grey[top][right] - grey[top][left]) * along
        lower = grey[bottom][left] + (grey[bottom][right] - grey[bottom][left]) * along
        rows.append((upper + (lower - upper) * down + 0.5).astype(int))
    return np.array(rows)


def icons(picture: Picture, repeat: bool) -> list[Numbers]:
    """Y, Cb and Cr in 8 x 8 cells."""
    if repeat:
        for axis in (0, 1):
            if picture.shape[axis] < 8:
                picture = np.repeat(picture, 8, axis=axis)
    height, width = picture.shape[:2]
    light = light_of(picture)
    red, blue = picture[:, :, 0] / 256, picture[:, :, 2] / 256
    channels = [
        (219 * light + 16.5).astype(int),
        (224 * 0.564 * (blue - light) + 128.5).astype(int),
        (224 * 0.713 * (red - light) + 128.5).astype(int),
    ]
    rows, columns = 8 * np.arange(height) // height, 8 * np.arange(width) // width
    found = []
    for channel in channels:
        icon = np.zeros((8, 8), dtype=int)
        for r in range(8):
            for c in range(8):
                cell = channel[np.ix_(rows == r, columns == c)]
                icon[r, c] = int(cell.sum()) // cell.size if cell.size else 0
        found.append(icon)
    return found


def zigzag() -> list[tuple[int, int]]:
    """Rows and columns along the diagonals, to and fro, the first step to the right."""
    places = [(r, c) for r in range(8) for c in range(8)]
    return sorted(places, key=lambda p: (p[0] + p[1], p[0] if (p[0] + p[1]) % 2 else p[1]))


def luminance_mean_level(v: int) -> int:
    if v <= 64:
        return v // 4 // 2
    if v <= 96:
        return (16 + (v - 64) // 2) // 2
    if v <= 160:
        return (32 + v - 96) // 2
    if v <= 192:
        return (96 + (v - 160) // 2) // 2
    return (112 + (v - 192) // 4) // 2


def colour_mean_level(v: int) -> int:
    if v <= 64:
        return 0
    if v <= 96:
        return (v - 64) // 4
    if v <= 112:
        return 8 + (v - 96) // 2
    if v <= 144:
        return 16 + v - 112
    if v <= 160:
        return 48 + (v - 144) // 2
    return 56 + (v - 160) // 4 if v <= 191 else 63


def _layout(picture: Picture, standard: bool) -> Numbers:
    basis = np.array(
        [
            [
                math.cos((2 * k + 1) * u * math.pi / 16) / 2 if u else math.sqrt(1 / 8)
                for k in range(8)
            ]
            for u in range(8)
        ]
    )
    found: list[float] = []
    for channel, icon in enumerate(icons(picture, repeat=standard)):
        waves = np.floor(basis @ icon @ basis.T + 0.499999).astype(int)
        mean = int(waves[0, 0]) // 8
        found.append(luminance_mean_level(mean) if channel == 0 else colour_mean_level(mean))
        for place in zigzag()[1:]:
            wave = int(waves[place])
            if channel == 0:
                wave = int(wave / 2) if standard else wave // 2
            wave = min(max(wave, -256), 239 if standard else 255)
            size = abs(wave)
            size = size if size <= 63 else 32 + size // 2 if size <= 127 else 64 + size // 4
            found.append((math.copysign(size, wave) + (132 if standard else 128)) // 8)
    return np.array(found, dtype=float)


def colour_layout(picture: Picture) -> Numbers:
    return _layout(picture, standard=True)


def colour_layout_lire(picture: Picture) -> Numbers:
    return _layout(picture, standard=False)


SCALABLE_OFFSETS = numbers(
    "217 -71 -27 -54 -8 -14 -22 -29 -6 -13 -11 -22 -9 -14 -19 -22 0 -1 0 -2 1 -5 0 0 2 -2 -2 "
    "0 3 -5 -1 4 0 0 0 -1 0 0 -1 -2 -1 -1 -1 -3 -1 -2 -4 -5 -1 0 -2 -2 -2 -3 -3 0 0 0 0 2 -1 "
    "0 3 3 0 0 0 0 0 0 0 -1 -1 -1 -2 -1 -2 -2 -2 -1 0 0 0 -1 0 0 -1 -1 -2 -1 -2 -1 -3 -3 -2 0 "
    "0 0 0 -1 0 0 -2 -2 -2 -2 -2 -1 -3 -3 -1 0 1 0 0 -1 0 0 -1 0 -1 -1 -1 0 -1 0 1 -1 0 0 0 0 "
    "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 0 -1 1 0 0 0 0 0 0 -1 0 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 "
    "1 0 0 0 1 0 0 -1 2 0 0 0 0 0 0 -1 1 0 0 0 0 0 0 0 0 0 0 0 1 0 0 -1 1 0 0 -1 1 0 -1 -1 2 "
    "0 0 0 0 0 -1 0 1 1 0 -1 0 0 0 0 1 0 0 -1 0 0 0 0 1 0 0 0 0 0 -1 0 1 0 0 0 0 0 -1 0 -1"
)
SCALABLE_BITS = (
    "9989777867677777453656575657566733353355545555555355555555555565"
    "2234223444555555323423455455555533343355545555554344344443445555"
    "2233223322342233323423443334334432332233323423443235335533343345"
    "3233234432343355323534553334334432333334323433443234334433333334"
)


def scalable_bin(r: int, g: int, b: int) -> int:
    high, spread = max(r, g, b), max(r, g, b) - min(r, g, b)
    saturation = 255 * spread // high if high else 0
    hue = Fraction(0)
    if spread:
        if high == r:
            hue = Fraction(g - b, spread) + (6 if g <= b else 0)
        elif high == g:
            hue = 2 + Fraction(b - r, spread)
        else:
            hue = 4 + Fraction(r - g, spread)
    h = math.floor(hue / 6 * 255)
    return 16 * h // 256 + 16 * (4 * saturation // 256 + 4 * (4 * high // 256))


def hsv_counts(picture: Picture) -> Numbers:
    bins = [scalable_bin(*map(int, pixel)) for row in picture for pixel in row]
    return np.bincount(bins, minlength=256)


def hsv_histogram(picture: Picture) -> Numbers:
    return np.asarray(hsv_counts(picture) / (picture.shape[0] * picture.shape[1]))


def scalable_level(count: int, pixels: int) -> int:
    share = math.floor(Fraction(2047 * count, pixels) + Fraction(49999, 100000))
    return 15 if share > 818.8 else int(15 * (share / 818.8) ** 0.4 + 0.5)


EVEN, ODD, ALL = range(0, 16, 2), range(1, 16, 2), range(16)
# Rows and hues of the first places, and where the second one is.
STEPS: tuple[tuple[Sequence[int], Sequence[int], int, int], ...] = (
    (ALL, EVEN, 0, 1),
    (EVEN, EVEN, 1, 0),
    ((0, 2, 8, 10), EVEN, 4, 0),
    ((0, 2, 8, 10), (0, 4, 8, 12), 0, 2),
    ((0, 8), (0, 4, 8, 12), 2, 0),
    ((0,), (0, 4, 8, 12), 8, 0),
    ((0,), (0, 8), 0, 4),
    ((0,), (0,), 0, 8),
)
ORDER: tuple[tuple[Sequence[int], Sequence[int]], ...] = (
    ((0, 2, 8, 10), (0, 4, 8, 12)),
    ((0, 2, 8, 10), (2, 6, 10, 14)),
    ((4, 6, 12, 14), EVEN),
    (ODD, EVEN),
    (ALL, ODD),
)


def _scalable(picture: Picture, bins: int) -> Numbers:
    counts = hsv_counts(picture)
    pixels = picture.shape[0] * picture.shape[1]
    levels = [scalable_level(int(n), pixels) if i < bins else 0 for i, n in enumerate(counts)]
    values = np.array(levels).reshape(16, 16)
    for rows, hues, down, along in STEPS:
        for r in rows:
            for h in hues:
                first, second = values[r, h], values[r + down, h + along]
                values[r, h], values[r + down, h + along] = first + second, second - first
    ordered = [int(values[r, h]) for rows, hues in ORDER for r in rows for h in hues]
    limits = [2 ** (int(bits) - 1) - 1 for bits in SCALABLE_BITS]
    shifted = np.array(ordered) - np.array(SCALABLE_OFFSETS)
    return np.asarray(np.clip(shifted, np.negative(limits), limits))


def scalable_colour(picture: Picture) -> Numbers:
    return _scalable(picture, 256)


def scalable_colour_lire(picture: Picture) -> Numbers:
    return _scalable(picture, 64)
