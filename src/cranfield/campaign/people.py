"""What runs are worth to people who voted for categories or made lists, without any judgement."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cranfield.campaign.item_texts import read_texts
from cranfield.campaign.results.results_data import Cell, ResultColumn, ResultPart
from cranfield.campaign.scoring import task_options
from cranfield.campaign.views import View, count, text
from cranfield.errors import UsageError
from cranfield.evaluation.category_votes import UncertainScores, evaluate_opinions
from cranfield.evaluation.displacement import DisplacementScores, evaluate_displacement
from cranfield.io.coerce import read_runs
from cranfield.io.votes import read_subject_rankings
from cranfield.notes import Progress

if TYPE_CHECKING:
    from cranfield.data.collection import Collection

# The depth by which runs are compared, and those at which precision and recall are shown.
DEPTH = 10
DEPTHS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100)
TITLE = "Without judgements"
SOURCE = "Sa 2-4"


def asked_people(collection: Collection) -> bool:
    """Whether a collection has runs, and votes or lists of people to hold against them."""
    has_votes = collection.subject_categories is not None and bool(collection.category_parents)
    return bool(collection.runs) and (has_votes or collection.subject_rankings is not None)


@dataclass(frozen=True)
class People:
    """The tables of both kinds of opinions, and the scores under votes, which are drawn."""

    view: View
    votes: UncertainScores | None


def people_results(
    collection: Collection, *, jobs: int | None = None, progress: Progress | None = None
) -> People:
    """What runs are worth to the people of a collection."""
    progress = progress or Progress()
    notes: list[str] = []
    votes: UncertainScores | None = None
    try:
        votes = _votes(collection, jobs, progress.part(0.0, 0.7))
    except UsageError as error:
        # Beside judgements these tables are more than was asked for: the reason stands there then.
        if collection.judgements is None:
            raise
        notes.append(f"no tables of votes: {error}")
    lists = _lists(collection, jobs, progress.part(0.7, 1.0))
    parts: list[ResultPart] = []
    verdict: list[str] = []
    if votes is not None:
        parts += [_means(votes), _better(votes), _bands(votes)]
        best = max(votes.runs, key=lambda run: votes.mean(run, "precision")[0])
        value, spread = votes.mean(best, "precision")
        verdict.append(
            f"{best} has the highest expected precision of the first {DEPTH} items, {value:.4f} "
            f"(standard deviation by the votes {spread:.4f})."
        )
    if lists is not None:
        parts += [_displacements(lists), _by_person(lists)]
        means = lists.mean(lists.measures[0])
        nearest = int(means.argmin())
        verdict.append(
            f"{lists.runs[nearest]} is nearest to the lists of {len(lists.subjects)} people: its "
            f"items stand {means[nearest]:.4g} places away by weight."
        )
    facts = {
        "topics": len(next(iter(votes.runs.values()))) if votes else None,
        "people": len(lists.subjects) if lists else None,
        "notes": [*notes, *(n for answer in (votes, lists) if answer for n in answer.notes)],
    }
    view = View("people", TITLE, SOURCE, tuple(parts), facts=facts, verdict=tuple(verdict))
    return People(view, votes)


def _votes(collection: Collection, jobs: int | None, progress: Progress) -> UncertainScores | None:
    if collection.subject_categories is None or collection.category_parents is None:
        return None
    return evaluate_opinions(
        collection.subject_categories,
        collection.category_parents,
        list(collection.runs),
        queries=read_texts(collection).topic_items or None,
        k=DEPTH,
        bands=DEPTHS,
        rng=collection.seed,
        jobs=jobs,
        progress=progress,
    )


def _lists(
    collection: Collection, jobs: int | None, progress: Progress
) -> DisplacementScores | None:
    if collection.subject_rankings is None:
        return None
    return evaluate_displacement(
        read_subject_rankings(collection.subject_rankings),
        read_runs(list(collection.runs), jobs=jobs),
        collection_size=task_options(collection, "ranked")["collection_size"],
        rng=collection.seed,
        progress=progress,
    )


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _numbers(values: Iterable[float]) -> tuple[float | None, ...]:
    return tuple(_number(value) for value in values)


def _means(scores: UncertainScores) -> ResultPart:
    rows: list[tuple[Cell, ...]] = []
    for run in scores.runs:
        values = [x for what in ("precision", "recall") for x in scores.mean(run, what)]
        rows.append((run, *_numbers(values)))
    columns = (
        text("run"),
        ResultColumn("precision", f"P@{DEPTH}", better="max"),
        ResultColumn("precision_sd", "sd"),
        ResultColumn("recall", f"R@{DEPTH}", better="max"),
        ResultColumn("recall_sd", "sd"),
    )
    note = "expected values under the votes, means over topics; sd: of that mean, by the votes"
    rows.sort(key=lambda row: -(row[1] if isinstance(row[1], float) else 0.0))
    title = "Precision and recall when people disagree"
    return ResultPart("votes", title, columns, tuple(rows), (note,))


def _better(scores: UncertainScores) -> ResultPart:
    rows = tuple(
        (pair.a, pair.b, odds.better, odds.equal, odds.worse, _number(pair.p))
        for pair in scores.comparisons
        for odds in [pair.overall]
    )
    columns = (
        text("a"),
        text("b"),
        ResultColumn("a_better", "a better"),
        ResultColumn("equal"),
        ResultColumn("b_better", "b better"),
        ResultColumn("p"),
    )
    notes = (
        f"probability, over what the votes leave open, that a run has the higher mean P@{DEPTH}",
        "p: paired randomisation test of the expected values over topics",
    )
    return ResultPart("better", "Which run is better", columns, rows, notes)


def _bands(scores: UncertainScores) -> ResultPart:
    rows = tuple((b.run, b.k, *_numbers(b.precision), *_numbers(b.recall)) for b in scores.bands)
    ends = [
        ResultColumn(f"{what}_{end}", f"{what} {end}" if end != "mean" else what)
        for what in ("precision", "recall")
        for end in ("mean", "low", "high")
    ]
    columns = (text("run"), count("k"), *ends)
    note = "low and high: a band of nine tenths of the chances"
    return ResultPart("bands", "Precision and recall by depth", columns, rows, (note,))


def _displacements(scores: DisplacementScores) -> ResultPart:
    rows: list[tuple[Cell, ...]] = []
    for r, run in enumerate(scores.runs):
        cells = [
            value
            for m in scores.measures
            for value in _numbers((scores.mean(m)[r], scores.spread(m)[r]))
        ]
        rows.append((run, *cells, scores.absent[r], scores.listed))
    columns = [text("run")]
    for m in scores.measures:
        better = "max" if m.higher_is_better else "min"
        columns += [ResultColumn(str(m), better=better), ResultColumn(f"{m}_sd", "sd")]
    columns += [count("not_retrieved", "not retrieved"), count("listed")]
    rows.sort(key=lambda row: row[1] if isinstance(row[1], float) else math.inf)
    note = "means over people and topics; sd: between people"
    title = "How far rankings are from people's lists"
    return ResultPart("displacement", title, tuple(columns), tuple(rows), (note,))


def _by_person(scores: DisplacementScores) -> ResultPart:
    """People are numbered: a page that may be public does not name them."""
    first = str(scores.measures[0])
    by_run: dict[str, list[float]] = {}
    for row in scores.subject_rows():
        by_run.setdefault(str(row["run"]), []).append(float(row[first]))
    people = max(map(len, by_run.values()))
    numbers = range(1, people + 1)
    columns = (text("run"), *(ResultColumn(f"person_{n}", f"person {n}") for n in numbers))
    rows = tuple((run, *_numbers(values)) for run, values in by_run.items())
    return ResultPart("people", f"{first} of each person", columns, rows)
