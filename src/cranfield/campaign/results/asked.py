"""Result tables from whatever holds the scores: a collection, saved scores, printed figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cranfield.campaign.item_texts import public_items, public_topics
from cranfield.campaign.result_tables import table_spec
from cranfield.campaign.results.participation import (
    ParticipationFigures,
    is_participation,
    printed_participation,
    read_figures,
    read_participation,
)
from cranfield.campaign.results.results_data import ResultsData, ResultTable, read_truth
from cranfield.campaign.results.years import YearPair
from cranfield.campaign.scoring import judged_labels, only_kind, scored_truth
from cranfield.data.collection import KINDS, Collection, Kind
from cranfield.errors import NeedsError, UsageError, plural
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
    items: Sequence[str] | None = None,
    released: bool = False,
    jobs: int | None = None,
    progress: Watcher | None = None,
) -> ResultsData:
    """The material of a source. With `concepts` or `items` a collection is scored on these alone;
    of scores and figures, what can be cut is cut."""
    if isinstance(source, str | Path):
        source = _opened(Path(source), kind)
    if isinstance(source, Collection):
        return ResultsData.of(
            source,
            kind,
            measures=measures,
            concepts=concepts,
            items=items,
            released=released,
            jobs=jobs,
            progress=progress,
        )
    material = source if isinstance(source, ResultsData) else ResultsData.of_scores(source)
    return material.only(concepts=concepts, items=items)


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
    `items` and `topics` (names, a file of them, or a folder of another collection for those that
    both have), `configurations` and `teams` (names, or a text such as "V,M") keep a part; `sets`
    are concepts (or topics) by name, to be put side by side; `years` are earlier years by name,
    which are scored on the items and concepts that they share with this one. `named="shrec"` heads
    columns as SHREC 2006 names its means, and is of those measures unless others are asked for.
    With `compare` runs also get a rank by tests, where there are values to test.
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
    parts = {
        unit: _ids(names, unit, source, kind)
        for unit, names in (("concept", concepts), ("item", items), ("topic", topics))
    }
    material = open_material(
        source,
        kind,
        measures=measure_names,
        concepts=parts["concept"],
        items=parts["item"],
        released="truth" in declared.needs,
        jobs=jobs,
        progress=reporter.part(0.0, SCORED) if tested else reporter,
    )
    runs = {"configurations": _listed(configurations), "teams": _listed(teams)}
    material = material.only(topics=parts["topic"], **runs)
    unit = "topic" if material.task == "ranked" else "concept"
    if tested:
        material = _tested(material, jobs or 1, reporter.part(SCORED, 1.0))
    arguments: dict[str, Any] = {
        "measures": measure_names,
        "measure": measure_names[0] if measure_names else None,
        "count": count,
        "per_group": per_group or None,
        "sets": {n: _ids(names, unit) for n, names in sets.items()} if sets else None,
    }
    if table == PARTICIPATION:
        arguments["years"] = _participation(material, years)
    elif "years" in declared.options:
        shared = years_on_shared(
            source if isinstance(source, Collection) else material,
            material.years if years is None else years,
            material.task,
            measures=measure_names,
            concepts=parts["concept"],
            items=parts["item"],
            jobs=jobs,
        )
        if not shared:
            raise NeedsError("years are compared with an earlier one: years={'2009': 'FOLDER'}")
        arguments["years"] = {
            name: pair.cut(material, topics=parts["topic"], **runs) for name, pair in shared.items()
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


def _ids(
    names: Ids | None, unit: str, source: ResultSource | None = None, kind: Kind | None = None
) -> Sequence[str] | None:
    """The names themselves, those that a file lists, or those shared with a folder's collection."""
    if not isinstance(names, str | Path):
        return names
    if not Path(names).is_dir():
        return read_items(names, column=unit)
    others = _names_in(read_collection(names), unit, kind)
    ours = _names_in(source, unit, kind)
    shared = tuple(name for name in ours if name in frozenset(others))
    if not shared:
        raise NeedsError(f"{names} has no {unit} that is also here")
    return shared


def _names_in(source: Any, unit: str, kind: Kind | None) -> Sequence[str]:
    """The topics, items or concepts of a collection or of scores."""
    if isinstance(source, Collection):
        task = only_kind(source, kind)
        if unit == "topic":
            return public_topics(source) or tuple(read_truth(source, "ranked").topics)  # type: ignore[union-attr]
        names = (_units_of(source, task) or {}).get(unit)
    else:
        names = open_material(source, kind).scores.units.get(unit)
    if not names:
        raise NeedsError(f"{getattr(source, 'folder', source)} does not tell its {unit}s")
    return names


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
    return {
        name: material
        for name, source in _sources(years, kind).items()
        if (material := open_material(source, kind)).task == kind
    }


def _sources(years: Mapping[str, ResultSource], kind: Kind) -> dict[str, ResultSource]:
    """The earlier years, read, without collections that have no scores of this kind."""
    sources: dict[str, ResultSource] = {}
    for name, place in years.items():
        source = _opened(Path(place), kind) if isinstance(place, str | Path) else place
        if isinstance(source, Collection):
            part = source.part(kind)
            if not part.runs or part.truth is None:
                continue
        sources[name] = source
    return sources


def years_on_shared(
    source: Collection | ResultsData,
    years: Mapping[str, ResultSource],
    kind: Kind,
    *,
    measures: Sequence[str] | None = None,
    concepts: Sequence[str] | None = None,
    items: Sequence[str] | None = None,
    jobs: int | None = None,
) -> dict[str, YearPair]:
    """Each earlier year beside this one, both scored on the items and concepts that both have.

    Scores and printed figures cannot be scored anew: they are compared as they are, which is said.
    """
    pairs: dict[str, YearPair] = {}
    for name, earlier in _sources(years, kind).items():
        if isinstance(source, Collection) and isinstance(earlier, Collection):
            parts = _shared_parts(earlier, source, kind, name, concepts=concepts, items=items)
            if parts is not None:
                shared: dict[str, Any] = {"measures": measures, "jobs": jobs, **parts.names}
                pairs[name] = YearPair(
                    ResultsData.of(earlier, kind, **shared),
                    ResultsData.of(source, kind, **shared) if parts.rescored else None,
                    parts.notes,
                    parts.same_items,
                )
                continue
        material = open_material(earlier, kind, measures=measures)
        if material.task == kind:
            pairs[name] = YearPair(material, None, (_as_they_are(name, kind),))
    return pairs


def _as_they_are(name: str, kind: Kind) -> str:
    items = "ranked items" if kind == "ranked" else "items"
    return (
        f"the {items} of {name} are not known, or cannot be scored one by one: what it shares with "
        "this year beside the names of its units is not taken into account"
    )


@dataclass(frozen=True, slots=True)
class _SharedParts:
    """What two collections share: the names to score both on, and how to say it."""

    names: dict[str, tuple[str, ...]]
    notes: tuple[str, ...]
    same_items: bool
    rescored: bool


def _shared_parts(
    earlier: Collection,
    later: Collection,
    kind: Kind,
    year: str,
    *,
    concepts: Sequence[str] | None,
    items: Sequence[str] | None,
) -> _SharedParts | None:
    """The items and concepts that both years have; None where they cannot be told."""
    units = [_units_of(collection, kind) for collection in (earlier, later)]
    if None in units:
        return None
    old, new = (unit for unit in units if unit is not None)
    names: dict[str, tuple[str, ...]] = {}
    notes: list[str] = []
    rescored = same_items = False
    for unit, requested in (("item", items), ("concept", concepts)):
        if unit not in old or unit not in new:
            continue
        old_ids = frozenset(old[unit])
        this_year = new[unit] if requested is None else tuple(requested)
        shared = tuple(name for name in this_year if name in old_ids)
        if not shared:
            sentence = "each is scored on its own, so that a difference may be one of the items"
            if unit == "item":
                notes.append(f"{year} and this year share no item: {sentence}")
                continue
            raise NeedsError(f"{year} and this year share no {unit}")
        same_items = same_items or unit == "item"
        names[f"{unit}s"] = shared
        if len(shared) < max(len(old[unit]), len(new[unit])):
            rescored = rescored or len(shared) < len(new[unit])
            notes.append(
                f"both years are scored on the {plural(len(shared), unit)} that both have, of "
                f"{len(old[unit])} in {year} and {len(new[unit])} in this year"
            )
        else:
            del names[f"{unit}s"]
    return _SharedParts(names, tuple(notes), same_items, rescored)


def _units_of(collection: Collection, kind: Kind) -> dict[str, tuple[str, ...]] | None:
    """The items (and concepts) that runs of a collection are scored on; None if not known."""
    if kind == "regions" or collection.part(kind).silver is not None:
        return None
    if kind == "ranked":
        items = public_items(collection, kind)
        return None if items is None else {"item": items}
    try:
        truth = judged_labels(collection, scored_truth(collection, kind))
    except NeedsError:
        return None
    return {"item": truth.items, "concept": truth.concepts}


def _participation(
    material: ResultsData, years: Mapping[str, ResultSource] | None
) -> dict[str, ParticipationFigures]:
    """Who took part in the years that were given, or those that the collection names."""
    sources: Mapping[str, ResultSource] = material.years if years is None else years
    printed = {name: place for name, place in sources.items() if _is_printed_participation(place)}
    figures: dict[str, ParticipationFigures] = {}
    for place in printed.values():
        figures |= read_participation(str(place))
    others = {name: place for name, place in sources.items() if name not in printed}
    opened = open_years(others, material.task)
    return figures | {name: ParticipationFigures.of(year) for name, year in opened.items()}
