"""Judgements and runs: frozen columns of topics, items and numbers.

Items are kept as one run of bytes and the offsets in it, as Arrow keeps strings; the rows of
topic t are `offsets[t]` to `offsets[t+1]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield.data import columns
from cranfield.errors import InputError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers for items of topics; the common shape of judgements and runs."""

    topics: tuple[str, ...]
    offsets: NDArray[np.int64]
    item_bytes: NDArray[np.uint8]
    item_offsets: NDArray[np.int64]
    values: Floats

    @classmethod
    def from_dict(cls, source: Mapping[str, Mapping[str, float]]) -> Self:
        """From {topic: {item: number}}."""
        plain = {t: i if type(i) is dict else dict(i) for t, i in source.items()}
        try:
            topics, offsets, item_bytes, item_offsets, values, _ = _core.dict_columns(plain)
        except TypeError as error:
            raise InputError.single(
                "<dict>", f"expected {{topic: {{item: number}}}} with text ids ({error})"
            ) from None
        table = cls(tuple(topics), offsets, item_bytes, item_offsets, values)
        return table._checked("<dict>")

    @classmethod
    def from_rows(cls, topics: Any, items: Any, values: Any) -> Self:
        """From three columns of one length: lists, numpy arrays, Arrow arrays or series."""
        topic_bytes, topic_offsets = columns.text(topics)
        item_bytes, item_offsets = columns.text(items)
        numbers = columns.numbers(values)
        if not len(topic_offsets) == len(item_offsets) == len(numbers) + 1:
            raise InputError.single("<columns>", "topics, items and values differ in length")
        names, offsets, order = _core.group_rows(topic_bytes, topic_offsets)
        if order is not None:
            item_bytes, item_offsets = _core.take_strings(item_bytes, item_offsets, order)
            numbers = numbers[order]
        table = cls(tuple(names), offsets, item_bytes, item_offsets, numbers)
        return table._checked("<columns>")

    @classmethod
    def from_frame(cls, frame: Any) -> Self:
        """From a pandas or polars data frame or an Arrow table with one of the usual headers."""
        names = columns.frame_columns(frame)
        picked = [columns.pick(names, role, cls._value_role()) for role in ("topic", "item")]
        value = columns.pick(names, cls._value_role(), cls._value_role())
        return cls.from_rows(*(columns.frame_column(frame, c) for c in (*picked, value)))

    @classmethod
    def _value_role(cls) -> str:
        return "score"

    def _checked(self, where: str) -> Self:
        bad = np.flatnonzero(~np.isfinite(self.values))
        if bad.size:
            row = int(bad[0])
            topic = self.topics[int(np.searchsorted(self.offsets, row, side="right")) - 1]
            raise InputError.single(
                where,
                f"{self._value_role()} {self.values[row]} of item {self.item(row)!r}, topic "
                f"{topic!r}, is not a finite number",
            )
        return self

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.values)

    def item(self, row: int) -> str:
        start, end = int(self.item_offsets[row]), int(self.item_offsets[row + 1])
        return self.item_bytes[start:end].tobytes().decode()

    def rows(self) -> Iterator[tuple[str, str, float]]:
        """Topic, item and number of every row."""
        for t, topic in enumerate(self.topics):
            for row in range(int(self.offsets[t]), int(self.offsets[t + 1])):
                yield topic, self.item(row), float(self.values[row])

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{topic: {item: number}}."""
        result: dict[str, dict[str, float]] = {topic: {} for topic in self.topics}
        for topic, item, value in self.rows():
            result[topic][item] = value
        return result


@dataclass(frozen=True, eq=False)
class Judgements(Table):
    """Which items are how relevant to which topic.

    `strata` has the stratum of each row where a pool was sampled in strata; a negative grade
    is then an item of the pool that was not in the sample.
    """

    strata: NDArray[np.int64] | None = field(default=None, kw_only=True)

    @classmethod
    def _value_role(cls) -> str:
        return "grade"

    @cached_property
    def index(self) -> _core.JudgementIndex:
        """The judgements ready to be joined with runs; built once."""
        return _core.JudgementIndex(
            list(self.topics), self.offsets, self.item_bytes, self.item_offsets, self.values
        )

    def of_topics(self, topics: Iterable[str]) -> Judgements:
        """The judgements of some topics, in the order they have here."""
        wanted = set(topics)
        kept = [i for i, topic in enumerate(self.topics) if topic in wanted]
        sizes = np.diff(self.offsets)
        rows = np.flatnonzero(np.repeat(np.isin(np.arange(len(sizes)), kept), sizes))
        items, item_offsets = _core.take_strings(self.item_bytes, self.item_offsets, rows)
        return Judgements(
            tuple(self.topics[i] for i in kept),
            np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64),
            items,
            item_offsets,
            self.values[rows],
            strata=None if self.strata is None else self.strata[rows],
        )

    @cached_property
    def with_strata(self) -> Judgements:
        """The same judgements, each grade lowered by 2^-20 for each stratum: what the kernel of
        stratified samples reads. Grades are whole numbers there."""
        if self.strata is None:
            return self
        return replace(self, values=self.values - self.strata * 2.0**-20, strata=None)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{topic: {item: grade}}, with whole grades as int."""
        return {
            topic: {i: int(g) if float(g).is_integer() else g for i, g in items.items()}
            for topic, items in super().to_dict().items()
        }


@dataclass(frozen=True, eq=False)
class Run(Table):
    """What a system retrieved for each topic, with scores that give the order.

    `unique` says that no item is known to occur twice in a topic; it is checked otherwise.
    """

    name: str = field(default="run", kw_only=True)
    tag: str = field(default="", kw_only=True)
    unique: bool = field(default=False, kw_only=True)

    def ranking(self, topic: str) -> list[str]:
        """The items of a topic, best first; equal scores by item id, the larger one first."""
        t = self.topics.index(topic)
        rows = range(int(self.offsets[t]), int(self.offsets[t + 1]))
        scored = sorted(((float(self.values[r]), self.item(r)) for r in rows), reverse=True)
        items = [item for _, item in scored]
        if len(set(items)) < len(items):
            twice = next(item for item in items if items.count(item) > 1)
            raise InputError.single(
                f"<{self.name}>", f"item {twice!r} is listed twice for topic {topic!r}; keep one"
            )
        return items

    def named(self, name: str) -> Run:
        """The same run under another name."""
        return replace(self, name=name)
