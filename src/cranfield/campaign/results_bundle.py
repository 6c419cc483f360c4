"""All that a site shows of a task, gathered in one pass over its runs.

While the truth is sealed, names that only the truth knows are not in it, either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cranfield.campaign.estimated import EstimatedScores, score_estimated
from cranfield.campaign.results.results_data import ResultsData
from cranfield.campaign.scoring import score_collection, scored_truth, task_options
from cranfield.campaign.submissions import PublicSet
from cranfield.data.collection import Collection, Kind
from cranfield.evaluation.explanations import Mistakes, score_with_mistakes
from cranfield.evaluation.precision_recall import RECALL_MEASURES
from cranfield.evaluation.scores import Scores
from cranfield.measures import Measure, parse_measures
from cranfield.notes import Progress

if TYPE_CHECKING:
    from cranfield.notes import Watcher


@dataclass(frozen=True)
class ResultsBundle:
    """The material of a task, curves of its topics, and what annotation runs confuse."""

    material: ResultsData
    curve: Scores | None = None
    mistakes: Mistakes | None = None


def gather_results(
    collection: Collection,
    kind: Kind,
    *,
    released: bool = False,
    compare: bool = True,
    jobs: int | None = None,
    progress: Watcher | None = None,
    **options: Any,
) -> ResultsBundle:
    """Score, compare and look at the runs of a task; every run is read once.

    `options` are those of a comparison, which is of all pairs.
    """
    reporter = Progress.of(progress)
    if collection.part(kind).silver is not None:
        return _gather_estimated(collection, kind, released, jobs, reporter, options)
    part = reporter.part(0.0, 0.6)
    named_units: Mapping[str, set[str] | None]
    if kind == "ranked":
        scores, curve, named_units = _score_ranked(collection, jobs, part)
        mistakes = None
    elif kind == "regions":
        scores = score_collection(collection, kind, jobs=jobs, progress=part)
        curve, named_units, mistakes = None, {}, None
    else:
        scores, mistakes = _score_labels(collection, jobs, part)
        curve, named_units = None, mistakes.named
    if not released:
        public = PublicSet.of(collection, kind)
        scores = mask_hidden_units(scores, public, named_units)
        if mistakes is not None:
            mistakes.concepts = scores.units["concept"]
        curve = None if curve is None else replace(curve, units=scores.units)
    material = ResultsData.of(collection, kind, scores=scores, released=released)
    if compare and len(scores.runs) > 1 and _testable(scores):
        tested = [str(m) for m in _testable(scores)]
        material = material.compared(
            **{"baseline": None, "measures": tested, "jobs": jobs or 1, **options},
            progress=reporter.part(0.6, 1.0),
        )
    reporter(1.0)
    return ResultsBundle(material, curve, mistakes)


def _gather_estimated(
    collection: Collection,
    kind: Kind,
    released: bool,
    jobs: int | None,
    progress: Progress,
    options: dict[str, Any],
) -> ResultsBundle:
    """The same from little gold and much silver; what runs confuse is known for gold only."""
    estimate, curve = gather_estimates(collection, kind, jobs, progress, **options)
    mistakes = None if kind == "ranked" else _score_labels(collection, jobs, Progress.of(None))[1]
    scores = estimate.scores
    if not released:
        named_units = {} if mistakes is None else mistakes.named
        scores = mask_hidden_units(scores, PublicSet.of(collection, kind), named_units)
        curve = None if curve is None else replace(curve, units=scores.units)
    material = ResultsData.of(
        collection, kind, scores=scores, comparison=estimate.comparison, released=released
    )
    return ResultsBundle(material, curve, mistakes)


def gather_estimates(
    collection: Collection, kind: Kind, jobs: int | None, progress: Progress, **options: Any
) -> tuple[EstimatedScores, Scores | None]:
    """Estimates of the runs of a collection with silver, and the curves of its topics."""
    arguments: dict[str, Any] = {"jobs": jobs, "progress": progress, **options}
    if kind == "labels":
        return score_estimated(collection, kind, **arguments), None
    reported, levels = _measures(collection)
    arguments |= {"measures": list(map(str, reported)), "further": list(map(str, levels))}
    estimate = score_estimated(collection, kind, **arguments)
    return estimate, estimate.units.select(levels)


def _testable(scores: Scores) -> list[Any]:
    return [m for m in scores.measures if m in scores.values and scores.is_mean(m)]


def _score_ranked(
    collection: Collection, jobs: int | None, progress: Progress
) -> tuple[Scores, Scores, dict[str, set[str] | None]]:
    """The scores under the collection's measures, precision at levels of recall, and the topics
    that runs have something for."""
    reported, levels = _measures(collection)
    (counted,) = parse_measures("NumRet")
    names = [str(m) for m in dict.fromkeys([*reported, *levels, counted])]
    scores = score_collection(collection, "ranked", measures=names, jobs=jobs, progress=progress)
    largest = scores.values[counted].max(axis=0)
    topics = {
        topic for topic, count in zip(scores.units["topic"], largest, strict=True) if count > 0
    }
    return scores.select(reported), scores.select(levels), {"topic": topics}


def _measures(collection: Collection) -> tuple[Sequence[Measure], Sequence[Measure]]:
    """The measures of the rankings, and precision at levels of recall."""
    from cranfield.evaluation.ranked import DEFAULT_MEASURES

    reported = parse_measures(list(collection.part("ranked").measures) or DEFAULT_MEASURES)
    return reported, parse_measures(RECALL_MEASURES)


def _score_labels(
    collection: Collection, jobs: int | None, progress: Progress
) -> tuple[Scores, Mistakes]:
    """The scores of annotation runs, and their mistakes."""
    part, truth = collection.part("labels"), scored_truth(collection, "labels")
    options = task_options(collection, "labels")
    names = list(part.measures) or None
    return score_with_mistakes(truth, part.runs, names, jobs=jobs, progress=progress, **options)


def mask_hidden_units(
    scores: Scores, public: PublicSet, named_units: Mapping[str, set[str] | None] | None = None
) -> Scores:
    """The same scores; topics, items and concepts that only the truth names have no name.

    Where the collection does not tell which are public, those are that runs have `named_units`.
    """
    units, hidden = dict(scores.units), set()
    for unit, listed_names in (
        ("topic", public.topics),
        ("item", public.items),
        ("concept", public.concepts),
    ):
        public_names = (named_units or {}).get(unit) if listed_names is None else set(listed_names)
        if unit in units and public_names is not None:
            units[unit], secret = _mask_names(unit, units[unit], public_names)
            hidden |= secret
    notes = tuple(note for note in scores.notes if not any(name in note for name in hidden))
    return replace(scores, units=units, notes=notes)


def _mask_names(
    unit: str, names: Sequence[str], public_names: set[str]
) -> tuple[tuple[str, ...], set[str]]:
    masked, hidden = [], set()
    for name in names:
        if name not in public_names:
            hidden.add(name)
            name = f"sealed {unit} {len(hidden)}"
        masked.append(name)
    return tuple(masked), hidden
