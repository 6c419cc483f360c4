"""What a valid submission is: the same rules for the command line and the site.

Only what is public is looked at (ids of topics, items and concepts), never the truth, so every
problem can be shown in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cranfield.campaign.texts import public_concepts, public_items, public_topics
from cranfield.data import Run
from cranfield.data.collection import Collection, Kind
from cranfield.errors import PROBLEMS_SHOWN, InputError, plural, suggest
from cranfield.io.files import FileForm, Input, describe, run_name

if TYPE_CHECKING:
    from cranfield.data.labels import LabelMatrix, Threshold

# How many ids a message names before it only counts.
NAMED = 3


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a submission; `line` is 0 when it concerns the whole file."""

    file: str
    line: int
    message: str


@dataclass(frozen=True)
class PublicSet:
    """The ids that a submission may use; None where the collection does not tell them."""

    kind: Kind
    topics: tuple[str, ...] | None = None
    items: tuple[str, ...] | None = None
    concepts: tuple[str, ...] | None = None

    @classmethod
    def of(cls, collection: Collection, kind: Kind) -> PublicSet:
        """What a collection makes public; its truth stays closed."""
        items = public_items(collection, kind)
        if kind == "ranked":
            return cls(kind, topics=public_topics(collection), items=items)
        return cls(kind, items=items, concepts=public_concepts(collection))

    @cached_property
    def item_set(self) -> frozenset[str]:
        return frozenset(self.items or ())

    @property
    def unknown(self) -> tuple[str, ...]:
        """Which ids cannot be checked because nothing tells them."""
        wanted = ("topics", "items") if self.kind == "ranked" else ("items", "concepts")
        return tuple(name for name in wanted if getattr(self, name) is None)


@dataclass(frozen=True)
class Checked:
    """What was found in one submission; `run` is what was read, if nothing is wrong with it.

    The first problems are kept, `count` has the number of all. `units` are the topics or items
    that the submission speaks of, `missing` those of the public set that it does not.
    """

    file: str
    name: str
    kind: Kind
    problems: tuple[Problem, ...] = ()
    count: int = 0
    lines: int = 0
    units: int = 0
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    run: Run | LabelMatrix | None = field(default=None, repr=False)

    @property
    def is_good(self) -> bool:
        return not self.count


class Found:
    """Problems on their way: the first are kept, all are counted."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.kept: list[Problem] = []
        self.count = 0

    def add(self, line: int, message: str, times: int = 1) -> None:
        self.count += times
        self.kept.append(Problem(self.file, line, message))

    def first(self) -> tuple[Problem, ...]:
        """The first problems by line; those of the whole file come last."""
        order = sorted(self.kept, key=lambda p: (p.line == 0, p.line))
        return tuple(order[:PROBLEMS_SHOWN])


def check_submission(
    source: FileForm,
    public: PublicSet,
    *,
    threshold: Threshold | str | Path | None = None,
    name: str | None = None,
) -> Checked:
    """Read a submission and say all that is wrong with it.

    `threshold` is a number, one per concept, or a file of them, for annotations without decisions
    of their own; "rows" demands the decisions as 0/1 rows after the confidences.
    """
    given = Input.of(source)
    found = Found(describe(given))
    called = name or run_name(given)
    if public.kind == "ranked":
        return _check_ranked(given, public, found, called)
    return _check_labels(given, public, found, called, threshold)


def _check_ranked(given: Input, public: PublicSet, found: Found, name: str) -> Checked:
    from cranfield.io import read_run

    try:
        run = read_run(given).named(name)
    except InputError as error:
        _take_over(error, found)
        return _refused(found, public, name)
    items = set(_items_of(run))
    _check_ids(found, "topic", run.topics, public.topics)
    _check_ids(found, "item", items - public.item_set, public.items)
    missing = _missing(public.topics, run.topics)
    notes = list(run.notes)
    if missing:
        notes.append(f"has nothing for {_some('topic', missing)}")
    return _checked(found, public, run, len(run), len(run.topics), missing, notes)


def _check_labels(
    given: Input,
    public: PublicSet,
    found: Found,
    name: str,
    threshold: Threshold | str | Path | None,
) -> Checked:
    from cranfield.io.labels import read_labels

    try:
        labels = read_labels(given, name=name)
    except InputError as error:
        _take_over(error, found)
        return _refused(found, public, name)
    if threshold is not None and threshold != "rows":
        _check_threshold(labels, found, threshold)
    _check_ids(found, "item", labels.items, public.items)
    if labels.named:
        _check_ids(found, "concept", labels.concepts, public.concepts)
    missing = _missing(public.items, labels.items)
    if missing:
        found.add(0, f"has nothing for {_some('item', missing)}")
    notes = list(labels.notes)
    return _checked(found, public, labels, len(labels.items), len(labels.items), missing, notes)


def _check_threshold(labels: LabelMatrix, found: Found, threshold: Threshold | str | Path) -> None:
    """Say what is wrong with the threshold itself, or with how it fits the labels."""
    from cranfield.evaluation.label_inputs import coerce_threshold

    try:
        labels.with_threshold(coerce_threshold(threshold))
    except InputError as error:
        _take_over(error, found)


def _take_over(error: InputError, found: Found) -> None:
    for problem in error.problems:
        found.add(problem.line, problem.message)
    found.count += error.count - len(error.problems)


def _refused(found: Found, public: PublicSet, name: str) -> Checked:
    return Checked(found.file, name, public.kind, found.first(), found.count)


def _checked(
    found: Found,
    public: PublicSet,
    run: Any,
    lines: int,
    units: int,
    missing: Sequence[str],
    notes: Sequence[str],
) -> Checked:
    return Checked(
        found.file,
        run.name,
        public.kind,
        found.first(),
        found.count,
        lines,
        units,
        tuple(missing),
        tuple(notes),
        None if found.count else run,
    )


def _check_ids(found: Found, what: str, ids: Iterable[str], known: Sequence[str] | None) -> None:
    if known is None:
        return
    for name in sorted(set(ids) - set(known)):
        found.add(0, f"unknown {what} {name!r}.{suggest(name, known)}")


def _missing(known: Sequence[str] | None, there: Iterable[str]) -> tuple[str, ...]:
    held = set(there)
    return tuple(name for name in known or () if name not in held)


def _items_of(run: Run) -> Iterable[str]:
    return (item for _, item, _ in run.rows())


def _some(what: str, names: Sequence[str]) -> str:
    """'3 items: a, b, c' or '40 items, such as a, b, c'."""
    shown = ", ".join(map(repr, names[:NAMED]))
    such = ": " if len(names) <= NAMED else ", such as "
    return f"{plural(len(names), what)}{such}{shown}"


def counted(checked: Iterable[Checked]) -> Mapping[str, int]:
    """How many submissions are good, how many are not, and the problems of all."""
    held = list(checked)
    good = sum(one.is_good for one in held)
    return {"good": good, "bad": len(held) - good, "problems": sum(one.count for one in held)}
