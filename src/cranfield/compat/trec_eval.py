"""What trec_eval 10 prints for a run."""

from __future__ import annotations

import getopt
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

from cranfield import _core
from cranfield._lazy import np
from cranfield._system import usable_cpus
from cranfield.data import Judgements, Run
from cranfield.data.tables import COMMON_SIZE
from cranfield.errors import InputError, MeasureError, UsageError, suggest
from cranfield.evaluation.kernel_plan import RankedEvaluator, RunValues, Settings
from cranfield.evaluation.scores import SMALLEST_FOR_GEOMETRIC_MEAN
from cranfield.io import read_qrels, trec
from cranfield.io.files import Input, describe, read_text, run_name
from cranfield.measures.ranked.kernel_calls import KernelCall

if TYPE_CHECKING:
    from pathlib import Path


MISSING_ZSCORE = -1000000.0
# trec_eval ranks this for a topic that the run misses, and forgets to take it out of some values.
BOGUS_ITEM = b"ceci_nest_pas_un_docno"
# Where the topic stands in a template of its lines: no id holds it.
_TOPIC = "\0"


@dataclass(frozen=True, slots=True)
class _Evaluation:
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
            f"trec_eval: -l {request.level} is below 0, where unjudged items would be "
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
) -> _Evaluation:
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
    result = _score_run(RankedEvaluator(judgements, calls), run, settings)
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
            lengths = [
                0 if resets and not present[i] else min(count, int(row[0]))
                for i, row in zip(order, rows, strict=True)
            ]
            strings[value.label] = [
                _relevance_string(row[start : start + n])
                for row, n in zip(rows, lengths, strict=True)
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
    return _Evaluation(
        [judgements.topics[i] for i in order],
        [present[i] for i in order],
        columns,
        strings,
        result.tag,
    )


def _score_run(evaluator: RankedEvaluator, run: Input, settings: Settings) -> RunValues:
    """The values of a run; topics that it misses have an unjudged item."""
    result = _read_and_score(evaluator, run, settings)
    topics = evaluator.judgements.topics
    missing = [t for t, is_present in zip(topics, result.present, strict=True) if not is_present]
    if missing:
        bogus = evaluator.run(_bogus_items(missing), result.name, settings, 1)
        absent = ~np.frombuffer(result.present, dtype=bool)
        result.values[absent] = bogus.values[absent]
    return result


def _read_and_score(evaluator: RankedEvaluator, run: Input, settings: Settings) -> RunValues:
    """The values of a run, scored while it is read where its topics stand together."""
    jobs, name = usable_cpus(), run_name(run)

    def read_table(source: Input) -> RunValues:
        table = trec.read_run(source, extra_fields=True)
        try:
            return evaluator.run(table, name, settings, jobs)._replace(tag=table.tag)
        except InputError as error:
            raise InputError(describe(run), error.problems, error.count) from None

    if run.packing and not run.can_be_read_again:
        return read_table(run)
    with trec.open_repeatable(run) as (place, read, reopen):
        result = evaluator.streamed(
            run, place, read, name, settings, jobs, _core.Progress(), extra_fields=True
        )
        return read_table(reopen()) if result is None else result


def _bogus_items(missing: Sequence[str]) -> Run:
    """One unjudged item for each topic that a run misses."""
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


def _topic_texts(evaluated: _Evaluation, values: Sequence[Value], mark: str) -> Iterator[str]:
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
    digits = str(int(number)) if value.whole and not mark else f"{number:6.4f}"
    return f"{mark}{value.label:<22}\t{topic}\t{digits}\n"


def _summary_lines(
    evaluated: _Evaluation,
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


def _to_zscores(evaluated: _Evaluation, values: Sequence[Value], path: str) -> _Evaluation:
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


def _zscore(number: float, moments: tuple[float, float] | None) -> float:
    if moments is None:
        return MISSING_ZSCORE
    mean, deviation = moments
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


USAGE = """\
usage: cranfield trec_eval [-q] [-m measure[.params]]... [-c] [-n] [-l N] [-M N] [-N N] [-J]
                           [-Z file] qrels run

Takes the arguments of trec_eval 10 and prints the same bytes.

  -q        values of each topic, before the summary
  -m NAME   a measure or nickname, with parameters after a dot: -m P.5,10 (may be repeated)
  -c        average over all judged topics; missing ones count as empty rankings
  -n        no summary
  -l N      the grade from which an item is relevant (default 1)
  -M N      look at the first N items of each topic
  -N N      number of items in the collection
  -J        take unjudged items out first
  -Z FILE   print deviations from the means in FILE, in standard deviations
  -R, -T    file formats: qrels and trec_results only
  -v        the version

nicknames: {nicknames}
measures: {measures}
"""

_LONG = [
    "help",
    "version",
    "query_eval_wanted",
    "measure=",
    "complete_rel_info_wanted",
    "level_for_rel=",
    "nosummary",
    "Debug_level=",
    "Judged_docs_only",
    "Number_docs_in_coll=",
    "Max_retrieved_per_topic=",
    "Rel_info_format=",
    "Results_format=",
    "Output_old_results_format",
    "Zscore=",
]
_SHORT_OF = {
    "--help": "-h",
    "--version": "-v",
    "--query_eval_wanted": "-q",
    "--measure": "-m",
    "--complete_rel_info_wanted": "-c",
    "--level_for_rel": "-l",
    "--nosummary": "-n",
    "--Debug_level": "-D",
    "--Judged_docs_only": "-J",
    "--Number_docs_in_coll": "-N",
    "--Max_retrieved_per_topic": "-M",
    "--Rel_info_format": "-R",
    "--Results_format": "-T",
    "--Output_old_results_format": "-o",
    "--Zscore": "-Z",
}


# What is printed instead of an evaluation.
Instead = Literal["help", "version"]


def read_arguments(argv: Sequence[str]) -> tuple[str, str, Request] | Instead:
    """The judgements, the run and what is asked of them; or what else is asked for."""
    try:
        options, files = getopt.gnu_getopt(list(argv), "hvqm:cl:nD:JN:M:R:T:oZ:", _LONG)
    except getopt.GetoptError as error:
        raise UsageError(f"trec_eval: {error}. See: cranfield trec_eval -h") from None
    settings = [(_SHORT_OF.get(name, name), value) for name, value in options]
    flags = {name for name, _ in settings}
    values = dict(settings)
    if flags & {"-h", "-v"}:
        return "help" if "-h" in flags else "version"
    if flags & {"-D", "-o"}:
        raise UsageError("trec_eval: debugging output (-D) and old formats (-o) are not supported")
    if len(files) != 2:
        raise UsageError("trec_eval: expected judgements and a run. See: cranfield trec_eval -h")
    if files.count("-") > 1:
        raise UsageError("standard input ('-') can be only one of the files")

    check_formats(values.get("-R", "qrels"), values.get("-T", "trec_results"))
    request = Request(
        measures=[value for name, value in settings if name == "-m"] or ("official",),
        per_topic="-q" in flags,
        complete="-c" in flags,
        summary="-n" not in flags,
        level=_number(values.get("-l", "1"), "-l"),
        judged_only="-J" in flags,
        max_items=_number(values.get("-M", "0"), "-M"),
        collection_size=_number(values.get("-N", "0"), "-N"),
        zscores=values.get("-Z"),
    )
    return files[0], files[1], request


def usage() -> str:
    """The help, with all names of measures."""
    return USAGE.format(nicknames=", ".join(NICKNAMES), measures=", ".join(ENTRIES))


def _number(text: str, option: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"trec_eval: {option} {text!r} is not a whole number") from None


_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_RECALLS = tuple(i / 10 for i in range(11))
_MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked of the program: its options."""

    measures: Sequence[str] = ("official",)
    per_topic: bool = False
    complete: bool = False
    summary: bool = True
    level: int = 1
    judged_only: bool = False
    max_items: int = 0
    collection_size: int = 0
    zscores: str | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """One printed value: its label, the kernel behind it, and how it is shown and averaged."""

    label: str
    call: KernelCall | None
    whole: bool = False
    summary: str = "mean"  # mean, sum, geometric, or "" when it is not in the summary
    each_topic: bool = True
    of_missing: float | None = None  # fixed value for a topic that the run misses


Builder = Callable[["Entry", str | None, Request], list[Value]]


@dataclass(frozen=True, slots=True)
class Entry:
    """A measure of trec_eval: how its parameters become values."""

    name: str
    build: Builder
    kernel: str = ""
    defaults: tuple[float, ...] = ()
    template: Value = field(default=Value("", None))


def _single(entry: Entry, _: str | None, request: Request) -> list[Value]:
    call = KernelCall(entry.kernel, (float(request.level), *entry.defaults))
    return [replace(entry.template, label=entry.name, call=call)]


def _unleveled(entry: Entry, _: str | None, __: Request) -> list[Value]:
    return [
        replace(entry.template, label=entry.name, call=KernelCall(entry.kernel, entry.defaults))
    ]


def _no_kernel(entry: Entry, _: str | None, __: Request) -> list[Value]:
    return [replace(entry.template, label=entry.name)]


def _at_cutoffs(entry: Entry, text: str | None, request: Request) -> list[Value]:
    cutoffs = _whole_numbers(entry, text)
    values = []
    for k in cutoffs:
        params: tuple[float, ...] = (float(request.level), float(k))
        if entry.kernel == "unjudged_at":
            params = (float(k),)
        elif entry.kernel == "ndcg":
            params = (float(k), 0.0, 0.0)
        call = KernelCall(entry.kernel, params)
        values.append(replace(entry.template, label=f"{entry.name}_{k}", call=call))
    return values


def _at_shares(entry: Entry, text: str | None, request: Request) -> list[Value]:
    shares = sorted(_numbers(entry, text))
    if len(set(shares)) < len(shares):
        raise MeasureError(f"{entry.name}: the same cutoff is given twice in {text!r}")
    tail = (10.0,) if entry.kernel == "interpolated_at" else ()
    return [
        replace(
            entry.template,
            label=f"{entry.name}_{share:3.2f}",
            call=KernelCall(entry.kernel, (float(request.level), share, *tail)),
        )
        for share in shares
    ]


def _labelled(entry: Entry, text: str | None, call: KernelCall) -> list[Value]:
    if text is None:
        return [replace(entry.template, label=entry.name, call=call)]
    # Values of missing topics are reset by their exact name, which parameters change.
    label = f"{entry.name}_{text}"
    return [replace(entry.template, label=label, call=call, of_missing=None)]


def _eleven_points(entry: Entry, text: str | None, request: Request) -> list[Value]:
    points = _numbers(entry, text)
    call = KernelCall("interpolated_mean", (float(request.level), 10.0, *points))
    return _labelled(entry, text, call)


def _utility(entry: Entry, text: str | None, request: Request) -> list[Value]:
    weights = _numbers(entry, text)
    if len(weights) != 4:
        raise MeasureError(f"utility takes four weights, not {text!r}")
    params = (float(request.level), *weights, float(request.collection_size))
    return _labelled(entry, text, KernelCall("utility", params))


def _set_f(entry: Entry, text: str | None, request: Request) -> list[Value]:
    weight = _numbers(entry, text)[0]
    return _labelled(entry, text, KernelCall("set_f", (float(request.level), weight)))


def _gain(entry: Entry, text: str | None, _: Request) -> list[Value]:
    return _labelled(entry, text, KernelCall(entry.kernel, _gain_params(entry, text)))


def _gain_params(entry: Entry, text: str | None) -> tuple[float, ...]:
    discount = 2.0 if entry.kernel == "normalized_g" else 0.0
    pairs = _pairs(entry, text)
    flat = [x for grade, gain in pairs.items() if _is_int(grade) for x in (float(grade), gain)]
    return (math.inf, 0.0, discount, *flat)


def _gain_of_level(entry: Entry, text: str | None, request: Request) -> list[Value]:
    """The one gain measure that asks for items of the level that -l sets."""
    params = (float(request.level), *_gain_params(entry, text))
    return _labelled(entry, text, KernelCall(entry.kernel, params))


def _rbp(entry: Entry, text: str | None, _: Request) -> list[Value]:
    pairs = _pairs(entry, text)
    persistence = pairs.get("p", 0.9)
    if entry.kernel == "rbp_residual":
        return _labelled(entry, text, KernelCall(entry.kernel, (persistence,)))
    flat = [x for grade, gain in pairs.items() if _is_int(grade) for x in (float(grade), gain)]
    return _labelled(entry, text, KernelCall(entry.kernel, (persistence, math.inf, *flat)))


def _relstring(entry: Entry, text: str | None, _: Request) -> list[Value]:
    return [
        replace(v, label=v.label) for v in _labelled(entry, text, KernelCall("grade_at", (1.0,)))
    ]


def _numbers(entry: Entry, text: str | None) -> tuple[float, ...]:
    if text is None:
        return entry.defaults
    try:
        return tuple(float(t) for t in text.split(","))
    except ValueError:
        raise MeasureError(f"{entry.name}: {text!r} is not a list of numbers") from None


def _whole_numbers(entry: Entry, text: str | None) -> tuple[int, ...]:
    cutoffs = sorted(int(x) for x in _numbers(entry, text))
    if cutoffs[0] <= 0 or len(set(cutoffs)) < len(cutoffs):
        raise MeasureError(f"{entry.name}: cutoffs must be positive and differ, not {text!r}")
    return tuple(cutoffs)


def _is_int(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+", text) is not None


def _pairs(entry: Entry, text: str | None) -> dict[str, float]:
    pairs: dict[str, float] = {}
    for pair in (text or "").split(",") if text else []:
        name, equals, value = pair.partition("=")
        try:
            if not equals:
                raise ValueError
            pairs[name] = float(value)
        except ValueError:
            raise MeasureError(f"{entry.name}: {text!r} is not made of name=number") from None
    return pairs


_COUNT = Value("", None, whole=True, summary="sum")
_GEOMETRIC = Value("", None, summary="geometric", each_topic=False)

# In the order in which trec_eval prints them.
ENTRIES: dict[str, Entry] = {
    e.name: e
    for e in (
        Entry("runid", _no_kernel, template=Value("", None, each_topic=False)),
        Entry("num_q", _no_kernel, template=Value("", None, whole=True, each_topic=False)),
        Entry("num_ret", _unleveled, "num_ret", template=replace(_COUNT, of_missing=0.0)),
        Entry("num_rel", _single, "num_rel", template=_COUNT),
        Entry("num_rel_ret", _single, "num_rel_ret", template=_COUNT),
        Entry("map", _single, "average_precision", (math.inf,)),
        Entry("gm_map", _single, "average_precision", (math.inf,), _GEOMETRIC),
        Entry("Rprec", _single, "r_precision", (1.0,)),
        Entry("bpref", _single, "bpref"),
        Entry("recip_rank", _single, "reciprocal_rank", (math.inf,)),
        Entry("iprec_at_recall", _at_shares, "interpolated_at", _RECALLS),
        Entry("P", _at_cutoffs, "precision_at", _CUTOFFS),
        Entry(
            "relstring",
            _relstring,
            "grade_at",
            (10.0,),
            template=Value("", None, summary="", of_missing=0.0),
        ),
        Entry("recall", _at_cutoffs, "recall_at", _CUTOFFS),
        Entry("infAP", _single, "inferred_ap"),
        Entry("gm_bpref", _single, "bpref", template=_GEOMETRIC),
        Entry("Rprec_mult", _at_shares, "r_precision", _MULTIPLES),
        Entry("utility", _utility, "utility", (1.0, -1.0, 0.0, 0.0), Value("", None, of_missing=0)),
        Entry("11pt_avg", _eleven_points, "interpolated_mean", _RECALLS),
        Entry("binG", _single, "binary_g"),
        Entry("G", _gain, "normalized_g"),
        Entry("dcg", _gain, "dcg"),
        Entry("ideal_dcg", _gain, "ideal_dcg"),
        Entry("ndcg", _gain, "ndcg"),
        Entry("ndcg_rel", _gain, "ndcg_rel"),
        Entry("Rndcg", _gain_of_level, "rndcg"),
        Entry("ndcg_cut", _at_cutoffs, "ndcg", _CUTOFFS),
        Entry("map_cut", _at_cutoffs, "average_precision", _CUTOFFS),
        Entry("relative_P", _at_cutoffs, "relative_precision_at", _CUTOFFS),
        Entry("success", _at_cutoffs, "success_at", (1, 5, 10)),
        Entry("set_P", _single, "set_precision"),
        Entry("set_relative_P", _single, "set_relative_precision"),
        Entry("set_recall", _single, "set_recall"),
        Entry("set_map", _single, "set_ap"),
        Entry("set_F", _set_f, "set_f", (1.0,)),
        Entry("num_nonrel_judged_ret", _single, "num_nonrel_judged_ret", template=_COUNT),
        Entry("yaap", _single, "yaap"),
        Entry("rbp", _rbp, "rbp_graded"),
        Entry("rbp_resid", _rbp, "rbp_residual", template=Value("", None, of_missing=0)),
        Entry(
            "unj", _at_cutoffs, "unjudged_at", (5, 10, 20), template=Value("", None, of_missing=0)
        ),
    )
}

_OFFICIAL = (
    "runid",
    "num_q",
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "map",
    "gm_map",
    "Rprec",
    "bpref",
    "recip_rank",
    "iprec_at_recall",
    "P",
)
_SETS = ("set_P", "set_recall", "set_relative_P", "set_map", "set_F")
NICKNAMES: dict[str, tuple[str, ...]] = {
    "official": _OFFICIAL,
    "set": ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", *_SETS),
    "all_trec": (
        *_OFFICIAL,
        "relstring",
        "recall",
        "unj",
        "rbp",
        "rbp_resid",
        "infAP",
        "gm_bpref",
        "utility",
        "11pt_avg",
        "ndcg",
        "relative_P",
        "Rprec_mult",
        "success",
        "map_cut",
        "ndcg_cut",
        "ndcg_rel",
        "Rndcg",
        "binG",
        "G",
        *_SETS,
        "num_nonrel_judged_ret",
    ),
}
UNSUPPORTED = ("all_prefs", "prefs", "qrels_jg", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg")


def requested_values(request: Request) -> list[Value]:
    """All values to print, in trec_eval's order."""
    params: dict[str, str] = {}
    marked: set[str] = set()
    for text in request.measures:
        name, dot, inside = text.partition(".")
        if dot:
            if not inside:
                raise MeasureError(f"no parameters after the dot in the measure {text!r}")
            params.setdefault(name, inside)
        marked.update(NICKNAMES.get(name, (name,)))
    for name in marked:
        if name in UNSUPPORTED or name.startswith("prefs_"):
            raise MeasureError(
                f"{name}: measures of preferences and of several judges are not supported"
            )
        if name not in ENTRIES:
            names = [*ENTRIES, *NICKNAMES]
            raise MeasureError(f"No measure of trec_eval named {name!r}.{suggest(name, names)}")
    return [
        value
        for name, entry in ENTRIES.items()
        if name in marked
        for value in entry.build(entry, params.get(name), request)
    ]
