"""Cranfield as a provider of measures for ir_measures.

    import cranfield.compat.ir_measures as provider
    provider.install()

From then on `ir_measures.calc_aggregate` and its relatives answer from Cranfield's core for the
measures listed here, and from ir_measures' own providers for the rest. Values are those that
ir_measures gives without it: rankings are made as the provider does that would have answered
(scores compared as 32-bit floats where that is pytrec_eval, ties by ascending item id for the
measures that are not trec_eval's), and topics a run misses get the measure's default.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cranfield.data import Judgements, Run
from cranfield.data.columns import is_frame
from cranfield.errors import InputError, MissingExtraError
from cranfield.evaluation.kernel_plan import TopicScorer
from cranfield.measures.ranked.kernel_calls import KernelCall

try:
    import ir_measures
    from ir_measures import measures as declared
    from ir_measures import providers
    from ir_measures.providers.base import NOT_PROVIDED, Choices
    from ir_measures.providers.base import Any as Anything
    from ir_measures.util import QrelsConverter, RunConverter
except ModuleNotFoundError:
    raise MissingExtraError("ir-measures", "compat", "The provider for ir_measures") from None

_VERSION = 9.0  # of trec_eval, whose rounding of recall levels pytrec_eval has
_LINEAR, _EXPONENTIAL = 0.0, 1.0
_LOG2 = 0.0


@dataclass(frozen=True, slots=True)
class Ranking:
    """How the provider that is stood in for makes rankings; measures that share it share a pass."""

    ties: Literal["id", "id-ascending"] = "id"
    single_precision: bool = True
    judged_only: bool = False
    gains: tuple[tuple[int, int], ...] = ()


def _level(measure: Any) -> float:
    return float(measure["rel"])


def _cutoff(measure: Any) -> float:
    cutoff = measure["cutoff"]
    return math.inf if cutoff is NOT_PROVIDED else float(cutoff)


def _binary(kernel: str, *params: float) -> Callable[[Any], KernelCall]:
    return lambda m: KernelCall(kernel, (_level(m), *params))


def _binary_at(kernel: str) -> Callable[[Any], KernelCall]:
    return lambda m: KernelCall(kernel, (_level(m), _cutoff(m)))


def _ndcg(measure: Any) -> KernelCall:
    gain = _EXPONENTIAL if measure["dcg"] == "exp-log2" else _LINEAR
    return KernelCall("ndcg", (_cutoff(measure), gain, _LOG2))


def _num_ret(measure: Any) -> KernelCall:
    if measure["rel"] is NOT_PROVIDED:
        return KernelCall("num_ret", ())
    return KernelCall("num_rel_ret", (_level(measure),))


def _set_p(measure: Any) -> KernelCall:
    kernel = "set_relative_precision" if measure["relative"] else "set_precision"
    return KernelCall(kernel, (_level(measure),))


# What ir_measures calls beta is, in its results, the square of beta: trec_eval's parameter.
_CALLS: dict[str, Callable[[Any], KernelCall | float]] = {
    "P": _binary_at("precision_at"),
    "R": _binary_at("recall_at"),
    "RR": _binary_at("reciprocal_rank"),
    "AP": _binary_at("average_precision"),
    "Success": _binary_at("success_at"),
    "Rprec": _binary("r_precision", 1.0),
    "Bpref": _binary("bpref"),
    "infAP": _binary("inferred_ap"),
    "IPrec": lambda m: KernelCall("interpolated_at", (_level(m), float(m["recall"]), _VERSION)),
    "nDCG": _ndcg,
    "ERR": lambda m: KernelCall("err", (_cutoff(m), 4.0)),
    "RBP": lambda m: KernelCall("rbp", (_level(m), float(m["p"]), _cutoff(m))),
    "Judged": lambda m: KernelCall("judged_at", (_cutoff(m),)),
    "SetP": _set_p,
    "SetR": _binary("set_recall"),
    "SetF": lambda m: KernelCall("set_f", (_level(m), float(m["beta"]))),
    "SetAP": _binary("set_ap"),
    "NumQ": lambda _: 1.0,
    "NumRel": _binary("num_rel"),
    "NumRet": _num_ret,
}


def _ranking(measure: Any) -> Ranking:
    """The ranking that ir_measures' own provider of this measure looks at."""
    judged_only = bool(measure.params.get("judged_only", False))
    cut = measure.params.get("cutoff", NOT_PROVIDED) is not NOT_PROVIDED
    if measure.NAME == "Judged" or (measure.NAME == "RR" and cut):
        return Ranking("id-ascending", single_precision=False, judged_only=judged_only)
    if measure.NAME in ("ERR", "RBP") or measure.params.get("dcg") == "exp-log2":
        return Ranking(single_precision=False, judged_only=judged_only)
    gains = measure.params.get("gains", NOT_PROVIDED)
    mapped = () if gains is NOT_PROVIDED else tuple(sorted(gains.items()))
    return Ranking(judged_only=judged_only, gains=mapped)


class CranfieldProvider(providers.Provider):  # type: ignore[misc]
    """Cranfield's compiled core."""

    NAME = "cranfield"
    SUPPORTED_MEASURES = [  # noqa: RUF012 - the name and kind that ir_measures asks for
        declared._P(cutoff=Anything(), rel=Anything(), judged_only=Anything()),
        declared._R(cutoff=Anything(), rel=Anything(), judged_only=Anything()),
        declared._RR(cutoff=Anything(), rel=Anything(), judged_only=Anything()),
        declared._AP(cutoff=Anything(), rel=Anything(), judged_only=Anything()),
        declared._Success(cutoff=Anything(), rel=Anything(), judged_only=Anything()),
        declared._Rprec(rel=Anything(), judged_only=Anything()),
        declared._Bpref(rel=Anything()),
        declared._infAP(rel=Anything()),
        declared._IPrec(recall=Anything(), rel=Anything(), judged_only=Anything()),
        declared._nDCG(
            cutoff=Anything(), dcg=Choices("log2"), gains=Anything(), judged_only=Anything()
        ),
        declared._nDCG(
            cutoff=Anything(),
            dcg=Choices("exp-log2"),
            gains=Choices(NOT_PROVIDED),
            judged_only=Anything(),
        ),
        declared._ERR(cutoff=Anything()),
        declared._RBP(cutoff=Anything(), p=Anything(), rel=Anything(required=True)),
        declared._Judged(cutoff=Anything()),
        declared._SetP(rel=Anything(), relative=Anything(), judged_only=Anything()),
        declared._SetR(rel=Anything()),
        declared._SetF(rel=Anything(), beta=Anything(), judged_only=Anything()),
        declared._SetAP(rel=Anything(), judged_only=Anything()),
        declared._NumQ(),
        declared._NumRel(rel=Anything()),
        declared._NumRet(rel=Anything()),
    ]

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> CranfieldEvaluator:
        return CranfieldEvaluator(list(measures), QrelsConverter(qrels).as_dict_of_dict())


class CranfieldEvaluator(providers.Evaluator):  # type: ignore[misc]
    """Judgements and measures, ready for any number of runs."""

    def __init__(self, measures: list[Any], judged: Mapping[str, Mapping[str, int]]) -> None:
        super().__init__(measures, set(judged))
        self._by_name = {str(m): m for m in measures}
        groups: dict[Ranking, dict[str, KernelCall | float]] = {}
        for name, measure in self._by_name.items():
            groups.setdefault(_ranking(measure), {})[name] = _CALLS[measure.NAME](measure)
        judged = {topic: items for topic, items in judged.items() if items}
        indexed: dict[tuple[tuple[int, int], ...], Judgements] = {}
        self._scorers = []
        for ranking, columns in groups.items():
            if ranking.gains not in indexed:
                indexed[ranking.gains] = Judgements.from_dict(_map_grades(judged, ranking.gains))
            self._scorers.append(
                TopicScorer(
                    indexed[ranking.gains],
                    columns,
                    judged_only=ranking.judged_only,
                    ties=ranking.ties,
                    single_precision=ranking.single_precision,
                )
            )

    def iter_calc(self, run: Any) -> Iterator[Any]:
        """The value of every measure for every judged topic; the default where the run has none."""
        scored: set[str] = set()
        for values in self._scored(run):
            scored.update(values)
            for topic, row in values.items():
                for name, value in row.items():
                    yield ir_measures.Metric(topic, self._by_name[name], value)
        missing = sorted(self.qrel_qids - scored)
        for name in sorted(self._by_name) if missing else ():
            measure = self._by_name[name]
            for topic in missing:
                yield ir_measures.Metric(topic, measure, measure.DEFAULT)

    def _scored(self, run: Any) -> Iterator[dict[str, dict[str, float]]]:
        table = _as_table(run)
        run_dict = None
        for scorer in self._scorers:
            values = None if table is None else scorer.of_table(table)
            if values is None:
                if run_dict is None:
                    run_dict = RunConverter(run).as_dict_of_dict()
                values = scorer.of_dict(run_dict)
            yield values


def _map_grades(
    judged: Mapping[str, Mapping[str, int]], gains: tuple[tuple[int, int], ...]
) -> Mapping[str, Mapping[str, int]]:
    if not gains:
        return judged
    new = dict(gains)
    return {t: {i: new.get(g, g) for i, g in items.items()} for t, items in judged.items()}


def _as_table(run: Any) -> Run | None:
    """The columns of a data frame with text ids; None for what ir_measures must convert."""
    if not is_frame(run) or not hasattr(run, "itertuples"):
        return None
    columns = [run[name] for name in ("query_id", "doc_id", "score") if name in run.columns]
    if len(columns) < 3 or not all(_is_text(c) for c in columns[:2]):
        return None
    try:
        return Run.from_rows(*columns)
    except InputError:
        return None


def _is_text(column: Any) -> bool:
    return len(column) > 0 and all(
        isinstance(column.iloc[at], str) for at in (0, len(column) // 2, -1)
    )


cranfield = providers.register(CranfieldProvider())


def install() -> None:
    """Lets Cranfield answer first in ir_measures' default pipeline; does nothing twice."""
    if cranfield not in ir_measures.DefaultPipeline.providers:
        ir_measures.DefaultPipeline.providers.insert(0, cranfield)


def uninstall() -> None:
    """Gives ir_measures' default pipeline back to its own providers."""
    if cranfield in ir_measures.DefaultPipeline.providers:
        ir_measures.DefaultPipeline.providers.remove(cranfield)


__all__ = ["CranfieldEvaluator", "CranfieldProvider", "install", "uninstall"]
