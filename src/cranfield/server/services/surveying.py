"""Surveys on the site: made of what the campaign has or of a file, and counted with their key."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection

from cranfield.campaign.surveys.kinds import KINDS as MADE
from cranfield.campaign.surveys.making import make_survey
from cranfield.campaign.surveys.survey import Survey
from cranfield.errors import UsageError
from cranfield.io.files import Input, read_json_text
from cranfield.server.context import Context
from cranfield.server.services.campaigns import Row
from cranfield.server.services.pooling import pooled_runs

UPLOADED = "survey"
# What can be asked on the site. A survey that needs more than the public data of a campaign (the
# truth, an index) is made by `cranfield survey` where that is, and its key.json is sent.
SURVEYS = {kind: MADE[kind] for kind in ("measures", "relatedness", "categories", "rankings")} | {
    UPLOADED: "the key.json of one that `cranfield survey` has made, of any kind"
}
_REQUIRED_FILES = {
    UPLOADED: "the key.json that `cranfield survey` has written",
    "relatedness": "a file of pairs: CSV word1,word2",
    "categories": "a file of categories: CSV category,parent",
}


def survey_of(
    connection: Connection,
    context: Context,
    campaign: Row,
    ranked: Row | None,
    kind: str,
    *,
    seed: int,
    file: Input | None,
    questions: int,
    depth: int,
) -> Survey:
    """A survey of a kind, from the file that was sent or from what the campaign has."""
    if kind in _REQUIRED_FILES and file is None:
        raise UsageError(f"send {_REQUIRED_FILES[kind]}")
    options: dict[str, Any] = {"seed": seed}
    if kind == UPLOADED:
        return read_survey_key(file)
    if kind == "measures":
        return make_survey(kind, questions=questions, **options)
    if kind == "relatedness":
        return make_survey(kind, pairs=file, **options)
    public = context.settings.public / campaign["slug"]
    if kind == "categories":
        return make_survey(kind, categories_file=file, collection=public, **options)
    if ranked is None:
        raise UsageError("lists to rate need a task of rankings")
    runs = pooled_runs(connection, context, ranked["id"])
    return make_survey(kind, runs=runs, depth=depth, collection=public, **options)


def read_survey_key(file: Input | None) -> Survey:
    """A survey that was made elsewhere, from its key.json."""
    if file is None:
        raise UsageError(f"send {_REQUIRED_FILES[UPLOADED]}")
    try:
        key = json.loads(read_json_text(file))
    except ValueError as error:
        raise UsageError(f"{file.name} is not JSON ({error})") from None
    if not isinstance(key, dict):
        raise UsageError(f"{file.name} is not the key.json of a survey")
    return Survey.from_dict(key)
