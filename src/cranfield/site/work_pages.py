"""Pages on which people judge: a whole sheet as one file, or one unit of it on the site.

Both come from the same templates and run the same script.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cranfield.campaign.annotation_task import Sheet, make_sheet
from cranfield.campaign.forms import Form, actions_of
from cranfield.campaign.surveys.making import survey_from
from cranfield.campaign.surveys.questionnaire import Questionnaire, WrittenQuestionnaire
from cranfield.errors import MissingExtraError
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
        raise MissingExtraError("jinja2", "site", "pages with forms") from None
    return Environment(
        loader=PackageLoader("cranfield.site", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


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


def write_questionnaire(questionnaire: Questionnaire, folder: str | Path) -> WrittenQuestionnaire:
    """A questionnaire in a folder: its page is the same form that surveys have."""
    survey = survey_from(questionnaire)
    return questionnaire.write(folder, sheet_page(survey.sheet), survey.to_dict())


def make_form(source: str | Path, **options: Any) -> str:
    """A form as one file, of what `cranfield.make_sheet` makes."""
    return sheet_page(make_sheet(source, **options))
