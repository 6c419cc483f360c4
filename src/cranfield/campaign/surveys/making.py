"""Surveys from files, by their kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cranfield.campaign.annotation_task import views_of
from cranfield.campaign.item_texts import picture_files, public_items
from cranfield.campaign.pool import make_pool
from cranfield.campaign.surveys import categories, kinds, measures, preference, rated
from cranfield.campaign.surveys.questionnaire import Questionnaire
from cranfield.campaign.surveys.survey import Survey
from cranfield.errors import NeedsError, UsageError, suggest
from cranfield.io.collection import read_collection, read_items
from cranfield.io.vectors import read_item_vectors


def make_survey(kind: str, *, seed: int = 0, **options: Any) -> Survey:
    """A survey of a kind; `options` are those of the function that makes it.

    `collection` (a folder) or `pictures` (a folder) show the items of those that have any.
    """
    if kind not in kinds.KINDS:
        raise UsageError(f"no survey of the kind {kind!r}.{suggest(kind, kinds.KINDS)}")
    arguments = {name: value for name, value in options.items() if value is not None}
    makers: dict[str, Callable[..., Survey]] = {
        kinds.MEASURES: _measures,
        kinds.PREFERENCE: preference.preference_survey,
        kinds.RELATEDNESS: rated.relatedness_survey,
        kinds.CATEGORIES: _categories,
        kinds.RANKINGS: _rankings,
        kinds.ASSOCIATION: _association,
    }
    return makers[kind](rng=seed, **arguments)


def survey_from(questionnaire: Questionnaire) -> Survey:
    """The survey that asks the questions of a questionnaire, on lists or on concept sets."""
    of_sets = "sets" in questionnaire.questions["questions"][0]
    return (
        preference.preference_survey_of(questionnaire)
        if of_sets
        else measures.measure_survey_of(questionnaire)
    )


def _measures(**options: Any) -> Survey:
    return measures.measure_survey(options.pop("measures", kinds.OF_RANKINGS), **options)


def _categories(
    categories_file: str | Path,
    *,
    items: str | Path | None = None,
    collection: str | Path | None = None,
    pictures: str | Path | None = None,
    rng: int = 0,
) -> Survey:
    names = _items(items, collection, pictures)
    texts, picture_of = views_of(names, collection=collection, pictures=pictures)
    return categories.category_survey(
        categories_file, names, texts=texts, pictures=picture_of, rng=rng
    )


def _items(
    items: str | Path | None, collection: str | Path | None, pictures: str | Path | None
) -> Sequence[str]:
    if items is not None:
        return read_items(items)
    if pictures is not None:
        return tuple(picture_files(Path(pictures)))
    if collection is None:
        raise NeedsError("there are no items: name items, pictures or a collection")
    public = public_items(read_collection(collection), "labels")
    if public is None:
        raise NeedsError(f"{collection} names no items")
    return public


def _rankings(
    runs: Sequence[str | Path],
    *,
    depth: int = 10,
    collection: str | Path | None = None,
    pictures: str | Path | None = None,
    **options: Any,
) -> Survey:
    """The first `depth` items of every run for each topic are rated."""
    candidates: dict[str, list[str]] = {}
    for pooled in make_pool(runs, depth=depth).items:
        candidates.setdefault(pooled.topic, []).append(pooled.item)
    every = tuple(dict.fromkeys(i for items in candidates.values() for i in items))
    texts, picture_of = views_of(every, collection=collection, pictures=pictures)
    return rated.ranking_survey(candidates, texts=texts, pictures=picture_of, **options)


def _association(
    vectors: str | Path,
    *,
    collection: str | Path | None = None,
    pictures: str | Path | None = None,
    **options: Any,
) -> Survey:
    index = read_item_vectors(vectors)
    texts, picture_of = views_of(index.items, collection=collection, pictures=pictures)
    return rated.association_survey(index, texts=texts, pictures=picture_of, **options)
