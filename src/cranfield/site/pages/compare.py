"""The page that compares runs with each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cranfield.campaign.error_analysis import analyse_errors
from cranfield.campaign.results.results_data import only_runs
from cranfield.campaign.views import MOST_RUNS, View, pairs_view
from cranfield.report.charts.leaderboard import significance_of
from cranfield.site.links import Address
from cranfield.site.page_view import Block, Choice, Link, PageContent
from cranfield.site.pages import graphs

if TYPE_CHECKING:
    from cranfield.comparison.answer import Comparison
    from cranfield.measures import Measure
    from cranfield.site.results import Results


def is_possible(results: Results, _: str) -> bool:
    return bool(_measures(results))


def addresses(results: Results, _: str) -> Iterator[Address]:
    for measure in _measures(results):
        yield _address(results, measure)


def make(results: Results, address: Address) -> PageContent:
    comparison = results.material.comparison
    measures = _measures(results)
    if comparison is None or not measures:
        results.raise_no_page(address)
    requested = results.measure(address.query.get("measure"))
    measure = requested if requested in measures else measures[0]
    runs = _runs(results, address, measure)
    unit = results.material.scores.unit_of[measure]
    answer = pairs_view(_require_comparison(comparison), measure, runs, unit)
    blocks: list[Block] = []
    if len(runs) > 1 and len(answer.parts[0].rows):
        chart = significance_of(_require_comparison(comparison), str(measure), runs)
        blocks.append(graphs.figure(chart))
    if len(runs) == 2:
        answer = _with_units(results, answer, measure, runs)
    blocks += results.blocks_of(answer, address)
    if results.material.task == "ranked":
        blocks += graphs.run_figures(results, runs)
    options = [
        Link(m.mean_label, results.link(address, _address(results, m)), m == measure)
        for m in measures
    ]
    total = len(results.material.scores.runs)
    selection = (
        f"the {len(runs)} best of {total} runs" if len(runs) < total else f"all {total} runs"
    )
    return PageContent(
        title="Compare runs",
        answer=answer,
        kicker=f"By {measure.mean_label}: "
        + (", ".join(runs) if address.query.get("runs") else selection),
        blocks=blocks,
        verdict=answer.verdict,
        choices=[Choice("Measure", options)],
    )


def _require_comparison(comparison: Comparison | None) -> Comparison:
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


def _runs(results: Results, address: Address, measure: Measure) -> Sequence[str]:
    """The runs of the query in their order, or the best runs where it names none."""
    requested = [run for run in address.query.get("runs", "").split(",") if run]
    for run in requested:
        results.run_named(run)
    if requested:
        return list(dict.fromkeys(requested))
    comparison = _require_comparison(results.material.comparison)
    ranked = [s.run for s in comparison.standings if s.measure == str(measure)]
    return ranked[:MOST_RUNS]


def _with_units(results: Results, answer: View, measure: Measure, runs: Sequence[str]) -> View:
    """Two runs: also where one gains and loses most against the other."""
    if measure not in results.material.scores.values or not results.shows(measure):
        return answer
    analysis = analyse_errors(
        only_runs(results.material.scores, set(runs)), measure=measure, baseline=runs[1]
    )
    parts = tuple(part for part in analysis.parts if part.name in ("gains", "losses"))
    return View(
        answer.name,
        answer.title,
        answer.source,
        (*answer.parts, *parts),
        facts=answer.facts,
        verdict=answer.verdict,
    )
