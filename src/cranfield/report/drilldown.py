"""Behind the numbers of the report: rankings of topics, labels of items, pictures."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from cranfield.data import Judgements, Run
from cranfield.data.collection import ImageSheet
from cranfield.evaluation.explain_labels import ItemExplanation
from cranfield.report.charts.parts import number
from cranfield.report.sections import Section

DEPTH = 20
LEAST_DEPTH = 5
MOST_RANKED = 40_000
MOST_EXPLAINED = 4_000


class Names:
    """Each text once; others refer to it by its position."""

    def __init__(self) -> None:
        self.position: dict[str, int] = {}

    def __call__(self, name: str) -> int:
        return self.position.setdefault(name, len(self.position))


def add_rankings(
    section: Section,
    judgements: Judgements,
    runs: Iterable[Run],
    *,
    ties: str = "id",
    judged_only: bool = False,
    max_items: int | None = None,
) -> None:
    """The first items of every run for every topic, with their grades.

    Each row is [item, grade], the item by position and the grade null where it is not judged.
    """
    names = Names()
    wanted = section.data["runs"]
    topics = section.data["units"].get("topic", list(judgements.topics))
    depth = min(max(MOST_RANKED // max(len(wanted) * len(topics), 1), LEAST_DEPTH), DEPTH)
    depth = min(depth, max_items or depth)
    fitting = max(1, MOST_RANKED // (depth * len(wanted)))
    shown = topics[:fitting]
    grades = judgements.of_topics(shown).to_dict()
    lists: list[dict[str, Any]] = [
        {"relevant": sum(g > 0 for g in grades.get(t, {}).values()), "runs": []} for t in shown
    ]
    for run in runs:
        at = {topic: i for i, topic in enumerate(run.topics)}
        for topic, entry in zip(shown, lists, strict=True):
            judged = grades.get(topic, {})
            first = (
                _first(run, at[topic], depth, ties, judged if judged_only else None)
                if topic in at
                else []
            )
            entry["runs"].append([[names(item), judged.get(item)] for item in first])
    section.data["rankings"] = {"depth": depth, "topics": lists, "items": list(names.position)}
    if len(shown) < len(topics):
        section.left_out.append(
            f"Rankings are shown for the first {len(shown)} of {len(topics)} topics."
        )
    section.data["rankings"]["how"] = f"The first {depth} items of each run" + (
        "; tied items in one of their orders" if ties == "average" else ""
    )


def _first(run: Run, topic: int, depth: int, ties: str, keep: Any) -> list[str]:
    """The first items of a topic, without sorting what lies far below them."""
    start, end = int(run.offsets[topic]), int(run.offsets[topic + 1])
    values = run.values[start:end]
    rows = np.arange(start, end)
    if keep is not None:
        rows = np.array([r for r in rows if run.item(int(r)) in keep], dtype=np.int64)
        values = run.values[rows]
    if len(values) > depth:
        least = np.partition(values, len(values) - depth)[len(values) - depth]
        rows, values = rows[values >= least], values[values >= least]
    scored = [(float(v), run.item(int(r))) for r, v in zip(rows, values, strict=True)]
    if ties == "file":
        scored.sort(key=lambda pair: -pair[0])
    else:
        scored.sort(reverse=True)
    return [item for _, item in scored[:depth]]


def add_explanations(
    section: Section,
    items: Sequence[str],
    concepts: Sequence[str],
    explain: Sequence[Callable[[str], ItemExplanation]],
) -> None:
    """How every run fares on every item; `explain` has a function for each run."""
    at = {concept: j for j, concept in enumerate(concepts)}
    fitting = max(1, MOST_EXPLAINED // max(len(explain), 1))
    found = []
    for item in items[:fitting]:
        ones = [one(item) for one in explain]
        found.append(
            {
                "truth": [at[c] for c in ones[0].truth],
                "runs": [_explained(one, at) for one in ones],
            }
        )
    section.data["explanations"] = {
        "items": list(items[:fitting]),
        "concepts": list(concepts),
        "found": found,
    }
    if fitting < len(items):
        section.left_out.append(
            f"Labels are shown for the first {fitting} of {len(items)} items; "
            "cranfield label --explain ITEM shows any."
        )


def _explained(one: ItemExplanation, at: dict[str, int]) -> dict[str, Any]:
    concerned = [c for c in at if c in one.truth or c in one.predicted]
    sure = one.confidences
    return {
        "predicted": [at[c] for c in one.predicted],
        "confidences": None if sure is None else [[at[c], sure[c]] for c in concerned],
        "broken": [[at[v.concept], v.rule] for v in one.broken],
        "values": {name: number(value) for name, value in one.values.items()},
        "derivations": [
            {
                "measure": str(d.measure),
                "steps": [
                    [
                        at[s.label],
                        s.role,
                        [at[p] for p in s.partners],
                        s.cost,
                        s.agreement,
                        s.counts,
                    ]
                    for s in d.steps
                ],
                "arithmetic": d.arithmetic,
                "value": number(d.value),
            }
            for d in one.derivations
        ],
    }


def picture_sheet(sheet: ImageSheet, topics: dict[str, str]) -> dict[str, Any]:
    """A sheet of pictures to be put into the page; `topics` have the picture of an item."""
    inside = base64.b64encode(sheet.path.read_bytes()).decode()
    width, height = sheet.size
    return {
        "source": f"data:image/png;base64,{inside}",
        "width": sheet.width,
        "height": sheet.height,
        "columns": sheet.columns,
        "sheet": [width, height],
        "items": list(sheet.items),
        "topics": topics,
    }
