"""The child that puts the truth of a batch beside the sealed one: it alone opens that one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cranfield._lazy import np
from cranfield.server.jobs import sandbox

Cells = dict[tuple[str, str], str]


def join(job_input: dict[str, Any]) -> dict[str, Any]:
    """How many items each truth has and how many only the old one has; what both say together.

    Where both speak of a cell, the new truth counts. The text of the whole stays in a file.
    """
    from cranfield.io.files import write_atomic

    if job_input["task"] == "ranked":
        old, new = (ranked_cells(Path(job_input[name])) for name in ("old", "new"))
    else:
        old = label_cells(Path(job_input["old"]), job_input["unlisted"] or None)
        new = label_cells(Path(job_input["new"]), None)
        # A cell that the new truth leaves open stays as it was.
        new = {cell: value for cell, value in new.items() if value != "?" or cell not in old}
    # An item may be judged for one topic and not for another, so judgements are counted there.
    counted = set if job_input["task"] == "ranked" else items_of
    before, after = counted(old), counted(new)
    write_atomic(Path(job_input["out"]), written(old | new, job_input["task"]).encode())
    return {
        "old": len(before),
        "new": len(after),
        "lost": len(before - after),
        "changed": sum(1 for cell in old.keys() & new.keys() if old[cell] != new[cell]),
        "merged": len(before | after),
    }


def items_of(cells: Cells) -> set[Any]:
    return {item for item, _ in cells}


def ranked_cells(path: Path) -> Cells:
    """The grade of each topic and item."""
    from cranfield.io import read_qrels

    judged = read_qrels(path).to_dict()
    return {
        (topic, item): str(grade)
        for topic, grades in judged.items()
        for item, grade in grades.items()
    }


def label_cells(path: Path, unlisted: str | None) -> Cells:
    """Whether each item has each concept; `?` where it was not judged."""
    from cranfield.data.labels import dense
    from cranfield.errors import UsageError
    from cranfield.io.labels import read_labels, resolve_unlisted

    truth = resolve_unlisted(read_labels(path, unjudged=True), unlisted)
    if truth.labels is None:
        raise UsageError("the truth there is has probabilities, which nothing is merged into")
    values = dense(truth.labels).astype(int).astype(str)
    if truth.judged is not None:
        values = np.where(truth.judged, values, "?")
    return {
        (item, concept): str(values[row, column])
        for row, item in enumerate(truth.items)
        for column, concept in enumerate(truth.concepts)
    }


def written(cells: Cells, task: str) -> str:
    """The text of a truth: TREC judgements, or item, concept and value."""
    from cranfield.io.files import csv_text

    if task == "ranked":
        return "".join(
            f"{topic} 0 {item} {value}\n" for (topic, item), value in sorted(cells.items())
        )
    rows = ((item, concept, value) for (item, concept), value in cells.items())
    return csv_text([("item", "concept", "value"), *rows])


if __name__ == "__main__":
    sandbox.JOB_KINDS["join"] = join
    sandbox.fork_children("cranfield.io.labels", "cranfield.io")
