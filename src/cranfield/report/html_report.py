"""The parts of the report about runs, made of cases, and pages made of parts."""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from cranfield.errors import UsageError
from cranfield.evaluation.scores import Scores
from cranfield.report.cases import ComparedScores, LabelCase, RankedCase, RegionCase
from cranfield.report.document import Table, document_of
from cranfield.report.drilldown import add_boxes, add_explanations
from cranfield.report.gallery import folder_pictures
from cranfield.report.page import report_page
from cranfield.report.sections import (
    Section,
    add_annotation,
    add_box_curves,
    add_recall_curve,
    score_section,
    table_section,
)
from cranfield.report.tables.comparison import further_tables

TITLES = {"ranked": "Retrieval", "labels": "Annotation", "regions": "Regions"}
HOLDS_TRUTH = (
    "This page holds the truth of the items it shows (grades, labels, ids): do not publish it "
    "while that truth is secret. A public report leaves it out."
)
# Where notes name some of the items that they count, or one that breaks a rule.
_NAMED_ITEMS = re.compile(r"(\bitems? (?:are|is|break)\b[^(,]*?)(?: \(.*\)|, such as .*)(?=;|$)")
PUBLIC = "True labels, grades and names of items are left out; items are numbered at random."


def case_section(
    case: ComparedScores, *, tables: Sequence[Table], title: str = "", public: bool = False
) -> Section:
    """The section of a case; a public one says nothing of the truth of single items."""
    name = title or TITLES[case.scores.task]
    section = score_section(case, title=name, tables=tables, items=not public)
    if isinstance(case, RankedCase):
        _add_ranked(section, case, public)
    elif isinstance(case, LabelCase):
        _add_labels(section, case, public)
    elif isinstance(case, RegionCase):
        order = [case.scores.runs[i] for i in case.scores.best_first(case.scores.measures[0])]
        add_box_curves(section, case.curves, order)
        if not public:
            add_boxes(section, case)
    if public:
        section.data["notes"] = _without_items(section.data["notes"], case.scores)
        _number_items(section)
        section.left_out.append(PUBLIC)
    else:
        section.data["notes"].append(HOLDS_TRUTH)
    return section


def _add_ranked(section: Section, case: RankedCase, public: bool) -> None:
    if case.curve is not None:
        order = [case.scores.runs[i] for i in case.scores.best_first(case.scores.measures[0])]
        add_recall_curve(section, case.curve, order)
    if case.rankings is not None and not public:
        case.rankings.add_to(section)


def _add_labels(section: Section, case: LabelCase, public: bool) -> None:
    add_annotation(section, case.scores, case.frequency or {}, case.curves or {})
    if not public:
        add_explanations(section, case.items, case.concepts, case.explained)


def _without_items(notes: Sequence[str], scores: Scores) -> list[str]:
    """What notes say of how many items, without their names; one that still has a name is gone."""
    counted = [_NAMED_ITEMS.sub(r"\1", note) for note in notes]
    names = [repr(item) for item in scores.units.get("item", ())]
    return [note for note in counted if not any(name in note for name in names)]


def _number_items(section: Section) -> None:
    """Items by number, in an order that is another one on every page."""
    items = section.data["units"].get("item")
    if items is None:
        return
    order = list(range(len(items)))
    secrets.SystemRandom().shuffle(order)
    section.data["units"]["item"] = [str(i + 1) for i in range(len(items))]
    for measure in section.data["measures"]:
        if measure["unit"] == "item" and measure["name"] in section.data["values"]:
            values = section.data["values"][measure["name"]]
            values["rows"] = [[row[i] for i in order] for row in values["rows"]]


def case_page(
    case: ComparedScores,
    *,
    tables: Sequence[Table],
    further: Sequence[Table] = (),
    public: bool = False,
    title: str | None = None,
    about: Mapping[str, str] | None = None,
    pictures: str | Path | None = None,
) -> str:
    """The whole report of a case.

    `tables` are for readers without a script; `further` ones stand at the end as they are.
    `about` stands on top: when the page was made, with which command. `pictures` is a folder
    with the pictures of items.
    """
    sections = [case_section(case, tables=tables, public=public)]
    images = folder_pictures(pictures, sections, public=public)
    if further:
        sections.append(table_section("Further tables", further))
    subject = "comparison" if further and case.comparison is not None else ""
    count = len(case.scores.runs)
    usual = f"Cranfield: {subject or TITLES[case.scores.task].lower()} of {count} run"
    name = title or usual + ("" if count == 1 else "s")
    return report_page(name, sections, images=images, about=about)


def page_about(command: str = "", *, public: bool = False) -> dict[str, str]:
    """The day, the files and the command of a page.

    A page that is shown to others does not name the files of the truth.
    """
    about = {"Made on": f"{date.today():%Y-%m-%d}"}
    if public or not command:
        return about
    return about | _input_files(shlex.split(command)[1:]) | {"With": command}


def _input_files(words: Sequence[str]) -> dict[str, str]:
    """What was given: the first file or folder, how many more, and how new the files are."""
    candidates = [Path(file) for word in words if (file := word.rpartition("=")[2])]
    paths = [path for path in candidates if path.name and path.exists()]
    if not paths:
        return {}
    text = str(paths[0]) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
    files = [path for path in paths if path.is_file()]
    if files:
        newest = date.fromtimestamp(max(path.stat().st_mtime for path in files))
        text += f", {'the newest ' if len(files) > 1 else ''}changed on {newest:%Y-%m-%d}"
    return {"Files": text}


def scores_page(
    case: ComparedScores,
    *,
    per: Sequence[str] = (),
    public: bool = False,
    title: str | None = None,
    about: Mapping[str, str] | None = None,
    pictures: str | Path | None = None,
) -> str:
    """The report of the scores of a case, with the values of the units in `per` as tables."""
    # A public page has its own rows for items, under numbers.
    tables = document_of(case.scores, per=() if public else per).tables
    ranked = isinstance(case, RankedCase)
    first, further = (tables[:1], tables[1:]) if ranked else (tables, [])
    head: dict[str, Any] = {"title": title, "about": about or page_about(), "pictures": pictures}
    return case_page(case, tables=first, further=further, public=public, **head)


def comparison_page(
    case: ComparedScores, *, parts: Sequence[str], public: bool = False, **head: Any
) -> str:
    """The report of the comparison of a case, with the tables that `parts` names."""
    if case.comparison is None:
        raise UsageError("; ".join(case.left_out) or "nothing could be compared")
    tables = document_of(case.comparison, parts=parts).tables
    further = further_tables(case.comparison)
    return case_page(case, tables=tables, further=further, public=public, **head)
