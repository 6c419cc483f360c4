"""Forms that people fill in, and what makes an answer to one acceptable.

A form has tabs, a tab has questions, a question has options. What was answered is kept as it
stands in the fields of a page: {question: [value, ...]}, free text under `QUESTION.text`.
`check` says what is wrong with answers before anything is stored; a form with a problem is not
stored at all (thesis, 6.2: a group left empty).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from cranfield._lazy import cached_property
from cranfield.data.ontology import Requirement
from cranfield.data.rulebook import RuleBook
from cranfield.errors import UsageError

Kind: TypeAlias = Literal["one", "any", "text", "number", "order"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Answers: TypeAlias = Mapping[str, Sequence[str]]

# The answer "none of these", and the field of a question that takes words.
NONE = "none"
TEXT = ".text"
# The longest text that a person may write, in characters.
LONGEST_TEXT = 2000
# Keys of a keyboard, row by row; those of actions are not among them.
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
ACTIONS = {
    "save": " ",
    "back": "Backspace",
    "comment": "/",
    "skip": ".",
    "later": ",",
    "cannot": "0",
    "guidelines": "?",
}


@dataclass(frozen=True, slots=True)
class Option:
    """One answer: what is stored, what is shown, what it means, and its key.

    `level` is how far a sub-concept stands below the concept that it belongs to.
    """

    value: str
    title: str
    definition: str = ""
    example: str = ""
    level: int = 0
    key: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A fieldset: exactly one option, any of them, a text, a number, or an order of the options.

    `needed` wants an answer ("at least one" of any); `none` offers that nothing applies, `other`
    a line of free text, which counts as an answer. A number is within `least` and `most`.
    """

    name: str
    title: str
    kind: Kind
    options: tuple[Option, ...] = ()
    needed: bool = False
    none: str = ""
    other: str = ""
    least: float | None = None
    most: float | None = None

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(o.value for o in self.options)

    @property
    def demand(self) -> str:
        """What a person must do, in a few words."""
        if self.kind == "one":
            return "exactly one answer" if self.needed else "at most one answer"
        if self.kind == "any":
            return "at least one answer" if self.needed else "all that apply"
        if self.kind == "order":
            return "a place for each" if self.needed else "a place for each, or none at all"
        return "an answer" if self.needed else "optional"


@dataclass(frozen=True, slots=True)
class Tab:
    """Questions that are shown together."""

    title: str
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class FormProblem:
    """What is wrong with the answer to a question ('' for the form as a whole)."""

    question: str
    message: str


@dataclass(frozen=True, eq=False)
class Form:
    """Tabs of questions, and the rules between the labels that the answers stand for.

    `implied` has what each label brings with it (a sea is water), `requires` and `exclusive`
    what must hold beside the questions. With `at_once` a single answer is saved as it is given.
    A form without `concepts` asks for no labels.
    """

    title: str
    tabs: tuple[Tab, ...]
    concepts: tuple[str, ...] = ()
    implied: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    requires: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclusive: tuple[tuple[str, ...], ...] = ()
    at_once: bool = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def questions(self) -> Iterator[Question]:
        """All questions, tab by tab."""
        for tab in self.tabs:
            yield from tab.questions

    @cached_property
    def _named(self) -> dict[str, Question]:
        return {q.name: q for q in self.questions()}

    def question(self, name: str) -> Question:
        return self._named[name]

    def check(self, answers: Answers) -> tuple[FormProblem, ...]:
        """All that is wrong with answers, in the order of the questions; nothing: they are good."""
        known = {*self._named, *(n + TEXT for n, q in self._named.items() if q.other)}
        found = [
            FormProblem("", f"the form has no question {name!r}")
            for name in answers
            if name not in known
        ]
        for question in self.questions():
            message = _wrong(question, answers)
            if message:
                found.append(FormProblem(question.name, message))
        return tuple(found) if found else self._broken(answers)

    def labels(self, answers: Answers) -> dict[str, int]:
        """1 for each concept that the answers select or imply, 0 for all others of the form."""
        chosen = self._chosen(answers)
        return {c: int(c in chosen) for c in self.concepts}

    def texts(self, answers: Answers) -> dict[str, str]:
        """What was written in words, by question."""
        found = {}
        for question in self.questions():
            name = question.name if question.kind == "text" else question.name + TEXT
            written = _text(answers, name)
            if written:
                found[question.name] = written
        return found

    def _chosen(self, answers: Answers) -> frozenset[str]:
        own = set(self.concepts)
        given = {
            v
            for q in self.questions()
            if q.kind in ("one", "any")
            for v in answers.get(q.name, ())
            if v in own
        }
        return frozenset(given.union(*(self.implied.get(c, ()) for c in given)))

    @cached_property
    def _rules(self) -> RuleBook:
        return RuleBook(
            self.concepts,
            tuple((" and ".join(g), tuple((c,) for c in g)) for g in self.exclusive),
            (),
            tuple(("", Requirement(c, any_of)) for c, any_of in self.requires),
            {},
        )

    def _broken(self, answers: Answers) -> tuple[FormProblem, ...]:
        broken = self._rules.broken(self._chosen(answers)) if self.concepts else None
        if broken is None:
            return ()
        shown = [self.title_of(c) for c in broken.concepts]
        needs = [(c, any_of) for c, any_of in self.requires if broken.concepts == (c, *any_of)]
        message = (
            f"{shown[0]} needs one of: {', '.join(shown[1:])}"
            if needs
            else f"{' and '.join(shown)} exclude each other"
        )
        return (FormProblem(self._asked_in(broken.concepts), message),)

    def _asked_in(self, concepts: Iterable[str]) -> str:
        """The question of the first of some concepts that is asked for itself."""
        for concept in concepts:
            for question in self.questions():
                if concept in question.values:
                    return question.name
        return ""

    def title_of(self, concept: str) -> str:
        """What people see of a concept."""
        for question in self.questions():
            for option in question.options:
                if option.value == concept:
                    return option.title
        return concept.replace("_", " ")

    def to_dict(self) -> dict[str, Any]:
        """The form as JSON, which `from_dict` reads."""
        return {
            "title": self.title,
            "tabs": [asdict(tab) for tab in self.tabs],
            "concepts": list(self.concepts),
            "implied": {c: list(names) for c, names in self.implied.items() if names},
            "requires": [[c, list(any_of)] for c, any_of in self.requires],
            "exclusive": [list(group) for group in self.exclusive],
            "at_once": self.at_once,
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Form:
        """The form that `to_dict` has written; a UsageError for anything else."""
        try:
            tabs = tuple(
                Tab(str(t["title"]), tuple(map(_question, t["questions"]))) for t in found["tabs"]
            )
            return cls(
                str(found["title"]),
                tabs,
                tuple(map(str, found["concepts"])),
                {str(c): tuple(map(str, names)) for c, names in found["implied"].items()},
                tuple((str(c), tuple(map(str, any_of))) for c, any_of in found["requires"]),
                tuple(tuple(map(str, group)) for group in found["exclusive"]),
                bool(found["at_once"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(f"this is not a form of Cranfield ({error!r})") from None

    @cached_property
    def text(self) -> str:
        """The form as the text of `to_dict`, written once."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @cached_property
    def sha(self) -> str:
        """A short name of what is asked: two forms with the same one ask the same."""
        text = json.dumps(self.to_dict(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def _question(found: Mapping[str, Any]) -> Question:
    options = tuple(Option(**option) for option in found["options"])
    question = Question(**{**found, "options": options})
    if question.kind not in KINDS:
        raise ValueError(f"a question of kind {question.kind!r}")
    return question


def _text(answers: Answers, name: str) -> str:
    given = answers.get(name, ())
    return str(given[0]).strip() if given else ""


def _wrong(question: Question, answers: Answers) -> str:
    """What is wrong with the answer to one question, or nothing."""
    given, title = list(answers.get(question.name, ())), f'"{question.title}"'
    words = _text(answers, question.name + TEXT if question.options else question.name)
    if len(words) > LONGEST_TEXT:
        return f"{title}: the text is longer than {LONGEST_TEXT} characters"
    if question.kind == "text":
        return f"{title} needs an answer" if question.needed and not words else ""
    if question.kind == "number":
        return _wrong_number(question, words)
    if question.kind == "order":
        return _wrong_order(question, given)
    known = {*question.values, *([NONE] if question.none else [])}
    odd = [v for v in given if v not in known]
    if odd:
        return f"{title} has no answer {odd[0]!r}"
    if len(set(given)) < len(given):
        return f"{title} has the same answer twice"
    if question.kind == "one" and len(given) > 1:
        return f"{title} takes one answer, not {len(given)}"
    if NONE in given and (len(given) > 1 or words):
        return f'{title}: "{question.none}" and an answer exclude each other'
    if question.needed and not given and not words:
        return f"{title} needs {question.demand}"
    return ""


def _wrong_number(question: Question, words: str) -> str:
    title = f'"{question.title}"'
    if not words:
        return f"{title} needs a number" if question.needed else ""
    try:
        value = float(words)
    except ValueError:
        value = math.nan
    low = -math.inf if question.least is None else question.least
    high = math.inf if question.most is None else question.most
    if math.isfinite(value) and low <= value <= high:
        return ""
    return f"{title}: {words[:40]!r} is not a number from {low:g} to {high:g}"


def _wrong_order(question: Question, given: Sequence[str]) -> str:
    """Places are written VALUE=PLACE; equal places are allowed, all options have one or none."""
    title, places = f'"{question.title}"', places_of(given)
    if not given:
        return f"{title} needs a place for each" if question.needed else ""
    if places is None or not set(places) <= set(question.values):
        return f"{title} takes places such as {question.values[0]}=1"
    if len(places) < len(question.options):
        return f"{title} needs a place for each, or none at all"
    if any(not 1 <= p <= len(question.options) for p in places.values()):
        return f"{title}: places are from 1 to {len(question.options)}"
    return ""


def places_of(given: Sequence[str]) -> dict[str, int] | None:
    """The places of an answer to a question of order; None when it is none."""
    places = {}
    for text in given:
        value, equals, place = text.rpartition("=")
        if not equals or not (place.isascii() and place.isdecimal()) or value in places:
            return None
        places[value] = int(place)
    return places
