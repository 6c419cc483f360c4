"""Measures asked for by names, declarations, or a mixture of both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cranfield.errors import MeasureError
from cranfield.measures.base import Measure
from cranfield.registry import list_entries

# Parameters of ir_measures that are said in other words here.
_SAID_OTHERWISE = {
    ("dcg", "log2"): {},
    ("dcg", "exp-log2"): {"gain": "exp"},
    ("relative", False): {},
    ("judged_only", False): {},
}


def listed_measures(measures: str | Measure | Iterable[str | Measure]) -> list[str | Measure]:
    """Names and declarations one by one; a text may hold several names.

    Measures of the package ir_measures are taken by their names.
    """
    if _is_foreign(measures):
        return [_translated(measures)]
    if not isinstance(measures, str | Measure) and isinstance(measures, Iterable):
        measures = [_translated(entry) if _is_foreign(entry) else entry for entry in measures]
    return list_entries(measures, Measure)


def _is_foreign(entry: Any) -> bool:
    return type(entry).__module__.partition(".")[0] == "ir_measures" and hasattr(entry, "NAME")


def _translated(foreign: Any) -> str:
    """The name under which a measure of ir_measures is known here."""
    name, params = str(foreign.NAME), dict(foreign.params)
    if name == "NumRet" and "rel" in params:
        name = "NumRelRet"
    at = params.pop("cutoff", params.pop("recall", None))
    words: dict[str, Any] = {}
    for key, value in params.items():
        if (key, value) in _SAID_OTHERWISE:
            words |= _SAID_OTHERWISE[key, value]
        elif key == "judged_only":
            raise MeasureError(f"{foreign}: give judged_only=True to the evaluation instead")
        else:
            words[key] = value
    inside = ", ".join(f"{key}={value!r}" for key, value in words.items())
    return name + ("" if at is None else f"@{at}") + (f"({inside})" if inside else "")


def joined_measures(argv: Sequence[str]) -> list[str]:
    """The arguments with the names after -m in one, where they were not quoted: -m AP nDCG@10."""
    joined: list[str] = []
    at = 0  # of the names of measures, while more may follow
    for text in argv:
        if at and not text.startswith("-") and not Path(text).exists():
            from cranfield.measures import names_measures

            if names_measures(text):
                joined[at] += f" {text}"
                continue
        joined.append(text)
        follows = len(joined) > 1 and joined[-2] in ("-m", "--measures")
        at = len(joined) - 1 if follows else 0
    return joined


RANKED_ALIASES = {
    # trec_eval's names for a measure at cutoffs, and those whose values have its own rounding.
    "ndcg_cut": "nDCG",
    "map_cut": "AP",
    "gm_map": "AP(mean='geometric')",
    "gm_bpref": "Bpref(mean='geometric')",
    "iprec_at_recall": "iP(version=10)",
    "11pt_avg": "iAP(version=10)",
    "GMAP": "AP(mean='geometric')",
    # Papers and other programs.
    "Precision": "P",
    "Prec": "P",
    "Recall": "R",
    "F1": "F",
    # Of what a language model was given: order is of no effect.
    "ContextPrecision": "SetP",
    "context_precision": "SetP",
    "ContextRecall": "SetR",
    "context_recall": "SetR",
    "ContextF1": "SetF",
    "strec": "StRecall",
    "subtopic_recall": "StRecall",
    "Hits": "Success",
    "Hit": "Success",
    "HitRate": "Success",
    "hit_rate": "Success",
    "R_precision": "Rprec",
    "RPrecision": "Rprec",
    "R_prec": "Rprec",
    "average_precision": "AP",
    "mean_average_precision": "AP",
    "MeanAveragePrecision": "AP",
    "reciprocal_rank": "RR",
    "mean_reciprocal_rank": "RR",
    "ndcg_burges": "nDCG(gain='exp')",
    "IPrec": "iP(version=9)",
}

# Without a cutoff these are of all that was retrieved, as in ranx; in lower case.
BARE_ALIASES = {"f1": "SetF", "precision": "SetP", "recall": "SetR"}

LABEL_ALIASES = {
    "F1": "F.example",
    "F1.example": "F.example",
    "F1.concept": "F.concept",
    "samples_F1": "F.example",
    "macro_F1": "F.concept",
    "micro_F1": "F.concept(mean='micro')",
    "Precision.concept": "P.concept",
    "Precision.example": "P.example",
    "Recall.concept": "R.concept",
    "Recall.example": "R.example",
    "weighted_F1": "F.concept(mean='weighted')",
    # scikit-learn's names of scorers.
    "f1_samples": "F.example",
    "f1_macro": "F.concept",
    "f1_micro": "F.concept(mean='micro')",
    "f1_weighted": "F.concept(mean='weighted')",
    "precision_samples": "P.example",
    "precision_macro": "P.concept",
    "precision_micro": "P.concept(mean='micro')",
    "precision_weighted": "P.concept(mean='weighted')",
    "recall_samples": "R.example",
    "recall_macro": "R.concept",
    "recall_micro": "R.concept(mean='micro')",
    "recall_weighted": "R.concept(mean='weighted')",
    "jaccard_samples": "Accuracy.example",
    "jaccard_macro": "Jaccard.concept",
    "jaccard_micro": "Jaccard.concept(mean='micro')",
    "jaccard_weighted": "Jaccard.concept(mean='weighted')",
    "accuracy": "ExactMatch",
    "accuracy_score": "ExactMatch",
    "average_precision": "AP.concept",
    "roc_auc_ovr": "AUC",
    "label_ranking_average_precision": "AP.example",
    "label_ranking_average_precision_score": "AP.example",
    "label_ranking_loss": "RankingLoss",
    "matthews_corrcoef": "MCC.concept",
    "MCC": "MCC.concept",
    "cohen_kappa": "Kappa.concept",
    "Kappa": "Kappa.concept",
    "balanced_accuracy": "BalancedAccuracy.concept",
    "hamming_loss": "HammingLoss",
    "subset_accuracy": "ExactMatch",
    "roc_auc": "AUC",
    "top_k_accuracy": "Success.example",
    "TopK": "Success.example",
    "jaccard": "Jaccard.concept",
    "IoU": "Jaccard.concept",
    "specificity": "Specificity.concept",
    "brier_score_loss": "Brier",
    "log_loss": "LogLoss",
    "calibration_error": "ECE",
    "ConceptNetSimilarity": "HausdorffSimilarity",
}

# Names of other programs: the twelve figures of pycocotools, and torchmetrics' for them.
REGION_ALIASES = {
    "oLRP": "LRP.region",
    "mAR": "AR.region",
    "map_50": "AP.region(iou=0.5)",
    "map_75": "AP.region(iou=0.75)",
    "map_small": "AP.region(size='small')",
    "map_medium": "AP.region(size='medium')",
    "map_large": "AP.region(size='large')",
    "mar_small": "AR.region@100(size='small')",
    "mar_medium": "AR.region@100(size='medium')",
    "mar_large": "AR.region@100(size='large')",
}
