"""What ids a format can hold: checked when they are written, so that they are read back.

Inputs of any compression, under the name that their user gave them and within limits.
"""

from __future__ import annotations

import io
import os
import re
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, NamedTuple, TypeAlias, cast

from cranfield import _core
from cranfield.data import Table
from cranfield.errors import InputError, UsageError, os_message
from cranfield.io.compression import CountingStream, OwnedStream, peek_packing, standard_input

# Longer than any id, and shorter than what readers of CSV grant a field.
LONGEST_ID = 1 << 16
_LINE_ENDS = re.compile(r"[\0\r\n]")
_BLANKS = re.compile(r"[\0-\x20]")
_SPACES = re.compile(r"[\s\0-\x1f,;]")
_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class IdRule:
    """What a format makes of the text of an id, and what would hold an id that it cannot."""

    form: str
    instead: str
    breaks: re.Pattern[str]
    comment: str = ""
    stripped: bool = False
    begins_file: bool = True

    def fault(self, text: str, *, first: bool = False) -> str:
        """Why an id cannot be written, or nothing; `first` for one that begins a line."""
        if not text:
            return "is empty"
        if broken := self.breaks.search(text):
            return f"holds {_character_name(broken[0])}"
        if self.stripped and text != text.strip():
            return "begins or ends with a blank"
        if first and self.comment and text.startswith(self.comment):
            return f"begins with {self.comment!r}, which starts a comment"
        if first and self.begins_file and text.startswith(_MARK):
            return "begins with a byte order mark"
        if len(text.encode()) > LONGEST_ID:
            return f"is longer than {LONGEST_ID:,} bytes"
        return ""

    def check(
        self, source_name: str, kind: str, texts: Iterable[str], *, first: bool = False
    ) -> None:
        """An InputError for the first of some ids that this format cannot hold."""
        for text in texts:
            if fault := self.fault(text, first=first):
                raise InputError.single(
                    source_name,
                    f"{kind} {quoted(text)} {fault}, which {self.form} cannot hold; {self.instead}",
                )

    def check_items(self, source_name: str, table: Table) -> None:
        """Check every item of a table; the core scans, Python words the message."""
        breaks = bytes(byte for byte in range(33) if self.breaks.search(chr(byte)))
        if not _core.items_fit(list(table.topics), *table.buffers, breaks, LONGEST_ID):
            self.check(source_name, "item", (table.item(row) for row in range(len(table))))


def quoted(text: str) -> str:
    """An id in a message, cut where it is long."""
    return repr(text if len(text) <= 60 else text[:60] + "...")


def _character_name(char: str) -> str:
    names = {
        "\0": "a zero byte",
        "\t": "a tab",
        "\n": "a line end",
        "\r": "a line end",
        ",": "a comma",
        ";": "a semicolon",
    }
    return names.get(char) or ("a blank" if char.isspace() else "a control character")


TREC = IdRule("TREC's format", "rename it, or write .json or .parquet", _BLANKS, comment="#")
SEPARATED = IdRule("CSV", "rename it, or write .json or .parquet", _LINE_ENDS, begins_file=False)
LABEL_CSV = IdRule("CSV", "rename it, or write .npz", _LINE_ENDS, stripped=True, begins_file=False)
LABEL_TEXT = IdRule("ImageCLEF text", "rename it, or write .csv or .npz", _SPACES)
NAME_CSV = IdRule("CSV", "rename it", _LINE_ENDS, stripped=True, begins_file=False)
RDF = IdRule("RDF", "rename it", re.compile(r"[\0-\x1f]"), begins_file=False)
ARCHIVE = IdRule("an archive of arrays", "rename it", re.compile(r"\0"), begins_file=False)


def as_one_word(text: str) -> str:
    """Turn a name into one word, for the run tag of a TREC file."""
    return "_".join(_BLANKS.sub(" ", text).split()) or "run"


# What the third column of a run of three is.
Third: TypeAlias = Literal["rank", "score"]
THIRD: tuple[Third, ...] = ("rank", "score")
ABOUT_THIRD = """runs of three columns without a header: what the third one is (default: a rank
where it counts from 1 in every topic, else a score)"""
COMPRESSED = (".gz", ".zst")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# A description may be longer than the 131,072 characters that csv grants a field unasked.
_LONGEST_FIELD = 2**31 - 1
_LINES_BETWEEN_REPORTS = 1 << 14
_BLOCK = 1 << 20
_HEAD = 1 << 12
_QUOTED_BYTES = 60
# Values, lists and objects of JSON for each line that is read of a text: a record has several,
# and in memory each takes many times the two bytes that it may have in the file.
_JSON_PARTS = 16
_RUN_ENDINGS = (
    *(".run", ".txt", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet"),
    *(".res", ".results", ".trec", ".out", ".dat", ".npz", ".npy"),
)
_STANDARD = "<stdin>"


class Caps(NamedTuple):
    """The most that is read of one input, counted after unpacking; None is any number.

    `lines` counts the rows where a format has no lines (Parquet, NumPy), and `line_bytes` does
    not hold for JSON, which may be one line.
    """

    unpacked_bytes: int | None = None
    lines: int | None = None
    line_bytes: int | None = 1 << 20

    def check_bytes(self, source_name: str, count: int) -> None:
        """An InputError when an input has more bytes than it may."""
        if self.unpacked_bytes is not None and count > self.unpacked_bytes:
            raise InputError.single(
                source_name, f"holds more than {self.unpacked_bytes:,} bytes, the most that is read"
            )

    def check_lines(self, source_name: str, count: int, unit: str = "lines") -> None:
        """An InputError when an input has more lines, or rows, than it may."""
        if self.lines is not None and count > self.lines:
            raise InputError.single(
                source_name, f"has more than {self.lines:,} {unit}, the most that is read"
            )


_default_caps = Caps()


def set_default_caps(caps: Caps) -> None:
    """Set the caps of all later inputs that have none of their own."""
    global _default_caps
    _default_caps = caps


def default_caps() -> Caps:
    return _default_caps


@dataclass(frozen=True)
class Input:
    """Something to read, under the name that its user gave it.

    `name` is what messages say, its ending chooses the format and its stem names a run; `stream`
    has the bytes: an open file, bytes, or the path of a file that is called something else where
    it lies. Without one, `name` is the path, or "-" for standard input.

    >>> upload = Input("bm25.run", b"t1 Q0 d1 1 0.5 x")
    >>> import cranfield as cf
    >>> cf.read_run(upload).name
    'bm25'
    """

    name: str
    stream: BinaryIO | bytes | Path | None = None
    caps: Caps = field(default_factory=default_caps)
    third: Third | None = None  # if known
    form: str = ""  # the ending that it should have, where its name has another
    _start: int | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = [self.name, str(self.stream) if isinstance(self.stream, Path) else ""]
        if not all(map(_is_valid_name, names)):
            raise InputError.single(repr(self.name), "no file can have such a name")
        if isinstance(self.stream, bytes | Path | None):
            return
        # A stream that can go back is read again from where it stood when it was handed over.
        if hasattr(self.stream, "seekable") and self.stream.seekable():
            object.__setattr__(self, "_start", self.stream.tell())

    @classmethod
    def of(
        cls, source: FileForm | bytes | BinaryIO, name: str | None = None, caps: Caps | None = None
    ) -> Input:
        """An input from a path, from bytes or an open stream, or from another input."""
        if isinstance(source, Input):
            if name is None and caps is None:
                return source
            changed = replace(source, name=name or source.name, caps=caps or source.caps)
            object.__setattr__(changed, "_start", source._start)
            return changed
        limits = caps or default_caps()
        if isinstance(source, str | Path):
            stream = None if name is None or str(source) == "-" else Path(source)
            return cls(str(source) if stream is None else str(name), stream, limits)
        if isinstance(source, bytes | bytearray | memoryview):
            return cls(name or "<bytes>", bytes(source), limits)
        if not hasattr(source, "read"):
            type_name = type(source).__name__
            raise UsageError(f"expected the name of a file, an open file or bytes, not {type_name}")
        return cls(name or str(getattr(source, "name", "<stream>")), source, limits)

    def __str__(self) -> str:
        return self.name

    @property
    def path(self) -> Path | None:
        """The path of the file, or None for standard input, bytes and open streams."""
        if isinstance(self.stream, Path):
            return self.stream
        return Path(self.name) if self.stream is None and self.name != "-" else None

    @property
    def is_standard(self) -> bool:
        return self.stream is None and self.name == "-"

    @property
    def packing(self) -> str:
        """The ending of the name that says how the bytes are packed, or nothing."""
        suffix = Path(self.name).suffix.lower()
        return suffix if suffix in COMPRESSED else ""

    @property
    def can_be_read_again(self) -> bool:
        if self.path is not None:
            return is_file(self.path) or not exists(self.path)
        return isinstance(self.stream, bytes) or self._start is not None

    def open(self) -> BinaryIO:
        """Open the raw bytes, still compressed; an input that cannot be read again opens once."""
        if self.path is not None:
            return self.path.open("rb")
        if isinstance(self.stream, bytes):
            return io.BytesIO(self.stream)
        if self.stream is None:
            return standard_input()
        stream = cast(BinaryIO, self.stream)
        if self._start is not None:
            stream.seek(self._start)
        return stream


FileForm: TypeAlias = str | Path | Input


def _is_valid_name(name: str) -> bool:
    """Whether a file can have this name: no NUL, and no half of a character."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return "\0" not in name


def describe(path: FileForm) -> str:
    """The name of an input in messages."""
    if isinstance(path, Input):
        return _STANDARD if path.is_standard else printable_name(path.name)
    return _STANDARD if str(path) == "-" else printable_name(str(path))


def printable_name(name: str) -> str:
    """A file name as text that can be written anywhere, whatever its bytes are."""
    return name.encode(errors="replace").decode()


def inner_suffix(path: FileForm) -> str:
    """The ending of a file name below its compression: '.csv' for 'a.csv.gz'."""
    if isinstance(path, Input) and path.form:
        return path.form
    name = Path(str(path))
    while name.suffix.lower() in COMPRESSED:
        name = name.with_suffix("")
    return name.suffix.lower()


def run_name(path: FileForm) -> str:
    """The name of a run: its file name without endings such as .run.gz or .csv.zst."""
    if str(path) in ("-", _STANDARD):
        return "stdin"
    name = Path(str(path))
    while name.suffix.lower() in (*COMPRESSED, *_RUN_ENDINGS):
        name = name.with_suffix("")
    return printable_name(name.name)


def can_be_read_again(path: FileForm) -> bool:
    """Whether a path is a file (or nothing at all), not a pipe whose content is gone once read."""
    return Input.of(path).can_be_read_again


def is_file(path: Path) -> bool:
    """Whether a path is an ordinary file; one with a name that no file can have is not."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; one with a name that no folder can have is not."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def exists(path: Path) -> bool:
    """Whether a path exists; False for a name that no file can have."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


@contextmanager
def open_input(path: FileForm) -> Iterator[BinaryIO]:
    """An input as a stream of unpacked bytes: plain, .gz, .zst or '-' for standard input.

    Whatever goes wrong while it is open (no such file, a directory, no permission, a
    truncated or corrupt archive, more bytes than allowed) comes out as an InputError that names
    the file.
    """
    source = Input.of(path)
    source_name = describe(source)
    try:
        with _open_unpacked(source) as stream:
            if source.caps.unpacked_bytes is None:
                yield stream
            else:
                yield CountingStream.wrap(stream, partial(source.caps.check_bytes, source_name))
    except EOFError:
        raise InputError.single(
            source_name, "the compressed data ends too early; is the file truncated?"
        ) from None
    except zlib.error as error:
        raise InputError.single(source_name, f"not valid gzip data ({error})") from None
    except MemoryError:
        raise InputError.single(
            source_name, "does not fit into the memory of this machine"
        ) from None
    except OSError as error:
        if type(error).__name__ == "BadGzipFile":
            raise InputError.single(source_name, f"not valid gzip data ({error})") from None
        raise InputError.single(source_name, os_message(error)) from None


@contextmanager
def _open_unpacked(source: Input) -> Iterator[BinaryIO]:
    raw = source.open()
    try:
        # The name of an input that can be read only once need not tell its compression.
        packing = source.packing or ("" if source.can_be_read_again else peek_packing(raw))
        if packing == ".gz":
            from cranfield.io.compression import open_gzip

            with open_gzip(raw, describe(source)) as packed:
                yield packed
        elif packing == ".zst":
            from cranfield.io.compression import open_zstd

            with open_zstd(raw, describe(source)) as packed:
                yield packed
        else:
            yield raw
    finally:
        # A stream that the caller opened stays open: the caller closes it.
        if source.path is not None or isinstance(raw, OwnedStream):
            raw.close()


class _LineWatch:
    """Looks at blocks of text as they are read: are its lines too many or too long?"""

    def __init__(self, source: Input, *, long_lines: bool) -> None:
        self._caps, self._where = source.caps, describe(source)
        self._longest = None if long_lines else source.caps.line_bytes
        self._lines, self._open, self._start = 0, 0, b""
        # No line within a block can be too long.
        self.block = _BLOCK if self._longest is None else max(1, min(_BLOCK, self._longest))

    def add(self, block: bytes) -> None:
        newlines, first, last = _core.line_ends(block)
        within = len(block) if first < 0 else first
        if not self._open:
            self._start = block[:_QUOTED_BYTES]
        self._check(self._open + within)
        self._lines += newlines
        self._open = self._open + within if first < 0 else len(block) - last - 1
        if first >= 0:
            self._start = block[last + 1 :][:_QUOTED_BYTES]
        self._caps.check_lines(self._where, self._lines + (self._open > 0))

    def _check(self, length: int) -> None:
        if self._longest is not None and length > self._longest:
            raise InputError.single(
                self._where, long_line_message(self._start, self._longest), self._lines + 1
            )


def long_line_message(start: bytes | str, longest: int) -> str:
    """What is wrong with a line that is too long."""
    text = start if isinstance(start, str) else start.decode(errors="replace")
    limit = "1 MB" if longest == 1 << 20 else f"{longest:,} bytes"
    quoted = repr(text if len(text) < _QUOTED_BYTES else text + "...")
    return f"the line is longer than {limit} and begins with {quoted}; is this a text file?"


def read_bytes(path: FileForm, *, starts: bytes = b"") -> bytes:
    """Read a whole input; only its start when it does not begin with the bytes `starts`."""
    with open_input(path) as stream:
        head = stream.read(max(_HEAD, len(starts)))
        return head + stream.read() if head.startswith(starts) else head


def read_until_zero(path: FileForm) -> bytes:
    """A whole text input of any encoding and long lines; only its start if it holds zero bytes."""
    source = Input.of(path)
    gathered = io.BytesIO()
    for block in _blocks(source, _LineWatch(source, long_lines=True)):
        gathered.write(block)
        if b"\0" in block:
            break
    return gathered.getvalue()


def read_text(path: FileForm) -> str:
    """A whole text input, decoded; an InputError names the first line that is not UTF-8."""
    source = Input.of(path)
    return decode_blocks(text_blocks(source), source)


def text_blocks(source: Input) -> Generator[bytes, None, None]:
    """A text input in blocks, whose lines are neither too many nor too long."""
    return _blocks(source, _LineWatch(source, long_lines=False))


def read_json_text(path: FileForm) -> str:
    """Read and decode a JSON input; reading stops early when it cannot be JSON."""
    source = Input.of(path)
    return decode_blocks(_plausible_json(source), source)


def read_json_bytes(path: FileForm) -> bytes:
    """Read the bytes of a JSON input; reading stops early when it cannot be JSON."""
    source = Input.of(path)
    try:
        return b"".join(_plausible_json(source))
    except MemoryError:
        raise InputError.single(
            describe(source), "does not fit into the memory of this machine"
        ) from None


def _plausible_json(source: Input) -> Iterator[bytes]:
    blank, parts = True, 0
    for block in _blocks(source, _LineWatch(source, long_lines=True)):
        if source.caps.lines is not None:
            parts += sum(block.count(sign) for sign in b"[{,")
            value_limit = source.caps.lines * _JSON_PARTS
            if parts > value_limit:
                raise InputError.single(
                    describe(source), f"has more than {value_limit:,} values, the most that is read"
                )
        yield block
        text = block.removeprefix(BYTE_ORDER_MARK).lstrip() if blank else b"{"
        if b"\0" in block or (text and text[:1] not in b'{["'):
            return
        blank = blank and not text


def _blocks(source: Input, watch: _LineWatch) -> Generator[bytes, None, None]:
    with open_input(source) as stream:
        while block := stream.read(watch.block):
            watch.add(block)
            yield block


def decode_blocks(blocks: Iterable[bytes], source: Input) -> str:
    """The text of blocks; an InputError names the first line that is not UTF-8."""
    source_name = describe(source)
    try:
        gathered = io.BytesIO()
        for block in blocks:
            gathered.write(block)
        data = gathered.getvalue()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError.single(
            source_name,
            f"byte {data[error.start]:#04x} is not UTF-8 text; convert the file, for example with "
            "iconv",
            line,
        ) from None
    except MemoryError:
        raise InputError.single(
            source_name, "does not fit into the memory of this machine"
        ) from None


def text_lines(text: str) -> list[str]:
    """The lines of a text as editors and `input_lines` count them.

    `str.splitlines` ends lines also at signs that stand within them, such as U+0085 or U+2028.
    """
    return io.StringIO(text, newline=None).read().removesuffix("\n").split("\n") if text else []


@contextmanager
def open_text(path: FileForm) -> Iterator[IO[str]]:
    """A text input, decoded, for the csv module."""
    yield io.StringIO(read_text(path), newline="")


def input_lines(
    path: FileForm, *, progress: Callable[[float], None] | None = None
) -> Iterator[str]:
    """The lines of a text input of any size, decoded one by one, with their ends.

    `progress` is called from time to time with the share of the file that has been read.
    """
    source = Input.of(path)
    source_name, longest = describe(source), source.caps.line_bytes
    with open_input(source) as stream:
        number = 0
        while line := stream.readline(-1 if longest is None else longest + 1):
            number += 1
            if longest is not None and len(line) > longest and not line.endswith(b"\n"):
                raise InputError.single(
                    source_name, long_line_message(line[:_QUOTED_BYTES], longest), number
                )
            source.caps.check_lines(source_name, number)
            if progress is not None and number % _LINES_BETWEEN_REPORTS == 0:
                progress(_fraction_read(source, stream))
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise InputError.single(
                    source_name, f"byte {line[error.start]:#04x} is not UTF-8 text", number
                ) from None


def _fraction_read(source: Input, stream: BinaryIO) -> float:
    if source.path is None or source.packing == ".zst" or not is_file(source.path):
        return 0.0
    # The position in the compressed file counts, because its size is known.
    inner = getattr(getattr(stream, "raw", None), "inner", stream)
    packed: BinaryIO = getattr(inner, "fileobj", None) or inner
    return packed.tell() / max(1, source.path.stat().st_size)


def csv_rows(
    lines: Iterable[str],
    source_name: str,
    delimiter: str = ",",
    *,
    first_line: int = 1,
    strict: bool = False,
    long_fields: bool = False,
) -> Iterator[tuple[int, list[str]]]:
    """The rows of CSV text with the lines they end on; an InputError names one that is broken.

    `first_line` is the number of the first of the lines.
    """
    import csv

    reader = csv.reader(lines, delimiter=delimiter, strict=strict)
    try:
        for row in _with_long_fields(reader) if long_fields else reader:
            yield reader.line_num + first_line - 1, row
    except csv.Error as error:
        line = reader.line_num + first_line - 1
        raise InputError.single(source_name, f"not valid CSV ({error})", line) from None


def _with_long_fields(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """The rows of a CSV reader; the limit, which all readers share, is raised for each row only."""
    import csv

    row: list[str] | None = []
    while row is not None:
        limit = csv.field_size_limit(_LONGEST_FIELD)
        try:
            row = next(reader, None)
        finally:
            csv.field_size_limit(limit)
        if row is not None:
            yield row


def check_read_once(values: Iterable[Any]) -> None:
    """A UsageError when '-', or a pipe, stands for more than one of the inputs: it is read once."""
    texts = [text for value in values for text in _members(value)]
    if sum(isinstance(text, str) and (text == "-" or text.endswith("=-")) for text in texts) > 1:
        raise UsageError("standard input ('-') can be only one of the files")
    seen: set[str] = set()
    for text in texts:
        if isinstance(text, str):
            if text in seen and exists(Path(text)) and Path(text).is_fifo():
                raise UsageError(f"{text} is a pipe and can be only one of the files")
            seen.add(text)


def _members(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else [value]


# What holds for every input of a command; numbers, or nothing for no limit.
CAPS = {
    "unpacked_bytes": "CRANFIELD_MAX_BYTES",
    "lines": "CRANFIELD_MAX_LINES",
    "line_bytes": "CRANFIELD_MAX_LINE_BYTES",
}


def set_caps_from_environment() -> None:
    """Limits on what is read, where the environment sets them."""
    settings = {limit: os.environ.get(name, "").strip() for limit, name in CAPS.items()}
    if not any(settings.values()):
        return
    caps: dict[str, int] = {}
    for limit, text in settings.items():
        if text and not (text.isascii() and text.isdecimal() and int(text[:20]) > 0):
            raise InputError.single(CAPS[limit], f"{text!r} is not a whole number from 1 on")
        if text:
            caps[limit] = int(text)
    set_default_caps(Caps(**caps))


def number(text: str) -> float:
    """A number as programs write it; ValueError for what only Python takes for one.

    >>> number(" 1e3 ")
    1000.0
    >>> number("1_000")
    Traceback (most recent call last):
    ...
    ValueError: '1_000' is not a number
    """
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def numbers(texts: Sequence[str]) -> list[float]:
    """Many numbers; ValueError when one of them is none."""
    values = list(map(float, texts))
    together = "".join(texts)
    if "_" in together or not together.isascii():
        for text in texts:
            number(text)
    return values


def is_number(text: str) -> bool:
    try:
        number(text)
    except ValueError:
        return False
    return True


def is_whole(text: str) -> bool:
    """Whether a text is a whole number from 0 on, in the digits 0 to 9."""
    return text.isascii() and text.isdecimal()


def write_atomic(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write a file so that it appears complete or not at all, even when the power fails.

    A link is followed; a pipe or a device such as /dev/null is written to, not replaced.
    """
    blocks = (data,) if isinstance(data, bytes) else data
    try:
        path = path.resolve()
        if not path.parent.is_dir():
            raise InputError.single(str(path), "cannot be written: no such directory")
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as device:
                device.writelines(blocks)
            return
        with atomic_file(path) as out:
            out.writelines(blocks)
    except OSError as error:
        raise InputError.single(
            _path_text(path), f"cannot be written: {os_message(error)}"
        ) from None
    except (ValueError, RuntimeError):  # a zero byte, or a link to itself
        raise InputError.single(_path_text(path), "no file can have such a name") from None


def _path_text(path: Path) -> str:
    """A path in a message, whatever bytes it is made of."""
    return str(path).encode(errors="backslashreplace").decode()


def make_folder(path: str | Path) -> Path:
    """Create a folder and its parents if they do not exist, and return its path."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made: {os_message(error)}") from None
    except ValueError:
        raise UsageError(f"{folder}: no folder can have such a name") from None
    return folder


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write bit by bit, which has its name only once all is written.

    Its bytes have reached the disk by then: renamed before that, it could come out empty after a
    loss of power.
    """
    # A short name of its own: a suffix to a name of 250 characters would be too long.
    draft = path.parent / f".cranfield-{os.urandom(8).hex()}"
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Sync a folder to disk, where the file system supports it."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


def csv_text(rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    """Rows as CSV with simple line ends; a line end of any kind within a cell is quoted."""
    import csv

    sink = _Rows()
    csv.writer(sink, delimiter=delimiter, lineterminator=_Rows.END).writerows(rows)
    return "".join(sink.lines)


class _Rows:
    """Collects the rows that csv writes; csv quotes cells that hold a line end."""

    END = "\r\n"

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, row: str) -> None:
        self.lines.append(row.removesuffix(self.END) + "\n")


def filled_rows(path: FileForm) -> list[tuple[int, list[str]]]:
    """The rows of a CSV file that hold anything, with their lines."""
    rows = csv_rows(read_text(path).splitlines(keepends=True), describe(path))
    return [(line, row) for line, row in rows if any(cell.strip() for cell in row)]
