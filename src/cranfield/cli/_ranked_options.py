"""What commands on ranked runs share: the options of `cranfield.evaluate`."""

from __future__ import annotations

import argparse
from typing import Any

from cranfield.cli._common import positive
from cranfield.measures.ranked.plans import MISSING_RANKS

DEFAULTS: dict[str, Any] = {
    "topics": "judged",
    "ties": "id",
    "judged_only": False,
    "max_items": None,
    "collection_size": None,
    "missing": "worst",
    "gmt": None,
}


def add_ranked_options(parser: argparse.ArgumentParser) -> None:
    """How rankings are made from runs, and what is known of the collection."""
    group = parser.add_argument_group("ranked runs")
    group.add_argument(
        "--topics",
        choices=("judged", "run"),
        default="judged",
        help="judged: a topic that a run misses scores as an empty ranking (default); run: it is "
        "left out, and pairs share the topics that both have",
    )
    group.add_argument(
        "--ties",
        choices=("id", "file", "average"),
        default="id",
        help="order of items with one score: by id as trec_eval does, as in the file, or the "
        "expected value over all orders (default: id)",
    )
    group.add_argument(
        "--judged-only", action="store_true", help="take unjudged items out of the rankings first"
    )
    group.add_argument(
        "--max-items", type=positive, metavar="N", help="look at the first N items of each ranking"
    )
    group.add_argument(
        "--collection-size", type=positive, metavar="N", help="number of items in the collection"
    )
    group.add_argument(
        "--missing",
        choices=MISSING_RANKS,
        default="worst",
        help="where relevant items stand that were not retrieved, for measures of all ranks "
        "(default: worst, the last ranks of the collection)",
    )
    group.add_argument(
        "--gmt",
        type=positive,
        metavar="N",
        help="NMRR: the largest number of relevant items of any topic (default: of the judgements)",
    )


def take_ranked_options(given: dict[str, Any]) -> dict[str, Any]:
    """Takes the options of `add_ranked_options` out of what was given."""
    return {name: given.pop(name) for name in DEFAULTS}
