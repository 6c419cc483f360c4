"""What trec_eval 10 prints for a run."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from cranfield import _core
from cranfield._records import dataclass, replace
from cranfield.compat._trec_measures import Request, Value, requested_values
from cranfield.data import Judgements, Run
from cranfield.data.tables import COMMON_SIZE
from cranfield.errors import InputError, UsageError
from cranfield.evaluation.evaluator import RankedEvaluator, Settings
from cranfield.evaluation.programme import RunValues
from cranfield.evaluation.scores import SMALLEST_FOR_GEOMETRIC_MEAN
from cranfield.io import read_qrels, trec
from cranfield.io.files import Input, describe, read_text, run_name
from cranfield.measures.ranked.plans import KernelCall

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
else:
    from cranfield._lazy import np

MISSING_ZSCORE = -1000000.0
# trec_eval ranks this for a topic that the run misses, and forgets to take it out of some values.
BOGUS_ITEM = b"ceci_nest_pas_un_docno"
# Where the topic stands in a template of its lines: no id holds it.
_TOPIC = "\0"


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """Values per topic in the order in which trec_eval prints topics."""

    topics: list[str]
    present: list[bool]
    columns: dict[str, list[float]]
    strings: dict[str, list[str]]
    run_tag: str


def lines(qrels: str | Path, run: str | Path, request: Request) -> Iterator[str]:
    """The lines that trec_eval prints for a run, those of a topic together."""
    if request.level < 0:
        raise UsageError(
            f"trec_eval: -l {request.level} is below 0, where items that nobody judged would be "
            "relevant; expected 0 or more"
        )
    values = requested_values(request)
    judgements = _whole_grades(read_qrels(qrels))
    evaluated = _evaluate(judgements, Input.of(run), values, request)
    if request.zscores is not None:
        evaluated = _to_zscores(evaluated, values, request.zscores)
    mark = "Z" if request.zscores is not None else ""
    texts = _topic_texts(evaluated, values, mark)
    for topic, present in zip(evaluated.topics, evaluated.present, strict=True):
        if not present and not request.complete:
            # trec_eval 10 stops here; what it printed up to this topic stays printed.
            raise InputError.single(
                describe(run),
                f"has nothing for the judged topic {topic!r}, where trec_eval 10 stops; "
                "use -c to count missing topics as empty rankings",
            )
        if request.per_topic:
            yield next(texts)
    if request.summary:
        yield from _summary_lines(evaluated, values, judgements, request, mark)


def _whole_grades(judgements: Judgements) -> Judgements:
    # Most are whole, which is seen without numpy: loading it takes longer.
    if len(judgements) <= COMMON_SIZE and all(map(float.is_integer, _grades(judgements))):
        return judgements
    return replace(judgements, values=np.trunc(judgements.values))


def _grades(judgements: Judgements) -> Sequence[float]:
    grades: Sequence[float] = memoryview(judgements.buffers[3])
    return grades


def _evaluate(
    judgements: Judgements, run: Input, values: Sequence[Value], request: Request
) -> _Evaluated:
    calls: list[KernelCall] = [KernelCall("num_ret", ())]
    at: dict[str, tuple[int, int]] = {}
    for value in values:
        if value.call is None:
            continue
        depth = _string_length(value.label)
        group = (
            [KernelCall("grade_at", (float(k),)) for k in range(1, depth + 1)]
            if depth >= 0
            else [value.call]
        )
        at[value.label] = (len(calls), len(group))
        calls += group
    settings = Settings("id", request.judged_only, request.max_items)
    result = _scored(RankedEvaluator(judgements, calls), run, settings)
    present = list(map(bool, result.present))
    order = sorted(range(len(judgements.topics)), key=lambda i: judgements.topics[i].encode())
    rows: list[list[float]] = memoryview(result.buffer).tolist()  # type: ignore[assignment]
    rows = [rows[i] for i in order]
    columns: dict[str, list[float]] = {}
    strings: dict[str, list[str]] = {}
    for value in values:
        if value.call is None:
            continue
        start, count = at[value.label]
        if _string_length(value.label) >= 0:
            resets = value.of_missing is not None
            shown = [
                0 if resets and not present[i] else min(count, int(row[0]))
                for i, row in zip(order, rows, strict=True)
            ]
            strings[value.label] = [
                _relevance_string(row[start : start + n])
                for row, n in zip(rows, shown, strict=True)
            ]
            columns[value.label] = [0.0] * len(order)
            continue
        column = [row[start] for row in rows]
        if value.of_missing is not None:
            column = [
                v if present[i] else float(value.of_missing)
                for v, i in zip(column, order, strict=True)
            ]
        if value.summary == "geometric":
            column = [math.log(max(v, SMALLEST_FOR_GEOMETRIC_MEAN)) for v in column]
        columns[value.label] = column
    return _Evaluated(
        [judgements.topics[i] for i in order],
        [present[i] for i in order],
        columns,
        strings,
        result.tag,
    )


def _scored(evaluator: RankedEvaluator, run: Input, settings: Settings) -> RunValues:
    """The values of a run; topics that it misses have an item that nobody judged."""
    found = _read_and_scored(evaluator, run, settings)
    topics = evaluator.judgements.topics
    missing = [t for t, there in zip(topics, found.present, strict=True) if not there]
    if missing:
        bogus = evaluator.run(_bogus_items(missing), found.name, settings, 1)
        absent = ~np.frombuffer(found.present, dtype=bool)
        found.values[absent] = bogus.values[absent]
    return found


def _read_and_scored(evaluator: RankedEvaluator, run: Input, settings: Settings) -> RunValues:
    """The values of a run, scored while it is read where its topics stand together."""
    jobs, name = os.cpu_count() or 1, run_name(run)

    def whole(source: Input) -> RunValues:
        table = trec.read_run(source, extra_fields=True)
        try:
            return replace(evaluator.run(table, name, settings, jobs), tag=table.tag)
        except InputError as error:
            raise InputError(describe(run), error.problems, error.count) from None

    if run.packing and not run.can_be_read_again:
        return whole(run)
    with trec.open_twice(run) as (place, read, again):
        found = evaluator.streamed(
            run, place, read, name, settings, jobs, _core.Progress(), extra_fields=True
        )
        return whole(again()) if found is None else found


def _bogus_items(missing: Sequence[str]) -> Run:
    """One item that nobody judged for each topic that a run misses."""
    count = len(missing)
    return Run(
        tuple(missing),
        np.arange(count + 1),
        np.frombuffer(BOGUS_ITEM * count, dtype=np.uint8),
        len(BOGUS_ITEM) * np.arange(count + 1),
        np.ones(count),
        unique=True,
    )


def _string_length(label: str) -> int:
    """How many grades a relstring shows, or -1 for another measure."""
    if not label.startswith("relstring"):
        return -1
    return max(0, int(float(label.partition("_")[2] or 10)))


def _relevance_string(grades: Sequence[float]) -> str:
    def letter(grade: float) -> str:
        if math.isnan(grade):
            return "-"
        if grade < 0:
            return "."
        return str(int(grade)) if grade <= 9 else ">"

    return "".join(letter(g) for g in grades)


def _topic_texts(evaluated: _Evaluated, values: Sequence[Value], mark: str) -> Iterator[str]:
    """All lines of each topic: one template, filled for one topic after the other."""
    template, columns = "", list[Sequence[object]]()
    for value in values:
        if not value.each_topic:
            continue
        label = f"{value.label:<22}".replace("%", "%%")
        if value.label in evaluated.strings:
            template += f"{label}\t{_TOPIC}\t'%s'\n"
            columns.append(evaluated.strings[value.label])
        else:
            template += (
                f"{mark}{label}\t{_TOPIC}\t{'%d' if value.whole and not mark else '%6.4f'}\n"
            )
            columns.append(evaluated.columns[value.label])
    for t, topic in enumerate(evaluated.topics):
        yield (template % tuple(column[t] for column in columns)).replace(_TOPIC, topic)


def _line(value: Value, topic: str, number: float, mark: str) -> str:
    shown = str(int(number)) if value.whole and not mark else f"{number:6.4f}"
    return f"{mark}{value.label:<22}\t{topic}\t{shown}\n"


def _summary_lines(
    evaluated: _Evaluated,
    values: Sequence[Value],
    judgements: Judgements,
    request: Request,
    mark: str,
) -> Iterator[str]:
    count = len(evaluated.topics)
    for value in values:
        if value.label == "runid":
            yield f"{'runid':<22}\tall\t{evaluated.run_tag}\n"
        elif value.label == "num_q":
            yield _line(value, "all", count, mark)
        elif value.summary:
            # Added up one after the other, as the C program does, so that rounding agrees.
            *_, total = accumulate(evaluated.columns[value.label])
            if value.label == "num_rel" and request.complete:
                total = float(sum(grade > 0 for grade in _grades(judgements)))
            if value.summary == "geometric":
                total = math.exp(total / count)
            elif value.summary == "mean":
                total /= count
            yield _line(value, "all", total, mark)


def _to_zscores(evaluated: _Evaluated, values: Sequence[Value], path: str) -> _Evaluated:
    table: dict[tuple[str, str], tuple[float, float]] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            topic, measure, mean, deviation = line.split()
            table[topic, measure] = (float(mean), float(deviation))
        except ValueError:
            raise InputError.single(
                describe(path),
                f"cannot read {line!r} (expected: topic measure mean deviation)",
                number,
            ) from None
    columns = dict(evaluated.columns)
    for value in values:
        if value.label in columns and value.label not in evaluated.strings:
            columns[value.label] = [
                _zscore(number, table.get((topic, value.label)))
                for topic, number in zip(evaluated.topics, columns[value.label], strict=True)
            ]
    return replace(evaluated, columns=columns)


def _zscore(number: float, known: tuple[float, float] | None) -> float:
    if known is None:
        return MISSING_ZSCORE
    mean, deviation = known
    if deviation:
        return (number - mean) / deviation
    return 0.0 if number == mean else MISSING_ZSCORE


def check_formats(judgement_format: str, result_format: str) -> None:
    """A UsageError for the file formats of trec_eval that Cranfield does not read."""
    if judgement_format in ("prefs", "qrels_prefs", "qrels_jg"):
        raise UsageError(f"trec_eval: the format {judgement_format!r} (-R) is not supported")
    if judgement_format != "qrels":
        raise UsageError(f"trec_eval: no judgement format {judgement_format!r} (-R)")
    if result_format != "trec_results":
        raise UsageError(f"trec_eval: no result format {result_format!r} (-T)")
