"""Collections: a folder with `collection.toml`, which names every file that belongs to it."""

from __future__ import annotations

import re
import struct
import tomllib
from collections.abc import Callable
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import MappingProxyType
from typing import Any

from cranfield.data.collection import Collection, ImageSheet
from cranfield.errors import InputError, Problem, suggest
from cranfield.io.files import (
    csv_rows,
    describe,
    inner_suffix,
    open_input,
    open_text,
    read_text,
    run_name,
)

FILE = "collection.toml"
TEXTS = ("name", "title", "version", "licence")
FILES = (
    "sources",
    "topics",
    "judgements",
    "truth",
    "rules",
    "agreement_map",
    "judgement_log",
    "subject_rankings",
    "subject_categories",
    "category_parents",
)
LISTS = ("runs", "label_runs", "cost_maps", "counts")
KEYS = (*TEXTS, "size", *FILES, *LISTS, "threshold", "ontology", "splits", "images")
IMAGE_KEYS = ("file", "items", "width", "height", "columns")
PNG = b"\x89PNG\r\n\x1a\n"


def read_collection(path: str | Path) -> Collection:
    """The collection of a folder, checked: every file that it names is there.

    `path` is the folder or its `collection.toml`. An InputError lists all that is wrong.
    """
    given = Path(path)
    file = given / FILE if given.is_dir() else given
    if not given.exists():
        raise InputError.single(str(path), f"no such folder (expected one with a {FILE})")
    if not file.exists():
        raise InputError.single(str(path), f"has no {FILE}; a collection is a folder with one")
    return _Reader(file).collection()


def read_items(path: str | Path) -> tuple[str, ...]:
    """Item ids in order: the column `item` of a CSV or TSV, or one per line of any other file."""
    suffix = inner_suffix(path)
    if suffix in (".csv", ".tsv"):
        rows = _column(path, "\t" if suffix == ".tsv" else ",")
    else:
        rows = [(n, line.strip()) for n, line in enumerate(read_text(path).splitlines(), 1)]
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    for line, item in rows:
        if item in seen:
            problems.append(
                Problem(line, f"item {item!r} is listed twice, first on line {seen[item]}")
            )
        elif item:
            seen[item] = line
    if not seen and not problems:
        problems.append(Problem(0, "lists no item"))
    if problems:
        raise InputError(describe(path), problems)
    return tuple(seen)


def _column(path: str | Path, delimiter: str) -> list[tuple[int, str]]:
    with open_text(path) as stream:
        rows = csv_rows(stream, describe(path), delimiter)
        header = [name.strip() for name in next(rows, (0, []))[1]]
        if "item" not in header:
            raise InputError.single(
                describe(path), f"the header {','.join(header)!r} has no column 'item'", 1
            )
        at = header.index("item")
        return [(line, row[at].strip() if at < len(row) else "") for line, row in rows]


class _Reader:
    """Turns one `collection.toml` into a Collection, gathering every problem on the way."""

    def __init__(self, file: Path) -> None:
        self.folder, self.where = file.parent, str(file)
        self.text = read_text(file)
        self.problems: list[Problem] = []
        try:
            self.content = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            at = re.search(r"\(at line (\d+)", str(error))
            # An error at the end of the document names no line: it is the last one.
            line = int(at[1]) if at else len(self.text.splitlines())
            message = re.sub(r" \(at .*", "", str(error))
            raise InputError.single(self.where, f"not valid TOML: {message}", line) from None

    def collection(self) -> Collection:
        top = self.content
        for key in top.keys() - set(KEYS):
            self._unknown("", key, KEYS)
        for key in ("name", "size"):
            if key not in top:
                example = '"my-collection"' if key == "name" else "1000"
                self._complain(f"lacks a line such as {key} = {example}", "", key)
        fields: dict[str, Any] = {
            key: read("", key, top[key])
            for keys, read in self._readers()
            for key in keys
            if key in top
        }
        self._check_names(fields)
        if self.problems:
            raise InputError(self.where, sorted(self.problems, key=lambda p: p.line))
        return Collection(folder=self.folder, **fields)

    def _readers(self) -> tuple[tuple[tuple[str, ...], Callable[[str, str, Any], Any]], ...]:
        return (
            (TEXTS, self._text),
            (("size",), self._count),
            (FILES, self._file),
            (LISTS, self._files),
            (("threshold",), self._threshold),
            (("ontology",), self._ontology),
            (("splits",), self._splits),
            (("images",), self._images),
        )

    def _text(self, table: str, key: str, value: Any) -> str:
        if isinstance(value, str) and value.strip():
            return value
        self._wrong(table, key, value, "text in quotes")
        return ""

    def _count(self, table: str, key: str, value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        self._wrong(table, key, value, "a whole number from 1 on")
        return 1

    def _file(self, table: str, key: str, value: Any) -> Path:
        """A file of the collection; its name is relative to the folder and stays inside."""
        name = self._text(table, key, value)
        path = self.folder / name
        if not name:
            return path
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if name.startswith(("/", "\\")) or PureWindowsPath(name).drive or ".." in parts:
            self._complain(
                f"{key} names {name!r}, which lies outside of the collection's folder; "
                "move the file into it",
                table,
                key,
                name,
            )
        elif not _there(path):
            self._complain(
                f"{key} names {name!r}, but there is no such file in {self.folder}",
                table,
                key,
                name,
            )
        elif not path.is_file():
            self._complain(f"{key} names {name!r}, which is not a file", table, key, name)
        return path

    def _files(self, table: str, key: str, value: Any) -> tuple[Path, ...]:
        if isinstance(value, list):
            return tuple(self._file(table, key, name) for name in value)
        self._wrong(table, key, value, 'a list such as ["a.txt", "b.txt"]')
        return ()

    def _threshold(self, table: str, key: str, value: Any) -> float | Path:
        if isinstance(value, int | float) and not isinstance(value, bool):
            if 0 <= value <= 1:
                return float(value)
            self._wrong(table, key, value, "a number in [0, 1] or a file")
            return 0.0
        return self._file(table, key, value)

    def _ontology(self, table: str, key: str, value: Any) -> str | Path:
        # A built-in ontology has a name without an ending, such as pto-2011.
        if isinstance(value, str) and value and not inner_suffix(value):
            return value
        return self._file(table, key, value)

    def _splits(self, _: str, key: str, value: Any) -> MappingProxyType[str, tuple[str, ...]]:
        splits: dict[str, tuple[str, ...]] = {}
        if isinstance(value, dict):
            splits = {name: self._items(key, name, of) for name, of in value.items()}
        else:
            self._wrong("", key, value, "a table [splits] with lines such as train = 'train.txt'")
        return MappingProxyType(splits)

    def _items(self, table: str, key: str, value: Any) -> tuple[str, ...]:
        path = self._file(table, key, value)
        # A file that is missing has been complained of already.
        return read_items(path) if _there(path) and path.is_file() else ()

    def _images(self, _: str, key: str, value: Any) -> ImageSheet | None:
        if not isinstance(value, dict):
            self._wrong("", key, value, f"a table [images] with {', '.join(IMAGE_KEYS)}")
            return None
        for extra in value.keys() - set(IMAGE_KEYS):
            self._unknown(key, extra, IMAGE_KEYS)
        missing = [name for name in IMAGE_KEYS if name not in value]
        if missing:
            self._complain(f"[images] lacks {', '.join(missing)}", "", key)
            return None
        known = len(self.problems)
        path = self._file(key, "file", value["file"])
        items = self._items(key, "items", value["items"])
        numbers = {n: self._count(key, n, value[n]) for n in ("width", "height", "columns")}
        sheet = ImageSheet(path, items, **numbers)
        if len(self.problems) == known:
            self._check_sheet(sheet, str(value["file"]))
        return sheet

    def _check_sheet(self, sheet: ImageSheet, name: str) -> None:
        with open_input(sheet.path) as stream:
            head = stream.read(24)
        if len(head) < 24 or not head.startswith(PNG):
            self._complain(f"{name!r} is not a PNG image", "images", "file")
            return
        found = struct.unpack(">II", head[16:24])
        if found != sheet.size:
            self._complain(
                f"{name!r} has {found[0]} x {found[1]} pixels, expected {sheet.size[0]} x "
                f"{sheet.size[1]}: {len(sheet.items)} tiles of {sheet.width} x {sheet.height} in "
                f"rows of {sheet.columns}",
                "images",
                "file",
            )

    def _check_names(self, fields: dict[str, Any]) -> None:
        for key in ("runs", "label_runs"):
            seen: dict[str, Path] = {}
            for path in fields.get(key, ()):
                name = run_name(path)
                if name in seen:
                    self._complain(
                        f"two runs are named {name!r} ({seen[name].name} and {path.name}); "
                        "rename one of them",
                        "",
                        key,
                        path.relative_to(self.folder).as_posix(),
                    )
                seen[name] = path

    def _unknown(self, table: str, key: str, known: tuple[str, ...]) -> None:
        place = f" in [{table}]" if table else ""
        hint = suggest(key, known) or f" Known: {', '.join(known)}"
        self._complain(f"unknown key {key!r}{place}.{hint}", table, key)

    def _wrong(self, table: str, key: str, value: Any, expected: str) -> None:
        self._complain(f"{key} is {value!r} (expected: {expected})", table, key)

    def _complain(self, message: str, table: str, key: str, value: str = "") -> None:
        self.problems.append(Problem(_line_of(self.text, table, key, value), message))


def _there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that no file can have, such as a very long one
        return False


def _line_of(text: str, table: str, key: str, value: str = "") -> int:
    """The line that gives a key, or an element of the list that it gives; 0 if there is none."""
    current, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        header = re.fullmatch(r"\[+\s*([\w.-]+)\s*\]+\s*(#.*)?", line.strip())
        if header:
            current = header[1]
            if not table and current == key:
                return number
        elif current == table and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*=""", line):
            start = number
        if start and (not value or re.search(rf"""["']{re.escape(value)}["']""", line)):
            return number
    return start
