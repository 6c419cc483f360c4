"""What aggregation answers with: one truth, how sure it is, and who made it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement.choices import Method, Ties
from cranfield.agreement.estimate import Confusions
from cranfield.answers import Answer
from cranfield.data.judgement_log import Floats, Kind, levels_of
from cranfield.errors import UsageError
from cranfield.io.label_csv import UNDECIDED


@dataclass(frozen=True, repr=False, eq=False)
class Aggregated(Answer):
    """One truth out of a log: for every judged unit the probability of each answer.

    `item`, `concept` and `winner` are codes of `items`, `concepts` and `values`. `winner` is the
    answer taken for true, -1 where a tie stays undecided; `numbers` stands in its place for
    means and medians of ratings. `reliability` is, for each annotator, the expected share of
    judgements that equal the truth.
    """

    command: ClassVar[str] = "aggregate"
    method: Method
    kind: Kind
    log: Mapping[str, int]
    items: tuple[str, ...]
    concepts: tuple[str, ...]
    values: tuple[str, ...]
    allowed: tuple[tuple[int, ...], ...] | None
    item: NDArray[np.int64]
    concept: NDArray[np.int64]
    probability: Floats
    winner: NDArray[np.int64]
    numbers: Floats | None
    ties: int
    tied: Ties
    annotators: tuple[str, ...]
    judgements: NDArray[np.int64]
    reliability: Floats
    tables: tuple[Confusions, ...] = ()

    @property
    def winning_probability(self) -> Floats:
        """The probability of each unit's answer; of one of the leaders where it is undecided."""
        if self.numbers is not None:
            return np.full(self.winner.size, np.nan)
        rows = np.arange(self.winner.size)
        found = self.probability[rows, np.maximum(self.winner, 0)]
        return np.where(self.winner >= 0, found, self.probability.max(axis=1, initial=0.0))

    def answer(self, unit: int) -> str | float:
        """What is taken for true on a unit: an answer, a number, or 'undecided'."""
        if self.numbers is not None:
            return float(self.numbers[unit])
        code = int(self.winner[unit])
        return self.values[code] if code >= 0 else UNDECIDED

    def rows(self) -> Iterator[dict[str, Any]]:
        """The truth unit by unit; ties that are omitted are left out."""
        shares = self.winning_probability.tolist()
        asks = self.kind == "concept"
        for i, (item, concept) in enumerate(
            zip(self.item.tolist(), self.concept.tolist(), strict=True)
        ):
            if self.tied == "omit" and self.winner[i] < 0 and self.numbers is None:
                continue
            row: dict[str, Any] = {"item": self.items[item]}
            if asks:
                row["concept"] = self.concepts[concept]
            row["value" if asks else "category"] = self.answer(i)
            yield {**row, "probability": shares[i]}

    def soft_rows(self) -> Iterator[dict[str, Any]]:
        """A row for every answer that a unit allows, with its probability."""
        every = tuple(range(len(self.values)))
        asks = self.kind == "concept"
        for i, share in enumerate(self.probability.tolist()):
            row: dict[str, Any] = {"item": self.items[self.item[i]]}
            if asks:
                row["concept"] = self.concepts[self.concept[i]]
            for v in every if self.allowed is None else self.allowed[self.concept[i]]:
                yield {
                    **row,
                    "value" if asks else "category": self.values[v],
                    "probability": share[v],
                }

    def confidences(self) -> Iterator[dict[str, Any]]:
        """item, concept and the probability that the concept is present."""
        levels = levels_of(self.values)
        if self.kind != "concept" or levels is None:
            raise UsageError("confidences need a log with annotator,item,concept,value")
        present = self.probability[:, levels > 0].sum(axis=1).tolist()
        for i, (item, concept) in enumerate(
            zip(self.item.tolist(), self.concept.tolist(), strict=True)
        ):
            yield {
                "item": self.items[item],
                "concept": self.concepts[concept],
                "value": present[i],
            }

    def people(self) -> list[dict[str, Any]]:
        """Every annotator who judged, with the number of judgements and the reliability."""
        return [
            {
                "annotator": name,
                "judgements": int(self.judgements[a]),
                "reliability": float(self.reliability[a]),
            }
            for a, name in enumerate(self.annotators)
            if self.judgements[a]
        ]

    def confusion(self) -> Iterator[tuple[str, str, str, str, float]]:
        """Rows (annotator, concept, true answer, answer, probability), of answers given."""
        if not self.tables:
            raise UsageError(f"the method {self.method!r} estimates no confusions")
        for table in self.tables:
            for annotator, answer, row in zip(
                table.annotator.tolist(),
                table.answer.tolist(),
                table.probability.tolist(),
                strict=True,
            ):
                for true, p in zip(table.answers, row, strict=True):
                    who = self.annotators[annotator]
                    yield who, table.concept, true, table.answers[answer], p

    def payload(self, **_: Any) -> dict[str, Any]:
        return {
            "method": self.method,
            "log": dict(self.log),
            "ties": self.ties,
            "truth": list(self.rows()),
            "annotators": self.people(),
        }

    def headline(self) -> str:
        return (
            f"{self.item.size} units of {self.log['items']} items by {self.method} out of "
            f"{self.log['judgements']} judgements, {self.ties} tied"
        )
