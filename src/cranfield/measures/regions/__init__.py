"""Measures of regions: boxes of a run against those of a truth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from cranfield.errors import MeasureError
from cranfield.measures.base import Measure, Param
from cranfield.references import Source

Kind: TypeAlias = Literal["precision", "recall", "f", "localisation", "quality", "credit"]
FAMILY = "regions"
NEEDS = frozenset({"regions"})
# Thresholds of the overlap that COCO averages over, and its ranges of areas.
# As its program spaces them, to the last digit: an overlap of exactly 17 in 20 is met, and so is
# one of 9 in 10. Adding up steps of 0.05 gives other last digits.
OVERLAPS = (*(0.5 + k * ((0.95 - 0.5) / 9) for k in range(9)), 0.95)
SIZES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "all": (0.0, 1e10),
        "small": (0.0, 32.0**2),
        "medium": (32.0**2, 96.0**2),
        "large": (96.0**2, 1e10),
    }
)
DEFAULT_MEASURES = "coco"
DEPTH = 100  # boxes of an item and a concept that count
TIES = "boxes that are equally sure in the order of items, then of the file"
NO_TRUTH = "no box of the concept in the truth (and range of sizes): concept left out"


class RegionPlan(NamedTuple):
    """What the compiled matching is asked for."""

    kind: Kind
    rule: str
    overlaps: tuple[float, ...]
    size: tuple[float, float]
    depth: int  # 0 is any number
    points: str = "101"
    confidence: float = math.nan
    beta: float = 1.0
    shape: str = "box"


def _overlaps(measure: Measure) -> tuple[float, ...]:
    overlap = measure.value_of("iou")
    return OVERLAPS if overlap is None else (float(overlap),)


def _size(measure: Measure) -> tuple[float, float]:
    return SIZES[str(measure.value_of("size"))]


def _shape(measure: Measure) -> str:
    return str(measure.value_of("shape"))


def _precision(measure: Measure) -> RegionPlan:
    rule = str(measure.value_of("rule"))
    if rule == "coco":
        depth = int(measure.at or DEPTH)
        return RegionPlan(
            "precision", "coco", _overlaps(measure), _size(measure), depth, shape=_shape(measure)
        )
    if _shape(measure) != "box":
        raise MeasureError(f"{measure}: the rules of VOC know no masks")
    if measure.value_of("size") != "all":
        raise MeasureError(f"{measure}: the rules of VOC know no sizes")
    overlap = measure.value_of("iou")
    return RegionPlan(
        "precision",
        "voc",
        (0.5 if overlap is None else float(overlap),),
        (0.0, math.inf),
        int(measure.at or 0),
        "11" if rule == "voc2007" else "all",
    )


def _written_precision(measure: Measure) -> str:
    """The formula of a rule; COCO's over one overlap is that of each of its terms."""
    if measure.value_of("rule") == "voc2007":
        return r"\frac{1}{11}\sum_{r\in\{0,0.1,\ldots,1\}}\max_{r'\ge r}p(r')"
    if measure.value_of("rule") == "voc2010":
        return r"\int_0^1\max_{r'\ge r}p(r')\,dr"
    levels = r"\frac{1}{101}\sum_{r\in\{0,0.01,\ldots,1\}}\max_{r'\ge r}"
    if measure.value_of("iou") is None:
        return r"\frac{1}{|T|}\sum_{t\in T}" + levels + "p_t(r')"
    return levels + "p(r')"


def _recall(measure: Measure) -> RegionPlan:
    return RegionPlan(
        "recall",
        "coco",
        _overlaps(measure),
        _size(measure),
        int(measure.at or DEPTH),
        shape=_shape(measure),
    )


def _f(measure: Measure) -> RegionPlan:
    return RegionPlan(
        "f",
        "coco",
        (float(measure.value_of("iou")),),
        _size(measure) if "size" in measure.params else SIZES["all"],
        int(measure.at or DEPTH),
        confidence=float(measure.value_of("threshold")),
        beta=float(measure.value_of("beta")),
        shape=_shape(measure) if "shape" in measure.params else "box",
    )


def _credit(measure: Measure) -> RegionPlan:
    return _f(measure)._replace(kind="credit", rule="credit")


def _quality(measure: Measure) -> RegionPlan:
    return _localisation(measure)._replace(kind="quality")


def _localisation(measure: Measure) -> RegionPlan:
    threshold = measure.value_of("threshold")
    return RegionPlan(
        "localisation",
        "coco",
        (float(measure.value_of("iou")),),
        _size(measure),
        int(measure.at or DEPTH),
        confidence=math.nan if threshold is None else float(threshold),
        shape=_shape(measure),
    )


_IOU = Param(
    float, None, "the overlap from which a box is right; unless told, the mean over 0.50 to 0.95",
    low=0.0, high=1.0,
)  # fmt: skip
_ONE_IOU = Param(float, 0.5, "the overlap from which a box is right", low=0.0, high=0.99)
_SIZE = Param(str, "all", "areas that count: below 32², to 96², or above", choices=tuple(SIZES))
_SHAPE = Param(
    str, "box", "what overlaps: boxes, or masks of which the files tell", choices=("box", "mask")
)
_CONFIDENCE = "how sure a box must be to count"

AP = Measure(
    name="AP.region",
    title="Average precision of regions",
    formula=r"\frac{1}{|T|}\sum_{t\in T}\frac{1}{101}\sum_{r\in\{0,0.01,\ldots,1\}}"
    r"\max_{r'\ge r}p_t(r')",
    source=Source("lin-coco", deviation="rule='voc2007' and 'voc2010' are Everingham's of VOC"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=NEEDS,
    plan=_precision,
    written=_written_precision,
    family=FAMILY,
    summary="Boxes of a concept in the order of their confidence, matched with those of the truth: "
    "the precision at levels of recall, averaged.",
    params={
        "iou": _IOU,
        "size": _SIZE,
        "rule": Param(
            str,
            "coco",
            "how boxes are matched and averaged: voc2007 at 11 points of recall, voc2010 at all",
            choices=("coco", "voc2007", "voc2010"),
        ),
        "shape": _SHAPE,
    },
    cutoff="optional",
    cutoff_last=True,
    mean_name="mAP.region",
    ties=TIES,
    undefined=NO_TRUTH,
    example="AP.region AP.region(iou=0.5) AP.region(size='small') AP.region(rule='voc2007') "
    "AP.region(shape='mask')",
)
AR = Measure(
    name="AR.region",
    title="Average recall of regions",
    formula=r"\frac{1}{|T|}\sum_{t\in T}\frac{\mathrm{TP}_t}{\mathrm{TP}_t+\mathrm{FN}_t}",
    source=Source("lin-coco"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=NEEDS,
    plan=_recall,
    family=FAMILY,
    summary="The part of the boxes of a concept that is matched by the surest k boxes of each "
    "item, averaged over thresholds of the overlap.",
    params={"iou": _IOU, "size": _SIZE, "shape": _SHAPE},
    cutoff="optional",
    cutoff_last=True,
    mean_name="mAR.region",
    ties=TIES,
    undefined=NO_TRUTH,
    example="AR.region@1 AR.region@100 AR.region@100(size='small')",
)
F = Measure(
    name="F.region",
    title="F of regions at a confidence",
    formula=r"\frac{(1+\beta^2)\mathrm{TP}}{(1+\beta^2)\mathrm{TP}+\beta^2\mathrm{FN}+\mathrm{FP}}",
    source=Source("lin-coco", deviation="matches as COCO's, F of them as Van Rijsbergen's"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=NEEDS,
    plan=_f,
    family=FAMILY,
    summary="Precision and recall of the boxes that are at least so sure, in one number.",
    params={
        "iou": _ONE_IOU,
        "threshold": Param(float, 0.5, _CONFIDENCE),
        "beta": Param(float, 1, "how much more recall counts than precision", low=0.0),
        "size": _SIZE,
        "shape": _SHAPE,
    },
    cutoff="optional",
    cutoff_last=True,
    ties=TIES,
    undefined=NO_TRUTH,
    example="F.region F.region(iou=0.75, threshold=0.3)",
)
LRP = Measure(
    name="LRP.region",
    title="Localisation recall precision error",
    formula=r"\frac{\sum_{i\in\mathrm{TP}}\frac{1-\mathrm{IoU}_i}{1-\tau}+\mathrm{FP}+\mathrm{FN}}"
    r"{\mathrm{TP}+\mathrm{FP}+\mathrm{FN}}",
    source=Source("oksuz-lrp", "1-6"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=NEEDS,
    plan=_localisation,
    family=FAMILY,
    summary="Wrong boxes, missed ones and how badly the right ones are placed, as one error; "
    "without a threshold at the confidence that makes it least (oLRP).",
    params={
        "iou": _ONE_IOU,
        "threshold": Param(float, None, _CONFIDENCE),
        "size": _SIZE,
        "shape": _SHAPE,
    },
    cutoff="optional",
    cutoff_last=True,
    mean_name="mLRP.region",
    ties=TIES,
    undefined=NO_TRUTH,
    example="LRP.region LRP.region(threshold=0.5)",
)
HF = Measure(
    name="HF.region",
    title="Hierarchical F of regions",
    formula=r"\frac{(1+\beta^2)PR}{\beta^2P+R},\quad P=\frac{1}{|D|}\sum_{d\in D}(1-c_d),"
    r"\quad R=\frac{1}{|G|}\sum_{g\in G}(1-c_g)",
    source=Source(
        "nowak-thesis",
        deviation="costs of confused concepts as in the ontology score, given to boxes that COCO's "
        "rules match by place",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=NEEDS,
    plan=_credit,
    family=FAMILY,
    summary="F of the boxes that are at least so sure, where a box in the right place with a near "
    "concept has part of the credit: 1 minus the cost of the confusion.",
    params={
        "iou": _ONE_IOU,
        "threshold": Param(float, 0.5, _CONFIDENCE),
        "beta": Param(float, 1, "how much more recall counts than precision", low=0.0),
    },
    cutoff="optional",
    cutoff_last=True,
    mean_name="mHF.region",
    ties=TIES,
    undefined="no box of the concept in the truth: concept left out",
    example="HF.region HF.region(iou=0.75, threshold=0.3)",
)
PQ = Measure(
    name="PQ.region",
    title="Panoptic quality",
    formula=r"\frac{\sum_{i\in\mathrm{TP}}\mathrm{IoU}_i}"
    r"{\mathrm{TP}+\frac{1}{2}\mathrm{FP}+\frac{1}{2}\mathrm{FN}}",
    source=Source(
        "kirillov-panoptic",
        "1",
        deviation="regions of the run may overlap: those that are at least so sure are matched as "
        "COCO's program matches them, the surest first",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=NEEDS,
    plan=_quality,
    family=FAMILY,
    summary="The overlaps of the right boxes over the mean count of boxes and objects: F.region "
    "times the mean overlap of right boxes. Of masks with shape='mask'.",
    params={
        "iou": _ONE_IOU,
        "threshold": Param(float, 0.5, _CONFIDENCE),
        "size": _SIZE,
        "shape": _SHAPE,
    },
    cutoff="optional",
    cutoff_last=True,
    mean_name="mPQ.region",
    ties=TIES,
    undefined=NO_TRUTH,
    example="PQ.region PQ.region(shape='mask', threshold=0.3)",
)
DECLARED: tuple[Measure, ...] = (AP, AR, F, LRP, PQ, HF)

REGION_SETS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "coco": (
            "AP.region",
            "AP.region(iou=0.5)",
            "AP.region(iou=0.75)",
            *(f"AP.region(size='{size}')" for size in ("small", "medium", "large")),
            *(f"AR.region@{k}" for k in (1, 10, 100)),
            *(f"AR.region@100(size='{size}')" for size in ("small", "medium", "large")),
        ),
        "segm": (
            "AP.region(shape='mask')",
            "AP.region(iou=0.5, shape='mask')",
            "AP.region(iou=0.75, shape='mask')",
            *(f"AP.region(size='{size}', shape='mask')" for size in ("small", "medium", "large")),
            *(f"AR.region@{k}(shape='mask')" for k in (1, 10, 100)),
            *(
                f"AR.region@100(size='{size}', shape='mask')"
                for size in ("small", "medium", "large")
            ),
        ),
        "voc": ("AP.region(rule='voc2007')", "AP.region(rule='voc2010')"),
    }
)


def parse_region_measures(names: str | Measure | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """Measures of regions from names, sets of them, or declarations; each once."""
    from cranfield.measures import REGIONS, measure

    def declared(entry: str | Measure) -> Measure:
        if isinstance(entry, Measure):
            declaration = entry
        else:
            try:
                declaration = REGIONS.find(entry)
            except MeasureError:
                declaration = measure(entry)
        if declaration.name not in REGIONS:
            raise MeasureError(
                f"{declaration} is not a measure of regions: those are {', '.join(REGIONS)}"
            )
        return declaration.check_complete()

    from cranfield.measures.parse import listed_measures

    parsed: dict[Measure, None] = {}
    for entry in listed_measures(names):
        members = REGIONS.members(entry) if isinstance(entry, str) else (entry,)
        for member in members:
            parsed[declared(member)] = None
    if not parsed:
        raise MeasureError("no measure was asked for. List them with: cranfield measures")
    return tuple(parsed)


def wants_masks(measures: str | Measure | Iterable[str | Measure]) -> bool:
    """Whether masks are to be read for some of the measures."""
    return any(m.plan(m).shape == "mask" for m in parse_region_measures(measures))
