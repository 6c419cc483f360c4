"""TREC files: `topic iteration item grade` and `topic Q0 item rank score name`."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from cranfield import _core
from cranfield.data import Judgements, Run
from cranfield.errors import InputError, Problem, check_counts, os_message, plural
from cranfield.io.files import FileForm, Input, describe, long_line, open_input, run_name
from cranfield.io.streams import fill, packing_of

# So much of a file tells what it holds.
LOOKED_AT = 4096
SHAPES = {
    "run": "topic Q0 item rank score name",
    "judgements": "topic iteration item grade",
}
NUMBER = {"run": "score", "judgements": "grade"}


def read_judgements(path: FileForm, *, jobs: int | None = None) -> Judgements:
    """Judgements in TREC's format; equal repetitions are dropped with a note."""
    columns, repeated, first = _read(path, "judgements", jobs)
    notes: tuple[str, ...] = ()
    if first is not None:
        _, line, item, topic, other_line = first
        more = f", and {plural(repeated - 1, 'more such line')}" if repeated > 1 else ""
        notes = (
            f"{describe(path)}:{line}: item {item!r} is judged twice for topic {topic!r}, with the "
            f"same grade on line {other_line}; the repetition is ignored{more}",
        )
    topics, offsets, item_bytes, item_offsets, grades, _ = columns
    return Judgements(tuple(topics), offsets, item_bytes, item_offsets, grades, notes=notes)


def read_run(path: FileForm, *, jobs: int | None = None, extra_fields: bool = False) -> Run:
    """A run in TREC's format. `extra_fields` lets lines end in more than six fields."""
    columns, _, _ = _read(path, "run", jobs, extra_fields)
    topics, offsets, item_bytes, item_offsets, scores, tag = columns
    return Run(
        tuple(topics),
        offsets,
        item_bytes,
        item_offsets,
        scores,
        name=run_name(path),
        tag=tag,
        unique=True,
    )


def _read(
    path: FileForm, kind: str, jobs: int | None, extra_fields: bool = False
) -> tuple[_core.Columns, int, _core.Problem | None]:
    check_counts(jobs=jobs)
    threads = jobs or os.cpu_count() or 1
    given = Input.of(path)
    with open_for_core(given) as (place, read):
        columns, problems, count, repeated, first_repeat, stop = _core.read_table(
            place,
            read,
            kind,
            threads,
            extra_fields,
            given.caps.lines,
            given.caps.line_bytes,
            _core.Progress(),
        )
        raise_stop(given, read, stop)
    raise_problems(given, kind, problems, count)
    if not columns[0]:
        what = "no retrieved items" if kind == "run" else "no judgements"
        raise InputError.single(
            describe(path), f"is empty: {what} found (expected lines: {SHAPES[kind]})"
        )
    return columns, repeated, first_repeat


def parse(data: bytes, kind: str) -> _core.Columns | None:
    """The columns of a run or of judgements in memory; None when something is wrong with them."""
    columns, _, count, repeated, _, _ = _core.read_table(
        None, BytesIO(data).readinto, kind, os.cpu_count() or 1, False, None, None, _core.Progress()
    )
    return None if count or repeated or not columns[0] else columns


class _Reader:
    """Fills buffers for the core from a Python stream and remembers what went wrong."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.error: BaseException | None = None

    def __call__(self, buffer: memoryview) -> int:
        try:
            return fill(self._stream, buffer)
        except BaseException as error:
            # The core's threads must not carry Python exceptions: it is raised after they end.
            self.error = error
            return -1


def raise_stop(given: Input, read: _core.Read | None, stop: _core.Stop) -> None:
    """Raise what stopped a reader before the end, for `open_input` to put into words."""
    error = getattr(read, "error", None)
    if error is not None:
        raise error
    if stop == "lines":
        given.caps.check_lines(describe(given), sys.maxsize)
    if stop is not None:
        raise InputError.single(
            describe(given),
            "became shorter while it was read" if stop == "short" else "cannot be read",
        )


@contextmanager
def open_for_core(
    path: FileForm,
) -> Iterator[tuple[bytes | None, Callable[[memoryview], int] | None]]:
    """What the core reads from: the path of a plain file, or a function that fills buffers."""
    given = Input.of(path)
    plain = _plain_file(given)
    if plain is None:
        with open_input(given) as stream:
            yield None, _Reader(stream)
        return
    try:
        given.caps.check_bytes(describe(given), plain.stat().st_size)
        yield os.fsencode(plain), None
    except MemoryError:
        raise InputError.single(
            describe(given), "does not fit into the memory of this machine"
        ) from None
    except OSError as error:
        raise InputError.single(describe(given), os_message(error)) from None


@contextmanager
def open_twice(
    given: Input,
) -> Iterator[tuple[bytes | None, _core.Read | None, Callable[[], Input]]]:
    """The same, and the input once more, for those who find that they must read it whole."""
    with open_for_core(given) as (place, read):
        if given.can_be_read_again:
            yield place, read, lambda: given
            return
        from cranfield.io.kept import KeptStream

        # A pipe can be read only once.
        with KeptStream(given, read) as kept:
            yield None, kept, kept.again


def _plain_file(given: Input) -> Path | None:
    """The path of an input that is an ordinary, unpacked file."""
    if given.path is None or given.packing:
        return None
    try:
        mode = given.path.stat().st_mode
    except OSError as error:
        raise InputError.single(describe(given), os_message(error)) from None
    if stat.S_ISREG(mode) and not os.access(given.path, os.R_OK):
        raise InputError.single(describe(given), "permission denied")
    return given.path if stat.S_ISREG(mode) else None


def raise_problems(path: FileForm, kind: str, problems: list[_core.Problem], count: int) -> None:
    """An InputError for what the core found wrong with a file, if anything."""
    if count:
        packed = _looks_packed(Input.of(path))
        if packed:
            raise InputError.single(
                describe(path), f"holds {packed} data; give it a name that ends in {packed}"
            )
        _tell_exchanged(Input.of(path), kind)
        longest = Input.of(path).caps.line_bytes
        listed = [Problem(line, _message(kind, longest, *rest)) for rest, line in _split(problems)]
        raise InputError(describe(path), listed, count)


def _tell_exchanged(given: Input, kind: str) -> None:
    """Judgements in the place of a run are not so many faulty lines, nor a run in theirs."""
    if not given.can_be_read_again:
        return
    with open_input(given) as stream:
        start = stream.read(LOOKED_AT)
    lines = start.splitlines()[: -1 if len(start) == LOOKED_AT else None]
    wanted, other = (6, 4) if kind == "run" else (4, 6)
    if not lines or any(len(line.split()) != other for line in lines if line.strip()):
        return
    held, meant = ("judgements", "a run") if kind == "run" else ("a run", "judgements")
    raise InputError.single(
        describe(given),
        f"holds {held} ({other} fields a line), not {meant} ({wanted} fields). Were they "
        "exchanged? Judgements come first, then runs",
    )


def _looks_packed(given: Input) -> str:
    """'.gz' or '.zst' for an input that is compressed without saying so in its name."""
    if given.packing or given.is_standard or not given.can_be_read_again:
        return ""
    with open_input(given) as stream:
        return packing_of(stream.read(4))


def _split(problems: list[_core.Problem]) -> Iterator[tuple[tuple[int, str, str, int], int]]:
    for fault, line, text, topic, other in problems:
        yield (fault, text, topic, other), line


def _message(
    kind: str, longest: int | None, fault: int, text: str, topic: str, other_line: int
) -> str:
    number, shape = NUMBER[kind], SHAPES[kind]
    quoted = repr(text if len(text) < 60 else text + "...")
    return (
        f"too few fields in {quoted} (expected: {shape})",
        f"unexpected extra field {quoted} (expected: {shape})",
        f"{number} {quoted} is not a number (expected: {shape})",
        f"{number} {quoted} is not a finite number"
        + ("; no item can be ranked by it" if kind == "run" else ""),
        f"{quoted} is not UTF-8 text; convert the file, for example with iconv",
        "" if longest is None else long_line(text, longest),
        f"binary data in {quoted}; is this a text file?",
        f"item {quoted} is listed twice for topic {topic!r}, first on line {other_line}; "
        "keep one of them",
        f"item {quoted} has another grade for topic {topic!r} on line {other_line}; keep one",
    )[fault]
