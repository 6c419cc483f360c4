"""What was written: whole or not at all, and read back as it was."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import cranfield as cf
from benchmarks.fuzz.commands import full_name
from cranfield.io.labels import read_labels

if TYPE_CHECKING:
    from benchmarks.fuzz.outcomes import Case, Outcome

# What commands write to -o that others read.
READERS: dict[str, Callable[[Path], Any]] = {
    "runs calibrate": read_labels,
    "runs feedback": cf.read_run,
    "runs fuse": cf.read_run,
    "runs search": cf.read_run,
    "runs text": cf.read_run,
    "runs query": cf.read_run,
    "runs classify": read_labels,
    "concepts ontology convert": cf.read_ontology,
}
NOT_RUNS = ("--format", "--labels", "--judgements")


def output_faults(case: Case, outcome: Outcome) -> list[str]:
    """What is wrong with the file that a case wrote, or did not write."""
    out = case.out
    if out is None or not os.path.isfile(out):  # noqa: PTH113 - no error for a name too long
        return [] if case.old is None else ["a file that was there is gone"]
    if case.kind == "output" or not any(word.endswith(out.name) for word in case.args):
        return []
    data = out.read_bytes()
    if outcome.code in (0, 1):
        return _content_faults(case, out, data)
    if case.old is not None:
        return [] if data == case.old else _content_faults(case, out, data)
    return ["a file though it was refused"] if outcome.code == 2 and not case.shell else []


def _content_faults(case: Case, out: Path, data: bytes) -> list[str]:
    if not data and case.old is not None:
        return ["half a file"]
    name = full_name(" ".join(case.args))
    command = next((one for one in READERS if name.startswith(f"{one} ")), "")
    if "json" in case.args and not command:
        plain = gzip.decompress(data) if out.suffix == ".gz" else data
        return [] if _is_json(plain) else ["half a file"]
    if name.startswith("convert "):
        return _round_trip_faults(case)
    if command and not set(NOT_RUNS) & set(case.args):
        try:
            READERS[command](out)
        except cf.CranfieldError as error:
            return [f"own output is refused ({error})"]
    return []


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


def _boxes(regions: cf.Regions) -> list[tuple[object, ...]]:
    """The boxes with the names of their items, whatever the order of files and names is."""
    sure = regions.confidences
    # COCO numbers the items, and names their files beside.
    files = {item: Path(alias).stem for alias, item in regions.item_aliases.items()}
    names = [files.get(item, Path(item).stem) for item in regions.items]
    return sorted(
        (
            names[regions.item[k]],
            *regions.boxes[k].tolist(),
            0.0 if sure is None else float(sure[k]),
        )
        for k in range(len(regions))
    )


def _round_trip_faults(case: Case) -> list[str]:
    kind, (source, target) = case.args[2], (case.folder / name for name in case.args[-2:])
    source = dict(case.pipes).get(source, source)  # a pipe was emptied: what filled it
    try:
        if kind == "labels":
            same = _same_labels(read_labels(source), read_labels(target))
        elif kind == "regions":
            same = _boxes(cf.read_regions(source)) == _boxes(cf.read_regions(target))
        else:
            read = cf.read_run if kind == "run" else cf.read_qrels
            same = read(source).to_dict() == read(target).to_dict()
    except cf.CranfieldError as error:
        return [f"own output is refused ({error})"]
    return [] if same else ["silent change in a round trip"]


def _same_labels(a: Any, b: Any) -> bool:
    """Items, names where the format has them, and every number; their order may change."""
    if sorted(a.items) != sorted(b.items):
        return False
    if a.named and b.named and sorted(a.concepts) != sorted(b.concepts):
        return False
    rows = [b.items.index(item) for item in a.items]
    columns = [b.concepts.index(c) for c in a.concepts] if a.named and b.named else slice(None)
    for kind in ("labels", "confidences"):
        one, other = getattr(a, kind), getattr(b, kind)
        if one is None and other is None:
            continue
        if one is None or other is None:
            # Of 0/1 confidences a format may not know that they were not labels.
            continue
        if not np.array_equal(_dense(one), _dense(other)[rows][:, columns], equal_nan=True):
            return False
    return True


def _dense(matrix: Any) -> np.ndarray:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
