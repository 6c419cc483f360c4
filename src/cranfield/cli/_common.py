"""What all commands share: options, output written whole or not at all, progress."""

from __future__ import annotations

import argparse
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, overload

from cranfield.answers import Answer
from cranfield.cli._words import in_options
from cranfield.errors import LARGEST_COUNT, UsageError, visible
from cranfield.io.files import write_whole
from cranfield.notes import Progress
from cranfield.report.document import Document
from cranfield.report.render import FORMATS, render
from cranfield.report.tables import document_of

if TYPE_CHECKING:
    from cranfield.evaluation.scores import Scores

SHOW_PROGRESS_AFTER = 1.0
T = TypeVar("T")


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are ordinary Cranfield errors.

    Options may stand anywhere, also between the files: `eval qrels.txt a.run -m AP b.run`.
    """

    _mixing = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        # The intermixed parse calls this method again for its two halves. With subcommands it is
        # not possible, nor needed: each of them is a parser of this kind.
        if self._mixing or self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        self._mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False

    def read(self, argv: Sequence[str]) -> dict[str, Any]:
        """What was given on the command line, as plain values by name."""
        return vars(self.parse_args(argv))

    def _print_message(self, message: str, file: Any = None) -> None:
        # The parser of the standard library says nothing when its help cannot be written.
        (file or sys.stderr).write(message)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}\n{self.format_usage().strip()}")


def add_output_options(parser: argparse.ArgumentParser, form: str = "table") -> None:
    """The options that every command with a result has; `form` is its usual format."""
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=FORMATS, default=form, help=f"default: {form}")
    group.add_argument("-o", "--output", metavar="FILE", help="write here, whole or not at all")
    group.add_argument("--quiet", action="store_true", help="no progress and no warnings")
    group.add_argument(
        "--spreadsheet",
        action="store_true",
        help="CSV and TSV: text that a spreadsheet would take for a formula gets an apostrophe",
    )


@dataclass(frozen=True, slots=True)
class Output:
    """Where an answer goes, in which format, and whether anything is said beside it."""

    form: str = "table"
    path: str | None = None
    quiet: bool = False
    spreadsheet: bool = False

    @classmethod
    def of(cls, args: argparse.Namespace) -> Output:
        """What the options of `add_output_options` say."""
        return cls(args.format, args.output, args.quiet, args.spreadsheet)

    @classmethod
    def take(cls, given: dict[str, Any]) -> Output:
        """Takes the options of `add_output_options` out of what was given."""
        names = ("format", "output", "quiet", "spreadsheet")
        return cls(*(given.pop(name) for name in names))


def show(answer: Answer, output: Output, *, page: str | None = None, **view: Any) -> None:
    """Print or write an answer; its notes, and what was written, go to standard error.

    `page` is its interactive report, where that is what was asked for.
    """
    document = document_of(answer, **view)
    _emit(document if page is None else replace(document, page=page), output)


@contextmanager
def working(label: str, output: Output) -> Iterator[Progress]:
    """A progress line around work, which tells the Progress that this gives how far it is."""
    progress = Progress()
    with Watch(label, lambda: progress.done, quiet=output.quiet):
        yield progress


def add_jobs_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs",
        type=positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help="threads to use (default: all cores)",
    )


def add_measures_option(parser: argparse.ArgumentParser, text: str) -> None:
    """`-m`, which adds up where it is given several times."""
    parser.add_argument("-m", "--measures", action="append", metavar="NAMES", help=text)


@overload
def take_measures(given: dict[str, Any]) -> str | None: ...
@overload
def take_measures(given: dict[str, Any], default: str) -> str: ...
def take_measures(given: dict[str, Any], default: str | None = None) -> str | None:
    """Takes the measures out of what was given, or the default when none were."""
    names: list[str] | None = given.pop("measures")
    return default if names is None else " ".join(names)


def add_public_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--public",
        action="store_true",
        help="html: leave out true labels, grades and names of items, so that the page can be "
        "shown while the truth is secret",
    )


def add_gate_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fail-under",
        action="append",
        default=[],
        type=_floor,
        metavar="MEASURE=X",
        help="exit with 1 when a run's mean does not reach X (above X where less is better); "
        "repeatable",
    )


def _floor(text: str) -> tuple[str, float]:
    """An argparse type: the name of a measure and a number."""
    name, equals, value = text.rpartition("=")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not equals or not name or not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not like nDCG@10=0.40")
    return name, number


def gate(scores: Scores, floors: Sequence[tuple[str, float]]) -> int:
    """The exit code of a check on means: 1 when a run misses what was asked for, and says so."""
    missed = scores.below(dict(floors))
    sys.stderr.writelines(f"failed: {line}\n" for line in missed)
    return 1 if missed else 0


def add_executor_option(parser: argparse._ActionsContainer, more: str) -> None:
    parser.add_argument(
        "--executor",
        default="threads",
        metavar="WHERE",
        help=f"threads (default), processes, or dask://HOST:PORT; {more}",
    )


def add_seed_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed", type=_seed, default=0, metavar="N", help="seed of all random draws (default: 0)"
    )


def _seed(text: str) -> int:
    """An argparse type: a whole number from 0 on."""
    if not (text.isascii() and text.isdecimal() and len(text) < 1000):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number from 0 on")
    return int(text)


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


def check_standard_input(given: argparse.Namespace | dict[str, Any]) -> None:
    """A UsageError when '-' stands for more than one input: it can be read once."""
    values = given if isinstance(given, dict) else vars(given)
    asked = [value for name, value in values.items() if name != "output"]
    texts = [t for value in asked for t in (value if isinstance(value, list) else [value])]
    if sum(isinstance(t, str) and (t == "-" or t.endswith("=-")) for t in texts) > 1:
        raise UsageError("standard input ('-') can be only one of the files")


def emit(document: Document, args: argparse.Namespace) -> None:
    """Print or write the document in the format asked for; warnings go to standard error."""
    _emit(document, Output.of(args), told=False)


def _emit(document: Document, output: Output, *, told: bool = True) -> None:
    if not output.quiet:
        for warning in document.warnings:
            sys.stderr.write(f"warning: {in_options(warning)}\n")
    to_terminal = output.path is None and sys.stdout.isatty()
    colour = to_terminal and "NO_COLOR" not in os.environ
    text = render(document, output.form, colour=colour, spreadsheet=output.spreadsheet)
    if output.path is None:
        # A table shows control characters as it is; the marks of its colours are to be obeyed.
        sys.stdout.write(visible(text) if to_terminal and output.form != "table" else text)
    else:
        write_file(output.path, text, quiet=output.quiet or not told)


def write_file(path: str, text: str, *, quiet: bool) -> None:
    """Write a file whole or not at all, and say so."""
    write_whole(Path(path), text.encode(errors="replace"))
    if not quiet:
        sys.stderr.write(f"wrote {visible(path)} ({text.count(chr(10))} lines)\n")


def in_background(work: Callable[[], T], cancel: Callable[[], None]) -> T:
    """Run compiled work on another thread, so that Ctrl-C reaches this one and stops it."""
    answer: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            answer.append(work())
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=run, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no thread to be had
        return work()
    try:
        thread.join()
    except KeyboardInterrupt:
        cancel()
        thread.join()
        raise
    if failure:
        raise failure[0]
    return answer[0]


def time_left(elapsed: float, done: float, begun: float = 0.0) -> str:
    """How long the rest will take if it goes on like this, or nothing while that is a guess."""
    if done - begun <= 0.01 or done >= 1:
        return ""
    seconds = elapsed * (1 - done) / (done - begun)
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


class Watch:
    """Shows a progress line on a terminal from a second of work on.

    `fraction` is polled from a thread of its own and answers with a number in [0, 1]; `begun`
    says how much of it was there before, which took no time now.
    """

    def __init__(
        self,
        label: str,
        fraction: Callable[[], float],
        *,
        quiet: bool,
        begun: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._label, self._fraction, self._begun = label, fraction, begun
        self._shown = not quiet and sys.stderr.isatty()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def __enter__(self) -> Watch:
        if self._shown:
            try:
                self._thread.start()
            except RuntimeError:  # no thread to be had, and none is needed
                self._shown = False
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        if self._shown:
            self._stop.set()
            self._thread.join()

    def _show(self) -> None:
        started = time.monotonic()
        if self._stop.wait(SHOW_PROGRESS_AFTER):
            return
        while not self._stop.wait(0.2):
            done = min(max(self._fraction(), 0.0), 1.0)
            left = time_left(time.monotonic() - started, done, self._begun())
            bar = "#" * int(30 * done)
            line = f"\r{self._label} [{bar:<30}] {done:4.0%}"
            sys.stderr.write(line + (f", {left} left    " if left else " "))
            sys.stderr.flush()
        sys.stderr.write("\r" + " " * (len(self._label) + 60) + "\r")
        sys.stderr.flush()
