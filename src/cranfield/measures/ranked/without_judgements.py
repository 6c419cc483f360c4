"""Measures without judgements: by rankings of people, votes for categories, or another run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from cranfield.errors import NeedsError
from cranfield.measures.base import Measure, Param
from cranfield.measures.ranked.kernel_calls import Context, KernelCall
from cranfield.references import Source

FAMILY = "without ground truth"
_SOURCE = "santini-no-ground-truth"

# The person's list (items with significances), the system's ranks, the size of the collection.
Comparison: TypeAlias = Callable[
    [Sequence[tuple[str, float]], Mapping[str, int], int | None], float
]


def displacement(
    ideal: Sequence[tuple[str, float]],
    place: Mapping[str, int],
    *,
    missing: str,
    size: int | None,
    name: str = "Displacement",
) -> float:
    """Weighted displacement (eq. 17, 21-23) of a system's ranks from a person's list.

    >>> displacement([("a", 1.0), ("b", 0.5)], {"b": 1, "a": 2}, missing="worst", size=None)
    1.5
    """
    gaps = distances(ideal, place, missing=missing, size=size, name=name)
    return float(sum(s * d for s, d in gaps))


def distances(
    ideal: Sequence[tuple[str, float]],
    place: Mapping[str, int],
    *,
    missing: str,
    size: int | None,
    name: str,
) -> Iterator[tuple[float, float]]:
    """The significance of each item of a person's list, and how far its two ranks are apart."""
    absent = [item for item, _ in ideal if item not in place]
    if absent and missing != "optimist" and size is None:
        raise NeedsError(
            f"{name} needs the number of items in the collection, as item {absent[0]!r} was not "
            "retrieved: pass collection_size=N or missing='optimist'"
        )
    below, end = len(place), float(size or 0)
    behind = 0
    for rank, (item, significance) in enumerate(ideal, start=1):
        if item in place:
            distance = float(abs(rank - place[item]))
        else:
            behind += 1
            distance = {
                "optimist": abs(rank - (below + behind)),
                "average": abs(rank - 0.5 * (below + 1 + end)),
                "printed": end,
            }.get(missing, abs(rank - (end - len(absent) + behind)))
        yield significance, distance


def _plan_displacement(measure: Measure, context: Any) -> Comparison:
    _refuse_in_eval(measure, context)
    missing = str(measure.value_of("missing"))

    def compare(
        ideal: Sequence[tuple[str, float]], place: Mapping[str, int], size: int | None
    ) -> float:
        return displacement(ideal, place, missing=missing, size=size, name=str(measure))

    return compare


def _plan_divergence(measure: Measure, context: Any) -> Comparison:
    _refuse_in_eval(measure, context)
    missing = str(measure.value_of("missing"))

    def compare(
        ideal: Sequence[tuple[str, float]], place: Mapping[str, int], size: int | None
    ) -> float:
        gaps = distances(ideal, place, missing=missing, size=size, name=str(measure))
        last = max(size or 0, len(place), len(ideal))
        apart = largest = 0.0
        for rank, (significance, gap) in enumerate(gaps, start=1):
            apart += significance * gap**2
            largest += significance * max(rank - 1, last - rank) ** 2
        return apart / largest if largest > 0 else 0.0

    return compare


def _plan_quality(measure: Measure, context: Any) -> Comparison:
    inner = _plan_displacement(measure, context)
    power, rate = float(measure.value_of("p")), float(measure.value_of("lam"))
    rational = measure.value_of("g") == "rational"

    def compare(
        ideal: Sequence[tuple[str, float]], place: Mapping[str, int], size: int | None
    ) -> float:
        w = inner(ideal, place, size)
        return float((1 + w) ** -power) if rational else math.exp(-rate * w)

    return compare


def _written_quality(measure: Measure) -> str:
    quality = "(1+w)^{-p}" if measure.value_of("g") == "rational" else r"e^{-\lambda w}"
    return rf"q = {quality}, \quad w = \sum_k s_k |k - \pi_k|"


def _refuse_in_eval(measure: Measure, context: Any) -> None:
    if context is not None:
        raise NeedsError(
            f"{measure} compares a run with ranked lists of people, not with judgements: use "
            "cranfield eval displacement SUBJECTS.csv RUN..."
        )


def _votes_only(measure: Measure, _: Any) -> Any:
    raise NeedsError(
        f"{measure} needs votes for categories, not judgements: use "
        "cranfield eval votes VOTES.csv TREE.csv RUN..."
    )


_MISSING = Param(
    str,
    "worst",
    "where items of the person's list stand that were not retrieved: 'worst' (the last ranks of "
    "the collection; Santini's exact pessimist, also written 'pessimist'), 'average', 'optimist' "
    "(right after the ranking), or 'printed' (each counts N, eq. 23)",
    choices=("worst", "pessimist", "average", "optimist", "printed"),
)
_UNPRINTED = Param(
    str,
    "worst",
    "where items of the person's list stand that were not retrieved: 'worst' (the last ranks of "
    "the collection), 'average' or 'optimist' (right after the ranking)",
    choices=("worst", "average", "optimist"),
)
_LISTS = frozenset({"ranking", "subjects"})
_VOTES = frozenset({"ranking", "votes"})

DISPLACEMENT = Measure(
    name="Displacement",
    title="Weighted displacement",
    summary="How many ranks the items of a person's list are away from where that person put "
    "them, weighed by their significance and summed. The mean is over topics, then subjects.",
    formula=r"w = \sum_k s_k |k - \pi_k|",
    source=Source(
        _SOURCE,
        equations="17, 21-23",
        deviation="eq. 23 lets every missing item count N; missing='printed' keeps that",
    ),
    range=(0.0, math.inf),
    higher_is_better=False,
    needs=_LISTS,
    plan=_plan_displacement,
    params=MappingProxyType({"missing": _MISSING}),
    family=FAMILY,
    missing="by the parameter missing; items outside the person's list do not count",
    undefined="no list for the topic: left out of the subject's mean",
    example="Displacement Displacement(missing='optimist')",
)

DISPLACEMENT_QUALITY = Measure(
    name="DisplacementQuality",
    title="Quality by weighted displacement",
    summary="Weighted displacement w brought to (0, 1], where 1 is the person's own order: "
    "1 / (1 + w)^p or exp(-lam w).",
    formula=r"q = (1+w)^{-p}, \quad w = \sum_k s_k |k - \pi_k|",
    written=_written_quality,
    source=Source(_SOURCE, equations="18"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=_LISTS,
    plan=_plan_quality,
    params=MappingProxyType(
        {
            "g": Param(
                str,
                "rational",
                "'rational': 1 / (1 + w)^p; 'exponential': exp(-lam w)",
                choices=("rational", "exponential"),
            ),
            "p": Param(float, 1, "power of the rational form", low=0),
            "lam": Param(float, 1, "rate of the exponential form", low=0),
            "missing": _MISSING,
        }
    ),
    family=FAMILY,
    missing="by the parameter missing",
    undefined="no list for the topic: left out of the subject's mean",
    example="DisplacementQuality DisplacementQuality(g='exponential', lam=0.1)",
)

DIVERGENCE = Measure(
    name="Divergence",
    title="Divergence from a person's ranking",
    summary="The squared distances of ranks, weighed by significance, as a share of what they "
    "could be: 0 for the person's own order. An extension of ours: Ch 6 cites a divergence of "
    "user rankings without its formula.",
    formula=r"\frac{\sum_k s_k (k - \pi_k)^2}{\sum_k s_k \max(k-1, N-k)^2}",
    source=Source("cranfield-extensions", "after Ch 6"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=_LISTS,
    plan=_plan_divergence,
    params=MappingProxyType({"missing": _UNPRINTED}),
    family=FAMILY,
    missing="by the parameter missing; items outside the person's list do not count",
    undefined="no list for the topic: left out of the subject's mean",
    example="Divergence",
)

UNCERTAIN_P = Measure(
    name="UncertainP",
    title="Precision under uncertain categories",
    summary="The number of the first k items that are of the query's category, over k, as a "
    "distribution: an item is of a category with the share of people who say so.",
    formula=r"\Pr\{P = j/k\} = \sum_\omega p(\omega|q) \Pr\{\textstyle\sum_{i \le k} X_i^\omega "
    r"= j\}, \quad X_i^\omega \sim p(\omega | r_i)",
    source=Source(
        _SOURCE,
        equations="6-11, 13",
        deviation="eq. 11 divides the probability by n; eq. 13 weighs nested categories, whose "
        "probabilities sum to more than 1: the share of votes for each is taken instead",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=_VOTES,
    plan=_votes_only,
    cutoff="required",
    family=FAMILY,
    missing="items without votes are an error, or of no category",
    undefined="nothing retrieved: 0 for certain",
    example="UncertainP@10",
)

UNCERTAIN_R = Measure(
    name="UncertainR",
    title="Recall under uncertain categories",
    summary="The number of the first k items that are of the query's category, over the "
    "expected size of the category, as a distribution. It can exceed 1 for small categories.",
    formula=r"\Pr\{R = j/|\omega|\}, \quad |\omega| = \sum_i p(\omega | i)",
    source=Source(
        _SOURCE,
        equations="9, 12, 14",
        deviation="eq. 12 divides the probability by the size; the value is divided, not it",
    ),
    range=(0.0, math.inf),
    higher_is_better=True,
    needs=_VOTES,
    plan=_votes_only,
    cutoff="required",
    family=FAMILY,
    missing="items without votes are an error, or of no category",
    undefined="a category without items: no value",
    example="UncertainR@10",
)

OVERLAP_FAMILY = "runs against a run"


def _no_judgements(measure: Measure, _: Context) -> KernelCall:
    raise NeedsError(
        f"{measure} compares runs with another run, not with judgements: in Python, "
        "cranfield.overlap_of_runs(reference, runs)"
    )


RBO = Measure(
    name="RBO",
    title="Rank-biased overlap",
    summary="How much two rankings share from the top down, where rank d weighs p^(d-1), "
    "extrapolated beyond their ends. With a cutoff both are cut there first.",
    formula=r"(1-p)\sum_{d\ge1} p^{d-1}\,\frac{|S_{1:d}\cap T_{1:d}|}{d}",
    source=Source("webber-rbo", equations="32"),
    range=(0.0, 1.0),
    higher_is_better=None,
    needs=frozenset({"ranking", "reference"}),
    plan=_no_judgements,
    params=MappingProxyType(
        {"p": Param(float, 0.9, "persistence: how deep it looks", low=1e-6, high=1 - 1e-6)}
    ),
    cutoff="optional",
    family=OVERLAP_FAMILY,
    undefined="both rankings empty: 1; one of them: 0",
    example="RBO RBO@100(p=0.98)",
)

DECLARED = (DISPLACEMENT, DISPLACEMENT_QUALITY, DIVERGENCE, UNCERTAIN_P, UNCERTAIN_R, RBO)
