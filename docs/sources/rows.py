"""The sources place by place: rows as data, what Cranfield gives for each, and the pages.

A row is a table of a TOML file: `where` in the source, `what` stands there, a `command` of the
command line and a `call` in Python that give it, the figures that are `printed` there or follow
from the `formula`, and the `status`. `check` works a row out and says what no longer holds.
"""

from __future__ import annotations

import ast
import inspect
import json
import math
import shlex
import tempfile
import tomllib
import types
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

from worked import NAMES  # the names that calls may use, in the file beside this one

from cranfield.cli import main
from cranfield.errors import NeedsError
from cranfield.io.samples import SAMPLE
from cranfield.relatedness.wordnet_files import find_database

HERE = Path(__file__).parent
ERRATA = HERE.parent / "errata.md"
EQUAL, DIFFERS, RECOUNTED = "equal", "differs", "recounted"
OTHER_DATA, NOT_REPRODUCIBLE = "on other data", "not reproducible"
STATUSES = {
    EQUAL: "Cranfield gives what is printed, to the digits that are printed, or what the formula "
    "gives when it is worked out by hand",
    DIFFERS: "the source contradicts itself, and Cranfield keeps the other side: an erratum",
    RECOUNTED: "figures that the source prints, worked out again without Cranfield: whether they "
    "agree with one another; where they do not, an erratum is named",
    OTHER_DATA: "the study runs; the data of the source is not public, so that other figures "
    "come out",
    NOT_REPRODUCIBLE: "why stands beside it",
}
# file -> (the letters that other pages use, the source)
SOURCES = {
    "ch": ("Ch", "Chatzichristofis et al., Mean Normalized Retrieval Order"),
    "no": ("No", "Nowak, Evaluation Methodologies for Visual Information Retrieval and Annotation"),
    "ro": ("Ro", "Rocchio, Evaluation of Document Retrieval Systems"),
    "sa": ("Sa", "Santini, Benchmarking without Ground Truth"),
    "sh": ("SH", "SHREC 2006, Performance measures"),
}
_DIGITS = 1e-9


@dataclass(frozen=True)
class Row:
    """A place of a source."""

    where: str
    what: str
    status: str
    command: str = ""
    call: str = ""
    printed: list[str] = field(default_factory=list)
    formula: str = ""
    ours: Any = None
    why: str = ""
    erratum: str = ""
    needs: str = ""

    @property
    def name(self) -> str:
        return f"{self.where}: {self.what}"


def read_rows(source: str) -> list[Row]:
    """The rows of a source."""
    with (HERE / f"{source}.toml").open("rb") as stream:
        return [Row(**row) for row in tomllib.load(stream)["row"]]


def work_out(row: Row) -> Any:
    """What Cranfield gives for a row; its command is run on the sample collection."""
    names = dict(NAMES)
    if row.command:
        names["answer"] = run_command(row.command)
    return eval(row.call, names) if row.call else None


def run_command(command: str) -> Any:
    """The JSON of a command, or nothing for one that writes a file; told when it fails."""
    words = [path for word in shlex.split(command)[1:] for path in _files(word)]
    with tempfile.TemporaryDirectory() as folder, chdir(folder), redirect_stdout(StringIO()) as out:
        draws = words[:2] == ["report", "chart"]
        more = ["-o", "figure.svg", "--quiet"] if draws else ["--format", "json", "--quiet"]
        code = main([*words, *more])
        if code != 0:
            raise AssertionError(f"{command!r} ends with {code}")
        if draws and "<svg" not in Path("figure.svg").read_text():
            raise AssertionError(f"{command!r} draws nothing")
    return None if draws else json.loads(out.getvalue())


def _files(word: str) -> list[str]:
    """The files of the sample collection that a word names, or the word."""
    if not word.endswith((".gz", ".csv", ".toml")):
        return [word]
    found = sorted(str(path) for path in SAMPLE.glob(word))
    return found or [str(HERE.parents[1] / "tests" / "papers" / "published" / word)]


def check(row: Row) -> tuple[Any, list[str]]:
    """What Cranfield gives for a row, and what is wrong with the row."""
    wrong = [] if row.status in STATUSES else [f"no status {row.status!r}"]
    if row.status == NOT_REPRODUCIBLE:
        return None, wrong + ([] if row.why else ["says not why"])
    if not row.call and not row.command:
        return None, [*wrong, "has neither call nor command"]
    found = work_out(row)
    wanted = list(row.printed)
    if row.formula:
        wanted = _flat(eval(row.formula, dict(NAMES)))
    same = bool(wanted) and _same(_flat(found), wanted)
    if row.status == EQUAL and not same:
        wrong.append(f"is {found}, not {wanted}")
    if row.status == DIFFERS and same:
        wrong.append("no longer differs")
    if row.status == DIFFERS and (not row.erratum or row.erratum not in ERRATA.read_text()):
        wrong.append(f"has no erratum {row.erratum!r}")
    if row.status == RECOUNTED:
        wrong += _recounted(row, found, same)
    elif row.command == "" and not runs_product(row):
        wrong.append(f"runs nothing of Cranfield: its status is {RECOUNTED!r}")
    if row.status in (DIFFERS, OTHER_DATA):
        if row.call and not _same(_flat(found), [str(v) for v in _flat(row.ours)]):
            wrong.append(f"is {found}, not {row.ours}")
        if not row.why:
            wrong.append("says not why")
    return found, wrong


def _recounted(row: Row, found: Any, same: bool) -> list[str]:
    """What is wrong with a row that works out figures of the source alone."""
    if row.command or runs_product(row):
        return [f"runs Cranfield: it is not {RECOUNTED!r}"]
    if not row.erratum:
        return [] if same or row.ours is not None else [f"is {found}, not what is printed"]
    problems = [] if row.erratum in ERRATA.read_text() else [f"has no erratum {row.erratum!r}"]
    if same:
        problems.append("no longer differs")
    return problems if row.why else [*problems, "says not why"]


def runs_product(row: Row) -> bool:
    """Whether the call of a row runs anything of Cranfield, itself or in what it calls here."""
    words = ast.walk(ast.parse(row.call, mode="eval"))
    names = {word.id for word in words if isinstance(word, ast.Name)}
    return any(_is_product(NAMES[name], set()) for name in names if name in NAMES)


def _is_product(thing: Any, visited: set[int]) -> bool:
    if id(thing) in visited:
        return False
    visited.add(id(thing))
    place = "__name__" if isinstance(thing, types.ModuleType) else "__module__"
    homes = (getattr(thing, place, None) or "", type(thing).__module__)
    if any(home.split(".")[0] == "cranfield" for home in homes):
        return True
    function = inspect.unwrap(thing) if callable(thing) else thing
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    words = list(_names_in(code))
    if any(word.split(".")[0] == "cranfield" for word in words):
        return True
    own = function.__globals__
    return any(_is_product(own[word], visited) for word in words if word in own)


def _names_in(code: types.CodeType) -> Iterator[str]:
    """Names that a function refers to, also in the functions within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)


def _flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [one for part in value for one in _flat(part)]
    return [value]


def _same(found: Sequence[Any], wanted: Sequence[Any]) -> bool:
    return len(found) == len(wanted) and all(map(_agrees, found, wanted))


def _agrees(found: Any, wanted: Any) -> bool:
    """Whether a value is what is printed: rounded or cut to as many digits."""
    if isinstance(found, bool) or isinstance(wanted, bool) or isinstance(found, str):
        return str(found) == str(wanted)
    if not isinstance(wanted, str):
        return math.isclose(found, wanted, rel_tol=_DIGITS, abs_tol=_DIGITS)
    number = wanted.rstrip("%")
    digits = len(number.partition(".")[2])
    # Eight digits and more were printed from numbers of single precision.
    unit = max(10.0**-digits, 3e-7 * abs(float(number)))
    gap = abs(found) - abs(float(number))
    signs = float(number) * found >= 0
    return signs and -unit / 2 - _DIGITS <= gap < unit - _DIGITS


# ---- the pages


def page(source: str) -> str:
    """The page of a source: a count of what holds, and a row for each place."""
    letters, title = SOURCES[source]
    rows = read_rows(source)
    counts = Counter(row.status for row in rows)
    told = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
    lines = [
        f"# {letters}: what of it works\n\n{title}. {len(rows)} places: {told}. Every row is "
        "worked out by a test; what its calls use is "
        "[at the end of the overview](index.md#in-calls).\n",
        "| where | status | printed, or by hand | ours | what, and how |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *(_line(row) for row in rows)]) + "\n"


def index_page() -> str:
    """All sources with their counts, what the words mean, and the names that calls use."""
    lines = [
        "# The sources, place by place\n\nCranfield rests on five texts. For each there is a page "
        "with a row for every equation, table, figure and procedure: what gives it here, what is "
        "printed there, what comes out, and one of four words.\n",
        *(f"- *{status}*: {meaning}." for status, meaning in STATUSES.items()),
        "\n| source | places | " + " | ".join(STATUSES) + " |",
        "|---|--:|" + "--:|" * len(STATUSES),
    ]
    for source, (letters, title) in SOURCES.items():
        counts = Counter(row.status for row in read_rows(source))
        cells = " | ".join(str(counts[status]) for status in STATUSES)
        lines.append(f"| [{letters}]({source}.md): {title} | {counts.total()} | {cells} |")
    lines.append("\n## In calls\n\n`cf` is `import cranfield as cf`. The other names are these:\n")
    lines += [f"- `{name}`: {about}" for name, about in helpers()]
    return "\n".join(lines) + "\n"


def helpers() -> Iterator[tuple[str, str]]:
    """The names that calls use beside Cranfield's, and what they are."""
    for name, thing in NAMES.items():
        if getattr(thing, "__module__", "").startswith("worked"):
            given = ", ".join(str(p) for p in _bare(inspect.signature(thing)))
            yield f"{name}({given})", (inspect.getdoc(thing) or "").partition("\n\n")[0]


def _bare(signature: inspect.Signature) -> Iterator[inspect.Parameter]:
    """The parameters without their types."""
    for parameter in signature.parameters.values():
        yield parameter.replace(annotation=inspect.Parameter.empty)


def missing(row: Row) -> bool:
    """Whether a row needs WordNet or a package, and there is none."""
    if row.needs != "wordnet":
        return bool(row.needs) and find_spec(row.needs) is None
    try:
        find_database()
    except NeedsError:
        return True
    return False


def _line(row: Row) -> str:
    found = None if missing(row) else check(row)[0]
    calls = [f"`{text}`" for text in (row.command, row.call) if text]
    if row.formula:
        calls.append(f"by hand: `{row.formula}`")
    printed = ", ".join(row.printed)
    if row.formula:
        printed = ", ".join(_shown(value) for value in _flat(eval(row.formula, dict(NAMES))))
    ours = ", ".join(_shown(value) for value in _flat(found)) if row.call else "drawn"
    if row.status == NOT_REPRODUCIBLE or missing(row):
        wanted = "WordNet" if row.needs == "wordnet" else row.needs
        ours = "" if row.status == NOT_REPRODUCIBLE else f"needs {wanted}"
    what = row.what + (f" ({row.why})" if row.why else "")
    cells = [row.where, f"*{row.status}*", printed, ours, "<br>".join([what, *calls])]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _shown(value: Any) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def write(folder: Path) -> None:
    """Write the pages."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.md").write_text(index_page())
    for source in SOURCES:
        (folder / f"{source}.md").write_text(page(source))
