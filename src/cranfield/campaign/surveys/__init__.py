"""Surveys, a module for what people are asked: which there are, and what they ask by default.

A survey has a sheet, which people see, and a key, which stays with the organiser. To know which
there are takes no numpy.
"""

from __future__ import annotations

from collections.abc import Mapping

MEASURES, PREFERENCE, CATEGORIES = "measures", "preference", "categories"
RELATEDNESS, RANKINGS, ASSOCIATION = "relatedness", "rankings", "association"
GROUPING, TAGGING, HIERARCHY, SEARCH = "grouping", "tagging", "hierarchy", "search"
# What each kind of survey asks, in a line.
KINDS: Mapping[str, str] = {
    MEASURES: "which measure orders ranked lists as people would",
    PREFERENCE: "which of two concept sets fits an item better",
    RELATEDNESS: "how related two words are",
    CATEGORIES: "which category an item belongs to",
    RANKINGS: "how significant items are for a topic",
    ASSOCIATION: "how far neighbours in an index belong together",
    GROUPING: "what belongs together: cards are sorted into groups",
    TAGGING: "which words describe an item",
    HIERARCHY: "which concept is a kind of which",
    SEARCH: "how people find things with concepts: tasks, every step, and how content they are",
}
# The measures of questionnaires on ranked lists.
OF_RANKINGS = "AP NMRR MNRO"
# Those on concept sets: with costs of confusions, and without.
WITH_COSTS = "Rprec.example SRP"
WITHOUT_COSTS = "F.example HammingLoss"
