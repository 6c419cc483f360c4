"""Judgements and runs: frozen columns of topics, items and numbers.

Items are kept as one run of bytes and the offsets in it, as Arrow keeps strings; the rows of
topic t are `offsets[t]` to `offsets[t+1]`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Self, TypeAlias, TypeVar

from cranfield import _core
from cranfield._lazy import cached_property, np
from cranfield.data import columns
from cranfield.errors import PROBLEMS_SHOWN, InputError, Problem, UsageError, first_duplicate

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

# Up to this many numbers, a Python loop is faster than loading numpy.
COMMON_SIZE = 1_000_000
# A grade encodes subtopics as a sum of powers of two, which a double holds exactly up to this.
MOST_SUBTOPICS = 53


class Column(Generic[T]):
    """A field that holds any buffer and shows it as a numpy array.

    The core fills and reads buffers; numpy is loaded only when the numbers are accessed.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._raw, self._array = f"_raw_{name}", f"_array_{name}"

    def __set__(self, instance: Any, buffer: Any) -> None:
        instance.__dict__[self._raw] = buffer

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        if instance is None:
            # What dataclasses understand as a field without a default.
            raise AttributeError
        namespace = instance.__dict__
        if self._array not in namespace:
            namespace[self._array] = np.asarray(namespace[self._raw])
        array: T = namespace[self._array]
        return array


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers for items of topics; the common shape of judgements and runs.

    `notes` say what was noticed when they were read or put together.
    """

    topics: tuple[str, ...]
    offsets: Column[NDArray[np.int64]] = Column()
    item_bytes: Column[NDArray[np.uint8]] = Column()
    item_offsets: Column[NDArray[np.int64]] = Column()
    values: Column[NDArray[np.float64]] = Column()
    notes: tuple[str, ...] = field(default=(), kw_only=True)

    @cached_property
    def largest_value(self) -> float:
        """The largest number of the table; numpy is not loaded for a table of common size."""
        if len(self) > COMMON_SIZE:
            return float(self.values.max())
        return max(memoryview(self.buffers[3]))

    @cached_property
    def smallest_value(self) -> float:
        """The smallest number of the table; numpy is not loaded for a table of common size."""
        if len(self) > COMMON_SIZE:
            return float(self.values.min())
        return min(memoryview(self.buffers[3]), default=math.inf)

    @property
    def buffers(self) -> tuple[Any, Any, Any, Any]:
        """The four columns as the core takes them."""
        names = ("offsets", "item_bytes", "item_offsets", "values")
        offsets, item_bytes, item_offsets, values = (self.__dict__[f"_raw_{n}"] for n in names)
        return offsets, item_bytes, item_offsets, values

    def __getstate__(self) -> dict[str, Any]:
        """For other processes: the columns as arrays, without what is made from them."""
        from dataclasses import fields

        state = {f.name: self.__dict__[f.name] for f in fields(self) if f.name in self.__dict__}
        raw = {n: b for n, b in self.__dict__.items() if n.startswith("_raw_")}
        return state | {name: np.asarray(buffer) for name, buffer in raw.items()}

    @classmethod
    def from_dict(cls, source: Mapping[str, Mapping[str, float]]) -> Self:
        """From {topic: {item: number}}."""
        topics, offsets, item_bytes, item_offsets, values, _ = columns.from_nested(
            _core.dict_columns, source, "<dict>", "number"
        )
        table = cls(tuple(topics), offsets, item_bytes, item_offsets, values)
        return table._checked("<dict>")

    @classmethod
    def from_rows(cls, topics: Any, items: Any, values: Any) -> Self:
        """From three columns of one length: lists, numpy arrays, Arrow arrays or series."""
        from concurrent.futures import ThreadPoolExecutor

        numbers = columns.numbers(values)
        # Both conversions leave Python's lock, so they run side by side, if there is a thread.
        with ThreadPoolExecutor(1) as pool:
            try:
                convert = pool.submit(columns.text, items).result
            except RuntimeError:
                convert = partial(columns.text, items)
            names, offsets, order = _core.group_rows(*columns.text(topics))
            item_bytes, item_offsets = convert()
        if not int(offsets[-1]) + 1 == len(item_offsets) == len(numbers) + 1:
            raise InputError.single("<columns>", "topics, items and values differ in length")
        if order is not None:
            item_bytes, item_offsets = _core.take_strings(item_bytes, item_offsets, order)
            numbers = numbers[order]
        table = cls(tuple(names), offsets, item_bytes, item_offsets, numbers)
        return table._checked("<columns>")

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        *,
        topics: Sequence[Any] | None = None,
        items: Sequence[Any] | None = None,
    ) -> Self:
        """From an array or tensor with a row for each topic and a column for each item.

        NaN and infinite cells stand for nothing: not judged, or not retrieved. Without `topics`
        and `items` these are called by their positions, from 0.

        >>> Run.from_matrix([[0.9, 0.1], [0.2, float("nan")]], items=["a", "b"]).to_dict()
        {'0': {'a': 0.9, 'b': 0.1}, '1': {'a': 0.2}}
        """
        table = np.asarray(columns.plain_array(matrix))
        if table.ndim != 2 or table.dtype.kind not in "biuf":
            raise InputError.single(
                "<matrix>", f"expected numbers in two dimensions, found {table.shape}"
            )
        rows, places = np.nonzero(np.isfinite(table))
        return cls.from_rows(
            _named(topics, rows, table.shape[0], "topics"),
            _named(items, places, table.shape[1], "items"),
            table[rows, places].astype(np.float64),
        )

    @classmethod
    def from_frame(cls, frame: Any) -> Self:
        """From a pandas or polars data frame or an Arrow table with one of the usual headers."""
        frame = columns.collect_frame(frame)
        names = columns.frame_columns(frame)
        picked = [columns.pick_header(names, role, cls._value_role()) for role in ("topic", "item")]
        value = columns.pick_header(names, cls._value_role(), cls._value_role())
        return cls.from_rows(*(columns.frame_column(frame, c) for c in (*picked, value)))

    @classmethod
    def _value_role(cls) -> str:
        return "score"

    def _checked(self, source_name: str) -> Self:
        # Infinite scores have their place in a ranking; NaN has none.
        finite = (
            ~np.isnan(self.values) if self._value_role() == "score" else np.isfinite(self.values)
        )
        if not finite.all():
            row = int(np.argmin(finite))
            raise InputError.single(
                source_name,
                f"{self._value_role()} {self.values[row]} of item {self.item(row)!r}, topic "
                f"{self.topic_of(row)!r}, is not a finite number",
            )
        return self

    def noted(self, notes: Sequence[str]) -> Self:
        """The same table with what its reader noticed about it."""
        return self._with(notes=(*self.notes, *notes)) if notes else self

    def known_unique(self) -> Self:
        """The same table, in which no item has been seen twice in a topic."""
        return self._with(unique=True) if isinstance(self, Run) else self

    def _with(self, **changes: Any) -> Self:
        """The same columns, which are not looked at, with other fields beside them."""
        changed = object.__new__(type(self))
        changed.__dict__.update(self.__dict__, **changes)
        return changed

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.buffers[3])

    def topic_of(self, row: int) -> str:
        """The topic of a row."""
        return self.topics[int(np.searchsorted(self.offsets, row, side="right")) - 1]

    def item(self, row: int) -> str:
        """The item of a row."""
        start, end = int(self.item_offsets[row]), int(self.item_offsets[row + 1])
        return self.item_bytes[start:end].tobytes().decode()

    def rows(self) -> Iterator[tuple[str, str, float]]:
        """Topic, item and number of every row."""
        for t, topic in enumerate(self.topics):
            for row in range(int(self.offsets[t]), int(self.offsets[t + 1])):
                yield topic, self.item(row), float(self.values[row])

    def of_rows(self, rows: NDArray[np.int64]) -> Self:
        """Some rows, in rising order; every topic stays, even one that has none of them left."""
        item_bytes, item_offsets = _core.take_strings(self.item_bytes, self.item_offsets, rows)
        return replace(
            self,
            offsets=np.searchsorted(rows, self.offsets).astype(np.int64),
            item_bytes=item_bytes,
            item_offsets=item_offsets,
            values=self.values[rows],
        )

    def __repr__(self) -> str:
        title = f" {self.name}" if isinstance(self, Run) else ""
        return f"<{type(self).__name__}{title}: {len(self)} rows, {len(self.topics)} topics>"

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{topic: {item: number}}."""
        return _core.columns_dict(list(self.topics), *self.buffers, False)


def _named(
    names: Sequence[Any] | None, places: NDArray[np.int64], count: int, noun: str
) -> NDArray[Any]:
    """The names at these places; the places themselves where there are no names."""
    if names is None:
        return places
    if len(names) < count:
        raise InputError.single("<matrix>", f"{len(names)} {noun} for {count} in the matrix")
    return np.array([str(name) for name in names], dtype=np.str_)[places]


@dataclass(frozen=True, eq=False, repr=False)
class Judgements(Table):
    """Which items are how relevant to which topic.

    `strata` has the stratum of each row where a pool was sampled in strata; a negative grade
    is then an item of the pool that was not in the sample. `subtopics` has the sum of 2^s over the
    subtopics s of its topic that each row is relevant to, where topics have subtopics.
    Where the truth is not sure, `chances` has for each row the probability of each of the rising
    `levels`, and the grade of the row is the most probable one.
    """

    strata: NDArray[np.int64] | None = field(default=None, kw_only=True)
    subtopics: NDArray[np.int64] | None = field(default=None, kw_only=True)
    levels: NDArray[np.float64] | None = field(default=None, kw_only=True)
    chances: NDArray[np.float64] | None = field(default=None, kw_only=True)

    @cached_property
    def largest_value(self) -> float:
        """The largest grade that an item can have."""
        if self.levels is not None:
            return float(self.levels[-1])
        return super().largest_value

    @cached_property
    def smallest_value(self) -> float:
        """The smallest grade that an item can have."""
        if self.levels is not None:
            return float(self.levels[0])
        return super().smallest_value

    @classmethod
    def from_subtopics(
        cls,
        judged: Mapping[str, Mapping[str, Mapping[str, float]]],
        *,
        source_name: str = "<judgements>",
    ) -> Self:
        """From {topic: {subtopic: {item: grade}}}; the grade of an item is its best one.

        >>> table = Judgements.from_subtopics({"t": {"1": {"a": 1}, "2": {"a": 2, "b": 0}}})
        >>> table.to_dict(), table.subtopics.tolist()
        ({'t': {'a': 2, 'b': 0}}, [3, 0])
        """
        grades: dict[str, dict[str, float]] = {}
        masks: list[int] = []
        for topic, subtopics in judged.items():
            if len(subtopics) > MOST_SUBTOPICS:
                raise InputError.single(
                    source_name,
                    f"topic {topic!r} has {len(subtopics)} subtopics; {MOST_SUBTOPICS} can be told "
                    "apart",
                )
            best: dict[str, float] = {}
            bits: dict[str, int] = {}
            for number, items in enumerate(subtopics.values()):
                for item, grade in items.items():
                    best[item] = max(best.get(item, grade), grade)
                    bits[item] = bits.get(item, 0) | (1 << number if grade > 0 else 0)
            grades[topic] = best
            masks += bits.values()
        return replace(cls.from_dict(grades), subtopics=np.array(masks, dtype=np.int64))

    @classmethod
    def _value_role(cls) -> str:
        return "grade"

    @cached_property
    def index(self) -> _core.JudgementIndex:
        """The judgements ready to be joined with runs; built once."""
        return _core.JudgementIndex(list(self.topics), *self.buffers)

    @classmethod
    def from_rows(cls, topics: Any, items: Any, values: Any) -> Self:
        """From three columns of one length; equal repetitions are dropped with a note."""
        table = super().from_rows(topics, items, values)
        repeats = table.index.repeats
        for first, second in repeats:
            if table.values[first] != table.values[second]:
                raise InputError.single(
                    "<columns>",
                    f"item {table.item(second)!r} is judged {table.values[first]:g} and "
                    f"{table.values[second]:g} for topic {table.topic_of(second)!r}; keep one",
                )
        return table._without(sorted({second for _, second in repeats})) if repeats else table

    def _without(self, rows: list[int]) -> Self:
        """The judgements without some rows that repeat others."""
        first = rows[0]
        note = (
            f"item {self.item(first)!r} is judged twice for topic {self.topic_of(first)!r} with "
            "the same grade; the repetition is ignored"
            + (f", and {len(rows) - 1} more like it" if len(rows) > 1 else "")
        )
        remaining_rows = np.delete(np.arange(len(self)), rows)
        item_bytes, item_offsets = _core.take_strings(
            self.item_bytes, self.item_offsets, remaining_rows
        )
        offsets = np.searchsorted(remaining_rows, self.offsets)
        return replace(
            self,
            offsets=offsets,
            item_bytes=item_bytes,
            item_offsets=item_offsets,
            values=self.values[remaining_rows],
            chances=None if self.chances is None else self.chances[remaining_rows],
            notes=(*self.notes, note),
        )

    def of_topics(self, topics: Iterable[str]) -> Judgements:
        """The judgements of some topics, in the order they have here."""
        selection = set(topics)
        topic_positions = [i for i, topic in enumerate(self.topics) if topic in selection]
        sizes = np.diff(self.offsets)
        rows = np.flatnonzero(np.repeat(np.isin(np.arange(len(sizes)), topic_positions), sizes))
        items, item_offsets = _core.take_strings(self.item_bytes, self.item_offsets, rows)
        return Judgements(
            tuple(self.topics[i] for i in topic_positions),
            np.concatenate([[0], np.cumsum(sizes[topic_positions])]).astype(np.int64),
            items,
            item_offsets,
            self.values[rows],
            strata=None if self.strata is None else self.strata[rows],
            subtopics=None if self.subtopics is None else self.subtopics[rows],
            levels=self.levels,
            chances=None if self.chances is None else self.chances[rows],
        )

    def of_rows(self, rows: NDArray[np.int64]) -> Self:
        """Some rows, in rising order; every topic stays, even one that has none of them left."""
        return replace(
            super().of_rows(rows),
            strata=None if self.strata is None else self.strata[rows],
            subtopics=None if self.subtopics is None else self.subtopics[rows],
            chances=None if self.chances is None else self.chances[rows],
        )

    @cached_property
    def with_subtopics(self) -> Judgements:
        """The same judgements with what is known of subtopics as grades, as their kernels ask."""
        if self.subtopics is None:
            return self
        return replace(self, values=self.subtopics.astype(np.float64), subtopics=None)

    @cached_property
    def with_strata(self) -> Judgements:
        """The same judgements, each grade lowered by 2^-20 for each stratum: what the kernel of
        stratified samples reads. Grades are whole numbers there."""
        if self.strata is None:
            return self
        return replace(self, values=self.values - self.strata * 2.0**-20, strata=None)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{topic: {item: grade}}, with whole grades as int."""
        return _core.columns_dict(list(self.topics), *self.buffers, True)


@dataclass(frozen=True, eq=False, repr=False)
class Run(Table):
    """What a system retrieved for each topic, with scores that give the order.

    `unique` says that no item is known to occur twice in a topic; it is checked otherwise.
    """

    name: str = field(default="run", kw_only=True)
    tag: str = field(default="", kw_only=True)
    unique: bool = field(default=False, kw_only=True)

    @classmethod
    def from_search(
        cls,
        scores: Any,
        indices: Any,
        *,
        topics: Sequence[Any] | None = None,
        items: Sequence[Any] | None = None,
    ) -> Self:
        """From what faiss answers: the best of each query first, and their row numbers.

        `scores` may be similarities or distances: each row falls, or each row rises. Equal
        scores are ties as in any run. Numbers below 0 stand for nothing. `items` are the
        ids of the rows of the index, `topics` those of the queries; else positions.

        >>> Run.from_search([[0.1, 0.4]], [[7, 3]]).to_dict()
        {'0': {'7': -0.1, '3': -0.4}}
        """
        numbers = np.asarray(columns.plain_array(scores), dtype=np.float64)
        places = np.asarray(columns.plain_array(indices))
        if numbers.ndim != 2 or places.shape != numbers.shape or places.dtype.kind not in "iu":
            raise InputError.single(
                "<search>",
                f"expected scores and row numbers of one shape, found {numbers.shape} and "
                f"{places.shape} of {places.dtype}",
            )
        present = places >= 0
        steps = np.diff(np.where(present, numbers, np.nan), axis=1)
        steps = steps[~np.isnan(steps)]
        if (steps > 0).any() and (steps < 0).any():
            raise InputError.single(
                "<search>", "some rows of scores rise and others fall: neither scores nor distances"
            )
        values = -numbers if (steps > 0).any() else numbers
        rows, _ = np.nonzero(present)
        chosen = places[present].astype(np.int64)
        return cls.from_rows(
            _named(topics, rows, len(numbers), "topics"),
            _named(items, chosen, int(chosen.max(initial=-1)) + 1, "items"),
            values[present],
        )

    @classmethod
    def from_frame(cls, frame: Any) -> Self:
        """From a data frame; without a score its column `rank` gives the order."""
        frame = columns.collect_frame(frame)
        names = columns.frame_columns(frame)
        by_lower_name = {name.lower(): name for name in names}
        if "rank" not in by_lower_name or any(
            name in by_lower_name for name in columns.HEADERS["score"]
        ):
            return super().from_frame(frame)
        topic, item = (columns.pick_header(names, role, "rank") for role in ("topic", "item"))
        ranks = columns.numbers(columns.frame_column(frame, by_lower_name["rank"]))
        run = cls.from_rows(
            columns.frame_column(frame, topic), columns.frame_column(frame, item), -ranks
        )
        return run.noted(["has no scores; its column rank gives the order"])

    def ranking(self, topic: str) -> list[str]:
        """The items of a topic, best first; equal scores by item id, the larger one first."""
        t = self.topics.index(topic)
        rows = range(int(self.offsets[t]), int(self.offsets[t + 1]))
        scored = sorted(((float(self.values[r]), self.item(r)) for r in rows), reverse=True)
        items = [item for _, item in scored]
        twice = first_duplicate(items)
        if twice is not None:
            raise InputError.single(
                f"<{self.name}>", f"item {twice!r} is listed twice for topic {topic!r}; keep one"
            )
        return items

    def without_self(self) -> Run:
        """The items but for those that have the id of their topic; topics all stay.

        >>> Run.from_dict({"q1": {"q1": 2, "a": 1}}).without_self().to_dict()
        {'q1': {'a': 1.0}}
        """
        names = [topic.encode() for topic in self.topics]
        counts = np.diff(self.offsets)
        starts, lengths = self.item_offsets[:-1], np.diff(self.item_offsets)
        same = lengths == np.repeat([len(name) for name in names], counts)
        # Ids differ most in their last byte; what is left is compared as a whole.
        same[same] = (
            self.item_bytes[(starts + lengths - 1)[same]]
            == np.repeat([name[-1] if name else 0 for name in names], counts)[same]
        )
        topic_of_row = np.repeat(np.arange(len(names)), counts)
        for row in np.flatnonzero(same).tolist():
            start, stop = self.item_offsets[row], self.item_offsets[row + 1]
            same[row] = self.item_bytes[start:stop].tobytes() == names[topic_of_row[row]]
        return self.of_rows(np.flatnonzero(~same).astype(np.int64))

    def above(self, min_score: float | str) -> Run:
        """The items whose score is at least `min_score`; topics of which none is left stay.

        A number is an absolute score; "80%" is relative: that far up from the lowest to the
        highest score of each topic.
        """
        bound, relative = parse_min_score(min_score)
        thresholds = np.full(len(self.topics), bound)
        if relative:
            for t, (first, last) in enumerate(pairwise(self.offsets.tolist())):
                scores = self.values[first:last]
                low, high = (scores.min(), scores.max()) if last > first else (0.0, 0.0)
                threshold = low + bound * (high - low)
                # Rounding must not lose the best item at 100 %.
                thresholds[t] = min(threshold, high) if bound <= 1 else threshold
        rows = np.flatnonzero(self.values >= np.repeat(thresholds, np.diff(self.offsets)))
        return self.of_rows(rows.astype(np.int64))

    def named(self, name: str) -> Run:
        """The same run under another name."""
        return self._with(name=name)


def parse_min_score(min_score: float | str) -> tuple[float, bool]:
    """A score, or with True a share of the range of scores that was written as a percentage.

    >>> parse_min_score("80%")
    (0.8, True)
    """
    text = str(min_score).strip()
    relative = text.endswith("%")
    try:
        bound = float(text.removesuffix("%")) / (100 if relative else 1)
    except ValueError:
        bound = math.nan
    if math.isnan(bound):
        raise UsageError(f"min_score={min_score!r}: expected a number, or a share as '80%'")
    return bound, relative


def coded_items(*tables: Table) -> tuple[list[str], NDArray[np.int64]]:
    """The items of some tables, each once, and for each row of all tables which one it has.

    >>> a = Judgements.from_dict({"t": {"x": 1, "y": 0}, "u": {"y": 1}})
    >>> coded_items(a, Run.from_dict({"t": {"y": 2.0, "z": 1.0}}))
    (['x', 'y', 'z'], array([0, 1, 1, 1, 2]))
    """
    text = np.concatenate([table.item_bytes for table in tables])
    ends = np.cumsum([0, *(len(table.item_bytes) for table in tables[:-1])])
    starts = [t.item_offsets[:-1] + end for t, end in zip(tables, ends, strict=True)]
    offsets = np.concatenate([*starts, [len(text)]]).astype(np.int64)
    names, groups, order = _core.group_rows(text, offsets)
    grouped = np.repeat(np.arange(len(names)), np.diff(groups))
    if order is None:
        return names, grouped
    codes = np.empty_like(grouped)
    codes[order] = grouped
    return names, codes


Floats: TypeAlias = "NDArray[np.float64]"
# Probabilities of one item may miss 1 by so much, for those that were rounded to be written.
SLACK = 1e-3
MOST_LEVELS = 250


class ChanceRow(NamedTuple):
    """The probability of one grade of one item, and the line where it was read."""

    topic: str
    item: str
    grade: float
    probability: float
    line: int = 0


def soft_judgements(
    rows: Iterable[ChanceRow],
    source_name: str,
    question_kind: Literal["topic", "concept", "category"] = "topic",
    categories: Sequence[str] = (),
) -> Judgements:
    """Judgements with probabilities, or an InputError that names the items that have none.

    `question_kind` names the unit in messages; `categories` are the names of grades, if any.
    """
    all_rows = list(rows)

    def unit(topic: str, item: str) -> str:
        return f"item {item!r}" + (
            "" if question_kind == "category" else f" for {question_kind} {topic!r}"
        )

    levels = sorted({row.grade for row in all_rows})
    if len(levels) > MOST_LEVELS:
        raise InputError.single(
            source_name, f"has {len(levels)} grades; at most {MOST_LEVELS} can be"
        )
    at = {grade: i for i, grade in enumerate(levels)}
    chances_by_unit: dict[tuple[str, str], list[float]] = {}
    lines: dict[tuple[str, str], int] = {}
    problems: list[Problem] = []
    for row in all_rows:
        key = (row.topic, row.item)
        chances = chances_by_unit.setdefault(key, [0.0] * len(levels))
        lines.setdefault(key, row.line)
        answer = f"category {categories[int(row.grade)]!r}" if categories else ""
        answer = answer or f"{'grade' if question_kind == 'topic' else 'value'} {row.grade:g}"
        fault = _chance_fault(row, chances[at[row.grade]], answer, unit(row.topic, row.item))
        if fault:
            problems.append(Problem(row.line, fault))
        chances[at[row.grade]] = row.probability
    for key, chances in chances_by_unit.items():
        total = sum(chances)
        if not problems and abs(total - 1.0) > SLACK:
            problems.append(
                Problem(
                    lines[key],
                    f"the probabilities of {unit(*key)} add up to {total:.6g}, not to 1",
                )
            )
    if problems:
        raise InputError(source_name, problems[:PROBLEMS_SHOWN], len(problems))
    if not chances_by_unit:
        raise InputError.single(source_name, "is empty: no probability of any grade")
    return _table(chances_by_unit, np.array(levels, dtype=np.float64))


def _chance_fault(row: ChanceRow, before: float, answer: str, unit: str) -> str:
    if not 0.0 <= row.probability <= 1.0:
        return f"probability {row.probability:g} of {unit} is not between 0 and 1"
    if row.grade < 0:
        return f"{answer} of item {row.item!r} is negative: {answer.split()[0]}s start at 0"
    return f"{answer} of {unit} stands twice" if before else ""


def _table(chances_by_unit: Mapping[tuple[str, str], list[float]], levels: Floats) -> Judgements:
    order = {
        topic: i for i, topic in enumerate(dict.fromkeys(topic for topic, _ in chances_by_unit))
    }
    keys = sorted(chances_by_unit, key=lambda key: order[key[0]])
    chances = np.array([chances_by_unit[key] for key in keys], dtype=np.float64)
    chances /= chances.sum(axis=1, keepdims=True)
    modal_grades = levels[chances.argmax(axis=1)]
    table = Judgements.from_rows([k[0] for k in keys], [k[1] for k in keys], modal_grades)
    return replace(table, levels=levels, chances=chances)


def nested_rows(source: Any) -> Iterable[ChanceRow]:
    """The rows of {topic: {item: {grade: probability}}}."""
    for topic, items in source.items():
        for item, chances in items.items():
            for grade, probability in chances.items():
                yield ChanceRow(str(topic), str(item), float(grade), float(probability))


def is_nested_chances(source: Any) -> bool:
    """Whether this is {topic: {item: {grade: probability}}}."""
    inner = next(iter(source.values()), None) if isinstance(source, Mapping) else None
    deepest = next(iter(inner.values()), None) if isinstance(inner, Mapping) else None
    return isinstance(deepest, Mapping)


def cumulative_chances(chances: Floats) -> Floats:
    """The probability of at most each level; the last one is 1."""
    upto = np.cumsum(chances, axis=1)
    # A level that is sure is so to the last bit, whatever the sum of the others is.
    upto = np.where(np.cumsum(chances[:, ::-1], axis=1)[:, ::-1] - chances <= 0.0, 1.0, upto)
    upto[:, -1] = 1.0
    return np.ascontiguousarray(np.minimum(upto, 1.0))
