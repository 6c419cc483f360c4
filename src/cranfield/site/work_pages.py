"""Pages on which people judge: a whole sheet as one file, or one unit of it on the site.

Both come from the same templates and run the same script.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from cranfield.campaign.annotation_task import PICTURE_LINE, Sheet, make_sheet
from cranfield.campaign.forms import Form, actions_of
from cranfield.campaign.item_texts import picture_files
from cranfield.campaign.surveys.survey import Survey, WrittenSurvey
from cranfield.errors import MissingExtraError, UsageError
from cranfield.io.files import csv_text
from cranfield.report.page import html_file

if TYPE_CHECKING:
    from jinja2 import Environment

# Kinds of work in which a unit may be left out; a survey is answered whole.
OPTIONAL_KINDS = ("labels", "relevance", "screening", "ratings", "association")


@cache
def environment() -> Environment:
    """The templates of the site."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError:
        raise MissingExtraError("jinja2", "site", "A page with forms") from None
    templates = Environment(
        loader=PackageLoader("cranfield.site", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["guideline_blocks"] = guideline_blocks
    return templates


class GuidelineBlock(NamedTuple):
    """A part of the guidelines: some text, or a picture with its caption."""

    text: str
    picture: str = ""


def guideline_blocks(text: str) -> list[GuidelineBlock]:
    """Guidelines as they are shown; a line `![caption](address)` is a picture."""
    blocks: list[GuidelineBlock] = []
    for number, part in enumerate(PICTURE_LINE.split(text)):
        # Split by two groups: text, caption, address, text, ...
        if number % 3 == 0 and part.strip():
            blocks.append(GuidelineBlock(part.strip()))
        elif number % 3 == 1:
            blocks.append(GuidelineBlock(part))
        elif number % 3 == 2:
            blocks[-1] = blocks[-1]._replace(picture=part)
    return blocks


def static_text(name: str) -> str:
    """A style or script of the pages."""
    return resources.files("cranfield.site").joinpath("static", name).read_text("utf-8")


def script_data(forms: Mapping[str, Form]) -> dict[str, Any]:
    """What the script knows of forms: their rules, and the keys of what can be done."""
    return {
        "forms": {name: form.to_dict() for name, form in forms.items()},
        "keys": {name: actions_of(form) for name, form in forms.items()},
    }


def sheet_page(sheet: Sheet) -> str:
    """A sheet as one HTML file that works offline and saves its answers to a file."""
    data = {**script_data(sheet.forms), "sha": sheet.sha, "asked": sheet.asked()}
    body = (
        environment()
        .get_template("work/sheet.html")
        .render(
            sheet=sheet,
            data=json.dumps(data, ensure_ascii=False, separators=(",", ":")),
            keys=data["keys"],
            optional_kinds=OPTIONAL_KINDS,
        )
    )
    style = static_text("work-page.css") + static_text("work.css")
    return html_file(sheet.title, body, style=style, script=static_text("work.js"))


def write_survey(survey: Survey, folder: str | Path) -> WrittenSurvey:
    """A survey in a folder: its page and its key."""
    return survey.write(folder, sheet_page(survey.sheet))


# Where a platform takes what a worker sends.
PLATFORM_ACTION = "https://www.mturk.com/mturk/externalSubmit"


def make_crowd_task(
    source: str | Path,
    *,
    address: str,
    action: str = PLATFORM_ACTION,
    pictures: str | Path | None = None,
    **options: Any,
) -> dict[str, str]:
    """What a crowd platform needs, {file: text}: the layout, its input, and the instructions.

    Pictures are at `address`, under the names that they have in their folder; the rest is as in
    `cranfield.make_sheet`. The layout sends each form to `action`.
    """
    sheet = make_sheet(source, pictures=pictures, **options)
    if len(sheet.forms) > 1:
        raise UsageError("a platform has one layout for all tasks; a pool has several forms")
    (form,) = sheet.forms.values()
    columns = ["item"]
    if any(unit.picture for unit in sheet.units):
        columns.append("image_url")
    if any(unit.text for unit in sheet.units):
        columns.append("text")
    files = {} if pictures is None else picture_files(Path(pictures))
    rows = [
        {
            "item": unit.name,
            "image_url": f"{address.rstrip('/')}/{quote(_file_name(unit.name, files))}",
            "text": unit.text,
        }
        for unit in sheet.units
    ]
    template = environment().get_template("work/crowd.html")
    page = template.render(
        sheet=sheet, form=form, columns=columns, action=action, instructions=sheet.guidelines
    )
    return {
        "template.html": page,
        "input.csv": csv_text([columns, *([row[name] for name in columns] for row in rows)]),
        "instructions.txt": sheet.guidelines + "\n",
    }


def _file_name(item: str, files: Mapping[str, Path]) -> str:
    return files[item].name if item in files else f"{item}.png"


def make_form(source: str | Path, **options: Any) -> str:
    """A form as one file, of what `cranfield.make_sheet` makes."""
    return sheet_page(make_sheet(source, **options))
