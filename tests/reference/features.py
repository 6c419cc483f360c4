"""Descriptors of colour, with and without texture, as their definitions read, slow and plain.

A picture is an array of height x width x 3 whole numbers from 0 to 255.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Picture: TypeAlias = NDArray[Any]
Numbers: TypeAlias = NDArray[Any]
Set: TypeAlias = tuple[float, float, float, float]

HUES: tuple[Set, ...] = (
    (0, 0, 5, 10),
    (5, 10, 35, 50),
    (35, 50, 70, 85),
    (70, 85, 150, 165),
    (150, 165, 195, 205),
    (195, 205, 265, 280),
    (265, 280, 315, 330),
    (315, 330, 360, 360),
)
SATURATIONS: tuple[Set, ...] = ((0, 0, 10, 75), (10, 75, 255, 255))
VALUES: tuple[Set, ...] = ((0, 0, 10, 75), (10, 75, 180, 220), (180, 220, 255, 255))
SHADES: tuple[Set, ...] = ((0, 0, 68, 188), (68, 188, 255, 255))


def numbers(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split()))


def trapezoid(x: float, corners: Set) -> float:
    a, b, c, d = corners
    if b <= x <= c:
        return 1.0
    if a <= x < b:
        return (x - a) / (b - a)
    return (d - x) / (d - c) if c < x <= d else 0.0


def fuzzy_hsv(r: int, g: int, b: int) -> tuple[int, int, int]:
    high, low = max(r, g, b), min(r, g, b)
    spread = high - low
    if spread == 0:
        hue = 0
    elif high == r and g >= b:
        hue = math.floor(Fraction(60 * (g - b), spread))
    elif high == r:
        hue = math.floor(359 + Fraction(60 * (g - b), spread))
    elif high == g:
        hue = math.floor(119 + Fraction(60 * (b - r), spread))
    else:
        hue = math.floor(239 + Fraction(60 * (r - g), spread))
    return hue, math.floor(255 - Fraction(255 * low, high)) if high else 0, high


def ten_colours(r: int, g: int, b: int) -> list[float]:
    """White, grey, black, then red to magenta."""
    hue, saturation, value = fuzzy_hsv(r, g, b)
    colours = [0.0] * 10
    for i, hue_set in enumerate(HUES):
        for s, saturation_set in enumerate(SATURATIONS):
            for v, value_set in enumerate(VALUES):
                if v == 0:
                    colour = 2
                elif s == 0:
                    colour = 0 if v == 2 else 1
                else:
                    colour = 3 + i % 7
                colours[colour] += min(
                    trapezoid(hue, hue_set),
                    trapezoid(saturation, saturation_set),
                    trapezoid(value, value_set),
                )
    return colours


def twenty_four_colours(r: int, g: int, b: int) -> list[float]:
    """The hues of the ten colours, each as light, pure and dark."""
    _, saturation, value = fuzzy_hsv(r, g, b)
    ten = ten_colours(r, g, b)
    pale, strong = (trapezoid(saturation, s) for s in SHADES)
    dark, bright = (trapezoid(value, s) for s in SHADES)
    shades = min(pale, bright), min(strong, bright), min(pale, dark) + min(strong, dark)
    return ten[:3] + [c * shade for c in ten[3:] for shade in shades]


def nearest_levels(bins: Numbers, tables: Sequence[Sequence[float]]) -> Numbers:
    """Shares of the sum, then the nearest of the eight values of the region's table."""
    total = sum(bins.ravel().tolist())
    if total == 0:
        return np.zeros(bins.size)
    levels = []
    for row, table in zip(bins, tables, strict=True):
        for share in row / total * 1e6:
            away = [abs(share - value) for value in table]
            levels.append(float(away.index(min(away))))
    return np.array(levels)


CEDD_NONE = numbers(
    "180.19686541079636 23730.024499150866 61457.152912541605 113918.55437576842 "
    "179122.46400035513 260980.3325940354 341795.93301552488 554729.98648386425"
)
CEDD_ANY = numbers(
    "209.25176965926232 22490.5872862417345 60250.8935141849988 120705.788057580583 "
    "181128.08709063051 234132.081356900555 325660.617733105708 520702.175858657472"
)
CEDD_STRAIGHT = numbers(
    "405.4642173212585 4877.9763319071481 10882.170090625908 18167.239081219657 "
    "27043.385568785292 38129.413201299016 52675.221316293857 79555.402607004813"
)
CEDD_SLOPING = numbers(
    "968.88475977695578 10725.159033657819 24161.205360376698 41555.917344385321 "
    "62895.628446402261 93066.271379694881 136976.13317822068 262897.86056221306"
)
CEDD_TABLES = (CEDD_NONE, CEDD_ANY, CEDD_STRAIGHT, CEDD_STRAIGHT, CEDD_SLOPING, CEDD_SLOPING)


def even_below(n: int) -> int:
    return n - n % 2


def cedd_blocks(picture: Picture) -> Iterator[Picture]:
    height, width = picture.shape[:2]
    shorter = min(width, height)
    if shorter < 40:
        columns, rows, w, h = width // 2, height // 2, 2, 2
    else:
        columns = rows = 40 if shorter >= 80 else 20
        w, h = even_below(width // columns), even_below(height // rows)
    for row in range(rows):
        for column in range(columns):
            yield picture[row * h : (row + 1) * h, column * w : (column + 1) * w].astype(int)


def luminance_mean(part: Picture) -> int:
    r, g, b = (int(part[:, :, c].sum()) for c in range(3))
    return math.floor(Fraction(299 * r + 587 * g + 114 * b, 1000 * part[:, :, 0].size))


def cedd_regions(block: Picture) -> list[int]:
    h, w = block.shape[0] // 2, block.shape[1] // 2
    a1, a2 = luminance_mean(block[:h, :w]), luminance_mean(block[:h, w:])
    a3, a4 = luminance_mean(block[h:, :w]), luminance_mean(block[h:, w:])
    filters = [
        abs(2 * a1 - 2 * a2 - 2 * a3 + 2 * a4),
        abs(a1 + a2 - a3 - a4),
        abs(a1 - a2 + a3 - a4),
        math.sqrt(2) * abs(a1 - a4),
        math.sqrt(2) * abs(a2 - a3),
    ]
    largest = max(filters)
    if largest < 14:
        return [0]
    return [i + 1 for i, f in enumerate(filters) if f / largest > (0.98 if i else 0.68)]


def mean_colour(block: Picture) -> tuple[int, int, int]:
    r, g, b = (int(block[:, :, c].sum()) // block[:, :, c].size for c in range(3))
    return r, g, b


def _cedd(picture: Picture, colours_of: Callable[..., list[float]], colours: int) -> Numbers:
    bins = np.zeros((6, colours))
    for block in cedd_blocks(picture):
        for region in cedd_regions(block):
            bins[region] += colours_of(*mean_colour(block))
    return nearest_levels(bins, CEDD_TABLES)


def cedd(picture: Picture) -> Numbers:
    return _cedd(picture, twenty_four_colours, 24)


def compact_cedd(picture: Picture) -> Numbers:
    return _cedd(picture, ten_colours, 10)


FCTH_FIRST = numbers(
    "130.0887781556944 9317.31301788632 22434.355689233365 43120.548602722061 "
    "83168.640165905046 101430.52589975641 174840.65838706805 224480.41479670047"
)
FCTH_SECOND = (*FCTH_FIRST[:5], 151430.52589975641, *FCTH_FIRST[6:])


FCTH_MIDDLE = numbers(
    "239.769468748322 17321.704312335689 39113.643180734696 69333.512093874378 "
    "79122.46400035513 90980.3325940354 161795.93301552488 184729.98648386425"
)
FCTH_LAST = numbers(
    "180.19686541079636 23730.024499150866 41457.152912541605 53918.55437576842 "
    "69122.46400035513 81980.3325940354 91795.93301552488 124729.98648386425"
)
FCTH_TABLES = (
    FCTH_FIRST,
    FCTH_SECOND,
    *[FCTH_MIDDLE] * 4,
    *[FCTH_LAST] * 2,
)


def signed_byte(value: int) -> int:
    return (value + 128) % 256 - 128


def fcth_energies(block: Picture) -> tuple[float, float, float]:
    """Top against bottom, left against right, diagonal: roots of the mean squares."""
    light = (299 * block[:, :, 0] + 587 * block[:, :, 1] + 114 * block[:, :, 2]) // 1000
    h, w = light.shape
    rows, columns = ((0, s // 4, s // 2, 3 * s // 4, s) for s in (h, w))
    cell = [
        [
            Fraction(int(part.sum()), part.size)
            for i in range(4)
            for part in [light[rows[j] : rows[j + 1], columns[i] : columns[i + 1]]]
        ]
        for j in range(4)
    ]
    squares = [0, 0, 0]
    for j in (0, 2):
        for i in (0, 2):
            a, b, c, d = cell[j][i], cell[j][i + 1], cell[j + 1][i], cell[j + 1][i + 1]
            bands = abs(c + d - a - b), abs(a - b + c - d), abs(b + c - a - d)
            for n, band in enumerate(bands):
                squares[n] += signed_byte(math.floor(band)) ** 2
    top, left, diagonal = (math.sqrt(square / 4) for square in squares)
    return top, left, diagonal


def _fcth(picture: Picture, colours_of: Callable[..., list[float]], colours: int) -> Numbers:
    height, width = picture.shape[:2]
    w, h = max(4, even_below(width // 40)), max(4, even_below(height // 40))
    bins = np.zeros((8, colours))
    for y in range(0, height, h):
        for x in range(0, width, w):
            if not (x < width - w and y < height - h):
                continue
            block = picture[y : y + h, x : x + w].astype(int)
            top, left, diagonal = fcth_energies(block)
            sides = [
                (trapezoid(e, (0, 0, 20, end)), trapezoid(e, (20, end, 255, 255)))
                for e, end in ((diagonal, 90), (left, 90), (top, 80))
            ]
            colour = np.array(colours_of(*mean_colour(block)))
            for region in range(8):
                high = region // 4, region // 2 % 2, region % 2
                activation = min(side[i] for side, i in zip(sides, high, strict=True))
                bins[region] += activation * colour
    return nearest_levels(bins, FCTH_TABLES)


def fcth(picture: Picture) -> Numbers:
    return _fcth(picture, twenty_four_colours, 24)


def compact_fcth(picture: Picture) -> Numbers:
    return _fcth(picture, ten_colours, 10)


def jcd(picture: Picture) -> Numbers:
    c, f = cedd(picture).reshape(6, 24), fcth(picture).reshape(8, 24)
    rows = [
        (c[0] + f[0] + f[4]) / 2,
        (c[2] + f[1] + f[5]) / 2,
        c[4],
        (c[3] + f[2] + f[6]) / 2,
        c[5],
        f[3] + f[7],
        c[1],
    ]
    return np.concatenate(rows)


def as_levels(counts: Numbers, top: int) -> Numbers:
    largest = int(counts.max())
    return np.array([float(top * int(n) // largest) if largest else 0.0 for n in counts])


def rgb_histogram(picture: Picture) -> Numbers:
    steps = np.floor(picture / 85 + 0.5).astype(int)
    bins = 16 * steps[:, :, 0] + 4 * steps[:, :, 1] + steps[:, :, 2]
    return as_levels(np.bincount(bins.ravel(), minlength=64), 255)


def opponent_histogram(picture: Picture) -> Numbers:
    r, g, b = (picture[1:-1, 1:-1, c].astype(int).ravel() for c in range(3))
    o1 = np.minimum(3, 4 * (r - g + 255) // 510)
    o2 = np.minimum(3, 4 * (r + g - 2 * b + 510) // 1020)
    o3 = np.minimum(3, 4 * (r + g + b) // 765)
    return as_levels(np.bincount(o1 + 4 * o2 + 16 * o3, minlength=64), 127)


def correlogram_counts(colours: Numbers, ks: Sequence[int]) -> Iterator[tuple[int, int, int, int]]:
    """Colour, distance, ordered pairs of equal colour at that distance, pixels of the colour."""
    height, width = colours.shape
    for colour in range(64):
        places = np.argwhere(colours == colour)
        inside = colours == colour
        for k in ks:
            pairs = 0
            for dy in range(-k, k + 1):
                for dx in range(-k, k + 1):
                    if max(abs(dx), abs(dy)) != k or not len(places):
                        continue
                    moved = places + np.array((dy, dx))
                    valid = ((moved >= 0) & (moved < (height, width))).all(axis=1)
                    pairs += int(inside[tuple(moved[valid].T)].sum())
            yield colour, k, pairs, len(places)


def correlogram(picture: Picture) -> Numbers:
    colours = 16 * (picture[:, :, 0] // 64) + 4 * (picture[:, :, 1] // 64) + picture[:, :, 2] // 64
    return np.array(
        [
            pairs / (pixels * 8 * k) if pixels else 0.0
            for _, k, pairs, pixels in correlogram_counts(colours, (1, 3, 5, 7))
        ]
    )


def degrees_colour(r: int, g: int, b: int) -> int:
    high, spread = max(r, g, b), max(r, g, b) - min(r, g, b)
    degrees = Fraction(0)
    if spread:
        if high == r:
            degrees = Fraction(60 * (g - b), spread)
        elif high == g:
            degrees = 60 * (2 + Fraction(b - r, spread))
        else:
            degrees = 60 * (4 + Fraction(r - g, spread))
    hue = math.floor(degrees + 360 if degrees < 0 else degrees)
    saturation = 255 * spread // high if high else 0
    return 8 * (hue // 45) + 2 * (saturation // 64) + high // 128


def correlogram_lire(picture: Picture) -> Numbers:
    rows = [[degrees_colour(*map(int, pixel)) for pixel in row] for row in picture]
    return np.array(
        [
            float(16 * pairs // (pixels * 8 * k)) if pixels else 0.0
            for _, k, pairs, pixels in correlogram_counts(np.array(rows), (1, 2, 3, 4))
        ]
    )


def spatial_colours(picture: Picture) -> Numbers:
    """Eight fuzzy colours by three bands along and three bands down."""
    height, width, _ = picture.shape
    rows, columns = min(40, height), min(40, width)
    bands = ((0, 0, 0.25, 0.5), (0.25, 0.5, 0.5, 0.75), (0.5, 0.75, 1, 1))
    joined = (0, 1, 2, 3, 4, 4, 5, 6, 6, 7)
    found = np.zeros((8, 2, 3))
    for row in range(rows):
        for column in range(columns):
            block = picture[
                row * height // rows : (row + 1) * height // rows,
                column * width // columns : (column + 1) * width // columns,
            ].reshape(-1, 3)
            mean = block.astype(int).sum(axis=0) // len(block)
            for colour, share in enumerate(ten_colours(*mean.tolist())):
                for i, band in enumerate(bands):
                    found[joined[colour], 0, i] += share * trapezoid((column + 0.5) / columns, band)
                    found[joined[colour], 1, i] += share * trapezoid((row + 0.5) / rows, band)
    return found.ravel() / (found.sum() or 1)
