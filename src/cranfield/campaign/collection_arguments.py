"""A collection's folder as the inputs of a question: one place for everything that takes one.

Each question has a parameter in which a folder may stand for a file. What the folder has is filled
in; what was given beside it replaces the folder's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cranfield.campaign.item_texts import read_texts
from cranfield.campaign.scoring import TRUTH, kind_of_measures, scored_truth, task_options
from cranfield.data.collection import Collection, Kind
from cranfield.data.ontology import exclusive_groups
from cranfield.errors import NeedsError, UsageError
from cranfield.evaluation.inputs import LABEL_OPTIONS, RANKED_OPTIONS
from cranfield.io.collection import FILE, read_collection, read_items
from cranfield.io.files import run_name
from cranfield.io.ontology import read_rules_of

Given = dict[str, Any]


def is_collection(place: Any) -> bool:
    """Whether something names a folder with a `collection.toml`."""
    return isinstance(place, str | Path) and (Path(place) / FILE).is_file()


def filled(question: str, given: Mapping[str, Any]) -> Given:
    """What was given for a question, with what a collection's folder among it has.

    `question` is the name of a command. A parameter that is None or empty was not given.
    """
    place, fill = QUESTIONS[question]
    value: Any = given.get(place)
    first = value[0] if isinstance(value, list | tuple) and value else value
    if not is_collection(first):
        return dict(given)
    collection = read_collection(first)
    taken = dict(given)
    if isinstance(value, list | tuple):
        taken[place] = list(value[1:])
    fill(collection, taken)
    return taken


def _ranked(collection: Collection, given: Given) -> None:
    given["judgements"] = _gold(collection, "ranked", given)
    _runs(collection, "ranked", given)
    _options(collection, "ranked", given)


def _labels(collection: Collection, given: Given) -> None:
    chosen: Any = given.get("on")
    if chosen in collection.splits and not Path(chosen).exists():
        given["on"] = chosen = collection.splits[chosen]
    given["truth"] = _gold(collection, "labels", given)
    if given.get("silver") is None:
        # Thresholds may be chosen on items that runs are not scored on.
        also = read_items(chosen) if isinstance(chosen, str | Path) else chosen or ()
        given["truth"] = scored_truth(collection, "labels", given["truth"], also)
    _runs(collection, "labels", given)
    _options(collection, "labels", given)


def _subject(collection: Collection, given: Given) -> None:
    """Runs of either kind: that to which the measures or the options belong, else the only one.

    A `kind` among what was given says it.
    """
    # What is of one kind in itself has measures of its own, or none.
    own = given.get("kind") is not None
    kind, asked, named = _kind(collection, given), given.get("measures"), bool(given["files"])
    _runs(collection, kind, given, "files")
    _options(collection, kind, given)
    if own:
        given["measures"] = asked
    if kind == "labels":
        given["truth"] = given.get("truth") or _scored(collection, given)
    else:
        given["files"] = [_gold(collection, "ranked", given), *given["files"]]
    if not named and "baseline" in given and given["baseline"] is None:
        given["baseline"] = collection.part(kind).baseline or None


def _scored(collection: Collection, given: Given) -> Any:
    """The truth that annotations are scored by; with silver beside it, the gold as it is."""
    truth = _gold(collection, "labels", given)
    return truth if given.get("silver") else scored_truth(collection, "labels", truth)


def _gold(collection: Collection, kind: Kind, given: Given) -> Path:
    """The truth, or the gold where there is silver too: that is named then among what was given.

    Whichever of the two was given replaces the folder's.
    """
    truth, silver = collection.need(TRUTH[kind]), collection.part(kind).silver
    if "silver" not in given:
        return truth
    gold = given.pop("gold", None)
    given["silver"] = given["silver"] or silver or (truth if gold else None)
    given["gold"] = None
    return gold or truth


def _study(collection: Collection, given: Given) -> None:
    """Runs of a study, which has one threshold for all of them."""
    own = given.pop("thresholds", None)
    _subject(collection, given)
    if own:
        given["thresholds"] = own


def _kind(collection: Collection, given: Given) -> Kind:
    asked: Kind | None = given.pop("kind", None)
    if asked is not None:
        return asked
    if given.get("truth") is not None or any(given.get(name) for name in LABEL_OPTIONS):
        return "labels"
    if any(given.get(name, usual) != usual for name, usual in RANKED_OPTIONS.items()):
        return "ranked"
    told = kind_of_measures(given.get("measures"))
    if told is not None:
        return told
    if len(collection.kinds) == 1:
        return collection.kinds[0]
    raise UsageError(
        f"{collection.folder} has rankings and annotations: name measures= of one of them, such as "
        "measures=AP or measures=F.example"
    )


def _runs(collection: Collection, kind: Kind, given: Given, place: str = "runs") -> None:
    given[place] = given[place] or list(collection.part(kind).runs)
    if not given[place]:
        raise NeedsError(f"{collection.folder / FILE} names no runs against its {TRUTH[kind]}")


def _options(collection: Collection, kind: Kind, given: Given) -> None:
    """What is known of the collection, where nothing else was said."""
    known = task_options(collection, kind)
    if given.get("tune") is not None:
        # A threshold that is to be chosen is not the folder's.
        known = {name: value for name, value in known.items() if "threshold" not in name}
    runs = {run_name(run) for run in given.get("runs") or given.get("files") or ()}
    limits = {n: t for n, t in (known.pop("thresholds", None) or {}).items() if n in runs}
    if "thresholds" in given and given.get("threshold") is None:
        given["thresholds"] = {**limits, **(given["thresholds"] or {})} or None
    known["measures"] = " ".join(collection.part(kind).measures)
    for name, value in known.items():
        if value and name in given and given[name] in (None, {}, ()):
            given[name] = value


def _log(collection: Collection, given: Given) -> None:
    given["judgements"] = collection.need("judgement_log")
    if given.get("rules") or given.get("ontology"):
        return
    named = {"rules": collection.rules, "ontology": collection.ontology}
    found = read_rules_of(**named)
    # Rules without a question of their own say nothing about a log.
    if found is not None and exclusive_groups(found):
        given |= {name: str(value) for name, value in named.items() if value is not None}


def _opinions(collection: Collection, given: Given) -> None:
    given["votes"] = collection.need("subject_categories")
    # Behind a folder there are runs only.
    given["runs"] = [run for run in (given.get("tree"), *given["runs"]) if run]
    given["tree"] = collection.need("category_parents")
    given["queries"] = given.get("queries") or read_texts(collection).topic_items or None
    _runs(collection, "ranked", given)


def _rankings(collection: Collection, given: Given) -> None:
    given["subjects"] = collection.need("subject_rankings")
    _runs(collection, "ranked", given)
    if given.get("collection_size") is None:
        given["collection_size"] = task_options(collection, "ranked")["collection_size"]


def _index(collection: Collection, given: Given) -> None:
    given["qrels"] = collection.need("judgements")
    given["runs"] = given["runs"] or list(collection.runs)


def _pictures(collection: Collection, given: Given) -> None:
    given["features"] = collection.need("pictures")


def _pool(collection: Collection, given: Given) -> None:
    kind: Kind = "labels" if given.get("labels") else "ranked"
    _runs(collection, kind, given)
    if kind == "ranked" and given.get("judged") is None:
        given["judged"] = collection.judgements


def _truth(collection: Collection, given: Given) -> None:
    given["truth"] = collection.need("truth" if given.get("labels") else "judgements")


# command -> the parameter in which a folder may stand, and how the others are filled
QUESTIONS: dict[str, tuple[str, Callable[[Collection, Given], None]]] = {
    "eval": ("judgements", _ranked),
    "label": ("truth", _labels),
    "compare": ("files", _subject),
    "chart": ("files", _subject),
    "lab": ("files", _study),
    "lab simulate": ("truth", _truth),
    "agreement": ("judgements", _log),
    "aggregate": ("judgements", _log),
    "uncertain": ("votes", _opinions),
    "displacement": ("subjects", _rankings),
    "index-quality": ("qrels", _index),
    "weaklabel": ("features", _pictures),
    "pool": ("runs", _pool),
}
