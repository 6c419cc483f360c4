"""Judgements joined with calls of kernels: where rankings become numbers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cranfield import _core
from cranfield._records import dataclass, replace
from cranfield.data import Judgements, Run
from cranfield.data.columns import of_nested
from cranfield.errors import InputError
from cranfield.evaluation.programme import RunValues
from cranfield.io import has_another_form, is_tabular, read_run, trec
from cranfield.io.files import Input, can_be_read_again, describe
from cranfield.io.forms import coerce_run, is_file
from cranfield.io.unnamed import settled
from cranfield.measures.ranked.plans import KernelCall
from cranfield.notes import some_names

if TYPE_CHECKING:
    import numpy as np
else:
    from cranfield._lazy import np

Ties: TypeAlias = Literal["id", "file", "average", "best", "worst"]
TIES: tuple[Ties, ...] = ("id", "file", "average", "best", "worst")


@dataclass(frozen=True, slots=True)
class Settings:
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
        path = Input.of(settled(path))
        if is_tabular(path) or (path.packing and not can_be_read_again(path)):
            run = read_run(path, jobs=jobs).named(name)
            return self._table(run, settings, jobs, describe(path))
        with trec.open_twice(path) as (place, read, again):
            found = self.streamed(path, place, read, name, settings, jobs, progress)
            if found is None:
                run = read_run(again(), jobs=jobs).named(name)
                found = self._table(run, settings, jobs, describe(path))
        return found

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
        values, present, unjudged, problems, count, scattered, tag, stop = _core.evaluate_run(
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
        trec.raise_stop(path, read, stop)
        if scattered or (count and has_another_form(path)):
            return None
        trec.raise_problems(path, "run", problems, count)
        if not any(present) and not unjudged:
            raise InputError.single(
                describe(path),
                f"is empty: no retrieved items found (expected lines: {trec.SHAPES['run']})",
            )
        found = self._finished(name, values, present, unjudged, describe(path))
        return replace(found, tag=tag)

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

        values, present, unjudged = of_nested(work, source, f"<{name}>", "finite score")
        return self._finished(name, values, present, unjudged, f"<{name}>")

    def _table(self, run: Run, settings: Settings, jobs: int, where: str) -> RunValues:
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
                where,
                f"item {run.item(first)!r} is listed twice for topic {run.topic_of(first)!r}; "
                "keep one of them",
            )
        judged = set(self.judgements.topics)
        unjudged = [t for t in run.topics if t not in judged]
        found = self._finished(run.name, values, present, unjudged, where)
        return replace(found, notes=run.notes)

    def _finished(
        self,
        name: str,
        values: Any,
        present: Any,
        unjudged: list[str],
        where: str,
    ) -> RunValues:
        if not any(present) and not unjudged:
            raise InputError.single(where, "is empty: no retrieved items found")
        if not any(present):
            judged = some_names(self.judgements.topics)
            raise InputError.single(
                where,
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
            os.cpu_count() or 1,
            not run.unique,
        )
        if duplicates:
            return None
        rows = zip(self._topics, values.tolist(), present.tolist(), strict=True)
        return {
            topic: self._constants | dict(zip(self._names, row, strict=True))
            for topic, row, there in rows
            if there
        }
