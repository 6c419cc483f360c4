"""Tables of links between articles: CSV or TSV `source,target`, of any size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cranfield.errors import InputError
from cranfield.io.files import csv_rows, describe, inner_suffix, input_lines
from cranfield.notes import Progress


def read_link_pairs(
    path: str | Path, *, progress: Progress | None = None
) -> Iterator[tuple[str, str]]:
    """The links of a table one after the other; the file is never held whole."""
    source_name = describe(path)
    delimiter = "\t" if inner_suffix(path) in (".tsv", ".txt") else ","
    source, target = 0, 1
    some = False
    for line, row in csv_rows(input_lines(path, progress=progress), source_name, delimiter):
        if line == 1 and sorted(row) == ["source", "target"]:
            source, target = row.index("source"), row.index("target")
        elif len(row) == 2 and row[0].strip() and row[1].strip():
            some = True
            yield row[source], row[target]
        elif row:
            fault = f"{len(row)} columns" if len(row) != 2 else "an empty name"
            raise InputError.single(source_name, f"{fault}, expected: source,target", line)
    if not some:
        raise InputError.single(source_name, "holds no link, expected: source,target")
