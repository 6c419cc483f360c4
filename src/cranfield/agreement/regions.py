"""How far people agree who drew boxes, and one truth of what they drew."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.data.regions import Regions, make_regions, overlaps_of
from cranfield.errors import InputError, UsageError
from cranfield.io.files import FileForm
from cranfield.io.regions import RegionsForm, coerce_regions, read_drawn_regions
from cranfield.stats._resample import seed_of
from cranfield.validation import Seed, validate_params

Floats: TypeAlias = NDArray[np.float64]
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class BoxAgreement:
    """Agreement of boxes: of a concept, of two people, or of all."""

    name: str
    boxes: int
    matched: int
    agreement: float
    overlap: float
    interval: tuple[float, float]


class _ItemMatches(NamedTuple):
    """What two people drew on an item: (concept, boxes of both, matched boxes, their overlaps)."""

    pair: tuple[str, str]
    item: str
    rows: list[tuple[str, int, int, float]]
    placed: int
    named_alike: int


@dataclass(frozen=True, repr=False, eq=False)
class RegionAgreement(Answer):
    """Agreement of people who drew boxes on the same items.

    Two boxes of two people match when they have the same concept and overlap by at least `iou`;
    pairs with the largest overlap match first. `agreement` is 2 matched / (boxes of both), which
    is 1 when everything matches and does not need a count of the places where there is nothing.
    `overlap` is the mean overlap of matched boxes. `naming` is the share of boxes that match by
    place alone and have the same concept. Intervals are for other items: items are resampled.
    """

    command: ClassVar[str] = "truth regions"
    table_maker: ClassVar[str] = "cranfield.report.tables.agreement:region_agreement_document"
    annotators: tuple[str, ...]
    items: int
    iou: float
    overall: BoxAgreement
    concepts: tuple[BoxAgreement, ...]
    pairs: tuple[BoxAgreement, ...]
    naming: float

    def payload(self, **_: object) -> dict[str, object]:
        """The agreement of all, of each concept and of every two people."""
        return {
            "annotators": list(self.annotators),
            "items": self.items,
            "iou": self.iou,
            "overall": _row(self.overall, "name"),
            "naming": None if math.isnan(self.naming) else self.naming,
            "concepts": [_row(entry, "concept") for entry in self.concepts],
            "pairs": [_row(entry, "pair") for entry in self.pairs],
        }

    def headline(self) -> str:
        return (
            f"{len(self.annotators)} people agree on boxes at {self.overall.agreement:.3f} "
            f"(overlap of at least {self.iou:g}; {self.items} items that two or more annotated)"
        )


def _row(entry: BoxAgreement, key: str) -> dict[str, object]:
    low, high = entry.interval
    return {
        key: entry.name,
        "boxes": entry.boxes,
        "matched": entry.matched,
        "agreement": None if math.isnan(entry.agreement) else entry.agreement,
        "overlap": None if math.isnan(entry.overlap) else entry.overlap,
        "ci": None if math.isnan(low) else [low, high],
    }


DrawnForm: TypeAlias = "FileForm | Mapping[str, RegionsForm]"


def _drawn(source: DrawnForm) -> dict[str, Regions]:
    if isinstance(source, Mapping):
        drawn = {str(name): coerce_regions(regions, str(name)) for name, regions in source.items()}
    else:
        drawn = read_drawn_regions(source)
    if len(drawn) < 2:
        raise UsageError("agreement needs the boxes of at least two people")
    return drawn


@validate_params(skip=("source",))
def region_agreement(
    source: DrawnForm, *, iou: float = 0.5, resamples: int = RESAMPLES, rng: Seed = 0
) -> RegionAgreement:
    """Compare the boxes of people who annotated the same items.

    Parameters
    ----------
    source
        An export of Label Studio, or {annotator: regions}.
    iou
        The overlap from which two boxes match.
    resamples
        How many times items are resampled for the intervals.
    rng
        Seed of the resamples.

    Returns
    -------
    RegionAgreement
        Overall, for each concept and for every two people.

    >>> ann = {"a.jpg": [("cat", 0, 0, 10, 10), ("dog", 50, 50, 10, 10)]}
    >>> bob = {"a.jpg": [("cat", 1, 0, 10, 10)]}
    >>> region_agreement({"ann": ann, "bob": bob}).overall.matched
    1
    """
    if not 0 < iou <= 1:
        raise UsageError(f"iou={iou!r} is not above 0 and at most 1")
    if resamples < 1:
        raise UsageError(f"resamples={resamples!r} is not at least 1")
    drawn = _drawn(source)
    matches = [
        match
        for first, second in combinations(drawn, 2)
        for match in _match_people(first, drawn[first], second, drawn[second], iou)
    ]
    if not matches:
        raise InputError.single("<regions>", "no item was annotated by two people")
    items = sorted({match.item for match in matches})
    position = {item: i for i, item in enumerate(items)}
    weights = _draw_items(len(items), resamples, seed_of(rng))
    concepts = sorted({row[0] for match in matches for row in match.rows})
    placed = sum(match.placed for match in matches)
    return RegionAgreement(
        annotators=tuple(drawn),
        items=len(items),
        iou=iou,
        overall=_summary("all", matches, None, position, weights),
        concepts=tuple(
            _summary(concept, matches, concept, position, weights) for concept in concepts
        ),
        pairs=tuple(
            _summary(f"{a}, {b}", [m for m in matches if m.pair == (a, b)], None, position, weights)
            for a, b in combinations(drawn, 2)
            if any(m.pair == (a, b) for m in matches)
        ),
        naming=sum(m.named_alike for m in matches) / placed if placed else math.nan,
    )


def _draw_items(items: int, resamples: int, seed: int) -> Floats:
    """How often each item counts in each resample."""
    generator = np.random.default_rng(seed)
    return generator.multinomial(items, np.full(items, 1 / items), size=resamples).astype(float)


def _summary(
    name: str,
    matches: Sequence[_ItemMatches],
    concept: str | None,
    position: Mapping[str, int],
    weights: Floats,
) -> BoxAgreement:
    boxes, matched = np.zeros(len(position)), np.zeros(len(position))
    overlap = 0.0
    for match in matches:
        for label, count, pairs, overlaps in match.rows:
            if concept is None or label == concept:
                boxes[position[match.item]] += count
                matched[position[match.item]] += pairs
                overlap += overlaps
    total, common = float(boxes.sum()), float(matched.sum())
    interval = (math.nan, math.nan)
    # The spread between items cannot be seen on one.
    if np.count_nonzero(boxes) > 1:
        sums = weights @ boxes
        ratios = 2 * (weights @ matched)[sums > 0] / sums[sums > 0]
        low, high = np.quantile(ratios, [0.025, 0.975])
        interval = (float(low), float(high))
    return BoxAgreement(
        name,
        int(total),
        int(common),
        2 * common / total if total else math.nan,
        overlap / common if common else math.nan,
        interval,
    )


def _match_people(
    first: str, left: Regions, second: str, right: Regions, iou: float
) -> list[_ItemMatches]:
    """What two people drew on each item that both annotated."""
    rows_left, rows_right = _boxes_by_item(left), _boxes_by_item(right)
    matches = []
    for item in rows_left:
        if item not in rows_right:
            continue
        mine, theirs = rows_left[item], rows_right[item]
        rows = []
        for concept in dict.fromkeys([label for label, _ in [*mine, *theirs]]):
            a = [box for label, box in mine if label == concept]
            b = [box for label, box in theirs if label == concept]
            paired = match_boxes(a, b, iou)
            rows.append((concept, len(a) + len(b), len(paired), sum(o for _, _, o in paired)))
        by_place = match_boxes([box for _, box in mine], [box for _, box in theirs], iou)
        alike = sum(mine[i][0] == theirs[j][0] for i, j, _ in by_place)
        matches.append(_ItemMatches((first, second), item, rows, len(by_place), alike))
    return matches


def _boxes_by_item(regions: Regions) -> dict[str, list[tuple[str, Floats]]]:
    rows: dict[str, list[tuple[str, Floats]]] = {item: [] for item in regions.items}
    for number in range(len(regions)):
        concept = regions.concepts[regions.concept[number]]
        rows[regions.items[regions.item[number]]].append((concept, regions.boxes[number]))
    return rows


def match_boxes(
    left: Sequence[Floats], right: Sequence[Floats], iou: float
) -> list[tuple[int, int, float]]:
    """Pairs of boxes that overlap by at least `iou`, the largest overlap first, each box once.

    >>> match_boxes([np.array([0.0, 0, 10, 10])], [np.array([0.0, 0, 10, 5])], 0.5)
    [(0, 0, 0.5)]
    """
    if not left or not right:
        return []
    others = np.stack(list(right))
    overlaps = [overlaps_of(box, others) for box in left]
    candidates = sorted(
        (-float(overlaps[i][j]), i, j)
        for i in range(len(left))
        for j in range(len(right))
        if overlaps[i][j] >= iou
    )
    taken_left: set[int] = set()
    taken_right: set[int] = set()
    pairs = []
    for negative, i, j in candidates:
        if i not in taken_left and j not in taken_right:
            taken_left.add(i)
            taken_right.add(j)
            pairs.append((i, j, -negative))
    return pairs


@validate_params(skip=("source",))
def consensus_regions(source: DrawnForm, *, iou: float = 0.5) -> Regions:
    """Make one truth of what several people drew.

    Boxes of a concept that overlap by at least `iou` and are of different people are one object,
    the largest overlaps first. An object counts when more than half of the people who annotated
    its item drew it; its box has the median of their edges.

    Parameters
    ----------
    source
        An export of Label Studio, or {annotator: regions}.
    iou
        The overlap from which two boxes are of the same object.

    Returns
    -------
    Regions
        The objects, with all items that anyone annotated.
    """
    if not 0 < iou <= 1:
        raise UsageError(f"iou={iou!r} is not above 0 and at most 1")
    drawn = _drawn(source)
    by_item = {name: _boxes_by_item(regions) for name, regions in drawn.items()}
    items = tuple(dict.fromkeys(item for rows in by_item.values() for item in rows))
    concepts = tuple(
        dict.fromkeys(label for regions in drawn.values() for label in regions.concepts)
    )
    rows: list[tuple[str, str, Floats]] = []
    for item in items:
        seen = {name: rows_of[item] for name, rows_of in by_item.items() if item in rows_of}
        for concept in concepts:
            boxes = [
                (name, box)
                for name, its_rows in seen.items()
                for label, box in its_rows
                if label == concept
            ]
            rows += [
                (item, concept, _median_box([boxes[i][1] for i in members]))
                for members in _join_boxes(boxes, iou)
                if 2 * len(members) > len(seen)
            ]
    return make_regions(
        items,
        concepts,
        [item for item, _, _ in rows],
        [concept for _, concept, _ in rows],
        np.array([box for _, _, box in rows]).reshape(len(rows), 4),
        picture_sizes=_sizes_of(items, list(drawn.values())),
        name="consensus",
        where="<consensus>",
        relative=all(regions.relative for regions in drawn.values()),
    )


def _sizes_of(items: Sequence[str], drawn: Sequence[Regions]) -> Floats:
    sizes = np.full((len(items), 2), math.nan)
    position = {item: i for i, item in enumerate(items)}
    for regions in drawn:
        if regions.picture_sizes is not None:
            for item, size in zip(regions.items, regions.picture_sizes, strict=True):
                if not np.isnan(size).any():
                    sizes[position[item]] = size
    return sizes


def _join_boxes(boxes: Sequence[tuple[str, Floats]], iou: float) -> list[list[int]]:
    """Groups of boxes of different people, joined from the largest overlap on.

    Two groups join only where every two of their boxes overlap enough: a chain of boxes, each
    beside the next, is not one object.
    """
    groups = [[i] for i in range(len(boxes))]
    if not boxes:
        return groups
    table = np.stack([box for _, box in boxes])
    overlaps = np.stack([overlaps_of(box, table) for box in table])
    order = sorted(
        (-float(overlaps[i, j]), i, j)
        for i, j in combinations(range(len(boxes)), 2)
        if boxes[i][0] != boxes[j][0] and overlaps[i, j] >= iou
    )
    group_of = list(range(len(boxes)))
    for _, i, j in order:
        a, b = group_of[i], group_of[j]
        if a == b:
            continue
        people = [boxes[k][0] for k in (*groups[a], *groups[b])]
        close = all(overlaps[k, m] >= iou for k in groups[a] for m in groups[b])
        if len(set(people)) == len(people) and close:
            groups[a] += groups[b]
            for k in groups[b]:
                group_of[k] = a
            groups[b] = []
    return [group for group in groups if group]


def _median_box(boxes: Sequence[Floats]) -> Floats:
    table = np.stack(list(boxes))
    first = np.median(table[:, :2], axis=0)
    last = np.median(table[:, :2] + table[:, 2:], axis=0)
    median: Floats = np.concatenate([first, last - first])
    return median
