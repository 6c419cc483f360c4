"""Measures as a plan of kernel calls, and what its columns mean."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from cranfield import _core
from cranfield._lazy import np
from cranfield._system import usable_cpus
from cranfield.data import Judgements, Run
from cranfield.data.columns import from_nested
from cranfield.errors import InputError, NeedsError, UsageError
from cranfield.io import has_another_form, is_tabular, read_run, trec
from cranfield.io.coerce import coerce_run, is_file
from cranfield.io.files import Input, can_be_read_again, describe
from cranfield.io.sniff import with_detected_format
from cranfield.measures import Measure
from cranfield.measures.ranked.incomplete import FAMILY as INCOMPLETE
from cranfield.measures.ranked.kernel_calls import (
    FOUND,
    MISSED,
    RELEVANT,
    SEEN,
    Context,
    KernelCall,
)
from cranfield.notes import some_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The number of items that a ranking or the judgements of its topic know.
KNOWN_ITEMS = KernelCall("counts", (-math.inf, math.inf, -1.0, *(SEEN + RELEVANT - FOUND).weights))
# The number of items of a ranking that are judged, whatever their grade.
JUDGED_ITEMS = KernelCall("counts", (-math.inf, math.inf, -1.0, *FOUND.weights))
# Pools are seldom deeper: below, most items of any run are unjudged.
DEEPEST_POOL = 100
USUAL_DEPTH = 10


class Unjudged(NamedTuple):
    """The columns that count the unjudged items among the first `depth`, and all of these."""

    depth: int
    unjudged: int
    seen: int


class RunValues(NamedTuple):
    """The values of one run: a row per judged topic, a column per call of a kernel.

    `buffer` holds the values, `present` a byte per topic that is 1 where the run has it. `tag` is
    the name that the lines of a file give the run, where they were read.
    """

    name: str
    buffer: Any
    present: bytes
    unjudged: tuple[str, ...]
    notes: tuple[str, ...] = ()
    tag: str = ""

    @property
    def values(self) -> NDArray[np.float64]:
        return np.asarray(self.buffer)


class MissingItemsPolicy(NamedTuple):
    """Where the relevant items of a grade were put that a run does not retrieve, and for whom.

    `absent` and `relevant` are the columns that count them, and all of them.
    """

    missing: str
    measures: tuple[Measure, ...]
    absent: int
    relevant: int


class KernelPlan(NamedTuple):
    """Measures as calls of kernels, and which columns of their values belong to which measure.

    `guards` has, for a column whose topics may be left out, the one that is 0 where they are.
    `judged` is the column of the number of judged items.
    """

    measures: tuple[Measure, ...]
    context: Context
    calls: tuple[KernelCall, ...]
    column: dict[Measure, int]
    guards: dict[int, int]
    policies: tuple[MissingItemsPolicy, ...]
    notes: tuple[str, ...] = ()
    judged: int = 0
    unjudged: Unjudged | None = None

    @classmethod
    def of(
        cls,
        measures: Sequence[Measure],
        context: Context,
        optional: Collection[Measure] = (),
    ) -> KernelPlan:
        """Calls for all measures; optional ones are left out when their needs are not met."""
        columns = _Columns()
        column: dict[Measure, int] = {}
        unmet: list[Measure] = []
        for m in measures:
            # Such a measure may turn out to need the size only when the run is read.
            if m in optional and "missing" in m.params and context.collection_size is None:
                unmet.append(m)
                continue
            try:
                call = m.plan(m, context)
            except NeedsError:
                if m not in optional:
                    raise
                unmet.append(m)
                continue
            # A micro mean divides the sums of two counts, which stand in the next two columns.
            pair = m.ratio(m, context) if m.averaging == "micro" and m.ratio is not None else ()
            column[m] = columns.add(call, *pair)
        policies = columns.policies(column, context)
        columns.add_guards()
        judged = columns.add(JUDGED_ITEMS)
        unjudged = columns.unjudged(tuple(column), context)
        if context.collection_size is not None:
            columns.add(KNOWN_ITEMS)
        notes = [f"{m}: {m.mean_note}" for m in column if m.mean_note and _several(context)]
        if unmet:
            notes.append(f"left out, as more is needed for them: {', '.join(map(str, unmet))}")
        calls = tuple(columns.calls)
        return cls(
            tuple(column),
            context,
            calls,
            column,
            columns.guards,
            policies,
            tuple(notes),
            judged,
            unjudged,
        )

    def columns_of(self, need: str) -> list[int]:
        """The columns of measures that read something of the judgements beside grades."""
        return [self.column[m] for m in self.measures if need in m.needs]

    def overall(self, measure: Measure, sums: Sequence[tuple[float, int, float]]) -> float:
        """The value over topics, from the sum, count and sum of logarithms of each column."""
        at = self.column[measure]
        total, defined, logarithms = sums[at]
        if measure.averaging == "micro":
            return sums[at + 1][0] / sums[at + 2][0] if sums[at + 2][0] > 0 else math.nan
        if measure.averaging == "sum":
            return total
        if defined == 0:
            return math.nan
        if measure.averaging == "geometric":
            return math.exp(logarithms / defined)
        return total / defined

    def leave_out(self, run: RunValues) -> None:
        """Take out the values of topics for which a measure is not meant."""
        for column, guard in self.guards.items():
            run.values[run.values[:, guard] == 0, column] = math.nan

    def placed(
        self, run: RunValues, counted: bytes
    ) -> Iterator[tuple[MissingItemsPolicy, int, int]]:
        """For each policy: relevant items that it had to place, and all, of the topics counted."""
        # Most plans have none, and evaluating a file needs no array then.
        rows = np.frombuffer(counted, dtype=bool) if self.policies else None
        for policy in self.policies:
            absent, relevant = run.values[rows][:, [policy.absent, policy.relevant]].sum(axis=0)
            yield policy, int(absent), int(relevant)

    def check(self, run: RunValues, topics: Sequence[str]) -> None:
        """An error when the size of the collection is unknown or contradicts the run."""
        size = self.context.collection_size
        if size is None:
            for m in self.measures:
                if "missing" not in m.params:
                    continue
                unknown = np.isposinf(run.values[:, self.column[m]])
                if unknown.any():
                    raise NeedsError(
                        f"{m} needs the number of items in the collection, as {run.name} does not "
                        f"retrieve all relevant items of topic {topics[int(unknown.argmax())]!r}: "
                        "pass collection_size=N or missing='optimist'"
                    )
        elif np.nanmax(run.values[:, -1]) > size:
            row = int(np.nanargmax(run.values[:, -1]))
            raise UsageError(
                f"collection size {size} is too small: {run.name} and the judgements know "
                f"{int(run.values[row, -1])} items for topic {topics[row]!r}"
            )


class _Columns:
    """The calls of a plan while it is put together."""

    def __init__(self) -> None:
        self.calls: list[KernelCall] = []
        self.guards: dict[int, int] = {}
        self._given: dict[int, KernelCall] = {}

    def add(self, *calls: KernelCall) -> int:
        """The column of the first of these calls, which stand side by side."""
        first = len(self.calls)
        self.calls += calls
        if calls[0].given is not None:
            self._given |= dict.fromkeys(range(first, len(self.calls)), calls[0].given)
        return first

    def add_guards(self) -> None:
        at = {call: self.add(call) for call in dict.fromkeys(self._given.values())}
        self.guards = {column: at[guard_call] for column, guard_call in self._given.items()}

    def policies(
        self, measures: Iterable[Measure], context: Context
    ) -> tuple[MissingItemsPolicy, ...]:
        """How measures place relevant items that are missing, with columns that count these."""
        groups: dict[tuple[float, str], list[Measure]] = {}
        for m in measures:
            if "missing" in m.params:
                policy = m.value_of("missing") or context.missing
                groups.setdefault((float(m.value_of("rel")), policy), []).append(m)
        policy_list = []
        for (level, policy), members in groups.items():
            cells = ((level, math.inf, -1.0, *cell.weights) for cell in (MISSED, RELEVANT))
            first = self.add(*(KernelCall("counts", params) for params in cells))
            policy_list.append(MissingItemsPolicy(policy, tuple(members), first, first + 1))
        return tuple(policy_list)

    def unjudged(self, measures: Sequence[Measure], context: Context) -> Unjudged | None:
        """Columns for the share of unjudged items, where it tells more than the measures do.

        A truth without items that are not relevant is a list of the relevant ones: the share of
        the others is 1 - P then.
        """
        judgements = context.judgements
        if judgements is None or judgements.smallest_value >= 1:
            return None
        affected = [m for m in measures if m.family != INCOMPLETE]
        if not affected:
            return None
        cutoffs = [int(m.at) for m in affected if m.at is not None and m.cutoff != "recall"]
        depth = max((at for at in cutoffs if at <= DEEPEST_POOL), default=USUAL_DEPTH)
        # A negative grade is an item of the pool without a judgement.
        cells = ((0.0, float(depth), -1.0, *cell.weights) for cell in (SEEN - FOUND, SEEN))
        first = self.add(*(KernelCall("counts", params) for params in cells))
        return Unjudged(depth, first, first + 1)


def _several(context: Context) -> bool:
    return context.judgements is not None and len(context.judgements.topics) > 1


class TopicValues(Mapping[Measure, "NDArray[np.float64]"]):
    """The values of each measure (runs x topics), made into an array when they are asked for."""

    def __init__(
        self, kernel_plan: KernelPlan, results: Sequence[RunValues], *, own_topics: bool
    ) -> None:
        self._kernel_plan, self._results, self._own_topics = kernel_plan, results, own_topics

    def __getitem__(self, measure: Measure) -> NDArray[np.float64]:
        at = self._kernel_plan.column[measure]
        values = np.stack([r.values[:, at] for r in self._results])
        if self._own_topics:
            present = [np.frombuffer(r.present, dtype=bool) for r in self._results]
            values[~np.stack(present)] = np.nan
        return values

    def __contains__(self, measure: object) -> bool:
        return measure in self._kernel_plan.column  # without making its array

    def plain(self, measure: Measure) -> list[list[float]]:
        """The same as lists, for whom loading arrays would take longer than the work."""
        at = self._kernel_plan.column[measure]
        rows = []
        for result in self._results:
            rows_of_topics: list[list[float]] = memoryview(result.buffer).tolist()  # type: ignore[assignment]
            row = [topic[at] for topic in rows_of_topics]
            if self._own_topics:
                row = [v if p else math.nan for v, p in zip(row, result.present, strict=True)]
            rows.append(row)
        return rows

    def __iter__(self) -> Iterator[Measure]:
        return iter(self._kernel_plan.measures)

    def __len__(self) -> int:
        return len(self._kernel_plan.measures)


Ties: TypeAlias = Literal["id", "file", "average", "best", "worst"]
TIES: tuple[Ties, ...] = ("id", "file", "average", "best", "worst")


class Settings(NamedTuple):
    """How rankings are made from runs before measures see them."""

    ties: Ties = "id"
    judged_only: bool = False
    max_items: int = 0


class RankedEvaluator:
    """Judgements joined with calls of kernels, ready for any number of runs."""

    def __init__(self, judgements: Judgements, calls: Iterable[KernelCall]) -> None:
        self.judgements = judgements
        self._calls = [(call.name, list(call.params)) for call in calls]

    def run(
        self,
        source: Any,
        name: str,
        settings: Settings,
        jobs: int,
        progress: _core.Progress | None = None,
    ) -> RunValues:
        """The values of one run, given as a path, a Run, a dict or a data frame."""
        progress = progress or _core.Progress()
        if is_file(source):
            return self._file(Input.of(source), name, settings, jobs, progress)
        if type(source) is dict:
            return self._dict(source, name, settings)
        return self._table(coerce_run(source, name), settings, jobs, f"<{name}>")

    def _file(
        self, path: Input, name: str, settings: Settings, jobs: int, progress: _core.Progress
    ) -> RunValues:
        path = Input.of(with_detected_format(path))
        if is_tabular(path) or (path.packing and not can_be_read_again(path)):
            run = read_run(path, jobs=jobs).named(name)
            return self._table(run, settings, jobs, describe(path))
        with trec.open_repeatable(path) as (place, read, reopen):
            values = self.streamed(path, place, read, name, settings, jobs, progress)
            if values is None:
                run = read_run(reopen(), jobs=jobs).named(name)
                values = self._table(run, settings, jobs, describe(path))
        return values

    def streamed(
        self,
        path: Input,
        place: bytes | None,
        read: _core.Read | None,
        name: str,
        settings: Settings,
        jobs: int,
        progress: _core.Progress,
        *,
        extra_fields: bool = False,
    ) -> RunValues | None:
        """The values of a run that is scored while it is read; None when it must be read whole."""
        values, present, unjudged, problems, count, scattered, tag, beyond, stop = (
            _core.evaluate_run(
                self.judgements.index,
                place,
                read,
                self._calls,
                settings.ties,
                settings.judged_only,
                settings.max_items,
                jobs,
                extra_fields,
                path.caps.lines,
                path.caps.line_bytes,
                progress,
            )
        )
        trec.raise_stop(path, read, stop)
        if scattered or (count and has_another_form(path)):
            return None
        trec.raise_problems(path, "run", problems, count)
        if not any(present) and not unjudged:
            raise InputError.single(
                describe(path),
                f"is empty: no retrieved items found (expected lines: {trec.SHAPES['run']})",
            )
        run_values = self._finished(name, values, present, unjudged, describe(path))
        return run_values._replace(tag=tag, notes=trec.notes_beyond_double(beyond))

    def _dict(self, source: dict[str, Any], name: str, settings: Settings) -> RunValues:
        def work(plain: dict[str, dict[str, Any]]) -> tuple[Any, Any, list[str]]:
            return _core.evaluate_dict(
                self.judgements.index,
                plain,
                self._calls,
                settings.ties,
                settings.judged_only,
                settings.max_items,
            )

        values, present, unjudged = from_nested(work, source, f"<{name}>", "finite score")
        return self._finished(name, values, present, unjudged, f"<{name}>")

    def _table(self, run: Run, settings: Settings, jobs: int, file_label: str) -> RunValues:
        values, present, duplicates = _core.evaluate_table(
            self.judgements.index,
            list(run.topics),
            *run.buffers,
            self._calls,
            settings.ties,
            settings.judged_only,
            settings.max_items,
            jobs,
            not run.unique,
        )
        if duplicates:
            first, _ = min(duplicates)
            raise InputError.single(
                file_label,
                f"item {run.item(first)!r} is listed twice for topic {run.topic_of(first)!r}; "
                "keep one of them",
            )
        judged = set(self.judgements.topics)
        unjudged = [t for t in run.topics if t not in judged]
        run_values = self._finished(run.name, values, present, unjudged, file_label)
        return run_values._replace(notes=run.notes)

    def _finished(
        self,
        name: str,
        values: Any,
        present: Any,
        unjudged: list[str],
        file_label: str,
    ) -> RunValues:
        if not any(present) and not unjudged:
            raise InputError.single(file_label, "is empty: no retrieved items found")
        if not any(present):
            judged = some_names(self.judgements.topics)
            raise InputError.single(
                file_label,
                f"none of its topics ({some_names(unjudged)}) is judged (judged: {judged}); "
                "do run and judgements belong together?",
            )
        return RunValues(name, values, bytes(present), tuple(unjudged))


class TopicScorer:
    """Judgements joined with named kernels, for callers that speak of dicts alone.

    `columns` gives, in order, the names of the values: a call of a kernel, or a constant. The
    other options say how the program that is stood in for makes its rankings.
    """

    def __init__(
        self,
        judgements: Judgements,
        columns: Mapping[str, KernelCall | float],
        *,
        judged_only: bool = False,
        ties: Literal["id", "id-ascending"] = "id",
        single_precision: bool = False,
    ) -> None:
        self._index = judgements.index
        self._topics = judgements.topics
        calls = {n: c for n, c in columns.items() if isinstance(c, KernelCall)}
        self._names = list(calls)
        self._calls = [(call.name, list(call.params)) for call in calls.values()]
        self._constants = {n: 0.0 if isinstance(c, KernelCall) else c for n, c in columns.items()}
        self._judged_only, self._ties, self._single = judged_only, ties, single_precision

    def of_dict(self, run: dict[str, Any]) -> dict[str, dict[str, float]]:
        """The values of every judged topic of a run, in the run's order."""
        return _core.score_dict(
            self._index,
            run,
            self._names,
            self._calls,
            self._constants,
            self._ties,
            self._judged_only,
            self._single,
        )

    def of_table(self, run: Run) -> dict[str, dict[str, float]] | None:
        """The same for columns; None when an item occurs twice in a topic."""
        if self._single:
            run = replace(run, values=run.values.astype(np.float32).astype(np.float64))
        values, present, duplicates = _core.evaluate_table(
            self._index,
            list(run.topics),
            *run.buffers,
            self._calls,
            self._ties,
            self._judged_only,
            0,
            usable_cpus(),
            not run.unique,
        )
        if duplicates:
            return None
        rows = zip(self._topics, values.tolist(), present.tolist(), strict=True)
        return {
            topic: self._constants | dict(zip(self._names, row, strict=True))
            for topic, row, is_present in rows
            if is_present
        }
