"""A surface over two ranks, seen in perspective: Figures 3 and 8 of Chatzichristofis et al."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from cranfield.lab.rank_curves import Curves
from cranfield.report.charts.model import Axis, Chart, Face, Line, Ramp, Text, chart
from cranfield.report.charts.rankings import surface_values
from cranfield.validation import validate_params

# Where one stands: so far round and so high, and so many sides of the floor away.
_AROUND, _ABOVE, _AWAY = math.radians(-24), math.radians(24), 3.2
# How high the value 1 is beside the sides of the floor.
_HIGH = 0.72
# Beyond so many ranks faces would be too small to see.
_MOST_RANKS = 40
_TICKS = 5

Point: TypeAlias = tuple[float, float]
Anchor: TypeAlias = Literal["start", "middle", "end"]
ANCHORS: tuple[Anchor, ...] = ("start", "middle", "end")


@validate_params
def perspective(study: Curves, name: str | None = None, *, low_is_good: bool = True) -> Chart:
    """The value of a measure for both ranks as a surface in perspective, with curves A and B.

    A is the best case, the later item right behind the earlier; B the worst, the later item last.
    """
    label, values = surface_values(study, name, low_is_good=low_is_good)
    ranks = sorted({rank for pair in values for rank in pair})
    stride = math.ceil(len(ranks) / _MOST_RANKS)
    ranks = sorted({*ranks[::stride], ranks[-1]})
    low, high = min(0.0, *values.values()), max(1.0, *values.values())
    scene = _Scene(ranks, low, high, values)
    lines = [list(itertools.pairwise(ranks))]
    lines += [[(j, ranks[-1]) for j in ranks[:-1]]]
    curves = [
        Line(tuple(scene.at_ranks(*pair) for pair in pairs), "bad", path)
        for pairs, path in zip(lines, ("A: i = j + 1", "B: i is the last rank"), strict=True)
    ]
    middles = (line.points[len(line.points) // 2] for line in curves)
    letters = [
        Text(x + aside, y + 0.03, letter, "middle", "bad")
        for letter, aside, (x, y) in zip("AB", (-0.04, 0.04), middles, strict=True)
    ]
    return chart(
        f"{label} of two relevant items among {study.size:,}, at ranks j and i",
        f"The value of {label} as height where one relevant item stands at rank j and the other at "
        "rank i. Curve A: i = j + 1; curve B: i is the last rank.",
        Axis("", "across", domain=(-0.92, 0.72), marked=False),
        Axis("", "up", domain=(-0.68, 0.57), marked=False),
        [scene.walls(), scene.faces(), curves, letters, *scene.words()],
        ramp=Ramp(label, low, high),
        width=660,
        height=480,
    )


class _Scene:
    """Ranks and values as places in the picture."""

    def __init__(
        self,
        ranks: list[int],
        low: float,
        high: float,
        values: Mapping[tuple[int, int], float],
    ) -> None:
        self.ranks, self.low, self.high, self.values = ranks, low, high, values
        self.place = {rank: k / (len(ranks) - 1) for k, rank in enumerate(ranks)}

    def at(self, i: float, j: float, height: float) -> tuple[float, float, float]:
        """Across, up and how far away: i and j from 0 to 1 on the floor, the height from 0 to 1."""
        x, z, y = i - 0.5, j - 0.5, _HIGH * (height - 0.5)
        x, z = (
            x * math.cos(_AROUND) + z * math.sin(_AROUND),
            z * math.cos(_AROUND) - x * math.sin(_AROUND),
        )
        y, z = (
            y * math.cos(_ABOVE) + z * math.sin(_ABOVE),
            z * math.cos(_ABOVE) - y * math.sin(_ABOVE),
        )
        nearer = _AWAY / (_AWAY + z)
        return x * nearer, y * nearer, z

    def at_ranks(self, j: int, i: int) -> Point:
        """Where the surface is over two ranks."""
        return self._over(j, i)[:2]

    def _over(self, j: int, i: int) -> tuple[float, float, float]:
        height = (self.values[j, i] - self.low) / (self.high - self.low)
        return self.at(self.place[i], self.place[j], height)

    def faces(self) -> list[Face]:
        """The surface, what is farthest first: what is nearer is painted over it."""
        faces = []
        for corners in self._corners():
            points = [self._over(*corner) for corner in corners]
            value = sum(self.values[corner] for corner in corners) / len(corners)
            j, i = corners[0]
            label = f"ranks {j} and {i}: {self.values[j, i]:.4f}"
            away = sum(point[2] for point in points) / len(points)
            faces.append((away, Face(tuple(point[:2] for point in points), value, label)))
        return [face for _, face in sorted(faces, key=lambda pair: -pair[0])]

    def _corners(self) -> Iterator[list[tuple[int, int]]]:
        """The ranks (j, i) at the corners of each face: four, or three beside curve A."""
        for j, next_j in itertools.pairwise(self.ranks):
            for i, next_i in itertools.pairwise(self.ranks):
                corners = [(j, i), (j, next_i), (next_j, next_i), (next_j, i)]
                if len(there := [corner for corner in corners if corner in self.values]) > 2:
                    yield there

    def walls(self) -> list[Line]:
        """The floor and the two walls behind, with lines at some ranks and values."""
        lines: list[list[tuple[float, float, float]]] = []
        for share in _shares(self.ranks).values():
            lines += [[(share, 0, 0), (share, 1, 0), (share, 1, 1)]]
            lines += [[(0, share, 0), (1, share, 0), (1, share, 1)]]
        for k in range(_TICKS):
            height = k / (_TICKS - 1)
            lines += [[(0, 1, height), (1, 1, height), (1, 0, height)]]
        return [Line(tuple(self.at(*end)[:2] for end in ends), "line", width=1) for ends in lines]

    def words(self) -> list[list[Text]]:
        """Numbers and titles of the three axes."""
        marks: list[tuple[str, tuple[float, float, float], Anchor]] = []
        for rank, share in _shares(self.ranks).items():
            marks.append((str(rank), (share, -0.06, 0), "middle"))
            marks.append((str(rank), (-0.05, share - 0.02, -0.04), "end"))
        for k in range(_TICKS):
            share = k / (_TICKS - 1)
            value = self.low + share * (self.high - self.low)
            marks.append((f"{value:.3g}", (-0.03, 1, share + 0.03), "end"))
        marks.append(("rank i", (0.6, -0.16, 0), "start"))
        marks.append(("rank j", (-0.16, 0.36, -0.04), "end"))
        # A layer has one anchor.
        return [
            [
                Text(*self.at(*place)[:2], text, anchor, "quiet")
                for text, place, own in marks
                if own == anchor
            ]
            for anchor in ANCHORS
        ]


def _shares(ranks: list[int]) -> dict[int, float]:
    """Some of the ranks, the first and the last among them, and where they stand from 0 to 1."""
    last = len(ranks) - 1
    stride = max(1, round(last / (_TICKS - 1)))
    if ranks[-1] - ranks[0] == last:
        chosen = {k for k, rank in enumerate(ranks) if rank % stride == 0}
    else:
        chosen = {k for k in range(0, last, stride) if last - k > stride / 2}
    chosen |= {0, last}
    return {ranks[k]: k / last for k in sorted(chosen)}
