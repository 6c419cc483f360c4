"""The declarations of the result tables, by name; to know them takes no numpy."""

from __future__ import annotations

from dataclasses import dataclass

from cranfield.errors import UsageError, suggest

KINDS = ("ranked", "labels", "regions")


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A result table: what it shows, which table of the source it is, and what it needs.

    `needs` names what the material must have: "teams", "configurations", "concepts", "topics",
    "items", "truth", "sets", "years". `maker` is the function of `cranfield.campaign.results` that
    makes it, and `options` are what that takes beside the material.
    """

    name: str
    title: str
    source: str
    maker: str
    needs: tuple[str, ...] = ()
    kinds: tuple[str, ...] = KINDS
    options: tuple[str, ...] = ()
    # Whether its ranks are by tests, so that it gains from a comparison.
    tested: bool = False


_LABELS = ("labels",)
_ALL = (
    TableSpec(
        "runs",
        "All runs with place, rank and interval",
        "No 10.7",
        "cranfield.campaign.results.ranking:all_runs",
        options=("measures",),
        tested=True,
    ),
    TableSpec(
        "best-per-group",
        "Best run per group and measure, its rank among all runs and its configuration",
        "No Tables 10.3, 10.5, 10.6",
        "cranfield.campaign.results.ranking:best_per_group",
        ("teams",),
        options=("measures",),
        tested=True,
    ),
    TableSpec(
        "per-configuration",
        "Best run per group within each configuration",
        "No Tables 10.7-10.9",
        "cranfield.campaign.results.ranking:per_configuration",
        ("configurations",),
        options=("measures",),
        tested=True,
    ),
    TableSpec(
        "best-per-concept",
        "Best value of every concept with group and configuration, and counts of both",
        "No Tables 10.4, 10.10",
        "cranfield.campaign.results.units:best_per_concept",
        ("concepts",),
        ("labels", "regions"),
        ("measures",),
    ),
    TableSpec(
        "best-per-topic",
        "Best value of every topic with group and configuration, and counts of both",
        "as No Table 10.10, for topics",
        "cranfield.campaign.results.units:best_per_topic",
        ("topics",),
        ("ranked",),
        ("measures",),
    ),
    TableSpec(
        "best-per-item",
        "Items that even the best run does worst, with pictures",
        "No 10.7.2, Figure 10.5",
        "cranfield.campaign.results.units:best_per_item",
        ("items",),
        _LABELS,
        ("measure", "count"),
    ),
    TableSpec(
        "frequency",
        "Frequency of concepts against their best value",
        "No Figure 10.3",
        "cranfield.campaign.results.participation:frequency",
        ("concepts", "truth"),
        _LABELS,
        ("measure",),
    ),
    TableSpec(
        "occurrence",
        "Occurrence of concepts per split",
        "No Figure 10.4",
        "cranfield.campaign.results.participation:occurrence",
        ("truth",),
        _LABELS,
    ),
    TableSpec(
        "participation",
        "Groups registered, groups with runs, and runs, per year",
        "No Table 10.2",
        "cranfield.campaign.results.participation:participation",
        ("teams",),
        options=("years",),
    ),
    TableSpec(
        "rank-changes",
        "Runs with the largest change of rank between two measures",
        "No Table 7.2",
        "cranfield.campaign.results.ranking:rank_changes",
        options=("measures", "per_group", "count"),
    ),
    TableSpec(
        "side-by-side",
        "Sets of concepts, or configurations, beside one another with Cronbach's alpha",
        "No 10.7.4",
        "cranfield.campaign.results.units:side_by_side",
        ("sets",),
        options=("sets", "unit", "measure"),
    ),
    TableSpec(
        "years",
        "Earlier years on what they share with this one: best values, wins, means, tests",
        "No Tables 10.4, 10.11, Figure 10.5",
        "cranfield.campaign.results.years:years_table",
        ("years",),
        options=("years", "measures", "count"),
    ),
)
TABLES: dict[str, TableSpec] = {table.name: table for table in _ALL}


def table_spec(name: str) -> TableSpec:
    """The declaration of a table, or a UsageError with a suggestion."""
    if name not in TABLES:
        names = ", ".join(TABLES)
        raise UsageError(f"no result table {name!r}.{suggest(name, TABLES)} There are: {names}")
    return TABLES[name]
