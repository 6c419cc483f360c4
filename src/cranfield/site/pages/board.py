"""The leaderboard: the first page of a task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cranfield.campaign.views import BEST_RUNS, leaderboard
from cranfield.site.links import Address
from cranfield.site.page_view import Choice, Link, PageContent

if TYPE_CHECKING:
    from cranfield.site.results import Results

TITLES = {"ranked": "Retrieval", "labels": "Annotation", "regions": "Regions"}


def make(results: Results, address: Address) -> PageContent:
    """The leaderboard of an address; it is cached, so that its JSON and CSV need no new one."""
    return results.cached_board(
        tuple(sorted(address.query.items())), lambda: _leaderboard_page(results, address)
    )


def _leaderboard_page(results: Results, address: Address) -> PageContent:
    material, query = results.material, address.query
    measure = results.measure(query.get("measure"))
    baseline = results.run_named(query.get("baseline")) or material.baseline or None
    answer = leaderboard(
        material.scores,
        material.comparison,
        material.run_facts,
        measure=measure,
        baseline=baseline,
        configuration=query.get("conf"),
        best=query.get("best", "all"),
    )
    unit = f"{answer.facts['units']} {answer.facts['unit']}s"
    return PageContent(
        title=f"{TITLES[material.task]} by {measure.mean_label}",
        answer=answer,
        blocks=results.blocks_of(answer, address),
        kicker=f"{len(material.scores.runs)} runs on {unit}: {measure.title}",
        verdict=answer.verdict,
        choices=tuple(_choices(results, address)),
    )


def is_possible(results: Results, _: str) -> bool:
    return bool(results.material.scores.measures)


def addresses(results: Results, _: str) -> Iterator[Address]:
    """The leaderboard under every measure: all runs, the best per team, each configuration."""
    configurations = results.material.configurations
    for measure in results.material.scores.measures:
        query = {} if measure == results.material.primary else {"measure": str(measure)}
        yield Address("", query)
        if results.has_teams:
            yield Address("", query | {"best": BEST_RUNS})
        if len(configurations) > 1:
            yield from (Address("", query | {"conf": c}) for c in configurations)


def _choices(results: Results, address: Address) -> Iterator[Choice]:
    def link(text: str, current: bool, **changes: str | None) -> Link:
        merged = {**address.query, **changes}
        query = {k: v for k, v in merged.items() if v is not None}
        return Link(
            text, results.link(address, Address("", _without_defaults(results, query))), current
        )

    current = results.measure(address.query.get("measure"))
    yield Choice(
        "Measure",
        [
            link(m.mean_label, m == current, measure=str(m))
            for m in results.material.scores.measures
        ],
    )
    conf, best = address.query.get("conf"), address.query.get("best")
    configurations = results.material.configurations
    if len(configurations) > 1:
        options = [link("all", conf is None, conf=None, best=None)]
        options += [link(c, conf == c, conf=c, best=None) for c in configurations]
        yield Choice("Configuration", options)
    if results.has_teams:
        yield Choice(
            "Show",
            [
                link("all runs", best != BEST_RUNS, best=None, conf=None),
                link("best per team", best == BEST_RUNS, best=BEST_RUNS, conf=None),
            ],
        )


def _without_defaults(results: Results, query: Mapping[str, str]) -> dict[str, str]:
    """The query without the choices that are the default: the primary measure."""
    primary = str(results.material.primary)
    return {k: v for k, v in query.items() if not (k == "measure" and v == primary)}
