"""The form that an ontology asks for, and forms of other kinds of judging.

Concepts of which exactly one holds are radio buttons and need an answer, concepts that exclude
each other are radio buttons that may stay empty, all others are check boxes in a fieldset of
their own: mixed in one question, people took them for one choice (thesis, 6.2.2). The tabs are
the categories at the top.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cranfield.campaign.forms import ACTIONS, ROWS, Form, Option, Question, Tab
from cranfield.data.labels import LabelMatrix, dense
from cranfield.data.ontology import Ontology
from cranfield.data.rulebook import RuleBook
from cranfield.errors import UsageError, suggest
from cranfield.io.meanings import Meaning

# What is asked of all concepts without a category.
PLAIN = "Concepts"
NONE_SHOWN = "None of these is shown"
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
    asked = ontology.concepts if below is None else _below(ontology, below)
    book = RuleBook.of(ontology, asked)
    maker = _Maker(ontology, book, asked, meanings or {}, below)
    tabs = _with_keys(maker.tabs())
    own = set(asked)
    return Form(
        title,
        tabs,
        asked,
        {c: tuple(a for a in ontology.ancestors(c) if a in own) for c in asked},
        tuple(
            (need.concept, need.any_of) for _, need in book.requirements if set(need.any_of) <= own
        ),
        tuple(tuple(m[0] for m in group) for _, group in book.at_most_one if _plain(group, own)),
    )


def _plain(group: Sequence[tuple[str, ...]], own: set[str]) -> bool:
    return all(len(member) == 1 and member[0] in own for member in group)


def _below(ontology: Ontology, concept: str) -> tuple[str, ...]:
    node = ontology.node_of(concept)
    if node is None:
        known = [*ontology.concepts, *ontology.nodes]
        raise UsageError(f"the ontology has no concept {concept!r}.{suggest(concept, known)}")
    found = tuple(c for c, n in ontology.concept_nodes.items() if node in ontology.nodes_above[n])
    if not found:
        raise UsageError(f"the ontology has no concept below {concept!r}")
    return found


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
        asked: tuple[str, ...],
        meanings: Mapping[str, Meaning],
        below: str | None,
    ) -> None:
        self._ontology, self._asked, self._below = ontology, asked, below
        self._meanings = meanings
        own = set(asked)
        needed = {tuple(c for c in names if c in own) for names in book.groups().values()}
        groups = [g for _, g in book.at_most_one if _plain(g, own)]
        self._groups = [tuple(m[0] for m in g) for g in groups]
        self._needed = [g for g in self._groups if g in needed]
        self._derived = self._find_derived()

    def _find_derived(self) -> set[str]:
        """Concepts that an exclusive group decides: all that is below them is in the group."""
        found = set()
        for concept in self._asked:
            under = {c for c in self._asked if concept in self._ontology.ancestors(c)}
            if under and any(under <= set(group) for group in self._needed):
                found.add(concept)
        return found

    def tabs(self) -> tuple[Tab, ...]:
        placed: dict[str, list[Question]] = {}
        left = [c for c in self._asked if c not in self._derived]
        done: set[str] = set()
        for concept in left:
            if concept in done:
                continue
            group = next((g for g in self._groups if concept in g and not done & set(g)), None)
            if group is not None and not set(group) & self._derived:
                question = self._exclusive(group)
                done.update(group)
            else:
                home = self._category(concept)
                members = [
                    c
                    for c in left
                    if c not in done and self._category(c) == home and not self._in_group(c)
                ]
                question = self._optional(home, members or [concept])
                done.update(members or [concept])
            placed.setdefault(self._tab(concept), []).append(question)
        return tuple(Tab(shown_name(name), tuple(qs)) for name, qs in placed.items())

    def _in_group(self, concept: str) -> bool:
        return any(concept in g and not set(g) & self._derived for g in self._groups)

    def _tab(self, concept: str) -> str:
        """The category at the top of a concept's path."""
        node = self._ontology.concept_nodes[concept]
        way = [node, *self._ontology.nodes_above[node]]
        top = min(way, key=lambda n: (self._ontology.depths[n], n))
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
        both = any(self._category(c) == home for g in self._groups for c in g)
        title = self._title(members, home)
        if both and title == shown_name(home):
            title += ": and also"
        options = tuple(self._option(c, members) for c in _by_tree(self._ontology, members))
        if self._below is None:
            return Question(members[0], title, "any", options)
        other = f"Another {shown_name(self._below).lower()}?"
        return Question(members[0], title, "any", options, True, NONE_SHOWN, other)

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
    found: list[str] = []

    def add(concept: str) -> None:
        if concept in found:
            return
        found.append(concept)
        for other in members:
            if concept in ontology.ancestors(other):
                add(other)

    for concept in members:
        if not any(a in members for a in ontology.ancestors(concept)):
            add(concept)
    return found


def _with_keys(tabs: Sequence[Tab]) -> tuple[Tab, ...]:
    """A key for each option of a tab while there are keys: choices above, boxes below them."""
    made = []
    for tab in tabs:
        choices, boxes = list(ROWS[0]), [*ROWS[1], *ROWS[2]]
        questions = []
        for question in tab.questions:
            first, then = (choices, boxes) if question.kind == "one" else (boxes, choices)
            options = []
            for option in question.options:
                keys = first or then
                options.append(replace(option, key=keys.pop(0) if keys else ""))
            questions.append(replace(question, options=tuple(options)))
        made.append(Tab(tab.title, tuple(questions)))
    return tuple(made)


def grade_form(grades: Sequence[int] = GRADES, *, title: str = "How relevant is it?") -> Form:
    """Buttons of grades: one key decides, saves and goes on."""
    if len(grades) < 2 or len(set(grades)) < len(grades) or not all(0 <= g <= 9 for g in grades):
        raise UsageError("grades are two or more different numbers from 0 to 9")
    names = _GRADE_NAMES if tuple(grades) == GRADES else {}
    options = tuple(Option(str(g), names.get(g, str(g)), key=str(g)) for g in grades)
    return Form(title, (Tab("", (Question("grade", title, "one", options, True),)),), at_once=True)


def actions_of(form: Form) -> dict[str, str]:
    """The keys of what can be done with a form: those that no option uses already."""
    used = {o.key for q in form.questions() for o in q.options}
    spare = iter([k for k in "xcvbnm" if k not in used])
    return {name: key if key not in used else next(spare) for name, key in ACTIONS.items()}


def gated(items: Sequence[str], known: LabelMatrix, concepts: Sequence[str]) -> tuple[str, ...]:
    """The items that are known to have one of some concepts: who is asked about the rest.

    >>> import numpy as np
    >>> labels = LabelMatrix.of(np.array([[1, 0], [0, 1]]), items=["a", "b"], concepts=["X", "Y"])
    >>> gated(["b", "a"], labels, ["Y"])
    ('b',)
    """
    unknown = [c for c in concepts if c not in known.concepts]
    if unknown:
        raise UsageError(
            f"the known labels have no concept {unknown[0]!r}.{suggest(unknown[0], known.concepts)}"
        )
    columns = [known.concepts.index(c) for c in concepts]
    shown = dense(known.labels)[:, columns].any(axis=1)
    having = {item for item, has in zip(known.items, shown.tolist(), strict=True) if has}
    return tuple(item for item in items if item in having)
