"""Evaluating ranked runs: judgements and runs in any form to scores."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cranfield import _core
from cranfield._core import Progress as Progress
from cranfield.data import Judgements, Run
from cranfield.data.columns import of_nested
from cranfield.errors import InputError, UsageError, check_counts, plural
from cranfield.evaluation.programme import Programme, RunValues, TopicValues
from cranfield.evaluation.scores import SMALLEST_FOR_GEOMETRIC_MEAN, Means, Scores
from cranfield.io import is_tabular, read_run, trec
from cranfield.io.files import Input, can_be_read_again, describe
from cranfield.io.forms import coerce_judgements, coerce_run, is_file, name_runs
from cranfield.measures import Measure, optional_measures, parse_measures
from cranfield.measures._parse import listed_measures
from cranfield.measures.ranked.plans import (
    MISSING_RANKS,
    Context,
    KernelCall,
)

if TYPE_CHECKING:
    import numpy as np
else:
    from cranfield._lazy import np

Ties: TypeAlias = Literal["id", "file", "average", "best", "worst"]
TIES: tuple[Ties, ...] = ("id", "file", "average", "best", "worst")
DEFAULT_MEASURES = "AP nDCG@10 RR P@10 R@1000"
NAMES_SHOWN = 5


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
        self, source: Any, name: str, settings: Settings, jobs: int, progress: Progress
    ) -> RunValues:
        """The values of one run, given as a path, a Run, a dict or a data frame."""
        if is_file(source):
            return self._file(Input.of(source), name, settings, jobs, progress)
        if type(source) is dict:
            return self._dict(source, name, settings)
        return self._table(coerce_run(source, name), settings, jobs, f"<{name}>")

    def _file(
        self, path: Input, name: str, settings: Settings, jobs: int, progress: Progress
    ) -> RunValues:
        # A pipe can be read only once, so a run whose topics are scattered could not be retried.
        if is_tabular(path) or not can_be_read_again(path):
            run = read_run(path, jobs=jobs).named(name)
            return self._table(run, settings, jobs, describe(path))
        with trec.open_for_core(path) as (place, read):
            values, present, unjudged, problems, count, scattered, stop = _core.evaluate_run(
                self.judgements.index,
                place,
                read,
                self._calls,
                settings.ties,
                settings.judged_only,
                settings.max_items,
                jobs,
                path.caps.lines,
                path.caps.line_bytes,
                progress,
            )
            trec.raise_stop(path, read, stop)
        if scattered:
            run = trec.read_run(path, jobs=jobs).named(name)
            return self._table(run, settings, jobs, describe(path))
        trec.raise_problems(path, "run", problems, count)
        if not any(present) and not unjudged:
            raise InputError.single(
                describe(path),
                f"is empty: no retrieved items found (expected lines: {trec.SHAPES['run']})",
            )
        return self._finished(name, values, present, unjudged, describe(path))

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
        return self._finished(run.name, values, present, unjudged, where)

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
            judged = _names(self.judgements.topics)
            raise InputError.single(
                where,
                f"none of its topics ({_names(unjudged)}) is judged (judged: {judged}); "
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


def evaluate(
    judgements: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    topics: Literal["judged", "run"] = "judged",
    ties: Ties = "id",
    judged_only: bool = False,
    max_items: int | None = None,
    collection_size: int | None = None,
    missing: Literal["worst", "average", "optimist"] = "worst",
    gmt: int | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Score runs against judgements.

    `judgements` and each run may be a path, an object that `read_qrels` or `read_run` gave,
    {topic: {item: number}}, a pandas or polars data frame, an Arrow table, a tuple of three
    columns, or what ir_datasets and ir_measures have: a data set, or tuples with `query_id`,
    `doc_id` and `relevance` or `score`. `runs` is one run, a list of them, or {name: run}.
    `missing` says where relevant items stand that were not retrieved, for measures of the ranks
    of all of them; `gmt` is the largest number of relevant items of any topic for NMRR, where
    the topics do not give it.

    >>> scores = evaluate({"t1": {"a": 1, "b": 0}}, {"mine": {"t1": {"b": 2.0, "a": 1.0}}}, "AP")
    >>> scores.mean()
    {'mine': {'AP': 0.5}}
    """
    if ties not in TIES:
        raise UsageError(f"ties={ties!r} is not one of {', '.join(TIES)}")
    if topics not in ("judged", "run"):
        raise UsageError(f"topics={topics!r} is not 'judged' or 'run'")
    if missing not in MISSING_RANKS:
        raise UsageError(f"missing={missing!r} is not one of {', '.join(MISSING_RANKS)}")
    check_counts(max_items=max_items, jobs=jobs, collection_size=collection_size, gmt=gmt)
    if ties == "average" and max_items:
        raise UsageError("ties='average' and max_items cannot be combined: use cutoffs instead")
    settings = Settings(ties, judged_only, max_items or 0)
    table = coerce_judgements(judgements)
    if not table.topics:
        raise InputError.single("<judgements>", "are empty: no topic is judged")
    context = Context(collection_size=collection_size, missing=missing, gmt=gmt, judgements=table)
    wanted = listed_measures(measures)
    programme = Programme.of(parse_measures(wanted), context, optional_measures(wanted))
    if programme.stratified and judged_only:
        raise UsageError("xinfAP infers from unjudged items, which judged_only takes out")
    named = name_runs(runs)
    threads = jobs or os.cpu_count() or 1
    shared = progress or Progress()

    def score(name: str, run: Any, jobs: int) -> RunValues:
        if programme.stratified and is_file(run):
            run = read_run(run, jobs=jobs)  # it is evaluated twice, and a pipe is read once
        if topics == "run" and programme.of_topics:
            values = _over_own_topics(table, programme, run, name, settings, jobs, shared)
        else:
            values = RankedEvaluator(table, programme.calls).run(run, name, settings, jobs, shared)
        if programme.stratified:
            calls = [programme.calls[i] for i in programme.stratified]
            again = RankedEvaluator(table.with_strata, calls)
            values.values[:, programme.stratified] = again.run(
                run, name, settings, jobs, shared
            ).values
        programme.check(values, table.topics)
        return values

    if len(named) == 1:
        results = [score(named[0][0], named[0][1], threads)]
    else:
        from concurrent.futures import ThreadPoolExecutor

        # Built before the threads start, which would all build it.
        _ = table.index
        with ThreadPoolExecutor(threads) as pool:
            results = list(pool.map(lambda p: score(p[0], p[1], 1), named))
    return _scores(table.topics, programme, results, topics)


def _over_own_topics(
    judged: Judgements,
    programme: Programme,
    source: Any,
    name: str,
    settings: Settings,
    jobs: int,
    progress: Progress,
) -> RunValues:
    """The values of a run when measures depend on which topics are evaluated: its own."""
    run = read_run(source, jobs=jobs) if is_file(source) else coerce_run(source, name)
    own = judged.of_topics(run.topics)
    if not own.topics:
        return RankedEvaluator(judged, programme.calls).run(run, name, settings, jobs, progress)
    calls = Programme.of(programme.measures, replace(programme.context, judgements=own)).calls
    part = RankedEvaluator(own, calls).run(run, name, settings, jobs, progress)
    at = {topic: i for i, topic in enumerate(judged.topics)}
    rows = [at[topic] for topic in own.topics]
    values = np.full((len(judged.topics), len(calls)), np.nan)
    present = np.zeros(len(judged.topics), dtype=bool)
    values[rows] = part.values
    present[rows] = np.frombuffer(part.present, dtype=bool)
    return RunValues(name, values, present.tobytes(), part.unjudged)


def _scores(
    judged: tuple[str, ...],
    programme: Programme,
    results: Sequence[RunValues],
    topics: str,
) -> Scores:
    measures = programme.measures
    total = len(judged)
    missing = tuple(total - sum(r.present) for r in results)
    evaluated = tuple(total - m if topics == "run" else total for m in missing)
    everyone = b"\x01" * total
    # Topics are added up in the order of their ids, as trec_eval does it: so is the last digit.
    order = sorted(range(total), key=lambda t: judged[t].encode())
    sums = [
        _core.column_sums(
            r.buffer, r.present if topics == "run" else everyone, order, SMALLEST_FOR_GEOMETRIC_MEAN
        )
        for r in results
    ]
    notes = list(programme.notes)
    for result, count in zip(results, missing, strict=True):
        if count:
            absent = [t for t, p in zip(judged, result.present, strict=True) if not p]
            treatment = "left out" if topics == "run" else "scored as an empty ranking"
            notes.append(
                f"{result.name} misses {count} of {plural(total, 'judged topic')} "
                f"({_names(absent)}), {treatment}"
            )
        if result.unjudged:
            notes.append(
                f"{result.name} has {plural(len(result.unjudged), 'topic')} without judgements "
                f"({_names(result.unjudged)}), ignored"
            )
    return Scores(
        task="ranked",
        runs=tuple(r.name for r in results),
        measures=measures,
        units={"topic": judged},
        unit_of=dict.fromkeys(measures, "topic"),
        values=TopicValues(programme, results, own_topics=topics == "run"),
        overall=Means({m: [programme.overall(m, s) for s in sums] for m in measures}),
        missing=missing,
        evaluated=evaluated,
        notes=tuple(notes),
        left={
            m: tuple(n - s[programme.column[m]][1] for n, s in zip(evaluated, sums, strict=True))
            for m in measures
        },
    )


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMES_SHOWN])
    return shown + (", ..." if len(names) > NAMES_SHOWN else "")
