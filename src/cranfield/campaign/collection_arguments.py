"""A collection's folder as the inputs of a question: one place for everything that takes one.

Each question has a parameter in which a folder may stand for a file. What the folder has is filled
in; what was given beside it replaces the folder's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cranfield.campaign.item_texts import read_texts
from cranfield.campaign.scoring import (
    TRUTH,
    WORDS,
    kind_of_measures,
    scored_boxes,
    scored_truth,
    task_options,
)
from cranfield.data.collection import Collection, Kind
from cranfield.data.ontology import exclusive_groups
from cranfield.errors import NeedsError, UsageError
from cranfield.evaluation.inputs import LABEL_OPTIONS, RANKED_OPTIONS
from cranfield.io.collection import FILE, read_collection, read_items
from cranfield.io.files import run_name
from cranfield.io.ontology import read_rules_of

Arguments = dict[str, Any]


def is_collection(place: Any) -> bool:
    """Whether something names a folder with a `collection.toml`."""
    return isinstance(place, str | Path) and (Path(place) / FILE).is_file()


def fill_arguments(question: str, arguments: Mapping[str, Any]) -> Arguments:
    """What was given for a question, with what a collection's folder among it has.

    `question` is the name of a command. A parameter that is None or empty was not given.
    """
    place, fill = QUESTIONS[question]
    value: Any = arguments.get(place)
    first = value[0] if isinstance(value, list | tuple) and value else value
    if not is_collection(first):
        return dict(arguments)
    collection = read_collection(first)
    completed = dict(arguments)
    if isinstance(value, list | tuple):
        completed[place] = list(value[1:])
    fill(collection, completed)
    return completed


def _ranked(collection: Collection, arguments: Arguments) -> None:
    arguments["judgements"] = _gold(collection, "ranked", arguments)
    _runs(collection, "ranked", arguments)
    _options(collection, "ranked", arguments)


def _labels(collection: Collection, arguments: Arguments) -> None:
    tuning_items: Any = arguments.get("on")
    if tuning_items in collection.splits and not Path(tuning_items).exists():
        arguments["on"] = tuning_items = collection.splits[tuning_items]
    arguments["truth"] = _gold(collection, "labels", arguments)
    if arguments.get("silver") is None:
        # Thresholds may be chosen on items that runs are not scored on.
        also = (
            read_items(tuning_items) if isinstance(tuning_items, str | Path) else tuning_items or ()
        )
        arguments["truth"] = scored_truth(collection, "labels", arguments["truth"], also)
    _runs(collection, "labels", arguments)
    _options(collection, "labels", arguments)


def _regions(collection: Collection, arguments: Arguments) -> None:
    arguments["truth"] = scored_boxes(collection, arguments.get("measures"))
    _runs(collection, "regions", arguments)
    _options(collection, "regions", arguments)


def _subject(collection: Collection, arguments: Arguments) -> None:
    """Runs of either kind: that to which the measures or the options belong, else the only one.

    A `kind` among what was given says it.
    """
    # What is of one kind in itself has measures of its own, or none.
    kind_was_set = arguments.get("kind") is not None
    kind, measures, has_files = (
        _kind(collection, arguments),
        arguments.get("measures"),
        bool(arguments["files"]),
    )
    _runs(collection, kind, arguments, "files")
    _options(collection, kind, arguments)
    if kind_was_set:
        arguments["measures"] = measures
    if kind == "regions":
        arguments["truth"] = arguments.get("truth") or scored_boxes(collection, measures)
    elif kind == "labels":
        arguments["truth"] = arguments.get("truth") or _scored(collection, arguments)
    else:
        arguments["files"] = [_gold(collection, "ranked", arguments), *arguments["files"]]
    if not has_files and "baseline" in arguments and arguments["baseline"] is None:
        arguments["baseline"] = collection.part(kind).baseline or None


def _scored(collection: Collection, arguments: Arguments) -> Any:
    """The truth that annotations are scored by; with silver beside it, the gold as it is."""
    truth = _gold(collection, "labels", arguments)
    return truth if arguments.get("silver") else scored_truth(collection, "labels", truth)


def _gold(collection: Collection, kind: Kind, arguments: Arguments) -> Path:
    """The truth, or the gold where there is silver too: that is named then among what was given.

    Whichever of the two was given replaces the folder's.
    """
    truth, silver = collection.need(TRUTH[kind]), collection.part(kind).silver
    if "silver" not in arguments:
        return truth
    gold = arguments.pop("gold", None)
    arguments["silver"] = arguments["silver"] or silver or (truth if gold else None)
    arguments["gold"] = None
    return gold or truth


def _study(collection: Collection, arguments: Arguments) -> None:
    """Runs of a study, which has one threshold for all of them."""
    thresholds = arguments.pop("thresholds", None)
    _subject(collection, arguments)
    if thresholds:
        arguments["thresholds"] = thresholds


def _kind(collection: Collection, arguments: Arguments) -> Kind:
    kind: Kind | None = arguments.pop("kind", None)
    if kind is not None:
        return kind
    if arguments.get("truth") is not None or any(arguments.get(name) for name in LABEL_OPTIONS):
        return "labels"
    if any(arguments.get(name, usual) != usual for name, usual in RANKED_OPTIONS.items()):
        return "ranked"
    measured_kind = kind_of_measures(arguments.get("measures"))
    if measured_kind is not None:
        return measured_kind
    if len(collection.kinds) == 1:
        return collection.kinds[0]
    raise UsageError(
        f"{collection.folder} has {' and '.join(WORDS[k] for k in collection.kinds)}: name "
        "measures= of one of them, such as measures=AP or measures=F.example"
    )


def _runs(collection: Collection, kind: Kind, arguments: Arguments, place: str = "runs") -> None:
    arguments[place] = arguments[place] or list(collection.part(kind).runs)
    if not arguments[place]:
        raise NeedsError(f"{collection.folder / FILE} names no runs against its {TRUTH[kind]}")


def _options(collection: Collection, kind: Kind, arguments: Arguments) -> None:
    """What is known of the collection, where nothing else was said."""
    options = task_options(collection, kind)
    if arguments.get("tune") is not None:
        # A threshold that is to be chosen is not the folder's.
        options = {name: value for name, value in options.items() if "threshold" not in name}
    runs = {run_name(run) for run in arguments.get("runs") or arguments.get("files") or ()}
    limits = {n: t for n, t in (options.pop("thresholds", None) or {}).items() if n in runs}
    if "thresholds" in arguments and arguments.get("threshold") is None:
        arguments["thresholds"] = {**limits, **(arguments["thresholds"] or {})} or None
    options["measures"] = " ".join(collection.part(kind).measures)
    options["design"] = collection.part(kind).design
    for name, value in options.items():
        if value and name in arguments and arguments[name] in (None, {}, ()):
            arguments[name] = value


def _log(collection: Collection, arguments: Arguments) -> None:
    arguments["judgements"] = collection.need("judgement_log")
    if arguments.get("rules") or arguments.get("ontology"):
        return
    sources = {"rules": collection.rules, "ontology": collection.ontology}
    rules = read_rules_of(**sources)
    # Rules without a question of their own say nothing about a log.
    if rules is not None and exclusive_groups(rules):
        arguments |= {name: str(value) for name, value in sources.items() if value is not None}


def _opinions(collection: Collection, arguments: Arguments) -> None:
    arguments["votes"] = collection.need("subject_categories")
    # Behind a folder there are runs only.
    arguments["runs"] = [run for run in (arguments.get("tree"), *arguments["runs"]) if run]
    arguments["tree"] = collection.need("category_parents")
    arguments["queries"] = arguments.get("queries") or read_texts(collection).topic_items or None
    _runs(collection, "ranked", arguments)


def _rankings(collection: Collection, arguments: Arguments) -> None:
    arguments["subjects"] = collection.need("subject_rankings")
    _runs(collection, "ranked", arguments)
    if arguments.get("collection_size") is None:
        arguments["collection_size"] = task_options(collection, "ranked")["collection_size"]


def _index(collection: Collection, arguments: Arguments) -> None:
    arguments["qrels"] = collection.need("judgements")
    arguments["runs"] = arguments["runs"] or list(collection.runs)


def _pictures(collection: Collection, arguments: Arguments) -> None:
    arguments["features"] = collection.need("pictures")


def _pool(collection: Collection, arguments: Arguments) -> None:
    kind: Kind = "labels" if arguments.get("labels") else "ranked"
    _runs(collection, kind, arguments)
    if kind == "ranked" and arguments.get("judged") is None:
        arguments["judged"] = collection.judgements


def _truth(collection: Collection, arguments: Arguments) -> None:
    arguments["truth"] = collection.need("truth" if arguments.get("labels") else "judgements")


# command -> the parameter in which a folder may stand, and how the others are filled
QUESTIONS: dict[str, tuple[str, Callable[[Collection, Arguments], None]]] = {
    "eval": ("judgements", _ranked),
    "eval labels": ("truth", _labels),
    "eval regions": ("truth", _regions),
    "compare": ("files", _subject),
    "report chart": ("files", _subject),
    "lab": ("files", _study),
    "lab simulate": ("truth", _truth),
    "truth agreement": ("judgements", _log),
    "truth aggregate": ("judgements", _log),
    "eval votes": ("votes", _opinions),
    "eval displacement": ("subjects", _rankings),
    "eval index": ("qrels", _index),
    "truth weak-labels": ("features", _pictures),
    "truth pool": ("runs", _pool),
}
