"""What all commands share: their parser, the options in one table, output written whole or not."""

from __future__ import annotations

import argparse
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from cranfield._process import cancel_on_signal
from cranfield._system import usable_cpus
from cranfield.answers import Answer
from cranfield.cli import _messages
from cranfield.cli._messages import in_options
from cranfield.errors import LARGEST_COUNT, UsageError, visible
from cranfield.io.files import ABOUT_THIRD, THIRD, check_read_once, write_atomic
from cranfield.measures.parse import joined_measures
from cranfield.notes import Progress, time_left
from cranfield.report.document import Document, document_of
from cranfield.report.render import FORMATS, render

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

    from cranfield.comparison.regression_gate import Check
    from cranfield.data import Run
    from cranfield.evaluation.scores import Scores
    from cranfield.report.document import Table


SHOW_PROGRESS_AFTER = 1.0


@contextmanager
def show_progress(label: str, *, quiet: bool) -> Iterator[Progress]:
    """A progress line on a terminal around work that tells how far it is, from a second on."""
    progress = Progress()
    stop = threading.Event()
    thread = threading.Thread(target=_show, args=(label, progress, stop), daemon=True)
    is_shown = not quiet and sys.stderr.isatty()
    if is_shown:
        try:
            thread.start()
        except RuntimeError:  # no thread to be had, and none is needed
            is_shown = False
    try:
        with cancel_on_signal(progress.cancel):
            yield progress
    finally:
        if is_shown:
            stop.set()
            thread.join()


def _show(label: str, progress: Progress, stop: threading.Event) -> None:
    started = time.monotonic()
    if stop.wait(SHOW_PROGRESS_AFTER):
        return
    while not stop.wait(0.2):
        share = min(max(progress.done, 0.0), 1.0)
        remaining = time_left(time.monotonic() - started, share)
        line = f"\r{label} [{'#' * int(30 * share):<30}] {share:4.0%}"
        sys.stderr.write(line + (f", {remaining} left    " if remaining else " "))
        sys.stderr.flush()
    sys.stderr.write("\r" + " " * (len(label) + 60) + "\r")
    sys.stderr.flush()


class Place(Protocol):
    """Something that options can be added to: a parser, or a group of its options."""

    def add_argument(self, *names: str, **options: Any) -> argparse.Action: ...


# The values of a command line by the names of their options.
Arguments = dict[str, Any]

# What an option can be where it is not text: see `add`.
Kind = Callable[[str], Any] | Iterable[Any] | type[argparse.Action]


# Options that say where work is done or what is written where, not what is asked for.
ASIDE = ("-o", "--output", "--executor", "--jobs")


def words_of_request(argv: Sequence[str]) -> list[str]:
    """The words of a command without those that change nothing in its answer."""
    words = list(argv)
    return [
        word
        for before, word in zip(["", *words], words, strict=False)
        if word not in (*ASIDE, "--quiet") and before not in ASIDE
        if not word.startswith(("--jobs=", "-o="))
    ]


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are ordinary Cranfield errors.

    Options may stand anywhere, also between the files: `eval qrels.txt a.run -m AP b.run`.
    """

    def __init__(self, **options: Any) -> None:
        # The options of a group are not laid out one by one when they are added.
        super().__init__(add_help=False, **options)
        self.actions: list[argparse.Action] = []
        self.subcommands: dict[str, Parser] = {}
        self._subcommand_dest = ""
        self._first = self.group("positional arguments")
        self._flags = self.group("options")
        self._flags.add_argument(
            "-h", "--help", action="help", help="show this help message and exit"
        )

    @classmethod
    def of(cls, command: str, description: str, epilog: str = "", *, raw: bool = False) -> Parser:
        """The parser of a command; `raw` keeps the lines of its texts as they are."""
        shape = argparse.RawDescriptionHelpFormatter if raw else argparse.HelpFormatter
        return cls(
            prog=f"cranfield {command}",
            formatter_class=shape,
            description=description,
            epilog=epilog or None,
        )

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        group = self._flags if names[0].startswith("-") else self._first
        return group.add_argument(*names, **options)

    def group(self, title: str) -> Group:
        """A heading of the help, to which options can be added."""
        return Group(self, self.add_argument_group(title))

    def exclusive_group(self) -> Group:
        """Options of which one at most can be given."""
        return Group(self, self._flags.place.add_mutually_exclusive_group())

    def option_names(self) -> set[str]:
        """The options in all their spellings."""
        return {name for action in self.actions for name in action.option_strings}

    def values(self, argv: Sequence[str]) -> dict[str, Any]:
        """The values of a command line by name, with those of a subcommand."""
        if argv and argv[0] in self.subcommands:
            return {self._subcommand_dest: argv[0]} | self.subcommands[argv[0]].values(argv[1:])
        _messages.option_names = self.option_names()
        if self.subcommands:
            return vars(self.parse_args(argv))
        # With a text for its usage the parser of the standard library makes none beforehand.
        self.usage = ""
        try:
            return vars(self.parse_intermixed_args(argv))
        finally:
            self.usage = None

    def read(self, argv: Sequence[str]) -> tuple[dict[str, Any], Output]:
        """What was given on the command line, as plain values by name, and where answers go."""
        arguments = self.values(joined_measures(argv))
        check_read_once(v for name, v in arguments.items() if name not in ("path", "target"))
        for place in [name for name in ("runs", "files") if name in arguments]:
            third, texts = arguments.pop("third", None), arguments[place] or ()
            if third or any("=" in str(text) for text in texts):
                from cranfield.io.coerce import parse_named_input

                arguments[place] = [parse_named_input(text, third) for text in texts]
        fields = [name for name in Output.__match_args__ if name != "command_line"]
        command_line = (*self.prog.split(), *words_of_request(argv))
        return arguments, Output(
            command_line=command_line, **{n: arguments.pop(n) for n in fields if n in arguments}
        )

    def steps(self, dest: str, metavar: str) -> Callable[..., Parser]:
        """A function that adds a subcommand, by its name and what it does."""
        self._subcommand_dest = dest
        subparsers = self.add_subparsers(
            dest=dest, required=True, metavar=metavar, parser_class=type(self)
        )

        def step(name: str, help_text: str, description: str = "") -> Parser:
            text = description or f"{help_text[0].upper()}{help_text[1:]}."
            parser = subparsers.add_parser(name, help=help_text, description=text)
            self.subcommands[name] = parser
            return parser

        return step

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        # The parser of the standard library says nothing when its help cannot be written.
        (file or sys.stdout).write(self.format_help())

    def format_help(self) -> str:
        self.usage = None
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        near = _messages.near_miss(message, self.option_names())
        raise UsageError(f"{self.prog}: {message.rstrip('.')}.{near} See: {self.prog} --help")


class Group:
    """A group of options; its parser knows them, too."""

    def __init__(self, parser: Parser, place: Any) -> None:
        self._parser = parser
        self.place = place

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        action: argparse.Action = self.place.add_argument(*names, **options)
        self._parser.actions.append(action)
        return action


def add(
    to: Place, names: str, help_text: str, kind: Kind = str, default: Any = None, **options: Any
) -> argparse.Action:
    """Add an option, "-k --flag METAVAR", or what stands by its place, "name METAVAR+".

    `kind` is a function of the text, choices, `bool` for a switch, a list of one function for
    what may be given again and again, or an action. The help ends with the default, unless it
    speaks of it already.
    """
    flags = [name for name in names.split() if name.startswith("-")]
    words = names.split()[len(flags) :]
    if not flags:
        flags = [words.pop(0)]
        if words[0][-1] in "+*?":
            options["nargs"], words = words[0][-1], [words[0][:-1]]
    if words:
        options["metavar"] = words[0]
    if kind is bool:
        options["action"] = "store_true"
    elif isinstance(kind, list):
        options["action"], options["type"], default = "append", kind[0], []
    elif isinstance(kind, type) and issubclass(kind, argparse.Action):
        options["action"] = kind
    elif callable(kind):
        options["type"] = kind
    else:
        options["choices"] = kind
    if kind is not bool:
        options["default"] = default
    if (
        default not in (None, (), [])
        and "default:" not in help_text
        and "(default" not in help_text
    ):
        help_text = f"{help_text} (default: {default})" if help_text else f"default: {default}"
    return to.add_argument(*flags, help=help_text, **options)


class AppendNames(argparse.Action):
    """Names that add up where they are given several times."""

    def __call__(self, _: Any, namespace: Any, value: Any, __: str | None = None) -> None:
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, value if before is self.default else f"{before} {value}")


class NamedValues(argparse.Action):
    """[NAME=]VALUE by name, which is '' without one or where the whole is a file."""

    def __call__(self, _: Any, namespace: Any, value: Any, flag: str | None = None) -> None:
        name, equals, rest = value.partition("=")
        if not equals or Path(value).exists():
            name, rest = "", value
        self.keep(namespace, name, rest, flag)

    def keep(self, namespace: Any, name: str, value: str, flag: str | None) -> None:
        before = getattr(namespace, self.dest) or {}
        if name in before:
            label = f"of the name {name!r}" if name else "without a name"
            raise UsageError(
                f"{flag}: {before[name]} and {value} are both {label}; name them apart: NAME=FILE"
            )
        setattr(namespace, self.dest, before | {name: value})


class Threshold(NamedValues):
    """The last threshold of each run, and that of all others apart."""

    def keep(self, namespace: Any, name: str, value: str, _: str | None) -> None:
        if name:
            setattr(namespace, self.dest, (getattr(namespace, self.dest) or {}) | {name: value})
        else:
            namespace.threshold = value


def positive(text: str) -> int:
    """An argparse type: a whole number from 1 on."""
    try:
        # Python alone takes 1_000 and digits of other scripts for numbers.
        number = int(text) if text.isascii() and "_" not in text else 0
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number from 1 on")
    if number > LARGEST_COUNT:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is too large")
    return number


def _count(text: str) -> int:
    """An argparse type: a whole number from 0 on."""
    if not (text.isascii() and text.isdecimal() and len(text) < 1000):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number from 0 on")
    return int(text)


def share(text: str) -> float:
    """An argparse type: a number between 0 and 1."""
    number = _number(text)
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 1")
    return number


def from_zero(text: str) -> float:
    """An argparse type: a number from 0 on."""
    number = _number(text)
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _floor(text: str) -> tuple[str, float]:
    """An argparse type: the name of a measure and a number."""
    name, equals, value = text.rpartition("=")
    number = _number(value)
    if not equals or not name or not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not like nDCG@10=0.40")
    return name, number


def _option(
    names: str, help_text: str, kind: Kind = str, default: Any = None, **options: Any
) -> Any:
    return (names, help_text, kind, default), options


# Options that several commands have.
OPTIONS = {
    "jobs": _option("--jobs N", "threads to use (default: all cores)", positive, usable_cpus()),
    "seed": _option("--seed N", "seed of all random draws", _count, 0, dest="rng"),
    "design": _option(
        "--design FILE",
        "how topics, or items of annotations, were sampled: CSV unit,cluster,stratum,probability; "
        "all but unit may be missing",
    ),
    "runs": _option("runs RUN+", "one or more runs; NAME=FILE gives one another name"),
    "collection-size": _option(
        "--collection-size N", "number of items in the collection", positive
    ),
    "third": _option("--third", ABOUT_THIRD, THIRD),
    "per-topic": _option("--per-topic", "also the values of each topic", bool),
    "ranks": _option("--ranks", "the rank of each run beside its means", bool),
    "by": _option(
        "--by FILE", "means and differences in slices: CSV topic,group (item,group; concept,group)"
    ),
    "rules": _option("--rules FILE", "TOML with more rules"),
    "ontology": _option(
        "--ontology NAME|FILE",
        "pto-2009, pto-2010, pto-2011 (with -listed: the paths to the letter), OWL, SKOS, or CSV "
        "concept,path",
    ),
    "costmap": _option(
        "--costmap [NAME=]FILE",
        "costs of confusing concepts, square CSV; with a name for OS(cost='NAME'); repeatable",
        NamedValues,
    ),
    "fail-under": _option(
        "--fail-under MEASURE=X",
        "exit with 1 when a run's mean does not reach X (above X where less is better); repeatable",
        [_floor],
    ),
    "junit": _option("--junit FILE", "write the checks as JUnit's XML"),
    "summary": _option("--summary FILE", "write the checks as a table in Markdown"),
    "public": _option(
        "--public",
        "html: leave out true labels, grades and names of items, so that the page can be shown "
        "while the truth is secret",
        bool,
    ),
    "keep-going": _option(
        "--keep-going",
        "score the runs that can be read, tell what is wrong with the others, and exit with 1",
        bool,
    ),
    "title": _option("--title TEXT", "html: the title of the page", dest="page_title"),
    "pictures": _option(
        "--pictures FOLDER", "html: pictures of the items, by their ids", dest="page_pictures"
    ),
    "sort": _option("--sort COLUMN", "sort tables by a column, the best first"),
    "digits": _option("--digits N", "digits behind the point, for people", _count),
    "transpose": _option(
        "--transpose", "runs as columns; a table wider than the terminal is turned by itself", bool
    ),
    "quiet": _option("--quiet", "no progress and no warnings", bool),
    "spreadsheet": _option(
        "--spreadsheet",
        "CSV and TSV: text that a spreadsheet would take for a formula gets an apostrophe",
        bool,
    ),
}


def common(to: Place, *names: str) -> None:
    """Add options of the table."""
    for name in names:
        positional, options = OPTIONS[name]
        add(to, *positional, **options)


def measures(to: Place, help_text: str, default: str | None = None) -> None:
    """`-m`, which adds up where it is given several times."""
    add(to, "-m --measures NAMES", help_text, AppendNames, default)


def executor(to: Place, detail: str) -> None:
    help_text = f"threads (default), processes, or dask://HOST:PORT; {detail}"
    add(to, "--executor WHERE", help_text, default="threads")


def outputs(
    parser: Parser, form: str = "table", to: str = "write here, whole or not at all"
) -> None:
    """The options that every command with a result has; `form` is its usual format.

    `to` says what is written to -o.
    """
    group = parser.group("output")
    add(group, "--format", "", FORMATS, form, dest="form")
    add(group, "-o --output FILE", to, dest="path")
    common(group, "quiet", "spreadsheet", "sort", "digits", "transpose")


def target(
    parser: Parser, destination: str, form: str, forms: Sequence[str] = FORMATS, about: str = ""
) -> None:
    """The output of commands that write something other than their answer to -o."""
    group = parser.group("output")
    metavar, _, help_text = destination.partition(": ")
    required = metavar.endswith("!")
    add(group, f"-o --output {metavar.rstrip('!')}", help_text, dest="path", required=required)
    add(group, "--format", about, forms, form, dest="form")
    common(group, "quiet")


def run_target(parser: Parser, content: str, others: str) -> None:
    """The output of commands that write a run, or print the answer that it came with."""
    about = f"trec: the run itself; others: {others}"
    target(parser, f"RUN: write {content} here", "trec", ("trec", *FORMATS), about)


@dataclass(frozen=True, slots=True)
class Output:
    """Where an answer goes, in which format, and whether anything is said beside it."""

    form: str = "table"
    path: str | None = None
    quiet: bool = False
    spreadsheet: bool = False
    page_title: str | None = None
    page_pictures: str | None = None
    command_line: Sequence[str] = ()
    sort: str | None = None
    digits: int | None = None
    transpose: bool = False

    def head(self, public: bool = False) -> dict[str, Any]:
        """What stands on top of a page: its title, the day, what was asked for; its pictures."""
        import shlex

        from cranfield.report.html_report import page_about

        about = page_about(shlex.join(self.command_line), public=public)
        return {"title": self.page_title, "about": about, "pictures": self.page_pictures}

    def working(self, label: str) -> AbstractContextManager[Progress]:
        """A progress line around work, which tells the Progress that this gives how far it is."""
        return show_progress(label, quiet=self.quiet)

    def warn(self, notes: Iterable[str], word: str = "warning") -> None:
        """Say what was noticed, in the words of the command line."""
        if not self.quiet:
            sys.stderr.writelines(f"{word}: {in_options(note)}\n" for note in notes)

    def wrote(self, path: object, detail: str = "") -> None:
        """Say that a file is there."""
        if not self.quiet:
            sys.stderr.write(f"wrote {visible(str(path))}{detail and f' ({detail})'}\n")

    def write(self, path: str, text: str) -> None:
        """Write a file whole or not at all, and say so."""
        from cranfield.io.compression import compress_blocks

        data = text.encode(errors="replace")
        write_atomic(Path(path), compress_blocks([data], Path(path).suffix.lower()))
        self.wrote(path, f"{text.count(chr(10))} lines")

    def write_tables(self, tables: Mapping[str, Table]) -> None:
        """Files beside the answer as CSV; called when nothing else can go wrong any more."""
        for path, table in tables.items():
            self.write(path, render(Document({}, [table]), "csv"))

    def data(self, data: bytes, detail: str = "") -> None:
        """Bytes to the file named or to standard output."""
        if self.path is None:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
        else:
            write_atomic(Path(self.path), data)
            self.wrote(self.path, detail)

    def name(self, default: str) -> str:
        """The name of a run that is written: that of its file."""
        return Path(self.path).name.split(".")[0] if self.path else default

    def show_run(self, answer: Answer, run: Run) -> None:
        """Write a run where it was asked for, and print it or the answer that it came with."""
        from cranfield.io.convert import encode_table

        data = encode_table(run, self.path)
        if self.path is not None:
            write_atomic(Path(self.path), data)
        if self.form != "trec":
            replace(self, path=None).show(answer)
            return
        self.warn(answer.notes, "note")
        if self.path is None:
            self.data(data)

    def show(self, answer: Answer, *, page: str | None = None, **view: Any) -> None:
        """Print or write an answer; its notes, and what was written, go to standard error.

        `page` is its interactive report, where that is what was asked for.
        """
        document = document_of(answer, **view)
        if page is not None:
            document = replace(document, page=page)
        self.warn(document.warnings)
        to_terminal = self.path is None and sys.stdout.isatty()
        wide = to_terminal and self.form == "table" and os.get_terminal_size().columns
        if self.sort or self.digits is not None or self.transpose or wide:
            from cranfield.report.rendering import arrange_tables

            document = arrange_tables(
                document,
                sort=self.sort,
                digits=self.digits,
                transpose=self.transpose,
                width=wide or None,
            )
        colour = to_terminal and "NO_COLOR" not in os.environ
        text = render(document, self.form, colour=colour, spreadsheet=self.spreadsheet)
        if self.path is not None:
            self.write(self.path, text)
        else:
            # A table shows control characters as it is; the marks of its colours are to be obeyed.
            sys.stdout.write(visible(text) if to_terminal and self.form != "table" else text)


def gate(checks: Sequence[Check], junit: str | None, summary: str | None, output: Output) -> int:
    """The exit code of checks: 1 when one does not hold, and says so; files for a build server."""
    from cranfield.report.tables.comparison import junit_xml, markdown_summary

    if junit is not None:
        output.write(junit, junit_xml(checks))
    if summary is not None:
        output.write(summary, markdown_summary(checks))
    wrong = [check.said for check in checks if not check.holds]
    sys.stderr.writelines(f"failed: {message}\n" for message in wrong)
    return 1 if wrong else 0


def gate_floors(scores: Scores, gate_options: Sequence[Any], output: Output) -> int:
    """The same of means that runs must reach: the values of the options of a gate."""
    floors, junit, summary = gate_options
    if not floors and junit is None and summary is None:
        return 0
    from cranfield.comparison.regression_gate import check_floors

    return gate(check_floors(scores, dict(floors)), junit, summary, output)
