"""Annotations exported by Label Studio as JSON: a list of tasks with their annotations."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cranfield.data.filled_forms import FilledForm
from cranfield.data.judgement_log import number_name
from cranfield.errors import InputError
from cranfield.io.crowd import ITEMS, item_name, time_of
from cranfield.io.files import FileForm, describe, read_json_text

SKIPPED = "skipped by the annotator"


def read_label_studio(
    path: FileForm, *, concepts: Sequence[str] | None = None
) -> tuple[FilledForm, ...]:
    """A form for each annotation of each task.

    Choices and the last part of taxonomies select concepts, ratings and numbers are values of
    the control that asked for them, texts are comments. With `concepts` other names are errors.
    """
    where = describe(path)
    try:
        tasks = json.loads(read_json_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError.single(where, f"is not JSON ({error})") from None
    if not is_label_studio(tasks):
        raise InputError.single(where, "is not a list of tasks with annotations")
    found = [(task, one) for task in tasks for one in task["annotations"]]
    try:
        said = [_said(one) for _, one in found]
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise InputError.single(where, f"has an annotation of an unknown shape ({error})") from None
    chosen = dict.fromkeys(name for names, _, _ in said for name in names)
    unknown = [n for n in chosen if concepts is not None and n not in concepts]
    if unknown:
        raise InputError.single(where, f"{unknown[0]!r} is not a concept")
    known = tuple(chosen) if concepts is None else tuple(concepts)
    return tuple(
        _form(task, one, names, numbers, words, known, where)
        for (task, one), (names, numbers, words) in zip(found, said, strict=True)
    )


def is_label_studio(tasks: Any) -> bool:
    """Whether JSON looks like an export."""
    return (
        isinstance(tasks, list)
        and bool(tasks)
        and all(isinstance(t, dict) and isinstance(t.get("annotations"), list) for t in tasks)
    )


def _said(annotation: Mapping[str, Any]) -> tuple[list[str], dict[str, str], dict[str, str]]:
    """The concepts that were chosen, numbers by control, and words by control."""
    names: list[str] = []
    numbers: dict[str, str] = {}
    words: dict[str, str] = {}
    for result in annotation.get("result", []):
        value, control = result.get("value", {}), str(result.get("from_name", ""))
        names += [str(name) for name in value.get("choices", [])]
        names += [str(way[-1]) for way in value.get("taxonomy", [])]
        for key in ("rating", "number"):
            if key in value:
                numbers[control] = number_name(value[key])
        text = value.get("text", [])
        if text:
            words[control] = " ".join(text) if isinstance(text, list) else str(text)
    return names, numbers, words


def _form(
    task: Mapping[str, Any],
    annotation: Mapping[str, Any],
    names: Sequence[str],
    numbers: Mapping[str, str],
    words: Mapping[str, str],
    concepts: Sequence[str],
    where: str,
) -> FilledForm:
    done = time_of(str(annotation.get("created_at", "")))
    seconds = annotation.get("lead_time")
    timed = isinstance(seconds, int | float) and math.isfinite(seconds) and seconds >= 0
    return FilledForm(
        _who(annotation),
        _item(task, where),
        {**{c: str(int(c in names)) for c in concepts}, **numbers},
        str(task.get("project", "") or where),
        SKIPPED if annotation.get("was_cancelled") else "",
        float(seconds) if timed and seconds is not None else math.nan,
        math.nan,
        done,
        " ".join(words.values()),
        words,
    )


def _who(annotation: Mapping[str, Any]) -> str:
    by = annotation.get("completed_by", "")
    if isinstance(by, Mapping):
        return str(by.get("email") or by.get("id") or "unknown")
    return str(by) if by != "" else "unknown"


def _item(task: Mapping[str, Any], where: str) -> str:
    data = task.get("data")
    shown = data if isinstance(data, Mapping) else {}
    for text in _shown(shown):
        return item_name(text)
    if "id" not in task:
        raise InputError.single(where, "has a task without data and id")
    return str(task["id"])


def _shown(data: Mapping[str, Any]) -> Iterator[str]:
    """What the task shows, the columns that usually name an item first."""
    for name in (*ITEMS, *data):
        if isinstance(data.get(name), str) and data[name]:
            yield data[name]
