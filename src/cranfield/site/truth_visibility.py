"""The part of the truth that pages may show: none while it is sealed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cranfield._lazy import cached_property
from cranfield.data.labels import LabelMatrix
from cranfield.data.regions import Regions

if TYPE_CHECKING:
    from cranfield.data import Judgements


class VisibleTruth:
    """The truth of a task where it is released; without it every answer is empty."""

    def __init__(self, truth: Judgements | LabelMatrix | Regions | None) -> None:
        self._labels = truth if isinstance(truth, LabelMatrix) else None
        self._boxes = truth if isinstance(truth, Regions) else None
        self._judgements = None if isinstance(truth, LabelMatrix | Regions) else truth

    @cached_property
    def _grades(self) -> dict[str, dict[str, int]]:
        if self._judgements is None:
            return {}
        judgements = self._judgements.to_dict()
        return {t: {i: int(g) for i, g in grades.items()} for t, grades in judgements.items()}

    def grades(self, topic: str) -> dict[str, int]:
        """The grade of every judged item of a topic."""
        return self._grades.get(topic, {})

    def relevant(self, topic: str) -> list[str]:
        """The relevant items of a topic, the best grades first."""
        graded = [(-grade, item) for item, grade in self.grades(topic).items() if grade > 0]
        return [item for _, item in sorted(graded)]

    def of_topic(self, topic: str) -> dict[str, Any]:
        count = len(self.relevant(topic))
        return {"relevant": f"{count} of {len(self.grades(topic))} judged"} if count else {}

    @cached_property
    def _counts(self) -> dict[str, int]:
        if self._labels is None:
            return {}
        labels, _ = self._labels.columns(0, len(self._labels.concepts))
        sums = [] if labels is None else labels.sum(axis=0).tolist()
        return dict(zip(self._labels.concepts, map(int, sums), strict=False))

    def of_concept(self, concept: str) -> dict[str, Any]:
        if self._boxes is not None and concept in self._boxes.concepts:
            boxes = self._boxes.concept == self._boxes.concepts.index(concept)
            items = len(set(self._boxes.item[boxes].tolist()))
            return {"frequency": f"{int(boxes.sum())} boxes in {items} items"}
        count = self._counts.get(concept)
        if count is None or self._labels is None:
            return {}
        return {"frequency": f"{count} of {len(self._labels.items)}"}

    @cached_property
    def _places(self) -> dict[str, int]:
        items = () if self._labels is None else self._labels.items
        return {item: i for i, item in enumerate(items)}

    def of_item(self, item: str) -> dict[str, Any]:
        row = self._places.get(item)
        if row is None or self._labels is None:
            return {}
        labels, _ = self._labels.rows(row, row + 1)
        if labels is None:
            return {}
        concepts = [
            c for c, has in zip(self._labels.concepts, labels[0].tolist(), strict=True) if has
        ]
        return {"labels": concepts}
