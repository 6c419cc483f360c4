"""Result tables of a campaign as pages, the years, and where runs fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cranfield.campaign.error_analysis import analyse_errors
from cranfield.campaign.results import TABLES, result_table
from cranfield.campaign.results.results_data import only_runs
from cranfield.campaign.results.years import years_table
from cranfield.errors import NeedsError, UsageError
from cranfield.site.links import Address
from cranfield.site.page_view import PageContent

if TYPE_CHECKING:
    from cranfield.answers import Answer
    from cranfield.measures import Measure
    from cranfield.site.results import Results

# Tables that other pages have, or that need what a site does not know.
OTHER_PAGES = ("runs", "side-by-side")
ERRORS, YEARS = "errors", "years"
ROWS_SHOWN = 10


def kinds() -> list[str]:
    """The addresses of all tables that there are."""
    return [ERRORS, YEARS, *(name for name in TABLES if name not in OTHER_PAGES)]


def addresses(results: Results, kind: str) -> Iterator[Address]:
    if answer_of(results, kind) is not None:
        yield Address(kind)


def is_possible(results: Results, kind: str) -> bool:
    """Whether the material has what a table needs; where it was built, whether that gave one."""
    if kind in results.answers:
        return results.answers[kind] is not None
    if kind == ERRORS:
        return _error_measure(results) is not None
    if kind == YEARS:
        return bool(results.extras.earlier)
    return kind in TABLES and _has_material(results, TABLES[kind].needs)


def make(results: Results, address: Address) -> PageContent:
    answer = answer_of(results, address.path)
    if answer is None:
        results.raise_no_page(address)
    title = results.titles.get(address.path, "") or str(getattr(answer, "title", address.path))
    return PageContent(
        title=title,
        answer=answer,
        verdict=getattr(answer, "verdict", ()),
        columns=True,
    )


def answer_of(results: Results, kind: str) -> Any:
    """The answer of a page, made once; None where the material has nothing for it."""
    if kind not in results.answers:
        try:
            results.answers[kind] = _build_answer(results, kind)
        except (NeedsError, UsageError):
            results.answers[kind] = None
    return results.answers[kind]


def _build_answer(results: Results, kind: str) -> Answer | None:
    material = results.material
    if kind == ERRORS:
        return _errors(results)
    if kind == YEARS:
        return (
            years_table(material, years=results.extras.earlier)
            if is_possible(results, kind)
            else None
        )
    declared = TABLES.get(kind)
    if declared is None or not _has_material(results, declared.needs):
        return None
    return result_table(kind, material)


def _has_material(results: Results, needs: tuple[str, ...]) -> bool:
    material = results.material
    has = {
        "teams": results.has_teams,
        "configurations": len(material.configurations) > 1,
        "concepts": "concept" in results.values.by_unit,
        "topics": "topic" in results.values.by_unit,
        "items": "item" in results.values.by_unit,
        "truth": material.truth is not None,
        "sets": False,
        "years": bool(results.extras.earlier),
    }
    return all(has.get(need, True) for need in needs)


def _errors(results: Results) -> Answer:
    material = results.material
    competing = {material.scores.runs[i] for i in material.ranked_runs}
    baseline = material.baseline if material.baseline else None
    runs = competing | ({baseline} if baseline else set())
    measure = _error_measure(results)
    if measure is None:
        raise NeedsError("no measure has values of topics or concepts")
    return analyse_errors(
        only_runs(material.scores, runs),
        measure=measure,
        baseline=baseline,
        mistakes=results.extras.mistakes,
        items=material.truth is not None,
        shown=ROWS_SHOWN,
    )


def _error_measure(results: Results) -> Measure | None:
    """The first measure whose values of single topics or concepts may be listed."""
    measures = (results.material.primary, *results.material.scores.measures)
    return next((measure for measure in measures if results.shows(measure)), None)
