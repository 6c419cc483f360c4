"""What can be chosen, and what is taken unless something is; to know it takes no numpy."""

from __future__ import annotations

# Measures of displacement, and of what an index could reach.
DISPLACEMENT = "Displacement DisplacementQuality"
INDEX_QUALITY = "AP nDCG@10 P@10 NormRecall NormPrecision"
# Bins of confidences that a reliability diagram has.
BINS = 10
# Baselines of annotation: what learns, on what, and what is done with its confidences.
CLASSIFIERS = ("neighbours", "logistic", "svm", "prior", "random")
FUSIONS = ("early", "late")
AFTER = ("rules", "cooccurrence")
# One threshold for all, one for each concept, or the decision itself for each item and concept.
THRESHOLDS = ("one", "concept", "labels")
