"""Many submissions at once: all problems of all of them, in one answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cranfield.answers import Answer
from cranfield.campaign.lines import BINARY, SEPARATED, TREC_FIELDS
from cranfield.campaign.scoring import run_thresholds
from cranfield.campaign.submissions import (
    ROWS,
    CheckedSubmission,
    Problem,
    PublicSet,
    check_submission,
)
from cranfield.data.collection import Collection, Kind
from cranfield.data.columns import HEADERS
from cranfield.errors import InputError, UsageError, plural
from cranfield.io.collection import read_collection
from cranfield.io.files import FileForm, Input, describe, inner_suffix, input_lines, run_name
from cranfield.notes import with_progress
from cranfield.validation import validate_params

if TYPE_CHECKING:
    from cranfield.notes import Watcher


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

    collection: str
    submissions: tuple[Submission, ...]
    problems: tuple[Problem, ...]

    @property
    def bad(self) -> tuple[Submission, ...]:
        """The submissions that cannot be accepted."""
        return tuple(submission for submission in self.submissions if not submission.good)

    def payload(self, **_: Any) -> dict[str, Any]:
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
    """Whether a file has rankings or annotations, by its ending, its header, or its first row."""
    if len(publics) == 1:
        return publics[0].kind
    suffix = inner_suffix(file)
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
