"""Regions: boxes of items with their concepts, of a truth or of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from cranfield._lazy import np
from cranfield.errors import PROBLEMS_SHOWN, InputError, Problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

CROWD, DIFFICULT = 1, 2  # flags of a box, as the compiled matching knows them
# {item: [(concept, x, y, width, height), ...]}; boxes of a run have a confidence as well.
BoxRow: TypeAlias = Sequence[str | float]
BoxLists: TypeAlias = Mapping[str, Sequence[BoxRow]]
_IN_A_ROW = 5


@dataclass(frozen=True, repr=False, eq=False)
class Masks:
    """The pixels of regions: lengths of runs, column by column, that begin with what is outside.

    Parameters
    ----------
    runs
        The runs of all masks, one mask after the other.
    starts
        Where each begins, and where the last ends.
    sizes
        Height and width of the picture of each.
    """

    runs: NDArray[np.uint32]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def of(self, rows: NDArray[np.intp]) -> Masks:
        """Some of them, in the order of their numbers."""
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        at = np.arange(int(starts[-1])) + np.repeat(self.starts[rows] - starts[:-1], lengths)
        return Masks(self.runs[at], starts, self.sizes[rows])


@dataclass(frozen=True, repr=False, eq=False)
class Regions:
    """Boxes of items, a row each: whose they are, of which concept and where.

    Parameters
    ----------
    items, concepts
        Names; items without a box are among them.
    item, concept
        Which of these each box belongs to.
    boxes
        x, y, width and height of each box, from the upper left corner of its picture on.
    areas
        What counts as its size: its own area unless a file says otherwise.
    flags
        CROWD for a box around many objects, DIFFICULT for one that is neither wanted nor wrong.
    confidences
        How sure a run is of each box; None for a truth.
    picture_sizes
        Width and height of each item, NaN where they are not known.
    item_aliases, concept_aliases
        Other names, such as the numbers that a file of results has for concepts.
    relative
        Whether places and sizes are shares of the pictures instead of pixels.
    masks
        The pixels of each, where they were read.
    """

    items: tuple[str, ...]
    concepts: tuple[str, ...]
    item: NDArray[np.int32]
    concept: NDArray[np.int32]
    boxes: NDArray[np.float64]
    areas: NDArray[np.float64]
    flags: NDArray[np.uint8]
    confidences: NDArray[np.float64] | None = None
    picture_sizes: NDArray[np.float64] | None = None
    item_aliases: Mapping[str, str] = field(default_factory=dict)
    concept_aliases: Mapping[str, str] = field(default_factory=dict)
    name: str = "regions"
    where: str = "<regions>"
    notes: tuple[str, ...] = ()
    relative: bool = False
    masks: Masks | None = None

    @classmethod
    def of(cls, boxes: BoxLists, name: str = "regions", *, concepts: Sequence[str] = ()) -> Regions:
        """Boxes of plain lists: {item: [(concept, x, y, width, height), ...]}.

        Parameters
        ----------
        boxes
            The rows of each item; those of a run end with a confidence.
        name
            What messages and tables call them.
        concepts
            Concepts of which no box need be there.

        Returns
        -------
        Regions
            A run where the rows have confidences, else a truth.

        >>> Regions.of({"a.jpg": [("cat", 10, 10, 50, 40)], "b.jpg": []})
        <Regions regions: 1 box of 1 concept in 2 items>
        """
        check_rows(boxes, name)
        rows = [(item, row) for item, its_rows in boxes.items() for row in its_rows]
        where = f"<{name}>"
        lengths = {len(row) for _, row in rows}
        if not lengths <= {_IN_A_ROW} and not lengths <= {_IN_A_ROW + 1}:
            raise InputError.single(
                where,
                "a box is (concept, x, y, width, height), with a confidence in all of them or none",
            )
        sure = lengths == {_IN_A_ROW + 1}
        try:
            numbers = np.array([list(row[1:]) for _, row in rows], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError.single(
                where, f"a box has something else than numbers: {error}"
            ) from None
        numbers = numbers.reshape(len(rows), 5 if sure else 4)
        labels = tuple(dict.fromkeys([*map(str, concepts), *(str(row[0]) for _, row in rows)]))
        places = [f"{item}[{k}]" for item, its_rows in boxes.items() for k in range(len(its_rows))]
        check_boxes(where, numbers[:, :4], numbers[:, 4] if sure else None, places)
        return make_regions(
            tuple(map(str, boxes)),
            labels,
            [str(item) for item, _ in rows],
            [str(row[0]) for _, row in rows],
            numbers[:, :4],
            confidences=numbers[:, 4] if sure else None,
            name=name,
            where=where,
        )

    def of_items(self, names: Iterable[str]) -> Regions:
        """The boxes of some items; names may also be the other names of items."""
        number = {text: i for i, text in enumerate(self.items)}
        number |= {alias: number[item] for alias, item in self.item_aliases.items()}
        kept = sorted({number[name] for name in names if name in number})
        place = np.full(len(self.items), -1, dtype=np.int32)
        place[kept] = np.arange(len(kept), dtype=np.int32)
        rows = np.flatnonzero(place[self.item] >= 0) if len(self) else np.arange(0)
        items = tuple(self.items[i] for i in kept)
        sizes, sure = self.picture_sizes, self.confidences
        return replace(
            self,
            items=items,
            item=place[self.item[rows]],
            concept=self.concept[rows],
            boxes=self.boxes[rows],
            areas=self.areas[rows],
            flags=self.flags[rows],
            confidences=None if sure is None else sure[rows],
            picture_sizes=None if sizes is None else sizes[kept],
            item_aliases={a: item for a, item in self.item_aliases.items() if item in set(items)},
            masks=None if self.masks is None else self.masks.of(rows),
        )

    def __len__(self) -> int:
        return len(self.item)

    def __repr__(self) -> str:
        boxes = f"{len(self):,} box{'es' * (len(self) != 1)}"
        concepts = f"{len(self.concepts):,} concept{'s' * (len(self.concepts) != 1)}"
        items = f"{len(self.items):,} item{'s' * (len(self.items) != 1)}"
        return f"<Regions {self.name}: {boxes} of {concepts} in {items}>"


def check_rows(boxes: BoxLists, name: str) -> None:
    """An InputError where an item has something else than a list of rows."""
    for item, rows in boxes.items():
        if isinstance(rows, str) or not isinstance(rows, Sequence):
            raise InputError.single(f"<{name}>", f"{item!r:.60} has no list of boxes")
        for k, row in enumerate(rows):
            if isinstance(row, str) or not isinstance(row, Sequence):
                raise InputError.single(f"<{name}>", f"{item!r:.60}[{k}] is no row of a box")


def make_regions(
    items: tuple[str, ...],
    concepts: tuple[str, ...],
    item_of: Sequence[str],
    concept_of: Sequence[str],
    boxes: NDArray[np.float64],
    *,
    confidences: NDArray[np.float64] | None = None,
    areas: NDArray[np.float64] | None = None,
    flags: NDArray[np.uint8] | None = None,
    picture_sizes: NDArray[np.float64] | None = None,
    item_aliases: Mapping[str, str] | None = None,
    name: str,
    where: str,
    notes: tuple[str, ...] = (),
    relative: bool = False,
) -> Regions:
    """Regions from the names that each box has."""
    item_number = {text: i for i, text in enumerate(items)}
    concept_number = {text: i for i, text in enumerate(concepts)}
    corners = np.ascontiguousarray(boxes, dtype=np.float64).reshape(-1, 4)
    return Regions(
        items=items,
        concepts=concepts,
        item=np.array([item_number[text] for text in item_of], dtype=np.int32),
        concept=np.array([concept_number[text] for text in concept_of], dtype=np.int32),
        boxes=corners,
        areas=areas_of(corners) if areas is None else areas,
        flags=np.zeros(len(corners), dtype=np.uint8) if flags is None else flags,
        confidences=None if confidences is None else np.ascontiguousarray(confidences),
        picture_sizes=picture_sizes,
        item_aliases=item_aliases or {},
        name=name,
        where=where,
        notes=notes,
        relative=relative,
    )


def areas_of(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Width times height of each box; infinite where that is more than a number holds."""
    with np.errstate(over="ignore"):
        areas: NDArray[np.float64] = boxes[:, 2] * boxes[:, 3]
    return areas


def check_boxes(
    where: str,
    boxes: NDArray[np.float64],
    confidences: NDArray[np.float64] | None,
    places: Sequence[str | int],
) -> None:
    """An InputError that names the boxes whose numbers cannot be; places that are lines count."""
    finite: NDArray[np.bool_] = np.asarray(np.isfinite(boxes).all(axis=1))
    negative: NDArray[np.bool_] = np.logical_and(finite, (boxes[:, 2:] < 0).any(axis=1))
    unsure = np.zeros(len(boxes), dtype=bool) if confidences is None else ~np.isfinite(confidences)
    wrong = np.flatnonzero(~finite | negative | unsure)
    if not wrong.size:
        return
    problems = []
    for i in wrong[:PROBLEMS_SHOWN].tolist():
        numbers = ", ".join(f"{v:g}" for v in boxes[i])
        if negative[i]:
            message = f"the box ({numbers}) has a negative width or height"
        elif not finite[i]:
            message = f"the box ({numbers}) is not of four numbers"
        else:
            message = "the confidence is not a number"
        place = places[i]
        problems.append(
            Problem(place, message) if isinstance(place, int) else Problem(0, f"{place}: {message}")
        )
    raise InputError(where, problems, int(wrong.size))


def overlaps_between(
    boxes: NDArray[np.float64], others: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The overlap of each of some boxes with each of others: a row for each of the first."""
    a, b = np.broadcast_arrays(boxes[:, None], others[None])
    return overlaps_of(a.reshape(-1, 4), b.reshape(-1, 4)).reshape(len(boxes), len(others))


def overlaps_of(box: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """The overlap of a box with each of several, or of each of as many boxes with its own."""
    with np.errstate(over="ignore", invalid="ignore"):
        ends = np.minimum(box[..., :2] + box[..., 2:], others[:, :2] + others[:, 2:])
        sides = np.maximum(ends - np.maximum(box[..., :2], others[:, :2]), 0)
        common = sides[:, 0] * sides[:, 1]
        union = box[..., 2] * box[..., 3] + others[:, 2] * others[:, 3] - common
    shares: NDArray[np.float64] = np.divide(
        common, union, out=np.zeros(len(others)), where=union > 0
    )
    return shares
