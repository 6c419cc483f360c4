"""Result tables from whatever holds the scores: a collection, saved scores, printed figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from cranfield.campaign.results.declared import result_table, table_spec
from cranfield.campaign.results.participation import (
    ParticipationFigures,
    is_participation,
    printed_participation,
    read_figures,
    read_participation,
)
from cranfield.campaign.results.results_data import ResultsData, ResultTable
from cranfield.data.collection import Collection, Kind
from cranfield.errors import NeedsError, UsageError
from cranfield.evaluation.saved_scores import is_saved, read_scores
from cranfield.evaluation.scores import Scores
from cranfield.io.collection import read_collection, read_items
from cranfield.io.files import inner_suffix
from cranfield.notes import Progress, with_progress
from cranfield.validation import validate_params

if TYPE_CHECKING:
    from cranfield.notes import Watcher

# A collection or its folder, scores or their file, or a CSV file of printed figures.
ResultSource: TypeAlias = "ResultsData | Collection | Scores | str | Path"
# Names one by one, or a file of them.
Ids: TypeAlias = "Sequence[str] | str | Path"
PARTICIPATION = "participation"
# The share of the work that is scoring, where runs are also compared.
SCORED = 0.5


def open_material(
    source: ResultSource,
    kind: Kind | None = None,
    *,
    measures: str | Sequence[str] | None = None,
    concepts: Sequence[str] | None = None,
    released: bool = False,
    jobs: int | None = None,
    progress: Watcher | None = None,
) -> ResultsData:
    """The material of a source. With `concepts` a collection is scored on these alone; of scores
    and figures, what can be cut is cut."""
    if isinstance(source, str | Path):
        source = _opened(Path(source), kind)
    if isinstance(source, Collection):
        return ResultsData.of(
            source,
            kind,
            measures=measures,
            concepts=concepts,
            released=released,
            jobs=jobs,
            progress=progress,
        )
    material = source if isinstance(source, ResultsData) else ResultsData.of_scores(source)
    return material if concepts is None else material.only(concepts=concepts)


def _opened(path: Path, kind: Kind | None) -> ResultsData | Collection | Scores:
    if path.is_dir() or path.name == "collection.toml":
        return read_collection(path)
    if is_saved(path):
        return read_scores([path])
    if inner_suffix(path) in (".csv", ".tsv"):
        figures = read_figures(path, kind=kind)
        return ResultsData.of_scores(figures.scores, run_facts=figures.run_facts)
    raise UsageError(f"{path} is no folder of a collection, no saved scores and no CSV of figures")


@validate_params
@with_progress
def campaign_results(
    source: ResultSource,
    table: str = "runs",
    *,
    kind: Kind | None = None,
    measures: str | Sequence[str] | None = None,
    concepts: Ids | None = None,
    items: Ids | None = None,
    topics: Ids | None = None,
    configurations: str | Sequence[str] | None = None,
    teams: str | Sequence[str] | None = None,
    sets: Mapping[str, Ids] | None = None,
    years: Mapping[str, ResultSource] | None = None,
    count: int | None = None,
    per_group: bool = False,
    compare: bool = True,
    jobs: int | None = None,
    progress: Watcher | None = None,
) -> ResultTable:
    """A result table of a campaign.

    `measures` are those of the table, the first of them where it has one only. `concepts`,
    `items` and `topics` (names, or a file of them), `configurations` and `teams` (names, or a text
    such as "V,M") keep a part; `sets` are concepts (or topics) by name, to be put side by side;
    `years` are earlier years by name. With `compare` runs also get a rank by tests, where there
    are values to test.
    """
    declared = table_spec(table)
    measure_names = measures.split() if isinstance(measures, str) else _listed(measures)
    if table == PARTICIPATION and _is_printed_participation(source):
        return printed_participation(str(source))
    kind = kind or _only_kind(declared.kinds)
    reporter, tested = Progress.of(progress), compare and declared.tested
    material = open_material(
        source,
        kind,
        measures=measure_names,
        concepts=_ids(concepts, "concept"),
        released="truth" in declared.needs,
        jobs=jobs,
        progress=reporter.part(0.0, SCORED) if tested else reporter,
    )
    material = material.only(
        configurations=_listed(configurations),
        teams=_listed(teams),
        items=_ids(items, "item"),
        topics=_ids(topics, "topic"),
    )
    unit = "concept" if material.task == "labels" else "topic"
    if tested:
        material = _tested(material, jobs or 1, reporter.part(SCORED, 1.0))
    arguments: dict[str, Any] = {
        "measures": measure_names,
        "measure": measure_names[0] if measure_names else None,
        "count": count,
        "per_group": per_group or None,
        "sets": {n: _ids(names, unit) for n, names in sets.items()} if sets else None,
        "years": _earlier(material, table, years) if "years" in declared.options else None,
    }
    options = {
        name: value
        for name, value in arguments.items()
        if name in declared.options and value is not None
    }
    result = result_table(table, material, **options)
    return replace(result, notes=(*result.notes, *material.scores.notes))


def _ids(names: Ids | None, unit: str) -> Sequence[str] | None:
    """The names themselves, or those that a file lists."""
    return read_items(names, column=unit) if isinstance(names, str | Path) else names


def _listed(names: str | Sequence[str] | None) -> Sequence[str] | None:
    if isinstance(names, str):
        return names.split(",")
    return None if names is None else list(names)


def _only_kind(kinds: Sequence[str]) -> Kind | None:
    """The kind that a table is for, if it is for one only."""
    if len(kinds) > 1:
        return None
    return "ranked" if kinds[0] == "ranked" else "labels"


def _tested(material: ResultsData, jobs: int, progress: Progress) -> ResultsData:
    """The material with a comparison, where its runs can be compared."""
    if len(material.scores.runs) < 2 or not any(
        m in material.scores.values and material.scores.is_mean(m) for m in material.scores.measures
    ):
        return material
    return material.compared(jobs=jobs, progress=progress)


def _is_printed_participation(source: ResultSource) -> bool:
    if not isinstance(source, str | Path) or inner_suffix(source) != ".csv":
        return False
    return is_participation(source)


def open_years(years: Mapping[str, ResultSource], kind: Kind) -> dict[str, ResultsData]:
    """The material of earlier years that have scores of this kind; others are passed over."""
    opened: dict[str, ResultsData] = {}
    for name, place in years.items():
        source: Any = _opened(Path(place), kind) if isinstance(place, str | Path) else place
        if isinstance(source, Collection):
            part = source.part(kind)
            if not part.runs or part.truth is None:
                continue
        material = open_material(source, kind)
        if material.task == kind:
            opened[name] = material
    return opened


def _earlier(
    material: ResultsData, table: str, years: Mapping[str, ResultSource] | None
) -> dict[str, Any]:
    """The earlier years that were given, or those that the collection names, opened."""
    sources: Mapping[str, ResultSource] = material.years if years is None else years
    if table != PARTICIPATION:
        materials = open_years(sources, material.task)
        if not materials:
            raise NeedsError("years are compared with an earlier one: years={'2009': 'FOLDER'}")
        return materials
    printed = {name: place for name, place in sources.items() if _is_printed_participation(place)}
    figures: dict[str, ParticipationFigures] = {}
    for place in printed.values():
        figures |= read_participation(str(place))
    others = {name: place for name, place in sources.items() if name not in printed}
    opened = open_years(others, material.task)
    return figures | {name: ParticipationFigures.of(year) for name, year in opened.items()}
