"""Truths of annotation in which only some cells were judged: the others are drawn from a model.

The model is a logistic regression of the judged cells on what every run says of them, with effects
of concepts that are shrunk towards none by as much as the data say. Labels of an item hang together
by a Gaussian copula, whose correlations come from the residuals of pairs of judged cells. Each draw
of the whole truth keeps the judged cells, refits the regression to a resample of them, draws what
is not known of the effects and correlations and then the cells that were not judged, so that the
spread over draws has all that is not known. Where cells were sampled with known probabilities,
judged cells weigh by their inverse.

Where cells were sampled for every concept, as TRECVID does, no model is needed for rankings: each
concept is a topic, whose items an annotation ranks by confidence, and measures for incomplete
judgements (infAP, Bpref) apply (No 3.3.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cranfield.data import Judgements
from cranfield.data.labels import Bools, Floats, LabelMatrix, concept_rankings, dense, sample_names
from cranfield.errors import InputError, MeasureError, NeedsError, UsageError, suggest
from cranfield.evaluation.item_influence import item_influence
from cranfield.evaluation.probabilistic_truth import expected_scores
from cranfield.evaluation.ranked import evaluate
from cranfield.evaluation.scores import Scores
from cranfield.io.coerce import coerce_labels
from cranfield.io.labels import name_annotations
from cranfield.io.labels_other import read_pooled_cells
from cranfield.measures import POOLED, Measure, parse_measures
from cranfield.measures.labels.blocks import LabelPlan, PerRankedConcept, SortedRun
from cranfield.measures.labels.ranked import as_ranked
from cranfield.measures.parse import listed_measures
from cranfield.notes import Progress, Watcher, with_progress
from cranfield.options import DEFAULT_THRESHOLD
from cranfield.stats._special import ndtr, ndtri
from cranfield.validation import validate_params

if TYPE_CHECKING:
    from cranfield.evaluation.labels import LabelTask

# Confidences nearer to 0 and 1 are all alike to the model.
NEAREST = 1e-3
# Beyond so many runs each has two columns of the regression instead of three.
MOST_BENDS = 8
FIRST_SWEEPS, NEXT_SWEEPS = 30, 8
# Sweeps of Gibbs sampling before the first draw, and from one draw to the next.
FIRST_LATENT_SWEEPS, LATENT_SWEEPS = 15, 2
LEAST_CHANCE = 1e-9
# So many draws tell what each item adds to a value.
INFLUENCE_DRAWS = 20
# The greatest variance of correlations over pairs of concepts, and the least eigenvalue.
MOST_BETWEEN, LEAST_ROOT = 0.25, 0.05
# The regression is refitted so often; further draws share a fit and differ in effects and cells.
REFITS = 100
# Standard deviation of the prior of coefficients of columns in units of their own deviation.
COEFFICIENTS = 3.0
# Variances of effects stay between these.
LEAST_VARIANCE, MOST_VARIANCE = 1e-4, 9.0
# No step of Newton's method is longer, in logits.
LONGEST_STEP = 2.0
# Fewer judged cells of either kind say nothing of the others.
FEWEST_CELLS = 5
SMALL_SAMPLE, MOST_WEIGHT_VARIANCE = 12.0, 4.0


@dataclass(frozen=True)
class _Cells:
    """Judged cells, a row each: the columns of the regression, their places, labels and weights."""

    columns: Floats
    score: Floats
    concept: NDArray[np.intp]
    label: Floats
    weight: Floats
    concepts: int


@dataclass
class _Fit:
    """Coefficients, the level and slope of each concept, and the variances of these two."""

    coefficients: Floats
    concepts: Floats
    concept_variance: Floats

    def copy(self) -> _Fit:
        arrays = (self.coefficients, self.concepts, self.concept_variance)
        return _Fit(*(array.copy() for array in arrays))


class ImputedLabels:
    """Truths that agree with all judged cells, drawn from a model of the others given the runs.

    Parameters
    ----------
    truth : LabelMatrix
        Labels with `judged`, and `sampling` where the design is known.
    runs : sequence of LabelMatrix
        The runs in the order of the truth; what they say of a cell predicts its label.
    """

    def __init__(self, truth: LabelMatrix, runs: Sequence[LabelMatrix]) -> None:
        if truth.judged is None:
            raise ValueError("every cell of this truth is judged")
        self._labels = np.asarray(dense(truth.labels), dtype=bool)
        self._judged = np.asarray(truth.judged)
        check_judged(truth)
        self._columns, self._score = _regression_columns(runs)
        self._cells = self._judged_cells(truth)
        self._variance = _weight_variance(self._cells)
        self._first = _start(self._cells)
        _sweep(self._first, self._cells, self._cells.weight, FIRST_SWEEPS, variances=True)
        first = self._chances(self._first, self._first.concepts)
        self._correlations = _Correlations.of(self._labels, self._judged, first)

    def _judged_cells(self, truth: LabelMatrix) -> _Cells:
        item, concept = np.nonzero(self._judged)
        weight = np.ones(len(item))
        if truth.sampling is not None:
            weight = 1.0 / np.asarray(truth.sampling)[self._judged]
            weight /= weight.mean()
        return _Cells(
            self._columns[item, concept],
            self._score[item, concept],
            concept,
            self._labels[item, concept].astype(np.float64),
            weight,
            self._labels.shape[1],
        )

    def draws(self, seed: int, numbers: Iterable[int], jobs: int = 1) -> Iterator[Bools]:
        """Whole truths, one after the other: a chain that depends on the seed and its numbers."""
        del jobs
        fits: dict[int, tuple[_Fit, Floats, Floats]] = {}
        latent: Floats | None = None
        for number in numbers:
            refit = number % REFITS
            if refit not in fits:
                fits[refit] = self._refit(np.random.default_rng([seed, 1, refit]))
            fit, spread, precision = fits[refit]
            rng = np.random.default_rng([seed, 2, number])
            normal = rng.standard_normal(fit.concepts.shape)
            concepts = fit.concepts + np.einsum("cij,cj->ci", spread, normal)
            # A cell is true where its latent variable exceeds this.
            cut = -ndtri(self._chances(fit, concepts))
            sweeps = LATENT_SWEEPS
            if latent is None:
                latent, sweeps = self._first_latent(cut), FIRST_LATENT_SWEEPS
            for _ in range(sweeps):
                self._move_latent(latent, cut, precision, rng)
            yield np.where(self._judged, self._labels, latent > cut)

    def expected_labels(self) -> float:
        """How many labels are expected in all: those judged, and those the others may have."""
        chances = self._chances(self._first, self._first.concepts)
        return float(np.where(self._judged, self._labels, chances).sum())

    def _chances(self, fit: _Fit, concepts: Floats) -> Floats:
        """How probable each cell is, not knowing the other cells of its item."""
        logits = self._columns @ fit.coefficients + concepts[:, 0] + concepts[:, 1] * self._score
        return np.clip(_logistic(logits), LEAST_CHANCE, 1 - LEAST_CHANCE)

    def _refit(self, rng: np.random.Generator) -> tuple[_Fit, Floats, Floats]:
        """A fit to resampled cells, how far its effects may be from it as the prior has it, and
        the precision matrix of labels of an item.

        An effect of precision D + L, D by the data and L by the prior, has the variance
        (D + L)^-1 (D + L) (D + L)^-1; the part of D comes from the resampling, that of L is drawn.
        """
        cells = self._cells
        fit = self._first.copy()
        # Weights of mean 1, as of a Bayesian bootstrap, which has the variance 1.
        weights = rng.gamma(1.0 / self._variance, self._variance, len(cells.weight))
        by_concept = _sweep(fit, cells, cells.weight * weights, NEXT_SWEEPS)
        by_prior = np.linalg.inv(by_concept) / np.sqrt(fit.concept_variance)
        precision = np.asarray(np.linalg.inv(self._correlations.drawn(rng)), dtype=np.float64)
        return fit, by_prior, precision

    def _first_latent(self, cut: Floats) -> Floats:
        on_its_side = np.where(self._labels, np.maximum(cut + 0.5, 0.0), np.minimum(cut - 0.5, 0.0))
        return np.where(self._judged, on_its_side, 0.0)

    def _move_latent(
        self, latent: Floats, cut: Floats, precision: Floats, rng: np.random.Generator
    ) -> None:
        """A sweep of Gibbs sampling: each concept given the others, judged cells on their side."""
        for c in range(latent.shape[1]):
            variance = 1.0 / precision[c, c]
            mean = latent[:, c] - variance * (latent @ precision[c])
            spread = np.sqrt(variance)
            below = ndtr((cut[:, c] - mean) / spread)
            uniform = rng.random(len(latent))
            judged = np.where(self._labels[:, c], below + uniform * (1 - below), uniform * below)
            level = np.where(self._judged[:, c], judged, uniform)
            latent[:, c] = mean + spread * ndtri(np.clip(level, 1e-12, 1 - 1e-12))


@dataclass(frozen=True)
class _Correlations:
    """Correlations of the latent variables of two concepts: what is expected of each pair, and its
    standard deviation."""

    concepts: int
    expected: Floats
    spread: Floats

    @classmethod
    def of(cls, labels: Bools, judged: Bools, chances: Floats) -> _Correlations:
        """From residuals of pairs of judged cells, shrunk towards their mean as far as they vary no
        more than by chance.

        `residual` is what is expected of a latent variable given the label, and `share` the
        variance of that: their products have the mean correlation * share * share.
        """
        density = np.exp(-(ndtri(chances) ** 2) / 2) / np.sqrt(2 * np.pi)
        variance = chances * (1 - chances)
        residual = np.where(judged, density * (labels - chances) / variance, 0.0)
        share = np.where(judged, density**2 / variance, 0.0)
        pairs = np.triu_indices(labels.shape[1], 1)
        weight = (share.T @ share)[pairs] + 1e-9
        correlation = (residual.T @ residual)[pairs] / weight
        if not len(weight):
            return cls(labels.shape[1], correlation, correlation)
        mean = np.average(correlation, weights=weight)
        excess = (weight * (correlation - mean) ** 2).sum() - (len(weight) - 1)
        scale = weight.sum() - (weight**2).sum() / weight.sum()
        between = min(max(excess / scale, 0.0), MOST_BETWEEN) if scale > 0 else 0.0
        shrunk = 1.0 + weight * between
        expected = (weight * between * correlation + mean) / shrunk
        return cls(labels.shape[1], expected, np.sqrt(between / shrunk))

    def drawn(self, rng: np.random.Generator) -> Floats:
        """A correlation matrix as the pairs leave it open."""
        values = self.expected + self.spread * rng.standard_normal(len(self.expected))
        matrix = np.eye(self.concepts)
        rows, columns = np.triu_indices(self.concepts, 1)
        matrix[rows, columns] = matrix[columns, rows] = np.clip(values, -0.95, 0.95)
        roots, vectors = np.linalg.eigh(matrix)
        matrix = (vectors * np.maximum(roots, LEAST_ROOT)) @ vectors.T
        scale = np.sqrt(np.diag(matrix))
        correlated: Floats = matrix / scale / scale[:, None]
        return correlated


def check_judged(truth: LabelMatrix) -> None:
    """An InputError where too few cells were judged for a model of the others."""
    labels = np.asarray(dense(truth.labels), dtype=bool)
    judged = np.asarray(truth.judged)
    true = int((labels & judged).sum())
    false = int(judged.sum()) - true
    if min(true, false) < FEWEST_CELLS:
        raise InputError.single(
            truth.where,
            f"{true + false} judged cells, of which {true} are present and {false} absent: values "
            f"are estimated from at least {FEWEST_CELLS} of each",
        )


def _logistic(logits: Floats) -> Floats:
    values: Floats = 0.5 * (1.0 + np.tanh(0.5 * logits))
    return values


def _regression_columns(runs: Sequence[LabelMatrix]) -> tuple[Floats, Floats]:
    """What runs say of every cell: the columns of the regression, and their mean score."""
    columns: list[Floats] = []
    scores: list[Floats] = []
    for run in runs:
        decided, score = _decisions_and_scores(run)
        columns.append(decided)
        if score is not None:
            columns.append(score)
            if len(runs) <= MOST_BENDS:
                columns.append(np.maximum(score, 0.0))
        scores.append(decided if score is None else score)
    varied = [_standardized(c) for c in columns if c.min() < c.max()]
    ones = np.ones(scores[0].shape)
    mean_score = np.mean([_standardized(s) for s in scores], axis=0)
    return np.stack([ones, *varied], axis=2), mean_score


def _standardized(values: Floats) -> Floats:
    spread = float(values.std())
    scaled: Floats = (values - values.mean()) / (spread or 1.0)
    return scaled


def _decisions_and_scores(run: LabelMatrix) -> tuple[Floats, Floats | None]:
    """The decisions of a run, and its confidences as logits with mean 0 and deviation 1."""
    if run.confidences is None:
        return np.asarray(dense(run.labels), dtype=np.float64), None
    confidences = np.asarray(dense(run.confidences), dtype=np.float64)
    if run.labels is not None:
        decided = np.asarray(dense(run.labels), dtype=np.float64)
    else:
        decided = (confidences >= DEFAULT_THRESHOLD).astype(np.float64)
    if run.unbounded:
        return decided, _normal_scores(confidences)
    inside = np.clip(confidences, NEAREST, 1 - NEAREST)
    return decided, _standardized(np.log(inside) - np.log1p(-inside))


def _normal_scores(values: Floats) -> Floats:
    """Scores of any size by their ranks, as quantiles of the normal distribution."""
    from scipy.stats import rankdata

    ranks = rankdata(values).reshape(values.shape)
    scores: Floats = ndtri((ranks - 0.5) / values.size)
    return scores


def _weight_variance(cells: _Cells) -> float:
    """The variance of the weights of resampled cells: more than 1 where few of a kind are judged.

    The bootstrap of a regression says too little of its coefficients where these are many for the
    cells of the rarer kind. The factor was chosen on simulated annotations of 100 items with
    24 to 150 such cells.
    """
    rarer = min(float(cells.label.sum()), float((1.0 - cells.label).sum()))
    variance = 1.0 + SMALL_SAMPLE * float(cells.columns.shape[1]) / rarer
    return min(variance, MOST_WEIGHT_VARIANCE)


def _start(cells: _Cells) -> _Fit:
    coefficients = np.zeros(cells.columns.shape[1])
    share = np.average(cells.label, weights=cells.weight)
    coefficients[0] = np.log(share) - np.log1p(-share)
    return _Fit(
        coefficients,
        np.zeros((cells.concepts, 2)),
        np.array([0.25, 0.1]),
    )


def _sweep(
    fit: _Fit, cells: _Cells, weight: Floats, sweeps: int, *, variances: bool = False
) -> Floats:
    """Newton steps of coefficients and concepts in turn; the precisions of the latter."""
    by_concept = np.empty(0)
    for _ in range(sweeps):
        _move_coefficients(fit, cells, weight)
        by_concept = _move_concepts(fit, cells, weight)
        if variances:
            uncertain = np.linalg.inv(by_concept).diagonal(axis1=1, axis2=2)
            estimated = (fit.concepts**2 + uncertain).mean(axis=0)
            fit.concept_variance = np.clip(estimated, LEAST_VARIANCE, MOST_VARIANCE)
    return by_concept


def _residuals(fit: _Fit, cells: _Cells, weight: Floats) -> tuple[Floats, Floats]:
    """Weighted residuals of the judged cells, and their weights in a Newton step."""
    logits = cells.columns @ fit.coefficients
    logits += fit.concepts[cells.concept, 0] + fit.concepts[cells.concept, 1] * cells.score
    chance = _logistic(logits)
    return weight * (cells.label - chance), weight * chance * (1.0 - chance) + 1e-9


def _move_coefficients(fit: _Fit, cells: _Cells, weight: Floats) -> None:
    residual, curvature = _residuals(fit, cells, weight)
    prior = np.full(len(fit.coefficients), COEFFICIENTS**-2)
    prior[0] = 1e-6
    gradient = cells.columns.T @ residual - prior * fit.coefficients
    hessian = (cells.columns * curvature[:, None]).T @ cells.columns + np.diag(prior)
    step = np.linalg.solve(hessian, gradient)
    longest = float(np.abs(step).max())
    fit.coefficients += step * min(1.0, LONGEST_STEP / max(longest, 1e-12))


def _move_concepts(fit: _Fit, cells: _Cells, weight: Floats) -> Floats:
    residual, curvature = _residuals(fit, cells, weight)
    score, places, count = cells.score, cells.concept, cells.concepts

    def summed(values: Floats) -> Floats:
        return np.bincount(places, values, count).astype(np.float64)

    precision = np.empty((count, 2, 2))
    precision[:, 0, 0] = summed(curvature) + 1.0 / fit.concept_variance[0]
    precision[:, 0, 1] = precision[:, 1, 0] = summed(curvature * score)
    precision[:, 1, 1] = summed(curvature * score**2) + 1.0 / fit.concept_variance[1]
    gradient = np.stack([summed(residual), summed(residual * score)], axis=1)
    gradient -= fit.concepts / fit.concept_variance
    step = np.linalg.solve(precision, gradient[:, :, None])[:, :, 0]
    fit.concepts += np.clip(step, -LONGEST_STEP, LONGEST_STEP)
    return precision


def check_estimable(truth: LabelMatrix, measures: Sequence[Measure]) -> None:
    """An InputError or NeedsError where values cannot be estimated from the judged cells."""
    graded = [str(m) for m in measures if "grades" in m.needs]
    if graded and truth.grades is not None:
        raise NeedsError(
            f"{truth.where}: {', '.join(graded[:5])} needs the grade of every cell, and "
            f"{int((~np.asarray(truth.judged)).sum())} cells were not judged: what is estimated of "
            "those is whether the concept is there, not its grade"
        )
    check_judged(truth)


def score_imputed_labels(
    task: LabelTask,
    runs: Sequence[LabelMatrix],
    scores: Scores,
    *,
    draws: int,
    seed: int,
    jobs: int,
    progress: Progress,
) -> Scores:
    """The scores of aligned runs estimated from the judged cells, with bounds and a note."""
    truth = task.truth
    imputed = ImputedLabels(truth, runs)
    scores = expected_scores(
        task, imputed, runs, scores, draws=draws, seed=seed, jobs=jobs, progress=progress
    )
    judged = np.asarray(truth.judged)
    count = int(judged.sum())
    known = "drawn with the probabilities given" if truth.sampling is not None else "judged"
    notes = [
        f"{truth.name}: {count} of {judged.size} cells are judged ({count / judged.size:.0%}); "
        f"values are means over {draws} truths that agree with these, the other cells drawn from "
        "a model of labels given what the runs say of them",
        "this assumes that whether a cell was judged depends on what the runs say of it, its "
        f"concept and its item, not on its label beside these; cells were {known}",
    ]
    empty = [c for c, n in zip(truth.concepts, judged.sum(axis=0), strict=True) if n == 0]
    if empty:
        notes.append(
            f"{len(empty)} concepts have no judged cell ({sample_names(empty)}): they are taken "
            "for concepts like the others"
        )
    notes += _note_broken_draws(task, imputed, seed)
    cardinality = imputed.expected_labels() / len(truth.items)
    facts = dict(scores.facts)
    facts["truth"] = {
        **facts["truth"],
        "label_cardinality": cardinality,
        "label_density": cardinality / len(truth.concepts),
        "judged_cells": count,
    }
    bounds = [completion_bounds(task, run, jobs) for run in runs]
    run_facts = tuple(
        {**run_fact, "bounds": run_bounds}
        for run_fact, run_bounds in zip(scores.run_facts, bounds, strict=True)
    )
    return replace(
        scores,
        notes=(*scores.notes, *notes),
        facts=facts,
        run_facts=run_facts,
        influence=_influences(task, imputed, runs, scores, seed, jobs) if scores.values else {},
    )


# From this share of the items on, draws that break rules of the ontology are told of.
BROKEN_TOLD = 0.1
RULE_DRAWS = 3


def _note_broken_draws(task: LabelTask, imputed: ImputedLabels, seed: int) -> list[str]:
    """A note where drawn truths break rules that a truth obeys, which OS punishes runs for."""
    names = [str(m) for m in task.measures if m.name == "OS" and m.value_of("rules")]
    if not names or task.knowledge.ontology is None:
        return []
    draws = imputed.draws(seed, range(RULE_DRAWS))
    rules = task.knowledge.rules
    share = float(np.mean([rules.broken(labels).any(axis=1).mean() for labels in draws]))
    if share < BROKEN_TOLD:
        return []
    return [
        f"{', '.join(names)}: in draws of the truth {share:.0%} of the items break a rule of the "
        "ontology, since labels are drawn without knowing the rules; runs that obey them are "
        "scored too low for it, and the interval may miss the value: judge whole items, or read "
        "the bounds"
    ]


def _influences(
    task: LabelTask,
    imputed: ImputedLabels,
    runs: Sequence[LabelMatrix],
    scores: Scores,
    seed: int,
    jobs: int,
) -> dict[Measure, Floats]:
    """What each item adds to the value of each run, on average over draws of the truth, under
    measures whose expected value is no mean over items."""
    plans = {m: p for m, p in task.plans.items() if p.unit == "concept" or not scores.is_mean(m)}
    sums: dict[Measure, Floats] = {}
    shape = (len(runs), len(task.truth.items))
    for labels in imputed.draws(seed, range(INFLUENCE_DRAWS)) if plans else ():
        truth = replace(task.truth, labels=labels)
        for r, run in enumerate(runs):
            results = _scored(task, plans, run, labels, jobs)
            by_unit = {m: values for m, (values, _) in results.items()}
            parts = item_influence(plans, truth, run, task.knowledge, by_unit, jobs)
            for m, plan in plans.items():
                if plan.unit == "item" and m not in parts:
                    parts[m] = _of_defined(by_unit[m])
            for m, by_item in parts.items():
                sums.setdefault(m, np.zeros(shape))[r] += by_item / INFLUENCE_DRAWS
    return sums


def _of_defined(values: Floats) -> Floats:
    """What each item adds to the mean of those that have a value."""
    defined = ~np.isnan(values)
    if not defined.any():
        return np.zeros(len(values))
    parts = np.where(defined, values - values[defined].mean(), 0.0)
    scaled: Floats = parts * len(values) / defined.sum()
    return scaled


# Truths that are tried for the best and the worst one of a ranking.
MOST_COMPLETIONS = 512
# Measures under which each cell that is as the run says is better than one that is not.
SET_MEASURES = frozenset(
    f"{name}.{unit}"
    for name in ("P", "R", "F", "Accuracy", "Jaccard")
    for unit in ("example", "concept")
) | {"HammingLoss", "ExactMatch", "Alpha"}


def completion_bounds(
    task: LabelTask, run: LabelMatrix, jobs: int
) -> dict[str, tuple[float, float] | None]:
    """The least and the greatest value that the cells without a judgement allow a run.

    Under measures of label sets a cell is best where it is as the run says, and worst where it is
    not. Of rankings with a given number of further true cells, those are best that the run puts
    first and worst that it puts last, so each number is tried. None where a measure is neither,
    weighs concepts by their items, or has too many numbers to try.
    """
    bounds: dict[str, tuple[float, float] | None] = dict.fromkeys(map(str, task.measures))
    sets = {m: p for m, p in task.plans.items() if _is_of_sets(m, p)}
    if sets:
        best, worst = (
            _scored(task, sets, run, labels, jobs) for labels in _decided(task.truth, run)
        )
        for m in sets:
            low, high = sorted((best[m][1], worst[m][1]))
            bounds[str(m)] = (low, high)
    for axis, unit in ((1, "item"), (0, "concept")):
        plans = {m: p for m, p in task.plans.items() if _is_of_order(p, unit)}
        counts = (~np.asarray(task.truth.judged)).sum(axis=axis)
        if plans and counts.max() < MOST_COMPLETIONS:
            bounds |= _order_bounds(task, plans, run, axis, jobs)
    return bounds


def _is_of_sets(measure: Measure, plan: LabelPlan) -> bool:
    weighted = measure.params.get("mean") is not None and measure.value_of("mean") == "weighted"
    return measure.name in SET_MEASURES and not plan.ranked and not weighted


def _is_of_order(plan: LabelPlan, unit: str) -> bool:
    is_mean = not isinstance(plan, PerRankedConcept) or plan.average == "macro"
    return plan.ranked and is_mean and plan.unit == unit


def _decided(truth: LabelMatrix, run: LabelMatrix) -> Iterator[Bools]:
    """The truth completed as the run decides, and against it."""
    decided = _decisions_and_scores(run)[0] > 0
    judged, labels = np.asarray(truth.judged), dense(truth.labels)
    yield np.where(judged, labels, decided)
    yield np.where(judged, labels, ~decided)


def _scored(
    task: LabelTask,
    plans: Mapping[Measure, LabelPlan],
    run: LabelMatrix,
    labels: Bools,
    jobs: int,
    presorted: SortedRun | None = None,
) -> dict[Measure, tuple[Floats, float]]:
    from cranfield.evaluation.labels import score_run

    truth = replace(task.truth, labels=labels)
    return score_run(plans, truth, run, task.knowledge, jobs, presorted)


def _order_bounds(
    task: LabelTask, plans: Mapping[Measure, LabelPlan], run: LabelMatrix, axis: int, jobs: int
) -> dict[str, tuple[float, float] | None]:
    """The bounds of means of rankings: of each item's concepts, or of each concept's items."""
    known = np.asarray(dense(task.truth.labels), dtype=bool)
    unknown = ~np.asarray(task.truth.judged)
    scores = run.labels if run.confidences is None else run.confidences
    # The place of each unknown cell among those of its row or column, from the highest on.
    keys = np.where(unknown, -np.asarray(dense(scores), dtype=np.float64), np.inf)
    places = np.argsort(np.argsort(keys, axis=axis, kind="stable"), axis=axis)
    counts = unknown.sum(axis=axis, keepdims=True)
    presorted = SortedRun(run) if axis == 0 else None
    size = known.shape[1 - axis]
    low = {m: np.full(size, np.nan) for m in plans}
    high = {m: np.full(size, np.nan) for m in plans}
    optional = {m: np.zeros(size, dtype=bool) for m in plans}
    for number in range(int(counts.max()) + 1):
        for further in (places < number, places >= counts - number):
            labels = known | (unknown & further)
            for m, (values, _) in _scored(task, plans, run, labels, jobs, presorted).items():
                low[m], high[m] = np.fmin(low[m], values), np.fmax(high[m], values)
                optional[m] |= np.isnan(values)
    return {str(m): _mean_bounds(low[m], high[m], optional[m]) for m in plans}


def _mean_bounds(low: Floats, high: Floats, optional: Bools) -> tuple[float, float] | None:
    """The least and greatest mean of units; the `optional` ones may also be left out of it."""
    possible = ~np.isnan(low)
    if not possible.any():
        return None
    low, high, optional = low[possible], high[possible], optional[possible]
    least = -_greatest_mean(-low[~optional], -low[optional])
    return least, _greatest_mean(high[~optional], high[optional])


def _greatest_mean(values: Floats, optional: Floats) -> float:
    """The greatest mean of values and some of the optional ones."""
    candidates = np.sort(optional)[::-1]
    sums = values.sum() + np.concatenate([[0.0], np.cumsum(candidates)])
    sizes = len(values) + np.arange(len(candidates) + 1)
    return float((sums[sizes > 0] / sizes[sizes > 0]).max())


MEASURES = "infAP.concept Bpref.concept"
Cells = Judgements | Mapping[str, Mapping[str, int]] | str | Path


@validate_params
@with_progress
def evaluate_pooled_labels(
    truth: Cells,
    runs: Any,
    measures: str | Iterable[str] = MEASURES,
    *,
    scores: str = "confidence",
    jobs: int | None = None,
    progress: Watcher | None = None,
) -> Scores:
    """Score annotations on the cells of a truth that were judged, concept by concept.

    `truth` is a file (CSV item,concept,value, `?` for a cell of the sample without a judgement) or
    {concept: {item: 1, 0 or -1}}. Measures are `infAP.concept`, `xinfAP.concept`,
    `Bpref.concept`, and those of rankings under their own names.

    >>> cells = {"Sea": {"a": 1, "b": 0, "c": -1}}
    >>> run = {"a": {"Sea": 0.9}, "b": {"Sea": 0.2}, "c": {"Sea": 0.5}}
    >>> evaluate_pooled_labels(cells, {"mine": run}, "infAP.concept").mean()
    {'mine': {'infAP.concept': 1.0}}
    """
    judged = read_pooled_cells(truth) if isinstance(truth, str | Path) else truth
    cells = judged if isinstance(judged, Judgements) else Judgements.from_dict(dict(judged))
    parsed = dict.fromkeys(_named(name) for name in listed_measures(measures))
    named_runs = name_annotations(runs)
    matrices = [coerce_labels(source, name, scores=scores) for name, source in named_runs]
    for matrix in matrices:
        unknown = [c for c in cells.topics if matrix.named and c not in matrix.concepts]
        if unknown:
            raise UsageError(
                f"{matrix.where}: no concept {unknown[0]!r}.{suggest(unknown[0], matrix.concepts)}"
            )
    ranked = {run.name: run for run in concept_rankings(matrices)}
    computed = parse_measures([as_ranked(m) for m in parsed])
    topic_scores = evaluate(cells, ranked, computed, jobs=jobs, progress=progress)
    items = tuple(dict.fromkeys(item for _, item, _ in cells.rows()))
    return _by_concept(topic_scores, tuple(parsed), items, matrices)


def _named(measure: str | Measure) -> Measure:
    if isinstance(measure, Measure):
        return measure
    try:
        return POOLED.find(measure)
    except MeasureError:
        return parse_measures(measure)[0]


def _by_concept(
    scores: Scores, measures: tuple[Measure, ...], items: tuple[str, ...], runs: list[LabelMatrix]
) -> Scores:
    """Scores of rankings in the shape of annotation: topics are concepts."""
    concepts = scores.units["topic"]
    left_out = {m: tuple(scores.left_out(as_ranked(m))) for m in measures}
    counts = [
        {
            "evaluated": scores.evaluated[i],
            "missing": scores.missing[i],
            "left_out": {str(m): left_out[m][i] for m in measures},
        }
        for i in range(len(scores.runs))
    ]
    return replace(
        scores,
        task="labels",
        measures=measures,
        units={"item": items, "concept": concepts},
        unit_of=dict.fromkeys(measures, "concept"),
        values={m: scores.values[as_ranked(m)] for m in measures},
        overall={m: scores.overall[as_ranked(m)] for m in measures},
        missing=tuple(len(set(items).difference(run.items)) for run in runs),
        evaluated=(len(items),) * len(scores.runs),
        run_facts=tuple({"concepts": concept_counts} for concept_counts in counts),
        left=left_out,
    )
