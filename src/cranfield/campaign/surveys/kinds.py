"""Which surveys there are, and what they ask about by default; to know it takes no numpy."""

from __future__ import annotations

from collections.abc import Mapping

MEASURES, PREFERENCE, CATEGORIES = "measures", "preference", "categories"
RELATEDNESS, RANKINGS, ASSOCIATION = "relatedness", "rankings", "association"
# What each kind of survey asks, in a line.
KINDS: Mapping[str, str] = {
    MEASURES: "which measure orders ranked lists as people would",
    PREFERENCE: "which of two concept sets fits an item better",
    RELATEDNESS: "how related two words are",
    CATEGORIES: "which category an item belongs to",
    RANKINGS: "how significant items are for a topic",
    ASSOCIATION: "how far neighbours in an index belong together",
}
# The measures of questionnaires on ranked lists.
OF_RANKINGS = "AP NMRR MNRO"
# Those on concept sets: with costs of confusions, and without.
WITH_COSTS = "Rprec.example SRP"
WITHOUT_COSTS = "F.example HammingLoss"
