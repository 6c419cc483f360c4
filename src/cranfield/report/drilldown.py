"""Behind the numbers of the report: rankings of topics, labels of items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield._json import number
from cranfield.data import Judgements, Run
from cranfield.data.regions import Regions
from cranfield.evaluation.explanations import ItemExplanation
from cranfield.evaluation.regions import KINDS, KINDS_OF_ERRORS
from cranfield.report.sections import Section

if TYPE_CHECKING:
    from cranfield.report.cases import RegionCase

DEPTH = 20
LEAST_DEPTH = 5
MOST_RANKED = 40_000
MOST_EXPLAINED = 4_000
# Items whose boxes are drawn, and boxes of each.
MOST_DRAWN, MOST_BOXES = 48, 100
# Pictures whose size nothing tells.
_SIDE_OF_SHARES = 400.0


class Names:
    """Each text once; others refer to it by its position."""

    def __init__(self) -> None:
        self.position: dict[str, int] = {}

    def __call__(self, name: str) -> int:
        return self.position.setdefault(name, len(self.position))


class Rankings:
    """The first items of every run for every topic, with their grades.

    Each row is [item, grade], the item by position and the grade null where it is not judged.
    """

    def __init__(
        self,
        judgements: Judgements,
        runs: int,
        *,
        ties: str = "id",
        judged_only: bool = False,
        max_items: int | None = None,
    ) -> None:
        topics = list(judgements.topics)
        depth = min(max(MOST_RANKED // max(runs * len(topics), 1), LEAST_DEPTH), DEPTH)
        self.depth = min(depth, max_items or depth)
        fitting = max(1, MOST_RANKED // (self.depth * max(runs, 1)))
        self.topics, self._all, self._ties = topics[:fitting], len(topics), ties
        self._judged_only, self._names = judged_only, Names()
        self._grades = judgements.of_topics(self.topics).to_dict()
        self._lists: list[dict[str, Any]] = [
            {"relevant": sum(g > 0 for g in self._grades.get(t, {}).values()), "runs": []}
            for t in self.topics
        ]

    def add(self, run: Run) -> None:
        """Take the first items of one more run."""
        position = {topic: i for i, topic in enumerate(run.topics)}
        for topic, entry in zip(self.topics, self._lists, strict=True):
            judged = self._grades.get(topic, {})
            keep = judged if self._judged_only else None
            first = (
                _top_items(run, position[topic], self.depth, self._ties, keep)
                if topic in position
                else []
            )
            entry["runs"].append([[self._names(item), judged.get(item)] for item in first])

    def add_to(self, section: Section) -> None:
        caption = f"The first {self.depth} items of each run"
        section.data["rankings"] = {
            "depth": self.depth,
            "topics": self._lists,
            "items": list(self._names.position),
            "how": caption + ("; tied items in one of their orders" * (self._ties == "average")),
        }
        if len(self.topics) < self._all:
            section.left_out.append(
                f"Rankings are shown for the first {len(self.topics)} of {self._all} topics."
            )


def _top_items(run: Run, topic: int, depth: int, ties: str, keep: Any) -> list[str]:
    """The first items of a topic, without sorting what lies far below them."""
    start, end = int(run.offsets[topic]), int(run.offsets[topic + 1])
    values = run.values[start:end]
    rows = np.arange(start, end)
    if keep is not None:
        rows = np.array([r for r in rows if run.item(int(r)) in keep], dtype=np.int64)
        values = run.values[rows]
    if len(values) > depth:
        cutoff = np.partition(values, len(values) - depth)[len(values) - depth]
        rows, values = rows[values >= cutoff], values[values >= cutoff]
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
    explained: Sequence[Sequence[ItemExplanation]],
) -> None:
    """How every run fares on every item; `explained` has a row for each run."""
    position = {concept: j for j, concept in enumerate(concepts)}
    section.data["explanations"] = {
        "items": list(items),
        "concepts": list(concepts),
        "found": [
            {
                "truth": [position[c] for c in explanations[0].truth],
                "runs": [_explanation_row(explanation, position) for explanation in explanations],
            }
            for explanations in zip(*explained, strict=True)
        ],
    }


def add_boxes(section: Section, case: RegionCase) -> None:
    """What each box is, on the items with the most errors of all runs together."""
    truth = case.truth
    if truth is None:
        return
    wrong = np.zeros(len(truth.items))
    for boxes, kinds in case.placed:
        bad = np.isin(kinds.kind, [KINDS.index(kind) for kind in KINDS_OF_ERRORS])
        wrong += np.bincount(boxes.item[bad], minlength=len(wrong))
        wrong += np.bincount(truth.item[kinds.missed], minlength=len(wrong))
    shown = sorted(np.argsort(-wrong, kind="stable")[:MOST_DRAWN].tolist())
    names = {item: alias for alias, item in truth.item_aliases.items() if "." in alias}
    section.data["drawn"] = {
        "least": case.least,
        "kinds": list(KINDS),
        "concepts": list(truth.concepts),
        "items": [_drawn_item(case, truth, at, names.get(truth.items[at], "")) for at in shown],
    }
    if len(shown) < len(truth.items):
        section.left_out.append(
            f"Boxes are drawn for the {len(shown)} of {len(truth.items):,} items with the most "
            "errors."
        )


def _drawn_item(case: RegionCase, truth: Regions, at: int, file: str) -> dict[str, Any]:
    rows = np.flatnonzero(truth.item == at)
    scale = np.ones(4)
    size = None if truth.picture_sizes is None else truth.picture_sizes[at]
    if truth.relative:
        known = size is not None and not np.isnan(size).any()
        scale = np.tile(size, 2) if size is not None and known else np.full(4, _SIDE_OF_SHARES)
        size = scale[:2]
    runs, ends = [], [(truth.boxes[rows, :2] + truth.boxes[rows, 2:]) * scale[:2]]
    for boxes, kinds in case.placed:
        here = np.flatnonzero((boxes.item == at) & (kinds.kind >= 0))
        here = here[np.argsort(-boxes.confidences[here], kind="stable")][:MOST_BOXES]
        ends.append((boxes.boxes[here, :2] + boxes.boxes[here, 2:]) * scale[:2])
        runs.append(
            {
                "boxes": [
                    [
                        int(boxes.concept[k]),
                        *(round(float(v), 2) for v in boxes.boxes[k] * scale),
                        number(float(boxes.confidences[k])),
                        int(kinds.kind[k]),
                    ]
                    for k in here.tolist()
                ],
                "missed": np.flatnonzero(kinds.missed[rows]).tolist(),
            }
        )
    corners = np.concatenate(ends)
    if size is None or np.isnan(size).any():
        size = corners.max(axis=0) * 1.02 if len(corners) else np.full(2, _SIDE_OF_SHARES)
    return {
        "item": truth.items[at],
        "file": file,
        "size": [round(float(v), 2) for v in size],
        "truth": [
            [
                int(truth.concept[k]),
                *(round(float(v), 2) for v in truth.boxes[k] * scale),
                int(truth.flags[k]),
            ]
            for k in rows.tolist()[:MOST_BOXES]
        ],
        "runs": runs,
    }


def _explanation_row(explanation: ItemExplanation, position: dict[str, int]) -> dict[str, Any]:
    concerned = [c for c in position if c in explanation.truth or c in explanation.predicted]
    confidences = explanation.confidences
    return {
        "predicted": [position[c] for c in explanation.predicted],
        "confidences": None
        if confidences is None
        else [[position[c], confidences[c]] for c in concerned],
        "broken": [[position[v.concept], v.rule] for v in explanation.broken],
        "values": {name: number(value) for name, value in explanation.values.items()},
        "derivations": [
            {
                "measure": str(d.measure),
                "steps": [
                    [
                        position[s.label],
                        s.role,
                        [position[p] for p in s.partners],
                        s.cost,
                        s.agreement,
                        s.counts,
                    ]
                    for s in d.steps
                ],
                "arithmetic": d.arithmetic,
                "value": number(d.value),
            }
            for d in explanation.derivations
        ],
    }
