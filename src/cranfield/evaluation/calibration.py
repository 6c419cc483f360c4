"""Confidences: how often they are right, and how they are made probabilities.

Isotonic regression, Platt scaling and temperature: a map from confidence to probability is fitted
on items with a truth and applied to others. Without a list of items to fit on, the items are cut
into folds and those of each fold get the map that the other folds give, so that the calibrated run
can be evaluated on the same truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from cranfield.answers import Answer
from cranfield.data.labels import Bools, Floats, LabelMatrix, align, dense
from cranfield.errors import InputError, NeedsError, UsageError, check_at_most, check_counts, plural
from cranfield.evaluation.precision_recall import Curve
from cranfield.io.coerce import LabelsForm, coerce_labels
from cranfield.io.collection import read_items
from cranfield.io.labels import resolve_unlisted
from cranfield.notes import Notes, Progress, with_progress
from cranfield.options import (
    CALIBRATION_UNITS,
    CALIBRATIONS,
    RELIABILITY_BINS,
    CalibrationMethod,
    CalibrationUnit,
)
from cranfield.validation import Seed, validate_params
from cranfield.work.seeds import generator

if TYPE_CHECKING:
    from cranfield.notes import Watcher

_STREAM = 61


@dataclass(frozen=True, slots=True)
class Reliability:
    """A run's bins (mean confidence, share that is true, count), and the expected error.

    `error` is the mean distance of the two, weighted by the counts.
    """

    name: str
    bins: tuple[tuple[float, float, int], ...]
    error: float


def reliability(
    truth: LabelMatrix, runs: Iterable[LabelMatrix], *, bins: int = RELIABILITY_BINS
) -> tuple[Reliability, ...]:
    """The reliability of every run with confidences; truth and runs have the same items."""
    if bins < 1:
        raise UsageError(f"bins={bins}: expected at least 1")
    true = np.asarray(truth.rows(0, len(truth.items))[0], dtype=bool).ravel()
    diagrams = []
    for run in runs:
        if run.is_binary:
            continue
        sure = np.asarray(run.rows(0, len(truth.items))[1], dtype=float).ravel()
        if sure.min() < 0 or sure.max() > 1:
            raise UsageError(f"{run.name}: reliability is of confidences between 0 and 1")
        at = np.minimum((sure * bins).astype(int), bins - 1)
        counts = np.bincount(at, minlength=bins)
        filled_bins = np.flatnonzero(counts)
        means = np.bincount(at, sure, bins)[filled_bins] / counts[filled_bins]
        shares = np.bincount(at, true, bins)[filled_bins] / counts[filled_bins]
        error = float((np.abs(means - shares) * counts[filled_bins]).sum() / len(sure))
        rows = zip(means.tolist(), shares.tolist(), counts[filled_bins].tolist(), strict=True)
        diagrams.append(Reliability(run.name, tuple(rows), error))
    if not diagrams:
        raise UsageError("reliability needs runs with confidences")
    return tuple(diagrams)


def concept_curves(truth: LabelMatrix, run: LabelMatrix) -> tuple[Curve, ...]:
    """Precision against recall of every concept over all thresholds, ties in one step."""
    if run.is_binary:
        raise UsageError(f"{run.name}: precision against recall needs confidences")
    true = np.asarray(truth.rows(0, len(truth.items))[0], dtype=bool)
    sure = np.asarray(run.rows(0, len(truth.items))[1], dtype=float)
    return tuple(
        Curve(concept, _recall_points(true[:, j], sure[:, j]))
        for j, concept in enumerate(truth.concepts)
        if true[:, j].any()
    )


def _recall_points(true: np.ndarray, sure: np.ndarray) -> tuple[tuple[float, float], ...]:
    order = np.argsort(-sure, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(sure[order])), len(order) - 1)
    hits = np.cumsum(true[order])[ends]
    recall, precision = hits / true.sum(), hits / (ends + 1)
    return tuple(zip(recall.tolist(), precision.tolist(), strict=True))


def calibrated(
    truth: LabelMatrix, run: LabelMatrix, *, folds: int = 5, rng: int = 0
) -> LabelMatrix:
    """A run whose confidences are chances: a logistic curve for each concept (Platt, 1999).

    The curve of an item is fitted to the items of the other folds, so that no item's truth
    decides its own confidence. A concept's own order of items stays but for the folds' borders.
    """
    if run.is_binary:
        raise UsageError(f"{run.name}: only confidences can be calibrated")
    check_at_most(len(truth.items), folds=folds)
    if folds < 2:
        raise UsageError(f"folds={folds}: expected at least 2")
    true = np.asarray(truth.rows(0, len(truth.items))[0], dtype=bool)
    sure = np.asarray(run.rows(0, len(truth.items))[1], dtype=float)
    fold = generator(rng, _STREAM).permutation(len(true)) % folds
    confidences = np.empty_like(sure)
    for part in range(folds):
        inside = fold == part
        for concept in range(sure.shape[1]):
            values, labels = sure[~inside, concept], true[~inside, concept]
            curve = platt_curve(values, labels, np.ones(len(values)))
            confidences[inside, concept] = curve(sure[inside, concept])
    return replace(run, confidences=confidences, labels=None)


# A map from confidences to probabilities.
ConfidenceMap: TypeAlias = Callable[[Floats], Floats]
# Confidences nearer to 0 and 1 are moved by so much before their logit is taken.
NEAREST = 1e-9
# Temperatures from e^-6 to e^6.
_STEEPEST = 6.0
_STEPS = 100


@dataclass(frozen=True)
class ReliabilityBin:
    """Cells of a range of confidences: their mean confidence and the share of true ones."""

    cells: int
    confidence: float
    true: float


@dataclass(frozen=True, repr=False, eq=False)
class CalibratedRun(Answer):
    """A run whose confidences are probabilities as far as the fitted items tell.

    `measures` has Brier score, log loss and calibration error before and after, of the items that
    are in the run and have a truth; each was calibrated by other items. `before` and `after` are
    the bins of a reliability diagram of the same cells.
    """

    command: ClassVar[str] = "calibrate"
    table_maker: ClassVar[str] = "cranfield.report.tables.evaluation:calibrated_run_document"
    method: str
    per: str
    fitted_on: str
    labels: LabelMatrix
    measures: dict[str, tuple[float, float]]
    before: tuple[ReliabilityBin, ...]
    after: tuple[ReliabilityBin, ...]

    def payload(self, **_: object) -> dict[str, Any]:
        """How it was made, and what it is worth."""
        return {
            "method": self.method,
            "per": self.per,
            "fitted_on": self.fitted_on,
            "run": self.labels.name,
            "items": len(self.labels.items),
            "measures": [
                {"measure": name, "before": before, "after": after}
                for name, (before, after) in self.measures.items()
            ],
            "reliability": {
                when: [vars(row) for row in rows]
                for when, rows in (("before", self.before), ("after", self.after))
            },
        }

    def headline(self) -> str:
        curves = "a curve for all concepts" if self.per == "run" else "a curve per concept"
        return f"{self.labels.name}: {self.method}, {curves}, fitted on {self.fitted_on}"


@validate_params
@with_progress
def calibrate(
    truth: LabelsForm,
    run: LabelsForm,
    *,
    method: CalibrationMethod = "isotonic",
    per: CalibrationUnit = "run",
    on: str | Path | Sequence[str] | None = None,
    folds: int = 5,
    scores: str = "confidence",
    unlisted: str | None = None,
    name: str = "",
    rng: Seed = 0,
    progress: Watcher | None = None,
) -> CalibratedRun:
    """A run with calibrated confidences.

    Parameters
    ----------
    truth, run : LabelMatrix, file, or what `LabelMatrix.of` takes
        The truth may be partly judged: only judged cells are fitted to, by the inverse of their
        probability where the truth has it. Items of the run without a truth are calibrated by all
        that was fitted on.
    method : {"isotonic", "platt", "temperature"}
        A monotonic step function; a logistic curve of the confidence's logit (of the score itself
        where `scores` is "any"), with Platt's targets; or that logit divided by one number.
    per : {"run", "concept"}
        One curve for all cells, or one for each concept. A concept that all or none of the fitted
        items have gets the curve of all cells.
    on : file, or sequence of items, optional
        The items to fit on. They are left out of the run that is returned. Without them, `folds`
        parts of the items are calibrated by the others.
    scores : {"confidence", "any"}
        Whether the numbers of the run lie in [0, 1] or have any size.

    Examples
    --------
    >>> truth = {f"i{n}": {"Sky"} if n % 3 else set() for n in range(30)}
    >>> run = {item: {"Sky": 0.2 + 0.1 * len(c)} for item, c in truth.items()}
    >>> calibrated = calibrate(truth, run, method="isotonic")
    >>> calibrated.measures["Brier"][1] < calibrated.measures["Brier"][0]
    True
    """
    for word, value, choices in (("method", method, CALIBRATIONS), ("per", per, CALIBRATION_UNITS)):
        if value not in choices:
            raise UsageError(f"{word}={value!r} is not one of {', '.join(choices)}")
    check_counts(folds=folds)
    report_progress, notes = Progress.of(progress), Notes()
    known = resolve_unlisted(coerce_labels(truth, "truth", unjudged=True), unlisted)
    known = known.with_threshold(0.5)
    confidences = coerce_labels(run, name or "run", concepts=known.concepts, scores=scores)
    if confidences.confidences is None:
        raise NeedsError(f"{confidences.where}: has labels alone: there is nothing to calibrate")
    cells = _Cells.of(known, confidences, notes)
    fitted_on, parts = _parts(cells, on, folds, rng)
    fit = _FITS[method] if not confidences.unbounded else _UNBOUNDED_FITS[method]
    values = np.asarray(dense(confidences.confidences), dtype=np.float64)
    calibrated = np.full(values.shape, np.nan)
    for number, (learning, targets) in enumerate(parts):
        report_progress(number / len(parts))
        calibrated[targets] = _applied(cells, values, learning, targets, fit, per, notes)
    rows = np.flatnonzero(~np.isnan(calibrated).any(axis=1))
    result = replace(
        confidences,
        items=tuple(confidences.items[row] for row in rows),
        labels=None if confidences.labels is None else dense(confidences.labels)[rows],
        confidences=calibrated[rows],
        unbounded=False,
        name=name or confidences.name,
    )
    scored = rows[cells.judged[rows].any(axis=1)]
    report_progress.finish()
    return CalibratedRun(
        method=method,
        per=per,
        fitted_on=fitted_on,
        labels=result,
        measures=_measured(cells, values, calibrated, scored) if not confidences.unbounded else {},
        before=() if confidences.unbounded else _bins(cells, values, scored),
        after=_bins(cells, calibrated, scored),
        notes=notes.lines(),
    )


@dataclass(frozen=True)
class _Cells:
    """The truth in the order of the run: labels, which of them are judged, and their weights."""

    items: tuple[str, ...]
    labels: Bools
    judged: Bools
    weights: Floats

    @classmethod
    def of(cls, truth: LabelMatrix, run: LabelMatrix, notes: Notes) -> _Cells:
        if truth.concepts != run.concepts and set(run.concepts) - set(truth.concepts):
            align(run, truth)  # says which concepts the truth does not have
        truth_items = {item: row for row, item in enumerate(truth.items)}
        columns = np.array([truth.concepts.index(concept) for concept in run.concepts])
        at = np.array([truth_items.get(item, -1) for item in run.items])
        if (at < 0).all():
            raise InputError.single(run.where, "has none of the items of the truth")
        if (at < 0).any():
            notes.add(f"{plural(int((at < 0).sum()), 'item')} without a truth", about=run.name)
        shape = (len(truth.items), len(truth.concepts))
        judged = np.ones(shape, dtype=bool) if truth.judged is None else np.asarray(truth.judged)
        weights = np.ones(shape)
        if truth.sampling is not None:
            weights = 1.0 / np.where(judged, truth.sampling, 1.0)
        place = np.ix_(at, columns)
        return cls(
            run.items,
            np.asarray(dense(truth.labels), dtype=bool)[place],
            judged[place] & (at >= 0)[:, None],
            weights[place],
        )


def _parts(
    cells: _Cells, on: str | Path | Sequence[str] | None, folds: int, seed: Seed
) -> tuple[str, list[tuple[Bools, Bools]]]:
    """What is fitted on, in words, and the rows to fit on and to calibrate, part by part."""
    usable: Bools = np.asarray(cells.judged.any(axis=1))
    if on is not None:
        names = set(read_items(on) if isinstance(on, str | Path) else map(str, on))
        chosen = np.array([item in names for item in cells.items])
        if not (chosen & usable).any() or chosen.all():
            raise UsageError(
                "a run is calibrated on some of its items that have a truth, and written for the "
                f"others: {int((chosen & usable).sum())} of {len(chosen)} were chosen"
            )
        return plural(int((chosen & usable).sum()), "item"), [(chosen & usable, ~chosen)]
    count = int(usable.sum())
    if not 2 <= folds <= count:
        raise UsageError(f"folds={folds}: of {plural(count, 'item')} there are 2 to {count} folds")
    fold = np.full(len(usable), -1)
    fold[usable] = generator(seed).permutation(count) % folds
    parts = [(usable & (fold != number), fold == number) for number in range(folds)]
    if not usable.all():
        parts.append((usable, ~usable))
    return f"the other {folds - 1} of {folds} folds of {plural(count, 'item')}", parts


def _applied(
    cells: _Cells,
    values: Floats,
    learning: Bools,
    targets: Bools,
    fit: Callable[[Floats, Bools, Floats], ConfidenceMap],
    per: str,
    notes: Notes,
) -> Floats:
    """The calibrated confidences of some items, by a curve that others gave."""
    judged = cells.judged & learning[:, None]
    labels = cells.labels[judged]
    if labels.all() or not labels.any():
        raise UsageError("a curve is fitted to cells of both kinds: all of these are alike")
    curve = fit(values[judged], labels, cells.weights[judged])
    calibrated = curve(values[targets])
    if per == "run":
        return calibrated
    pooled = 0
    for column in range(values.shape[1]):
        rows = judged[:, column]
        labels = cells.labels[rows, column]
        if labels.all() or not labels.any():
            pooled += 1
            continue
        own = fit(values[rows, column], labels, cells.weights[rows, column])
        calibrated[:, column] = own(values[targets, column])
    if pooled:
        notes.add(
            f"{plural(pooled, 'concept')} that all or none of the fitted items have: calibrated by "
            "the curve of all concepts"
        )
    return calibrated


def isotonic_curve(scores: Floats, labels: Bools, weights: Floats) -> ConfidenceMap:
    """The monotonic map with the least squared error, straight between the scores that it saw."""
    from scipy.optimize import isotonic_regression

    levels, places = np.unique(scores, return_inverse=True)
    total = np.bincount(places, weights)
    share = np.bincount(places, weights * labels) / total
    heights = np.asarray(isotonic_regression(share, weights=total).x)
    return lambda values: np.asarray(np.interp(values, levels, heights))


def platt_curve(scores: Floats, labels: Bools, weights: Floats) -> ConfidenceMap:
    """A logistic curve of the score, fitted to targets that are not quite 0 and 1 (Platt 1999)."""
    true, false = float(weights[labels].sum()), float(weights[~labels].sum())
    targets = np.where(labels, (true + 1) / (true + 2), 1 / (false + 2))
    centre, spread = float(scores.mean()), float(scores.std()) or 1.0
    columns = np.column_stack([np.ones(len(scores)), (scores - centre) / spread])
    coefficients = np.array([np.log((true + 1) / (false + 1)), 0.0])

    def loss(tried: Floats) -> float:
        logits = columns @ tried
        return float((weights * (np.logaddexp(0.0, logits) - targets * logits)).sum())

    for _ in range(_STEPS):
        chances = _logistic(columns @ coefficients)
        gradient = columns.T @ (weights * (targets - chances))
        curvature = weights * chances * (1 - chances)
        hessian = (columns * curvature[:, None]).T @ columns + 1e-12 * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        while loss(coefficients + step) > loss(coefficients) and np.abs(step).max() > 1e-12:
            step = step / 2
        coefficients = coefficients + step
        if np.abs(step).max() < 1e-10:
            break
    level, slope = coefficients
    return lambda values: _logistic(level + slope * (values - centre) / spread)


def temperature_curve(scores: Floats, labels: Bools, weights: Floats) -> ConfidenceMap:
    """The logit divided by the number that gives the least log loss (Guo et al. 2017)."""
    from scipy.optimize import minimize_scalar

    def loss(steepness: float) -> float:
        logits = scores * np.exp(steepness)
        return float((weights * (np.logaddexp(0.0, logits) - labels * logits)).sum())

    best = minimize_scalar(
        loss, bounds=(-_STEEPEST, _STEEPEST), method="bounded", options={"xatol": 1e-10}
    )
    factor = float(np.exp(best.x))
    return lambda values: _logistic(values * factor)


def _of_logits(
    fit: Callable[[Floats, Bools, Floats], ConfidenceMap],
) -> Callable[[Floats, Bools, Floats], ConfidenceMap]:
    """The same curve of the logits of confidences."""

    def fitted(scores: Floats, labels: Bools, weights: Floats) -> ConfidenceMap:
        curve = fit(_logits(scores), labels, weights)
        return lambda values: curve(_logits(values))

    return fitted


def _logits(confidences: Floats) -> Floats:
    inside = np.clip(confidences, NEAREST, 1 - NEAREST)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def _logistic(logits: Floats) -> Floats:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * logits)))


_UNBOUNDED_FITS = {
    "isotonic": isotonic_curve,
    "platt": platt_curve,
    "temperature": temperature_curve,
}
_FITS = {
    "isotonic": isotonic_curve,
    "platt": _of_logits(platt_curve),
    "temperature": _of_logits(temperature_curve),
}


def _measured(
    cells: _Cells, before: Floats, after: Floats, rows: Any
) -> dict[str, tuple[float, float]]:
    """Brier score, log loss and calibration error of the judged cells, before and after."""
    judged = cells.judged[rows]
    labels = cells.labels[rows][judged]
    pairs = [list(_figures(values[rows][judged], labels)) for values in (before, after)]
    return {name: (old, new) for (name, old), (_, new) in zip(*pairs, strict=True)}


def _figures(confidences: Floats, labels: Bools) -> Iterator[tuple[str, float]]:
    yield "Brier", float(((confidences - labels) ** 2).mean())
    smallest = float(np.finfo(np.float64).eps)
    chances = np.clip(np.where(labels, confidences, 1 - confidences), smallest, 1.0)
    yield "LogLoss", float(-np.log(chances).mean())
    gaps = np.zeros(_ECE_BINS)
    at = np.minimum((confidences * _ECE_BINS).astype(np.intp), _ECE_BINS - 1)
    np.add.at(gaps, at, confidences - labels)
    yield "ECE(mean='micro')", float(np.abs(gaps).sum() / len(labels))


_ECE_BINS = 15


def _bins(cells: _Cells, confidences: Floats, rows: Any) -> tuple[ReliabilityBin, ...]:
    judged = cells.judged[rows]
    labels, values = cells.labels[rows][judged], confidences[rows][judged]
    at = np.minimum((values * RELIABILITY_BINS).astype(np.intp), RELIABILITY_BINS - 1)
    return tuple(
        ReliabilityBin(
            int((at == number).sum()),
            float(values[at == number].mean()),
            float(labels[at == number].mean()),
        )
        for number in range(RELIABILITY_BINS)
        if (at == number).any()
    )
