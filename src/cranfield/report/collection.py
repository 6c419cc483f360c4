"""The report of a collection: all of its tasks and its annotators on one self-contained page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cranfield.agreement.agreement import assess_agreement
from cranfield.campaign.estimated import with_truths
from cranfield.campaign.item_texts import picture_files, read_texts
from cranfield.campaign.people import asked_people, people_results
from cranfield.campaign.results_bundle import gather_estimates
from cranfield.campaign.scoring import scored_boxes, scored_truth, task_options
from cranfield.data.collection import Collection, Kind
from cranfield.errors import NeedsError
from cranfield.evaluation.ranked import DEFAULT_MEASURES
from cranfield.io.collection import read_collection
from cranfield.io.judgement_log import read_judgement_log
from cranfield.notes import Progress, with_progress
from cranfield.report.cases import (
    ComparedScores,
    RankedCase,
    label_case,
    ranked_case,
    region_case,
)
from cranfield.report.document import document_of
from cranfield.report.gallery import add_box_pictures, folder_sheet, picture_sheet
from cranfield.report.html_report import TITLES, case_section
from cranfield.report.page import report_page
from cranfield.report.sections import Section, table_section
from cranfield.report.tables.evaluation import leaderboard
from cranfield.validation import validate_params

if TYPE_CHECKING:
    from cranfield.notes import Watcher


@validate_params
@with_progress
def collection_report(
    collection: Collection | str | Path,
    *,
    public: bool = False,
    title: str | None = None,
    kinds: Sequence[Kind] | None = None,
    baseline: str | None = None,
    gold: str | Path | None = None,
    silver: str | Path | None = None,
    about: Mapping[str, str] | None = None,
    pictures: str | Path | None = None,
    jobs: int | None = None,
    progress: Watcher | None = None,
) -> str:
    """The page: a part for the rankings, one for the annotations, one for the annotators.

    A public one says nothing of the truth of single items, and leaves the annotators out.
    `about` is shown on top: a line each for the date, the command, the files. Items have their
    pictures: those of the folder `pictures`, of the collection's own folder, or of its sheet.
    `gold` and `silver` replace the collection's: means are estimated then from little gold.
    """
    loaded = collection if isinstance(collection, Collection) else read_collection(collection)
    kinds = None if kinds is None else tuple(kinds)
    loaded = with_truths(loaded, kinds[0] if kinds else None, gold, silver)
    tasks = [k for k in kinds or loaded.kinds if loaded.part(k).runs and loaded.part(k).truth]
    if not tasks and not asked_people(loaded):
        raise NeedsError(f"{loaded.folder} has no runs with a truth to score them by")
    tracker = Progress.of(progress)
    sections = []
    for i, kind in enumerate(tasks):
        part = tracker.part(0.9 * i / len(tasks), 0.9 * (i + 1) / len(tasks))
        if loaded.part(kind).silver is not None:
            sections += _estimated(loaded, kind, public, jobs, part)
            continue
        case = _case(loaded, kind, baseline, jobs, part)
        board = [leaderboard(case.scores)]
        sections.append(case_section(case, tables=board, title=TITLES[kind], public=public))
    if kinds is None and asked_people(loaded):
        view = people_results(loaded, jobs=jobs, progress=tracker.part(0.9, 1.0)).view
        notes = [*view.verdict, *view.facts["notes"]]
        sections.append(table_section(view.title, document_of(view).tables, notes))
    if loaded.judgement_log is not None and not public:
        sections.append(_agreement(loaded.judgement_log))
    images = None if public else _images(loaded, sections, pictures)
    name = title or loaded.title or loaded.name
    return report_page(name, sections, images=images, about=about)


def _images(
    collection: Collection, sections: Sequence[Section], pictures: str | Path | None
) -> dict[str, Any] | None:
    texts = read_texts(collection)
    files = texts.pictures if pictures is None else picture_files(Path(pictures))
    add_box_pictures(files, sections)
    if collection.images is not None and pictures is None:
        return picture_sheet(collection.images, texts.topic_items)
    return folder_sheet(files, sections, texts.topic_items)


def _case(
    collection: Collection, kind: Kind, baseline: str | None, jobs: int | None, progress: Progress
) -> ComparedScores:
    part = collection.part(kind)
    baseline_run = baseline or part.baseline or None
    options: dict[str, Any] = {"jobs": jobs, "progress": progress, **task_options(collection, kind)}
    options["compare"] = {"rng": collection.seed} | (
        {} if baseline_run is None else {"baseline": baseline_run}
    )
    measures = list(part.measures)
    if kind == "regions":
        return region_case(scored_boxes(collection), part.runs, measures or None, **options)
    truth = scored_truth(collection, kind)
    if kind == "ranked":
        return ranked_case(truth, part.runs, measures or DEFAULT_MEASURES, **options)
    return label_case(truth, part.runs, measures or None, **options)


def _estimated(
    collection: Collection, kind: Kind, public: bool, jobs: int | None, progress: Progress
) -> list[Section]:
    """Estimates from little gold and much silver: the runs, and all that was found of them."""
    estimate, curve = gather_estimates(collection, kind, jobs, progress)
    case = ComparedScores(estimate.scores, estimate.comparison)
    if curve is not None:
        case = RankedCase(estimate.scores, estimate.comparison, curve=curve)
    board = document_of(estimate.comparison, parts=("leaderboard",)).tables
    section = case_section(case, tables=board, title=TITLES[kind], public=public)
    document = document_of(estimate.answer)
    return [section, table_section(f"{TITLES[kind]}: gold and silver", document.tables)]


def _agreement(log: Path) -> Section:
    agreement = assess_agreement(read_judgement_log(log))
    return table_section("Agreement", document_of(agreement).tables, agreement.notes)
