"""What a valid submission is: the same rules for the command line and the site.

Only what is public is looked at (ids of topics, items and concepts), never the truth, so every
problem can be shown in full.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cranfield._lazy import cached_property
from cranfield.answers import Answer
from cranfield.campaign.item_texts import public_concepts, public_items, public_topics
from cranfield.campaign.scoring import run_thresholds
from cranfield.data import Run
from cranfield.data.collection import Collection, Kind
from cranfield.data.columns import HEADERS
from cranfield.errors import PROBLEMS_SHOWN, InputError, UsageError, plural, suggest
from cranfield.io.collection import read_collection
from cranfield.io.files import (
    FileForm,
    Input,
    describe,
    inner_suffix,
    input_lines,
    numbers,
    run_name,
)
from cranfield.io.sniff import holds_regions
from cranfield.notes import with_progress
from cranfield.validation import validate_params

if TYPE_CHECKING:
    from cranfield.data.labels import LabelMatrix, Threshold
    from cranfield.data.regions import Regions
    from cranfield.notes import Watcher


BINARY = (".parquet", ".npz", ".npy", ".json")
SEPARATED = {".csv": ",", ".tsv": "\t"}
LONG = ("item", "concept", "value")
TREC_FIELDS = 6


@dataclass(frozen=True, slots=True)
class Row:
    """What a line names, and its values where it has a row of them."""

    line: int
    ids: dict[str, str]
    values: tuple[float, ...] = field(default=(), repr=False)


def rows_of(source: Input, kind: Kind) -> Iterator[Row]:
    """The lines of a text file with the ids on them; nothing for other files."""
    suffix = inner_suffix(source)
    if suffix in (*BINARY, ".jsonl", ".ndjson") or not source.can_be_read_again:
        return
    try:
        lines = enumerate(input_lines(source), 1)
        walk = {"ranked": _ranked, "labels": _labels, "regions": _boxes}[kind]
        yield from walk(lines, SEPARATED.get(suffix, ""))
    except (InputError, csv.Error):
        # What stops this walk has stopped the reader before.
        return


def _cells(text: str, delimiter: str) -> list[str]:
    if not delimiter:
        return text.split()
    return [cell.strip() for cell in next(csv.reader([text], delimiter=delimiter), [])]


def _ranked(lines: Iterator[tuple[int, str]], delimiter: str) -> Iterator[Row]:
    place: tuple[int, int] | None = None
    for line, text in lines:
        cells = _cells(text, delimiter)
        if not cells or cells[0].startswith("#"):
            continue
        if place is None:
            place = _header(cells)
            if place is not None:
                continue
            place = (0, 2 if len(cells) >= TREC_FIELDS else 1)
        if len(cells) > max(place):
            yield Row(line, {"topic": cells[place[0]], "item": cells[place[1]]})


def _header(cells: Sequence[str]) -> tuple[int, int] | None:
    names = [cell.lower() for cell in cells]
    columns = [
        next((i for i, name in enumerate(names) if name in HEADERS[role]), -1)
        for role in ("topic", "item")
    ]
    return (columns[0], columns[1]) if min(columns) >= 0 else None


def _labels(lines: Iterator[tuple[int, str]], delimiter: str) -> Iterator[Row]:
    first, is_long = True, False
    for line, text in lines:
        if first and not delimiter and "," in text:
            delimiter = ","
        cells = _cells(text, delimiter)
        if not cells:
            continue
        if first and delimiter:
            is_long = tuple(cell.lower() for cell in cells[:3]) == LONG
            if not is_long:
                yield from (Row(line, {"concept": name}) for name in cells[1:])
        elif is_long and len(cells) >= len(LONG):
            yield Row(line, {"item": cells[0], "concept": cells[1]}, _values(cells[2:3]))
        else:
            yield Row(line, {"item": cells[0]}, _values(cells[1:]))
        first = False


def _boxes(lines: Iterator[tuple[int, str]], delimiter: str) -> Iterator[Row]:
    from cranfield.io.regions import box_columns

    places: dict[str, int] = {}
    for line, text in lines:
        cells = _cells(text, delimiter)
        if not places:
            places = box_columns(cells, "")
        elif len(cells) > max(places["item"], places["concept"]):
            yield Row(line, {role: cells[places[role]] for role in ("item", "concept")})


def _values(cells: Sequence[str]) -> tuple[float, ...]:
    try:
        return tuple(numbers(cells))
    except ValueError:
        return ()


# Comparing with every id takes its time: of more than so many, only those that begin or end alike,
# and only for the first few wrong ones.
MOST_COMPARED = 1000
MOST_SEARCHES = 3
LONGEST_NUMBER = 12
_ENDING = re.compile(r"\.[A-Za-z]{2,5}$")
_NUMBER = re.compile(r"\d+")


class NameSuggester:
    """Suggests ids; the common slips (case, endings, leading zeros) are found at once.

    >>> NameSuggester(["im0007", "im0008"])("IM7.jpg")
    " Did you mean 'im0007'?"
    """

    def __init__(self, names: Sequence[str], as_set: AbstractSet[str] | None = None) -> None:
        self._known = names
        self._set = as_set if as_set is not None else frozenset(names)
        self._searches = 0

    def __call__(self, name: str) -> str:
        same = next((spelling for spelling in _spellings(name) if spelling in self._set), None)
        if same is not None:
            return f" Did you mean {same!r}?"
        if len(self._known) <= MOST_COMPARED:
            return suggest(name, self._known)
        self._searches += 1
        return suggest(name, self._alike(name)) if self._searches <= MOST_SEARCHES else ""

    def _alike(self, name: str) -> Sequence[str]:
        """Ids of nearly the same length that begin alike, and of those the ones that end alike."""
        start, lengths = name[:3], range(len(name) - 1, len(name) + 2)
        candidates = [
            candidate
            for candidate in self._known
            if candidate.startswith(start) and len(candidate) in lengths
        ]
        return (
            [candidate for candidate in candidates if candidate.endswith(name[-1:])] or candidates
        )[:MOST_COMPARED]


def _spellings(name: str) -> Iterator[str]:
    """The id in other cases, without an ending, and with more or fewer leading zeros."""
    stem = _ENDING.sub("", name.strip())
    for base in dict.fromkeys((stem, stem.lower(), stem.upper(), name.lower(), name.upper())):
        yield base
        for last in list(_NUMBER.finditer(base))[-1:]:
            digits = last[0].lstrip("0") or "0"
            for width in range(len(digits), LONGEST_NUMBER + 1):
                yield base[: last.start()] + digits.zfill(width) + base[last.end() :]


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
        if kind == "regions" and collection.concepts is None:
            # The concepts of an ontology may be more than those that boxes are wanted of.
            return cls(kind, items=items)
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
    run: Run | LabelMatrix | Regions | None = field(default=None, repr=False)

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
    if public.kind == "regions":
        return check.regions()
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

    def regions(self) -> CheckedSubmission:
        from cranfield.io.regions import read_regions

        try:
            run = read_regions(self.given, name=self.name)
        except InputError as error:
            return self._refused(error)
        if run.confidences is None:
            self.found.add(0, "has no confidences: each box needs one")
        public, notes = self.public, list(run.notes)
        # Items and pictures may be named with their endings.
        stems = {Path(name).stem for name in public.items or ()}
        unknown = {
            "item": [
                n for n in _unknown(run.items, public.known("item")) if Path(n).stem not in stems
            ],
            "concept": _unknown(run.concepts, public.known("concept")),
        }
        self._complain_of(unknown)
        named = {Path(name).stem for name in run.items}
        missing = [name for name in public.items or () if Path(name).stem not in named]
        if missing:
            notes.append(f"has no box in {_some('item', missing)}")
        return self._checked(run, len(run), len(run.items), missing, notes)

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


@dataclass(frozen=True, slots=True)
class Submission:
    """What is said of one submission."""

    file: str
    name: str
    kind: Kind
    good: bool
    lines: int
    units: int
    missing: int
    problems: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False, eq=False)
class SubmissionCheck(Answer):
    """What is right and wrong with submissions; of each, the first problems are listed."""

    command: ClassVar[str] = "check"
    table_maker: ClassVar[str] = "cranfield.report.tables.campaign:submissions_document"

    collection: str
    submissions: tuple[Submission, ...]
    problems: tuple[Problem, ...]

    @property
    def bad(self) -> tuple[Submission, ...]:
        """The submissions that cannot be accepted."""
        return tuple(submission for submission in self.submissions if not submission.good)

    def payload(self, **_: object) -> dict[str, Any]:
        """A row per submission, and a row per problem."""
        return {
            "collection": self.collection,
            "good": len(self.submissions) - len(self.bad),
            "bad": len(self.bad),
            "submissions": [
                {name: getattr(submission, name) for name in Submission.__slots__}
                for submission in self.submissions
            ],
            "problems": [
                {"file": p.file, "line": p.line or None, "message": p.message}
                for p in self.problems
            ],
            "count": sum(submission.problems for submission in self.submissions),
        }

    def headline(self) -> str:
        """How many are good, and how many problems the others have."""
        total = sum(submission.problems for submission in self.submissions)
        good = len(self.submissions) - len(self.bad)
        return f"{good} of {plural(len(self.submissions), 'submission')} good, " + plural(
            total, "problem"
        )


@validate_params
@with_progress
def check_submissions(
    collection: Collection | str | Path,
    submissions: FileForm | Iterable[FileForm],
    *,
    kind: Kind | None = None,
    thresholds: Mapping[str, Any] | None = None,
    threshold: Any = None,
    progress: Watcher | None = None,
) -> SubmissionCheck:
    """Look at submissions without opening the truth of their collection.

    Of a collection with rankings and annotations, each file tells which of them it is, unless
    `kind` does. `thresholds` are those of single runs, `threshold` that of all others; without
    either they are the collection's.
    """
    from cranfield.notes import Progress

    if not isinstance(collection, Collection):
        collection = read_collection(collection)
    if not isinstance(submissions, str | Path | Input | Iterable):
        raise UsageError(f"submissions={submissions!r} is neither a file nor a list of files")
    files = [submissions] if isinstance(submissions, str | Path | Input) else list(submissions)
    if not files:
        raise UsageError("no submission was given")
    reporter = Progress.of(progress)
    publics = {k: PublicSet.of(collection, k) for k in ([kind] if kind else _kinds(collection))}
    limits = dict(run_thresholds(collection)) | _rows(collection) | dict(thresholds or {})
    usual = collection.threshold if threshold is None else threshold
    checked = []
    for file in files:
        reporter.check()
        public = publics[guess_kind(file, tuple(publics.values()))]
        limit = limits.get(run_name(file), usual)
        checked.append(check_submission(file, public, threshold=limit))
        reporter(len(checked) / len(files))
    return _answer(collection, _named_apart(checked), publics.values())


def _kinds(collection: Collection) -> tuple[Kind, ...]:
    return collection.kinds or ("ranked", "labels")


def _rows(collection: Collection) -> dict[str, str]:
    return {n: ROWS for n, facts in collection.run_facts.items() if facts.threshold == ROWS}


def _named_apart(checked: Sequence[CheckedSubmission]) -> list[CheckedSubmission]:
    """The same, with a problem for a submission whose name another has, as names name runs."""
    from dataclasses import replace

    first: dict[tuple[str, str], CheckedSubmission] = {}
    result = []
    for submission in checked:
        namesake = first.setdefault((submission.kind, submission.name), submission)
        if namesake is not submission:
            message = f"{namesake.file} is named {submission.name!r} as well; rename one of them"
            problems = (*submission.problems, Problem(submission.file, 0, message))
            submission = replace(
                submission, problems=problems, count=submission.count + 1, run=None
            )
        result.append(submission)
    return result


def _answer(
    collection: Collection, checked: Sequence[CheckedSubmission], publics: Iterable[PublicSet]
) -> SubmissionCheck:
    rows = tuple(
        Submission(
            submission.file,
            submission.name,
            submission.kind,
            submission.is_good,
            submission.lines,
            submission.units,
            len(submission.missing),
            submission.count,
            submission.notes,
        )
        for submission in checked
    )
    kinds = {submission.kind for submission in checked}
    notes = [
        f"{collection.folder} does not tell its {name}; {_where(name)}: they were not checked"
        for public in publics
        if public.kind in kinds
        for name in public.unknown
    ]
    notes += [f"{submission.name}: {note}" for submission in checked for note in submission.notes]
    problems = tuple(problem for submission in checked for problem in submission.problems)
    return SubmissionCheck(collection.name, rows, problems, notes=tuple(notes))


def _where(name: str) -> str:
    places = {
        "topics": "a file under topics would",
        "items": "a file under items, a folder of pictures or a split would",
        "concepts": "a file under concepts or an ontology would",
    }
    return places[name]


def guess_kind(file: FileForm, publics: Sequence[PublicSet]) -> Kind:
    """Which kind of runs a file has, by its ending, its header, or its first row."""
    if len(publics) == 1:
        return publics[0].kind
    suffix = inner_suffix(file)
    kinds = {public.kind for public in publics}
    if "regions" in kinds and holds_regions(file):
        return "regions"
    if suffix in (".npz", ".npy"):
        return "labels"
    if suffix in (*BINARY, ".jsonl", ".ndjson"):
        return "ranked"
    cells = _first_row(file, SEPARATED.get(suffix, ""))
    columns = {cell.lower() for cell in cells}
    if columns & set(HEADERS["topic"]) and columns & set(HEADERS["item"]):
        return "ranked"
    if suffix in SEPARATED:
        return "labels"
    if len(cells) == TREC_FIELDS and cells[1].upper() == "Q0":
        return "ranked"
    topics = next((p.topics for p in publics if p.kind == "ranked"), None)
    return "ranked" if cells and topics and cells[0] in topics else "labels"


def _first_row(file: FileForm, delimiter: str) -> list[str]:
    if not Input.of(file).can_be_read_again:
        raise UsageError(
            f"{describe(file)} can be read only once; say which kind of runs it has: kind='ranked'"
        )
    try:
        first = next((line for line in input_lines(file) if line.strip()), "")
    except InputError:
        # Its reader will say what is wrong with it.
        return []
    return [cell.strip() for cell in (first.split(delimiter) if delimiter else first.split())]
