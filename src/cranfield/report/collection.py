"""The report of a collection: both of its tasks and its annotators on one self-contained page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cranfield.agreement.study import assess_agreement
from cranfield.campaign.estimated import with_truths
from cranfield.campaign.item_texts import picture_files, read_texts
from cranfield.campaign.results_bundle import gather_estimated
from cranfield.campaign.scoring import scored_truth, task_options
from cranfield.data.collection import Collection, Kind
from cranfield.errors import NeedsError
from cranfield.evaluation.ranked import DEFAULT_MEASURES
from cranfield.io.collection import read_collection
from cranfield.io.judgement_log import read_judgement_log
from cranfield.notes import Progress, with_progress
from cranfield.report.cases import Compared, RankedCase, label_case, ranked_case
from cranfield.report.page import report_page
from cranfield.report.parts import TITLES, case_section
from cranfield.report.sections import Section, table_section
from cranfield.report.tables import document_of
from cranfield.report.tables.scores import leaderboard
from cranfield.report.thumbnails import folder_sheet, picture_sheet
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
    held = collection if isinstance(collection, Collection) else read_collection(collection)
    kinds = None if kinds is None else tuple(kinds)
    held = with_truths(held, kinds[0] if kinds else None, gold, silver)
    chosen = [k for k in kinds or held.kinds if held.part(k).runs and held.part(k).truth]
    if not chosen:
        raise NeedsError(f"{held.folder} has no runs with a truth to score them by")
    told = Progress.of(progress)
    sections = []
    for i, kind in enumerate(chosen):
        part = told.part(i / len(chosen), (i + 1) / len(chosen))
        if held.part(kind).silver is not None:
            sections += _estimated(held, kind, public, jobs, part)
            continue
        case = _case(held, kind, baseline, jobs, part)
        board = [leaderboard(case.scores)]
        sections.append(case_section(case, tables=board, title=TITLES[kind], public=public))
    if held.judgement_log is not None and not public:
        sections.append(_agreement(held.judgement_log))
    images = None if public else _images(held, sections, pictures)
    name = title or held.title or held.name
    return report_page(name, sections, images=images, about=about)


def _images(
    held: Collection, sections: Sequence[Section], pictures: str | Path | None
) -> dict[str, Any] | None:
    texts = read_texts(held)
    files = texts.pictures if pictures is None else picture_files(Path(pictures))
    if held.images is not None and pictures is None:
        return picture_sheet(held.images, texts.topic_items)
    return folder_sheet(files, sections, texts.topic_items)


def _case(
    held: Collection, kind: Kind, baseline: str | None, jobs: int | None, told: Progress
) -> Compared:
    part, truth = held.part(kind), scored_truth(held, kind)
    known = baseline or part.baseline or None
    options: dict[str, Any] = {"jobs": jobs, "progress": told, **task_options(held, kind)}
    options["compare"] = {"rng": held.seed} | ({} if known is None else {"baseline": known})
    measures = list(part.measures)
    if kind == "ranked":
        return ranked_case(truth, part.runs, measures or DEFAULT_MEASURES, **options)
    return label_case(truth, part.runs, measures or None, **options)


def _estimated(
    held: Collection, kind: Kind, public: bool, jobs: int | None, told: Progress
) -> list[Section]:
    """Estimates from little gold and much silver: the runs, and all that was found of them."""
    found, curve = gather_estimated(held, kind, jobs, told)
    case = Compared(found.scores, found.comparison)
    if curve is not None:
        case = RankedCase(found.scores, found.comparison, curve=curve)
    board = document_of(found.comparison, parts=("leaderboard",)).tables
    section = case_section(case, tables=board, title=TITLES[kind], public=public)
    document = document_of(found.answer)
    return [section, table_section(f"{TITLES[kind]}: gold and silver", document.tables)]


def _agreement(log: Path) -> Section:
    found = assess_agreement(read_judgement_log(log))
    return table_section("Agreement", document_of(found).tables, found.notes)
