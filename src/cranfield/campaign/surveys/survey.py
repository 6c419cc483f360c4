"""What all surveys share: a sheet and its key, who answered, and rows that come out."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TypeAlias

from cranfield.answers import Answer
from cranfield.campaign.annotation_task import Response, Sheet
from cranfield.campaign.forms import Form, Option, Question, Tab
from cranfield.campaign.surveys import ASSOCIATION
from cranfield.errors import InputError, UsageError, plural
from cranfield.io.files import FileForm, describe, make_folder, read_json_text, write_atomic
from cranfield.types import Json, JsonObject

FILES = {
    "questions.json": "the questions as data",
    "survey.html": "the page for people: one file that works from disk",
    "key.json": "the key, and the sheet for a campaign site: keep it to yourself",
}
# A cell of the rows that come out of a survey.
Cell: TypeAlias = "str | float | None"
LEVELS = ("School", "Student", "Degree", "Doctorate", "Other")


@dataclass(frozen=True, eq=False)
class Survey:
    """`sheet` is what people see, `key` what is hidden from them.

    Questions that were drawn from runs or at random are also there as data, in `questions`.
    """

    sheet: Sheet
    key: JsonObject
    questions: JsonObject = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> JsonObject:
        """The key with the sheet beside it, which `from_dict` reads."""
        return {**self.key, "sheet": self.sheet.to_dict()}

    @classmethod
    def from_dict(cls, record: JsonObject) -> Survey:
        """The survey that `to_dict` has written; a UsageError for anything else."""
        key = {name: value for name, value in record.items() if name != "sheet"}
        sheet = record.get("sheet")
        if not isinstance(sheet, dict) or not isinstance(key.get("survey"), str):
            raise UsageError("this is not the key.json of a survey with its sheet")
        survey = cls(Sheet.from_dict(sheet), key)
        if sorted(key.get("units", ())) != sorted(unit.name for unit in survey.sheet.units):
            raise UsageError("the key and the sheet of the survey ask different questions")
        return survey

    def write(self, folder: str | Path, page: str = "") -> WrittenSurvey:
        """Write the page of the sheet, if there is one, the key, and the questions as data."""
        target = make_folder(folder)
        texts = {
            "questions.json": json.dumps(self.questions, indent=1) + "\n" if self.questions else "",
            "survey.html": page,
            "key.json": json.dumps(self.to_dict(), indent=1) + "\n",
        }
        files = {name: target / name for name, text in texts.items() if text}
        for name, file in files.items():
            write_atomic(file, texts[name].encode())
        purposes = tuple(FILES[name] for name in files)
        return WrittenSurvey(tuple(map(str, files.values())), purposes, notes=self.notes)


@dataclass(frozen=True, repr=False, eq=False)
class WrittenSurvey(Answer):
    """The files of a survey, each with what it is for."""

    command: ClassVar[str] = "survey"
    table_maker: ClassVar[str] = "cranfield.report.tables.campaign:written_survey_document"
    files: tuple[str, ...]
    purposes: tuple[str, ...]

    def headline(self) -> str:
        return f"a survey in {Path(self.files[0]).parent}"

    def payload(self, **_: object) -> dict[str, Json]:
        return {"files": list(self.files)}


def about_form() -> Form:
    """What a survey asks about the person (Chatzichristofis et al., Table 3)."""
    levels = tuple(Option(level.lower(), level) for level in LEVELS)
    age = Question("age", "Your age in years", "number", needed=True, least=5, most=120)
    return Form(
        "About you",
        (Tab("", (age, Question("education", "Your education", "one", levels, True))),),
    )


@dataclass(frozen=True, slots=True)
class Respondents:
    """Who answered, as in Ch Table 3; deviations are those of a sample."""

    people: int
    questions: int
    age: float
    age_deviation: float
    education: str
    minutes: float
    minutes_deviation: float

    @classmethod
    def of(cls, responses: Sequence[Response], questions: int) -> Respondents:
        ages = [float(r.about["age"][0]) for r in responses if r.about.get("age")]
        levels = Counter(r.about["education"][0] for r in responses if r.about.get("education"))
        minutes = [r.seconds / 60 for r in responses if not math.isnan(r.seconds)]
        return cls(
            len(responses),
            questions,
            *_mean_and_deviation(ages),
            ", ".join(f"{level} {count}" for level, count in levels.most_common()),
            *_mean_and_deviation(minutes),
        )

    def to_dict(self) -> dict[str, Json]:
        return {
            "people": self.people,
            "questions": self.questions,
            "age": self.age,
            "age_deviation": self.age_deviation,
            "education": self.education,
            "minutes": self.minutes,
            "minutes_deviation": self.minutes_deviation,
        }


def _mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    mean = statistics.fmean(values) if values else math.nan
    return mean, statistics.stdev(values) if len(values) > 1 else math.nan


@dataclass(frozen=True, repr=False, eq=False)
class SurveyRows(Answer):
    """What people said, as the rows of a file that another command reads."""

    command: ClassVar[str] = "survey"
    table_maker: ClassVar[str] = "cranfield.report.tables.campaign:survey_rows_document"
    survey: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    respondents: Respondents

    def headline(self) -> str:
        people = f"{self.respondents.people} people"
        return f"{self.survey}: {plural(len(self.rows), 'row')} of {people}"

    def payload(self, **_: object) -> dict[str, Json]:
        return {
            "survey": self.survey,
            "respondents": self.respondents.to_dict(),
            "rows": [dict(zip(self.columns, row, strict=True)) for row in self.rows],
        }


def list_answers(key: JsonObject, responses: Sequence[Response]) -> SurveyRows:
    """One row for each answer of each person, in the words of the key: nothing is blind in it.

    `about` is what a unit was about (the pair, the item, the topic and item), `answer` what was
    chosen: for "Method 1" the measure, for "Set 2" the run that it stood for.
    """
    rows = [
        (
            response.annotator,
            filled.unit,
            _subject(key, filled.unit),
            question,
            _unblinded(key, filled.unit, value),
            filled.seconds,
        )
        for response in responses
        for filled in response.done()
        for question, values in filled.answers.items()
        for value in values
    ]
    people = Respondents.of(responses, len(key["units"]))
    columns = ("person", "unit", "about", "question", "answer", "seconds")
    return SurveyRows(key["survey"], columns, tuple(rows), people)


def _subject(key: JsonObject, unit: str) -> str:
    pair = key.get("pairs", {}).get(unit)
    if pair is not None:
        return " ".join(str(part) for part in pair[:2])
    return str(key.get("items", {}).get(unit, unit))


def _unblinded(key: JsonObject, unit: str, value: str) -> str:
    names = key.get("key", {}).get(unit, {}) | key.get("cards", {})
    name, equals, place = value.partition("=")
    return f"{names.get(name, name)}{equals}{place}"


def read_key(path: FileForm) -> JsonObject:
    """The key of a survey."""
    source = describe(path)
    try:
        record = json.loads(read_json_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError.single(source, f"is not JSON ({error})") from None
    if not isinstance(record, dict) or not isinstance(record.get("survey"), str):
        raise InputError.single(source, "is not the key.json of a survey")
    return record


def check_responses(key: JsonObject, responses: Sequence[Response], source: str) -> None:
    """An InputError where answers are not to the survey of the key."""
    if not all(isinstance(unit, str) for unit in key["units"]):
        raise InputError.single(source, "is not the whole key of a survey (units have names)")
    pairs = key.get("pairs")
    # Two things, and for associations also where the pair comes from and how near the two are.
    length = 4 if key["survey"] == ASSOCIATION else 2
    if isinstance(pairs, dict) and not all(
        isinstance(pair, list) and len(pair) == length for pair in pairs.values()
    ):
        raise InputError.single(source, "is not the whole key of a survey (pairs have two parts)")
    units = set(key["units"])
    for response in responses:
        unknown = [f.unit for f in response.filled if f.unit not in units]
        if unknown or response.kind != key["survey"]:
            raise InputError.single(
                response.source, f"does not answer the survey whose key is {source}"
            )
