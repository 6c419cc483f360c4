"""Result tables from whatever holds the scores: a collection, saved scores, printed figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cranfield.campaign.result_tables import table_spec
from cranfield.campaign.results.participation import (
    ParticipationFigures,
    is_participation,
    printed_participation,
    read_figures,
    read_participation,
)
from cranfield.campaign.results.results_data import ResultsData, ResultTable
from cranfield.data.collection import KINDS, Collection, Kind
from cranfield.errors import NeedsError, UsageError
from cranfield.evaluation.inputs import is_saved, read_scores
from cranfield.evaluation.scores import Scores
from cranfield.io.collection import read_collection, read_items
from cranfield.io.files import inner_suffix
from cranfield.measures.ranked.shrec import MEAN_MEASURES, shrec_name
from cranfield.notes import Progress, with_progress
from cranfield.validation import validate_params

if TYPE_CHECKING:
    from cranfield.notes import Watcher


def result_table(name: str, material: ResultsData, **options: Any) -> ResultTable:
    """A result table by its name; the notes of the scores go along."""
    declared = table_spec(name)
    extra = sorted(options.keys() - set(declared.options))
    if extra:
        takes = ", ".join(declared.options) or "none"
        raise UsageError(f"the table {name} takes no {extra[0]}=... (it takes: {takes})")
    if material.task not in declared.kinds:
        raise UsageError(f"the table {name} is for {' or '.join(declared.kinds)} runs")
    module, _, function = declared.maker.partition(":")
    make = getattr(import_module(module), function)
    result: ResultTable = make(material, **options)
    return result


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
    named: Literal["shrec"] | None = None,
    jobs: int | None = None,
    progress: Watcher | None = None,
) -> ResultTable:
    """A result table of a campaign.

    `measures` are those of the table, the first of them where it has one only. `concepts`,
    `items` and `topics` (names, or a file of them), `configurations` and `teams` (names, or a text
    such as "V,M") keep a part; `sets` are concepts (or topics) by name, to be put side by side;
    `years` are earlier years by name. `named="shrec"` heads columns as SHREC 2006 names its means,
    and is of those measures unless others are asked for. With `compare` runs also get a rank by
    tests, where there are values to test.
    """
    declared = table_spec(table)
    if named is not None and measures is None:
        measures = MEAN_MEASURES
    measure_names = measures.split() if isinstance(measures, str) else _listed(measures)
    if table == PARTICIPATION and _is_printed_participation(source):
        return printed_participation(str(source))
    if isinstance(source, str | Path) and Path(source).is_dir():
        source = read_collection(source)
    kind = kind or _only_kind(declared.kinds, source)
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
    unit = "topic" if material.task == "ranked" else "concept"
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
    if named is not None:
        result = _with_names(result, material)
    return replace(result, notes=(*result.notes, *material.scores.notes))


def _with_names(result: ResultTable, material: ResultsData) -> ResultTable:
    """The table with SHREC's names of its means in the headings, where it has one."""
    names: dict[str, str] = {}
    for m in material.scores.measures:
        name = shrec_name(m)
        names |= {label: name for label in (str(m), m.mean_label) if name}
    parts = [
        replace(
            part,
            columns=tuple(
                replace(column, heading=names.get(column.heading or column.name, column.heading))
                for column in part.columns
            ),
        )
        for part in result.parts
    ]
    return replace(result, parts=tuple(parts))


def _ids(names: Ids | None, unit: str) -> Sequence[str] | None:
    """The names themselves, or those that a file lists."""
    return read_items(names, column=unit) if isinstance(names, str | Path) else names


def _listed(names: str | Sequence[str] | None) -> Sequence[str] | None:
    if isinstance(names, str):
        return names.split(",")
    return None if names is None else list(names)


def _only_kind(kinds: Sequence[str], source: ResultSource) -> Kind | None:
    """The kind that a table is for and the collection has, if it is one only."""
    if len(kinds) > 1 and isinstance(source, Collection):
        kinds = [kind for kind in kinds if kind in source.kinds]
    if len(kinds) != 1:
        return None
    return next(kind for kind in KINDS if kind == kinds[0])


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
