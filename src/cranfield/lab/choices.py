"""What studies take unless something else is said; to know it takes no numpy."""

from __future__ import annotations

# Measures: of rankings, of annotation, and of those studies that have their own.
RANKED = "AP nDCG@10 RR P@10 Rprec"
LABELS = "F.example F.concept AP.concept HammingLoss"
GENERALITY = "AP NMRR NAR MNRO"
COMPARABLE = "AP.example Rprec.example OneError RankingLoss"
# Generality: shares of the collection.
SHARES = (1 / 3, 2 / 3, 1.0)
# Random runs: label densities.
DENSITIES = (0.1, 0.3, 0.5, 0.7, 0.9)
# Stability: its parts, shares of the truth that are flipped, and shares that are taken away.
PARTS = ("noise", "judgements", "units", "swap", "power")
NOISE = (0.01, 0.02, 0.05, 0.10)
DROPPED = (0.1, 0.3, 0.5, 0.7, 0.9)
# Options of questionnaires on ranked lists: the value without them, and what they say.
OF_LISTS = {
    "lists": (5, "how many in each question"),
    "relevant": (5, "relevant items in each"),
    "size": (100, "items in the collection"),
}
