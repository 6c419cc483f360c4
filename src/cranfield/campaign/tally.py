"""The answers of people to a questionnaire, counted with its key."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cranfield.campaign.forms import NONE
from cranfield.campaign.sheets import Response, read_response
from cranfield.campaign.votes import Choices, Preferences, count_choices, count_preferences
from cranfield.errors import InputError
from cranfield.io.files import describe, read_json_text
from cranfield.notes import Notes
from cranfield.validation import validate_params
from cranfield.work.serialisation import floats

OTHER = "OTHER"
# The answer that both sets are equally good.
BOTH = "both"


@validate_params
def tally(key: str | Path, answers: Sequence[str | Path]) -> Choices | Preferences:
    """The answers of people, counted; `key` is the key.json of the questionnaire.

    Answers about ranked lists are counted by measure, those about concept sets by whether the
    measures prefer the same run.
    """
    hidden = _json(key, "key")
    of_sets = "scores" in hidden
    names, methods = hidden.get("measures"), hidden["key"].values()
    well_formed = (
        isinstance(names, list)
        and all(isinstance(name, str) for name in names)
        and all(isinstance(options, dict) for options in methods)
        and (
            _is_set_key(hidden)
            if of_sets
            else all(name in names for options in methods for name in options.values())
            and _is_grouping(hidden.get("alike", {}), names)
        )
    )
    if not well_formed:
        raise InputError.single(
            describe(key),
            "is not the key.json of a questionnaire; give the one that was written with the "
            "questions, as it was",
        )
    given = [_answers(path, hidden["key"]) for path in answers]
    noticed = _noticed([describe(path) for path in answers], given, tuple(hidden["key"]))
    counted = count_sets(hidden, given) if of_sets else count_orders(hidden, given)
    return replace(counted, notes=noticed)


def _noticed(
    files: Sequence[str], given: Sequence[Mapping[str, list[str]]], asked: Sequence[str]
) -> tuple[str, ...]:
    """Answers that are there twice, and questions that somebody did not answer."""
    notes = Notes()
    first: dict[str, str] = {}
    for file, answers in zip(files, given, strict=True):
        same = first.setdefault(json.dumps(answers, sort_keys=True), file)
        if same != file or files.count(file) > 1:
            notes.add(f"the same answers as in {same}; all of them are counted", about=file)
        open_questions = [question for question in asked if not answers.get(question)]
        if open_questions:
            notes.add(f"no answer to question {', '.join(open_questions)}", about=file)
    return notes.lines("file")


def count_orders(hidden: Mapping[str, Any], given: Sequence[Mapping[str, list[str]]]) -> Choices:
    """The votes for each measure; those that order the lists of a question alike share them."""
    votes = {name: [0] * len(hidden["key"]) for name in (*hidden["measures"], OTHER)}
    for position, (question, methods) in enumerate(hidden["key"].items()):
        groups = [set(group) for group in hidden.get("alike", {}).get(question, [])]
        for one in given:
            ticked = {methods[m] for m in one.get(question, []) if m != NONE}
            chosen = ticked.union(*(group for group in groups if group & ticked))
            if NONE in one.get(question, []):
                chosen.add(OTHER)
            for name in chosen:
                votes[name][position] += 1
    return count_choices(votes, names=list(hidden["key"]))


def _answers(path: str | Path, key: Mapping[str, Mapping[str, str]]) -> dict[str, list[str]]:
    """The answers of one person, each option at most once."""
    said = _json(path)
    if "cranfield-response" in said:
        return chosen_on(read_response(path), key)
    given = said.get("answers")
    if not isinstance(given, dict):
        raise InputError.single(describe(path), "expected a JSON object with 'answers'")
    for question, ticked in given.items():
        if question not in key:
            raise InputError.single(describe(path), f"no question {question!r} was asked")
        if not isinstance(ticked, list):
            raise InputError.single(
                describe(path), f"question {question}: expected a list of answers, found {ticked!r}"
            )
        for option in ticked:
            if not isinstance(option, str) or (option != NONE and option not in key[question]):
                raise InputError.single(
                    describe(path), f"question {question}: no {option!r} was asked about"
                )
    return {question: list(dict.fromkeys(ticked)) for question, ticked in given.items()}


def chosen_on(response: Response, key: Mapping[str, Mapping[str, str]]) -> dict[str, list[str]]:
    """What a person chose on the page of a survey, the options of each question of the key."""
    found = {}
    for filled in response.done():
        if filled.unit in key:
            said = [v for name in ("methods", "better") for v in filled.answers.get(name, ())]
            found[filled.unit] = list(key[filled.unit]) if said == [BOTH] else said
    return found


def _json(path: str | Path, field: str = "") -> dict[str, Any]:
    try:
        found = json.loads(read_json_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError.single(describe(path), f"is not JSON ({error})") from None
    if not isinstance(found, dict) or (field and not isinstance(found.get(field), dict)):
        named = field or "answers"
        raise InputError.single(describe(path), f"expected a JSON object with {named!r}")
    return found


def _is_grouping(alike: Any, names: Sequence[str]) -> bool:
    """Whether this says for some questions which measures order their lists alike."""
    return isinstance(alike, dict) and all(
        isinstance(groups, list)
        and all(isinstance(g, list) and all(name in names for name in g) for g in groups)
        for groups in alike.values()
    )


def _is_set_key(hidden: Mapping[str, Any]) -> bool:
    """Whether a key has two runs, and their scores under every measure for every question."""
    runs, scores = hidden.get("runs"), hidden.get("scores")
    if not isinstance(runs, list) or len(runs) != 2 or not isinstance(scores, dict):
        return False
    rows = [scores.get(question) for question in hidden["key"]]
    return (
        isinstance(hidden.get("less_is_better"), list)
        and all(run in runs for sets in hidden["key"].values() for run in sets.values())
        and all(
            isinstance(row, dict) and all(_is_pair(row.get(m)) for m in hidden["measures"])
            for row in rows
        )
    )


def _is_pair(values: Any) -> bool:
    return (
        isinstance(values, list)
        and len(values) == 2
        and all(v is None or isinstance(v, int | float) for v in values)
    )


def count_sets(
    hidden: Mapping[str, Any], answers: Sequence[Mapping[str, list[str]]]
) -> Preferences:
    """The votes for either run beside the scores of the key."""
    first, second = hidden["runs"]
    votes = []
    for question, sets in hidden["key"].items():
        chosen = [{sets[s] for s in one.get(question, []) if s in sets} for one in answers]
        votes.append(
            (
                sum(c == {first} for c in chosen),
                sum(c == {second} for c in chosen),
                sum(len(c) == 2 for c in chosen),
            )
        )
    scores = {
        m: [tuple(floats(hidden["scores"][q][m]).tolist()) for q in hidden["key"]]
        for m in hidden["measures"]
    }
    return count_preferences(
        votes,
        scores,
        less_is_better=hidden["less_is_better"],
        systems=(first, second),
        names=list(hidden["key"]),
    )
