"""The runs of a collection scored by its own measures, with all that it knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cranfield.campaign.item_texts import public_concepts, public_items
from cranfield.data.collection import KINDS, Collection, Kind
from cranfield.errors import CranfieldError, MeasureError, NeedsError, UsageError, plural
from cranfield.evaluation.scores import Scores
from cranfield.io.files import run_name
from cranfield.measures import parse_measures
from cranfield.measures.labels.registry import parse_label_measures

if TYPE_CHECKING:
    from cranfield.data.labels import LabelMatrix
    from cranfield.notes import Watcher

TRUTH = {"ranked": "judgements", "labels": "truth"}


def kind_of_measures(measures: Any) -> Kind | None:
    """The kind of runs that measures are of; None when there are none, or both kinds have them."""
    ranked = bool(measures) and _are(parse_measures, measures)
    labels = bool(measures) and _are(parse_label_measures, measures)
    if ranked == labels:
        return None
    return "ranked" if ranked else "labels"


def _are(parse: Callable[[Any], Any], measures: Any) -> bool:
    try:
        return bool(parse(measures))
    except MeasureError:
        return False


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
        f"{collection.folder} has rankings and annotations; say which with kind='ranked' or "
        "kind='labels'"
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
    options = {
        "ontology": collection.ontology,
        "rules": collection.rules,
        "costmap": collection.cost_maps[0] if len(maps) == 1 else maps or None,
        "agreement": collection.agreement_map,
        "concepts": None if collection.concepts is None else public_concepts(collection),
        "threshold": collection.threshold,
        "thresholds": run_thresholds(collection),
        # The truth of a collection is complete.
        "unlisted": "absent",
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
    from cranfield.evaluation.probabilistic_labels import soft_file
    from cranfield.io.labels import read_labels

    try:
        if soft_file(path)[1] is not None:
            return path
        every = read_labels(path)
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
    truth: Path | None = None,
    jobs: int | None = None,
    progress: Watcher | None = None,
) -> Scores:
    """Score the runs of a collection, or others, against its truth or another.

    Measures are those given, or the collection's, or the usual ones. `concepts` keeps some of
    them only.
    """
    from cranfield.evaluation.labels import evaluate_labels
    from cranfield.evaluation.ranked import DEFAULT_MEASURES, evaluate

    kind = only_kind(collection, kind, measures)
    part, scored = collection.part(kind), scored_truth(collection, kind, truth)
    scored_runs = part.runs if runs is None else runs
    if not scored_runs:
        raise NeedsError(f"{collection.folder / 'collection.toml'} names no runs of this kind")
    measure_names = measures or list(part.measures) or None
    options = task_options(collection, kind)
    if kind == "ranked":
        ranked_measures = measure_names or DEFAULT_MEASURES
        return evaluate(
            scored, scored_runs, ranked_measures, jobs=jobs, progress=progress, **options
        )
    names = (
        set(scored_runs)
        if isinstance(scored_runs, Mapping)
        else {_name(run) for run in scored_runs}
    )
    options["thresholds"] = {n: t for n, t in options["thresholds"].items() if n in names}
    label_runs: Any = scored_runs
    if concepts is not None:
        label_runs = _named_runs(scored_runs, options.get("concepts"), scored)
        options["concepts"] = tuple(concepts)
    return evaluate_labels(
        scored, label_runs, measure_names, jobs=jobs, progress=progress, **options
    )


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
