"""Measures of annotation that use grades: how much of a concept an item has.

A truth of 0 and 1 has the grades 0 and 1. Every measure is there per item, over the concepts of an
item, and per concept, over the items of a concept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from cranfield.data.labels import Floats
from cranfield.errors import MeasureError
from cranfield.measures.base import Measure, Param
from cranfield.measures.labels.blocks import (
    ItemBlock,
    LabelPlan,
    PerConcept,
    PerItem,
    PerRankedConcept,
)
from cranfield.measures.labels.concept import EMPTY_SETS
from cranfield.measures.labels.concept import FAMILY as PER_CONCEPT
from cranfield.measures.labels.example import FAMILY as PER_ITEM
from cranfield.references import Source

# (grades, confidences, measure) -> a value per row; a row is a ranking, a column what is ranked.
RowValues: TypeAlias = Callable[[Floats, Floats, Measure], Floats]

_CONFIDENCES = frozenset({"confidences", "grades"})
_LABELS = frozenset({"labels", "grades"})
_TIES = "the mean gain of equal confidences at each of their ranks"
_ONE_GRADE = "all grades or all confidences are equal"
_GAIN = MappingProxyType(
    {"gain": Param(str, "grade", "the gain of a grade g: g, or 2^g - 1 ('exp')", ("grade", "exp"))}
)
_TOP = MappingProxyType(
    {"top": Param(float, 0, "the highest grade; 0: the highest of the truth", low=0.0)}
)
_LEVELS = MappingProxyType(
    {"levels": Param(int, 0, "the highest grade; 0: the highest there is", low=0, high=250)}
)


def tied_gains(gains: Floats, confidences: Floats) -> Floats:
    """The gains of each row in the order of its confidences, equal ones sharing theirs evenly."""
    order = np.argsort(-confidences, axis=1, kind="stable")
    ranked = np.take_along_axis(gains, order, axis=1)
    keys = np.take_along_axis(confidences, order, axis=1)
    begins = np.ones(keys.shape, dtype=bool)
    begins[:, 1:] = keys[:, 1:] != keys[:, :-1]
    groups = np.cumsum(begins.ravel()) - 1
    sums = np.bincount(groups, weights=ranked.ravel())
    means = sums / np.bincount(groups)
    shared: Floats = means[groups].reshape(keys.shape)
    return shared


def discounted_gain(grades: Floats, confidences: Floats, measure: Measure) -> Floats:
    """nDCG of each row; NaN where no grade is above 0."""
    gains = np.exp2(grades) - 1 if measure.value_of("gain") == "exp" else grades
    discounts = 1 / np.log2(np.arange(gains.shape[1]) + 2)
    if measure.at is not None:
        discounts[int(measure.at) :] = 0.0
    # Sums of each row by itself: a product of matrices would depend on how many rows there are.
    actual = (tied_gains(gains, confidences) * discounts).sum(axis=1)
    ideal = (-np.sort(-gains, axis=1) * discounts).sum(axis=1)
    return np.where(ideal > 0, actual / np.where(ideal > 0, ideal, 1.0), np.nan)


def graded_average_precision(grades: Floats, confidences: Floats, measure: Measure) -> Floats:
    """GAP of each row, with equal chances that a user wants each level of grades or more."""
    levels = int(measure.value_of("levels"))
    if (grades != np.round(grades)).any():
        raise MeasureError(f"{measure.name} needs whole grades such as 0, 1, 2, 3")
    if levels and grades.max(initial=0) > levels:
        raise MeasureError(
            f"{measure}: the truth has a grade {grades.max():g}, above levels={levels}"
        )
    order = np.argsort(-confidences, axis=1, kind="stable")
    ranked = np.take_along_axis(grades, order, axis=1)
    highest = levels or int(grades.max(initial=0))
    above = np.zeros(len(grades))
    # Average precision, not yet divided, of users who want a level or more, for each of the levels.
    for level in range(1, highest + 1):
        relevant = ranked >= level
        hits = np.cumsum(relevant, axis=1)
        above += (np.where(relevant, hits, 0.0) / np.arange(1, ranked.shape[1] + 1)).sum(axis=1)
    below = grades.sum(axis=1)
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), np.nan)


def rank_correlation(grades: Floats, confidences: Floats, _: Measure) -> Floats:
    """Spearman's rho of each row: the correlation of the ranks, equal values sharing theirs."""
    from scipy.stats import rankdata

    ranks = [rankdata(values, axis=1) for values in (grades, confidences)]
    centred = [values - values.mean(axis=1, keepdims=True) for values in ranks]
    below = np.sqrt((centred[0] ** 2).sum(axis=1) * (centred[1] ** 2).sum(axis=1))
    above = (centred[0] * centred[1]).sum(axis=1)
    return np.where(below > 0, np.clip(above / np.where(below > 0, below, 1.0), -1, 1), np.nan)


def pair_correlation(grades: Floats, confidences: Floats, _: Measure) -> Floats:
    """Kendall's tau-b of each row."""
    from scipy.stats import kendalltau

    values = np.full(len(grades), np.nan)
    for row, (graded, ranked) in enumerate(zip(grades, confidences, strict=True)):
        if (graded != graded[0]).any() and (ranked != ranked[0]).any():
            values[row] = float(np.clip(kendalltau(graded, ranked).statistic, -1, 1))
    return values


def _of_items(values: RowValues) -> Callable[[Measure], LabelPlan]:
    return lambda measure: PerItem(
        lambda block: values(block.grades, block.confidences, measure), ranked=True
    )


def _of_concepts(values: RowValues) -> Callable[[Measure], LabelPlan]:
    return lambda measure: PerRankedConcept(
        lambda block: values(
            np.ascontiguousarray(block.grades.T), np.ascontiguousarray(block.confidences.T), measure
        )
    )


def _graded_sums(block: ItemBlock, axis: int) -> Floats:
    """Rows: the grades of what was predicted added up, predicted labels, all grades added up."""
    hits = np.where(block.labels, block.grades, 0.0).sum(axis=axis)
    predicted = block.labels.sum(axis=axis, dtype=np.float64)
    return np.array([hits, predicted, block.grades.sum(axis=axis)])


def _divided(above: Floats, below: Floats, counterpart: Floats) -> Floats:
    empty = below == 0
    return np.where(empty, (counterpart == 0) * 1.0, above / np.where(empty, 1.0, below))


def _graded_precision(sums: Floats, top: float) -> Floats:
    hits, predicted, total = sums
    return _divided(hits / top, predicted, total)


def _graded_recall(sums: Floats, _: float) -> Floats:
    hits, predicted, total = sums
    return _divided(hits, total, predicted)


def _graded_f(sums: Floats, top: float) -> Floats:
    precision, recall = _graded_precision(sums, top), _graded_recall(sums, top)
    total = precision + recall
    return np.where(total > 0, 2 * precision * recall / np.where(total > 0, total, 1.0), 0.0)


def _sets_of_items(formula: Callable[[Floats, float], Floats]) -> Callable[[Measure], LabelPlan]:
    return lambda measure: PerItem(
        lambda block: formula(_graded_sums(block, 1), _top_grade(measure, block))
    )


def _sets_of_concepts(
    formula: Callable[[Floats, float], Floats],
) -> Callable[[Measure], LabelPlan]:
    def plan(measure: Measure) -> LabelPlan:
        def sums(block: ItemBlock) -> Floats:
            # Grades as shares of the highest one: what follows needs no other unit.
            scale = np.array([[_top_grade(measure, block)], [1.0], [_top_grade(measure, block)]])
            return np.asarray(_graded_sums(block, 0) / scale)

        return PerConcept(sums, lambda totals, _: formula(totals, 1.0))

    return plan


def _top_grade(measure: Measure, block: ItemBlock) -> float:
    top = float(measure.value_of("top"))
    if top and block.highest > top:
        raise MeasureError(f"{measure}: the truth has a grade {block.highest:g}, above top={top:g}")
    return top or block.highest or 1.0


def _written_gain(measure: Measure) -> str:
    exponential = measure.value_of("gain") == "exp"
    gain, best = ("(2^{g_r}-1)", "(2^{g^*_r}-1)") if exponential else ("g_r", "g^*_r")
    return (
        rf"\frac{{\sum_{{r=1}}^{{k}} {gain}/\log_2(r+1)}}"
        rf"{{\sum_{{r=1}}^{{k}} {best}/\log_2(r+1)}}"
    )


def _ranked_pair(
    name: str,
    values: RowValues,
    *,
    title: str,
    formula: str,
    source: Source,
    summary: str,
    undefined: str,
    params: Mapping[str, Param] = MappingProxyType({}),
    low: float = 0.0,
    cutoff: Literal["none", "optional"] = "none",
    written: Callable[[Measure], str] | None = None,
    ties: str = _TIES,
) -> tuple[Measure, Measure]:
    """A measure over rankings of the concepts of an item, and of the items of a concept."""
    declared = []
    for unit, plan, family in (
        ("example", _of_items, PER_ITEM),
        ("concept", _of_concepts, PER_CONCEPT),
    ):
        left_out = "item" if unit == "example" else "concept"
        full_name = f"{name}.{unit}"
        at_ten = f" {name}@5.{unit}" if cutoff == "optional" else ""
        declared.append(
            Measure(
                name=full_name,
                title=f"{title} per {left_out}",
                formula=formula,
                written=written,
                source=source,
                range=(low, 1.0),
                higher_is_better=True,
                needs=_CONFIDENCES,
                plan=plan(values),
                family=family,
                summary=summary,
                params=params,
                cutoff=cutoff,
                ties=ties,
                undefined=f"{undefined}: {left_out} left out",
                example=full_name + at_ten,
            )
        )
    return declared[0], declared[1]


def _set_pair(
    name: str,
    computed: Callable[[Floats, float], Floats],
    *,
    title: str,
    formula: str,
    summary: str,
) -> tuple[Measure, Measure]:
    """A measure over graded sets of labels, per item and per concept."""
    declared = []
    for unit, plan, family in (
        ("example", _sets_of_items, PER_ITEM),
        ("concept", _sets_of_concepts, PER_CONCEPT),
    ):
        declared.append(
            Measure(
                name=f"{name}.{unit}",
                title=f"{title} per {'item' if unit == 'example' else 'concept'}",
                formula=formula,
                source=Source("kekalainen-jarvelin-2002", "generalized recall and precision"),
                range=(0.0, 1.0),
                higher_is_better=True,
                needs=_LABELS,
                plan=plan(computed),
                family=family,
                summary=summary,
                params=_TOP,
                ties="none",
                undefined=EMPTY_SETS,
                example=f"{name}.{unit} {name}.{unit}(top=3)",
            )
        )
    return declared[0], declared[1]


NDCG = _ranked_pair(
    "nDCG",
    discounted_gain,
    title="Normalized discounted cumulative gain",
    formula=r"\frac{\sum_{r=1}^{k} g_r/\log_2(r+1)}{\sum_{r=1}^{k} g^*_r/\log_2(r+1)}",
    source=Source("jarvelin-kekalainen", deviation="discounts of scikit-learn's ndcg_score"),
    summary="The gains of the grades in the order of the confidences, later ranks counting less, "
    "divided by those of the best order. Equal to scikit-learn's ndcg_score.",
    undefined="no grade above 0",
    params=_GAIN,
    cutoff="optional",
    written=_written_gain,
)

GAP = _ranked_pair(
    "GAP",
    graded_average_precision,
    title="Graded average precision",
    formula=r"\frac{\sum_{n=1}^{N}\frac1n\sum_{m=1}^{n}\delta_{m,n}}"
    r"{\sum_{i=1}^{c}R_i\sum_{j=1}^{i}g_j}",
    source=Source(
        "robertson-gap", "9, 10", "every level of grades is a threshold with the same probability"
    ),
    summary="Average precision where each user takes grades from a level on for relevant, averaged "
    "over users; with the grades 0 and 1 it is average precision.",
    undefined="no grade above 0",
    params=_LEVELS,
    ties="vocabulary order, or the order of items in the truth",
)

SPEARMAN = _ranked_pair(
    "Spearman",
    rank_correlation,
    title="Rank correlation (Spearman)",
    formula=r"\mathrm{corr}\bigl(\mathrm{rank}(g),\mathrm{rank}(f)\bigr)",
    source=Source("spearman-1904"),
    summary="Spearman's rho of grades and confidences, equal values sharing their ranks.",
    undefined=_ONE_GRADE,
    low=-1.0,
    ties="equal values have the mean of their ranks",
)

TAU = _ranked_pair(
    "Tau",
    pair_correlation,
    title="Rank correlation (Kendall)",
    formula=r"\frac{n_c-n_d}{\sqrt{(n_0-n_g)(n_0-n_f)}}",
    source=Source("kendall-1945", "tau-b"),
    summary="Kendall's tau-b of grades and confidences: pairs in the same order less pairs in "
    "opposite orders.",
    undefined=_ONE_GRADE,
    low=-1.0,
    ties="pairs that are equal in one of the two count in its root only",
)

GRADED_P = _set_pair(
    "gP",
    _graded_precision,
    title="Graded precision",
    formula=r"\frac{1}{|Z|}\sum_{z\in Z}\frac{g_z}{g_{\max}}",
    summary="The mean grade of what was predicted, as a share of the highest grade.",
)
GRADED_R = _set_pair(
    "gR",
    _graded_recall,
    title="Graded recall",
    formula=r"\frac{\sum_{z\in Z}g_z}{\sum_{c}g_c}",
    summary="The share of all grades that was predicted.",
)
GRADED_F = _set_pair(
    "gF",
    _graded_f,
    title="Graded F-measure",
    formula=r"\frac{2\,gP\,gR}{gP+gR}",
    summary="Harmonic mean of graded precision and graded recall.",
)

DECLARED = (*NDCG, *GAP, *SPEARMAN, *TAU, *GRADED_P, *GRADED_R, *GRADED_F)
