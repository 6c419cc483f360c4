"""What is put before people (units, each with its form) and what comes back from them.

A sheet is the same whether it is served page by page or handed out as one file. What a person
has filled in comes back as a response, a JSON file that carries the forms it was made with, so
that it can be read and checked alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from cranfield.campaign.forms import LONGEST_TEXT, Answers, Form, FormProblem
from cranfield.errors import InputError, Problem, UsageError
from cranfield.io.files import FileForm, describe, read_json_text
from cranfield.work.seeds import generator

# How the layout of responses is numbered.
LAYOUT = 1
_STREAM = 43

State: TypeAlias = Literal["done", "cannot tell", "skipped"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True, slots=True)
class Grid:
    """A small table that belongs to a question."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing to judge: its name, which form asks about it, and what is shown of it.

    `picture` is an address or the picture itself as a data address, `second` that of the other
    one of a pair; `topic` stays in view while items are judged for it, and so does `query`, the
    picture that a topic asks with.
    """

    name: str
    form: str = "form"
    title: str = ""
    text: str = ""
    picture: str = ""
    second: str = ""
    topic: str = ""
    grid: Grid | None = None
    query: str = ""


@dataclass(frozen=True, eq=False)
class Sheet:
    """Units in the order in which they are shown, with their forms.

    `about` is a form about the person, asked once and first. `scenario` is told before, and
    `guidelines` are one key away; both are plain text.
    """

    title: str
    kind: str
    forms: Mapping[str, Form]
    units: tuple[Unit, ...]
    scenario: str = ""
    guidelines: str = ""
    version: str = "1"
    about: Form | None = None

    def __post_init__(self) -> None:
        lacking = [u.name for u in self.units if u.form not in self.forms]
        if lacking:
            raise UsageError(f"unit {lacking[0]!r} has no form")
        if len({u.name for u in self.units}) < len(self.units):
            raise UsageError("two units of a sheet have one name")

    @property
    def sha(self) -> str:
        """A short name of what is asked, the same for all who answer the same."""
        return "-".join(sorted({form.sha for form in self.forms.values()}))[:67]

    def shuffled(self, seed: int) -> Sheet:
        """The same units in an order of their own."""
        order = generator(seed, _STREAM).permutation(len(self.units))
        units = tuple(self.units[int(k)] for k in order)
        return Sheet(
            self.title,
            self.kind,
            self.forms,
            units,
            self.scenario,
            self.guidelines,
            self.version,
            self.about,
        )

    def to_dict(self) -> dict[str, Any]:
        """All that is put before people as JSON, pictures too, which `from_dict` reads."""
        return {
            **self.asked(),
            "scenario": self.scenario,
            "guidelines": self.guidelines,
            "units": [asdict(unit) for unit in self.units],
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Sheet:
        """The sheet that `to_dict` has written; a UsageError for anything else."""
        try:
            about = found["about"]
            return cls(
                str(found["title"]),
                str(found["kind"]),
                {str(name): Form.from_dict(form) for name, form in found["forms"].items()},
                tuple(_unit(unit) for unit in found["units"]),
                str(found["scenario"]),
                str(found["guidelines"]),
                str(found["version"]),
                None if about is None else Form.from_dict(about),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(f"this is not a sheet of Cranfield ({error!r})") from None

    def asked(self) -> dict[str, Any]:
        """What a response carries of the sheet: enough to read it alone, and no pictures."""
        return {
            "title": self.title,
            "kind": self.kind,
            "version": self.version,
            "forms": {name: form.to_dict() for name, form in self.forms.items()},
            "about": None if self.about is None else self.about.to_dict(),
            "units": {unit.name: unit.form for unit in self.units},
        }


def _unit(found: Mapping[str, Any]) -> Unit:
    told: dict[str, Any] = {name: str(value) for name, value in found.items() if name != "grid"}
    grid = found["grid"]
    if grid is not None:
        rows = tuple(tuple(map(str, row)) for row in grid["rows"])
        told["grid"] = Grid(tuple(map(str, grid["head"])), rows)
    return Unit(**told)


@dataclass(frozen=True, slots=True)
class Filled:
    """What a person said about one unit; `seconds` are those in which the page was in front."""

    unit: str
    answers: Answers
    state: State = "done"
    seconds: float = math.nan
    comment: str = ""


@dataclass(frozen=True, eq=False)
class Response:
    """All that came back from one person."""

    annotator: str
    kind: str
    title: str
    version: str
    forms: Mapping[str, Form]
    units: Mapping[str, str]
    filled: tuple[Filled, ...]
    about: Mapping[str, Sequence[str]] = field(default_factory=dict)
    about_form: Form | None = None
    source: str = "response"

    def done(self) -> tuple[Filled, ...]:
        """What was answered, without what was skipped or could not be told."""
        return tuple(f for f in self.filled if f.state == "done")

    def form_of(self, unit: str) -> Form:
        return self.forms[self.units[unit]]

    @property
    def missing(self) -> tuple[str, ...]:
        """The units that nothing was said about."""
        said = {f.unit for f in self.filled}
        return tuple(u for u in self.units if u not in said)

    @property
    def seconds(self) -> float:
        """All the time that the pages were in front."""
        return math.fsum(f.seconds for f in self.filled)

    def to_dict(self) -> dict[str, Any]:
        """The response as JSON, which `read_response` reads."""
        return {
            "cranfield-response": LAYOUT,
            "annotator": self.annotator,
            "sheet": {
                "title": self.title,
                "kind": self.kind,
                "version": self.version,
                "forms": {name: form.to_dict() for name, form in self.forms.items()},
                "about": None if self.about_form is None else self.about_form.to_dict(),
                "units": dict(self.units),
            },
            "about": {name: list(given) for name, given in self.about.items()},
            "filled": [
                {
                    "unit": f.unit,
                    "state": f.state,
                    "answers": {name: list(given) for name, given in f.answers.items()},
                    "seconds": None if math.isnan(f.seconds) else f.seconds,
                    "comment": f.comment,
                }
                for f in self.filled
            ],
        }


def response_of(
    sheet: Sheet,
    annotator: str,
    filled: Iterable[Filled],
    about: Mapping[str, Sequence[str]] | None = None,
) -> Response:
    """What a person said about a sheet, checked; a UsageError names the first problem."""
    units = {unit.name: unit.form for unit in sheet.units}
    made = Response(
        annotator,
        sheet.kind,
        sheet.title,
        sheet.version,
        sheet.forms,
        units,
        tuple(filled),
        about or {},
        sheet.about,
    )
    problems = problems_of(made)
    if problems:
        raise UsageError(problems[0])
    return made


def problems_of(response: Response) -> list[str]:
    """What is wrong with a response, a sentence for each problem."""
    found, seen = [], set()
    for filled in response.filled:
        if filled.unit not in response.units:
            found.append(f"unit {filled.unit!r} was not asked about")
            continue
        if filled.unit in seen:
            found.append(f"unit {filled.unit!r} is answered twice")
        seen.add(filled.unit)
        if filled.state == "done":
            wrong = response.form_of(filled.unit).check(filled.answers)
            found += [f"unit {filled.unit!r}: {problem.message}" for problem in wrong]
    found += [problem.message for problem in about_problems(response)]
    return found


def about_problems(response: Response) -> tuple[FormProblem, ...]:
    """What is wrong with the answers about the person."""
    if response.about_form is None:
        return ()
    return response.about_form.check(response.about)


def read_response(path: FileForm) -> Response:
    """A response from its file, every form checked again; an InputError lists what is wrong."""
    where = describe(path)
    try:
        found = json.loads(read_json_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError.single(where, f"is not JSON ({error})") from None
    if not isinstance(found, dict) or found.get("cranfield-response") != LAYOUT:
        raise InputError.single(where, "is not a file of answers to a form of Cranfield")
    try:
        response = _parsed(found, where)
    except (KeyError, TypeError, ValueError, AttributeError, UsageError) as error:
        raise InputError.single(where, f"is not a whole file of answers ({error})") from None
    problems = problems_of(response)
    if problems:
        raise InputError(where, [Problem(0, text) for text in problems])
    return response


def _parsed(found: Mapping[str, Any], where: str) -> Response:
    sheet = found["sheet"]
    forms = {str(name): Form.from_dict(form) for name, form in sheet["forms"].items()}
    units = {str(unit): str(form) for unit, form in sheet["units"].items()}
    if not set(units.values()) <= set(forms):
        raise ValueError("a unit without its form")
    annotator = str(found["annotator"]).strip()
    if not annotator:
        raise ValueError("nobody's name")
    about = sheet.get("about")
    return Response(
        annotator,
        str(sheet["kind"]),
        str(sheet["title"]),
        str(sheet["version"]),
        forms,
        units,
        tuple(_filled(entry) for entry in found["filled"]),
        _answers(found.get("about") or {}),
        None if about is None else Form.from_dict(about),
        where,
    )


def _filled(entry: Mapping[str, Any]) -> Filled:
    state = entry["state"]
    if state not in STATES:
        raise ValueError(f"the state {state!r}")
    seconds = entry.get("seconds")
    time = math.nan if seconds is None else float(seconds)
    if time < 0 or math.isinf(time):
        raise ValueError(f"{seconds!r} seconds")
    comment = str(entry.get("comment", ""))[:LONGEST_TEXT]
    return Filled(str(entry["unit"]), _answers(entry["answers"]), state, time, comment)


def _answers(found: Mapping[str, Any]) -> dict[str, list[str]]:
    made = {}
    for name, given in found.items():
        if not isinstance(given, list) or not all(isinstance(v, str) for v in given):
            raise ValueError(f"question {name!r}: expected a list of texts")
        made[str(name)] = given
    return made


def form_values(form: Form, answers: Answers) -> dict[str, str]:
    """What a form says, as {concept: value}: labels as 0 and 1, single choices as they are."""
    if form.concepts:
        return {c: str(v) for c, v in form.labels(answers).items()}
    return {
        q.name: answers[q.name][0]
        for q in form.questions()
        if q.kind in ("one", "number") and answers.get(q.name)
    }
