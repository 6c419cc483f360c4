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
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

from cranfield._lazy import cached_property
from cranfield.data.labels import LabelMatrix, dense
from cranfield.data.ontology import Ontology, Requirement, RuleBook
from cranfield.errors import UsageError, suggest
from cranfield.io.concepts import Meaning
from cranfield.options import SHAPES, Shape

Kind: TypeAlias = Literal[
    "one",
    "any",
    "text",
    "number",
    "order",
    "groups",
    "tree",
    "boxes",
    "points",
    "segments",
    "search",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
Answers: TypeAlias = Mapping[str, Sequence[str]]

# The answer "none of these", and the field of a question that takes words.
NONE = "none"
TEXT = ".text"
# What is above the concepts at the top of a tree that a person has made.
TOP = "top"
# A person makes this many groups at most.
MOST_GROUPS = 12
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
    "none": ";",
    "suggested": "!",
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
    """A fieldset: one option, any of them, a text, a number, an arrangement of all, or marks.

    Marks are boxes and points of options on the picture (VALUE=X,Y,WIDTH,HEIGHT@WIDTHxHEIGHT, all
    in pixels of the picture), and segments of a recording (VALUE=START,END in seconds).
    Options are arranged in an order, in groups, or in a tree; answers are VALUE=PLACE,
    VALUE=GROUP (both numbers from 1 on) and VALUE=PARENT.

    `needed` wants an answer ("at least one" of any); `none` offers that nothing applies, `other`
    a line of free text, which counts as an answer. A number is within `least` and `most`.

    In a search the options are concepts; `index` has the confidence of each for every item, and
    the answers are what was done, in its order: "SECONDS DOES NAME" with a concept that was
    added or dropped, an item that was found or lost.
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
    index: tuple[tuple[str, tuple[float, ...]], ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(o.value for o in self.options)

    @property
    def targets(self) -> tuple[tuple[str, str], ...]:
        """Where an option can be put: what is stored, and what is shown."""
        if self.kind == "tree":
            return ((TOP, "at the top"), *((o.value, f"below {o.title}") for o in self.options))
        most = min(len(self.options), MOST_GROUPS if self.kind == "groups" else len(self.options))
        return tuple((str(n), str(n)) for n in range(1, most + 1))

    @property
    def demand(self) -> str:
        """What a person must do, in a few words."""
        if self.kind == "one":
            return "exactly one answer" if self.needed else "at most one answer"
        if self.kind == "any":
            return "at least one answer" if self.needed else "all that apply"
        if self.kind == "groups":
            return "a group for each"
        if self.kind == "tree":
            return "a place for each"
        if self.kind in SHAPES:
            return f"{self.kind} of all that there is"
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
        names = {*self._named, *(n + TEXT for n, q in self._named.items() if q.other)}
        problems = [
            FormProblem("", f"the form has no question {name!r}")
            for name in answers
            if name not in names
        ]
        for question in self.questions():
            message = _wrong(question, answers)
            if message:
                problems.append(FormProblem(question.name, message))
        return tuple(problems) if problems else self._broken(answers)

    def labels(self, answers: Answers) -> dict[str, int]:
        """1 for each concept that the answers select or imply, 0 for all others of the form."""
        assigned = self._chosen(answers)
        return {c: int(c in assigned) for c in self.concepts}

    def texts(self, answers: Answers) -> dict[str, str]:
        """What was written in words, by question."""
        text_of = {}
        for question in self.questions():
            name = question.name if question.kind == "text" else question.name + TEXT
            text = _text(answers, name)
            if text:
                text_of[question.name] = text
        return text_of

    def _chosen(self, answers: Answers) -> frozenset[str]:
        concepts = set(self.concepts)
        assigned = {
            v
            for q in self.questions()
            if q.kind in ("one", "any", *SHAPES)
            for v in (_label(q.kind, text) for text in answers.get(q.name, ()))
            if v in concepts
        }
        return frozenset(assigned.union(*(self.implied.get(c, ()) for c in assigned)))

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
        titles = [self.title_of(c) for c in broken.concepts]
        needs = [(c, any_of) for c, any_of in self.requires if broken.concepts == (c, *any_of)]
        message = (
            f"{titles[0]} needs one of: {', '.join(titles[1:])}"
            if needs
            else f"{' and '.join(titles)} exclude each other"
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
            "tabs": [_tab_record(tab) for tab in self.tabs],
            "concepts": list(self.concepts),
            "implied": {c: list(names) for c, names in self.implied.items() if names},
            "requires": [[c, list(any_of)] for c, any_of in self.requires],
            "exclusive": [list(group) for group in self.exclusive],
            "at_once": self.at_once,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Form:
        """The form that `to_dict` has written; a UsageError for anything else."""
        try:
            tabs = tuple(
                Tab(str(t["title"]), tuple(map(_question, t["questions"]))) for t in record["tabs"]
            )
            return cls(
                str(record["title"]),
                tabs,
                tuple(map(str, record["concepts"])),
                {str(c): tuple(map(str, names)) for c, names in record["implied"].items()},
                tuple((str(c), tuple(map(str, any_of))) for c, any_of in record["requires"]),
                tuple(tuple(map(str, group)) for group in record["exclusive"]),
                bool(record["at_once"]),
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


def _tab_record(tab: Tab) -> dict[str, Any]:
    """A tab as JSON; only a search has an index."""
    record = asdict(tab)
    for question in record["questions"]:
        if not question["index"]:
            del question["index"]
    return record


def _question(record: Mapping[str, Any]) -> Question:
    options = tuple(Option(**option) for option in record["options"])
    index = tuple((str(i), tuple(map(float, row))) for i, row in record.get("index", ()))
    question = Question(**{**record, "options": options, "index": index})
    if question.kind not in KINDS:
        raise ValueError(f"a question of kind {question.kind!r}")
    return question


def _text(answers: Answers, name: str) -> str:
    values = answers.get(name, ())
    return str(values[0]).strip() if values else ""


def _wrong(question: Question, answers: Answers) -> str:
    """What is wrong with the answer to one question, or nothing."""
    values, title = list(answers.get(question.name, ())), f'"{question.title}"'
    words = _text(answers, question.name + TEXT if question.options else question.name)
    if len(words) > LONGEST_TEXT:
        return f"{title}: the text is longer than {LONGEST_TEXT} characters"
    if question.kind == "text":
        return f"{title} needs an answer" if question.needed and not words else ""
    if question.kind == "number":
        return _wrong_number(question, words)
    if question.kind == "order":
        return _wrong_order(question, values)
    if question.kind in ("groups", "tree"):
        return _wrong_arrangement(question, values)
    if question.kind in SHAPES:
        return _wrong_marks(question, values)
    if question.kind == "search":
        return _wrong_search(question, values)
    allowed = {*question.values, *([NONE] if question.none else [])}
    unknown = [v for v in values if v not in allowed]
    if unknown:
        return f"{title} has no answer {unknown[0]!r}"
    if len(set(values)) < len(values):
        return f"{title} has the same answer twice"
    if question.kind == "one" and len(values) > 1:
        return f"{title} takes one answer, not {len(values)}"
    if NONE in values and (len(values) > 1 or words):
        return f'{title}: "{question.none}" and an answer exclude each other'
    if question.needed and not values and not words:
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


def _wrong_order(question: Question, values: Sequence[str]) -> str:
    """Places are written VALUE=PLACE; equal places are allowed, all options have one or none."""
    title, places = f'"{question.title}"', places_of(values)
    if not values:
        return f"{title} needs a place for each" if question.needed else ""
    if places is None or not set(places) <= set(question.values):
        return f"{title} takes places such as {question.values[0]}=1"
    if len(places) < len(question.options):
        return f"{title} needs a place for each, or none at all"
    if any(not 1 <= p <= len(question.options) for p in places.values()):
        return f"{title}: places are from 1 to {len(question.options)}"
    return ""


def _wrong_arrangement(question: Question, values: Sequence[str]) -> str:
    """Every option is in a group, or below another one without going round in a circle."""
    title = f'"{question.title}"'
    if not values:
        return f"{title} needs {question.demand}" if question.needed else ""
    parents = parents_of(values)
    if parents is None or not set(parents) <= set(question.values):
        return f"{title} takes places such as {question.values[0]}={question.targets[0][0]}"
    if len(parents) < len(question.options):
        return f"{title} needs {question.demand}"
    if not set(parents.values()) <= {target for target, _ in question.targets}:
        return f"{title} has no such place"
    if question.kind == "tree":
        for option in question.options:
            above, steps = option.value, 0
            while above != TOP and steps <= len(parents):
                above, steps = parents[above], steps + 1
            if above != TOP:
                return f"{title}: {option.title} is below itself"
    return ""


def _label(kind: Kind, text: str) -> str:
    """The concept that an answer is about."""
    return text.rpartition("=")[0] if kind in SHAPES else text


# Marks are rounded to hundredths of a pixel, so that a side may be that much beyond the picture.
_ROUNDING = 0.02
# How many marks a person makes on one picture at most.
MOST_MARKS = 500
_NUMBER = r"(\d{1,9}(?:\.\d{1,3})?)"
_BOX = re.compile(rf"{_NUMBER},{_NUMBER},{_NUMBER},{_NUMBER}@(\d{{1,6}})x(\d{{1,6}})")
_SEGMENT = re.compile(rf"{_NUMBER},{_NUMBER}")


def _wrong_marks(question: Question, values: Sequence[str]) -> str:
    """Each mark has an option and lies within its picture; nothing at all is said as such."""
    title = f'"{question.title}"'
    if NONE in values and len(values) > 1:
        return f'{title}: "{question.none}" and an answer exclude each other'
    if not values:
        return f"{title} needs {question.demand}, or that there is none" if question.needed else ""
    if len(values) > MOST_MARKS:
        return f"{title} takes {MOST_MARKS} marks at most"
    for number, text in enumerate([] if values == [NONE] else values, 1):
        label, _, place = text.rpartition("=")
        if label not in question.values:
            return f"{title}: mark {number} has no answer {label!r}"
        if question.kind == "segments":
            times = _SEGMENT.fullmatch(place)
            if times is None or not float(times[1]) < float(times[2]):
                return f"{title}: segment {number} is not from a start to a later end"
            continue
        match = _BOX.fullmatch(place)
        if match is None:
            return f"{title}: mark {number} is not a place on the picture"
        x, y, width, height, whole_width, whole_height = map(float, match.groups())
        if (width > 0 and height > 0) != (question.kind == "boxes"):
            return f"{title}: mark {number} has {'no' if question.kind == 'boxes' else 'an'} area"
        if x + width > whole_width + _ROUNDING or y + height > whole_height + _ROUNDING:
            return f"{title}: mark {number} is not within the picture"
    return ""


SEARCH_STEPS = ("added", "dropped", "found", "lost")
# Steps of one search at most.
MOST_STEPS = 2000


def search_steps(values: Sequence[str]) -> list[tuple[float, str, str]]:
    """What was done in a search: seconds since its start, what, and with which name."""
    steps = []
    for text in values:
        match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?) ([a-z]+) (.+)", text)
        if match is None or match[2] not in SEARCH_STEPS:
            raise UsageError(f"{text!r} is no step of a search")
        steps.append((float(match[1]), match[2], match[3]))
    return steps


def found_items(values: Sequence[str]) -> list[str]:
    """The items that were found and not put back, in the order in which they were found."""
    items: dict[str, None] = {}
    for _, step, name in search_steps(values):
        if step == "found":
            items[name] = None
        elif step == "lost":
            items.pop(name, None)
    return list(items)


def _wrong_search(question: Question, values: Sequence[str]) -> str:
    """Steps are about what the question has; something was found, or said not to be there."""
    title, given_up = f'"{question.title}"', NONE in values
    steps_text = [v for v in values if v != NONE]
    if len(values) > MOST_STEPS:
        return f"{title} takes {MOST_STEPS} steps at most"
    try:
        steps, items = search_steps(steps_text), found_items(steps_text)
    except UsageError as error:
        return f"{title}: {error}"
    known = {"added": set(question.values), "found": {item for item, _ in question.index}}
    known |= {"dropped": known["added"], "lost": known["found"]}
    unknown = next((name for _, step, name in steps if name not in known[step]), None)
    if unknown is not None:
        return f"{title} has no {unknown!r}"
    if items and given_up:
        return f'{title}: "{question.none}" and an answer exclude each other'
    if question.needed and not items and not given_up:
        return f"{title} needs an item that was found, or that there is none"
    return ""


def parents_of(values: Sequence[str]) -> dict[str, str] | None:
    """What each option was put below, or into; None when an answer is not of that form."""
    parents = {}
    for text in values:
        value, equals, parent = text.partition("=")
        if not equals or not parent or value in parents:
            return None
        parents[value] = parent
    return parents


def places_of(values: Sequence[str]) -> dict[str, int] | None:
    """The places of an answer to a question of order; None when it is none."""
    places = {}
    for text in values:
        value, equals, place = text.rpartition("=")
        if not equals or not (place.isascii() and place.isdecimal()) or value in places:
            return None
        places[value] = int(place)
    return places


# What is asked of all concepts without a category.
PLAIN = "Concepts"
NONE_SHOWN = "None of these is shown"
# The same for boxes that may also stay empty.
NONE_OF_THESE = "None of these"
# Grades of a relevance assessment without further wishes.
GRADES = (3, 2, 1, 0)
# What these grades are called beside their keys.
_GRADE_NAMES = {3: "highly relevant", 2: "relevant", 1: "partly relevant", 0: "not relevant"}


def ontology_form(
    ontology: Ontology,
    *,
    meanings: Mapping[str, Meaning] | None = None,
    below: str | None = None,
    title: str = "Annotation",
) -> Form:
    """A form for all concepts, or for those below one that an item is known to have.

    `meanings` define the concepts and word the questions that they are in. With `below` at
    least one concept must be chosen, "none of these" or "another" in words (thesis, 10.3.2).
    """
    concepts = ontology.concepts if below is None else _below(ontology, below)
    book = RuleBook.of(ontology, concepts)
    maker = _Maker(ontology, book, concepts, meanings or {}, below)
    tabs = _with_keys(maker.tabs())
    concept_set = set(concepts)
    return Form(
        title,
        tabs,
        concepts,
        {c: tuple(a for a in ontology.ancestors(c) if a in concept_set) for c in concepts},
        tuple(
            (need.concept, need.any_of)
            for _, need in book.requirements
            if set(need.any_of) <= concept_set
        ),
        tuple(
            tuple(m[0] for m in group)
            for _, group in book.at_most_one
            if _plain(group, concept_set)
        ),
    )


def _plain(group: Sequence[tuple[str, ...]], concepts: set[str]) -> bool:
    return all(len(member) == 1 and member[0] in concepts for member in group)


def _below(ontology: Ontology, concept: str) -> tuple[str, ...]:
    node = ontology.node_of(concept)
    if node is None:
        names = [*ontology.concepts, *ontology.nodes]
        raise UsageError(f"the ontology has no concept {concept!r}.{suggest(concept, names)}")
    concepts = tuple(
        c for c, n in ontology.concept_nodes.items() if node in ontology.nodes_above[n]
    )
    if not concepts:
        raise UsageError(f"the ontology has no concept below {concept!r}")
    return concepts


def shown_name(name: str) -> str:
    """A name of a concept or category in words.

    >>> shown_name("SceneDescription.TimeOfDay"), shown_name("No_Visual_Place")
    ('Time Of Day', 'No Visual Place')
    """
    last = name.rsplit(".", 1)[-1].replace("_", " ")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", last)


class _Maker:
    """Puts concepts into fieldsets by group, then by category, and these into tabs."""

    def __init__(
        self,
        ontology: Ontology,
        book: RuleBook,
        concepts: tuple[str, ...],
        meanings: Mapping[str, Meaning],
        below: str | None,
    ) -> None:
        self._ontology, self._asked, self._below = ontology, concepts, below
        self._meanings = meanings
        concept_set = set(concepts)
        needed = {tuple(c for c in names if c in concept_set) for names in book.groups().values()}
        groups = [g for _, g in book.at_most_one if _plain(g, concept_set)]
        self._groups = [tuple(m[0] for m in g) for g in groups]
        self._needed = [g for g in self._groups if g in needed]
        self._derived = self._find_derived()

    def _find_derived(self) -> set[str]:
        """Concepts that an exclusive group decides: all that is below them is in the group."""
        derived = set()
        for concept in self._asked:
            under = {c for c in self._asked if concept in self._ontology.ancestors(c)}
            if under and any(under <= set(group) for group in self._needed):
                derived.add(concept)
        return derived

    def tabs(self) -> tuple[Tab, ...]:
        placed: dict[str, list[Question]] = {}
        remaining = [c for c in self._asked if c not in self._derived]
        handled: set[str] = set()
        for concept in remaining:
            if concept in handled:
                continue
            group = next((g for g in self._groups if concept in g and not handled & set(g)), None)
            if group is not None and not set(group) & self._derived:
                question = self._exclusive(group)
                handled.update(group)
            else:
                home = self._category(concept)
                members = [
                    c
                    for c in remaining
                    if c not in handled and self._category(c) == home and not self._in_group(c)
                ]
                question = self._optional(home, members or [concept])
                handled.update(members or [concept])
            placed.setdefault(self._tab(concept), []).append(question)
        return tuple(Tab(shown_name(name), tuple(qs)) for name, qs in placed.items())

    def _in_group(self, concept: str) -> bool:
        return any(concept in g and not set(g) & self._derived for g in self._groups)

    def _tab(self, concept: str) -> str:
        """The category at the top of a concept's path."""
        node = self._ontology.concept_nodes[concept]
        path = [node, *self._ontology.nodes_above[node]]
        top = min(path, key=lambda n: (self._ontology.depths[n], n))
        return PLAIN if top in self._ontology.concept_at else self._ontology.nodes[top]

    def _category(self, concept: str) -> str:
        """The nearest category above a concept that is no concept itself."""
        at = self._ontology.concept_at
        above = self._ontology.nodes_above[self._ontology.concept_nodes[concept]]
        kinds = [n for n in above if n not in at]
        deepest = max(kinds, key=lambda n: (self._ontology.depths[n], -n), default=None)
        return PLAIN if deepest is None else self._ontology.nodes[deepest]

    def _exclusive(self, group: tuple[str, ...]) -> Question:
        members = [c for c in group if c in set(self._asked)]
        name = self._category(members[0])
        title = self._title(members, name if name != PLAIN else "One of these")
        options = tuple(self._option(c, members) for c in members)
        needed = group in self._needed
        return Question(members[0], title, "one", options, needed, "" if needed else NONE_SHOWN)

    def _optional(self, home: str, members: Sequence[str]) -> Question:
        in_group = any(self._category(c) == home for g in self._groups for c in g)
        title = self._title(members, home)
        if in_group and title == shown_name(home):
            title += ": and also"
        options = tuple(self._option(c, members) for c in _by_tree(self._ontology, members))
        if self._below is None:
            return Question(members[0], title, "any", options, none=NONE_OF_THESE)
        label = f"Another {shown_name(self._below).lower()}?"
        return Question(members[0], title, "any", options, True, NONE_SHOWN, label)

    def _title(self, members: Sequence[str], home: str) -> str:
        worded = [m.question for c in members if (m := self._meanings.get(c)) and m.question]
        return worded[0] if worded else shown_name(self._below or home)

    def _option(self, concept: str, members: Sequence[str]) -> Option:
        meaning = self._meanings.get(concept, Meaning())
        level = sum(a in members for a in self._ontology.ancestors(concept))
        name = meaning.title or shown_name(concept)
        return Option(concept, name, meaning.definition, meaning.example, level)


def _by_tree(ontology: Ontology, members: Sequence[str]) -> list[str]:
    """Every concept before those below it, otherwise in their own order."""
    ordered: list[str] = []

    def add(concept: str) -> None:
        if concept in ordered:
            return
        ordered.append(concept)
        for member in members:
            if concept in ontology.ancestors(member):
                add(member)

    for concept in members:
        if not any(a in members for a in ontology.ancestors(concept)):
            add(concept)
    return ordered


def _with_keys(tabs: Sequence[Tab]) -> tuple[Tab, ...]:
    """A key for each option of a tab while there are keys: choices above, boxes below them.

    Where the keys are enough for all tabs, none is used twice: all questions are open at once.
    """
    keyed = []
    choices, boxes = list(ROWS[0]), [*ROWS[1], *ROWS[2]]
    options_in_all = sum(len(q.options) for tab in tabs for q in tab.questions)
    enough = options_in_all <= len(choices) + len(boxes)
    for tab in tabs:
        if not enough:
            choices, boxes = list(ROWS[0]), [*ROWS[1], *ROWS[2]]
        questions = []
        for question in tab.questions:
            first, then = (choices, boxes) if question.kind == "one" else (boxes, choices)
            options = []
            for option in question.options:
                keys = first or then
                options.append(replace(option, key=keys.pop(0) if keys else ""))
            questions.append(replace(question, options=tuple(options)))
        keyed.append(Tab(tab.title, tuple(questions)))
    return tuple(keyed)


def cell_form(
    ontology: Ontology,
    concepts: Sequence[str],
    *,
    meanings: Mapping[str, Meaning] | None = None,
    title: str = "Annotation",
) -> Form:
    """A form for some concepts of an item, each of which is judged: ticked, or else absent.

    What is not asked for is not judged; concepts above a ticked one are ticked with it.
    """
    unknown = [c for c in concepts if c not in ontology.concepts]
    if unknown:
        hint = suggest(unknown[0], ontology.concepts)
        raise UsageError(f"the ontology has no concept {unknown[0]!r}.{hint}")
    known = meanings or {}
    ordered = _by_tree(ontology, [c for c in ontology.concepts if c in set(concepts)])
    options = tuple(
        Option(
            concept,
            known.get(concept, Meaning()).title or shown_name(concept),
            known.get(concept, Meaning()).definition,
            known.get(concept, Meaning()).example,
            sum(a in ordered for a in ontology.ancestors(concept)),
        )
        for concept in ordered
    )
    question = Question("shown", "Which of these does it show?", "any", options, True, NONE_SHOWN)
    implied = {c: tuple(a for a in ontology.ancestors(c) if a in ordered) for c in ordered}
    return Form(title, _with_keys((Tab("", (question,)),)), tuple(ordered), implied)


def mark_form(
    ontology: Ontology,
    shape: Shape,
    *,
    meanings: Mapping[str, Meaning] | None = None,
    title: str = "Annotation",
) -> Form:
    """A form in which the concepts of an ontology are marked: boxes, points or segments."""
    form = cell_form(ontology, ontology.concepts, meanings=meanings, title=title)
    question = replace(
        form.question("shown"), kind=shape, title="Where does it show each of these?"
    )
    if shape == "segments":
        question = replace(question, title="When is each of these there?")
    return replace(form, tabs=(Tab("", (question,)),))


def grade_form(grades: Sequence[int] = GRADES, *, title: str = "How relevant is it?") -> Form:
    """Buttons of grades: one key decides, saves and goes on."""
    if len(grades) < 2 or len(set(grades)) < len(grades) or not all(0 <= g <= 9 for g in grades):
        raise UsageError("grades are two or more different numbers from 0 to 9")
    names = _GRADE_NAMES if tuple(grades) == GRADES else {}
    options = tuple(Option(str(g), names.get(g, str(g)), key=str(g)) for g in grades)
    return Form(title, (Tab("", (Question("grade", title, "one", options, True),)),), at_once=True)


def actions_of(form: Form) -> dict[str, str]:
    """The keys of what can be done with a form: those that no option uses already."""
    keys = {o.key for q in form.questions() for o in q.options}
    spare = iter([k for k in "xcvbnm" if k not in keys])
    return {name: key if key not in keys else next(spare) for name, key in ACTIONS.items()}


def items_with_concepts(
    items: Sequence[str], labels: LabelMatrix, concepts: Sequence[str]
) -> tuple[str, ...]:
    """The items that are known to have one of some concepts: who is asked about the rest.

    >>> import numpy as np
    >>> labels = LabelMatrix.of(np.array([[1, 0], [0, 1]]), items=["a", "b"], concepts=["X", "Y"])
    >>> items_with_concepts(["b", "a"], labels, ["Y"])
    ('b',)
    """
    unknown = [c for c in concepts if c not in labels.concepts]
    if unknown:
        hint = suggest(unknown[0], labels.concepts)
        raise UsageError(f"the known labels have no concept {unknown[0]!r}.{hint}")
    columns = [labels.concepts.index(c) for c in concepts]
    positive = dense(labels.labels)[:, columns].any(axis=1)
    having = {item for item, has in zip(labels.items, positive.tolist(), strict=True) if has}
    return tuple(item for item in items if item in having)
