"""Many submissions at once: all problems of all of them, in one answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cranfield.answers import Answer
from cranfield.campaign.lines import BINARY, SEPARATED, TREC_FIELDS
from cranfield.campaign.scoring import run_thresholds
from cranfield.campaign.submissions import ROWS, Checked, Problem, PublicSet, check_submission
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
        return tuple(one for one in self.submissions if not one.good)

    def payload(self, **_: Any) -> dict[str, Any]:
        """A row per submission, and a row per problem."""
        return {
            "collection": self.collection,
            "good": len(self.submissions) - len(self.bad),
            "bad": len(self.bad),
            "submissions": [
                {name: getattr(one, name) for name in Submission.__slots__}
                for one in self.submissions
            ],
            "problems": [
                {"file": p.file, "line": p.line or None, "message": p.message}
                for p in self.problems
            ],
            "count": sum(one.problems for one in self.submissions),
        }

    def headline(self) -> str:
        """How many are good, and how many problems the others have."""
        total = sum(one.problems for one in self.submissions)
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
    told = Progress.of(progress)
    publics = {k: PublicSet.of(collection, k) for k in ([kind] if kind else _kinds(collection))}
    own = dict(run_thresholds(collection)) | _rows(collection) | dict(thresholds or {})
    usual = collection.threshold if threshold is None else threshold
    checked = []
    for file in files:
        told.check()
        public = publics[guess_kind(file, tuple(publics.values()))]
        limit = own.get(run_name(file), usual)
        checked.append(check_submission(file, public, threshold=limit))
        told(len(checked) / len(files))
    return _answer(collection, _named_apart(checked), publics.values())


def _kinds(collection: Collection) -> tuple[Kind, ...]:
    return collection.kinds or ("ranked", "labels")


def _rows(collection: Collection) -> dict[str, str]:
    return {n: ROWS for n, facts in collection.run_facts.items() if facts.threshold == ROWS}


def _named_apart(checked: Sequence[Checked]) -> list[Checked]:
    """The same, with a problem for a submission whose name another has, as names name runs."""
    from dataclasses import replace

    first: dict[tuple[str, str], Checked] = {}
    found = []
    for one in checked:
        other = first.setdefault((one.kind, one.name), one)
        if other is not one:
            said = f"{other.file} is named {one.name!r} as well; rename one of them"
            problems = (*one.problems, Problem(one.file, 0, said))
            one = replace(one, problems=problems, count=one.count + 1, run=None)
        found.append(one)
    return found


def _answer(
    collection: Collection, checked: Sequence[Checked], publics: Iterable[PublicSet]
) -> SubmissionCheck:
    rows = tuple(
        Submission(
            one.file,
            one.name,
            one.kind,
            one.is_good,
            one.lines,
            one.units,
            len(one.missing),
            one.count,
            one.notes,
        )
        for one in checked
    )
    used = {one.kind for one in checked}
    notes = [
        f"{collection.folder} does not tell its {name}; {_where(name)}: they were not checked"
        for public in publics
        if public.kind in used
        for name in public.unknown
    ]
    notes += [f"{one.name}: {note}" for one in checked for note in one.notes]
    problems = tuple(problem for one in checked for problem in one.problems)
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
    lowered = {cell.lower() for cell in cells}
    if lowered & set(HEADERS["topic"]) and lowered & set(HEADERS["item"]):
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
