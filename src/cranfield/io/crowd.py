"""Forms of crowd platforms: a CSV with a row per assignment and wide `Answer.*` columns.

Columns: WorkerId, AssignmentId, HITId, Input.* (what was shown), Answer.* (what was said), and if
there are any BatchId, AcceptTime, SubmitTime, WorkTimeInSeconds, AssignmentStatus and
RequesterFeedback.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from cranfield.data.filled_forms import FilledForm
from cranfield.errors import InputError, Problem
from cranfield.io.files import FileForm, describe, open_text, run_name

ANSWER, INPUT = "Answer.", "Input."
TRUE = frozenset({"true", "1", "on", "yes", "selected"})
FALSE = frozenset({"false", "0", "off", "no", "", "{}"})
COMMENTS = frozenset({"comment", "comments", "feedback", "remark", "remarks"})
# What separates the answers of one column.
BETWEEN = re.compile(r"\s*[|;]\s*")
ITEMS = ("item", "image", "image_url", "id", "photo", "document")
ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7, "EST": -5, "EDT": -4, "CET": 1, "CEST": 2}
_PICTURE = re.compile(r"\.(jpe?g|png|gif|webp|bmp|tiff?)$", re.IGNORECASE)


def is_crowd_csv(path: FileForm) -> bool:
    """Whether a file begins as the results of a crowd platform do."""
    with open_text(path) as stream:
        first = stream.readline()
    return "WorkerId" in first and ANSWER in first


def read_crowd_csv(
    path: FileForm, *, concepts: Sequence[str] | None = None
) -> tuple[FilledForm, ...]:
    """A form for each row.

    A column whose cells are true or false is a concept; a column of names holds the concepts that
    were chosen, several with | between them. With `concepts` other names are errors, and each
    form has a value for all of them; without, those that occur are the concepts.
    """
    where = describe(path)
    with open_text(path) as stream:
        reader = csv.DictReader(stream)
        header = list(reader.fieldnames or ())
        rows = [
            (reader.line_num, {k: (v or "").strip() for k, v in row.items() if k}) for row in reader
        ]
    lacking = [n for n in ("WorkerId",) if n not in header]
    answers = [n for n in header if n.startswith(ANSWER)]
    shown = _item_column(header)
    if lacking or not answers or shown is None:
        raise InputError.single(
            where, "expected the columns WorkerId, HITId or Input.*, and Answer.*", 1
        )
    if not rows:
        raise InputError.single(where, "has no rows below its header")
    table = _Answers(answers, [row for _, row in rows], concepts)
    problems: list[Problem] = []
    forms = []
    for line, row in rows:
        if not row["WorkerId"] or not row[shown]:
            problems.append(Problem(line, f"WorkerId or {shown} is empty"))
            continue
        values, unknown = table.values(row)
        problems += [Problem(line, f"{name!r} is not a concept") for name in unknown]
        forms.append(_form(row, item_name(row[shown]), values, table, run_name(path)))
    if problems:
        raise InputError(where, problems)
    return tuple(forms)


def _item_column(header: Iterable[str]) -> str | None:
    inputs = [n for n in header if n.startswith(INPUT)]
    named = [n for wanted in ITEMS for n in inputs if n.removeprefix(INPUT).lower() == wanted]
    return next(iter([*named, *inputs, *(n for n in header if n == "HITId")]), None)


def item_name(shown: str) -> str:
    """The item behind what was shown: the name of a picture without its folder and ending.

    >>> item_name("https://pictures.example/set/im42.jpg"), item_name("im42")
    ('im42', 'im42')
    """
    if "/" not in shown and not _PICTURE.search(shown):
        return shown
    return _PICTURE.sub("", PurePosixPath(urlsplit(shown).path).name) or shown


class _Answers:
    """Which column of answers means what."""

    def __init__(
        self,
        columns: Sequence[str],
        rows: Sequence[Mapping[str, str]],
        concepts: Sequence[str] | None,
    ) -> None:
        names = {column: _own_name(column) for column in columns}
        self.comments = [c for c, n in names.items() if n.lower() in COMMENTS]
        cells = {c: {row[c] for row in rows} for c in columns if c not in self.comments}
        self._flags = {
            c: names[c] for c, found in cells.items() if {v.lower() for v in found} <= TRUE | FALSE
        }
        self._choices = [c for c in cells if c not in self._flags]
        self._known = None if concepts is None else tuple(concepts)
        chosen = [v for c in self._choices for cell in sorted(cells[c]) for v in _split(cell)]
        self.concepts = self._known or tuple(dict.fromkeys([*self._flags.values(), *chosen]))

    def values(self, row: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
        """0 or 1 for each concept, and names that are no concepts."""
        chosen = [n for c, n in self._flags.items() if row[c].lower() in TRUE]
        chosen += [v for c in self._choices for v in _split(row[c])]
        known = set(self.concepts)
        return (
            {c: str(int(c in chosen)) for c in self.concepts},
            [name for name in chosen if name not in known],
        )


def _own_name(column: str) -> str:
    """Of Answer.place.Indoor and Answer.Indoor the last part."""
    return column.removeprefix(ANSWER).rsplit(".", 1)[-1]


def _split(cell: str) -> list[str]:
    return [part for part in BETWEEN.split(cell) if part and part.lower() not in FALSE]


def _form(
    row: Mapping[str, str], item: str, values: Mapping[str, str], table: _Answers, file: str
) -> FilledForm:
    rejected = ""
    if row.get("AssignmentStatus", "").lower() == "rejected":
        rejected = row.get("RequesterFeedback", "") or "rejected on the platform"
    return FilledForm(
        row["WorkerId"],
        item,
        values,
        row.get("BatchId") or row.get("HITTypeId") or file,
        rejected,
        _number(row.get("WorkTimeInSeconds", "")),
        time_of(row.get("AcceptTime", "")),
        time_of(row.get("SubmitTime", "")),
        " ".join(row[c] for c in table.comments if row[c] and row[c] != "{}"),
    )


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) and value >= 0 else math.nan


def time_of(text: str) -> float:
    """A time as seconds since 1970, NaN for what is none.

    >>> time_of("Thu Jan 01 01:00:00 GMT 1970"), time_of("1970-01-01T02:00:00+01:00")
    (3600.0, 3600.0)
    """
    zone = re.fullmatch(r"(\w{3} \w{3} \d{1,2} [\d:]{8}) (\w+) (\d{4})", text)
    try:
        if zone:
            found = datetime.strptime(f"{zone[1]} {zone[3]}", "%a %b %d %H:%M:%S %Y")
            shift = timezone(timedelta(hours=ZONES.get(zone[2], 0)))
            return found.replace(tzinfo=shift).timestamp()
        found = datetime.fromisoformat(text)
    except ValueError:
        return math.nan
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
