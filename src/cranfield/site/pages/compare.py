"""Runs against one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cranfield.campaign.error_analysis import analyse_errors
from cranfield.campaign.results.parts import only_runs
from cranfield.campaign.views.answer import View
from cranfield.campaign.views.pairs import MOST_RUNS, pairs_view
from cranfield.report.charts.leaderboard import significance_of
from cranfield.site.links import Address
from cranfield.site.pages import graphs
from cranfield.site.pages.made import Made
from cranfield.site.sheet import Block, Choice, Link

if TYPE_CHECKING:
    from cranfield.comparison.answer import Comparison
    from cranfield.measures import Measure
    from cranfield.site.results import Results


def possible(results: Results) -> bool:
    return results.material.comparison is not None


def addresses(results: Results, _: str) -> Iterator[Address]:
    for measure in _measures(results):
        yield _address(results, measure)


def make(results: Results, here: Address) -> Made:
    comparison = results.material.comparison
    measures = _measures(results)
    if comparison is None or not measures:
        results.missing(here)
    asked = results.measure(here.query.get("measure"))
    measure = asked if asked in measures else measures[0]
    runs = _runs(results, here, measure)
    answer = pairs_view(_whole(comparison), measure, runs)
    blocks: list[Block] = []
    if len(runs) > 1 and len(answer.parts[0].rows):
        chart = significance_of(_whole(comparison), str(measure), runs)
        blocks.append(graphs.figure(chart))
    if len(runs) == 2:
        answer = _with_units(results, answer, measure, runs)
    blocks += results.blocks_of(answer, here)
    if results.material.task == "ranked":
        blocks += graphs.of_runs(results, runs)
    options = [
        Link(m.mean_label, results.link(here, _address(results, m)), m == measure) for m in measures
    ]
    total = len(results.material.scores.runs)
    chosen = f"the {len(runs)} best of {total} runs" if len(runs) < total else f"all {total} runs"
    return Made(
        title="Compare runs",
        answer=answer,
        kicker=f"By {measure.mean_label}: "
        + (", ".join(runs) if here.query.get("runs") else chosen),
        blocks=blocks,
        verdict=answer.verdict,
        choices=[Choice("Measure", options)],
    )


def _whole(comparison: Comparison | None) -> Comparison:
    if comparison is None:
        raise ValueError("nothing was compared")
    return comparison


def _measures(results: Results) -> list[Measure]:
    comparison = results.material.comparison
    tested = () if comparison is None else comparison.pairs.measures
    return [m for m in results.material.scores.measures if str(m) in tested]


def _address(results: Results, measure: Measure) -> Address:
    usual = measure == results.material.primary
    return Address("compare", {} if usual else {"measure": str(measure)})


def _runs(results: Results, here: Address, measure: Measure) -> Sequence[str]:
    """The runs asked for, in their order, or the best ones."""
    asked = [run for run in here.query.get("runs", "").split(",") if run]
    for run in asked:
        results.run_named(run)
    if asked:
        return list(dict.fromkeys(asked))
    comparison = _whole(results.material.comparison)
    ranked = [s.run for s in comparison.standings if s.measure == str(measure)]
    return ranked[:MOST_RUNS]


def _with_units(results: Results, answer: View, measure: Measure, runs: Sequence[str]) -> View:
    """Two runs: also where one gains and loses most against the other."""
    if measure not in results.material.scores.values or not results.shows(measure):
        return answer
    found = analyse_errors(
        only_runs(results.material.scores, set(runs)), measure=measure, baseline=runs[1]
    )
    parts = tuple(part for part in found.parts if part.name in ("gains", "losses"))
    return View(
        answer.name,
        answer.title,
        answer.source,
        (*answer.parts, *parts),
        facts=answer.facts,
        verdict=answer.verdict,
    )
