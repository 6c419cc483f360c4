"""The answers to a survey of any kind, counted with its key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cranfield.answers import Answer
from cranfield.campaign.annotation_task import Response, read_response
from cranfield.campaign.surveys import categories, kinds, measures, preference, rated
from cranfield.campaign.surveys.survey import check_responses, read_key
from cranfield.errors import InputError, UsageError
from cranfield.io.files import FileForm, describe

COUNTERS: Mapping[str, Callable[..., Answer]] = {
    kinds.MEASURES: measures.count_measure_survey,
    kinds.PREFERENCE: preference.count_preference_survey,
    kinds.RELATEDNESS: rated.count_relatedness,
    kinds.RANKINGS: rated.count_rankings,
    kinds.ASSOCIATION: rated.count_association,
    kinds.CATEGORIES: categories.count_categories,
}


def count_survey(key: FileForm | Mapping[str, Any], answers: Sequence[Any]) -> Answer:
    """What people answered; `key` and `answers` are files, or objects as they were made."""
    hidden = key if isinstance(key, Mapping) else read_key(key)
    source = "given" if isinstance(key, Mapping) else describe(key)
    kind = hidden.get("survey")
    if not isinstance(kind, str) or kind not in COUNTERS:
        raise InputError.single(source, "is not the key of a survey")
    if not answers:
        raise UsageError("there are no answers to count")
    responses = [a if isinstance(a, Response) else read_response(a) for a in answers]
    check_responses(hidden, responses, source)
    twice = [person for person, n in Counter(r.annotator for r in responses).items() if n > 1]
    if twice:
        raise UsageError(f"two files hold answers of {twice[0]!r}; each person answers once")
    try:
        return COUNTERS[kind](hidden, responses)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise InputError.single(source, f"is not the whole key of a survey ({error!r})") from None
