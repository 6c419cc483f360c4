"""What ids a format can hold: checked when they are written, so that they are read back."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cranfield import _core
from cranfield._records import dataclass
from cranfield.data import Table
from cranfield.errors import InputError

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
