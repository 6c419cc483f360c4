"""TREC files: `topic iteration item grade` and `topic Q0 item rank score name`."""

from __future__ import annotations

import importlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from cranfield import _core
from cranfield._lazy import np
from cranfield._system import usable_cpus
from cranfield.data import Judgements, Run
from cranfield.errors import (
    PROBLEMS_SHOWN,
    InputError,
    MissingExtraError,
    Problem,
    check_counts,
    os_message,
    plural,
)
from cranfield.io.compression import detect_packing, fill_buffer
from cranfield.io.files import (
    FileForm,
    Input,
    describe,
    input_lines,
    is_whole,
    long_line_message,
    open_input,
    read_text,
    run_name,
    text_lines,
)

# Bytes at the start of a file that are read to detect its content.
LOOKED_AT = 4096
SHAPES = {
    "run": "topic Q0 item rank score name",
    "judgements": "topic iteration item grade",
}
NUMBER = {"run": "score", "judgements": "grade"}


def read_judgements(path: FileForm, *, jobs: int | None = None) -> Judgements:
    """Judgements in TREC's format; equal repetitions are dropped with a note."""
    columns, repeated, first, _ = _read(path, "judgements", jobs)
    notes: tuple[str, ...] = ()
    if first is not None:
        _, line, item, topic, other_line = first
        others_note = f", and {plural(repeated - 1, 'more such line')}" if repeated > 1 else ""
        notes = (
            f"{describe(path)}:{line}: item {item!r} is judged twice for topic {topic!r}, with the "
            f"same grade on line {other_line}; the repetition is ignored{others_note}",
        )
    topics, offsets, item_bytes, item_offsets, grades, _ = columns
    return Judgements(tuple(topics), offsets, item_bytes, item_offsets, grades, notes=notes)


def read_run(path: FileForm, *, jobs: int | None = None, extra_fields: bool = False) -> Run:
    """A run in TREC's format. `extra_fields` lets lines end in more than six fields."""
    columns, _, _, beyond_double = _read(path, "run", jobs, extra_fields)
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
        notes=notes_beyond_double(beyond_double),
    )


def notes_beyond_double(count: int) -> tuple[str, ...]:
    """What is said of scores that were read as infinite or zero as no double can hold them."""
    if not count:
        return ()
    return (
        f"has {plural(count, 'score')} beyond what a double holds (about 1e-324 to 1e308), read as "
        "infinite or 0: items with such scores are tied",
    )


def _read(
    path: FileForm, kind: str, jobs: int | None, extra_fields: bool = False
) -> tuple[_core.Columns, int, _core.Problem | None, int]:
    check_counts(jobs=jobs)
    threads = jobs or usable_cpus()
    source = Input.of(path)
    with open_for_core(source) as (place, read):
        columns, problems, count, repeated, first_repeat, beyond_double, stop = _core.read_table(
            place,
            read,
            kind,
            threads,
            extra_fields,
            source.caps.lines,
            source.caps.line_bytes,
            _core.Progress(),
        )
        raise_stop(source, read, stop)
    raise_problems(source, kind, problems, count)
    if not columns[0]:
        missing = "no retrieved items" if kind == "run" else "no judgements"
        raise InputError.single(
            describe(path), f"is empty: {missing} found (expected lines: {SHAPES[kind]})"
        )
    return columns, repeated, first_repeat, beyond_double


def parse_bytes(data: bytes, kind: str) -> _core.Columns | None:
    """The columns of a run or of judgements in memory; None when something is wrong with them."""
    columns, _, count, repeated, *_ = _core.read_table(
        None, BytesIO(data).readinto, kind, usable_cpus(), False, None, None, _core.Progress()
    )
    return None if count or repeated or not columns[0] else columns


class _Reader:
    """Fills buffers for the core from a Python stream and remembers what went wrong."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.error: BaseException | None = None

    def __call__(self, buffer: memoryview) -> int:
        try:
            return fill_buffer(self._stream, buffer)
        except BaseException as error:
            # The core's threads must not carry Python exceptions: it is raised after they end.
            self.error = error
            return -1


def raise_stop(source: Input, read: _core.Read | None, stop: _core.Stop) -> None:
    """Raise what stopped a reader before the end, for `open_input` to put into words."""
    error = getattr(read, "error", None)
    if error is not None:
        raise error
    if stop == "lines":
        source.caps.check_lines(describe(source), sys.maxsize)
    if stop is not None:
        raise InputError.single(
            describe(source),
            "became shorter while it was read" if stop == "short" else "cannot be read",
        )


@contextmanager
def open_for_core(
    path: FileForm,
) -> Iterator[tuple[bytes | None, Callable[[memoryview], int] | None]]:
    """Yield the source for the core: the path of a plain file, or a function that fills buffers."""
    source = Input.of(path)
    file_path = _plain_file(source)
    if file_path is None:
        with open_input(source) as stream:
            yield None, _Reader(stream)
        return
    try:
        source.caps.check_bytes(describe(source), file_path.stat().st_size)
        yield os.fsencode(file_path), None
    except MemoryError:
        raise InputError.single(
            describe(source), "does not fit into the memory of this machine"
        ) from None
    except OSError as error:
        raise InputError.single(describe(source), os_message(error)) from None


@contextmanager
def open_repeatable(
    source: Input,
) -> Iterator[tuple[bytes | None, _core.Read | None, Callable[[], Input]]]:
    """Open an input for the core, with a function that returns the input for a second reading."""
    with open_for_core(source) as (place, read):
        if source.can_be_read_again:
            yield place, read, lambda: source
            return

        # A pipe can be read only once.
        with SpooledStream(source, read) as stream:
            yield None, stream, stream.reopen


def _plain_file(source: Input) -> Path | None:
    """The path of an input that is an ordinary, unpacked file."""
    if source.path is None or source.packing:
        return None
    try:
        mode = source.path.stat().st_mode
    except OSError as error:
        raise InputError.single(describe(source), os_message(error)) from None
    if stat.S_ISREG(mode) and not os.access(source.path, os.R_OK):
        raise InputError.single(describe(source), "permission denied")
    return source.path if stat.S_ISREG(mode) else None


def raise_problems(path: FileForm, kind: str, problems: list[_core.Problem], count: int) -> None:
    """An InputError for what the core found wrong with a file, if anything."""
    if count:
        packed = _looks_packed(Input.of(path))
        if packed:
            raise InputError.single(
                describe(path), f"holds {packed} data; give it a name that ends in {packed}"
            )
        _refuse_exchanged(Input.of(path), kind)
        longest = Input.of(path).caps.line_bytes
        messages = [
            Problem(line, _message(kind, longest, *rest))
            for rest, line in _split_problems(problems)
        ]
        raise InputError(describe(path), messages, count)


def _refuse_exchanged(source: Input, kind: str) -> None:
    """Raise one clear InputError when judgements stand in the place of a run, or the reverse."""
    if not source.can_be_read_again:
        return
    with open_input(source) as stream:
        start = stream.read(LOOKED_AT)
    lines = start.splitlines()[: -1 if len(start) == LOOKED_AT else None]
    expected_fields, actual_fields = (6, 4) if kind == "run" else (4, 6)
    if not lines or any(len(line.split()) != actual_fields for line in lines if line.strip()):
        return
    content, meant = ("judgements", "a run") if kind == "run" else ("a run", "judgements")
    raise InputError.single(
        describe(source),
        f"holds {content} ({actual_fields} fields a line), not {meant} ({expected_fields} fields). "
        "Were they exchanged? Judgements come first, then runs",
    )


def _looks_packed(source: Input) -> str:
    """'.gz' or '.zst' for an input that is compressed without saying so in its name."""
    if source.packing or source.is_standard or not source.can_be_read_again:
        return ""
    with open_input(source) as stream:
        return detect_packing(stream.read(4))


def _split_problems(
    problems: list[_core.Problem],
) -> Iterator[tuple[tuple[int, str, str, int], int]]:
    for fault, line, text, topic, other_line in problems:
        yield (fault, text, topic, other_line), line


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
        "" if longest is None else long_line_message(text, longest),
        f"binary data in {quoted}; is this a text file?",
        f"item {quoted} is listed twice for topic {topic!r}, first on line {other_line}; "
        "keep one of them",
        f"item {quoted} has another grade for topic {topic!r} on line {other_line}; keep one",
    )[fault]


STRATA_SHAPE = "topic iteration item stratum grade"
MOST_STRATA = 2**19


def is_stratified(path: FileForm) -> bool:
    """Whether most lines at the start have five fields. False for a pipe, which is read once."""
    source = Input.of(path)
    if source.is_standard or not source.can_be_read_again:
        return False
    lines = [line.split() for line in islice(input_lines(source), 20)]
    widths = [len(fields) for fields in lines if fields and not fields[0].startswith("#")]
    return 2 * widths.count(5) > len(widths)


def read_stratified(path: FileForm) -> Judgements:
    """Judgements with strata; grade -1 is an item of the pool that was not in the sample."""
    problems: list[Problem] = []
    count = 0
    seen: dict[tuple[str, str], int] = {}
    rows: list[tuple[str, str, int, float]] = []
    for number, line in enumerate(text_lines(read_text(path)), start=1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        fault = _strata_fault(fields)
        if not fault:
            first = seen.setdefault((fields[0], fields[2]), number)
            if first != number:
                fault = f"item {fields[2]!r} of topic {fields[0]!r} is judged on line {first} too"
        if fault:
            count += 1
            if len(problems) < PROBLEMS_SHOWN:
                problems.append(Problem(number, fault))
            continue
        rows.append((fields[0], fields[2], int(fields[3]), float(int(fields[4]))))
    if problems:
        raise InputError(describe(path), problems, count)
    # Topics may be scattered: their first mention gives their order.
    order = {topic: i for i, topic in enumerate(dict.fromkeys(r[0] for r in rows))}
    rows.sort(key=lambda r: order[r[0]])
    table = Judgements.from_rows(*([r[i] for r in rows] for i in (0, 1, 3)))
    return replace(table, strata=np.array([r[2] for r in rows], dtype=np.int64))


def _strata_fault(fields: list[str]) -> str:
    if len(fields) != 5:
        return f"{len(fields)} fields (expected: {STRATA_SHAPE})"
    stratum, grade = fields[3:]
    if not (is_whole(stratum) and len(stratum) < 9 and int(stratum) < MOST_STRATA):
        return f"stratum {stratum!r} is not a whole number from 0 on (expected: {STRATA_SHAPE})"
    if not is_whole(grade.removeprefix("-")) or len(grade) > 15:
        return f"grade {grade!r} is not a whole number (expected: {STRATA_SHAPE})"
    return ""


SHAPE = "topic subtopic item grade"
# Number of lines read to detect items that are judged for several subtopics.
LINES_ASKED = 100_000


def has_subtopics(path: FileForm) -> bool:
    """Whether an item is judged for two subtopics. False for a pipe, which is read once."""
    source = Input.of(path)
    if source.is_standard or not source.can_be_read_again:
        return False
    first: dict[tuple[str, str], str] = {}
    for line in islice(input_lines(source), LINES_ASKED):
        fields = line.split()
        if len(fields) == 4 and not fields[0].startswith("#"):
            topic, subtopic, item, _ = fields
            if first.setdefault((topic, item), subtopic) != subtopic:
                return True
    return False


def read_subtopics(path: FileForm) -> Judgements:
    """Judgements with subtopics; the grade of an item is its best one."""
    problems: list[Problem] = []
    count = 0
    grades: dict[str, dict[str, dict[str, float]]] = {}
    for number, line in enumerate(text_lines(read_text(path)), start=1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        fault = _subtopic_fault(fields)
        if not fault:
            topic, subtopic, item, grade = fields
            graded = grades.setdefault(topic, {}).setdefault(subtopic, {})
            if graded.setdefault(item, float(grade)) != float(grade):
                fault = f"item {item!r} of subtopic {subtopic!r} is judged twice, and differently"
        if fault:
            count += 1
            if len(problems) < PROBLEMS_SHOWN:
                problems.append(Problem(number, fault))
    if problems:
        raise InputError(describe(path), problems, count)
    return Judgements.from_subtopics(grades, source_name=describe(path))


def _subtopic_fault(fields: list[str]) -> str:
    if len(fields) != 4:
        return f"{len(fields)} fields (expected: {SHAPE})"
    if not fields[3].removeprefix("-").isdecimal():
        return f"grade {fields[3]!r} is not a whole number (expected: {SHAPE})"
    return ""


PREFIX = "irds:"
SAID = 200


def read_ir_dataset(name: str) -> Judgements:
    """The judgements of a data set; ir_datasets fetches what is not on this machine yet."""
    judged = _data_set(name).qrels_iter()
    try:
        rows = [(r.query_id, r.doc_id, r.relevance) for r in judged]
    except (OSError, RuntimeError) as error:
        # ir_datasets, requests and the system raise these when a file is not available.
        reason = str(error.args[0] if error.args else error).partition("\n")[0][:SAID]
        raise InputError.single(name, f"could not be fetched: {reason}") from error
    if not rows:
        raise InputError.single(name, "has no judgements")
    topics, items, grades = zip(*rows, strict=True)
    return Judgements.from_rows(list(topics), list(items), list(grades))


def _data_set(name: str) -> Any:
    try:
        catalogue = importlib.import_module("ir_datasets")
    except ModuleNotFoundError:
        raise MissingExtraError("ir_datasets", "datasets", "Reading irds: names") from None
    try:
        data_set = catalogue.load(name.removeprefix(PREFIX))
    except KeyError:
        raise InputError.single(name, "is no data set of ir_datasets") from None
    if not data_set.has_qrels():
        raise InputError.single(name, "has no judgements; name a part that has them")
    return data_set


_SPOOL_BLOCK = 1 << 20


class SpooledStream(AbstractContextManager["SpooledStream"]):
    """Fills buffers from a stream and keeps the bytes in an unnamed temporary file."""

    def __init__(self, source: Input, read: Callable[[memoryview], int] | None) -> None:
        self._source, self._read = source, read
        import tempfile  # most inputs are files, which need none

        self._file: BinaryIO | None = None
        with suppress(OSError):
            self._file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115

    def __call__(self, buffer: memoryview) -> int:
        got = self._read(buffer) if self._read is not None else 0
        if got > 0 and self._file is not None:
            try:
                self._file.write(buffer[:got])
            except OSError:  # disk full: matters only if the input is read again
                self._file.close()
                self._file = None
        return got

    @property
    def error(self) -> BaseException | None:
        """What the stream raised, if anything."""
        return getattr(self._read, "error", None)

    def reopen(self) -> Input:
        """The whole stream, from its start."""
        buffer = memoryview(bytearray(_SPOOL_BLOCK))
        while self._file is not None and self(buffer) > 0:
            pass
        if self.error is not None:
            raise self.error
        if self._file is None:
            raise InputError.single(
                describe(self._source),
                "the lines of its topics do not stand together, and there is no room on disk to "
                "keep what comes through a pipe; give a file",
            )
        self._file.seek(0)
        return Input(describe(self._source), self._file, self._source.caps)

    def __exit__(self, *exc: Any) -> None:
        if self._file is not None:
            self._file.close()
