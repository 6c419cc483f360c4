"""What can be chosen in each task, and what holds unless something else is chosen.

The functions, the command line and a collection's folder read the same names. Nothing here needs
arrays, so that a parser can list them at once.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

# --- Agreement and aggregation.
AggregationMethod: TypeAlias = Literal[
    "majority",
    "weighted-majority",
    "dawid-skene",
    "one-coin",
    "mace",
    "dawid-skene+mace",
    "mean",
    "median",
    "auto",
]
AGGREGATION_METHODS: tuple[AggregationMethod, ...] = get_args(AggregationMethod)
VoteTies: TypeAlias = Literal["undecided", "lowest", "highest", "random", "omit"]
VOTE_TIES: tuple[VoteTies, ...] = get_args(VoteTies)
TagFilterMethod: TypeAlias = Literal["svm", "median"]
TAG_FILTERS: tuple[TagFilterMethod, ...] = get_args(TagFilterMethod)

# --- Words of texts: languages whose empty words and stems are known.
TextLanguage: TypeAlias = Literal[
    "english",
    "danish",
    "dutch",
    "french",
    "german",
    "italian",
    "norwegian",
    "portuguese",
    "russian",
    "spanish",
    "swedish",
    "turkish",
    "none",
]
TEXT_LANGUAGES: tuple[TextLanguage, ...] = get_args(TextLanguage)

# --- What cells are that a truth of annotation does not list although it lists others as absent.
Unlisted: TypeAlias = Literal["absent", "unjudged"]
UNLISTED: tuple[Unlisted, ...] = get_args(Unlisted)

# --- Comparison: tails, intervals, corrections and tests.
Tail: TypeAlias = Literal["one", "two", "seen"]
TAILS: tuple[Tail, ...] = ("two", "one", "seen")
IntervalMethod: TypeAlias = Literal["studentized", "t", "bca", "percentile"]
INTERVAL_METHODS: tuple[IntervalMethod, ...] = get_args(IntervalMethod)
# Means of values with limits have one more; a difference of two has no such limits.
MeanMethod: TypeAlias = Literal["wilson", "studentized", "t", "bca", "percentile"]
MEAN_METHODS: tuple[MeanMethod, ...] = get_args(MeanMethod)
Correction: TypeAlias = Literal["holm", "bonferroni", "bh", "none"]
CORRECTION_NAMES: tuple[Correction, ...] = get_args(Correction)

Test: TypeAlias = Literal[
    "bootstrap",
    "randomization",
    "t",
    "wilcoxon",
    "sign",
    "tukey",
    "tukey-randomization",
    "nemenyi",
]
TESTS: tuple[Test, ...] = get_args(Test)
RESAMPLED: tuple[Test, ...] = ("bootstrap", "randomization")
ROWWISE: tuple[Test, ...] = ("t", "wilcoxon", "sign")
FAMILY_WISE: tuple[Test, ...] = ("tukey", "tukey-randomization", "nemenyi")
WITH_DRAWS = (*RESAMPLED, "tukey-randomization")
# The step-down maximum statistic is one of mean differences.
STEP_DOWN: Literal["romano-wolf"] = "romano-wolf"
OF_MEANS: tuple[Test, ...] = (*RESAMPLED, "t")
# Tests of the values of single units, not of their means.
OF_SINGLE_VALUES: tuple[Test, ...] = ("wilcoxon", "sign", "nemenyi")
# What is drawn anew where annotations are compared: items (the usual), concepts, or both.
ResampledUnits: TypeAlias = Literal["items", "concepts", "both"]
RESAMPLED_UNITS: tuple[ResampledUnits, ...] = get_args(ResampledUnits)
# Over which families p-values are corrected: the pairs of each measure, or of all measures.
CorrectionFamily: TypeAlias = Literal["pairs", "measures"]
CORRECTION_FAMILIES: tuple[CorrectionFamily, ...] = get_args(CorrectionFamily)
# How many resamples are drawn.
DEFAULT_RESAMPLES = 10_000
# The corrections of a comparison: those of p-values, and the step-down maximum statistic.
PairCorrection: TypeAlias = Literal["romano-wolf", "holm", "bonferroni", "bh", "none"]
CORRECTIONS: tuple[PairCorrection, ...] = get_args(PairCorrection)

# --- Annotation.
# Confidences from here on count as predicted.
DEFAULT_THRESHOLD = 0.5
DEFAULT_MEASURES = "AP.concept F.concept F.example HammingLoss"
DEFAULT_WITH_COSTS = "AP.concept F.concept F.example OS"

# --- The catalogue of measures: what label measures can be asked for by.
DIMENSIONS: dict[str, tuple[str, ...]] = {
    "direction": ("concept", "example", "topic"),
    "prediction": ("binary", "ranked"),
    "relevance": ("binary", "graded"),
    "score": ("binary", "semantic"),
}

# --- Other evaluations, charts and baselines.
# Measures of displacement, and of what an index could reach.
DISPLACEMENT = "Displacement DisplacementQuality"
INDEX_QUALITY = "AP nDCG@10 P@10 NormRecall NormPrecision"
# Bins of confidences that a reliability diagram has.
RELIABILITY_BINS = 10
# Baselines of annotation: what learns, on what, and what is done with its confidences.
CLASSIFIERS = ("neighbours", "logistic", "svm", "prior", "random")
FUSIONS = ("early", "late")
POSTPROCESSING = ("rules", "cooccurrence")
# How confidences are made probabilities, and for what one curve is.
CalibrationMethod: TypeAlias = Literal["isotonic", "platt", "temperature"]
CALIBRATIONS: tuple[CalibrationMethod, ...] = get_args(CalibrationMethod)
CalibrationUnit: TypeAlias = Literal["run", "concept"]
CALIBRATION_UNITS: tuple[CalibrationUnit, ...] = get_args(CalibrationUnit)
# One threshold for all, one for each concept, or the decision itself for each item and concept.
LEARNED_THRESHOLDS = ("one", "concept", "labels")

# The official measures of the Photo Annotation tasks (No 10.4, 10.9).
OFFICIAL_SETS: dict[str, tuple[str, ...]] = {
    "imageclef2009": ("EER", "AUC", "OS"),
    "imageclef2010": ("iAP.concept", "F.example", "OS", "EER", "AUC"),
    "imageclef2011": ("iAP.concept", "F.example", "SRP"),
}
# And the set of all measures of annotation.
ALL_LABEL_MEASURES = "all"
LABEL_SET_NAMES = (*OFFICIAL_SETS, ALL_LABEL_MEASURES)

# --- Charts by name, and what each shows.
CHARTS: dict[str, str] = {
    "leaderboard": "means with intervals, and runs that cannot be told apart",
    "significance": "every pair of runs, with stars",
    "heatmap": "runs by topics (items, concepts)",
    "differences": "a run minus a baseline, topic by topic",
    "precision-recall": "precision at eleven levels of recall, with bands",
    "roc": "annotation: ROC with points of equal error",
    "scatter": "runs under two measures",
    "density": "annotation: a score against label density",
    "concepts": "annotation: values of concepts, with their frequency",
    "behaviour": "measures when one relevant item moves over the ranks",
    "effectiveness": "precision against recall over all cutoffs, not interpolated",
    "topics": "precision against recall of every topic of a run",
    "cutoffs": "precision and recall by cutoff",
    "thresholds": "precision and recall of what scores at least a threshold",
    "joint": "precision and recall of every topic at a cutoff",
    "operating": "ROC of rankings: recall against fallout, with areas",
    "detections": "ROC of rankings in counts: detections against false alarms",
    "generality": "precision and recall of topics against their generality",
    "generality-sizes": "a measure against generality in growing collections",
    "gain": "average (discounted) cumulated gain against rank or recall",
    "placements": "measures at every rank of one relevant item, low is good",
    "combined-ranks": "measures at every placement of two relevant items",
    "surface": "a measure at both ranks of two relevant items, as colour",
    "perspective": "a measure at both ranks of two relevant items, as a surface seen in space",
    "surface-edges": "the best and worst case of two relevant items, by the earlier one",
    "envelope": "the best and worst case of two relevant items, by the later one",
    "rank-changes": "how the ranking of runs changes between two measures",
    "critical-difference": "mean ranks, and runs that cannot be told apart",
    "against": "a run against a baseline, a dot for each topic",
    "units": "topics, items or concepts of a run under two measures",
    "concept-curves": "annotation: precision against recall of every concept",
    "reliability": "annotation: how often confidences are right",
    "box-recall": "boxes: precision against recall at an overlap of 0.5",
    "box-errors": "boxes: localisation, recall and precision errors by confidence",
}
# Charts of measures alone: they take no runs.
CHARTS_OF_MEASURES = (
    *("behaviour", "placements", "combined-ranks", "surface", "perspective"),
    *("surface-edges", "envelope"),
)
# Charts of one kind of runs.
CHARTS_OF_LABELS = ("roc", "density", "concepts", "concept-curves", "reliability")
CHARTS_OF_BOXES = ("box-recall", "box-errors")
CHARTS_OF_RANKINGS = (
    *("precision-recall", "effectiveness", "topics", "cutoffs", "thresholds", "joint", "operating"),
    *("detections", "generality", "generality-sizes", "gain"),
)


def kind_of_runs(chart: str) -> Literal["labels", "ranked", "regions"] | None:
    """Which kind of runs a chart draws, None for those that draw any."""
    if chart in CHARTS_OF_BOXES:
        return "regions"
    if chart in CHARTS_OF_LABELS:
        return "labels"
    return "ranked" if chart in CHARTS_OF_RANKINGS else None


# --- Studies of the measures.
# Measures: of rankings, of annotation, and of those studies that have their own.
LAB_RANKED = "AP nDCG@10 RR P@10 Rprec"
LAB_LABELS = "F.example F.concept AP.concept HammingLoss"
LAB_GENERALITY = "AP NMRR NAR MNRO"
LAB_COMPARABLE = "AP.example Rprec.example OneError RankingLoss"
# Generality: shares of the collection.
COLLECTION_SHARES = (1 / 3, 2 / 3, 1.0)
# Random runs: label densities.
LABEL_DENSITIES = (0.1, 0.3, 0.5, 0.7, 0.9)
# Stability: its parts, shares of the truth that are flipped, and shares that are taken away.
STABILITY_PARTS = ("noise", "judgements", "units", "swap", "power", "others")
NOISE_SHARES = (0.01, 0.02, 0.05, 0.10)
DROPPED_SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
# What is marked on pictures and in recordings.
Shape: TypeAlias = Literal["boxes", "points", "segments"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
# Adaptive overlap: how sure of an item to be, who is asked next, and the models that say so.
CERTAINTIES = (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
People: TypeAlias = Literal["best", "any"]
PEOPLE: tuple[People, ...] = get_args(People)
OverlapMethod: TypeAlias = Literal[
    "dawid-skene", "one-coin", "mace", "dawid-skene+mace", "majority"
]
OVERLAP_METHODS: tuple[OverlapMethod, ...] = get_args(OverlapMethod)
# How the next cells to judge are chosen: those that are drawn come with intervals and claims.
JudgingMethod: TypeAlias = Literal[
    "sampled", "even", "movement", "move-to-front", "bandit", "doubt"
]
JUDGING_METHODS: tuple[JudgingMethod, ...] = get_args(JudgingMethod)
DRAWN_METHODS: tuple[JudgingMethod, ...] = ("sampled", "even")
JUDGING_DESIGNS: tuple[JudgingMethod, ...] = JUDGING_METHODS[:-1]
# Options of questionnaires on ranked lists: the value without them, and what they say.
QUESTIONNAIRE_LISTS = {
    "lists": (5, "how many in each question"),
    "relevant": (5, "relevant items in each"),
    "size": (100, "items in the collection"),
}
