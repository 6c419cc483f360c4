"""Descriptors of texture and shape as their definitions read, slow and plain."""

from __future__ import annotations

import math

import numpy as np

from tests.reference.features import Numbers, Picture, as_levels


def plain_grey(picture: Picture) -> Numbers:
    r, g, b = (picture[:, :, c].astype(int) for c in range(3))
    return np.asarray((77 * r + 150 * g + 29 * b + 128) // 256)


def light_table() -> list[int]:
    """sRGB decoded to 16 bits, through 1,024 places with lines between them."""

    def decoded(t: float) -> float:
        return t / 12.92 if t <= 0.04045 else ((t + 0.055) / 1.055) ** 2.4

    places = [math.floor(65535 * decoded(i / 1023) + 0.5) for i in range(1024)]
    at = [1023 * c / 255 for c in range(256)]
    return [math.floor(v + 0.5) for v in np.interp(at, range(1024), places)]


def linear_grey(picture: Picture) -> Numbers:
    light = np.array(light_table())
    r, g, b = (light[picture[:, :, c]] for c in range(3))
    grey = np.floor(255 * (14574 * r + 46992 * g + 3971 * b) / (65536 * 65535) + 0.5)
    return np.asarray(np.minimum(grey, 255), dtype=int)


def local_binary_patterns(picture: Picture) -> Numbers:
    grey = plain_grey(picture)
    height, width = grey.shape
    around = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))
    counts = np.zeros(256)
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            bits = (grey[y + dy, x + dx] >= grey[y, x] for dy, dx in around)
            counts[sum(1 << i for i, bit in enumerate(bits) if bit)] += 1
    return as_levels(counts, 127)


def shrunk(grey: Numbers) -> Numbers:
    """At most 64 pixels a side, with lines between pixels in numbers of 32 bits."""
    longer = max(grey.shape)
    if longer <= 64:
        return grey
    sides = [max(1, math.floor(n * 64 / longer + 0.5)) for n in grey.shape]

    def places(old: int, new: int) -> list[tuple[int, int, int]]:
        step, start = 2**32 * old // new, 2**31 * old // new - 2**31
        at = [start + i * step for i in range(new)]
        return [(max(p >> 32, 0), min(max((p >> 32) + 1, 0), old - 1), p >> 24 & 255) for p in at]

    result = np.zeros(sides, dtype=int)
    for y, (top, bottom, fy) in enumerate(places(grey.shape[0], sides[0])):
        for x, (left, right, fx) in enumerate(places(grey.shape[1], sides[1])):
            p = 256 * grey[top, left] + (grey[top, right] - grey[top, left]) * fx
            q = 256 * grey[bottom, left] + (grey[bottom, right] - grey[bottom, left]) * fx
            result[y, x] = (256 * p + (q - p) * fy + 32768) >> 16
    return result


def window_sums(grey: Numbers, side: int, back: int, reach: int) -> Numbers:
    """Sums over side x side pixels from `back` pixels before each place on, the places going
    `reach` beyond the picture; the edge pixels go on outside."""
    before, after = back + reach, side + reach
    padded = np.pad(grey, ((before, after), (before, after)), mode="edge").astype(np.int64)
    sums = np.lib.stride_tricks.sliding_window_view(padded, (side, side)).sum(axis=(2, 3))
    height, width = grey.shape
    return np.asarray(sums[: height + 2 * reach, : width + 2 * reach])


def neighbour_differences(sums: Numbers, reach: int) -> Numbers:
    """The larger difference of the places `reach` to the right and left, below and above."""
    middle = slice(reach, -reach)
    across = np.abs(sums[middle, 2 * reach :] - sums[middle, : -2 * reach])
    down = np.abs(sums[2 * reach :, middle] - sums[: -2 * reach, middle])
    return np.asarray(np.maximum(across, down))


def slopes(grey: Numbers) -> list[tuple[int, int]]:
    """Right minus left and bottom minus top of three, for every inner pixel."""
    height, width = grey.shape
    found = []
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            part = grey[y - 1 : y + 2, x - 1 : x + 2]
            across = int(part[:, 2].sum() - part[:, 0].sum())
            found.append((across, int(part[2].sum() - part[0].sum())))
    return found


def deviations(grey: Numbers) -> tuple[float, Numbers]:
    away = grey.ravel() - grey.mean()
    return math.sqrt(float((away**2).mean())), away


def tamura(picture: Picture) -> Numbers:
    grey = plain_grey(picture)
    differences = [
        neighbour_differences(window_sums(grey, 2**k, 2 ** (k - 1), 2 ** (k - 1)), 2 ** (k - 1))
        / 4**k
        for k in range(1, 6)
    ]
    coarseness = float((2.0 ** (1 + np.argmax(differences, axis=0))).mean())
    sigma, away = deviations(grey)
    contrast = sigma / (float((away**4).mean()) / sigma**4) ** 0.25 if sigma > 0 else 0.0
    directions = np.zeros(16)
    for across, down in slopes(grey):
        if (abs(across) + abs(down)) / 2 >= 12:
            angle = math.atan(down / across) if across else -math.pi / 2
            directions[int((angle + math.pi / 2) / (math.pi / 16)) % 16] += 1
    return np.array([coarseness, contrast, *(directions / max(directions.sum(), 1))])


def tamura_lire(picture: Picture) -> Numbers:
    grey = shrunk(linear_grey(picture))
    inner = (slice(1, -1), slice(1, -1))
    differences = [
        neighbour_differences(window_sums(grey, 4**k, 2 ** (k - 1), 2 ** (k - 1)), 2 ** (k - 1))
        / 4**k
        for k in (1, 2)
    ]
    best = 1 + np.argmax(differences, axis=0)
    coarseness = float((2.0 ** best[inner]).sum()) / grey.size
    sigma, away = deviations(grey)
    contrast = sigma / (float((away**4).sum()) / sigma**4) ** 0.25 if sigma > 0 else 0.0
    directions = np.zeros(16)
    for across, down in slopes(grey):
        upright = math.pi / 2 if across > 0 else -math.pi / 2
        angle = math.atan(across / down) if down else upright
        directions[int((math.pi / 2 + angle) / 0.2)] += 1
    return np.array([coarseness, contrast, *directions])


def edge_pixels(grey: Numbers) -> list[tuple[int, int, float, float]]:
    """Row, column, direction and strength of the pixels that stand out along their gradient."""
    height, width = grey.shape
    strength = np.zeros(grey.shape)
    direction = np.full(grey.shape, math.pi / 2)
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            part = grey[y - 1 : y + 2, x - 1 : x + 2]
            across = int((part[:, 0] - part[:, 2]) @ (1, 2, 1))
            down = int((part[0] - part[2]) @ (1, 2, 1))
            strength[y, x] = math.sqrt(across**2 + down**2)
            if across:
                direction[y, x] = math.atan(down / across)
    found = []
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            t, here = float(direction[y, x]), float(strength[y, x])
            if -math.pi / 8 <= t < math.pi / 8:
                dy, dx = 0, 1
            elif math.pi / 8 <= t < 3 * math.pi / 8:
                dy, dx = 1, 1
            elif -3 * math.pi / 8 <= t < -math.pi / 8:
                dy, dx = 1, -1
            else:
                dy, dx = 1, 0
            if here > max(60, strength[y + dy, x + dx], strength[y - dy, x - dx]):
                found.append((y, x, t, here))
    return found


def votes(t: float) -> list[tuple[int, float]]:
    """The bins that a direction votes for, each by how near it is."""
    place = 30 * (t / math.pi + 0.5)
    low = math.floor(place)
    part = place - low
    return [(low % 30, 1 - part), ((low + 1) % 30, part)] if part else [(low % 30, 1.0)]


def cells_of(y: int, x: int, height: int, width: int) -> list[tuple[int, int, int]]:
    """Level, row and column of the cells that a pixel is in."""
    found = [(0, 0, 0)]
    for level, n in ((1, 2), (2, 4)):
        h, w = height // n, width // n
        if h and w and y // h < n and x // w < n:
            found.append((level, y // h, x // w))
    return found


def gradient_pyramid(picture: Picture) -> Numbers:
    grey = plain_grey(picture)
    cells = np.zeros((21, 30))
    for y, x, t, strength in edge_pixels(grey):
        for level, row, column in cells_of(y, x, *grey.shape):
            cell = (0, 1, 5)[level] + row * 2**level + column
            for bin_, part in votes(t):
                cells[cell, bin_] += part * strength
    total = cells.sum()
    return np.asarray(cells.ravel() / total if total else cells.ravel())


def gradient_pyramid_lire(picture: Picture) -> Numbers:
    grey = linear_grey(picture)
    cells = np.zeros((21, 30))
    for y, x, t, _ in edge_pixels(grey):
        shares = votes(t)
        if len(shares) == 2:  # the wrong way round
            shares = [(shares[0][0], shares[1][1]), (shares[1][0], shares[0][1])]
        for level, row, column in cells_of(y, x, *grey.shape):
            place = row + 4 * column if level == 2 else row * 2 + column
            cell = (0, 1, 5)[level] + (place if level else 0)
            for bin_, part in shares:
                cells[cell, bin_] += part
    largest = cells.max(axis=1, keepdims=True)
    return np.floor(15 * (cells / np.where(largest > 0, largest, 1))).ravel()


def hilbert_order(side: int) -> list[tuple[int, int]]:
    """Columns and rows of a square along Hilbert's curve, by its usual construction from bits."""
    places = []
    for step in range(side * side):
        x = y = 0
        rest, size = step, 1
        while size < side:
            right = 1 & (rest // 2)
            below = 1 & (rest ^ right)
            if below == 0:
                if right == 1:
                    x, y = size - 1 - x, size - 1 - y
                x, y = y, x
            x, y = x + size * right, y + size * below
            rest //= 4
            size *= 2
        places.append((x, y))
    return places


def brightness_directions(picture: Picture) -> Numbers:
    """Brightness and directions of 16 areas along Hilbert's curve."""
    grey = plain_grey(picture).astype(int)
    height, width = grey.shape
    order = {place: number for number, place in enumerate(hilbert_order(4))}
    found = np.zeros((16, 8))
    for y in range(height):
        for x in range(width):
            area = found[order[4 * x // width, 4 * y // height]]
            for cluster in range(4):
                area[cluster] += max(0.0, 1 - abs(grey[y, x] - 85 * cluster) / 85)
            if not (0 < y < height - 1 and 0 < x < width - 1):
                continue
            part = grey[y - 1 : y + 2, x - 1 : x + 2]
            along = part[:, 2].sum() - part[:, 0].sum()
            down = part[2].sum() - part[0].sum()
            if abs(along) + abs(down) >= 24:
                angle = math.degrees(math.atan2(down, along)) % 180
                area[4 + round(angle / 45) % 4] += 1
    return found.ravel() / found.sum()
