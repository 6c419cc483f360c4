"""Names that people bring from other tools, and the measures that they mean here.

The names of means (MAP, MRR) and those of trec_eval (recip_rank) stand in the declarations. One
name may mean a measure of rankings when runs are evaluated and another one for annotations.
"""

from __future__ import annotations

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
    "matthews_corrcoef": "MCC.concept",
    "MCC": "MCC.concept",
    "cohen_kappa": "Kappa.concept",
    "Kappa": "Kappa.concept",
    "balanced_accuracy": "BalancedAccuracy.concept",
    "hamming_loss": "HammingLoss",
    "subset_accuracy": "ExactMatch",
    "roc_auc": "AUC",
    "ConceptNetSimilarity": "HausdorffSimilarity",
}
