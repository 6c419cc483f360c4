"""Evaluating ranked runs: judgements and runs in any form to scores."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cranfield import _core
from cranfield._system import usable_cpus
from cranfield.data import Judgements, Run
from cranfield.data.columns import is_matrix
from cranfield.data.tables import parse_min_score
from cranfield.errors import InputError, UsageError, check_counts, plural
from cranfield.evaluation.kernel_plan import (
    TIES,
    KernelPlan,
    RankedEvaluator,
    RunValues,
    Settings,
    Ties,
    TopicValues,
)
from cranfield.evaluation.scores import (
    SMALLEST_FOR_GEOMETRIC_MEAN,
    THREADS,
    Executor,
    Means,
    Scores,
)
from cranfield.io import read_run
from cranfield.io.coerce import (
    JudgementsForm,
    RunForm,
    RunsForm,
    coerce_judgements,
    coerce_run,
    is_file,
    name_runs,
)
from cranfield.io.files import can_be_read_again
from cranfield.measures import Measure, parse_with_optional
from cranfield.measures.ranked.kernel_calls import MISSING_RANKS, Context
from cranfield.notes import Notes, Pieces, Progress, some_names, with_progress
from cranfield.validation import validate_params

if TYPE_CHECKING:
    from cranfield.notes import Watcher


# From this share of its topics on, it is worth a note that a run has no judged item there.
SHARE_NOTED = 0.5
# So much of a run is looked at for ids that nearly agree.
TOPICS_COMPARED = 20
ITEMS_COMPARED = 1000


def _normalised(item: str) -> str:
    return unicodedata.normalize("NFC", item)


def _without_ending(item: str) -> str:
    return re.sub(r"\.[A-Za-z0-9]{1,5}$", "", item)


def _plainest(item: str) -> str:
    return unicodedata.normalize("NFC", _without_ending(item)).casefold()


_WAYS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("when case is ignored", str.casefold),
    ("when Unicode is normalised", _normalised),
    ("without their endings", _without_ending),
    ("when case, endings and forms of Unicode are ignored", _plainest),
)


def unmatched_note(
    values: RunValues, column: int, run: Any, judgements: Judgements, jobs: int
) -> str:
    """A note when no item of a run, or of many of its topics, is judged; else nothing.

    `column` of the values counts the judged items that the run has for each topic.
    """
    counts = memoryview(values.buffer)
    present = [t for t, is_present in enumerate(values.present) if is_present]
    without = [t for t in present if counts[t, column] == 0]
    if not without or len(without) < SHARE_NOTED * len(present):
        return ""
    topics = [judgements.topics[t] for t in without]
    topic_text = ""
    if len(without) < len(present):
        topic_text = f" for {len(without)} of {len(present)} topics ({some_names(topics)})"
    if is_file(run):
        table = read_run(run, jobs=jobs) if can_be_read_again(run) else None
    else:
        table = coerce_run(run, values.name)
    if table is not None and not any(True for topic in topics for _ in _items(table, topic)):
        return ""  # nothing is retrieved there
    hint = "" if table is None else _hint(table, judgements, topics)
    return f"none of its items is judged{topic_text}{hint}"


def _hint(run: Run, judgements: Judgements, topics: Sequence[str]) -> str:
    pairs = [
        (list(_items(run, topic)), list(_items(judgements, topic)))
        for topic in topics[:TOPICS_COMPARED]
    ]
    for condition, change in _WAYS:
        for retrieved, judged in pairs:
            judged_by_form = {change(item): item for item in reversed(judged)}
            for item in retrieved:
                if (match := judged_by_form.get(change(item))) is not None:
                    return f"; ids agree {condition}: {item!a} here, {match!a} in the judgements"
    return ""


def _items(table: Run | Judgements, topic: str) -> Iterator[str]:
    """The first items of a topic."""
    if topic not in table.topics:
        return
    at = table.topics.index(topic)
    begin, end = int(table.offsets[at]), int(table.offsets[at + 1])
    for row in range(begin, min(end, begin + ITEMS_COMPARED)):
        yield table.item(row)


# Measures that estimate what all judgements would say from those of a sample.
ESTIMATES = ("infAP", "xinfAP")


def note_empty_samples(measures: Sequence[Measure], judgements: Judgements, notes: Notes) -> None:
    """Note how many topics count 0 for want of a relevant item in the sample, and what of it."""
    for measure in measures:
        if measure.name not in ESTIMATES or measure.value_of("empty") == "out":
            continue
        min_grade = float(measure.value_of("rel"))
        total = len(judgements.topics)
        ends = pairwise(judgements.offsets.tolist())
        empty = sum(not (judgements.values[a:b] >= min_grade).any() for a, b in ends)
        if 0 < empty < total:
            notes.add(
                f"{measure}: the sample of {plural(empty, 'topic')} of {total} holds no relevant "
                f"item, and counts 0; over the others the mean of a run is "
                f"{total / (total - empty):.4g} times as high (empty='out' takes that mean)"
            )


Topics: TypeAlias = Literal["judged", "run"]
Missing: TypeAlias = Literal["worst", "average", "optimist"]
DEFAULT_MEASURES = "AP nDCG@10 RR P@10 R@1000"
# The share of the work before the draws of a truth with probabilities.
FIRST_SCORED = 0.1
# The share of unjudged items at the top from which on it is noted.
UNJUDGED_SHARE_NOTED = 0.1


class RankedTask:
    """Judgements joined with measures, ready for any number of runs, from any thread.

    The options are those of `evaluate`; what they say is checked once, when the task is made.

    >>> task = RankedTask({"t1": {"a": 1, "b": 0}}, "AP")
    >>> task.evaluate({"mine": {"t1": {"b": 2.0, "a": 1.0}}}).mean()
    {'mine': {'AP': 0.5}}
    """

    def __init__(
        self,
        judgements: JudgementsForm,
        measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
        *,
        topics: Topics = "judged",
        ties: Ties = "id",
        tie_range: bool = False,
        judged_only: bool = False,
        max_items: int | None = None,
        min_score: float | str | None = None,
        ignore_self: bool = False,
        collection_size: int | None = None,
        missing: Missing = "worst",
        gmt: int | None = None,
        draws: int | None = None,
        rng: int | Any = 0,
    ) -> None:
        if ties not in TIES:
            raise UsageError(f"ties={ties!r} is not one of {', '.join(TIES)}")
        if topics not in ("judged", "run"):
            raise UsageError(f"topics={topics!r} is not 'judged' or 'run'")
        if missing not in MISSING_RANKS:
            raise UsageError(f"missing={missing!r} is not one of {', '.join(MISSING_RANKS)}")
        check_counts(max_items=max_items, collection_size=collection_size, gmt=gmt, draws=draws)
        if ties == "average" and max_items:
            raise UsageError("ties='average' and max_items cannot be combined: use cutoffs instead")
        if min_score is not None:
            parse_min_score(min_score)
        self.topics, self.tie_range = topics, tie_range
        self._min_score, self._ignore_self = min_score, ignore_self
        self.settings = Settings(ties, judged_only, max_items or 0)
        self._shape = tuple(judgements.shape) if is_matrix(judgements) else None
        self.judgements = coerce_judgements(judgements)
        if not self.judgements.topics:
            raise InputError.single("<judgements>", "are empty: no topic is judged")
        context = Context(
            collection_size=collection_size, missing=missing, gmt=gmt, judgements=self.judgements
        )
        parsed, optional = parse_with_optional(measures)
        self._dropped: tuple[Measure, ...] = ()
        if ties == "average":
            parsed, self._dropped = _without_geometric(parsed)
        self.kernel_plan = KernelPlan.of(parsed, context, optional)
        if self.kernel_plan.columns_of("strata") and judged_only:
            raise UsageError("xinfAP infers from unjudged items, which judged_only takes out")
        # Built before any thread starts, which would all build it.
        _ = self.judgements.index
        self._draws, self._rng = draws, rng

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that can be computed with what is known."""
        return self.kernel_plan.measures

    def evaluate(
        self, runs: RunsForm, *, jobs: int | None = None, progress: Watcher | None = None
    ) -> Scores:
        """The scores of one run, of a list of them, or of {name: run}."""
        check_counts(jobs=jobs)
        named_runs = name_runs(runs)
        threads = jobs or usable_cpus()
        report_progress = Progress.of(progress)
        report_progress.check()
        soft = self.judgements.chances is not None
        if soft or self._min_score is not None or self._ignore_self:
            named_runs = [(name, self.cut(coerce_run(run, name))) for name, run in named_runs]
        results = self._results(
            named_runs,
            threads,
            report_progress.part(0.0, FIRST_SCORED) if soft else report_progress,
        )
        scores = self._scores(results)
        if soft:
            rest = report_progress.part(FIRST_SCORED, 1.0)
            scores = self._with_doubt(named_runs, results, scores, threads, rest)
        report_progress.finish()
        return scores

    def cut(self, run: Run) -> Run:
        """The run without the items whose scores are too low, and without the topics themselves."""
        if self._ignore_self:
            run = run.without_self()
        return run if self._min_score is None else run.above(self._min_score)

    def _results(
        self, named_runs: Sequence[tuple[str, Any]], threads: int, progress: Progress
    ) -> list[list[RunValues]]:
        """The values of every run, on threads that take one each; one run has all of them."""
        pieces = Pieces(len(named_runs))
        progress.watch(pieces)

        def score(pair: tuple[str, Any]) -> list[RunValues]:
            progress.check()
            counter = _core.Progress()
            pieces.begin(counter)
            try:
                return self._values(*pair, threads if len(named_runs) == 1 else 1, counter)
            finally:
                # A file that was read until the work was cancelled may look damaged.
                progress.check()
                pieces.finished(counter)

        if len(named_runs) == 1:
            return progress.during(lambda: [score(named_runs[0])])
        from cranfield.work.threads import map_in_threads

        return progress.during(lambda: list(map_in_threads(score, named_runs, threads)))

    def _with_doubt(
        self,
        named_runs: Sequence[tuple[str, Any]],
        results: Sequence[Sequence[RunValues]],
        scores: Scores,
        threads: int,
        progress: Progress,
    ) -> Scores:
        """The expected scores under a truth with probabilities, and how far they are sure."""
        from cranfield.evaluation.probabilistic_truth import (
            DEFAULT_DRAWS,
            score_sampled_truths,
        )
        from cranfield.stats._resample import seed_of

        return score_sampled_truths(
            self,
            [run for _, run in named_runs],
            [run[0] for run in results],
            scores,
            draws=self._draws or DEFAULT_DRAWS,
            seed=seed_of(self._rng),
            jobs=threads,
            progress=progress,
        )

    def scored(self, results: Sequence[RunValues]) -> Scores:
        """The scores of values that are there already."""
        return self._scores([[values] for values in results])

    def _values(
        self, name: str, run: RunForm, jobs: int, counter: _core.Progress
    ) -> list[RunValues]:
        """The values of a run; where the range of ties is asked for also of its two ends."""
        if self._shape is not None and is_matrix(run) and tuple(run.shape) != self._shape:
            raise InputError.single(
                f"<{name}>",
                f"has {run.shape[0]} x {run.shape[1]} scores for {self._shape[0]} x "
                f"{self._shape[1]} judgements: a row is a topic and a column an item in both (the "
                "best k with their positions are a run by Run.from_search)",
            )
        orders = [self.settings]
        if self.tie_range:
            orders += [self.settings._replace(ties=ties) for ties in ("worst", "best")]
        several = any(self.kernel_plan.columns_of(need) for need in ("strata", "subtopics"))
        if is_file(run) and (len(orders) > 1 or several):
            run = read_run(run, jobs=jobs)  # it is evaluated more than once, and a pipe read once
        return [self._ordered(name, run, settings, jobs, counter) for settings in orders]

    def _ordered(
        self, name: str, run: RunForm, settings: Settings, jobs: int, counter: _core.Progress
    ) -> RunValues:
        kernel_plan, table = self.kernel_plan, self.judgements
        evaluator = RankedEvaluator(table, kernel_plan.calls)
        values = evaluator.run(run, name, settings, jobs, counter)
        for need in ("strata", "subtopics"):
            if columns := kernel_plan.columns_of(need):
                with_need = table.with_strata if need == "strata" else table.with_subtopics
                need_evaluator = RankedEvaluator(with_need, [kernel_plan.calls[i] for i in columns])
                run_values = need_evaluator.run(run, name, settings, jobs, counter)
                values.values[:, columns] = run_values.values
        kernel_plan.leave_out(values)
        kernel_plan.check(values, table.topics)
        note = unmatched_note(values, kernel_plan.judged, run, table, jobs)
        return values._replace(notes=(*values.notes, note)) if note else values

    def _scores(self, results: Sequence[Sequence[RunValues]]) -> Scores:
        kernel_plan, judged = self.kernel_plan, self.judgements.topics
        measures, total = kernel_plan.measures, len(judged)
        first = [run[0] for run in results]
        missing = tuple(total - sum(r.present) for r in first)
        evaluated = tuple(total - m if self.topics == "run" else total for m in missing)
        sums = [[self._sums(values) for values in run] for run in results]
        left_out = {
            m: tuple(
                n - s[0][kernel_plan.column[m]][1] for n, s in zip(evaluated, sums, strict=True)
            )
            for m in measures
        }
        return Scores(
            task="ranked",
            runs=tuple(r.name for r in first),
            measures=measures,
            units={"topic": judged},
            unit_of=dict.fromkeys(measures, "topic"),
            values=TopicValues(kernel_plan, first, own_topics=self.topics == "run"),
            overall=Means({m: [kernel_plan.overall(m, s[0]) for s in sums] for m in measures}),
            missing=missing,
            evaluated=evaluated,
            notes=self._notes(first, missing, [s[0] for s in sums]),
            run_facts=tuple(self._placed(r) for r in first) if kernel_plan.policies else (),
            left=left_out,
            tie_range=self._tie_ranges(sums) if self.tie_range else {},
        )

    def _sums(self, values: RunValues) -> Sequence[tuple[float, int, float]]:
        """The sum, count and sum of logarithms of each column over the topics that count."""
        counted = self.counted(values)
        return _core.column_sums(values.buffer, counted, self.order, SMALLEST_FOR_GEOMETRIC_MEAN)

    @property
    def order(self) -> list[int]:
        """Topics in the order of their ids, as trec_eval adds them up: so is the last digit."""
        judged = self.judgements.topics
        return sorted(range(len(judged)), key=lambda t: judged[t].encode())

    def counted(self, values: RunValues) -> bytes:
        """A byte per judged topic that is 1 where the topic counts for a run."""
        return values.present if self.topics == "run" else b"\x01" * len(self.judgements.topics)

    def _tie_ranges(
        self, sums: Sequence[Sequence[Sequence[tuple[float, int, float]]]]
    ) -> dict[Measure, tuple[tuple[float, float], ...]]:
        """What a mean is with good items last and first in every tie, the lesser one first."""
        ranges = {}
        for m in self.measures:
            # Only then are the two orders the ends of what the measure can be.
            if m.higher_is_better is None and m.ties != "of no effect":
                continue
            ends = [
                (self.kernel_plan.overall(m, s[1]), self.kernel_plan.overall(m, s[2])) for s in sums
            ]
            ranges[m] = tuple((min(pair), max(pair)) for pair in ends)
        return ranges

    def _notes(
        self,
        results: Sequence[RunValues],
        missing: Sequence[int],
        sums: Sequence[Sequence[tuple[float, int, float]]],
    ) -> tuple[str, ...]:
        notes = Notes()
        notes.extend(self.judgements.notes)
        notes.extend(self.kernel_plan.notes)
        if self._dropped:
            notes.add(f"{NO_GEOMETRIC}; left out: {', '.join(map(str, self._dropped))}")
        note_empty_samples(self.measures, self.judgements, notes)
        judged = self.judgements.topics
        treatment = "left out" if self.topics == "run" else "scored as an empty ranking"
        unjudged = None if self.settings.judged_only else self.kernel_plan.unjudged
        for result, count, totals in zip(results, missing, sums, strict=True):
            for note in result.notes:
                notes.add(note, about=result.name)
            if count:
                absent = [t for t, p in zip(judged, result.present, strict=True) if not p]
                notes.add(
                    f"misses {count} of {plural(len(judged), 'judged topic')} "
                    f"({some_names(absent)}), {treatment}",
                    about=result.name,
                )
            if result.unjudged:
                notes.add(
                    f"has {plural(len(result.unjudged), 'topic')} without judgements "
                    f"({some_names(result.unjudged)}), ignored",
                    about=result.name,
                )
            # Where no item is judged at all, another note has said so.
            if unjudged is not None and totals[self.kernel_plan.judged][0] > 0:
                share = totals[unjudged.unjudged][0] / totals[unjudged.seen][0]
                if share > UNJUDGED_SHARE_NOTED:
                    top = f"first {unjudged.depth} items" if unjudged.depth > 1 else "first items"
                    notes.add(f"{100 * share:.0f} % of the {top} are unjudged", about=result.name)
            for policy, placed, relevant in self.kernel_plan.placed(result, self.counted(result)):
                if placed:
                    notes.add(
                        f"does not retrieve {placed} of {plural(relevant, 'relevant item')}, "
                        f"which missing={policy.missing!r} places for "
                        f"{', '.join(map(str, policy.measures))}",
                        about=result.name,
                    )
        return notes.lines()

    def _placed(self, values: RunValues) -> dict[str, Any]:
        """How many relevant items the policies on missing ones had to place, for the answer."""
        placements = [
            {
                "missing": policy.missing,
                "measures": [str(m) for m in policy.measures],
                "placed": placed,
                "relevant": relevant,
            }
            for policy, placed, relevant in self.kernel_plan.placed(values, self.counted(values))
        ]
        return {"missing_items": placements} if placements else {}


NO_GEOMETRIC = "a geometric mean of expected values is not the expected geometric mean"


def _without_geometric(
    measures: tuple[Measure, ...],
) -> tuple[tuple[Measure, ...], tuple[Measure, ...]]:
    """The measures that ties='average' can be asked of, and the others."""
    remaining = tuple(m for m in measures if m.averaging != "geometric")
    if not remaining:
        raise UsageError(f"{NO_GEOMETRIC}: use another order of ties than ties='average'")
    return remaining, tuple(m for m in measures if m not in remaining)


@validate_params(skip=("measures", "runs", "max_items", "jobs", "collection_size", "gmt"))
@with_progress
def evaluate(
    judgements: JudgementsForm,
    runs: RunsForm,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    topics: Topics = "judged",
    ties: Ties = "id",
    tie_range: bool = False,
    judged_only: bool = False,
    max_items: int | None = None,
    min_score: float | str | None = None,
    ignore_self: bool = False,
    collection_size: int | None = None,
    missing: Missing = "worst",
    gmt: int | None = None,
    draws: int | None = None,
    rng: int | Any = 0,
    jobs: int | None = None,
    executor: Executor = THREADS,
    progress: Watcher | None = None,
) -> Scores:
    """Score runs against judgements.

    `judgements` and each run may be a path, an object that `read_qrels` or `read_run` gave,
    {topic: {item: number}}, {topic: [item, ...]}, a pandas or polars data frame, an Arrow table, a
    tuple of three columns, an array, tensor or sparse matrix with a row for each topic and a column
    for each item, the pair of scores and row numbers that faiss answers with, or what ir_datasets
    and ir_measures have: a data set, or tuples with `query_id`, `doc_id` and `relevance` or
    `score`. `runs` is one run, a list of them, or
    {name: run}.
    `missing` says where relevant items stand that were not retrieved, for measures of the ranks
    of all of them; `gmt` is the largest number of relevant items of any topic for NMRR, where
    the topics do not give it. `tie_range` also tells how far the orders within ties can move
    each mean. `min_score` cuts items whose score is lower ("80%": lower than that far up from the
    lowest to the highest score of the topic). `ignore_self` takes the item out that has the id of
    the topic, as BEIR does where queries are items of the collection. With an `executor`
    ("processes", "dask://host:port") each run is scored there.
    Judgements may have probabilities, {topic: {item: {grade: probability}}}: the scores are
    expected values then, and `scores.doubt` says how far they are sure, from `draws` of the whole
    truth by the seed `rng` (1,000 unless told otherwise; the same for all runs).

    >>> scores = evaluate({"t1": {"a": 1, "b": 0}}, {"mine": {"t1": {"b": 2.0, "a": 1.0}}}, "AP")
    >>> scores.mean()
    {'mine': {'AP': 0.5}}
    """
    options: dict[str, Any] = {
        "topics": topics,
        "ties": ties,
        "tie_range": tie_range,
        "judged_only": judged_only,
        "max_items": max_items,
        "min_score": min_score,
        "ignore_self": ignore_self,
        "collection_size": collection_size,
        "missing": missing,
        "gmt": gmt,
        "draws": draws,
        "rng": rng,
    }
    if executor == THREADS:
        task = RankedTask(judgements, measures, **options)
        return task.evaluate(runs, jobs=jobs, progress=progress)
    named_runs = name_runs(runs)
    pieces = [
        ({"judgements": judgements, "measures": measures, **options}, run) for run in named_runs
    ]
    from cranfield.evaluation.scores import score_distributed

    return score_distributed(_score_piece, pieces, executor, jobs, progress)


def _score_piece(work_item: tuple[dict[str, Any], tuple[str, Any]]) -> Scores:
    """One run scored by a worker."""
    options, (name, run) = work_item
    return RankedTask(**options).evaluate({name: run}, jobs=1)


__all__ = ["DEFAULT_MEASURES", "Judgements", "RankedTask", "evaluate"]
