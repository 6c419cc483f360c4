"""The runs of a collection scored by its own measures, with all that it knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cranfield._lazy import np
from cranfield.campaign.item_texts import public_concepts, public_items
from cranfield.data.collection import KINDS, Collection, Kind
from cranfield.errors import CranfieldError, NeedsError, UsageError, plural, suggest
from cranfield.evaluation.scores import Scores
from cranfield.io.files import run_name
from cranfield.measures import ANNOTATION, RANKED, REGIONS
from cranfield.measures.parse import listed_measures

if TYPE_CHECKING:
    from cranfield.data import Judgements, Run
    from cranfield.data.labels import LabelMatrix
    from cranfield.data.regions import Regions
    from cranfield.notes import Watcher

TRUTH = {"ranked": "judgements", "labels": "truth", "regions": "boxes"}
WORDS = {"ranked": "rankings", "labels": "annotations", "regions": "boxes"}


def kind_of_measures(measures: Any) -> Kind | None:
    """The kind of runs that measures are of; None when there are none, or both kinds have them."""
    names = listed_measures(measures) if measures else []
    registries = {"ranked": RANKED, "labels": ANNOTATION, "regions": REGIONS}
    kinds = [
        kind for kind in KINDS if names and all(registries[kind].knows(name) for name in names)
    ]
    return kinds[0] if len(kinds) == 1 else None


def only_kind(collection: Collection, kind: Kind | None = None, measures: Any = None) -> Kind:
    """The kind asked for, that to which the measures belong, or the only one of the collection."""
    if kind is not None:
        if kind not in KINDS:
            raise UsageError(f"kind={kind!r} is not one of {', '.join(KINDS)}")
        return kind
    measured_kind = kind_of_measures(measures)
    if measured_kind is not None:
        return measured_kind
    if len(collection.kinds) == 1:
        return collection.kinds[0]
    if not collection.kinds:
        raise NeedsError(f"{collection.folder / 'collection.toml'} names no truth and no runs")
    raise UsageError(
        f"{collection.folder} has {' and '.join(WORDS[k] for k in collection.kinds)}; say which "
        f"with {' or '.join(f'kind={k!r}' for k in collection.kinds)}"
    )


def task_options(collection: Collection, kind: Kind) -> dict[str, Any]:
    """What `evaluate` or `evaluate_labels` takes beside truth, runs and measures."""
    if kind == "ranked":
        size = collection.size
        if size is None:
            items = public_items(collection, kind)
            size = None if items is None else len(items)
        return {"collection_size": size}
    maps = {run_name(path): path for path in collection.cost_maps}
    if kind == "regions":
        if len(maps) == 1:
            return {"costmap": next(iter(maps.values()))}
        return {} if collection.ontology is None else {"ontology": collection.ontology}
    options = {
        "ontology": collection.ontology,
        "rules": collection.rules,
        "costmap": collection.cost_maps[0] if len(maps) == 1 else maps or None,
        "agreement": collection.agreement_map,
        "concepts": None if collection.concepts is None else public_concepts(collection),
        "threshold": collection.threshold,
        "thresholds": run_thresholds(collection),
        "unlisted": collection.unlisted or None,
    }
    return {name: value for name, value in options.items() if value is not None}


def scored_truth(
    collection: Collection, kind: Kind, truth: Path | None = None, also: Sequence[str] = ()
) -> Path | LabelMatrix:
    """What runs are scored by: the truth of the collection, or another.

    Where annotation is asked for one split, only its items count, and those of `also`: a truth
    of all splits is no reason to hold the others against runs that were not asked for them.
    """
    path, split = truth or collection.need(TRUTH[kind]), collection.part(kind).split
    if kind == "ranked" or not split:
        return path
    from cranfield.evaluation.probabilistic_truth import soft_file
    from cranfield.io.labels import read_labels, resolve_unlisted

    try:
        if soft_file(path)[1] is not None:
            return path
        every = read_labels(path, unjudged=True)
        if collection.unlisted:
            every = resolve_unlisted(every, collection.unlisted)
    except CranfieldError:
        return path  # the evaluation that reads it reports what is wrong
    scored_items = {*collection.splits[split], *also}
    rows = [i for i, item in enumerate(every.items) if item in scored_items]
    if len(rows) == len(every.items):
        return path
    if not rows:
        raise UsageError(f"{path} has no item of the split {split!r}, which runs annotate")
    note = (
        f"runs are scored on {plural(len(rows), 'item')} of the split {split!r}; the truth has "
        f"{len(every.items) - len(rows)} more"
    )
    restricted = every.map(lambda m: m[rows], items=tuple(every.items[i] for i in rows))
    return replace(restricted, notes=(*every.notes, note))


def check_listed(collection: Collection) -> None:
    """A UsageError where the truth may have cells that were not judged, and nothing says so."""
    from cranfield.io.labels import read_labels, resolve_unlisted

    if collection.truth is None:
        return
    try:
        truth = read_labels(collection.truth, unjudged=True)
    except CranfieldError:
        return  # the evaluation that reads it reports what is wrong
    resolve_unlisted(truth, collection.unlisted or None)


def scored_boxes(
    collection: Collection, measures: str | Sequence[str] | None = None
) -> Path | Regions:
    """The boxes that runs are scored by: those of the split in which objects are to be found."""
    from cranfield.io.regions import read_regions
    from cranfield.measures.regions import wants_masks

    path, split = collection.need(TRUTH["regions"]), collection.part("regions").split
    if not split:
        return path
    chosen = measures or collection.part("regions").measures
    masks = bool(chosen) and wants_masks(chosen)
    return read_regions(path, masks=masks).of_items(collection.splits[split])


def public_truths(collection: Collection) -> dict[str, LabelMatrix]:
    """The truth of each split that runs are not evaluated on, by the name of its file.

    Items of the split that is annotated are in none of them, nor are those that can be retrieved,
    whose concepts may tell what is relevant. Where no split is named, all items are evaluated.
    """
    if collection.truth is None or not collection.annotated:
        return {}
    from cranfield.io.labels import read_labels, resolve_unlisted

    try:
        truth = read_labels(collection.truth, unjudged=True)
        truth = resolve_unlisted(truth, collection.unlisted or None)
    except CranfieldError:
        return {}  # the evaluation that reads it reports what is wrong
    sealed = set(collection.splits[collection.annotated])
    if collection.judgements is not None:
        sealed.update(collection.splits.get(collection.retrieved, truth.items))
    parts = {}
    for split, items in collection.splits.items():
        public = set(items) - sealed
        rows = [i for i, item in enumerate(truth.items) if item in public]
        if rows:
            names = tuple(truth.items[i] for i in rows)
            parts[f"truth-{split}.csv"] = truth.map(lambda m, at=rows: m[at], items=names)  # type: ignore[misc]
    return parts


def run_thresholds(collection: Collection) -> dict[str, float | Path]:
    """The thresholds that the facts of annotation runs give: numbers, or files of the folder."""
    names = {run_name(path) for path in collection.label_runs}
    thresholds: dict[str, float | Path] = {}
    for name, facts in collection.run_facts.items():
        if name in names and facts.threshold:
            try:
                thresholds[name] = float(facts.threshold)
            except ValueError:
                if facts.threshold != "rows":
                    thresholds[name] = collection.folder / facts.threshold
    return thresholds


def score_collection(
    collection: Collection,
    kind: Kind | None = None,
    *,
    measures: str | Sequence[str] | None = None,
    runs: Sequence[Any] | Mapping[str, Any] | None = None,
    concepts: Sequence[str] | None = None,
    items: Sequence[str] | None = None,
    truth: Path | None = None,
    jobs: int | None = None,
    progress: Watcher | None = None,
) -> Scores:
    """Score the runs of a collection, or others, against its truth or another.

    Measures are those given, or the collection's, or the usual ones. `concepts` keeps some of
    them only, and `items` some items: those annotated, or those that are ranked.
    """
    from cranfield.evaluation.labels import evaluate_labels
    from cranfield.evaluation.ranked import DEFAULT_MEASURES, evaluate

    kind = only_kind(collection, kind, measures)
    part = collection.part(kind)
    scored_runs = part.runs if runs is None else runs
    if not scored_runs:
        raise NeedsError(f"{collection.folder / 'collection.toml'} names no runs of this kind")
    measure_names = measures or list(part.measures) or None
    options = task_options(collection, kind)
    if kind == "regions":
        from cranfield.evaluation.regions import evaluate_regions

        boxes = truth or scored_boxes(collection, measure_names)
        scores = evaluate_regions(
            boxes, scored_runs, measure_names, jobs=jobs, progress=progress, **options
        )
        return _with_design(collection, kind, scores)
    scored = scored_truth(collection, kind, truth)
    if kind == "ranked":
        ranked_measures = measure_names or DEFAULT_MEASURES
        ranked_truth: Any = scored
        if items is not None:
            options["collection_size"] = len(items)
            ranked_truth, scored_runs = _of_items(scored, scored_runs, items)
        scores = evaluate(
            ranked_truth, scored_runs, ranked_measures, jobs=jobs, progress=progress, **options
        )
        return _with_design(collection, kind, scores)
    names = (
        set(scored_runs)
        if isinstance(scored_runs, Mapping)
        else {_name(run) for run in scored_runs}
    )
    options["thresholds"] = {n: t for n, t in options["thresholds"].items() if n in names}
    label_runs: Any = scored_runs
    if items is not None:
        scored = of_items(judged_labels(collection, scored), items)
    if concepts is not None:
        label_runs = _named_runs(scored_runs, options.get("concepts"), scored)
        options["concepts"] = tuple(concepts)
    scores = evaluate_labels(
        scored, label_runs, measure_names, jobs=jobs, progress=progress, **options
    )
    return _with_design(collection, kind, scores)


def judged_labels(collection: Collection, truth: Path | LabelMatrix) -> LabelMatrix:
    """The truth of labels itself, with cells that were not judged."""
    from cranfield.evaluation.probabilistic_truth import soft_file
    from cranfield.io.coerce import coerce_labels
    from cranfield.io.labels import read_labels, resolve_unlisted

    if not isinstance(truth, Path):
        return coerce_labels(truth, "truth")
    if soft_file(truth)[1] is not None:
        raise NeedsError(f"{truth} has probabilities of classes: it is scored on all its items")
    return resolve_unlisted(read_labels(truth, unjudged=True), collection.unlisted or None)


def of_items(truth: LabelMatrix, items: Sequence[str]) -> LabelMatrix:
    """The truth of some of its items, in its own order; a UsageError where it lacks one."""
    at = {item: i for i, item in enumerate(truth.items)}
    for item in items:
        if item not in at:
            raise UsageError(f"the truth has no item {item!r}.{suggest(item, truth.items)}")
    rows = sorted({at[item] for item in items})
    return truth.map(lambda m: m[rows], items=tuple(truth.items[i] for i in rows))


def _of_items(truth: Any, runs: Any, items: Sequence[str]) -> tuple[Judgements, dict[str, Run]]:
    """Judgements and rankings of some items."""
    from cranfield.data.tables import coded_items
    from cranfield.io import read_qrels, read_run

    names = frozenset(items)

    def restricted(table: Any) -> Any:
        distinct, codes = coded_items(table)
        is_listed = np.array([item in names for item in distinct], dtype=bool)
        return table.of_rows(np.flatnonzero(is_listed[codes]))

    pairs = runs.items() if isinstance(runs, Mapping) else ((_name(run), run) for run in runs)
    rankings = {
        name: restricted(read_run(run) if isinstance(run, str | Path) else run)
        for name, run in pairs
    }
    return restricted(read_qrels(truth) if isinstance(truth, str | Path) else truth), rankings


def _with_design(collection: Collection, kind: Kind, scores: Scores) -> Scores:
    """The scores with how the collection's topics or items were sampled, where it says so."""
    design = collection.part(kind).design
    return scores if design is None else scores.with_design(design)


def _named_runs(
    runs: Any, concepts: Sequence[str] | None, truth: Path | LabelMatrix
) -> Iterator[LabelMatrix]:
    """Runs whose columns have names, one by one: a part of them cannot be told by position."""
    from cranfield.io.coerce import coerce_labels

    pairs = runs.items() if isinstance(runs, Mapping) else ((_name(run), run) for run in runs)
    every = tuple(concepts or coerce_labels(truth, "truth").concepts)
    for name, run in pairs:
        labels = replace(coerce_labels(run, name), name=name)
        yield labels if labels.named else labels.renamed(every)


def _name(run: Any) -> str:
    return str(getattr(run, "name", "")) if hasattr(run, "items") else run_name(run)
