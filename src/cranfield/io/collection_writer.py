"""A collection written to a folder of its own: its files, and the `collection.toml`."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import MISSING, asdict, fields, replace
from pathlib import Path
from typing import Any

from cranfield.data.collection import Collection, RunFacts
from cranfield.errors import InputError, os_message
from cranfield.io.collection_keys import DECLARED, FILE, Key
from cranfield.validation import validate_params

# Kinds that are written as tables, after all plain lines.
_TABLES = ("splits", "images", "teams", "run_facts", "years")
_DEFAULTS = {f.name: f.default for f in fields(Collection) if f.default is not MISSING}


@validate_params
def write_collection(collection: Collection, folder: str | Path) -> None:
    """Write a collection to a folder that is not there yet, whole or not at all.

    Files are copied under the names that they have within the collection; those from elsewhere
    come to stand beside them.
    """
    target = Path(folder)
    if target.exists():
        raise InputError.single(str(target), "is there already; a collection gets a new folder")
    if not target.absolute().parent.is_dir():
        raise InputError.single(str(target), "cannot be written: no such directory above it")
    try:
        with tempfile.TemporaryDirectory(
            dir=target.absolute().parent, prefix=f".{target.name[:100]}."
        ) as draft:
            made = Path(draft) / "made"
            made.mkdir()
            (made / FILE).write_text(_Writer(collection, made).text(), encoding="utf-8")
            made.replace(target)
    except OSError as error:
        raise InputError.single(str(target), f"cannot be written: {os_message(error)}") from None


class _Writer:
    """Copies files and puts the lines that name them together."""

    def __init__(self, collection: Collection, made: Path) -> None:
        self.collection, self.made = collection, made
        self.lines: list[str] = []
        self.copied: dict[Path, str] = {}

    def text(self) -> str:
        """The lines of plain keys; tables come after them, as TOML demands."""
        for key in DECLARED:
            if key.kind not in _TABLES and self._is_said(key):
                self._line(key.name, self._plain(key, getattr(self.collection, key.name)))
        self._splits()
        self._images()
        self._rows("teams", self.collection.teams)
        self._rows("run_facts", map(self._with_threshold, self.collection.run_facts.values()))
        self._years()
        return "\n".join(self.lines) + "\n"

    def _is_said(self, key: Key) -> bool:
        """Whether a value is other than what holds without a line."""
        return key.name == "layout" or bool(
            getattr(self.collection, key.name) != _DEFAULTS.get(key.name)
        )

    def _plain(self, key: Key, value: Any) -> Any:
        if key.kind == "folder":
            return self._copy_folder(value)
        if key.kind == "files":
            return [self._copy(path) for path in value]
        if key.kind == "texts":
            return list(value)
        if isinstance(value, Path):
            return self._copy_folder(value) if value.is_dir() else self._copy(value)
        return value

    def _with_threshold(self, facts: RunFacts) -> RunFacts:
        """Facts whose file of thresholds, if they have one, has come along."""
        path = self.collection.folder / facts.threshold
        if not facts.threshold or not path.is_file():
            return facts
        return replace(facts, threshold=self._copy(path))

    def _rows(self, name: str, records: Iterable[Any]) -> None:
        for record in records:
            self.lines += ["", f"[[{name}]]"]
            for key, value in asdict(record).items():
                if value:
                    self._line(key, value)

    def _years(self) -> None:
        if not self.collection.years:
            return
        self.lines += ["", "[years]"]
        for name, place in self.collection.years.items():
            copied = self._copy_folder(place) if place.is_dir() else self._copy(place)
            self._line(json.dumps(name, ensure_ascii=False), copied)

    def _splits(self) -> None:
        if not self.collection.splits:
            return
        self.lines += ["", "[splits]"]
        (self.made / "splits").mkdir(exist_ok=True)
        for number, (name, items) in enumerate(self.collection.splits.items(), 1):
            file = f"splits/{name}.txt" if name.isidentifier() else f"splits/split-{number}.txt"
            (self.made / file).write_text("\n".join(items) + "\n", encoding="utf-8")
            self._line(json.dumps(name, ensure_ascii=False), file)

    def _images(self) -> None:
        sheet = self.collection.images
        if sheet is None:
            return
        (self.made / "image-items.txt").write_text("\n".join(sheet.items) + "\n", encoding="utf-8")
        self.lines += ["", "[images]"]
        self._line("file", self._copy(sheet.path))
        self._line("items", "image-items.txt")
        for key in ("width", "height", "columns"):
            self._line(key, getattr(sheet, key))

    def _line(self, key: str, value: Any) -> None:
        # Strings and lists of JSON are strings and lists of TOML, but for one escape.
        written = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
        self.lines.append(f"{key} = {written}")

    def _copy_folder(self, path: Path) -> str:
        """Copy a folder with all that is in it, once; the name that it has there."""
        if path in self.copied:
            return self.copied[path]
        name = self._name(path)
        shutil.copytree(path, self.made / name, dirs_exist_ok=True)
        self.copied[path] = name
        return name

    def _copy(self, path: Path) -> str:
        """Copy a file into the folder, once; the name that it has there."""
        if path in self.copied:
            return self.copied[path]
        name = self._name(path)
        (self.made / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, self.made / name)
        self.copied[path] = name
        return name

    def _name(self, path: Path) -> str:
        """The name of a file within the folder, which no other has there."""
        try:
            name = path.resolve().relative_to(self.collection.folder.resolve()).as_posix()
        except ValueError:
            name = path.name
        number = 1
        while name in self.copied.values():
            name, number = f"{number}-{path.name}", number + 1
        return name
