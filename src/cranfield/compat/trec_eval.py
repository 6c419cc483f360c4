"""What trec_eval 10 prints for a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from cranfield.compat._trec_measures import Request, Value, requested_values
from cranfield.data import Judgements, Run
from cranfield.errors import InputError, UsageError
from cranfield.evaluation.evaluator import RankedEvaluator, Settings
from cranfield.evaluation.scores import SMALLEST_FOR_GEOMETRIC_MEAN
from cranfield.io import read_qrels, trec
from cranfield.io.files import describe, read_text
from cranfield.measures.ranked.plans import KernelCall

MISSING_ZSCORE = -1000000.0
# trec_eval ranks this for a topic that the run misses, and forgets to take it out of some values.
BOGUS_ITEM = b"ceci_nest_pas_un_docno"


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """Values per topic in the order in which trec_eval prints topics."""

    topics: list[str]
    present: list[bool]
    columns: dict[str, list[float]]
    strings: dict[str, list[str]]
    run_tag: str


def lines(qrels: str | Path, run: str | Path, request: Request) -> Iterator[str]:
    """The lines that trec_eval prints for a run."""
    if request.level < 0:
        raise UsageError(
            f"trec_eval: -l {request.level} is below 0, where items that nobody judged would be "
            "relevant; expected 0 or more"
        )
    values = requested_values(request)
    judgements = _whole_grades(read_qrels(qrels))
    results = trec.read_run(run, extra_fields=True)
    try:
        evaluated = _evaluate(judgements, results, values, request)
    except InputError as error:
        raise InputError(describe(run), error.problems, error.count) from None
    if request.zscores is not None:
        evaluated = _to_zscores(evaluated, values, request.zscores)
    mark = "Z" if request.zscores is not None else ""
    for t, topic in enumerate(evaluated.topics):
        if not evaluated.present[t] and not request.complete:
            # trec_eval 10 stops here; what it printed up to this topic stays printed.
            raise InputError.single(
                describe(run),
                f"has nothing for the judged topic {topic!r}, where trec_eval 10 stops; "
                "use -c to count missing topics as empty rankings",
            )
        if request.per_topic:
            yield from _topic_lines(evaluated, values, t, mark)
    if request.summary:
        yield from _summary_lines(evaluated, values, judgements, request, mark)


def _whole_grades(judgements: Judgements) -> Judgements:
    return replace(judgements, values=np.trunc(judgements.values))


def _evaluate(
    judgements: Judgements, run: Run, values: Sequence[Value], request: Request
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
    retrieved = set(run.topics)
    present = [topic in retrieved for topic in judgements.topics]
    missing = [t for t, there in zip(judgements.topics, present, strict=True) if not there]
    evaluator = RankedEvaluator(judgements, calls)
    if len(missing) < len(judgements.topics):
        run = _with_bogus_items(run, missing)
    result = evaluator.run(run, run.name, settings, 1)
    order = sorted(range(len(judgements.topics)), key=lambda i: judgements.topics[i].encode())
    columns: dict[str, list[float]] = {}
    strings: dict[str, list[str]] = {}
    for value in values:
        if value.call is None:
            continue
        start, count = at[value.label]
        block = result.values[order, start : start + count]
        if _string_length(value.label) >= 0:
            shown = result.values[order, 0].astype(int)
            if value.of_missing is not None:
                shown[[not present[i] for i in order]] = 0
            strings[value.label] = [
                _relevance_string(g[:n]) for g, n in zip(block, shown, strict=True)
            ]
            columns[value.label] = [0.0] * len(order)
            continue
        column = block[:, 0].tolist()
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
        run.tag,
    )


def _with_bogus_items(run: Run, missing: Sequence[str]) -> Run:
    """The run with one item that nobody judged for each topic that it misses."""
    count = len(missing)
    bogus = np.frombuffer(BOGUS_ITEM * count, dtype=np.uint8)
    return replace(
        run,
        topics=(*run.topics, *missing),
        offsets=np.append(run.offsets, run.offsets[-1] + np.arange(1, count + 1)),
        item_bytes=np.append(run.item_bytes, bogus),
        item_offsets=np.append(
            run.item_offsets, run.item_offsets[-1] + len(BOGUS_ITEM) * np.arange(1, count + 1)
        ),
        values=np.append(run.values, np.ones(count)),
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


def _topic_lines(
    evaluated: _Evaluated, values: Sequence[Value], t: int, mark: str
) -> Iterator[str]:
    topic = evaluated.topics[t]
    for value in values:
        if not value.each_topic:
            continue
        if value.label in evaluated.strings:
            yield f"{value.label:<22}\t{topic}\t'{evaluated.strings[value.label][t]}'\n"
        else:
            yield _line(value, topic, evaluated.columns[value.label][t], mark)


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
            total = float(np.cumsum(evaluated.columns[value.label])[-1])
            if value.label == "num_rel" and request.complete:
                total = float((judgements.values > 0).sum())
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
