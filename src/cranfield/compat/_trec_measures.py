"""The measures of trec_eval 10 under its names: parameters, kernels, how they are averaged."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from cranfield._records import dataclass, field, replace
from cranfield.errors import MeasureError, suggest
from cranfield.measures.ranked.plans import KernelCall

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
            known = [*ENTRIES, *NICKNAMES]
            raise MeasureError(f"No measure of trec_eval named {name!r}.{suggest(name, known)}")
    return [
        value
        for name, entry in ENTRIES.items()
        if name in marked
        for value in entry.build(entry, params.get(name), request)
    ]
