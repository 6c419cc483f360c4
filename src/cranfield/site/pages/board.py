"""The leaderboard: the first page of a task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cranfield.campaign.views.board import BEST_RUNS, leaderboard
from cranfield.site.links import Address
from cranfield.site.pages.made import Made
from cranfield.site.sheet import Choice, Link

if TYPE_CHECKING:
    from cranfield.site.results import Results

TITLES = {"ranked": "Retrieval", "labels": "Annotation"}


def make(results: Results, here: Address) -> Made:
    """The board that was asked for; it is ready for whoever asks for it next, in any form."""
    return results.once(tuple(sorted(here.query.items())), lambda: _made(results, here))


def _made(results: Results, here: Address) -> Made:
    material, query = results.material, here.query
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
    return Made(
        title=f"{TITLES[material.task]} by {measure.mean_label}",
        answer=answer,
        blocks=results.blocks_of(answer, here),
        kicker=f"{len(material.scores.runs)} runs on {unit}: {measure.title}",
        verdict=answer.verdict,
        choices=tuple(_choices(results, here)),
    )


def addresses(results: Results, _: str) -> Iterator[Address]:
    """The leaderboard under every measure: all runs, the best per team, each configuration."""
    configurations = results.material.configurations
    for measure in results.material.scores.measures:
        own = {} if measure == results.material.primary else {"measure": str(measure)}
        yield Address("", own)
        if results.has_teams:
            yield Address("", own | {"best": BEST_RUNS})
        if len(configurations) > 1:
            yield from (Address("", own | {"conf": c}) for c in configurations)


def _choices(results: Results, here: Address) -> Iterator[Choice]:
    def link(text: str, here_too: bool, **changed: str | None) -> Link:
        kept = {**here.query, **changed}
        chosen = {k: v for k, v in kept.items() if v is not None}
        return Link(text, results.link(here, Address("", _usual(results, chosen))), here_too)

    current = results.measure(here.query.get("measure"))
    yield Choice(
        "Measure",
        [
            link(m.mean_label, m == current, measure=str(m))
            for m in results.material.scores.measures
        ],
    )
    conf, best = here.query.get("conf"), here.query.get("best")
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


def _usual(results: Results, chosen: Mapping[str, str]) -> dict[str, str]:
    """What is chosen without being chosen is not said."""
    primary = str(results.material.primary)
    return {k: v for k, v in chosen.items() if not (k == "measure" and v == primary)}
