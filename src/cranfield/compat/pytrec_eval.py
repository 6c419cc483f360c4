"""The interface of pytrec_eval on Cranfield's core: change one import, keep the numbers.

    from cranfield.compat import pytrec_eval

Names, arguments, keys of results and values are those of pytrec_eval-terrier, which wraps
trec_eval 9: recall levels are rounded as that version does, and scores are compared as 32-bit
floats. What would crash the process there (`ndcg_5`, `P_0`) raises ValueError here, and so does
a score that is not a number, for which that program's order is undefined.

>>> evaluator = RelevanceEvaluator({"q1": {"d1": 0, "d2": 1}}, {"map", "P_2"})
>>> evaluator.evaluate({"q1": {"d1": 2.0, "d2": 1.0}})
{'q1': {'map': 0.5, 'P_2': 0.5}}
"""

from __future__ import annotations

import math
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import StringIO, TextIOBase
from typing import Any, Literal, overload

import numpy as np

from cranfield._version import __version__
from cranfield.data import Judgements, Run
from cranfield.errors import InputError, Problem, UsageError, suggest
from cranfield.evaluation.kernel_plan import TopicScorer
from cranfield.io import trec
from cranfield.measures.ranked.kernel_calls import KernelCall
from cranfield.validation import validate_params

_CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
_RECALLS = tuple(f"{i / 10:.1f}" for i in range(11))
_MULTIPLES = tuple(f"{i / 5:.1f}" for i in range(1, 11))
_TREC_EVAL = 9.0
_SMALLEST = 0.00001  # what trec_eval takes the logarithm of when a score is lower

# Rounded values of a topic by key, for a level of relevance and the texts of parameters.
Column = tuple[str, KernelCall | float]
Family = Callable[[float, Sequence[str]], list[Column]]


def _constant(name: str, value: float) -> Family:
    return lambda _level, _params: [(name, value)]


def _plain(name: str, kernel: str, *params: float) -> Family:
    """A measure of relevance at a level; parameters in its name are ignored, as in trec_eval."""
    return lambda level, _params: [(name, KernelCall(kernel, (level, *params)))]


def _cut(name: str, kernel: str, defaults: Sequence[str] = _CUTOFFS) -> Family:
    def columns(level: float, params: Sequence[str]) -> list[Column]:
        cutoffs = sorted({int(float(p)) for p in params or defaults})
        if cutoffs[0] < 1:
            raise ValueError(f"unsupported measure {name}_{cutoffs[0]}: a cutoff is at least 1")
        if kernel == "ndcg":
            return [(f"{name}_{k}", KernelCall("ndcg", (float(k), 0.0, 0.0))) for k in cutoffs]
        return [(f"{name}_{k}", KernelCall(kernel, (level, float(k)))) for k in cutoffs]

    return columns


def _share(name: str, kernel: str, defaults: Sequence[str], *last: float) -> Family:
    """A measure at parts or multiples of the relevant items."""

    def columns(level: float, params: Sequence[str]) -> list[Column]:
        parts = sorted({float(p) for p in params or defaults})
        return [(f"{name}_{p:.2f}", KernelCall(kernel, (level, p, *last))) for p in parts]

    return columns


def _eleven_points(level: float, params: Sequence[str]) -> list[Column]:
    points = sorted(float(p) for p in params or _RECALLS)
    return [("11pt_avg", KernelCall("interpolated_mean", (level, _TREC_EVAL, *points)))]


def _set_f(level: float, params: Sequence[str]) -> list[Column]:
    # trec_eval takes the first parameter, and takes it for the square of beta.
    return [("set_F", KernelCall("set_f", (level, float(params[0]) if params else 1.0)))]


def _utility(level: float, params: Sequence[str]) -> list[Column]:
    weights = [float(p) for p in params or ("1", "-1", "0", "0")]
    if len(weights) != 4:
        raise ValueError(f"unsupported measure utility: {len(weights)} coefficients, expected 4")
    return [("utility", KernelCall("utility", (level, *weights, 0.0)))]


def _gain(name: str, kernel: str, discount: float = 0.0, *, leveled: bool = False) -> Family:
    """A gain measure; `leveled` ones ask whether an item reaches the level of relevance."""

    def columns(level: float, params: Sequence[str]) -> list[Column]:
        if params:
            hint = "; for a cutoff write ndcg_cut_k" if name == "ndcg" else ""
            raise ValueError(
                f"unsupported measure {name}_{','.join(params)}: {name} takes no number{hint}"
            )
        before = (level,) if leveled else ()
        return [(name, KernelCall(kernel, (*before, math.inf, 0.0, discount)))]

    return columns


# In the order in which trec_eval registers and pytrec_eval reports them.
_FAMILIES: dict[str, Family] = {
    "runid": _constant("runid", 0.0),
    "num_q": _constant("num_q", 1.0),
    "num_ret": lambda _level, _params: [("num_ret", KernelCall("num_ret", ()))],
    "num_rel": _plain("num_rel", "num_rel"),
    "num_rel_ret": _plain("num_rel_ret", "num_rel_ret"),
    "map": _plain("map", "average_precision", math.inf),
    "gm_map": _plain("gm_map", "average_precision", math.inf),
    "Rprec": _plain("Rprec", "r_precision", 1.0),
    "bpref": _plain("bpref", "bpref"),
    "recip_rank": _plain("recip_rank", "reciprocal_rank", math.inf),
    "iprec_at_recall": _share("iprec_at_recall", "interpolated_at", _RECALLS, _TREC_EVAL),
    "P": _cut("P", "precision_at"),
    "relstring": _constant("relstring", 0.0),
    "recall": _cut("recall", "recall_at"),
    "infAP": _plain("infAP", "inferred_ap"),
    "gm_bpref": _plain("gm_bpref", "bpref"),
    "Rprec_mult": _share("Rprec_mult", "r_precision", _MULTIPLES),
    "utility": _utility,
    "11pt_avg": _eleven_points,
    "binG": _plain("binG", "binary_g"),
    "G": _gain("G", "normalized_g", discount=2.0),
    "ndcg": _gain("ndcg", "ndcg"),
    "ndcg_rel": _gain("ndcg_rel", "ndcg_rel"),
    "Rndcg": _gain("Rndcg", "rndcg", leveled=True),
    "ndcg_cut": _cut("ndcg_cut", "ndcg"),
    "map_cut": _cut("map_cut", "average_precision"),
    "relative_P": _cut("relative_P", "relative_precision_at"),
    "success": _cut("success", "success_at", ("1", "5", "10")),
    "set_P": _plain("set_P", "set_precision"),
    "set_relative_P": _plain("set_relative_P", "set_relative_precision"),
    "set_recall": _plain("set_recall", "set_recall"),
    "set_map": _plain("set_map", "set_ap"),
    "set_F": _set_f,
    "num_nonrel_judged_ret": _plain("num_nonrel_judged_ret", "num_nonrel_judged_ret"),
}

supported_measures: set[str] = set(_FAMILIES)

_PREFERENCES = (
    "prefs_simp",
    "prefs_pair",
    "prefs_avgjg",
    "prefs_num_prefs_poss",
    "prefs_num_prefs_ful",
    "prefs_num_prefs_ful_ret",
)
_MORE_PREFERENCES = (
    "prefs_avgjg_Rnonrel",
    "prefs_avgjg_Rnonrel_ret",
    "prefs_avgjg_imp",
    "prefs_avgjg_ret",
    "prefs_pair_imp",
    "prefs_pair_ret",
    "prefs_simp_imp",
    "prefs_simp_ret",
)

# Those of other formats of judgements are known by name, but their measures are not supported.
supported_nicknames: dict[str, set[str]] = {
    "official": {
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
    },
    "set": {
        "runid",
        "num_q",
        "num_ret",
        "num_rel",
        "num_rel_ret",
        "utility",
        "set_P",
        "set_relative_P",
        "set_recall",
        "set_map",
        "set_F",
    },
    "all_trec": set(_FAMILIES),
    "prefs": {"runid", "num_q", *_PREFERENCES},
    "all_prefs": {"runid", "num_q", *_PREFERENCES, *_MORE_PREFERENCES},
    "qrels_jg": {"runid", "num_q", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"},
}

_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_WITH_PARAMETERS = re.compile(
    f"({'|'.join(sorted(map(re.escape, _FAMILIES), key=len, reverse=True))})"
    rf"[._]({_NUMBER}(?:,{_NUMBER})*)"
)


def _columns(measures: Iterable[str], level: float) -> dict[str, KernelCall | float]:
    """The values that measures, nicknames and parameters in names stand for, in order."""
    names = [n for m in measures for n in supported_nicknames.get(m, (m,))]
    parameters: dict[str, set[str]] = {}
    for name in names:
        match = None if name in supported_measures else _WITH_PARAMETERS.match(name)
        if name in supported_measures:
            parameters.setdefault(name, set())
        elif match is not None:
            parameters.setdefault(match[1], set()).update(match[2].split(","))
        else:
            raise ValueError(f"unsupported measure {name}{suggest(name, supported_measures)}")
    return {
        key: call
        for family, columns in _FAMILIES.items()
        if family in parameters
        for key, call in columns(level, sorted(parameters[family]))
    }


class RelevanceEvaluator:
    """Judgements and measures, ready to evaluate any number of runs.

    `measures` are names as in `supported_measures`, nicknames, and names with parameters, such
    as `P_5`, `ndcg_cut.5,10` or `iprec_at_recall_0.25`. Items count as relevant from
    `relevance_level` on; `judged_docs_only_flag` takes unjudged items out of the rankings.
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        try:
            level = operator.index(relevance_level)
        except TypeError:
            raise TypeError("Argument relevance_level should be an integer.") from None
        if level < 1:
            raise TypeError("Argument relevance_level should be positive.")
        columns = _columns(measures, float(level))
        self._logarithms = [name for name in ("gm_map", "gm_bpref") if name in columns]
        judged = {topic: items for topic, items in query_relevance.items() if len(items) > 0}
        _check_grades(judged)
        self._scorer = TopicScorer(
            Judgements.from_dict(judged),
            columns,
            judged_only=bool(judged_docs_only_flag),
            single_precision=True,
        )

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """{topic: {measure: value}} for the judged topics of {topic: {item: score}}."""
        if not scores:
            return {}
        if not isinstance(scores, dict):
            raise TypeError("Argument object scores should be of type dictionary.")
        try:
            result = self._scorer.of_dict(scores)
        except (TypeError, OverflowError) as error:
            raise TypeError(f"Unable to extract query/object scores. ({error})") from None
        for name in self._logarithms:
            for values in result.values():
                values[name] = math.log(max(values[name], _SMALLEST))
        return result


def _check_grades(judged: Mapping[Any, Any]) -> None:
    for topic, items in judged.items():
        if not isinstance(topic, str):
            raise TypeError(f"Expected string as key. (found {topic!r})")
        if not isinstance(items, Mapping):
            raise TypeError(f"Expected dictionary as value. (topic {topic!r})")
        kinds = set(map(type, items))
        if not all(issubclass(kind, str) for kind in kinds):
            raise TypeError(
                "Expected mapping of document id to query relevance or matching score. "
                f"(topic {topic!r})"
            )
        kinds = set(map(type, items.values()))
        if not all(issubclass(kind, int | np.integer) for kind in kinds):
            raise TypeError(f"Expected relevance to be integer. (topic {topic!r})")


class ParseError(InputError, ValueError):
    """A line that is not what a run or a file of judgements consists of."""


class DuplicateError(ParseError, AssertionError):
    """An item that occurs twice in a topic."""


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """{topic: {item: score}} from the lines `topic Q0 item rank score tag` of a run.

    An open file is read by the compiled core, other lines one by one.
    """
    lines, columns = _read_whole(f_run, "run")
    if columns is not None:
        topics, *rest, _ = columns
        return defaultdict(dict, Run(tuple(topics), *rest).to_dict())
    run: dict[str, dict[str, float]] = defaultdict(dict)
    for number, line in enumerate(lines, 1):
        try:
            topic, _, item, _, score, _ = line.split()
            value = float(score)
        except ValueError:
            raise _line_error("run", number, line, "topic Q0 item rank score tag") from None
        items = run[topic]
        if item in items:
            raise _duplicate_error("run", number, topic, item)
        items[item] = value
    return run


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """{topic: {item: grade}} from the lines `topic iteration item grade` of judgements."""
    lines, columns = _read_whole(f_qrel, "judgements")
    if columns is not None and all(float(g).is_integer() for g in columns[4]):
        topics, *rest, _ = columns
        grades: dict[str, dict[str, Any]] = Judgements(tuple(topics), *rest).to_dict()
        return defaultdict(dict, grades)
    judgements: dict[str, dict[str, int]] = defaultdict(dict)
    for number, line in enumerate(lines, 1):
        try:
            topic, _, item, grade = line.split()
            value = int(grade)
        except ValueError:
            raise _line_error("judgements", number, line, "topic iteration item grade") from None
        items = judgements[topic]
        if item in items:
            raise _duplicate_error("judgements", number, topic, item)
        items[item] = value
    return judgements


def _read_whole(lines: Iterable[str], kind: str) -> tuple[Iterable[str], Any]:
    """The lines again, and the columns of an open file in which nothing is wrong."""
    if not isinstance(lines, TextIOBase):
        return lines, None
    text = lines.read()
    return StringIO(text), trec.parse_bytes(text.encode("utf-8", "surrogatepass"), kind)


def _line_error(kind: str, number: int, line: str, shape: str) -> ParseError:
    return ParseError(
        f"<{kind}>", [Problem(number, f"cannot read {line.strip()!r} (expected: {shape})")]
    )


def _duplicate_error(kind: str, number: int, topic: str, item: str) -> DuplicateError:
    message = f"item {item!r} occurs twice for topic {topic!r}; keep one of them"
    return DuplicateError(f"<{kind}>", [Problem(number, message)])


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """The value over topics: a sum for `num_`, a geometric mean for `gm_`, else a mean."""
    if measure.startswith("num_"):
        return float(np.sum(values))
    if measure.startswith("gm_"):
        return float(np.exp(np.sum(values) / len(values)))
    return float(np.mean(values))


@overload
def from_pytrec(source: Mapping[str, Mapping[str, float]], kind: Literal["run"]) -> Run: ...
@overload
def from_pytrec(
    source: Mapping[str, Mapping[str, float]], kind: Literal["judgements"]
) -> Judgements: ...
@validate_params
def from_pytrec(
    source: Mapping[str, Mapping[str, float]], kind: Literal["run", "judgements"]
) -> Run | Judgements:
    """A run or judgements from the nested dict that pytrec_eval calls run or qrel.

    >>> from_pytrec({"q1": {"d1": 2.5}}, "run").topics
    ('q1',)
    """
    if kind == "run":
        return Run.from_dict(source)
    if kind == "judgements":
        return Judgements.from_dict(source)
    raise UsageError(f"kind={kind!r} is not 'run' or 'judgements'")


__all__ = [
    "DuplicateError",
    "ParseError",
    "RelevanceEvaluator",
    "__version__",
    "compute_aggregated_measure",
    "from_pytrec",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]
