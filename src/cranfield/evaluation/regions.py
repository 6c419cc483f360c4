"""Scores of runs that place boxes: detection and localisation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield._json import jsonable
from cranfield._system import usable_cpus
from cranfield.data.costmap import CostMap
from cranfield.data.regions import CROWD, Masks, Regions, overlaps_between, overlaps_of
from cranfield.errors import UsageError, check_counts, suggest
from cranfield.evaluation.label_inputs import CostSource, OntologySource, coerce_ontology
from cranfield.evaluation.scores import LaterValues, Scores
from cranfield.io.coerce import parse_named_input
from cranfield.io.costmap import read_costmap
from cranfield.io.regions import (
    RegionsForm,
    align_regions,
    boxes_outside,
    check_form,
    check_run,
    coerce_regions,
    is_frame,
    is_placed,
)
from cranfield.measures.base import Measure
from cranfield.measures.regions import (
    DEFAULT_MEASURES,
    DEPTH,
    SIZES,
    RegionPlan,
    parse_region_measures,
    wants_masks,
)
from cranfield.notes import Notes, Progress, with_progress
from cranfield.stats._resample import seed_of
from cranfield.stats.corrections import correct
from cranfield.validation import Seed, validate_params

if TYPE_CHECKING:
    from cranfield.notes import Watcher


Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int32]

# A box is right from the first overlap on, and has nothing to do with one below the second.
RIGHT, NEAR = 0.5, 0.1
RIGHT_BOX, IGNORED = 1, 2  # fates, as the compiled matching knows them
MISPLACED, CONFUSED, DOUBLE, STRAY, BOTH = (
    "misplaced",
    "wrong concept",
    "double",
    "nothing there",
    "wrong concept, misplaced",
)
KINDS_OF_ERRORS = (MISPLACED, CONFUSED, BOTH, DOUBLE, STRAY)
KINDS = ("right", *KINDS_OF_ERRORS, "ignored", "missed")


class BoxKinds(NamedTuple):
    """Of each box of a run what it is, -1 where it does not count; of each box of the truth whether
    it is missed. Kinds are positions in `KINDS`; `meant` is the box of the truth that a right box,
    or one that is misplaced or of a wrong concept, was meant for, -1 for none."""

    kind: Ints
    missed: NDArray[np.bool_]
    meant: Ints

    def counts(self) -> dict[str, int]:
        """How many boxes are of each kind."""
        counted = np.bincount(self.kind[self.kind >= 0], minlength=len(KINDS))
        counts = dict(zip(KINDS, counted.tolist(), strict=True))
        return counts | {"missed": int(self.missed.sum())}


def classify_boxes(
    truth: Regions, placed: PlacedBoxes, least: float, jobs: int, depth: int = 0
) -> BoxKinds:
    """What the boxes of a run that are at least so sure are, and which of the truth are missed.

    Boxes are matched by COCO's rules at an overlap of 0.5, the surest `depth` of each item and
    concept, or all. A box of the truth that a misplaced box or one of a wrong concept was meant for
    is not missed as well.
    """
    rows = np.flatnonzero(placed.confidences >= least)
    item, concept = placed.item[rows], placed.concept[rows]
    boxes, confidences = placed.boxes[rows], placed.confidences[rows]
    matches = _core.RegionMatches(
        truth.item, truth.concept, truth.boxes, truth.areas, truth.flags,
        item, concept, boxes, confidences,
        len(truth.concepts), "coco", [RIGHT], [(0.0, 1e10)], depth, True, jobs,
    )  # fmt: skip
    kinds = np.full(len(placed.item), -1, dtype=np.int32)
    meant = np.full(len(placed.item), -1, dtype=np.int32)
    missed = truth.flags == 0
    wrong: list[Ints] = []
    for label in range(len(truth.concepts)):
        positions, partner, fate = matches.outcomes(label, 0, 0)
        right = fate == RIGHT_BOX
        missed[partner[right]] = False
        kinds[rows[positions[right]]] = KINDS.index("right")
        meant[rows[positions[right]]] = partner[right]
        kinds[rows[positions[fate == IGNORED]]] = KINDS.index("ignored")
        wrong.append(positions[fate == 0])
    true_rows = _rows_by_item(truth.item, len(truth.items))
    strays = np.concatenate(wrong) if wrong else np.zeros(0, dtype=np.int32)
    for i, of_item in enumerate(_rows_by_item(item[strays], len(truth.items))):
        here, strays_here = true_rows[i][truth.flags[true_rows[i]] == 0], strays[of_item]
        if len(strays_here):
            kind, nearest = _wrong_kinds(
                boxes[strays_here], concept[strays_here], truth.boxes[here], truth.concept[here]
            )
            kinds[rows[strays_here]] = kind
            is_near = np.isin(kind, [KINDS.index(MISPLACED), KINDS.index(CONFUSED)])
            meant[rows[strays_here[is_near]]] = here[nearest[is_near]]
            missed[here[nearest[is_near]]] = False
    return BoxKinds(kinds, missed, meant)


def _wrong_kinds(
    boxes: Floats, labels: Ints, true_boxes: Floats, true_labels: Ints
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The kinds of wrong boxes of an item, and the positions of those that they were meant for."""
    if not len(true_boxes):
        return np.full(len(boxes), KINDS.index(STRAY)), np.zeros(len(boxes), dtype=np.intp)
    shares = overlaps_between(boxes, true_boxes)
    same_concept = labels[:, None] == true_labels[None]
    same, other = np.where(same_concept, shares, -1.0), np.where(same_concept, -1.0, shares)
    nearest, nearest_other = same.argmax(axis=1), other.argmax(axis=1)
    own, foreign = same.max(axis=1), other.max(axis=1)
    misplaced = (own >= NEAR) & (own < RIGHT)
    kinds = np.select(
        [misplaced, foreign >= RIGHT, own >= RIGHT, foreign >= NEAR],
        [KINDS.index(kind) for kind in (MISPLACED, CONFUSED, DOUBLE, BOTH)],
        KINDS.index(STRAY),
    )
    return kinds, np.where(misplaced, nearest, nearest_other)


# What mending errors would add: each kind, then all boxes that are not right and all objects that
# no box is right for.
MENDED = (*KINDS_OF_ERRORS, "missed", "all wrong", "all missed")


def effects_of_errors(truth: Regions, placed: PlacedBoxes, jobs: int) -> dict[str, float]:
    """How much `AP.region(iou=0.5)` would gain if the errors of each kind were mended, as in TIDE.

    All boxes count that AP counts, whatever their confidence. Of the boxes that are misplaced or of
    a wrong concept the surest that was meant for an object becomes right, if none is; the others,
    and those of the other kinds, are taken away, and objects that are missed are no longer wanted.
    """
    boxes = classify_boxes(truth, placed, -math.inf, jobs, DEPTH)
    rows = np.flatnonzero((boxes.kind >= 0) & (boxes.kind != KINDS.index("ignored")))
    rows = rows[np.lexsort((rows, placed.item[rows], -placed.confidences[rows]))]
    kind, meant, concept = boxes.kind[rows], boxes.meant[rows], placed.concept[rows]
    right = kind == KINDS.index("right")
    objects = np.bincount(truth.concept[truth.flags == 0], minlength=len(truth.concepts))
    missed = np.bincount(truth.concept[boxes.missed], minlength=len(truth.concepts))
    has_objects = objects > 0

    def precision(concept: Ints, right: NDArray[np.bool_], objects: NDArray[np.intp]) -> float:
        return _mean_precision(concept, right, objects, has_objects)

    before = precision(concept, right, objects)
    met = np.zeros(len(truth), dtype=bool)
    met[meant[right]] = True
    # The surest of the boxes that were meant for an object which no box is right for.
    could = np.flatnonzero((meant >= 0) & ~right & ~met[meant])
    first = could[np.unique(meant[could], return_index=True)[1]]
    chosen = np.zeros(len(rows), dtype=bool)
    chosen[first] = True
    after: dict[str, float] = {}
    for name in KINDS_OF_ERRORS:
        of_kind = kind == KINDS.index(name)
        mended = of_kind & chosen
        stays = ~of_kind | mended
        as_meant = np.where(mended, truth.concept[meant], concept)
        after[name] = precision(as_meant[stays], (right | mended)[stays], objects)
    after["missed"] = precision(concept, right, objects - missed)
    after["all wrong"] = precision(concept[right], right[right], objects)
    reached = np.bincount(truth.concept[met], minlength=len(truth.concepts))
    after["all missed"] = precision(concept, right, reached)
    return {name: max(0.0, after[name] - before) for name in MENDED}


def _mean_precision(
    concept: Ints, right: NDArray[np.bool_], objects: NDArray[np.intp], known: NDArray[np.bool_]
) -> float:
    """The mean over known concepts of the average precision; the surest boxes stand first.

    A concept without an object is 0 where it has boxes, and is left out where it has none.
    """
    values = []
    for label in np.flatnonzero(known).tolist():
        hits = right[concept == label]
        if objects[label]:
            values.append(float(_best_precisions(hits, int(objects[label])).mean()))
        elif len(hits):
            values.append(0.0)
    return float(np.mean(values)) if values else math.nan


def _best_precisions(right: NDArray[np.bool_], objects: int) -> Floats:
    """The best precision at each of `LEVELS` of recall or beyond; the surest boxes stand first."""
    levels = np.zeros(len(LEVELS))
    if len(right):
        hits = np.cumsum(right)
        best = np.maximum.accumulate((hits / np.arange(1, len(hits) + 1))[::-1])[::-1]
        reached = np.searchsorted(hits / objects, LEVELS, side="left")
        within = reached < len(hits)
        levels[within] = best[reached[within]]
    return levels


NO_WEIGHTS = np.zeros(0)
# Few are enough: what single items explain, nearly all of the spread, is taken off.
_BIAS_DRAWS, _BIAS_SEED = 40, 36
TWO_SIDED = 1.959963984540054  # the normal quantile of 95 % intervals


def placed_boxes(truth: Regions, run: Regions, notes: Notes) -> PlacedBoxes:
    """The boxes of a run that are of concepts of the truth, in its numbers and units."""
    check_run(run)
    item, concept, boxes, messages = align_regions(run, truth)
    for message in messages:
        notes.add(message, about=run.name)
    known = concept >= 0
    confidences = np.zeros(0) if run.confidences is None else run.confidences
    masks = None if run.masks is None else run.masks.of(np.flatnonzero(known))
    return PlacedBoxes(item[known], concept[known], boxes[known], confidences[known], masks)


class MatchedRun:
    """The boxes of a run matched with those of the truth, for all plans at once."""

    def __init__(
        self,
        truth: Regions,
        run: Regions,
        plans: Iterable[RegionPlan],
        jobs: int,
        notes: Notes,
        costs: Floats | None = None,
    ) -> None:
        self._match(truth, placed_boxes(truth, run, notes), plans, jobs, costs)

    @classmethod
    def of_placed(
        cls, truth: Regions, placed: PlacedBoxes, plans: Iterable[RegionPlan], jobs: int
    ) -> MatchedRun:
        """Boxes that have the numbers of the truth already."""
        matched = cls.__new__(cls)
        matched._match(truth, placed, plans, jobs, None)
        return matched

    def _match(
        self,
        truth: Regions,
        placed: PlacedBoxes,
        plans: Iterable[RegionPlan],
        jobs: int,
        costs: Floats | None,
    ) -> None:
        self.placed = placed
        self._jobs = jobs
        # By the rule and the shape that is compared.
        self._matches: dict[tuple[str, str], _core.RegionMatches] = {}
        self._overlaps: dict[tuple[str, str], list[float]] = {}
        self._sizes: dict[tuple[str, str], list[tuple[float, float]]] = {}
        self.concepts = len(truth.concepts)
        self._credits: dict[RegionPlan, RegionCredit] = {}
        by_rule: dict[tuple[str, str], list[RegionPlan]] = {}
        for plan in plans:
            if plan.kind == "credit":
                self._credits[plan] = RegionCredit(
                    truth,
                    self.placed,
                    1 - np.eye(self.concepts) if costs is None else costs,
                    plan.overlaps[0],
                    plan.confidence,
                    plan.depth,
                )
            else:
                by_rule.setdefault((plan.rule, plan.shape), []).append(plan)
        for key, members in by_rule.items():
            overlaps = sorted({overlap for plan in members for overlap in plan.overlaps})
            sizes = sorted({plan.size for plan in members})
            depths = [plan.depth for plan in members]
            self._overlaps[key], self._sizes[key] = overlaps, sizes
            self._matches[key] = _core.RegionMatches(
                truth.item,
                truth.concept,
                truth.boxes,
                truth.areas,
                truth.flags,
                placed.item,
                placed.concept,
                placed.boxes,
                placed.confidences,
                self.concepts,
                key[0],
                overlaps,
                sizes,
                0 if 0 in depths else max(depths),
                any(plan.kind in ("localisation", "quality") for plan in members),
                jobs,
                _mask_columns(truth.masks, placed.masks) if key[1] == "mask" else None,
            )

    def values(self, plans: Sequence[RegionPlan], weights: Floats = NO_WEIGHTS) -> list[Floats]:
        """The value of each concept under each plan; `weights` say how often each item counts."""
        tables: dict[tuple[object, ...], Floats] = {}
        columns = []
        for plan in plans:
            if plan.kind == "credit":
                columns.append(self._credits[plan].f_measure(plan.beta, weights))
                continue
            # Plans that differ only in the overlaps that they look at share a table.
            key = (*plan._replace(overlaps=(), confidence=0.0), repr(plan.confidence))
            if key not in tables:
                tables[key] = self._table(plan, weights)
            overlaps = self._overlaps[plan.rule, plan.shape]
            at = [overlaps.index(overlap) for overlap in plan.overlaps]
            columns.append(tables[key][:, at].mean(axis=1))
        return columns

    def outcomes(self, label: int) -> tuple[Ints, Ints, NDArray[np.uint8]]:
        """Of a concept, the surest first: boxes, their partners in the truth, and their fates.

        By COCO's rules, at the first overlap and range of sizes of the plans.
        """
        return self._matches["coco", "box"].outcomes(label, 0, 0)

    def influence(self, plan: RegionPlan, items: int) -> Floats:
        """How far each item pulls the mean over concepts: parts whose mean is 0."""
        if plan.kind == "credit":
            slopes = self._credits[plan].influence(plan.beta, items)
        else:
            key = (plan.rule, plan.shape)
            slopes = self._matches[key].influence(
                plan.kind,
                self._sizes[key].index(plan.size),
                plan.depth,
                [self._overlaps[key].index(overlap) for overlap in plan.overlaps],
                plan.confidence,
                plan.beta,
                items,
                self._jobs,
            )
        parts: Floats = items * (slopes - slopes.mean())
        return parts

    def of_items(self, truth: Regions, plans: Sequence[RegionPlan]) -> list[Floats]:
        """What each item alone gives under each plan: the mean over the concepts that it has."""
        # Each concept of an item is matched as if it were a concept of its own.
        cells = truth.item.astype(np.int64) * self.concepts + truth.concept
        keys, truth_cell = np.unique(cells, return_inverse=True)
        own = self.placed.item.astype(np.int64) * self.concepts + self.placed.concept
        wanted = np.flatnonzero(np.isin(own, keys))
        placed = self.placed._replace(
            item=self.placed.item[wanted],
            concept=np.searchsorted(keys, own[wanted]).astype(np.int32),
            boxes=self.placed.boxes[wanted],
            confidences=self.placed.confidences[wanted],
            masks=None if self.placed.masks is None else self.placed.masks.of(wanted),
        )
        names = tuple(map(str, range(len(keys))))
        apart = replace(truth, concepts=names, concept=truth_cell.ravel().astype(np.int32))
        matched = [plan for plan in plans if plan.kind != "credit"]
        by_cell = iter(MatchedRun.of_placed(apart, placed, matched, self._jobs).values(matched))
        item_of, count = keys // self.concepts, len(truth.items)
        return [
            self._credits[plan].of_items(plan.beta, count)
            if plan.kind == "credit"
            else _item_means(next(by_cell), item_of, count)
            for plan in plans
        ]

    def _table(self, plan: RegionPlan, weights: Floats) -> Floats:
        matches = self._matches[plan.rule, plan.shape]
        size = self._sizes[plan.rule, plan.shape].index(plan.size)
        if plan.kind == "precision":
            return matches.precision(size, plan.depth, plan.points, weights, self._jobs)
        if plan.kind == "recall":
            return matches.recall(size, plan.depth, weights, self._jobs)
        if plan.kind == "f":
            return matches.f_measure(
                size, plan.depth, plan.confidence, plan.beta, weights, self._jobs
            )
        if plan.kind == "quality":
            return matches.quality(size, plan.depth, plan.confidence, weights, self._jobs)
        return matches.localisation(size, plan.depth, plan.confidence, weights, self._jobs)


def _mask_columns(
    truth: Masks | None, placed: Masks | None
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]:
    if truth is None or placed is None:
        raise UsageError("shape='mask': masks were not read")
    return truth.runs, truth.starts, placed.runs, placed.starts


def _bias(
    matched: MatchedRun, plans: Sequence[RegionPlan], parts: Sequence[Floats], items: int
) -> Floats:
    """What resamples of the items add to each value beyond what single items explain."""
    generator = np.random.default_rng(_BIAS_SEED)
    values = np.array([mean_of_concepts(column) for column in matched.values(plans)])
    added = np.zeros((_BIAS_DRAWS, len(plans)))
    for draw in range(_BIAS_DRAWS):
        weights = np.bincount(generator.integers(0, items, items), minlength=items)
        columns = matched.values(plans, weights.astype(np.float64))
        linear = [float(weights @ by_item) / items for by_item in parts]
        added[draw] = [mean_of_concepts(column) for column in columns] - values - linear
    bias: Floats = added.mean(axis=0)
    return bias


MOST_CONFIDENCES = 400  # of a curve: more cannot be seen
LEVELS = tuple(k / 100 for k in range(101))  # of recall, as COCO's program has them


@dataclass(frozen=True, eq=False)
class RegionCurves:
    """A run at one overlap, over recall and over the confidence from which boxes count.

    All are means over the concepts with a box in the truth. `precision` is the best precision at
    each of `LEVELS` of recall or beyond, whose mean is `AP.region(iou=...)`. For each of
    `confidences`, the surest first, `error` is the localisation recall precision error of the
    boxes that are at least so sure, `misplaced` what right boxes lack of a full overlap, `wrong`
    the share of the boxes that is not right, and `missed` that of the truth that no box is right
    for; the first two of these three are of the concepts that have such boxes, NaN where none has.
    """

    run: str
    precision: Floats
    confidences: Floats
    error: Floats
    misplaced: Floats
    wrong: Floats
    missed: Floats

    @property
    def best(self) -> int:
        """Where the error is least."""
        return int(np.argmin(self.error))


@validate_params(skip=("runs", "truth"))
def region_curves(
    truth: RegionsForm,
    runs: RegionsForm | Sequence[RegionsForm] | Mapping[str, RegionsForm],
    *,
    iou: float = RIGHT,
    concept: str | None = None,
    jobs: int | None = None,
    notes: Notes | None = None,
) -> list[RegionCurves]:
    """Precision over recall, and errors over confidence, of runs that place boxes.

    Parameters
    ----------
    truth, runs
        As `evaluate_regions` takes them.
    iou
        The overlap from which a box is right.
    concept
        The curves of one concept in place of the means over all.
    jobs
        Threads to use; usually all cores.
    notes
        Collects what is noticed about the runs.

    Returns
    -------
    list of RegionCurves
        One for each run.
    """
    check_counts(jobs=jobs)
    if not 0 <= iou < 1:
        raise UsageError(f"iou={iou!r} is not an overlap from 0 to below 1")
    wanted = true_regions(truth)
    counts = np.bincount(wanted.concept[wanted.flags == 0], minlength=len(wanted.concepts))
    labels = np.flatnonzero(counts)
    if concept is not None:
        if concept not in wanted.concepts:
            raise UsageError(f"no concept {concept!r}.{suggest(concept, wanted.concepts)}")
        labels = labels[labels == wanted.concepts.index(concept)]
    if not labels.size:
        raise UsageError(f"{wanted.where} has no box" + (f" of {concept}" if concept else ""))
    collected = Notes() if notes is None else notes
    plan = RegionPlan("localisation", "coco", (iou,), SIZES["all"], DEPTH)
    curves = []
    for name, source in named_regions(runs):
        run = _renamed(coerce_regions(source, name), name)
        matched = MatchedRun(wanted, run, [plan], jobs or usable_cpus(), collected)
        curves.append(_curves_of(name, wanted, matched, labels, counts, iou))
    return curves


def _curves_of(
    name: str,
    truth: Regions,
    matched: MatchedRun,
    labels: NDArray[np.intp],
    counts: NDArray[np.intp],
    iou: float,
) -> RegionCurves:
    placed, sides = matched.placed, []
    for label in labels.tolist():
        positions, partner, fate = matched.outcomes(label)
        positions, partner = positions[fate != IGNORED], partner[fate != IGNORED]
        right = fate[fate != IGNORED] == RIGHT_BOX
        lacking = np.zeros(len(positions))
        met = truth.boxes[partner[right]]
        lacking[right] = 1 - overlaps_of(placed.boxes[positions[right]], met)
        sides.append((placed.confidences[positions], right, lacking, int(counts[label])))
    confidences = np.unique(np.concatenate([sure for sure, _, _, _ in sides]))[::-1]
    if len(confidences) > MOST_CONFIDENCES:
        thinned = np.linspace(0, len(confidences) - 1, MOST_CONFIDENCES).round().astype(np.int64)
        confidences = confidences[thinned]
    if not len(confidences):  # no box at all: everything is missed
        confidences = np.ones(1)
    columns = np.full((len(labels), 4, len(confidences)), np.nan)
    precision = np.zeros((len(labels), len(LEVELS)))
    for row, (sure, right, lacking, objects) in enumerate(sides):
        sums = np.concatenate([np.zeros((1, 2)), np.cumsum([right, lacking], axis=1).T])
        placed_so_far = np.searchsorted(-sure, -confidences, side="right")
        hits, misplaced = sums[placed_so_far].T
        wrong = placed_so_far - hits
        columns[row, 0] = (misplaced / (1 - iou) + wrong + objects - hits) / (objects + wrong)
        some = hits > 0
        columns[row, 1, some] = misplaced[some] / hits[some]
        some = placed_so_far > 0
        columns[row, 2, some] = wrong[some] / placed_so_far[some]
        columns[row, 3] = 1 - hits / objects
        precision[row] = _best_precisions(right, objects)
    defined = ~np.isnan(columns)
    shown = np.divide(
        np.where(defined, columns, 0.0).sum(axis=0),
        defined.sum(axis=0),
        out=np.full(columns.shape[1:], np.nan),
        where=defined.any(axis=0),
    )
    return RegionCurves(name, precision.mean(axis=0), confidences, *shown)


def _item_means(values: Floats, item: NDArray[np.int64], items: int) -> Floats:
    """The mean of the values of each item, NaN for items without one."""
    defined = ~np.isnan(values)
    counts = np.bincount(item[defined], minlength=items)
    sums = np.bincount(item[defined], weights=values[defined], minlength=items)
    means: Floats = np.divide(sums, counts, out=np.full(items, np.nan), where=counts > 0)
    return means


def mean_of_concepts(values: Floats) -> float:
    """The mean over the concepts that have a value."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else math.nan


@dataclass(frozen=True)
class Resampled:
    """The means of runs in resamples of the items: an array of runs x draws for each measure."""

    means: Mapping[Measure, Floats]
    overall: Mapping[Measure, Floats]

    def interval(self, measure: Measure, run: int) -> list[float] | None:
        """The 95 % interval of a run, within the range of the measure."""
        ends = interval_of(float(self.overall[measure][run]), self.means[measure][run])
        if ends is None:
            return None
        low, high = measure.range
        return [max(low, ends[0]), min(high, ends[1])]

    def pairs(self, runs: Sequence[str]) -> list[dict[str, object]]:
        """Differences of every two runs, with intervals and p-values corrected by Holm."""
        rows: list[dict[str, object]] = []
        both = list(combinations(range(len(runs)), 2))
        for measure, means in self.means.items():
            values = self.overall[measure]
            differences = [float(values[a] - values[b]) for a, b in both]
            p = np.array(
                [
                    p_of(difference, means[a] - means[b])
                    for difference, (a, b) in zip(differences, both, strict=True)
                ]
            )
            corrected = correct(p, "holm") if both else p
            for k, (a, b) in enumerate(both):
                rows.append(
                    {
                        "a": runs[a],
                        "b": runs[b],
                        "measure": str(measure),
                        "difference": differences[k],
                        "ci": interval_of(differences[k], means[a] - means[b]),
                        "p": float(p[k]),
                        "p_corrected": float(corrected[k]),
                    }
                )
        return rows


def _centres(value: float, drawn: Floats) -> tuple[float, float]:
    """What a value would be on very many items, if its bias falls as 1/n or as 1/sqrt(n).

    Average precision takes the best precision at each recall or beyond it, which is too high on
    few items. A resample of n items weighs as much as n / 2 of them, so that the mean of the
    resamples has the bias of half the items: what it adds to that of the value is the bias
    itself in the first case, and sqrt(2) - 1 of it in the second.
    """
    added = float(drawn.mean()) - value
    return value - added, value - added / (math.sqrt(2) - 1)


def interval_of(value: float, drawn: Floats) -> list[float] | None:
    """A 95 % interval for the value on very many items, or none where resamples lack one."""
    drawn = drawn[~np.isnan(drawn)]
    if math.isnan(value) or drawn.size < 2:
        return None
    centres, half = _centres(value, drawn), TWO_SIDED * float(drawn.std(ddof=1))
    return [min(centres) - half, max(centres) + half]


def p_of(difference: float, drawn: Floats) -> float:
    """The p-value of a difference being none, which fits that interval."""
    drawn = drawn[~np.isnan(drawn)]
    if math.isnan(difference) or drawn.size < 2:
        return 1.0
    spread = float(drawn.std(ddof=1))
    low, high = sorted(_centres(difference, drawn))
    if low <= 0 <= high:
        return 1.0
    distance = min(abs(low), abs(high))
    return math.erfc(distance / spread / math.sqrt(2)) if spread > 0 else 0.0


@validate_params(skip=("measures", "runs", "truth"))
@with_progress
def evaluate_regions(
    truth: RegionsForm,
    runs: RegionsForm | Sequence[RegionsForm] | Mapping[str, RegionsForm],
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    draws: int | None = None,
    errors: float | None = None,
    costmap: CostSource | None = None,
    ontology: OntologySource | None = None,
    rng: Seed | np.random.Generator = 0,
    jobs: int | None = None,
    progress: Watcher | None = None,
) -> Scores:
    """Score runs that place boxes against a truth.

    Parameters
    ----------
    truth
        Regions, a file or folder that `read_regions` reads, a data frame with CSV's columns, or
        {item: [(concept, x, y, width, height), ...]}; in place of the list also what a detector
        gives: {"boxes", "labels", "scores"} with corners, or an object with `xyxy`, `class_id` and
        `confidence`.
    runs
        Runs in the same forms, with confidences; {name: run} names them.
    measures
        Names such as `AP.region(iou=0.5)`, or the sets `coco` (the twelve figures of the COCO
        program, and the default), `segm` (the same of masks) and `voc`.
    draws
        How many times the items are resampled for intervals of the means and for the differences
        of every two runs; without it there are none. A mean over concepts is no mean over items:
        each resample is evaluated as a whole. The intervals are for the values on very many
        items: that of few is too high where precision is interpolated.
    errors
        Also count the kinds of errors of the boxes that are at least so sure, and tell how much
        `AP.region(iou=0.5)` would gain without each kind.
    costmap
        What it costs to take a concept for another, for `HF.region`.
    ontology
        The same by the paths of an ontology; without either, every confusion costs 1.
    rng
        The seed of the draws.
    jobs
        Threads to use; usually all cores.
    progress
        Is told the share done.

    Returns
    -------
    Scores
        With a value for each run and concept; `per_item` has what each item alone gives, the mean
        over the concepts that it has.

    >>> truth = {"a": [("cat", 10, 10, 50, 40)], "b": [("cat", 0, 0, 20, 20)]}
    >>> run = {"a": [("cat", 12, 10, 50, 40, 0.9)], "b": []}
    >>> round(evaluate_regions(truth, {"mine": run}, "AR.region@1(iou=0.5)").mean()["mine"][
    ...     "AR.region@1(iou=0.5)"], 4)
    0.5
    """
    check_counts(draws=draws, jobs=jobs)
    report_progress = Progress.of(progress)
    notes = Notes()
    chosen = parse_region_measures(DEFAULT_MEASURES if measures is None else measures)
    plans: list[RegionPlan] = [m.plan(m) for m in chosen]
    masks = wants_masks(chosen)
    wanted = true_regions(truth, masks=masks)
    notes.extend(wanted.notes)
    outside = boxes_outside(wanted.boxes, wanted.item, wanted.picture_sizes)
    if outside:
        notes.add(f"{outside:,} boxes of the truth lie outside of their pictures")
    costs = _costs_of(wanted.concepts, costmap, ontology)
    if costs is None and any(plan.kind == "credit" for plan in plans):
        notes.add("HF.region: without costmap= or ontology= every confusion costs 1")
    named = named_regions(runs)
    threads = jobs or usable_cpus()
    values: list[list[Floats]] = []
    resampled: list[Floats] = []
    seed = seed_of(rng)
    missing: list[int] = []
    kinds: list[dict[str, int]] = []
    effects: list[dict[str, float]] = []
    matches: list[MatchedRun] = []
    for k, (name, source) in enumerate(named):
        part = report_progress.part(k / len(named), (k + 1) / len(named))
        part.check()
        run = coerce_regions(source, name, masks=masks)
        matched = MatchedRun(wanted, _renamed(run, name), plans, threads, notes, costs)
        values.append(matched.values(plans))
        matches.append(matched)
        if errors is not None:
            kinds.append(classify_boxes(wanted, matched.placed, errors, threads).counts())
            effects.append(effects_of_errors(wanted, matched.placed, threads))
        missing.append(len(wanted.items) - len(np.unique(run.item)))
        if draws is not None:
            resampled.append(_resample(matched, plans, len(wanted.items), draws, seed, part))
    names = tuple(name for name, _ in named)
    tables = {m: np.stack([row[i] for row in values]) for i, m in enumerate(chosen)}
    overall = {
        m: np.array([mean_of_concepts(row) for row in tables[m]], dtype=np.float64) for m in chosen
    }
    facts: dict[str, object] = {
        "truth": {
            "boxes": len(wanted),
            "crowds": int((wanted.flags & 1).sum()),
            "difficult": int((wanted.flags & 2 > 0).sum()),
        }
    }
    run_facts: list[dict[str, object]] = [{} for _ in names]
    if errors is not None:
        facts["errors_from"] = errors
        for run_fact, counts, gains in zip(run_facts, kinds, effects, strict=True):
            run_fact |= {"errors": counts, "effects": jsonable(gains)}
    if draws is not None:
        draw_means = {m: np.stack([table[i] for table in resampled]) for i, m in enumerate(chosen)}
        sample = Resampled(draw_means, overall)
        for k, run_fact in enumerate(run_facts):
            run_fact["ci"] = {str(m): sample.interval(m, k) for m in chosen}
        facts |= {"draws": draws, "seed": seed}
        facts["pairs"] = jsonable(sample.pairs(names))
    report_progress.finish()
    count = len(wanted.items)

    def influence() -> dict[Measure, Floats]:
        return {
            m: np.stack([matched.influence(plan, count) for matched in matches])
            for m, plan in zip(chosen, plans, strict=True)
        }

    def bias() -> dict[Measure, Floats]:
        rows = [
            _bias(matched, plans, [by_item[m][k] for m in chosen], count)
            for k, matched in enumerate(matches)
        ]
        return {m: np.array([row[i] for row in rows]) for i, m in enumerate(chosen)}

    def of_item() -> dict[Measure, Floats]:
        rows = [matched.of_items(wanted, plans) for matched in matches]
        return {m: np.stack([row[i] for row in rows]) for i, m in enumerate(chosen)}

    by_item = LaterValues(chosen, influence)
    return Scores(
        task="regions",
        influence=by_item,
        bias=LaterValues(chosen, bias),
        of_item=LaterValues(chosen, of_item),
        runs=names,
        measures=chosen,
        units={"item": wanted.items, "concept": wanted.concepts},
        unit_of=dict.fromkeys(chosen, "concept"),
        values=tables,
        overall=overall,
        missing=tuple(missing),
        evaluated=(len(wanted.items),) * len(names),
        facts=facts,
        run_facts=tuple(run_facts) if any(run_facts) else (),
        notes=notes.lines(),
    )


def _costs_of(
    concepts: Sequence[str],
    costmap: CostSource | None,
    ontology: OntologySource | None,
) -> Floats | None:
    """Costs of confusing the concepts of a truth, or None where nothing tells them."""
    if costmap is not None and ontology is not None:
        raise UsageError("costmap= and ontology= both tell costs: give one of them")
    if costmap is not None:
        return (costmap if isinstance(costmap, CostMap) else read_costmap(costmap)).aligned(
            concepts
        )
    hierarchy = coerce_ontology(ontology)
    return None if hierarchy is None else hierarchy.cost_map.aligned(concepts)


def _resample(
    matched: MatchedRun,
    plans: Sequence[RegionPlan],
    items: int,
    draws: int,
    seed: int,
    progress: Progress,
) -> Floats:
    """The means under each plan in every draw; all runs get the same draws."""
    generator = np.random.default_rng(seed)
    means = np.full((len(plans), draws), math.nan)
    for draw in range(draws):
        weights = np.bincount(generator.integers(0, items, items), minlength=items)
        columns = matched.values(plans, weights.astype(np.float64))
        means[:, draw] = [mean_of_concepts(column) for column in columns]
        progress((draw + 1) / draws)
    return means


def true_regions(truth: RegionsForm, *, masks: bool = False) -> Regions:
    """The boxes that are wanted, or a UsageError for those of a run; with `masks` their masks."""
    check_form(truth, "truth")
    wanted = coerce_regions(truth, "truth", masks=masks)
    if wanted.confidences is not None:
        raise UsageError(
            f"{wanted.where} has confidences: is it a run? The truth comes first, runs after it"
        )
    return wanted


def _renamed(run: Regions, name: str) -> Regions:
    return run if run.name == name else replace(run, name=name)


def named_regions(
    runs: RegionsForm | Sequence[RegionsForm] | Mapping[str, RegionsForm],
) -> list[tuple[str, RegionsForm]]:
    """Runs with their names; two of one name are an error."""
    from cranfield.io.files import Input, run_name

    pairs: list[tuple[str, RegionsForm]] = []
    if isinstance(runs, Mapping):
        first = next(iter(runs.values()), None)
        if isinstance(first, list | tuple) or is_placed(first):  # the boxes of items: one run
            runs = [runs]  # type: ignore[list-item]
        else:
            pairs = [(str(name), run) for name, run in runs.items()]  # type: ignore[misc]
    if isinstance(runs, Regions | Input | str | Path) or is_frame(runs):
        runs = [runs]  # type: ignore[list-item]
    if not pairs and isinstance(runs, Sequence):
        for number, run in enumerate(runs, 1):
            check_form(run, "runs")
            source = parse_named_input(run) if isinstance(run, str) else run
            if isinstance(source, Regions):
                pairs.append((source.name, source))
            elif isinstance(source, Mapping) or is_frame(source):
                pairs.append((f"run{number}" if len(runs) > 1 else "run", source))
            else:
                pairs.append((run_name(source), source))
    if not pairs:
        raise UsageError(f"runs={runs!r:.60}: no run was given")
    for _, source in pairs:
        check_form(source, "runs")
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two runs are named {name!r}; a run is named by its file")
    return pairs


# By how much a count is raised where a derivative is a difference.
_STEP = 1e-5


class PlacedBoxes(NamedTuple):
    """The boxes of a run, with items and concepts as the truth numbers them."""

    item: Ints
    concept: Ints
    boxes: Floats
    confidences: Floats
    masks: Masks | None = None


class RegionCredit:
    """How much credit each box of a run and of the truth gets.

    The boxes of an item that are at least `least` sure are taken from the surest on. Each takes,
    of the boxes of the truth that overlap by `overlap` and are still free, the one whose concept
    costs least, then the one that overlaps most; the credit of both is 1 - cost. A box that takes
    none and lies in a crowd or on a difficult box of its concept does not count. With costs of 0
    and 1 this is COCO's matching.
    """

    def __init__(
        self,
        truth: Regions,
        placed: PlacedBoxes,
        costs: Floats,
        overlap: float,
        least: float,
        depth: int,
    ) -> None:
        counted = np.flatnonzero(placed.confidences >= least)
        counted = counted[_within_depth(placed, counted, depth)]
        self.concepts = len(truth.concepts)
        self._truth_rows = np.flatnonzero(truth.flags == 0)
        self._truth_concept = truth.concept[self._truth_rows]
        self._truth_item = truth.item[self._truth_rows]
        self._truth_credit = np.zeros(len(self._truth_rows))
        credit = np.zeros(len(counted))
        ignored = np.zeros(len(counted), dtype=bool)
        free = np.ones(len(self._truth_rows), dtype=bool)
        flagged, forgives = np.flatnonzero(truth.flags != 0), np.ones(len(truth), dtype=bool)
        truth_at = _rows_by_item(truth.item[self._truth_rows], len(truth.items))
        flagged_at = _rows_by_item(truth.item[flagged], len(truth.items))
        order = np.lexsort((np.arange(len(counted)), -placed.confidences[counted]))
        for k in order.tolist():
            row = counted[k]
            box, concept, item = placed.boxes[row], placed.concept[row], placed.item[row]
            here = truth_at[item]
            shares = overlaps_of(box, truth.boxes[self._truth_rows[here]])
            worth = 1 - costs[concept, self._truth_concept[here]]
            worth = np.where((shares >= overlap) & free[here], worth, 0.0)
            best = float(worth.max()) if len(worth) else 0.0
            if best > 0:
                # The last of equal overlaps, as COCO's program takes it.
                nearest = np.where(worth == best, shares, -1.0)
                chosen = len(nearest) - 1 - int(nearest[::-1].argmax())
                free[here[chosen]] = False
                credit[k] = self._truth_credit[here[chosen]] = best
            else:
                rows = flagged[flagged_at[item]]
                rows = rows[(truth.concept[rows] == concept) & forgives[rows]]
                forgiving = _forgiving(box, truth, rows, overlap)
                ignored[k] = forgiving is not None
                # A crowd forgives any number of boxes, a difficult box one.
                if forgiving is not None and not truth.flags[forgiving] & CROWD:
                    forgives[forgiving] = False
        rows = counted[~ignored]
        self._concept, self._item = placed.concept[rows], placed.item[rows]
        self._credit = credit[~ignored]

    def f_measure(self, beta: float, weights: Floats) -> Floats:
        """F of each concept; NaN without a box in the truth. `weights` count the items."""
        return _f_of(beta, *self._counts(weights))

    def of_items(self, beta: float, items: int) -> Floats:
        """The mean F of the concepts that each item has, of its own boxes alone."""
        cells = self._item.astype(np.int64) * self.concepts + self._concept
        wanted = self._truth_item.astype(np.int64) * self.concepts + self._truth_concept
        keys, truth_cell = np.unique(wanted, return_inverse=True)
        here = np.isin(cells, keys)
        cell = np.searchsorted(keys, cells[here])
        values = _f_of(
            beta,
            np.bincount(cell, minlength=len(keys)).astype(np.float64),
            np.bincount(truth_cell.ravel(), minlength=len(keys)).astype(np.float64),
            np.bincount(cell, self._credit[here], len(keys)).astype(np.float64),
            np.bincount(truth_cell.ravel(), self._truth_credit, len(keys)).astype(np.float64),
        )
        return _item_means(values, keys // self.concepts, items)

    def influence(self, beta: float, items: int) -> Floats:
        """The derivative of the mean over concepts by the weight of each item."""
        counts = list(self._counts(np.zeros(0)))
        before = _f_of(beta, *counts)
        defined = ~np.isnan(before)
        sums = np.zeros(items)
        for at, (concept, item, values) in enumerate(
            (
                (self._concept, self._item, np.ones(len(self._item))),
                (self._truth_concept, self._truth_item, np.ones(len(self._truth_item))),
                (self._concept, self._item, self._credit),
                (self._truth_concept, self._truth_item, self._truth_credit),
            )
        ):
            heavier = list(counts)
            heavier[at] = counts[at] + _STEP
            slopes = np.nan_to_num((_f_of(beta, *heavier) - before) / _STEP)
            weighted = values * slopes[concept] / max(int(defined.sum()), 1)
            sums += np.bincount(item, weights=weighted, minlength=items)
        return sums

    def _counts(self, weights: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Boxes, objects of the truth, and the credit of either, of each concept."""
        drawn = np.ones(len(self._item)) if not len(weights) else weights[self._item]
        wanted = np.ones(len(self._truth_item)) if not len(weights) else weights[self._truth_item]
        return (
            self._sums(self._concept, drawn),
            self._sums(self._truth_concept, wanted),
            self._sums(self._concept, drawn * self._credit),
            self._sums(self._truth_concept, wanted * self._truth_credit),
        )

    def _sums(self, concept: Ints, values: Floats) -> Floats:
        return np.bincount(concept, weights=values, minlength=self.concepts).astype(np.float64)


def _f_of(beta: float, boxes: Floats, objects: Floats, right: Floats, reached: Floats) -> Floats:
    """F of counts of boxes and objects and of their credit; NaN without an object."""
    precision = np.divide(right, boxes, out=np.zeros(len(boxes)), where=boxes > 0)
    recall = np.divide(reached, objects, out=np.full(len(boxes), np.nan), where=objects > 0)
    below = beta**2 * precision + recall
    f: Floats = np.divide(
        (1 + beta**2) * precision * recall, below, out=np.zeros(len(boxes)), where=below != 0
    )
    f[objects == 0] = np.nan
    return f


def _within_depth(placed: PlacedBoxes, rows: NDArray[np.intp], depth: int) -> NDArray[np.bool_]:
    """Which boxes are among the surest of their item and concept."""
    order = np.lexsort((-placed.confidences[rows], placed.concept[rows], placed.item[rows]))
    keys = np.stack([placed.item[rows][order], placed.concept[rows][order]])
    new = np.ones(len(rows), dtype=bool)
    if len(rows):
        new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    starts = np.flatnonzero(new)
    place = np.arange(len(rows)) - np.repeat(starts, np.diff(np.append(starts, len(rows))))
    within = np.zeros(len(rows), dtype=bool)
    within[order] = (place < depth) if depth else True
    return within


def _rows_by_item(item: Ints, items: int) -> list[NDArray[np.intp]]:
    order = np.argsort(item, kind="stable")
    return np.split(order, np.searchsorted(item[order], np.arange(1, items)))


def _forgiving(box: Floats, truth: Regions, rows: NDArray[np.intp], overlap: float) -> int | None:
    """The flagged box that a box lies in or on: the one of the largest overlap, the last of equals.

    A crowd forgives what lies in it: the common part as a share of the box itself.
    """
    best, chosen = overlap, None
    for row in rows.tolist():
        other = truth.boxes[row]
        if truth.flags[row] & CROWD:
            ends = np.minimum(box[:2] + box[2:], other[:2] + other[2:])
            sides = np.maximum(ends - np.maximum(box[:2], other[:2]), 0)
            area = float(box[2] * box[3])
            share = float(sides[0] * sides[1]) / area if area > 0 else 0.0
        else:
            share = float(overlaps_of(box, other[None])[0])
        if share >= best:
            best, chosen = share, row
    return chosen
