"""What a valid submission is: the same rules for the command line and the site.

Only what is public is looked at (ids of topics, items and concepts), never the truth, so every
problem can be shown in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cranfield._lazy import cached_property
from cranfield.campaign.item_texts import public_concepts, public_items, public_topics
from cranfield.campaign.lines import rows_of
from cranfield.campaign.near import NameSuggester
from cranfield.data import Run
from cranfield.data.collection import Collection, Kind
from cranfield.errors import PROBLEMS_SHOWN, InputError, plural
from cranfield.io.files import FileForm, Input, describe, run_name

if TYPE_CHECKING:
    from cranfield.data.labels import LabelMatrix, Threshold

# The threshold of a task whose submissions have 0/1 rows of their own.
ROWS = "rows"
PERCENT = 100
# How the readers of labels say that a value is no confidence.
OUTSIDE = "is outside [0, 1]"
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

    def known(self, role: str) -> frozenset[str] | None:
        """The topics, items or concepts as a set."""
        return self._sets[role]

    @cached_property
    def _sets(self) -> dict[str, frozenset[str] | None]:
        ids_of = {"topic": self.topics, "item": self.items, "concept": self.concepts}
        return {w: None if ids is None else frozenset(ids) for w, ids in ids_of.items()}

    @property
    def unknown(self) -> tuple[str, ...]:
        """Which ids cannot be checked because nothing tells them."""
        required = ("topics", "items") if self.kind == "ranked" else ("items", "concepts")
        return tuple(name for name in required if getattr(self, name) is None)


@dataclass(frozen=True)
class CheckedSubmission:
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


class ProblemList:
    """Problems on their way: the first are kept, all are counted."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.kept: list[Problem] = []
        self.count = 0

    def add(self, line: int, message: str, *, file: str = "") -> None:
        self.count += 1
        self.kept.append(Problem(file or self.file, line, message))

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
) -> CheckedSubmission:
    """Read a submission and say all that is wrong with it.

    `threshold` is a number, one per concept, or a file of them, for annotations without decisions
    of their own; "rows" demands the decisions as 0/1 rows after the confidences.
    """
    submission = Input.of(source)
    check = _Check(submission, public, name or run_name(submission))
    return check.ranked() if public.kind == "ranked" else check.labels(threshold)


class _Check:
    """One submission on its way through the rules."""

    def __init__(self, submission: Input, public: PublicSet, name: str) -> None:
        self.given, self.public, self.name = submission, public, name
        self.found = ProblemList(describe(submission))

    def ranked(self) -> CheckedSubmission:
        from cranfield.io import read_run

        try:
            run = read_run(self.given).named(self.name)
        except InputError as error:
            return self._refused(error)
        public = self.public
        unknown = {"topic": _unknown(run.topics, public.known("topic"))}
        unknown["item"] = _unknown_items(run, public.known("item"))
        self._complain_of(unknown)
        missing = _missing(public.topics, run.topics)
        notes = [f"has nothing for {_some('topic', missing)}"] if missing else []
        return self._checked(run, len(run), len(run.topics), missing, notes)

    def labels(self, threshold: Threshold | str | Path | None) -> CheckedSubmission:
        from cranfield.io.labels import read_labels

        try:
            labels = read_labels(self.given, name=self.name)
        except InputError as error:
            return self._refused(error)
        public = self.public
        unknown = {"item": _unknown(labels.items, public.known("item"))}
        notes: list[str] = []
        if labels.named:
            unknown["concept"] = _unknown(labels.concepts, public.known("concept"))
            absent = _missing(public.concepts, labels.concepts)
            if absent:
                notes.append(f"says nothing of {_some('concept', absent)}: counted as absent")
        elif public.concepts is not None and len(labels.concepts) != len(public.concepts):
            message = f"has {len(labels.concepts)} values per item, expected {len(public.concepts)}"
            self.found.add(_first_line(self.given), f"{message}, one for each concept")
        self._complain_of(unknown)
        missing = _missing(public.items, labels.items)
        if missing:
            self.found.add(0, f"has nothing for {_some('item', missing)}")
        if not self.found.count:
            check_threshold(labels, threshold, self.found)
        return self._checked(labels, len(labels.items), len(labels.items), missing, notes)

    def _refused(self, error: InputError) -> CheckedSubmission:
        """A file that cannot be read: what its reader says, and wrong ids beside it."""
        percents = _percents(self.given) if self.public.kind == "labels" else None
        reported = [p for p in error.problems if percents is None or OUTSIDE not in p.message]
        for problem in reported:
            self.found.add(problem.line, problem.message)
        if percents is not None and len(reported) < len(error.problems):
            self.found.add(*percents)
        if reported:
            self.found.count += error.count - len(error.problems)
        self._tell(self._first_unknown())
        return CheckedSubmission(
            self.found.file, self.name, self.public.kind, self.found.first(), self.found.count
        )

    def _complain_of(self, unknown: Mapping[str, Iterable[str]]) -> None:
        """Every unknown id is a problem; the first ones are told with their lines."""
        unknown_names = {(role, name) for role, names in unknown.items() for name in names}
        if not unknown_names:
            return
        first = self._first_unknown()
        if not first:
            # Only text has lines.
            first = dict.fromkeys(sorted(unknown_names)[:PROBLEMS_SHOWN], 0)
        self._tell(first)
        self.found.count += len(unknown_names) - len(first)

    def _first_unknown(self) -> dict[tuple[str, str], int]:
        """The first unknown ids of a text file with the lines they first stand on."""
        first: dict[tuple[str, str], int] = {}
        for row in rows_of(self.given, self.public.kind):
            for role, name in row.ids.items():
                public_names = self.public.known(role)
                if public_names is not None and name not in public_names:
                    first.setdefault((role, name), row.line)
            if len(first) >= PROBLEMS_SHOWN:
                break
        return dict(list(first.items())[:PROBLEMS_SHOWN])

    def _tell(self, unknown: Mapping[tuple[str, str], int]) -> None:
        suggestions = {
            role: NameSuggester(getattr(self.public, f"{role}s") or (), self.public.known(role))
            for role in dict.fromkeys(role for role, _ in unknown)
        }
        for (role, name), line in unknown.items():
            self.found.add(line, f"unknown {role} {name!r}.{suggestions[role](name)}")

    def _checked(
        self, run: Any, lines: int, units: int, missing: Sequence[str], notes: Sequence[str]
    ) -> CheckedSubmission:
        problems = self.found
        return CheckedSubmission(
            problems.file,
            self.name,
            self.public.kind,
            problems.first(),
            problems.count,
            lines,
            units,
            tuple(missing),
            (*run.notes, *notes),
            None if problems.count else run,
        )


def check_threshold(
    labels: LabelMatrix, threshold: Threshold | str | Path | None, problems: ProblemList
) -> None:
    """Say what is wrong with a threshold itself, or with how it fits the labels."""
    from cranfield.evaluation.label_inputs import coerce_threshold

    if threshold is None:
        return
    if threshold == ROWS:
        if labels.labels is None or labels.confidences is None:
            problems.add(0, "has no 0/1 rows after its confidences, which this task asks for")
        return
    try:
        limits = coerce_threshold(threshold)
        values = [limits] if isinstance(limits, int | float) else _numbers(limits)
        outside = next((v for v in values if not 0 <= v <= 1), None)
        if outside is not None:
            hint = "; does it look like a percent?" if 1 < outside <= PERCENT else ""
            problems.add(0, f"threshold {outside:g} is not in [0, 1]{hint}")
        else:
            labels.with_threshold(limits)
    except InputError as error:
        for problem in error.problems:
            problems.add(problem.line, problem.message, file=error.where)


def _numbers(limits: Any) -> list[float]:
    return [float(v) for v in (limits.values() if isinstance(limits, Mapping) else limits)]


def _percents(submission: Input) -> tuple[int, str] | None:
    """Where the values begin to look like percents, if they do: from 0 to 100, most above 1."""
    seen = above = 0
    first: tuple[int, str] | None = None
    for row in rows_of(submission, "labels"):
        if any(not 0 <= value <= PERCENT for value in row.values):
            return None
        large = [value for value in row.values if value > 1]
        seen += sum(value > 0 for value in row.values)
        above += len(large)
        if large and first is None:
            message = f"value {large[0]:g} of item {row.ids.get('item', '')!r}"
            first = row.line, f"{message}: the values look like percents; divide them by 100"
    return first if 2 * above > seen else None


def _first_line(submission: Input) -> int:
    return next((row.line for row in rows_of(submission, "labels")), 0)


def _unknown(ids: Iterable[str], public_names: frozenset[str] | None) -> set[str]:
    return set() if public_names is None else set(ids) - public_names


def _missing(required: Sequence[str] | None, names: Iterable[str]) -> tuple[str, ...]:
    present = set(names)
    return tuple(name for name in required or () if name not in present)


def _unknown_items(run: Run, public_names: frozenset[str] | None) -> set[str]:
    """The items of a run that are not known, looked at topic by topic: a run may be large."""
    unknown: set[str] = set()
    if public_names is None:
        return unknown
    for first, last in pairwise(run.offsets.tolist()):
        ends = run.item_offsets[first : last + 1]
        id_bytes = run.item_bytes[ends[0] : ends[-1]].tobytes()
        places = (ends - ends[0]).tolist()
        if id_bytes.isascii():  # the places of bytes are those of letters
            text = id_bytes.decode("ascii")
            items = {text[a:b] for a, b in pairwise(places)}
        else:
            items = {id_bytes[a:b].decode() for a, b in pairwise(places)}
        unknown |= items - public_names
    return unknown


def _some(noun: str, names: Sequence[str]) -> str:
    """'3 items: a, b, c' or '40 items, such as a, b, c'."""
    examples = ", ".join(map(repr, names[:NAMED]))
    such = ": " if len(names) <= NAMED else ", such as "
    return f"{plural(len(names), noun)}{such}{examples}"
