"""A collection with little gold and much silver: its runs scored by both truths, and compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cranfield.campaign.scoring import TRUTH, only_kind, score_collection, task_options
from cranfield.comparison.answer import Comparison
from cranfield.comparison.joined import combine_scores, comparison_from_ppi
from cranfield.comparison.ppi import check_units, evaluate_powered, powered
from cranfield.data.collection import Collection, Kind
from cranfield.data.labels import LabelMatrix
from cranfield.errors import NeedsError, UsageError
from cranfield.evaluation.scores import Scores
from cranfield.notes import Progress

# The key of a collection that names the silver of each kind of task.
SILVER: dict[Kind, str] = {"ranked": "silver", "labels": "label_silver"}

if TYPE_CHECKING:
    from cranfield.comparison.ppi import PoweredScores
    from cranfield.data import Judgements
    from cranfield.notes import Watcher


@dataclass(frozen=True)
class EstimatedScores:
    """Estimated scores of runs with their comparison, as boards and pages take them.

    `units` has the values of single units under all measures that were asked for: gold where
    there is gold, else silver; `answer` is what little gold and much silver say in full.
    """

    scores: Scores
    comparison: Comparison
    units: Scores
    answer: PoweredScores


def with_truths(
    collection: Collection, kind: Kind | None, gold: str | Path | None, silver: str | Path | None
) -> Collection:
    """The collection with another gold or silver; with neither as it is."""
    if gold is None and silver is None:
        return collection
    task = only_kind(collection, kind)
    if task not in SILVER:
        raise UsageError("gold= and silver= are for rankings and annotations, not for boxes")
    part = collection.part(task)
    # Where only gold is given and there is no silver, the truth that is there becomes it.
    silver_file = silver or part.silver or part.truth
    if silver_file is None:
        raise NeedsError(f"{collection.folder / 'collection.toml'} has no {TRUTH[task]}")
    truths: dict[str, Any] = {TRUTH[task]: Path(gold) if gold else part.truth}
    truths[SILVER[task]] = Path(silver_file)
    return replace(collection, **truths)


def under_silver(collection: Collection, kind: Kind, silver: str | Path) -> Collection:
    """The collection with the silver for its truth, as if there were nothing else."""
    truths: dict[str, Any] = {TRUTH[kind]: Path(silver), SILVER[kind]: None}
    return replace(collection, **truths)


def estimates(gold: Scores, silver: Scores, **options: Any) -> tuple[Scores, Comparison]:
    """What scores of the same runs under both truths say together, for boards and pages."""
    answer = powered(gold, silver, pairs=len(gold.runs) > 1, **options)
    return comparison_from_ppi(answer, combine_scores(gold, silver))


def check_estimable(collection: Collection, kind: Kind) -> None:
    """An error where runs that come one by one cannot be estimated from gold and silver."""
    from cranfield.campaign.results.results_data import read_truth

    part = collection.part(kind)
    if part.silver is None or part.truth is None:
        return
    if _has_strata(collection, kind):
        raise UsageError(
            f"{collection.folder}: sampled pairs with silver= are estimated from all runs at once; "
            "the site of a campaign takes whole topics"
        )
    collections = (collection, under_silver(collection, kind, part.silver))
    gold, silver = (_units(read_truth(source, kind)) for source in collections)
    check_units(gold, silver, "topic" if kind == "ranked" else "item")


def _units(truth: Judgements | LabelMatrix) -> Sequence[str]:
    return truth.items if isinstance(truth, LabelMatrix) else truth.topics


def score_estimated(
    collection: Collection,
    kind: Kind,
    *,
    measures: Sequence[str] | None = None,
    further: Sequence[str] = (),
    concepts: Sequence[str] | None = None,
    jobs: int | None = None,
    progress: Watcher | None = None,
    **options: Any,
) -> EstimatedScores:
    """Estimate what the runs of a collection are worth, and every difference of two.

    `further` measures have values of single units only. `options` are those of `powered`.
    """
    reporter = Progress.of(progress)
    part = collection.part(kind)
    names = list(measures or part.measures) or None
    all_names = None if names is None else list(dict.fromkeys([*names, *further]))
    arguments: dict[str, Any] = {"measures": all_names, "concepts": concepts, "jobs": jobs}
    options = {"rng": collection.seed, **options}
    pairs = len(part.runs) > 1
    silver = score_collection(
        collection, kind, truth=part.silver, progress=reporter.part(0.0, 0.4), **arguments
    )
    if _has_strata(collection, kind):
        answer = evaluate_powered(
            collection.need("judgements"),
            part.silver,
            part.runs,
            names,
            pairs=pairs,
            jobs=jobs,
            progress=reporter.part(0.4, 1.0),
            **task_options(collection, kind),
            **options,
        )
        units = silver
    else:
        gold = score_collection(collection, kind, progress=reporter.part(0.4, 0.7), **arguments)
        reported = [m for m in gold.measures if str(m) not in further or str(m) in (names or ())]
        answer = powered(
            gold.select(reported),
            silver.select(reported),
            pairs=pairs,
            jobs=jobs or 1,
            progress=reporter.part(0.7, 1.0),
            **options,
        )
        units = combine_scores(gold, silver)  # which relies on what was checked before
    return EstimatedScores(*comparison_from_ppi(answer, units), units, answer)


def _has_strata(collection: Collection, kind: Kind) -> bool:
    from cranfield.io import read_qrels

    return kind == "ranked" and read_qrels(collection.need("judgements")).strata is not None
